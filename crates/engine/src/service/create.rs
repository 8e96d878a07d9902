//! Creating stacks, and previews of that.

use super::request::{Subject, ValidatedRequest, check_name, recipe};
use super::sealing::{Sealing, refuse_stars};
use super::{RequestError, Requester, Service, StackRequest, TemplateSource};
use crate::blueprint::Recipe;
use crate::error_type::ErrorType;
use crate::ids::{Ids, StackId};
use crate::machine::{NewStack, StackSettings};
use crate::preview::{self, Forecast, NewRoot};
use crate::request_id::RequestId;
use crate::runtime::{SystemIds, post_events, spawn};
use crate::store::{CreateError, StackQuery};
use crate::tree::Tree;
use crate::view::OutputView;
use crate::wakeup::Wakeup;
use kiln_template::environment::Environment;
use kiln_template::validate::{Checks, Report};
use kiln_template::{Definition, Limits, Members, Sources, Value, read};
use std::sync::Arc;

/// The preview of a stack.
pub struct StackPreview {
    /// The stack's name.
    pub name: Arc<str>,
    /// The template, bound to its parameters.
    pub definition: Definition,
    /// The resources that would be created.
    pub resources: Vec<Forecast>,
    /// The outputs, as far as they are known beforehand.
    pub outputs: Vec<OutputView>,
}

impl Service {
    /// Creates a stack. The stack is recorded when this returns.
    pub async fn create(
        &self,
        requester: &Requester,
        name: &str,
        request: StackRequest,
    ) -> Result<StackId, RequestError> {
        self.create_with_id(requester, name, StackId(SystemIds::default().next()), request).await
    }

    /// Creates a stack with an id that was chosen before.
    pub(super) async fn create_with_id(
        &self,
        requester: &Requester,
        name: &str,
        id: StackId,
        request: StackRequest,
    ) -> Result<StackId, RequestError> {
        self.create_stack(requester, (name, id), request, None).await
    }

    /// Creates a stack from objects that exist already, which the export of their former stack describes.
    pub async fn adopt(
        &self,
        requester: &Requester,
        name: &str,
        mut request: StackRequest,
        data: &str,
    ) -> Result<StackId, RequestError> {
        if !self.rules.allows_adopt {
            return Err(RequestError::unsupported("Stack Adopt"));
        }
        let share = self.workers.share(requester.project.clone());
        let adopted = share.work_on(data.len(), || read_adopted(data)).await?;
        refuse_stars(&adopted, |name| request.parameters.contains_key(name))?;
        let adopted = Sealing::new(&*self.store, &requester.project, &adopted).open(&adopted)?;
        let bad = |why: &str| {
            RequestError::new(ErrorType::HttpBadRequest, format!("Invalid adopt data: {why}"))
        };
        let template = adopted.get("template").ok_or_else(|| bad("'template'"))?;
        request.template = TemplateSource::Object(template.clone());
        if let Some(environment) = adopted.get("environment") {
            let (former, _) = Environment::from_value(environment);
            let mut parameters = former.parameters.clone();
            parameters.extend(std::mem::take(&mut request.parameters));
            request.parameters = parameters;
        }
        if let Some(files) = adopted.get("files").and_then(Value::as_map) {
            for (name, text) in files {
                if let Some(text) = text.as_text() {
                    request.files.entry(name.clone()).or_insert_with(|| text.clone());
                }
            }
        }
        let resources = adopted.get("resources").and_then(Value::as_map).cloned();
        let new = (name, StackId(SystemIds::default().next()));
        self.create_stack(requester, new, request, Some(Arc::new(resources.unwrap_or_default())))
            .await
    }

    async fn create_stack(
        &self,
        requester: &Requester,
        (name, id): (&str, StackId),
        request: StackRequest,
        adopted: Option<Arc<Members>>,
    ) -> Result<StackId, RequestError> {
        self.check_makers(request.makers)?;
        self.check_free(requester, name).await?;
        self.check_quota(requester).await?;
        let (_, recipe) = self.validate_new(requester, name, Some(id), &request).await?;
        let loan = self.delegate(requester, id).await?;
        let credential = Some(loan.credential.clone());
        let new = NewStack {
            id,
            name: name.into(),
            project: requester.project.clone(),
            user_name: requester.user_name.clone(),
            settings: StackSettings { credential, ..request.settings.clone() },
            recipe: Arc::new(recipe),
            adopted,
            makers: request.makers,
            request: RequestId::current(),
        };
        let written = self.write_new_stack(new, self.max_stacks(requester)).await;
        self.commit_delegation(Some(loan), written).await?;
        tracing::info!(stack = %id, name, "stack accepted");
        Ok(id)
    }

    async fn write_new_stack(
        &self,
        new: NewStack,
        max_stacks: Option<u64>,
    ) -> Result<(), RequestError> {
        match &self.engine {
            Some(engine) => engine.create(new, max_stacks).await?,
            None => {
                let config = self.config.clone();
                let root = new.id;
                let (rows, mut tree) = crate::runtime::new_tree(config, new, None, max_stacks)?;
                self.store.create_tree(rows).await?;
                self.config.wakeups.send(Wakeup::Work(root));
                self.publish(&mut tree);
            }
        }
        Ok(())
    }

    /// Publishes the first events of a tree that is durable now, and that an engine in another process continues.
    fn publish(&self, tree: &mut Tree) {
        let outbox = tree.take_outbox();
        if let Some(listener) = &self.config.listener {
            listener.notify(outbox.notifications);
        }
        if !outbox.events.is_empty() {
            let (transport, by) = (self.transport.clone(), tree.credential.clone());
            let metrics = self.config.metrics.clone();
            let events = post_events(transport, metrics, outbox.sinks, outbox.events, by);
            spawn("event sinks", events);
        }
    }

    /// Previews a stack.
    pub async fn preview(
        &self,
        requester: &Requester,
        name: &str,
        request: &StackRequest,
    ) -> Result<StackPreview, RequestError> {
        self.check_free(requester, name).await?;
        let (report, recipe) = self.validate_new(requester, name, None, request).await?;
        let Some(definition) = report.definition else {
            return Err(RequestError::new(
                ErrorType::StackValidationFailed,
                "The template cannot be read.",
            ));
        };
        let name: Arc<str> = name.into();
        let new = NewRoot { name: &name, project: &requester.project, recipe: &recipe };
        let foresee = || {
            let resources = preview::create(&self.config, new)?;
            let outputs = preview::outputs(&definition, &resources);
            Ok((resources, outputs))
        };
        let (resources, outputs) =
            self.work(&requester.project, foresee).await?.map_err(|message: String| {
                RequestError::new(ErrorType::StackValidationFailed, message)
            })?;
        Ok(StackPreview { name, definition, resources, outputs })
    }

    /// Validates a template without creating a stack.
    pub async fn validate(
        &self,
        requester: &Requester,
        request: &StackRequest,
    ) -> Result<(Report, Sources), RequestError> {
        let subject = Subject { name: "", id: None, project: &requester.project };
        let ValidatedRequest { mut report, sources } =
            self.validate_request(requester, &subject, request, Checks::TEMPLATE).await?;
        if report.has_errors() {
            return Err(RequestError::from_diagnostics(&report.diagnostics, &sources, true));
        }
        // The recipe takes the environment.
        let environment = report.environment.clone();
        let recipe = self.sized_recipe(requester, "", request, &mut report).await?;
        let new = NewRoot { name: &"".into(), project: &requester.project, recipe: &recipe };
        let check = || preview::check_values(&self.config, new);
        self.work(&requester.project, check).await??;
        Ok((Report { environment, ..report }, sources))
    }

    /// The recipe of a new stack, unless the tree would be larger than the operator allows.
    async fn sized_recipe(
        &self,
        requester: &Requester,
        name: &str,
        request: &StackRequest,
        report: &mut Report,
    ) -> Result<Recipe, RequestError> {
        let is_flat = self.is_flat(report);
        let recipe = recipe(&self.config, requester, request, report);
        if !is_flat {
            let new = NewRoot { name: &name.into(), project: &requester.project, recipe: &recipe };
            let check = || preview::check_size(&self.config, new);
            self.work(&requester.project, check).await??;
        }
        Ok(recipe)
    }

    /// The parameters of nested templates, by resource; `None` if there are no nested templates, or if they depend on
    /// values that are not known.
    pub async fn nested_parameters(
        &self,
        requester: &Requester,
        request: &StackRequest,
        mut report: Report,
    ) -> Result<Option<Value>, RequestError> {
        let recipe = recipe(&self.config, requester, request, &mut report);
        let new = NewRoot { name: &"".into(), project: &requester.project, recipe: &recipe };
        let foresee = || nested_parameters(&preview::create(&self.config, new).ok()?);
        self.work(&requester.project, foresee).await
    }

    pub(super) async fn validate_new(
        &self,
        requester: &Requester,
        name: &str,
        id: Option<StackId>,
        request: &StackRequest,
    ) -> Result<(Report, Recipe), RequestError> {
        let subject = Subject { name, id, project: &requester.project };
        let validated = self.validate_request(requester, &subject, request, Checks::CREATE).await?;
        // The error of a template that cannot be read at all comes first.
        if validated.report.template.is_some() {
            check_name(name)?;
        }
        let mut report = validated.into_report(requester)?;
        self.check_remote_stacks(requester, request, &report).await?;
        let recipe = self.sized_recipe(requester, name, request, &mut report).await?;
        Ok((report, recipe))
    }

    pub(super) async fn check_free(
        &self,
        requester: &Requester,
        name: &str,
    ) -> Result<(), RequestError> {
        match self.store.stack_by_name(&requester.project, name).await? {
            None => Ok(()),
            Some(_) => {
                let message = format!("The Stack ({name}) already exists.");
                Err(RequestError::new(ErrorType::StackExists, message))
            }
        }
    }

    /// How many stacks the project of a requester may have.
    fn max_stacks(&self, requester: &Requester) -> Option<u64> {
        self.rules.max_stacks.filter(|_| !requester.is_admin)
    }

    /// A first check that spares the work of a request that will be refused; the store counts when it adds the stack.
    async fn check_quota(&self, requester: &Requester) -> Result<(), RequestError> {
        let Some(limit) = self.max_stacks(requester) else { return Ok(()) };
        let query =
            StackQuery { project: Some(requester.project.clone()), ..StackQuery::default() };
        match self.store.count_stacks(&query).await? >= limit {
            false => Ok(()),
            true => Err(CreateError::QuotaExceeded(limit).into()),
        }
    }
}

/// The parameters of the templates of resources.
fn nested_parameters(forecasts: &[Forecast]) -> Option<Value> {
    let described = forecasts.iter().filter_map(|forecast| {
        let inside = forecast.nested.as_ref()?;
        let mut described = Members::new();
        described.insert("Type".into(), Value::Text(forecast.resource.type_name.clone()));
        described.extend(inside.as_map().cloned().unwrap_or_default());
        // The members of a group are all alike.
        let shown = match forecast.is_group {
            true => &forecast.inside[..forecast.inside.len().min(1)],
            false => &forecast.inside,
        };
        let below = nested_parameters(shown);
        described.extend(below.map(|below| ("NestedParameters".into(), below)));
        Some((forecast.resource.name.clone(), Value::Map(Arc::new(described))))
    });
    let described: Members = described.collect();
    (!described.is_empty()).then(|| Value::Map(Arc::new(described)))
}

fn read_adopted(data: &str) -> Result<Members, RequestError> {
    let file = Sources::new().add("adopt data", data);
    let (node, _) = read::read(file, data, &Limits { max_bytes: usize::MAX, ..Limits::default() });
    match node.map(|node| Value::from(&node)) {
        Some(Value::Map(members)) => Ok(members.as_ref().clone()),
        _ => {
            Err(RequestError::new(ErrorType::HttpBadRequest, "Invalid adopt data: it is not a map"))
        }
    }
}
