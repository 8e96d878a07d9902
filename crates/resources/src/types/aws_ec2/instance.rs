//! AWS::EC2::Instance: a server, described in EC2 terms.

use super::{block_device_mappings, key_value, pairs, tags};
use crate::behaviour::{OperationKind, View};
use crate::declare::*;
use crate::lookup;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{given, items, open, section, text};
use crate::refusals::{conflict, is_given};
use crate::types::cinder::attaching::{self, Attachment};
use crate::types::nova::server::networks::{self, Entry};
use crate::types::nova::server::observe::read_healthy;
use crate::types::nova::server::user_data::{self, UserData};
use crate::types::nova::server::{attributes, disks, interfaces, lifecycle, look, update};
use kiln_cloud::{Marker, get, post, put};
use kiln_template::functions::{Fault, step_into_attribute};
use kiln_template::print;
use serde_json::{Value as Json, json};

pub(super) fn instance() -> ResourceType {
    ResourceType::new("AWS::EC2::Instance")
        .about("A server, described in EC2 terms.")
        .service(Service::Compute)
        .name_limit(53)
        .checkable()
        .suspendable()
        .props([
            prop("AvailabilityZone", Str, "Name of the availability zone in which the server is placed."),
            block_device_mappings(),
            prop("DisableApiTermination", Str, "Whether the server is protected from deletion through the API; not supported.").unimplemented(),
            prop("ImageId", Str, "Name or ID of the image that the server boots from.").required().is(IMAGE),
            prop("InstanceType", Str, "Name or ID of the flavor of the server; a change resizes it.").required().updatable().is(FLAVOR),
            prop("KernelId", Str, "Kernel image that the server boots with; not supported.").unimplemented(),
            prop("KeyName", Str, "Name of the SSH key pair that is put on the server.").is(KEY_PAIR),
            prop("Monitoring", Bool, "Whether detailed monitoring of the server is on; not supported.").unimplemented(),
            prop("NetworkInterfaces", List, "Ports of the server, as IDs or as maps with `NetworkInterfaceId` and `DeviceIndex`.").updatable(),
            prop("NovaSchedulerHints", List, "Hints for the scheduler of the compute service, as pairs of key and value.").each(key_value()),
            prop("PlacementGroupName", Str, "Placement group that the server joins; not supported.").unimplemented(),
            prop("PrivateIpAddress", Str, "Fixed IP address of the server; not supported.").unimplemented(),
            prop("RamDiskId", Str, "RAM disk image that the server boots with; not supported.").unimplemented(),
            prop("SecurityGroupIds", List, "IDs of security groups that filter the traffic of the server."),
            prop("SecurityGroups", List, "Names of security groups that filter the traffic of the server."),
            prop("SourceDestCheck", Bool, "Whether traffic that is not from or to the server's own address is dropped; not supported.").unimplemented(),
            prop("SubnetId", Str, "ID of the subnet on which the server gets a port.").updatable(),
            prop("Tags", List, "Tags that the server gets as metadata.").updatable().each(key_value()),
            prop("Tenancy", Str, "Whether the server has a host to itself; not supported.").unimplemented().one_of(["dedicated", "default"]),
            prop("UserData", Str, "Script or other data that the server receives at its first boot."),
            prop("Volumes", List, "Existing volumes that are attached once the server runs.").default_empty().each(record([
                prop("Device", Str, "Device name under which the server sees the volume, such as `/dev/vdc`.").required(),
                prop("VolumeId", Str, "ID of the volume to attach.").required().is(VOLUME),
            ])),
        ])
        .attrs([
            attr("AvailabilityZone", Str, "Name of the availability zone in which the server is."),
            attr("PrivateDnsName", Str, "First IP address of the server, in place of a private DNS name."),
            attr("PrivateIp", Str, "First IP address of the server, or `0.0.0.0` if it has none."),
            attr("PublicDnsName", Str, "First IP address of the server, in place of a public DNS name."),
            attr("PublicIp", Str, "First IP address of the server, or `0.0.0.0` if it has none."),
        ])
        .check(check)
        .finder(marker)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(change(op)))
        .deletes(|op| Box::pin(lifecycle::remove(op)))
        .on(OperationKind::Check, |op| Box::pin(lifecycle::check(op)))
        .observes(&[], |op| Box::pin(observe(op)))
        .on(OperationKind::Suspend, |op| Box::pin(lifecycle::suspend(op)))
        .on(OperationKind::Resume, |op| Box::pin(lifecycle::resume(op)))
        .attributes(attribute)
}

fn check(properties: &Members) -> Result<(), PropertyError> {
    let has_groups =
        ["SecurityGroups", "SecurityGroupIds"].iter().any(|it| is_given(properties, it));
    if has_groups && is_given(properties, "NetworkInterfaces") {
        return Err(conflict(&["SecurityGroups/SecurityGroupIds", "NetworkInterfaces"]));
    }
    super::check_block_devices(properties)
}

fn marker(op: &Op) -> Option<Marker> {
    let name = op.context().physical_name.to_string();
    Some(Marker {
        list: get(Service::Compute, "/servers").query("name", name.clone()),
        objects: "/servers".into(),
        field: "/name".into(),
        value: name.into(),
        envelope: Some("server".into()),
        path: "/servers".into(),
        id: "/id".into(),
    })
}

/// The connections of the server: ports in the order of their device indices, or a port on a subnet.
fn entries(properties: &Members) -> Vec<Entry> {
    let mut ports: Vec<(f64, String)> = Vec::new();
    for (at, interface) in items(properties, "NetworkInterfaces").iter().enumerate() {
        match open(interface) {
            Value::Map(interface) => {
                let index = given(interface, "DeviceIndex").map(|it| print::plain(open(it)));
                let index = index.and_then(|it| it.parse().ok()).unwrap_or(at as f64);
                let port = text(interface, "NetworkInterfaceId").unwrap_or_default();
                ports.push((index, port.to_owned()));
            }
            value => ports.push((at as f64, print::plain(value))),
        }
    }
    ports.sort_by(|a, b| a.0.total_cmp(&b.0));
    if !ports.is_empty() {
        let entry = |(_, port)| Entry { port: Some(port), ..Entry::default() };
        return ports.into_iter().map(entry).collect();
    }
    let subnet = text(properties, "SubnetId").map(str::to_owned);
    subnet.into_iter().map(|id| Entry { subnet: Some(id), ..Entry::default() }).collect()
}

/// Reads the server, to see whether it is healthy.
async fn observe(op: &mut Op) -> Result<(), OpError> {
    read_healthy(op).await.map(drop)
}

// --- create ---

async fn create(op: &mut Op) -> Result<(), OpError> {
    networks::begin_ports(op);
    let entries = entries(&op.context().properties);
    let networks = networks::of_new(op, &entries).await?;
    let body = new_server(op, networks).await?;
    let made = op.call("create", post(Service::Compute, "/servers", body).exclusive()).await?;
    let Some(id) = made.text("/server/id").map(str::to_owned) else {
        return Err(OpError::failed(
            FailureClass::Error,
            "the service did not say which server it made",
        ));
    };
    op.set_id(id);
    look::until_is(op, "ACTIVE").await?;
    attach_volumes(op).await?;
    look::show(op).await.map(drop)
}

async fn new_server(op: &mut Op, networks: Json) -> Result<Json, OpError> {
    let image = op.nonempty_text("ImageId").unwrap_or_default().to_owned();
    let image = lookup::find_id(op, IMAGE, &image).await?;
    let flavor = op.nonempty_text("InstanceType").unwrap_or_default().to_owned();
    let flavor = lookup::find_id(op, FLAVOR, &flavor).await?;
    let text = op.nonempty_text("UserData").unwrap_or_default().to_owned();
    let data = UserData { format: "HEAT_CFNTOOLS", text: &text, login: Some("ec2-user") };
    let data = user_data::encoded(op, data).await?;
    let properties = op.context().properties.clone();
    let mut server = json!({
        "name": &*op.context().physical_name,
        "imageRef": &*image,
        "flavorRef": &*flavor,
        "networks": networks,
        "metadata": tags(&properties),
        "user_data": data,
        "min_count": 1,
        "max_count": 1,
    });
    for (property, field) in [("KeyName", "key_name"), ("AvailabilityZone", "availability_zone")] {
        if let Some(text) = op.nonempty_text(property) {
            server[field] = text.into();
        }
    }
    let groups = networks::group_names(&properties).into_iter();
    let groups: Vec<Json> = groups.map(|group| json!({ "name": group })).collect();
    if !groups.is_empty() {
        server["security_groups"] = groups.into();
    }
    let disks = all_disks(&properties, &image);
    if !disks.is_empty() {
        server["block_device_mapping_v2"] = disks.into();
    }
    let mut body = json!({ "server": server });
    let hints = pairs(&properties, "NovaSchedulerHints");
    if !hints.is_empty() {
        body["os:scheduler_hints"] = Json::Object(hints);
    }
    Ok(body)
}

/// The disks of a server that has more than the one from its image.
fn all_disks(properties: &Members, image: &str) -> Vec<Json> {
    let all = items(properties, "BlockDeviceMappings").iter().filter_map(|it| open(it).as_map());
    let mut disks: Vec<Json> = all.filter_map(disk).collect();
    disks::add_root(&mut disks, image);
    disks
}

fn disk(of: &Members) -> Option<Json> {
    let ebs = section(of, "Ebs")?;
    let mut disk = json!({
        "uuid": text(ebs, "SnapshotId")?,
        "source_type": "snapshot",
        "destination_type": "volume",
        "device_name": text(of, "DeviceName"),
        "boot_index": -1,
        "delete_on_termination":
            given(ebs, "DeleteOnTermination").is_none_or(|it| it.equals(&Value::Bool(true))),
    });
    if let Some(size) = text(ebs, "VolumeSize").and_then(|size| size.parse::<i64>().ok()) {
        disk["volume_size"] = size.into();
    }
    Some(disk)
}

async fn attach_volumes(op: &mut Op) -> Result<(), OpError> {
    let server = op.id().map_or("", |id| id).to_owned();
    let properties = op.context().properties.clone();
    for volume in items(&properties, "Volumes").iter().filter_map(|it| open(it).as_map()) {
        let place = Attachment {
            server: server.clone(),
            volume: text(volume, "VolumeId").unwrap_or_default().to_owned(),
            device: text(volume, "Device").map(str::to_owned),
        };
        attaching::attach(op, &format!("attach {}", place.volume), &place).await?;
    }
    Ok(())
}

// --- update ---

async fn change(op: &mut Op) -> Result<(), OpError> {
    if op.changes("Tags") {
        let body = json!({ "metadata": tags(&op.context().properties) });
        op.call("tags", put(Service::Compute, look::path(op).then("/metadata"), body)).await?;
    }
    if op.changes("NetworkInterfaces") || op.changes("SubnetId") {
        let (before, after) =
            (entries(&op.context().previous_properties), entries(&op.context().properties));
        interfaces::connect(op, &before, &after).await?;
    }
    if op.changes("InstanceType") {
        let flavor = op.nonempty_text("InstanceType").unwrap_or_default().to_owned();
        let flavor = lookup::find_id(op, FLAVOR, &flavor).await?;
        update::resize(op, &flavor).await?;
    }
    look::show(op).await.map(drop)
}

// --- attributes ---

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let answer = match name {
        "AvailabilityZone" => {
            let server = look::part(view.remote, "server").and_then(Value::as_map);
            let zone = server.and_then(|it| given(it, "OS-EXT-AZ:availability_zone"));
            let asked = || given(view.properties, "AvailabilityZone");
            zone.or_else(asked).cloned().unwrap_or_default()
        }
        "PrivateDnsName" | "PrivateIp" | "PublicDnsName" | "PublicIp" => {
            attributes::first_address(view.remote).unwrap_or("0.0.0.0").into()
        }
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer, path)))
}
