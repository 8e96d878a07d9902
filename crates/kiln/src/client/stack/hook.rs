//! Hooks: breakpoints of a stack.

use super::super::Client;
use super::super::error::{ClientError, Result};
use super::super::format::Listing;
use super::super::format::options::ListArgs;
use super::super::heat::{Query, StackId, link, query, stack_of, text};
use super::event::name_stack;
use super::target::StackTarget;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// `kiln stack hook`.
#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// List the resources with pending hooks
    Poll(HookPoll),
    /// Clear hooks, so that a stack continues
    Clear(HookClear),
}

/// Arguments of `kiln stack hook poll`.
#[derive(Debug, Args)]
pub(crate) struct HookPoll {
    #[command(flatten)]
    target: StackTarget,

    /// Include nested stacks down to this depth
    #[arg(long, value_name = "DEPTH")]
    nested_depth: Option<u32>,

    #[command(flatten)]
    output_format: ListArgs,
}

/// Arguments of `kiln stack hook clear`.
#[derive(Debug, Args)]
pub(crate) struct HookClear {
    #[command(flatten)]
    pub(crate) target: StackTarget,

    /// Paths of the resources, such as group/*/server
    #[arg(value_name = "RESOURCE", required = true)]
    pub(crate) resources: Vec<String>,

    /// Clear the pre-create hooks
    #[arg(long)]
    pub(crate) pre_create: bool,

    /// Clear the pre-update hooks
    #[arg(long)]
    pub(crate) pre_update: bool,

    /// Clear the pre-delete hooks
    #[arg(long)]
    pub(crate) pre_delete: bool,
}

pub(crate) async fn run(subcommand: HookCommand, client: &mut Client<'_, '_>) -> Result<()> {
    match subcommand {
        HookCommand::Poll(HookPoll { target, nested_depth, output_format }) => {
            let nested = nested_depth.filter(|depth| *depth > 0);
            let mut events = waiting(client, &target.stack, nested).await?;
            let mut columns = vec![
                ("Resource Name", "resource_name"),
                ("ID", "id"),
                ("Resource Status Reason", "resource_status_reason"),
                ("Resource Status", "resource_status"),
                ("Event Time", "event_time"),
            ];
            if nested.is_some() {
                events.iter_mut().for_each(name_stack);
                columns.push(("Stack Name", "stack_name"));
            }
            client.console.list(Listing::of(&columns, &events), &output_format)
        }
        HookCommand::Clear(clear) => clear.run(client).await,
    }
}

/// The hook that can be pending in the current state of a stack.
fn hook_of(stack: &Value) -> Result<(&str, String)> {
    let status = text(stack, "stack_status");
    match status.split_once('_') {
        Some((action @ ("CREATE" | "UPDATE" | "DELETE"), "IN_PROGRESS")) => {
            Ok((action, format!("pre-{}", action.to_lowercase())))
        }
        Some((_, "IN_PROGRESS")) => Err(ClientError::new(format!(
            "Unexpected stack status {status}, only create, update and delete supported"
        ))),
        _ => Err(ClientError::new(format!("Stack status {status} not IN_PROGRESS"))),
    }
}

/// The events of pending hooks.
pub(crate) async fn waiting(
    client: &Client<'_, '_>,
    typed: &str,
    nested_depth: Option<u32>,
) -> Result<Vec<Value>> {
    let stack = client.heat.show(typed, false).await?;
    let (action, hook) = hook_of(&stack)?;
    let id = StackId::new(text(&stack, "stack_name"), text(&stack, "id"));
    let mut asked = query([("sort_dir", "asc")]);
    asked.extend(nested_depth.map(|depth| ("nested_depth".into(), depth.to_string())));
    let events = client.heat.events(&id, asked).await?;
    Ok(not_cleared(events, action, &hook))
}

/// The events of hooks that were not cleared since the action began.
fn not_cleared(events: Vec<Value>, action: &str, hook: &str) -> Vec<Value> {
    let started = format!("Stack {action} started");
    let paused = format!("{action} paused until Hook {hook} is cleared");
    let cleared = format!("Hook {hook} is cleared");
    let place = |event: &Value| {
        let stack = link(event, "stack").unwrap_or_default().to_owned();
        (stack, text(event, "resource_name").to_owned())
    };
    // Nested stacks begin actions, too; only the first event of the root stack counts.
    let root =
        events.first().and_then(|first| link(first, "root_stack").or_else(|| link(first, "stack")));
    let root = root.map(str::to_owned);
    let mut open: Vec<Value> = Vec::new();
    for event in events {
        let reason = text(&event, "resource_status_reason");
        if reason == started && link(&event, "stack") == root.as_deref() {
            open.clear();
        } else if reason == paused {
            open.push(event);
        } else if reason == cleared {
            let at = place(&event);
            open.retain(|other| place(other) != at);
        }
    }
    open
}

impl HookClear {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let stack = client.heat.show(&self.target.stack, false).await?;
        let (_, current) = hook_of(&stack)?;
        let mut hooks = Vec::new();
        for (wanted, hook) in [
            (self.pre_create, "pre-create"),
            (self.pre_update, "pre-update"),
            (self.pre_delete, "pre-delete"),
        ] {
            if wanted {
                hooks.push(hook.to_owned());
            }
        }
        if hooks.is_empty() {
            hooks.push(current);
        }
        let root = StackId::new(text(&stack, "stack_name"), text(&stack, "id"));
        for word in &self.resources {
            let matched = matching(client, root.clone(), word).await?;
            if matched.is_empty() {
                return Err(ClientError::new(format!(
                    "Stack or resource not found: {} {word}",
                    self.target.stack
                )));
            }
            for (stack, resource) in &matched {
                for hook in &hooks {
                    client
                        .heat
                        .signal(stack, resource, Some(&json!({ "unset_hook": hook })))
                        .await?;
                }
            }
        }
        Ok(())
    }
}

/// The resources that match a path such as `group/*/server`.
async fn matching(
    client: &Client<'_, '_>,
    root: StackId,
    word: &str,
) -> Result<Vec<(StackId, String)>> {
    let parts: Vec<&str> = word.split('/').collect();
    let Some((last, through)) = parts.split_last() else { return Ok(Vec::new()) };
    let mut stacks = vec![root];
    for pattern in through {
        let mut below = Vec::new();
        for stack in &stacks {
            for resource in client.heat.resources(stack, Query::new()).await? {
                let nested = link(&resource, "nested").and_then(stack_of);
                if matches(pattern, text(&resource, "resource_name")) {
                    below.extend(nested);
                }
            }
        }
        stacks = below;
    }
    let mut found = Vec::new();
    for stack in stacks {
        if !last.contains(['*', '?', '[']) {
            found.push((stack, (*last).to_owned()));
            continue;
        }
        for resource in client.heat.resources(&stack, Query::new()).await? {
            let name = text(&resource, "resource_name");
            if matches(last, name) {
                found.push((stack.clone(), name.to_owned()));
            }
        }
    }
    Ok(found)
}

/// Whether a name matches a shell pattern: `*`, `?`, `[a-z]`, `[!a]`.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // The last star and where it began to match, for backtracking.
    let (mut at, mut place, mut star) = (0, 0, None);
    while place < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
                continue;
            }
            Some('?') => {
                at += 1;
                place += 1;
                continue;
            }
            Some('[') => {
                if let Some((is_in, end)) = class(&pattern[at..], name[place])
                    && is_in
                {
                    at += end;
                    place += 1;
                    continue;
                }
            }
            Some(c) if *c == name[place] => {
                at += 1;
                place += 1;
                continue;
            }
            _ => {}
        }
        let Some((before, from)) = star else { return false };
        star = Some((before, from + 1));
        at = before + 1;
        place = from + 1;
    }
    pattern[at..].iter().all(|c| *c == '*')
}

/// Whether a character is in a class, and how long the class is.
fn class(pattern: &[char], c: char) -> Option<(bool, usize)> {
    let end = pattern.iter().skip(2).position(|c| *c == ']')? + 2;
    let (negated, members) = match &pattern[1..end] {
        ['!', members @ ..] => (true, members),
        members => (false, members),
    };
    let mut found = false;
    let mut rest = members;
    while let Some(first) = rest.first() {
        if let [low, '-', high, after @ ..] = rest {
            found |= (*low..=*high).contains(&c);
            rest = after;
        } else {
            found |= *first == c;
            rest = &rest[1..];
        }
    }
    Some((found != negated, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_as_a_shell_does() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "web", true),
            ("w*b", "web", true),
            ("w*b", "webs", false),
            ("*a*b", "xaab", true),
            ("?eb", "web", true),
            ("?eb", "eb", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[!a-c]x", "dx", true),
            ("Web", "web", false),
            ("[x", "[x", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn hooks_are_open_until_they_are_cleared() {
        let event = |resource: &str, reason: &str| {
            json!({"resource_name": resource, "resource_status_reason": reason,
                   "links": [{"rel": "stack", "href": "http://h/stacks/s/1"}]})
        };
        let paused = "CREATE paused until Hook pre-create is cleared";
        let events = vec![
            event("old", paused),
            event("s", "Stack CREATE started"),
            event("a", paused),
            event("b", paused),
            event("a", "Hook pre-create is cleared"),
        ];
        let open = not_cleared(events, "CREATE", "pre-create");
        assert_eq!(open.iter().map(|it| text(it, "resource_name")).collect::<Vec<_>>(), ["b"]);
    }
}
