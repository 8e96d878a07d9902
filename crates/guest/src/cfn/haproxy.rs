//! The statistics of HAProxy: requests, responses, servers and latency.

use super::stats::Figure;
use crate::error::{GuestError, Result};
use crate::host::Host;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The statistics socket, as HAProxy's configuration must name it (`stats socket`).
const SOCKET: &str = "/tmp/.haproxy-stats";

/// The maximal size of the statistics.
const MAX_STATS_BYTES: u64 = 4 << 20;

/// The time limit for a response.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Columns of the statistics.
const STATUS: usize = 17;
const ROW_TYPE: usize = 32;
const CHECK_MILLISECONDS: usize = 38;
const ANSWERS: [(usize, &str); 4] = [(40, "2XX"), (41, "3XX"), (42, "4XX"), (43, "5XX")];
const REQUESTS: usize = 48;

/// Returns the metrics, or only the latency of the servers.
pub(super) fn figures(host: &Host, is_latency_alone: bool) -> Result<Vec<Figure>> {
    let path = host.path(SOCKET);
    let failed = |error: std::io::Error| {
        let message = format!(
            "cannot read the statistics of HAProxy: {error}; is a stats socket configured?"
        );
        GuestError::at(&path, message)
    };
    let list = query_socket(&path).map_err(failed)?;
    let all = parse_stats(&list);
    Ok(all.into_iter().filter(|(name, ..)| !is_latency_alone || name == LATENCY).collect())
}

const LATENCY: &str = "Latency";

fn query_socket(path: &std::path::Path) -> std::io::Result<String> {
    let mut socket = UnixStream::connect(path)?;
    socket.set_read_timeout(Some(TIMEOUT))?;
    socket.set_write_timeout(Some(TIMEOUT))?;
    socket.write_all(b"show stat\n")?;
    let mut list = Vec::new();
    socket.take(MAX_STATS_BYTES).read_to_end(&mut list)?;
    Ok(String::from_utf8_lossy(&list).into_owned())
}

/// Computes the metrics from the statistics. Values of several proxies are added up.
fn parse_stats(list: &str) -> Vec<Figure> {
    let mut counts: Vec<(String, f64)> = Vec::new();
    let mut add = |name: &str, count: f64| match counts.iter_mut().find(|it| it.0 == name) {
        Some((_, sum)) => *sum += count,
        None => counts.push((name.to_owned(), count)),
    };
    let (mut up, mut down, mut max_delay) = (0.0, 0.0, 0.0_f64);
    for line in list.lines().filter(|line| line.len() > 1 && !line.starts_with('#')) {
        let columns: Vec<&str> = line.split(',').collect();
        let text = |at: usize| columns.get(at).copied().unwrap_or_default();
        let number = |at: usize| text(at).parse::<f64>().unwrap_or(0.0);
        match text(ROW_TYPE) {
            // A frontend, as clients see it.
            "0" => {
                add("RequestCount", number(REQUESTS));
                for (at, name) in &ANSWERS[2..] {
                    add(&format!("HTTPCode_ELB_{name}"), number(*at));
                }
            }
            // A backend: all responses of its servers.
            "1" => {
                for (at, name) in ANSWERS {
                    add(&format!("HTTPCode_Backend_{name}"), number(at));
                }
            }
            "2" if text(STATUS) == "UP" => up += 1.0,
            "2" => down += 1.0,
            _ => {}
        }
        max_delay = max_delay.max(number(CHECK_MILLISECONDS));
    }
    let counter = |(name, count): (String, f64)| (name, "Counter".to_owned(), count);
    let mut all: Vec<Figure> = counts.into_iter().map(counter).collect();
    all.push((LATENCY.into(), "Seconds".into(), max_delay / 1000.0));
    all.push(counter(("HealthyHostCount".into(), up)));
    all.push(counter(("UnHealthyHostCount".into(), down)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a line with some columns.
    fn line(columns: &[(usize, &str)]) -> String {
        let mut all = vec![""; 60];
        columns.iter().for_each(|(at, text)| all[*at] = text);
        all.join(",") + "\n"
    }

    #[test]
    fn figures_are_added_up() {
        let list = [
            "# pxname,svname,qcur\n".to_owned(),
            line(&[
                (ROW_TYPE, "0"),
                (REQUESTS, "7"),
                (40, "4"),
                (42, "2"),
                (43, "1"),
                (STATUS, "OPEN"),
            ]),
            line(&[(ROW_TYPE, "0"), (REQUESTS, "3"), (42, "1")]),
            line(&[(ROW_TYPE, "2"), (STATUS, "UP"), (CHECK_MILLISECONDS, "12"), (40, "9")]),
            line(&[(ROW_TYPE, "2"), (STATUS, "DOWN"), (CHECK_MILLISECONDS, "1500")]),
            line(&[(ROW_TYPE, "2"), (STATUS, "UP 1/3")]),
            line(&[(ROW_TYPE, "1"), (40, "9"), (41, "1"), (STATUS, "UP")]),
            line(&[(ROW_TYPE, "3"), (STATUS, "OPEN")]),
            "\n".to_owned(),
        ];
        let all = parse_stats(&list.concat());
        let all: Vec<String> =
            all.iter().map(|(name, unit, count)| format!("{name} {count} {unit}")).collect();
        assert_eq!(
            all,
            [
                "RequestCount 10 Counter",
                "HTTPCode_ELB_4XX 3 Counter",
                "HTTPCode_ELB_5XX 1 Counter",
                "HTTPCode_Backend_2XX 9 Counter",
                "HTTPCode_Backend_3XX 1 Counter",
                "HTTPCode_Backend_4XX 0 Counter",
                "HTTPCode_Backend_5XX 0 Counter",
                "Latency 1.5 Seconds",
                "HealthyHostCount 1 Counter",
                "UnHealthyHostCount 2 Counter",
            ]
        );
        assert_eq!(parse_stats("nonsense").len(), 3, "and nothing breaks");
    }
}
