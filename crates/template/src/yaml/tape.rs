//! The composer: events into a tape, the nodes of one document in the order of the text.
//!
//! Containers are followed by their members, a mapping's keys and values in turn. An alias is a
//! node of its own that names its target, so the tape is never longer than the text.

use super::characters;
use super::cursor::Mark;
use super::error::{YamlError, YamlResult};
use super::event::Style;
use super::parser::{Parser, ParserStep, StepKind};
use super::tag::{self, Tag};
use crate::codes;
use crate::read::excerpt;
use std::collections::HashMap;

/// One node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TapeNode {
    /// Offsets of its content.
    pub(super) start: u32,
    pub(super) end: u32,
    /// What it means depends on the shape.
    pub(super) link: u32,
    pub(super) shape: NodeShape,
    pub(super) tag: Tag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeShape {
    /// A scalar whose value is a piece of the text.
    Plain,
    /// A scalar whose value is the piece of the text between quotes.
    Quoted,
    /// A scalar whose value was built; the link is its number.
    Built,
    /// The link is the index of the next node that is not inside of this one.
    Sequence,
    /// The link is the index of the next node that is not inside of this one.
    Mapping,
    /// The link is the index of the node that it stands for.
    Alias,
}

#[derive(Debug)]
pub(super) struct Tape<'a> {
    pub(super) text: &'a str,
    pub(super) items: Vec<TapeNode>,
    built: Vec<String>,
    /// Names of the tags that have no meaning here, with the index of their node.
    unknown_tags: Vec<(u32, String)>,
}

/// Reads the one document of a text; none if there is nothing but comments.
pub(super) fn compose(text: &str, max_depth: usize) -> YamlResult<Option<Tape<'_>>> {
    compose_by(text, max_depth, Composer::read_shortcuts)
}

/// Reads the one document of a text, with a chance to go ahead in front of each step.
pub(super) fn compose_by<'a>(
    text: &'a str,
    max_depth: usize,
    go_ahead: impl Fn(&mut Composer<'a>, &mut Parser<'a>),
) -> YamlResult<Option<Tape<'a>>> {
    characters::check(text)?;
    let mut parser = Parser::new(text, max_depth);
    let first = parser.step()?;
    if first.kind == StepKind::End {
        return Ok(None);
    }
    let mut composer = Composer::new(text);
    loop {
        go_ahead(&mut composer, &mut parser);
        let step = parser.step()?;
        if step.kind == StepKind::DocumentEnd {
            break;
        }
        composer.add(&mut parser, step)?;
    }
    let second = parser.step()?;
    if second.kind != StepKind::End {
        let error = YamlError::syntax("expected one document, found a second one", second.start);
        return Err(error.within(first.start, "the first document"));
    }
    composer.tape.built = parser.scanner.built;
    Ok(Some(composer.tape))
}

impl Tape<'_> {
    /// The index of the node after this one and all that is inside of it.
    #[inline]
    pub(super) fn next(&self, index: u32) -> u32 {
        match self.items.get(index as usize) {
            Some(TapeNode { shape: NodeShape::Sequence | NodeShape::Mapping, link, .. }) => *link,
            Some(_) => index + 1,
            None => u32::MAX,
        }
    }

    /// The index of the node that an alias stands for; none if it is something else.
    #[inline]
    pub(super) fn target(&self, index: u32) -> Option<u32> {
        let item = self.items.get(index as usize)?;
        (item.shape == NodeShape::Alias).then_some(item.link)
    }

    /// The text that a scalar stands for; none if it is something else.
    #[inline]
    pub(super) fn value(&self, item: &TapeNode) -> Option<&str> {
        let (start, end) = (item.start as usize, item.end as usize);
        match item.shape {
            NodeShape::Plain => self.text.get(start..end),
            NodeShape::Quoted => self.text.get(start + 1..end - 1),
            NodeShape::Built => built_value(&self.built, item.link),
            _ => None,
        }
    }

    /// The name of a node's tag that has no meaning here.
    pub(super) fn unknown_tag(&self, index: u32) -> &str {
        let position = self.unknown_tags.binary_search_by_key(&index, |(index, _)| *index);
        position
            .ok()
            .and_then(|position| self.unknown_tags.get(position))
            .map_or("", |(_, name)| name)
    }
}

fn built_value(built: &[String], number: u32) -> Option<&str> {
    built.get((number as usize).checked_sub(1)?).map(String::as_str)
}

pub(super) struct Composer<'a> {
    pub(super) tape: Tape<'a>,
    /// Where the last node ended.
    pub(super) behind: u32,
    /// Indices of the containers that are not closed yet.
    pub(super) open: Vec<u32>,
    anchors: HashMap<&'a str, (u32, Mark)>,
}

impl<'a> Composer<'a> {
    fn new(text: &'a str) -> Composer<'a> {
        let tape = Tape {
            text,
            items: Vec::with_capacity(text.len() / 8),
            built: Vec::new(),
            unknown_tags: Vec::new(),
        };
        Composer { tape, behind: 0, open: Vec::new(), anchors: HashMap::new() }
    }

    fn add(&mut self, parser: &mut Parser<'a>, step: ParserStep) -> YamlResult<()> {
        let (start, end) = (step.content, step.end.offset);
        let mut tag_name = None;
        if step.is_decorated {
            if let Some(name) = parser.properties.anchor {
                self.anchor(name, step.start)?;
            }
            tag_name = parser.properties.tag.as_deref();
        }
        match step.kind {
            StepKind::DocumentStart | StepKind::DocumentEnd | StepKind::End => {}
            StepKind::Alias => self.alias(parser.name(step.start, step.end), step.start, end)?,
            StepKind::Scalar { style, built } => {
                let (shape, link) = match built {
                    Some(number) => (NodeShape::Built, number.get()),
                    None if style.quotes() > 0 => (NodeShape::Quoted, 0),
                    None => (NodeShape::Plain, 0),
                };
                let mut item = TapeNode { start, end, link, shape, tag: Tag::Str };
                if style == Style::Plain || tag_name.is_some() {
                    item.tag = self.scalar_tag(style, &item, tag_name, &parser.scanner.built);
                }
                self.push(item);
            }
            StepKind::SequenceStart => self.open(NodeShape::Sequence, Tag::Seq, tag_name, start),
            StepKind::MappingStart => self.open(NodeShape::Mapping, Tag::Map, tag_name, start),
            StepKind::SequenceEnd | StepKind::MappingEnd => {
                self.close((step.end != step.start).then_some(end));
            }
        }
        Ok(())
    }

    fn anchor(&mut self, name: &'a str, at: Mark) -> YamlResult<()> {
        let index = self.tape.items.len() as u32;
        match self.anchors.insert(name, (index, at)) {
            Some((_, first)) => {
                let message = format!("the anchor `&{}` is set twice", excerpt(name));
                Err(YamlError::syntax(message, at).within(first, "first set here"))
            }
            None => Ok(()),
        }
    }

    fn alias(&mut self, name: &str, at: Mark, end: u32) -> YamlResult<()> {
        let anchor = self.anchors.get(name).copied();
        let name = excerpt(name);
        let Some((target, set)) = anchor else {
            let message = format!("there is no anchor `&{name}` before the alias `*{name}`");
            return Err(YamlError::syntax(message, at));
        };
        if self.open.binary_search(&target).is_ok() {
            let message = format!("the alias `*{name}` is inside of its own anchor");
            let error = YamlError::new(&codes::NOT_PLAIN_DATA, message, at);
            return Err(error.within(set, "the anchor"));
        }
        let tag = self.tape.items.get(target as usize).map_or(Tag::Null, |item| item.tag);
        self.push(TapeNode { start: at.offset, end, link: target, shape: NodeShape::Alias, tag });
        Ok(())
    }

    fn scalar_tag(
        &mut self,
        style: Style,
        item: &TapeNode,
        name: Option<&str>,
        built: &[String],
    ) -> Tag {
        let value = match item.shape {
            NodeShape::Built => built_value(built, item.link),
            _ => self.tape.value(item),
        };
        let value = value.unwrap_or_default();
        match name {
            // With `!` and nothing else, what is missing is text and not null.
            Some("!") if style == Style::Plain && value.is_empty() => Tag::Str,
            None | Some("!") => tag::resolve_plain(value),
            Some(name) => self.tag(name),
        }
    }

    pub(super) fn open(&mut self, shape: NodeShape, tag: Tag, name: Option<&str>, start: u32) {
        let tag = match name {
            None | Some("!") => tag,
            Some(name) => self.tag(name),
        };
        self.open.push(self.tape.items.len() as u32);
        self.push(TapeNode { start, end: start, link: 0, shape, tag });
    }

    /// Ends a container after its bracket, or after its last member if it has none.
    pub(super) fn close(&mut self, bracket: Option<u32>) {
        let Some(index) = self.open.pop() else { return };
        let next = self.tape.items.len() as u32;
        if let Some(item) = self.tape.items.get_mut(index as usize) {
            item.link = next;
            item.end = bracket.unwrap_or(self.behind).max(item.start);
            self.behind = item.end;
        }
    }

    #[inline]
    pub(super) fn push(&mut self, item: TapeNode) {
        self.tape.items.push(item);
        let TapeNode { start, end, .. } = item;
        if end > start || self.is_indicator_before(end) {
            self.behind = end;
        }
    }

    /// A missing value ends after its indicator, unless it was noticed further on only.
    fn is_indicator_before(&self, end: u32) -> bool {
        let bytes = self.tape.text.as_bytes();
        let before = end.checked_sub(1).and_then(|at| bytes.get(at as usize));
        matches!(before, Some(b':' | b'-' | b'?'))
    }

    fn tag(&mut self, name: &str) -> Tag {
        let tag = tag::named(name).unwrap_or(Tag::Unknown);
        if tag == Tag::Unknown {
            self.tape.unknown_tags.push((self.tape.items.len() as u32, name.into()));
        }
        tag
    }
}
