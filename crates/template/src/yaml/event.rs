//! Events: the structure of the text, one step at a time. The reader itself works with [`Step`]s,
//! which are small; [`Events`] converts them for other crates.

use super::characters;
use super::cursor::Mark;
use super::error::{YamlError, YamlResult};
use super::parser::{Parser, ParserStep, StepKind};
use std::borrow::Cow;

/// The events of a text; ends after the last one or the first problem.
#[derive(Debug)]
pub struct Events<'a> {
    parser: Parser<'a>,
    error: Option<Box<YamlError>>,
    is_finished: bool,
}

/// One step through the structure of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    /// The kind of a step.
    pub kind: EventKind<'a>,
    /// Where it begins: for nodes with their anchor or tag.
    pub start: Mark,
    /// Where it ends.
    pub end: Mark,
    /// Offset of a node's content, after its anchor and tag.
    pub content: u32,
}

/// The kind of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind<'a> {
    /// A document begins.
    DocumentStart,
    /// A document ends.
    DocumentEnd,
    /// A stand-in for the node with this anchor.
    Alias(&'a str),
    /// A scalar.
    Scalar {
        /// Anchor and tag.
        properties: Properties<'a>,
        /// An example.
        style: Style,
        /// The text it stands for.
        value: Cow<'a, str>,
    },
    /// A sequence begins.
    SequenceStart(Properties<'a>),
    /// A sequence ends.
    SequenceEnd,
    /// A mapping begins.
    MappingStart(Properties<'a>),
    /// A mapping ends.
    MappingEnd,
}

/// Anchor and tag of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties<'a> {
    /// The name that aliases use.
    pub anchor: Option<&'a str>,
    /// The full name of the tag.
    pub tag: Option<Cow<'a, str>>,
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

impl<'a> Events<'a> {
    pub(super) fn new(text: &'a str, max_depth: usize) -> Events<'a> {
        let error = characters::check(text).err();
        Events { parser: Parser::new(text, max_depth), error, is_finished: false }
    }

    fn event(&mut self, step: ParserStep) -> Event<'a> {
        let properties = if step.is_decorated {
            std::mem::take(&mut self.parser.properties)
        } else {
            Properties::default()
        };
        let kind = match step.kind {
            StepKind::DocumentStart => EventKind::DocumentStart,
            StepKind::DocumentEnd | StepKind::End => EventKind::DocumentEnd,
            StepKind::Alias => EventKind::Alias(self.parser.name(step.start, step.end)),
            StepKind::Scalar { style, built } => {
                let value = self.parser.value(style, built, step.content, step.end.offset);
                EventKind::Scalar { properties, style, value }
            }
            StepKind::SequenceStart => EventKind::SequenceStart(properties),
            StepKind::SequenceEnd => EventKind::SequenceEnd,
            StepKind::MappingStart => EventKind::MappingStart(properties),
            StepKind::MappingEnd => EventKind::MappingEnd,
        };
        Event { kind, start: step.start, end: step.end, content: step.content }
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = YamlResult<Event<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_finished {
            return None;
        }
        let step = match self.error.take() {
            Some(error) => Err(error),
            None => self.parser.step(),
        };
        let ends = step.as_ref().is_ok_and(|step| step.kind == StepKind::End);
        self.is_finished = ends || step.is_err();
        (!ends).then(|| step.map(|step| self.event(step)))
    }
}

impl Style {
    /// The number of characters around the value on each side.
    pub(super) fn quotes(self) -> u32 {
        u32::from(matches!(self, Style::SingleQuoted | Style::DoubleQuoted))
    }
}
