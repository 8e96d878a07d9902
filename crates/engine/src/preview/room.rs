//! The bounds of one preview: how many resources it may show, and how many bytes.

use super::Sketch;
use crate::tree::Tree;
use kiln_resources::behaviour::TOO_MANY;
use kiln_template::{Members, Value};

/// How many resources a preview shows where the operator sets no limit on the resources of a stack.
const MAX_RESOURCES: usize = 100_000;

/// What a preview may still show.
pub(super) struct Room {
    resources: usize,
    bytes: usize,
    /// How many bytes of values the tree may keep, and the preview may show.
    max_bytes: usize,
}

impl Room {
    /// The room of a preview of a tree.
    pub(super) fn of(tree: &Tree) -> Room {
        let resources = tree.max_wanted_resources().unwrap_or(MAX_RESOURCES);
        let max_bytes = tree.config.byte_limits.tree;
        Room { resources, bytes: max_bytes, max_bytes }
    }

    /// Takes the room of the resources of one stack; the error says that there is none.
    pub(super) fn take_resources(&mut self, count: usize) -> Result<(), String> {
        self.resources = self.resources.checked_sub(count).ok_or_else(|| TOO_MANY.to_owned())?;
        Ok(())
    }

    /// Takes the room of the values of a resource; the error says that there is none.
    pub(super) fn take_bytes(&mut self, sketch: &Sketch) -> Result<(), String> {
        let size = size_of_members(&sketch.properties)
            .saturating_add(size_of_members(&sketch.attributes))
            .saturating_add(size(&sketch.metadata));
        let max = self.max_bytes;
        self.bytes = self.bytes.checked_sub(size).ok_or_else(|| {
            format!(
                "Request limit exceeded: The preview would have more than {max} bytes, the limit [kiln] max_stack_bytes. Use \
                 shorter values in fewer resources."
            )
        })?;
        Ok(())
    }
}

/// About as many bytes as a value has when it is printed.
fn size(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::List(items) => items.iter().fold(0, |sum, item| sum.saturating_add(size(item))),
        Value::Map(members) => size_of_members(members),
        // A secret is shown as stars.
        _ => 8,
    }
}

fn size_of_members(members: &Members) -> usize {
    members
        .iter()
        .fold(0, |sum, (name, value)| sum.saturating_add(name.len()).saturating_add(size(value)))
}
