//! Batched lists: one call for many callers that each want a few objects of the same list.
//!
//! A call names the place of the objects in the reply ([`Call::together`]) and filters by one field, such as the ports of
//! a server by `device_id`. Calls that start within a moment of each other become one with the filters of all, and each
//! caller gets its own objects. If a service refuses the common call, each caller makes its own.

use super::OpenStack;
use super::key::CallKey;
use crate::limits::Lane;
use crate::{Call, CallError, Credential, HttpRequest, Reply};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

/// How long a batch waits for further callers: little compared with a call.
const JOIN_WINDOW: Duration = Duration::from_millis(2);

/// How many values a batch filters by: they make a URL of four kilobytes, which every server accepts.
const MAX_VALUES: usize = 100;

/// The batches that can still be joined, by credential and list.
pub(super) type Batches = Mutex<HashMap<CallKey, Arc<BatchedList>>>;

/// The calls that are made as one.
#[derive(Default)]
pub(super) struct BatchedList {
    /// The filters of all callers.
    query: Mutex<Vec<(String, String)>>,
    reply: OnceCell<Result<Reply, CallError>>,
}

impl OpenStack {
    /// Lists some objects, in one call with concurrent callers that list others.
    pub(super) async fn batched_list(
        &self,
        credential: &Credential,
        call: &Call,
        objects: &str,
    ) -> Result<Reply, CallError> {
        let key = CallKey::without_query(credential, &call.request);
        let batch = self.join_batch(&key, call);
        // If the caller that makes the call is cancelled, the next one makes it.
        let list = || async {
            tokio::time::sleep(JOIN_WINDOW).await;
            self.batches.lock().retain(|_, open| !Arc::ptr_eq(open, &batch));
            let query = batch.query.lock().clone();
            let request = HttpRequest { query, ..call.request.clone() };
            self.call(credential, &Call { request, ..call.clone() }, Lane::Shared).await
        };
        match batch.reply.get_or_init(list).await {
            Ok(reply) if is_complete(reply, objects) => Ok(part_of(reply, call, objects)),
            Ok(_) | Err(CallError::Refused(_)) => self.call(credential, call, Lane::Single).await,
            Err(error) => Err(error.clone()),
        }
    }

    /// Adds a call to the open batch of its list, or to a new one.
    fn join_batch(&self, key: &CallKey, call: &Call) -> Arc<BatchedList> {
        let mut batches = self.batches.lock();
        let batch = batches.entry(key.clone()).or_default().clone();
        let mut query = batch.query.lock();
        query.extend(call.request.query.iter().cloned());
        if query.len() >= MAX_VALUES {
            batches.remove(key);
        }
        drop(query);
        batch
    }
}

/// Whether a reply has all objects of the list, and not a page of them.
fn is_complete(reply: &Reply, objects: &str) -> bool {
    reply.body.pointer(objects).is_some_and(Value::is_array)
        && reply.body.pointer(&format!("{objects}_links")).is_none()
}

/// The part of a batch's reply that one call would have got alone.
fn part_of(reply: &Reply, call: &Call, objects: &str) -> Reply {
    let is_wanted = |object: &&Value| {
        let mut filters = call.request.query.iter();
        filters.any(|(field, wanted)| object[field.as_str()].as_str() == Some(wanted))
    };
    let all = reply.body.pointer(objects).and_then(Value::as_array);
    let wanted: Vec<Value> = all.into_iter().flatten().filter(is_wanted).cloned().collect();
    let name = objects.trim_start_matches('/');
    let body = Value::Object([(name.to_owned(), wanted.into())].into_iter().collect());
    Reply { status: reply.status, headers: reply.headers.clone(), body }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Service, get};
    use serde_json::json;

    fn ports_of(server: &str) -> Call {
        get(Service::Network, "/ports").query("device_id", server).together("/ports")
    }

    #[test]
    fn each_caller_gets_its_own_objects() {
        let ports = json!([
            { "id": "1", "device_id": "a" },
            { "id": "2", "device_id": "b" },
            { "id": "3", "device_id": "a" },
        ]);
        let reply = Reply::new(200, json!({ "ports": ports }));
        let of = |server| part_of(&reply, &ports_of(server), "/ports").body;
        assert_eq!(of("b"), json!({ "ports": [{ "id": "2", "device_id": "b" }] }));
        assert_eq!(of("a")["ports"].as_array().map(Vec::len), Some(2));
        assert_eq!(of("c"), json!({ "ports": [] }));
    }

    #[test]
    fn a_page_is_not_complete() {
        let is_complete = |body| is_complete(&Reply::new(200, body), "/ports");
        assert!(is_complete(json!({ "ports": [] })));
        assert!(!is_complete(json!({ "ports": [], "ports_links": [{ "rel": "next" }] })));
        assert!(!is_complete(json!({})));
    }
}
