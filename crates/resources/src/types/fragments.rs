//! Properties and attributes that types of several services declare in the same words.
//!
//! A fragment has what all of its types agree on. Where they differ, such as in whether the property can be
//! updated, the declaration of the type says so.

use crate::declare::*;

/// The name of the object; Kiln chooses one if the template has none.
pub(crate) fn name_prop() -> Prop {
    prop("name", Str, "Human-readable name; made from the stack and resource names if omitted.")
}

/// A description that has no meaning for the service.
pub(crate) fn description_prop() -> Prop {
    prop("description", Str, "Free-form text for people; the service gives it no meaning.")
}

/// The project of the object, if it is not the stack's.
pub(crate) fn tenant_id_prop() -> Prop {
    prop(
        "tenant_id",
        Str,
        "Project that owns the object; only administrators may choose another than the stack's.",
    )
}

/// Whether the object is in operation.
pub(crate) fn admin_state_up_prop() -> Prop {
    prop("admin_state_up", Bool, "Administrative state; `false` takes the object out of operation.")
        .updatable()
        .default(true)
}

/// The tags of the object; their versions differ.
pub(crate) fn tags_prop() -> Prop {
    prop("tags", List, "Labels by which the object can be found; they replace any earlier ones.")
}

/// The name of the object in its service.
pub(crate) fn name_attr() -> Attr {
    attr("name", Str, "Name that the service has on record.")
}

/// The status of the object in its service.
pub(crate) fn status_attr() -> Attr {
    attr("status", Str, "Current status as the service reports it, such as `ACTIVE` or `DOWN`.")
}
