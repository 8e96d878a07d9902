//! The REST interface of a type's objects, as data that an operator's YAML file can express as well.

use crate::behaviour::{Behaviour, Handler, OperationKind};
use crate::constraints::CustomConstraint;
use crate::declare::{Name, ResourceType};
use crate::op::Op;
use kiln_cloud::{CallPath, PathTemplate, Service};
use serde_json::{Map, Value as Json};
use std::sync::Arc;

/// The REST interface of a type's objects.
#[derive(Clone, Debug)]
pub struct RestSpec {
    /// The service.
    pub service: Service,
    /// The path of the collection; a name in braces stands for the value of that property.
    pub path: PathTemplate,
    /// The key around one object; empty if there is none.
    pub envelope: Name,
    /// Whether only replies have the envelope, and requests do not.
    pub bare_requests: bool,
    /// The key around a list of objects.
    pub list_envelope: Name,
    /// The field with the object's id.
    pub id: Name,
    /// Properties whose field has another name, with that name. A member of a map, or of the maps in a list,
    /// is given by its path: `fixed_ips.subnet`.
    pub field_names: Vec<(Name, Name)>,
    /// Fields that have another name in updates, with that name.
    pub update_field_names: Vec<(Name, Name)>,
    /// The properties that are not sent.
    pub unsent: Vec<Name>,
    /// Fields with a constant value in every create request.
    pub constant_fields: Vec<(Name, Json)>,
    /// How an object is changed.
    pub update_method: UpdateMethod,
    /// When an object is ready.
    pub readiness: Readiness,
    /// The field for the mark if the user chose the object's name, or if objects have no name.
    pub mark_field: Option<Name>,
    /// A list of strings that the mark is added to if no other field can have it.
    pub mark_tag: Option<Name>,
    /// Whether an object is created with the mark in place of the user's value, and gets that value by an update.
    pub marks_then_renames: bool,
    /// The fields that identify an object uniquely: the mark of objects that have no field for one.
    pub unique: Vec<Name>,
    /// Properties that may have an object's name in place of its id though their schema does not say so.
    pub finds: Vec<(Name, Name)>,
    /// What follows the path to list all objects, if the list cannot be filtered by the mark.
    pub list_suffix: Option<ListSuffix>,
    /// Statuses which mean that the service is busy with the object: the call is repeated.
    pub retried_statuses: Vec<u16>,
    /// Whether a deletion is complete only when the object is not found any more.
    pub awaits_deletion: bool,
    /// The microversion of its calls, if it is not the service's usual one.
    pub microversion: Option<Name>,
    /// Properties that the service returns in another form: they are not compared for drift.
    pub uncompared: Vec<Name>,
    /// Attributes whose field has another path, with that path: names with dots between them.
    pub attribute_paths: Vec<(Name, Name)>,
    /// Adjusts the fields before they are sent.
    pub adjust_fields: Option<FieldAdjuster>,
    /// Runs after a create or an update, before the object is polled.
    pub after_write: Option<Handler>,
}

/// What follows the path of a collection to list all objects, such as `/detail` or `?limit=1000`.
#[derive(Clone, Debug)]
pub struct ListSuffix {
    path: Option<PathTemplate>,
    /// The query parameters.
    pub query: Vec<(String, String)>,
}

impl ListSuffix {
    /// A suffix from a text; `None` if it is neither a path nor a query.
    pub fn parse(text: &str) -> Option<ListSuffix> {
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let path = match path {
            "" => None,
            path => Some(PathTemplate::parse(path).filter(|path| path.names().next().is_none())?),
        };
        let query = query.split('&').filter_map(|pair| pair.split_once('='));
        let query = query.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Some(ListSuffix { path, query })
    }

    /// The path of the list below that of the collection.
    pub fn below(&self, collection: CallPath) -> CallPath {
        match &self.path {
            Some(path) => collection.filled(path, |_| None),
            None => collection,
        }
    }
}

/// Adjusts the fields of a create or update request.
pub type FieldAdjuster = fn(&Op, OperationKind, &mut Map<String, Json>);

/// How an object is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateMethod {
    /// PUT with the changed fields.
    Put,
    /// PATCH with the changed fields.
    Patch,
    /// PATCH with a JSON patch of this content type.
    JsonPatch(Name),
    /// Not at all.
    Never,
}

/// When an object is ready.
#[derive(Clone, Debug, Default)]
pub struct Readiness {
    /// The field with the status; empty if an object is ready as soon as it exists.
    pub status: Name,
    /// The statuses of an object in progress.
    pub waiting: Vec<Name>,
    /// The statuses of a ready object; without any, all others.
    pub done: Vec<Name>,
    /// The statuses of a failed object.
    pub failed: Vec<Name>,
    /// The statuses of a failed object that can still be changed, and so need not be replaced.
    pub degraded: Vec<Name>,
    /// The statuses of a deleted object that can still be read.
    pub gone: Vec<Name>,
    /// The field with the reason of a failure.
    pub reason: Name,
    /// The reason if the service has none.
    pub because: Name,
    /// What the message for an unknown status begins with; by default the envelope.
    pub unknown: Name,
}

impl RestSpec {
    /// Objects at a path, in an envelope; the list's envelope has an `s` appended.
    pub fn new(service: Service, path: impl Into<PathTemplate>, one: impl Into<Name>) -> RestSpec {
        let one = one.into();
        let many = if one.is_empty() { "".into() } else { format!("{one}s").into() };
        RestSpec {
            service,
            path: path.into(),
            envelope: one,
            bare_requests: false,
            list_envelope: many,
            id: "id".into(),
            field_names: Vec::new(),
            update_field_names: Vec::new(),
            unsent: Vec::new(),
            constant_fields: Vec::new(),
            update_method: UpdateMethod::Put,
            readiness: Readiness::default(),
            mark_field: None,
            mark_tag: None,
            marks_then_renames: false,
            unique: Vec::new(),
            finds: Vec::new(),
            list_suffix: None,
            retried_statuses: Vec::new(),
            awaits_deletion: true,
            microversion: None,
            uncompared: Vec::new(),
            attribute_paths: Vec::new(),
            adjust_fields: None,
            after_write: None,
        }
    }

    /// Requests have no envelope.
    pub fn bare_requests(mut self) -> RestSpec {
        self.bare_requests = true;
        self
    }

    /// Sets the envelope of lists, if it is not the envelope with an `s`.
    pub fn list_envelope(mut self, many: impl Into<Name>) -> RestSpec {
        self.list_envelope = many.into();
        self
    }

    /// Sets the field with the id, if it is not `id`.
    pub fn id(mut self, id: impl Into<Name>) -> RestSpec {
        self.id = id.into();
        self
    }

    /// Sets the field of a property with another name.
    pub fn field(mut self, property: impl Into<Name>, field: impl Into<Name>) -> RestSpec {
        self.field_names.push((property.into(), field.into()));
        self
    }

    /// Sets the name that a field has in updates, if it is another one.
    pub fn field_in_updates(mut self, field: &'static str, other: &'static str) -> RestSpec {
        self.update_field_names.push((field.into(), other.into()));
        self
    }

    /// Properties that are not sent.
    pub fn unsent<const N: usize>(mut self, properties: [&'static str; N]) -> RestSpec {
        self.unsent.extend(properties.map(Name::Borrowed));
        self
    }

    /// Adds a field with a constant value to every create request.
    pub fn constant_field(mut self, field: impl Into<Name>, value: impl Into<Json>) -> RestSpec {
        self.constant_fields.push((field.into(), value.into()));
        self
    }

    /// Sets how an object is changed; the default is PUT.
    pub fn update_method(mut self, method: UpdateMethod) -> RestSpec {
        self.update_method = method;
        self
    }

    /// Sets when an object is ready; by default as soon as it exists.
    pub fn readiness(mut self, ready: Readiness) -> RestSpec {
        self.readiness = ready;
        self
    }

    /// Sets the field for the mark if the user chose the object's name, or if objects have no name.
    pub fn mark_field(mut self, field: impl Into<Name>) -> RestSpec {
        self.mark_field = Some(field.into());
        self
    }

    /// An object is created with the mark even if the user chose every field that could have it, and an update sets the
    /// user's value, or none. So a foreign object is never mistaken for the resource's own, and users do not see the mark.
    pub fn marks_then_renames(mut self) -> RestSpec {
        self.marks_then_renames = true;
        self
    }

    /// An object cannot be updated right after its creation: the mark is only in fields that the user left free.
    pub fn keeps_mark(mut self) -> RestSpec {
        self.marks_then_renames = false;
        self
    }

    /// Sets the fields that identify an object uniquely, because the service rejects a second one.
    pub fn unique<const N: usize>(mut self, fields: [&'static str; N]) -> RestSpec {
        self.unique = fields.map(Name::Borrowed).into();
        self
    }

    /// Accepts the names of objects of a kind in place of their ids in a property.
    pub fn finds(mut self, property: &'static str, kind: CustomConstraint) -> RestSpec {
        self.finds.push((property.into(), kind.into()));
        self
    }

    /// Sets what follows the path to list all objects, such as `/detail` or `?limit=1000`, for services whose
    /// lists cannot be filtered by the mark.
    pub fn list_suffix(mut self, behind: &'static str) -> RestSpec {
        self.list_suffix = ListSuffix::parse(behind);
        self
    }

    /// Repeats calls that the service answers with a conflict, because it is busy with the object.
    pub fn retries_conflicts(mut self) -> RestSpec {
        self.retried_statuses = vec![409];
        self
    }

    /// A deletion is complete when the service accepted it; the object is not polled.
    pub fn deleted_at_once(mut self) -> RestSpec {
        self.awaits_deletion = false;
        self
    }

    /// Sets the microversion of the calls.
    pub fn microversion(mut self, version: impl Into<Name>) -> RestSpec {
        self.microversion = Some(version.into());
        self
    }

    /// Adjusts the fields before they are sent.
    pub fn adjust_fields(mut self, shape: FieldAdjuster) -> RestSpec {
        self.adjust_fields = Some(shape);
        self
    }

    /// Runs a handler after a create or an update, before the object is polled.
    pub fn after_write(mut self, after: Handler) -> RestSpec {
        self.after_write = Some(after);
        self
    }
}

impl Readiness {
    /// Ready in some statuses, failed in others, in progress in the rest.
    pub fn when<const D: usize, const F: usize>(
        status: &'static str,
        done: [&'static str; D],
        failed: [&'static str; F],
    ) -> Readiness {
        let names = |names: &[&'static str]| names.iter().copied().map(Name::Borrowed).collect();
        Readiness {
            status: status.into(),
            done: names(&done),
            failed: names(&failed),
            ..Readiness::default()
        }
    }

    /// In progress in these statuses; any other status is unknown, which is an error.
    pub fn waiting<const N: usize>(mut self, waiting: [&'static str; N]) -> Readiness {
        self.waiting = waiting.map(Name::Borrowed).into();
        self
    }

    /// Sets the reason of a failure if the service has none, and the message for an unknown status.
    pub fn words(mut self, because: &'static str, unknown: &'static str) -> Readiness {
        self.because = because.into();
        self.unknown = unknown.into();
        self
    }

    /// Sets the statuses of a failed object that can still be changed, and so need not be replaced.
    pub fn degraded<const N: usize>(mut self, degraded: [&'static str; N]) -> Readiness {
        self.degraded = degraded.map(Name::Borrowed).into();
        self
    }

    /// Sets the statuses of a deleted object that can still be read.
    pub fn gone<const N: usize>(mut self, gone: [&'static str; N]) -> Readiness {
        self.gone = gone.map(Name::Borrowed).into();
        self
    }

    /// Sets the field with the reason of a failure.
    pub fn reason(mut self, field: &'static str) -> Readiness {
        self.reason = field.into();
        self
    }
}

impl ResourceType {
    /// Adjusts the fields of its objects before they are sent.
    pub fn adjust_fields(mut self, shape: FieldAdjuster) -> ResourceType {
        if let Some(spec) = &mut self.behaviour.rest {
            Arc::make_mut(spec).adjust_fields = Some(shape);
        }
        self
    }

    /// Sets the generic handlers for a REST interface. Handlers that were set before stay; those that are set
    /// later replace these.
    pub fn rest(mut self, spec: RestSpec) -> ResourceType {
        let declared = self.behaviour;
        self.behaviour = Behaviour {
            create: declared.create.or(Some(|op| Box::pin(super::create(op)))),
            update: declared.update.or(Some(|op| Box::pin(super::update(op)))),
            delete: declared.delete.or(Some(|op| Box::pin(super::remove(op)))),
            check: declared.check.or(Some(|op| Box::pin(super::check(op)))),
            finder: declared.finder.or(Some(super::marker)),
            rest: Some(Arc::new(spec)),
            ..declared
        };
        self
    }
}
