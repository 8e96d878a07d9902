//! The source of a stack (its recipe), and the result of reading and binding it (its blueprint).
//!
//! A recipe is texts and values, and can be stored. A blueprint is a recipe read and bound: the
//! definition of every resource and what its type means. Blueprints are made of recipes by a pure
//! function, so they need not be stored.

use crate::config::Config;
use crate::ids::{RecipeId, StackId};
use crate::preview::Contract;
use crate::template_cache::TemplateCache;
use indexmap::IndexMap;
use kiln_cloud::CreatedBy;
use kiln_resources::constraints::offline;
use kiln_resources::declare::ResourceType;
use kiln_resources::implicit_dependencies::{self, Candidate};
use kiln_template::document::{Node, SecretHandling};
use kiln_template::environment::{
    EntryPath, Environment, GlobalEnvironment, Implementation, Owner, Registry,
};
use kiln_template::parameters::{
    ParameterCheck, Parameters, PseudoParameters, SuppliedParameters, SuppliedValues,
};
use kiln_template::schema::TypeSchema;
use kiln_template::translation::{self, PropertyLocation};
use kiln_template::{
    Definition, Diagnostic, FileId, Files, Limits, Members, Path, ResolveError, ResolvedDefinition,
    Resource, Scope, Sources, Span, Template, UnknownResolver, UnsetParameters, Value, generated,
    lower, members_byte_size, nested, read,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The source of a stack: its template and everything that belongs to it. It is never changed.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Its id.
    pub id: RecipeId,
    /// The template.
    pub template: Source,
    /// The files that came along; those of the root serve its whole tree.
    pub files: Arc<Files>,
    /// The environment; that of the root serves its whole tree.
    pub environment: Arc<Environment>,
    /// The values that a nested stack's parameters take.
    pub parameters: Arc<Members>,
    /// Types that are known by another name in it, unless its environment says otherwise.
    pub aliases: Vec<(Arc<str>, Arc<str>)>,
    /// Built-in types that the requester may not use; those of the root hold for its whole tree.
    pub forbidden: Arc<BTreeSet<Arc<str>>>,
    /// Who asked for it; that of the root holds for its whole tree.
    pub created_by: Arc<CreatedBy>,
    /// What the update to it may do, if that was planned.
    pub contract: Option<Arc<Contract>>,
}

impl Recipe {
    /// How many bytes of texts and parameters came with the request.
    pub(crate) fn text_bytes(&self) -> usize {
        let template = match &self.template {
            Source::Text(text) => text.len(),
            Source::Made(_) | Source::File(..) | Source::Nothing => 0,
        };
        let files = self.files.values().map(|text| text.len()).sum::<usize>();
        let values = self.environment.parameters.values().map(|it| it.value.byte_size());
        template + files + values.sum::<usize>()
    }

    /// How many bytes of values it has that no request contained: the template that a resource's type made, and the
    /// parameters of a nested stack.
    pub(crate) fn made_bytes(&self) -> usize {
        let made = match &self.template {
            Source::Made(template) => template.byte_size(),
            Source::Text(_) | Source::File(..) | Source::Nothing => 0,
        };
        made.saturating_add(members_byte_size(&self.parameters))
    }
}

/// Where a template comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// It was sent as text.
    Text(Arc<str>),
    /// It is one of the files, under this name.
    File(Arc<str>, Arc<str>),
    /// It was made up by a resource's type.
    Made(Value),
    /// There is none: a stack without resources.
    Nothing,
}

/// A recipe, read and bound.
#[derive(Debug)]
pub(crate) struct Blueprint {
    /// The template bound to its parameters.
    pub(crate) definition: Definition,
    /// The meaning of resource types in it.
    pub(crate) registry: Registry,
    /// The types of the resources, by their places in the template.
    pub(crate) types: Vec<ResolvedType>,
    /// The parts that the whole tree shares.
    pub(crate) shared: Arc<SharedParts>,
}

/// The parts that the stacks of a tree share.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SharedParts {
    /// The files.
    pub(crate) files: Arc<Files>,
    /// The operator's environment.
    pub(crate) global: Arc<GlobalEnvironment>,
    /// Defaults for the parameters of any template.
    pub(crate) defaults: SuppliedValues,
    /// What the user says about resource types.
    pub(crate) registry: Value,
    /// The types that may not be used.
    pub(crate) forbidden: Arc<BTreeSet<Arc<str>>>,
}

impl SharedParts {
    /// Whether a type is the same for every resource: not if its text is that of a nested stack.
    fn defines(&self, resource_type: &ResolvedType) -> bool {
        match resource_type {
            ResolvedType::Builtin(_) => true,
            ResolvedType::Template(resource_type) => self.files.contains_key(&resource_type.url),
            ResolvedType::Unknown(_) => false,
        }
    }
}

/// The type of a resource.
#[derive(Clone, Debug)]
pub(crate) enum ResolvedType {
    /// A built-in type.
    Builtin(&'static ResourceType),
    /// A template.
    Template(Arc<TemplateType>),
    /// It cannot be found, for this reason.
    Unknown(Arc<str>),
}

/// A template that stands for a type.
#[derive(Debug)]
pub(crate) struct TemplateType {
    /// The type that its resources are recorded with: the type as written, marked if a built-in one has that name.
    pub(crate) label: Arc<str>,
    /// The name of its file.
    pub(crate) url: Arc<str>,
    /// Its text.
    pub(crate) text: Arc<str>,
    /// The entry of the registry that led to it.
    pub(crate) entry: EntryPath,
    /// Its parameters and outputs as properties and attributes.
    pub(crate) interface: TypeSchema,
}

impl ResolvedType {
    /// The schema of the type; nothing if it cannot be found.
    pub(crate) fn schema(&self) -> Option<&TypeSchema> {
        match self {
            ResolvedType::Builtin(resource_type) => Some(&resource_type.schema),
            ResolvedType::Template(resource_type) => Some(&resource_type.interface),
            ResolvedType::Unknown(_) => None,
        }
    }

    /// The name that its resources are recorded with; nothing if it cannot be found.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            ResolvedType::Builtin(resource_type) => Some(resource_type.name()),
            ResolvedType::Template(resource_type) => Some(&resource_type.label),
            ResolvedType::Unknown(_) => None,
        }
    }

    /// The built-in type.
    pub(crate) fn builtin(&self) -> Option<&'static ResourceType> {
        match self {
            ResolvedType::Builtin(resource_type) => Some(resource_type),
            _ => None,
        }
    }

    /// The definition of a resource of it without functions. Those in properties that the type has no
    /// use for are not carried out.
    pub(crate) fn resolve_definition(
        &self,
        scope: &Scope<'_>,
        resource: &Resource,
    ) -> Result<ResolvedDefinition, ResolveError> {
        match self.builtin().is_some_and(|resource_type| resource_type.placeholder) {
            true => ResolvedDefinition::resolve_without_properties(scope, resource),
            false => ResolvedDefinition::resolve(scope, resource),
        }
    }

    /// Whether a resource of it is created when its stack is adopted: a nested stack, and an object that holds authority.
    pub(crate) fn is_created_on_adopt(&self) -> bool {
        match self {
            ResolvedType::Builtin(resource_type) if resource_type.created_on_adopt => true,
            resolved => resolved.is_nested(),
        }
    }

    /// Whether a resource of it holds a nested stack.
    pub(crate) fn is_nested(&self) -> bool {
        match self {
            ResolvedType::Builtin(resource_type) => resource_type.behaviour.stages.is_some(),
            ResolvedType::Template(_) => true,
            ResolvedType::Unknown(_) => false,
        }
    }
}

/// Templates of files that were read already.
#[derive(Default)]
pub(crate) struct Templates {
    read: IndexMap<Arc<str>, (Arc<str>, Arc<Template>)>,
}

impl Templates {
    /// The template in a text.
    fn read(
        &mut self,
        template_cache: &TemplateCache,
        url: &Arc<str>,
        text: &Arc<str>,
    ) -> Result<Arc<Template>, String> {
        if let Some((known, template)) = self.read.get(url)
            && (Arc::ptr_eq(known, text) || known == text)
        {
            return Ok(template.clone());
        }
        let template = template_cache.template(text, || read_template(url, text))?;
        self.read.insert(url.clone(), (text.clone(), template.clone()));
        Ok(template)
    }
}

fn read_template(url: &Arc<str>, text: &Arc<str>) -> Result<Template, String> {
    let file = Sources::new().add(url.clone(), text.clone());
    // How long a text may be was decided when it was accepted.
    let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
    let (node, mut problems) = read::read(file, text, &limits);
    let template = node.and_then(|node| {
        let (template, findings) = lower::template(node);
        problems.extend(findings.into_ordered());
        template
    });
    template.ok_or_else(|| first_error(problems))
}

/// A template that was sent as text.
pub(crate) fn sent_template(config: &Config, text: &Arc<str>) -> Result<Arc<Template>, String> {
    config.template_cache.template(text, || read_template(&"template".into(), text))
}

fn made_template(value: &Value) -> Result<Template, String> {
    let span = Span::start_of(FileId::default());
    let (template, findings) =
        lower::template(Node::from_value(value, span, SecretHandling::Expose));
    let findings = findings.into_ordered();
    match template {
        Some(template) if findings.iter().all(|found| !found.is_error()) => Ok(template),
        _ => Err(first_error(findings)),
    }
}

fn first_error(problems: Vec<Diagnostic>) -> String {
    let first = problems.into_iter().find(Diagnostic::is_error);
    first.map_or_else(|| "the template cannot be read".into(), |found| found.text())
}

/// A stack as its template knows it.
pub(crate) struct Identity<'a> {
    /// Its name.
    pub name: &'a Arc<str>,
    /// Its id; nothing if it is not there.
    pub id: Option<StackId>,
    /// Its project.
    pub project: &'a Arc<str>,
    /// The texts of files that the request left out.
    pub kept_text: KeptText<'a>,
}

/// The text that the nested stack of a resource is made of, by the names of the resource and of the file. A group that
/// changes in batches has members of its former definition, whose file the request may have left out.
pub(crate) type KeptText<'a> = &'a dyn Fn(&str, &str) -> Option<Arc<str>>;

/// No file is kept: the stack does not exist yet.
pub(crate) fn no_kept_text(_: &str, _: &str) -> Option<Arc<str>> {
    None
}

impl Identity<'_> {
    fn pseudo(&self, template: &Template) -> PseudoParameters {
        PseudoParameters {
            stack_name: self.name.clone(),
            stack_id: self.id.map(|id| id.to_string().into()),
            project_id: self.project.clone(),
            dialect: template.version.dialect(),
        }
    }
}

impl Blueprint {
    /// The blueprint of a root stack; `former` is the one that it takes the place of.
    pub(crate) fn of_root(
        config: &Config,
        templates: &mut Templates,
        recipe: &Recipe,
        identity: &Identity<'_>,
        former: Option<&Blueprint>,
    ) -> Result<Blueprint, String> {
        let template = match &recipe.template {
            Source::Text(text) => sent_template(config, text)?,
            // A stack that goes back to a snapshot is made of a template that was changed for that.
            Source::Made(value) => Arc::new(made_template(value)?),
            _ => return Err("there is no template".into()),
        };
        let environment = &recipe.environment;
        let given = SuppliedParameters {
            request: SuppliedValues::new(),
            environment: environment.parameters.clone(),
            defaults: environment.parameter_defaults.clone(),
        };
        let pseudo = identity.pseudo(&template);
        let definitions = template.parameters.clone();
        let (parameters, _) =
            Parameters::bind(definitions, given, &pseudo, &offline(0), ParameterCheck::Values);
        let (definition, _) =
            Definition::bind(template, parameters, recipe.files.clone(), UnsetParameters::Error);
        let global = config.global.get();
        let registry = environment.registry(global.clone());
        // Without the places in a file, which a stored environment does not have.
        let defaults = environment.parameter_defaults.iter();
        let written = environment.to_value();
        let said = written.as_map().and_then(|members| members.get("resource_registry"));
        let shared = SharedParts {
            global,
            files: recipe.files.clone(),
            defaults: defaults.map(|(name, it)| (name.clone(), it.value.clone().into())).collect(),
            registry: said.cloned().unwrap_or_default(),
            forbidden: recipe.forbidden.clone(),
        };
        // If nothing of it changed, nested stacks need not be looked at.
        let shared = match former {
            Some(former) if *former.shared == shared => former.shared.clone(),
            _ => Arc::new(shared),
        };
        Ok(Blueprint::new(config, templates, definition, registry, (shared, identity.kept_text)))
    }

    /// The blueprint of a stack nested in a resource of another; problems with its parameters are returned.
    pub(crate) fn of_child(
        &self,
        config: &Config,
        templates: &mut Templates,
        recipe: &Recipe,
        identity: &Identity<'_>,
        parent_resource: (&str, Option<&EntryPath>),
    ) -> Result<Blueprint, String> {
        let mut properties = recipe.parameters.clone();
        let template = match &recipe.template {
            Source::File(url, text) => templates.read(&config.template_cache, url, text)?,
            Source::Text(text) => sent_template(config, text)?,
            Source::Made(value) => {
                let is_secret = |value: &Value| matches!(value, Value::Secret(_));
                let (open, hidden) = generated::with_parameters(value, is_secret);
                Arc::make_mut(&mut properties).extend(hidden);
                Arc::new(made_template(&open)?)
            }
            Source::Nothing => return Err("there is no template".into()),
        };
        let pseudo = identity.pseudo(&template);
        let child = nested::NestedStack {
            template,
            properties: &properties,
            defaults: &self.shared.defaults,
            files: self.shared.files.clone(),
            pseudo,
        };
        let (definition, findings) = child.bind(&offline(0), ParameterCheck::Values);
        if findings.has_errors() {
            return Err(first_error(findings.into_ordered()));
        }
        let registry =
            self.registry.child(parent_resource.0, parent_resource.1).with_aliases(&recipe.aliases);
        let files = (self.shared.clone(), identity.kept_text);
        Ok(Blueprint::new(config, templates, definition, registry, files))
    }

    fn new(
        config: &Config,
        templates: &mut Templates,
        mut definition: Definition,
        registry: Registry,
        (shared, kept_text): (Arc<SharedParts>, KeptText<'_>),
    ) -> Blueprint {
        definition.query_limits = config.query_limits;
        let mut known: IndexMap<Arc<str>, ResolvedType> = IndexMap::new();
        let has_exceptions = registry.user().has_resources();
        let mut types = Vec::with_capacity(definition.template.resources.len());
        for resource in definition.template.resources.values() {
            let name = &resource.type_name.value;
            // Unless the registry makes a difference between resources, a type means one thing.
            let resource_type = match known.get(name) {
                Some(resource_type) if !has_exceptions => resource_type.clone(),
                _ => {
                    let files = (&*shared, kept_text);
                    resolve_type(config, templates, &registry, files, name, &resource.name)
                }
            };
            if !has_exceptions && shared.defines(&resource_type) {
                known.insert(name.clone(), resource_type.clone());
            }
            types.push(resource_type);
        }
        let is_unawaited = |resource_type: &ResolvedType| {
            resource_type.builtin().is_some_and(|it| it.schema.reference_known_early)
        };
        let unawaited =
            types.iter().enumerate().filter(|(_, resource_type)| is_unawaited(resource_type));
        definition.ignore_dependencies_on(&unawaited.map(|(at, _)| at).collect());
        let needs = implicit_dependencies::needs(&candidates(config, &definition, &types));
        if !needs.is_empty() {
            definition.add_dependencies(&needs);
        }
        Blueprint { definition, registry, types, shared }
    }
}

/// The resources that may need each other although the template does not say so.
fn candidates(config: &Config, definition: &Definition, types: &[ResolvedType]) -> Vec<Candidate> {
    let scope = Scope::new(definition, &UnknownResolver);
    let relevant = definition.resources().filter_map(|(at, resource)| {
        let resource_type = types[at]
            .builtin()
            .filter(|resource_type| implicit_dependencies::matters(config.types, resource_type))?;
        let properties = resource.properties.as_ref().map(|expr| scope.value(expr));
        let mut properties = match properties {
            Some(Ok(Value::Map(members))) => (*members).clone(),
            _ => Members::new(),
        };
        // Older names of properties mean the same; what is wrong with them is told elsewhere.
        let place = PropertyLocation { path: &Path::Root, spans: &|_, _| resource.name_span };
        _ = translation::apply(&resource_type.schema, &mut properties, &place);
        Some(Candidate { at, name: resource.name.clone(), kind: resource_type, properties })
    });
    relevant.collect()
}

/// The message for a type that a user may not use, with the name of the policy rule that forbids it. The types of Keystone share
/// one rule, and are named themselves.
pub(crate) fn forbidden_type(name: &str) -> String {
    let prefix = if name.starts_with("OS::Keystone::") { "" } else { "resource_types:" };
    format!("You are not authorized to use {prefix}{name}.")
}

fn resolve_type(
    config: &Config,
    templates: &mut Templates,
    registry: &Registry,
    (shared, kept_text): (&SharedParts, KeptText<'_>),
    resource_type: &Arc<str>,
    resource: &str,
) -> ResolvedType {
    let is_builtin = |name: &str| config.types.get(name).is_some();
    let unknown = || {
        ResolvedType::Unknown(
            format!("The Resource Type ({resource_type}) could not be found.").into(),
        )
    };
    match registry.resolve(resource_type, Some(resource), &is_builtin) {
        // Whatever led here: a nested template, a group, a name that was computed.
        Ok(Implementation::Builtin(name)) if shared.forbidden.contains(&*name) => {
            ResolvedType::Unknown(forbidden_type(&name).into())
        }
        Ok(Implementation::Builtin(name)) => {
            config.types.get(&name).map_or_else(unknown, ResolvedType::Builtin)
        }
        Ok(Implementation::Template { url, entry, .. }) => {
            let is_operators = entry.owner == Owner::Operator;
            let global = || shared.global.template(&url).filter(|_| is_operators).cloned();
            let kept = || kept_text(resource, &url);
            let text = shared.files.get(&url).cloned().or_else(global).or_else(kept);
            let Some(text) = text else {
                let message = format!("Could not fetch remote template \"{url}\"");
                return ResolvedType::Unknown(message.into());
            };
            match templates.read(&config.template_cache, &url, &text) {
                Ok(template) => {
                    let interface = nested::interface(resource_type, &template, &shared.defaults);
                    let label = match is_builtin(resource_type) {
                        true => format!("{resource_type} (a template)").into(),
                        false => resource_type.clone(),
                    };
                    let resource_type = TemplateType { label, url, text, entry, interface };
                    ResolvedType::Template(Arc::new(resource_type))
                }
                Err(message) => ResolvedType::Unknown(message.into()),
            }
        }
        Err(_) => unknown(),
    }
}
