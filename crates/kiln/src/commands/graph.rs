//! `kiln template graph`: which resource needs which.

use crate::cli::{Graph as Arguments, GraphFormat};
use crate::load::{self, Checked, plugins};
use crate::render::graph::Drawing;
use crate::render::terminal::Terminal;
use crate::render::texts::Texts;
use crate::streams::{Failure, Streams, Verdict};
use kiln_template::validate::Checks;
use std::io;

pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Verdict, Failure> {
    let types = plugins::types(&arguments.subject.plugin_dirs, streams)?;
    let checked = load::check(&arguments.subject, types, Checks::AUTHOR)?;
    let verdict = Verdict::of(checked.is_valid());
    let written = tell(&checked, streams).and_then(|()| draw(&checked, arguments.format, streams));
    written.map_err(|error| Failure::from(error).after(verdict))?;
    Ok(verdict)
}

/// Findings stand beside the graph.
fn tell(checked: &Checked, streams: &mut Streams<'_>) -> io::Result<()> {
    let texts = Texts::of(&checked.found, &checked.sources, &checked.names, &checked.hidden);
    let terminal = Terminal::new(&texts, &checked.names, streams.width, streams.err_styled);
    terminal.findings(streams.err, &checked.found)?;
    if checked.is_valid() {
        return Ok(());
    }
    terminal.verdict(streams.err, &checked.file, &checked.found, false, "")
}

fn draw(checked: &Checked, format: GraphFormat, streams: &mut Streams<'_>) -> io::Result<()> {
    let Some(definition) = &checked.report.definition else { return Ok(()) };
    // Without an order there is a ring, and a finding that tells of it.
    let Ok(order) = definition.order() else { return Ok(()) };
    let drawing = Drawing { definition, order };
    match format {
        GraphFormat::Tree => drawing.tree(streams.out, streams.out_styled),
        GraphFormat::Dot => drawing.dot(streams.out),
        GraphFormat::Json => writeln!(streams.out, "{:#}", drawing.json()),
    }
}
