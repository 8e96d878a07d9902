//! What there is to say of a plain type: data alone, which an operator's file can spell as well.

use crate::behaviour::{Behaviour, Handler, OperationKind};
use crate::declare::{Name, ResourceType};
use crate::op::Op;
use kiln_cloud::Service;
use serde_json::{Map, Value as Json};
use std::sync::Arc;

/// What a plain type's service needs to be told.
#[derive(Clone, Debug)]
pub struct RestSpec {
    /// The service.
    pub service: Service,
    /// The path of all objects; a word in braces stands for the property of that name.
    pub path: Name,
    /// What stands around one object; nothing if nothing does.
    pub envelope: Name,
    /// Whether nothing stands around an object that is sent, only around one that is shown.
    pub bare_requests: bool,
    /// What stands around many.
    pub list_envelope: Name,
    /// Where an object has its id.
    pub id: Name,
    /// The properties that go by another name, and which. A member of a map, or of the maps in a list,
    /// has the names above it before its own: `fixed_ips.subnet`.
    pub field_names: Vec<(Name, Name)>,
    /// The properties that are not sent.
    pub unsent: Vec<Name>,
    /// Fields that are always sent when an object is made.
    pub constant_fields: Vec<(Name, Json)>,
    /// How an object is changed.
    pub update_method: UpdateMethod,
    /// When an object is ready.
    pub readiness: Readiness,
    /// Where a mark goes if the user chose the object's name, or if it has none.
    pub mark_field: Option<Name>,
    /// A list of texts in which a mark is one more, if there is no other place for it.
    pub mark_tag: Option<Name>,
    /// Whether an object is made with a mark in place of what the user chose, which it gets afterwards.
    pub marks_then_renames: bool,
    /// The fields that together are those of one object at most: the mark of what cannot be labelled.
    pub unique: Vec<Name>,
    /// Properties whose values may be names of such objects though their schema does not say so.
    pub finds: Vec<(Name, Name)>,
    /// How all objects are listed, if not at their path and narrowed down by the mark: what stands behind
    /// the path, such as `/detail` or `?limit=1000`.
    pub list_suffix: Option<Name>,
    /// The answers that only mean that the service is not done with something else yet: what was asked for
    /// is asked again.
    pub retried_statuses: Vec<u16>,
    /// Whether an object is gone only when it is found no more.
    pub awaits_deletion: bool,
    /// The microversion that its calls are written for, if not the usual one.
    pub microversion: Option<Name>,
    /// The properties that the service does not show as they were given: they cannot be compared.
    pub uncompared: Vec<Name>,
    /// The attributes that are shown elsewhere, and where: names with dots between them.
    pub attribute_paths: Vec<(Name, Name)>,
    /// What is done to the fields before they are sent.
    pub adjust_fields: Option<FieldAdjuster>,
    /// What is done once an object is made or changed, before it is waited for.
    pub after_write: Option<Handler>,
}

/// Looks over the fields that are about to be sent, on create or update.
pub type FieldAdjuster = fn(&Op, OperationKind, &mut Map<String, Json>);

/// How an object is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateMethod {
    /// With PUT: what is sent is changed.
    Put,
    /// With PATCH: what is sent is changed.
    Patch,
    /// With PATCH: a list of replacements, of this content type.
    JsonPatch(Name),
    /// Not at all.
    Never,
}

/// When an object is ready.
#[derive(Clone, Debug, Default)]
pub struct Readiness {
    /// Where it has its status; nothing if it is ready as soon as it is there.
    pub status: Name,
    /// It is not ready in these.
    pub waiting: Vec<Name>,
    /// It is ready in these; in every other one if none is named.
    pub done: Vec<Name>,
    /// It will never be in these.
    pub failed: Vec<Name>,
    /// An object that was removed is gone in these, though it is still shown.
    pub gone: Vec<Name>,
    /// Where the service says why.
    pub reason: Name,
    /// Why, if the service does not say it.
    pub because: Name,
    /// What is told of a state that nobody knows; what stands around an object if nothing is said.
    pub unknown: Name,
}

impl RestSpec {
    /// Objects at a path, in an envelope; that of many has an `s` more.
    pub fn new(service: Service, path: impl Into<Name>, one: impl Into<Name>) -> RestSpec {
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

    /// Nothing stands around an object that is sent.
    pub fn bare_requests(mut self) -> RestSpec {
        self.bare_requests = true;
        self
    }

    /// What stands around many objects, if that is not what stands around one with an `s`.
    pub fn list_envelope(mut self, many: impl Into<Name>) -> RestSpec {
        self.list_envelope = many.into();
        self
    }

    /// Where an object has its id, if not in `id`.
    pub fn id(mut self, id: impl Into<Name>) -> RestSpec {
        self.id = id.into();
        self
    }

    /// A property that the service knows by another name.
    pub fn field(mut self, property: impl Into<Name>, field: impl Into<Name>) -> RestSpec {
        self.field_names.push((property.into(), field.into()));
        self
    }

    /// Properties that are not sent.
    pub fn unsent<const N: usize>(mut self, properties: [&'static str; N]) -> RestSpec {
        self.unsent.extend(properties.map(Name::Borrowed));
        self
    }

    /// A field that is always sent when an object is made.
    pub fn constant_field(mut self, field: impl Into<Name>, value: impl Into<Json>) -> RestSpec {
        self.constant_fields.push((field.into(), value.into()));
        self
    }

    /// How an object is changed; with PUT if nothing is said.
    pub fn update_method(mut self, method: UpdateMethod) -> RestSpec {
        self.update_method = method;
        self
    }

    /// When an object is ready; at once if nothing is said.
    pub fn readiness(mut self, ready: Readiness) -> RestSpec {
        self.readiness = ready;
        self
    }

    /// Where a mark goes if the user chose the object's name, or if it has none.
    pub fn mark_field(mut self, field: impl Into<Name>) -> RestSpec {
        self.mark_field = Some(field.into());
        self
    }

    /// If the user chose all that a mark could be in, an object is made with a mark all the same, and gets
    /// what the user chose with a change afterwards. So nobody else's object is ever taken for ours.
    pub fn marks_then_renames(mut self) -> RestSpec {
        self.marks_then_renames = true;
        self
    }

    /// An object cannot be changed right after it was made, or never: its mark is where the user leaves room.
    pub fn keeps_mark(mut self) -> RestSpec {
        self.marks_then_renames = false;
        self
    }

    /// Fields that together are those of one object at most, because the service refuses another.
    pub fn unique<const N: usize>(mut self, fields: [&'static str; N]) -> RestSpec {
        self.unique = fields.map(Name::Borrowed).into();
        self
    }

    /// A property whose value, or each of whose values, may be the name of such an object.
    pub fn finds(mut self, property: &'static str, kind: &'static str) -> RestSpec {
        self.finds.push((property.into(), kind.into()));
        self
    }

    /// How all objects are listed: what stands behind their path, such as `/detail` or `?limit=1000`. For
    /// services whose lists cannot be narrowed down by the mark.
    pub fn list_suffix(mut self, behind: &'static str) -> RestSpec {
        self.list_suffix = Some(behind.into());
        self
    }

    /// A conflict only means that the service is not done with something else yet.
    pub fn retries_conflicts(mut self) -> RestSpec {
        self.retried_statuses = vec![409];
        self
    }

    /// An object that the service agreed to remove is gone: nobody looks whether it is.
    pub fn deleted_at_once(mut self) -> RestSpec {
        self.awaits_deletion = false;
        self
    }

    /// The microversion that its calls are written for.
    pub fn microversion(mut self, version: impl Into<Name>) -> RestSpec {
        self.microversion = Some(version.into());
        self
    }

    /// What is done to the fields before they are sent.
    pub fn adjust_fields(mut self, shape: FieldAdjuster) -> RestSpec {
        self.adjust_fields = Some(shape);
        self
    }

    /// What is done once an object is made or changed, before it is waited for.
    pub fn after_write(mut self, after: Handler) -> RestSpec {
        self.after_write = Some(after);
        self
    }
}

impl Readiness {
    /// It is ready in some states, broken in others, and needs time in the rest.
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

    /// It needs time in these; a state that is named nowhere is a mistake.
    pub fn waiting<const N: usize>(mut self, waiting: [&'static str; N]) -> Readiness {
        self.waiting = waiting.map(Name::Borrowed).into();
        self
    }

    /// What is told of a broken object if the service does not say it, and of a state that nobody knows.
    pub fn words(mut self, because: &'static str, unknown: &'static str) -> Readiness {
        self.because = because.into();
        self.unknown = unknown.into();
        self
    }

    /// An object that was removed is gone in these, though it is still shown.
    pub fn gone<const N: usize>(mut self, gone: [&'static str; N]) -> Readiness {
        self.gone = gone.map(Name::Borrowed).into();
        self
    }

    /// Where the service says why an object is broken.
    pub fn reason(mut self, field: &'static str) -> Readiness {
        self.reason = field.into();
        self
    }
}

impl ResourceType {
    /// What is done to the fields of its plain objects before they are sent.
    pub fn adjust_fields(mut self, shape: FieldAdjuster) -> ResourceType {
        if let Some(spec) = &mut self.behaviour.rest {
            Arc::make_mut(spec).adjust_fields = Some(shape);
        }
        self
    }

    /// Its objects are plain. Handlers that were given before stay; those given after replace these.
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
