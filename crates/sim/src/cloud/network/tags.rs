//! Tags: `/{collection}/{id}/tags`, the same for everything that has them.

use serde_json::{Value, json};

use super::super::ask::{Answer, Refusal, Reply, Turn, set, text, words};
use super::super::schema::Collection;
use super::dialect::{bad_value, refusal};

/// Answers what is asked about the tags of one object.
pub(super) fn serve(
    turn: &mut Turn<'_>,
    collections: &[&'static Collection],
    path: &[&str],
) -> Option<Answer> {
    let at = path.iter().position(|part| *part == "tags").filter(|at| *at >= 2)?;
    let (before, after) = (&path[..at], &path[at + 1..]);
    let (id, collection) = before.split_last()?;
    let collection = collection.join("/");
    let of = collections.iter().find(|of| of.path == collection)?;
    Some(answer(turn, of, id, after))
}

fn answer(turn: &mut Turn<'_>, of: &'static Collection, id: &str, after: &[&str]) -> Answer {
    let row = turn.find(of, id)?;
    let mut tags = words(&row, "tags");
    let reads = turn.ask.method == "GET";
    if !reads && !turn.owns(&row) {
        return Err(of.dialect.forbidden(of, "update"));
    }
    let absent = |tag: &str| refusal(404, "TagNotFound", format!("Tag {tag} could not be found."));
    let reply = match (turn.ask.method.as_str(), after) {
        ("GET", []) => return Ok(Reply::ok(json!({ "tags": tags }))),
        ("GET", [tag]) => {
            let found = tags.iter().any(|own| own == tag);
            return if found { Ok(Reply::empty(204)) } else { Err(absent(tag)) };
        }
        ("PUT", []) => {
            tags = sent(&turn.body)?;
            Reply::ok(json!({ "tags": tags }))
        }
        ("POST", []) => {
            tags.extend(sent(&turn.body)?);
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
        _ => return Err(of.dialect.plain(405, "The method is not allowed for the requested URL.")),
    };
    tags.sort_unstable();
    tags.dedup();
    turn.world.edit(of.name, text(&row, of.key), |row| set(row, "tags", tags));
    Ok(reply)
}

fn sent(body: &Value) -> Result<Vec<String>, Refusal> {
    let wrong = |shown: &Value| {
        bad_value(
            "tags",
            &format!("{} is not a valid list of tags", super::super::dialect::python(shown)),
        )
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
