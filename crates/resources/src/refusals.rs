//! Properties that do not go together, refused in the words that clients know.
//!
//! What may yet be empty is never a reason to refuse.

use crate::declare::{Members, PropertyError, SiblingDefinitions, Value};
use crate::property_access::open;
use kiln_template::{Unknown, Verdict, codes};

/// Two properties of which at most one may be given.
pub(crate) fn exclusive(members: &Members, one: &str, other: &str) -> Result<(), PropertyError> {
    if is_given(members, one) && is_given(members, other) {
        return Err(conflict(&[one, other]));
    }
    Ok(())
}

/// Properties that may not be given together.
pub(crate) fn conflict(names: &[&str]) -> PropertyError {
    let message =
        format!("Cannot define the following properties at the same time: {}.", names.join(", "));
    PropertyError { code: &codes::PROPERTY_CONFLICT, ..PropertyError::new(message) }
}

/// Properties of which at least one must be given.
pub(crate) fn one_of(members: &Members, names: &[&str]) -> Result<(), PropertyError> {
    if names.iter().any(|name| may_be_given(members, name)) {
        return Ok(());
    }
    Err(unspecified(names))
}

/// Refuses what breaks a rule of the cloud, as far as the cloud has been asked.
pub(crate) fn holds(
    siblings: &dyn SiblingDefinitions,
    rule: &'static str,
    subject: &str,
) -> Result<(), PropertyError> {
    match siblings.check_rule(rule, subject) {
        Verdict::Refused(Some(message)) | Verdict::Failed(message) => {
            Err(PropertyError::new(message))
        }
        _ => Ok(()),
    }
}

/// The error for properties of which at least one must be given.
pub(crate) fn unspecified(names: &[&str]) -> PropertyError {
    let names = names.join(", ");
    let message = format!("At least one of the following properties must be specified: {names}.");
    PropertyError { code: &codes::PROPERTY_UNSPECIFIED, ..PropertyError::new(message) }
}

/// A property that may be given only together with another.
pub(crate) fn needs(members: &Members, one: &str, other: &str) -> Result<(), PropertyError> {
    if !is_given(members, one) || may_be_given(members, other) {
        return Ok(());
    }
    let message = format!("{one} cannot be specified without {other}.");
    Err(PropertyError { code: &codes::PROPERTY_DEPENDENCY, ..PropertyError::new(message) })
}

/// Whether a property is known to have a value that counts. That of a resource which does not exist yet is one: its
/// reference will not be empty.
pub(crate) fn is_given(members: &Members, name: &str) -> bool {
    members.get(name).map(open).is_some_and(|it| match it.unknown() {
        Some(Unknown::Reference(_)) => true,
        Some(_) => false,
        None => it.is_truthy(),
    })
}

/// Whether a property has a value that counts, or may yet have one.
pub(crate) fn may_be_given(members: &Members, name: &str) -> bool {
    let value = members.get(name).map_or(&Value::Null, open);
    value.unknown().is_some() || value.is_truthy()
}
