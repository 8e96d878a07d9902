//! The generic operations on collections: create, list, show, update, delete.

use serde_json::{Value, json};

use super::check;
use super::patch;
use super::query;
use super::request::{Answer, Refusal, Reply, RequestContext, set, text};
use super::schema::Collection;
use super::state;
use super::table::Obj;

/// The field that refers to the parent, and the key of the parent.
pub(super) type Parent = (&'static str, String);
/// The parents in a path.
pub(super) type Parents = [Parent];

/// Dispatches the request to the collection whose path matches; `None` if no path does.
pub(super) fn serve(
    ctx: &mut RequestContext<'_>,
    collections: &[&'static Collection],
    path: &[&str],
) -> Option<Answer> {
    let mut is_there = false;
    for collection in collections {
        let Some((parents, key)) = match_path(collection, path) else { continue };
        is_there = true;
        let operation = match (ctx.request.method.as_str(), key) {
            ("POST", None) => 'C',
            ("GET" | "HEAD", None) => 'L',
            ("GET" | "HEAD", Some(_)) => 'S',
            (method, Some(_)) if method == collection.update_method => 'U',
            ("DELETE", Some(_)) => 'D',
            _ => continue,
        };
        if collection.operations.contains(operation) {
            return Some(dispatch(ctx, collection, operation, &parents, key.unwrap_or_default()));
        }
    }
    let dialect = collections.first()?.dialect;
    is_there.then(|| {
        Err(dialect.generic(
            405,
            "The server could not comply with the request since the method is not allowed.",
        ))
    })
}

fn dispatch(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    operation: char,
    parents: &Parents,
    key: &str,
) -> Answer {
    if let (Some(parent), Some((_, id))) = (collection.parent, parents.last())
        && let Some(parent) = ctx.state.collection(parent)
    {
        ctx.find(parent, id)?;
    }
    let belongs = |row: &Obj| parents.iter().all(|(field, id)| text(row, field) == id);
    match operation {
        'C' => create_from_body(ctx, collection, parents),
        'L' => query::list(ctx, collection, parents),
        _ => {
            let row = ctx.find(collection, key)?;
            if !belongs(&row) {
                return Err(collection.dialect.not_found(collection, key));
            }
            // An object that was found by name is addressed by its key from here on.
            let key = match text(&row, collection.key) {
                "" => key.to_owned(),
                own => own.to_owned(),
            };
            let key = key.as_str();
            match operation {
                'S' => Ok(Reply::ok(envelope(
                    collection,
                    query::select_fields(ctx, render(ctx, collection, row)),
                ))),
                'U' => {
                    let sent = if ctx.body.is_array() {
                        apply_patch(ctx, collection, &row)?
                    } else {
                        ctx.sent(collection)?
                    };
                    let row = update(ctx, collection, key, &sent)?;
                    Ok(Reply::json(
                        collection.statuses.1,
                        envelope(collection, render(ctx, collection, row)),
                    ))
                }
                _ => {
                    delete(ctx, collection, key)?;
                    Ok(Reply::empty(collection.statuses.2))
                }
            }
        }
    }
}

/// Returns the parents and the key in the path, if it is a path of this collection.
fn match_path<'a>(
    collection: &Collection,
    path: &[&'a str],
) -> Option<(Vec<Parent>, Option<&'a str>)> {
    let parts: Vec<&'static str> =
        collection.path.split('/').filter(|part| !part.is_empty()).collect();
    if path.len() != parts.len() && path.len() != parts.len() + 1 {
        return None;
    }
    let mut parents = Vec::new();
    for (part, supplied) in parts.iter().zip(path) {
        match part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(field) => parents.push((field, (*supplied).to_owned())),
            None if part == supplied => {}
            None => return None,
        }
    }
    Some((parents, path.get(parts.len()).copied()))
}

fn create_from_body(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    parents: &Parents,
) -> Answer {
    let many = collection
        .dialect
        .takes_many()
        .then(|| ctx.body[collection.plural].as_array().cloned())
        .flatten();
    let Some(many) = many else {
        let mut sent = ctx.sent(collection)?;
        set_parents(&mut sent, parents);
        let row = create(ctx, collection, &sent)?;
        return Ok(Reply::json(
            collection.statuses.0,
            envelope(collection, render(ctx, collection, row)),
        ));
    };
    let mut made: Vec<Obj> = Vec::new();
    for one in many {
        let mut sent = one
            .as_object()
            .cloned()
            .map(Obj::from)
            .ok_or_else(|| collection.dialect.no_envelope(collection))?;
        set_parents(&mut sent, parents);
        match create(ctx, collection, &sent) {
            Ok(row) => made.push(row),
            Err(refusal) => {
                // A bulk creation succeeds or fails as a whole.
                for row in made.iter().rev() {
                    ctx.state.remove(collection.name, text(row, collection.key));
                }
                return Err(refusal);
            }
        }
    }
    let rows: Vec<Value> =
        made.into_iter().map(|row| json!(render(ctx, collection, row))).collect();
    Ok(Reply::json(collection.statuses.0, json!({ collection.plural: rows })))
}

fn set_parents(sent: &mut Obj, parents: &Parents) {
    for (field, id) in parents {
        sent.insert((*field).to_owned(), json!(id));
    }
}

/// Creates an object from validated fields.
pub(super) fn create(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    sent: &Obj,
) -> Result<Obj, Refusal> {
    if collection.admin_only && !ctx.caller.is_admin {
        return Err(collection.dialect.forbidden(collection, "create"));
    }
    let schema = ctx.state.schema();
    let Some(parsed) = schema.get(collection.name) else {
        return Err(collection.dialect.generic(500, "This collection is not there."));
    };
    let mut sent = sent.clone();
    set_owner(ctx, collection, &mut sent)?;
    let mut row = Obj::new();
    let id = match sent.get("id").and_then(Value::as_str) {
        Some(id) if parsed.field("id").is_some_and(|field| field.on_create) => id.to_owned(),
        _ => ctx.state.uuid(),
    };
    set(&mut row, if collection.key == "uuid" { "uuid" } else { "id" }, id);
    row.extend(check::validate_creation(ctx, parsed, &sent)?);
    if let Some((name, usual)) = collection.quota {
        within_quota(ctx, collection, &row, name, usual)?;
    }
    (collection.make)(ctx, &mut row)?;
    let key = text(&row, collection.key).to_owned();
    ctx.state.put(collection.name, &key, row.clone());
    Ok(row)
}

/// Sets the owning project: only administrators may act for another project.
fn set_owner(
    ctx: &RequestContext<'_>,
    collection: &Collection,
    sent: &mut Obj,
) -> Result<(), Refusal> {
    let Some(tenant) = sent.remove("tenant_id").or_else(|| sent.get("project_id").cloned()) else {
        return Ok(());
    };
    if tenant != json!(ctx.caller.project) && !ctx.caller.is_admin {
        let message = "Specifying 'project_id' or 'tenant_id' other than the authenticated project in request \
                       requires admin privileges";
        return Err(collection.dialect.generic(400, message));
    }
    sent.insert("project_id".to_owned(), tenant);
    Ok(())
}

fn within_quota(
    ctx: &RequestContext<'_>,
    collection: &Collection,
    row: &Obj,
    name: &str,
    usual: i64,
) -> Result<(), Refusal> {
    let project = text(row, "project_id");
    if project.is_empty() {
        // Objects that the cloud creates for itself are not counted.
        return Ok(());
    }
    let service = collection.name.split('/').next().unwrap_or_default();
    let limit = ctx.state.quota(service, project, name, usual);
    let used = ctx.state.table(collection.name).count("project_id", project);
    match usize::try_from(limit) {
        Ok(limit) if used >= limit => Err(collection.dialect.over_quota(collection, name)),
        _ => Ok(()),
    }
}

/// Updates an object with the fields of a request.
pub(super) fn update(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    key: &str,
    sent: &Obj,
) -> Result<Obj, Refusal> {
    let old = ctx.find(collection, key)?;
    if !ctx.owns(&old) || (collection.admin_only && !ctx.caller.is_admin) {
        return Err(collection.dialect.forbidden(collection, "update"));
    }
    let schema = ctx.state.schema();
    let Some(parsed) = schema.get(collection.name) else {
        return Err(collection.dialect.generic(500, "This collection is not there."));
    };
    let changes = check::validate_update(ctx, parsed, &old, sent)?;
    let mut row = old.clone();
    row.extend(changes.clone());
    (collection.change)(ctx, &old, &mut row, &changes)?;
    state::revise(ctx.state, &mut row);
    ctx.state.put(collection.name, key, row.clone());
    Ok(row)
}

/// Deletes an object.
pub(super) fn delete(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    key: &str,
) -> Result<(), Refusal> {
    let row = ctx.find(collection, key)?;
    if !ctx.owns(&row) || (collection.admin_only && !ctx.caller.is_admin) {
        return Err(collection.dialect.forbidden(collection, "delete"));
    }
    (collection.remove)(ctx, &row)?;
    if !collection.lingers {
        ctx.state.remove(collection.name, key);
    }
    Ok(())
}

/// Converts a JSON patch to the fields that it changes.
fn apply_patch(
    ctx: &RequestContext<'_>,
    collection: &Collection,
    old: &Obj,
) -> Result<Obj, Refusal> {
    let changes =
        patch::read(&ctx.body).map_err(|reason| collection.dialect.generic(400, &reason))?;
    let mut row = old.clone();
    let touched: Vec<String> = changes
        .iter()
        .map(|change| match change {
            patch::Change::Set(path, _) | patch::Change::Remove(path) => {
                path.split('/').next().unwrap_or_default().to_owned()
            }
        })
        .collect();
    patch::apply(&mut row, changes);
    let value = |name: &String| (name.clone(), row.get(name).cloned().unwrap_or_default());
    Ok(touched.iter().map(value).collect())
}

/// Renders the object for clients.
pub(super) fn render(ctx: &RequestContext<'_>, collection: &Collection, mut row: Obj) -> Obj {
    (collection.show)(ctx, &mut row);
    collection.dialect.finish(&mut row);
    row.retain(|name, _| !name.starts_with('_'));
    row
}

/// Puts the object into its envelope, if the collection has one.
pub(super) fn envelope(collection: &Collection, row: Obj) -> Value {
    if collection.singular.is_empty() {
        Value::from(row)
    } else {
        json!({ collection.singular: row })
    }
}
