//! Changes of files while a server runs.

use std::time::Duration;

/// The interval at which files are read. They are small, and their contents tell more than their times.
const INTERVAL: Duration = Duration::from_millis(500);

/// Files of an operator that a server reads again when they change.
pub(crate) trait WatchedFiles: Send + 'static {
    /// The contents, or why there are none.
    type Contents: PartialEq + Send + 'static;

    /// Reads the files.
    fn read(&self) -> Self::Contents;

    /// Puts contents in force, or leaves everything as it is if they cannot be used; either is logged.
    fn apply(&self, contents: &Self::Contents);
}

/// A watch over files.
pub(crate) struct FileWatch<F: WatchedFiles> {
    files: F,
    /// The contents that were last dealt with.
    handled: F::Contents,
    /// Other contents, seen once. They count when they are seen again: a file may be half written at first.
    candidate: Option<F::Contents>,
}

impl<F: WatchedFiles> FileWatch<F> {
    /// A watch over files whose contents are in force already.
    pub(crate) fn new(files: F, handled: F::Contents) -> FileWatch<F> {
        FileWatch { files, handled, candidate: None }
    }

    /// Reads the files at intervals, until the task is aborted.
    pub(crate) async fn run(mut self) {
        let mut interval = tokio::time::interval(INTERVAL);
        loop {
            interval.tick().await;
            let checked = tokio::task::spawn_blocking(move || {
                self.check();
                self
            });
            self = match checked.await {
                Ok(watch) => watch,
                Err(error) => {
                    tracing::error!(%error, "changes of files are no longer noticed: restart the server");
                    return;
                }
            };
        }
    }

    /// Reads the files once.
    fn check(&mut self) {
        let found = self.files.read();
        if found == self.handled {
            self.candidate = None;
        } else if self.candidate.as_ref() == Some(&found) {
            self.files.apply(&found);
            self.handled = found;
            self.candidate = None;
        } else {
            self.candidate = Some(found);
        }
    }
}
