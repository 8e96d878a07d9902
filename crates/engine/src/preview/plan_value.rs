//! A plan as data for programs: the schema of `docs/planning.md`.

use super::plan::shown;
use super::{Act, Cause, PartChange, Plan, Step};
use kiln_template::{Location, Members, Value};
use std::sync::Arc;

impl Plan {
    /// The plan for programs: the summary, and all steps in order.
    pub fn to_value(&self) -> Value {
        let tally = self.tally();
        let count = |count: usize| Value::from(i64::try_from(count).unwrap_or(i64::MAX));
        let summary = Value::map([
            ("text", Value::from(tally.to_string())),
            ("create", count(tally.create)),
            ("update", count(tally.update)),
            ("replace", count(tally.replace)),
            ("delete", count(tally.delete)),
            ("refuse", count(tally.refuse)),
            ("no_op", count(tally.keep)),
        ]);
        Value::map([
            ("action", self.action.name().into()),
            ("summary", summary),
            ("resources", Value::list(self.steps.iter().map(step))),
        ])
    }
}

fn step(step: &Step) -> Value {
    let detail = &step.detail;
    let mut shown = members([
        ("path", Value::Text(step.path.clone())),
        ("resource_type", Value::Text(step.type_name.clone())),
        ("action", step.act.name().into()),
    ]);
    let mut add = |name: &str, value: Option<Value>| {
        value.into_iter().for_each(|value| _ = shown.insert(name.into(), value));
    };
    add("physical_resource_id", step.physical_id.clone().map(Value::Text));
    if step.act == Act::Keep {
        return Value::Map(Arc::new(shown));
    }
    let is_replaced = step.act == Act::Replace;
    add("order", is_replaced.then(|| "create_before_delete".into()));
    add("nested", step.is_nested.then(|| true.into()));
    add("keeps_object", detail.keeps_object.then(|| true.into()));
    add("because", detail.because.as_deref().map(Value::from));
    add("refusal", detail.refusal.as_deref().map(Value::from));
    add("inside_unknown", detail.inside_unknown.as_deref().map(Value::from));
    add("location", detail.location.as_ref().map(location));
    let waits_for = detail.waits_for.iter().cloned().map(Value::Text);
    add("waits_for", (waits_for.len() > 0).then(|| Value::list(waits_for)));
    let changes = detail.changes.iter().map(change);
    add("changes", (changes.len() > 0).then(|| Value::list(changes)));
    Value::Map(Arc::new(shown))
}

fn change(change: &PartChange) -> Value {
    let mut described = members([
        ("path", change.path.as_str().into()),
        ("before", shown(&change.before)),
        ("after", shown(&change.after)),
    ]);
    if change.forces_replacement {
        described.insert("forces_replacement".into(), true.into());
    }
    if !change.causes.is_empty() {
        described.insert("causes".into(), Value::list(change.causes.iter().map(cause)));
    }
    if let Some(found) = &change.location {
        described.insert("location".into(), location(found));
    }
    Value::Map(Arc::new(described))
}

fn cause(cause: &Cause) -> Value {
    let named = |kind: &str, name: &Arc<str>| {
        Value::map([("kind", Value::from(kind)), ("name", Value::Text(name.clone()))])
    };
    let kind = |kind: &str| Value::map([("kind", Value::from(kind))]);
    match cause {
        Cause::Parameter(name) => named("parameter", name),
        Cause::Resource(name, None) => named("resource", name),
        Cause::Resource(name, Some(attribute)) => Value::map([
            ("kind", Value::from("resource")),
            ("name", Value::Text(name.clone())),
            ("attribute", Value::Text(attribute.clone())),
        ]),
        Cause::File(name) => named("file", name),
        Cause::Template => kind("template"),
        Cause::Parent => kind("parent"),
        Cause::Object => kind("object"),
    }
}

fn location(location: &Location) -> Value {
    Value::map([
        ("file", Value::Text(location.file.clone())),
        ("line", Value::from(i64::from(location.line))),
    ])
}

fn members<const N: usize>(parts: [(&str, Value); N]) -> Members {
    parts.into_iter().map(|(name, value)| (name.into(), value)).collect()
}
