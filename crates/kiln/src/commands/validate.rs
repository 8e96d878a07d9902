//! `kiln validate`: all errors of a template, without a stack.

use crate::cli::{FindingsFormat, Validate};
use crate::load::{self, CheckedTemplate, plugins};
use crate::render::terminal::Terminal;
use crate::render::texts::SourceTexts;
use crate::render::{counted, json};
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_template::Template;
use kiln_template::validate::Checks;
use kiln_template::version::Dialect;
use std::io;

pub(super) fn run(
    arguments: &Validate,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let checks = if arguments.require_parameters { Checks::CREATE } else { Checks::AUTHOR };
    let types = plugins::types(&arguments.subject.plugin_dirs, streams)?;
    let checked = load::check(&arguments.subject, types, checks)?;
    let is_good = match arguments.deny_warnings {
        true => checked.found.is_empty(),
        false => checked.is_valid(),
    };
    let verdict = Verdict::of(is_good);
    let texts = SourceTexts::of(&checked.found, &checked.sources, &checked.names, &checked.hidden);
    let written = match arguments.format {
        FindingsFormat::Text => write_text(&checked, &texts, is_good, streams),
        FindingsFormat::Json => write_json(&checked, &texts, is_good, streams),
    };
    written.map_err(|error| CommandError::from(error).after(verdict))?;
    Ok(verdict)
}

fn write_text(
    checked: &CheckedTemplate,
    texts: &SourceTexts<'_>,
    is_good: bool,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    let terminal = Terminal::new(texts, &checked.names, streams.width, streams.out_styled);
    terminal.findings(streams.out, &checked.found)?;
    let contents = checked.report.template.as_deref().map(contents).unwrap_or_default();
    terminal.verdict(streams.out, &checked.file, &checked.found, is_good, &contents)
}

fn write_json(
    checked: &CheckedTemplate,
    texts: &SourceTexts<'_>,
    is_good: bool,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    let template = checked.report.template.as_deref();
    json::write_verdict(streams.out, &checked.file, is_good, template, &checked.found, texts)
}

/// The number of resources and outputs of a template, in brackets.
fn contents(template: &Template) -> String {
    let dialect = match template.version.dialect() {
        Dialect::Hot => "HOT",
        Dialect::Cfn => "CloudFormation",
    };
    format!(
        "({dialect} {}, {}, {}, {})",
        template.version.info().date,
        counted(template.resources.len(), "resource"),
        counted(template.parameters.len(), "parameter"),
        counted(template.outputs.len(), "output"),
    )
}
