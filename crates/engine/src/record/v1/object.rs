//! Objects that are stored beside stacks.

use super::command::SettingsBody;
use super::is_false;
use super::recipe::SentRecipeBody;
use crate::record::value::{Id, Stored, StoredMembers};
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

/// A change set: a create or an update of a stack that is kept until it is executed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeSetBody {
    /// Its name.
    pub(crate) name: Arc<str>,
    /// The id of the stack; that of a stack to be created is chosen beforehand.
    pub(crate) stack: Id,
    /// Whether the stack is to be created.
    pub(crate) creates: bool,
    /// What its author says about it.
    pub(crate) description: Option<Arc<str>>,
    /// The template; that of the stack if there is none.
    pub(crate) template: Option<Arc<str>>,
    /// Values of parameters.
    pub(crate) parameters: Vec<(Arc<str>, Arc<str>)>,
    /// Whether parameters that are neither given nor cleared keep their values.
    pub(crate) is_partial: bool,
    /// Parameters that do not keep their values.
    pub(crate) cleared: Vec<Arc<str>>,
    /// The timeout of the action in seconds.
    pub(crate) timeout: Option<u64>,
    /// Whether a failure is rolled back.
    pub(crate) is_rolled_back: Option<bool>,
    /// What would be done with which resources.
    pub(crate) changes: Vec<ChangeBody>,
    /// Why there is nothing to execute.
    pub(crate) failure: Option<Arc<str>>,
    /// The state of the stack for which the changes were computed.
    pub(crate) base: Option<Arc<str>>,
    /// Whether it was executed.
    pub(crate) is_executed: bool,
}

/// A plan: an action on a stack that is kept until it is applied or has expired, with what it would do.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanBody {
    pub(crate) action: PlannedActionName,
    /// The id of the stack; that of a stack to be created is chosen beforehand.
    pub(crate) stack: Id,
    /// The recipe of a create or an update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recipe: Option<Box<SentRecipeBody>>,
    pub(crate) settings: SettingsBody,
    /// The hash of the record that it was made for, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    /// What it would do, one line for each resource that does not stay as it is.
    pub(crate) lines: Vec<String>,
    /// What readers see of it.
    pub(crate) shown: Stored,
    /// The hash of all of the above.
    pub(crate) digest: Arc<str>,
    /// Until when it can be applied, in microseconds.
    pub(crate) expires: i64,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) is_applied: bool,
}

impl fmt::Debug for PlanBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of parameters may be hidden ones.
        write!(f, "PlanBody {{ stack: {:?}, digest: {:?} }}", self.stack, self.digest)
    }
}

/// The action of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PlannedActionName {
    #[serde(rename = "create")]
    Create,
    #[serde(rename = "update")]
    Update,
    #[serde(rename = "delete")]
    Delete,
}

/// One change of a change set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeBody {
    /// The resource.
    pub(crate) resource: Arc<str>,
    /// Its type.
    pub(crate) type_name: Arc<str>,
    /// The id of its object.
    pub(crate) physical_id: Option<Arc<str>>,
    /// What would be done with it.
    pub(crate) fate: ChangeName,
}

/// What would be done with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ChangeName {
    /// It would be created.
    #[serde(rename = "add")]
    Add,
    /// It would be updated.
    #[serde(rename = "update")]
    Update,
    /// It would be replaced.
    #[serde(rename = "replace")]
    Replace,
    /// It would be deleted.
    #[serde(rename = "remove")]
    Remove,
}

impl fmt::Debug for ChangeSetBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of parameters may be hidden ones.
        write!(f, "ChangeSetBody {{ name: {:?}, stack: {:?} }}", self.name, self.stack)
    }
}
