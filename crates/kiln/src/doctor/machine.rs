//! The machine: the ports of the APIs, and the limit of open files.

use super::finding::Finding;
use crate::config::{Settings, Socket};
use crate::serving;
use crate::stdio::CommandError;
use rustix::process::{Resource, getrlimit};

/// The number of open files with which a server can serve the guests of a small site.
const FEW_FILES: u64 = 4096;

/// The findings about the machine.
pub(super) async fn check(settings: &Settings) -> Vec<Finding> {
    let sockets = [
        (settings.has_api, &settings.native),
        (settings.has_cfn, &settings.cfn),
        (settings.has_cloudwatch, &settings.cloudwatch),
    ];
    let mut findings = Vec::new();
    for (_, socket) in sockets.into_iter().filter(|(is_served, _)| *is_served) {
        findings.push(port(socket).await);
        findings.extend(certificate(socket));
    }
    if let Some((host, number)) = &settings.metrics {
        findings.push(opened(host, *number, "[kiln] metrics_port").await);
    }
    findings.push(files());
    findings
}

async fn port(socket: &Socket) -> Finding {
    opened(&socket.host, socket.port, &format!("[{}] bind_port", socket.section)).await
}

/// Whether a port can be opened: it is free, or a server of the same user has it.
async fn opened(host: &str, port: u16, option: &str) -> Finding {
    match serving::bind_shared(host, port, option).await {
        Ok(_) => Finding::ok("port", format!("{option}: {host}:{port} can be opened")),
        Err(CommandError::Usage(why)) => {
            let next = format!(
                "choose another with {option}, or stop the program that has it (`ss -ltnp`)"
            );
            Finding::problem("port", why.split(": choose").next().unwrap_or(&why), next)
        }
        Err(error) => Finding::problem("port", format!("{error:?}"), format!("correct {option}")),
    }
}

/// Whether the certificate of a socket can be used, if it has one.
fn certificate(socket: &Socket) -> Option<Finding> {
    let (certificate, key) = socket.tls.as_ref()?;
    Some(match serving::tls::acceptor(certificate, key) {
        Ok(_) => Finding::ok("certificate", format!("{} can be used", certificate.display())),
        Err(CommandError::Usage(why)) => Finding::problem(
            "certificate",
            why,
            format!("correct cert_file and key_file in [{}]", socket.section),
        ),
        Err(error) => Finding::problem("certificate", format!("{error:?}"), "correct cert_file"),
    })
}

fn files() -> Finding {
    match getrlimit(Resource::Nofile).maximum {
        Some(files) if files < FEW_FILES => Finding::warning(
            "open files",
            format!("the limit is {files}, and every connection is one"),
            "raise it: LimitNOFILE=65536 in the unit, or `ulimit -Hn 65536`",
        ),
        Some(files) => Finding::ok("open files", format!("the limit is {files}")),
        None => Finding::ok("open files", "there is no limit"),
    }
}
