//! Excerpts of source texts: the lines that the labels of a finding point to.
//!
//! An excerpt is small whatever the text is: labels that are far apart get separate excerpts,
//! long lines are cut to a window, and every range lies within its line and between characters.

use super::texts::{Position, SourceText, SourceTexts};
use kiln_template::{Diagnostic, Label};
use std::ops::Range;
use std::ptr;

/// The maximum number of labels of a finding that are shown.
const MAX_LABELS: usize = 12;
/// Labels further apart than this many lines get separate excerpts.
const MAX_GAP: usize = 30;
/// Lines longer than this many bytes are cut.
const LONG_LINE: usize = 400;
/// The number of bytes that are shown before and after the marks in a long line.
const AROUND: usize = 70;
/// The maximum number of marked bytes.
const MAX_MARKED: usize = 160;
/// The text that replaces the cut part of a line.
const CUT: &str = "…";

/// Some lines of a text with marks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt<'a> {
    /// The name of the text in messages.
    pub(crate) name: &'a str,
    /// The number of the first line.
    pub(crate) first_line: usize,
    /// The lines.
    pub(crate) text: String,
    /// The marks, in the order of the labels.
    pub(crate) marks: Vec<Mark<'a>>,
    /// Whether the columns differ from those of the whole text.
    pub(crate) is_cut: bool,
}

/// A range of an excerpt's text that is marked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mark<'a> {
    /// The bytes.
    pub(crate) range: Range<usize>,
    /// The position in the whole text.
    pub(crate) place: Position,
    /// The label; may be empty.
    pub(crate) label: &'a str,
    /// Whether this is the primary label.
    pub(crate) is_main: bool,
}

/// The excerpts of a finding, the one with the primary label first, and the number of omitted labels.
pub(crate) fn excerpts<'a>(
    found: &'a Diagnostic,
    texts: &'a SourceTexts<'_>,
) -> (Vec<Excerpt<'a>>, usize) {
    let mut spots: Vec<LabelPosition<'a>> = Vec::new();
    for (number, label) in found.labels.iter().take(MAX_LABELS).enumerate() {
        if let Some((text, range)) = texts.find(label.span) {
            spots.push(LabelPosition::new(number, label, text, range));
        }
    }
    // The text of the primary label first, then the others in the order of the labels.
    let mut texts: Vec<&SourceText<'_>> = Vec::new();
    for spot in &spots {
        if !texts.iter().any(|text| ptr::eq(*text, spot.text)) {
            texts.push(spot.text);
        }
    }
    let rank = |spot: &LabelPosition<'_>| texts.iter().position(|text| ptr::eq(*text, spot.text));
    spots.sort_by_key(|spot| (rank(spot), spot.range.start, spot.number));
    let mut clusters: Vec<Vec<LabelPosition<'a>>> = Vec::new();
    for spot in spots {
        match clusters.last_mut() {
            Some(cluster) if cluster.last().is_some_and(|last| last.is_near(&spot)) => {
                cluster.push(spot);
            }
            _ => clusters.push(vec![spot]),
        }
    }
    let with_main = clusters.iter().position(|cluster| cluster.iter().any(|spot| spot.number == 0));
    if let Some(at) = with_main {
        clusters[..=at].rotate_right(1);
    }
    let left_out = found.labels.len().saturating_sub(MAX_LABELS);
    (clusters.into_iter().filter_map(excerpt).collect(), left_out)
}

/// A label and its position.
struct LabelPosition<'a> {
    /// The index of the label.
    number: usize,
    label: &'a Label,
    text: &'a SourceText<'a>,
    place: Position,
    /// The bytes to be marked: within one line, and not too many.
    range: Range<usize>,
    line: Range<usize>,
}

impl<'a> LabelPosition<'a> {
    fn new(
        number: usize,
        label: &'a Label,
        text: &'a SourceText<'a>,
        span: Range<usize>,
    ) -> LabelPosition<'a> {
        let place = text.place(span.start);
        let line = text.line(place.line);
        let start = place.offset.clamp(line.start, line.end);
        let end = span.end.clamp(start, line.end).min(start + MAX_MARKED);
        let end = text.shown.ceil_char_boundary(end).min(line.end);
        LabelPosition { number, label, text, place, range: start..end, line }
    }

    fn is_long(&self) -> bool {
        self.line.len() > LONG_LINE
    }

    /// Whether a later label of the same text, by offset, can share an excerpt.
    fn is_near(&self, later: &LabelPosition<'_>) -> bool {
        if !ptr::eq(self.text, later.text) {
            return false;
        }
        if self.is_long() || later.is_long() {
            let gap = later.range.start.saturating_sub(self.range.end);
            return self.place.line == later.place.line && gap <= AROUND;
        }
        later.place.line - self.place.line <= MAX_GAP
    }

    /// The part of the line to show if this is its first label and `last` its last one.
    fn window(&self, last: &LabelPosition<'_>) -> Range<usize> {
        if !self.is_long() {
            return self.line.clone();
        }
        let text = &self.text.shown;
        let start = self.range.start.saturating_sub(AROUND).max(self.line.start);
        let end = (last.range.end.max(self.range.end) + AROUND).min(self.line.end);
        text.floor_char_boundary(start)..text.ceil_char_boundary(end).min(self.line.end)
    }
}

/// The excerpt of adjacent labels, sorted by offset.
fn excerpt(cluster: Vec<LabelPosition<'_>>) -> Option<Excerpt<'_>> {
    let (first, last) = (cluster.first()?, cluster.last()?);
    let (name, first_line) = (&*first.text.name, first.place.line);
    let mut text = String::new();
    // The shift of each line's bytes in the excerpt.
    let mut moved: Vec<isize> = Vec::new();
    for line in first.place.line..=last.place.line {
        let range = match first.is_long() {
            true => first.window(last),
            // A long line without labels may be between short ones with labels.
            false => shortened(first.text, first.text.line(line)),
        };
        let whole = first.text.line(line);
        if range.start > whole.start {
            text.push_str(CUT);
        }
        moved.push(text.len() as isize - range.start as isize);
        text.push_str(&first.text.shown[range.clone()]);
        text.push_str(if range.end < whole.end { CUT } else { "" });
        text.push('\n');
    }
    let mut marks: Vec<(usize, Mark<'_>)> = Vec::with_capacity(cluster.len());
    for spot in &cluster {
        let moved = moved.get(spot.place.line - first_line).copied().unwrap_or(0);
        let start = spot.range.start.saturating_add_signed(moved);
        let end = spot.range.end.saturating_add_signed(moved);
        let (range, label) = (start..end, &*spot.label.text);
        let mark = Mark { range, place: spot.place, label, is_main: spot.number == 0 };
        marks.push((spot.number, mark));
    }
    marks.sort_by_key(|(number, _)| *number);
    let marks = marks.into_iter().map(|(_, mark)| mark).collect();
    let is_cut = first.is_long() && text.starts_with(CUT);
    Some(Excerpt { name, first_line, text, marks, is_cut })
}

fn shortened(text: &SourceText<'_>, line: Range<usize>) -> Range<usize> {
    let end = text.shown.floor_char_boundary(line.start + LONG_LINE);
    line.start..line.end.min(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::names::Names;
    use crate::render::texts::MaskedRanges;
    use kiln_template::{Sources, Span, codes};

    /// The lines and the marked parts of every excerpt.
    fn shown(text: &str, spans: &[(usize, usize)]) -> Vec<(usize, String, Vec<String>)> {
        let mut sources = Sources::new();
        let file = sources.add("t", text);
        let mut found = Diagnostic::error(&codes::SYNTAX, "x");
        for (start, end) in spans {
            found = found.at(Span::new(file, *start, *end));
        }
        let found = [found];
        let texts = SourceTexts::of(&found, &sources, &Names::default(), &MaskedRanges::new());
        let (excerpts, _) = excerpts(&found[0], &texts);
        let marked = |excerpt: &Excerpt<'_>| {
            excerpt.marks.iter().map(|mark| excerpt.text[mark.range.clone()].to_owned()).collect()
        };
        excerpts.iter().map(|e| (e.first_line, e.text.clone(), marked(e))).collect()
    }

    #[test]
    fn near_labels_share_an_excerpt_and_far_ones_do_not() {
        let text = format!("a: 1\nb: 2\n{}z: 3\n", "\n".repeat(100));
        assert_eq!(
            shown(&text, &[(5, 6), (0, 1)]),
            [(1, "a: 1\nb: 2\n".to_owned(), vec!["b".to_owned(), "a".to_owned()])]
        );
        let far = shown(&text, &[(110, 111), (0, 1)]);
        assert_eq!(far[0], (103, "z: 3\n".to_owned(), vec!["z".to_owned()]));
        assert_eq!(far[1], (1, "a: 1\n".to_owned(), vec!["a".to_owned()]));
    }

    #[test]
    fn a_long_line_is_cut_to_a_window_between_characters() {
        let text = format!("{}MARK{}", "é".repeat(9000), "界".repeat(9000));
        let excerpts = shown(&text, &[(18000, 18004), (17995, 18001), (0, 2), (20, 54_000)]);
        assert_eq!(excerpts.len(), 2);
        assert!(excerpts.iter().all(|(_, text, _)| text.len() < 900), "{excerpts:?}");
        assert_eq!(excerpts[0].2, ["MARK", "éé\u{e9}M"]);
        assert_eq!(excerpts[1].2[0], "é");
        assert_eq!(excerpts[1].2[1].len(), MAX_MARKED);
        assert!(excerpts[0].1.starts_with("…é") && excerpts[0].1.ends_with("…\n"));
    }

    #[test]
    fn ranges_end_with_their_line_and_with_the_text() {
        let text = "a:\r\n  b: 1\r\n";
        let excerpts = shown(text, &[(0, 12), (4000, 5000)]);
        assert_eq!(excerpts[0].2, ["a:", ""]);
        assert_eq!(shown("", &[(0, 0)]), [(1, "\n".to_owned(), vec![String::new()])]);
    }
}
