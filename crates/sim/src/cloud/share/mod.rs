//! The shared file systems service: Manila, version 2 with its microversions.

use serde_json::{Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::network::{NETWORKS, SUBNETS};
use super::query;
use super::request::{Answer, Refusal, Reply, RequestContext, flag, int, list, set, strings, text};
use super::rest;
use super::schema::Collection;
use super::services::{Microversions, Service};
use super::state::CloudState;
use super::table::Obj;

static MANILA: ErrorStyle =
    ErrorStyle { form: ErrorForm::Named, missing: "could not be found.", bad: 400 };

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
    microversions: Some(
        Microversions::new("shared-file-system", 2, 0, 82)
            .or_header("x-openstack-manila-api-version"),
    ),
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
    seed,
};

fn seed(state: &mut CloudState) {
    let id = state.uuid();
    state.add(TYPES, super::request::object(json!({
        "id": id, "name": "default", "share_type_access:is_public": true, "os-share-type-access:is_public": true,
        "is_default": true, "description": null, "extra_specs": { "driver_handles_share_servers": "False" },
        "required_extra_specs": { "driver_handles_share_servers": "False" },
    })));
}

static SHARE: Collection = Collection {
    name: SHARES,
    path: "shares",
    singular: "share",
    plural: "shares",
    title: "Share",
    operations: "CSUD",
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
    make: |ctx, row| {
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
        let kind = ctx.find(&SHARE_TYPE, &wanted)?;
        set(row, "share_type", kind["id"].clone());
        set(row, "share_type_name", kind["name"].clone());
        set(row, "volume_type", kind["name"].clone());
        if row["availability_zone"].is_null() {
            set(row, "availability_zone", "nova");
        }
        row.remove("scheduler_hints");
        set(row, "created_at", ctx.state.timestamp_micros());
        let id = text(row, "id").to_owned();
        let path = format!("10.0.0.250:/shares/{id}");
        let status = if ctx.state.fail_builds { "error" } else { "available" };
        ctx.state.when_built(SHARES, &id, json!({
            "status": status, "host": "controller@generic#pool", "export_location": path, "export_locations": [path],
        }));
        Ok(())
    },
    remove: |ctx, row| {
        let states = ["available", "error", "inactive"];
        if !states.contains(&text(row, "status")) {
            let message =
                "Invalid share: Share status must be one of ('available', 'error', 'inactive')";
            return Err(refuse(403, message));
        }
        let id = text(row, "id").to_owned();
        if ctx.state.table(SNAPSHOTS).count("share_id", &id) > 0 {
            return Err(refuse(409, "Invalid share: Share still has 1 dependent snapshots."));
        }
        for rule in ctx.state.with(RULES, "share_id", &id) {
            ctx.state.remove(RULES, text(&rule, "id"));
        }
        ctx.state.set(SHARES, &id, json!({ "status": "deleting" }));
        ctx.state.remove_when_built(SHARES, &id);
        Ok(())
    },
    ..Collection::new(&MANILA)
};

static SNAPSHOT: Collection = Collection {
    name: SNAPSHOTS,
    path: "snapshots",
    singular: "snapshot",
    plural: "snapshots",
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
    make: |ctx, row| {
        let share = ctx.state.copy(SHARES, text(row, "share_id"));
        set(row, "size", int(&share, "size"));
        set(row, "share_proto", share["share_proto"].clone());
        ctx.state.when_built(SNAPSHOTS, text(row, "id"), json!({ "status": "available" }));
        Ok(())
    },
    remove: |ctx, row| {
        let id = text(row, "id");
        ctx.state.set(SNAPSHOTS, id, json!({ "status": "deleting" }));
        ctx.state.remove_when_built(SNAPSHOTS, id);
        Ok(())
    },
    ..Collection::new(&MANILA)
};

static SHARE_NETWORK: Collection = Collection {
    name: NETS,
    path: "share-networks",
    singular: "share_network",
    plural: "share_networks",
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
    make: |ctx, row| {
        if row["neutron_net_id"].is_null() != row["neutron_subnet_id"].is_null() {
            let message = "Both 'neutron_net_id' and 'neutron_subnet_id' should be specified. Alternatively, neither of them should be specified.";
            return Err(refuse(400, message));
        }
        for (field, table) in [("neutron_net_id", NETWORKS), ("neutron_subnet_id", SUBNETS)] {
            if let Some(id) = row[field].as_str()
                && ctx.state.get(table, id).is_none()
            {
                return Err(refuse(
                    400,
                    format!("Invalid input received: {field} {id} could not be found."),
                ));
            }
        }
        set(row, "created_at", ctx.state.timestamp_micros());
        Ok(())
    },
    remove: |ctx, row| {
        if ctx.state.table(SHARES).count("share_network_id", text(row, "id")) > 0 {
            let message =
                format!("Can not delete share network {}, it has 1 share(s).", text(row, "id"));
            return Err(refuse(409, message));
        }
        Ok(())
    },
    ..Collection::new(&MANILA)
};

static SECURITY_SERVICE: Collection = Collection {
    name: SECURITY,
    path: "security-services",
    singular: "security_service",
    plural: "security_services",
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
    remove: |ctx, row| {
        let used = ctx
            .state
            .table(NETS)
            .iter()
            .any(|net| strings(net, "_services").iter().any(|id| id == text(row, "id")));
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
    ..Collection::new(&MANILA)
};

static SHARE_TYPE: Collection = Collection {
    name: TYPES,
    path: "types",
    singular: "share_type",
    plural: "share_types",
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
    make: |ctx, row| {
        if ctx.state.table(TYPES).count("name", text(row, "name")) > 0 {
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
    remove: |ctx, row| {
        if ctx.state.table(SHARES).iter().any(|share| share["share_type"] == row["id"]) {
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
    ..Collection::new(&MANILA)
};

static ACCESS: Collection = Collection {
    name: RULES,
    operations: "",
    fields: "share_id ref:share/shares r \"\"\n project_id text r @project",
    ..Collection::new(&MANILA)
};

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let nothing = || refuse(404, "The resource could not be found.");
    let ["v2", rest @ ..] = parts.as_slice() else { return Err(nothing()) };
    let path = match rest {
        [project, path @ ..] if super::check::is_uuid(project) => path,
        path => path,
    };
    let method = ctx.request.method.clone();
    let special = match (method.as_str(), path) {
        (
            "GET",
            [
                kind @ ("shares" | "snapshots" | "share-networks" | "security-services" | "types"),
                rest @ ..,
            ],
        ) if rest.is_empty() || rest == ["detail"] => {
            Some(list_collection(ctx, kind, !rest.is_empty()))
        }
        ("POST", ["shares", id, "action"]) => Some(act(ctx, id)),
        ("GET", ["shares", id, "export_locations"]) => Some(ctx.find(&SHARE, id).map(|row| {
            let rows: Vec<Value> = list(&row, "export_locations")
                .iter()
                .map(|path| json!({ "path": path, "preferred": true }))
                .collect();
            Reply::ok(json!({ "export_locations": rows }))
        })),
        (_, ["shares", id, "metadata", key @ ..]) => {
            Some(metadata(ctx, &method, id, key.first().copied()))
        }
        ("GET", ["share-access-rules"]) => {
            let share = ctx.request.query("share_id").unwrap_or_default().to_owned();
            Some(Ok(access_list(ctx, &share)))
        }
        ("POST", ["share-networks", id, "action"]) => Some(assign(ctx, id)),
        (_, ["types", id, "extra_specs", key @ ..]) => {
            Some(specs(ctx, &method, id, key.first().copied()))
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
    special.or_else(|| rest::serve(ctx, COLLECTIONS, path)).unwrap_or_else(|| Err(nothing()))
}

fn list_collection(ctx: &mut RequestContext<'_>, kind: &str, detailed: bool) -> Answer {
    let collection =
        COLLECTIONS.iter().find(|collection| collection.path == kind).copied().unwrap_or(&SHARE);
    let rows = query::rows(ctx, collection, &[])?;
    let (rows, _) = query::page(ctx, collection, rows)?;
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|row| {
            if detailed || kind == "types" {
                Value::from(row)
            } else {
                json!({ "id": row["id"], "name": row["name"] })
            }
        })
        .collect();
    Ok(Reply::ok(json!({ collection.plural: rows })))
}

fn access_list(ctx: &RequestContext<'_>, share: &str) -> Reply {
    let rows: Vec<Value> = ctx
        .state
        .table(RULES)
        .with("share_id", share)
        .iter()
        .map(|rule| render_rule(rule))
        .collect();
    Reply::ok(json!({ "access_list": rows }))
}

fn render_rule(rule: &Obj) -> Value {
    let mut rule = rule.clone();
    rule.remove("project_id");
    Value::from(rule)
}

fn act(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let share = ctx.find(&SHARE, id)?;
    let Some((name, what)) = ctx.body.as_object().and_then(|body| body.iter().next()) else {
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
            let twin = ctx.state.table(RULES).with("share_id", id).iter().any(|rule| {
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
                "id": ctx.state.uuid(), "share_id": id, "access_type": what["access_type"],
                "access_to": what["access_to"], "access_level": what["access_level"].as_str().unwrap_or("rw"),
                "state": "new", "access_key": null, "project_id": share["project_id"],
            });
            let rule = super::request::object(rule);
            ctx.state.add(RULES, rule.clone());
            ctx.state.when_built(RULES, text(&rule, "id"), json!({ "state": "active" }));
            Ok(Reply::ok(json!({ "access": render_rule(&rule) })))
        }
        "deny_access" => {
            let rule = what["access_id"].as_str().unwrap_or_default().to_owned();
            match ctx.state.get(RULES, &rule) {
                Some(_) => {
                    ctx.state.set(RULES, &rule, json!({ "state": "deleting" }));
                    ctx.state.remove_when_built(RULES, &rule);
                    Ok(Reply::empty(202))
                }
                None => Err(refuse(404, format!("Share access {rule} could not be found."))),
            }
        }
        "access_list" => Ok(access_list(ctx, id)),
        "extend" | "shrink" if ready => {
            let size = what["new_size"].clone();
            ctx.state.set(SHARES, id, json!({ "status": format!("{name}ing") }));
            ctx.state.when_built(SHARES, id, json!({ "status": "available", "size": size }));
            Ok(Reply::empty(202))
        }
        "reset_status" if ctx.caller.is_admin => {
            ctx.state.set(SHARES, id, json!({ "status": what["status"] }));
            Ok(Reply::empty(202))
        }
        "force_delete" if ctx.caller.is_admin => {
            ctx.state.remove(SHARES, id);
            Ok(Reply::empty(202))
        }
        other => Err(refuse(400, format!("There is no such action: {other}"))),
    }
}

fn metadata(ctx: &mut RequestContext<'_>, method: &str, id: &str, key: Option<&str>) -> Answer {
    let row = ctx.find(&SHARE, id)?;
    let mut own = row["metadata"].as_object().cloned().unwrap_or_default();
    let sent = ctx.body["metadata"].as_object().cloned().unwrap_or_default();
    match (method, key) {
        ("GET", _) => {}
        ("POST", None) => own.extend(sent),
        ("PUT", None) => own = sent,
        ("DELETE", Some(key)) => {
            own.remove(key).ok_or_else(|| refuse(404, "Metadata item was not found"))?;
        }
        _ => return Err(refuse(405, "Method not allowed")),
    }
    ctx.state.set(SHARES, id, json!({ "metadata": own }));
    Ok(if method == "DELETE" { Reply::empty(200) } else { Reply::ok(json!({ "metadata": own })) })
}

fn assign(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = ctx.find(&SHARE_NETWORK, id)?;
    let mut services = strings(&row, "_services");
    let body = ctx.body.clone();
    if let Some(service) = body["add_security_service"]["security_service_id"].as_str() {
        ctx.find(&SECURITY_SERVICE, service)?;
        services.push(service.to_owned());
    } else if let Some(service) = body["remove_security_service"]["security_service_id"].as_str() {
        services.retain(|own| own != service);
    } else {
        return Err(refuse(400, "There is no such action."));
    }
    ctx.state.set(NETS, id, json!({ "_services": services }));
    let row = ctx.state.copy(NETS, id);
    Ok(Reply::ok(rest::envelope(&SHARE_NETWORK, rest::render(ctx, &SHARE_NETWORK, row))))
}

fn specs(ctx: &mut RequestContext<'_>, method: &str, id: &str, key: Option<&str>) -> Answer {
    let row: Result<Obj, Refusal> = ctx.find(&SHARE_TYPE, id);
    let row = row?;
    let mut own = row["extra_specs"].as_object().cloned().unwrap_or_default();
    match (method, key) {
        ("GET", _) => return Ok(Reply::ok(json!({ "extra_specs": own }))),
        _ if !ctx.caller.is_admin => {
            return Err(refuse(
                403,
                "Policy doesn't allow share_types_extra_spec to be performed.",
            ));
        }
        ("POST", None) => {
            own.extend(ctx.body["extra_specs"].as_object().cloned().unwrap_or_default())
        }
        ("DELETE", Some(key)) => drop(own.remove(key)),
        _ => return Err(refuse(405, "Method not allowed")),
    }
    let key = text(&row, "id").to_owned();
    ctx.state.set(TYPES, &key, json!({ "extra_specs": own }));
    Ok(if method == "DELETE" {
        Reply::empty(202)
    } else {
        Reply::ok(json!({ "extra_specs": own }))
    })
}
