//! Stack users: each belongs to one resource and has few rights, in a separate domain.
//!
//! Credentials on servers must not allow much. A stack user is in the project of its stack's users and has one
//! role there, with which it can signal its resource and read the metadata. It is deleted with the resource,
//! and the project with the stack. Names are known before the objects are created, so operations find what an
//! interruption left. Without a domain for stack users, their project is that of the stack.

use crate::declare::{Members, Value};
use crate::op::{Domain, FailureClass, Op, OpError};
use crate::property_access::text;
use kiln_cloud::{Call, CallPath, Credential, Marker, Service, delete, get, patch, post, put};
use kiln_template::Secret;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The entries of the resource's data about its stack user.
pub(crate) const USER: &str = "user_id";
pub(crate) const PROJECT: &str = "user_project";
const PASSWORD: &str = "password";
const ACCESS: &str = "access_key";
const SECRET: &str = "secret_key";
const CREDENTIAL: &str = "credential_id";

/// The maximum length of a user's name in Keystone.
const LONGEST: usize = 255;

/// A user with a role in the project of its stack's users.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) id: Arc<str>,
    pub(crate) name: String,
    pub(crate) password: String,
    pub(crate) project: Arc<str>,
}

/// The EC2 key with which requests are signed.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) access: String,
    pub(crate) secret: String,
}

impl User {
    /// The credential for calls as the stack user.
    pub(crate) fn credential(&self) -> Credential {
        Credential::with_password(&self.id, &self.password, &self.project)
    }
}

/// Whether the operator configured stack users.
pub(crate) fn are_there(op: &Op) -> bool {
    op.stack().guests.domain.is_some()
}

/// Whether stack users are in the project of the stack itself, which Kiln neither creates nor deletes.
fn is_with_owner(op: &Op) -> bool {
    matches!(op.stack().guests.domain, Some(Domain::Owner))
}

/// The name of the resource's user. A long name loses its beginning, because its end makes it unique.
fn name(op: &Op) -> String {
    let name = &op.context().physical_name;
    let skipped = name.chars().count().saturating_sub(LONGEST);
    name.chars().skip(skipped).collect()
}

/// The marker by which the resource's user is found.
pub(crate) fn marker(op: &Op) -> Option<Marker> {
    are_there(op).then(|| named("/users", "users", "user", &name(op)))
}

fn named(path: &'static str, many: &str, one: &str, name: &str) -> Marker {
    Marker {
        list: owned(get(Service::Identity, path).query("name", name)),
        objects: format!("/{many}"),
        field: "/name".into(),
        value: name.into(),
        envelope: Some(one.into()),
        path: path.into(),
        id: "/id".into(),
    }
}

/// Makes a call with the credential of the domain's administrator.
fn owned(call: Call) -> Call {
    call.with_credential(Credential::stack_domain())
}

/// The id of the user in the data of another resource, and its project; `None` if it is not a user of this stack.
pub(crate) fn of_sibling(op: &Op, data: &Members) -> Option<(String, String)> {
    let (user, project) = (text(data, USER)?, text(data, PROJECT)?);
    let place = op.stack();
    let own = if is_with_owner(op) { Some(&place.project) } else { place.users_project.as_ref() };
    own.is_some_and(|own| **own == *project).then(|| (user.to_owned(), project.to_owned()))
}

// --- creating ---

/// Returns the user that is the resource's own object, and creates it if necessary.
pub(crate) async fn own(op: &mut Op) -> Result<User, OpError> {
    user(op, true, None).await
}

/// Like [`own`], with a password from the template.
pub(crate) async fn own_with(op: &mut Op, password: Option<&str>) -> Result<User, OpError> {
    user(op, true, password).await
}

/// Returns the user besides the resource's own object, and creates it if necessary.
pub(crate) async fn beside(op: &mut Op) -> Result<User, OpError> {
    user(op, false, None).await
}

async fn user(op: &mut Op, is_own: bool, password: Option<&str>) -> Result<User, OpError> {
    let password = match password {
        Some(password) => password.to_owned(),
        None => kept(op, PASSWORD, 16).await?,
    };
    let (name, data) = (name(op), op.context().data.clone());
    // The project is recorded last, so a user with a project is complete.
    if let (Some(id), Some(project)) = (text(&data, USER), text(&data, PROJECT)) {
        let (id, project) = (id.into(), project.into());
        return Ok(User { id, name, password, project });
    }
    let project = project(op).await?;
    // Without a domain for stack users, Keystone chooses the domain.
    let domain = if is_with_owner(op) { None } else { Some(domain(op).await?) };
    let mut body = json!({ "user": {
        "name": name,
        "default_project_id": *project,
        "password": password,
        "enabled": true,
        "options": {
            "ignore_change_password_upon_first_use": true,
            "ignore_password_expiry": true,
            "ignore_lockout_failure_attempts": true,
        },
    } });
    if let Some(domain) = domain {
        body["user"]["domain_id"] = (*domain).into();
    }
    let marker = named("/users", "users", "user", &name);
    let call = owned(post(Service::Identity, "/users", body)).marker(marker.clone());
    let id: Arc<str> = match (left_behind(op, "user", &marker).await?, is_own) {
        (Some(id), _) => id,
        (None, true) => op.call("user", call).await?.text("/user/id").unwrap_or_default().into(),
        (None, false) => op.create_side_object("user", call).await?.1,
    };
    op.set_data(USER, &*id);
    if is_own && op.id().is_none() {
        op.set_id(id.clone());
    }
    let role = role(op).await?;
    let path =
        CallPath::from("/projects").id(&project).then("/users").id(&id).then("/roles").id(role);
    op.call("role", owned(put(Service::Identity, path, Json::Null).empty())).await?;
    op.set_data(PROJECT, &*project);
    Ok(User { id, name, password, project })
}

/// Returns a random text in the resource's data, and draws it if necessary.
async fn kept(op: &mut Op, name: &str, bytes: usize) -> Result<String, OpError> {
    if let Some(known) = text(&op.context().data, name) {
        return Ok(known.to_owned());
    }
    let drawn: String = op.random(bytes).await?.iter().map(|byte| format!("{byte:02x}")).collect();
    op.set_data(name, Value::Secret(Secret::new(drawn.as_str().into())));
    Ok(drawn)
}

/// Returns the project of the stack's users, and creates it if necessary. Several resources may do so at the
/// same time.
async fn project(op: &mut Op) -> Result<Arc<str>, OpError> {
    if is_with_owner(op) {
        return Ok(op.stack().project.clone());
    }
    if let Some(known) = op.stack().users_project.clone().filter(|known| !known.is_empty()) {
        return Ok(known);
    }
    // The project may exist from now on, even if the operation fails.
    op.set_users_project("");
    let name = op.stack().users_project_name();
    let marker = named("/projects", "projects", "project", &name);
    let id = match found(op, &marker).await? {
        Some(id) => id,
        None => make_project(op, &name, &marker).await?,
    };
    op.set_users_project(id.clone());
    Ok(id)
}

async fn make_project(op: &mut Op, name: &str, marker: &Marker) -> Result<Arc<str>, OpError> {
    let body = json!({ "project": {
        "name": name,
        "domain_id": *domain(op).await?,
        "description": "Heat stack user project",
        "enabled": true,
    } });
    let call = owned(post(Service::Identity, "/projects", body)).marker(marker.clone());
    match op.call("users", call).await {
        Ok(made) => Ok(made.text("/project/id").unwrap_or_default().into()),
        // Another resource created the project first.
        Err(stop) if stop.is_conflict() => found(op, marker).await?.ok_or(stop),
        Err(stop) => Err(stop),
    }
}

/// Finds an object that an interrupted operation may have created. It is complete, because all values in its
/// request were recorded before.
async fn left_behind(
    op: &mut Op,
    step: &str,
    marker: &Marker,
) -> Result<Option<Arc<str>>, OpError> {
    let is_begun = op.context().journal.step(step).is_some();
    if op.context().is_doubtful && !is_begun { found(op, marker).await } else { Ok(None) }
}

async fn found(op: &mut Op, marker: &Marker) -> Result<Option<Arc<str>>, OpError> {
    let list = op.read(marker.list.clone()).await?;
    Ok(marker.found(&list).first().and_then(|object| marker.id_of(object)).map(Into::into))
}

/// The id of the domain of the users.
pub(crate) async fn domain(op: &mut Op) -> Result<Arc<str>, OpError> {
    let wanted = match &op.stack().guests.domain {
        Some(Domain::Id(id)) => return Ok(id.clone()),
        Some(Domain::Name(name)) => name.clone(),
        Some(Domain::Owner) => {
            let user = text(&op.context().data, USER).unwrap_or_default();
            let call = get(Service::Identity, CallPath::from("/users").id(user));
            let reply = op.read(owned(call)).await?;
            return Ok(reply.text("/user/domain_id").unwrap_or_default().into());
        }
        None => return Err(no_users()),
    };
    let call = get(Service::Identity, "/auth/domains").may_be_old();
    let reply = op.read(owned(call)).await?;
    let mut domains = reply.body["domains"].as_array().into_iter().flatten();
    let domain = domains.find(|it| it["name"] == *wanted).and_then(|it| it["id"].as_str());
    domain.map(Into::into).ok_or_else(|| {
        let message = format!("the administrator of stack users ([DEFAULT] stack_domain_admin) has no role in domain {wanted}");
        OpError::failed(FailureClass::AuthorizationFailure, message)
    })
}

async fn role(op: &mut Op) -> Result<String, OpError> {
    let name = op.stack().guests.role.clone();
    let call = get(Service::Identity, "/roles").query("name", &*name).may_be_old();
    let reply = op.read(owned(call)).await?;
    let mut roles = reply.body["roles"].as_array().into_iter().flatten();
    let role = roles.find(|it| it["name"] == *name).and_then(|it| it["id"].as_str());
    role.map(str::to_owned).ok_or_else(|| {
        let message = format!(
            "Can't find role {name}. Next: have it made in the identity service, or name another in \
             heat_stack_user_role."
        );
        OpError::failed(FailureClass::Error, message)
    })
}

fn no_users() -> OpError {
    OpError::failed(
        FailureClass::Error,
        "There is no domain for the users of stacks. Next: set stack_user_domain_name, stack_domain_admin \
         and stack_domain_admin_password in the configuration of the service.",
    )
}

// --- keys and tokens ---

/// Returns the key that signs the user's requests, and creates it if necessary.
pub(crate) async fn key(op: &mut Op, user: &User) -> Result<Key, OpError> {
    key_of(op, &user.id, &user.project).await
}

/// Returns a key of a user, and creates it if the resource has none.
pub(crate) async fn key_of(op: &mut Op, user: &str, project: &str) -> Result<Key, OpError> {
    let access = kept(op, ACCESS, 16).await?;
    let secret = kept(op, SECRET, 16).await?;
    if op.data(CREDENTIAL).is_none() {
        let blob = json!({ "access": access, "secret": secret }).to_string();
        let list = get(Service::Identity, "/credentials").query("user_id", user);
        let marker = Marker {
            list: owned(list),
            objects: "/credentials".into(),
            field: "/blob".into(),
            value: blob.as_str().into(),
            envelope: Some("credential".into()),
            path: "/credentials".into(),
            id: "/id".into(),
        };
        let body = json!({ "credential": {
            "type": "ec2", "user_id": user, "project_id": project, "blob": blob,
        } });
        let call = owned(post(Service::Identity, "/credentials", body)).marker(marker.clone());
        let id: Arc<str> = match left_behind(op, "key", &marker).await? {
            Some(id) => id,
            None => op.call("key", call).await?.text("/credential/id").unwrap_or_default().into(),
        };
        op.set_data(CREDENTIAL, &*id);
    }
    Ok(Key { access, secret })
}

/// Creates a token of the user, which expires after some hours.
pub(crate) async fn token(op: &mut Op, user: &User) -> Result<String, OpError> {
    let body = json!({ "auth": {
        "identity": { "methods": ["password"], "password": {
            "user": { "id": *user.id, "password": user.password },
        } },
        "scope": { "project": { "id": *user.project } },
    } });
    let reply = op.read(post(Service::Identity, "/auth/tokens", body)).await?;
    let missing = || OpError::failed(FailureClass::Error, "the identity service gave no token");
    reply.header("x-subject-token").map(str::to_owned).ok_or_else(missing)
}

// --- suspending and deleting ---

/// Enables or disables the user.
pub(crate) async fn enable(op: &mut Op, is_enabled: bool) -> Result<(), OpError> {
    let Some(id) = text(&op.context().data, USER).map(str::to_owned) else { return Ok(()) };
    let body = json!({ "user": { "enabled": is_enabled } });
    let call = owned(patch(Service::Identity, CallPath::from("/users").id(id), body));
    op.call("user", call).await.map(drop)
}

/// Deletes the user that is the resource's own object, and its key.
pub(crate) async fn remove_own(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    if are_there(op) {
        remove_key(op).await?;
        remove_user(op, &id).await?;
    }
    op.clear_id();
    Ok(())
}

/// Deletes the user besides the resource's own object, and its key.
pub(crate) async fn remove_beside(op: &mut Op) -> Result<(), OpError> {
    let Some(marker) = marker(op) else { return Ok(()) };
    match text(&op.context().data, USER).map(str::to_owned) {
        Some(id) => {
            remove_key(op).await?;
            remove_user(op, &id).await?;
        }
        // A doubtful operation may have created a user; its password was recorded before.
        None if op.context().is_doubtful && op.data(PASSWORD).is_some() => {
            op.remove_copies(&marker).await?;
        }
        None => return Ok(()),
    }
    for name in [USER, PROJECT, PASSWORD, ACCESS, SECRET] {
        op.set_data(name, Value::Null);
    }
    Ok(())
}

/// Deletes the key and keeps the user.
pub(crate) async fn remove_key(op: &mut Op) -> Result<(), OpError> {
    if let Some(key) = text(&op.context().data, CREDENTIAL).map(str::to_owned) {
        let user = text(&op.context().data, USER).or(op.id().map(|id| &**id));
        let list =
            get(Service::Identity, "/credentials").query("user_id", user.unwrap_or_default());
        let call = delete(Service::Identity, CallPath::from("/credentials").id(&key));
        remove_listed(op, "key", call, (list, "credentials", &key)).await?;
        op.set_data(CREDENTIAL, Value::Null);
    }
    Ok(())
}

async fn remove_user(op: &mut Op, id: &str) -> Result<(), OpError> {
    let list = get(Service::Identity, "/users").query("name", name(op));
    let call = delete(Service::Identity, CallPath::from("/users").id(id));
    remove_listed(op, "user", call, (list, "users", id)).await
}

/// Deletes an object of the domain of the users. The identity service forbids the deletion of what is gone already,
/// because nothing says that it was in the domain: then the list says whether it is gone.
async fn remove_listed(
    op: &mut Op,
    step: &str,
    call: Call,
    (list, objects, id): (Call, &str, &str),
) -> Result<(), OpError> {
    match op.remove(step, owned(call)).await {
        Err(stop) if stop.is_forbidden() => {
            let list = op.read(owned(list)).await?;
            let mut objects = list.body[objects].as_array().into_iter().flatten();
            if objects.any(|object| object["id"] == id) { Err(stop) } else { Ok(()) }
        }
        removed => removed,
    }
}
