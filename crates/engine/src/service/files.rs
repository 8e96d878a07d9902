//! Files that a request names instead of containing them: those in a container of the object store, and nested templates at
//! URLs.

use super::request::Answers;
use super::{RequestError, Requester, Service};
use crate::error_type::ErrorType;
use kiln_cloud::{CallError, CallPath, Reply, Service as Cloud, get, in_current_request};
use kiln_template::Files;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::task::JoinSet;

/// How many files are fetched at once.
const MAX_CONCURRENT: usize = 8;

/// How many nested templates are fetched for one request.
const MAX_TEMPLATES: usize = 32;

impl Service {
    /// Adds the files of a container to the files of the request, which take precedence. The container is read with the
    /// rights of the requester; all files together may have `limit` bytes.
    pub async fn with_container(
        &self,
        requester: &Requester,
        mut files: Files,
        container: &str,
        limit: usize,
    ) -> Result<Files, RequestError> {
        let mut names = self.names_in(requester, container, limit).await?;
        names.retain(|name| !files.contains_key(name));
        let mut remaining_bytes = limit;
        let mut fetching = JoinSet::new();
        let mut waiting = names.into_iter();
        loop {
            while fetching.len() < MAX_CONCURRENT
                && let Some(name) = waiting.next()
            {
                let path = CallPath::from("").id(container).object(&name);
                let call = get(Cloud::ObjectStore, path).as_text();
                let (transport, by) = (self.transport.clone(), requester.user_token.credential());
                let fetched = async move { (name, transport.send(&by, call).await) };
                fetching.spawn(in_current_request(fetched));
            }
            let Some(fetched) = fetching.join_next().await else { return Ok(files) };
            // These tasks do not panic and are not cancelled.
            let Ok((name, reply)) = fetched else { continue };
            let reply = reply.map_err(|error| container_unreadable(container, &error))?;
            let text = reply.body.as_str().unwrap_or_default();
            // The sizes in the listing may be out of date.
            remaining_bytes = remaining_bytes
                .checked_sub(text.len())
                .ok_or_else(|| size_limit_exceeded(limit + 1, limit))?;
            files.insert(name, text.into());
        }
    }

    /// Fetches nested templates, each once; returns whether there were any to fetch.
    pub(super) async fn fetch_templates(
        &self,
        urls: BTreeSet<Arc<str>>,
        answers: &mut Answers,
    ) -> bool {
        let is_new = !urls.is_empty();
        let mut waiting = urls.into_iter();
        let mut fetching = JoinSet::new();
        loop {
            while fetching.len() < MAX_CONCURRENT
                && let Some(url) = waiting.next()
            {
                if answers.fetched.len() + answers.unfetched.len() + fetching.len() >= MAX_TEMPLATES
                {
                    let reason = format!("More than {MAX_TEMPLATES} templates would be fetched");
                    answers.unfetched.insert(url, reason.into());
                    continue;
                }
                let fetcher = self.config.template_fetcher.clone();
                let limit = self.rules.max_template_bytes;
                fetching.spawn(async move {
                    let fetched = fetcher.fetch(&url, limit).await;
                    (url, fetched)
                });
            }
            let Some(fetched) = fetching.join_next().await else { return is_new };
            // These tasks do not panic and are not cancelled.
            let Ok((url, fetched)) = fetched else { continue };
            match fetched {
                Ok(text) => _ = answers.fetched.insert(url, text),
                Err(reason) => _ = answers.unfetched.insert(url, reason.into()),
            }
        }
    }

    /// The names of all files in a container.
    async fn names_in(
        &self,
        requester: &Requester,
        container: &str,
        limit: usize,
    ) -> Result<Vec<Arc<str>>, RequestError> {
        let by = requester.user_token.credential();
        let mut names: Vec<Arc<str>> = Vec::new();
        let mut size = 0usize;
        loop {
            let path = CallPath::from("").id(container);
            let mut call = get(Cloud::ObjectStore, path).query("format", "json");
            if let Some(last) = names.last() {
                call = call.query("marker", &**last);
            }
            let page = self.transport.send(&by, call).await;
            let page = page.map_err(|error| container_unreadable(container, &error))?;
            let listed = objects(&page);
            // Names are sorted; a service that repeats a page has no more.
            let is_more = listed.last().is_some_and(|(name, _)| names.last() < Some(name));
            if !is_more {
                return Ok(names);
            }
            for (name, bytes) in listed {
                size = size.saturating_add(bytes);
                names.push(name);
            }
            if size > limit {
                return Err(size_limit_exceeded(size, limit));
            }
        }
    }
}

/// The names and sizes on a page of a list.
fn objects(page: &Reply) -> Vec<(Arc<str>, usize)> {
    let objects = page.body.as_array().into_iter().flatten();
    let size = |object: &Value| object["bytes"].as_u64().and_then(|it| usize::try_from(it).ok());
    let named = |object: &Value| Some((object["name"].as_str()?.into(), size(object).unwrap_or(0)));
    objects.filter_map(named).collect()
}

fn size_limit_exceeded(size: usize, limit: usize) -> RequestError {
    let message = format!(
        "Total size of files to download ({size} bytes) exceeds maximum allowed ({limit} bytes)."
    );
    RequestError::new(ErrorType::DownloadLimitExceeded, message)
}

fn container_unreadable(container: &str, error: &CallError) -> RequestError {
    let reason = match error {
        CallError::Refused(reply) => {
            reply.error_text().unwrap_or_else(|| format!("HTTP {}", reply.status))
        }
        error => error.to_string(),
    };
    let reason = reason.trim_end_matches('.');
    RequestError::new(
        ErrorType::NotFound,
        format!("Could not fetch files from container {container}, reason: {reason}."),
    )
}
