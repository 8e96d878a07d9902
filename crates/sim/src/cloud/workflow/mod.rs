//! The workflow service: Mistral, version 2. Workflows are stored as text; an execution does nothing and succeeds.

use serde_json::{Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::request::{Answer, Refusal, Reply, RequestContext, object, set, text};
use super::rest;
use super::schema::Collection;
use super::services::Service;
use super::table::Obj;
use super::versions;

static MISTRAL: ErrorStyle =
    ErrorStyle { form: ErrorForm::Faultstring, missing: "not found", bad: 400 };

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
    versions: |base, path| {
        versions::single(path, "v2", json!({ "uri": format!("{base}/v2") }), |_| {
            let mut version = versions::current(base, "v2.0", "v2", json!({}));
            version["links"][0]["target"] = json!("v2");
            json!({ "versions": [version] })
        })
    },
    seed: |_| (),
};

static WORKFLOW: Collection = Collection {
    name: WORKFLOWS,
    path: "workflows",
    plural: "workflows",
    title: "Workflow",
    operations: "LSD",
    by_name: true,
    fields: "name text r \"\"\n scope text r \"private\"\n project_id text r @project",
    remove: |ctx, row| {
        let used =
            ctx.state.table(TRIGGERS).iter().any(|trigger| trigger["workflow_name"] == row["name"]);
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
    ..Collection::new(&MISTRAL)
};

static EXECUTION: Collection = Collection {
    name: EXECUTIONS,
    path: "executions",
    plural: "executions",
    title: "WorkflowExecution",
    operations: "CLSUD",
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
    make: |ctx, row| {
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
        let workflow = ctx.find(&WORKFLOW, &wanted).map_err(|_| {
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
        set(row, "created_at", ctx.state.timestamp_seconds().replace('T', " "));
        set(row, "updated_at", Value::Null);
        let id = text(row, "id").to_owned();
        let state = if ctx.state.fail_builds { "ERROR" } else { "SUCCESS" };
        ctx.state.when_built(EXECUTIONS, &id, json!({ "state": state }));
        Ok(())
    },
    remove: |ctx, row| {
        let done = ["SUCCESS", "ERROR", "CANCELLED"].contains(&text(row, "state"));
        let force =
            ctx.request.query("force").is_some_and(|word| word.eq_ignore_ascii_case("true"));
        if !done && !force {
            return Err(refuse(
                403,
                "Only completed executions can be deleted. Use --force to override this.",
            ));
        }
        Ok(())
    },
    ..Collection::new(&MISTRAL)
};

static TRIGGER: Collection = Collection {
    name: TRIGGERS,
    path: "cron_triggers",
    plural: "cron_triggers",
    title: "Cron Trigger",
    operations: "CLSD",
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
    make: |ctx, row| {
        if row["pattern"].is_null() && row["first_execution_time"].is_null() {
            return Err(refuse(400, "Pattern or first_execution_time must be specified."));
        }
        let wanted = match text(row, "workflow_id") {
            "" => text(row, "workflow_name").to_owned(),
            id => id.to_owned(),
        };
        let workflow = ctx.find(&WORKFLOW, &wanted).map_err(|_| {
            refuse(404, format!("Workflow not found [workflow_identifier={wanted}]"))
        })?;
        if ctx.state.table(TRIGGERS).count("name", text(row, "name")) > 0 {
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
            .unwrap_or_else(|| ctx.state.timestamp_seconds());
        set(row, "next_execution_time", next);
        Ok(())
    },
    ..Collection::new(&MISTRAL)
};

static ENVIRONMENT: Collection = Collection {
    name: "workflow/environments",
    path: "environments",
    plural: "environments",
    title: "Environment",
    key: "name",
    fields: "name        text cu !
             description text cu \"\"
             variables   any  cu \"{}\"
             scope       text cu \"private\"
             project_id  text r  @project",
    ..Collection::new(&MISTRAL)
};

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v2", path @ ..] = parts.as_slice() else { return Err(refuse(404, "Not Found")) };
    let method = ctx.request.method.clone();
    match (method.as_str(), path) {
        ("POST", ["workflows"]) => save(ctx, true),
        ("PUT", ["workflows"]) => save(ctx, false),
        ("PUT", ["workflows", _]) => save(ctx, false),
        ("GET", ["tasks" | "actions" | "workbooks" | "services", ..]) => {
            let word = path.first().copied().unwrap_or_default();
            Ok(Reply::ok(json!({ word: [] })))
        }
        ("POST", ["executions"]) if is_known(ctx) => {
            // A repeated id refers to the same execution.
            let id = ctx.body["id"].as_str().unwrap_or_default().to_owned();
            ctx.find(&EXECUTION, &id).map(|row| Reply::json(201, json!(row)))
        }
        ("GET", ["executions", id, "tasks"]) => {
            ctx.find(&EXECUTION, id).map(|_| Reply::ok(json!({ "tasks": [] })))
        }
        _ => rest::serve(ctx, COLLECTIONS, path).unwrap_or_else(|| Err(refuse(404, "Not Found"))),
    }
}

/// Reports whether an execution with the requested id exists.
fn is_known(ctx: &RequestContext<'_>) -> bool {
    ctx.body["id"].as_str().is_some_and(|id| ctx.state.get(EXECUTIONS, id).is_some())
}

/// Returns the names of the workflows in a definition: the keys at the beginning of a line, except the version.
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

/// Stores the workflows of a definition, new or changed ones.
fn save(ctx: &mut RequestContext<'_>, is_new: bool) -> Answer {
    let definition = String::from_utf8_lossy(&ctx.request.bytes).into_owned();
    // JSON is also YAML, and some clients send it.
    let found = match &ctx.body {
        Value::Object(body) => body.keys().filter(|name| *name != "version").cloned().collect(),
        _ => names(&definition),
    };
    if found.is_empty() {
        return Err(refuse(400, "Invalid DSL: the workflow definition is empty."));
    }
    let mut rows: Vec<Obj> = Vec::new();
    for name in found {
        let there = ctx.find(&WORKFLOW, &name).ok();
        let row = match (there, is_new) {
            (Some(_), true) => {
                let message = format!(
                    "Duplicate entry for WorkflowDefinition ['name', 'namespace', 'project_id']: {name}, , {}",
                    ctx.caller.project
                );
                return Err(refuse(409, message));
            }
            (None, false) => return Err(missing(&name)),
            (Some(row), false) => row,
            (None, true) => object(
                json!({ "id": ctx.state.uuid(), "created_at": ctx.state.timestamp_seconds().replace('T', " ") }),
            ),
        };
        let mut row = row;
        for (field, value) in [
            ("name", json!(name)),
            ("definition", json!(definition)),
            ("input", json!("")),
            ("namespace", json!("")),
            ("scope", json!(ctx.request.query("scope").unwrap_or("private"))),
            ("tags", json!([])),
            ("interface", Value::Null),
            ("project_id", json!(ctx.caller.project)),
            ("updated_at", json!(ctx.state.timestamp_seconds().replace('T', " "))),
        ] {
            set(&mut row, field, value);
        }
        ctx.state.add(WORKFLOWS, row.clone());
        rows.push(row);
    }
    Ok(Reply::json(if is_new { 201 } else { 200 }, json!({ "workflows": rows })))
}

fn missing(name: &str) -> Refusal {
    refuse(404, format!("Workflow not found [workflow_identifier={name}, namespace=]"))
}
