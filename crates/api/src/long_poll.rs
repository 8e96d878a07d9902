//! Long polling: a client that names the metadata it knows is answered as soon as the metadata is something else.
//!
//! Reading metadata costs something, so that clients that see the same share one read. Each was authorised before by a
//! read of its own.

use crate::fault::Fault;
use crate::request::Request;
use axum::http::HeaderName;
use kiln_engine::{ChangeTopic, StackId};
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use parking_lot::Mutex as Lock;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Mutex;

/// The longest time that a client may wait.
pub(crate) const MAX_WAIT_SECS: u64 = 60;

/// The response header that tells clients how long they may wait.
pub(crate) const WAIT_HEADER: HeaderName = HeaderName::from_static("x-kiln-wait");

/// Metadata with its tag. For a client that knows the metadata, the tag is enough.
pub(crate) struct Metadata {
    pub(crate) tag: String,
    pub(crate) value: Value,
}

impl Metadata {
    fn new(value: Value) -> Arc<Metadata> {
        Arc::new(Metadata { tag: tag(&value), value })
    }
}

/// The entity tag of metadata: different metadata has a different tag.
pub(crate) fn tag(value: &Value) -> String {
    // The tag is of the printed form: one of hidden values would tell something of them.
    let text = print::json(value, Keys::Ordered);
    let hash = Sha256::digest(text.as_bytes());
    format!("\"{}\"", hex::encode(&hash[..16]))
}

/// The result of a read: the metadata, and the id of the server that it belongs to.
pub(crate) type Read = (Option<Arc<str>>, Value);

/// All clients that wait.
#[derive(Default)]
pub struct LongPolls {
    groups: Lock<BTreeMap<Key, Weak<Group>>>,
}

/// The metadata that a client reads, and the rights it reads them with: clients with the same key see the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    stack: Option<StackId>,
    resource: String,
    project: String,
    is_admin: bool,
    /// Whether the caller sees credentials.
    may_have_credentials: bool,
    /// The user, if it is one of the stack's own: these see values that are hidden from others.
    guest: Option<String>,
}

/// Clients that wait for the same metadata share the last read, and the count of changes before it.
type Group = Mutex<Option<(u64, Arc<Metadata>)>>;

impl LongPolls {
    fn group(&self, key: Key) -> Arc<Group> {
        let mut groups = self.groups.lock();
        if let Some(group) = groups.get(&key).and_then(Weak::upgrade) {
            return group;
        }
        // Groups without clients are removed now and then.
        if groups.len().is_power_of_two() {
            groups.retain(|_, group| group.strong_count() > 0);
        }
        let group = Arc::new(Group::default());
        groups.insert(key, Arc::downgrade(&group));
        group
    }
}

/// Reads metadata: at once, or, for a client that sends the tag it knows and the time it waits, when the tag has changed.
pub(crate) async fn wait_for_change<F>(
    request: &Request,
    (stack, name): (Option<(StackId, StackId)>, &str),
    known_tag: Option<&str>,
    seconds: Option<u64>,
    read: impl Fn() -> F,
) -> Result<Arc<Metadata>, Fault>
where
    F: Future<Output = Result<Read, Fault>>,
{
    // The future of a read is large: it is not kept in the future of a client that waits.
    let (server, value) = Box::pin(read()).await?;
    let current = Metadata::new(value);
    let (Some(known_tag), Some(seconds)) = (known_tag, seconds.filter(|it| *it > 0)) else {
        return Ok(current);
    };
    let tree = stack.map(|(_, root)| ChangeTopic::Tree(root));
    let mut watched = tree.into_iter().chain(server.map(ChangeTopic::Server));
    let Some(first) = watched.next().filter(|_| current.tag == known_tag) else {
        return Ok(current);
    };
    let mut watch = request.service().watch(first, watched.next());
    let is_guest = request.app.options.is_guest(&request.caller);
    let group = request.app.long_polls.group(Key {
        stack: stack.map(|(id, _)| id),
        resource: name.to_owned(),
        project: request.caller.project_id.clone(),
        is_admin: request.is_admin,
        may_have_credentials: request.may_have_credentials(),
        guest: is_guest.then(|| request.caller.user_id.clone()),
    });
    drop(current);
    let limit = Duration::from_secs(seconds.min(MAX_WAIT_SECS));
    let changed = async {
        loop {
            let changes = watch.count();
            let current = read_shared(&group, changes, &read).await?;
            if current.tag != known_tag {
                return Ok(current);
            }
            drop(current);
            watch.changed().await;
        }
    };
    match tokio::time::timeout(limit, changed).await {
        Ok(changed) => changed,
        // This process knows of no change: the client's next request reads again.
        Err(_) => Ok(Arc::new(Metadata { tag: known_tag.to_owned(), value: Value::Null })),
    }
}

/// The metadata after at least this many changes, by the read of any client of the group.
async fn read_shared<F>(
    group: &Group,
    changes: u64,
    read: &impl Fn() -> F,
) -> Result<Arc<Metadata>, Fault>
where
    F: Future<Output = Result<Read, Fault>>,
{
    let mut last = group.lock().await;
    if let Some((after, metadata)) = &*last
        && *after >= changes
    {
        return Ok(metadata.clone());
    }
    let metadata = Metadata::new(Box::pin(read()).await?.1);
    *last = Some((changes, metadata.clone()));
    Ok(metadata)
}
