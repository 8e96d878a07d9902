//! What most collections do with most requests: create, list, show, update, delete.

use serde_json::{Value, json};

use super::ask::{Answer, Refusal, Reply, Turn, set, text};
use super::check;
use super::patch;
use super::query;
use super::schema::Collection;
use super::table::Obj;
use super::world;

/// A field that names a parent, and its key.
pub(super) type Parent = (&'static str, String);
/// The parents that a path names.
pub(super) type Parents = [Parent];

/// Answers with the collection that fits the path, if one does.
pub(super) fn serve(
    turn: &mut Turn<'_>,
    collections: &[&'static Collection],
    path: &[&str],
) -> Option<Answer> {
    let mut is_there = false;
    for of in collections {
        let Some((parents, key)) = fit(of, path) else { continue };
        is_there = true;
        let verb = match (turn.ask.method.as_str(), key) {
            ("POST", None) => 'C',
            ("GET" | "HEAD", None) => 'L',
            ("GET" | "HEAD", Some(_)) => 'S',
            (method, Some(_)) if method == of.update_method => 'U',
            ("DELETE", Some(_)) => 'D',
            _ => continue,
        };
        if of.verbs.contains(verb) {
            return Some(carry_out(turn, of, verb, &parents, key.unwrap_or_default()));
        }
    }
    let dialect = collections.first()?.dialect;
    is_there.then(|| {
        Err(dialect.plain(
            405,
            "The server could not comply with the request since the method is not allowed.",
        ))
    })
}

fn carry_out(
    turn: &mut Turn<'_>,
    of: &'static Collection,
    verb: char,
    parents: &Parents,
    key: &str,
) -> Answer {
    if let (Some(parent), Some((_, id))) = (of.parent, parents.last())
        && let Some(parent) = turn.world.collection(parent)
    {
        turn.find(parent, id)?;
    }
    let belongs = |row: &Obj| parents.iter().all(|(field, id)| text(row, field) == id);
    match verb {
        'C' => create_sent(turn, of, parents),
        'L' => query::list(turn, of, parents),
        _ => {
            let row = turn.find(of, key)?;
            if !belongs(&row) {
                return Err(of.dialect.absent(of, key));
            }
            // Whoever found it by name goes on with the key.
            let key = match text(&row, of.key) {
                "" => key.to_owned(),
                own => own.to_owned(),
            };
            let key = key.as_str();
            match verb {
                'S' => Ok(Reply::ok(envelope(of, query::picked(turn, shown(turn, of, row))))),
                'U' => {
                    let sent = match turn.body.is_array() {
                        true => patched(turn, of, &row)?,
                        false => turn.sent(of)?,
                    };
                    let row = update(turn, of, key, &sent)?;
                    Ok(Reply::json(of.statuses.1, envelope(of, shown(turn, of, row))))
                }
                _ => {
                    delete(turn, of, key)?;
                    Ok(Reply::empty(of.statuses.2))
                }
            }
        }
    }
}

/// The parents that the path names and the key, if the path is one of this collection's.
fn fit<'a>(of: &Collection, path: &[&'a str]) -> Option<(Vec<Parent>, Option<&'a str>)> {
    let parts: Vec<&'static str> = of.path.split('/').filter(|part| !part.is_empty()).collect();
    if path.len() != parts.len() && path.len() != parts.len() + 1 {
        return None;
    }
    let mut parents = Vec::new();
    for (part, given) in parts.iter().zip(path) {
        match part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(field) => parents.push((field, (*given).to_owned())),
            None if part == given => {}
            None => return None,
        }
    }
    Some((parents, path.get(parts.len()).copied()))
}

fn create_sent(turn: &mut Turn<'_>, of: &'static Collection, parents: &Parents) -> Answer {
    let many = of.dialect.takes_many().then(|| turn.body[of.many].as_array().cloned()).flatten();
    let Some(many) = many else {
        let mut sent = turn.sent(of)?;
        adopt(&mut sent, parents);
        let row = create(turn, of, &sent)?;
        return Ok(Reply::json(of.statuses.0, envelope(of, shown(turn, of, row))));
    };
    let mut made: Vec<Obj> = Vec::new();
    for one in many {
        let mut sent =
            one.as_object().cloned().map(Obj::from).ok_or_else(|| of.dialect.no_envelope(of))?;
        adopt(&mut sent, parents);
        match create(turn, of, &sent) {
            Ok(row) => made.push(row),
            Err(refusal) => {
                // All or nothing.
                for row in made.iter().rev() {
                    turn.world.remove(of.name, text(row, of.key));
                }
                return Err(refusal);
            }
        }
    }
    let rows: Vec<Value> = made.into_iter().map(|row| json!(shown(turn, of, row))).collect();
    Ok(Reply::json(of.statuses.0, json!({ of.many: rows })))
}

fn adopt(sent: &mut Obj, parents: &Parents) {
    for (field, id) in parents {
        sent.insert((*field).to_owned(), json!(id));
    }
}

/// Makes an object of what was sent.
pub(super) fn create(
    turn: &mut Turn<'_>,
    of: &'static Collection,
    sent: &Obj,
) -> Result<Obj, Refusal> {
    if of.admin_only && !turn.who.is_admin {
        return Err(of.dialect.forbidden(of, "create"));
    }
    let schema = turn.world.schema();
    let Some(shape) = schema.get(of.name) else {
        return Err(of.dialect.plain(500, "This collection is not there."));
    };
    let mut sent = sent.clone();
    owner(turn, of, &mut sent)?;
    let mut row = Obj::new();
    let id = match sent.get("id").and_then(Value::as_str) {
        Some(id) if shape.field("id").is_some_and(|field| field.on_create) => id.to_owned(),
        _ => turn.world.uuid(),
    };
    set(&mut row, if of.key == "uuid" { "uuid" } else { "id" }, id);
    row.extend(check::creation(turn, shape, &sent)?);
    if let Some((name, usual)) = of.quota {
        within_quota(turn, of, &row, name, usual)?;
    }
    (of.make)(turn, &mut row)?;
    let key = text(&row, of.key).to_owned();
    turn.world.put(of.name, &key, row.clone());
    Ok(row)
}

/// Administrators may act for another project; nobody else may.
fn owner(turn: &Turn<'_>, of: &Collection, sent: &mut Obj) -> Result<(), Refusal> {
    let Some(tenant) = sent.remove("tenant_id").or_else(|| sent.get("project_id").cloned()) else {
        return Ok(());
    };
    if tenant != json!(turn.who.project) && !turn.who.is_admin {
        let message = "Specifying 'project_id' or 'tenant_id' other than the authenticated project in request \
                       requires admin privileges";
        return Err(of.dialect.plain(400, message));
    }
    sent.insert("project_id".to_owned(), tenant);
    Ok(())
}

fn within_quota(
    turn: &Turn<'_>,
    of: &Collection,
    row: &Obj,
    name: &str,
    usual: i64,
) -> Result<(), Refusal> {
    let project = text(row, "project_id");
    if project.is_empty() {
        // What the cloud makes for itself counts for nobody.
        return Ok(());
    }
    let service = of.name.split('/').next().unwrap_or_default();
    let limit = turn.world.quota(service, project, name, usual);
    let used = turn.world.table(of.name).count("project_id", project);
    match usize::try_from(limit) {
        Ok(limit) if used >= limit => Err(of.dialect.over_quota(of, name)),
        _ => Ok(()),
    }
}

/// Changes an object as was sent.
pub(super) fn update(
    turn: &mut Turn<'_>,
    of: &'static Collection,
    key: &str,
    sent: &Obj,
) -> Result<Obj, Refusal> {
    let old = turn.find(of, key)?;
    if !turn.owns(&old) || (of.admin_only && !turn.who.is_admin) {
        return Err(of.dialect.forbidden(of, "update"));
    }
    let schema = turn.world.schema();
    let Some(shape) = schema.get(of.name) else {
        return Err(of.dialect.plain(500, "This collection is not there."));
    };
    let changes = check::update(turn, shape, &old, sent)?;
    let mut row = old.clone();
    row.extend(changes.clone());
    (of.change)(turn, &old, &mut row, &changes)?;
    world::revise(turn.world, &mut row);
    turn.world.put(of.name, key, row.clone());
    Ok(row)
}

/// Removes an object.
pub(super) fn delete(
    turn: &mut Turn<'_>,
    of: &'static Collection,
    key: &str,
) -> Result<(), Refusal> {
    let row = turn.find(of, key)?;
    if !turn.owns(&row) || (of.admin_only && !turn.who.is_admin) {
        return Err(of.dialect.forbidden(of, "delete"));
    }
    (of.remove)(turn, &row)?;
    if !of.lingers {
        turn.world.remove(of.name, key);
    }
    Ok(())
}

/// What a JSON patch comes to, as if it had been sent as an object.
fn patched(turn: &Turn<'_>, of: &Collection, old: &Obj) -> Result<Obj, Refusal> {
    let changes = patch::read(&turn.body).map_err(|reason| of.dialect.plain(400, &reason))?;
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

/// The object as clients see it.
pub(super) fn shown(turn: &Turn<'_>, of: &Collection, mut row: Obj) -> Obj {
    (of.show)(turn, &mut row);
    of.dialect.finish(&mut row);
    row.retain(|name, _| !name.starts_with('_'));
    row
}

/// The object in its envelope, if the collection has one.
pub(super) fn envelope(of: &Collection, row: Obj) -> Value {
    if of.one.is_empty() { Value::from(row) } else { json!({ of.one: row }) }
}
