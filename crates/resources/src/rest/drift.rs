//! Drift: the difference between an object and its definition.

use super::{RestSpec, field, label, object, path, show, spec_of, versioned, wanted_fields};
use crate::declare::Members;
use crate::op::{FailureClass, Op, OpError};
use crate::wire;
use kiln_cloud::get;
use kiln_template::schema::{Inner, Property};
use serde_json::Value as Json;

/// Reads the object and records the properties that drifted. It fails if the object does not exist.
pub async fn observe(op: &mut Op) -> Result<(), OpError> {
    let spec = spec_of(op)?;
    if op.id().is_none() {
        return Ok(());
    }
    let reply = op.read(versioned(&spec, get(spec.service, path(op, &spec)))).await?;
    let found = object(&spec, &reply.body);
    let status = found[&*spec.readiness.status].as_str();
    if status.is_some_and(|status| spec.readiness.gone.iter().any(|gone| gone == status)) {
        return Err(OpError::failed(FailureClass::NotFound, "the object is gone"));
    }
    let drifted = drifted(op, &spec, found);
    show(op, &spec, &reply);
    op.set_drifted(drifted);
    Ok(())
}

/// The updatable properties whose values in the object differ from the definition.
pub(super) fn drifted(op: &Op, spec: &RestSpec, shown: &Json) -> Members {
    let sent = wanted_fields(op, spec);
    let mut drifted = Members::new();
    for property in
        op.resource_type().schema.properties.iter().filter(|it| is_compared(op, spec, it))
    {
        let name = field(spec, &property.name);
        let (Some(sent), Some(found)) = (sent.get(&*name), shown.get(&*name)) else { continue };
        let found = without_mark(op, found);
        if !is_nothing(sent) && !agrees(sent, &found) {
            drifted.insert(property.name.as_ref().into(), wire::value(&found));
        }
    }
    drifted
}

/// Whether a property can be compared. A value that the service chose is no drift, and a property that cannot
/// be changed cannot drift.
pub(crate) fn can_be_compared(spec: &RestSpec, property: &Property) -> bool {
    // Code that adjusts fields may send nested values in another form.
    let is_data = spec.adjust_fields.is_none() && spec.after_write.is_none();
    let has_members = match &property.inner {
        Inner::Free => false,
        Inner::Members(_) => true,
        Inner::Each(item) => !matches!(item.inner, Inner::Free),
    };
    property.update_allowed
        && !spec.uncompared.contains(&property.name)
        && !spec.unsent.contains(&property.name)
        && (is_data || !has_members)
}

fn is_compared(op: &Op, spec: &RestSpec, property: &Property) -> bool {
    !op.prop(&property.name).is_null() && can_be_compared(spec, property)
}

/// Whether the definition has an empty value: any value in the object is fine then, such as the server that
/// uses a port.
fn is_nothing(sent: &Json) -> bool {
    match sent {
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// A field of the object without the mark, which may be a string or one of several tags.
fn without_mark(op: &Op, found: &Json) -> Json {
    let mark = label(op);
    match found {
        Json::String(text) if *text == mark => "".into(),
        Json::Array(items) => {
            items.iter().filter(|item| item.as_str() != Some(&mark)).cloned().collect()
        }
        found => found.clone(),
    }
}

/// Whether the object has everything that was sent; it may have more, and lists may be in another order.
fn agrees(sent: &Json, shown: &Json) -> bool {
    match (sent, shown) {
        (Json::Object(sent), Json::Object(shown)) => sent
            .iter()
            .all(|(name, value)| shown.get(name).is_some_and(|shown| agrees(value, shown))),
        (Json::Array(sent), Json::Array(shown)) => {
            sent.len() == shown.len()
                && sent.iter().all(|value| shown.iter().any(|shown| agrees(value, shown)))
        }
        (Json::Array(items), Json::Null) => items.is_empty(),
        (Json::Object(members), Json::Null) => members.is_empty(),
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::String(a), Json::String(b)) => a == b || a.eq_ignore_ascii_case(b),
        (Json::String(text), Json::Null) => text.is_empty(),
        (Json::String(text), Json::Number(number)) | (Json::Number(number), Json::String(text)) => {
            *text == number.to_string()
        }
        (Json::String(text), Json::Bool(flag)) | (Json::Bool(flag), Json::String(text)) => {
            text.eq_ignore_ascii_case(&flag.to_string())
        }
        (sent, shown) => sent == shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_shown_may_say_more_and_in_another_order() {
        let same = [
            (json!({"a": 1}), json!({"a": 1.0, "b": 2})),
            (json!(["x", "y"]), json!(["Y", "x"])),
            (json!(""), json!(null)),
            (json!("7"), json!(7)),
            (json!(true), json!("True")),
        ];
        for (sent, shown) in same {
            assert!(agrees(&sent, &shown), "{sent} {shown}");
        }
        let other = [
            (json!({"a": 1}), json!({"b": 1})),
            (json!(["x"]), json!(["x", "x"])),
            (json!("a"), json!(null)),
            (json!(true), json!(false)),
        ];
        for (sent, shown) in other {
            assert!(!agrees(&sent, &shown), "{sent} {shown}");
        }
    }
}
