//! The open connections of a process: how many there may be, and which of them are closed to make room.
//!
//! A connection with a request in progress is never closed by its server, other than to stop. One without a request is
//! closed when it has had its time, or when a newcomer needs its place: the one that has been idle for longest goes first.

use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// A connection that has been idle for less time does not make room: its request may be on its way.
const MIN_IDLE: Duration = Duration::from_secs(1);

/// How often a condition that lasts is logged.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The smallest and the largest reserve of open files for the database, for calls to the cloud and for files.
const FILE_RESERVE: [usize; 2] = [64, 4096];

/// The limits of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionLimits {
    /// How long a client may take to send the head of a request.
    pub(crate) header_timeout: Duration,
    /// How long a connection may be idle between two requests.
    pub(crate) idle_timeout: Duration,
    /// How long a client may take to receive anything of what is sent to it.
    pub(crate) write_timeout: Duration,
    /// How many connections there may be.
    pub(crate) max_connections: usize,
    /// How many of them one address may have.
    pub(crate) max_per_address: usize,
}

impl ConnectionLimits {
    /// The limits of a process that may open this many files, if all connections come from one address.
    #[cfg(feature = "dev")]
    pub(crate) fn for_one_address(files: usize) -> ConnectionLimits {
        let limits = ConnectionLimits::with_files(files);
        ConnectionLimits { max_per_address: limits.max_connections, ..limits }
    }

    /// The limits of a process that may open this many files.
    #[cfg(any(feature = "dev", test))]
    pub(crate) fn with_files(files: usize) -> ConnectionLimits {
        let max_connections = max_connections(files);
        ConnectionLimits {
            header_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(60),
            max_connections,
            max_per_address: max_per_address(max_connections),
        }
    }
}

/// How many connections a process may have that may open this many files.
pub(crate) fn max_connections(files: usize) -> usize {
    let [min, max] = FILE_RESERVE;
    files.saturating_sub((files / 8).clamp(min, max)).max(1)
}

/// How many of these connections one address may have, unless the operator says: proxies have many clients.
pub(crate) fn max_per_address(max_connections: usize) -> usize {
    max_connections - max_connections / 4
}

/// The open connections.
pub(crate) struct ConnectionTable {
    pub(super) limits: ConnectionLimits,
    rows: Mutex<Rows>,
    /// Notified when a connection is closed.
    freed: Notify,
}

#[derive(Default)]
struct Rows {
    next_id: u64,
    open: HashMap<u64, Row>,
    /// The connections without a request, by the time since when they have none.
    idle: BTreeSet<(Instant, u64)>,
    by_address: HashMap<IpAddr, usize>,
    /// The number of connections that were told to close and have not done so.
    closing: usize,
    logged: Option<Instant>,
}

struct Row {
    address: IpAddr,
    /// Since when there is no request.
    idle_since: Option<Instant>,
    is_closing: bool,
    close: Arc<Notify>,
}

/// What becomes of a newcomer.
enum Admission {
    Open(OpenConnection),
    /// All connections are in use: wait until one is closed, or until then.
    Full(Instant),
    /// The address has too many connections, which are all in use.
    Refused,
}

impl ConnectionTable {
    /// A table without connections.
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<ConnectionTable> {
        Arc::new(ConnectionTable { limits, rows: Mutex::default(), freed: Notify::new() })
    }

    /// Enters a connection of an address, as soon as there is a place for it; none if the address has too many.
    pub(super) async fn admit(self: &Arc<Self>, address: IpAddr) -> Option<OpenConnection> {
        loop {
            match self.try_admit(address, Instant::now()) {
                Admission::Open(connection) => return Some(connection),
                Admission::Refused => return None,
                Admission::Full(until) => self.wait_for_room(until).await,
            }
        }
    }

    /// Makes room when files are short, and waits for it, for a second at most.
    pub(super) async fn make_room(&self) {
        let now = Instant::now();
        self.rows.lock().make_room(now);
        self.wait_for_room(now + MIN_IDLE).await;
    }

    async fn wait_for_room(&self, until: Instant) {
        // A connection that was closed before this line has left its notification.
        _ = tokio::time::timeout_at(until, self.freed.notified()).await;
    }

    fn try_admit(self: &Arc<Self>, address: IpAddr, now: Instant) -> Admission {
        let limits = &self.limits;
        let mut rows = self.rows.lock();
        let count = rows.by_address.get(&address).copied().unwrap_or_default();
        if count >= limits.max_per_address && !rows.close_idle(now, |row| row.address == address) {
            if rows.is_time_to_log(now) {
                tracing::warn!(
                    %address,
                    "connections of an address are refused: it has all that [kiln] \
                     max_connections_per_address allows"
                );
            }
            return Admission::Refused;
        }
        if rows.open.len() >= limits.max_connections {
            if !rows.make_room(now) && rows.is_time_to_log(now) {
                tracing::warn!(
                    connections = rows.open.len(),
                    "all connections are in use: newcomers wait; raise [kiln] max_connections or the \
                     limit of open files if this lasts"
                );
            }
            let next = rows.idle.first().map(|(since, _)| *since + MIN_IDLE);
            return Admission::Full(next.filter(|next| *next > now).unwrap_or(now + MIN_IDLE));
        }
        rows.next_id += 1;
        let (id, close) = (rows.next_id, Arc::new(Notify::new()));
        let row = Row { address, idle_since: Some(now), is_closing: false, close: close.clone() };
        rows.open.insert(id, row);
        rows.idle.insert((now, id));
        *rows.by_address.entry(address).or_default() += 1;
        Admission::Open(OpenConnection { table: self.clone(), id, close })
    }
}

impl Rows {
    /// Tells an idle connection to close, unless one is about to; false if there is none.
    fn make_room(&mut self, now: Instant) -> bool {
        self.closing > 0 || self.close_idle(now, |_| true)
    }

    /// Tells the connection that has been idle for longest to close; false if none has been for long enough.
    fn close_idle(&mut self, now: Instant, fits: impl Fn(&Row) -> bool) -> bool {
        let long_idle = self.idle.iter().take_while(|(since, _)| *since + MIN_IDLE <= now);
        let is_fitting = |id: &u64| self.open.get(id).is_some_and(&fits);
        let found = long_idle.copied().find(|(_, id)| is_fitting(id));
        let Some((since, id)) = found else { return false };
        self.idle.remove(&(since, id));
        if let Some(row) = self.open.get_mut(&id) {
            row.is_closing = true;
            row.close.notify_one();
            self.closing += 1;
        }
        true
    }

    fn is_time_to_log(&mut self, now: Instant) -> bool {
        let is_time = self.logged.is_none_or(|last| now - last >= LOG_INTERVAL);
        if is_time {
            self.logged = Some(now);
        }
        is_time
    }

    /// Changes since when a connection has no request.
    fn set_idle(&mut self, id: u64, idle_since: Option<Instant>) {
        let Some(row) = self.open.get_mut(&id) else { return };
        // A request that came before the connection was closed is carried out.
        if std::mem::take(&mut row.is_closing) {
            self.closing -= 1;
        }
        if let Some(since) = std::mem::replace(&mut row.idle_since, idle_since) {
            self.idle.remove(&(since, id));
        }
        self.idle.extend(idle_since.map(|since| (since, id)));
    }
}

/// An open connection, until it is dropped.
pub(super) struct OpenConnection {
    table: Arc<ConnectionTable>,
    id: u64,
    close: Arc<Notify>,
}

impl OpenConnection {
    /// The limits of connections.
    pub(super) fn limits(&self) -> &ConnectionLimits {
        &self.table.limits
    }

    /// Notes that a request begins.
    pub(super) fn begin_request(&self) {
        self.table.rows.lock().set_idle(self.id, None);
    }

    /// Notes that no request is in progress any more.
    pub(super) fn end_request(&self) {
        self.table.rows.lock().set_idle(self.id, Some(Instant::now()));
    }

    /// Waits until the connection has to make room for another.
    pub(super) async fn must_close(&self) {
        loop {
            self.close.notified().await;
            let rows = self.table.rows.lock();
            if rows.open.get(&self.id).is_none_or(|row| row.is_closing) {
                return;
            }
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut rows = self.table.rows.lock();
        if let Some(row) = rows.open.remove(&self.id) {
            if let Some(since) = row.idle_since {
                rows.idle.remove(&(since, self.id));
            }
            if row.is_closing {
                rows.closing -= 1;
            }
            let count = rows.by_address.get_mut(&row.address);
            let left = count.map_or(0, |count| {
                *count -= 1;
                *count
            });
            if left == 0 {
                rows.by_address.remove(&row.address);
            }
        }
        self.table.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn table(max_connections: usize, max_per_address: usize) -> Arc<ConnectionTable> {
        let limits = ConnectionLimits::with_files(1000);
        ConnectionTable::new(ConnectionLimits { max_connections, max_per_address, ..limits })
    }

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    fn open(admission: Admission) -> OpenConnection {
        match admission {
            Admission::Open(connection) => connection,
            Admission::Full(_) => panic!("all connections are in use"),
            Admission::Refused => panic!("the address has too many"),
        }
    }

    fn is_closing(connection: &OpenConnection) -> bool {
        connection.table.rows.lock().open[&connection.id].is_closing
    }

    #[test]
    fn files_are_kept_for_the_database_and_the_cloud() {
        let limits = [10, 200, 1024, 1_048_576].map(max_connections);
        assert_eq!(limits, [1, 136, 896, 1_044_480]);
        assert_eq!([1, 8, 1000].map(max_per_address), [1, 6, 750]);
    }

    #[test]
    fn the_connection_that_is_idle_for_longest_makes_room() {
        let (table, start) = (table(3, 3), Instant::now());
        let at = |millis| start + Duration::from_millis(millis);
        let busy = open(table.try_admit(address(1), at(0)));
        busy.begin_request();
        let oldest = open(table.try_admit(address(1), at(10)));
        let newer = open(table.try_admit(address(2), at(20)));
        assert!(matches!(table.try_admit(address(3), at(100)), Admission::Full(_)));
        assert!(!is_closing(&oldest), "its request may be on its way");
        assert!(matches!(table.try_admit(address(3), at(1015)), Admission::Full(_)));
        assert!(matches!(table.try_admit(address(3), at(1030)), Admission::Full(_)));
        assert_eq!([&busy, &oldest, &newer].map(is_closing), [false, true, false], "one at a time");
        drop(oldest);
        drop(open(table.try_admit(address(3), at(1016))));
        // A request that is faster than the closing is carried out.
        let last = open(table.try_admit(address(3), at(1017)));
        assert!(matches!(table.try_admit(address(4), at(1030)), Admission::Full(_)));
        assert!(is_closing(&newer));
        newer.begin_request();
        assert!(!is_closing(&newer));
        drop((busy, newer, last));
        let rows = table.rows.lock();
        assert!(
            rows.closing == 0
                && rows.open.is_empty()
                && rows.idle.is_empty()
                && rows.by_address.is_empty()
        );
    }

    #[test]
    fn an_address_with_too_many_connections_is_refused() {
        let (table, now) = (table(10, 2), Instant::now());
        let first = open(table.try_admit(address(1), now));
        let second = open(table.try_admit(address(1), now));
        first.begin_request();
        second.begin_request();
        assert!(matches!(table.try_admit(address(1), now), Admission::Refused));
        let other = open(table.try_admit(address(2), now));
        drop(first);
        let third = open(table.try_admit(address(1), now));
        // An idle connection of the same address makes room, and none of another.
        let later = now + MIN_IDLE;
        let fourth = open(table.try_admit(address(1), later));
        assert_eq!([&second, &third, &fourth, &other].map(is_closing), [false, true, false, false]);
    }
}
