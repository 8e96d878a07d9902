//! What nested templates ask for, as template validation tells it.

use super::request::recipe;
use super::{Service, StackRequest};
use crate::blueprint::{Blueprint, Identity, Kind, Recipe, Source, Templates};
use crate::ids::RecipeId;
use kiln_resources::constraints::offline;
use kiln_template::eval::{Resolver, Scope};
use kiln_template::frozen::{Frozen, converted};
use kiln_template::functions::{Facade, Fault};
use kiln_template::path::Path;
use kiln_template::validate::{Report, Types};
use kiln_template::value::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

impl Service {
    /// Adds what nested templates ask for to what is told of a template.
    pub fn describe_nested(
        &self,
        project: &Arc<str>,
        request: &StackRequest,
        report: Report,
        described: &mut Value,
    ) {
        let recipe = recipe(request, report);
        let name: Arc<str> = "".into();
        let identity = Identity { name: &name, id: None, project };
        let mut templates = Templates::default();
        let root = Blueprint::of_root(&self.config, &mut templates, &recipe, &identity, None);
        let Ok(root) = root else { return };
        let nested = self.nested_of(&root, &mut templates, &identity, self.config.max_depth);
        if let Value::Map(members) = described
            && !nested.is_empty()
        {
            let members = Arc::make_mut(members);
            let environment = members.shift_remove("Environment");
            members.insert("NestedParameters".into(), Value::Map(Arc::new(nested)));
            members.extend(environment.map(|it| ("Environment".into(), it)));
        }
    }

    fn nested_of(
        &self,
        outer: &Blueprint,
        templates: &mut Templates,
        identity: &Identity<'_>,
        depth: usize,
    ) -> Members {
        let mut all = Members::new();
        if depth == 0 {
            return all;
        }
        let scope = Scope::new(&outer.definition, &Nothing);
        for (at, resource) in outer.definition.resources() {
            let frozen = Frozen::of(&scope, resource).ok();
            let properties = frozen.map(|it| it.properties).unwrap_or_default();
            let nothing = Recipe::nothing(RecipeId(Uuid::nil()));
            let (recipe, entry) = match outer.kind(at) {
                Kind::Template(kind) => {
                    let template = Source::File(kind.url.clone(), kind.text.clone());
                    (Recipe { template, parameters: properties, ..nothing }, Some(&kind.entry))
                }
                Kind::Builtin(kind) => {
                    let (properties, _) =
                        converted(&kind.schema, &properties, &offline(0), &Path::Root);
                    let Some(made) = self.config.types.expansion(kind.name(), &properties) else {
                        continue;
                    };
                    (Recipe { template: Source::Made(made), ..nothing }, None)
                }
                Kind::Unknown(_) => continue,
            };
            let holder = (&*resource.name, entry);
            let child = outer.of_child(&self.config, templates, &recipe, identity, holder);
            let Ok(child) = child else { continue };
            let template = &child.definition.template;
            let about = template.description.clone().unwrap_or_else(|| "No description".into());
            let mut told = Members::new();
            told.insert("Type".into(), Value::Text(resource.kind.value.clone()));
            told.insert("Description".into(), about);
            let parameters = child.definition.parameters.describe();
            told.insert("Parameters".into(), Value::Map(Arc::new(parameters)));
            if !template.parameter_groups.is_empty() {
                let groups = template.parameter_groups.iter().map(|group| group.describe());
                told.insert("ParameterGroups".into(), Value::list(groups));
            }
            let inside = self.nested_of(&child, templates, identity, depth - 1);
            if !inside.is_empty() {
                told.insert("NestedParameters".into(), Value::Map(Arc::new(inside)));
            }
            all.insert(resource.name.clone(), Value::Map(Arc::new(told)));
        }
        all
    }
}

/// A world in which nothing is there.
struct Nothing;

impl Resolver for Nothing {
    fn reference(&self, _: &str) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn attribute(&self, _: &str, _: &str, _: &[Value]) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn attributes(&self, _: &str) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn facade(&self, _: Facade) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn availability_zones(&self) -> Result<Value, Fault> {
        Ok(Value::list([]))
    }
}
