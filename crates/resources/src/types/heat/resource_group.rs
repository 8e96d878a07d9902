//! OS::Heat::ResourceGroup: a number of like resources made from one definition.

use crate::declare::*;

pub(super) fn resource_group() -> ResourceType {
    ResourceType::new("OS::Heat::ResourceGroup")
        .about("A number of like resources made from one definition.")
        .nested()
        .any_attribute()
        .since("2014.1")
        .props([
            prop("count", Int).updatable().default(1).min(0),
            prop("index_var", Str).default("%index%").min_length(3).since("2014.2"),
            prop("removal_policies", List)
                .updatable()
                .default_empty()
                .since("2015.1")
                .each(record([prop("resource_list", List).default_empty()])),
            prop("removal_policies_mode", Str)
                .updatable()
                .default("append")
                .one_of(["append", "update"])
                .since("10.0.0"),
            prop("resource_def", Map).required().updatable().members([
                prop("metadata", Map).since("5.0.0"),
                prop("properties", Map),
                prop("type", Str).required(),
            ]),
        ])
        .attrs([
            attr("attributes", Map).since("2014.2"),
            attr("refs", List),
            attr("refs_map", Map).since("7.0.0"),
            attr("removed_rsrc_list", List).since("7.0.0"),
        ])
        .update_policy([
            prop("batch_create", Map).since("5.0.0").members([
                prop("max_batch_size", Int).default(1).min(1),
                prop("pause_time", Num).default(0).min(0),
            ]),
            prop("rolling_update", Map).since("5.0.0").members([
                prop("max_batch_size", Int).default(1).min(1),
                prop("min_in_service", Int).default(0).min(0),
                prop("pause_time", Num).default(0).min(0),
            ]),
        ])
        .expands_to(group_template)
}

/// The most members that validation looks at: they are alike but for their number.
const LOOKED_AT: i64 = 1;

/// The template of the group's stack, with one member to stand for all.
fn group_template(properties: &Members) -> Option<Value> {
    let Value::Int(count) = properties.get("count")? else { return None };
    let count = count.as_i64()?.min(LOOKED_AT);
    let definition = properties.get("resource_def")?.as_map()?;
    let index_var = properties.get("index_var")?.as_text()?;
    let members = (0..count).map(|index| {
        let name = index.to_string();
        let mut member = Members::new();
        for (key, value) in definition.iter().filter(|(_, value)| !value.is_null()) {
            let value = match &**key {
                "properties" => numbered(value, index_var, &name),
                _ => value.clone(),
            };
            member.insert(key.clone(), value);
        }
        (name, Value::Map(member.into()))
    });
    Some(map([
        ("heat_template_version", Value::from("2015-04-30")),
        ("resources", Value::map(members)),
    ]))
}

/// A definition with the member's name in place of the index variable; nulls are left out.
fn numbered(value: &Value, index_var: &str, name: &str) -> Value {
    match value {
        Value::Text(text) => text.replace(index_var, name).into(),
        Value::List(items) => Value::list(items.iter().map(|item| numbered(item, index_var, name))),
        Value::Map(members) => Value::map(
            members
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), numbered(value, index_var, name))),
        ),
        other => other.clone(),
    }
}
