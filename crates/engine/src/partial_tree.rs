//! Trees of which only a part was read.
//!
//! A reader of one resource, or of outputs that name a few, need not read a hundred. A partial tree knows which of its
//! resources were read, and records when another one is needed: then the result is not valid, and the reader reads the
//! whole tree.
//!
//! The parts are read by several queries. The number of the tree's last event shows that they belong to the same state: it
//! grows with every change of a stack or of its recipe, so if it is the same before and after, nothing changed in between.

use crate::ids::StackId;
use crate::state::{Action, Status};
use crate::store::StoreError;
use crate::tree::Tree;
use crate::view::{TreeReader, View, read_signals, row_bytes, texts_of};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The part of a tree that a reader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreePart<'n> {
    /// The stack, and nothing of its resources.
    Stack,
    /// The values of its outputs, too.
    Outputs,
    /// One resource of it.
    Resource(&'n str),
    /// Some resources of it.
    Named(&'n [Arc<str>]),
    /// One resource of it without the signals that it received.
    SignalTarget(&'n str),
    /// The columns of its resources, as lists show them.
    Resources,
    /// Everything.
    All,
}

/// The largest number of resources that are read by name; a reader that needs more reads the whole tree.
const FEW: usize = 20;

/// The resources that a partial tree lacks.
#[derive(Default)]
pub(crate) struct Missing {
    /// The names of the resources that were read: if the tree has no resource of such a name, none exists.
    asked: BTreeSet<Arc<str>>,
    /// The names of other resources that the reader needed.
    missed: Mutex<BTreeSet<Arc<str>>>,
    /// Whether the reader needed all resources.
    all_missed: AtomicBool,
    /// Whether all resources were read, but not their bodies.
    is_lean: bool,
}

impl Missing {
    /// Records that the reader needed a resource that was not read.
    pub(crate) fn record(&self, name: &str) {
        if !self.is_lean && !self.asked.contains(name) {
            let mut missed = self.missed.lock();
            missed.insert(name.into());
        }
    }

    /// Records that the reader needed all resources.
    pub(crate) fn record_all(&self) {
        if !self.is_lean {
            self.all_missed.store(true, Ordering::Relaxed);
        }
    }

    /// Records that the reader needed more of a resource than lists show.
    pub(crate) fn record_body(&self) {
        if self.is_lean {
            self.all_missed.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_incomplete(&self) -> bool {
        let missed = self.missed.lock();
        self.all_missed.load(Ordering::Relaxed) || !missed.is_empty()
    }
}

/// Reads a part of a tree; `None` if it has to be read as a whole.
pub(crate) async fn read_part(
    reader: &TreeReader<'_>,
    root: StackId,
    part: TreePart<'_>,
) -> Result<Option<View>, StoreError> {
    if part == TreePart::All {
        return Ok(None);
    }
    let TreeReader { store, config, share } = reader;
    let Some(rows) = store.load_stacks(root).await? else { return Ok(None) };
    // The attributes of a nested stack show in its parent resource.
    if rows.stacks.len() > 1 {
        return Ok(None);
    }
    let texts = texts_of(*store, config, &rows).await?;
    let (last_event, bytes) = (rows.last_event, row_bytes(&rows, &texts));
    let load = || {
        let mut tree =
            Tree::load(Arc::clone(config), rows, &|hash| texts.get(&hash).cloned()).ok()?;
        // A template that cannot be read any more shows as one without resources.
        _ = tree.bind_template(tree.root_key());
        let wanted = wanted_names(&mut tree, part)?;
        Some((tree, wanted))
    };
    let Some((mut tree, wanted)) = share.work_on(bytes, load).await else { return Ok(None) };
    if part == TreePart::Resources {
        return read_lean(reader, (tree, bytes), last_event).await;
    }
    let names: Vec<Arc<str>> = wanted.iter().cloned().collect();
    let (resources, seen) = store.resources_named(root, &names).await?;
    let bytes = bytes + resources.iter().map(|row| row.body.len()).sum::<usize>();
    let added = share.work_on(bytes, || tree.add_rows(resources)).await;
    if seen != last_event || added.is_err() {
        return Ok(None);
    }
    if !matches!(part, TreePart::SignalTarget(_)) {
        read_signals(*store, share, &mut tree).await?;
    }
    tree.missing = Some(Box::new(Missing { asked: wanted, ..Missing::default() }));
    Ok(Some(View::of(tree, bytes)))
}

/// The names of the resources that a part of a tree has; `None` if they are too many.
fn wanted_names(tree: &mut Tree, part: TreePart<'_>) -> Option<BTreeSet<Arc<str>>> {
    match part {
        TreePart::Stack | TreePart::Resources | TreePart::All => Some(BTreeSet::new()),
        TreePart::Resource(name) | TreePart::SignalTarget(name) => Some([Arc::from(name)].into()),
        TreePart::Named(names) => Some(names.iter().cloned().collect()),
        TreePart::Outputs => named_by_outputs(tree),
    }
}

/// Adds all resources to a tree without nested stacks, as far as lists show them.
///
/// The type with which a resource was created is in its body. As long as the stack has neither failed nor an action in
/// progress, it is the type in the template.
async fn read_lean(
    reader: &TreeReader<'_>,
    (mut tree, bytes): (Tree, usize),
    last_event: u64,
) -> Result<Option<View>, StoreError> {
    const SETTLED: [Action; 5] =
        [Action::Create, Action::Update, Action::Rollback, Action::Adopt, Action::Restore];
    let (state, _) = tree.root_state();
    if state.status != Status::Complete || !SETTLED.contains(&state.action) {
        return Ok(None);
    }
    let (resources, seen) = reader.store.lean_resources(tree.root).await?;
    if seen != last_event || tree.add_rows(resources).is_err() {
        return Ok(None);
    }
    tree.missing = Some(Box::new(Missing { is_lean: true, ..Missing::default() }));
    Ok(Some(View::of(tree, bytes)))
}

/// The names of the resources that the outputs of a stack ask for, found by asking when there are none;
/// `None` if they are too many.
fn named_by_outputs(tree: &mut Tree) -> Option<BTreeSet<Arc<str>>> {
    tree.missing = Some(Box::default());
    let world = tree.scope(tree.root_key());
    if let Some(blueprint) = world.blueprint() {
        for name in blueprint.definition.template.outputs.keys() {
            // Only the names that it asks for matter here, not its value.
            _ = world.output(name);
        }
    }
    let missing = tree.missing.take()?;
    let missed = missing.missed.into_inner();
    let is_few = missed.len() <= FEW && !missing.all_missed.into_inner();
    is_few.then_some(missed)
}
