//! Objects that are stored beside stacks.

use crate::record::value::StoredMembers;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A software configuration or deployment, in the words of the API.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SoftwareBody {
    pub(crate) fields: StoredMembers,
}

/// A pending delegation.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PendingDelegationBody {
    /// The secret of an application credential.
    pub(crate) secret: Arc<str>,
}

impl fmt::Debug for PendingDelegationBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PendingDelegationBody { secret: ****** }")
    }
}

/// An engine: everything that is known of it is in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EngineBody {}
