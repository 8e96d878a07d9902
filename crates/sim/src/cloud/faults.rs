//! Fault injection.
//!
//! The rules are tried in order for every request, and the first rule that matches and triggers decides. Whether a
//! rule triggers is counted or drawn from the seed.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::random::Random;

/// The rules for fault injection; none by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Faults {
    /// The rules, in the order in which they are tried.
    pub rules: Vec<FaultRule>,
}

/// One rule: the requests that it matches, how often it triggers, and the fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// The first segment of the path, such as `network`; absent for all services.
    #[serde(default)]
    pub service: Option<String>,
    /// The method; absent for all methods.
    #[serde(default)]
    pub method: Option<String>,
    /// The path with the prefix of the service, with `*` as a wildcard; absent for all paths.
    #[serde(default)]
    pub path: Option<String>,
    /// How often the rule triggers.
    #[serde(default)]
    pub when: FaultWhen,
    /// The fault.
    pub kind: FaultKind,
}

/// How often a rule triggers among the requests that it matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultWhen {
    /// Every time.
    #[default]
    Always,
    /// At random, with this probability from 0 to 1.
    Rate(f64),
    /// Every nth time.
    Every(u64),
    /// The first n times.
    First(u64),
    /// The first time for each path.
    FirstOfPath,
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The request is rejected with this status and not carried out.
    Status(u16),
    /// The request is answered with a meaningless page and not carried out.
    Garbage,
    /// The request is carried out and the connection is closed without an answer.
    Lost,
    /// The request is carried out and answered as if it had failed, with this status.
    Failed(u16),
    /// The request is not carried out and the connection is closed without an answer.
    Dropped,
    /// The connection is closed without an answer; the request is carried out this many milliseconds later.
    Late(u64),
    /// The request is carried out and answered after this many milliseconds.
    Slow(u64),
    /// The object that the request creates fails to build: `No valid host was found.`
    BuildFailure,
}

impl FaultKind {
    /// Returns how long the request is delayed.
    pub(super) fn pause(&self) -> Duration {
        match self {
            FaultKind::Slow(millis) => Duration::from_millis(*millis),
            _ => Duration::ZERO,
        }
    }
}

/// The rules and how often each of them has matched.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultInjector {
    rules: Faults,
    matched: Vec<u64>,
    /// The paths that were met, with the positions of the rules.
    paths: BTreeSet<(usize, String)>,
}

impl FaultInjector {
    pub(super) fn new(rules: Faults) -> FaultInjector {
        FaultInjector { matched: vec![0; rules.rules.len()], rules, paths: BTreeSet::new() }
    }

    pub(super) fn rules(&self) -> &Faults {
        &self.rules
    }

    /// Returns the fault for a request, if a rule triggers.
    pub(super) fn next_fault(
        &mut self,
        random: &mut Random,
        service: &str,
        method: &str,
        path: &str,
    ) -> Option<FaultKind> {
        for ((at, rule), matched) in self.rules.rules.iter().enumerate().zip(&mut self.matched) {
            let other = |wanted: &Option<String>, supplied: &str| {
                wanted.as_deref().is_some_and(|wanted| wanted != supplied)
            };
            let other_path =
                rule.path.as_deref().is_some_and(|pattern| !matches_pattern(pattern, path));
            if other(&rule.service, service) || other(&rule.method, method) || other_path {
                continue;
            }
            *matched += 1;
            let applies = match rule.when {
                FaultWhen::Always => true,
                FaultWhen::Rate(rate) => random.happens(rate),
                FaultWhen::Every(nth) => nth > 0 && matched.is_multiple_of(nth),
                FaultWhen::First(count) => *matched <= count,
                FaultWhen::FirstOfPath => self.paths.insert((at, path.to_owned())),
            };
            if applies {
                return Some(rule.kind.clone());
            }
        }
        None
    }
}

/// Reports whether a text matches a pattern with `*` as a wildcard.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_they_say() {
        for (pattern, text, fits) in [
            ("/a", "/a", true),
            ("/a", "/ab", false),
            ("/a*", "/ab", true),
            ("*/ports", "/network/v2.0/ports", true),
            ("*/ports", "/network/v2.0/ports/x", false),
            ("/x/*/y/*", "/x/1/y/2", true),
            ("*ab", "/b", false),
        ] {
            assert_eq!(matches_pattern(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn rules_are_read_from_json_and_count() {
        let text = r#"[{"service": "network", "method": "POST", "when": {"every": 2}, "kind": {"status": 503}},
                       {"path": "*/servers", "when": {"first": 1}, "kind": "lost"}]"#;
        let mut injector = FaultInjector::new(serde_json::from_str(text).unwrap());
        let mut random = Random::new(1);
        let mut request = |service, path| injector.next_fault(&mut random, service, "POST", path);
        assert_eq!(request("network", "/network/v2.0/ports"), None);
        assert_eq!(request("network", "/network/v2.0/ports"), Some(FaultKind::Status(503)));
        assert_eq!(request("compute", "/compute/v2.1/servers"), Some(FaultKind::Lost));
        assert_eq!(request("compute", "/compute/v2.1/servers"), None);
    }

    #[test]
    fn a_rule_can_count_each_path() {
        let text = r#"[{"method": "DELETE", "when": "first_of_path", "kind": {"failed": 500}}]"#;
        let mut injector = FaultInjector::new(serde_json::from_str(text).unwrap());
        let mut random = Random::new(1);
        let mut delete = |path| injector.next_fault(&mut random, "volume", "DELETE", path);
        for path in ["/volume/v3/volumes/a", "/volume/v3/volumes/b"] {
            assert_eq!(delete(path), Some(FaultKind::Failed(500)));
            assert_eq!(delete(path), None);
        }
    }
}
