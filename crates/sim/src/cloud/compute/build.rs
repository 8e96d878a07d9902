//! The creation and the removal of servers: the request is validated, ports and volumes are claimed, and the build
//! takes its time.

use serde_json::{Value, json};

use super::super::image::IMAGES;
use super::super::microversioned;
use super::super::network::{self, NETWORKS, PORTS, SUBNETS};
use super::super::request::{
    Answer, Refusal, Reply, RequestContext, flag, int, list, object, set, strings, text,
};
use super::super::state::CloudState;
use super::super::table::Obj;
use super::super::volume::{self, VOLUMES};
use super::dialect::fault;
use super::servers::SERVER;
use super::{FLAVORS, GROUPS, HOSTS, SERVERS, flavors, keypairs, limit, links, usage};

/// The fields of a create request.
const FIELDS: &[&str] = &[
    "name",
    "imageRef",
    "flavorRef",
    "key_name",
    "availability_zone",
    "metadata",
    "networks",
    "security_groups",
    "user_data",
    "block_device_mapping",
    "block_device_mapping_v2",
    "config_drive",
    "adminPass",
    "min_count",
    "max_count",
    "return_reservation_id",
    "OS-DCF:diskConfig",
    "accessIPv4",
    "accessIPv6",
    "description",
    "tags",
    "host",
    "hypervisor_hostname",
    "hostname",
    "trusted_image_certificates",
    "personality",
];

/// A network interface of a new server.
enum Nic {
    /// An existing port.
    Port(String),
    /// A new port on a network, with an address if the request has one.
    Network(String, Option<String>),
}

pub(super) fn create(ctx: &mut RequestContext<'_>) -> Answer {
    let sent = ctx.sent(&SERVER)?;
    let strange: Vec<&str> = sent
        .keys()
        .map(String::as_str)
        .filter(|name| !FIELDS.contains(name) || (*name == "personality" && ctx.version >= 57))
        .collect();
    if !strange.is_empty() {
        return Err(microversioned::unknown("server", &strange, &sent));
    }
    for name in ["name", "flavorRef"] {
        if sent.get(name).is_none_or(Value::is_null) {
            return Err(microversioned::missing("server", name, &sent));
        }
    }
    if ctx.version >= 37 && !sent.contains_key("networks") {
        return Err(microversioned::missing("server", "networks", &sent));
    }
    let metadata = object(sent["metadata"].clone());
    super::servers::texts_only(&metadata)?;
    let flavor = flavor(ctx, &sent)?;
    let image = image(ctx, &sent, &flavor)?;
    if let Some(key) = sent.get("key_name").and_then(Value::as_str)
        && !keypairs::has(ctx, key)
    {
        return Err(fault(400, "Invalid key_name provided."));
    }
    zone(&sent)?;
    let count = sent.get("min_count").and_then(Value::as_i64).unwrap_or(1).max(1);
    within_quota(ctx, &flavor, count)?;
    let group = group(ctx)?;
    let nics = nics(ctx, &sent)?;
    let devices = volume::boot::devices(ctx, &sent, image.as_ref())?;
    let mut made = Vec::new();
    for _ in 0..count {
        made.push(make(ctx, &sent, &flavor, image.as_ref(), &nics, &devices, group.as_deref()));
    }
    let reservation = format!("r-{}", ctx.state.random.hex(8));
    if sent.get("return_reservation_id") == Some(&json!(true)) {
        return Ok(Reply::json(202, json!({ "reservation_id": reservation })));
    }
    let (id, password) = made.into_iter().next().unwrap_or_default();
    let location = format!("{}{}/v2.1/servers/{id}", ctx.request.base, ctx.request.service);
    let groups =
        sent.get("security_groups").cloned().unwrap_or_else(|| json!([{ "name": "default" }]));
    let body = json!({ "server": {
        "id": id, "adminPass": password, "links": links(ctx, "servers", &id), "security_groups": groups,
        "OS-DCF:diskConfig": sent.get("OS-DCF:diskConfig").cloned().unwrap_or_else(|| json!("MANUAL")),
    } });
    Ok(Reply::json(202, body).with("location", location))
}

fn flavor(ctx: &RequestContext<'_>, sent: &Obj) -> Result<Obj, Refusal> {
    let supplied = match sent.get("flavorRef") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    };
    // Clients may send a URL; its last segment is the id.
    let id = supplied.rsplit('/').next().unwrap_or_default();
    let row = ctx.state.get(FLAVORS, id).filter(|row| flavors::may_use(ctx, row));
    row.cloned().ok_or_else(|| fault(400, format!("Flavor {id} could not be found.")))
}

fn image(ctx: &RequestContext<'_>, sent: &Obj, flavor: &Obj) -> Result<Option<Obj>, Refusal> {
    let supplied = sent.get("imageRef").and_then(Value::as_str).unwrap_or_default();
    let id = supplied.rsplit('/').next().unwrap_or_default();
    if id.is_empty() {
        return Ok(None);
    }
    usable_image(ctx, id, flavor).map(Some)
}

/// Finds an image from which a server of this flavor can be created.
pub(super) fn usable_image(
    ctx: &RequestContext<'_>,
    id: &str,
    flavor: &Obj,
) -> Result<Obj, Refusal> {
    let image = ctx.state.get(IMAGES, id).filter(|row| super::super::image::sees(ctx, row));
    let Some(image) = image.cloned() else {
        return Err(fault(400, "Can not find requested image"));
    };
    if text(&image, "status") != "active" {
        return Err(fault(400, format!("Image {id} is not active.")));
    }
    if int(flavor, "ram") < int(&image, "min_ram") {
        return Err(fault(400, "Flavor's memory is too small for requested image."));
    }
    let (disk, least) = (int(flavor, "disk"), int(&image, "min_disk"));
    if disk > 0 && disk < least {
        let gib = 1024_i64.pow(3);
        return Err(fault(
            400,
            format!(
                "Flavor's disk is smaller than the minimum size specified in image metadata. Flavor disk is {} bytes, \
             minimum size is {} bytes.",
                disk * gib,
                least * gib
            ),
        ));
    }
    Ok(image)
}

fn zone(sent: &Obj) -> Result<(), Refusal> {
    let zone = sent.get("availability_zone").and_then(Value::as_str).unwrap_or("nova");
    let known = zone.split(':').next().unwrap_or_default();
    if ["nova", ""].contains(&known) {
        return Ok(());
    }
    Err(fault(400, "The requested availability zone is not available"))
}

fn within_quota(ctx: &RequestContext<'_>, flavor: &Obj, count: i64) -> Result<(), Refusal> {
    let project = &ctx.caller.project;
    let used = usage(ctx.state, project);
    let wanted = [
        ("instances", count, used.0),
        ("cores", int(flavor, "vcpus") * count, used.1),
        ("ram", int(flavor, "ram") * count, used.2),
    ];
    for (name, more, used) in wanted {
        let most = limit(ctx.state, project, name);
        if most >= 0 && used + more > most {
            return Err(fault(
                403,
                format!(
                    "Quota exceeded for {name}: Requested {more}, but already used {used} of {most} {name}"
                ),
            ));
        }
    }
    Ok(())
}

/// Returns the server group in the scheduler hints.
fn group(ctx: &RequestContext<'_>) -> Result<Option<String>, Refusal> {
    let hints =
        ["os:scheduler_hints", "OS-SCH-HNT:scheduler_hints"].map(|name| &ctx.body[name]["group"]);
    let Some(id) = hints.into_iter().find_map(Value::as_str) else { return Ok(None) };
    match ctx.state.get(GROUPS, id) {
        Some(_) => Ok(Some(id.to_owned())),
        None => Err(fault(400, format!("Instance group {id} could not be found."))),
    }
}

/// Resolves the networks of a request.
fn nics(ctx: &mut RequestContext<'_>, sent: &Obj) -> Result<Vec<Nic>, Refusal> {
    let wanted = match sent.get("networks") {
        Some(Value::String(word)) if word == "none" => return Ok(Vec::new()),
        Some(Value::Array(wanted)) if !wanted.is_empty() => wanted.clone(),
        Some(Value::String(word)) if word != "auto" => {
            let reason = format!("'{word}' is not one of ['none', 'auto']");
            return Err(microversioned::wrong("networks", &json!(word), &reason));
        }
        _ => return automatic(ctx, sent),
    };
    wanted.iter().map(|wanted| nic(ctx, wanted)).collect()
}

fn nic(ctx: &RequestContext<'_>, wanted: &Value) -> Result<Nic, Refusal> {
    if let Some(id) = wanted["port"].as_str() {
        let port = ctx.state.get(PORTS, id).filter(|port| ctx.owns(port));
        let Some(port) = port else {
            return Err(fault(400, format!("Port id {id} could not be found.")));
        };
        if !text(port, "device_id").is_empty() {
            return Err(fault(409, format!("Port {id} is still in use.")));
        }
        return Ok(Nic::Port(id.to_owned()));
    }
    let Some(id) = wanted["uuid"].as_str() else {
        let rendered = crate::python::repr(wanted);
        return Err(fault(
            400,
            format!("Bad networks format: network uuid is not in proper format ({rendered})"),
        ));
    };
    network_usable(ctx, id)?;
    let ip = wanted["fixed_ip"].as_str().map(str::to_owned);
    if let Some(ip) = &ip {
        let taken = ctx.state.table(PORTS).with("fixed_ips.ip_address", ip);
        if taken.iter().any(|port| text(port, "network_id") == id) {
            return Err(fault(
                400,
                format!("Fixed IP address {ip} is already in use on instance None."),
            ));
        }
    }
    Ok(Nic::Network(id.to_owned(), ip))
}

/// Rejects a network to which servers cannot be attached.
pub(super) fn network_usable(ctx: &RequestContext<'_>, id: &str) -> Result<(), Refusal> {
    let network = ctx.find(&network::networks::NETWORK, id);
    let Ok(network) = network else {
        return Err(fault(400, format!("Network {id} could not be found.")));
    };
    if flag(&network, "router:external") && !ctx.owns(&network) && !flag(&network, "shared") {
        let message = format!("It is not allowed to create an interface on external network {id}");
        return Err(fault(403, message));
    }
    if ctx.state.table(SUBNETS).count("network_id", id) == 0 {
        let message = format!("Network {id} requires a subnet in order to boot instances on.");
        return Err(fault(400, message));
    }
    Ok(())
}

/// Chooses the only network that the project can use. If there is none, `auto` creates a topology.
fn automatic(ctx: &mut RequestContext<'_>, sent: &Obj) -> Result<Vec<Nic>, Refusal> {
    let usable: Vec<String> = ctx
        .state
        .table(NETWORKS)
        .iter()
        .filter(|network| {
            let own = text(network, "project_id") == ctx.caller.project;
            (own || flag(network, "shared")) && !flag(network, "router:external")
        })
        .map(|network| text(network, "id").to_owned())
        .filter(|id| ctx.state.table(SUBNETS).count("network_id", id) > 0)
        .collect();
    match usable.as_slice() {
        [] if sent.get("networks") == Some(&json!("auto")) => {
            let project = ctx.caller.project.clone();
            let made = network::extensions::allocate(ctx, &project);
            let made = made.map_err(|_| {
                fault(400, "Unable to automatically allocate a network for the project.")
            })?;
            Ok(vec![Nic::Network(made, None)])
        }
        [] => Ok(Vec::new()),
        [one] => Ok(vec![Nic::Network(one.clone(), None)]),
        _ => Err(fault(
            409,
            "Multiple possible networks found, use a Network ID to be more specific.",
        )),
    }
}

/// Creates a server and claims its ports and volumes. This always succeeds; a resource that is unavailable makes the
/// build fail.
fn make(
    ctx: &mut RequestContext<'_>,
    sent: &Obj,
    flavor: &Obj,
    image: Option<&Obj>,
    nics: &[Nic],
    devices: &[Value],
    group: Option<&str>,
) -> (String, String) {
    let id = ctx.state.uuid();
    let number = ctx.state.next_number();
    let host = HOSTS[usize::try_from(number).unwrap_or_default() % HOSTS.len()];
    let password = match sent.get("adminPass").and_then(Value::as_str) {
        Some(password) => password.to_owned(),
        None => ctx.state.random.hex(12),
    };
    let timestamp = ctx.state.timestamp();
    let name = text(sent, "name");
    let mut row = object(json!({
        "id": id, "name": name, "status": "BUILD", "project_id": ctx.caller.project, "user_id": ctx.caller.user,
        "created": timestamp, "updated": timestamp, "hostId": "", "progress": 0, "locked": false, "locked_reason": null,
        "trusted_image_certificates": null, "host_status": "UP", "OS-EXT-AZ:availability_zone": "nova",
        "OS-EXT-STS:power_state": 0, "OS-EXT-STS:task_state": "spawning", "OS-EXT-STS:vm_state": "building",
        "OS-SRV-USG:launched_at": null, "OS-SRV-USG:terminated_at": null,
    }));
    row.extend(object(json!({
        "OS-EXT-SRV-ATTR:host": host, "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
        "OS-EXT-SRV-ATTR:instance_name": format!("instance-{number:08x}"), "OS-EXT-SRV-ATTR:launch_index": 0,
        "OS-EXT-SRV-ATTR:reservation_id": "", "OS-EXT-SRV-ATTR:kernel_id": "", "OS-EXT-SRV-ATTR:ramdisk_id": "",
        "OS-EXT-SRV-ATTR:root_device_name": "/dev/vda", "_flavor": flavor, "_own_ports": [], "_volumes": [],
        "_image": image.map(|image| image["id"].clone()), "_hints": ctx.body.get("os:scheduler_hints"),
    })));
    for (from, to, usual) in [
        ("metadata", "metadata", json!({})),
        ("accessIPv4", "accessIPv4", json!("")),
        ("accessIPv6", "accessIPv6", json!("")),
        ("key_name", "key_name", Value::Null),
        ("description", "description", Value::Null),
        ("tags", "tags", json!([])),
        ("availability_zone", "pinned_availability_zone", Value::Null),
        ("OS-DCF:diskConfig", "OS-DCF:diskConfig", json!("MANUAL")),
        ("hostname", "OS-EXT-SRV-ATTR:hostname", json!(host_name(name))),
        ("user_data", "OS-EXT-SRV-ATTR:user_data", Value::Null),
        ("config_drive", "config_drive", json!("")),
    ] {
        let supplied = sent.get(from).filter(|value| !value.is_null()).cloned();
        set(&mut row, to, supplied.unwrap_or(usual));
    }
    let drive = row["config_drive"] == json!(true) || row["config_drive"] == json!("true");
    set(&mut row, "config_drive", if drive { "True" } else { "" });
    let failure = claim(ctx, &mut row, sent, nics).err();
    let volumes = volume::boot::claim(ctx, &id, devices);
    set(&mut row, "_volumes", volumes);
    if let Some(group) = group {
        ctx.state.edit(GROUPS, group, |row| {
            let mut members = strings(row, "members");
            members.push(id.clone());
            set(row, "members", members);
        });
    }
    let fails = ctx.state.fail_builds || !has_room(&row["_flavor"]);
    let message = match failure {
        Some(_) => Some(format!(
            "Build of instance {id} aborted: Failed to allocate the network(s), not rescheduling."
        )),
        None if fails => Some(NO_HOST.to_owned()),
        None => None,
    };
    let step = if message.is_some() { "compute/failed" } else { "compute/built" };
    set(&mut row, "_failure", message);
    ctx.state.put(SERVERS, &id, row);
    ctx.state.step_when_built(step, &id);
    (id, password)
}

fn host_name(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' }
    };
    name.chars().map(plain).collect::<String>().trim_matches('-').to_owned()
}

/// Claims the ports that the request names and creates the others.
fn claim(
    ctx: &mut RequestContext<'_>,
    row: &mut Obj,
    sent: &Obj,
    nics: &[Nic],
) -> Result<(), Refusal> {
    let id = text(row, "id").to_owned();
    let mut own = Vec::new();
    let mut outcome = Ok(());
    for nic in nics {
        match nic {
            Nic::Port(port) => {
                let taken = json!({ "device_id": id, "device_owner": "compute:nova" });
                ctx.state.set(PORTS, port, taken);
            }
            Nic::Network(network, ip) => {
                let groups = sent.get("security_groups");
                match new_port(ctx, &id, network, ip.as_deref(), groups) {
                    Ok(port) => own.push(text(&port, "id").to_owned()),
                    Err(refusal) => outcome = Err(refusal),
                }
            }
        }
    }
    set(row, "_own_ports", own);
    outcome
}

/// Creates a port that is deleted with its server.
pub(super) fn new_port(
    ctx: &mut RequestContext<'_>,
    server: &str,
    network: &str,
    ip: Option<&str>,
    groups: Option<&Value>,
) -> Result<Obj, Refusal> {
    let mut port =
        json!({ "network_id": network, "device_id": server, "device_owner": "compute:nova" });
    if let Some(ip) = ip {
        port["fixed_ips"] = json!([{ "ip_address": ip }]);
    }
    if let Some(groups) = groups.and_then(Value::as_array).filter(|groups| !groups.is_empty()) {
        let mut ids = Vec::new();
        for group in groups {
            ids.push(security_group(ctx, group["name"].as_str().unwrap_or_default())?);
        }
        port["security_groups"] = json!(ids);
    }
    let project = ctx.caller.project.clone();
    network::internal(ctx, &network::ports::PORT, port, &project)
}

/// Finds a security group of the project by name or id.
pub(super) fn security_group(ctx: &mut RequestContext<'_>, name: &str) -> Result<String, Refusal> {
    let project = ctx.caller.project.clone();
    network::groups::default_of(ctx.state, &project);
    let own = ctx.state.table(network::GROUPS).with("project_id", &project);
    let found = own.iter().find(|group| text(group, "id") == name || text(group, "name") == name);
    let found = found.map(|group| text(group, "id").to_owned());
    found.ok_or_else(|| {
        fault(400, format!("Security group {name} not found for project {project}."))
    })
}

/// Finishes the build of a server.
pub(super) fn built(state: &mut CloudState, id: &str) {
    let row = state.copy(SERVERS, id);
    if row.is_empty() || text(&row, "OS-EXT-STS:task_state") == "deleting" {
        return;
    }
    let timestamp = state.timestamp();
    let launched = state.timestamp_micros();
    state.set(
        SERVERS,
        id,
        json!({
            "status": "ACTIVE", "OS-EXT-STS:vm_state": "active", "OS-EXT-STS:task_state": null,
            "OS-EXT-STS:power_state": 1, "OS-SRV-USG:launched_at": launched, "updated": timestamp,
            "hostId": "9a1f5d5e5bd5b9ce9b7d86e9fd1a07cd3b31e26d5e8c0bd4b8b5a7fb",
        }),
    );
    bind(state, id, text(&row, "OS-EXT-SRV-ATTR:host"));
    for attached in list(&row, "_volumes") {
        volume::attach::finish(state, attached["id"].as_str().unwrap_or_default(), id);
    }
}

/// Binds the ports of a server to its host.
pub(super) fn bind(state: &mut CloudState, server: &str, host: &str) {
    for port in state.with(PORTS, "device_id", server) {
        state.set(
            PORTS,
            text(&port, "id"),
            json!({
                "binding:host_id": host, "binding:vif_type": "ovs", "status": "ACTIVE",
                "binding:vif_details": { "port_filter": true, "connectivity": "l2" },
            }),
        );
    }
}

/// The scheduler's message when no host has room.
const NO_HOST: &str = "No valid host was found. There are not enough hosts available.";

/// Reports whether a hypervisor could run a server of this flavor; each has a terabyte of memory.
pub(super) fn has_room(flavor: &Value) -> bool {
    flavor["ram"].as_i64().unwrap_or_default() <= 1 << 20
}

/// Marks the build of a server as failed.
pub(super) fn failed(state: &mut CloudState, id: &str) {
    let row = state.copy(SERVERS, id);
    if row.is_empty() || text(&row, "OS-EXT-STS:task_state") == "deleting" {
        return;
    }
    let timestamp = state.timestamp();
    let message = match text(&row, "_failure") {
        "" => NO_HOST,
        message => message,
    };
    state.set(SERVERS, id, json!({
        "status": "ERROR", "OS-EXT-STS:vm_state": "error", "OS-EXT-STS:task_state": null, "updated": timestamp,
        "fault": { "code": 500, "created": timestamp, "message": message },
    }));
    release_ports(state, &row);
}

fn release_ports(state: &mut CloudState, row: &Obj) {
    let own = strings(row, "_own_ports");
    for port in state.with(PORTS, "device_id", text(row, "id")) {
        release_port(state, text(&port, "id"), own.iter().any(|id| id == text(&port, "id")));
    }
}

/// Deletes a port that was created for its server and releases any other port.
pub(super) fn release_port(state: &mut CloudState, port: &str, is_own: bool) {
    if is_own {
        network::ports::release_floating(state, port);
        state.remove(PORTS, port);
        return;
    }
    state.set(PORTS, port, json!({
        "device_id": "", "device_owner": "", "binding:host_id": "", "binding:vif_type": "unbound",
        "binding:vif_details": {}, "status": "DOWN",
    }));
}

/// Removes a server and releases its resources.
pub(super) fn gone(state: &mut CloudState, id: &str) {
    let row = state.copy(SERVERS, id);
    if row.is_empty() {
        return;
    }
    release_ports(state, &row);
    for attached in list(&row, "_volumes") {
        let volume = attached["id"].as_str().unwrap_or_default();
        volume::attach::release(state, volume, id);
        if attached["delete_on_termination"] == json!(true) {
            state.remove(VOLUMES, volume);
        }
    }
    state.remove(SERVERS, id);
}
