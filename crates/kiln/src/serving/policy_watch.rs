//! Changes of policy files while a server runs.

use super::file_watch::WatchedFiles;
use crate::config::PolicyFiles;
use kiln_api::policy::{Options, Policy, PolicyText, SharedPolicy};
use std::sync::Arc;

/// Policy files, whose rules are in force for all requests.
pub(crate) struct WatchedPolicy {
    pub(crate) files: PolicyFiles,
    pub(crate) options: Options,
    pub(crate) shared: Arc<SharedPolicy>,
}

impl WatchedFiles for WatchedPolicy {
    type Contents = Result<Vec<PolicyText>, String>;

    fn read(&self) -> Self::Contents {
        self.files.read().map_err(|error| error.to_string())
    }

    fn apply(&self, contents: &Self::Contents) {
        let loaded = match contents {
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
    }
}
