//! Trees of which only a part was read.
//!
//! A reader of one resource, or of outputs that name a few, need not read a hundred. A tree that was
//! read in part knows which of its resources were asked for, and notes when another one is wanted: then
//! what was looked up is worth nothing, and the whole tree is read.
//!
//! The parts are not read in one moment. That they fit together shows in the number of the tree's last
//! event: it grows with every change of a stack or of what it is made of, so if it is the same before
//! and after, all that was read in between belongs together.

use crate::config::Config;
use crate::ids::StackId;
use crate::state::{Action, Status};
use crate::store::{Store, StoreError};
use crate::tree::Tree;
use crate::view::{View, texts_of};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The part of a tree that a reader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreePart<'n> {
    /// The stack, and nothing of its resources.
    Stack,
    /// The values of its outputs, too.
    Outputs,
    /// One resource of it.
    Resource(&'n str),
    /// What lists show of its resources.
    Resources,
    /// Everything.
    All,
}

/// More resources than this are not asked for one by one.
const FEW: usize = 20;

/// What is missing of a tree that was read in part.
#[derive(Default)]
pub(crate) struct Missing {
    /// The names of the resources that were asked for: if one of them is not there, there is none.
    asked: BTreeSet<Arc<str>>,
    /// The names of others that were wanted.
    missed: Mutex<BTreeSet<Arc<str>>>,
    /// Whether it was wanted to go through all of them.
    all_missed: AtomicBool,
    /// Whether all resources are there, but nothing of their bodies.
    is_lean: bool,
}

impl Missing {
    /// Notes that a resource is wanted that is not there.
    pub(crate) fn record(&self, name: &str) {
        if !self.is_lean && !self.asked.contains(name) {
            let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
            missed.insert(name.into());
        }
    }

    /// Notes that all resources are wanted.
    pub(crate) fn record_all(&self) {
        if !self.is_lean {
            self.all_missed.store(true, Ordering::Relaxed);
        }
    }

    /// Notes that more of a resource is wanted than lists show.
    pub(crate) fn record_body(&self) {
        if self.is_lean {
            self.all_missed.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_incomplete(&self) -> bool {
        let missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        self.all_missed.load(Ordering::Relaxed) || !missed.is_empty()
    }
}

/// Reads a part of a tree; `None` if it has to be read as a whole.
pub(crate) async fn read_part(
    store: &dyn Store,
    config: &Arc<Config>,
    root: StackId,
    part: TreePart<'_>,
) -> Result<Option<View>, StoreError> {
    if part == TreePart::All {
        return Ok(None);
    }
    let Some(rows) = store.load_stacks(root).await? else { return Ok(None) };
    // The attributes of a nested stack show in its parent resource.
    if rows.stacks.len() > 1 {
        return Ok(None);
    }
    let texts = texts_of(store, config, &rows).await?;
    let last_event = rows.last_event;
    let Ok(mut tree) = Tree::load(config.clone(), rows, &|hash| texts.get(&hash).cloned()) else {
        return Ok(None);
    };
    // A template that cannot be read any more shows as one without resources.
    _ = tree.bind_template(tree.root_key());
    if part == TreePart::Resources {
        return read_lean(store, tree, last_event).await;
    }
    let wanted = match part {
        TreePart::Stack | TreePart::Resources | TreePart::All => BTreeSet::new(),
        TreePart::Resource(name) => [Arc::from(name)].into(),
        TreePart::Outputs => match named_by_outputs(&mut tree) {
            Some(names) => names,
            None => return Ok(None),
        },
    };
    let names: Vec<Arc<str>> = wanted.iter().cloned().collect();
    let (resources, seen) = store.resources_named(root, &names).await?;
    if seen != last_event || tree.add_rows(resources).is_err() {
        return Ok(None);
    }
    tree.missing = Some(Box::new(Missing { asked: wanted, ..Missing::default() }));
    Ok(Some(View::of(tree)))
}

/// Adds all resources to a tree without nested stacks, as far as lists show them.
///
/// What type a resource was made as is in its body. As long as nothing failed or is under way, that is what
/// the template says.
async fn read_lean(
    store: &dyn Store,
    mut tree: Tree,
    last_event: u64,
) -> Result<Option<View>, StoreError> {
    const SETTLED: [Action; 5] =
        [Action::Create, Action::Update, Action::Rollback, Action::Adopt, Action::Restore];
    let (state, _) = tree.root_state();
    if state.status != Status::Complete || !SETTLED.contains(&state.action) {
        return Ok(None);
    }
    let (resources, seen) = store.lean_resources(tree.root).await?;
    if seen != last_event || tree.add_rows(resources).is_err() {
        return Ok(None);
    }
    tree.missing = Some(Box::new(Missing { is_lean: true, ..Missing::default() }));
    Ok(Some(View::of(tree)))
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
    let missed = missing.missed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_few = missed.len() <= FEW && !missing.all_missed.into_inner();
    is_few.then_some(missed)
}
