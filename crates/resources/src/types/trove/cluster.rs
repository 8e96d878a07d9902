//! OS::Trove::Cluster: a cluster of database instances.

use super::common::{check_datastore, check_networks, datastore, nics};
use crate::declare::*;
use crate::op::{Op, OpError, Progress};
use crate::property_access::{items, open, text};
use crate::rest::{self, RestSpec, UpdateMethod};
use crate::types::fragments::name_prop;
use crate::wire;
use kiln_cloud::{Reply, delete, get, post};
use kiln_template::functions::step_into_attribute;
use serde_json::{Value as Json, json};

pub(super) fn cluster() -> ResourceType {
    ResourceType::new("OS::Trove::Cluster")
        .about("A cluster of database instances.")
        .service(Service::Database)
        .entity("clusters")
        .since("2015.1")
        .props([
            prop("datastore_type", Str, "Kind of database, such as `mysql`.")
                .required()
                .max_length(255),
            prop("datastore_version", Str, "Version of the database, by name or ID.")
                .required()
                .max_length(255),
            prop("instances", List, "Database instances that make up the cluster.")
                .required()
                .each(record([
                    prop("availability_zone", Str, "Availability zone to place the instance in.")
                        .since("14.0.0"),
                    prop("flavor", Str, "Flavor of the instance, by name or ID.")
                        .required()
                        .is(DATABASE_FLAVOR)
                        .by_name(),
                    prop("networks", List, "Networks that the instance is connected to.")
                        .default_empty()
                        .since("10.0.0")
                        .each(record([
                            prop("fixed_ip", Str, "Particular address on the network.").is(IP_ADDR),
                            prop(
                                "network",
                                Str,
                                "Network to connect to, by name or ID; excludes `port`.",
                            )
                            .is(NETWORK)
                            .by_name(),
                            prop(
                                "port",
                                Str,
                                "Existing port to use, by name or ID; excludes `network`.",
                            )
                            .is(PORT)
                            .by_name(),
                        ])),
                    prop("volume_size", Int, "Size of the instance's data volume in GB, 1 to 150.")
                        .required()
                        .range(1, 150),
                ])),
            name_prop().max_length(255),
        ])
        .attrs([
            attr("instances", List, "IDs of the instances in the cluster."),
            attr("ip", List, "IP addresses of the cluster."),
        ])
        .attributes(|view, name, path| {
            if name != "instances" {
                return Ok(None);
            }
            let shown = view.remote.as_map().and_then(|shown| shown.get(name));
            let all = shown.and_then(Value::as_list).unwrap_or_default().iter();
            let ids = all.filter_map(|it| it.as_map()?.get("id").cloned());
            Ok(Some(step_into_attribute(&Value::list(ids), path)))
        })
        .check(|members| {
            let mut instances =
                items(members, "instances").iter().filter_map(|it| open(it).as_map());
            instances.try_for_each(check_networks)
        })
        .check_with_siblings(check_datastore)
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
        .rest(
            RestSpec::new(Service::Database, "/clusters", "cluster")
                .unsent(["instances"])
                .list_suffix("?limit=1000")
                .adjust_fields(|op, _, fields| datastore(op, fields))
                .update_method(UpdateMethod::Never),
        )
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    if op.id().is_none() {
        let mut fields = rest::new_fields(op, &spec);
        let instances = instances(op).await?;
        fields.insert("instances".into(), instances.into());
        let call = post(Service::Database, "/clusters", json!({ "cluster": fields }));
        let reply = op.call("create", call).await?;
        op.set_id(reply.text("/cluster/id").unwrap_or_default());
    }
    let reply = op.until(get(Service::Database, rest::path(op, &spec)), progress).await?;
    op.set_remote(wire::value(&reply.body["cluster"]));
    Ok(())
}

async fn instances(op: &mut Op) -> Result<Vec<Json>, OpError> {
    let properties = op.context().properties.clone();
    let mut instances = Vec::new();
    for instance in items(&properties, "instances").iter().filter_map(|it| open(it).as_map()) {
        let size = instance.get("volume_size").map(wire::json).unwrap_or_default();
        let mut told = json!({ "flavorRef": text(instance, "flavor"), "volume": { "size": size } });
        let nics = nics(op, instance).await?;
        if !nics.is_empty() {
            told["nics"] = nics.into();
        }
        if let Some(zone) = text(instance, "availability_zone") {
            told["availability_zone"] = zone.into();
        }
        instances.push(told);
    }
    Ok(instances)
}

/// The progress of a cluster: it is ready when all of its instances are.
fn progress(reply: &Reply) -> Progress {
    let all = reply.body["cluster"]["instances"].as_array().into_iter().flatten();
    let mut is_ready = true;
    for status in all.map(|instance| instance["status"].as_str().unwrap_or_default()) {
        match status {
            "ERROR" | "FAILED" => {
                return Progress::Failed(format!("Went to status {status} due to \"Unknown\""));
            }
            "ACTIVE" | "HEALTHY" => {}
            _ => is_ready = false,
        }
    }
    if is_ready { Progress::Ready } else { Progress::NotYet }
}

/// Deletes the cluster after its current task, during which the service refuses it.
async fn remove(op: &mut Op) -> Result<(), OpError> {
    let (Some(_), Some(spec)) = (op.id(), op.rest_spec()) else { return Ok(()) };
    let path = rest::path(op, &spec);
    let idle = op
        .until_answered(get(Service::Database, path.clone()), |reply| {
            match reply.text("/cluster/task/name") {
                _ if reply.status == 404 => Progress::Ready,
                Some("NONE" | "DELETING") | None => Progress::Ready,
                _ => Progress::NotYet,
            }
        })
        .await?;
    if idle.status != 404 {
        op.remove("delete", delete(Service::Database, path.clone())).await?;
        rest::until_gone(op, get(Service::Database, path), |_| Progress::NotYet).await?;
    }
    op.clear_id();
    Ok(())
}
