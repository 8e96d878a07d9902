//! The common parts of load balancing types.
//!
//! A change of a load balancer or of one of its objects locks all of them for a while: the service answers
//! further changes with a conflict.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::Op;
use crate::property_access::text;
use crate::rest::{self, Readiness, RestSpec};
use crate::types::fragments::name_prop;
use kiln_cloud::{Marker, get};
use serde_json::{Map as Fields, Value as Json, json};

/// Objects that belong to a load balancer.
pub(super) fn part(path: &'static str, one: &'static str) -> RestSpec {
    RestSpec::new(Service::LoadBalancer, path, one)
        .adjust_fields(tag)
        .readiness(provisioned())
        .retries_conflicts()
}

/// The protocols of listeners and pools.
pub(super) const PROTOCOLS: [&str; 6] =
    ["TCP", "HTTP", "HTTPS", "TERMINATED_HTTPS", "PROXY", "UDP"];

/// Declares a profile: the settings of a provider for a flavor or an availability zone, in the property `data`.
pub(super) fn profile(kind: ResourceType, data: &'static str) -> ResourceType {
    kind.service(Service::LoadBalancer).props([
        prop(data, Str, "Settings for the provider driver, as a JSON object in a string.")
            .required()
            .updatable()
            .is(JSON_STRING),
        name_prop().updatable(),
        prop("provider_name", Str, "Provider driver that the profile is for, such as `amphora`.")
            .updatable(),
    ])
}

/// Objects that operators provide, such as flavors. They belong to no load balancer and are ready at once.
pub(super) fn offer(path: &'static str, one: &'static str) -> RestSpec {
    RestSpec::new(Service::LoadBalancer, path, one).marks_then_renames().deleted_at_once()
}

/// When an object is ready, and when a deleted one does not exist any more.
pub(super) fn provisioned() -> Readiness {
    Readiness::when("provisioning_status", ["ACTIVE"], ["ERROR"]).gone(["DELETED"])
}

/// Whether a property has this value; an unknown property does not.
pub(super) fn is(members: &Members, name: &str, value: &str) -> bool {
    text(members, name) == Some(value)
}

/// Puts a tag on a new object: names are not unique, and not every object has one.
pub(super) fn tag(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    if operation == OperationKind::Create {
        fields.insert("tags".into(), json!([rest::label(op)]));
    }
}

/// Finds the object by its tag, which is the mark.
pub(super) fn by_tag(op: &Op) -> Option<Marker> {
    let spec = op.rest_spec()?;
    let (path, label) = (rest::collection(op, &spec), rest::label(op));
    Some(Marker {
        list: get(Service::LoadBalancer, path.clone()).query("tags", label.clone()),
        objects: format!("/{}", spec.list_envelope),
        field: "/tags".into(),
        value: json!([label]),
        envelope: Some(spec.envelope.to_string()),
        path,
        id: "/id".into(),
    })
}
