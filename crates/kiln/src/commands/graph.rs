//! `kiln template graph`: the dependencies of resources.

use crate::cli::{Graph as Arguments, GraphFormat};
use crate::load::{self, CheckedTemplate, plugins};
use crate::render::graph::GraphDrawing;
use crate::render::terminal::Terminal;
use crate::render::texts::SourceTexts;
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_template::validate::Checks;
use std::io;

pub(super) fn run(
    arguments: &Arguments,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let types = plugins::types(&arguments.subject.plugin_dirs, streams)?;
    let checked = load::check(&arguments.subject, types, Checks::AUTHOR)?;
    let verdict = Verdict::of(checked.is_valid());
    let written = tell(&checked, streams).and_then(|()| draw(&checked, arguments.format, streams));
    written.map_err(|error| CommandError::from(error).after(verdict))?;
    Ok(verdict)
}

/// Findings go to standard error.
fn tell(checked: &CheckedTemplate, streams: &mut Streams<'_>) -> io::Result<()> {
    let texts = SourceTexts::of(&checked.found, &checked.sources, &checked.names, &checked.hidden);
    let terminal = Terminal::new(&texts, &checked.names, streams.width, streams.err_styled);
    terminal.findings(streams.err, &checked.found)?;
    if checked.is_valid() {
        return Ok(());
    }
    terminal.verdict(streams.err, &checked.file, &checked.found, false, "")
}

fn draw(
    checked: &CheckedTemplate,
    format: GraphFormat,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    let Some(definition) = &checked.report.definition else { return Ok(()) };
    // Without an order there is a cycle, which was reported as a finding.
    let Ok(order) = definition.order() else { return Ok(()) };
    let drawing = GraphDrawing { definition, order };
    match format {
        GraphFormat::Tree => drawing.tree(streams.out, streams.out_styled),
        GraphFormat::Dot => drawing.dot(streams.out),
        GraphFormat::Json => writeln!(streams.out, "{:#}", drawing.json()),
    }
}
