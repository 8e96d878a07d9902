//! Tags: `/{collection}/{id}/tags`, for every collection that has them.

use serde_json::{Value, json};

use super::super::request::{Answer, Refusal, Reply, RequestContext, set, strings, text};
use super::super::schema::Collection;
use super::dialect::{bad_value, refusal};

/// Handles a request about the tags of an object.
pub(super) fn serve(
    ctx: &mut RequestContext<'_>,
    collections: &[&'static Collection],
    path: &[&str],
) -> Option<Answer> {
    let at = path.iter().position(|part| *part == "tags").filter(|at| *at >= 2)?;
    let (before, after) = (&path[..at], &path[at + 1..]);
    let (id, parent) = before.split_last()?;
    let path = parent.join("/");
    let collection = collections.iter().find(|collection| collection.path == path)?;
    Some(answer(ctx, collection, id, after))
}

fn answer(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    id: &str,
    after: &[&str],
) -> Answer {
    let row = ctx.find(collection, id)?;
    let mut tags = strings(&row, "tags");
    let reads = ctx.request.method == "GET";
    if !reads && !ctx.owns(&row) {
        return Err(collection.dialect.forbidden(collection, "update"));
    }
    let absent = |tag: &str| refusal(404, "TagNotFound", format!("Tag {tag} could not be found."));
    let reply = match (ctx.request.method.as_str(), after) {
        ("GET", []) => return Ok(Reply::ok(json!({ "tags": tags }))),
        ("GET", [tag]) => {
            let found = tags.iter().any(|own| own == tag);
            return if found { Ok(Reply::empty(204)) } else { Err(absent(tag)) };
        }
        ("PUT", []) => {
            tags = sent(&ctx.body)?;
            Reply::ok(json!({ "tags": tags }))
        }
        ("POST", []) => {
            tags.extend(sent(&ctx.body)?);
            Reply::ok(json!({ "tags": tags }))
        }
        ("DELETE", []) => {
            tags.clear();
            Reply::empty(204)
        }
        ("PUT", [tag]) => {
            tags.push((*tag).to_owned());
            Reply::empty(201)
        }
        ("DELETE", [tag]) => {
            let before = tags.len();
            tags.retain(|own| own != tag);
            if tags.len() == before {
                return Err(absent(tag));
            }
            Reply::empty(204)
        }
        _ => {
            return Err(collection
                .dialect
                .generic(405, "The method is not allowed for the requested URL."));
        }
    };
    tags.sort_unstable();
    tags.dedup();
    ctx.state.edit(collection.name, text(&row, collection.key), |row| set(row, "tags", tags));
    Ok(reply)
}

fn sent(body: &Value) -> Result<Vec<String>, Refusal> {
    let wrong = |rendered: &Value| {
        bad_value("tags", &format!("{} is not a valid list of tags", crate::python::repr(rendered)))
    };
    let list = body["tags"].as_array().ok_or_else(|| wrong(&body["tags"]))?;
    list.iter()
        .map(|tag| {
            let tag = tag.as_str().ok_or_else(|| wrong(&body["tags"]))?;
            let fits = !tag.is_empty() && tag.len() <= 255;
            if fits { Ok(tag.to_owned()) } else { Err(wrong(&body["tags"])) }
        })
        .collect()
}
