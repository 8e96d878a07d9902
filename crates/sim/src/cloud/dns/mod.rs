//! The DNS service: Designate, version 2.

use serde_json::{Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::query;
use super::request::{Answer, Done, Refusal, Reply, RequestContext, int, list, set, text};
use super::rest;
use super::schema::Collection;
use super::services::Service;
use super::table::Obj;

static DESIGNATE: ErrorStyle =
    ErrorStyle { form: ErrorForm::Typed, missing: "could not be found", bad: 400 };

const ZONES: &str = "dns/zones";
const RECORDSETS: &str = "dns/recordsets";

static COLLECTIONS: &[&Collection] = &[&ZONE, &RECORDSET];

pub(super) static SERVICE: Service = Service {
    prefix: "dns",
    types: &["dns"],
    name: "designate",
    address: "",
    microversions: None,
    dialect: &DESIGNATE,
    collections: &[COLLECTIONS],
    serve,
    versions: |base, path| match path {
        [] => Some((
            200,
            json!({ "versions": [
            { "id": "v2", "status": "CURRENT", "links": [{ "rel": "self", "href": format!("{base}/v2") }] },
        ] }),
        )),
        _ => None,
    },
    seed: |_| (),
};

/// The quotas with their defaults.
const QUOTAS: &[(&str, i64)] = &[
    ("api_export_size", 1000),
    ("recordset_records", 20),
    ("zone_records", 500),
    ("zone_recordsets", 500),
    ("zones", 10),
];

/// Makes a zone or a recordset pending for the build time.
fn pending(ctx: &mut RequestContext<'_>, table: &str, row: &mut Obj, action: &str) {
    set(row, "status", "PENDING");
    set(row, "action", action);
    let id = text(row, "id").to_owned();
    ctx.state.when_built(table, &id, json!({ "status": "ACTIVE", "action": "NONE" }));
}

fn leave(ctx: &mut RequestContext<'_>, table: &str, row: &Obj) {
    let id = text(row, "id");
    ctx.state.set(table, id, json!({ "status": "PENDING", "action": "DELETE" }));
    ctx.state.remove_when_built(table, id);
}

fn invalid(reason: &str) -> Refusal {
    Refusal::new(400, "invalid object", format!("Provided object does not match schema: {reason}"))
}

static ZONE: Collection = Collection {
    name: ZONES,
    path: "zones",
    plural: "zones",
    title: "Zone",
    update_method: "PATCH",
    statuses: (202, 202, 202),
    lingers: true,
    quota: Some(("zones", 10)),
    fields: "name           text c  !
             email          text cu null
             ttl            int  cu 3600
             description    text cu null
             type           enum:PRIMARY|SECONDARY c \"PRIMARY\"
             masters        list cu []
             attributes     map  cu {}
             shared         bool r  false
             pool_id        text r  \"794ccc2c-d751-44fe-b57f-8894c9f5c842\"
             serial         int  r  1
             version        int  r  1
             status         text r  \"PENDING\"
             action         text r  \"CREATE\"
             transferred_at text r  null
             project_id     text r  @project",
    make: |ctx, row| {
        let name = text(row, "name").to_owned();
        if !name.ends_with('.') || name.len() < 2 {
            return Err(invalid(&format!("'{name}' is not a 'domainname'")));
        }
        match text(row, "type") {
            "PRIMARY" if !text(row, "email").contains('@') => {
                return Err(invalid("'email' is a required property"));
            }
            "SECONDARY" if list(row, "masters").is_empty() => {
                return Err(invalid("'masters' is a required property"));
            }
            _ => {}
        }
        if ctx.state.table(ZONES).count("name", &name) > 0 {
            return Err(Refusal::new(409, "duplicate zone", "Duplicate Zone"));
        }
        let serial = ctx.now() / 1_000_000;
        set(row, "serial", serial);
        set(row, "created_at", ctx.state.timestamp_micros());
        set(row, "updated_at", Value::Null);
        pending(ctx, ZONES, row, "CREATE");
        own_records(ctx, row);
        Ok(())
    },
    change: |ctx, _, new, _| {
        set(new, "updated_at", ctx.state.timestamp_micros());
        let serial = int(new, "serial") + 1;
        set(new, "serial", serial);
        pending(ctx, ZONES, new, "UPDATE");
        Ok(())
    },
    remove: |ctx, row| {
        for record in ctx.state.with(RECORDSETS, "zone_id", text(row, "id")) {
            leave(ctx, RECORDSETS, &record);
        }
        leave(ctx, ZONES, row);
        Ok(())
    },
    show: |ctx, row| {
        let id = text(row, "id").to_owned();
        let link = format!("{}{}/v2/zones/{id}", ctx.request.base, ctx.request.service);
        set(row, "links", json!({ "self": link }));
    },
    ..Collection::new(&DESIGNATE)
};

/// Creates the SOA and NS records of a zone.
fn own_records(ctx: &mut RequestContext<'_>, zone: &Obj) {
    let name = text(zone, "name");
    let mail = text(zone, "email").replace('@', ".");
    let records = [
        ("SOA", format!("ns1.devstack.org. {mail}. {} 3600 600 86400 3600", int(zone, "serial"))),
        ("NS", "ns1.devstack.org.".to_owned()),
    ];
    for (kind, record) in records {
        let id = ctx.state.uuid();
        let row = json!({
            "id": id, "zone_id": zone["id"], "zone_name": name, "name": name, "type": kind, "records": [record],
            "ttl": null, "description": null, "status": "ACTIVE", "action": "NONE", "version": 1,
            "project_id": zone["project_id"], "created_at": ctx.state.timestamp_micros(), "updated_at": null,
        });
        ctx.state.add(RECORDSETS, super::request::object(row));
    }
}

static RECORDSET: Collection = Collection {
    name: RECORDSETS,
    path: "zones/{zone_id}/recordsets",
    plural: "recordsets",
    title: "RecordSet",
    parent: Some(ZONES),
    index: &["zone_id"],
    statuses: (202, 202, 202),
    lingers: true,
    fields: "zone_id     text c  !
             name        text c  !
             type        enum:A|AAAA|CNAME|MX|SRV|TXT|SPF|NS|PTR|SSHFP|SOA|NAPTR|CAA|CERT c !
             records     list cu !
             ttl         int  cu null
             description text cu null
             zone_name   text r  \"\"
             version     int  r  1
             status      text r  \"PENDING\"
             action      text r  \"CREATE\"
             project_id  text r  @project",
    make: make_records,
    change: |ctx, old, new, _| {
        unmanaged(old)?;
        set(new, "updated_at", ctx.state.timestamp_micros());
        pending(ctx, RECORDSETS, new, "UPDATE");
        Ok(())
    },
    remove: |ctx, row| {
        unmanaged(row)?;
        leave(ctx, RECORDSETS, row);
        Ok(())
    },
    show: |ctx, row| {
        let link = format!(
            "{}{}/v2/zones/{}/recordsets/{}",
            ctx.request.base,
            ctx.request.service,
            text(row, "zone_id"),
            text(row, "id")
        );
        set(row, "links", json!({ "self": link }));
    },
    ..Collection::new(&DESIGNATE)
};

fn unmanaged(row: &Obj) -> Done {
    let own = row["name"] == row["zone_name"];
    if own && ["SOA", "NS"].contains(&text(row, "type")) {
        return Err(Refusal::new(400, "bad request", "Managed records may not be deleted"));
    }
    Ok(())
}

fn make_records(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let zone = ctx.state.copy(ZONES, text(row, "zone_id"));
    let (name, zone_name) = (text(row, "name").to_owned(), text(&zone, "name").to_owned());
    if name != zone_name && !name.ends_with(&format!(".{zone_name}")) {
        return Err(Refusal::new(
            400,
            "recordset location is invalid",
            "RecordSet is not contained within it's parent zone",
        ));
    }
    let siblings = ctx.state.table(RECORDSETS).with("zone_id", text(&zone, "id"));
    if siblings.iter().any(|other| text(other, "name") == name && other["type"] == row["type"]) {
        return Err(Refusal::new(409, "duplicate recordset", "Duplicate RecordSet"));
    }
    let most = ctx.state.quota("dns", text(row, "project_id"), "zone_recordsets", 500);
    if usize::try_from(most).is_ok_and(|most| siblings.len() >= most) {
        return Err(Refusal::new(413, "over quota", "Quota exceeded for zone_recordsets."));
    }
    set(row, "zone_name", zone_name);
    set(row, "created_at", ctx.state.timestamp_micros());
    set(row, "updated_at", Value::Null);
    pending(ctx, RECORDSETS, row, "CREATE");
    Ok(())
}

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v2", path @ ..] = parts.as_slice() else { return Err(refuse(404, "Not Found")) };
    let method = ctx.request.method.clone();
    let listed = match (method.as_str(), path) {
        ("GET", ["zones"]) => Some(list_of(ctx, &ZONE, &[])),
        ("GET", ["recordsets"]) => Some(list_of(ctx, &RECORDSET, &[])),
        ("GET", ["zones", id, "recordsets"]) => Some(
            ctx.find(&ZONE, id)
                .and_then(|_| list_of(ctx, &RECORDSET, &[("zone_id", (*id).to_owned())])),
        ),
        ("DELETE", ["zones", id]) => Some(delete(ctx, &ZONE, id)),
        ("DELETE", ["zones", _, "recordsets", id]) => Some(delete(ctx, &RECORDSET, id)),
        ("GET", ["quotas", project]) => {
            let quotas = QUOTAS.iter().map(|(name, usual)| {
                ((*name).to_owned(), json!(ctx.state.quota("dns", project, name, *usual)))
            });
            Some(Ok(Reply::ok(Value::Object(quotas.collect()))))
        }
        _ => None,
    };
    listed
        .or_else(|| rest::serve(ctx, COLLECTIONS, path))
        .unwrap_or_else(|| Err(refuse(404, "The resource could not be found.")))
}

/// Deletes an object and answers with it.
fn delete(ctx: &mut RequestContext<'_>, collection: &'static Collection, id: &str) -> Answer {
    rest::delete(ctx, collection, id)?;
    let row = ctx.state.copy(collection.name, id);
    Ok(Reply::json(202, Value::from(rest::render(ctx, collection, row))))
}

fn list_of(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    parents: &rest::Parents,
) -> Answer {
    let rows = query::rows(ctx, collection, parents)?;
    let total = rows.len();
    let (rows, next) = query::page(ctx, collection, rows)?;
    let here =
        format!("{}{}/{}", ctx.request.base, ctx.request.service, ctx.request.path.join("/"));
    let mut links = json!({ "self": here });
    if let Some(next) = next {
        links["next"] = json!(next);
    }
    Ok(Reply::ok(
        json!({ collection.plural: rows, "links": links, "metadata": { "total_count": total } }),
    ))
}
