//! Resolution of resource types: the user's registry over the operator's, over the built-in types.
//!
//! Candidates are tried in one order: the user's before the operator's; entries for the one
//! resource before others; then by key in code-point order, which puts `My::*` before `My::Value`.
//! The first that leads to an implementation wins. A lookup's cost does not depend on how many
//! entries or resources there are.

use super::flags::{Action, Hook};
use super::global::GlobalEnvironment;
use super::layer::{Layer, MappingTarget};
use super::search::Search;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The owner of an entry. The operator's entries may name files on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The user's.
    User,
    /// The operator's.
    Operator,
}

/// The path of an entry in a registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryPath {
    /// Whose registry it is in.
    pub owner: Owner,
    /// Its keys: the type alone, or `resources`, the resource's name and the type.
    pub path: Vec<Arc<str>>,
}

/// What a type resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// A built-in type, by its name.
    Builtin(Arc<str>),
    /// A template.
    Template {
        /// The name or URL under which it is looked up in `files`.
        url: Arc<str>,
        /// The entry that names it; for a type that is itself a template's name, the type.
        entry: EntryPath,
        /// The span of that entry.
        span: Option<Span>,
    },
}

/// Why a type resolves to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The types on the way, the requested one first.
    pub trail: Vec<Arc<str>>,
    /// Whether the mappings form a cycle, or are too many.
    pub endless: bool,
}

impl Unresolved {
    /// The error, in Heat's words; `span` is where the template names the type.
    pub fn diagnostic(&self, span: Option<Span>) -> Diagnostic {
        let asked = self.trail.first().map_or("", |name| name);
        let message = format!("The Resource Type ({asked}) could not be found.");
        let mut fault = Diagnostic::error(&codes::UNKNOWN_TYPE, message);
        if let Some(span) = span {
            fault = fault.at(span);
        }
        let steps: Vec<&str> = self.trail.iter().take(8).map(|name| &**name).collect();
        let steps = steps.join(" -> ");
        match (self.endless, self.trail.len()) {
            (true, _) => {
                fault.help(format!("the mappings of the resource registry never end: {steps}"))
            }
            (false, 2..) => {
                fault.help(format!("the resource registry maps it to nothing that exists: {steps}"))
            }
            _ => fault,
        }
    }
}

/// The resource registry of one stack.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    pub(super) user: Layer,
    pub(super) global: Arc<GlobalEnvironment>,
}

impl Registry {
    /// The user's registry over the operator's.
    pub fn new(user: Layer, global: Arc<GlobalEnvironment>) -> Registry {
        Registry { user, global }
    }

    /// The user's registry.
    pub fn user(&self) -> &Layer {
        &self.user
    }

    /// The operator's environment.
    pub fn global(&self) -> &Arc<GlobalEnvironment> {
        &self.global
    }

    /// Resolves the type of a resource.
    pub fn resolve(
        &self,
        type_name: &str,
        resource: Option<&str>,
        is_builtin: &dyn Fn(&str) -> bool,
    ) -> Result<Implementation, Unresolved> {
        Search::new(self, resource, is_builtin).answer(type_name, None)
    }

    /// Resolves a type without one entry: the type that a template stands in for.
    pub(crate) fn resolve_without(
        &self,
        type_name: &str,
        resource: Option<&str>,
        ignored: &EntryPath,
        is_builtin: &dyn Fn(&str) -> bool,
    ) -> Result<Implementation, Unresolved> {
        Search::new(self, resource, is_builtin).answer(type_name, Some(ignored))
    }

    /// The same registry with aliases of types, which replace the user's entries of these names.
    /// Their targets are looked up as the user's: what the user maps stays mapped.
    pub fn with_aliases(mut self, aliases: &[(Arc<str>, Arc<str>)]) -> Registry {
        if !aliases.is_empty() {
            let names = aliases.iter().map(|(name, target)| (&**name, &**target));
            self.user.load(&Layer::from_aliases(names).statements());
        }
        self
    }

    /// The registry inside the nested stack of a resource: without the entry that led to its
    /// template, and with `resources` narrowed to what holds inside the resource.
    pub fn child(&self, resource: &str, used: Option<&EntryPath>) -> Registry {
        let mut child = self.clone();
        match used {
            Some(entry) if entry.owner == Owner::User => {
                child.user = self.user.without(&entry.path)
            }
            Some(entry) => child.global = Arc::new(self.global.without(&entry.path)),
            None => {}
        }
        child.user = child.user.narrowed(resource);
        child
    }

    /// The hooks of a resource.
    pub fn hooks(&self, resource: &str) -> BTreeSet<Hook> {
        self.user.hooks(resource)
    }

    /// The update actions that are restricted for a resource.
    pub fn restricted_actions(&self, resource: &str) -> BTreeSet<Action> {
        self.user.restricted_actions(resource)
    }

    /// The operator's alias for exactly this type, if there is one.
    pub(super) fn operators_alias(&self, type_name: &str) -> Option<&Arc<str>> {
        match &self.global.layer.exact(type_name)?.1.target {
            MappingTarget::Type(target) => Some(target),
            MappingTarget::Template(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::fixture::environment;

    const BUILTIN: [&str; 4] =
        ["OS::Heat::None", "OS::Heat::RandomString", "OS::Heat::Value", "OS::Neutron::Net"];

    fn registry(user: &str, layer: Layer) -> Registry {
        let global = GlobalEnvironment { layer, ..GlobalEnvironment::default() };
        let text = format!(r#"{{"resource_registry": {user}}}"#);
        environment(&text).registry(Arc::new(global))
    }

    fn layer(text: &str) -> Layer {
        let mut layer = Layer::default();
        layer.load(&environment(&format!(r#"{{"resource_registry": {text}}}"#)).resource_registry);
        layer
    }

    fn is_builtin(name: &str) -> bool {
        BUILTIN.contains(&name)
    }

    /// The built-in type or the template that a type resolves to, `-` if nothing.
    fn answer(found: Result<Implementation, Unresolved>) -> String {
        match found {
            Ok(Implementation::Builtin(name)) => name.to_string(),
            Ok(Implementation::Template { url, entry, .. }) => {
                format!("{url} by {}", entry.path.join("/"))
            }
            Err(Unresolved { endless: true, .. }) => "endless".to_owned(),
            Err(_) => "-".to_owned(),
        }
    }

    fn resolved(user: &str, type_name: &str, resource: &str) -> String {
        let registry = registry(
            user,
            Layer::from_aliases([
                ("OS::Quantum*", "OS::Neutron*"),
                ("OS::Metering::Alarm", "OS::Aodh::Alarm"),
            ]),
        );
        answer(registry.resolve(type_name, Some(resource), &is_builtin))
    }

    #[test]
    fn types_resolve_as_the_reference_resolves_them() {
        for (user, type_name, expected) in [
            (r#"{"My::Thing": "OS::Heat::Value"}"#, "My::Thing", "OS::Heat::Value"),
            (r#"{"A::B": "C::D", "C::D": "OS::Heat::Value"}"#, "A::B", "OS::Heat::Value"),
            (r#"{"My::Cloud::*": "OS::Heat::*"}"#, "My::Cloud::Value", "OS::Heat::Value"),
            (r#"{"My::*": "OS::Heat::*"}"#, "My::Foo", "-"),
            (r#"{"Gone::*": "OS::Heat::None"}"#, "Gone::Any::Thing", "OS::Heat::None"),
            (
                r#"{"My::*": "OS::Heat::None", "My::Value": "OS::Heat::Value"}"#,
                "My::Value",
                "OS::Heat::None",
            ),
            (
                r#"{"My::*": "Nope::*", "My::Value": "OS::Heat::Value"}"#,
                "My::Value",
                "OS::Heat::Value",
            ),
            (r#"{"My::*": "OS::Heat::Value", "M*": "OS::Heat::None"}"#, "My::X", "OS::Heat::None"),
            (
                r#"{"My::*": "OS::Heat::None", "My::!": "OS::Heat::Value"}"#,
                "My::!",
                "OS::Heat::Value",
            ),
            (
                r#"{"OS::Heat::RandomString": "OS::Heat::None"}"#,
                "OS::Heat::RandomString",
                "OS::Heat::None",
            ),
            (
                r#"{"OS::Heat::RandomString": null}"#,
                "OS::Heat::RandomString",
                "OS::Heat::RandomString",
            ),
            (r#"{"My::Thing": ""}"#, "My::Thing", "-"),
            (r#"{"My::Thing": "Not::There"}"#, "My::Thing", "-"),
            (r#"{"A::A": "u.yaml"}"#, "A::A", "u.yaml by A::A"),
            (r#"{"A::A": "http://h/u.template"}"#, "A::A", "http://h/u.template by A::A"),
            (r#"{"A::A": "u.YAML", "B": "u.json"}"#, "A::A", "-"),
            // Templates of a name need no entry, and an entry of that name cannot change them.
            ("{}", "child.yaml", "child.yaml by child.yaml"),
            ("{}", "child.txt", "-"),
            (r#"{"x.yaml": "y.yaml"}"#, "x.yaml", "x.yaml by x.yaml"),
            (r#"{"x.yaml": "OS::Heat::None"}"#, "x.yaml", "x.yaml by x.yaml"),
            (r#"{"x.*": "OS::Heat::None"}"#, "x.yaml", "OS::Heat::None"),
            (r#"{"A*": "x*"}"#, "A.yaml", "x.yaml by x.yaml"),
            // A wildcard cannot stand for a template, nor a star in the middle for anything.
            (r#"{"A*": "x.yaml"}"#, "Axx", "-"),
            (r#"{"A*B": "OS::Heat::None"}"#, "AxB", "-"),
            (r#"{"A*B": "OS::Heat::None"}"#, "A*B", "OS::Heat::None"),
            (r#"{"A::B": "OS::Heat::*"}"#, "A::B", "-"),
            (r#"{"A*": "OS::Heat::*"}"#, "ANone", "OS::Heat::None"),
            (r#"{"My*": "OS::Heat::None*"}"#, "My", "OS::Heat::None"),
            // A wildcard never matches its own target.
            (r#"{"*": "OS::Heat::None"}"#, "OS::Heat::None", "OS::Heat::None"),
            (r#"{"*": "OS::Heat::None"}"#, "Any::Thing", "OS::Heat::None"),
            (r#"{"OS::Heat::V*": "OS::Heat::Value"}"#, "OS::Heat::Value", "OS::Heat::Value"),
            (r#"{"OS::*": "OS::Neutron::*", "C": "OS::Neutron::*"}"#, "C", "-"),
            // The operator's registry comes after the user's, and its aliases stay in it.
            ("{}", "OS::Quantum::Net", "OS::Neutron::Net"),
            ("{}", "OS::Quantum::Nope", "-"),
            (r#"{"OS::Quantum::Net": "OS::Heat::None"}"#, "OS::Quantum::Net", "OS::Heat::None"),
            (r#"{"OS::Quantum::Net": "Nope"}"#, "OS::Quantum::Net", "OS::Neutron::Net"),
            (r#"{"OS::Neutron::Net": "x.yaml"}"#, "OS::Quantum::Net", "OS::Neutron::Net"),
            (r#"{"A": "OS::Quantum::Net"}"#, "A", "OS::Neutron::Net"),
            // Rings.
            (r#"{"A": "B", "B": "A"}"#, "A", "endless"),
            (r#"{"A": "A"}"#, "A", "endless"),
            (r#"{"A::*": "A::B::*"}"#, "A::x", "endless"),
            (r#"{"*": "OS::Heat::*"}"#, "None", "endless"),
            (r#"{"OS::*": "OS::*"}"#, "OS::Heat::Value", "endless"),
            (r#"{"A::x*": "A::*"}"#, "A::x", "-"),
            (r#"{"hooks": "pre-create", "base_url": "OS::Heat::None"}"#, "hooks", "-"),
        ] {
            assert_eq!(resolved(user, type_name, "r"), expected, "{type_name} under {user}");
        }
    }

    #[test]
    fn entries_for_one_resource_come_first_and_touch_no_other() {
        let user = r#"{"resources": {"a": {"OS::Heat::Value": "one.yaml", "OS::Heat::R*": "OS::Heat::None"}}}"#;
        assert_eq!(
            resolved(user, "OS::Heat::Value", "a"),
            "one.yaml by resources/a/OS::Heat::Value"
        );
        assert_eq!(resolved(user, "OS::Heat::Value", "b"), "OS::Heat::Value");
        // Only exact types count there.
        assert_eq!(resolved(user, "OS::Heat::RandomString", "a"), "OS::Heat::RandomString");
        let user = r#"{"resources": {"a*": {"OS::Heat::Value": "one.yaml"}}}"#;
        assert_eq!(resolved(user, "OS::Heat::Value", "abc"), "OS::Heat::Value");
        let user = r#"{"resources": {"a": {"T": "U", "U": "w.yaml"}}, "U": "z.yaml"}"#;
        assert_eq!(resolved(user, "T", "a"), "w.yaml by resources/a/U");
        let user = r#"{"resources": {"a": {"T": "Nope::X"}}, "T": "z.yaml"}"#;
        assert_eq!(resolved(user, "T", "a"), "z.yaml by T");
        let user = r#"{"resources": {"a": {"x.yaml": "OS::Heat::None"}}}"#;
        assert_eq!(resolved(user, "x.yaml", "a"), "x.yaml by resources/a/x.yaml");
    }

    #[test]
    fn an_alias_for_one_resource_does_not_leak_however_often_it_is_looked_up() {
        let user = r#"{"resources": {"a": {"OS::Heat::Value": "OS::Heat::None"}}}"#;
        let registry = registry(user, Layer::default());
        for (resource, expected) in
            [("a", "OS::Heat::None"), ("b", "OS::Heat::Value"), ("a", "OS::Heat::None")]
        {
            assert_eq!(
                answer(registry.resolve("OS::Heat::Value", Some(resource), &is_builtin)),
                expected
            );
        }
    }

    #[test]
    fn the_users_entry_beats_the_operators_entry_for_one_resource() {
        let global =
            layer(r#"{"T": "file:///x.yaml", "resources": {"a": {"T": "OS::Heat::None"}}}"#);
        let users = registry(r#"{"T": "u.yaml"}"#, global.clone());
        assert_eq!(answer(users.resolve("T", Some("a"), &is_builtin)), "u.yaml by T");
        let none = registry("{}", global);
        assert_eq!(answer(none.resolve("T", Some("a"), &is_builtin)), "OS::Heat::None");
        assert_eq!(answer(none.resolve("T", None, &is_builtin)), "file:///x.yaml by T");
        assert!(matches!(
            none.resolve("T", None, &is_builtin),
            Ok(Implementation::Template { entry: EntryPath { owner: Owner::Operator, .. }, .. })
        ));
    }

    #[test]
    fn a_stand_in_hides_the_next_candidate() {
        let next = |user: &str, type_name: &str| {
            let registry = registry(user, Layer::default());
            let Ok(Implementation::Template { entry, .. }) =
                registry.resolve(type_name, Some("n"), &is_builtin)
            else {
                panic!("{type_name} is a template under {user}");
            };
            let inside = registry.child("n", Some(&entry));
            let hidden = registry.resolve_without(type_name, Some("n"), &entry, &is_builtin);
            (answer(hidden), answer(inside.resolve(type_name, Some("x"), &is_builtin)))
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let value = "OS::Heat::Value";
        assert_eq!(next(r#"{"OS::Heat::Value": "t.yaml"}"#, value), pair(value, value));
        assert_eq!(
            next(r#"{"OS::Heat::Value": "t.yaml", "A": "OS::Heat::Value"}"#, "A"),
            pair("-", value)
        );
        assert_eq!(
            next(r#"{"resources": {"n": {"A": "t.yaml"}}, "A": "u.yaml"}"#, "A"),
            pair("u.yaml by A", "u.yaml by A")
        );
        // What is ignored may be come by more than once.
        let twice = r#"{"*": "OS::Heat::None", "A*": "A", "OS::Heat::None": "y.template"}"#;
        assert_eq!(next(twice, "A!"), pair("-", "OS::Heat::None"));
        assert_eq!(next("{}", "u.yaml"), pair("-", "u.yaml by u.yaml"));
    }

    #[test]
    fn an_operators_stand_in_is_removed_inside_too() {
        let registry = registry("{}", layer(r#"{"OS::Heat::Value": "file:///x.yaml"}"#));
        let Ok(Implementation::Template { entry, .. }) =
            registry.resolve("OS::Heat::Value", None, &is_builtin)
        else {
            panic!("a template");
        };
        let inside = registry.child("n", Some(&entry));
        assert_eq!(answer(inside.resolve("OS::Heat::Value", None, &is_builtin)), "OS::Heat::Value");
    }

    #[test]
    fn a_child_sees_what_holds_inside_its_resource() {
        let user = r#"{"resources": {"n": {"a": {"OS::Heat::RandomString": "one.yaml"}}}}"#;
        let registry = registry(user, Layer::default());
        let (n, m) = (registry.child("n", None), registry.child("m", None));
        let random = "OS::Heat::RandomString";
        let ask =
            |registry: &Registry, name| answer(registry.resolve(random, Some(name), &is_builtin));
        assert_eq!(ask(&n, "a"), "one.yaml by resources/a/OS::Heat::RandomString");
        assert_eq!(ask(&n, "b"), random);
        assert_eq!(ask(&m, "a"), random);
        assert_eq!(ask(&registry, "a"), random);
    }

    #[test]
    fn the_members_of_a_group_follow_the_users_mappings() {
        let ask = |user: &str| {
            let group = registry(user, Layer::default()).child("group", None);
            let inside = group.with_aliases(&[("Scaled".into(), "OS::Heat::Value".into())]);
            answer(inside.resolve("Scaled", Some("m"), &is_builtin))
        };
        assert_eq!(ask("{}"), "OS::Heat::Value");
        assert_eq!(ask(r#"{"OS::Heat::Value": "t.yaml"}"#), "t.yaml by OS::Heat::Value");
        assert_eq!(ask(r#"{"OS::Heat::*": "OS::Heat::None"}"#), "OS::Heat::None");
        assert_eq!(ask(r#"{"Scaled": "t.yaml"}"#), "OS::Heat::Value");
        let one = r#"{"resources": {"group": {"m": {"OS::Heat::Value": "t.yaml"}}}}"#;
        assert_eq!(ask(one), "t.yaml by resources/m/OS::Heat::Value");
        let other = r#"{"resources": {"group": {"n": {"OS::Heat::Value": "t.yaml"}}}}"#;
        assert_eq!(ask(other), "OS::Heat::Value");
    }

    #[test]
    fn refusals_name_the_type_asked_for_and_where_it_led() {
        let reported = |user: &str, type_name: &str| {
            let error =
                registry(user, Layer::default()).resolve(type_name, None, &is_builtin).unwrap_err();
            let fault = error.diagnostic(None);
            (fault.message, fault.help.unwrap_or_default())
        };
        let (message, help) = reported(r#"{"A": "B", "B": "C"}"#, "A");
        assert_eq!(message, "The Resource Type (A) could not be found.");
        assert_eq!(help, "the resource registry maps it to nothing that exists: A -> B -> C");
        let (message, help) = reported(r#"{"A": "B", "B": "A"}"#, "A");
        assert_eq!(message, "The Resource Type (A) could not be found.");
        assert_eq!(help, "the mappings of the resource registry never end: A -> B -> A");
        assert_eq!(reported("{}", "A").1, "");
    }

    #[test]
    fn a_hostile_registry_is_given_up_on() {
        // Two ways on from every level, and all names differ.
        let mut entries = Vec::new();
        for level in 0..60 {
            let next = level + 1;
            entries.push(format!(r#""{level}.a*": "{next}.ab*""#));
            entries.push(format!(r#""{level}.ab*": "{next}.abc*""#));
        }
        let registry = registry(&format!("{{{}}}", entries.join(",")), Layer::default());
        assert!(registry.resolve("0.abc", None, &is_builtin).is_err());
    }
}
