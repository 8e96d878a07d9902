//! Filtering stacks by fields that the store has no index for.
//!
//! The body of a row is encrypted, so each row is read and checked: page after page of the rows that the query finds by
//! its columns. Memory holds one page and the result.

use super::{Page, RequestError, Requester, Service};
use crate::record::Record;
use crate::record::v1::StackBody;
use crate::store::{StackQuery, StackRow};
use std::sync::Arc;

/// Conditions on stacks. All fields must match, each with any of its values; an empty list matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostFilter {
    /// Whether failed actions are not rolled back.
    pub disable_rollback: Vec<bool>,
    /// The timeout of actions, in minutes.
    pub timeout_mins: Vec<u64>,
    /// The project of the stack's users.
    pub user_project: Vec<Arc<str>>,
}

/// How many rows are read at once.
const MAX_CONCURRENT: u64 = 500;

impl PostFilter {
    /// Whether the filter has no conditions.
    pub fn is_open(&self) -> bool {
        *self == PostFilter::default()
    }

    fn matches(&self, stack: &StackRow) -> bool {
        // A stack that cannot be read is found by its columns alone.
        let Ok(body) = StackBody::decode(&stack.body) else { return false };
        let is_disabled = !body.rollback;
        let timeout = body.timeout_secs.map(|seconds| seconds / 60);
        let any = |is_empty: bool, found: bool| is_empty || found;
        any(self.disable_rollback.is_empty(), self.disable_rollback.contains(&is_disabled))
            && any(
                self.timeout_mins.is_empty(),
                timeout.is_some_and(|it| self.timeout_mins.contains(&it)),
            )
            // The users of a stack are listed under the stack's own project.
            && any(self.user_project.is_empty(), self.user_project.contains(&stack.project))
    }
}

impl Service {
    /// A page of the stacks that match a query and a filter; with the number of all of them, if `with_count`.
    pub async fn list_filtered(
        &self,
        requester: &Requester,
        query: StackQuery,
        filter: &PostFilter,
        with_count: bool,
        with_hidden: bool,
    ) -> Result<Page, RequestError> {
        if filter.is_open() {
            return self.list(requester, query, with_count, with_hidden).await;
        }
        let limit = query.limit.and_then(|it| usize::try_from(it).ok()).unwrap_or(usize::MAX);
        let mut stacks = Vec::new();
        let start = query.marker;
        self.each_page(
            requester,
            StackQuery { marker: start, ..query.clone() },
            with_hidden,
            |page| {
                let passing = page.into_iter().filter(|stack| filter.matches(stack));
                let room = limit.saturating_sub(stacks.len());
                stacks.extend(passing.take(room));
                stacks.len() < limit
            },
        )
        .await?;
        let mut count = 0;
        if with_count {
            let all = StackQuery { marker: None, ..query };
            self.each_page(requester, all, with_hidden, |page| {
                count += page.iter().filter(|stack| filter.matches(stack)).count() as u64;
                true
            })
            .await?;
        }
        Ok(Page { stacks, count: with_count.then_some(count) })
    }

    /// Visits the pages of a query until the visitor has enough.
    async fn each_page(
        &self,
        requester: &Requester,
        mut query: StackQuery,
        with_hidden: bool,
        mut look: impl FnMut(Vec<StackRow>) -> bool + Send,
    ) -> Result<(), RequestError> {
        query.limit = Some(MAX_CONCURRENT);
        query.with_bodies = true;
        loop {
            let page = self.list(requester, query.clone(), false, with_hidden).await?.stacks;
            let is_last = (page.len() as u64) < MAX_CONCURRENT;
            query.marker = page.last().map(|stack| stack.id);
            if !look(page) || is_last {
                return Ok(());
            }
        }
    }
}
