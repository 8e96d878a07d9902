//! The alarming service: Aodh, version 2.

use serde_json::{Value, json};

use super::check::parse_bool;
use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::request::{Answer, Refusal, Reply, RequestContext, object, set, text};
use super::schema::Collection;
use super::services::Service;
use super::table::Obj;

static AODH: ErrorStyle =
    ErrorStyle { form: ErrorForm::ErrorMessage, missing: "not found", bad: 400 };

const ALARMS: &str = "alarming/alarms";

static ALARM: Collection = Collection {
    name: ALARMS,
    operations: "",
    key: "alarm_id",
    title: "Alarm",
    fields: "name text r \"\"\n project_id text r \"\"",
    ..Collection::new(&AODH)
};

pub(super) static SERVICE: Service = Service {
    prefix: "alarming",
    types: &["alarming"],
    name: "aodh",
    address: "",
    microversions: None,
    dialect: &AODH,
    collections: &[&[&ALARM]],
    serve,
    versions: |base, path| match path {
        [] => Some((
            200,
            json!({ "versions": { "values": [{
            "id": "v2", "status": "stable", "updated": "2013-02-13T00:00:00Z",
            "links": [{ "rel": "self", "href": format!("{base}/v2") }],
            "media-types": [{ "base": "application/json", "type": "application/vnd.openstack.telemetry-v2+json" }],
        }] } }),
        )),
        _ => None,
    },
    seed: |_| (),
};

/// The types of alarms and the required fields of their rules.
const TYPES: &[(&str, &[&str])] = &[
    ("composite", &[]),
    ("event", &[]),
    ("gnocchi_aggregation_by_metrics_threshold", &["metrics", "threshold", "aggregation_method"]),
    (
        "gnocchi_aggregation_by_resources_threshold",
        &["metric", "threshold", "aggregation_method", "resource_type", "query"],
    ),
    (
        "gnocchi_resources_threshold",
        &["metric", "threshold", "aggregation_method", "resource_type", "resource_id"],
    ),
    ("loadbalancer_member_health", &["pool_id", "stack_id", "autoscaling_group_id"]),
    ("prometheus", &["query", "threshold"]),
    ("threshold", &["meter_name", "threshold"]),
];

/// Returns the fields of an alarm besides its rule, with their defaults.
fn usual() -> Obj {
    object(json!({
        "name": null, "type": null, "description": null, "enabled": true, "severity": "low", "repeat_actions": false,
        "alarm_actions": [], "ok_actions": [], "insufficient_data_actions": [], "time_constraints": [],
        "state": "insufficient data", "user_id": null, "project_id": null,
    }))
}

const ACTIONS: &[&str] = &["alarm_actions", "ok_actions", "insufficient_data_actions"];

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let method = ctx.request.method.clone();
    match (method.as_str(), parts.as_slice()) {
        ("POST", ["v2", "alarms"]) => create(ctx),
        ("GET", ["v2", "alarms"]) => Ok(list_alarms(ctx)),
        ("GET", ["v2", "alarms", id]) => find(ctx, id).map(|row| Reply::ok(Value::from(row))),
        ("PUT", ["v2", "alarms", id]) => update(ctx, id),
        ("DELETE", ["v2", "alarms", id]) => find(ctx, id).map(|_| {
            ctx.state.remove(ALARMS, id);
            Reply::empty(204)
        }),
        ("GET", ["v2", "alarms", id, "state"]) => {
            find(ctx, id).map(|row| Reply::ok(row["state"].clone()))
        }
        ("PUT", ["v2", "alarms", id, "state"]) => set_state(ctx, id),
        ("GET", ["v2", "alarms", id, "history"]) => find(ctx, id).map(|_| Reply::ok(json!([]))),
        ("GET", ["v2", "capabilities"]) => Ok(Reply::ok(json!({
            "api": { "alarms:query:simple": true, "alarms:history:query:simple": true }, "alarm_storage": {},
        }))),
        _ => Err(refuse(404, "The resource could not be found.")),
    }
}

fn find(ctx: &RequestContext<'_>, id: &str) -> Result<Obj, Refusal> {
    let row = ctx.state.get(ALARMS, id).filter(|row| ctx.owns(row)).cloned();
    row.ok_or_else(|| {
        refuse(404, format!("Alarm {id} not found in project {}", ctx.caller.project))
    })
}

/// Validates and completes the body of a request.
fn read(ctx: &RequestContext<'_>) -> Result<Obj, Refusal> {
    let sent = ctx.body.as_object().cloned().map(Obj::from);
    let sent = sent.ok_or_else(|| refuse(400, "Missing argument: \"data\""))?;
    let kind = text(&sent, "type").to_owned();
    let Some((_, needed)) = TYPES.iter().find(|(name, _)| *name == kind) else {
        let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
        return Err(refuse(
            400,
            format!(
                "Invalid input for field/attribute type. Value: '{kind}'. Value should be one of: {}",
                names.join(", ")
            ),
        ));
    };
    let rule = format!("{kind}_rule");
    let mut row = usual();
    for (name, value) in sent {
        let read_only =
            ["alarm_id", "timestamp", "state_timestamp", "state_reason", "evaluate_timestamp"];
        if read_only.contains(&name.as_str()) {
            continue;
        }
        if !row.contains_key(&name) && name != rule {
            return Err(refuse(400, format!("Unknown attribute for argument data: {name}")));
        }
        row.insert(name, value);
    }
    if text(&row, "name").is_empty() {
        return Err(refuse(
            400,
            "Invalid input for field/attribute name. Value: 'None'. Mandatory field missing.",
        ));
    }
    if row.get(&rule).is_none_or(Value::is_null) {
        return Err(refuse(400, format!("Alarm rule for {kind} must be set: {rule}")));
    }
    for field in *needed {
        if row[&rule][*field].is_null() {
            return Err(refuse(
                400,
                format!(
                    "Invalid input for field/attribute {field}. Value: 'None'. Mandatory field missing."
                ),
            ));
        }
    }
    for actions in ACTIONS {
        for action in super::request::strings(&row, actions) {
            let scheme = action.split(':').next().unwrap_or_default();
            let known = [
                "http",
                "https",
                "log",
                "test",
                "trust+http",
                "trust+https",
                "zaqar",
                "trust+zaqar",
                "trust+heat",
            ];
            if !known.contains(&scheme) {
                return Err(refuse(400, format!("Unsupported action {action}")));
            }
        }
    }
    Ok(row)
}

fn create(ctx: &mut RequestContext<'_>) -> Answer {
    let mut row = read(ctx)?;
    let most = ctx.state.quota("alarming", &ctx.caller.project, "alarms", -1);
    let used = ctx.state.table(ALARMS).count("project_id", &ctx.caller.project);
    if usize::try_from(most).is_ok_and(|most| used >= most) {
        return Err(refuse(403, "Alarm quota exceeded for project"));
    }
    let id = ctx.state.uuid();
    let timestamp = ctx.state.timestamp_micros();
    for (name, value) in [
        ("alarm_id", json!(id)),
        ("project_id", json!(ctx.caller.project)),
        ("user_id", json!(ctx.caller.user)),
        ("timestamp", json!(timestamp)),
        ("state_timestamp", json!(timestamp)),
        ("state_reason", json!("Not evaluated yet")),
        ("evaluate_timestamp", json!(timestamp)),
    ] {
        set(&mut row, name, value);
    }
    ctx.state.put(ALARMS, &id, row.clone());
    let location = format!("{}{}/v2/alarms/{id}", ctx.request.base, ctx.request.service);
    Ok(Reply::json(201, Value::from(row)).with("location", location))
}

fn update(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let old = find(ctx, id)?;
    let mut row = read(ctx)?;
    for kept in [
        "alarm_id",
        "project_id",
        "user_id",
        "state_timestamp",
        "state_reason",
        "evaluate_timestamp",
    ] {
        set(&mut row, kept, old[kept].clone());
    }
    if ctx.body.get("state").is_none() {
        set(&mut row, "state", old["state"].clone());
    }
    set(&mut row, "timestamp", ctx.state.timestamp_micros());
    ctx.state.put(ALARMS, id, row.clone());
    Ok(Reply::ok(Value::from(row)))
}

fn set_state(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    find(ctx, id)?;
    let state = ctx.body.as_str().unwrap_or_default().to_owned();
    if !["ok", "alarm", "insufficient data"].contains(&state.as_str()) {
        return Err(refuse(400, "state invalid"));
    }
    let timestamp = ctx.state.timestamp_micros();
    ctx.state.set(
        ALARMS,
        id,
        json!({
            "state": state, "state_timestamp": timestamp, "state_reason": "Manually set via API",
        }),
    );
    Ok(Reply::ok(json!(state)))
}

fn list_alarms(ctx: &RequestContext<'_>) -> Reply {
    // A filter is `q.field=name&q.value=x`, or `name=x`.
    let values: Vec<&str> = ctx
        .request
        .query
        .iter()
        .filter(|(name, _)| name == "q.value")
        .map(|(_, value)| value.as_str())
        .collect();
    let fields: Vec<&str> = ctx
        .request
        .query
        .iter()
        .filter(|(name, _)| name == "q.field")
        .map(|(_, value)| value.as_str())
        .collect();
    let keeps = |row: &&Obj| {
        fields.iter().zip(&values).all(|(field, wanted)| match row.get(*field) {
            Some(Value::Bool(flag)) => parse_bool(wanted) == Some(*flag),
            Some(Value::String(text)) => text == wanted,
            _ => false,
        })
    };
    let rows: Vec<&Obj> = ctx
        .state
        .table(ALARMS)
        .iter()
        .filter(|row| {
            text(row, "project_id") == ctx.caller.project
                || (ctx.caller.is_admin && fields.contains(&"project_id"))
        })
        .filter(keeps)
        .collect();
    Reply::ok(json!(rows))
}
