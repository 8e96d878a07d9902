//! Events as log lines.
//!
//! Nested stacks have long names; a line shows the path of resources that leads to them,
//! as far as earlier events revealed it.

use super::heat::{link, stack_name_of, stack_of, text};
use crate::render::printable;
use serde_json::Value;
use std::collections::BTreeMap;

/// The paths of nested stacks that are known so far.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// The path of a stack, by the stack's name.
    known: BTreeMap<String, String>,
}

impl Paths {
    /// The path of an event's resource, such as `web.group.0.server`.
    pub(crate) fn of(&mut self, event: &Value) -> String {
        let resource = text(event, "resource_name");
        let stack = link(event, "stack").and_then(stack_name_of).unwrap_or_default();
        let stack_path = self.known.get(stack).map_or(stack, String::as_str);
        if is_of_stack(event) {
            return stack_path.to_owned();
        }
        let path = match stack_path {
            "" => resource.to_owned(),
            stack_path => format!("{stack_path}.{resource}"),
        };
        // The parent resource has the name of its nested stack before that stack exists.
        if text(event, "resource_status") == "CREATE_IN_PROGRESS" {
            let nested = text(event, "physical_resource_id");
            if !nested.is_empty() {
                self.known.insert(nested.to_owned(), path.clone());
            }
        }
        path
    }

    /// Learns the paths of nested stacks from resources; parents come first.
    pub(crate) fn learn(&mut self, resources: &[Value]) {
        for resource in resources {
            let Some(nested) = link(resource, "nested").and_then(stack_name_of) else { continue };
            let stack = link(resource, "stack").and_then(stack_name_of).unwrap_or_default();
            let stack = self.known.get(stack).map_or(stack, String::as_str);
            let path = format!("{stack}.{}", text(resource, "resource_name"));
            self.known.insert(nested.to_owned(), path);
        }
    }

    /// An event as a log line.
    pub(crate) fn line(&mut self, event: &Value) -> String {
        let time = text(event, "event_time").replacen('T', " ", 1);
        let path = self.of(event);
        let [id, status, reason] =
            ["id", "resource_status", "resource_status_reason"].map(|key| text(event, key));
        printable(&format!("{time} {id} [{path}]: {status}  {reason}")).into_owned()
    }
}

/// Whether an event is about a stack itself, not about one of its resources.
pub(crate) fn is_of_stack(event: &Value) -> bool {
    let stack = link(event, "stack");
    stack.and_then(stack_name_of) == event["resource_name"].as_str()
        && stack.and_then(stack_of).is_some_and(|it| it.id() == text(event, "physical_resource_id"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(stack: &str, resource: &str, physical: &str, status: &str) -> Value {
        json!({
            "id": "1", "event_time": "2026-01-31T12:00:00Z", "resource_name": resource,
            "physical_resource_id": physical, "resource_status": status,
            "resource_status_reason": "state changed",
            "links": [{"rel": "stack", "href": format!("http://h/v1/p/stacks/{stack}")}],
        })
    }

    #[test]
    fn nested_stacks_are_named_by_their_owners() {
        let mut paths = Paths::default();
        let told = [
            event("parent/i1", "parent", "i1", "CREATE_IN_PROGRESS"),
            event("parent/i1", "mapped", "parent-mapped-x", "CREATE_IN_PROGRESS"),
            event("parent-mapped-x/i2", "parent-mapped-x", "i2", "CREATE_IN_PROGRESS"),
            event("parent-mapped-x/i2", "rnd", "", "CREATE_IN_PROGRESS"),
            event("unseen-y/i3", "rnd", "", "CREATE_COMPLETE"),
        ]
        .map(|event| paths.of(&event));
        assert_eq!(
            told,
            ["parent", "parent.mapped", "parent.mapped", "parent.mapped.rnd", "unseen-y.rnd"]
        );
    }

    #[test]
    fn resources_tell_who_owns_whom() {
        let owner = |stack: &str, name: &str, nested: &str| {
            let link = |rel: &str, stack: &str| json!({"rel": rel, "href": format!("http://h/v1/p/stacks/{stack}")});
            json!({"resource_name": name, "links": [link("stack", stack), link("nested", nested)]})
        };
        let mut paths = Paths::default();
        paths.learn(&[
            owner("p/i1", "group", "p-group-x/i2"),
            owner("p-group-x/i2", "0", "p-group-x-0-y/i3"),
        ]);
        let event = event("p-group-x-0-y/i3", "rnd", "", "DELETE_IN_PROGRESS");
        assert_eq!(paths.of(&event), "p.group.0.rnd");
    }

    #[test]
    fn an_event_is_a_line() {
        let event = event("hello/i", "echo", "e\u{1b}", "CREATE_COMPLETE");
        assert_eq!(
            Paths::default().line(&event),
            "2026-01-31 12:00:00Z 1 [hello.echo]: CREATE_COMPLETE  state changed"
        );
    }
}
