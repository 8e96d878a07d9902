//! OS::Heat::TestResource: a resource that waits, fails and gives out values as told, for testing
//! the engine.

use crate::declare::*;

pub(super) fn test_resource() -> ResourceType {
    ResourceType::new("OS::Heat::TestResource")
        .about("A resource that waits, fails and gives out values as told, for testing the engine.")
        .checkable()
        .since("5.0.0")
        .props([
            prop("action_wait_secs", Map).updatable().members([
                prop("create", Num).updatable(),
                prop("delete", Num).updatable(),
                prop("update", Num).updatable(),
            ]),
            prop("attr_wait_secs", Num).updatable().default(0).since("6.0.0"),
            prop("client_name", Str).updatable().default_empty(),
            prop("constraint_prop_secs", Num)
                .updatable()
                .default(0)
                .is("test_constr")
                .since("6.0.0"),
            prop("entity_name", Str).updatable().default_empty(),
            prop("fail", Bool).updatable().default(false),
            prop("update_replace", Bool).updatable().default(false),
            prop("update_replace_value", Str).since("7.0.0"),
            prop("value", Str).updatable().default("test_string"),
            prop("wait_secs", Num).updatable().default(0),
        ])
        .attrs([attr("output", None).uncached()])
}
