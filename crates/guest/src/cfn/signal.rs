//! cfn-signal: signals success or failure to a wait condition.

use crate::files;
use crate::host::Host;
use crate::http::{FailureKind, Http, Request};
use crate::json;
use crate::options::{Args, Flag, switch, value};
use serde_json::{Value, json};

pub(crate) const FLAGS: &[Flag] = &[
    value("success", Some('s'), "Whether the signal is a success: true or false."),
    value("reason", Some('r'), "The reason."),
    value("data", Some('d'), "Data for the wait condition."),
    value("id", Some('i'), "The unique id of the signal."),
    value("exit-code", Some('e'), "An exit status to report: 0 is success."),
    value("exit", None, "The older name of --exit-code."),
    switch("insecure", Some('k'), "Skip TLS verification."),
];

const NOVA: &str = "http://169.254.169.254/openstack/2012-08-10/meta_data.json";

/// Runs the tool. The exit statuses are those of curl, which heat-cfntools uses.
pub(crate) fn main(host: &Host, args: &Args) -> i32 {
    let Some(url) = args.rest.first() else {
        host.error("the URL of the wait condition is required");
        return 1;
    };
    let id = args.get("id").map_or_else(|| server_id(host), str::to_owned);
    let request = Request::new("PUT", url)
        .with("Content-Type", "")
        .with_body(body(args, &id).to_string())
        .with_timeout(60);
    let http = Http::new(host).insecure(args.has("insecure"));
    match http.send_with_retries(host, &request) {
        Ok(reply) if reply.is_good() => 0,
        Ok(reply) => {
            host.error(format!(
                "the signal was rejected with status {}: {}",
                reply.status,
                reply.text()
            ));
            22
        }
        Err(failed) => {
            host.error(failed.to_string());
            match failed.kind {
                FailureKind::NoHost => 6,
                FailureKind::Refused => 7,
                FailureKind::Timeout => 28,
                FailureKind::TooLarge | FailureKind::Other => 56,
            }
        }
    }
}

/// Builds the body of the signal.
fn body(args: &Args, id: &str) -> Value {
    let is_good = match args.get("exit-code").or(args.get("exit")) {
        Some(code) => code == "0",
        None => args.get("success").is_none_or(|it| it == "true"),
    };
    json!({
        "Status": if is_good { "SUCCESS" } else { "FAILURE" },
        "Reason": args.get("reason").unwrap_or("Configuration Complete"),
        "UniqueId": id,
        "Data": args.get("data").unwrap_or("Application has completed configuration."),
    })
}

/// Returns the id of this server, or its host name.
pub(crate) fn server_id(host: &Host) -> String {
    let path = host.path("/var/lib/heat-cfntools/nova_meta.json");
    let known = files::text(&path).or_else(|| {
        let url = host.variable("KILN_GUEST_NOVA").unwrap_or(NOVA);
        let reply = Http::new(host).send(&Request::new("GET", url).with_timeout(5)).ok()?;
        let text = reply.is_good().then(|| reply.text())?;
        // If the file cannot be written, the id is requested again next time.
        _ = files::write(&path, text.as_bytes(), 0o600);
        Some(text)
    });
    let known: Option<Value> = known.and_then(|text| serde_json::from_str(&text).ok());
    let id = known.as_ref().and_then(|known| json::text(known, "uuid")).map(str::to_owned);
    id.or_else(|| files::text(std::path::Path::new("/proc/sys/kernel/hostname")))
        .map_or_else(|| "localhost".into(), |name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options;

    fn signal(arguments: &[&str]) -> Value {
        let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
        body(&options::parse(FLAGS, &arguments).unwrap(), "me")
    }

    #[test]
    fn exit_codes_win_over_success() {
        assert_eq!(signal(&[])["Status"], "SUCCESS");
        assert_eq!(signal(&["-s", "false"])["Status"], "FAILURE");
        assert_eq!(signal(&["-e", "0", "-s", "false"])["Status"], "SUCCESS");
        assert_eq!(signal(&["--exit", "2"])["Status"], "FAILURE");
        assert_eq!(signal(&["-r", "why", "-d", "x"])["Reason"], "why");
        assert_eq!(signal(&[])["Data"], "Application has completed configuration.");
    }
}
