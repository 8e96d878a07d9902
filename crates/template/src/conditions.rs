//! Named conditions: each is decided once, when it is first asked for.

use crate::codes;
use crate::eval::{Scope, Truth};
use crate::expr::ExprKind;
use crate::functions::Fault;
use crate::print;
use crate::value::Value;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many conditions may be defined by one another in a row.
const MAX_CHAIN: usize = 100;

/// The conditions of a template that were decided so far.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    states: Mutex<ConditionStates>,
}

#[derive(Debug, Default)]
struct ConditionStates {
    by_name: BTreeMap<Arc<str>, ConditionState>,
    busy: usize,
}

#[derive(Clone, Debug)]
enum ConditionState {
    Busy,
    Decided(Result<Truth, Fault>),
}

impl Conditions {
    /// Nothing decided yet.
    pub(crate) fn new() -> Conditions {
        Conditions::default()
    }

    /// Whether the condition of a name holds.
    pub(crate) fn named(&self, scope: &Scope<'_>, name: &str) -> Result<Truth, Fault> {
        let Some((name, condition)) = scope.definition.template.conditions.get_key_value(name)
        else {
            return Err(Fault {
                code: &codes::UNKNOWN_CONDITION,
                message: format!("Invalid condition \"{name}\""),
            });
        };
        if let Some(known) = self.begin(name) {
            return known;
        }
        let decided = match &condition.definition.kind {
            // Plain text is the name of a condition anywhere else; here it is no definition.
            ExprKind::Scalar(value) if !matches!(value, Value::Bool(_)) => {
                Err(bad_definition(name, value))
            }
            _ => self.decide(scope, name, &condition.definition),
        };
        self.finish(name, decided.clone());
        decided
    }

    fn decide(
        &self,
        scope: &Scope<'_>,
        name: &str,
        definition: &crate::expr::Expr,
    ) -> Result<Truth, Fault> {
        match scope.condition_value(definition)?.exposed() {
            Value::Bool(flag) => Ok(Truth::Known(flag)),
            Value::Unknown(unknown) => Ok(Truth::Unknown(unknown)),
            other => Err(bad_definition(name, &other)),
        }
    }

    /// Marks a condition as being decided, or returns its value.
    fn begin(&self, name: &Arc<str>) -> Option<Result<Truth, Fault>> {
        let mut states = self.states.lock();
        match states.by_name.get(name) {
            Some(ConditionState::Decided(known)) => return Some(known.clone()),
            Some(ConditionState::Busy) => {
                let message = format!("Circular definition for condition \"{name}\"");
                return Some(Err(Fault { code: &codes::CONDITION_CYCLE, message }));
            }
            None => {}
        }
        if states.busy >= MAX_CHAIN {
            let message = format!("More than {MAX_CHAIN} conditions depend on each other in a row");
            return Some(Err(Fault { code: &codes::CONDITION_DEFINITION, message }));
        }
        states.busy += 1;
        states.by_name.insert(name.clone(), ConditionState::Busy);
        None
    }

    fn finish(&self, name: &Arc<str>, decided: Result<Truth, Fault>) {
        let mut states = self.states.lock();
        states.busy = states.busy.saturating_sub(1);
        states.by_name.insert(name.clone(), ConditionState::Decided(decided));
    }
}

/// The error for a definition that returns no boolean.
pub(crate) fn bad_definition(name: &str, value: &Value) -> Fault {
    Fault {
        code: &codes::CONDITION_DEFINITION,
        message: format!(
            "The definition of condition \"{name}\" is invalid: {}",
            print::plain(value)
        ),
    }
}
