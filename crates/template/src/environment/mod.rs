//! Environments: parameter values and the resource registry of a stack.
//!
//! [`Environment::parse`] reads one file and reports all its errors at once; every value keeps its
//! span. Several files become one by [`merge::merge_on_client`] on the client or by
//! [`merge::merge_files`] on the server. [`Registry`] looks up resource types.

mod combine;
mod flags;
mod global;
mod layer;
mod lookup;
pub mod merge;
mod parse;
pub(crate) mod pattern;
mod search;
mod show;
mod statement;
mod strategy;

pub use combine::combine;
pub use flags::{Action, Flags, Hook};
pub use global::GlobalEnvironment;
pub use layer::Layer;
pub use lookup::{EntryPath, Implementation, Owner, Registry, Unresolved};
pub(crate) use statement::PLAIN_KEYS;
pub use statement::{Setting, Statement, Statements};
pub use strategy::{Strategies, Strategy};

#[cfg(test)]
use parse::SECTIONS;

use crate::parameters::{SuppliedValue, SuppliedValues};
use crate::value::Value;
use std::sync::Arc;

/// One environment: the sections of a file, or of several merged into one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Values for the root template's parameters; null counts as not supplied.
    pub parameters: SuppliedValues,
    /// Defaults for parameters of that name in every template of the tree.
    pub parameter_defaults: SuppliedValues,
    /// The statements about resource types, in order; [`Layer`] applies them.
    pub resource_registry: Statements,
    /// How this file's values combine with those of earlier files.
    pub merge_strategies: Strategies,
    /// Where to send events.
    pub event_sinks: Vec<Value>,
    /// Which stored values are encrypted; users leave it out.
    pub encrypted_param_names: Vec<Arc<str>>,
}

impl Environment {
    /// Overrides the environment's parameters with those of the request.
    ///
    /// A null replaces a value, too: the parameter then counts as not supplied.
    pub(crate) fn override_parameters(
        &mut self,
        request: impl IntoIterator<Item = (Arc<str>, SuppliedValue)>,
    ) {
        self.parameters.extend(request);
    }

    /// The registry that this environment makes over the operator's.
    pub fn registry(&self, global: Arc<GlobalEnvironment>) -> Registry {
        let mut user = Layer::default();
        user.load(&self.resource_registry);
        Registry::new(user, global)
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    //! What the tests of this module read their inputs with.

    use super::{Environment, SECTIONS};
    use crate::diagnostic::Diagnostic;
    use crate::limits::Limits;
    use crate::print;
    use crate::source::Sources;
    use crate::value::Value;
    use proptest::prelude::*;

    /// An environment and its faults.
    pub(crate) fn parsed(text: &str) -> (Environment, Vec<Diagnostic>) {
        let file = Sources::new().add("env.yaml", text);
        Environment::read(file, text, &Limits::default())
    }

    /// An environment without faults.
    pub(crate) fn environment(text: &str) -> Environment {
        let (environment, found) = parsed(text);
        assert_eq!(found, []);
        environment
    }

    /// A value as JSON.
    pub(crate) fn json(value: &Value) -> String {
        print::json(value, print::Keys::Ordered)
    }

    /// Any plain value, with the words of environments and templates among its keys.
    pub(crate) fn any_value() -> impl Strategy<Value = Value> {
        let words = SECTIONS.into_iter().chain([
            "resources",
            "hooks",
            "restricted_actions",
            "base_url",
            "get_file",
            "heat_template_version",
            "A::*",
            "*",
            "a.yaml",
            "default",
            "merge",
            "deep_merge",
            "pre-create",
            "type",
            "zaqar-queue",
            "OS::Heat::None",
            "[a",
        ]);
        let word = proptest::sample::select(words.collect::<Vec<_>>());
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            word.clone().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 64, 6, move |inner| {
            let key = prop_oneof![4 => word.clone().prop_map(str::to_owned), 1 => ".{0,4}"];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::list),
                proptest::collection::vec((key, inner), 0..6).prop_map(Value::map),
            ]
        })
    }
}
