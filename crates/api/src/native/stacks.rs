//! Listing, making and showing stacks.

use super::request::{StackBody, adopt_data};
use super::show::{detailed, document, listed, members, output, wrapped};
use crate::answer::Answer;
use crate::ask::{Ask, link};
use crate::fault::Fault;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use kiln_engine::ids::StackId;
use kiln_engine::partial_tree::TreePart;
use kiln_engine::service::Sieve;
use kiln_engine::state::Status;
use kiln_engine::store::{StackField, StackQuery, StackRow, StackSort, TagQuery};
use kiln_engine::view::StackView;
use kiln_template::Value;
use std::sync::Arc;
use uuid::Uuid;

// --- listing ---

/// The names under which stacks can be filtered.
const FILTERS: [(&str, StackField); 13] = [
    ("id", StackField::Id),
    ("name", StackField::Name),
    ("stack_name", StackField::Name),
    ("status", StackField::Status),
    ("stack_status", StackField::Status),
    ("action", StackField::Action),
    ("stack_action", StackField::Action),
    ("stack_status_reason", StackField::Reason),
    ("tenant", StackField::Project),
    ("username", StackField::UserName),
    ("stack_owner", StackField::UserName),
    ("owner_id", StackField::Parent),
    ("parent", StackField::Parent),
];

const SORTS: [(&str, StackSort); 4] = [
    ("stack_name", StackSort::Name),
    ("stack_status", StackSort::Status),
    ("creation_time", StackSort::Created),
    ("updated_time", StackSort::Updated),
];

pub(crate) async fn index(ask: Ask) -> Result<Answer, Fault> {
    let is_global = ask.query.flag("global_tenant")?.unwrap_or(false);
    if is_global {
        ask.app.allow("stacks:global_index", &ask.caller, &ask.caller.project_id)?;
    }
    let with_count = ask.query.flag("with_count")?.unwrap_or(false);
    let with_hidden = ask.query.flag("show_hidden")?.unwrap_or(false);
    let Some(query) = stack_query(&ask)? else {
        // No state has such a name.
        let nothing = Value::map([("stacks", Value::list([]))]);
        return Ok(Answer::ok(&nothing));
    };
    let mut asker = ask.asker();
    asker.is_admin |= is_global;
    let limit = query.limit;
    let page = ask.service().sift(&asker, query, &sieve(&ask), with_count, with_hidden).await?;
    let shown = page.stacks.iter().map(|stack| {
        let mut shown = listed(&ask, stack);
        if ask.is_admin {
            shown.insert("project".into(), Value::Text(stack.project.clone()));
        }
        Value::Map(Arc::new(shown))
    });
    let mut answer = members([("stacks", Value::list(shown))]);
    if let (Some(limit), Some(last)) = (limit, page.stacks.last())
        && page.stacks.len() as u64 == limit
    {
        let query = ask.query.with("marker", &last.id.to_string());
        let project = ask.part("tenant_id");
        let next = link("next", format!("{}/{project}/stacks?{query}", ask.base));
        answer.insert("links".into(), Value::list([next]));
    }
    if let Some(count) = page.count {
        answer.insert("count".into(), i64::try_from(count).unwrap_or(i64::MAX).into());
    }
    Ok(Answer::ok(&Value::Map(Arc::new(answer))))
}

pub(crate) async fn detail(ask: Ask) -> Result<Answer, Fault> {
    let query = StackQuery { descending: true, ..StackQuery::default() };
    let page = ask.service().list(&ask.asker(), query, false, false).await?;
    let shown = page.stacks.iter().map(|stack| Value::Map(Arc::new(listed(&ask, stack))));
    Ok(Answer::ok(&wrapped("stacks", Value::list(shown))))
}

/// What to list; nothing if it is asked for states that there are not.
fn stack_query(ask: &Ask) -> Result<Option<StackQuery>, Fault> {
    let query = &ask.query;
    let sort = query
        .all("sort_keys")
        .filter_map(|key| SORTS.iter().find(|(name, _)| *name == key).map(|(_, sort)| *sort));
    let sort: Vec<StackSort> = sort.collect();
    let descending = match query.get("sort_dir") {
        None => sort.is_empty(),
        Some("asc") => false,
        Some("desc") => true,
        Some(_) => return Err(Fault::bare("ValueError")),
    };
    let mut filters: Vec<(StackField, Vec<Arc<str>>)> = Vec::new();
    let mut add = |field: StackField, value: Arc<str>| match filters
        .iter_mut()
        .find(|(known, _)| *known == field)
    {
        Some((_, values)) => values.push(value),
        None => filters.push((field, vec![value])),
    };
    for (name, field) in FILTERS {
        for value in query.all(name) {
            if field != StackField::Status {
                add(field, value.into());
                continue;
            }
            let Some((action, status)) = split_state(value) else { return Ok(None) };
            add(StackField::Status, status.name().into());
            if let Some(action) = action {
                add(StackField::Action, action.into());
            }
        }
    }
    Ok(Some(StackQuery {
        project: None,
        parent: None,
        nested: query.flag("show_nested")?.unwrap_or(false),
        deleted: query.flag("show_deleted")?.unwrap_or(false),
        filters,
        tags: TagQuery {
            all: query.words("tags"),
            any: query.words("tags_any"),
            not_all: query.words("not_tags"),
            none: query.words("not_tags_any"),
        },
        sort,
        descending,
        marker: query.get("marker").and_then(|id| Uuid::parse_str(id).ok()).map(StackId),
        limit: query.count("limit")?,
    }))
}

/// What stacks are asked for by that no index knows.
fn sieve(ask: &Ask) -> Sieve {
    let flags = ask.query.all("disable_rollback").filter_map(|text| match text {
        text if text.eq_ignore_ascii_case("true") => Some(true),
        text if text.eq_ignore_ascii_case("false") => Some(false),
        // The reference compares numbers, and what is no number is zero.
        text => match leading_number(text) {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        },
    });
    let flags: Vec<bool> = flags.collect();
    let timeouts = ask.query.all("timeout_mins").map(leading_number);
    Sieve {
        disable_rollback: flags,
        timeout_mins: timeouts.collect(),
        user_project: ask.query.all("stack_user_project_id").map(Arc::from).collect(),
    }
}

/// The whole number that a text begins with; zero if it begins with none.
fn leading_number(text: &str) -> u64 {
    let text = text.trim_start();
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().unwrap_or(0)
}

/// A state in words, with or without the action.
pub(crate) fn split_state(text: &str) -> Option<(Option<&str>, Status)> {
    let statuses = [Status::Complete, Status::Failed, Status::InProgress];
    let status = statuses.into_iter().find(|status| text.contains(status.name()))?;
    let action = text.strip_suffix(status.name()).and_then(|it| it.strip_suffix('_'));
    Some((action.filter(|action| !action.is_empty()), status))
}

// --- making ---

pub(crate) async fn create(ask: Ask) -> Result<Answer, Fault> {
    let asker = ask.asker();
    let body = StackBody { ask: &ask };
    let name = body.name()?;
    let id = match adopt_data(&ask)? {
        Some(data) => {
            let request = body.without_template().await?;
            ask.service().adopt(&asker, &name, request, &data).await?
        }
        None => {
            let request = body.new_stack().await?;
            ask.service().create(&asker, &name, request).await?
        }
    };
    let url = ask.url(&ask.caller.project_id, &name, &id.to_string());
    let stack = Value::map([
        ("id", Value::from(id.to_string())),
        ("links", Value::list([link("self", url.clone())])),
    ]);
    Ok(Answer::json(StatusCode::CREATED, &wrapped("stack", stack)).with(LOCATION, url))
}

// --- showing ---

pub(crate) async fn show(ask: Ask) -> Result<Answer, Fault> {
    let with_outputs = ask.query.flag("resolve_outputs")?.unwrap_or(true);
    let part = if with_outputs { TreePart::Outputs } else { TreePart::Stack };
    let show =
        |stack: &StackRow, seen: &StackView<'_>| Ok(detailed(&ask, stack, seen, with_outputs));
    let shown = ask.look(part, show).await?;
    Ok(Answer::ok(&wrapped("stack", Value::Map(Arc::new(shown)))))
}

/// A stack of which nothing but its own record is left.
pub(crate) fn gone(stack: &StackRow) -> Fault {
    kiln_engine::service::Refusal::no_such("Stack", &stack.name).into()
}

pub(crate) async fn template(ask: Ask) -> Result<Answer, Fault> {
    let template = ask.look(TreePart::Stack, |_, seen| Ok(seen.template())).await?;
    Ok(Answer::ok(&template))
}

pub(crate) async fn environment(ask: Ask) -> Result<Answer, Fault> {
    let environment = ask.look(TreePart::Stack, |_, seen| Ok(seen.environment())).await?;
    Ok(Answer::ok(&super::show::environment(&environment)))
}

pub(crate) async fn files(ask: Ask) -> Result<Answer, Fault> {
    let recipe = ask.look(TreePart::Stack, |_, seen| Ok(seen.recipe().clone())).await?;
    let files = recipe.files.iter();
    let files = files.map(|(name, text)| (name.clone(), Value::Text(text.clone())));
    Ok(Answer::ok(&Value::map(files)))
}

pub(crate) async fn outputs(ask: Ask) -> Result<Answer, Fault> {
    let stack = ask.live_stack().await?;
    let names = ask.look_at(&stack, TreePart::Stack, |_, seen| Ok(seen.output_names())).await?;
    let outputs = names.into_iter().map(|(name, description)| {
        Value::map([("output_key", Value::Text(name)), ("description", description)])
    });
    Ok(Answer::ok(&wrapped("outputs", Value::list(outputs))))
}

pub(crate) async fn show_output(ask: Ask) -> Result<Answer, Fault> {
    let stack = ask.live_stack().await?;
    let name = ask.part("output_key");
    let found = ask.look_at(&stack, TreePart::Outputs, |_, seen| Ok(seen.output(name))).await?;
    let found = found
        .ok_or_else(|| Fault::new("NotFound", format!("Specified output key {name} not found.")))?;
    Ok(Answer::ok(&wrapped("output", output(&found))))
}

// --- ending ---

pub(crate) async fn delete(ask: Ask) -> Result<Answer, Fault> {
    let stack = ask.stack().await?;
    ask.service().delete(&stack).await?;
    Ok(Answer::nothing())
}

pub(crate) async fn abandon(ask: Ask) -> Result<Answer, Fault> {
    let stack = ask.live_stack().await?;
    Ok(Answer::ok(&document(&ask.service().abandon(&stack).await?)))
}

pub(crate) async fn export(ask: Ask) -> Result<Answer, Fault> {
    let stack = ask.live_stack().await?;
    Ok(Answer::ok(&document(&ask.service().export(&stack).await?)))
}
