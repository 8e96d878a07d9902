//! The progress of a stack: a live tree on a terminal, lines elsewhere.

use crate::render::{BOLD, FAINT, styled};
use crate::stdio::Streams;
use kiln_engine::store::{EventRow, StackRow};
use kiln_engine::{StackId, State, Status};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// The maximum number of lines of the tree; further resources are only counted.
const MOST_LINES: usize = 30;

/// The progress of a stack that is being created.
pub(super) struct Progress {
    is_live: bool,
    styled: bool,
    /// The states of resources, in the order in which they began.
    resources: Vec<(StackId, Arc<str>, State, Arc<str>)>,
    places: BTreeMap<(StackId, Arc<str>), usize>,
    /// The number of lines of the previous drawing.
    drawn: usize,
}

impl Progress {
    pub(super) fn new(streams: &Streams<'_>) -> Progress {
        Progress {
            is_live: streams.out_is_terminal,
            styled: streams.out_styled,
            resources: Vec::new(),
            places: BTreeMap::new(),
            drawn: 0,
        }
    }

    /// Shows events.
    pub(super) fn show(
        &mut self,
        root: &StackRow,
        stacks: &[StackRow],
        events: &[EventRow],
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        for event in events {
            let is_stack = &*event.physical_id == event.stack.to_string().as_str();
            if !self.is_live {
                let path = path(root, stacks, event, is_stack);
                writeln!(
                    streams.out,
                    "{} [{path}]: {}  {}",
                    event.time, event.state, event.reason
                )?;
            } else if !is_stack {
                self.note(event);
            }
        }
        if self.is_live && !events.is_empty() {
            self.draw(root, stacks, streams)?;
        }
        streams.out.flush()
    }

    /// The stack is idle.
    pub(super) fn end(&mut self, root: &StackRow, streams: &mut Streams<'_>) -> io::Result<()> {
        let name = styled(self.styled, BOLD, &root.summary.name);
        writeln!(streams.out, "{name} {}: {}", root.summary.state, root.summary.reason)?;
        streams.out.flush()
    }

    fn note(&mut self, event: &EventRow) {
        let key = (event.stack, event.resource.clone());
        let at = *self.places.entry(key).or_insert_with(|| {
            let (state, reason) = (event.state, event.reason.clone());
            self.resources.push((event.stack, event.resource.clone(), state, reason));
            self.resources.len() - 1
        });
        self.resources[at].2 = event.state;
        self.resources[at].3 = event.reason.clone();
    }

    /// Draws the tree over the previous one.
    fn draw(
        &mut self,
        root: &StackRow,
        stacks: &[StackRow],
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if self.drawn > 0 {
            write!(streams.out, "\x1b[{}A\x1b[J", self.drawn)?;
        }
        let depths = depths(root, stacks);
        let hidden = self.resources.len().saturating_sub(MOST_LINES);
        for (stack, name, state, reason) in self.resources.iter().skip(hidden) {
            let blanks = "  ".repeat(depths.get(stack).copied().unwrap_or(0) + 1);
            let (mark, colour) = match state.status {
                Status::Complete => ("✓", "\x1b[32m"),
                Status::Failed => ("✗", "\x1b[31m"),
                Status::InProgress => ("…", "\x1b[33m"),
            };
            let reason = match state.status {
                Status::Failed => format!("  {reason}"),
                _ => String::new(),
            };
            let line = format!("{blanks}{mark} {name}  {state}{reason}");
            let line: String = line.chars().take(streams.width.saturating_sub(1)).collect();
            match self.styled {
                true => writeln!(streams.out, "{colour}{line}\x1b[0m")?,
                false => writeln!(streams.out, "{line}")?,
            }
        }
        self.drawn = self.resources.len() - hidden;
        if hidden > 0 {
            let text = format!("  and {hidden} more");
            writeln!(streams.out, "{}", styled(self.styled, FAINT, &text))?;
            self.drawn += 1;
        }
        Ok(())
    }
}

/// The nesting depth of each stack.
fn depths(root: &StackRow, stacks: &[StackRow]) -> BTreeMap<StackId, usize> {
    let mut depths = BTreeMap::from([(root.id, 0)]);
    // Every stack comes after its parent.
    for stack in stacks {
        let depth = stack.parent.and_then(|parent| depths.get(&parent).copied());
        if let Some(depth) = depth {
            depths.insert(stack.id, depth + 1);
        }
    }
    depths
}

/// A resource with the path of its stacks.
fn path(root: &StackRow, stacks: &[StackRow], event: &EventRow, is_stack: bool) -> String {
    let stack = stacks.iter().find(|stack| stack.id == event.stack).unwrap_or(root);
    match is_stack {
        true => stack.summary.name.to_string(),
        false => format!("{}.{}", stack.summary.name, event.resource),
    }
}
