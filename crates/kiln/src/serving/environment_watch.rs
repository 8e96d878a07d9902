//! The global environment of a server: its files at the start, and their changes while it runs.

use super::file_watch::WatchedFiles;
use crate::load::global_environment::{EnvironmentDirs, EnvironmentTexts, LoadedEnvironment};
use kiln_engine::SharedGlobalEnvironment;
use std::sync::Arc;

/// Environment files, whose registries are in force for all stacks.
pub(crate) struct WatchedEnvironment {
    pub(crate) dirs: EnvironmentDirs,
    pub(crate) shared: Arc<SharedGlobalEnvironment>,
}

impl WatchedEnvironment {
    /// Puts the files in force when a server starts. Those that cannot be used are left out, as Heat leaves them out.
    pub(crate) fn start(&self, texts: &EnvironmentTexts) {
        let loaded = texts.load();
        for error in &loaded.errors {
            tracing::error!("a file of the global environment is left out: {error}");
        }
        self.replace(loaded);
    }

    fn replace(&self, loaded: LoadedEnvironment) {
        for warning in &loaded.warnings {
            tracing::warn!("{warning}");
        }
        self.shared.replace(loaded.environment);
    }
}

impl WatchedFiles for WatchedEnvironment {
    type Contents = EnvironmentTexts;

    fn read(&self) -> EnvironmentTexts {
        self.dirs.read()
    }

    fn apply(&self, contents: &EnvironmentTexts) {
        let loaded = contents.load();
        if loaded.errors.is_empty() {
            self.replace(loaded);
            tracing::info!("the global environment has changed and is in force");
            return;
        }
        for error in &loaded.errors {
            tracing::error!(
                "the global environment cannot be used: the former one stays in force: {error}"
            );
        }
    }
}
