//! The policy that all requests share, and that can be replaced while they are served.

use super::Policy;
use std::sync::{Arc, PoisonError, RwLock};

/// The policy in force.
#[derive(Debug, Default)]
pub struct SharedPolicy(RwLock<Arc<Policy>>);

impl SharedPolicy {
    /// Begins with a policy.
    pub fn new(policy: Policy) -> SharedPolicy {
        SharedPolicy(RwLock::new(Arc::new(policy)))
    }

    /// The policy in force at this moment. It stays the same for whoever keeps it.
    pub fn get(&self) -> Arc<Policy> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts another policy in force, for all later checks.
    pub fn replace(&self, policy: Policy) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }
}
