//! cfn-signal: tells a wait condition that somebody is ready, or not.

use crate::files;
use crate::host::Host;
use crate::http::{Http, Kind, Request};
use crate::json;
use crate::options::{Flag, Given, switch, value};
use serde_json::{Value, json};

pub(crate) const FLAGS: &[Flag] = &[
    value("success", Some('s'), "true or false."),
    value("reason", Some('r'), "Why."),
    value("data", Some('d'), "What is told to whoever waits."),
    value("id", Some('i'), "Who signals."),
    value("exit-code", Some('e'), "The exit status of something: 0 is success."),
    value("exit", None, "The same, as it was called before."),
    switch("insecure", Some('k'), "Believe everybody."),
];

const NOVA: &str = "http://169.254.169.254/openstack/2012-08-10/meta_data.json";

/// The tool. Exit statuses are those of the program that the original used.
pub(crate) fn main(host: &Host, given: &Given) -> i32 {
    let Some(url) = given.rest.first() else {
        host.error("an address is needed");
        return 1;
    };
    let id = given.get("id").map_or_else(|| who(host), str::to_owned);
    let request = Request::new("PUT", url)
        .with("Content-Type", "")
        .carrying(body(given, &id).to_string())
        .within(60);
    let http = Http::new(host).insecure(given.has("insecure"));
    match http.send_patiently(host, &request) {
        Ok(reply) if reply.is_good() => 0,
        Ok(reply) => {
            host.error(format!("the signal is refused with {}: {}", reply.status, reply.text()));
            22
        }
        Err(failed) => {
            host.error(failed.to_string());
            match failed.kind {
                Kind::NoHost => 6,
                Kind::Refused => 7,
                Kind::Timeout => 28,
                Kind::Other => 56,
            }
        }
    }
}

/// What is said.
fn body(given: &Given, id: &str) -> Value {
    let is_good = match given.get("exit-code").or(given.get("exit")) {
        Some(code) => code == "0",
        None => given.get("success").is_none_or(|it| it == "true"),
    };
    json!({
        "Status": if is_good { "SUCCESS" } else { "FAILURE" },
        "Reason": given.get("reason").unwrap_or("Configuration Complete"),
        "UniqueId": id,
        "Data": given.get("data").unwrap_or("Application has completed configuration."),
    })
}

/// Who this server is: its id, or its name.
pub(crate) fn who(host: &Host) -> String {
    let path = host.path("/var/lib/heat-cfntools/nova_meta.json");
    let known = files::text(&path).or_else(|| {
        let url = host.variable("KILN_GUEST_NOVA").unwrap_or(NOVA);
        let reply = Http::new(host).send(&Request::new("GET", url).within(5)).ok()?;
        let text = reply.is_good().then(|| reply.text())?;
        // It is asked again if it cannot be kept.
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

    fn said(arguments: &[&str]) -> Value {
        let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
        body(&options::parse(FLAGS, &arguments).unwrap(), "me")
    }

    #[test]
    fn exit_codes_win_over_success() {
        assert_eq!(said(&[])["Status"], "SUCCESS");
        assert_eq!(said(&["-s", "false"])["Status"], "FAILURE");
        assert_eq!(said(&["-e", "0", "-s", "false"])["Status"], "SUCCESS");
        assert_eq!(said(&["--exit", "2"])["Status"], "FAILURE");
        assert_eq!(said(&["-r", "why", "-d", "x"])["Reason"], "why");
        assert_eq!(said(&[])["Data"], "Application has completed configuration.");
    }
}
