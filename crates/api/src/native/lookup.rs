//! Finding a stack's address by its name.

use crate::answer::{Answer, found};
use crate::ask::Ask;
use crate::fault::Fault;
use crate::query::percent;

pub(crate) async fn by_name(ask: Ask) -> Result<Answer, Fault> {
    let stack = ask.service().identify(&ask.asker(), ask.part("stack_name")).await?;
    let url = ask.stack_url(&stack);
    Ok(redirect(&ask, url))
}

/// `arn:openstack:heat::PROJECT:stacks/NAME/ID[/PATH]` says it all.
pub(crate) async fn by_arn(ask: Ask) -> Result<Answer, Fault> {
    let arn = ask.part("arn");
    let bad =
        || Fault::bad(format!("Data supplied was not valid: {arn} is not the ARN of a stack"));
    let rest = arn.strip_prefix("arn:openstack:heat::").ok_or_else(bad)?;
    let (project, rest) = rest.split_once(":stacks/").ok_or_else(bad)?;
    let mut parts = rest.splitn(3, '/');
    let (name, id) = parts.next().zip(parts.next()).ok_or_else(bad)?;
    let decoded = |text: &str| percent::decode(text);
    let mut url = ask.url(&decoded(project), &decoded(name), &decoded(id));
    if let Some(path) = parts.next() {
        url = format!("{url}/{path}");
    }
    Ok(redirect(&ask, url))
}

fn redirect(ask: &Ask, mut url: String) -> Answer {
    let path = ask.part("path");
    if !path.is_empty() {
        url = format!("{url}/{path}");
    }
    let query = ask.query.encoded();
    if !query.is_empty() {
        url = format!("{url}?{query}");
    }
    found(&url, &ask.accept)
}
