//! `kiln explain`: the meaning of a diagnostic code and how to fix the error.

use crate::cli::Explain;
use crate::explain::{Page, Sample, SampleRole};
use crate::render::{BOLD, GREEN, RED, styled, table};
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_template::codes::{self, Code};
use kiln_template::suggest;
use std::io;

pub(super) fn run(arguments: &Explain, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    match &arguments.code {
        None => list(streams)?,
        Some(wanted) => {
            let code = codes::ALL.iter().find(|code| code.id.eq_ignore_ascii_case(wanted));
            let (Some(code), Some(page)) = (code, Page::find(wanted)) else {
                return Err(unknown(wanted));
            };
            write_page(code, page, streams)?;
        }
    }
    Ok(Verdict::Good)
}

fn list(streams: &mut Streams<'_>) -> io::Result<()> {
    let row = |code: &&Code| [code.id.into(), code.title.into(), code.kind.into()];
    let rows: Vec<_> = codes::ALL.iter().map(row).collect();
    table::write(streams.out, streams.out_styled, ["CODE", "FINDING", "ERROR TYPE"], &rows)
}

fn write_page(code: &Code, page: &Page, streams: &mut Streams<'_>) -> io::Result<()> {
    let title = format!("{}: {}", code.id, code.title);
    writeln!(streams.out, "{}", styled(streams.out_styled, BOLD, &title))?;
    writeln!(streams.out, "The API answers with the error type {}.\n", code.kind)?;
    writeln!(streams.out, "{}", page.sentences())?;
    page.samples().iter().try_for_each(|sample| write_sample(sample, streams))
}

fn write_sample(sample: &Sample<'_>, streams: &mut Streams<'_>) -> io::Result<()> {
    let (style, word) = match sample.role {
        SampleRole::Fails => (RED, "Fails"),
        SampleRole::Works => (GREEN, "Works"),
        SampleRole::With => (BOLD, "With"),
    };
    let file = match sample.file {
        "template.yaml" if sample.role != SampleRole::With => String::new(),
        file => format!(" {file}"),
    };
    writeln!(streams.out, "\n{}{file}:\n", styled(streams.out_styled, style, word))?;
    sample.text.lines().try_for_each(|line| writeln!(streams.out, "    {line}"))
}

fn unknown(code: &str) -> CommandError {
    let help = suggest::did_you_mean(code, codes::ALL.iter().map(|code| code.id));
    let help = help.unwrap_or_else(|| "`kiln explain` lists them".into());
    CommandError::usage(format!("there is no code {code:?}: {help}"))
}
