//! A tree and its rows.

use super::conversions::{ids, resource_ids};
use super::v1::names::Word;
use super::v1::{
    CredentialBody, DefinitionBody, OperationBody, ResourceBody, SignalsBody, StackBody,
    TraversalBody,
};
use super::value::{Id, Stored, StoredMembers};
use super::{Record, Unreadable};
use crate::blueprint::Recipe;
use crate::config::Config;
use crate::ids::{RecipeId, ResourceId, SnapshotId, StackId};
use crate::machine::Traversal;
use crate::request_id::RequestId;
use crate::signal_check::KeptSignals;
use crate::snapshot::Snapshot;
use crate::state::{Action, State};
use crate::store::{Hash, ResourceRow, StackRow, StoreError, TreeRows};
use crate::tree::{HalfDone, OpId, Operation, Resource, Signals, Slot, Stack, StackKey, Tree};
use indexmap::IndexMap;
use kiln_cloud::Credential;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

// --- writing ---

impl Tree {
    pub(crate) fn stack_row(&self, key: StackKey) -> StackRow {
        let stack = self.stack(key);
        let mut body = StackBody {
            parent_resource: stack.parent_resource_id.map(|id| Id(id.0)),
            timeout_secs: stack.timeout.map(|timeout| timeout.as_secs()),
            rollback: stack.is_rolled_back,
            traversal: stack.traversal.as_ref().map(|traversal| TraversalBody {
                request: stack.request.map(|request| Id(request.0)),
                ..traversal.to_record()
            }),
            ..StackBody::default()
        };
        if stack.id == self.root {
            let has_credential = *self.credential != Credential::default();
            body.credential = has_credential.then(|| CredentialBody::from(&*self.credential));
            body.users_project = self.users.clone();
            body.makers = self.makers;
            body.to_revoke = self.to_revoke.iter().map(|it| CredentialBody::from(&**it)).collect();
        }
        StackRow {
            id: stack.id,
            root: self.root,
            parent: stack.parent_resource.map(|(parent, _)| self.stack(parent).id),
            project: self.project.clone(),
            user_name: self.user_name.clone(),
            summary: stack.summary.clone(),
            recipe: stack.recipe.id,
            previous: stack.previous.as_ref().map(|recipe| recipe.id),
            body: body.encode(),
        }
    }

    pub(crate) fn resource_row(&self, slot: Slot) -> ResourceRow {
        let resource = self.resource(slot);
        let op = resource.op.as_deref();
        // A resize has its own fields: it is not an operation that a handler carries out.
        let resizing = op.and_then(|op| op.resizing());
        let signals = self.stored_signals(slot);
        let body = ResourceBody {
            definition: resource.definition.as_deref().map(DefinitionBody::from),
            data: StoredMembers(resource.data.clone()),
            metadata: Stored(self.stored_metadata(slot)),
            signals: (signals.count > 0).then_some(SignalsBody {
                count: signals.count as u64,
                bytes: signals.bytes as u64,
            }),
            shown: Stored(resource.remote.clone()),
            requires: ids(&resource.requires),
            replaces: resource.replaces.map(|id| Id(id.0)),
            replaced_by: resource.replaced_by.map(|id| Id(id.0)),
            nested_stack: resource.child.map(|child| Id(self.stack(child).id.0)),
            doubtful: resource.is_doubtful,
            half_done: resource.half_done.is_some(),
            half_created: resource.half_done == Some(HalfDone::Create),
            attempted: StoredMembers(match &resource.half_done {
                Some(HalfDone::Update(attempted)) => attempted.clone(),
                _ => Arc::default(),
            }),
            wanted_size: resizing.map(|resizing| resizing.size as u64),
            cooldown: resizing.map(|resizing| (&resizing.cooldown).into()),
            hook: resource.hook.map(Word),
            cleared_hooks: resource.cleared.iter().copied().map(Word).collect(),
            operation: op.filter(|_| resizing.is_none()).map(OperationBody::from),
        };
        ResourceRow {
            id: resource.id,
            stack: match resource.copy_of {
                Some(snapshot) => StackId(snapshot.0),
                None => self.stack(resource.stack).id,
            },
            root: self.root,
            number: resource.number,
            summary: resource.summary.clone(),
            body: body.encode(),
        }
    }
}

// --- loading ---

impl From<SignalsBody> for KeptSignals {
    fn from(body: SignalsBody) -> KeptSignals {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        KeptSignals { count: size(body.count), bytes: size(body.bytes) }
    }
}

/// The recipes of a tree.
type Recipes = IndexMap<RecipeId, Arc<Recipe>>;

impl Tree {
    /// The tree that rows tell of; `text` gives the texts that recipes name.
    pub fn load(
        config: Arc<Config>,
        rows: TreeRows,
        text: &dyn Fn(Hash) -> Option<Arc<str>>,
    ) -> Result<Tree, StoreError> {
        let Some(root) = rows.stacks.first() else {
            let why = "it has no stacks".into();
            return Err(StoreError::Damaged { what: "a tree".into(), why });
        };
        let mut recipes = Recipes::new();
        for row in &rows.recipes {
            recipes.insert(row.id, Arc::new(Recipe::of_row(row, text)?));
        }
        let (project, user_name) = (root.project.clone(), root.user_name.clone());
        let mut tree = Tree::empty(config, root.id, project, user_name);
        tree.next_event = rows.last_event;
        let mut keys = BTreeMap::new();
        let mut holders = BTreeMap::new();
        for row in &rows.stacks {
            let body = StackBody::read(&row.body, row.id)?;
            let key = StackKey(tree.stacks.len() as u32);
            keys.insert(row.id, key);
            if let Some(holder) = body.parent_resource {
                holders.insert(ResourceId(holder.0), key);
            }
            let stack = tree.load_stack(row, body, &recipes);
            let stack = stack.map_err(|error| error.of(StackBody::NAME, row.id))?;
            tree.active_traversals += usize::from(stack.traversal.is_some());
            tree.stacks.push(Some(stack));
            tree.count_stack_bytes(key);
        }
        for row in rows.snapshots {
            let id = row.id;
            tree.snapshots.insert(id, Snapshot::of_row(row)?);
            tree.count_snapshot_bytes(id);
        }
        tree.load_resources(rows.resources, &keys, &holders)?;
        Ok(tree)
    }

    fn load_stack(
        &mut self,
        row: &StackRow,
        body: StackBody,
        recipes: &Recipes,
    ) -> Result<Stack, Unreadable> {
        let recipe = |id: RecipeId| {
            let missing = || Unreadable::malformed(format!("its recipe {id} is not there"));
            recipes.get(&id).cloned().ok_or_else(missing)
        };
        if row.id == self.root {
            self.credential = Arc::new(body.credential.map(Into::into).unwrap_or_default());
            self.to_revoke = body.to_revoke.into_iter().map(|it| Arc::new(it.into())).collect();
            self.users = body.users_project;
            self.makers = body.makers;
        }
        let request = body.traversal.as_ref().and_then(|traversal| traversal.request.as_ref());
        let request = request.map(|id| RequestId(id.0));
        let traversal = body.traversal.map(|traversal| Box::new(Traversal::from_record(traversal)));
        let mut summary = row.summary.clone();
        if super::is_parked(row) {
            // The tree could not be read before, and goes on from where it was.
            let under_way = traversal.as_ref().map(|traversal| traversal.action);
            (summary.state, summary.reason) = super::state_before_parking(row, under_way);
            self.changes.stacks.insert(StackKey(self.stacks.len() as u32));
        }
        Ok(Stack {
            parent_resource_id: body.parent_resource.map(|id| ResourceId(id.0)),
            timeout: body.timeout_secs.map(Duration::from_secs),
            is_rolled_back: body.rollback,
            previous: row.previous.map(recipe).transpose()?,
            traversal,
            request,
            ..Stack::new(row.id, summary, recipe(row.recipe)?)
        })
    }

    pub(crate) fn empty(
        config: Arc<Config>,
        root: StackId,
        project: Arc<str>,
        user_name: Arc<str>,
    ) -> Tree {
        Tree {
            config,
            root,
            project,
            user_name,
            credential: Arc::default(),
            users: None,
            to_revoke: Vec::new(),
            makers: 0,
            stacks: Vec::new(),
            resources: Vec::new(),
            free_slots: Vec::new(),
            snapshots: BTreeMap::new(),
            copies: BTreeMap::new(),
            resource_count: 0,
            announced: 0,
            kept_bytes: Default::default(),
            ops: BTreeMap::new(),
            next_op: 0,
            next_number: 0,
            next_event: 0,
            templates: Default::default(),
            changes: Default::default(),
            outbox: Default::default(),
            next_schedule: 0,
            active_traversals: 0,
            observed: Default::default(),
            evaluated: None,
            missing: None,
            moment: None,
        }
    }

    /// Adds resources of the root to a tree without nested stacks.
    pub(crate) fn add_rows(&mut self, rows: Vec<ResourceRow>) -> Result<(), StoreError> {
        let keys = BTreeMap::from([(self.root, self.root_key())]);
        self.load_resources(rows, &keys, &BTreeMap::new())
    }

    fn load_resources(
        &mut self,
        rows: Vec<ResourceRow>,
        keys: &BTreeMap<StackId, StackKey>,
        holders: &BTreeMap<ResourceId, StackKey>,
    ) -> Result<(), StoreError> {
        for row in rows {
            // Only what is in the other columns may have been read.
            let body = match row.body.as_slice() {
                [] => ResourceBody::default(),
                body => ResourceBody::read(body, row.id)?,
            };
            let snapshot = Some(SnapshotId(row.stack.0));
            let copy_of = snapshot.filter(|id| self.snapshots.contains_key(id));
            let stack = keys.get(&row.stack).copied().or(copy_of.map(|_| self.root_key()));
            let Some(stack) = stack else { continue };
            let id = row.id;
            let child = holders.get(&id).copied();
            let loaded = self.load_resource(row, body, stack, copy_of, child);
            loaded.map_err(|error| error.of(ResourceBody::NAME, id))?;
        }
        for key in (0..self.stacks.len() as u32).map(StackKey) {
            // Every stack comes after the one it is nested in.
            if let Some((parent, _)) = self.stack(key).parent_resource {
                self.stack_mut(key).depth = self.stack(parent).depth + 1;
            }
            self.sort_candidates(key);
        }
        Ok(())
    }

    fn load_resource(
        &mut self,
        row: ResourceRow,
        mut body: ResourceBody,
        stack: StackKey,
        copy_of: Option<SnapshotId>,
        child: Option<StackKey>,
    ) -> Result<(), Unreadable> {
        self.next_number = self.next_number.max(row.number + 1);
        let half_done = half_done(row.summary.state, &mut body);
        let op = self.load_operation(&row.summary.type_name, child, &mut body)?;
        let id = op.as_ref().map(|op| op.id);
        let slot = self.insert_resource(Resource {
            id: row.id,
            stack,
            number: row.number,
            summary: row.summary,
            definition: body.definition.map(|definition| Arc::new(definition.into())),
            data: body.data.0,
            metadata: body.metadata.0,
            signals: Signals::unread(body.signals.map(Into::into).unwrap_or_default()),
            remote: body.shown.0,
            requires: resource_ids(&body.requires),
            replaces: body.replaces.map(|id| ResourceId(id.0)),
            replaced_by: body.replaced_by.map(|id| ResourceId(id.0)),
            copy_of,
            child,
            is_doubtful: body.doubtful,
            half_done,
            hook: body.hook.map(|hook| hook.0),
            cleared: body.cleared_hooks.iter().map(|hook| hook.0).collect(),
            op: op.map(Box::new),
        });
        if let Some(id) = id {
            self.ops.insert(id, slot);
            self.stack_mut(stack).busy += 1;
        }
        if let Some(child) = child {
            self.stack_mut(child).parent_resource = Some((stack, slot));
        }
        Ok(())
    }

    /// The operation on a resource.
    fn load_operation(
        &mut self,
        type_name: &str,
        child: Option<StackKey>,
        body: &mut ResourceBody,
    ) -> Result<Option<Operation>, Unreadable> {
        self.next_op += 1;
        let id = OpId(self.next_op);
        if let Some(operation) = body.operation.take() {
            let is_nested = child.is_some() || self.is_nested_type(type_name);
            return operation.into_operation(id, is_nested).map(Some);
        }
        let Some(size) = body.wanted_size else { return Ok(None) };
        let size =
            usize::try_from(size).map_err(|_| Unreadable::malformed("its size is too large"))?;
        let cooldown = body.cooldown.take().map(Into::into).unwrap_or_default();
        Ok(Some(Operation::resize(id, size, cooldown)))
    }
}

/// What a failed operation may have left undone. Earlier versions did not record which operation it was.
fn half_done(state: State, body: &mut ResourceBody) -> Option<HalfDone> {
    let attempted = std::mem::take(&mut body.attempted.0);
    match body.half_done {
        false => None,
        true if body.half_created => Some(HalfDone::Create),
        true if !attempted.is_empty() => Some(HalfDone::Update(attempted)),
        true if state.action == Action::Create => Some(HalfDone::Create),
        true => Some(HalfDone::Unknown),
    }
}
