//! Whether a resource may be signalled: one decision, for the service that takes a signal and for the machine that
//! delivers it.

use crate::config::ByteLimits;
use crate::state::{Action, State};
use kiln_resources::behaviour::SignalStorage;
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
    /// The signals that the resource keeps.
    pub(crate) kept: KeptSignals,
}

/// The signals that a resource keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptSignals {
    /// How many there are.
    pub(crate) count: usize,
    /// How many bytes the resource keeps where its signals are.
    pub(crate) bytes: usize,
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
    /// The resource would keep more signals than the operator allows, as this says.
    TooMuch(String),
}

/// Decides what a signal does.
pub(crate) fn check_signal(
    target: &SignalTarget,
    details: &Value,
    limits: &ByteLimits,
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
    check_room(target.kept, resource_type.behaviour.signals_kept_in, details, limits)?;
    Ok(SignalEffect::Deliver(resource_type))
}

/// Refuses a signal for which the resource has no room.
fn check_room(
    kept: KeptSignals,
    storage: SignalStorage,
    details: &Value,
    limits: &ByteLimits,
) -> Result<(), SignalRefusal> {
    let (max, option) = match storage {
        SignalStorage::Nowhere => return Ok(()),
        SignalStorage::Metadata => (limits.signals, "max_signal_bytes_per_resource"),
        SignalStorage::Data => (limits.value, "max_value_bytes"),
    };
    if kept.count >= limits.max_signals {
        return Err(SignalRefusal::TooMuch(format!(
            "the resource has received {} signals, the limit [kiln] max_signals_per_resource is {}. Next step: delete the wait \
             condition, which forgets the signals, or ask the operator to raise the limit.",
            kept.count, limits.max_signals
        )));
    }
    let bytes = kept.bytes.saturating_add(details.byte_size());
    if bytes > max {
        return Err(SignalRefusal::TooMuch(format!(
            "the signals of the resource are {bytes} bytes with this one, the limit [kiln] {option} is {max}. Next step: send \
             less data, or ask the operator to raise the limit."
        )));
    }
    Ok(())
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
            kept: KeptSignals::default(),
        };
        check_signal(&target, details, &ByteLimits::default())
            .map(|it| matches!(it, SignalEffect::Deliver(_)))
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
