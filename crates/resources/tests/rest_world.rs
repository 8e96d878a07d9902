//! A made-up cloud with plain objects, of every plain type at once: collections in memory, and what a family
//! does beyond that.

use crate::driving::{Drive, Seam, World};
use kiln_cloud::{Call, CallError, Method, Reply};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::{Members, ResourceType};
use kiln_resources::op::Journal;
use kiln_resources::registry::Registry;
use kiln_resources::rest::RestSpec;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an answer is.
pub(crate) type Answer = Result<Reply, CallError>;

/// What a family does beyond plain objects; nothing if the call is about one.
pub(crate) type Special = fn(&mut RestWorld, &Call) -> Option<Answer>;

/// A cloud.
pub(crate) struct RestWorld {
    spec: Vec<Arc<RestSpec>>,
    special: Special,
    /// The objects by the path of their collection.
    pub(crate) objects: BTreeMap<String, Vec<Json>>,
    /// How often an object was looked at: at the first look it is not ready.
    looks: BTreeMap<String, usize>,
    /// The state that objects come to, if not the first one of those that are meant to be.
    pub(crate) status: Option<&'static str>,
    /// The calls that changed something, or were meant to: method, path and body.
    pub(crate) told: Vec<(Method, String, Json)>,
    made: usize,
}

impl RestWorld {
    /// A cloud that knows the paths of all plain types.
    pub(crate) fn new(special: Special) -> RestWorld {
        let spec = Registry::builtin().iter().filter_map(|kind| kind.behaviour.rest.clone());
        RestWorld {
            spec: spec.collect(),
            special,
            objects: BTreeMap::new(),
            looks: BTreeMap::new(),
            status: None,
            told: Vec::new(),
            made: 0,
        }
    }

    /// Knows the path of one more type.
    pub(crate) fn know(&mut self, spec: &Arc<RestSpec>) {
        self.spec.push(spec.clone());
    }

    /// Puts an object into a collection.
    pub(crate) fn seed(&mut self, path: &str, object: Json) {
        self.objects.entry(path.into()).or_default().push(object);
    }

    /// Makes an object with a new id.
    pub(crate) fn make(&mut self, path: &str, mut object: Json) -> Json {
        self.made += 1;
        object["id"] = format!("id-{}", self.made).into();
        self.seed(path, object.clone());
        object
    }

    /// The objects of a collection.
    pub(crate) fn all(&self, path: &str) -> &[Json] {
        self.objects.get(path).map_or(&[], Vec::as_slice)
    }

    /// An object.
    pub(crate) fn get(&mut self, path: &str, id: &str) -> Option<&mut Json> {
        self.objects.get_mut(path)?.iter_mut().find(|object| object["id"] == id)
    }

    /// Removes the objects of which something holds; tells how many.
    pub(crate) fn take(&mut self, path: &str, holds: impl Fn(&Json) -> bool) -> usize {
        let Some(objects) = self.objects.get_mut(path) else { return 0 };
        let before = objects.len();
        objects.retain(|object| !holds(object));
        let gone = before - objects.len();
        if objects.is_empty() {
            self.objects.remove(path);
        }
        gone
    }

    /// What was told to a path, the newest last.
    pub(crate) fn told_to(&self, method: Method, path: &str) -> Vec<&Json> {
        let fitting = self.told.iter().filter(|(how, to, _)| *how == method && to == path);
        fitting.map(|(_, _, body)| body).collect()
    }

    fn collection(&self, path: &str) -> Option<Arc<RestSpec>> {
        let fits = |spec: &&Arc<RestSpec>| {
            let (a, b) = (spec.path.as_str().split('/'), path.split('/'));
            a.clone().count() == b.clone().count()
                && a.zip(b).all(|(a, b)| a == b || (a.starts_with('{') && !b.is_empty()))
        };
        self.spec.iter().find(fits).cloned()
    }

    fn plainly(&mut self, call: &Call) -> Answer {
        let body = call.request.body.clone().unwrap_or_default();
        if let Some(spec) = self.collection(call.request.path.checked().expect("a path")) {
            return match call.request.method {
                Method::Post => {
                    let made = self.make(
                        call.request.path.checked().expect("a path"),
                        body[&*spec.envelope].clone(),
                    );
                    ok(json!({ &*spec.envelope: made }))
                }
                Method::Get => {
                    let all = self
                        .all(call.request.path.checked().expect("a path"))
                        .iter()
                        .filter(|object| passes(call, object));
                    ok(json!({ &*spec.list_envelope: all.collect::<Vec<_>>() }))
                }
                _ => refused(501, &format!("nobody expected {call:?}")),
            };
        }
        let (above, id) =
            call.request.path.checked().expect("a path").rsplit_once('/').expect("a path");
        let Some(spec) = self.collection(above) else {
            let tagged = above.rsplit_once('/').filter(|_| id == "tags");
            let Some(object) = tagged.and_then(|(path, id)| self.get(path, id)) else {
                return refused(501, &format!("nobody expected {call:?}"));
            };
            object["tags"] = body["tags"].clone();
            return ok(Json::Null);
        };
        match call.request.method {
            Method::Get => {
                let looks = self.looks.entry(call.request.path.to_string()).or_default();
                *looks += 1;
                let (looks, status) = (*looks, self.status);
                let Some(object) = self.get(above, id) else { return refused(404, "not there") };
                let mut object = object.clone();
                let ready = &spec.readiness;
                if !ready.status.is_empty() {
                    let waiting = ready.waiting.first().filter(|_| looks == 1).map(|it| &**it);
                    let done = ready.done.first().map(|it| &**it);
                    object[&*ready.status] = waiting.or(status).or(done).into();
                }
                ok(json!({ &*spec.envelope: object }))
            }
            Method::Put | Method::Patch => {
                let Some(object) = self.get(above, id) else { return refused(404, "not there") };
                merge(object, &body[&*spec.envelope]);
                let object = object.clone();
                ok(json!({ &*spec.envelope: object }))
            }
            Method::Delete => match self.take(above, |object| object["id"] == id) {
                0 => refused(404, "not there"),
                _ => ok(Json::Null),
            },
            _ => refused(501, &format!("nobody expected {call:?}")),
        }
    }
}

impl World for RestWorld {
    fn call(&mut self, call: &Call) -> Answer {
        if call.request.method != Method::Get {
            let body = call.request.body.clone().unwrap_or_default();
            self.told.push((call.request.method, call.request.path.to_string(), body));
        }
        (self.special)(self, call).unwrap_or_else(|| self.plainly(call))
    }
}

/// A good answer.
pub(crate) fn ok(body: Json) -> Answer {
    Ok(Reply::new(200, body))
}

/// A bad answer.
pub(crate) fn refused(status: u16, message: &str) -> Answer {
    let body = json!({ "NeutronError": { "message": message } });
    Err(CallError::Refused(Reply::new(status, body)))
}

/// Whether an object passes the filters of a call; filters that it knows nothing of are passed over.
fn passes(call: &Call, object: &Json) -> bool {
    call.request.query.iter().all(|(name, wanted)| match &object[name] {
        Json::String(text) => text == wanted,
        Json::Bool(flag) => flag.to_string().eq_ignore_ascii_case(wanted),
        Json::Number(number) => number.to_string() == *wanted,
        _ => true,
    })
}

fn merge(object: &mut Json, changes: &Json) {
    for (name, value) in changes.as_object().into_iter().flatten() {
        object[name] = value.clone();
    }
}

// --- lives of resources ---

/// A built-in type.
pub(crate) fn kind(name: &str) -> ResourceType {
    Registry::builtin().get(name).unwrap_or_else(|| panic!("no {name}")).clone()
}

/// Properties as handlers see them: what is not given is the default, or null.
pub(crate) fn filled(kind: &ResourceType, given: &Members) -> Members {
    let mut all = Members::new();
    for property in &kind.schema.properties {
        let value = given.get(&*property.name).cloned().or_else(|| property.default.clone());
        all.insert(property.name.as_ref().into(), value.unwrap_or_default());
    }
    let unknown = given.keys().find(|name| kind.schema.property(name).is_none());
    assert_eq!(unknown, None, "{}", kind.name());
    all
}

/// A resource that is about to be made.
pub(crate) fn new(kind: &ResourceType, given: &Members) -> Drive {
    Drive::new(filled(kind, given))
}

/// Has other properties, which the next operation brings about.
pub(crate) fn change(drive: &mut Drive, kind: &ResourceType, given: &Members) {
    let (before, after) = (drive.context.properties.clone(), filled(kind, given));
    let differs = |name: &&Arc<str>| !before[&***name].equals(&after[&***name]);
    drive.context.changed = after.keys().filter(differs).cloned().collect();
    drive.context.previous_properties = before;
    drive.context.properties = after.into();
    for name in drive.context.changed.iter() {
        let property = kind.schema.property(name).expect("as declared");
        assert!(property.update_allowed, "{} of {} cannot be changed", name, kind.name());
    }
}

/// Runs an operation as if nothing had been done before it.
pub(crate) fn run(
    drive: &mut Drive,
    kind: &ResourceType,
    operation: OperationKind,
    world: &mut RestWorld,
    seam: Option<Seam>,
) {
    drive.context.journal = Journal::default();
    drive.ended = None;
    if operation != OperationKind::Update {
        (drive.context.previous_properties, drive.context.changed) = Default::default();
    }
    match seam {
        Some(seam) => drive.run_through(kind, operation, world, seam),
        None => drive.run(kind, operation, world),
    }
}

/// A resource from its beginning to its end: its type, what it is, and what it becomes.
pub(crate) struct SupportStatus<'c> {
    pub(crate) kind: ResourceType,
    pub(crate) first: &'c Members,
    pub(crate) then: Option<&'c Members>,
}

/// What was seen after each step of a life: the objects, the id, and how many demands there were.
type Seen = Vec<(Collection, Option<Arc<str>>, usize)>;

impl SupportStatus<'_> {
    /// Lives it, interrupted in one operation if a seam is given.
    fn live(
        &self,
        world: &mut RestWorld,
        seam: Option<(OperationKind, Seam)>,
    ) -> Result<Seen, String> {
        let kind = &self.kind;
        let mut drive = new(kind, self.first);
        let mut seen = Seen::new();
        for operation in self.verbs() {
            if let Some(then) = self.then.filter(|_| *operation == OperationKind::Update) {
                change(&mut drive, kind, then);
            }
            let asked = drive.demands.len();
            let seam = seam.filter(|(broken, _)| broken == operation).map(|(_, seam)| seam);
            run(&mut drive, kind, *operation, world, seam);
            if let Err(stop) = drive.result() {
                return Err(format!("{operation:?}: {stop:?}"));
            }
            let id = drive.context.physical_id.clone();
            seen.push((world.objects.clone(), id, drive.demands.len() - asked));
        }
        Ok(seen)
    }

    fn verbs(&self) -> &'static [OperationKind] {
        match self.then {
            Some(_) => &[
                OperationKind::Create,
                OperationKind::Update,
                OperationKind::Check,
                OperationKind::Delete,
            ],
            None => &[OperationKind::Create, OperationKind::Check, OperationKind::Delete],
        }
    }

    /// Lives it straight, and interrupted at every seam: there is nothing to be seen of that. Something is
    /// there after the create, and nothing is left in the end.
    pub(crate) fn check(&self, world: impl Fn() -> RestWorld) -> Result<(), String> {
        let straight = self.live(&mut world(), None)?;
        let none = world().objects;
        let (first, last) = (&straight[0], straight.last().expect("an end"));
        if first.1.is_none() || first.0 == none {
            return Err("it made nothing".into());
        }
        if last.1.is_some() || last.0 != none {
            return Err(format!("it left something: {}", difference(&last.0, &none)));
        }
        for (operation, (_, _, demands)) in self.verbs().iter().zip(&straight) {
            for seam in (0..*demands).flat_map(|at| [Seam::Before(at), Seam::After(at)]) {
                let place = format!("{operation:?} at {seam:?}");
                let broken = self.live(&mut world(), Some((*operation, seam)));
                let broken = broken.map_err(|why| format!("{place}: {why}"))?;
                for (broken, straight) in broken.iter().zip(&straight) {
                    if (&broken.0, &broken.1) != (&straight.0, &straight.1) {
                        let difference = difference(&broken.0, &straight.0);
                        return Err(format!("{place}: {:?}: {difference}", broken.1));
                    }
                }
            }
        }
        Ok(())
    }
}

type Collection = BTreeMap<String, Vec<Json>>;

/// The collections that differ, for people.
fn difference(found: &Collection, expected: &Collection) -> String {
    let paths = found.keys().chain(expected.keys());
    let differing = paths.filter(|path| found.get(*path) != expected.get(*path));
    let told = differing.map(|path| {
        let [found, expected] = [found, expected].map(|all| json!(all.get(path)));
        format!("{path} is {found} and not {expected}")
    });
    told.collect::<Vec<_>>().join("; ")
}
