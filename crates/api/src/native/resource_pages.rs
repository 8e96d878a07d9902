//! Lists of resources with their attributes.
//!
//! Attributes are in the part of a tree that other lists do not read. They are read and shown page by page, so that memory
//! holds one page of a stack, however many resources it has. A tree with nested stacks is read as a whole: the attributes of
//! a nested stack need its resources.

use super::resources::{listed, resources};
use super::stacks::gone;
use crate::fault::Fault;
use crate::request::Request;
use crate::response::Response;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use kiln_engine::store::StackRow;
use kiln_engine::{StackId, TreePart, View};
use kiln_template::{Members, Value};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many resources a page has.
const PAGE: usize = 40;

/// A list of which some pages are still to be shown.
struct Pages {
    request: Request,
    stack: StackRow,
    /// The whole tree, if it was read.
    whole: Option<View>,
    /// The stacks and names of the resources that are still to be shown.
    left: VecDeque<(StackId, Arc<str>)>,
}

/// The response with the resources of a stack and of its nested stacks, down to a depth, and with their attributes.
pub(super) async fn with_detail(request: Request, depth: usize) -> Result<Response, Fault> {
    let (share, stack) = (request.share(), request.stack().await?);
    let view = request.service().part(&stack, TreePart::Resources).await?;
    let list = || {
        let seen = view.stack(stack.id).ok_or_else(|| gone(&stack))?;
        let found = resources(&request, seen, depth)?.into_iter();
        Ok::<_, Fault>(found.map(|(seen, found)| (seen.id(), found.summary.name)).collect())
    };
    let left = request.work_on(view.bytes(), list).await?;
    let whole = Some(view).filter(View::is_whole);
    let pages = Pages { request, stack, whole, left };
    let rows = stream::try_unfold(pages, |mut pages| async {
        let page = pages.next().await?;
        Ok::<_, Fault>(page.map(|page| (stream::iter(page).map(Ok), pages)))
    });
    Response::list(share, "resources", rows.try_flatten(), Members::new()).await
}

impl Pages {
    /// The next page; `None` after the last one.
    async fn next(&mut self) -> Result<Option<Vec<Value>>, Fault> {
        let page: Vec<(StackId, Arc<str>)> = self.left.drain(..PAGE.min(self.left.len())).collect();
        if page.is_empty() {
            return Ok(None);
        }
        if self.whole.is_none() {
            let names: Vec<Arc<str>> = page.iter().map(|(_, name)| name.clone()).collect();
            let part = TreePart::Named(&names);
            let view = self.request.service().part(&self.stack, part).await?;
            let rows = self.shown(&view, &page).await;
            if !view.is_incomplete() {
                return Ok(Some(rows));
            }
        }
        let whole = match self.whole.take() {
            Some(whole) => whole,
            None => self.request.service().view(&self.stack).await?,
        };
        let rows = self.shown(&whole, &page).await;
        self.whole = Some(whole);
        Ok(Some(rows))
    }

    /// Shows resources as they are in a tree. Those that were deleted meanwhile are left out.
    async fn shown(&self, view: &View, page: &[(StackId, Arc<str>)]) -> Vec<Value> {
        let show = || {
            let mut rows = Vec::new();
            for of_stack in page.chunk_by(|one, next| one.0 == next.0) {
                let Some(seen) = view.stack(of_stack[0].0) else { continue };
                let found = seen.resources_named(of_stack.iter().map(|(_, name)| &**name));
                let shown =
                    found.iter().map(|it| listed(&self.request, &self.stack, &seen, it, true));
                rows.extend(shown);
            }
            rows
        };
        self.request.work_on(view.bytes(), show).await
    }
}
