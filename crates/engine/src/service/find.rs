//! Finding stacks.

use super::{Asker, Refusal, Service};
use crate::ids::StackId;
use crate::partial_tree::TreePart;
use crate::store::{StackQuery, StackRow};
use crate::view::View;
use kiln_resources::op::{owner_of_users, users_name};
use std::sync::Arc;
use uuid::Uuid;

/// A page of stacks.
#[derive(Clone, Debug)]
pub struct Page {
    /// The stacks.
    pub stacks: Vec<StackRow>,
    /// How many there are in all, if that was asked.
    pub count: Option<u64>,
}

/// Whether a stack is one that the asker may know of: of their project, or the one that they are a user of.
fn sees(asker: &Asker, stack: &StackRow) -> bool {
    let is_guest = |name: &Arc<str>| **name == *users_name(&stack.project, stack.root.0);
    asker.is_admin
        || stack.project == asker.project
        || asker.guest_in.as_ref().is_some_and(is_guest)
}

impl Service {
    /// The stack of an id, deleted or not.
    pub async fn stack(&self, asker: &Asker, id: StackId) -> Result<Option<StackRow>, Refusal> {
        let stack = self.store.stack(id).await?;
        Ok(stack.filter(|stack| sees(asker, stack)))
    }

    /// The stack of a name and an id.
    pub async fn stack_called(
        &self,
        asker: &Asker,
        name: &str,
        id: &str,
    ) -> Result<StackRow, Refusal> {
        let found = match Uuid::parse_str(id) {
            Ok(id) => self.stack(asker, StackId(id)).await?,
            Err(_) => None,
        };
        let missing = || Refusal::no_such("Stack", name);
        found.filter(|stack| &*stack.name == name).ok_or_else(missing)
    }

    /// The stack of a name and an id, if it is not deleted.
    pub async fn live_stack(
        &self,
        asker: &Asker,
        name: &str,
        id: &str,
    ) -> Result<StackRow, Refusal> {
        let stack = self.stack_called(asker, name, id).await?;
        match stack.deleted {
            None => Ok(stack),
            Some(_) => Err(Refusal::no_such("Stack", name)),
        }
    }

    /// The stack that goes by a name or an id.
    pub async fn identify(&self, asker: &Asker, name_or_id: &str) -> Result<StackRow, Refusal> {
        if let Ok(id) = Uuid::parse_str(name_or_id)
            && let Some(stack) = self.stack(asker, StackId(id)).await?
        {
            return Ok(stack);
        }
        let stack = self.store.stack_by_name(&asker.project, name_or_id).await?;
        let stack = match (stack, asker.guest_in.as_deref().and_then(owner_of_users)) {
            (None, Some(owner)) => {
                let stack = self.store.stack_by_name(owner, name_or_id).await?;
                stack.filter(|stack| sees(asker, stack))
            }
            (stack, _) => stack,
        };
        stack.ok_or_else(|| Refusal::no_such("Stack", name_or_id))
    }

    /// A page of stacks; and how many there are in all, if `with_count`.
    pub async fn list(
        &self,
        asker: &Asker,
        mut query: StackQuery,
        with_count: bool,
        with_hidden: bool,
    ) -> Result<Page, Refusal> {
        if !asker.is_admin && query.project.is_none() {
            query.project = Some(asker.project.clone());
        }
        if !with_hidden {
            query.tags.none.extend(self.rules.hidden_tags.iter().cloned());
        }
        let count = match with_count {
            true => Some(self.store.count_stacks(&query).await?),
            false => None,
        };
        let stacks = match query.limit {
            Some(0) => Vec::new(),
            _ => self.store.stacks(&query).await?,
        };
        Ok(Page { stacks, count })
    }

    /// The tree of a stack, to be looked at.
    pub async fn view(&self, stack: &StackRow) -> Result<View, Refusal> {
        let view = View::open(&*self.store, &self.config, stack.root).await?;
        view.ok_or_else(|| Refusal::no_such("Stack", &stack.name))
    }

    /// A part of the tree of a stack, to be looked at. If [`View::is_short`] says so afterwards, what
    /// was seen is to be looked at again in the whole.
    pub async fn part(&self, stack: &StackRow, part: TreePart<'_>) -> Result<View, Refusal> {
        let view = View::open_part(&*self.store, &self.config, stack.root, part).await?;
        view.ok_or_else(|| Refusal::no_such("Stack", &stack.name))
    }

    /// The tree of a stack that is not deleted, and the stack's name in it.
    pub async fn live_view(
        &self,
        asker: &Asker,
        name: &str,
        id: &str,
    ) -> Result<(StackRow, View), Refusal> {
        let stack = self.live_stack(asker, name, id).await?;
        let view = self.view(&stack).await?;
        Ok((stack, view))
    }
}
