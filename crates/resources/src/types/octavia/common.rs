//! What load balancing types have in common.
//!
//! Every change of a load balancer or of anything that belongs to one keeps all of it busy for a while: the
//! service refuses further changes until it is done.

use crate::behaviour::Verb;
use crate::declare::*;
use crate::given::text;
use crate::op::Op;
use crate::rest::{self, Plain, Ready};
use kiln_cloud::{Marker, get};
use serde_json::{Map as Fields, Value as Json, json};

/// Objects that belong to a load balancer.
pub(super) fn part(path: &'static str, one: &'static str) -> Plain {
    Plain::at(Service::LoadBalancer, path, one)
        .field("default_pool", "default_pool_id")
        .field("listener", "listener_id")
        .field("loadbalancer", "loadbalancer_id")
        .field("pool", "pool_id")
        .field("redirect_pool", "redirect_pool_id")
        .field("subnet", "subnet_id")
        .field("tenant_id", "project_id")
        .shape(tag)
        .ready(provisioned())
        .patient()
}

/// What operators offer: it belongs to no load balancer, and is there at once.
pub(super) fn offer(path: &'static str, one: &'static str) -> Plain {
    Plain::at(Service::LoadBalancer, path, one)
        .field("availability_zone_profile", "availability_zone_profile_id")
        .field("flavor_profile", "flavor_profile_id")
        .dressed()
        .goes_at_once()
}

/// When an object is ready, and when one that was removed is gone.
pub(super) fn provisioned() -> Ready {
    Ready::when("provisioning_status", ["ACTIVE"], ["ERROR"]).gone(["DELETED"])
}

/// Whether a property is known to have a value.
pub(super) fn is(members: &Members, name: &str, value: &str) -> bool {
    text(members, name) == Some(value)
}

/// Puts a tag on a new object: names are not unique, and not every object has one.
pub(super) fn tag(op: &Op, verb: Verb, fields: &mut Fields<String, Json>) {
    if verb == Verb::Create {
        fields.insert("tags".into(), json!([rest::label(op)]));
    }
}

/// The tag is the mark.
pub(super) fn by_tag(op: &Op) -> Option<Marker> {
    let plain = op.plain()?;
    let (path, label) = (rest::collection(op, &plain), rest::label(op));
    Some(Marker {
        list: get(Service::LoadBalancer, path.clone()).query("tags", label.clone()),
        objects: format!("/{}", plain.many),
        field: "/tags".into(),
        value: json!([label]),
        envelope: Some(plain.one.to_string()),
        path: format!("{path}/"),
        id: "/id".into(),
    })
}
