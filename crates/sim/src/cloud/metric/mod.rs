//! The metric service: as much of Gnocchi, version 1, as alarms need. Metrics have no measures.

use serde_json::{Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::request::{Answer, Reply, RequestContext};
use super::rest;
use super::schema::Collection;
use super::services::Service;

static GNOCCHI: ErrorStyle =
    ErrorStyle { form: ErrorForm::Described, missing: "does not exist", bad: 400 };

static METRIC: Collection = Collection {
    name: "metric/metrics",
    path: "metric",
    plural: "metrics",
    title: "Metric",
    operations: "CSD",
    fields: "name                text c null
             unit                text c null
             resource_id         text c null
             archive_policy_name text c \"low\"
             project_id          text r @project",
    ..Collection::new(&GNOCCHI)
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
    seed: |_| (),
};

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v1", path @ ..] = parts.as_slice() else { return Err(refuse(404, "Not found")) };
    let method = ctx.request.method.clone();
    match (method.as_str(), path) {
        ("GET", ["metric"]) => {
            let rows: Vec<Value> =
                ctx.state.table(METRIC.name).iter().map(|row| json!(row)).collect();
            Ok(Reply::ok(json!(rows)))
        }
        ("GET", ["metric", _, "measures"]) => Ok(Reply::ok(json!([]))),
        ("POST", ["metric", _, "measures"] | ["batch", ..]) => Ok(Reply::empty(202)),
        ("GET", ["resource", ..]) => Ok(Reply::ok(json!([]))),
        _ => rest::serve(ctx, COLLECTIONS, path).unwrap_or_else(|| Err(refuse(404, "Not found"))),
    }
}
