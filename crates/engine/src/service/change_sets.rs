//! Change sets: creates and updates of stacks that are kept until they are executed or deleted.
//!
//! A change set is a request that was validated and previewed. Its execution is an ordinary create or update with that
//! request. A change set whose stack has changed since is obsolete, because its preview no longer holds.

use super::{Patch, RequestError, Requester, Service, StackRequest, TemplateSource};
use crate::error_type::ErrorType;
use crate::ids::{Ids, StackId};
use crate::machine::StackSettings;
use crate::objects::{ObjectKind, ObjectQuery, ObjectRow};
use crate::preview::{Fate, Forecast};
use crate::record::v1::{ChangeBody, ChangeName, ChangeSetBody};
use crate::record::{Id, Record};
use crate::runtime::{SystemIds, now};
use crate::store::StackRow;
use crate::time::Time;
use kiln_template::Value;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// How many change sets a project may have.
const MAX_CHANGE_SETS: u64 = 1000;

/// Why a change set without changes cannot be executed; clients look for this text.
const NO_CHANGES: &str = "The submitted information didn't contain changes. Submit different information to create a change set.";

/// A change set that is to be kept.
pub struct NewChangeSet {
    /// Its name.
    pub name: Arc<str>,
    /// What its author says about it.
    pub description: Option<Arc<str>>,
    /// The request. Its parameters are texts, and it has no files.
    pub request: StackRequest,
    /// What the stack keeps.
    pub patch: Patch,
}

/// What would be done with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It would be created.
    Add,
    /// It would be updated.
    Update,
    /// It would be replaced.
    Replace,
    /// It would be deleted.
    Remove,
}

/// One change of a change set.
#[derive(Clone, Debug)]
pub struct Change {
    /// The resource.
    pub resource: Arc<str>,
    /// Its type.
    pub type_name: Arc<str>,
    /// The id of its object, if there is one.
    pub physical_id: Option<Arc<str>>,
    /// What would be done with it.
    pub kind: ChangeKind,
}

/// What can be done with a change set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeSetState {
    /// It can be executed.
    Available,
    /// It was executed.
    Executed,
    /// Its stack has changed since.
    Obsolete,
    /// There is nothing to execute, for this reason.
    Failed(Arc<str>),
}

/// A change set.
#[derive(Clone, Debug)]
pub struct ChangeSet {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: Arc<str>,
    /// The name of the stack.
    pub stack_name: Arc<str>,
    /// The id of the stack, which may be yet to be created.
    pub stack: StackId,
    /// Whether the stack is to be created.
    pub creates: bool,
    /// What its author says about it.
    pub description: Option<Arc<str>>,
    /// When it was made.
    pub created: Time,
    /// The names of the parameters that it gives values to.
    pub parameters: Vec<Arc<str>>,
    /// The changes.
    pub changes: Vec<Change>,
    /// What can be done with it.
    pub state: ChangeSetState,
}

impl Service {
    /// Keeps the creation of a stack as a change set.
    pub async fn add_create_change_set(
        &self,
        requester: &Requester,
        stack_name: &str,
        new: NewChangeSet,
    ) -> Result<ChangeSet, RequestError> {
        self.check_new_name(requester, stack_name, &new.name).await?;
        let preview = self.preview(requester, stack_name, &new.request).await?;
        let others = self.change_set_rows(requester, stack_name).await?;
        let pending = others.iter().find(|(_, body)| body.creates && !body.is_executed);
        // Several change sets may be made for a stack that is to be created.
        let stack = pending.map_or_else(|| SystemIds::default().next(), |(_, body)| body.stack.0);
        let changes = changes(&preview.resources);
        let body = body(&new, StackId(stack), changes, None, None);
        self.put_change_set(requester, stack_name, ChangeSetBody { creates: true, ..body }).await
    }

    /// Keeps the update of a stack as a change set.
    pub async fn add_update_change_set(
        &self,
        requester: &Requester,
        stack: &StackRow,
        new: NewChangeSet,
    ) -> Result<ChangeSet, RequestError> {
        self.check_new_name(requester, &stack.summary.name, &new.name).await?;
        if Service::is_in_progress(stack) {
            let message =
                format!("Stack {} is in {} state", stack.summary.name, stack.summary.state);
            return Err(RequestError::new(ErrorType::ActionInProgress, message));
        }
        let (request, patch) = (new.request.clone(), &new.patch);
        let forecasts = self.preview_update(requester, stack, request, patch).await?;
        let changes = changes(&forecasts);
        let is_same = changes.is_empty() && self.is_same(stack, &new).await?;
        let failure = is_same.then(|| NO_CHANGES.into());
        let body = body(&new, stack.id, changes, failure, Some(base_of(stack)));
        self.put_change_set(requester, &stack.summary.name, body).await
    }

    /// The change sets of a stack, or of all stacks of the project; the oldest first.
    pub async fn change_sets(
        &self,
        requester: &Requester,
        stack_name: &str,
    ) -> Result<Vec<ChangeSet>, RequestError> {
        let mut found = Vec::new();
        for (row, body) in self.change_set_rows(requester, stack_name).await? {
            found.push(self.shown_change_set(requester, row, body).await?);
        }
        Ok(found)
    }

    /// The change set of an id, if it belongs to the project.
    pub async fn change_set(
        &self,
        requester: &Requester,
        id: Uuid,
    ) -> Result<Option<ChangeSet>, RequestError> {
        match self.change_set_row(requester, id).await? {
            None => Ok(None),
            Some((row, body)) => self.shown_change_set(requester, row, body).await.map(Some),
        }
    }

    /// The stacks of the project that are to be created by change sets: the first change set of each.
    pub async fn reviewed_stacks(
        &self,
        requester: &Requester,
        stack_name: Option<&str>,
    ) -> Result<Vec<ChangeSet>, RequestError> {
        let mut found: Vec<ChangeSet> =
            self.change_sets(requester, stack_name.unwrap_or_default()).await?;
        found.retain(|it| it.creates && it.state == ChangeSetState::Available);
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|it| seen.insert(it.stack.0));
        Ok(found)
    }

    /// Executes a change set, which must be available.
    pub async fn execute_change_set(
        &self,
        requester: &Requester,
        id: Uuid,
        is_rolled_back: Option<bool>,
    ) -> Result<(), RequestError> {
        let Some((row, body)) = self.change_set_row(requester, id).await? else {
            return Err(RequestError::not_found("ChangeSet", &id.to_string()));
        };
        let (mut request, patch) = request_of(&body);
        if is_rolled_back.is_some() {
            request.settings.is_rolled_back = is_rolled_back;
        }
        if body.creates {
            let stack = StackId(body.stack.0);
            self.create_with_id(requester, &row.subject, stack, request).await?;
        } else {
            let stack = self.identify(requester, &body.stack.0.to_string()).await?;
            self.update(requester, &stack, request, &patch).await?;
        }
        let executed = ChangeSetBody { is_executed: true, ..body };
        let row = ObjectRow { updated: Some(now()), body: executed.encode(), ..row };
        Ok(self.store.put_object(row).await?)
    }

    /// Deletes a change set.
    pub async fn delete_change_set(&self, id: Uuid) -> Result<(), RequestError> {
        self.store.drop_object(ObjectKind::ChangeSet, id).await?;
        Ok(())
    }

    async fn check_new_name(
        &self,
        requester: &Requester,
        stack_name: &str,
        name: &str,
    ) -> Result<(), RequestError> {
        let rows = self.change_set_rows(requester, stack_name).await?;
        match rows.iter().any(|(_, body)| *body.name == *name) {
            false => Ok(()),
            true => {
                let message = format!("ChangeSet {name} already exists for stack {stack_name}");
                Err(RequestError::new(ErrorType::StackExists, message))
            }
        }
    }

    async fn put_change_set(
        &self,
        requester: &Requester,
        stack_name: &str,
        body: ChangeSetBody,
    ) -> Result<ChangeSet, RequestError> {
        let row = ObjectRow {
            id: SystemIds::default().next(),
            kind: ObjectKind::ChangeSet,
            project: requester.project.clone(),
            subject: stack_name.into(),
            uses: Some(body.stack.0),
            created: now(),
            updated: None,
            body: body.encode(),
        };
        if !self.store.put_object_within(row.clone(), MAX_CHANGE_SETS).await? {
            let message =
                format!("A project has {MAX_CHANGE_SETS} change sets at most; delete some");
            return Err(RequestError::new(ErrorType::RequestLimitExceeded, message));
        }
        self.shown_change_set(requester, row, body).await
    }

    /// The stored change sets of a stack of the project; of all stacks without a name.
    async fn change_set_rows(
        &self,
        requester: &Requester,
        stack_name: &str,
    ) -> Result<Vec<(ObjectRow, ChangeSetBody)>, RequestError> {
        let subject = (!stack_name.is_empty()).then(|| Arc::from(stack_name));
        let project = Some(requester.project.clone());
        let query = ObjectQuery { project, subject, ..ObjectQuery::new(ObjectKind::ChangeSet) };
        let rows = self.store.objects(&query).await?;
        let read = |row: ObjectRow| {
            let body = ChangeSetBody::read(&row.body, row.id)?;
            Ok((row, body))
        };
        rows.into_iter().map(read).collect()
    }

    async fn change_set_row(
        &self,
        requester: &Requester,
        id: Uuid,
    ) -> Result<Option<(ObjectRow, ChangeSetBody)>, RequestError> {
        let row = self.store.object(ObjectKind::ChangeSet, id).await?;
        let Some(row) = row.filter(|row| row.project == requester.project) else {
            return Ok(None);
        };
        let body = ChangeSetBody::read(&row.body, row.id)?;
        Ok(Some((row, body)))
    }

    async fn shown_change_set(
        &self,
        requester: &Requester,
        row: ObjectRow,
        body: ChangeSetBody,
    ) -> Result<ChangeSet, RequestError> {
        let stack = self.store.stack_by_name(&requester.project, &row.subject).await?;
        let is_current = match (&stack, body.creates) {
            (None, creates) => creates,
            (Some(_), true) => false,
            (Some(stack), false) => {
                stack.id.0 == body.stack.0 && body.base.as_deref() == Some(&*base_of(stack))
            }
        };
        let state = match (body.is_executed, &body.failure, is_current) {
            (true, ..) => ChangeSetState::Executed,
            (_, Some(why), _) => ChangeSetState::Failed(why.clone()),
            (.., false) => ChangeSetState::Obsolete,
            _ => ChangeSetState::Available,
        };
        Ok(ChangeSet {
            id: row.id,
            name: body.name,
            stack_name: row.subject,
            stack: StackId(body.stack.0),
            creates: body.creates,
            description: body.description,
            created: row.created,
            parameters: body.parameters.into_iter().map(|(name, _)| name).collect(),
            changes: body.changes.into_iter().map(Change::from).collect(),
            state,
        })
    }

    /// Whether a request without changes of resources has the template and the values of the stack.
    async fn is_same(&self, stack: &StackRow, new: &NewChangeSet) -> Result<bool, RequestError> {
        let view = self.view(stack).await?;
        let root = view.root();
        let template = match &new.request.template {
            TemplateSource::Missing => true,
            other => root.template_text().is_some_and(|text| text == other.text()),
        };
        let current = root.recipe().environment.parameters.clone();
        let given = &new.request.parameters;
        let is_given = given.iter().all(|(name, value)| {
            current.get(name).is_some_and(|it| it.value.exposed() == value.value.exposed())
        });
        let is_kept = current.keys().all(|name| {
            given.contains_key(name) || new.patch.is_partial && !new.patch.cleared.contains(name)
        });
        Ok(template && is_given && is_kept)
    }
}

/// What a stack is compared with later: its state, and when it was last changed.
fn base_of(stack: &StackRow) -> Arc<str> {
    let updated = stack.summary.updated.map_or(0, Time::micros);
    format!("{} {updated}", stack.summary.state).into()
}

fn body(
    new: &NewChangeSet,
    stack: StackId,
    changes: Vec<ChangeBody>,
    failure: Option<Arc<str>>,
    base: Option<Arc<str>>,
) -> ChangeSetBody {
    let text =
        |value: &Value| -> Arc<str> { value.exposed().as_text().cloned().unwrap_or_default() };
    let parameters = new.request.parameters.iter();
    ChangeSetBody {
        name: new.name.clone(),
        stack: Id(stack.0),
        creates: false,
        description: new.description.clone(),
        template: match &new.request.template {
            TemplateSource::Missing => None,
            template => Some(template.text()),
        },
        parameters: parameters.map(|(name, it)| (name.clone(), text(&it.value))).collect(),
        is_partial: new.patch.is_partial,
        cleared: new.patch.cleared.clone(),
        timeout: new.request.settings.timeout.map(|it| it.as_secs()),
        is_rolled_back: new.request.settings.is_rolled_back,
        changes,
        failure,
        base,
        is_executed: false,
    }
}

/// The request that a change set keeps.
fn request_of(body: &ChangeSetBody) -> (StackRequest, Patch) {
    let parameters = body.parameters.iter();
    let parameters = parameters.map(|(name, it)| (name.clone(), Value::Text(it.clone()).into()));
    let request = StackRequest {
        template: body.template.clone().map(TemplateSource::Text).unwrap_or_default(),
        parameters: parameters.collect(),
        settings: StackSettings {
            timeout: body.timeout.map(Duration::from_secs),
            is_rolled_back: body.is_rolled_back,
            ..StackSettings::default()
        },
        ..StackRequest::default()
    };
    (request, Patch { is_partial: body.is_partial, cleared: body.cleared.clone() })
}

fn changes(forecasts: &[Forecast]) -> Vec<ChangeBody> {
    let change = |forecast: &Forecast| {
        let fate = match forecast.fate {
            // A preview with a refused resource fails as a whole.
            Fate::Unchanged | Fate::Refused => return None,
            Fate::Added => ChangeName::Add,
            Fate::Updated => ChangeName::Update,
            Fate::Replaced => ChangeName::Replace,
            Fate::Deleted => ChangeName::Remove,
        };
        let resource = &forecast.resource;
        let physical_id = resource.current.as_ref().and_then(|it| it.physical_id.clone());
        Some(ChangeBody {
            resource: resource.name.clone(),
            type_name: resource.type_name.clone(),
            physical_id,
            fate,
        })
    };
    forecasts.iter().filter_map(change).collect()
}

impl From<ChangeBody> for Change {
    fn from(body: ChangeBody) -> Change {
        Change {
            resource: body.resource,
            type_name: body.type_name,
            physical_id: body.physical_id,
            kind: match body.fate {
                ChangeName::Add => ChangeKind::Add,
                ChangeName::Update => ChangeKind::Update,
                ChangeName::Replace => ChangeKind::Replace,
                ChangeName::Remove => ChangeKind::Remove,
            },
        }
    }
}
