//! Finding a stack's address by its name.

use crate::fault::Fault;
use crate::query::percent;
use crate::request::Request;
use crate::response::{Response, found};

pub(crate) async fn by_name(request: Request) -> Result<Response, Fault> {
    let stack =
        request.service().identify(&request.requester(), request.part("stack_name")).await?;
    let url = request.stack_url(&stack);
    Ok(redirect(&request, url))
}

/// Redirects to the stack of `arn:openstack:heat::PROJECT:stacks/NAME/ID[/PATH]`.
pub(crate) async fn by_arn(request: Request) -> Result<Response, Fault> {
    let arn = request.part("arn");
    let bad =
        || Fault::bad(format!("Data supplied was not valid: {arn} is not the ARN of a stack"));
    let rest = arn.strip_prefix("arn:openstack:heat::").ok_or_else(bad)?;
    let (project, rest) = rest.split_once(":stacks/").ok_or_else(bad)?;
    let mut parts = rest.splitn(3, '/');
    let (name, id) = parts.next().zip(parts.next()).ok_or_else(bad)?;
    let decoded = |text: &str| percent::decode(text);
    let mut url = request.url(&decoded(project), &decoded(name), &decoded(id));
    if let Some(path) = parts.next() {
        url = format!("{url}/{path}");
    }
    Ok(redirect(&request, url))
}

fn redirect(request: &Request, mut url: String) -> Response {
    match request.part("path") {
        "" => {}
        // Older documents of the API write this path in the plural.
        "templates" => url.push_str("/template"),
        path => url = format!("{url}/{path}"),
    }
    let query = request.query.encoded();
    if !query.is_empty() {
        url = format!("{url}?{query}");
    }
    found(&url, &request.accept)
}
