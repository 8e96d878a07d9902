//! The builder: a tape into plain data.
//!
//! Aliases are replaced by what they stand for, merge keys by the members they bring in. Both make
//! copies, which are counted and bounded. Recursion goes as deep as collections nest, which is
//! bounded too.

use super::build_keys::NumericKeys;
use super::number;
use super::tag::Tag;
use super::tape::{NodeShape, Tape, TapeNode};
use crate::codes::{self, Code};
use crate::diagnostic::Diagnostic;
use crate::document::{Data, MapBuilder, Node};
use crate::limits::Limits;
use crate::names::Names;
use crate::read;
use crate::source::{FileId, Span};
use std::collections::HashMap;
use std::rc::Rc;

/// Makes plain data of a tape.
pub(super) fn build(
    tape: &Tape<'_>,
    file: FileId,
    limits: &Limits,
) -> (Option<Node>, Vec<Diagnostic>) {
    let mut builder = Builder {
        tape,
        file,
        limits,
        depth: 0,
        copying: None,
        copied: 0,
        merged: HashMap::new(),
        names: Names::new(),
        findings: Vec::new(),
    };
    match builder.node(0) {
        Ok(node) => (Some(node), builder.findings),
        Err(error) => {
            builder.findings.push(*error);
            (None, builder.findings)
        }
    }
}

pub(super) type Built<T> = Result<T, Box<Diagnostic>>;

/// Indices of a key and its value.
type Pair = (u32, u32);

pub(super) struct Builder<'t, 'a> {
    pub(super) tape: &'t Tape<'a>,
    file: FileId,
    limits: &'t Limits,
    depth: usize,
    /// The outermost alias or merge key whose copy is being made.
    copying: Option<u32>,
    copied: usize,
    /// All members of the mappings with merge keys, as far as they have been examined.
    merged: HashMap<u32, Rc<Vec<Pair>>>,
    pub(super) names: Names,
    findings: Vec<Diagnostic>,
}

impl<'t, 'a> Builder<'t, 'a> {
    pub(super) fn node(&mut self, index: u32) -> Built<Node> {
        if let Some(target) = self.tape.target(index) {
            let mut node = self.copy(index, |builder| builder.node(target))?;
            node.span = self.span(index);
            return Ok(node);
        }
        self.count()?;
        let data = match self.item(index).tag {
            Tag::Str | Tag::Timestamp => {
                let text = self.scalar(index)?;
                Data::Text(self.names.get(text))
            }
            Tag::Null => {
                self.scalar(index)?;
                Data::Null
            }
            Tag::Bool => {
                let text = self.scalar(index)?;
                Data::Bool(number::boolean(text).ok_or_else(|| self.no(index, text, "boolean"))?)
            }
            Tag::Int => {
                let text = self.scalar(index)?;
                Data::Int(number::integer(text).ok_or_else(|| self.no(index, text, "integer"))?)
            }
            Tag::Float => {
                let text = self.scalar(index)?;
                Data::Float(number::float(text).ok_or_else(|| self.no(index, text, "number"))?)
            }
            Tag::Seq => self.nested(index, |builder| builder.sequence(index))?,
            Tag::Map => self.nested(index, |builder| builder.mapping(index))?,
            Tag::Omap | Tag::Pairs => self.nested(index, |builder| builder.pairs(index))?,
            tag => return Err(self.not_plain(index, tag)),
        };
        Ok(Node::new(self.span(index), data))
    }

    fn sequence(&mut self, index: u32) -> Built<Data> {
        if self.item(index).shape != NodeShape::Sequence {
            return Err(self.refuse(&codes::SYNTAX, index, "expected a list"));
        }
        let members = self.members(index);
        let mut items = Vec::with_capacity(members.clone().count());
        for member in members {
            items.push(self.node(member)?);
        }
        Ok(Data::List(items.into()))
    }

    fn mapping(&mut self, index: u32) -> Built<Data> {
        if self.item(index).shape != NodeShape::Mapping {
            return Err(self.refuse(&codes::SYNTAX, index, "expected a map"));
        }
        let mut keys = NumericKeys::default();
        let mut members = 0;
        let mut merges = false;
        let end = self.tape.next(index);
        let mut key = index + 1;
        while key < end {
            let item = self.item(key);
            keys.expect(self.tape, item);
            merges |= item.tag == Tag::Merge;
            members += 1;
            key = self.tape.next(self.tape.next(key));
        }
        let mut map = MapBuilder::with_capacity(members);
        if merges {
            keys.expect_any();
            for (key, value) in self.merged_pairs(index)? {
                let (name, value) = self.copy(key, |builder| {
                    Ok((builder.key(key, &mut keys)?, builder.node(value)?))
                })?;
                map.insert_default(name, self.span(key), value);
            }
        }
        key = index + 1;
        while key < end {
            let value = self.tape.next(key);
            if self.item(key).tag != Tag::Merge {
                let name = self.key(key, &mut keys)?;
                let node = self.node(value)?;
                let span = self.span(key);
                if let Some(first) = map.insert(name, span, node) {
                    read::warn_duplicate(&mut self.findings, first, span);
                }
            }
            key = self.tape.next(value);
        }
        Ok(Data::Map(map.finish()))
    }

    /// A list of maps with one member each, as a list of lists of two.
    fn pairs(&mut self, index: u32) -> Built<Data> {
        if self.item(index).shape != NodeShape::Sequence {
            return Err(self.refuse(&codes::SYNTAX, index, "expected a list"));
        }
        let mut items = Vec::new();
        for member in self.members(index) {
            let target = self.target(member);
            let is_map = self.item(target).shape == NodeShape::Mapping;
            let mut pairs = self.own_pairs(target);
            let (true, Some((key, value)), None) = (is_map, pairs.next(), pairs.next()) else {
                return Err(self.refuse(&codes::SYNTAX, member, "expected a map with one member"));
            };
            let pair = self.nested(member, |builder| {
                builder.count()?;
                let make = |builder: &mut Self| {
                    Ok(Data::List([builder.node(key)?, builder.node(value)?].into()))
                };
                if target == member { make(builder) } else { builder.copy(member, make) }
            })?;
            items.push(Node::new(self.span(member), pair));
        }
        Ok(Data::List(items.into()))
    }

    /// The members that a mapping's merge keys bring in: later ones replace earlier ones.
    fn merged_pairs(&mut self, index: u32) -> Built<Vec<Pair>> {
        let mut pairs = Vec::new();
        for (key, value) in self.own_pairs(index) {
            if self.item(key).tag != Tag::Merge {
                continue;
            }
            let source = self.target(value);
            match self.item(source).shape {
                NodeShape::Mapping => pairs.extend_from_slice(&self.all_pairs(source, key)?),
                NodeShape::Sequence => {
                    // The first of a list wins, so it comes last.
                    let mut parts = Vec::new();
                    for member in self.members(source) {
                        let target = self.target(member);
                        if self.item(target).shape != NodeShape::Mapping {
                            let message = "expected a map to merge";
                            return Err(self.refuse(&codes::SYNTAX, member, message));
                        }
                        parts.push(self.all_pairs(target, key)?);
                    }
                    parts.iter().rev().for_each(|part| pairs.extend_from_slice(part));
                }
                _ => {
                    let message = "expected a map or a list of maps to merge";
                    return Err(self.refuse(&codes::SYNTAX, value, message));
                }
            }
        }
        Ok(pairs)
    }

    /// The members of a mapping with those that it merges in front.
    fn all_pairs(&mut self, index: u32, for_key: u32) -> Built<Rc<Vec<Pair>>> {
        if let Some(pairs) = self.merged.get(&index).cloned() {
            self.charge(pairs.len(), for_key)?;
            return Ok(pairs);
        }
        let mut pairs = self.nested(index, |builder| builder.merged_pairs(index))?;
        let own = self.own_pairs(index);
        pairs.extend(own.filter(|(key, _)| self.item(*key).tag != Tag::Merge));
        self.charge(pairs.len(), for_key)?;
        let pairs = Rc::new(pairs);
        self.merged.insert(index, pairs.clone());
        Ok(pairs)
    }

    /// The text of a scalar; a map can stand in for one by its key `=`.
    #[inline]
    pub(super) fn scalar(&self, index: u32) -> Built<&'t str> {
        match self.tape.value(self.item(index)) {
            Some(text) => Ok(text),
            None => self.stand_in(index),
        }
    }

    fn stand_in(&self, index: u32) -> Built<&'t str> {
        let mut at = self.target(index);
        loop {
            let item = self.item(at);
            if let Some(text) = self.tape.value(item) {
                return Ok(text);
            }
            let is_value = |key: u32| self.item(self.target(key)).tag == Tag::Value;
            let stand_in = match item.shape {
                NodeShape::Mapping => self.own_pairs(at).find(|(key, _)| is_value(*key)),
                _ => None,
            };
            let Some((_, value)) = stand_in else {
                let message = "expected text, found a list or a map";
                return Err(self.refuse(&codes::SYNTAX, index, message));
            };
            at = self.target(value);
        }
    }

    /// Runs a step one level further down.
    fn nested<T>(&mut self, index: u32, step: impl FnOnce(&mut Self) -> Built<T>) -> Built<T> {
        let max = self.limits.depth();
        if self.depth >= max {
            return Err(self.refuse(&codes::TOO_DEEP, index, read::too_deep(max)));
        }
        self.depth += 1;
        let outcome = step(self);
        self.depth -= 1;
        outcome
    }

    /// Runs a step whose nodes count as copies.
    fn copy<T>(&mut self, index: u32, step: impl FnOnce(&mut Self) -> Built<T>) -> Built<T> {
        let outer = self.copying;
        self.copying = outer.or(Some(index));
        let outcome = step(self);
        self.copying = outer;
        outcome
    }

    #[inline]
    pub(super) fn count(&mut self) -> Built<()> {
        match self.copying {
            Some(index) => self.charge(1, index),
            None => Ok(()),
        }
    }

    fn charge(&mut self, nodes: usize, index: u32) -> Built<()> {
        self.copied = self.copied.saturating_add(nodes);
        let max = self.limits.max_alias_nodes;
        if self.copied <= max {
            return Ok(());
        }
        let message = format!("aliases and merge keys may add {max} values to a document");
        Err(self.refuse(&codes::TOO_MANY_ALIASES, index, message))
    }

    #[inline]
    pub(super) fn item(&self, index: u32) -> &'t TapeNode {
        &self.tape.items[index as usize]
    }

    /// The node itself, or the one that an alias stands for.
    pub(super) fn target(&self, index: u32) -> u32 {
        self.tape.target(index).unwrap_or(index)
    }

    fn members(&self, index: u32) -> impl Iterator<Item = u32> + Clone + use<'t, 'a> {
        let tape = self.tape;
        let end = tape.next(index);
        let member = move |at: u32| (at < end).then_some(at);
        std::iter::successors(member(index + 1), move |at| member(tape.next(*at)))
    }

    fn own_pairs(&self, index: u32) -> impl Iterator<Item = Pair> + Clone + use<'t, 'a> {
        let tape = self.tape;
        let end = tape.next(index);
        let pair = move |key: u32| (key < end).then(|| (key, tape.next(key)));
        std::iter::successors(pair(index + 1), move |(_, value)| pair(tape.next(*value)))
    }

    fn span(&self, index: u32) -> Span {
        let TapeNode { start, end, .. } = *self.item(index);
        Span::new(self.file, start as usize, end as usize)
    }

    pub(super) fn refuse(
        &self,
        code: &'static Code,
        index: u32,
        message: impl Into<String>,
    ) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(code, message).at(self.span(index)))
    }

    fn no(&self, index: u32, text: &str, kind: &str) -> Box<Diagnostic> {
        let message = format!("`{}` cannot be read as {kind}", read::excerpt(text));
        self.refuse(&codes::NOT_PLAIN_DATA, index, message)
    }

    fn not_plain(&self, index: u32, tag: Tag) -> Box<Diagnostic> {
        let message = match tag {
            Tag::Binary => "templates cannot hold `!!binary` values".into(),
            Tag::Set => "templates cannot hold `!!set` values".into(),
            Tag::Merge => "`<<` can be a key only".into(),
            Tag::Value => "`=` can be a key only".into(),
            Tag::Unknown => {
                let name = read::excerpt(self.tape.unknown_tag(index));
                format!("the tag `{name}` has no meaning here")
            }
            tag => format!("templates cannot hold {tag:?} values"),
        };
        self.refuse(&codes::NOT_PLAIN_DATA, index, message)
    }
}
