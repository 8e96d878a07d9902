//! An environment as it is stored, returned by the API, and merged by an update.

use super::{Environment, Layer, Registry};
use crate::parameters::{SuppliedValue, SuppliedValues};
use crate::value::{Members, Secret, Value};
use std::sync::Arc;

impl Environment {
    /// The environment in the API's answer: hidden values are secrets, and in the registry are also
    /// the types in use that resolve to a template without an entry of the user's.
    pub fn describe<'a>(
        &self,
        is_hidden: &dyn Fn(&str) -> bool,
        registry: &Registry,
        types_in_use: impl IntoIterator<Item = &'a str>,
    ) -> Value {
        let mut entries = registry.user().to_members();
        for type_name in types_in_use {
            if entries.contains_key(type_name) {
                continue;
            }
            if super::layer::is_template_name(type_name) {
                entries.insert(type_name.into(), type_name.into());
            } else if let Some(target) = registry.operators_alias(type_name) {
                entries.insert(type_name.into(), Value::Text(target.clone()));
            }
        }
        self.as_value(entries, &|name, supplied| match &supplied.value {
            Value::Null | Value::Secret(_) => supplied.value.clone(),
            value if is_hidden(name) => Value::Secret(Secret::new(value.clone())),
            value => value.clone(),
        })
    }

    /// The environment for storing it: [`Environment::from_value`] reads it back.
    pub fn to_value(&self) -> Value {
        let mut layer = Layer::default();
        layer.load(&self.resource_registry);
        self.as_value(layer.to_members(), &|_, supplied| supplied.value.clone())
    }

    /// Applies a PATCH update to a stored environment.
    ///
    /// Stored parameters that are not cleared, then the new ones over them; values that the new
    /// template does not declare is dropped. Defaults, registry and event sinks of the request come
    /// on top.
    pub fn patch(
        &self,
        clear: &[Arc<str>],
        request: &Environment,
        is_declared: &dyn Fn(&str) -> bool,
    ) -> Environment {
        let mut patched = self.clone();
        patched.parameters.retain(|name, _| !clear.contains(name));
        patched.parameters.extend(request.parameters.clone());
        patched.parameters.retain(|name, _| is_declared(name));
        patched.parameter_defaults.extend(request.parameter_defaults.clone());
        let mut layer = Layer::default();
        layer.load(&self.resource_registry);
        layer.load(&request.resource_registry);
        patched.resource_registry = layer.statements();
        patched.event_sinks.extend(request.event_sinks.iter().cloned());
        patched.encrypted_param_names.retain(|name| patched.parameters.contains_key(name));
        patched
    }

    fn as_value(
        &self,
        registry: Members,
        printed: &dyn Fn(&str, &SuppliedValue) -> Value,
    ) -> Value {
        let section = |values: &SuppliedValues| {
            Value::map(
                values.iter().map(|(name, supplied)| (name.clone(), printed(name, supplied))),
            )
        };
        let encrypted = self.encrypted_param_names.iter().cloned().map(Value::Text);
        Value::map([
            ("parameters", section(&self.parameters)),
            ("parameter_defaults", section(&self.parameter_defaults)),
            ("resource_registry", Value::Map(Arc::new(registry))),
            ("event_sinks", Value::list(self.event_sinks.iter().cloned())),
            ("encrypted_param_names", Value::list(encrypted)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use crate::environment::GlobalEnvironment;
    use crate::environment::fixture::{environment, json};
    use std::sync::Arc;

    #[test]
    fn hidden_values_are_stars_and_types_in_use_are_named() {
        let text = r#"{"parameters": {"a": "x", "secret": "y", "none": null}, "parameter_defaults": {"secret": 5, "d": 1},
            "resource_registry": {"A": "b.yaml"}, "event_sinks": [{"type": "zaqar-queue", "target": "q"}]}"#;
        let environment = environment(text);
        let registry = environment.registry(Arc::new(GlobalEnvironment::from_aliases([
            ("OS::Quantum*", "OS::Neutron*"),
            ("OS::Metering::Alarm", "OS::Aodh::Alarm"),
        ])));
        let types = ["child.yaml", "OS::Heat::Value", "OS::Metering::Alarm", "A", "child.yaml"];
        let printed =
            environment.describe(&|name| name == "secret" || name == "none", &registry, types);
        let expected = concat!(
            r#"{"parameters": {"a": "x", "secret": "******", "none": null}, "#,
            r#""parameter_defaults": {"secret": "******", "d": 1}, "#,
            r#""resource_registry": {"resources": {}, "A": "b.yaml", "child.yaml": "child.yaml", "#,
            r#""OS::Metering::Alarm": "OS::Aodh::Alarm"}, "#,
            r#""event_sinks": [{"type": "zaqar-queue", "target": "q"}], "encrypted_param_names": []}"#
        );
        assert_eq!(json(&printed), expected);
    }

    #[test]
    fn a_patch_starts_from_what_is_stored() {
        let stored = environment(
            r#"{"parameters": {"a": 1, "b": 2, "c": 3, "gone": 4}, "parameter_defaults": {"d": 1},
            "resource_registry": {"A": "x.yaml", "resources": {"r": {"hooks": "pre-create"}}},
            "event_sinks": [{"type": "zaqar-queue", "target": "q"}], "encrypted_param_names": ["a", "gone"]}"#,
        );
        let request = environment(
            r#"{"parameters": {"a": 5, "undeclared": 1}, "parameter_defaults": {"e": 1},
            "resource_registry": {"A": null, "B": "q.yaml"}, "event_sinks": [{"type": "zaqar-queue", "target": "r"}]}"#,
        );
        let declared = |name: &str| ["a", "b", "c"].contains(&name);
        let patched = stored.patch(&["b".into()], &request, &declared);
        let expected = concat!(
            r#"{"parameters": {"a": 5, "c": 3}, "parameter_defaults": {"d": 1, "e": 1}, "#,
            r#""resource_registry": {"resources": {"r": {"hooks": "pre-create"}}, "B": "q.yaml"}, "#,
            r#""event_sinks": [{"type": "zaqar-queue", "target": "q"}, {"type": "zaqar-queue", "target": "r"}], "#,
            r#""encrypted_param_names": ["a"]}"#
        );
        assert_eq!(json(&patched.to_value()), expected);
    }
}
