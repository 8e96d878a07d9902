//! Volume types, their extra specs, encryption and access, and QoS specs.

use serde_json::{Value, json};

use super::super::microversioned::fault;
use super::super::request::{
    Answer, Refusal, Reply, RequestContext, flag, object, set, strings, text,
};
use super::super::schema::Collection;
use super::super::state::CloudState;
use super::super::table::Obj;
use super::dialect::CINDER;
use super::{QOS, TYPES, VOLUMES, may_use};

pub(super) static TYPE: Collection = Collection {
    name: TYPES,
    path: "types",
    singular: "volume_type",
    plural: "volume_types",
    title: "Volume type",
    admin_only: true,
    statuses: (200, 200, 202),
    fields: "name         text cu !
             description  text cu null
             os-volume-type-access:is_public bool c true
             is_public    bool u true
             extra_specs  map  c  {}
             qos_specs_id text r  null
             _access      list r  []
             _encryption  any  r  null",
    make: |ctx, row| {
        let public = flag(row, "os-volume-type-access:is_public");
        set(row, "is_public", public);
        name_is_free(ctx, text(row, "name"), "")
    },
    change: |ctx, old, new, _| {
        let public = flag(new, "is_public");
        set(new, "os-volume-type-access:is_public", public);
        name_is_free(ctx, text(new, "name"), text(old, "id"))
    },
    remove: |ctx, row| {
        if ctx.state.table(VOLUMES).iter().any(|volume| volume["volume_type"] == row["id"]) {
            return Err(fault(400, "Target volume type is still in use."));
        }
        Ok(())
    },
    show: |ctx, row| {
        if !ctx.caller.is_admin {
            row.remove("qos_specs_id");
        }
    },
    ..Collection::new(&CINDER)
};

fn name_is_free(ctx: &RequestContext<'_>, name: &str, own: &str) -> Result<(), Refusal> {
    let twins = ctx.state.table(TYPES).with("name", name);
    if twins.iter().any(|twin| text(twin, "id") != own) {
        return Err(fault(409, format!("Volume Type {name} already exists.")));
    }
    Ok(())
}

pub(super) static QOS_SPECS: Collection = Collection {
    name: QOS,
    path: "qos-specs",
    singular: "qos_specs",
    plural: "qos_specs",
    title: "QoS specs",
    operations: "LS",
    fields: "name     text r \"\"
             consumer text r \"\"
             specs    map  r {}",
    ..Collection::new(&CINDER)
};

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("GET", ["types"]) => Ok(list_types(ctx)),
        ("GET", ["types", "default"]) => find(ctx, "lvmdriver-1").map(|row| render(ctx, row)),
        ("GET", ["types", id]) => find(ctx, id).map(|row| render(ctx, row)),
        (_, ["types", id, "extra_specs", key @ ..]) => specs(ctx, method, id, key.first().copied()),
        (_, ["types", id, "encryption", rest @ ..]) => encryption(ctx, method, id, rest),
        ("GET", ["types", id, "os-volume-type-access"]) => find(ctx, id).map(|row| {
            let rows: Vec<Value> = strings(&row, "_access")
                .iter()
                .map(|project| json!({ "volume_type_id": row["id"], "project_id": project }))
                .collect();
            Reply::ok(json!({ "volume_type_access": rows }))
        }),
        ("POST", ["types", id, "action"]) => access(ctx, id),
        (_, ["qos-specs", rest @ ..]) => return quality(ctx, method, rest),
        _ => return None,
    })
}

fn find(ctx: &RequestContext<'_>, id: &str) -> Result<Obj, Refusal> {
    let by_name = ctx.state.table(TYPES).with("name", id);
    let row = ctx.state.get(TYPES, id).or_else(|| by_name.first().copied());
    let row = row.filter(|row| may_use(ctx, row)).cloned();
    row.ok_or_else(|| fault(404, format!("Volume type {id} could not be found.")))
}

fn render(ctx: &RequestContext<'_>, row: Obj) -> Reply {
    Reply::ok(json!({ "volume_type": super::rest::render(ctx, &TYPE, row) }))
}

fn list_types(ctx: &RequestContext<'_>) -> Reply {
    let wanted = ctx.request.query("is_public").map(str::to_lowercase);
    let keeps = |row: &&Obj| {
        let public = flag(row, "is_public");
        let asked = match wanted.as_deref() {
            Some("none") if ctx.caller.is_admin => true,
            Some("false") if ctx.caller.is_admin => !public,
            _ => public || !ctx.caller.is_admin,
        };
        asked && may_use(ctx, row)
    };
    let rows: Vec<Obj> = ctx
        .state
        .table(TYPES)
        .iter()
        .filter(keeps)
        .map(|row| super::rest::render(ctx, &TYPE, row.clone()))
        .collect();
    Reply::ok(json!({ "volume_types": rows }))
}

fn admin(ctx: &RequestContext<'_>) -> Result<(), Refusal> {
    if ctx.caller.is_admin {
        return Ok(());
    }
    Err(fault(403, "Policy doesn't allow volume_extension:types_manage to be performed."))
}

fn specs(ctx: &mut RequestContext<'_>, method: &str, id: &str, key: Option<&str>) -> Answer {
    let row = find(ctx, id)?;
    let mut own = row["extra_specs"].as_object().cloned().unwrap_or_default();
    if method != "GET" {
        admin(ctx)?;
    }
    let absent =
        |key: &str| fault(404, format!("Volume Type {id} has no extra specs with key {key}."));
    let reply = match (method, key) {
        ("GET", None) => return Ok(Reply::ok(json!({ "extra_specs": own }))),
        ("GET", Some(key)) => {
            let value = own.get(key).ok_or_else(|| absent(key))?;
            return Ok(Reply::ok(json!({ key: value })));
        }
        ("POST", None) => {
            own.extend(ctx.body["extra_specs"].as_object().cloned().unwrap_or_default());
            Reply::ok(json!({ "extra_specs": ctx.body["extra_specs"] }))
        }
        ("PUT", Some(key)) => {
            own.insert(key.to_owned(), ctx.body[key].clone());
            Reply::ok(json!({ key: ctx.body[key] }))
        }
        ("DELETE", Some(key)) => {
            own.remove(key).ok_or_else(|| absent(key))?;
            Reply::empty(202)
        }
        _ => return Err(fault(405, "The method is not allowed.")),
    };
    let key = text(&row, "id").to_owned();
    ctx.state.set(TYPES, &key, json!({ "extra_specs": own }));
    Ok(reply)
}

fn encryption(ctx: &mut RequestContext<'_>, method: &str, id: &str, rest: &[&str]) -> Answer {
    admin(ctx)?;
    let row = find(ctx, id)?;
    let id = text(&row, "id").to_owned();
    let own = row["_encryption"].clone();
    match method {
        "GET" if rest.is_empty() => {
            let rendered = if own.is_null() { json!({}) } else { own };
            Ok(Reply::ok(rendered))
        }
        "GET" => {
            let name = rest.first().copied().unwrap_or_default();
            Ok(Reply::ok(json!({ name: own[name] })))
        }
        "POST" => {
            if !own.is_null() {
                let message = format!("Volume type encryption for type {id} already exists.");
                return Err(fault(400, message));
            }
            let sent = object(ctx.body["encryption"].clone());
            if !sent.contains_key("provider") {
                return Err(super::super::microversioned::missing("encryption", "provider", &sent));
            }
            let mut kept = object(json!({
                "volume_type_id": id, "control_location": "front-end", "cipher": null, "key_size": null,
                "encryption_id": ctx.state.uuid(),
            }));
            kept.extend(sent);
            ctx.state.set(TYPES, &id, json!({ "_encryption": kept }));
            Ok(Reply::ok(json!({ "encryption": kept })))
        }
        "PUT" => {
            let sent = object(ctx.body["encryption"].clone());
            let mut kept = own.as_object().cloned().unwrap_or_default();
            kept.extend(sent.clone());
            ctx.state.set(TYPES, &id, json!({ "_encryption": kept }));
            Ok(Reply::ok(json!({ "encryption": sent })))
        }
        "DELETE" => {
            if own.is_null() {
                let message = format!("Volume type encryption for type {id} does not exist.");
                return Err(fault(404, message));
            }
            ctx.state.set(TYPES, &id, json!({ "_encryption": null }));
            Ok(Reply::empty(202))
        }
        _ => Err(fault(405, "The method is not allowed.")),
    }
}

fn access(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    admin(ctx)?;
    let row = find(ctx, id)?;
    let mut projects = strings(&row, "_access");
    let body = ctx.body.clone();
    if flag(&row, "is_public") {
        let message = "Type access modification is not applicable to public volume type.";
        return Err(fault(409, message));
    }
    if let Some(project) = body["addProjectAccess"]["project"].as_str() {
        if projects.iter().any(|own| own == project) {
            let message =
                format!("Volume type access for {id} / {project} combination already exists.");
            return Err(fault(409, message));
        }
        projects.push(project.to_owned());
    } else if let Some(project) = body["removeProjectAccess"]["project"].as_str() {
        let before = projects.len();
        projects.retain(|own| own != project);
        if projects.len() == before {
            let message = format!("Volume type access not found for {id} / {project} combination.");
            return Err(fault(404, message));
        }
    }
    let key = text(&row, "id").to_owned();
    ctx.state.set(TYPES, &key, json!({ "_access": projects }));
    Ok(Reply::empty(202))
}

fn quality(ctx: &mut RequestContext<'_>, method: &str, rest: &[&str]) -> Option<Answer> {
    if let Err(refusal) = admin(ctx) {
        return Some(Err(refusal));
    }
    Some(match (method, rest) {
        ("POST", []) => create_quality(ctx),
        ("PUT", [id]) => ctx.find(&QOS_SPECS, id).map(|row| {
            let mut specs = row["specs"].as_object().cloned().unwrap_or_default();
            let mut sent = ctx.body["qos_specs"].as_object().cloned().unwrap_or_default();
            let rendered = sent.clone();
            if let Some(consumer) = sent.remove("consumer") {
                ctx.state.set(QOS, id, json!({ "consumer": consumer }));
            }
            specs.extend(sent);
            ctx.state.set(QOS, id, json!({ "specs": specs }));
            Reply::ok(json!({ "qos_specs": rendered }))
        }),
        ("PUT", [id, "delete_keys"]) => ctx.find(&QOS_SPECS, id).map(|row| {
            let mut specs = row["specs"].as_object().cloned().unwrap_or_default();
            let gone = strings(&object(ctx.body.clone()), "keys");
            specs.retain(|key, _| !gone.contains(key));
            ctx.state.set(QOS, id, json!({ "specs": specs }));
            Reply::empty(202)
        }),
        ("DELETE", [id]) => delete_quality(ctx, id),
        ("GET", [id, "associations"]) => ctx.find(&QOS_SPECS, id).map(|_| {
            let rows: Vec<Value> = users(ctx, id)
                .iter()
                .map(|kind| json!({ "association_type": "volume_type", "id": kind["id"], "name": kind["name"] }))
                .collect();
            Reply::ok(json!({ "qos_associations": rows }))
        }),
        ("GET", [id, word @ ("associate" | "disassociate")]) => associate(ctx, id, *word == "associate"),
        ("GET", [id, "disassociate_all"]) => ctx.find(&QOS_SPECS, id).map(|_| {
            for kind in users(ctx, id) {
                ctx.state.set(TYPES, text(&kind, "id"), json!({ "qos_specs_id": null }));
            }
            Reply::empty(202)
        }),
        _ => return None,
    })
}

fn users(ctx: &RequestContext<'_>, id: &str) -> Vec<Obj> {
    let uses = |kind: &&Obj| kind["qos_specs_id"] == json!(id);
    ctx.state.table(TYPES).iter().filter(uses).cloned().collect()
}

fn create_quality(ctx: &mut RequestContext<'_>) -> Answer {
    let mut sent = ctx.sent(&QOS_SPECS)?;
    let Some(name) = sent.remove("name").as_ref().and_then(Value::as_str).map(str::to_owned) else {
        return Err(super::super::microversioned::missing("qos_specs", "name", &sent));
    };
    if ctx.state.table(QOS).count("name", &name) > 0 {
        return Err(fault(409, format!("Qos Specs {name} already exists.")));
    }
    let consumer = sent.remove("consumer").unwrap_or_else(|| json!("back-end"));
    let id = ctx.state.uuid();
    let row = object(json!({ "id": id, "name": name, "consumer": consumer, "specs": sent }));
    ctx.state.add(QOS, row.clone());
    Ok(Reply::ok(json!({ "qos_specs": row, "links": super::links(ctx, "qos-specs", &id) })))
}

fn delete_quality(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    ctx.find(&QOS_SPECS, id)?;
    let users = users(ctx, id);
    let force = ctx.request.query("force").is_some_and(|word| word.eq_ignore_ascii_case("true"));
    if !users.is_empty() && !force {
        let message = format!("QoS Specs {id} is still associated with entities.");
        return Err(fault(400, message));
    }
    for kind in users {
        ctx.state.set(TYPES, text(&kind, "id"), json!({ "qos_specs_id": null }));
    }
    ctx.state.remove(QOS, id);
    Ok(Reply::empty(202))
}

fn associate(ctx: &mut RequestContext<'_>, id: &str, adds: bool) -> Answer {
    ctx.find(&QOS_SPECS, id)?;
    let kind = ctx.request.query("vol_type_id").unwrap_or_default().to_owned();
    let kind = find(ctx, &kind)?;
    let key = text(&kind, "id").to_owned();
    if adds && !kind["qos_specs_id"].is_null() && kind["qos_specs_id"] != json!(id) {
        let message = format!(
            "Type {key} is already associated with another qos specs: {}",
            text(&kind, "qos_specs_id")
        );
        return Err(fault(400, message));
    }
    let now = if adds { json!(id) } else { Value::Null };
    ctx.state.set(TYPES, &key, json!({ "qos_specs_id": now }));
    Ok(Reply::empty(202))
}

pub(super) fn seed(state: &mut CloudState) {
    for (name, description) in
        [("lvmdriver-1", Value::Null), ("__DEFAULT__", json!("Default Volume Type"))]
    {
        let id = state.uuid();
        state.add(TYPES, object(json!({
            "id": id, "name": name, "description": description, "is_public": true,
            "os-volume-type-access:is_public": true, "extra_specs": {}, "qos_specs_id": null, "_access": [],
            "_encryption": null,
        })));
    }
}
