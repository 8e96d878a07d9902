//! Commands as they wait in the queue of a tree.

use super::credential::CredentialBody;
use super::is_false;
use super::names::Word;
use super::recipe::SentRecipeBody;
use crate::record::value::{Id, Stored};
use crate::state::Action;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum CommandBody {
    Update {
        recipe: Box<SentRecipeBody>,
        settings: SettingsBody,
    },
    Delete,
    Abandon,
    Cancel {
        rollback: bool,
    },
    /// A suspend, resume or check.
    ForEach {
        stack: Id,
        action: Word<Action>,
    },
    Snapshot {
        id: Id,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<Arc<str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
    },
    DeleteSnapshot(Id),
    Restore(Id),
    Signal {
        stack: Id,
        resource: Arc<str>,
        details: Stored,
    },
    MarkHealth {
        stack: Id,
        resource: Arc<str>,
        healthy: bool,
        reason: Arc<str>,
    },
}

/// What an update changes besides the recipe.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsBody {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tags: Option<Vec<Arc<str>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_secs: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rollback: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credential: Option<CredentialBody>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) converges: bool,
}
