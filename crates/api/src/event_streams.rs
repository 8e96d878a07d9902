//! Open event streams: how many there may be, and the reads that they share.
//!
//! Streams that follow the same stacks with the same rights share their reads. A stream that has nothing to tell causes none: it
//! waits until its tree has changed ([`ChangeTopic::Tree`](kiln_engine::ChangeTopic::Tree)).

use crate::app::App;
use crate::fault::Fault;
use crate::native::events::refreshed;
use crate::request::Request;
use kiln_engine::store::{EventQuery, EventRow, StackRow};
use kiln_engine::{ErrorType, EventId, Service, StackId};
use parking_lot::Mutex as Lock;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Weak};
use tokio::sync::Mutex;

/// How many events are read at once.
const MAX_EVENTS: u64 = 200;

/// How many reads are kept for the other streams that see the same.
const MAX_PAGES: usize = 4;

/// All open event streams.
#[derive(Default)]
pub struct EventStreams {
    open: Lock<OpenCount>,
    groups: Lock<BTreeMap<Key, Weak<SharedReads>>>,
}

#[derive(Default)]
struct OpenCount {
    all: usize,
    by_project: HashMap<String, usize>,
}

/// An event stream that a client reads, until it is dropped together with the body.
pub(crate) struct OpenStream {
    app: Arc<App>,
    project: String,
}

impl OpenStream {
    /// Opens a stream of a project, unless the project or all together have too many.
    pub(crate) fn open(app: &Arc<App>, project: &str) -> Result<OpenStream, Fault> {
        let (options, mut open) = (&app.options, app.event_streams.open.lock());
        let count = open.by_project.get(project).copied().unwrap_or_default();
        let is_full = |count: usize, max: usize| max > 0 && count >= max;
        if is_full(count, options.max_streams_per_project) || is_full(open.all, options.max_streams)
        {
            let message = "Too many event streams are open. Close one, or request the events from time \
                           to time instead.";
            return Err(Fault::new(ErrorType::HttpTooManyRequests, message));
        }
        open.all += 1;
        open.by_project.insert(project.to_owned(), count + 1);
        app.service.config().metrics.event_streams.inc();
        Ok(OpenStream { app: app.clone(), project: project.to_owned() })
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.app.service.config().metrics.event_streams.dec();
        let mut open = self.app.event_streams.open.lock();
        open.all -= 1;
        let left = open.by_project.get_mut(&self.project).map_or(0, |count| {
            *count -= 1;
            *count
        });
        if left == 0 {
            open.by_project.remove(&self.project);
        }
    }
}

/// The stacks that a stream follows, and the rights it reads them with: streams with the same key see the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    stack: StackId,
    depth: usize,
    project: String,
    is_admin: bool,
    /// The user, if it is one of the stack's own.
    guest: Option<String>,
}

/// Streams that see the same share their last reads, of which each continues another.
pub(crate) type SharedReads = Mutex<VecDeque<Arc<EventPage>>>;

/// The result of a read: the stacks that a stream follows, and their events after a marker.
pub(crate) struct EventPage {
    /// The number of changes before the read.
    changes: u64,
    marker: Option<EventId>,
    /// The stacks, the one of the path first.
    pub(crate) stacks: Vec<StackRow>,
    pub(crate) by_id: HashMap<StackId, StackRow>,
    pub(crate) events: Vec<EventRow>,
}

impl EventStreams {
    /// The streams that see the same as one of this request.
    pub(crate) fn group(
        &self,
        request: &Request,
        stack: StackId,
        depth: usize,
    ) -> Arc<SharedReads> {
        let is_guest = request.app.options.is_guest(&request.caller);
        let key = Key {
            stack,
            depth,
            project: request.caller.project_id.clone(),
            is_admin: request.is_admin,
            guest: is_guest.then(|| request.caller.user_id.clone()),
        };
        let mut groups = self.groups.lock();
        if let Some(group) = groups.get(&key).and_then(Weak::upgrade) {
            return group;
        }
        // Groups without streams are removed now and then.
        if groups.len().is_power_of_two() {
            groups.retain(|_, group| group.strong_count() > 0);
        }
        let group = Arc::new(SharedReads::default());
        groups.insert(key, Arc::downgrade(&group));
        group
    }
}

/// The events after a marker, as of at least this many changes, by the read of any stream of the group.
pub(crate) async fn read_shared(
    group: &SharedReads,
    request: &Request,
    (stack, depth): (&StackRow, usize),
    changes: u64,
    marker: Option<EventId>,
) -> Result<Arc<EventPage>, Fault> {
    let mut pages = group.lock().await;
    let is_known = |page: &&Arc<EventPage>| page.changes >= changes && page.marker == marker;
    if let Some(page) = pages.iter().find(is_known) {
        return Ok(page.clone());
    }
    // The state is read before the events: what led to it is among them.
    let (stacks, by_id) = refreshed(request, stack, depth).await?;
    let query = EventQuery { marker, limit: Some(MAX_EVENTS), ..Service::events_of(&stacks) };
    let events = request.service().events(&query).await?;
    let page = Arc::new(EventPage { changes, marker, stacks, by_id, events });
    pages.retain(|page| page.changes >= changes && page.marker != marker);
    pages.truncate(MAX_PAGES - 1);
    pages.push_front(page.clone());
    Ok(page)
}
