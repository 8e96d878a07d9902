//! Flavors.

use serde_json::{Value, json};

use super::super::query;
use super::super::request::{
    Answer, Reply, RequestContext, flag, int, list, object, set, strings, text,
};
use super::super::schema::Collection;
use super::super::state::CloudState;
use super::super::table::Obj;
use super::dialect::{NOVA, fault};
use super::{FLAVORS, links};

pub(super) static FLAVOR: Collection = Collection {
    name: FLAVORS,
    path: "flavors",
    singular: "flavor",
    plural: "flavors",
    title: "Flavor",
    admin_only: true,
    statuses: (200, 200, 202),
    fields: "id                         any  c  null
             name                       text c  !
             ram                        int  c  !
             vcpus                      int  c  !
             disk                       int  c  !
             swap                       int  c  0
             OS-FLV-EXT-DATA:ephemeral  int  c  0
             rxtx_factor                number c 1.0
             os-flavor-access:is_public bool c  true
             OS-FLV-DISABLED:disabled   bool r  false
             description                text cu null
             _specs                     map  r  {}
             _access                    list r  []",
    is_shared: may_use,
    make: |ctx, row| {
        let id = match row.get("id") {
            Some(Value::String(id)) => id.clone(),
            _ => ctx.state.uuid(),
        };
        if ctx.state.get(FLAVORS, &id).is_some() {
            return Err(fault(409, format!("Flavor with ID {id} already exists.")));
        }
        set(row, "id", id);
        let name = text(row, "name");
        if ctx.state.table(FLAVORS).count("name", name) > 0 {
            return Err(fault(409, format!("Flavor with name {name} already exists.")));
        }
        for (field, least) in [("ram", 1), ("vcpus", 1), ("disk", 0), ("swap", 0)] {
            let value = int(row, field);
            if value < least {
                let reason = format!("{value} is less than the minimum of {least}");
                return Err(super::super::microversioned::wrong(field, &json!(value), &reason));
            }
        }
        Ok(())
    },
    show: |ctx, row| {
        let id = text(row, "id").to_owned();
        set(row, "links", links(ctx, "flavors", &id));
        if ctx.version < 75 && int(row, "swap") == 0 {
            set(row, "swap", "");
        }
        if ctx.version >= 61 {
            let specs = row["_specs"].clone();
            set(row, "extra_specs", specs);
        }
        if ctx.version < 55 {
            row.remove("description");
        }
    },
    ..Collection::new(&NOVA)
};

/// Reports whether the caller may use a flavor: public flavors, and private ones of the caller's project.
pub(super) fn may_use(ctx: &RequestContext<'_>, row: &Obj) -> bool {
    ctx.caller.is_admin
        || flag(row, "os-flavor-access:is_public")
        || strings(row, "_access").contains(&ctx.caller.project)
}

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("GET", ["flavors"]) => list_flavors(ctx, false),
        ("GET", ["flavors", "detail"]) => list_flavors(ctx, true),
        ("GET", ["flavors", id]) => {
            hidden(ctx, id).map(|row| Reply::ok(json!({ "flavor": full(ctx, row) })))
        }
        (_, ["flavors", id, "os-extra_specs", key @ ..]) => {
            specs(ctx, method, id, key.first().copied())
        }
        ("GET", ["flavors", id, "os-flavor-access"]) => {
            hidden(ctx, id).map(|row| Reply::ok(access(&row)))
        }
        ("POST", ["flavors", id, "action"]) => change_access(ctx, id),
        _ => return None,
    })
}

fn hidden(ctx: &RequestContext<'_>, id: &str) -> Result<Obj, super::Refusal> {
    let row = ctx.state.get(FLAVORS, id).filter(|row| may_use(ctx, row));
    row.cloned().ok_or_else(|| fault(404, format!("Flavor {id} could not be found.")))
}

fn full(ctx: &RequestContext<'_>, row: Obj) -> Obj {
    super::rest::render(ctx, &FLAVOR, row)
}

fn list_flavors(ctx: &mut RequestContext<'_>, detailed: bool) -> Answer {
    // Administrators see private flavors only on request.
    let all = ctx.request.query("is_public").map(str::to_lowercase);
    let wanted = match all.as_deref() {
        Some("none") if ctx.caller.is_admin => None,
        Some(word) if ctx.caller.is_admin => super::super::check::parse_bool(word),
        _ if ctx.caller.is_admin => Some(true),
        _ => None,
    };
    let least =
        |name: &str| ctx.request.query(name).and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
    let (ram, disk) = (least("minRam"), least("minDisk"));
    let mut rows = query::rows(ctx, &FLAVOR, &[])?;
    rows.retain(|row| {
        let public = flag(row, "os-flavor-access:is_public");
        may_see(ctx, row)
            && wanted.is_none_or(|wanted| wanted == public)
            && int(row, "ram") >= ram
            && int(row, "disk") >= disk
    });
    let (rows, next) = query::page(ctx, &FLAVOR, rows)?;
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|row| {
            if detailed {
                Value::from(row)
            } else {
                json!({ "id": row["id"], "name": row["name"], "links": row["links"] })
            }
        })
        .collect();
    let mut body = json!({ "flavors": rows });
    if let Some(next) = next {
        body["flavors_links"] = json!([{ "rel": "next", "href": next }]);
    }
    Ok(Reply::ok(body))
}

/// Like [`may_use`], for a rendered row without its internal fields.
fn may_see(ctx: &RequestContext<'_>, row: &Obj) -> bool {
    ctx.state.get(FLAVORS, text(row, "id")).is_some_and(|row| may_use(ctx, row))
}

fn admin(ctx: &RequestContext<'_>, rule: &str) -> Result<(), super::Refusal> {
    if ctx.caller.is_admin {
        return Ok(());
    }
    Err(fault(403, format!("Policy doesn't allow os_compute_api:{rule} to be performed.")))
}

fn specs(ctx: &mut RequestContext<'_>, method: &str, id: &str, key: Option<&str>) -> Answer {
    let row = hidden(ctx, id)?;
    let mut specs = row["_specs"].as_object().cloned().unwrap_or_default();
    if method != "GET" {
        admin(ctx, "os-flavor-extra-specs:create")?;
    }
    let absent = |key: &str| fault(404, format!("Flavor {id} has no extra specs with key {key}."));
    let reply = match (method, key) {
        ("GET", None) => return Ok(Reply::ok(json!({ "extra_specs": specs }))),
        ("GET", Some(key)) => {
            let value = specs.get(key).ok_or_else(|| absent(key))?;
            return Ok(Reply::ok(json!({ key: value })));
        }
        ("POST", None) => {
            let sent = ctx.body["extra_specs"].as_object().cloned().unwrap_or_default();
            specs.extend(sent.clone());
            Reply::ok(json!({ "extra_specs": sent }))
        }
        ("PUT", Some(key)) => {
            specs.insert(key.to_owned(), ctx.body[key].clone());
            Reply::ok(json!({ key: ctx.body[key] }))
        }
        ("DELETE", Some(key)) => {
            specs.remove(key).ok_or_else(|| absent(key))?;
            Reply::empty(200)
        }
        _ => return Err(fault(405, "The method is not allowed for this resource.")),
    };
    ctx.state.set(FLAVORS, id, json!({ "_specs": specs }));
    Ok(reply)
}

fn access(row: &Obj) -> Value {
    let rows: Vec<Value> = list(row, "_access")
        .iter()
        .map(|project| json!({ "flavor_id": row["id"], "tenant_id": project }))
        .collect();
    json!({ "flavor_access": rows })
}

fn change_access(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    admin(ctx, "os-flavor-access:add_tenant_access")?;
    let mut row = hidden(ctx, id)?;
    if flag(&row, "os-flavor-access:is_public") {
        return Err(fault(409, "Can not add access to a public flavor."));
    }
    let mut projects = strings(&row, "_access");
    let body = ctx.body.clone();
    if let Some(project) = body["addTenantAccess"]["tenant"].as_str() {
        if projects.iter().any(|own| own == project) {
            let message = format!(
                "Flavor access already exists for flavor {id} and project {project} combination."
            );
            return Err(fault(409, message));
        }
        projects.push(project.to_owned());
    } else if let Some(project) = body["removeTenantAccess"]["tenant"].as_str() {
        let before = projects.len();
        projects.retain(|own| own != project);
        if projects.len() == before {
            let message = format!("Flavor access not found for {id} / {project} combination.");
            return Err(fault(404, message));
        }
    } else {
        return Err(fault(400, "There is no such action."));
    }
    set(&mut row, "_access", projects);
    ctx.state.put(FLAVORS, id, row.clone());
    Ok(Reply::ok(access(&row)))
}

/// Id, name, memory in MiB, disk in GiB, VCPUs.
const FIRST: &[(&str, &str, i64, i64, i64)] = &[
    ("1", "m1.tiny", 512, 1, 1),
    ("2", "m1.small", 2_048, 20, 1),
    ("3", "m1.medium", 4_096, 40, 2),
    ("4", "m1.large", 8_192, 80, 4),
    ("42", "m1.nano", 192, 1, 1),
    ("5", "m1.xlarge", 16_384, 160, 8),
    ("84", "m1.micro", 256, 1, 1),
    ("451", "m1.heat", 512, 0, 1),
    ("452", "m1.heat_int", 512, 5, 1),
    ("453", "m1.heat_micro", 128, 1, 1),
    ("c1", "cirros256", 256, 1, 1),
    ("d1", "ds512M", 512, 5, 1),
    ("d2", "ds1G", 1_024, 10, 1),
    ("d3", "ds2G", 2_048, 10, 2),
    ("d4", "ds4G", 4_096, 20, 4),
];

pub(super) fn seed(state: &mut CloudState) {
    for (id, name, ram, disk, vcpus) in FIRST {
        let row = json!({
            "id": id, "name": name, "ram": ram, "disk": disk, "vcpus": vcpus, "swap": 0,
            "OS-FLV-EXT-DATA:ephemeral": 0, "rxtx_factor": 1.0, "os-flavor-access:is_public": true,
            "OS-FLV-DISABLED:disabled": false, "description": null, "_specs": {}, "_access": [],
        });
        state.add(FLAVORS, object(row));
    }
}
