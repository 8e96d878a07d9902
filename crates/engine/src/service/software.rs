//! Software configurations and deployments that stand by themselves.

use super::{Asker, Refusal, Service, Watched};
use crate::codec;
use crate::ids::Ids;
use crate::objects::{ObjectKind, ObjectQuery, ObjectRow};
use crate::runtime::{Chance, now};
use kiln_template::Value;
use kiln_template::value::{Members, Secret};
use std::sync::Arc;
use uuid::Uuid;

/// The types that inputs and outputs of a configuration can have.
const TYPES: [&str; 5] = ["String", "Number", "CommaDelimitedList", "Json", "Boolean"];

/// The maps that a deployment has, which an update may change.
const MAPS: [&str; 2] = ["input_values", "output_values"];

/// The texts that a deployment has, which an update may change.
const TEXTS: [&str; 3] = ["action", "status", "status_reason"];

/// The longest id of a project.
const MAX_PROJECT: usize = 64;

/// A configuration or a deployment.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its row.
    pub row: ObjectRow,
    /// What it holds.
    pub body: Arc<Members>,
}

impl Kept {
    fn of(row: ObjectRow) -> Kept {
        let body = match codec::decode(&row.body) {
            Ok(Value::Map(members)) => members,
            _ => Arc::default(),
        };
        Kept { row, body }
    }

    /// What it has under a name.
    pub fn get(&self, name: &str) -> Value {
        self.body.get(name).cloned().unwrap_or_default()
    }
}

impl Service {
    // --- configurations ---

    /// Keeps a configuration.
    pub async fn create_config(&self, asker: &Asker, given: &Members) -> Result<Kept, Refusal> {
        let query = ObjectQuery {
            project: Some(asker.project.clone()),
            ..ObjectQuery::of(ObjectKind::Config)
        };
        self.check_object_quota(asker, &query, self.rules.max_configs, "configs").await?;
        self.keep(ObjectKind::Config, asker, "", None, config_body(given)?).await
    }

    /// Keeps a configuration under the id that its resource drew for it; the parts of it that are hidden
    /// stay so. Whoever does that twice has one configuration.
    pub async fn put_config(
        &self,
        asker: &Asker,
        id: Uuid,
        given: &Members,
        hidden: &[&str],
    ) -> Result<(), Refusal> {
        let mut body = config_body(given)?.as_map().cloned().unwrap_or_default();
        for (_, value) in body.iter_mut().filter(|(name, _)| hidden.contains(&&***name)) {
            *value = Value::Secret(Secret::new(std::mem::take(value)));
        }
        let query = ObjectQuery {
            project: Some(asker.project.clone()),
            ..ObjectQuery::of(ObjectKind::Config)
        };
        match self.store.object(ObjectKind::Config, id).await? {
            Some(row) if row.project != asker.project => return Err(no_config(&id.to_string())),
            Some(_) => return Ok(()),
            None => {}
        }
        self.check_object_quota(asker, &query, self.rules.max_configs, "configs").await?;
        self.put(id, ObjectKind::Config, asker, "", None, Value::Map(body.into())).await.map(drop)
    }

    /// A configuration.
    pub async fn config_of(&self, asker: &Asker, id: &str) -> Result<Kept, Refusal> {
        let found = self.kept(ObjectKind::Config, id).await?;
        let found = found.filter(|it| asker.is_admin || it.row.project == asker.project);
        found.ok_or_else(|| no_config(id))
    }

    /// A page of configurations, the newest first.
    pub async fn configs(
        &self,
        asker: &Asker,
        marker: Option<Uuid>,
        limit: Option<u64>,
    ) -> Result<Vec<Kept>, Refusal> {
        let query = ObjectQuery {
            project: (!asker.is_admin).then(|| asker.project.clone()),
            descending: true,
            marker,
            limit,
            ..ObjectQuery::of(ObjectKind::Config)
        };
        match limit {
            Some(0) => Ok(Vec::new()),
            _ => Ok(self.store.objects(&query).await?.into_iter().map(Kept::of).collect()),
        }
    }

    /// Forgets a configuration, if nothing uses it.
    pub async fn delete_config(&self, asker: &Asker, id: &str) -> Result<(), Refusal> {
        let config = self.config_of(asker, id).await?;
        let uses = Some(config.row.id);
        let query = ObjectQuery { uses, ..ObjectQuery::of(ObjectKind::Deployment) };
        if self.store.count_objects(&query).await? > 0 {
            let message =
                format!("Software config with id {id} can not be deleted as it is referenced.");
            return Err(Refusal::new("InvalidRestrictedAction", message));
        }
        self.store.drop_object(ObjectKind::Config, config.row.id).await?;
        Ok(())
    }

    // --- deployments ---

    /// Keeps a deployment.
    pub async fn create_deployment(&self, asker: &Asker, given: &Members) -> Result<Kept, Refusal> {
        let query = ObjectQuery {
            project: Some(asker.project.clone()),
            ..ObjectQuery::of(ObjectKind::Deployment)
        };
        let limit = self.rules.max_deployments;
        self.check_object_quota(asker, &query, limit, "deployments").await?;
        check_kinds(given, &MAPS, &TEXTS)?;
        let part = |name: &str| given.get(name).cloned().unwrap_or_default();
        let Some(server) = part("server_id").as_text().cloned() else {
            let message = "Data supplied was not valid: server_id must be specified";
            return Err(Refusal::new("Invalid", message));
        };
        let config = match part("config_id") {
            Value::Null => None,
            id => Some(self.config_of(asker, &kiln_template::print::plain(&id)).await?.row.id),
        };
        let user_project = part("stack_user_project_id");
        if user_project.as_text().is_some_and(|it| it.chars().count() > MAX_PROJECT) {
            let message = format!(
                "Data supplied was not valid: stack_user_project_id should be at most {MAX_PROJECT} \
                 characters"
            );
            return Err(Refusal::new("Invalid", message));
        }
        let reason = match part("status_reason") {
            Value::Null => "None".into(),
            reason => reason,
        };
        let input_values = match part("input_values") {
            Value::Null => Value::Map(Arc::default()),
            values => values,
        };
        let body = Value::map([
            ("input_values", input_values),
            ("output_values", Value::Null),
            ("action", part("action")),
            ("status", part("status")),
            ("status_reason", reason),
            ("stack_user_project_id", user_project),
        ]);
        self.keep(ObjectKind::Deployment, asker, &server, config, body).await
    }

    /// Keeps a deployment under the id that its resource drew for it, or changes what is given of it.
    /// Whoever does that twice has one deployment.
    pub async fn put_deployment(
        &self,
        asker: &Asker,
        id: Uuid,
        given: &Members,
    ) -> Result<(), Refusal> {
        check_kinds(given, &MAPS, &TEXTS)?;
        let known = self.store.object(ObjectKind::Deployment, id).await?.map(Kept::of);
        let mut kept = match known {
            Some(kept) if kept.row.project != asker.project => {
                return Err(no_deployment(&id.to_string()));
            }
            Some(mut kept) => {
                kept.row.updated = Some(now());
                kept
            }
            None => {
                let query = ObjectQuery {
                    project: Some(asker.project.clone()),
                    ..ObjectQuery::of(ObjectKind::Deployment)
                };
                let limit = self.rules.max_deployments;
                self.check_object_quota(asker, &query, limit, "deployments").await?;
                Kept::of(new_row(id, ObjectKind::Deployment, asker, "", None, &Value::Null))
            }
        };
        if let Some(server) = given.get("server_id").and_then(Value::as_text) {
            kept.row.subject = server.clone();
        }
        if let Some(config) = given.get("config_id").and_then(Value::as_text) {
            kept.row.uses = Uuid::parse_str(config).ok();
        }
        let body = Arc::make_mut(&mut kept.body);
        for name in MAPS.into_iter().chain(TEXTS).chain(["stack_user_project_id"]) {
            if let Some(value) = given.get(name) {
                body.insert(name.into(), value.clone());
            }
        }
        kept.row.body = codec::encode(&Value::Map(kept.body.clone()));
        let server = kept.row.subject.clone();
        self.store.put_object(kept.row).await?;
        self.changes.tell(&Watched::Server(server));
        Ok(())
    }

    /// A deployment.
    pub async fn deployment(&self, asker: &Asker, id: &str) -> Result<Kept, Refusal> {
        let found = self.kept(ObjectKind::Deployment, id).await?;
        let found = found.filter(|it| sees_deployment(asker, it));
        found.ok_or_else(|| no_deployment(id))
    }

    /// Deployments, the oldest first.
    pub async fn deployments(
        &self,
        asker: &Asker,
        server: Option<&str>,
    ) -> Result<Vec<Kept>, Refusal> {
        let query = ObjectQuery {
            subject: server.map(Arc::from),
            project: server.is_none().then(|| asker.project.clone()).filter(|_| !asker.is_admin),
            ..ObjectQuery::of(ObjectKind::Deployment)
        };
        let all = self.store.objects(&query).await?.into_iter().map(Kept::of);
        Ok(all.filter(|it| sees_deployment(asker, it)).collect())
    }

    /// The configurations that a server has to apply.
    pub async fn server_configs(&self, asker: &Asker, server: &str) -> Result<Vec<Kept>, Refusal> {
        let mut configs = Vec::new();
        for deployment in self.deployments(asker, Some(server)).await? {
            if let Some(id) = deployment.row.uses
                && let Some(config) = self.store.object(ObjectKind::Config, id).await?
            {
                configs.push(Kept::of(config));
            }
        }
        configs.sort_by_key(|it| kiln_template::print::plain(&it.get("name")));
        Ok(configs)
    }

    /// Changes a deployment: whatever is given, and is not empty.
    pub async fn update_deployment(
        &self,
        asker: &Asker,
        id: &str,
        given: &Members,
    ) -> Result<Kept, Refusal> {
        check_kinds(given, &MAPS, &TEXTS)?;
        let mut deployment = self.deployment(asker, id).await?;
        let body = Arc::make_mut(&mut deployment.body);
        for name in MAPS.into_iter().chain(TEXTS) {
            if let Some(value) = given.get(name).filter(|value| value.is_truthy()) {
                body.insert(name.into(), value.clone());
            }
        }
        if let Some(config) = given.get("config_id").filter(|value| value.is_truthy()) {
            let config = self.config_of(asker, &kiln_template::print::plain(config)).await?;
            deployment.row.uses = Some(config.row.id);
        }
        deployment.row.updated = Some(now());
        deployment.row.body = codec::encode(&Value::Map(deployment.body.clone()));
        self.store.put_object(deployment.row.clone()).await?;
        self.changes.tell(&Watched::Server(deployment.row.subject.clone()));
        Ok(deployment)
    }

    /// Forgets a deployment.
    pub async fn delete_deployment(&self, asker: &Asker, id: &str) -> Result<(), Refusal> {
        let deployment = self.deployment(asker, id).await?;
        self.store.drop_object(ObjectKind::Deployment, deployment.row.id).await?;
        self.changes.tell(&Watched::Server(deployment.row.subject));
        Ok(())
    }

    // --- both ---

    async fn kept(&self, kind: ObjectKind, id: &str) -> Result<Option<Kept>, Refusal> {
        let Ok(id) = Uuid::parse_str(id) else { return Ok(None) };
        Ok(self.store.object(kind, id).await?.map(Kept::of))
    }

    async fn keep(
        &self,
        kind: ObjectKind,
        asker: &Asker,
        subject: &str,
        uses: Option<Uuid>,
        body: Value,
    ) -> Result<Kept, Refusal> {
        self.put(Chance::default().next(), kind, asker, subject, uses, body).await
    }

    async fn put(
        &self,
        id: Uuid,
        kind: ObjectKind,
        asker: &Asker,
        subject: &str,
        uses: Option<Uuid>,
        body: Value,
    ) -> Result<Kept, Refusal> {
        let row = new_row(id, kind, asker, subject, uses, &body);
        self.store.put_object(row.clone()).await?;
        self.changes.tell(&Watched::Server(row.subject.clone()));
        Ok(Kept::of(row))
    }

    async fn check_object_quota(
        &self,
        asker: &Asker,
        query: &ObjectQuery,
        limit: Option<u64>,
        what: &str,
    ) -> Result<(), Refusal> {
        let Some(limit) = limit.filter(|_| !asker.is_admin) else { return Ok(()) };
        match self.store.count_objects(query).await? >= limit {
            false => Ok(()),
            true => Err(Refusal::limit(format_args!(
                "You have reached the maximum software {what} per tenant, {limit}. Please delete some \
                 {what}."
            ))),
        }
    }
}

/// A configuration as it is kept.
fn config_body(given: &Members) -> Result<Value, Refusal> {
    check_kinds(given, &[], &["name", "group"])?;
    let part = |name: &str| given.get(name).cloned().unwrap_or_default();
    let list = |name: &str, checked: fn(&Members) -> Option<Value>| match part(name) {
        Value::Null => Ok(Value::list([])),
        Value::List(items) => {
            let items = items.iter().map(|item| item.as_map().and_then(checked));
            let items: Option<Vec<Value>> = items.collect();
            items.map(Value::list).ok_or(BARE_VALUE_ERROR)
        }
        _ => Err(malformed()),
    };
    let options = match part("options") {
        Value::Null => Value::Map(Arc::default()),
        options @ Value::Map(_) => options,
        _ => return Err(malformed()),
    };
    Ok(Value::map([
        ("name", part("name")),
        ("group", part("group")),
        ("config", part("config")),
        ("inputs", list("inputs", input)?),
        ("outputs", list("outputs", output)?),
        ("options", options),
    ]))
}

const BARE_VALUE_ERROR: Refusal =
    Refusal { kind: "ValueError", message: None, findings: Vec::new() };

fn malformed() -> Refusal {
    Refusal::new(
        "HTTPBadRequest",
        "The server could not comply with the request since it is either malformed or otherwise \
         incorrect.",
    )
}

/// Refuses what is neither missing nor of its kind.
fn check_kinds(given: &Members, maps: &[&str], texts: &[&str]) -> Result<(), Refusal> {
    let is = |name: &str, fits: fn(&Value) -> bool| given.get(name).is_none_or(fits);
    let are_good = maps.iter().all(|name| is(name, |it| matches!(it, Value::Null | Value::Map(_))))
        && texts.iter().all(|name| is(name, |it| matches!(it, Value::Null | Value::Text(_))));
    are_good.then_some(()).ok_or_else(malformed)
}

fn no_deployment(id: &str) -> Refusal {
    Refusal::new("NotFound", format!("Deployment with id {id} not found"))
}

fn new_row(
    id: Uuid,
    kind: ObjectKind,
    asker: &Asker,
    subject: &str,
    uses: Option<Uuid>,
    body: &Value,
) -> ObjectRow {
    ObjectRow {
        id,
        kind,
        project: asker.project.clone(),
        subject: subject.into(),
        uses,
        created: now(),
        updated: None,
        body: codec::encode(body),
    }
}

fn no_config(id: &str) -> Refusal {
    Refusal::new("NotFound", format!("Software config with id {id} not found"))
}

fn sees_deployment(asker: &Asker, deployment: &Kept) -> bool {
    let user_project = deployment.get("stack_user_project_id");
    asker.is_admin
        || deployment.row.project == asker.project
        || user_project.as_text().is_some_and(|it| *it == asker.project)
}

/// The type of an input or an output.
fn kind_of(given: &Members) -> Option<Value> {
    match given.get("type") {
        None | Some(Value::Null) => Some("String".into()),
        Some(Value::Text(kind)) if TYPES.contains(&&**kind) => Some(Value::Text(kind.clone())),
        Some(_) => None,
    }
}

/// An input as it is kept.
fn input(given: &Members) -> Option<Value> {
    let mut kept = Members::new();
    kept.insert("name".into(), given.get("name").filter(|it| !it.is_null())?.clone());
    if let Some(about) = given.get("description").filter(|it| !it.is_null()) {
        kept.insert("description".into(), about.clone());
    }
    kept.insert("type".into(), kind_of(given)?);
    for name in ["default", "value"] {
        if let Some(value) = given.get(name).filter(|it| !it.is_null()) {
            kept.insert(name.into(), value.clone());
        }
    }
    if given.get("replace_on_change").is_some_and(Value::is_truthy) {
        kept.insert("replace_on_change".into(), true.into());
    }
    Some(Value::Map(Arc::new(kept)))
}

/// An output as it is kept.
fn output(given: &Members) -> Option<Value> {
    let mut kept = Members::new();
    kept.insert("name".into(), given.get("name").filter(|it| !it.is_null())?.clone());
    if let Some(about) = given.get("description").filter(|it| !it.is_null()) {
        kept.insert("description".into(), about.clone());
    }
    kept.insert("type".into(), kind_of(given)?);
    let is_error = given.get("error_output").is_some_and(Value::is_truthy);
    kept.insert("error_output".into(), is_error.into());
    Some(Value::Map(Arc::new(kept)))
}
