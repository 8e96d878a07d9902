//! Changes of policy files while a server runs.

use crate::config::PolicyFiles;
use kiln_api::policy::{Options, Policy, PolicyText, SharedPolicy};
use std::sync::Arc;
use std::time::Duration;

/// The interval at which the files are read. They are small, and their contents tell more than their times.
const INTERVAL: Duration = Duration::from_millis(500);

/// A watch over policy files: it replaces the policy in force when they change.
pub(crate) struct PolicyWatch {
    pub(crate) files: PolicyFiles,
    pub(crate) options: Options,
    pub(crate) shared: Arc<SharedPolicy>,
    /// The contents that were last dealt with, or why there were none.
    pub(crate) handled: Result<Vec<PolicyText>, String>,
    /// Other contents, seen once. They count when they are seen again: a file may be half written at first.
    pub(crate) candidate: Option<Result<Vec<PolicyText>, String>>,
}

impl PolicyWatch {
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
                    tracing::error!(%error, "policy files are no longer watched: restart the server");
                    return;
                }
            };
        }
    }

    /// Reads the files once. Files that cannot be used leave the policy as it is.
    fn check(&mut self) {
        let found = self.files.read().map_err(|error| error.to_string());
        if found == self.handled {
            self.candidate = None;
            return;
        }
        if self.candidate.as_ref() != Some(&found) {
            self.candidate = Some(found);
            return;
        }
        let loaded = match &found {
            Ok(texts) => Policy::load_all(texts, self.options.clone()).map_err(|errors| {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                errors.join("; ")
            }),
            Err(error) => Err(error.clone()),
        };
        match loaded {
            Ok(policy) => {
                self.shared.replace(policy);
                tracing::info!("the policy files have changed: their rules are in force");
            }
            Err(error) => tracing::error!(
                "the policy files cannot be used: the former policy stays in force: {error}"
            ),
        }
        self.handled = found;
        self.candidate = None;
    }
}
