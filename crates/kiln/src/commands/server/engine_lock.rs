//! The lock by which engines on one SQLite file know whether they are alone.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;

/// The lock of an engine on a SQLite file. There is none for database servers, because other engines
/// may run on other machines.
pub(super) struct EngineLock {
    /// Whether no other engine held the lock when it was taken.
    pub(super) is_alone: bool,
    /// The lock, held as long as the engine runs.
    _lock: Option<File>,
}

impl EngineLock {
    pub(super) fn acquire(url: &str) -> Option<EngineLock> {
        let path = url.strip_prefix("sqlite://")?;
        let path = format!("{}.lock", path.split('?').next().unwrap_or(path));
        let lock = File::options().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let lock = lock.ok()?;
        if lock.try_lock().is_ok() {
            return Some(EngineLock { is_alone: true, _lock: Some(lock) });
        }
        // Later engines are not alone either, even if the first one has stopped.
        if lock.try_lock_shared().is_ok() {
            return Some(EngineLock { is_alone: false, _lock: Some(lock) });
        }
        // The thread gets the lock when the first engine stops, and keeps it until this process ends.
        std::thread::spawn(move || {
            if lock.lock_shared().is_ok() {
                std::mem::forget(lock);
            }
        });
        Some(EngineLock { is_alone: false, _lock: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_while_another_is_there_is_not_alone() {
        let name = format!("kiln-socket-{}", crate::load::random_id().simple());
        let path = std::env::temp_dir().join(name);
        let url = format!("sqlite://{}?mode=rwc", path.display());
        let take = || EngineLock::acquire(&url).unwrap();
        let first = take();
        assert!(first.is_alone);
        let second = take();
        assert!(!second.is_alone);
        drop(first);
        // The second engine has the lock now or gets it in a moment, and never releases it in this process.
        while File::create(format!("{}.lock", path.display())).unwrap().try_lock().is_ok() {
            std::thread::yield_now();
        }
        assert!(!take().is_alone);
        std::fs::remove_file(format!("{}.lock", path.display())).unwrap();
        assert!(EngineLock::acquire("postgres://h/kiln").is_none());
    }
}
