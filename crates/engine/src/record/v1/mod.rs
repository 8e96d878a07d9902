//! Version 1 of the stored records: plain types, and the names under which their fields are stored.
//!
//! Nothing here may change once a release has written it. A field that is left out when it has its usual value has
//! `default` together with `skip_serializing_if`; every other field must be there.

pub(crate) mod alarm;
pub(crate) mod command;
pub(crate) mod credential;
pub(crate) mod names;
pub(crate) mod object;
pub(crate) mod recipe;
pub(crate) mod resource;
pub(crate) mod stack;

pub(crate) use alarm::{AlarmBody, AlarmEventBody, SeriesBody, WebhookBody};
pub(crate) use command::{CommandBody, SettingsBody};
pub(crate) use credential::{AuthBody, CredentialBody};
pub(crate) use object::{
    ChangeBody, ChangeName, ChangeSetBody, EngineBody, PendingDelegationBody, PlanBody,
    PlannedActionName, SoftwareBody,
};
pub(crate) use recipe::{ContractBody, CreatedByBody, RecipeBody, SentRecipeBody, TemplateBody};
pub(crate) use resource::{
    CooldownBody, DefinitionBody, ErrorBody, OperationBody, OperationName, PauseBody, ResourceBody,
    SignalsBody, StepBody,
};
pub(crate) use stack::{
    EventBody, FailureBody, SnapshotBody, StackBody, TraversalBody, TraversalFailureBody,
};

/// Whether a flag is not set, which records leave out.
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Whether a count is zero, which records leave out.
fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}
