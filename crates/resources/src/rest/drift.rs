//! Drift: the difference between an object and its definition.

use super::{
    RestSpec, field, label, object, path, progress, show, spec_of, versioned, wanted_fields,
};
use crate::declare::Name;
use crate::op::{Compared, FailureClass, Op, OpError, Progress};
use crate::wire;
use kiln_cloud::{Reply, get};
use kiln_template::schema::{Inner, Property};
use serde_json::Value as Json;

/// Reads the object and compares it with the definition. It fails if the object does not exist, and as
/// [`OpError::broken`] if it is beyond repair.
pub async fn observe(op: &mut Op) -> Result<(), OpError> {
    let spec = spec_of(op)?;
    if op.id().is_none() {
        return Ok(());
    }
    let call = versioned(&spec, get(spec.service, path(op, &spec)));
    let mut reply = op.read(call.clone()).await?;
    if op.context().is_half_done && spec.is_waiting(status(&spec, &reply)) {
        // What was begun by a failed operation comes to its end first.
        let is_at_rest = |reply: &Reply| match spec.is_waiting(status(&spec, reply)) {
            true => Progress::NotYet,
            false => Progress::Ready,
        };
        reply = op.until(call, is_at_rest).await?;
    }
    let readiness = &spec.readiness;
    if is_one_of(&readiness.gone, status(&spec, &reply)) {
        return Err(OpError::failed(FailureClass::NotFound, "the object is gone"));
    }
    let compared = compare(op, &spec, object(&spec, &reply.body));
    show(op, &spec, &reply);
    op.set_compared(compared);
    match progress(&spec, &reply) {
        Progress::Failed(_) if is_one_of(&readiness.degraded, status(&spec, &reply)) => Ok(()),
        Progress::Failed(why) => Err(OpError::broken(why)),
        _ => Ok(()),
    }
}

fn status<'r>(spec: &RestSpec, reply: &'r Reply) -> &'r str {
    object(spec, &reply.body)[&*spec.readiness.status].as_str().unwrap_or_default()
}

fn is_one_of(statuses: &[Name], status: &str) -> bool {
    statuses.iter().any(|it| it == status)
}

impl RestSpec {
    fn is_waiting(&self, status: &str) -> bool {
        is_one_of(&self.readiness.waiting, status)
    }
}

/// Compares the updatable properties of the definition with the object.
pub(super) fn compare(op: &Op, spec: &RestSpec, shown: &Json) -> Compared {
    let sent = wanted_fields(op, spec);
    let mut compared = Compared::default();
    for property in
        op.resource_type().schema.properties.iter().filter(|it| is_compared(op, spec, it))
    {
        let name = field(spec, &property.name);
        let (Some(sent), Some(found)) = (sent.get(&*name), shown.get(&*name)) else { continue };
        let found = without_mark(op, found);
        compared.add(&property.name, sent, &found);
    }
    compared
}

impl Compared {
    /// Compares the value of a property with that in the object.
    pub(crate) fn add(&mut self, property: &str, wanted: &Json, found: &Json) {
        if agrees(wanted, found) {
            self.same.push(property.into());
        } else if !is_nothing(wanted) {
            self.drifted.insert(property.into(), wire::value(found));
        }
    }
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
