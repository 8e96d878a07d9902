//! OS::Manila::Share: a shared file system.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open, text};
use crate::rest::{self, Readiness, RestSpec};
use crate::types::fragments::{description_prop, name_prop};
use crate::wire;
use kiln_cloud::{Call, CallPath, Marker, Reply, get, post, put};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn share() -> ResourceType {
    ResourceType::new("OS::Manila::Share")
        .about("A shared file system.")
        .service(Service::Share)
        .entity("shares")
        .checkable()
        .detects_drift()
        .since("5.0.0")
        .props([
            prop(
                "access_rules",
                List,
                "Who may mount the share; rules that are not listed are withdrawn.",
            )
            .updatable()
            .default_empty()
            .each(record([
                prop(
                    "access_level",
                    Str,
                    "Whether access is read-only (`ro`) or also for writing (`rw`).",
                )
                .one_of(["ro", "rw"]),
                prop(
                    "access_to",
                    Str,
                    "Who gets access: an address or block, user, certificate name or Ceph ID.",
                )
                .required(),
                prop(
                    "access_type",
                    Str,
                    "How clients are told apart: by address, user, certificate or Ceph identity.",
                )
                .required()
                .one_of(["ip", "user", "cert", "cephx"]),
            ])),
            description_prop().updatable(),
            prop("is_public", Bool, "Whether other projects can see the share.")
                .updatable()
                .default(false),
            prop("metadata", Map, "Key-value pairs to keep with the share.").updatable(),
            name_prop().updatable(),
            prop(
                "share_network",
                Str,
                "Share network on which the share is offered, by name or ID.",
            )
            .is(SHARE_NETWORK),
            prop(
                "share_protocol",
                Str,
                "Protocol by which clients mount the share, such as `NFS`.",
            )
            .required()
            .one_of(["NFS", "CIFS", "GlusterFS", "HDFS", "CEPHFS"]),
            prop("share_type", Str, "Share type that decides on the back end, by name or ID.")
                .is(SHARE_TYPE),
            prop("size", Int, "Capacity of the share in GiB.").required(),
            prop(
                "snapshot",
                Str,
                "Snapshot with which the share starts, by name or ID; empty if omitted.",
            )
            .is(SHARE_SNAPSHOT),
        ])
        .attrs([
            attr("availability_zone", Str, "Availability zone that the share is in."),
            attr("created_at", Str, "Time at which the share was created."),
            attr("export_locations", List, "Paths under which clients can mount the share."),
            attr("host", Str, "Back end that holds the share, as `host@backend#pool`."),
            attr("project_id", Str, "ID of the project that owns the share."),
            attr(
                "share_server_id",
                Str,
                "ID of the share server that offers the share, if there is one.",
            ),
            attr("status", Str, "Current status as the service reports it, such as `available`."),
        ])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
        .rest(
            RestSpec::new(Service::Share, "/shares", "share")
                .field("share_network", "share_network_id")
                .field("share_protocol", "share_proto")
                .field("snapshot", "snapshot_id")
                .unsent(["access_rules"])
                .finds("share_network", SHARE_NETWORK)
                .finds("share_type", SHARE_TYPE)
                .finds("snapshot", SHARE_SNAPSHOT)
                .list_suffix("/detail")
                .field_in_updates("name", "display_name")
                .field_in_updates("description", "display_description")
                .mark_field("description")
                .marks_then_renames()
                .readiness(
                    Readiness::when("status", ["available"], ["error", "error_deleting"])
                        .degraded(["error_deleting"]),
                )
                .adjust_fields(adjust_fields),
        )
}

/// Leaves the metadata out of an update: they have a separate call.
fn adjust_fields(_: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    if operation == OperationKind::Update {
        fields.remove("metadata");
    }
}

fn path(op: &Op) -> CallPath {
    CallPath::from("/shares").id(op.id().map_or("", |id| id))
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    rest::create(op).await?;
    allow(op).await?;
    show_places(op).await
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    rest::update(op).await?;
    if op.changes("metadata") {
        let metadata = match wire::json(op.prop("metadata")) {
            Json::Null => json!({}),
            metadata => metadata,
        };
        let call = put(Service::Share, path(op).then("/metadata"), json!({ "metadata": metadata }));
        op.call("metadata", call).await?;
    }
    allow(op).await?;
    rest::until_ready(op).await?;
    show_places(op).await
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    rest::check(op).await?;
    if op.id().is_some() { show_places(op).await } else { Ok(()) }
}

/// Reads the export locations, which have a separate path.
async fn show_places(op: &mut Op) -> Result<(), OpError> {
    let reply = op.read(get(Service::Share, path(op).then("/export_locations"))).await?;
    let mut shown = op.remote().as_map().cloned().unwrap_or_default();
    shown.insert("export_locations".into(), paths(&reply));
    op.set_remote(Value::Map(shown.into()));
    Ok(())
}

/// The paths in a list of export locations.
fn paths(reply: &Reply) -> Value {
    let all = reply.body["export_locations"].as_array().into_iter().flatten();
    Value::list(all.map(|place| wire::value(&place["path"])))
}

/// The call that lists the access rules.
fn access_list(op: &Op) -> Call {
    post(Service::Share, path(op).then("/action"), json!({ "access_list": null }))
}

/// Adds the access rules in the template, and removes former ones.
async fn allow(op: &mut Op) -> Result<(), OpError> {
    let (before, after) =
        (op.context().previous_properties.clone(), op.context().properties.clone());
    let (had, wanted) = (rules(&before), rules(&after));
    if had == wanted {
        return Ok(());
    }
    let there = op.read(access_list(op)).await?.body["access_list"].take();
    let there: Vec<Json> = there.as_array().cloned().unwrap_or_default();
    let is_there = |rule: &Json, there: &Json| {
        let rule = rule.as_object().into_iter().flatten();
        rule.into_iter().all(|(name, value)| there[name.as_str()] == *value)
    };
    for rule in had.iter().filter(|rule| !wanted.contains(rule)) {
        let ids = there.iter().filter(|it| is_there(rule, it)).filter_map(|it| it["id"].as_str());
        for id in ids {
            let body = json!({ "deny_access": { "access_id": id } });
            let call = post(Service::Share, path(op).then("/action"), body).may_be_repeated();
            op.remove(&format!("deny {id}"), call).await?;
        }
    }
    for rule in wanted.iter().filter(|rule| !there.iter().any(|it| is_there(rule, it))) {
        let marker = Marker {
            list: access_list(op),
            objects: "/access_list".into(),
            field: String::new(),
            value: rule.clone(),
            envelope: Some("access".into()),
            path: "".into(),
            id: "/id".into(),
        };
        let body = json!({ "allow_access": rule });
        let call = post(Service::Share, path(op).then("/action"), body).marker(marker);
        op.call(&format!("allow {rule}"), call).await?;
    }
    Ok(())
}

fn rules(properties: &Members) -> Vec<Json> {
    let rules = items(properties, "access_rules").iter().filter_map(|rule| open(rule).as_map());
    let named = ["access_level", "access_to", "access_type"];
    rules
        .map(|rule| {
            named.iter().filter_map(|name| Some((*name, text(rule, name)?))).collect::<Json>()
        })
        .collect()
}
