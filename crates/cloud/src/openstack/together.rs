//! Lists that many ask for at the same time, each for a few of its objects: one call for all of them.
//!
//! A call says where in the reply the objects are ([`Call::together`]), and filters by one field, such as the ports of a server
//! by `device_id`. Whoever asks within a moment of another goes along: the service is asked for the objects of all,
//! and everybody gets their own. A service that does not take it so is asked by each alone.

use super::{OpenStack, lock};
use crate::budget::For;
use crate::{Call, CallError, Credential, Reply};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::OnceCell;

/// How long others are waited for: little beside what a call takes.
const MOMENT: Duration = Duration::from_millis(2);

/// So many values make an address of four kilobytes, which every server takes.
const MOST_VALUES: usize = 100;

/// The rounds that others may still join, by who asks for what.
pub(super) type Rounds = Mutex<HashMap<(Credential, String), Arc<Round>>>;

/// Those who ask together.
#[derive(Default)]
pub(super) struct Round {
    /// What they filter by.
    query: Mutex<Vec<(String, String)>>,
    answer: OnceCell<Result<Reply, CallError>>,
}

impl OpenStack {
    /// Asks for a list, together with others who ask for the same of other objects.
    pub(super) async fn ask_together(
        &self,
        by: &Credential,
        call: &Call,
        objects: &str,
    ) -> Result<Reply, CallError> {
        let key = (by.clone(), format!("{:?} {:?}", call.service, call.path));
        let round = self.joined(&key, call);
        // If whoever asks for all goes away, the next one does.
        let go = || async {
            tokio::time::sleep(MOMENT).await;
            lock(&self.rounds).retain(|_, open| !Arc::ptr_eq(open, &round));
            let query = lock(&round.query).clone();
            self.make(by, &Call { query, ..call.clone() }, For::Many).await
        };
        match round.answer.get_or_init(go).await {
            Ok(reply) if is_whole(reply, objects) => Ok(own(reply, call, objects)),
            Ok(_) | Err(CallError::Refused(_)) => self.make(by, call, For::One).await,
            Err(error) => Err(error.clone()),
        }
    }

    /// The round of a call: one that others have begun, or a new one.
    fn joined(&self, key: &(Credential, String), call: &Call) -> Arc<Round> {
        let mut rounds = lock(&self.rounds);
        let round = rounds.entry(key.clone()).or_default().clone();
        let mut query = lock(&round.query);
        query.extend(call.query.iter().cloned());
        if query.len() >= MOST_VALUES {
            rounds.remove(key);
        }
        drop(query);
        round
    }
}

/// Whether a reply has all that was asked for, and not a page of it.
fn is_whole(reply: &Reply, objects: &str) -> bool {
    reply.body.pointer(objects).is_some_and(Value::is_array)
        && reply.body.pointer(&format!("{objects}_links")).is_none()
}

/// What a call would have been answered alone.
fn own(reply: &Reply, call: &Call, objects: &str) -> Reply {
    let mut own = Reply { status: reply.status, headers: reply.headers.clone(), body: Value::Null };
    let is_own = |object: &&Value| {
        call.query.iter().any(|(field, wanted)| object[field.as_str()].as_str() == Some(wanted))
    };
    let all = reply.body.pointer(objects).and_then(Value::as_array);
    let found: Vec<Value> = all.into_iter().flatten().filter(is_own).cloned().collect();
    let name = objects.trim_start_matches('/');
    own.body = Value::Object([(name.to_owned(), found.into())].into_iter().collect());
    own
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
    fn everybody_gets_their_own() {
        let ports = json!([
            { "id": "1", "device_id": "a" },
            { "id": "2", "device_id": "b" },
            { "id": "3", "device_id": "a" },
        ]);
        let reply = Reply::new(200, json!({ "ports": ports }));
        let of = |server| own(&reply, &ports_of(server), "/ports").body;
        assert_eq!(of("b"), json!({ "ports": [{ "id": "2", "device_id": "b" }] }));
        assert_eq!(of("a")["ports"].as_array().map(Vec::len), Some(2));
        assert_eq!(of("c"), json!({ "ports": [] }));
    }

    #[test]
    fn a_page_is_not_the_whole() {
        let is_whole = |body| is_whole(&Reply::new(200, body), "/ports");
        assert!(is_whole(json!({ "ports": [] })));
        assert!(!is_whole(json!({ "ports": [], "ports_links": [{ "rel": "next" }] })));
        assert!(!is_whole(json!({})));
    }
}
