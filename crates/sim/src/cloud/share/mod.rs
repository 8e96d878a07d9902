//! The shared file systems service: Manila, version 2 with its microversions.

use serde_json::{Value, json};

use super::ask::{Answer, Refusal, Reply, Turn, flag, int, list, set, text, words};
use super::forms::{Form, Words, refuse};
use super::network::{NETWORKS, SUBNETS};
use super::query;
use super::rest;
use super::schema::{Collection, plain};
use super::services::{Microversions, Service};
use super::table::Obj;
use super::world::World;

static MANILA: Words = Words { form: Form::Named, missing: "could not be found.", bad: 400 };

const SHARES: &str = "share/shares";
const SNAPSHOTS: &str = "share/snapshots";
const NETS: &str = "share/share_networks";
const SECURITY: &str = "share/security_services";
const TYPES: &str = "share/types";
const RULES: &str = "share/access_rules";

static COLLECTIONS: &[&Collection] =
    &[&SHARE, &SNAPSHOT, &SHARE_NETWORK, &SECURITY_SERVICE, &SHARE_TYPE, &ACCESS];

pub(super) static SERVICE: Service = Service {
    prefix: "share",
    types: &["sharev2", "shared-file-system"],
    name: "manila",
    address: "/v2",
    microversions: Some(Microversions {
        name: "shared-file-system",
        major: 2,
        oldest: 0,
        newest: 82,
        old_header: Some("x-openstack-manila-api-version"),
    }),
    dialect: &MANILA,
    collections: &[COLLECTIONS],
    serve,
    versions: |base, path| {
        let row = json!({
            "id": "v2.0", "status": "CURRENT", "version": "2.82", "min_version": "2.0", "updated": "2015-08-27T11:33:21Z",
            "links": [{ "rel": "self", "href": format!("{base}/v2/") }],
        });
        match path {
            [] => Some((300, json!({ "versions": [row] }))),
            ["v2"] => Some((200, json!({ "versions": [row] }))),
            _ => None,
        }
    },
    sow,
};

fn sow(world: &mut World) {
    let id = world.uuid();
    world.add(TYPES, super::ask::object(json!({
        "id": id, "name": "default", "share_type_access:is_public": true, "os-share-type-access:is_public": true,
        "is_default": true, "description": null, "extra_specs": { "driver_handles_share_servers": "False" },
        "required_extra_specs": { "driver_handles_share_servers": "False" },
    })));
}

static SHARE: Collection = Collection {
    name: SHARES,
    path: "shares",
    one: "share",
    many: "shares",
    title: "Share",
    verbs: "CSUD",
    statuses: (200, 200, 202),
    lingers: true,
    quota: Some(("shares", 50)),
    is_shared: |_, row| flag(row, "is_public"),
    fields: "name              text cu null
             description       text cu null
             display_name      text cu -
             display_description text cu -
             size              any  c  !
             share_proto       text c  !
             snapshot_id       ref:share/snapshots c null
             share_network_id  ref:share/share_networks c null
             share_type        text c  null
             volume_type       text c  -
             is_public         bool cu false
             metadata          map  c  {}
             availability_zone text c  null
             scheduler_hints   any  c  -
             consistency_group_id text c -
             share_group_id    text c  null
             status            text r  \"creating\"
             host              text r  \"\"
             export_location   text r  null
             export_locations  list r  []
             project_id        text r  @project
             user_id           text r  @user",
    make: |turn, row| {
        let protocols = ["NFS", "CIFS", "GLUSTERFS", "HDFS", "CEPHFS", "MAPRFS"];
        let protocol = text(row, "share_proto").to_uppercase();
        if !protocols.contains(&protocol.as_str()) {
            let message = format!(
                "Invalid input received: Invalid share protocol provided: {protocol}. It is either disabled or unsupported. Available protocols: ['NFS', 'CIFS', 'GLUSTERFS', 'HDFS', 'CEPHFS', 'MAPRFS']"
            );
            return Err(refuse(400, message));
        }
        set(row, "share_proto", protocol);
        let size =
            row["size"].as_i64().or_else(|| row["size"].as_str()?.parse().ok()).unwrap_or_default();
        if size < 1 {
            let message = format!(
                "Invalid input received: Share size '{size}' must be an integer and greater than 0"
            );
            return Err(refuse(400, message));
        }
        set(row, "size", size);
        let wanted = match text(row, "share_type") {
            "" => "default".to_owned(),
            wanted => wanted.to_owned(),
        };
        let kind = turn.find(&SHARE_TYPE, &wanted)?;
        set(row, "share_type", kind["id"].clone());
        set(row, "share_type_name", kind["name"].clone());
        set(row, "volume_type", kind["name"].clone());
        if row["availability_zone"].is_null() {
            set(row, "availability_zone", "nova");
        }
        row.remove("scheduler_hints");
        set(row, "created_at", turn.world.stamp_micros());
        let id = text(row, "id").to_owned();
        let path = format!("10.0.0.250:/shares/{id}");
        let status = if turn.world.fails_to_build { "error" } else { "available" };
        turn.world.when_built(SHARES, &id, json!({
            "status": status, "host": "controller@generic#pool", "export_location": path, "export_locations": [path],
        }));
        Ok(())
    },
    remove: |turn, row| {
        let states = ["available", "error", "inactive"];
        if !states.contains(&text(row, "status")) {
            let message =
                "Invalid share: Share status must be one of ('available', 'error', 'inactive')";
            return Err(refuse(403, message));
        }
        let id = text(row, "id").to_owned();
        if turn.world.table(SNAPSHOTS).count("share_id", &id) > 0 {
            return Err(refuse(409, "Invalid share: Share still has 1 dependent snapshots."));
        }
        for rule in turn.world.with(RULES, "share_id", &id) {
            turn.world.remove(RULES, text(&rule, "id"));
        }
        turn.world.set(SHARES, &id, json!({ "status": "deleting" }));
        turn.world.remove_when_built(SHARES, &id);
        Ok(())
    },
    ..plain(&MANILA)
};

static SNAPSHOT: Collection = Collection {
    name: SNAPSHOTS,
    path: "snapshots",
    one: "snapshot",
    many: "snapshots",
    title: "Snapshot",
    statuses: (202, 200, 202),
    lingers: true,
    fields: "name        text cu null
             description text cu null
             share_id    ref:share/shares c !
             force       any  c  false
             status      text r  \"creating\"
             size        int  r  0
             project_id  text r  @project",
    make: |turn, row| {
        let share = turn.world.copy(SHARES, text(row, "share_id"));
        set(row, "size", int(&share, "size"));
        set(row, "share_proto", share["share_proto"].clone());
        turn.world.when_built(SNAPSHOTS, text(row, "id"), json!({ "status": "available" }));
        Ok(())
    },
    remove: |turn, row| {
        let id = text(row, "id");
        turn.world.set(SNAPSHOTS, id, json!({ "status": "deleting" }));
        turn.world.remove_when_built(SNAPSHOTS, id);
        Ok(())
    },
    ..plain(&MANILA)
};

static SHARE_NETWORK: Collection = Collection {
    name: NETS,
    path: "share-networks",
    one: "share_network",
    many: "share_networks",
    title: "Share network",
    statuses: (200, 200, 202),
    quota: Some(("share_networks", 10)),
    fields: "name              text cu null
             description       text cu null
             neutron_net_id    text cu null
             neutron_subnet_id text cu null
             nova_net_id       text c  -
             availability_zone text c  -
             network_type      text r  null
             segmentation_id   int  r  null
             cidr              text r  null
             ip_version        int  r  null
             project_id        text r  @project
             _services         list r  []",
    make: |turn, row| {
        if row["neutron_net_id"].is_null() != row["neutron_subnet_id"].is_null() {
            let message = "Both 'neutron_net_id' and 'neutron_subnet_id' should be specified. Alternatively, neither of them should be specified.";
            return Err(refuse(400, message));
        }
        for (field, table) in [("neutron_net_id", NETWORKS), ("neutron_subnet_id", SUBNETS)] {
            if let Some(id) = row[field].as_str()
                && turn.world.get(table, id).is_none()
            {
                return Err(refuse(
                    400,
                    format!("Invalid input received: {field} {id} could not be found."),
                ));
            }
        }
        set(row, "created_at", turn.world.stamp_micros());
        Ok(())
    },
    remove: |turn, row| {
        if turn.world.table(SHARES).count("share_network_id", text(row, "id")) > 0 {
            let message =
                format!("Can not delete share network {}, it has 1 share(s).", text(row, "id"));
            return Err(refuse(409, message));
        }
        Ok(())
    },
    ..plain(&MANILA)
};

static SECURITY_SERVICE: Collection = Collection {
    name: SECURITY,
    path: "security-services",
    one: "security_service",
    many: "security_services",
    title: "Security service",
    statuses: (200, 200, 202),
    fields: "name        text cu null
             description text cu null
             type        enum:ldap|kerberos|active_directory c !
             dns_ip      text cu null
             server      text cu null
             domain      text cu null
             user        text cu null
             password    text cu null
             ou          text cu null
             default_ad_site text cu null
             status      text r  \"new\"
             project_id  text r  @project",
    remove: |turn, row| {
        let used = turn
            .world
            .table(NETS)
            .iter()
            .any(|net| words(net, "_services").iter().any(|id| id == text(row, "id")));
        if used {
            return Err(refuse(
                403,
                format!(
                    "Cannot delete security service. It is assigned to share network(s): {}",
                    text(row, "id")
                ),
            ));
        }
        Ok(())
    },
    ..plain(&MANILA)
};

static SHARE_TYPE: Collection = Collection {
    name: TYPES,
    path: "types",
    one: "share_type",
    many: "share_types",
    title: "Share type",
    admin_only: true,
    by_name: true,
    statuses: (200, 200, 202),
    fields: "name         text cu !
             description  text cu null
             extra_specs  map  c  {}
             is_default   bool r  false
             share_type_access:is_public bool cu true
             os-share-type-access:is_public bool c true",
    make: |turn, row| {
        if turn.world.table(TYPES).count("name", text(row, "name")) > 0 {
            return Err(refuse(409, format!("Share Type {} already exists.", text(row, "name"))));
        }
        if row["extra_specs"]["driver_handles_share_servers"].is_null() {
            return Err(refuse(
                400,
                "Requested share type has no required extra-spec: driver_handles_share_servers",
            ));
        }
        Ok(())
    },
    remove: |turn, row| {
        if turn.world.table(SHARES).iter().any(|share| share["share_type"] == row["id"]) {
            return Err(refuse(
                400,
                "Target share type is still in use by shares or share groups.",
            ));
        }
        Ok(())
    },
    show: |_, row| {
        let handles = row["extra_specs"]["driver_handles_share_servers"].clone();
        set(row, "required_extra_specs", json!({ "driver_handles_share_servers": handles }));
    },
    ..plain(&MANILA)
};

static ACCESS: Collection = Collection {
    name: RULES,
    verbs: "",
    fields: "share_id ref:share/shares r \"\"\n project_id text r @project",
    ..plain(&MANILA)
};

fn serve(turn: &mut Turn<'_>) -> Answer {
    let parts = turn.ask.parts();
    let nothing = || refuse(404, "The resource could not be found.");
    let ["v2", rest @ ..] = parts.as_slice() else { return Err(nothing()) };
    let path = match rest {
        [project, path @ ..] if super::check::is_uuid(project) => path,
        path => path,
    };
    let method = turn.ask.method.clone();
    let special = match (method.as_str(), path) {
        (
            "GET",
            [
                kind @ ("shares" | "snapshots" | "share-networks" | "security-services" | "types"),
                rest @ ..,
            ],
        ) if rest.is_empty() || rest == ["detail"] => Some(listed(turn, kind, !rest.is_empty())),
        ("POST", ["shares", id, "action"]) => Some(act(turn, id)),
        ("GET", ["shares", id, "export_locations"]) => Some(turn.find(&SHARE, id).map(|row| {
            let rows: Vec<Value> = list(&row, "export_locations")
                .iter()
                .map(|path| json!({ "path": path, "preferred": true }))
                .collect();
            Reply::ok(json!({ "export_locations": rows }))
        })),
        (_, ["shares", id, "metadata", key @ ..]) => {
            Some(metadata(turn, &method, id, key.first().copied()))
        }
        ("GET", ["share-access-rules"]) => {
            let share = turn.ask.query("share_id").unwrap_or_default().to_owned();
            Some(Ok(access_list(turn, &share)))
        }
        ("POST", ["share-networks", id, "action"]) => Some(assign(turn, id)),
        (_, ["types", id, "extra_specs", key @ ..]) => {
            Some(specs(turn, &method, id, key.first().copied()))
        }
        ("POST", ["types", _, "action"]) => Some(Ok(Reply::empty(202))),
        ("GET", ["availability-zones"]) => {
            Some(Ok(Reply::ok(json!({ "availability_zones": [{ "id": "1", "name": "nova" }] }))))
        }
        ("GET", ["limits"]) => {
            Some(Ok(Reply::ok(json!({ "limits": { "rate": [], "absolute": {} } }))))
        }
        _ => None,
    };
    special.or_else(|| rest::serve(turn, COLLECTIONS, path)).unwrap_or_else(|| Err(nothing()))
}

fn listed(turn: &mut Turn<'_>, kind: &str, detailed: bool) -> Answer {
    let of = COLLECTIONS.iter().find(|of| of.path == kind).copied().unwrap_or(&SHARE);
    let rows = query::rows(turn, of, &[])?;
    let (rows, _) = query::page(turn, of, rows)?;
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|row| match detailed || kind == "types" {
            true => Value::from(row),
            false => json!({ "id": row["id"], "name": row["name"] }),
        })
        .collect();
    Ok(Reply::ok(json!({ of.many: rows })))
}

fn access_list(turn: &Turn<'_>, share: &str) -> Reply {
    let rows: Vec<Value> = turn
        .world
        .table(RULES)
        .with("share_id", share)
        .iter()
        .map(|rule| shown_rule(rule))
        .collect();
    Reply::ok(json!({ "access_list": rows }))
}

fn shown_rule(rule: &Obj) -> Value {
    let mut rule = rule.clone();
    rule.remove("project_id");
    Value::from(rule)
}

fn act(turn: &mut Turn<'_>, id: &str) -> Answer {
    let share = turn.find(&SHARE, id)?;
    let Some((name, what)) = turn.body.as_object().and_then(|body| body.iter().next()) else {
        return Err(refuse(400, "There is no such action."));
    };
    let (name, what) = (name.trim_start_matches("os-").to_owned(), what.clone());
    let ready = text(&share, "status") == "available";
    match name.as_str() {
        "allow_access" if !ready => Err(refuse(
            400,
            format!(
                "Invalid share: New access rules cannot be applied while the share is in status {}",
                text(&share, "status")
            ),
        )),
        "allow_access" => {
            let twin = turn.world.table(RULES).with("share_id", id).iter().any(|rule| {
                rule["access_to"] == what["access_to"] && rule["access_type"] == what["access_type"]
            });
            if twin {
                return Err(refuse(
                    400,
                    format!(
                        "Share access {} already exists.",
                        what["access_to"].as_str().unwrap_or_default()
                    ),
                ));
            }
            let rule = json!({
                "id": turn.world.uuid(), "share_id": id, "access_type": what["access_type"],
                "access_to": what["access_to"], "access_level": what["access_level"].as_str().unwrap_or("rw"),
                "state": "new", "access_key": null, "project_id": share["project_id"],
            });
            let rule = super::ask::object(rule);
            turn.world.add(RULES, rule.clone());
            turn.world.when_built(RULES, text(&rule, "id"), json!({ "state": "active" }));
            Ok(Reply::ok(json!({ "access": shown_rule(&rule) })))
        }
        "deny_access" => {
            let rule = what["access_id"].as_str().unwrap_or_default().to_owned();
            match turn.world.get(RULES, &rule) {
                Some(_) => {
                    turn.world.set(RULES, &rule, json!({ "state": "deleting" }));
                    turn.world.remove_when_built(RULES, &rule);
                    Ok(Reply::empty(202))
                }
                None => Err(refuse(404, format!("Share access {rule} could not be found."))),
            }
        }
        "access_list" => Ok(access_list(turn, id)),
        "extend" | "shrink" if ready => {
            let size = what["new_size"].clone();
            turn.world.set(SHARES, id, json!({ "status": format!("{name}ing") }));
            turn.world.when_built(SHARES, id, json!({ "status": "available", "size": size }));
            Ok(Reply::empty(202))
        }
        "reset_status" if turn.who.is_admin => {
            turn.world.set(SHARES, id, json!({ "status": what["status"] }));
            Ok(Reply::empty(202))
        }
        "force_delete" if turn.who.is_admin => {
            turn.world.remove(SHARES, id);
            Ok(Reply::empty(202))
        }
        other => Err(refuse(400, format!("There is no such action: {other}"))),
    }
}

fn metadata(turn: &mut Turn<'_>, method: &str, id: &str, key: Option<&str>) -> Answer {
    let row = turn.find(&SHARE, id)?;
    let mut own = row["metadata"].as_object().cloned().unwrap_or_default();
    let sent = turn.body["metadata"].as_object().cloned().unwrap_or_default();
    match (method, key) {
        ("GET", _) => {}
        ("POST", None) => own.extend(sent),
        ("PUT", None) => own = sent,
        ("DELETE", Some(key)) => {
            own.remove(key).ok_or_else(|| refuse(404, "Metadata item was not found"))?;
        }
        _ => return Err(refuse(405, "Method not allowed")),
    }
    turn.world.set(SHARES, id, json!({ "metadata": own }));
    Ok(if method == "DELETE" { Reply::empty(200) } else { Reply::ok(json!({ "metadata": own })) })
}

fn assign(turn: &mut Turn<'_>, id: &str) -> Answer {
    let row = turn.find(&SHARE_NETWORK, id)?;
    let mut services = words(&row, "_services");
    let body = turn.body.clone();
    if let Some(service) = body["add_security_service"]["security_service_id"].as_str() {
        turn.find(&SECURITY_SERVICE, service)?;
        services.push(service.to_owned());
    } else if let Some(service) = body["remove_security_service"]["security_service_id"].as_str() {
        services.retain(|own| own != service);
    } else {
        return Err(refuse(400, "There is no such action."));
    }
    turn.world.set(NETS, id, json!({ "_services": services }));
    let row = turn.world.copy(NETS, id);
    Ok(Reply::ok(rest::envelope(&SHARE_NETWORK, rest::shown(turn, &SHARE_NETWORK, row))))
}

fn specs(turn: &mut Turn<'_>, method: &str, id: &str, key: Option<&str>) -> Answer {
    let row: Result<Obj, Refusal> = turn.find(&SHARE_TYPE, id);
    let row = row?;
    let mut own = row["extra_specs"].as_object().cloned().unwrap_or_default();
    match (method, key) {
        ("GET", _) => return Ok(Reply::ok(json!({ "extra_specs": own }))),
        _ if !turn.who.is_admin => {
            return Err(refuse(
                403,
                "Policy doesn't allow share_types_extra_spec to be performed.",
            ));
        }
        ("POST", None) => {
            own.extend(turn.body["extra_specs"].as_object().cloned().unwrap_or_default())
        }
        ("DELETE", Some(key)) => drop(own.remove(key)),
        _ => return Err(refuse(405, "Method not allowed")),
    }
    let key = text(&row, "id").to_owned();
    turn.world.set(TYPES, &key, json!({ "extra_specs": own }));
    Ok(if method == "DELETE" {
        Reply::empty(202)
    } else {
        Reply::ok(json!({ "extra_specs": own }))
    })
}
