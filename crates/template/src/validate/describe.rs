//! The API's answer about a template that is valid.

use super::Report;
use crate::value::{Members, Value};
use std::sync::Arc;

impl Report {
    /// Description, parameters, groups and environment; null for a template that was not read.
    pub fn describe(&self) -> Value {
        let (Some(template), Some(definition)) = (&self.template, &self.definition) else {
            return Value::Null;
        };
        let mut answer = Members::new();
        let description = template.description.clone().unwrap_or_else(|| "No description".into());
        answer.insert("Description".into(), description);
        answer.insert("Parameters".into(), Value::Map(definition.parameters.describe().into()));
        if !template.parameter_groups.is_empty() {
            let groups = template.parameter_groups.iter().map(|group| group.describe());
            answer.insert("ParameterGroups".into(), Value::list(groups));
        }
        let is_hidden =
            |name: &str| template.parameters.get(name).is_some_and(|parameter| parameter.hidden);
        let kinds = definition.resources().map(|(_, resource)| &*resource.type_name.value);
        let mut environment = self.environment.describe(&is_hidden, &self.registry, kinds);
        if let Value::Map(members) = &mut environment {
            // Validation stores nothing, so nothing is encrypted.
            Arc::make_mut(members).shift_remove("encrypted_param_names");
        }
        answer.insert("Environment".into(), environment);
        Value::Map(answer.into())
    }
}
