//! OS::Trove::Instance: a database server run by the database service.

use super::common::{check_datastore, check_networks, datastore, nics};
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{items, open, text};
use crate::rest::{self, Readiness, RestSpec};
use crate::types::fragments::name_prop;
use crate::wire;
use kiln_cloud::{CallPath, Marker, delete, get, patch, post, put};
use kiln_template::functions::step_into_attribute;
use serde_json::{Value as Json, json};

pub(super) fn instance() -> ResourceType {
    ResourceType::new("OS::Trove::Instance")
        .about("A database server run by the database service.")
        .service(Service::Database)
        .entity("instances")
        .checkable()
        .detects_drift()
        .since("2014.1")
        .props([
            prop("availability_zone", Str, "Availability zone to place the instance in."),
            prop("databases", List, "Databases to have on the instance.")
                .updatable()
                .default_empty()
                .each(record([
                    prop("character_set", Str, "Character encoding of the database.")
                        .default("utf8"),
                    prop("collate", Str, "Rules by which the database compares and sorts text.")
                        .default("utf8_general_ci"),
                    prop("name", Str, "Name of the database, at most 64 characters.")
                        .required()
                        .max_length(64)
                        .pattern(r"[a-zA-Z0-9_\-]+[a-zA-Z0-9_@?#\s\-]*[a-zA-Z0-9_\-]+"),
                ])),
            prop("datastore_type", Str, "Kind of database, such as `mysql`.").max_length(255),
            prop("datastore_version", Str, "Version of the database, by name or ID.")
                .max_length(255),
            prop("flavor", Str, "Flavor of the instance, by name or ID.")
                .required()
                .updatable()
                .is(DATABASE_FLAVOR)
                .by_name(),
            name_prop().updatable().max_length(255),
            prop("networks", List, "Networks that the instance is connected to.")
                .default_empty()
                .each(record([
                    prop("fixed_ip", Str, "Particular address on the network.").is(IP_ADDR),
                    prop("network", Str, "Network to connect to, by name or ID; excludes `port`.")
                        .is(NETWORK),
                    prop("port", Str, "Existing port to use, by name or ID; excludes `network`.")
                        .is(PORT),
                ])),
            prop(
                "replica_count",
                Int,
                "Number of replicas to create at once; together with `replica_of`.",
            )
            .since("5.0.0"),
            prop("replica_of", Str, "ID of the instance that this one replicates.").since("5.0.0"),
            prop("restore_point", Str, "ID of the backup that the instance starts from."),
            prop("size", Int, "Size of the data volume in GB, 1 to 150.")
                .required()
                .updatable()
                .range(1, 150),
            prop("users", List, "Database accounts to have on the instance.")
                .updatable()
                .default_empty()
                .each(record([
                    prop("databases", List, "Names of the databases that the user may access.")
                        .required()
                        .updatable()
                        .min_length(1)
                        .each(item(Str)),
                    prop("host", Str, "Host from which the user may connect; `%` stands for any.")
                        .updatable()
                        .default("%"),
                    prop("name", Str, "Login name of the user, at most 16 characters.")
                        .required()
                        .updatable()
                        .max_length(16)
                        .pattern(r"[a-zA-Z0-9_]+[a-zA-Z0-9_@?#\s]*[a-zA-Z0-9_]+"),
                    prop("password", Str, "Password with which the user logs in.")
                        .required()
                        .updatable()
                        .pattern(r"[a-zA-Z0-9_]+[a-zA-Z0-9_@?#\s]*[a-zA-Z0-9_]+"),
                ])),
        ])
        .attrs([
            attr(
                "hostname",
                Str,
                "Host name of the instance, or its first address if it has none.",
            ),
            attr("href", Str, "URL of the instance in the database service's API."),
        ])
        .check(check)
        .check_with_siblings(check_datastore)
        .attributes(|view, name, path| {
            let shown =
                |name: &str| view.remote.as_map().and_then(|shown| shown.get(name)).cloned();
            let first = |value: Value| value.as_list().and_then(|all| all.first().cloned());
            let value = match name {
                "hostname" => shown("hostname").or_else(|| shown("ip").and_then(first)),
                "href" => shown("links").and_then(|links| {
                    let links = links.as_list()?.iter().filter_map(Value::as_map);
                    let own = links.filter(|link| text(link, "rel") == Some("self"));
                    own.filter_map(|link| link.get("href").cloned()).next()
                }),
                _ => return Ok(None),
            };
            Ok(Some(step_into_attribute(&value.unwrap_or_default(), path)))
        })
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .rest(
            RestSpec::new(Service::Database, "/instances", "instance")
                .field("flavor", "flavorRef")
                .unsent(["networks", "restore_point", "size", "users"])
                .list_suffix("?limit=1000")
                .adjust_fields(|op, _, fields| datastore(op, fields))
                .readiness(Readiness::when("status", ["ACTIVE", "HEALTHY"], ["ERROR", "FAILED"])),
        )
}

/// Checks that the databases of each user are declared.
fn check(members: &Members) -> Result<(), PropertyError> {
    check_networks(members)?;
    let named = |list, name| {
        let all = items(members, list).iter().filter_map(|it| open(it).as_map());
        all.filter_map(move |it| text(it, name))
    };
    let databases: Vec<&str> = named("databases", "name").collect();
    for user in items(members, "users").iter().filter_map(|it| open(it).as_map()) {
        let of = items(user, "databases").iter().filter_map(|name| open(name).as_text());
        let missing: Vec<&str> = of.map(|it| &**it).filter(|it| !databases.contains(it)).collect();
        if databases.is_empty() && !missing.is_empty() {
            let message =
                "Databases property is required if users property is provided for resource.";
            return Err(PropertyError::new(message));
        }
        if !missing.is_empty() {
            let name = text(user, "name").unwrap_or_default();
            let message = format!(
                "Database {} specified for user {name} does not exist in databases for resource.",
                missing.join(", ")
            );
            return Err(PropertyError::new(message));
        }
    }
    Ok(())
}

fn path(op: &Op) -> CallPath {
    CallPath::from("/instances").id(op.id().map_or("", |id| id))
}

/// Converts a user to a field of the request.
fn user(user: &Value) -> Json {
    let mut told = wire::json(user);
    let databases = told["databases"].as_array().cloned().unwrap_or_default();
    told["databases"] = databases.into_iter().map(|name| json!({ "name": name })).collect();
    told
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let mut fields = rest::new_fields(op, &spec);
    let properties = op.context().properties.clone();
    fields.insert("volume".into(), json!({ "size": wire::json(op.prop("size")) }));
    fields.insert("users".into(), items(&properties, "users").iter().map(user).collect());
    if let Some(backup) = op.text("restore_point") {
        fields.insert("restorePoint".into(), json!({ "backupRef": backup }));
    }
    let nics = nics(op, &properties).await?;
    if !nics.is_empty() {
        fields.insert("nics".into(), nics.into());
    }
    rest::create_with(op, fields).await
}

/// Updates the instance with one call after the other, because the service carries out one change at a time.
async fn update(op: &mut Op) -> Result<(), OpError> {
    if op.changes("name") {
        let name = op.text("name").unwrap_or(&op.context().physical_name).to_owned();
        let body = json!({ "instance": { "name": name } });
        op.call("rename", patch(Service::Database, path(op), body)).await?;
    }
    let shown = op.read(get(Service::Database, path(op))).await?.body["instance"].take();
    let flavor = op.text("flavor").unwrap_or_default().to_owned();
    if op.changes("flavor") && shown["flavor"]["id"] != flavor.as_str() {
        resize(op, "flavor", json!({ "flavorRef": flavor })).await?;
    }
    let size = wire::json(op.prop("size"));
    if op.changes("size") && shown["volume"]["size"] != size {
        resize(op, "size", json!({ "volume": { "size": size } })).await?;
    }
    if op.changes("databases") {
        databases(op).await?;
    }
    if op.changes("users") {
        users(op).await?;
    }
    rest::until_ready(op).await
}

async fn resize(op: &mut Op, what: &str, to: Json) -> Result<(), OpError> {
    let call = post(Service::Database, path(op).then("/action"), json!({ "resize": to }));
    // An interrupted attempt may have made the change; then there is nothing to do.
    match op.call_retrying_conflicts(what, call.may_be_repeated()).await {
        Err(OpError::Failed(failure))
            if failure.class == FailureClass::BadRequest && op.may_be_done(what) => {}
        result => drop(result?),
    }
    rest::until_ready(op).await
}

/// Reads the names of an instance's databases or users.
async fn there(op: &mut Op, what: &str) -> Result<Vec<String>, OpError> {
    let list = op.read(get(Service::Database, path(op).id(what))).await?;
    let all = list.body[what].as_array().into_iter().flatten();
    Ok(all.filter_map(|it| it["name"].as_str()).map(Into::into).collect())
}

/// The marker by which a database or user of the instance is found.
fn below(op: &Op, what: &str, name: &str) -> Marker {
    let path = path(op).id(what);
    Marker {
        list: get(Service::Database, path.clone()),
        objects: format!("/{what}"),
        field: "/name".into(),
        value: name.into(),
        envelope: None,
        path,
        id: "/name".into(),
    }
}

/// Creates missing databases or users, and deletes those that the template has no more.
async fn differ(op: &mut Op, what: &str, told: fn(&Value) -> Json) -> Result<(), OpError> {
    let (before, after) =
        (op.context().previous_properties.clone(), op.context().properties.clone());
    let there = there(op, what).await?;
    let name = |it: &Value| open(it).as_map().and_then(|it| text(it, "name")).map(str::to_owned);
    let wanted: Vec<String> = items(&after, what).iter().filter_map(name).collect();
    for gone in items(&before, what).iter().filter_map(name).filter(|it| !wanted.contains(it)) {
        let path = path(op).id(what).id(&gone);
        op.remove(&format!("remove {what} {gone}"), delete(Service::Database, path)).await?;
    }
    for new in items(&after, what) {
        let Some(name) = name(new).filter(|name| !there.contains(name)) else { continue };
        let marker = below(op, what, &name);
        let body = json!({ what: [told(new)] });
        let call = post(Service::Database, path(op).id(what), body).marker(marker);
        op.call(&format!("make {what} {name}"), call).await?;
    }
    Ok(())
}

async fn databases(op: &mut Op) -> Result<(), OpError> {
    differ(op, "databases", wire::json).await
}

/// Updates password, host and databases of users that stay.
async fn users(op: &mut Op) -> Result<(), OpError> {
    differ(op, "users", user).await?;
    let (before, after) =
        (op.context().previous_properties.clone(), op.context().properties.clone());
    let name = |it: &Value| open(it).as_map().and_then(|it| text(it, "name")).map(str::to_owned);
    for user in items(&after, "users") {
        let Some(called) = name(user) else { continue };
        let former = items(&before, "users").iter().find(|it| name(it).as_ref() == Some(&called));
        let Some(former) = former.filter(|former| !former.equals(user)) else { continue };
        let place = path(op).then("/users").id(&called);
        let mut told = wire::json(user);
        let grants =
            |value: &Value| wire::json(value)["databases"].as_array().cloned().unwrap_or_default();
        let (had, wanted) = (grants(former), grants(user));
        told.as_object_mut().map(|told| told.remove("databases"));
        op.call(
            &format!("change {called}"),
            put(Service::Database, place.clone(), json!({ "user": told })),
        )
        .await?;
        for gone in had.iter().filter(|it| !wanted.contains(it)).filter_map(Json::as_str) {
            let call = delete(Service::Database, place.clone().then("/databases").id(gone));
            op.remove(&format!("revoke {called} {gone}"), call).await?;
        }
        let new: Vec<Json> =
            wanted.iter().filter(|it| !had.contains(it)).map(|it| json!({ "name": it })).collect();
        if !new.is_empty() {
            let call = put(
                Service::Database,
                place.clone().then("/databases"),
                json!({ "databases": new }),
            );
            op.call(&format!("grant {called}"), call).await?;
        }
    }
    Ok(())
}
