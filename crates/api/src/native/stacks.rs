//! Listing, making and showing stacks.

use super::show::{detailed, document, listed, output, wrapped};
use super::stack_body::{StackBody, adopt_data};
use crate::fault::Fault;
use crate::request::{Request, link};
use crate::response::Response;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use futures_util::stream;
use kiln_engine::store::{StackField, StackQuery, StackRow, StackSort, TagQuery};
use kiln_engine::{ErrorType, PostFilter, StackId, StackView, Status, TreePart};
use kiln_template::{Members, Value};
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

pub(crate) async fn index(request: Request) -> Result<Response, Fault> {
    let is_global = request.query.flag("global_tenant")?.unwrap_or(false);
    if is_global {
        request.app.allow("stacks:global_index", &request.caller, &request.caller.project_id)?;
    }
    let with_count = request.query.flag("with_count")?.unwrap_or(false);
    let with_hidden = request.query.flag("show_hidden")?.unwrap_or(false);
    let Some(query) = stack_query(&request)? else {
        // No state has such a name.
        let nothing = Value::map([("stacks", Value::list([]))]);
        return Ok(Response::ok(&nothing));
    };
    let mut requester = request.requester();
    requester.is_admin |= is_global;
    let limit = query.limit;
    let page = request
        .service()
        .list_filtered(&requester, query, &sieve(&request), with_count, with_hidden)
        .await?;
    let mut others = Members::new();
    if let (Some(limit), Some(last)) = (limit, page.stacks.last())
        && page.stacks.len() as u64 == limit
    {
        let query = request.query.with("marker", &last.id.to_string());
        let project = request.part("tenant_id");
        let next = link("next", format!("{}/{project}/stacks?{query}", request.base));
        others.insert("links".into(), Value::list([next]));
    }
    if let Some(count) = page.count {
        others.insert("count".into(), i64::try_from(count).unwrap_or(i64::MAX).into());
    }
    let share = request.share();
    let rows = page.stacks.into_iter().map(move |stack| {
        let mut shown = listed(&request, &stack);
        if request.is_admin {
            shown.insert("project".into(), Value::Text(stack.project.clone()));
        }
        Ok(Value::Map(Arc::new(shown)))
    });
    Response::list(share, "stacks", stream::iter(rows), others).await
}

pub(crate) async fn detail(request: Request) -> Result<Response, Fault> {
    let query = StackQuery { descending: true, ..StackQuery::default() };
    let page = request.service().list(&request.requester(), query, false, false).await?;
    let share = request.share();
    let shown = move |stack| Value::Map(Arc::new(listed(&request, &stack)));
    Response::list_of(share, "stacks", page.stacks.into_iter().map(shown)).await
}

/// The query of a list; none if it names an unknown state.
fn stack_query(request: &Request) -> Result<Option<StackQuery>, Fault> {
    let query = &request.query;
    let sort = query
        .all("sort_keys")
        .filter_map(|key| SORTS.iter().find(|(name, _)| *name == key).map(|(_, sort)| *sort));
    let sort: Vec<StackSort> = sort.collect();
    let descending = match query.get("sort_dir") {
        None => sort.is_empty(),
        Some("asc") => false,
        Some("desc") => true,
        Some(_) => return Err(Fault::bare(ErrorType::ValueError)),
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
        with_bodies: false,
    }))
}

/// The filters of a list that no index supports.
fn sieve(request: &Request) -> PostFilter {
    let flags = request.query.all("disable_rollback").filter_map(|text| match text {
        text if text.eq_ignore_ascii_case("true") => Some(true),
        text if text.eq_ignore_ascii_case("false") => Some(false),
        // The reference compares numbers, and takes other texts for zero.
        text => match leading_number(text) {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        },
    });
    let flags: Vec<bool> = flags.collect();
    let timeouts = request.query.all("timeout_mins").map(leading_number);
    PostFilter {
        disable_rollback: flags,
        timeout_mins: timeouts.collect(),
        user_project: request.query.all("stack_user_project_id").map(Arc::from).collect(),
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

pub(crate) async fn create(request: Request) -> Result<Response, Fault> {
    let requester = request.requester();
    let body = StackBody { request: &request };
    let name = body.name()?;
    let id = match adopt_data(&request)? {
        Some(data) => {
            let stack_request = body.without_template().await?;
            request.service().adopt(&requester, &name, stack_request, &data).await?
        }
        None => {
            let stack_request = body.new_stack().await?;
            request.service().create(&requester, &name, stack_request).await?
        }
    };
    let url = request.url(&request.caller.project_id, &name, &id.to_string());
    let stack = Value::map([
        ("id", Value::from(id.to_string())),
        ("links", Value::list([link("self", url.clone())])),
    ]);
    Ok(Response::json(StatusCode::CREATED, &wrapped("stack", stack)).with(LOCATION, url))
}

// --- showing ---

pub(crate) async fn show(request: Request) -> Result<Response, Fault> {
    let with_outputs = request.query.flag("resolve_outputs")?.unwrap_or(true);
    let show =
        |stack: &StackRow, seen: &StackView<'_>| Ok(detailed(&request, stack, seen, with_outputs));
    let stack = request.stack().await?;
    let shown = match with_outputs {
        true => request.read_outputs(&stack, show).await?,
        false => request.read_stack(&stack, TreePart::Stack, show).await?,
    };
    Ok(Response::ok(&wrapped("stack", Value::Map(Arc::new(shown)))))
}

/// A stack of which nothing but its own record is left.
pub(crate) fn gone(stack: &StackRow) -> Fault {
    kiln_engine::RequestError::not_found("Stack", &stack.summary.name).into()
}

pub(crate) async fn template(request: Request) -> Result<Response, Fault> {
    let template = request.read(TreePart::Stack, |_, seen| Ok(seen.template())).await?;
    Ok(Response::ok(&template))
}

pub(crate) async fn environment(request: Request) -> Result<Response, Fault> {
    let environment = request.read(TreePart::Stack, |_, seen| Ok(seen.environment())).await?;
    Ok(Response::ok(&super::show::environment(&environment)))
}

pub(crate) async fn files(request: Request) -> Result<Response, Fault> {
    let recipe = request.read(TreePart::Stack, |_, seen| Ok(seen.recipe().clone())).await?;
    let files = recipe.files.iter();
    let files = files.map(|(name, text)| (name.clone(), Value::Text(text.clone())));
    Ok(Response::ok(&Value::map(files)))
}

pub(crate) async fn outputs(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    let names =
        request.read_stack(&stack, TreePart::Stack, |_, seen| Ok(seen.output_names())).await?;
    let outputs = names.into_iter().map(|(name, description)| {
        Value::map([("output_key", Value::Text(name)), ("description", description)])
    });
    Ok(Response::ok(&wrapped("outputs", Value::list(outputs))))
}

pub(crate) async fn show_output(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    let name = request.part("output_key");
    let found = request.read_outputs(&stack, |_, seen| Ok(seen.output(name))).await?;
    let found = found.ok_or_else(|| {
        Fault::new(ErrorType::NotFound, format!("Specified output key {name} not found."))
    })?;
    Ok(Response::ok(&wrapped("output", output(&request, &found))))
}

// --- ending ---

pub(crate) async fn delete(request: Request) -> Result<Response, Fault> {
    let stack = request.stack().await?;
    request.service().delete(&stack).await?;
    Ok(Response::no_content())
}

pub(crate) async fn abandon(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    let sees_hidden = may_see_hidden(&request);
    Ok(Response::ok(&document(&request.service().abandon(&stack, sees_hidden).await?)))
}

pub(crate) async fn export(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    let sees_hidden = may_see_hidden(&request);
    Ok(Response::ok(&document(&request.service().export(&stack, sees_hidden).await?)))
}

/// Whether the policy lets the caller see hidden values in exports.
fn may_see_hidden(request: &Request) -> bool {
    request
        .app
        .allows("stacks:export_in_clear", &request.caller, &request.caller.project_id)
        .is_ok()
}
