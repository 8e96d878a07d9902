//! Snapshots: taking, restoring and deleting them.
//!
//! A copy of an object is a resource of its own, which is in no template and which no reader sees: its record exists
//! before the copy does, so that after a crash the copy can be found by its name and removed.

use super::Machine;
use super::operations::OperationSpec;
use super::reached::Transition;
use super::traversal::{Objects, StackFailure, TraversalSpec};
use crate::blueprint::{Recipe, Source};
use crate::export::Purpose;
use crate::failure::Failure;
use crate::ids::{RecipeId, ResourceId, SnapshotId};
use crate::snapshot::Snapshot;
use crate::state::{Action, State, Status};
use crate::summary::ResourceSummary;
use crate::tree::{Env, Operation, Origin, Resource, Slot, StackKey, Tree};
use kiln_resources::behaviour::{OperationKind, SnapshotRecord};
use kiln_resources::guard::guarded;
use kiln_template::environment::Environment;
use kiln_template::{DeletionPolicy, Files, Members, Value};
use std::sync::Arc;

const MADE: State = State::new(Action::Create, Status::Complete);

impl Machine {
    // --- taking ---

    pub(crate) fn take_snapshot(
        &mut self,
        env: &mut Env<'_>,
        id: SnapshotId,
        name: Option<Arc<str>>,
        limit: Option<u64>,
    ) {
        let key = self.tree.root_key();
        let stack = self.tree.stack(key);
        if stack.summary.deleted.is_some() || self.tree.snapshots.contains_key(&id) {
            return;
        }
        if limit.is_some_and(|limit| self.tree.snapshots.len() as u64 >= limit) {
            // Other commands were quicker: the service finds no snapshot and reports the quota.
            return self.reached.hit(Transition::SnapshotRefused);
        }
        let text = match &stack.recipe.template {
            Source::Text(text) => Some(text.clone()),
            _ => None,
        };
        let Value::Map(data) = self.tree.export_with(key, Members::new()) else {
            return self.unexpected(key, "a stack is not a document");
        };
        let state = State::new(Action::Create, Status::InProgress);
        let snapshot = Snapshot { name, state, reason: "".into(), created: env.now, data, text };
        self.tree.snapshots.insert(id, snapshot);
        self.tree.count_snapshot_bytes(id);
        self.tree.changes.snapshots.insert(id);
        let stack = self.tree.stack(key);
        if stack.traversal.is_some() {
            // Another command was quicker: the snapshot, whose id the user knows, says so.
            let reason = format!(
                "Stack {} already has an action ({}) in progress.",
                stack.summary.name, stack.summary.state.action
            );
            self.reached.hit(Transition::SnapshotRefused);
            return self.finish_snapshot(key, Some(id), Err(&reason));
        }
        if let Err(reason) = self.tree.check_snapshot_size() {
            self.reached.hit(Transition::SnapshotRefused);
            return self.finish_snapshot(key, Some(id), Err(&reason));
        }
        let spec = TraversalSpec::new(Action::Snapshot, None);
        self.begin_traversal(env, key, TraversalSpec { snapshot: Some(id), ..spec });
        self.enter_phase(env, key);
    }

    /// Ends the snapshot that a traversal has taken, if it has taken one.
    pub(crate) fn finish_snapshot(
        &mut self,
        key: StackKey,
        id: Option<SnapshotId>,
        result: Result<&str, &str>,
    ) {
        let Some(id) = id else { return };
        let resources = match result {
            Ok(_) => Some(self.tree.export_resources(key, Purpose::Snapshot)),
            Err(_) => None,
        };
        let Some(snapshot) = self.tree.snapshots.get_mut(&id) else { return };
        if result.is_err() {
            self.reached.hit(Transition::SnapshotFailed);
        }
        snapshot.state.status = if result.is_ok() { Status::Complete } else { Status::Failed };
        snapshot.reason = result.unwrap_or_else(|reason| reason).into();
        if let Some(resources) = resources {
            let data = Arc::make_mut(&mut snapshot.data);
            data.insert("resources".into(), Value::Map(Arc::new(resources)));
        }
        self.tree.count_snapshot_bytes(id);
        self.tree.changes.snapshots.insert(id);
    }

    // --- copies ---

    /// Adds the record of a copy that is about to be made; returns the snapshot that it is made for.
    pub(crate) fn add_copy_record(&mut self, env: &mut Env<'_>, slot: Slot) -> Option<SnapshotId> {
        let resource = self.tree.resource(slot);
        let resource_type = self.tree.config.types.get(&resource.summary.type_name);
        let is_copied = resource_type
            .is_some_and(|resource_type| resource_type.behaviour.delete_snapshot.is_some());
        let snapshot = self.tree.stack(resource.stack).traversal.as_ref()?.snapshot;
        let snapshot = snapshot.filter(|_| is_copied && resource.summary.physical_id.is_some())?;
        if self.tree.copies.contains_key(&(snapshot, resource.summary.name.clone())) {
            return Some(snapshot);
        }
        let copy = Resource {
            definition: resource.definition.clone(),
            // The copy may have to be found before the reply to its creation arrives.
            data: resource.data.clone(),
            copy_of: Some(snapshot),
            is_doubtful: true,
            ..Resource::new(
                ResourceId(env.ids.next()),
                resource.stack,
                ResourceSummary {
                    state: State::new(Action::Snapshot, Status::Complete),
                    reason: "".into(),
                    created: env.now,
                    updated: env.now,
                    ..resource.summary.clone()
                },
            )
        };
        self.tree.add_resource(copy);
        Some(snapshot)
    }

    /// A copy was made: its record keeps the data of the resource, which its removal will need.
    pub(crate) fn copy_made(&mut self, slot: Slot, op: &Operation) {
        let resource = self.tree.resource(slot);
        let (data, name) = (resource.data.clone(), resource.summary.name.clone());
        let snapshot = op.handler().and_then(|run| run.snapshot);
        let copy = snapshot.and_then(|snapshot| self.tree.copies.get(&(snapshot, name)).copied());
        if let Some(copy) = copy {
            self.reached.hit(Transition::CopyMade);
            let copy = self.tree.change(copy);
            copy.data = data;
            copy.is_doubtful = false;
        }
    }

    // --- deleting ---

    pub(crate) fn delete_snapshot(&mut self, env: &mut Env<'_>, id: SnapshotId) {
        let traversal = self.tree.stack(self.tree.root_key()).traversal.as_ref();
        let is_leaving = traversal.is_some_and(|traversal| traversal.action == Action::Delete);
        let Some(snapshot) = self.tree.snapshots.get(&id) else { return };
        if is_leaving || snapshot.state.status == Status::InProgress {
            return;
        }
        self.mark_snapshot_deleting(id);
        for slot in self.tree.copies_of(id) {
            self.put_operation(
                slot,
                Origin::Detached,
                OperationKind::DeleteSnapshot,
                Action::Delete,
            );
            self.dispatch(env, slot);
        }
        self.drop_snapshot_if_empty(id);
    }

    /// Deletes all snapshots, since the stack is deleted.
    pub(crate) fn delete_snapshots(&mut self) {
        let ids: Vec<SnapshotId> = self.tree.snapshots.keys().copied().collect();
        for id in ids {
            self.mark_snapshot_deleting(id);
            self.drop_snapshot_if_empty(id);
        }
    }

    fn mark_snapshot_deleting(&mut self, id: SnapshotId) {
        if let Some(snapshot) = self.tree.snapshots.get_mut(&id) {
            snapshot.state = State::new(Action::Delete, Status::InProgress);
            snapshot.reason = "".into();
            self.tree.changes.snapshots.insert(id);
        }
    }

    /// Drops a snapshot that is being deleted, once it has no copies.
    fn drop_snapshot_if_empty(&mut self, id: SnapshotId) {
        let is_leaving = |it: &Snapshot| it.state.action == Action::Delete;
        if self.tree.snapshots.get(&id).is_some_and(is_leaving)
            && self.tree.copies_of(id).is_empty()
        {
            self.tree.snapshots.remove(&id);
            self.tree.count_snapshot_bytes(id);
            self.tree.changes.snapshots.remove(&id);
            self.tree.changes.dropped_snapshots.push(id);
        }
    }

    /// Removes a copy as a part of deleting the whole stack.
    pub(crate) fn start_copy_removal(&mut self, env: &mut Env<'_>, slot: Slot, node: usize) {
        let (kind, action) = (OperationKind::DeleteSnapshot, Action::Delete);
        let start = OperationSpec { kind, action, node, target: None, requires: Vec::new() };
        self.start_operation(env, slot, start);
    }

    /// A copy was removed.
    pub(crate) fn copy_removed(&mut self, slot: Slot, op: &Operation) {
        self.reached.hit(Transition::CopyRemoved);
        let snapshot = self.tree.resource(slot).copy_of;
        self.removed(slot, op);
        if let Some(id) = snapshot {
            self.drop_snapshot_if_empty(id);
        }
    }

    /// A copy could not be removed.
    pub(crate) fn copy_not_removed(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        op: &Operation,
        why: &str,
    ) {
        self.reached.hit(Transition::CopyNotRemoved);
        self.tree.set_state(env, slot, State::new(Action::Delete, Status::Failed), why);
        let resource = self.tree.change(slot);
        resource.is_doubtful |= op.is_doubtful();
        let (key, snapshot) = (resource.stack, resource.copy_of);
        let traversal = self.tree.stack(key).traversal.as_ref();
        let is_own = self.tree.own_node(key, op).is_some();
        let is_leaving = traversal.is_some_and(|traversal| traversal.action == Action::Delete);
        if let Some(id) = snapshot
            && let Some(snapshot) =
                self.tree.snapshots.get_mut(&id).filter(|_| !is_leaving || is_own)
        {
            snapshot.state = State::new(Action::Delete, Status::Failed);
            snapshot.reason = why.into();
            self.tree.changes.snapshots.insert(id);
        }
        if is_own && !op.is_stopping {
            let reason = format!("Snapshot deletion failed: {why}");
            self.fail_traversal(env, key, StackFailure::new(reason));
        }
        self.release_waiters(key, slot, op, false);
    }

    // --- restoring ---

    pub(crate) fn restore(&mut self, env: &mut Env<'_>, id: SnapshotId) {
        let key = self.tree.root_key();
        if self.tree.stack(key).summary.state.action == Action::Delete {
            return;
        }
        let Some(snapshot) = self.tree.snapshots.get(&id).filter(|it| it.state == MADE).cloned()
        else {
            return;
        };
        let restored = self.tree.restored_template(&snapshot);
        let (restored, failure) = match restored {
            Ok(restored) => (restored, None),
            Err(failure) => (None, Some(failure)),
        };
        let recipe = Recipe {
            // A restore gives its user no more rights than an update.
            forbidden: self.tree.stack(key).recipe.forbidden.clone(),
            contract: None,
            created_by: self.tree.stack(key).recipe.created_by.clone(),
            ..recipe_of(&snapshot, restored, RecipeId(env.ids.next()))
        };
        let recipe = Some(Arc::new(recipe));
        self.begin_traversal(env, key, TraversalSpec::new(Action::Restore, recipe));
        // As in Heat, the tags of the snapshot are not restored, and the present ones are dropped.
        self.tree.stack_mut(key).summary.tags.clear();
        match failure {
            Some(failure) => self.node_failed(env, key, Action::Restore, failure),
            None => self.bind_and_start(env, key),
        }
    }
}

impl Tree {
    /// The record of the copy that is being made of a resource's object.
    fn copy_being_made(&self, slot: Slot) -> Option<Slot> {
        let resource = self.resource(slot);
        let snapshot = resource.op.as_ref()?.handler()?.snapshot?;
        self.copies.get(&(snapshot, resource.summary.name.clone())).copied()
    }

    /// Whether a copy is still being made.
    pub(crate) fn is_being_copied(&self, copy: Slot) -> bool {
        let copy = self.resource(copy);
        let originals = self.stack(copy.stack).by_name.get(&copy.summary.name);
        let mut ops =
            originals.into_iter().flatten().filter_map(|it| self.resource(*it).op.as_ref());
        ops.any(|op| {
            let snapshot = op.handler().and_then(|run| run.snapshot);
            snapshot.is_some() && snapshot == copy.copy_of
        })
    }

    /// Whether the copies of an abandoned stack stay.
    pub(crate) fn abandons_copies(&self, copy: Slot) -> bool {
        let traversal = self.stack(self.resource(copy).stack).traversal.as_ref();
        traversal.is_some_and(|it| it.objects == Objects::Keep && it.action == Action::Delete)
    }

    /// The name of the copy that an operation makes or removes. A copy that is made before an object is removed
    /// has the object's name.
    pub(crate) fn copy_name(&self, slot: Slot) -> String {
        self.physical_name(self.copy_being_made(slot).unwrap_or(slot))
    }

    /// Whether a copy of a resource's object is made before it is removed: not of a failed one.
    pub(crate) fn is_copied_first(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        let is_kept = self
            .stack(resource.stack)
            .traversal
            .as_ref()
            .is_some_and(|traversal| traversal.objects == Objects::Keep);
        let policy = resource.definition.as_ref().map(|resolved| resolved.deletion_policy);
        policy == Some(DeletionPolicy::Snapshot)
            && resource.summary.state.status != Status::Failed
            && !is_kept
    }

    fn copies_of(&self, id: SnapshotId) -> Vec<Slot> {
        let from = (id, Arc::from(""));
        let copies = self.copies.range(from..).take_while(|((snapshot, _), _)| *snapshot == id);
        copies.map(|(_, slot)| *slot).collect()
    }

    /// The template with the properties that resources need to be created from copies; `None` if it does not
    /// change.
    fn restored_template(&self, snapshot: &Snapshot) -> Result<Option<Value>, Failure> {
        let map =
            |members: &Members, name: &str| members.get(name).and_then(Value::as_map).cloned();
        let (Some(mut template), Some(saved)) =
            (map(&snapshot.data, "template"), map(&snapshot.data, "resources"))
        else {
            return Ok(None);
        };
        let (section, word) = match template.contains_key("Resources") {
            true => ("Resources", "Properties"),
            false => ("resources", "properties"),
        };
        let Some(mut resources) = map(&template, section) else { return Ok(None) };
        let mut is_changed = false;
        for (name, entry) in saved.iter().filter_map(|(name, it)| Some((name, it.as_map()?))) {
            let resource_type = entry.get("type").and_then(Value::as_text);
            let resource_type =
                resource_type.and_then(|resource_type| self.config.types.get(resource_type));
            let restore = resource_type.and_then(|resource_type| resource_type.behaviour.restore);
            let definition = resources.get(name).and_then(Value::as_map).cloned();
            let (Some(restore), Some(mut definition)) = (restore, definition) else { continue };
            let given = definition.get(word).and_then(Value::as_map).cloned();
            let mut properties = given.unwrap_or_default();
            let data = entry.get("resource_data").and_then(Value::as_map);
            let physical_id = entry.get("resource_id").map(Value::exposed);
            let nothing = Members::new();
            let physical_id = physical_id.as_ref().and_then(Value::as_text).map(|id| &**id);
            let saved = SnapshotRecord { physical_id, data: data.unwrap_or(&nothing) };
            guarded("restore", || restore(&mut properties, &saved))
                .map_err(|failure| Failure::of(name, failure))?;
            definition.insert(word.into(), Value::Map(Arc::new(properties)));
            resources.insert(name.clone(), Value::Map(Arc::new(definition)));
            is_changed = true;
        }
        template.insert(section.into(), Value::Map(Arc::new(resources)));
        Ok(is_changed.then(|| Value::Map(Arc::new(template))))
    }
}

/// The recipe of a restore: resources of which there are copies are created from them.
fn recipe_of(snapshot: &Snapshot, restored: Option<Value>, id: RecipeId) -> Recipe {
    let part = |name: &str| snapshot.data.get(name).cloned().unwrap_or_default();
    let template = match (restored, &snapshot.text, part("template")) {
        (Some(template), _, _) => Source::Made(template),
        (None, Some(text), _) => Source::Text(text.clone()),
        (None, None, Value::Map(template)) if template.is_empty() => Source::Nothing,
        (None, None, template) => Source::Made(template),
    };
    let files = part("files");
    let files = files.as_map().into_iter().flatten();
    let files = files.filter_map(|(name, text)| Some((name.clone(), text.as_text()?.clone())));
    let (environment, _) = Environment::from_value(&part("environment"));
    Recipe {
        template,
        files: Arc::new(files.collect::<Files>()),
        environment: Arc::new(environment),
        ..Recipe::nothing(id)
    }
}
