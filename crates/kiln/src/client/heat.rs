//! The calls of the orchestration API.

use super::error::{ClientError, OrNotFound, Result};
use super::session::{ApiRequest, HeatSession, below_stacks, no_location};
use kiln_template::files::url::{SEGMENT, percent_encode};
use reqwest::Method;
use serde_json::{Value, json};

/// The parameters of a query.
pub(crate) type Query = Vec<(String, String)>;

/// The orchestration service of a cloud.
pub(crate) struct HeatApi {
    pub(crate) session: HeatSession,
}

/// A stack by name and id, as paths have it: `web/8f1f0a52-…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StackId(String);

impl StackId {
    /// A stack with this name and id.
    pub(crate) fn new(name: &str, id: &str) -> StackId {
        StackId(format!("{}/{}", percent_encode(name, &SEGMENT), percent_encode(id, &SEGMENT)))
    }

    /// The path of the stack or of something below it.
    pub(crate) fn path(&self, below: &[&str]) -> String {
        format!("/stacks/{}{}", self.0, path(below))
    }

    /// The id.
    pub(crate) fn id(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, id)| id)
    }
}

/// A path of these segments, percent-encoded.
pub(crate) fn path(parts: &[&str]) -> String {
    parts.iter().map(|part| format!("/{}", percent_encode(part, &SEGMENT))).collect()
}

impl HeatApi {
    /// Sends a GET request.
    pub(crate) async fn get(&self, path: &str, query: Query) -> Result<Value> {
        self.call(Method::GET, path, query, None).await
    }

    /// Sends a POST request.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.call(Method::POST, path, Query::new(), Some(body.to_string())).await
    }

    /// Sends a DELETE request.
    pub(crate) async fn delete(&self, path: &str) -> Result<Value> {
        self.call(Method::DELETE, path, Query::new(), None).await
    }

    /// Sends a request with a JSON body.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        query: Query,
        body: Option<String>,
    ) -> Result<Value> {
        let request = ApiRequest { method, path: path.to_owned(), query, body };
        Ok(self.session.send(&request).await?.body)
    }

    /// Finds a stack by name, id, or both separated by a slash.
    pub(crate) async fn find(&self, stack: &str) -> Result<StackId> {
        if let Some((name, id)) = stack.split_once('/') {
            return Ok(StackId::new(name, id));
        }
        let path = path(&["stacks", stack]);
        let request = ApiRequest { method: Method::GET, path, query: Query::new(), body: None };
        let answer = self.session.send_once(&request).await?;
        let location = answer.location.as_deref().and_then(below_stacks).ok_or_else(no_location)?;
        Ok(StackId(location.split('?').next().unwrap_or(location).to_owned()))
    }

    /// Finds a stack, or reports `Stack not found`.
    pub(crate) async fn stack(&self, stack: &str) -> Result<StackId> {
        self.find(stack)
            .await
            .or_not_found(|| format!("Stack not found: {stack}"))
            .map_err(list_hint)
    }

    /// Finds a stack and reads its details.
    pub(crate) async fn show(&self, stack: &str, resolve_outputs: bool) -> Result<Value> {
        let path = match stack.split_once('/') {
            Some((name, id)) => StackId::new(name, id).path(&[]),
            None => path(&["stacks", stack]),
        };
        let answer = self.get(&path, outputs_query(resolve_outputs)).await;
        let answer =
            answer.or_not_found(|| format!("Stack not found: {stack}")).map_err(list_hint)?;
        Ok(answer["stack"].clone())
    }

    /// The details of a stack, without its outputs.
    pub(crate) async fn state(&self, stack: &StackId) -> Result<Value> {
        Ok(self.get(&stack.path(&[]), outputs_query(false)).await?["stack"].clone())
    }

    /// Lists stacks, page by page up to `limit`.
    pub(crate) async fn stacks(
        &self,
        mut query: Query,
        limit: Option<usize>,
    ) -> Result<Vec<Value>> {
        let mut all: Vec<Value> = Vec::new();
        let asked = query.len();
        loop {
            query.truncate(asked);
            if let Some(limit) = limit {
                query.push(("limit".into(), (limit - all.len()).to_string()));
            }
            if let Some(last) = all.last().and_then(|last| last["id"].as_str()) {
                query.retain(|(name, _)| name != "marker");
                query.push(("marker".into(), last.to_owned()));
            }
            let page = self.get("/stacks", query.clone()).await?;
            let page = list(&page, "stacks");
            let is_last = page.is_empty();
            all.extend(page);
            match limit {
                Some(limit) if !is_last && all.len() < limit => {}
                _ => return Ok(all),
            }
        }
    }

    /// The events of a stack.
    pub(crate) async fn events(&self, stack: &StackId, query: Query) -> Result<Vec<Value>> {
        Ok(list(&self.get(&stack.path(&["events"]), query).await?, "events"))
    }

    /// The resources of a stack.
    pub(crate) async fn resources(&self, stack: &StackId, query: Query) -> Result<Vec<Value>> {
        Ok(list(&self.get(&stack.path(&["resources"]), query).await?, "resources"))
    }

    /// Requests an action on a stack: suspend, resume, check, cancel_update, cancel_without_rollback.
    pub(crate) async fn act(&self, stack: &StackId, action: &str) -> Result<()> {
        self.post(&stack.path(&["actions"]), &json!({ action: null })).await.map(drop)
    }

    /// Sends a signal to a resource.
    pub(crate) async fn signal(
        &self,
        stack: &StackId,
        resource: &str,
        data: Option<&Value>,
    ) -> Result<()> {
        let path = stack.path(&["resources", resource, "signal"]);
        let body = data.map(Value::to_string);
        self.call(Method::POST, &path, Query::new(), body).await.map(drop)
    }
}

fn outputs_query(resolve: bool) -> Query {
    if resolve { Query::new() } else { query([("resolve_outputs", "False")]) }
}

/// A list member of a response; empty if it is missing.
pub(crate) fn list(answer: &Value, key: &str) -> Vec<Value> {
    answer[key].as_array().cloned().unwrap_or_default()
}

/// A query of these parameters.
pub(crate) fn query<const N: usize>(parts: [(&str, &str); N]) -> Query {
    parts.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// A string member of a response; empty if it is missing.
pub(crate) fn text<'a>(answer: &'a Value, key: &str) -> &'a str {
    answer[key].as_str().unwrap_or_default()
}

/// The link with a given relation in a response.
pub(crate) fn link<'a>(answer: &'a Value, rel: &str) -> Option<&'a str> {
    let links = answer["links"].as_array()?;
    links.iter().find(|link| link["rel"] == rel)?["href"].as_str()
}

/// The stack of a URL.
pub(crate) fn stack_of(address: &str) -> Option<StackId> {
    let mut parts = below_stacks(address)?.split('/');
    Some(StackId(format!("{}/{}", parts.next()?, parts.next()?)))
}

/// The name of the stack of a URL.
pub(crate) fn stack_name_of(address: &str) -> Option<&str> {
    below_stacks(address)?.split('/').next()
}

/// Adds a hint where to find the names that exist.
fn list_hint(problem: ClientError) -> ClientError {
    if problem.is_not_found() {
        problem.hint("`kiln stack list` shows the stacks of the project.")
    } else {
        problem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded() {
        let stack = StackId::new("a b", "1/2");
        assert_eq!(stack.path(&["resources", "x/y"]), "/stacks/a%20b/1%2F2/resources/x%2Fy");
        assert_eq!(stack.id(), "1%2F2");
        let stack = stack_of("http://h/v1/p/stacks/web/12/resources/r").unwrap();
        assert_eq!((stack.path(&[]), stack.id()), ("/stacks/web/12".into(), "12"));
        assert_eq!(stack_name_of("http://h/v1/p/stacks/web/12"), Some("web"));
    }
}
