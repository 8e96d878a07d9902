//! Findings as one JSON object with a fixed order of keys.

use super::tally;
use super::texts::{Position, SourceTexts};
use kiln_template::{Diagnostic, Label, Severity, Template};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes the verdict on a template with all findings, each on one line.
pub(crate) fn write_verdict(
    out: &mut dyn Write,
    file: &str,
    is_good: bool,
    template: Option<&Template>,
    diagnostics: &[Diagnostic],
    texts: &SourceTexts<'_>,
) -> io::Result<()> {
    let (errors, warnings) = tally(diagnostics);
    let version = template.map(|template| {
        let written = template.version.info();
        format!("{}.{}", written.key, written.date)
    });
    let summary = json!({
        "errors": errors,
        "warnings": warnings,
        "resources": template.map(|template| template.resources.len()),
        "parameters": template.map(|template| template.parameters.len()),
        "outputs": template.map(|template| template.outputs.len()),
    });
    writeln!(out, "{{")?;
    writeln!(out, "  \"valid\": {is_good},")?;
    writeln!(out, "  \"file\": {},", json!(file))?;
    writeln!(out, "  \"version\": {},", json!(version))?;
    // Findings are written one at a time: all together could take many times the memory of the template.
    write!(out, "  \"diagnostics\": [")?;
    for (at, found) in diagnostics.iter().enumerate() {
        write!(out, "{}\n    ", if at == 0 { "" } else { "," })?;
        serde_json::to_writer(&mut *out, &finding(found, texts))?;
    }
    writeln!(out, "{}],", if diagnostics.is_empty() { "" } else { "\n  " })?;
    writeln!(out, "  \"summary\": {summary}\n}}")
}

/// One finding.
fn finding(found: &Diagnostic, texts: &SourceTexts<'_>) -> Value {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    json!({
        "severity": match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "code": found.code.id,
        "type": found.kind,
        "title": found.code.title,
        "message": found.message,
        "class": some(&found.class),
        "path": some(&found.path),
        "text": found.text(),
        "wire": found.wire_text(),
        "help": found.help,
        "labels": found
            .labels
            .iter()
            .enumerate()
            .filter_map(|(number, found)| label(number, found, texts))
            .collect::<Vec<Value>>(),
    })
}

fn label(number: usize, label: &Label, texts: &SourceTexts<'_>) -> Option<Value> {
    let (text, range) = texts.find(label.span)?;
    Some(json!({
        "file": text.name,
        "text": (!label.text.is_empty()).then_some(&label.text),
        "start": place(text.place(range.start)),
        "end": place(text.place(range.end)),
        "primary": number == 0,
    }))
}

fn place(place: Position) -> Value {
    json!({ "line": place.line, "column": place.column, "offset": place.offset })
}
