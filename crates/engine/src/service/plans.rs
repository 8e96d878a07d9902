//! Plans: actions on stacks that are kept, with all that they would do, until they are applied or expire.
//!
//! A plan is a contract. When it is applied, it is made again; if it would do anything else by then, it is refused with what
//! has moved. The machine holds the update to it, too ([`Contract`]).

use super::{Patch, RequestError, Requester, Service, StackRequest, TemplateSource};
use crate::blueprint::{Recipe, Source};
use crate::error_type::ErrorType;
use crate::ids::{Ids, StackId};
use crate::objects::{ObjectKind, ObjectQuery, ObjectRow};
use crate::preview::{self, Contract, NewRoot, Plan, PlannedAction};
use crate::record::v1::{PlanBody, PlannedActionName};
use crate::record::{Id, Record, Stored};
use crate::runtime::{SystemIds, now};
use crate::store::{Hash, StackRow};
use crate::time::Time;
use kiln_template::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// How many plans a project may have.
const MAX_PLANS: u64 = 1000;

/// For how long a plan can be applied.
const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// How many expired plans a request deletes at most.
const MAX_DROPPED: u64 = 100;

/// How many differences an error names at most.
const MAX_DIFFERENCES: usize = 10;

/// A plan that is kept.
#[derive(Clone, Debug)]
pub struct StoredPlan {
    /// Its id.
    pub id: Uuid,
    /// The name of the stack.
    pub stack_name: Arc<str>,
    /// The id of the stack, which may be yet to be created.
    pub stack: StackId,
    /// The action.
    pub action: PlannedAction,
    /// When it was made.
    pub created: Time,
    /// Until when it can be applied.
    pub expires: Time,
    /// A hash of everything that it is made of.
    pub digest: Arc<str>,
    /// Whether it was applied.
    pub is_applied: bool,
    /// The steps and their summary, for programs.
    pub shown: Value,
}

/// The stack that a plan was applied to.
#[derive(Clone, Debug)]
pub struct AppliedPlan {
    /// Its name.
    pub stack_name: Arc<str>,
    /// Its id.
    pub stack: StackId,
}

impl Service {
    /// Plans the creation of a stack.
    pub async fn plan_create(
        &self,
        requester: &Requester,
        name: &str,
        request: StackRequest,
    ) -> Result<StoredPlan, RequestError> {
        let (recipe, plan) = self.planned_create(requester, name, &request).await?;
        let stack = StackId(SystemIds::default().next());
        let body = body_of(&plan, stack, Some(&recipe));
        let body = PlanBody { settings: (&request.settings).into(), ..body };
        self.keep_plan(requester, name, body).await
    }

    /// Plans the update of a stack.
    pub async fn plan_update(
        &self,
        requester: &Requester,
        stack: &StackRow,
        request: StackRequest,
        patch: &Patch,
    ) -> Result<StoredPlan, RequestError> {
        refuse_busy(stack)?;
        let (mut request, recipe, mut view) =
            self.foresee_change(requester, stack, request, patch).await?;
        if !patch.is_partial {
            request.settings.tags.get_or_insert_default();
        }
        request.settings.converges = self.compares(&request);
        let tree = view.tree_mut();
        let base = tree.record_hash();
        let plan = self.work(&requester.project, || tree.plan(&recipe)).await?.map_err(refused)?;
        let body = body_of(&plan, stack.id, Some(&recipe));
        let settings = (&request.settings).into();
        let body = PlanBody { settings, base: Some(base.to_string()), ..body };
        self.keep_plan(requester, &stack.summary.name, body).await
    }

    /// Plans the removal of a stack.
    pub async fn plan_delete(
        &self,
        requester: &Requester,
        stack: &StackRow,
    ) -> Result<StoredPlan, RequestError> {
        refuse_busy(stack)?;
        let (plan, base) = self.planned_delete(requester, stack).await?;
        let body = PlanBody { base: Some(base.to_string()), ..body_of(&plan, stack.id, None) };
        self.keep_plan(requester, &stack.summary.name, body).await
    }

    /// The plan of an id, if it belongs to the project.
    pub async fn plan(&self, requester: &Requester, id: Uuid) -> Result<StoredPlan, RequestError> {
        let (row, body) = self.plan_row(requester, id).await?;
        Ok(stored(row, body))
    }

    /// The plans of the project that have not expired, or of one of its stacks, the oldest first.
    pub async fn plans(
        &self,
        requester: &Requester,
        stack_name: Option<&str>,
    ) -> Result<Vec<StoredPlan>, RequestError> {
        let project = Some(requester.project.clone());
        let subject = stack_name.map(Arc::from);
        let query = ObjectQuery { project, subject, ..ObjectQuery::new(ObjectKind::Plan) };
        let mut plans = Vec::new();
        for row in self.store.objects(&query).await? {
            let body = PlanBody::read(&row.body, row.id)?;
            plans.push(stored(row, body));
        }
        plans.retain(|plan| plan.expires > now());
        Ok(plans)
    }

    /// Forgets a plan.
    pub async fn drop_plan(&self, requester: &Requester, id: Uuid) -> Result<(), RequestError> {
        self.plan_row(requester, id).await?;
        self.store.drop_object(ObjectKind::Plan, id).await?;
        Ok(())
    }

    /// Applies a plan: exactly what it shows is done, or nothing, and the error says what has moved. `digest` is the one
    /// that the requester has seen.
    pub async fn apply_plan(
        &self,
        requester: &Requester,
        id: Uuid,
        digest: Option<&str>,
        allows_replacement: bool,
    ) -> Result<AppliedPlan, RequestError> {
        let (row, body) = self.plan_row(requester, id).await?;
        check_applicable(&body, digest)?;
        let (stack, stack_name) = (StackId(body.stack.0), row.subject.clone());
        match body.action {
            PlannedActionName::Create => self.apply_create(requester, &stack_name, &body).await?,
            PlannedActionName::Update => {
                self.apply_update(requester, &body, allows_replacement).await?;
            }
            PlannedActionName::Delete => self.apply_delete(requester, &body).await?,
        }
        let applied = PlanBody { is_applied: true, ..body };
        let row = ObjectRow { updated: Some(now()), body: applied.encode(), ..row };
        self.store.put_object(row).await?;
        Ok(AppliedPlan { stack_name, stack })
    }

    async fn apply_create(
        &self,
        requester: &Requester,
        name: &str,
        body: &PlanBody,
    ) -> Result<(), RequestError> {
        let request = request_of(body)?;
        let (_, plan) = match self.planned_create(requester, name, &request).await {
            Err(error) if error.error_type == ErrorType::StackExists => {
                return Err(moved([format!("there is a stack {name} by now")]));
            }
            planned => planned?,
        };
        compare(body, &plan)?;
        self.create_with_id(requester, name, StackId(body.stack.0), request).await?;
        Ok(())
    }

    async fn apply_update(
        &self,
        requester: &Requester,
        body: &PlanBody,
        allows_replacement: bool,
    ) -> Result<(), RequestError> {
        let stack = self.planned_stack(requester, body).await?;
        let request = request_of(body)?;
        let settings = request.settings.clone();
        let (_, recipe, mut view) =
            self.foresee_change(requester, &stack, request, &Patch::default()).await?;
        let tree = view.tree_mut();
        let base = tree.record_hash();
        check_base(body, &base, &stack)?;
        let plan = self.work(&requester.project, || tree.plan(&recipe)).await?.map_err(refused)?;
        compare(body, &plan)?;
        let contract = Contract::new(&plan, base, allows_replacement);
        let recipe = Recipe { contract: Some(Arc::new(contract)), ..recipe };
        self.submit_update(requester, &stack, view, (recipe, settings)).await
    }

    async fn apply_delete(
        &self,
        requester: &Requester,
        body: &PlanBody,
    ) -> Result<(), RequestError> {
        let stack = self.planned_stack(requester, body).await?;
        let (plan, base) = self.planned_delete(requester, &stack).await?;
        check_base(body, &base, &stack)?;
        compare(body, &plan)?;
        self.delete(&stack).await
    }

    /// The stack that a plan is for.
    async fn planned_stack(
        &self,
        requester: &Requester,
        body: &PlanBody,
    ) -> Result<StackRow, RequestError> {
        let stack = self.stack(requester, StackId(body.stack.0)).await?;
        let Some(stack) = stack.filter(|it| it.summary.deleted.is_none()) else {
            return Err(moved(["the stack was deleted".to_owned()]));
        };
        refuse_busy(&stack)?;
        Ok(stack)
    }

    async fn planned_create(
        &self,
        requester: &Requester,
        name: &str,
        request: &StackRequest,
    ) -> Result<(Recipe, Plan), RequestError> {
        self.check_free(requester, name).await?;
        let (_, recipe) = self.validate_new(requester, name, None, request).await?;
        let name: Arc<str> = name.into();
        let new = NewRoot { name: &name, project: &requester.project, recipe: &recipe };
        let plan = || preview::plan_create(&self.config, new);
        let plan = self.work(&requester.project, plan).await?.map_err(refused)?;
        Ok((recipe, plan))
    }

    async fn planned_delete(
        &self,
        requester: &Requester,
        stack: &StackRow,
    ) -> Result<(Plan, Hash), RequestError> {
        if stack.parent.is_some() {
            return Err(RequestError::unsupported("Deleting a stack that is nested in another"));
        }
        let mut view = self.view(stack).await?;
        let tree = view.tree_mut();
        let base = tree.record_hash();
        let plan = self.work(&requester.project, || tree.plan_delete()).await?.map_err(refused)?;
        Ok((plan, base))
    }

    async fn keep_plan(
        &self,
        requester: &Requester,
        stack_name: &str,
        body: PlanBody,
    ) -> Result<StoredPlan, RequestError> {
        let created = now();
        let expires = (created + LIFETIME).micros();
        let body = PlanBody { expires, ..body };
        let body = PlanBody { digest: digest_of(&body), ..body };
        let row = ObjectRow {
            id: SystemIds::default().next(),
            kind: ObjectKind::Plan,
            project: requester.project.clone(),
            subject: stack_name.into(),
            uses: Some(body.stack.0),
            created,
            updated: None,
            body: body.encode(),
        };
        let expired = Time::from_micros(created.micros() - LIFETIME.as_micros() as i64);
        self.store.drop_objects(ObjectKind::Plan, expired, MAX_DROPPED).await?;
        if !self.store.put_object_within(row.clone(), MAX_PLANS).await? {
            let message = format!("A project has {MAX_PLANS} plans at most; delete some");
            return Err(RequestError::new(ErrorType::RequestLimitExceeded, message));
        }
        Ok(stored(row, body))
    }

    async fn plan_row(
        &self,
        requester: &Requester,
        id: Uuid,
    ) -> Result<(ObjectRow, PlanBody), RequestError> {
        let row = self.store.object(ObjectKind::Plan, id).await?;
        let Some(row) = row.filter(|row| row.project == requester.project) else {
            return Err(RequestError::not_found("Plan", &id.to_string()));
        };
        let body = PlanBody::read(&row.body, row.id)?;
        Ok((row, body))
    }
}

fn refused(message: String) -> RequestError {
    RequestError::new(ErrorType::StackValidationFailed, message)
}

fn refuse_busy(stack: &StackRow) -> Result<(), RequestError> {
    match Service::is_in_progress(stack) {
        false => Ok(()),
        true => {
            let (name, state) = (&stack.summary.name, stack.summary.state);
            let message = format!("Stack {name} is in {state} state; wait until it has ended");
            Err(RequestError::new(ErrorType::ActionInProgress, message))
        }
    }
}

/// Refuses a plan that cannot be applied, whatever the stack is like.
fn check_applicable(body: &PlanBody, digest: Option<&str>) -> Result<(), RequestError> {
    if body.is_applied {
        return Err(moved(["it was applied already".to_owned()]));
    }
    if body.expires <= now().micros() {
        return Err(moved(["it has expired".to_owned()]));
    }
    let is_edited = digest.is_some_and(|digest| *digest != *body.digest);
    if is_edited || digest_of(body) != body.digest {
        let message = "The digest is not that of the plan: it was edited, or is of another plan";
        return Err(RequestError::new(ErrorType::HttpBadRequest, message));
    }
    Ok(())
}

/// Refuses a plan for another record than the one that there is.
fn check_base(body: &PlanBody, base: &Hash, stack: &StackRow) -> Result<(), RequestError> {
    if body.base.as_deref() == Some(&*base.to_string()) {
        return Ok(());
    }
    let state = stack.summary.state;
    Err(moved([format!("the record of the stack has changed; it is in the state {state} now")]))
}

/// Refuses a plan that would do something else by now.
fn compare(body: &PlanBody, plan: &Plan) -> Result<(), RequestError> {
    let lines = plan.lines();
    if lines == body.lines {
        return Ok(());
    }
    let (before, now): (BTreeSet<_>, BTreeSet<_>) =
        (body.lines.iter().collect(), lines.iter().collect());
    // The first words of a line are the act and the path.
    let short = |line: &str| line.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ");
    let gone = before.difference(&now).map(|line| format!("it no longer is: {}", short(line)));
    let new = now.difference(&before).map(|line| format!("it would be: {}", short(line)));
    Err(moved(gone.chain(new).take(MAX_DIFFERENCES)))
}

fn moved(what: impl IntoIterator<Item = String>) -> RequestError {
    let what: Vec<String> = what.into_iter().collect();
    let message = format!(
        "The plan cannot be applied: {}. Nothing was changed; make a new plan.",
        what.join("; ")
    );
    RequestError::new(ErrorType::PlanMoved, message)
}

fn body_of(plan: &Plan, stack: StackId, recipe: Option<&Recipe>) -> PlanBody {
    PlanBody {
        action: match plan.action {
            PlannedAction::Create => PlannedActionName::Create,
            PlannedAction::Update => PlannedActionName::Update,
            PlannedAction::Delete => PlannedActionName::Delete,
        },
        stack: Id(stack.0),
        recipe: recipe.map(|recipe| Box::new(recipe.into())),
        settings: Default::default(),
        base: None,
        lines: plan.lines(),
        shown: Stored(plan.to_value()),
        digest: "".into(),
        expires: 0,
        is_applied: false,
    }
}

/// The hash of a plan without its digest.
fn digest_of(body: &PlanBody) -> Arc<str> {
    let plain = PlanBody { digest: "".into(), is_applied: false, ..body.clone() };
    Hash::of(&plain.encode()).to_string().into()
}

/// The request that a plan keeps.
fn request_of(body: &PlanBody) -> Result<StackRequest, RequestError> {
    let sent = body.recipe.clone();
    let sent = sent.ok_or_else(|| RequestError::not_found("recipe of the plan", ""))?;
    let recipe = Recipe::try_from(*sent)
        .map_err(|error| RequestError::from(error.of(PlanBody::NAME, body.stack.0)))?;
    let template = match &recipe.template {
        Source::Text(text) => TemplateSource::Text(text.clone()),
        _ => TemplateSource::Missing,
    };
    let settings: crate::machine::StackSettings = body.settings.clone().into();
    Ok(StackRequest {
        template,
        environment: (*recipe.environment).clone(),
        files: (*recipe.files).clone(),
        converge: settings.converges,
        settings,
        ..StackRequest::default()
    })
}

fn stored(row: ObjectRow, body: PlanBody) -> StoredPlan {
    StoredPlan {
        id: row.id,
        stack_name: row.subject,
        stack: StackId(body.stack.0),
        action: match body.action {
            PlannedActionName::Create => PlannedAction::Create,
            PlannedActionName::Update => PlannedAction::Update,
            PlannedActionName::Delete => PlannedAction::Delete,
        },
        created: row.created,
        expires: Time::from_micros(body.expires),
        digest: body.digest,
        is_applied: body.is_applied,
        shown: body.shown.0,
    }
}
