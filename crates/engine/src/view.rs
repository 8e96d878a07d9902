//! A tree as it is in the store, for readers: they see what is durable, never what only the owner knows.

use crate::blueprint::{Blueprint, ResolvedType, Source};
use crate::config::Config;
use crate::export::Purpose;
use crate::ids::{PhysicalId, ResourceId, StackId};
use crate::machine::StackSettings;
use crate::partial_tree::{TreePart, read_part};
use crate::record::placeholder_tree;
use crate::state::{Action, State, Status};
use crate::store::{CommandRow, Hash, Store, StoreError, TreeRows};
use crate::summary::{ResourceSummary, StackSummary};
use crate::tree::{Resource, Slot, StackKey, Tree};
use crate::workers::{HeldMemory, WorkShare, Workers};
use indexmap::IndexMap;
use kiln_cloud::Credential;
use kiln_resources::behaviour::Signal;
use kiln_template::{Definition, Dependents, Members, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Reads a tree from a store, and the commands that wait for it. A large one is read in its project's share of the threads for
/// long work.
pub(crate) async fn read_tree(
    store: &dyn Store,
    config: &Arc<Config>,
    workers: &Arc<Workers>,
    root: StackId,
) -> Result<Option<(Tree, Vec<CommandRow>)>, StoreError> {
    let Some(rows) = store.load_tree(root).await? else { return Ok(None) };
    let texts = texts_of(store, config, &rows).await?;
    let commands = rows.commands.clone();
    let share = workers.share(rows.stacks.first().map_or("", |root| &root.project));
    let bytes = row_bytes(&rows, &texts);
    let load = || Tree::load(config.clone(), rows, &|hash| texts.get(&hash).cloned());
    let mut tree = share.work_on(bytes, load).await?;
    read_signals(store, &share, &mut tree).await?;
    Ok(Some((tree, commands)))
}

/// Reads trees on behalf of a project, within its share of the memory and of the threads for long work.
pub struct TreeReader<'s> {
    /// The store.
    pub store: &'s dyn Store,
    /// The configuration of the engine.
    pub config: &'s Arc<Config>,
    /// The share of the project.
    pub share: WorkShare,
}

/// How many bytes a tree is made of.
pub(crate) fn row_bytes(rows: &TreeRows, texts: &HashMap<Hash, Arc<str>>) -> usize {
    let stacks = rows.stacks.iter().map(|row| row.body.len());
    let resources = rows.resources.iter().map(|row| row.body.len());
    let recipes = rows.recipes.iter().map(|row| row.body.len());
    let snapshots = rows.snapshots.iter().map(|row| row.body.len());
    let texts = texts.values().map(|text| text.len());
    stacks.chain(resources).chain(recipes).chain(snapshots).chain(texts).sum()
}

/// Reads the signals of all resources of a tree at once.
pub(crate) async fn read_signals(
    store: &dyn Store,
    share: &WorkShare,
    tree: &mut Tree,
) -> Result<(), StoreError> {
    let unread = tree.unread_signals();
    if unread.is_empty() {
        return Ok(());
    }
    let rows = store.resources(&unread).await?;
    let bytes = rows.iter().map(|row| row.body.len()).sum();
    share.work_on(bytes, || tree.add_signal_rows(rows)).await
}

/// The texts that recipes name.
pub(crate) async fn texts_of(
    store: &dyn Store,
    config: &Config,
    rows: &TreeRows,
) -> Result<HashMap<Hash, Arc<str>>, StoreError> {
    let mut texts = HashMap::new();
    for hash in rows.recipes.iter().flat_map(|recipe| &recipe.contents) {
        if texts.contains_key(hash) {
            continue;
        }
        if let Some(text) = config.template_cache.text(*hash) {
            texts.insert(*hash, text);
        } else if let Some(bytes) = store.content(*hash).await?
            && let Ok(text) = std::str::from_utf8(&bytes)
        {
            let text = Arc::from(text);
            config.template_cache.keep_text(*hash, &text);
            texts.insert(*hash, text);
        }
    }
    Ok(texts)
}

/// Where a resource keeps the id of its own user.
const USER: &str = "user_id";

/// The types of users whom policies allow to read resources, and of such policies.
const IAM_USER: &str = "AWS::IAM::User";
const ACCESS_POLICY: &str = "OS::Heat::AccessPolicy";

/// The error of outputs that are too large together.
const OUTPUTS_TOO_LARGE: &str = "Request limit exceeded: the outputs of the stack are larger than the limit [kiln] \
    max_stack_bytes. Next step: request this output alone.";

/// A tree for readers.
pub struct View {
    tree: Tree,
    bytes: usize,
    /// The memory of the project that a whole tree takes.
    _memory: Option<HeldMemory>,
}

impl View {
    /// Whether a stack user was created for a server of the tree.
    pub(crate) fn is_user_of_server(&self, user: &str, server: &str) -> bool {
        let mut resources = self.tree.resources.iter().flatten();
        resources.any(|it| has_id(it, server) && is_user_of(it, user))
    }

    /// The tree of a root stack; `None` if there is none.
    pub async fn open(reader: &TreeReader<'_>, root: StackId) -> Result<Option<View>, StoreError> {
        let TreeReader { store, config, share } = reader;
        let bytes = usize::try_from(store.tree_bytes(root).await?).unwrap_or(usize::MAX);
        let memory = share.hold_memory(bytes).await;
        let Some(rows) = store.load_tree(root).await? else { return Ok(None) };
        let texts = texts_of(*store, config, &rows).await?;
        let bytes = row_bytes(&rows, &texts);
        let load = || {
            let mut tree = Tree::load(Arc::clone(config), rows, &|hash| texts.get(&hash).cloned())?;
            for key in (0..tree.stacks.len() as u32).map(StackKey) {
                // A template that cannot be read any more shows as one without resources.
                _ = tree.bind_template(key);
            }
            Ok::<Tree, StoreError>(tree)
        };
        let mut tree = share.work_on(bytes, load).await?;
        read_signals(*store, share, &mut tree).await?;
        tree.moment = Some(crate::runtime::now());
        Ok(Some(View { tree, bytes, _memory: Some(memory) }))
    }

    /// A part of the tree of a root stack, or all of it if the part cannot be had alone; nothing if
    /// there is none.
    pub async fn open_part(
        reader: &TreeReader<'_>,
        root: StackId,
        part: TreePart<'_>,
    ) -> Result<Option<View>, StoreError> {
        let is_whole = part == TreePart::All;
        let view = match read_part(reader, root, part).await {
            Ok(None) => View::open(reader, root).await,
            other => other,
        };
        match view {
            Err(error @ (StoreError::Damaged { .. } | StoreError::Newer { .. })) if !is_whole => {
                View::open_placeholder(reader, root, error).await
            }
            other => other,
        }
    }

    /// The columns of a root stack whose tree cannot be read.
    async fn open_placeholder(
        TreeReader { store, config, .. }: &TreeReader<'_>,
        root: StackId,
        error: StoreError,
    ) -> Result<Option<View>, StoreError> {
        tracing::error!(stack = %root, %error, "a stack is shown without its records");
        // If not even that can be read, the first error says more.
        let Ok(Some(rows)) = store.load_stacks(root).await else { return Err(error) };
        let tree = placeholder_tree(Arc::clone(config), &rows);
        Ok(tree.map(|tree| View::of(tree, 0)))
    }

    /// A tree that was made of so many bytes.
    pub(crate) fn of(mut tree: Tree, bytes: usize) -> View {
        tree.moment = Some(crate::runtime::now());
        View { tree, bytes, _memory: None }
    }

    /// How many bytes were read for it: about so many have to be looked at in order to show all of it.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it has all of the tree.
    pub fn is_whole(&self) -> bool {
        self.tree.missing.is_none()
    }

    /// Whether something was needed that is not in the part that was read: then the results may be wrong.
    pub fn is_incomplete(&self) -> bool {
        self.tree.missing.as_ref().is_some_and(|missing| missing.is_incomplete())
    }

    /// The credential that the tree's calls are made with.
    pub fn credential(&self) -> &Credential {
        &self.tree.credential
    }

    /// A stack of the tree.
    pub fn stack(&self, id: StackId) -> Option<StackView<'_>> {
        self.tree.key_of(id).map(|key| StackView { tree: &self.tree, key })
    }

    /// The root stack.
    pub fn root(&self) -> StackView<'_> {
        StackView { tree: &self.tree, key: self.tree.root_key() }
    }

    /// The place of a resource of which the cloud may know more than is written down.
    pub(crate) fn readable_slot(&self, stack: StackId, resource: &str) -> Option<Slot> {
        let slot = self.tree.current(self.tree.key_of(stack)?, resource)?;
        self.tree.is_readable(slot).then_some(slot)
    }

    /// From now on, the resources are recorded whose attributes are evaluated.
    pub fn record_attributes(&mut self) {
        self.tree.evaluated = Some(Box::default());
    }

    /// The resources whose attributes were evaluated, and of which the cloud may know more than is stored.
    pub(crate) fn take_recorded_attributes(&mut self) -> Vec<Slot> {
        let evaluated = self.tree.evaluated.take().unwrap_or_default();
        let slots = evaluated.into_inner();
        slots.into_iter().filter(|slot| self.tree.is_readable(*slot)).collect()
    }

    /// The tree itself.
    pub(crate) fn tree_mut(&mut self) -> &mut Tree {
        &mut self.tree
    }
}

/// A stack for readers.
#[derive(Clone, Copy)]
pub struct StackView<'v> {
    tree: &'v Tree,
    key: StackKey,
}

/// An output of a stack.
#[derive(Clone, Debug)]
pub struct OutputView {
    /// Its name.
    pub name: Arc<str>,
    /// Its description.
    pub description: Value,
    /// Its value, or why it has none.
    pub value: Result<Value, String>,
}

/// A resource for readers.
#[derive(Clone, Debug)]
pub struct ResourceView {
    /// Its name, type, state, physical id and times.
    pub summary: ResourceSummary,
    /// The resources of the stack that need it.
    pub required_by: Vec<Arc<str>>,
    /// Its description in the template.
    pub description: Option<Arc<str>>,
    /// Its nested stack: name and id.
    pub nested: Option<(Arc<str>, StackId)>,
    /// Its record; `None` if it is only in the template yet.
    slot: Option<Slot>,
}

impl ResourceView {
    /// Whether its service gave it this id. A hidden id is none that a reader can name: the answer would confirm a guess.
    pub fn has_physical_id(&self, id: &str) -> bool {
        self.summary.physical_id.as_ref().is_some_and(|it| !it.is_hidden() && **it.text() == *id)
    }
}

impl<'v> StackView<'v> {
    fn blueprint(&self) -> Option<&'v Blueprint> {
        self.tree.stack(self.key).blueprint.as_deref()
    }

    /// Its id.
    pub fn id(&self) -> StackId {
        self.tree.stack(self.key).id
    }

    /// Its name, state, times and tags.
    pub fn summary(&self) -> &'v StackSummary {
        &self.tree.stack(self.key).summary
    }

    /// Its name.
    pub fn name(&self) -> &'v Arc<str> {
        &self.tree.stack(self.key).summary.name
    }

    /// The resource that it is nested in.
    pub fn parent_resource(&self) -> Option<&'v Arc<str>> {
        let (_, slot) = self.tree.stack(self.key).parent_resource?;
        Some(&self.tree.resource(slot).summary.name)
    }

    /// The description of its template.
    pub fn description(&self) -> Option<Value> {
        self.blueprint()?.definition.template.description.clone()
    }

    /// Its settings besides the recipe.
    pub fn settings(&self) -> StackSettings {
        let stack = self.tree.stack(self.key);
        StackSettings {
            tags: Some(stack.summary.tags.clone()),
            // An action on a nested stack ends with that of the root.
            timeout: stack.timeout.or(self.tree.stack(self.tree.root_key()).timeout),
            is_rolled_back: Some(stack.is_rolled_back),
            ..StackSettings::default()
        }
    }

    /// Its parameters, as they are shown.
    pub fn parameters(&self) -> IndexMap<Arc<str>, String> {
        self.blueprint().map(|it| it.definition.parameters.display_values()).unwrap_or_default()
    }

    /// Its parameters bound to their values.
    pub fn bound(&self) -> Option<&'v kiln_template::parameters::Parameters> {
        Some(&self.blueprint()?.definition.parameters)
    }

    /// Its template, as data.
    pub fn template(&self) -> Value {
        crate::export::template(&self.tree.stack(self.key).recipe.template)
    }

    /// Its recipe.
    pub fn recipe(&self) -> &'v Arc<crate::blueprint::Recipe> {
        &self.tree.stack(self.key).recipe
    }

    /// The text of its template; `None` if a resource type made the template.
    pub(crate) fn template_text(&self) -> Option<Arc<str>> {
        match &self.tree.stack(self.key).recipe.template {
            Source::Text(text) | Source::File(_, text) => Some(text.clone()),
            Source::Made(_) | Source::Nothing => None,
        }
    }

    /// Its environment, as it is shown.
    pub fn environment(&self) -> Value {
        let recipe = &self.tree.stack(self.key).recipe;
        let Some(blueprint) = self.blueprint() else { return recipe.environment.to_value() };
        let hidden = self.hidden_parameters();
        let is_hidden = |name: &str| hidden.contains(name);
        let resources = blueprint.definition.resources();
        let types = resources.map(|(_, resource)| &*resource.type_name.value);
        recipe.environment.describe(&is_hidden, &blueprint.registry, types)
    }

    /// The names of the parameters, here or below, that are never shown.
    fn hidden_parameters(&self) -> std::collections::BTreeSet<Arc<str>> {
        let stacks = self.tree.stacks.iter().flatten();
        let blueprints = stacks.filter_map(|stack| stack.blueprint.as_deref());
        let parameters = blueprints.flat_map(|it| it.definition.template.parameters.values());
        parameters.filter(|it| it.hidden).map(|it| it.name.clone()).collect()
    }

    // --- outputs ---

    /// Its outputs with their values.
    pub fn outputs(&self) -> Vec<OutputView> {
        let Some(blueprint) = self.blueprint() else { return Vec::new() };
        let names = blueprint.definition.template.outputs.keys();
        // All outputs together are no larger than what the stack may keep.
        let mut left = self.tree.config.byte_limits.tree;
        let bounded = |name: &Arc<str>| {
            if left == 0 {
                return self.output_with(name, |_| Err(OUTPUTS_TOO_LARGE.into()));
            }
            let mut output = self.output(name)?;
            if let Ok(value) = &output.value {
                let rest = left.checked_sub(value.byte_size());
                left = rest.unwrap_or(0);
                if rest.is_none() {
                    output.value = Err(OUTPUTS_TOO_LARGE.into());
                }
            }
            Some(output)
        };
        names.filter_map(bounded).collect()
    }

    /// The names and descriptions of its outputs.
    pub fn output_names(&self) -> Vec<(Arc<str>, Value)> {
        let Some(blueprint) = self.blueprint() else { return Vec::new() };
        let outputs = blueprint.definition.template.outputs.values();
        outputs.map(|it| (it.name.clone(), output_description(it))).collect()
    }

    /// An output with its value.
    pub fn output(&self, name: &str) -> Option<OutputView> {
        self.output_with(name, |name| match self.tree.scope(self.key).output(name) {
            Some(value) => value.map_err(|fault| fault.message),
            None => Ok(Value::Null),
        })
    }

    fn output_with(
        &self,
        name: &str,
        value: impl FnOnce(&str) -> Result<Value, String>,
    ) -> Option<OutputView> {
        let output = self.blueprint()?.definition.template.outputs.get(name)?;
        Some(OutputView {
            name: output.name.clone(),
            description: output_description(output),
            value: value(name),
        })
    }

    // --- resources ---

    /// Its resources: those that there are, and those that are still to come.
    pub fn resources(&self) -> Vec<ResourceView> {
        if let Some(missing) = &self.tree.missing {
            missing.record_all();
        }
        let stack = self.tree.stack(self.key);
        let definition = self.blueprint().map(|blueprint| &blueprint.definition);
        let users = definition.map(|definition| definition.graph().dependents());
        let names = stack.by_name.keys();
        let planned = definition.into_iter().flat_map(|it| it.resources());
        let missing =
            planned.map(|(_, it)| &it.name).filter(|name| !stack.by_name.contains_key(*name));
        // A stack that is gone has nothing to come.
        let missing = missing.filter(|_| stack.summary.state.action != Action::Delete);
        let names = names.chain(missing);
        names
            .filter_map(|name| self.resource_view(name, required_by(definition, &users, name)))
            .collect()
    }

    /// A resource by its name.
    pub fn resource(&self, name: &str) -> Option<ResourceView> {
        self.resources_named([name]).pop()
    }

    /// The resources of these names, as far as there are any.
    pub fn resources_named<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Vec<ResourceView> {
        let stack = self.tree.stack(self.key);
        let definition = self.blueprint().map(|blueprint| &blueprint.definition);
        let planned = definition.filter(|_| stack.summary.state.action != Action::Delete);
        let users = definition.map(|definition| definition.graph().dependents());
        let find = |name: &str| {
            if let (None, Some(missing)) = (stack.by_name.get(name), &self.tree.missing) {
                missing.record(name);
            }
            let known = stack.by_name.get_key_value(name).map(|(name, _)| name);
            let name = known.or_else(|| planned?.resource(name).map(|it| &it.name))?;
            self.resource_view(name, required_by(definition, &users, name))
        };
        names.into_iter().filter_map(find).collect()
    }

    fn resource_view(&self, name: &Arc<str>, required_by: Vec<Arc<str>>) -> Option<ResourceView> {
        let planned = self.blueprint().and_then(|it| it.definition.resource(name));
        let description = planned.and_then(|resource| resource.description.clone());
        let Some(slot) = self.tree.current(self.key, name) else {
            let created = self.tree.stack(self.key).summary.created;
            let type_name = planned?.type_name.value.clone();
            let state = State::new(Action::Init, Status::Complete);
            return Some(ResourceView {
                summary: ResourceSummary::new(name.clone(), type_name, state, created),
                required_by,
                description,
                nested: None,
                slot: None,
            });
        };
        let resource = self.tree.resource(slot);
        let nested = resource.child.map(|child| {
            let stack = self.tree.stack(child);
            (stack.summary.name.clone(), stack.id)
        });
        Some(ResourceView {
            summary: ResourceSummary {
                type_name: written_type(resource, planned),
                physical_id: self.physical_id(resource),
                ..resource.summary.clone()
            },
            required_by,
            description,
            nested,
            slot: Some(slot),
        })
    }

    fn physical_id(&self, resource: &Resource) -> Option<PhysicalId> {
        let stack = |child| PhysicalId::new(self.tree.stack(child).id.to_string());
        let nested = resource.child.map(stack);
        resource.summary.physical_id.clone().or(nested)
    }

    /// The stack nested in a resource.
    pub fn nested(&self, resource: &ResourceView) -> Option<StackView<'v>> {
        let child = self.tree.resource(resource.slot?).child?;
        Some(StackView { tree: self.tree, key: child })
    }

    /// Records that more of a resource is needed than lists show.
    fn need_body(&self) {
        if let Some(missing) = &self.tree.missing {
            missing.record_body();
        }
    }

    /// The reference of a resource.
    pub fn reference(&self, resource: &ResourceView) -> Option<Value> {
        self.need_body();
        resource.slot.map(|slot| self.tree.reference(slot))
    }

    /// The metadata of a resource.
    pub fn metadata(&self, resource: &ResourceView) -> Value {
        self.need_body();
        let Some(slot) = resource.slot else { return Value::Map(Arc::default()) };
        match self.tree.resolve_metadata(slot) {
            Value::Null => Value::Map(Arc::default()),
            metadata => metadata,
        }
    }

    /// Checks that a resource understands a signal.
    pub fn check_signal_details(
        &self,
        resource: &ResourceView,
        details: &Value,
    ) -> Result<(), String> {
        self.need_body();
        let signal =
            self.builtin(resource).and_then(|resource_type| resource_type.behaviour.signal);
        let (Some(slot), Some(on_signal)) = (resource.slot, signal) else { return Ok(()) };
        let signal = Signal { details, now: 0, is_busy: false };
        match self.tree.with_view(slot, "signal", |view| on_signal(view, &signal)) {
            Ok(outcome) => outcome.map(drop),
            Err(failure) => Err(failure.to_string()),
        }
    }

    /// Whether a user of the stack may read a resource: their own server, or what a policy allows them.
    pub fn may_be_read_by(&self, resource: &ResourceView, user: &str) -> bool {
        self.need_body();
        let Some(slot) = resource.slot else { return false };
        let reads_metadata = self
            .builtin(resource)
            .is_some_and(|resource_type| resource_type.behaviour.metadata.is_some());
        reads_metadata && is_user_of(self.tree.resource(slot), user)
            || self.is_allowed_by_policies(user, &resource.summary.name)
    }

    /// Whether a user of the stack may signal a resource: the one that the user was created for, or what a policy allows
    /// them. A resource that is being replaced still has its user.
    pub fn may_be_signalled_by(&self, resource: &ResourceView, user: &str) -> bool {
        self.need_body();
        let namesakes = self.tree.stack(self.key).by_name.get(&resource.summary.name);
        let mut namesakes = namesakes.into_iter().flatten();
        namesakes.any(|slot| is_user_of(self.tree.resource(*slot), user))
            || self.is_allowed_by_policies(user, &resource.summary.name)
    }

    fn is_allowed_by_policies(&self, user: &str, resource: &str) -> bool {
        self.policies_of(user)
            .is_some_and(|policies| policies.iter().all(|policy| self.allows(policy, resource)))
    }

    /// The names of the policies of one of the stack's own users; nothing if there is no such user.
    fn policies_of(&self, user: &str) -> Option<Vec<Arc<str>>> {
        if let Some(missing) = &self.tree.missing {
            missing.record_all();
        }
        let mut slots = self.tree.stack(self.key).resources.values();
        let slot = *slots.find(|slot| {
            let resource = self.tree.resource(**slot);
            &*resource.summary.type_name == IAM_USER && has_id(resource, user)
        })?;
        let properties = self.tree.properties(slot);
        let policies = properties.get("Policies").and_then(Value::as_list).unwrap_or_default();
        Some(policies.iter().filter_map(Value::as_text).cloned().collect())
    }

    /// Whether a policy of the stack names a resource.
    fn allows(&self, policy: &str, resource: &str) -> bool {
        let Some(slot) = self.tree.current(self.key, policy) else { return false };
        if &*self.tree.resource(slot).summary.type_name != ACCESS_POLICY {
            return false;
        }
        let properties = self.tree.properties(slot);
        let allowed = properties.get("AllowedResources").and_then(Value::as_list);
        let names = |it: &Value| it.as_text().is_some_and(|name| &**name == resource);
        allowed.is_some_and(|allowed| allowed.iter().any(names))
    }

    /// The id of the project of the users of its tree.
    pub fn users(&self) -> Option<&'v Arc<str>> {
        self.tree.users.as_ref().filter(|users| !users.is_empty())
    }

    /// The attributes of a resource: what its service shows, or else all that its type has; and those
    /// that are asked for besides. Credentials for servers are exposed to those who may have them.
    pub fn attributes(
        &self,
        resource: &ResourceView,
        wanted: &[Arc<str>],
        has_credentials: bool,
    ) -> Value {
        self.need_body();
        let mut members = Members::new();
        let names = self.attribute_names(resource);
        let is_handed_out =
            |name: &str| names.iter().any(|(it, is_shown)| *is_shown && &**it == name);
        let attribute = |name: &str| {
            let slot = resource.slot?;
            let value = self.tree.attribute(slot, name, &[]).ok()?;
            Some(if has_credentials && is_handed_out(name) { value.exposed() } else { value })
        };
        let attribute = |name: &str| attribute(name).unwrap_or_default();
        // A group takes any name for an attribute of its members.
        let is_nested = resource.slot.is_some_and(|it| self.tree.resource(it).child.is_some());
        // The object is shown, also where `show` is no attribute for templates.
        let object = |slot| match self.tree.attribute(slot, "show", &[]) {
            Err(_) => self.tree.resource(slot).remote.clone(),
            Ok(shown) => shown,
        };
        match resource.slot.map(object).unwrap_or_default() {
            Value::Map(shown) if !is_nested => {
                members.extend(shown.iter().map(|(k, v)| (k.clone(), v.clone())))
            }
            _ => {
                for (name, _) in &names {
                    members.insert(name.clone(), attribute(name));
                }
            }
        }
        for name in wanted {
            members.insert(name.clone(), attribute(name));
        }
        Value::Map(Arc::new(members))
    }

    /// The names of a resource's attributes, and whether they are handed out.
    fn attribute_names(&self, resource: &ResourceView) -> Vec<(Arc<str>, bool)> {
        let blueprint = self.blueprint();
        let at = blueprint.and_then(|it| it.definition.position(&resource.summary.name));
        let resource_type = blueprint.zip(at).map(|(blueprint, at)| blueprint.type_at(at).clone());
        let resource_type = resource_type.or_else(|| {
            let resource = self.tree.resource(resource.slot?);
            self.tree.config.types.get(&resource.summary.type_name).map(ResolvedType::Builtin)
        });
        let schema = resource_type.as_ref().and_then(ResolvedType::schema);
        let names = schema.map(|it| it.attributes.iter()).into_iter().flatten();
        let names = names.filter(|it| it.name != "show");
        names.map(|it| (Arc::from(&*it.name), it.is_handed_out)).collect()
    }

    /// The resource of a name or with an id of its service; an error if several have the id.
    pub(crate) fn resource_by_any_id(&self, id: &str) -> Result<Option<ResourceView>, Ambiguous> {
        let mut resources = self.resources();
        if let Some(at) = resources.iter().position(|it| &*it.summary.name == id) {
            return Ok(Some(resources.swap_remove(at)));
        }
        let mut found = resources.into_iter().filter(|it| it.has_physical_id(id));
        match (found.next(), found.next()) {
            (first, None) => Ok(first),
            (_, Some(_)) => Err(Ambiguous),
        }
    }

    /// The whole stack as one document. Hidden values are secrets in it.
    pub(crate) fn export(&self, purpose: Purpose) -> Value {
        let mut document = self.tree.export_stack(self.key, purpose);
        if let (Value::Map(document), Value::Map(mut environment)) =
            (&mut document, self.environment())
        {
            Arc::make_mut(&mut environment).shift_remove("encrypted_param_names");
            Arc::make_mut(document).insert("environment".into(), Value::Map(environment));
        }
        document
    }

    /// Whether something is being done with a resource.
    pub(crate) fn is_busy(&self, resource: &ResourceView) -> bool {
        resource.slot.is_some_and(|slot| self.tree.resource(slot).op.is_some())
    }

    /// The built-in type of a resource; nothing if it is a template.
    pub fn builtin(
        &self,
        resource: &ResourceView,
    ) -> Option<&'static kiln_resources::declare::ResourceType> {
        self.tree.config.types.get(&self.tree.resource(resource.slot?).summary.type_name)
    }

    /// The hook at which a resource waits.
    pub fn hook(&self, resource: &ResourceView) -> Option<kiln_template::environment::Hook> {
        self.tree.resource(resource.slot?).hook
    }

    /// The signals that a resource keeps.
    pub(crate) fn kept_signals(&self, resource: &ResourceView) -> crate::signal_check::KeptSignals {
        resource.slot.map(|slot| self.tree.kept_signals(slot)).unwrap_or_default()
    }

    /// The id of a resource in the record.
    pub fn resource_id(&self, resource: &ResourceView) -> Option<ResourceId> {
        resource.slot.map(|slot| self.tree.resource(slot).id)
    }
}

/// The names of the resources that need one.
fn required_by(
    definition: Option<&Definition>,
    users: &Option<Dependents>,
    name: &str,
) -> Vec<Arc<str>> {
    let (Some(definition), Some(users)) = (definition, users) else { return Vec::new() };
    let Some(at) = definition.position(name) else { return Vec::new() };
    let users = users.get(at).iter().filter_map(|at| definition.resource_at(*at));
    users.map(|it| it.name.clone()).collect()
}

/// Several resources have the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ambiguous;

fn written_type(resource: &Resource, planned: Option<&kiln_template::Resource>) -> Arc<str> {
    match (&resource.definition, planned) {
        (Some(resolved), _) => resolved.type_name.clone(),
        (None, Some(planned)) => planned.type_name.value.clone(),
        (None, None) => resource.summary.type_name.clone(),
    }
}

pub(crate) fn output_description(output: &kiln_template::Output) -> Value {
    output.description.clone().unwrap_or_else(|| "No description given".into())
}

/// Whether the object of a resource has an id.
fn has_id(resource: &Resource, id: &str) -> bool {
    resource.summary.physical_id.as_ref().is_some_and(|it| &**it.text() == id)
}

/// Whether a stack user was created for a resource.
fn is_user_of(resource: &Resource, user: &str) -> bool {
    resource.data.get(USER).and_then(Value::as_text).is_some_and(|own| &**own == user)
}
