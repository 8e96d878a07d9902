//! Waiting for metadata to change: whoever says what they know is answered as soon as that is no longer so.
//!
//! Looking costs something: those who see the same share one look. Each was let in before by a look of their own.

use crate::ask::Ask;
use crate::fault::Fault;
use axum::http::HeaderName;
use kiln_engine::ids::StackId;
use kiln_engine::service::Watched;
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex as Lock, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Mutex;

/// Nobody waits longer, in seconds.
pub(crate) const LONGEST: u64 = 60;

/// The header in which an answer tells how long somebody may wait.
pub(crate) const OFFER: HeaderName = HeaderName::from_static("x-kiln-wait");

/// What somebody sees, and by which tag it is known.
pub(crate) struct Told {
    pub(crate) tag: String,
    pub(crate) value: Value,
}

impl Told {
    fn of(value: Value) -> Arc<Told> {
        Arc::new(Told { tag: tag(&value), value })
    }
}

/// By what metadata is known: another tag means something else.
pub(crate) fn tag(value: &Value) -> String {
    // Of what is shown: of what is hidden, a tag would tell something.
    let text = print::json(value, Keys::Ordered);
    let hash = Sha256::digest(text.as_bytes());
    let digits: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}

/// What is looked at: metadata, and the server that it is of.
pub(crate) type Seen = (Option<Arc<str>>, Value);

/// Everybody who waits.
#[derive(Default)]
pub struct Waiting {
    rooms: Lock<BTreeMap<Key, Weak<Room>>>,
}

/// What somebody looks at, and as whom: all with the same key see the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    stack: Option<StackId>,
    resource: String,
    project: String,
    is_admin: bool,
    /// Users of stacks see what is hidden from others.
    guest: Option<String>,
}

/// Those who wait for the same. The number says after how many changes it was looked at.
type Room = Mutex<Option<(u64, Arc<Told>)>>;

impl Waiting {
    fn room(&self, key: Key) -> Arc<Room> {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = rooms.get(&key).and_then(Weak::upgrade) {
            return room;
        }
        // Those that everybody left are cleared away now and then.
        if rooms.len().is_power_of_two() {
            rooms.retain(|_, room| room.strong_count() > 0);
        }
        let room = Arc::new(Room::default());
        rooms.insert(key, Arc::downgrade(&room));
        room
    }
}

/// What there is at a place: at once, or, for those who say what they know and how long they wait, when it is something else.
pub(crate) async fn told<F>(
    ask: &Ask,
    place: (Option<(StackId, StackId)>, &str),
    known: Option<&str>,
    seconds: Option<u64>,
    look: impl Fn() -> F,
) -> Result<Arc<Told>, Fault>
where
    F: Future<Output = Result<Seen, Fault>>,
{
    let (stack, name) = place;
    let (server, value) = look().await?;
    let now = Told::of(value);
    let (Some(known), Some(seconds)) = (known, seconds.filter(|it| *it > 0)) else {
        return Ok(now);
    };
    let tree = stack.map(|(_, root)| Watched::Tree(root));
    let mut watched = tree.into_iter().chain(server.map(Watched::Server));
    let Some(first) = watched.next().filter(|_| now.tag == known) else { return Ok(now) };
    let mut watch = ask.service().watch(first, watched.next());
    let is_guest = ask.app.options.is_guest(&ask.caller);
    let room = ask.app.waiting.room(Key {
        stack: stack.map(|(id, _)| id),
        resource: name.to_owned(),
        project: ask.caller.project_id.clone(),
        is_admin: ask.is_admin,
        guest: is_guest.then(|| ask.caller.user_id.clone()),
    });
    drop(now);
    let limit = Duration::from_secs(seconds.min(LONGEST));
    let changed = async {
        loop {
            let count = watch.count();
            let told = shared(&room, count, &look).await?;
            if told.tag != known {
                return Ok(told);
            }
            drop(told);
            watch.changed().await;
        }
    };
    match tokio::time::timeout(limit, changed).await {
        Ok(told) => told,
        Err(_) => Ok(Told::of(look().await?.1)),
    }
}

/// What somebody saw after at least so many changes.
async fn shared<F>(room: &Room, count: u64, look: &impl Fn() -> F) -> Result<Arc<Told>, Fault>
where
    F: Future<Output = Result<Seen, Fault>>,
{
    let mut seen = room.lock().await;
    if let Some((after, told)) = &*seen
        && *after >= count
    {
        return Ok(told.clone());
    }
    let told = Told::of(look().await?.1);
    *seen = Some((count, told.clone()));
    Ok(told)
}
