//! Finding stacks.

use super::{RequestError, Requester, Service};
use crate::ids::StackId;
use crate::partial_tree::TreePart;
use crate::store::{StackQuery, StackRow};
use crate::view::{TreeReader, View};
use kiln_resources::op::{owner_of_users_project, users_project_name};
use std::sync::Arc;
use uuid::Uuid;

/// A page of stacks.
#[derive(Clone, Debug)]
pub struct Page {
    /// The stacks.
    pub stacks: Vec<StackRow>,
    /// The number of all stacks, if it was requested.
    pub count: Option<u64>,
}

/// Whether the requester may see a stack: one of their project, or the one that created them as its user.
fn can_see(requester: &Requester, stack: &StackRow) -> bool {
    let is_guest = |name: &Arc<str>| **name == *users_project_name(&stack.project, stack.root.0);
    requester.is_admin
        || stack.project == requester.project
        || requester.stack_user_project.as_ref().is_some_and(is_guest)
}

impl Service {
    /// The stack of an id, deleted or not.
    pub async fn stack(
        &self,
        requester: &Requester,
        id: StackId,
    ) -> Result<Option<StackRow>, RequestError> {
        let stack = self.store.stack(id).await?;
        Ok(stack.filter(|stack| can_see(requester, stack)))
    }

    /// The stack of a name and an id.
    pub async fn find_stack(
        &self,
        requester: &Requester,
        name: &str,
        id: &str,
    ) -> Result<StackRow, RequestError> {
        let found = match Uuid::parse_str(id) {
            Ok(id) => self.stack(requester, StackId(id)).await?,
            Err(_) => None,
        };
        let missing = || RequestError::not_found("Stack", name);
        found.filter(|stack| &*stack.summary.name == name).ok_or_else(missing)
    }

    /// The stack of a name and an id, if it is not deleted.
    pub async fn find_live_stack(
        &self,
        requester: &Requester,
        name: &str,
        id: &str,
    ) -> Result<StackRow, RequestError> {
        let stack = self.find_stack(requester, name, id).await?;
        match stack.summary.deleted {
            None => Ok(stack),
            Some(_) => Err(RequestError::not_found("Stack", name)),
        }
    }

    /// The stack with a name or an id.
    pub async fn identify(
        &self,
        requester: &Requester,
        name_or_id: &str,
    ) -> Result<StackRow, RequestError> {
        if let Ok(id) = Uuid::parse_str(name_or_id)
            && let Some(stack) = self.stack(requester, StackId(id)).await?
        {
            return Ok(stack);
        }
        let stack = self.store.stack_by_name(&requester.project, name_or_id).await?;
        let stack =
            match (stack, requester.stack_user_project.as_deref().and_then(owner_of_users_project))
            {
                (None, Some(owner)) => {
                    let stack = self.store.stack_by_name(owner, name_or_id).await?;
                    stack.filter(|stack| can_see(requester, stack))
                }
                (stack, _) => stack,
            };
        stack.ok_or_else(|| RequestError::not_found("Stack", name_or_id))
    }

    /// A page of stacks; with the number of all stacks, if `with_count`.
    pub async fn list(
        &self,
        requester: &Requester,
        mut query: StackQuery,
        with_count: bool,
        with_hidden: bool,
    ) -> Result<Page, RequestError> {
        if !requester.is_admin && query.project.is_none() {
            query.project = Some(requester.project.clone());
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

    /// Reads trees on behalf of a project.
    fn reader(&self, project: impl Into<Arc<str>>) -> TreeReader<'_> {
        let share = self.workers.share(project);
        TreeReader { store: &*self.store, config: &self.config, share }
    }

    /// The tree of a stack, for reading.
    pub async fn view(&self, stack: &StackRow) -> Result<View, RequestError> {
        let view = View::open(&self.reader(stack.project.clone()), stack.root).await?;
        view.ok_or_else(|| RequestError::not_found("Stack", &stack.summary.name))
    }

    /// A part of the tree of a stack, for reading. If [`View::is_incomplete`] says so afterwards, the caller has to
    /// read the whole tree.
    pub async fn part(&self, stack: &StackRow, part: TreePart<'_>) -> Result<View, RequestError> {
        let view = View::open_part(&self.reader(stack.project.clone()), stack.root, part).await?;
        view.ok_or_else(|| RequestError::not_found("Stack", &stack.summary.name))
    }

    /// The same for a call that a stack makes to this service. It is made while a request may hold the memory of its
    /// project, so that it has a share of its own.
    pub(crate) async fn part_for_call(
        &self,
        stack: &StackRow,
        part: TreePart<'_>,
    ) -> Result<View, RequestError> {
        let reader = self.reader(format!("calls of {}", stack.project));
        let view = View::open_part(&reader, stack.root, part).await?;
        view.ok_or_else(|| RequestError::not_found("Stack", &stack.summary.name))
    }
}
