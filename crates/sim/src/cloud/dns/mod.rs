//! The DNS service: Designate, version 2.

use serde_json::{Value, json};

use super::ask::{Answer, Done, Refusal, Reply, Turn, int, list, set, text};
use super::forms::{Form, Words, refuse};
use super::query;
use super::rest;
use super::schema::{Collection, plain};
use super::services::Service;
use super::table::Obj;

static DESIGNATE: Words = Words { form: Form::Typed, missing: "could not be found", bad: 400 };

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
    sow: |_| (),
};

/// What a project may have, from the beginning.
const QUOTAS: &[(&str, i64)] = &[
    ("api_export_size", 1000),
    ("recordset_records", 20),
    ("zone_records", 500),
    ("zone_recordsets", 500),
    ("zones", 10),
];

/// What every zone and every recordset goes through: it is pending for a while.
fn pending(turn: &mut Turn<'_>, table: &str, row: &mut Obj, action: &str) {
    set(row, "status", "PENDING");
    set(row, "action", action);
    let id = text(row, "id").to_owned();
    turn.world.when_built(table, &id, json!({ "status": "ACTIVE", "action": "NONE" }));
}

fn leave(turn: &mut Turn<'_>, table: &str, row: &Obj) {
    let id = text(row, "id");
    turn.world.set(table, id, json!({ "status": "PENDING", "action": "DELETE" }));
    turn.world.remove_when_built(table, id);
}

fn invalid(reason: &str) -> Refusal {
    Refusal::new(400, "invalid object", format!("Provided object does not match schema: {reason}"))
}

static ZONE: Collection = Collection {
    name: ZONES,
    path: "zones",
    many: "zones",
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
    make: |turn, row| {
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
        if turn.world.table(ZONES).count("name", &name) > 0 {
            return Err(Refusal::new(409, "duplicate zone", "Duplicate Zone"));
        }
        let serial = turn.now() / 1_000_000;
        set(row, "serial", serial);
        set(row, "created_at", turn.world.stamp_micros());
        set(row, "updated_at", Value::Null);
        pending(turn, ZONES, row, "CREATE");
        own_records(turn, row);
        Ok(())
    },
    change: |turn, _, new, _| {
        set(new, "updated_at", turn.world.stamp_micros());
        let serial = int(new, "serial") + 1;
        set(new, "serial", serial);
        pending(turn, ZONES, new, "UPDATE");
        Ok(())
    },
    remove: |turn, row| {
        for record in turn.world.with(RECORDSETS, "zone_id", text(row, "id")) {
            leave(turn, RECORDSETS, &record);
        }
        leave(turn, ZONES, row);
        Ok(())
    },
    show: |turn, row| {
        let id = text(row, "id").to_owned();
        let link = format!("{}{}/v2/zones/{id}", turn.ask.base, turn.ask.service);
        set(row, "links", json!({ "self": link }));
    },
    ..plain(&DESIGNATE)
};

/// The records that every zone has: who answers for it.
fn own_records(turn: &mut Turn<'_>, zone: &Obj) {
    let name = text(zone, "name");
    let mail = text(zone, "email").replace('@', ".");
    let records = [
        ("SOA", format!("ns1.devstack.org. {mail}. {} 3600 600 86400 3600", int(zone, "serial"))),
        ("NS", "ns1.devstack.org.".to_owned()),
    ];
    for (kind, record) in records {
        let id = turn.world.uuid();
        let row = json!({
            "id": id, "zone_id": zone["id"], "zone_name": name, "name": name, "type": kind, "records": [record],
            "ttl": null, "description": null, "status": "ACTIVE", "action": "NONE", "version": 1,
            "project_id": zone["project_id"], "created_at": turn.world.stamp_micros(), "updated_at": null,
        });
        turn.world.add(RECORDSETS, super::ask::object(row));
    }
}

static RECORDSET: Collection = Collection {
    name: RECORDSETS,
    path: "zones/{zone_id}/recordsets",
    many: "recordsets",
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
    change: |turn, old, new, _| {
        unmanaged(old)?;
        set(new, "updated_at", turn.world.stamp_micros());
        pending(turn, RECORDSETS, new, "UPDATE");
        Ok(())
    },
    remove: |turn, row| {
        unmanaged(row)?;
        leave(turn, RECORDSETS, row);
        Ok(())
    },
    show: |turn, row| {
        let link = format!(
            "{}{}/v2/zones/{}/recordsets/{}",
            turn.ask.base,
            turn.ask.service,
            text(row, "zone_id"),
            text(row, "id")
        );
        set(row, "links", json!({ "self": link }));
    },
    ..plain(&DESIGNATE)
};

fn unmanaged(row: &Obj) -> Done {
    let own = row["name"] == row["zone_name"];
    if own && ["SOA", "NS"].contains(&text(row, "type")) {
        return Err(Refusal::new(400, "bad request", "Managed records may not be deleted"));
    }
    Ok(())
}

fn make_records(turn: &mut Turn<'_>, row: &mut Obj) -> Done {
    let zone = turn.world.copy(ZONES, text(row, "zone_id"));
    let (name, zone_name) = (text(row, "name").to_owned(), text(&zone, "name").to_owned());
    if name != zone_name && !name.ends_with(&format!(".{zone_name}")) {
        return Err(Refusal::new(
            400,
            "recordset location is invalid",
            "RecordSet is not contained within it's parent zone",
        ));
    }
    let siblings = turn.world.table(RECORDSETS).with("zone_id", text(&zone, "id"));
    if siblings.iter().any(|other| text(other, "name") == name && other["type"] == row["type"]) {
        return Err(Refusal::new(409, "duplicate recordset", "Duplicate RecordSet"));
    }
    let most = turn.world.quota("dns", text(row, "project_id"), "zone_recordsets", 500);
    if usize::try_from(most).is_ok_and(|most| siblings.len() >= most) {
        return Err(Refusal::new(413, "over quota", "Quota exceeded for zone_recordsets."));
    }
    set(row, "zone_name", zone_name);
    set(row, "created_at", turn.world.stamp_micros());
    set(row, "updated_at", Value::Null);
    pending(turn, RECORDSETS, row, "CREATE");
    Ok(())
}

fn serve(turn: &mut Turn<'_>) -> Answer {
    let parts = turn.ask.parts();
    let ["v2", path @ ..] = parts.as_slice() else { return Err(refuse(404, "Not Found")) };
    let method = turn.ask.method.clone();
    let listed = match (method.as_str(), path) {
        ("GET", ["zones"]) => Some(list_of(turn, &ZONE, &[])),
        ("GET", ["recordsets"]) => Some(list_of(turn, &RECORDSET, &[])),
        ("GET", ["zones", id, "recordsets"]) => Some(
            turn.find(&ZONE, id)
                .and_then(|_| list_of(turn, &RECORDSET, &[("zone_id", (*id).to_owned())])),
        ),
        ("DELETE", ["zones", id]) => Some(delete(turn, &ZONE, id)),
        ("DELETE", ["zones", _, "recordsets", id]) => Some(delete(turn, &RECORDSET, id)),
        ("GET", ["quotas", project]) => {
            let quotas = QUOTAS.iter().map(|(name, usual)| {
                ((*name).to_owned(), json!(turn.world.quota("dns", project, name, *usual)))
            });
            Some(Ok(Reply::ok(Value::Object(quotas.collect()))))
        }
        _ => None,
    };
    listed
        .or_else(|| rest::serve(turn, COLLECTIONS, path))
        .unwrap_or_else(|| Err(refuse(404, "The resource could not be found.")))
}

/// A removal answers with what is going.
fn delete(turn: &mut Turn<'_>, of: &'static Collection, id: &str) -> Answer {
    rest::delete(turn, of, id)?;
    let row = turn.world.copy(of.name, id);
    Ok(Reply::json(202, Value::from(rest::shown(turn, of, row))))
}

fn list_of(turn: &mut Turn<'_>, of: &'static Collection, parents: &rest::Parents) -> Answer {
    let rows = query::rows(turn, of, parents)?;
    let total = rows.len();
    let (rows, next) = query::page(turn, of, rows)?;
    let here = format!("{}{}/{}", turn.ask.base, turn.ask.service, turn.ask.path.join("/"));
    let mut links = json!({ "self": here });
    if let Some(next) = next {
        links["next"] = json!(next);
    }
    Ok(Reply::ok(json!({ of.many: rows, "links": links, "metadata": { "total_count": total } })))
}
