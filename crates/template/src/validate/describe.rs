//! What the API's template validation answers of a template that it accepts.

use super::Report;
use crate::value::{Members, Value};
use std::sync::Arc;

impl Report {
    /// Description, parameters, groups and environment; nothing for a template that was not read.
    pub fn described(&self) -> Value {
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
        let mut environment = self.environment.shown(&is_hidden, &self.registry, kinds);
        if let Value::Map(members) = &mut environment {
            // A template that was only looked at has nothing stored, so nothing encrypted.
            Arc::make_mut(members).shift_remove("encrypted_param_names");
        }
        answer.insert("Environment".into(), environment);
        Value::Map(answer.into())
    }
}
