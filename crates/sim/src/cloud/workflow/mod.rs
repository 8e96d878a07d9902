//! The workflow service: Mistral, version 2. Workflows are kept as text; an execution does nothing and succeeds.

use serde_json::{Value, json};

use super::ask::{Answer, Refusal, Reply, Turn, object, set, text};
use super::forms::{Form, Words, refuse};
use super::rest;
use super::schema::{Collection, plain};
use super::services::Service;
use super::table::Obj;

static MISTRAL: Words = Words { form: Form::Faultstring, missing: "not found", bad: 400 };

const WORKFLOWS: &str = "workflow/workflows";
const EXECUTIONS: &str = "workflow/executions";
const TRIGGERS: &str = "workflow/cron_triggers";

static COLLECTIONS: &[&Collection] = &[&WORKFLOW, &EXECUTION, &TRIGGER, &ENVIRONMENT];

pub(super) static SERVICE: Service = Service {
    prefix: "workflow",
    types: &["workflowv2", "workflow"],
    name: "mistral",
    address: "/v2",
    microversions: None,
    dialect: &MISTRAL,
    collections: &[COLLECTIONS],
    serve,
    versions: |base, path| match path {
        [] => Some((
            200,
            json!({ "versions": [{
            "id": "v2.0", "status": "CURRENT", "links": [{ "rel": "self", "target": "v2", "href": format!("{base}/v2") }],
        }] }),
        )),
        ["v2"] => Some((200, json!({ "uri": format!("{base}/v2") }))),
        _ => None,
    },
    sow: |_| (),
};

static WORKFLOW: Collection = Collection {
    name: WORKFLOWS,
    path: "workflows",
    many: "workflows",
    title: "Workflow",
    verbs: "LSD",
    by_name: true,
    fields: "name text r \"\"\n scope text r \"private\"\n project_id text r @project",
    remove: |turn, row| {
        let used = turn
            .world
            .table(TRIGGERS)
            .iter()
            .any(|trigger| trigger["workflow_name"] == row["name"]);
        if used {
            return Err(refuse(
                400,
                format!(
                    "Can't delete workflow that has cron triggers associated [workflow_identifier={}]",
                    text(row, "name")
                ),
            ));
        }
        Ok(())
    },
    ..plain(&MISTRAL)
};

static EXECUTION: Collection = Collection {
    name: EXECUTIONS,
    path: "executions",
    many: "executions",
    title: "WorkflowExecution",
    verbs: "CLSUD",
    fields: "id            text c -
             workflow_name text c null
             workflow_id   text c null
             workflow_namespace text c \"\"
             description   text cu \"\"
             input         any  c  \"{}\"
             params        any  c  \"{}\"
             source_execution_id text c null
             state         text u  \"RUNNING\"
             state_info    text r  null
             output        any  r  \"{}\"
             project_id    text r  @project",
    make: |turn, row| {
        let wanted = match text(row, "workflow_id") {
            "" => text(row, "workflow_name").to_owned(),
            id => id.to_owned(),
        };
        if wanted.is_empty() {
            return Err(refuse(
                400,
                "Workflow ID or workflow name must be provided. Workflow ID is recommended.",
            ));
        }
        let workflow = turn.find(&WORKFLOW, &wanted).map_err(|_| {
            refuse(404, format!("Workflow not found [workflow_identifier={wanted}]"))
        })?;
        set(row, "workflow_id", workflow["id"].clone());
        set(row, "workflow_name", workflow["name"].clone());
        for field in ["input", "params"] {
            if !row[field].is_string() {
                let text = row[field].to_string();
                set(row, field, text);
            }
        }
        set(row, "created_at", turn.world.stamp_bare().replace('T', " "));
        set(row, "updated_at", Value::Null);
        let id = text(row, "id").to_owned();
        let state = if turn.world.fails_to_build { "ERROR" } else { "SUCCESS" };
        turn.world.when_built(EXECUTIONS, &id, json!({ "state": state }));
        Ok(())
    },
    remove: |turn, row| {
        let done = ["SUCCESS", "ERROR", "CANCELLED"].contains(&text(row, "state"));
        let force = turn.ask.query("force").is_some_and(|word| word.eq_ignore_ascii_case("true"));
        if !done && !force {
            return Err(refuse(
                403,
                "Only completed executions can be deleted. Use --force to override this.",
            ));
        }
        Ok(())
    },
    ..plain(&MISTRAL)
};

static TRIGGER: Collection = Collection {
    name: TRIGGERS,
    path: "cron_triggers",
    many: "cron_triggers",
    title: "Cron Trigger",
    verbs: "CLSD",
    by_name: true,
    fields: "name                   text c !
             workflow_name          text c null
             workflow_id            text c null
             workflow_input         any  c \"{}\"
             workflow_params        any  c \"{}\"
             pattern                text c null
             first_execution_time   text c null
             remaining_executions   int  c null
             scope                  text c \"private\"
             next_execution_time    text r null
             project_id             text r @project",
    make: |turn, row| {
        if row["pattern"].is_null() && row["first_execution_time"].is_null() {
            return Err(refuse(400, "Pattern or first_execution_time must be specified."));
        }
        let wanted = match text(row, "workflow_id") {
            "" => text(row, "workflow_name").to_owned(),
            id => id.to_owned(),
        };
        let workflow = turn.find(&WORKFLOW, &wanted).map_err(|_| {
            refuse(404, format!("Workflow not found [workflow_identifier={wanted}]"))
        })?;
        if turn.world.table(TRIGGERS).count("name", text(row, "name")) > 0 {
            return Err(refuse(
                409,
                format!(
                    "Duplicate entry for CronTrigger ['name', 'project_id']: {}",
                    text(row, "name")
                ),
            ));
        }
        set(row, "workflow_id", workflow["id"].clone());
        set(row, "workflow_name", workflow["name"].clone());
        let next = row["first_execution_time"]
            .as_str()
            .map(str::to_owned)
            .unwrap_or_else(|| turn.world.stamp_bare());
        set(row, "next_execution_time", next);
        Ok(())
    },
    ..plain(&MISTRAL)
};

static ENVIRONMENT: Collection = Collection {
    name: "workflow/environments",
    path: "environments",
    many: "environments",
    title: "Environment",
    key: "name",
    fields: "name        text cu !
             description text cu \"\"
             variables   any  cu \"{}\"
             scope       text cu \"private\"
             project_id  text r  @project",
    ..plain(&MISTRAL)
};

fn serve(turn: &mut Turn<'_>) -> Answer {
    let parts = turn.ask.parts();
    let ["v2", path @ ..] = parts.as_slice() else { return Err(refuse(404, "Not Found")) };
    let method = turn.ask.method.clone();
    match (method.as_str(), path) {
        ("POST", ["workflows"]) => save(turn, true),
        ("PUT", ["workflows"]) => save(turn, false),
        ("PUT", ["workflows", _]) => save(turn, false),
        ("GET", ["tasks" | "actions" | "workbooks" | "services", ..]) => {
            let word = path.first().copied().unwrap_or_default();
            Ok(Reply::ok(json!({ word: [] })))
        }
        ("POST", ["executions"]) if is_known(turn) => {
            // Whoever sends the same id again means the same execution.
            let id = turn.body["id"].as_str().unwrap_or_default().to_owned();
            turn.find(&EXECUTION, &id).map(|row| Reply::json(201, json!(row)))
        }
        ("GET", ["executions", id, "tasks"]) => {
            turn.find(&EXECUTION, id).map(|_| Reply::ok(json!({ "tasks": [] })))
        }
        _ => rest::serve(turn, COLLECTIONS, path).unwrap_or_else(|| Err(refuse(404, "Not Found"))),
    }
}

/// Whether an execution of the id that is sent is there.
fn is_known(turn: &Turn<'_>) -> bool {
    turn.body["id"].as_str().is_some_and(|id| turn.world.get(EXECUTIONS, id).is_some())
}

/// The names of the workflows in a definition: what stands at the beginning of a line, except the version.
fn names(definition: &str) -> Vec<String> {
    let name = |line: &str| {
        let starts = line.starts_with(|letter: char| {
            letter.is_alphanumeric() || letter == '_' || letter == '"' || letter == '\''
        });
        let name = line.split_once(':')?.0.trim().trim_matches(['"', '\'']);
        (starts && name != "version").then(|| name.to_owned())
    };
    definition.lines().filter_map(name).collect()
}

/// Takes the workflows of a definition: new ones, or changed ones.
fn save(turn: &mut Turn<'_>, is_new: bool) -> Answer {
    let definition = String::from_utf8_lossy(&turn.ask.bytes).into_owned();
    // JSON is YAML as well, and some clients send it.
    let found = match &turn.body {
        Value::Object(body) => body.keys().filter(|name| *name != "version").cloned().collect(),
        _ => names(&definition),
    };
    if found.is_empty() {
        return Err(refuse(400, "Invalid DSL: the workflow definition is empty."));
    }
    let mut rows: Vec<Obj> = Vec::new();
    for name in found {
        let there = turn.find(&WORKFLOW, &name).ok();
        let row = match (there, is_new) {
            (Some(_), true) => {
                let message = format!(
                    "Duplicate entry for WorkflowDefinition ['name', 'namespace', 'project_id']: {name}, , {}",
                    turn.who.project
                );
                return Err(refuse(409, message));
            }
            (None, false) => return Err(missing(&name)),
            (Some(row), false) => row,
            (None, true) => object(
                json!({ "id": turn.world.uuid(), "created_at": turn.world.stamp_bare().replace('T', " ") }),
            ),
        };
        let mut row = row;
        for (field, value) in [
            ("name", json!(name)),
            ("definition", json!(definition)),
            ("input", json!("")),
            ("namespace", json!("")),
            ("scope", json!(turn.ask.query("scope").unwrap_or("private"))),
            ("tags", json!([])),
            ("interface", Value::Null),
            ("project_id", json!(turn.who.project)),
            ("updated_at", json!(turn.world.stamp_bare().replace('T', " "))),
        ] {
            set(&mut row, field, value);
        }
        turn.world.add(WORKFLOWS, row.clone());
        rows.push(row);
    }
    Ok(Reply::json(if is_new { 201 } else { 200 }, json!({ "workflows": rows })))
}

fn missing(name: &str) -> Refusal {
    refuse(404, format!("Workflow not found [workflow_identifier={name}, namespace=]"))
}
