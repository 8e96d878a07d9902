//! The alarming service: Aodh, version 2.

use serde_json::{Value, json};

use super::ask::{Answer, Refusal, Reply, Turn, object, set, text};
use super::check::truth;
use super::forms::{Form, Words, refuse};
use super::schema::{Collection, plain};
use super::services::Service;
use super::table::Obj;

static AODH: Words = Words { form: Form::ErrorMessage, missing: "not found", bad: 400 };

const ALARMS: &str = "alarming/alarms";

static ALARM: Collection = Collection {
    name: ALARMS,
    verbs: "",
    key: "alarm_id",
    title: "Alarm",
    fields: "name text r \"\"\n project_id text r \"\"",
    ..plain(&AODH)
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
    sow: |_| (),
};

/// The types of alarms, each with the fields that its rule has to have.
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

/// What an alarm may say beside its rule, and what it says otherwise.
fn usual() -> Obj {
    object(json!({
        "name": null, "type": null, "description": null, "enabled": true, "severity": "low", "repeat_actions": false,
        "alarm_actions": [], "ok_actions": [], "insufficient_data_actions": [], "time_constraints": [],
        "state": "insufficient data", "user_id": null, "project_id": null,
    }))
}

const ACTIONS: &[&str] = &["alarm_actions", "ok_actions", "insufficient_data_actions"];

fn serve(turn: &mut Turn<'_>) -> Answer {
    let parts = turn.ask.parts();
    let method = turn.ask.method.clone();
    match (method.as_str(), parts.as_slice()) {
        ("POST", ["v2", "alarms"]) => create(turn),
        ("GET", ["v2", "alarms"]) => Ok(listed(turn)),
        ("GET", ["v2", "alarms", id]) => find(turn, id).map(|row| Reply::ok(Value::from(row))),
        ("PUT", ["v2", "alarms", id]) => update(turn, id),
        ("DELETE", ["v2", "alarms", id]) => find(turn, id).map(|_| {
            turn.world.remove(ALARMS, id);
            Reply::empty(204)
        }),
        ("GET", ["v2", "alarms", id, "state"]) => {
            find(turn, id).map(|row| Reply::ok(row["state"].clone()))
        }
        ("PUT", ["v2", "alarms", id, "state"]) => state(turn, id),
        ("GET", ["v2", "alarms", id, "history"]) => find(turn, id).map(|_| Reply::ok(json!([]))),
        ("GET", ["v2", "capabilities"]) => Ok(Reply::ok(json!({
            "api": { "alarms:query:simple": true, "alarms:history:query:simple": true }, "alarm_storage": {},
        }))),
        _ => Err(refuse(404, "The resource could not be found.")),
    }
}

fn find(turn: &Turn<'_>, id: &str) -> Result<Obj, Refusal> {
    let row = turn.world.get(ALARMS, id).filter(|row| turn.owns(row)).cloned();
    row.ok_or_else(|| refuse(404, format!("Alarm {id} not found in project {}", turn.who.project)))
}

/// What was sent, complete and checked.
fn read(turn: &Turn<'_>) -> Result<Obj, Refusal> {
    let sent = turn.body.as_object().cloned().map(Obj::from);
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
        for action in super::ask::words(&row, actions) {
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

fn create(turn: &mut Turn<'_>) -> Answer {
    let mut row = read(turn)?;
    let most = turn.world.quota("alarming", &turn.who.project, "alarms", -1);
    let used = turn.world.table(ALARMS).count("project_id", &turn.who.project);
    if usize::try_from(most).is_ok_and(|most| used >= most) {
        return Err(refuse(403, "Alarm quota exceeded for project"));
    }
    let id = turn.world.uuid();
    let stamp = turn.world.stamp_micros();
    for (name, value) in [
        ("alarm_id", json!(id)),
        ("project_id", json!(turn.who.project)),
        ("user_id", json!(turn.who.user)),
        ("timestamp", json!(stamp)),
        ("state_timestamp", json!(stamp)),
        ("state_reason", json!("Not evaluated yet")),
        ("evaluate_timestamp", json!(stamp)),
    ] {
        set(&mut row, name, value);
    }
    turn.world.put(ALARMS, &id, row.clone());
    let location = format!("{}{}/v2/alarms/{id}", turn.ask.base, turn.ask.service);
    Ok(Reply::json(201, Value::from(row)).with("location", location))
}

fn update(turn: &mut Turn<'_>, id: &str) -> Answer {
    let old = find(turn, id)?;
    let mut row = read(turn)?;
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
    if turn.body.get("state").is_none() {
        set(&mut row, "state", old["state"].clone());
    }
    set(&mut row, "timestamp", turn.world.stamp_micros());
    turn.world.put(ALARMS, id, row.clone());
    Ok(Reply::ok(Value::from(row)))
}

fn state(turn: &mut Turn<'_>, id: &str) -> Answer {
    find(turn, id)?;
    let state = turn.body.as_str().unwrap_or_default().to_owned();
    if !["ok", "alarm", "insufficient data"].contains(&state.as_str()) {
        return Err(refuse(400, "state invalid"));
    }
    let stamp = turn.world.stamp_micros();
    turn.world.set(
        ALARMS,
        id,
        json!({
            "state": state, "state_timestamp": stamp, "state_reason": "Manually set via API",
        }),
    );
    Ok(Reply::ok(json!(state)))
}

fn listed(turn: &Turn<'_>) -> Reply {
    // A filter is `q.field=name&q.value=x`, or simply `name=x`.
    let values: Vec<&str> = turn
        .ask
        .query
        .iter()
        .filter(|(name, _)| name == "q.value")
        .map(|(_, value)| value.as_str())
        .collect();
    let fields: Vec<&str> = turn
        .ask
        .query
        .iter()
        .filter(|(name, _)| name == "q.field")
        .map(|(_, value)| value.as_str())
        .collect();
    let keeps = |row: &&Obj| {
        fields.iter().zip(&values).all(|(field, wanted)| match row.get(*field) {
            Some(Value::Bool(flag)) => truth(wanted) == Some(*flag),
            Some(Value::String(text)) => text == wanted,
            _ => false,
        })
    };
    let rows: Vec<&Obj> = turn
        .world
        .table(ALARMS)
        .iter()
        .filter(|row| {
            text(row, "project_id") == turn.who.project
                || (turn.who.is_admin && fields.contains(&"project_id"))
        })
        .filter(keeps)
        .collect();
    Reply::ok(json!(rows))
}
