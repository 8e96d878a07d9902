//! Software configurations and deployments.

use super::{ChangeTopic, RequestError, Requester, Service};
use crate::error_type::ErrorType;
use crate::ids::Ids;
use crate::objects::{ObjectKind, ObjectQuery, ObjectRow};
use crate::record::v1::{SoftwareBody, StackBody};
use crate::record::{Record, StoredMembers};
use crate::runtime::{SystemIds, now};
use crate::store::{StackQuery, StoreError};
use kiln_resources::op::{owner_of_users_project, users_project_name};
use kiln_resources::wire;
use kiln_template::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

/// The types that inputs and outputs of a configuration can have.
const TYPES: [&str; 5] = ["String", "Number", "CommaDelimitedList", "Json", "Boolean"];

/// The map fields of a deployment that an update may change.
const MAPS: [&str; 2] = ["input_values", "output_values"];

/// The text fields of a deployment that an update may change.
const TEXTS: [&str; 3] = ["action", "status", "status_reason"];

/// The longest id of a project.
const MAX_PROJECT: usize = 64;

/// A configuration or a deployment.
#[derive(Clone, Debug)]
pub struct SoftwareObject {
    /// The row of the object.
    pub row: ObjectRow,
    /// The fields of the object.
    pub body: Arc<Members>,
}

impl SoftwareObject {
    fn from_row(row: ObjectRow) -> Result<SoftwareObject, StoreError> {
        let SoftwareBody { fields: StoredMembers(body) } = SoftwareBody::read(&row.body, row.id)?;
        Ok(SoftwareObject { row, body })
    }

    /// The objects of rows; those that cannot be read are logged and left out.
    fn readable(rows: Vec<ObjectRow>) -> Vec<SoftwareObject> {
        let read = |row: ObjectRow| {
            let object = SoftwareObject::from_row(row);
            object.inspect_err(|error| tracing::error!(%error, "an object is left out")).ok()
        };
        rows.into_iter().filter_map(read).collect()
    }

    /// Writes what it holds into its row.
    fn seal(&mut self) {
        self.row.body = SoftwareBody { fields: StoredMembers(self.body.clone()) }.encode();
    }

    /// A field; null if it is missing.
    pub fn get(&self, name: &str) -> Value {
        self.body.get(name).cloned().unwrap_or_default()
    }
}

impl Service {
    // --- configurations ---

    /// Creates a configuration.
    pub async fn create_config(
        &self,
        requester: &Requester,
        supplied: &Members,
    ) -> Result<SoftwareObject, RequestError> {
        self.check_object_quota(requester, ObjectKind::Config).await?;
        self.create_object(ObjectKind::Config, requester, "", None, config_body(supplied)?).await
    }

    /// Stores a configuration under the id that its resource chose; the hidden parts are stored as secrets. A repeated
    /// call changes nothing.
    pub(crate) async fn put_config(
        &self,
        requester: &Requester,
        id: Uuid,
        supplied: &Members,
        hidden: &[&str],
    ) -> Result<(), RequestError> {
        let body = wire::hide_parts(config_body(supplied)?, hidden.iter().copied());
        match self.store.object(ObjectKind::Config, id).await? {
            Some(row) if row.project != requester.project => {
                return Err(no_config(&id.to_string()));
            }
            Some(_) => return Ok(()),
            None => {}
        }
        self.check_object_quota(requester, ObjectKind::Config).await?;
        self.put(id, ObjectKind::Config, requester, "", None, body).await.map(drop)
    }

    /// A configuration.
    pub async fn config_by_id(
        &self,
        requester: &Requester,
        id: &str,
    ) -> Result<SoftwareObject, RequestError> {
        let found = self.find_object(ObjectKind::Config, id).await?;
        let found = found.filter(|it| requester.is_admin || it.row.project == requester.project);
        found.ok_or_else(|| no_config(id))
    }

    /// A page of configurations, the newest first, without their bodies.
    pub async fn configs(
        &self,
        requester: &Requester,
        marker: Option<Uuid>,
        limit: Option<u64>,
    ) -> Result<Vec<ObjectRow>, RequestError> {
        let query = ObjectQuery {
            project: (!requester.is_admin).then(|| requester.project.clone()),
            descending: true,
            marker,
            limit,
            with_bodies: false,
            ..ObjectQuery::new(ObjectKind::Config)
        };
        match limit {
            Some(0) => Ok(Vec::new()),
            _ => Ok(self.store.objects(&query).await?),
        }
    }

    /// Deletes a configuration, unless a deployment uses it.
    pub async fn delete_config(&self, requester: &Requester, id: &str) -> Result<(), RequestError> {
        let config = self.config_by_id(requester, id).await?;
        let uses = Some(config.row.id);
        let query = ObjectQuery { uses, ..ObjectQuery::new(ObjectKind::Deployment) };
        if self.store.count_objects(&query).await? > 0 {
            let message =
                format!("Software config with id {id} can not be deleted as it is referenced.");
            return Err(RequestError::new(ErrorType::InvalidRestrictedAction, message));
        }
        self.store.drop_object(ObjectKind::Config, config.row.id).await?;
        Ok(())
    }

    // --- deployments ---

    /// Creates a deployment.
    pub async fn create_deployment(
        &self,
        requester: &Requester,
        supplied: &Members,
    ) -> Result<SoftwareObject, RequestError> {
        self.check_object_quota(requester, ObjectKind::Deployment).await?;
        check_kinds(supplied, &MAPS, &TEXTS)?;
        let part = |name: &str| supplied.get(name).cloned().unwrap_or_default();
        let Some(server) = part("server_id").as_text().cloned() else {
            let message = "Data supplied was not valid: server_id must be specified";
            return Err(RequestError::new(ErrorType::Invalid, message));
        };
        let config = match part("config_id") {
            Value::Null => None,
            id => {
                Some(self.config_by_id(requester, &kiln_template::print::plain(&id)).await?.row.id)
            }
        };
        let user_project = part("stack_user_project_id");
        self.check_user_project(requester, &user_project).await?;
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
        self.create_object(ObjectKind::Deployment, requester, &server, config, body).await
    }

    /// Refuses the users' project of a deployment, unless it is the requester's own project or the project of the users
    /// of one of their stacks: the field says who may read the deployment.
    async fn check_user_project(
        &self,
        requester: &Requester,
        user_project: &Value,
    ) -> Result<(), RequestError> {
        let id = match user_project {
            Value::Null => return Ok(()),
            Value::Text(id) => id,
            _ => return Err(malformed()),
        };
        if id.chars().count() > MAX_PROJECT {
            let message = format!(
                "Data supplied was not valid: stack_user_project_id should be at most {MAX_PROJECT} \
                 characters"
            );
            return Err(RequestError::new(ErrorType::Invalid, message));
        }
        let is_own = requester.is_admin || id.is_empty() || *id == requester.project;
        if is_own || self.has_users_project(&requester.project, id).await? {
            return Ok(());
        }
        let message = "Data supplied was not valid: stack_user_project_id is neither your project nor the project of \
            the users of one of your stacks. Next: leave it out.";
        Err(RequestError::new(ErrorType::Forbidden, message))
    }

    /// Whether the users of one of a project's stacks are in the users' project with this id.
    async fn has_users_project(&self, project: &Arc<str>, id: &str) -> Result<bool, RequestError> {
        let query = StackQuery { project: Some(project.clone()), ..StackQuery::default() };
        for row in self.store.stacks(&query).await? {
            let Some(row) = self.store.stack(row.id).await? else { continue };
            if StackBody::read(&row.body, row.id)?.users_project.as_deref() == Some(id) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Stores a deployment under the id that its resource chose, or changes the supplied fields of it; the hidden parts
    /// are stored as secrets. A repeated call changes nothing.
    pub(crate) async fn put_deployment(
        &self,
        requester: &Requester,
        id: Uuid,
        supplied: &Members,
        hidden: &[&str],
    ) -> Result<(), RequestError> {
        check_kinds(supplied, &MAPS, &TEXTS)?;
        let supplied = Value::Map(Arc::new(supplied.clone()));
        let supplied = wire::hide_parts(supplied, hidden.iter().copied());
        let supplied = supplied.as_map().ok_or_else(malformed)?;
        let known = self.store.object(ObjectKind::Deployment, id).await?;
        let known = known.map(SoftwareObject::from_row).transpose()?;
        let is_new = known.is_none();
        let mut kept = match known {
            Some(kept) if kept.row.project != requester.project => {
                return Err(no_deployment(&id.to_string()));
            }
            Some(mut kept) => {
                kept.row.updated = Some(now());
                kept
            }
            None => {
                self.check_object_quota(requester, ObjectKind::Deployment).await?;
                SoftwareObject {
                    row: new_row(id, ObjectKind::Deployment, requester, "", None),
                    body: Arc::default(),
                }
            }
        };
        if let Some(server) = supplied.get("server_id").and_then(Value::as_text) {
            kept.row.subject = server.clone();
        }
        if let Some(config) = supplied.get("config_id").and_then(Value::as_text) {
            kept.row.uses = Uuid::parse_str(config).ok();
        }
        let body = Arc::make_mut(&mut kept.body);
        for name in MAPS.into_iter().chain(TEXTS).chain(["stack_user_project_id"]) {
            if let Some(value) = supplied.get(name) {
                body.insert(name.into(), value.clone());
            }
        }
        kept.seal();
        let server = kept.row.subject.clone();
        match is_new {
            true => self.add_within_quota(requester, kept.row).await?,
            false => self.store.put_object(kept.row).await?,
        }
        self.changes.record_change(&ChangeTopic::Server(server));
        Ok(())
    }

    /// A deployment.
    pub async fn deployment(
        &self,
        requester: &Requester,
        id: &str,
    ) -> Result<SoftwareObject, RequestError> {
        let found = self.find_object(ObjectKind::Deployment, id).await?;
        let found = found.filter(|it| sees_deployment(requester, it));
        found.ok_or_else(|| no_deployment(id))
    }

    /// The objects of rows of a list, as far as the requester sees them and they still exist.
    pub async fn software_objects(
        &self,
        requester: &Requester,
        rows: &[ObjectRow],
    ) -> Result<Vec<SoftwareObject>, RequestError> {
        let Some(first) = rows.first() else { return Ok(Vec::new()) };
        let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
        let objects = self.store.objects_by_id(first.kind, &ids).await?;
        let mut objects = SoftwareObject::readable(objects);
        objects.retain(|it| match first.kind {
            ObjectKind::Deployment => sees_deployment(requester, it),
            _ => requester.is_admin || it.row.project == requester.project,
        });
        Ok(objects)
    }

    /// The deployments that the requester may see, the oldest first, without their bodies.
    pub async fn deployment_rows(
        &self,
        requester: &Requester,
        server: Option<&str>,
    ) -> Result<Vec<ObjectRow>, RequestError> {
        let query = ObjectQuery {
            subject: server.map(Arc::from),
            project: (!requester.is_admin).then(|| owner_project(requester)),
            with_bodies: false,
            ..ObjectQuery::new(ObjectKind::Deployment)
        };
        Ok(self.store.objects(&query).await?)
    }

    /// Deployments, the oldest first.
    async fn deployments(
        &self,
        requester: &Requester,
        server: Option<&str>,
    ) -> Result<Vec<SoftwareObject>, RequestError> {
        let query = ObjectQuery {
            subject: server.map(Arc::from),
            project: (!requester.is_admin).then(|| owner_project(requester)),
            ..ObjectQuery::new(ObjectKind::Deployment)
        };
        let all = SoftwareObject::readable(self.store.objects(&query).await?).into_iter();
        Ok(all.filter(|it| sees_deployment(requester, it)).collect())
    }

    /// The configurations that a server has to apply, as far as the requester may see the deployments.
    pub async fn server_configs(
        &self,
        requester: &Requester,
        server: &str,
    ) -> Result<Vec<SoftwareObject>, RequestError> {
        let deployments = self.deployments(requester, Some(server)).await?;
        self.configs_of(deployments).await
    }

    /// The configurations that a server of a project has to apply: only what that very project has deployed.
    pub async fn project_server_configs(
        &self,
        project: &Arc<str>,
        server: &str,
    ) -> Result<Vec<SoftwareObject>, RequestError> {
        let query = ObjectQuery {
            subject: Some(server.into()),
            project: Some(project.clone()),
            ..ObjectQuery::new(ObjectKind::Deployment)
        };
        self.configs_of(SoftwareObject::readable(self.store.objects(&query).await?)).await
    }

    /// Whether a stack user was created for a server of the stack that it belongs to.
    pub async fn is_user_of_server(
        &self,
        requester: &Requester,
        user: &str,
        server: &str,
    ) -> Result<bool, RequestError> {
        let project = owner_project(requester);
        let query = StackQuery { project: Some(project.clone()), ..StackQuery::default() };
        for root in self.store.stacks(&query).await? {
            let users = users_project_name(&project, root.id.0);
            let is_own = requester.stack_user_project.as_ref().is_none_or(|it| **it == *users);
            if is_own && self.view(&root).await?.is_user_of_server(user, server) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The configurations of deployments, by name. A deployment has a configuration of its own project only.
    async fn configs_of(
        &self,
        deployments: Vec<SoftwareObject>,
    ) -> Result<Vec<SoftwareObject>, RequestError> {
        let mut configs = Vec::new();
        for deployment in deployments {
            if let Some(id) = deployment.row.uses
                && let Some(config) = self.store.object(ObjectKind::Config, id).await?
                && config.project == deployment.row.project
            {
                configs.push(SoftwareObject::from_row(config)?);
            }
        }
        configs.sort_by_key(|it| kiln_template::print::plain(&it.get("name")));
        Ok(configs)
    }

    /// Changes the fields of a deployment that are supplied and not empty.
    pub async fn update_deployment(
        &self,
        requester: &Requester,
        id: &str,
        supplied: &Members,
    ) -> Result<SoftwareObject, RequestError> {
        check_kinds(supplied, &MAPS, &TEXTS)?;
        let mut deployment = self.deployment(requester, id).await?;
        let body = Arc::make_mut(&mut deployment.body);
        for name in MAPS.into_iter().chain(TEXTS) {
            if let Some(value) = supplied.get(name).filter(|value| value.is_truthy()) {
                body.insert(name.into(), value.clone());
            }
        }
        if let Some(config) = supplied.get("config_id").filter(|value| value.is_truthy()) {
            let config = self.config_by_id(requester, &kiln_template::print::plain(config)).await?;
            deployment.row.uses = Some(config.row.id);
        }
        deployment.row.updated = Some(now());
        deployment.seal();
        self.store.put_object(deployment.row.clone()).await?;
        self.changes.record_change(&ChangeTopic::Server(deployment.row.subject.clone()));
        Ok(deployment)
    }

    /// Deletes a deployment.
    pub async fn delete_deployment(
        &self,
        requester: &Requester,
        id: &str,
    ) -> Result<(), RequestError> {
        let deployment = self.deployment(requester, id).await?;
        self.store.drop_object(ObjectKind::Deployment, deployment.row.id).await?;
        self.changes.record_change(&ChangeTopic::Server(deployment.row.subject));
        Ok(())
    }

    // --- both ---

    async fn find_object(
        &self,
        kind: ObjectKind,
        id: &str,
    ) -> Result<Option<SoftwareObject>, RequestError> {
        let Ok(id) = Uuid::parse_str(id) else { return Ok(None) };
        Ok(self.store.object(kind, id).await?.map(SoftwareObject::from_row).transpose()?)
    }

    async fn create_object(
        &self,
        kind: ObjectKind,
        requester: &Requester,
        subject: &str,
        uses: Option<Uuid>,
        body: Value,
    ) -> Result<SoftwareObject, RequestError> {
        self.put(SystemIds::default().next(), kind, requester, subject, uses, body).await
    }

    async fn put(
        &self,
        id: Uuid,
        kind: ObjectKind,
        requester: &Requester,
        subject: &str,
        uses: Option<Uuid>,
        body: Value,
    ) -> Result<SoftwareObject, RequestError> {
        let body = Arc::new(body.as_map().cloned().unwrap_or_default());
        let row = new_row(id, kind, requester, subject, uses);
        let mut object = SoftwareObject { row, body };
        object.seal();
        self.add_within_quota(requester, object.row.clone()).await?;
        self.changes.record_change(&ChangeTopic::Server(object.row.subject.clone()));
        Ok(object)
    }

    /// A first check that spares the work of a request that will be refused; the store counts when it adds the object.
    async fn check_object_quota(
        &self,
        requester: &Requester,
        kind: ObjectKind,
    ) -> Result<(), RequestError> {
        let Some((limit, what)) = self.object_quota(requester, kind) else { return Ok(()) };
        let query =
            ObjectQuery { project: Some(requester.project.clone()), ..ObjectQuery::new(kind) };
        match self.store.count_objects(&query).await? >= limit {
            false => Ok(()),
            true => Err(quota_exceeded(limit, what)),
        }
    }

    /// Writes a new object, unless the project has as many as it may have.
    async fn add_within_quota(
        &self,
        requester: &Requester,
        row: ObjectRow,
    ) -> Result<(), RequestError> {
        let Some((limit, what)) = self.object_quota(requester, row.kind) else {
            return Ok(self.store.put_object(row).await?);
        };
        match self.store.put_object_within(row, limit).await? {
            true => Ok(()),
            false => Err(quota_exceeded(limit, what)),
        }
    }

    /// How many objects of a kind the project of a requester may have, and their name in messages.
    fn object_quota(&self, requester: &Requester, kind: ObjectKind) -> Option<(u64, &'static str)> {
        let (limit, what) = match kind {
            ObjectKind::Config => (self.rules.max_configs, "configs"),
            ObjectKind::Deployment => (self.rules.max_deployments, "deployments"),
            _ => (None, ""),
        };
        Some((limit.filter(|_| !requester.is_admin)?, what))
    }
}

fn quota_exceeded(limit: u64, what: &str) -> RequestError {
    RequestError::limit_exceeded(format_args!(
        "You have reached the maximum software {what} per tenant, {limit}. Please delete some {what}."
    ))
}

/// The stored form of a configuration.
fn config_body(supplied: &Members) -> Result<Value, RequestError> {
    check_kinds(supplied, &[], &["name", "group"])?;
    let part = |name: &str| supplied.get(name).cloned().unwrap_or_default();
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

const BARE_VALUE_ERROR: RequestError =
    RequestError { error_type: ErrorType::ValueError, message: None, findings: Vec::new() };

fn malformed() -> RequestError {
    RequestError::new(
        ErrorType::HttpBadRequest,
        "The server could not comply with the request since it is either malformed or otherwise \
         incorrect.",
    )
}

/// Refuses fields of the wrong type.
fn check_kinds(supplied: &Members, maps: &[&str], texts: &[&str]) -> Result<(), RequestError> {
    let is = |name: &str, fits: fn(&Value) -> bool| supplied.get(name).is_none_or(fits);
    let are_good = maps.iter().all(|name| is(name, |it| matches!(it, Value::Null | Value::Map(_))))
        && texts.iter().all(|name| is(name, |it| matches!(it, Value::Null | Value::Text(_))));
    are_good.then_some(()).ok_or_else(malformed)
}

fn no_deployment(id: &str) -> RequestError {
    RequestError::new(ErrorType::NotFound, format!("Deployment with id {id} not found"))
}

fn new_row(
    id: Uuid,
    kind: ObjectKind,
    requester: &Requester,
    subject: &str,
    uses: Option<Uuid>,
) -> ObjectRow {
    ObjectRow {
        id,
        kind,
        project: requester.project.clone(),
        subject: subject.into(),
        uses,
        created: now(),
        updated: None,
        body: Vec::new(),
    }
}

fn no_config(id: &str) -> RequestError {
    RequestError::new(ErrorType::NotFound, format!("Software config with id {id} not found"))
}

/// Whether the requester may see a deployment: one of their project, or, for the user of a stack, one of the project
/// that the stack belongs to and that is meant for the stack's users.
fn sees_deployment(requester: &Requester, deployment: &SoftwareObject) -> bool {
    let user_project = deployment.get("stack_user_project_id");
    let is_for_users = user_project.as_text().is_some_and(|it| *it == requester.project);
    requester.is_admin
        || deployment.row.project == requester.project
        || deployment.row.project == owner_project(requester) && is_for_users
}

/// The project whose deployments the requester may see: their own, or that of the stack whose user they are. The name
/// of the users' project proves which one that is.
fn owner_project(requester: &Requester) -> Arc<str> {
    let owner = requester.stack_user_project.as_deref().and_then(owner_of_users_project);
    owner.map_or_else(|| requester.project.clone(), Arc::from)
}

/// The type of an input or an output.
fn kind_of(supplied: &Members) -> Option<Value> {
    match supplied.get("type") {
        None | Some(Value::Null) => Some("String".into()),
        Some(Value::Text(kind)) if TYPES.contains(&&**kind) => Some(Value::Text(kind.clone())),
        Some(_) => None,
    }
}

/// The stored form of an input.
fn input(supplied: &Members) -> Option<Value> {
    let mut kept = Members::new();
    kept.insert("name".into(), supplied.get("name").filter(|it| !it.is_null())?.clone());
    if let Some(about) = supplied.get("description").filter(|it| !it.is_null()) {
        kept.insert("description".into(), about.clone());
    }
    kept.insert("type".into(), kind_of(supplied)?);
    for name in ["default", "value"] {
        if let Some(value) = supplied.get(name).filter(|it| !it.is_null()) {
            kept.insert(name.into(), value.clone());
        }
    }
    if supplied.get("replace_on_change").is_some_and(Value::is_truthy) {
        kept.insert("replace_on_change".into(), true.into());
    }
    Some(Value::Map(Arc::new(kept)))
}

/// The stored form of an output.
fn output(supplied: &Members) -> Option<Value> {
    let mut kept = Members::new();
    kept.insert("name".into(), supplied.get("name").filter(|it| !it.is_null())?.clone());
    if let Some(about) = supplied.get("description").filter(|it| !it.is_null()) {
        kept.insert("description".into(), about.clone());
    }
    kept.insert("type".into(), kind_of(supplied)?);
    let is_error = supplied.get("error_output").is_some_and(Value::is_truthy);
    kept.insert("error_output".into(), is_error.into());
    Some(Value::Map(Arc::new(kept)))
}
