//! The global environment: the operator's registry, below the one of every user.
//!
//! It differs from a user's in two ways: a null removes a built-in type for everybody, and the templates that it
//! names are read by the operator's program, because they need not come with a request.

use super::layer::{Layer, is_template_name};
use super::statement::{Setting, Statements, forget_places};
use crate::definition::Files;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The operator's registry, the built-in types that it removes, and the templates that it names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GlobalEnvironment {
    pub(super) layer: Layer,
    /// Removed types; with an asterisk at the end, all types that begin so.
    pub(super) removed: BTreeSet<Arc<str>>,
    /// The texts of the templates, by the names that the registry has for them.
    pub(super) templates: Arc<Files>,
}

impl GlobalEnvironment {
    /// An environment of aliases; an asterisk at the end of both names stands for the rest.
    pub fn from_aliases<'n>(
        aliases: impl IntoIterator<Item = (&'n str, &'n str)>,
    ) -> GlobalEnvironment {
        GlobalEnvironment { layer: Layer::from_aliases(aliases), ..GlobalEnvironment::default() }
    }

    /// Applies the registry of another file. Its positions are not those of a request's files, so they are dropped.
    pub fn load(&mut self, statements: &Statements) {
        let mut statements = statements.clone();
        forget_places(&mut statements);
        let removed = statements.iter().filter(|(_, it)| it.setting == Setting::Remove);
        self.removed.extend(removed.map(|(name, _)| name.clone()));
        self.layer.load(&statements);
    }

    /// Sets the texts of templates, by the names that the registry has for them.
    pub fn set_templates(&mut self, templates: Files) {
        self.templates = Arc::new(templates);
    }

    /// The text of a template.
    pub fn template(&self, name: &str) -> Option<&Arc<str>> {
        self.templates.get(name)
    }

    /// The names of the templates that the registry maps types to.
    pub fn template_names(&self) -> BTreeSet<Arc<str>> {
        self.layer.template_names()
    }

    /// The types that are templates, each with the name of its template.
    pub fn template_types(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.layer.template_types().filter(|(name, _)| !is_template_name(name))
    }

    /// Whether a built-in type cannot be used.
    pub fn removes(&self, type_name: &str) -> bool {
        let covers = |removed: &Arc<str>| match removed.strip_suffix('*') {
            Some(prefix) => type_name.starts_with(prefix),
            None => **removed == *type_name,
        };
        self.removed.iter().any(covers)
    }

    /// The same without the entry at a path.
    pub(super) fn without(&self, path: &[Arc<str>]) -> GlobalEnvironment {
        GlobalEnvironment { layer: self.layer.without(path), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::fixture::environment;
    use crate::environment::{Environment, Implementation};

    const BUILTIN: [&str; 3] = ["OS::Heat::None", "OS::Heat::RandomString", "OS::Heat::Value"];

    fn global(files: &[&str]) -> GlobalEnvironment {
        let mut global = GlobalEnvironment::from_aliases([("Old::Value", "OS::Heat::Value")]);
        for file in files {
            let text = format!("resource_registry: {file}");
            global.load(&environment(&text).resource_registry);
        }
        global
    }

    /// What a type means to a user whose environment has this registry.
    fn meaning(global: &GlobalEnvironment, user: &Environment, name: &str) -> String {
        let registry = user.registry(Arc::new(global.clone()));
        match registry.resolve(name, None, &|name| BUILTIN.contains(&name)) {
            Ok(Implementation::Builtin(name)) => name.to_string(),
            Ok(Implementation::Template { url, .. }) => url.to_string(),
            Err(_) => "-".to_owned(),
        }
    }

    #[test]
    fn later_files_win_and_users_win_over_all() {
        let global = global(&[
            "{My::A: OS::Heat::None, My::B: 'file:///b.yaml'}",
            "{My::A: OS::Heat::Value}",
        ]);
        let nobody = Environment::default();
        assert_eq!(meaning(&global, &nobody, "My::A"), "OS::Heat::Value");
        assert_eq!(meaning(&global, &nobody, "My::B"), "file:///b.yaml");
        assert_eq!(meaning(&global, &nobody, "Old::Value"), "OS::Heat::Value");
        let user = environment("resource_registry: {My::A: OS::Heat::RandomString}");
        assert_eq!(meaning(&global, &user, "My::A"), "OS::Heat::RandomString");
        assert_eq!(global.template_names().len(), 1);
        assert_eq!(global.template_types().count(), 1);
    }

    #[test]
    fn a_null_removes_a_built_in_type_for_everybody() {
        let global = global(&["{OS::Heat::RandomString: , 'OS::Heat::V*': , Old::Value: }"]);
        let nobody = Environment::default();
        let user = environment("resource_registry: {My::A: OS::Heat::RandomString}");
        for (user, name) in [
            (&nobody, "OS::Heat::RandomString"),
            (&nobody, "OS::Heat::Value"),
            (&nobody, "Old::Value"),
            (&user, "My::A"),
        ] {
            assert_eq!(meaning(&global, user, name), "-", "{name}");
        }
        assert_eq!(meaning(&global, &nobody, "OS::Heat::None"), "OS::Heat::None");
    }

    #[test]
    fn a_template_may_use_the_type_that_it_stands_for() {
        let global = global(&["{OS::Heat::Value: value.yaml}"]);
        let registry = Environment::default().registry(Arc::new(global));
        let is_builtin = |name: &str| BUILTIN.contains(&name);
        let outside = registry.resolve("OS::Heat::Value", None, &is_builtin).unwrap();
        let Implementation::Template { entry, .. } = outside else { panic!("no template") };
        let inside = registry.child("r", Some(&entry));
        let inside = inside.resolve("OS::Heat::Value", None, &is_builtin);
        assert_eq!(inside, Ok(Implementation::Builtin("OS::Heat::Value".into())));
    }
}
