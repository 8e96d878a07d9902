//! Updating stacks, and previews of that.

use super::observe;
use super::request::{Answers, Subject, recipe};
use super::{RequestError, Requester, Service, StackRequest, TemplateSource};
use crate::blueprint::Recipe;
use crate::error_type::ErrorType;
use crate::machine::{Command, StackSettings};
use crate::preview::Forecast;
use crate::state::{Action, Status};
use crate::store::StackRow;
use crate::view::View;
use kiln_template::parameters::Parameters;
use kiln_template::validate::{Checks, Report};
use std::sync::Arc;

/// Which parts of a stack an update keeps.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    /// Whether everything that the request leaves out is kept.
    pub is_partial: bool,
    /// Parameters whose values are not kept.
    pub cleared: Vec<Arc<str>>,
}

impl Service {
    /// Updates a stack. The update is recorded and under way when this returns.
    pub async fn update(
        &self,
        requester: &Requester,
        stack: &StackRow,
        request: StackRequest,
        patch: &Patch,
    ) -> Result<(), RequestError> {
        let view = self.view(stack).await?;
        let (mut request, recipe, view) =
            self.validate_change(requester, stack, view, request, patch).await?;
        if !patch.is_partial {
            request.settings.tags.get_or_insert_default();
        }
        let mut settings = request.settings.clone();
        settings.converges = self.compares(&request);
        self.submit_update(requester, stack, view, (recipe, settings)).await
    }

    /// Has a stack brought to a recipe that was validated.
    pub(super) async fn submit_update(
        &self,
        requester: &Requester,
        stack: &StackRow,
        view: View,
        (recipe, mut settings): (Recipe, StackSettings),
    ) -> Result<(), RequestError> {
        // From now on the stack acts for the user who updated it last, with a credential that is valid.
        let credential = view.credential();
        let is_other = credential.user != requester.user_token.user;
        let loan = match is_other || !self.transport.accepts(credential).await {
            true => Some(self.delegate(requester, stack.root).await?),
            false => None,
        };
        // The memory that the tree takes is not held while the engine begins.
        drop(view);
        settings.credential = loan.as_ref().map(|loan| loan.credential.clone());
        let recipe = Arc::new(recipe);
        let written = self.command(stack.root, Command::Update { recipe, settings }).await;
        self.commit_delegation(loan, written).await
    }

    /// Previews the update of a stack.
    pub async fn preview_update(
        &self,
        requester: &Requester,
        stack: &StackRow,
        request: StackRequest,
        patch: &Patch,
    ) -> Result<Vec<Forecast>, RequestError> {
        let (_, recipe, mut view) = self.foresee_change(requester, stack, request, patch).await?;
        let tree = view.tree_mut();
        self.work(&requester.project, || tree.preview(&recipe))
            .await?
            .map_err(|message| RequestError::new(ErrorType::StackValidationFailed, message))
    }

    /// Validates a change of a stack, and reads the objects that the decisions depend on.
    pub(super) async fn foresee_change(
        &self,
        requester: &Requester,
        stack: &StackRow,
        request: StackRequest,
        patch: &Patch,
    ) -> Result<(StackRequest, Recipe, View), RequestError> {
        let view = self.view(stack).await?;
        let (request, recipe, mut view) =
            self.validate_change(requester, stack, view, request, patch).await?;
        let compares = self.compares(&request);
        let tree = view.tree_mut();
        let open = tree.observable_resources(compares);
        if !open.is_empty() && self.transport.has_cloud() {
            let (by, behalf) = (tree.credential.clone(), tree.acting_for());
            tree.observed = observe::read(&self.transport, &by, behalf, open).await;
            tree.limit_observed(compares);
        }
        Ok((request, recipe, view))
    }

    /// Whether the update compares objects with their definitions.
    pub(super) fn compares(&self, request: &StackRequest) -> bool {
        request.converge || self.config.observe_on_update
    }

    async fn validate_change(
        &self,
        requester: &Requester,
        stack: &StackRow,
        mut view: View,
        request: StackRequest,
        patch: &Patch,
    ) -> Result<(StackRequest, Recipe, View), RequestError> {
        match stack.summary.state.action {
            Action::Suspend => {
                return Err(RequestError::unsupported("Updating a stack when it is suspended"));
            }
            Action::Delete => {
                return Err(RequestError::unsupported("Updating a stack when it is deleting"));
            }
            _ => {}
        }
        if stack.parent.is_some() {
            return Err(RequestError::unsupported("Updating a stack that is nested in another"));
        }
        let subject =
            Subject { name: &stack.summary.name, id: Some(stack.id), project: &stack.project };
        let request = match patch.is_partial {
            true => {
                let patch = || self.patched(requester, &subject, &view, request, &patch.cleared);
                self.work(&requester.project, patch).await?
            }
            false => request,
        };
        let validated =
            self.validate_request(requester, &subject, &request, Checks::CREATE).await?;
        let former = view.root();
        let parameters = validated.report.definition.as_ref().map(|it| &it.parameters);
        if let (Some(old), Some(new)) = (former.bound(), parameters)
            && let Some(found) = Parameters::changed_immutable(old, new)
        {
            return Err(RequestError::from_diagnostics(&[found], &validated.sources, false));
        }
        let mut report = validated.into_report(requester)?;
        self.check_remote_stacks(requester, &request, &report).await?;
        let is_flat = self.is_flat(&report);
        let recipe = recipe(&self.config, requester, &request, &mut report);
        if !is_flat {
            let check = || view.tree_mut().check_size(&recipe);
            self.work(&requester.project, check).await??;
        }
        Ok((request, recipe, view))
    }

    /// The request, completed by the current template, environment and files of the stack.
    fn patched(
        &self,
        requester: &Requester,
        subject: &Subject<'_>,
        view: &View,
        mut request: StackRequest,
        cleared: &[Arc<str>],
    ) -> StackRequest {
        let root = view.root();
        let former = root.recipe();
        if matches!(request.template, TemplateSource::Missing) {
            request.template = root.template_text().map(TemplateSource::Text).unwrap_or_default();
        }
        let mut files = (*former.files).clone();
        files.extend(std::mem::take(&mut request.files));
        request.files = files;
        // The environment of the request, in files or not, overrides the current one.
        let Report { template, environment, .. } = self
            .validate_once(requester, subject, &request, Checks::TEMPLATE, &Answers::default())
            .0
            .report;
        let is_declared =
            |name: &str| template.as_ref().is_none_or(|it| it.parameters.contains_key(name));
        request.environment = former.environment.patch(cleared, &environment, &is_declared);
        request.environment_files.clear();
        request.parameters.clear();
        request
    }

    /// Whether an action is in progress.
    pub(super) fn is_in_progress(stack: &StackRow) -> bool {
        stack.summary.state.status == Status::InProgress
    }
}
