//! Whether a resource may be signalled: one decision, for the service that takes a signal and for the machine that
//! delivers it.

use crate::state::{Action, State};
use kiln_resources::declare::ResourceType;
use kiln_template::Value;
use kiln_template::environment::Hook;
use kiln_template::print;

/// What is known of the resource that is signalled.
pub(crate) struct SignalTarget {
    /// The resource's state.
    pub(crate) state: State,
    /// The hook at which the resource waits.
    pub(crate) hook: Option<Hook>,
    /// The resource's type, if it is a built-in one.
    pub(crate) resource_type: Option<&'static ResourceType>,
}

/// What a signal does.
pub(crate) enum SignalEffect {
    /// The hook is unset, and the resource continues.
    UnsetHook,
    /// The type handles the signal.
    Deliver(&'static ResourceType),
}

/// Why a signal is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignalRefusal {
    /// There is no hook of this name.
    UnknownHook(String),
    /// The resource does not wait at the hook of this name.
    HookNotSet(String),
    /// The resource was not created yet.
    NotAvailable,
    /// The type takes no signals.
    NotSupported,
    /// The type takes no signals during this action.
    DuringAction(Action),
}

/// Decides what a signal does.
pub(crate) fn check_signal(
    target: &SignalTarget,
    details: &Value,
) -> Result<SignalEffect, SignalRefusal> {
    if let Some(hook) = details.as_map().and_then(|it| it.get("unset_hook")) {
        let name = print::plain(hook);
        let Some(hook) = Hook::from_name(&name) else {
            return Err(SignalRefusal::UnknownHook(name));
        };
        if target.hook != Some(hook) {
            return Err(SignalRefusal::HookNotSet(name));
        }
        return Ok(SignalEffect::UnsetHook);
    }
    let action = target.state.action;
    if action == Action::Init {
        return Err(SignalRefusal::NotAvailable);
    }
    let resource_type = target.resource_type.filter(|it| it.behaviour.signal.is_some());
    let resource_type = resource_type.ok_or(SignalRefusal::NotSupported)?;
    if resource_type.no_signal_actions.iter().any(|refused| *refused == action.name()) {
        return Err(SignalRefusal::DuringAction(action));
    }
    Ok(SignalEffect::Deliver(resource_type))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Status;
    use kiln_resources::registry::Registry;

    fn check(type_name: &str, action: Action, details: &Value) -> Result<bool, SignalRefusal> {
        let target = SignalTarget {
            state: State::new(action, Status::Complete),
            hook: Hook::from_name("pre-create"),
            resource_type: Registry::builtin().get(type_name),
        };
        check_signal(&target, details).map(|it| matches!(it, SignalEffect::Deliver(_)))
    }

    #[test]
    fn a_signal_is_for_a_type_that_takes_it_or_for_the_hook_that_is_set() {
        let handle = "OS::Heat::WaitConditionHandle";
        let signal = Value::Map(Default::default());
        let unset = |name: &str| Value::map([("unset_hook", Value::from(name))]);
        assert_eq!(check(handle, Action::Create, &signal), Ok(true));
        assert_eq!(check(handle, Action::Init, &signal), Err(SignalRefusal::NotAvailable));
        assert_eq!(
            check("OS::Heat::RandomString", Action::Create, &signal),
            Err(SignalRefusal::NotSupported)
        );
        assert_eq!(
            check("OS::Heat::ScalingPolicy", Action::Delete, &signal),
            Err(SignalRefusal::DuringAction(Action::Delete))
        );
        assert_eq!(check(handle, Action::Init, &unset("pre-create")), Ok(false));
        assert_eq!(
            check(handle, Action::Init, &unset("pre-update")),
            Err(SignalRefusal::HookNotSet("pre-update".into()))
        );
        assert_eq!(
            check(handle, Action::Init, &unset("x")),
            Err(SignalRefusal::UnknownHook("x".into()))
        );
    }
}
