//! Software configurations as they are kept: immutable, each with an id of its own.
//!
//! For now a resource keeps its configuration itself. When there is a store that all stacks share,
//! [`store`] and [`stored`] are the two places to change.

use crate::behaviour::View;
use crate::declare::{Members, Value, map};
use crate::given::given;
use crate::op::{Op, Stop};
use crate::random;
use kiln_template::Secret;
use kiln_template::functions::{Fault, step_into_attribute};

/// Where a resource keeps its configuration.
const CONFIG: &str = "config";

/// The group of configurations that belong to none.
pub(super) const UNGROUPED: &str = "Heat::Ungrouped";

/// A text made from others, hidden if one of them is.
pub(super) fn text(text: String, is_hidden: bool) -> Value {
    match is_hidden {
        true => Value::Secret(Secret::new(text.into())),
        false => text.into(),
    }
}

/// Keeps a configuration, with what the resource's properties say beside it, under a new id.
pub(super) async fn store(op: &mut Op, group: Value, config: Value) -> Result<(), Stop> {
    if op.id().is_some() {
        return Ok(());
    }
    let id = random::uuid(op).await?.to_string();
    let properties = op.context().properties.clone();
    let beside =
        |name: &str, otherwise: Value| given(&properties, name).cloned().unwrap_or(otherwise);
    let stored = map([
        ("id", Value::from(id.as_str())),
        ("name", Value::Text(op.context().physical_name.clone())),
        ("group", group),
        ("config", config),
        ("inputs", beside("inputs", Value::list([]))),
        ("outputs", beside("outputs", Value::list([]))),
        ("options", beside("options", Value::Map(Members::new().into()))),
    ]);
    op.set_datum(CONFIG, stored);
    op.set_id(id);
    Ok(())
}

/// The configuration that a resource keeps.
fn stored<'v>(view: &View<'v>) -> Option<&'v Members> {
    view.data.get(CONFIG)?.as_map()
}

/// Attributes of a configuration: what it is made of.
pub(super) fn attribute(
    view: &View<'_>,
    name: &str,
    path: &[Value],
) -> Result<Option<Value>, Fault> {
    let config = stored(view);
    let answer = match name {
        "config" => config.and_then(|config| config.get("config")).cloned().unwrap_or_default(),
        "show" => config.map_or(Value::Null, |config| Value::Map(config.clone().into())),
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer, path)))
}

/// Keeps the properties `group` and `config` as they are.
pub(super) async fn as_written(op: &mut Op) -> Result<(), Stop> {
    let (group, config) = (op.prop("group").clone(), op.prop("config").clone());
    store(op, group, config).await
}
