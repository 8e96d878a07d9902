//! The result of one check, and how results are printed.

use crate::render::counted;
use crate::stdio::Streams;
use serde_json::json;
use std::fmt;
use std::io;

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// What was checked.
    pub(super) subject: &'static str,
    pub(super) state: FindingState,
    /// The result in a sentence.
    pub(super) text: String,
    /// What to do about it.
    pub(super) next: Option<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindingState {
    /// All is well.
    Ok,
    /// The server works, but not as the operator may expect.
    Warning,
    /// The server does not start, or does not do its work.
    Problem,
    /// The check was not made.
    Skipped,
}

impl fmt::Display for FindingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FindingState::Ok => "ok",
            FindingState::Warning => "warning",
            FindingState::Problem => "problem",
            FindingState::Skipped => "skipped",
        })
    }
}

impl Finding {
    pub(super) fn ok(subject: &'static str, text: impl Into<String>) -> Finding {
        Finding { subject, state: FindingState::Ok, text: text.into(), next: None }
    }

    pub(super) fn skipped(subject: &'static str, text: impl Into<String>) -> Finding {
        Finding { subject, state: FindingState::Skipped, text: text.into(), next: None }
    }

    pub(super) fn warning(
        subject: &'static str,
        text: impl Into<String>,
        next: impl Into<String>,
    ) -> Finding {
        let (text, next) = (text.into(), Some(next.into()));
        Finding { subject, state: FindingState::Warning, text, next }
    }

    pub(super) fn problem(
        subject: &'static str,
        text: impl Into<String>,
        next: impl Into<String>,
    ) -> Finding {
        let (text, next) = (text.into(), Some(next.into()));
        Finding { subject, state: FindingState::Problem, text, next }
    }
}

/// Prints findings, one in each line, with what to do below it.
pub(super) fn print(findings: &[Finding], streams: &mut Streams<'_>) -> io::Result<()> {
    let width = findings.iter().map(|it| it.subject.len()).max().unwrap_or(0);
    for Finding { subject, state, text, next } in findings {
        let (on, off) = if streams.out_styled { (color(*state), "\x1b[0m") } else { ("", "") };
        writeln!(streams.out, "{on}{state:<8}{off} {subject:width$}  {text}")?;
        if let Some(next) = next {
            writeln!(streams.out, "{:1$}Next: {next}", "", width + 11)?;
        }
    }
    let count = |state: FindingState| findings.iter().filter(|it| it.state == state).count();
    let problems = counted(count(FindingState::Problem), "problem");
    let warnings = counted(count(FindingState::Warning), "warning");
    writeln!(streams.out, "{problems}, {warnings}.")
}

fn color(state: FindingState) -> &'static str {
    match state {
        FindingState::Ok => "\x1b[32m",
        FindingState::Warning => "\x1b[33m",
        FindingState::Problem => "\x1b[31m",
        FindingState::Skipped => "\x1b[2m",
    }
}

/// Prints findings as a JSON array.
pub(super) fn print_json(findings: &[Finding], streams: &mut Streams<'_>) -> io::Result<()> {
    let object = |it: &Finding| json!({ "check": it.subject, "state": it.state.to_string(), "text": it.text, "next": it.next });
    let all: Vec<_> = findings.iter().map(object).collect();
    writeln!(streams.out, "{:#}", json!(all))
}
