//! A tree as rows, and back.

use crate::blueprint::Recipe;
use crate::codec;
use crate::config::Config;
use crate::ids::{ResourceId, SnapshotId, StackId};
use crate::machine::Traversal;
use crate::snapshot::Snapshot;
use crate::store::{Hash, ResourceRow, StackRow, StoreError, TreeRows};
use crate::time::Time;
use crate::tree::{OpId, Operation, Pause, Resource, Slot, Stack, StackKey, Tree};
use indexmap::IndexMap;
use kiln_cloud::Credential;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::{Failure, Journal, Step};
use kiln_resources::scaling::Cooldown;
use kiln_template::environment::Hook;
use kiln_template::resolved::ResolvedDefinition;
use kiln_template::template::DeletionPolicy;
use kiln_template::value::{Members, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The parts of a body that was read.
struct Body(Arc<Members>);

impl Body {
    fn read(bytes: &[u8], what: impl FnOnce() -> String) -> Result<Body, StoreError> {
        match codec::decode(bytes) {
            Ok(Value::Map(members)) => Ok(Body(members)),
            _ => Err(StoreError::Damaged { what: what(), why: "its body is not a map".into() }),
        }
    }

    fn get(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_default()
    }

    fn text(&self, name: &str) -> Option<Arc<str>> {
        self.0.get(name).and_then(Value::as_text).cloned()
    }

    fn number(&self, name: &str) -> Option<i64> {
        number(self.0.get(name)?)
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(Value::Bool(true)))
    }

    fn map(&self, name: &str) -> Option<Body> {
        match self.0.get(name) {
            Some(Value::Map(members)) => Some(Body(members.clone())),
            _ => None,
        }
    }

    fn list(&self, name: &str) -> Vec<Value> {
        self.0.get(name).and_then(Value::as_list).unwrap_or_default().to_vec()
    }

    fn id(&self, name: &str) -> Option<ResourceId> {
        resource_id(self.0.get(name)?)
    }

    fn ids(&self, name: &str) -> Vec<ResourceId> {
        self.list(name).iter().filter_map(resource_id).collect()
    }
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => number.as_i64(),
        _ => None,
    }
}

fn resource_id(value: &Value) -> Option<ResourceId> {
    Uuid::parse_str(value.as_text()?).ok().map(ResourceId)
}

fn id_value(id: ResourceId) -> Value {
    Value::from(id.0.as_simple().to_string())
}

/// A map of what is out of the ordinary: nulls, falses and empty lists are left out.
fn sparse<const N: usize>(parts: [(&'static str, Value); N]) -> Value {
    let is_said = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::List(items) => !items.is_empty(),
        Value::Map(members) => !members.is_empty(),
        _ => true,
    };
    Value::map(parts.into_iter().filter(|(_, value)| is_said(value)))
}

// --- stacks ---

impl Tree {
    pub(crate) fn stack_row(&self, key: StackKey) -> StackRow {
        let stack = self.stack(key);
        let holder = stack.parent_resource_id.map(id_value);
        let body = sparse([
            ("holder", holder.unwrap_or_default()),
            (
                "timeout",
                stack.timeout.map(|it| Value::from(it.as_secs() as i64)).unwrap_or_default(),
            ),
            ("rollback", stack.is_rolled_back.into()),
            ("credential", self.credential_value(stack)),
            ("users", self.users_value(stack)),
            ("retired", self.retired_value(stack)),
            ("work", stack.traversal.as_ref().map(|walk| walk.to_value()).unwrap_or_default()),
        ]);
        StackRow {
            id: stack.id,
            root: self.root,
            parent: stack.parent_resource.map(|(parent, _)| self.stack(parent).id),
            project: self.project.clone(),
            name: stack.name.clone(),
            user_name: self.user_name.clone(),
            state: stack.state,
            reason: stack.reason.clone(),
            created: stack.created,
            updated: stack.updated,
            deleted: stack.deleted,
            tags: stack.tags.clone(),
            recipe: stack.recipe.id,
            previous: stack.previous.as_ref().map(|recipe| recipe.id),
            body: codec::encode(&body),
        }
    }

    /// The root stack keeps in whose name the tree's calls are made.
    fn credential_value(&self, stack: &Stack) -> Value {
        match stack.id == self.root && *self.credential != Credential::default() {
            true => Value::from(self.credential.to_stored().to_string()),
            false => Value::Null,
        }
    }

    /// The root stack keeps where the tree's users are.
    fn users_value(&self, stack: &Stack) -> Value {
        let users = self.users.clone().filter(|_| stack.id == self.root);
        users.map(Value::Text).unwrap_or_default()
    }

    /// And what it has yet to give back.
    fn retired_value(&self, stack: &Stack) -> Value {
        match stack.id == self.root && !self.to_revoke.is_empty() {
            true => Value::list(self.to_revoke.iter().map(|it| it.to_stored().to_string().into())),
            false => Value::Null,
        }
    }

    pub(crate) fn resource_row(&self, slot: Slot) -> ResourceRow {
        let resource = self.resource(slot);
        let child = resource.child.map(|child| Value::from(self.stack(child).id.to_string()));
        let body = sparse([
            ("frozen", resource.definition.as_deref().map(frozen_value).unwrap_or_default()),
            ("data", Value::Map(resource.data.clone())),
            ("metadata", resource.metadata.clone()),
            ("shown", resource.remote.clone()),
            ("requires", Value::list(resource.requires.iter().copied().map(id_value))),
            ("replaces", resource.replaces.map(id_value).unwrap_or_default()),
            ("replaced_by", resource.replaced_by.map(id_value).unwrap_or_default()),
            ("child", child.unwrap_or_default()),
            ("doubtful", resource.is_doubtful.into()),
            ("half_done", resource.is_half_done.into()),
            ("size", resource.wanted_size.map(|it| (it as i64).into()).unwrap_or_default()),
            ("cooldown", resource.cooldown.as_ref().map(cooldown_value).unwrap_or_default()),
            ("hook", resource.hook.map(|hook| hook.name().into()).unwrap_or_default()),
            ("cleared", Value::list(resource.cleared.iter().map(|hook| hook.name().into()))),
            ("op", resource.op.as_deref().map(op_value).unwrap_or_default()),
        ]);
        ResourceRow {
            id: resource.id,
            stack: match resource.copy_of {
                Some(snapshot) => StackId(snapshot.0),
                None => self.stack(resource.stack).id,
            },
            root: self.root,
            number: resource.number,
            name: resource.name.clone(),
            kind: resource.type_name.clone(),
            state: resource.state,
            reason: resource.reason.clone(),
            physical_id: resource.physical_id.clone(),
            created: resource.created,
            updated: resource.updated,
            body: codec::encode(&body),
        }
    }
}

fn credential_of(text: Option<&str>) -> Arc<Credential> {
    let stored = text.and_then(|text| serde_json::from_str(text).ok());
    Arc::new(stored.as_ref().map(Credential::from_stored).unwrap_or_default())
}

fn frozen_value(frozen: &ResolvedDefinition) -> Value {
    sparse([
        ("kind", Value::Text(frozen.type_name.clone())),
        ("properties", Value::Map(frozen.properties.clone())),
        ("metadata", frozen.metadata.clone()),
        ("update_policy", frozen.update_policy.clone()),
        (
            "deletion_policy",
            match frozen.deletion_policy {
                DeletionPolicy::Delete => Value::Null,
                other => other.name().into(),
            },
        ),
        ("depends_on", Value::list(frozen.depends_on.iter().cloned().map(Value::Text))),
        ("external_id", frozen.external_id.clone().map(Value::Text).unwrap_or_default()),
    ])
}

fn frozen_of(body: &Body) -> ResolvedDefinition {
    let names = body.list("depends_on");
    let properties = match body.0.get("properties") {
        Some(Value::Map(members)) => members.clone(),
        _ => Arc::default(),
    };
    ResolvedDefinition {
        type_name: body.text("kind").unwrap_or_default(),
        properties,
        metadata: body.get("metadata"),
        update_policy: body.get("update_policy"),
        deletion_policy: match body.text("deletion_policy").as_deref() {
            Some("Retain") => DeletionPolicy::Retain,
            Some("Snapshot") => DeletionPolicy::Snapshot,
            _ => DeletionPolicy::Delete,
        },
        depends_on: names.iter().filter_map(Value::as_text).cloned().collect(),
        external_id: body.text("external_id"),
    }
}

fn cooldown_value(cooldown: &Cooldown) -> Value {
    let micros = i64::try_from(cooldown.length.as_micros()).unwrap_or(i64::MAX);
    Value::list([micros.into(), cooldown.reason.as_str().into()])
}

fn cooldown_of(parts: &[Value]) -> Option<Cooldown> {
    let (micros, reason) = (number(parts.first()?)?, parts.get(1)?.as_text()?);
    let length = Duration::from_micros(u64::try_from(micros).ok()?);
    Some(Cooldown { length, reason: reason.to_string() })
}

const VERBS: [(OperationKind, &str); 11] = [
    (OperationKind::Create, "create"),
    (OperationKind::Update, "update"),
    (OperationKind::Delete, "delete"),
    (OperationKind::Check, "check"),
    (OperationKind::Refresh, "look"),
    (OperationKind::Suspend, "suspend"),
    (OperationKind::Resume, "resume"),
    (OperationKind::Snapshot, "snapshot"),
    (OperationKind::DeleteSnapshot, "forget"),
    (OperationKind::ResolveDoubt, "settle"),
    (OperationKind::Observe, "observe"),
];

fn op_value(op: &Operation) -> Value {
    let verb = VERBS.iter().find(|(verb, _)| *verb == op.kind).map_or("", |(_, name)| name);
    let failure = op.first_failure.as_ref().map(|failure| {
        Value::list([Value::Text(failure.class.clone()), failure.message.as_str().into()])
    });
    let pause = op.pause.map(|pause| match pause {
        Pause::Retry(time) => Value::list(["retry".into(), time.micros().into()]),
        Pause::Stage(time) => Value::list(["stage".into(), time.micros().into()]),
    });
    sparse([
        ("verb", verb.into()),
        ("action", op.action.name().into()),
        ("target", op.target.as_deref().map(frozen_value).unwrap_or_default()),
        ("requires", Value::list(op.requires.iter().copied().map(id_value))),
        (
            "drifted",
            match op.drifted.is_empty() {
                true => Value::Null,
                false => Value::Map(op.drifted.clone()),
            },
        ),
        ("journal", Value::list(op.journal.iter().map(|(name, step)| step_value(name, step)))),
        (
            "failures",
            match op.failures {
                0 => Value::Null,
                count => i64::from(count).into(),
            },
        ),
        ("failure", failure.unwrap_or_default()),
        ("pause", pause.unwrap_or_default()),
        ("own", op.origin.is_some().into()),
        ("snapshot", op.snapshot.map(|id| id.to_string().into()).unwrap_or_default()),
        ("copy", op.snapshot_before_delete.into()),
        ("last", op.is_last_stage.into()),
        (
            "stage_pause",
            match op.stage_pause.as_micros() {
                0 => Value::Null,
                micros => i64::try_from(micros).unwrap_or(i64::MAX).into(),
            },
        ),
        ("stages", i64::from(op.stages).into()),
    ])
}

fn step_value(name: &Arc<str>, step: &Step) -> Value {
    let name = Value::Text(name.clone());
    match step {
        Step::Begun => Value::list([name]),
        Step::Settled => Value::list([name, Value::Bool(true)]),
        Step::Refused => Value::list([name, Value::Bool(false)]),
        Step::Until(micros) => Value::list([name, Value::from(*micros)]),
        Step::Replied(reply) => {
            let body = reply.body.to_string();
            Value::list([name, i64::from(reply.status).into(), body.into()])
        }
    }
}

fn journal_of(steps: &[Value]) -> Journal {
    let mut journal = Journal::default();
    for step in steps.iter().filter_map(Value::as_list) {
        let (Some(name), when) = (step.first().and_then(Value::as_text), step.get(1)) else {
            continue;
        };
        let step = match (when.and_then(number), step.get(2).and_then(Value::as_text)) {
            (Some(status), Some(body)) => {
                let body = serde_json::from_str(body).unwrap_or_default();
                let status = u16::try_from(status).unwrap_or(0);
                Step::Replied(kiln_cloud::Reply::new(status, body))
            }
            (Some(micros), None) => Step::Until(micros),
            (None, _) => match when {
                Some(Value::Bool(false)) => Step::Refused,
                Some(_) => Step::Settled,
                None => Step::Begun,
            },
        };
        journal.set(name, step);
    }
    journal
}

fn op_of(body: &Body, id: OpId) -> Option<Operation> {
    let name = body.text("verb")?;
    let failure = body.list("failure");
    let pause = body.list("pause");
    let until = pause.get(1).and_then(number).map(Time::from_micros);
    Some(Operation {
        id,
        kind: VERBS.iter().find(|(_, verb)| *verb == &*name)?.0,
        origin: body.flag("own").then_some((Operation::INTERRUPTED, 0)),
        action: crate::state::Action::parse(&body.text("action")?)?,
        target: body.map("target").map(|body| Arc::new(frozen_of(&body))),
        requires: body.ids("requires"),
        drifted: body.map("drifted").map(|body| body.0).unwrap_or_default(),
        journal: journal_of(&body.list("journal")),
        failures: body.number("failures").and_then(|it| u32::try_from(it).ok()).unwrap_or(0),
        first_failure: match &failure[..] {
            [Value::Text(class), Value::Text(message)] => Some(Failure {
                class: class.clone(),
                message: message.to_string(),
                is_retryable: true,
            }),
            _ => None,
        },
        is_stopping: false,
        snapshot: body.text("snapshot").and_then(|id| Uuid::parse_str(&id).ok()).map(SnapshotId),
        snapshot_before_delete: body.flag("copy"),
        is_last_stage: body.flag("last"),
        stage_pause: Duration::from_micros(
            body.number("stage_pause").and_then(|it| u64::try_from(it).ok()).unwrap_or(0),
        ),
        stages: body.number("stages").and_then(|it| u32::try_from(it).ok()).unwrap_or(0),
        pause: match (pause.first().and_then(Value::as_text).map(|it| &**it), until) {
            (Some("retry"), Some(until)) => Some(Pause::Retry(until)),
            (Some("stage"), Some(until)) => Some(Pause::Stage(until)),
            _ => None,
        },
    })
}

// --- loading ---

impl Tree {
    /// The tree that rows tell of; `text` gives the texts that recipes name.
    pub fn load(
        config: Arc<Config>,
        rows: TreeRows,
        text: &dyn Fn(Hash) -> Option<Arc<str>>,
    ) -> Result<Tree, StoreError> {
        let damaged = |what: String, why: &str| StoreError::Damaged { what, why: why.into() };
        let Some(root) = rows.stacks.first() else {
            return Err(damaged("a tree".into(), "it has no stacks"));
        };
        let mut recipes = IndexMap::new();
        for row in &rows.recipes {
            recipes.insert(row.id, Arc::new(Recipe::of_row(row, text)?));
        }
        let (project, user_name) = (root.project.clone(), root.user_name.clone());
        let mut tree = Tree::empty(config, root.id, project, user_name);
        tree.next_event = rows.last_event;
        let body = Body::read(&root.body, || "a root stack".into())?;
        tree.credential = credential_of(body.text("credential").as_deref());
        let retired = body.list("retired");
        tree.to_revoke =
            retired.iter().map(|it| credential_of(it.as_text().map(|text| &**text))).collect();
        tree.users = body.text("users");
        let mut keys = BTreeMap::new();
        let mut holders = BTreeMap::new();
        for row in &rows.stacks {
            let what = || format!("stack {}", row.id);
            let body = Body::read(&row.body, what)?;
            let key = StackKey(tree.stacks.len() as u32);
            let recipe = |id| recipes.get(&id).cloned();
            let recipe_of = || damaged(what(), "its recipe is not there");
            let stack = Stack {
                id: row.id,
                name: row.name.clone(),
                parent_resource: None,
                parent_resource_id: body.id("holder"),
                depth: 0,
                state: row.state,
                reason: row.reason.clone(),
                created: row.created,
                updated: row.updated,
                deleted: row.deleted,
                tags: row.tags.clone(),
                timeout: body.number("timeout").map(|it| Duration::from_secs(it.max(0) as u64)),
                is_rolled_back: body.flag("rollback"),
                recipe: recipe(row.recipe).ok_or_else(recipe_of)?,
                previous: row.previous.and_then(recipe),
                resources: BTreeMap::new(),
                by_name: IndexMap::new(),
                busy: 0,
                blueprint: None,
                traversal: body
                    .map("work")
                    .map(|work| Box::new(Traversal::of_value(&Value::Map(work.0)))),
            };
            tree.active_traversals += usize::from(stack.traversal.is_some());
            tree.stacks.push(Some(stack));
            keys.insert(row.id, key);
            if let Some(holder) = body.id("holder") {
                holders.insert(holder, key);
            }
        }
        for row in rows.snapshots {
            tree.snapshots.insert(row.id, Snapshot::of_row(row)?);
        }
        tree.load_resources(rows.resources, &keys, &holders)?;
        Ok(tree)
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
            stacks: Vec::new(),
            resources: Vec::new(),
            free_slots: Vec::new(),
            snapshots: BTreeMap::new(),
            copies: BTreeMap::new(),
            resource_count: 0,
            ops: BTreeMap::new(),
            next_op: 0,
            next_number: 0,
            next_event: 0,
            templates: Default::default(),
            timers: BTreeSet::new(),
            changes: Default::default(),
            outbox: Default::default(),
            activity: Default::default(),
            next_traversal: 0,
            active_traversals: 0,
            queue: Default::default(),
            effects: Vec::new(),
            observed: Default::default(),
            missing: None,
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
            let what = || format!("resource {}", row.id);
            let body = match row.body.is_empty() {
                // Only what is in the other columns was read.
                true => Body(Arc::default()),
                false => Body::read(&row.body, what)?,
            };
            let snapshot = Some(SnapshotId(row.stack.0));
            let copy_of = snapshot.filter(|id| self.snapshots.contains_key(id));
            let stack = keys.get(&row.stack).copied().or(copy_of.map(|_| self.root_key()));
            let Some(stack) = stack else { continue };
            let child = holders.get(&row.id).copied();
            self.next_number = self.next_number.max(row.number + 1);
            self.next_op += 1;
            let id = OpId(self.next_op);
            let op = body.map("op").and_then(|op| op_of(&op, id)).map(Box::new);
            let has_op = op.is_some();
            let slot = self.insert_resource(Resource {
                id: row.id,
                stack,
                number: row.number,
                name: row.name,
                type_name: row.kind,
                state: row.state,
                reason: row.reason,
                physical_id: row.physical_id,
                created: row.created,
                updated: row.updated,
                definition: body.map("frozen").map(|body| Arc::new(frozen_of(&body))),
                data: body.map("data").map(|body| body.0).unwrap_or_default(),
                metadata: body.get("metadata"),
                remote: body.get("shown"),
                requires: body.ids("requires"),
                replaces: body.id("replaces"),
                replaced_by: body.id("replaced_by"),
                copy_of,
                child,
                is_doubtful: body.flag("doubtful"),
                is_half_done: body.flag("half_done"),
                wanted_size: body.number("size").and_then(|it| usize::try_from(it).ok()),
                cooldown: cooldown_of(&body.list("cooldown")),
                hook: body.text("hook").and_then(|name| Hook::from_name(&name)),
                cleared: body
                    .list("cleared")
                    .iter()
                    .filter_map(|name| Hook::from_name(name.as_text()?))
                    .collect(),
                op,
            });
            if has_op {
                self.ops.insert(id, slot);
                self.stack_mut(stack).busy += 1;
            }
            if let Some(child) = child {
                self.stack_mut(child).parent_resource = Some((stack, slot));
            }
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
}
