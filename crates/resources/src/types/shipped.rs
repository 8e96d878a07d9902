//! Types that a template of Kiln implements: each property is a parameter of the template, each output an
//! attribute.

use crate::behaviour::{Group, Stage, View};
use crate::declare::{Members, Value};
use crate::op::{FailureClass, OpError};
use kiln_template::functions::{Fault, step_into_attribute};
use kiln_template::{Limits, Sources, read};

/// The stage that creates the nested stack of a resource from a template.
pub(super) fn stage(template: &str, group: &Group<'_>) -> Result<Stage, OpError> {
    let file = Sources::new().add("shipped", template);
    let (tree, _) = read::read(file, template, &Limits::default());
    let tree = tree
        .ok_or_else(|| OpError::failed(FailureClass::ValueError, "a template of ours is broken"))?;
    let given = group.properties.iter().filter(|(_, value)| !value.is_null());
    let parameters: Members = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(Stage { template: Value::from(&tree), parameters, is_last: true, ..Stage::default() })
}

/// The reference of such a resource.
pub(super) fn reference(view: &View<'_>) -> Value {
    match view.nested {
        Some(child) => child.arn().into(),
        None => view.name.into(),
    }
}

/// Reads an attribute from the outputs of the nested stack.
pub(super) fn attribute(
    view: &View<'_>,
    name: &str,
    path: &[Value],
) -> Result<Option<Value>, Fault> {
    match view.nested.and_then(|child| child.output(name)) {
        Some(value) => Ok(Some(step_into_attribute(&value?, path))),
        None => Ok(Some(Value::Null)),
    }
}
