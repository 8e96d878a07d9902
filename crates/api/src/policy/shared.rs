//! The policy that all requests share, and that can be replaced while they are served.

use super::Policy;
use parking_lot::RwLock;
use std::sync::Arc;

/// The policy in force.
#[derive(Debug, Default)]
pub struct SharedPolicy(RwLock<Arc<Policy>>);

impl SharedPolicy {
    /// Begins with a policy.
    pub fn new(policy: Policy) -> SharedPolicy {
        SharedPolicy(RwLock::new(Arc::new(policy)))
    }

    /// The policy in force at this moment. A change of the files does not affect the policy that was returned.
    pub fn get(&self) -> Arc<Policy> {
        self.0.read().clone()
    }

    /// Puts another policy in force, for all later checks.
    pub fn replace(&self, policy: Policy) {
        *self.0.write() = Arc::new(policy);
    }
}
