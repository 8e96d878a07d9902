//! The global environment that all stacks share, and that can be replaced while they are processed.

use kiln_template::environment::GlobalEnvironment;
use parking_lot::RwLock;
use std::sync::Arc;

/// The global environment in force.
#[derive(Debug, Default)]
pub struct SharedGlobalEnvironment(RwLock<Arc<GlobalEnvironment>>);

impl SharedGlobalEnvironment {
    /// Begins with an environment.
    pub fn new(environment: GlobalEnvironment) -> SharedGlobalEnvironment {
        SharedGlobalEnvironment(RwLock::new(Arc::new(environment)))
    }

    /// The environment in force at this moment.
    pub fn get(&self) -> Arc<GlobalEnvironment> {
        self.0.read().clone()
    }

    /// Puts another environment in force: for later requests, and for actions on stacks that begin after this.
    pub fn replace(&self, environment: GlobalEnvironment) {
        *self.0.write() = Arc::new(environment);
    }
}
