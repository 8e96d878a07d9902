//! What there is to say of a plain type: data alone, which an operator's file can spell as well.

use crate::behaviour::{Behaviour, Handler, Verb};
use crate::declare::{Name, ResourceType};
use crate::op::Op;
use kiln_cloud::Service;
use serde_json::{Map, Value as Json};
use std::sync::Arc;

/// What a plain type's service needs to be told.
#[derive(Clone, Debug)]
pub struct Plain {
    /// The service.
    pub service: Service,
    /// The path of all objects; a word in braces stands for the property of that name.
    pub path: Name,
    /// What stands around one object; nothing if nothing does.
    pub one: Name,
    /// Whether nothing stands around an object that is sent, only around one that is shown.
    pub is_bare: bool,
    /// What stands around many.
    pub many: Name,
    /// Where an object has its id.
    pub id: Name,
    /// The properties that go by another name, and which. A member of a map, or of the maps in a list,
    /// has the names above it before its own: `fixed_ips.subnet`.
    pub fields: Vec<(Name, Name)>,
    /// The properties that are not sent.
    pub unsent: Vec<Name>,
    /// Fields that are always sent when an object is made.
    pub always: Vec<(Name, Json)>,
    /// How an object is changed.
    pub change: Change,
    /// When an object is ready.
    pub ready: Ready,
    /// Where a mark goes if the user chose the object's name, or if it has none.
    pub label: Option<Name>,
    /// A list of texts in which a mark is one more, if there is no other place for it.
    pub tag: Option<Name>,
    /// Whether an object is made with a mark in place of what the user chose, which it gets afterwards.
    pub is_dressed: bool,
    /// The fields that together are those of one object at most: the mark of what cannot be labelled.
    pub unique: Vec<Name>,
    /// Properties whose values may be names of such objects though their schema does not say so.
    pub finds: Vec<(Name, Name)>,
    /// How all objects are listed, if not at their path and narrowed down by the mark: what stands behind
    /// the path, such as `/detail` or `?limit=1000`.
    pub listed: Option<Name>,
    /// The answers that only mean that the service is not done with something else yet: what was asked for
    /// is asked again.
    pub retried: Vec<u16>,
    /// Whether an object is gone only when it is found no more.
    pub goes_slowly: bool,
    /// The microversion that its calls are written for, if not the usual one.
    pub microversion: Option<Name>,
    /// The properties that the service does not show as they were given: they cannot be compared.
    pub uncompared: Vec<Name>,
    /// The attributes that are shown elsewhere, and where: names with dots between them.
    pub shown: Vec<(Name, Name)>,
    /// What is done to the fields before they are sent.
    pub shape: Option<Shape>,
    /// What is done once an object is made or changed, before it is waited for.
    pub after: Option<Handler>,
}

/// Looks over the fields that are about to be sent, on create or update.
pub type Shape = fn(&Op, Verb, &mut Map<String, Json>);

/// How an object is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
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
pub struct Ready {
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

impl Plain {
    /// Objects at a path, in an envelope; that of many has an `s` more.
    pub fn at(service: Service, path: impl Into<Name>, one: impl Into<Name>) -> Plain {
        let one = one.into();
        let many = if one.is_empty() { "".into() } else { format!("{one}s").into() };
        Plain {
            service,
            path: path.into(),
            one,
            is_bare: false,
            many,
            id: "id".into(),
            fields: Vec::new(),
            unsent: Vec::new(),
            always: Vec::new(),
            change: Change::Put,
            ready: Ready::default(),
            label: None,
            tag: None,
            is_dressed: false,
            unique: Vec::new(),
            finds: Vec::new(),
            listed: None,
            retried: Vec::new(),
            goes_slowly: true,
            microversion: None,
            uncompared: Vec::new(),
            shown: Vec::new(),
            shape: None,
            after: None,
        }
    }

    /// Nothing stands around an object that is sent.
    pub fn bare(mut self) -> Plain {
        self.is_bare = true;
        self
    }

    /// What stands around many objects, if that is not what stands around one with an `s`.
    pub fn many(mut self, many: impl Into<Name>) -> Plain {
        self.many = many.into();
        self
    }

    /// Where an object has its id, if not in `id`.
    pub fn id(mut self, id: impl Into<Name>) -> Plain {
        self.id = id.into();
        self
    }

    /// A property that the service knows by another name.
    pub fn field(mut self, property: impl Into<Name>, field: impl Into<Name>) -> Plain {
        self.fields.push((property.into(), field.into()));
        self
    }

    /// Properties that are not sent.
    pub fn unsent<const N: usize>(mut self, properties: [&'static str; N]) -> Plain {
        self.unsent.extend(properties.map(Name::Borrowed));
        self
    }

    /// A field that is always sent when an object is made.
    pub fn always(mut self, field: impl Into<Name>, value: impl Into<Json>) -> Plain {
        self.always.push((field.into(), value.into()));
        self
    }

    /// How an object is changed; with PUT if nothing is said.
    pub fn change(mut self, change: Change) -> Plain {
        self.change = change;
        self
    }

    /// When an object is ready; at once if nothing is said.
    pub fn ready(mut self, ready: Ready) -> Plain {
        self.ready = ready;
        self
    }

    /// Where a mark goes if the user chose the object's name, or if it has none.
    pub fn label(mut self, field: impl Into<Name>) -> Plain {
        self.label = Some(field.into());
        self
    }

    /// If the user chose all that a mark could be in, an object is made with a mark all the same, and gets
    /// what the user chose with a change afterwards. So nobody else's object is ever taken for ours.
    pub fn dressed(mut self) -> Plain {
        self.is_dressed = true;
        self
    }

    /// An object cannot be changed right after it was made, or never: its mark is where the user leaves room.
    pub fn undressed(mut self) -> Plain {
        self.is_dressed = false;
        self
    }

    /// Fields that together are those of one object at most, because the service refuses another.
    pub fn unique<const N: usize>(mut self, fields: [&'static str; N]) -> Plain {
        self.unique = fields.map(Name::Borrowed).into();
        self
    }

    /// A property whose value, or each of whose values, may be the name of such an object.
    pub fn finds(mut self, property: &'static str, kind: &'static str) -> Plain {
        self.finds.push((property.into(), kind.into()));
        self
    }

    /// How all objects are listed: what stands behind their path, such as `/detail` or `?limit=1000`. For
    /// services whose lists cannot be narrowed down by the mark.
    pub fn listed(mut self, behind: &'static str) -> Plain {
        self.listed = Some(behind.into());
        self
    }

    /// A conflict only means that the service is not done with something else yet.
    pub fn patient(mut self) -> Plain {
        self.retried = vec![409];
        self
    }

    /// An object that the service agreed to remove is gone: nobody looks whether it is.
    pub fn goes_at_once(mut self) -> Plain {
        self.goes_slowly = false;
        self
    }

    /// The microversion that its calls are written for.
    pub fn microversion(mut self, version: impl Into<Name>) -> Plain {
        self.microversion = Some(version.into());
        self
    }

    /// What is done to the fields before they are sent.
    pub fn shape(mut self, shape: Shape) -> Plain {
        self.shape = Some(shape);
        self
    }

    /// What is done once an object is made or changed, before it is waited for.
    pub fn after(mut self, after: Handler) -> Plain {
        self.after = Some(after);
        self
    }
}

impl Ready {
    /// It is ready in some states, broken in others, and needs time in the rest.
    pub fn when<const D: usize, const F: usize>(
        status: &'static str,
        done: [&'static str; D],
        failed: [&'static str; F],
    ) -> Ready {
        let names = |names: &[&'static str]| names.iter().copied().map(Name::Borrowed).collect();
        Ready {
            status: status.into(),
            done: names(&done),
            failed: names(&failed),
            ..Ready::default()
        }
    }

    /// It needs time in these; a state that is named nowhere is a mistake.
    pub fn waiting<const N: usize>(mut self, waiting: [&'static str; N]) -> Ready {
        self.waiting = waiting.map(Name::Borrowed).into();
        self
    }

    /// What is told of a broken object if the service does not say it, and of a state that nobody knows.
    pub fn words(mut self, because: &'static str, unknown: &'static str) -> Ready {
        self.because = because.into();
        self.unknown = unknown.into();
        self
    }

    /// An object that was removed is gone in these, though it is still shown.
    pub fn gone<const N: usize>(mut self, gone: [&'static str; N]) -> Ready {
        self.gone = gone.map(Name::Borrowed).into();
        self
    }

    /// Where the service says why an object is broken.
    pub fn reason(mut self, field: &'static str) -> Ready {
        self.reason = field.into();
        self
    }
}

impl ResourceType {
    /// What is done to the fields of its plain objects before they are sent.
    pub fn shaped(mut self, shape: Shape) -> ResourceType {
        if let Some(plain) = &mut self.behaviour.plain {
            Arc::make_mut(plain).shape = Some(shape);
        }
        self
    }

    /// Its objects are plain. Handlers that were given before stay; those given after replace these.
    pub fn plain(mut self, plain: Plain) -> ResourceType {
        let given = self.behaviour;
        self.behaviour = Behaviour {
            create: given.create.or(Some(|op| Box::pin(super::create(op)))),
            update: given.update.or(Some(|op| Box::pin(super::update(op)))),
            delete: given.delete.or(Some(|op| Box::pin(super::remove(op)))),
            check: given.check.or(Some(|op| Box::pin(super::check(op)))),
            finder: given.finder.or(Some(super::marker)),
            plain: Some(Arc::new(plain)),
            ..given
        };
        self
    }
}
