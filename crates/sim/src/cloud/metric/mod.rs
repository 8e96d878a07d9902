//! The metric service: as much of Gnocchi, version 1, as alarms need: metrics without measures.

use serde_json::{Value, json};

use super::ask::{Answer, Reply, Turn};
use super::forms::{Form, Words, refuse};
use super::rest;
use super::schema::{Collection, plain};
use super::services::Service;

static GNOCCHI: Words = Words { form: Form::Described, missing: "does not exist", bad: 400 };

static METRIC: Collection = Collection {
    name: "metric/metrics",
    path: "metric",
    many: "metrics",
    title: "Metric",
    verbs: "CSD",
    fields: "name                text c null
             unit                text c null
             resource_id         text c null
             archive_policy_name text c \"low\"
             project_id          text r @project",
    ..plain(&GNOCCHI)
};

static COLLECTIONS: &[&Collection] = &[&METRIC];

pub(super) static SERVICE: Service = Service {
    prefix: "metric",
    types: &["metric"],
    name: "gnocchi",
    address: "",
    microversions: None,
    dialect: &GNOCCHI,
    collections: &[COLLECTIONS],
    serve,
    versions: |base, path| match path {
        [] => Some((
            200,
            json!({ "build": "4.7.1", "versions": [{
            "id": "v1.0", "status": "CURRENT", "links": [{ "rel": "self", "href": format!("{base}/v1/") }],
        }] }),
        )),
        _ => None,
    },
    sow: |_| (),
};

fn serve(turn: &mut Turn<'_>) -> Answer {
    let parts = turn.ask.parts();
    let ["v1", path @ ..] = parts.as_slice() else { return Err(refuse(404, "Not found")) };
    let method = turn.ask.method.clone();
    match (method.as_str(), path) {
        ("GET", ["metric"]) => {
            let rows: Vec<Value> =
                turn.world.table(METRIC.name).iter().map(|row| json!(row)).collect();
            Ok(Reply::ok(json!(rows)))
        }
        ("GET", ["metric", _, "measures"]) => Ok(Reply::ok(json!([]))),
        ("POST", ["metric", _, "measures"] | ["batch", ..]) => Ok(Reply::empty(202)),
        ("GET", ["resource", ..]) => Ok(Reply::ok(json!([]))),
        _ => rest::serve(turn, COLLECTIONS, path).unwrap_or_else(|| Err(refuse(404, "Not found"))),
    }
}
