//! Findings for people: the message, the marked source, and advice.

use super::excerpt::{self, Excerpt};
use super::names::Names;
use super::texts::SourceTexts;
use super::{BOLD, FAINT, GREEN, RED, YELLOW, counted, styled, tally};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use kiln_template::{Diagnostic, Severity};
use std::borrow::Cow;
use std::io::{self, Write};

/// The maximum number of findings that are shown.
const MAX_FINDINGS: usize = 100;
/// The maximum number of characters of a message.
const MAX_SENTENCE: usize = 2_000;
/// Marks a position in a drawing that is corrected afterwards; no text contains it.
const WRONG: char = '\u{10FFFD}';

/// Prints findings.
pub(crate) struct Terminal<'a> {
    texts: &'a SourceTexts<'a>,
    names: &'a Names,
    renderer: Renderer,
    is_styled: bool,
}

impl<'a> Terminal<'a> {
    /// A terminal of this width, with or without colours.
    pub(crate) fn new(
        texts: &'a SourceTexts<'a>,
        names: &'a Names,
        width: usize,
        is_styled: bool,
    ) -> Terminal<'a> {
        let renderer = if is_styled { Renderer::styled() } else { Renderer::plain() };
        Terminal { texts, names, renderer: renderer.term_width(width), is_styled }
    }

    /// Writes the findings, errors first, up to a maximum.
    pub(crate) fn findings(&self, out: &mut dyn Write, all: &[Diagnostic]) -> io::Result<()> {
        let errors = all.iter().filter(|found| found.is_error());
        let warnings = all.iter().filter(|found| !found.is_error());
        for found in errors.chain(warnings).take(MAX_FINDINGS) {
            writeln!(out, "{}\n", self.finding(found))?;
        }
        if let Some(more @ 1..) = all.len().checked_sub(MAX_FINDINGS) {
            let note = styled(self.is_styled, BOLD, "note");
            let findings = counted(more, "more finding");
            writeln!(out, "{note}: {findings} omitted; --format json shows all\n")?;
        }
        Ok(())
    }

    /// Writes the verdict: the number of findings, or the contents of the valid template.
    pub(crate) fn verdict(
        &self,
        out: &mut dyn Write,
        name: &str,
        all: &[Diagnostic],
        is_good: bool,
        contents: &str,
    ) -> io::Result<()> {
        let (errors, warnings) = tally(all);
        let mut parts = Vec::new();
        if errors > 0 {
            parts.push(styled(self.is_styled, RED, &counted(errors, "error")).into_owned());
        } else if is_good {
            let contents = styled(self.is_styled, FAINT, contents);
            parts.push(format!("{} {contents}", styled(self.is_styled, GREEN, "valid")));
        }
        if warnings > 0 {
            parts.push(styled(self.is_styled, YELLOW, &counted(warnings, "warning")).into_owned());
        }
        let name = super::printable(name);
        writeln!(out, "{}: {}", styled(self.is_styled, BOLD, &name), parts.join(", "))
    }

    /// One finding, without a final line feed.
    pub(crate) fn finding(&self, found: &Diagnostic) -> String {
        let level = match found.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let sentence = self.sentence(&found.text());
        let (excerpts, left_out) = excerpt::excerpts(found, self.texts);
        let title = level.primary_title(sentence).id(found.code.id);
        let mut group: Group<'_> = title.elements(excerpts.iter().map(snippet));
        if left_out > 0 {
            let places = counted(left_out, "more place");
            group = group.element(Level::NOTE.message(format!("{places} left out")));
        }
        if let Some(help) = &found.help {
            group = group.element(Level::HELP.message(self.sentence(help)));
        }
        let rendered = self.renderer.render(&[group]);
        excerpts.iter().filter(|excerpt| excerpt.is_cut).fold(rendered, with_true_column)
    }

    fn sentence(&self, text: &str) -> String {
        cut(&self.names.shorten(text)).into_owned()
    }
}

/// An excerpt as annotate-snippets takes it.
fn snippet<'a>(excerpt: &'a Excerpt<'a>) -> Snippet<'a, Annotation<'a>> {
    let name = match excerpt.is_cut {
        true => Cow::Owned(format!("{WRONG}{}", excerpt.name)),
        false => Cow::Borrowed(excerpt.name),
    };
    let snippet = Snippet::source(&*excerpt.text).path(name);
    let snippet = snippet.line_start(excerpt.first_line).fold(true);
    snippet.annotations(excerpt.marks.iter().map(|mark| {
        let kind = if mark.is_main { AnnotationKind::Primary } else { AnnotationKind::Context };
        let label = Some(mark.label).filter(|label| !label.is_empty());
        kind.span(mark.range.clone()).label(label)
    }))
}

/// Corrects the column in the drawing of a line whose beginning was cut.
fn with_true_column(drawing: String, excerpt: &Excerpt<'_>) -> String {
    let name = excerpt.name;
    let told = excerpt.marks.iter().find_map(|mark| {
        let drawn = excerpt.text[..mark.range.start].chars().count() + 1;
        let wrong = format!("{WRONG}{name}:{}:{drawn}", mark.place.line);
        let right = format!("{name}:{}:{}", mark.place.line, mark.place.column);
        drawing.contains(&wrong).then_some((wrong, right))
    });
    match told {
        Some((wrong, right)) => drawing.replacen(&wrong, &right, 1),
        None => drawing.replacen(WRONG, "", 1),
    }
}

/// A message cut to the maximum length.
fn cut(sentence: &str) -> Cow<'_, str> {
    match sentence.char_indices().nth(MAX_SENTENCE) {
        None => Cow::Borrowed(sentence),
        Some((at, _)) => {
            let more = sentence[at..].chars().count();
            Cow::Owned(format!("{}… ({})", &sentence[..at], counted(more, "more character")))
        }
    }
}
