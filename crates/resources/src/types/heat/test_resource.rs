//! OS::Heat::TestResource: a resource that waits, fails and gives out values as told, for testing
//! the engine.

use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{given, seconds};
use kiln_template::functions::step_into_attribute;

pub(super) fn test_resource() -> ResourceType {
    ResourceType::new("OS::Heat::TestResource")
        .about("A resource that waits, fails and gives out values as told, for testing the engine.")
        .checkable()
        .since("5.0.0")
        .props([
            prop(
                "action_wait_secs",
                Map,
                "Seconds to wait during single actions, instead of the general wait.",
            )
            .updatable()
            .members([
                prop("create", Num, "Seconds to wait during create.").updatable(),
                prop("delete", Num, "Seconds to wait during delete.").updatable(),
                prop("update", Num, "Seconds to wait during update.").updatable(),
            ]),
            prop("attr_wait_secs", Num, "Seconds by which reading an attribute should be delayed.")
                .updatable()
                .default(0)
                .since("6.0.0"),
            prop("client_name", Str, "Name of an OpenStack client that is looked up, for tests.")
                .updatable()
                .default_empty(),
            prop(
                "constraint_prop_secs",
                Num,
                "Seconds by which checking the constraint of this property should be delayed.",
            )
            .updatable()
            .default(0)
            .is(TEST_CONSTR)
            .since("6.0.0"),
            prop("entity_name", Str, "Name of the client's entity that is looked up, for tests.")
                .updatable()
                .default_empty(),
            prop("fail", Bool, "Whether create and update fail after the wait.")
                .updatable()
                .default(false),
            prop("update_replace", Bool, "Whether an update of `value` replaces the resource.")
                .updatable()
                .default(false),
            prop("update_replace_value", Str, "Any text; another one replaces the resource.")
                .since("7.0.0"),
            prop("value", Str, "Value that the attribute `output` gives out.")
                .updatable()
                .default("test_string"),
            prop("wait_secs", Num, "Seconds to wait during each action.").updatable().default(0),
        ])
        .attrs([attr("output", None, "Value of the property `value`.").uncached()])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(act(op, "update")))
        .deletes(|op| Box::pin(act(op, "delete")))
        .replaced_if(|change| {
            let wants = change.after.get("update_replace").is_some_and(Value::is_truthy);
            wants && change.changed.iter().any(|name| &**name == "value")
        })
        .attributes(|view, name, path| {
            let value = view.properties.get("value").filter(|_| view.physical_id.is_some());
            let value = value.unwrap_or(&Value::Null);
            Ok((name == "output").then(|| step_into_attribute(value, path)))
        })
}

/// Creates the resource. If it is to fail, it fails without an id.
async fn create(op: &mut Op) -> Result<(), OpError> {
    if !op.prop("fail").is_truthy() {
        let name = op.context().physical_name.clone();
        op.set_id(name);
    }
    act(op, "create").await
}

/// Waits and fails as the properties say. A deletion never fails.
async fn act(op: &mut Op, action: &str) -> Result<(), OpError> {
    let own = op.section("action_wait_secs").and_then(|waits| given(waits, action));
    let length = own.map_or_else(|| op.seconds("wait_secs"), seconds);
    op.wait("wait", length).await?;
    if op.prop("fail").is_truthy() && action != "delete" {
        let message = format!("Test Resource failed {}", op.context().resource);
        return Err(OpError::failed(FailureClass::ValueError, message));
    }
    Ok(())
}
