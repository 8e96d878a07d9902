//! One registry: the user's or the operator's, with every statement applied.
//!
//! Types and the subtree for single resources are shared apart, so that a nested stack's registry
//! costs what differs from its parent's.

use super::flags::{Action, Flags, Hook};
use super::pattern;
use super::statement::{RESOURCES, Setting, Statement, Statements};
use crate::source::Span;
use crate::value::{Members, Value};
use indexmap::IndexMap;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A registry with every statement applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    types: Arc<Types>,
    resources: Arc<Resources>,
}

/// The entries beside `resources`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Types {
    scope: ResourceScope,
    /// The lengths that prefixes of wildcards have.
    prefix_lengths: BTreeSet<usize>,
}

/// The entries under `resources`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Resources {
    scope: ResourceScope,
    /// The names that are patterns, in order.
    patterns: Vec<Arc<str>>,
}

type ResourceScope = IndexMap<Arc<str>, ScopeMember>;

#[derive(Clone, Debug, PartialEq)]
enum ScopeMember {
    Type(Mapping),
    Hooks(Flags<Hook>),
    Restricted(Flags<Action>),
    Inner(Arc<ResourceScope>),
}

/// The target that a type is mapped to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mapping {
    pub(super) target: MappingTarget,
    pub(super) span: Option<Span>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum MappingTarget {
    /// A template, by its name.
    Template(Arc<str>),
    /// Another type.
    Type(Arc<str>),
}

impl MappingTarget {
    fn name(&self) -> &Arc<str> {
        match self {
            MappingTarget::Template(name) | MappingTarget::Type(name) => name,
        }
    }
}

/// Whether a name is that of a template: these suffixes and no others.
pub(super) fn is_template_name(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".template")
}

impl Layer {
    /// A registry of aliases; an asterisk at the end of both names stands for the rest.
    pub fn from_aliases<'n>(aliases: impl IntoIterator<Item = (&'n str, &'n str)>) -> Layer {
        let members = aliases.into_iter().map(|(name, target)| {
            let target = MappingTarget::Type(Arc::from(target));
            (Arc::from(name), ScopeMember::Type(Mapping { target, span: None }))
        });
        let mut layer = Layer::default();
        layer.set_types(members.collect());
        layer
    }

    /// Applies statements on top of the existing entries.
    pub fn load(&mut self, statements: &Statements) {
        let mut types = self.types.scope.clone();
        let mut resources = self.resources.scope.clone();
        match statements.get(RESOURCES).map(|statement| &statement.setting) {
            Some(Setting::Remove) => resources.clear(),
            Some(Setting::Inner(inner)) => carry_out(inner.iter(), &mut resources),
            _ => {}
        }
        carry_out(statements.iter().filter(|(key, _)| &***key != RESOURCES), &mut types);
        self.set_types(types);
        self.set_resources(resources);
    }

    /// The hooks of a resource.
    pub fn hooks(&self, resource: &str) -> BTreeSet<Hook> {
        let mut hooks = BTreeSet::new();
        for scope in self.scopes_for(resource) {
            if let Some(ScopeMember::Hooks(flags)) = scope.get("hooks") {
                hooks.extend(&flags.set);
            }
        }
        hooks
    }

    /// The update actions that are restricted for a resource.
    pub fn restricted_actions(&self, resource: &str) -> BTreeSet<Action> {
        let mut actions = BTreeSet::new();
        for scope in self.scopes_for(resource) {
            if let Some(ScopeMember::Restricted(flags)) = scope.get("restricted_actions") {
                actions.extend(&flags.set);
            }
        }
        actions
    }

    /// The types that are mapped to templates, for all resources.
    pub(super) fn template_types(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        template_types(&self.types.scope)
    }

    /// The names of all templates that types are mapped to.
    pub(super) fn template_names(&self) -> BTreeSet<Arc<str>> {
        let for_resources = self.resources.scope.values().filter_map(|member| match member {
            ScopeMember::Inner(scope) => Some(&**scope),
            _ => None,
        });
        let scopes = std::iter::once(&self.types.scope).chain(for_resources);
        scopes.flat_map(template_types).map(|(_, template)| template.clone()).collect()
    }

    /// Whether there are entries for single resources.
    pub fn has_resources(&self) -> bool {
        !self.resources.scope.is_empty()
    }

    /// The registry as a map: always with `resources`, and that first.
    pub(crate) fn to_members(&self) -> Members {
        let mut members = Members::new();
        members.insert(Arc::from(RESOURCES), shown_scope(&self.resources.scope));
        members.extend(self.types.scope.iter().map(|(key, m)| (key.clone(), shown_member(m))));
        members
    }

    /// The statements that make this registry from an empty one.
    pub fn statements(&self) -> Statements {
        let mut statements = scope_statements(&self.types.scope);
        if !self.resources.scope.is_empty() {
            let setting = Setting::Inner(scope_statements(&self.resources.scope));
            statements.insert(Arc::from(RESOURCES), Statement { setting, span: None });
        }
        statements
    }

    /// The entry of exactly this type.
    pub(super) fn exact(&self, type_name: &str) -> Option<(&Arc<str>, &Mapping)> {
        mapping(&self.types.scope, type_name)
    }

    /// The entry of exactly this type for one resource.
    pub(super) fn for_resource(
        &self,
        resource: &str,
        type_name: &str,
    ) -> Option<(&Arc<str>, &Mapping)> {
        match self.resources.scope.get(resource)? {
            ScopeMember::Inner(scope) => mapping(scope, type_name),
            _ => None,
        }
    }

    /// The wildcards whose prefix the type has, with the rest of the type after the prefix.
    pub(super) fn wildcards<'a>(
        &'a self,
        type_name: &'a str,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Mapping, &'a str)> {
        self.types.prefix_lengths.range(..=type_name.len()).filter_map(move |length| {
            let (prefix, rest) = type_name.split_at_checked(*length)?;
            let (key, mapping) = mapping(&self.types.scope, &format!("{prefix}*"))?;
            matches!(mapping.target, MappingTarget::Type(_)).then_some((key, mapping, rest))
        })
    }

    /// The same without the entry at a path.
    pub(super) fn without(&self, path: &[Arc<str>]) -> Layer {
        let mut layer = self.clone();
        match path {
            [key] if self.types.scope.contains_key(key) => {
                let mut scope = self.types.scope.clone();
                scope.shift_remove(key);
                layer.set_types(scope);
            }
            [_, resource, key] => {
                let mut scope = self.resources.scope.clone();
                if let Some(ScopeMember::Inner(inner)) = scope.get_mut(resource) {
                    Arc::make_mut(inner).shift_remove(key);
                }
                layer.set_resources(scope);
            }
            _ => {}
        }
        layer
    }

    /// The same as seen inside the nested stack of a resource.
    ///
    /// Of entries that match its name later ones win member by member, the one of exactly that name
    /// over all patterns.
    pub(super) fn narrowed(&self, resource: &str) -> Layer {
        let mut layer = self.clone();
        if self.resources.scope.is_empty() {
            return layer;
        }
        let mut inside = ResourceScope::new();
        for scope in self.scopes_for(resource) {
            inside.extend(scope.iter().map(|(key, member)| (key.clone(), member.clone())));
        }
        layer.set_resources(inside);
        layer
    }

    /// The entries for a resource: under patterns in order, then under its own name.
    fn scopes_for<'a>(&'a self, resource: &'a str) -> impl Iterator<Item = &'a ResourceScope> {
        let matching =
            self.resources.patterns.iter().filter(move |p| pattern::matches(p, resource));
        let names = matching.map(|name| &**name).chain(std::iter::once(resource));
        names.filter_map(|name| match self.resources.scope.get(name)? {
            ScopeMember::Inner(scope) => Some(&**scope),
            _ => None,
        })
    }

    fn set_types(&mut self, scope: ResourceScope) {
        let prefixes = scope.keys().filter_map(|key| key.strip_suffix('*'));
        let prefix_lengths = prefixes.map(str::len).collect();
        self.types = Arc::new(Types { scope, prefix_lengths });
    }

    fn set_resources(&mut self, scope: ResourceScope) {
        let patterns = scope.keys().filter(|key| pattern::is_pattern(key)).cloned().collect();
        self.resources = Arc::new(Resources { scope, patterns });
    }
}

fn template_types(scope: &ResourceScope) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
    scope.iter().filter_map(|(key, member)| match member {
        ScopeMember::Type(Mapping { target: MappingTarget::Template(name), .. }) => {
            Some((key, name))
        }
        _ => None,
    })
}

fn mapping<'a>(scope: &'a ResourceScope, type_name: &str) -> Option<(&'a Arc<str>, &'a Mapping)> {
    match scope.get_key_value(type_name)? {
        (key, ScopeMember::Type(mapping)) => Some((key, mapping)),
        _ => None,
    }
}

fn carry_out<'a>(
    statements: impl Iterator<Item = (&'a Arc<str>, &'a Statement)> + Clone,
    scope: &mut ResourceScope,
) {
    let removals = Removals::new(statements.clone());
    if !removals.is_empty() {
        scope.retain(|key, member| {
            let is_type = matches!(member, ScopeMember::Type(_));
            !(removals.exact.contains(&**key) || is_type && removals.covers(key, None))
        });
    }
    for (at, (key, statement)) in statements.enumerate() {
        let is_type = matches!(statement.setting, Setting::Type(_));
        if is_type && removals.covers(key, Some(at)) {
            continue;
        }
        let before = scope.get(key);
        if let Some(member) = member(key, statement, before) {
            scope.insert(key.clone(), member);
        }
    }
}

/// The entry that a statement makes for a key; none for a removal.
fn member(
    key: &Arc<str>,
    statement: &Statement,
    before: Option<&ScopeMember>,
) -> Option<ScopeMember> {
    Some(match &statement.setting {
        Setting::Remove => return None,
        Setting::Type(text) => {
            let name = [key, text].into_iter().find(|name| is_template_name(name));
            let target = match name {
                Some(name) => MappingTarget::Template(name.clone()),
                None => MappingTarget::Type(text.clone()),
            };
            ScopeMember::Type(Mapping { target, span: statement.span })
        }
        Setting::Hooks(flags) => ScopeMember::Hooks(flags.clone()),
        Setting::Restricted(flags) => ScopeMember::Restricted(flags.clone()),
        Setting::Inner(statements) => {
            let mut inner = match before {
                Some(ScopeMember::Inner(inner)) => ResourceScope::clone(inner),
                _ => ResourceScope::new(),
            };
            carry_out(statements.iter(), &mut inner);
            if inner.is_empty() && before.is_none() {
                return None;
            }
            ScopeMember::Inner(Arc::new(inner))
        }
    })
}

/// The removals among statements, indexed so that each need not visit all entries.
struct Removals<'a> {
    exact: HashSet<&'a str>,
    /// Prefixes of wildcards, with the position of the removal.
    prefixes: HashMap<&'a str, usize>,
    lengths: BTreeSet<usize>,
}

impl<'a> Removals<'a> {
    fn new(statements: impl Iterator<Item = (&'a Arc<str>, &'a Statement)>) -> Removals<'a> {
        let mut removals =
            Removals { exact: HashSet::new(), prefixes: HashMap::new(), lengths: BTreeSet::new() };
        for (at, (key, statement)) in statements.enumerate() {
            match (key.strip_suffix('*'), &statement.setting) {
                (Some(prefix), Setting::Remove) => {
                    removals.prefixes.insert(prefix, at);
                    removals.lengths.insert(prefix.len());
                }
                (None, Setting::Remove) => _ = removals.exact.insert(key),
                _ => {}
            }
        }
        removals
    }

    fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.prefixes.is_empty()
    }

    /// Whether a wildcard removes the key; if it was set by a statement, only one after that.
    fn covers(&self, key: &str, set_at: Option<usize>) -> bool {
        self.lengths.range(..=key.len()).any(|length| {
            let removal = key.get(..*length).and_then(|prefix| self.prefixes.get(prefix));
            removal.is_some_and(|at| set_at.is_none_or(|set_at| *at > set_at))
        })
    }
}

fn scope_statements(scope: &ResourceScope) -> Statements {
    let statement = |member: &ScopeMember| {
        let (setting, span) = match member {
            ScopeMember::Type(mapping) => {
                (Setting::Type(mapping.target.name().clone()), mapping.span)
            }
            ScopeMember::Hooks(flags) => (Setting::Hooks(flags.clone()), None),
            ScopeMember::Restricted(flags) => (Setting::Restricted(flags.clone()), None),
            ScopeMember::Inner(scope) => (Setting::Inner(scope_statements(scope)), None),
        };
        Statement { setting, span }
    };
    scope.iter().map(|(key, member)| (key.clone(), statement(member))).collect()
}

fn shown_scope(scope: &ResourceScope) -> Value {
    Value::map(scope.iter().map(|(key, member)| (key.clone(), shown_member(member))))
}

fn shown_member(member: &ScopeMember) -> Value {
    match member {
        ScopeMember::Type(mapping) => Value::Text(mapping.target.name().clone()),
        ScopeMember::Hooks(flags) => flags.supplied.clone(),
        ScopeMember::Restricted(flags) => flags.supplied.clone(),
        ScopeMember::Inner(scope) => shown_scope(scope),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::fixture::{json, parsed};

    fn layer(registries: &[&str]) -> Layer {
        let mut layer = Layer::default();
        for registry in registries {
            let (environment, found) = parsed(&format!(r#"{{"resource_registry": {registry}}}"#));
            assert_eq!(found, []);
            layer.load(&environment.resource_registry);
        }
        layer
    }

    fn printed(registries: &[&str]) -> String {
        json(&Value::Map(Arc::new(layer(registries).to_members())))
    }

    #[test]
    fn a_registry_is_shown_with_its_resources_first() {
        for (registry, expected) in [
            ("{}", r#"{"resources": {}}"#),
            (
                r#"{"A": "x.yaml", "resources": {"a": {"hooks": "pre-create"}}}"#,
                r#"{"resources": {"a": {"hooks": "pre-create"}}, "A": "x.yaml"}"#,
            ),
            (r#"{"resources": {"a": {}, "b": {"c": {}}}}"#, r#"{"resources": {}}"#),
            (r#"{"x.yaml": "y.yaml"}"#, r#"{"resources": {}, "x.yaml": "x.yaml"}"#),
            (
                r#"{"A*": "B*", "base_url": "u"}"#,
                r#"{"resources": {}, "A*": "B*", "base_url": "u"}"#,
            ),
        ] {
            assert_eq!(printed(&[registry]), expected);
        }
    }

    #[test]
    fn null_removes_what_was_set_before_it() {
        for (registry, expected) in [
            (r#"{"A": null}"#, r#"{"resources": {}}"#),
            (r#"{"My::V": "x.yaml", "My::*": null}"#, r#"{"resources": {}}"#),
            (r#"{"My::*": null, "My::V": "x.yaml"}"#, r#"{"resources": {}, "My::V": "x.yaml"}"#),
            (
                r#"{"A": "x", "B": "x", "AB": "x", "A*": null, "AC": "x"}"#,
                r#"{"resources": {}, "B": "x", "AC": "x"}"#,
            ),
            (
                r#"{"resources": {"ab": {"T": "x", "Ta": "x", "T*": null}, "c": {"T": "x"}, "a*": null}}"#,
                r#"{"resources": {"c": {"T": "x"}}}"#,
            ),
            (
                r#"{"resources": {"a": {"hooks": null, "T": "x"}}}"#,
                r#"{"resources": {"a": {"T": "x"}}}"#,
            ),
            (r#"{"resources": {"a": null}}"#, r#"{"resources": {}}"#),
        ] {
            assert_eq!(printed(&[registry]), expected);
        }
    }

    #[test]
    fn a_second_registry_is_loaded_over_the_first() {
        let first = r#"{"A": "x.yaml", "C": "D", "resources": {"a": {"T": "OS::Heat::None", "hooks": "pre-create"}}}"#;
        let second = r#"{"A": null, "B": "q.yaml", "C*": null,
            "resources": {"a": {"T": null, "U": "z.yaml"}, "b": {"hooks": "pre-update"}}}"#;
        let expected = concat!(
            r#"{"resources": {"a": {"hooks": "pre-create", "U": "z.yaml"}, "b": {"hooks": "pre-update"}}, "#,
            r#""B": "q.yaml"}"#
        );
        assert_eq!(printed(&[first, second]), expected);
        assert_eq!(
            printed(&[first, r#"{"resources": null}"#]),
            r#"{"resources": {}, "A": "x.yaml", "C": "D"}"#
        );
        let mut again = Layer::default();
        again.load(&layer(&[first, second]).statements());
        assert_eq!(json(&Value::Map(Arc::new(again.to_members()))), expected);
    }

    #[test]
    fn hooks_and_restrictions_go_by_pattern() {
        let layer = layer(&[r#"{"hooks": "pre-create", "resources": {
            "hooks": "post-delete",
            "a": {"hooks": "pre-create", "restricted_actions": ["replace"], "a": {"hooks": "post-update"}},
            "A": {"hooks": "pre-update"},
            "[ab]": {"hooks": ["pre-delete", "post-create"]},
            "*": {"restricted_actions": "update"}}}"#]);
        let hooks = [Hook::PreCreate, Hook::PreDelete, Hook::PostCreate];
        assert_eq!(layer.hooks("a"), BTreeSet::from(hooks));
        assert_eq!(layer.hooks("ab"), BTreeSet::new());
        assert_eq!(layer.hooks("hooks"), BTreeSet::new());
        assert_eq!(
            layer.restricted_actions("a"),
            BTreeSet::from([Action::Update, Action::Replace])
        );
        assert_eq!(layer.restricted_actions("zz"), BTreeSet::from([Action::Update]));
    }

    #[test]
    fn inside_a_resource_its_own_entry_wins_over_patterns_and_later_patterns_over_earlier() {
        let narrowed =
            |registry: &str| json(&layer(&[registry]).narrowed("n").to_members()["resources"]);
        let (h, r, t) = (
            r#"{"hooks": "pre-update"}"#,
            r#"{"restricted_actions": "update"}"#,
            r#"{"A::B": "x.yaml"}"#,
        );
        assert_eq!(
            narrowed(&format!(
                r#"{{"resources": {{"n*": {{"m": {h}}}, "?": {{"m": {r}}}, "*": {{"m": {t}}}}}}}"#
            )),
            format!(r#"{{"m": {t}}}"#)
        );
        assert_eq!(
            narrowed(&format!(
                r#"{{"resources": {{"n": {{"m": {t}}}, "n*": {{"m": {h}, "q": {r}}}}}}}"#
            )),
            format!(r#"{{"m": {t}, "q": {r}}}"#)
        );
        assert_eq!(narrowed(r#"{"resources": {"x": {"m": {"hooks": "pre-update"}}}}"#), "{}");
    }

    #[test]
    fn many_removals_do_not_each_walk_all_entries() {
        let entries: Vec<String> = (0..3000).map(|i| format!(r#""T{i}": "x""#)).collect();
        let nulls: Vec<String> = (0..3000).map(|i| format!(r#""T{i}*": null"#)).collect();
        let registry = format!("{{{}, {}}}", entries.join(", "), nulls.join(", "));
        assert_eq!(printed(&[&registry]), r#"{"resources": {}}"#);
    }
}
