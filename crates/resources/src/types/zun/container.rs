//! OS::Zun::Container: a container run by the container service.

use crate::declare::*;
use crate::op::{Op, OpError, Progress};
use crate::property_access::{items, open, text};
use crate::refusals::{exclusive, is_given, may_be_given};
use crate::rest::{self, RestSpec, UpdateMethod};
use crate::types::fragments::{name_attr, name_prop};
use crate::wire;
use kiln_cloud::{Call, CallPath, Reply, delete, get, post};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn container() -> ResourceType {
    ResourceType::new("OS::Zun::Container")
        .about("A container run by the container service.")
        .service(Service::Container)
        .entity("containers")
        .since("9.0.0")
        .props([
            prop("command", Str, "Command to run instead of the image's own."),
            prop("cpu", Num, "Number of virtual CPUs, possibly a fraction such as `0.5`.")
                .updatable(),
            prop("environment", Map, "Environment variables of the command."),
            prop("hints", Map, "Key-value pairs that guide the scheduler's choice of a host.")
                .since("10.0.0"),
            prop("hostname", Str, "Host name that the container sees as its own.").since("10.0.0"),
            prop("image", Str, "Image to run, by name or ID, optionally with a tag.").required(),
            prop("image_driver", Str, "Where the image comes from: a Docker registry or Glance.")
                .one_of(["docker", "glance"]),
            prop(
                "image_pull_policy",
                Str,
                "When to fetch the image: `always`, `never` or only `ifnotpresent`.",
            )
            .one_of(["ifnotpresent", "always", "never"]),
            prop(
                "interactive",
                Bool,
                "Whether standard input stays open while no client is attached.",
            ),
            prop("labels", Map, "Key-value pairs to keep with the container."),
            prop("memory", Int, "Memory limit in MiB.").updatable(),
            prop("mounts", List, "Volumes to mount into the container.").each(record([
                prop("mount_path", Str, "Path in the container at which the volume appears.")
                    .required(),
                prop(
                    "volume_id",
                    Str,
                    "Existing volume to mount, by name or ID; excludes `volume_size`.",
                )
                .is(VOLUME),
                prop(
                    "volume_size",
                    Int,
                    "Size in GB of a new volume to mount; excludes `volume_id`.",
                ),
            ])),
            name_prop().updatable(),
            prop("networks", List, "Networks that the container is connected to.")
                .updatable()
                .since("11.0.0")
                .each(record([
                    prop("fixed_ip", Str, "Particular address on the network; excludes `port`.")
                        .is(IP_ADDR),
                    prop("network", Str, "Network to connect to, by name or ID.")
                        .is(NETWORK)
                        .by_name(),
                    prop("port", Str, "Existing port to use, by name or ID.").is(PORT).by_name(),
                ])),
            prop(
                "restart_policy",
                Str,
                "When to restart it after it exits, such as `always` or `on-failure:3`.",
            ),
            prop("security_groups", List, "Names or IDs of the container's security groups.")
                .default_empty()
                .since("10.0.0"),
            prop("tty", Bool, "Whether the container has a terminal.").since("14.0.0"),
            prop("workdir", Str, "Directory in which the command starts."),
        ])
        .attrs([attr("addresses", Map, "Addresses of the container, by network."), name_attr()])
        .check(check)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .rest(
            RestSpec::new(Service::Container, "/containers", "")
                .list_envelope("containers")
                .id("uuid")
                .list_suffix("?limit=1000")
                .unsent(["mounts", "networks"])
                .update_method(UpdateMethod::Patch)
                .adjust_fields(|op, _, fields| adjust_fields(op, fields)),
        )
}

/// Checks that every network and every mount has one source.
fn check(members: &Members) -> Result<(), PropertyError> {
    for mount in items(members, "mounts").iter().filter_map(|it| open(it).as_map()) {
        exclusive(mount, "volume_id", "volume_size")?;
        if !may_be_given(mount, "volume_id") && !may_be_given(mount, "volume_size") {
            let message = "One of the properties \"volume_id\" or \"volume_size\" should be set for the \
                           specified mount of container.";
            return Err(PropertyError::new(message));
        }
    }
    for network in items(members, "networks").iter().filter_map(|it| open(it).as_map()) {
        if !may_be_given(network, "network") && !may_be_given(network, "port") {
            return Err(PropertyError::new(
                "One of the properties \"network\" or \"port\" should be set for the \
                                     specified network of container.",
            ));
        }
        if is_given(network, "fixed_ip") {
            exclusive(network, "fixed_ip", "port")?;
        }
    }
    Ok(())
}

fn adjust_fields(op: &Op, fields: &mut Fields<String, Json>) {
    let properties = &op.context().properties;
    if let Some(policy) = fields.get_mut("restart_policy") {
        let text = policy.as_str().unwrap_or_default().to_owned();
        let (name, count) = text.split_once(':').unwrap_or((&text, "0"));
        *policy = json!({ "Name": name, "MaximumRetryCount": count });
    }
    if op.id().is_some() {
        return;
    }
    let mounts = items(properties, "mounts").iter().filter_map(|it| open(it).as_map());
    let mounts: Vec<Json> = mounts
        .map(|mount| {
            let destination = text(mount, "mount_path");
            match text(mount, "volume_id") {
                Some(volume) => json!({ "source": volume, "destination": destination }),
                None => {
                    let size = mount.get("volume_size").map(wire::json).unwrap_or_default();
                    json!({ "size": size.to_string(), "destination": destination })
                }
            }
        })
        .collect();
    if !mounts.is_empty() {
        fields.insert("mounts".into(), mounts.into());
    }
    let nets: Vec<Json> = networks(properties).into_iter().map(Json::Object).collect();
    if !nets.is_empty() {
        fields.insert("nets".into(), nets.into());
    }
}

/// The networks of a container, as fields of the request.
fn networks(properties: &Members) -> Vec<Fields<String, Json>> {
    let words = [("network", "network"), ("port", "port"), ("fixed_ip", "v4-fixed-ip")];
    let networks = items(properties, "networks").iter().filter_map(|it| open(it).as_map());
    networks
        .map(|network| {
            let given = words.iter().filter_map(|(name, word)| {
                Some(((*word).to_owned(), Json::from(text(network, name)?)))
            });
            given.collect()
        })
        .collect()
}

/// Sets the microversion of a call: the property `tty` needs a later one.
fn versioned(op: &Op, call: Call, usual: Option<&'static str>) -> Call {
    match (op.prop("tty").is_null(), usual) {
        (false, _) => call.microversion("1.36"),
        (true, Some(version)) => call.microversion(version),
        (true, None) => call,
    }
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    if op.id().is_none() {
        let fields = rest::new_fields(op, &spec);
        let call =
            post(Service::Container, "/containers", Json::Object(fields)).query("run", "true");
        let reply = op.call("create", versioned(op, call, None)).await?;
        op.set_id(reply.text("/uuid").unwrap_or_default());
    }
    until_running(op).await
}

async fn until_running(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let is_interactive = *op.prop("interactive") == Value::Bool(true);
    let look = get(Service::Container, rest::path(op, &spec));
    let reply = op.until(look, |reply| progress(reply, is_interactive)).await?;
    let mut shown = reply.body;
    name_networks(op, &mut shown).await?;
    op.set_remote(wire::value(&shown));
    Ok(())
}

/// Adds the addresses under the names of networks; the service returns them under ids.
async fn name_networks(op: &mut Op, shown: &mut Json) -> Result<(), OpError> {
    let Some(addresses) = shown["addresses"].as_object_mut() else { return Ok(()) };
    for (id, entries) in addresses.clone() {
        match op.read(get(Service::Network, CallPath::from("/networks").id(id))).await {
            Ok(reply) => {
                if let Some(name) = reply.text("/network/name") {
                    addresses.insert(name.to_owned(), entries);
                }
            }
            Err(stop) if stop.is_not_found() => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(())
}

fn progress(reply: &Reply, is_interactive: bool) -> Progress {
    let status = reply.text("/status").unwrap_or_default();
    let why = reply.text("/status_reason").filter(|why| !why.is_empty()).unwrap_or("Unknown");
    match status {
        "Running" => Progress::Ready,
        "Creating" | "Created" => Progress::NotYet,
        // A container that is not interactive may have completed its command.
        "Stopped" if !is_interactive => Progress::Ready,
        "Stopped" => {
            Progress::Failed("Went to status Stopped due to \"Container is stopped\"".into())
        }
        "Error" => Progress::Failed(format!("Went to status Error due to \"{why}\"")),
        _ => Progress::Unknown(format!("Container - Unknown status {status} due to \"{why}\"")),
    }
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let fields = rest::changed_fields(op, &spec);
    if let Some(call) = rest::change(op, &spec, fields) {
        op.call("change", versioned(op, call, Some("1.18"))).await?;
    }
    if op.changes("networks") {
        connect(op, rest::path(op, &spec)).await?;
    }
    until_running(op).await
}

/// Attaches the container to its networks, and detaches it from former ones.
async fn connect(op: &mut Op, path: CallPath) -> Result<(), OpError> {
    let had = networks(&op.context().previous_properties);
    let wanted = networks(&op.context().properties);
    let gone = had.iter().filter(|it| !wanted.contains(it)).map(|it| ("network_detach", it));
    let new = wanted.iter().filter(|it| !had.contains(it)).map(|it| ("network_attach", it));
    for (how, network) in gone.chain(new) {
        let call = post(Service::Container, path.clone().id(how), Json::Null).empty();
        let mut call = call.microversion("1.18").may_be_repeated();
        for (name, value) in network {
            let word = if name == "v4-fixed-ip" { "fixed_ip" } else { name };
            call = call.query(word, value.as_str().unwrap_or_default());
        }
        let step = format!("{how} {}", Json::Object(network.clone()));
        match op.add(&step, call).await {
            // The container is not attached to the network.
            Err(stop) if how == "network_detach" && stop.is_not_found() => {}
            other => drop(other?),
        }
    }
    Ok(())
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let (Some(_), Some(spec)) = (op.id(), op.rest_spec()) else { return Ok(()) };
    let path = rest::path(op, &spec);
    let call = delete(Service::Container, path.clone()).query("stop", "true");
    op.remove("delete", call.microversion("1.12")).await?;
    let look = get(Service::Container, path);
    rest::until_gone(op, look, |reply| match reply.text("/status") {
        Some("Error") => Progress::Failed("Went to status Error due to \"Unknown\"".into()),
        _ => Progress::NotYet,
    })
    .await?;
    op.clear_id();
    Ok(())
}
