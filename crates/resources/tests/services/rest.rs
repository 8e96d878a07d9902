//! A service in memory that keeps whatever is put at a path, for every type that has objects at one.
//!
//! A POST below a collection makes an object there; PUT, PATCH and DELETE change and remove what is at a path; GET shows
//! one or lists all. An object with a status is under way at the first look and done at the second.

use crate::driving::World;
use kiln_cloud::{Call, CallError, Method, Reply};
use kiln_resources::rest::RestSpec;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// What stands around the objects of a collection.
#[derive(Clone, Debug)]
struct Collection {
    one: String,
    many: String,
    id: String,
    /// The field of the status, with what it is first and then.
    status: Option<(String, String, String)>,
}

/// A service, or several: paths tell them apart.
#[derive(Default)]
pub(crate) struct Rest {
    objects: BTreeMap<String, Json>,
    looks: BTreeMap<String, usize>,
    collections: Vec<(String, Collection)>,
    made: usize,
    /// What was changed, in order.
    pub(crate) told: Vec<String>,
    /// Calls that are refused once with a conflict: their methods and the ends of their paths.
    pub(crate) busy: Vec<(Method, &'static str)>,
    /// How ids look that are addresses: what stands before them.
    pub(crate) addresses: Option<&'static str>,
    /// What the service adds to what it shows.
    pub(crate) finish: Option<fn(&mut Json)>,
    /// What calls answer that are not about objects: method, part of the path, reply.
    pub(crate) answers: Vec<(Method, &'static str, Json)>,
}

impl Rest {
    /// A service with the objects of a plain type.
    pub(crate) fn of(spec: Option<&RestSpec>) -> Rest {
        let mut rest = Rest::default();
        if let Some(spec) = spec {
            let ready = &spec.readiness;
            let status = (!ready.status.is_empty()).then(|| {
                let first = ready.waiting.first().map_or("UNDER_WAY", |it| it);
                let then = ready.done.first().map_or("DONE", |it| it);
                (ready.status.to_string(), first.to_owned(), then.to_owned())
            });
            let collection = Collection {
                one: spec.envelope.to_string(),
                many: spec.list_envelope.to_string(),
                id: spec.id.to_string(),
                status,
            };
            let end = spec.path.as_str().rsplit('/').next().unwrap_or_default();
            rest.collections.push((end.to_owned(), collection));
        }
        rest
    }

    /// Something that was there before.
    pub(crate) fn with(mut self, path: &str, object: Json) -> Rest {
        self.objects.insert(path.into(), object);
        self
    }

    /// What is there, without ids that nobody chose.
    pub(crate) fn summary(&self) -> Vec<(String, Json)> {
        let clean = |(path, object): (&String, &Json)| {
            let made = path.rsplit('/').next().is_some_and(|id| id.starts_with("made-"));
            let path = if made { path.rsplit_once('/').map_or("", |it| it.0) } else { path };
            let mut object = object.clone();
            if let Some(fields) = object.as_object_mut() {
                fields.retain(|_, value| !value.as_str().is_some_and(|it| it.contains("made-")));
            }
            (path.to_owned(), object)
        };
        let mut all: Vec<_> = self.objects.iter().map(clean).collect();
        all.sort_by_key(|(path, object)| (path.clone(), object.to_string()));
        all
    }

    /// The one object of a collection.
    pub(crate) fn only(&self, collection: &str) -> &Json {
        let prefix = format!("{collection}/made-");
        let mut all = self.objects.iter().filter(|(path, _)| path.starts_with(&prefix));
        let (Some((_, object)), None) = (all.next(), all.next()) else {
            panic!("not one of {collection}: {:?}", self.objects)
        };
        object
    }

    fn collection(&self, path: &str) -> Collection {
        let end = path.rsplit('/').next().unwrap_or_default();
        if let Some((_, collection)) = self.collections.iter().find(|(known, _)| known == end) {
            return collection.clone();
        }
        let end = end.replace('-', "_");
        let one = end.strip_suffix("ies").map(|it| format!("{it}y"));
        let one = one.unwrap_or_else(|| end.strip_suffix('s').unwrap_or(&end).to_owned());
        Collection { one, many: end, id: "id".into(), status: None }
    }

    fn make(&mut self, call: &Call) -> Json {
        let collection = self.collection(call.request.path.checked().expect("a path"));
        self.made += 1;
        let sent = defined(call).unwrap_or_else(|| call.request.body.clone().unwrap_or_default());
        let mut object = match sent.get(&collection.one) {
            Some(object) => object.clone(),
            None => sent,
        };
        if !object.is_object() {
            object = json!({ "sent": object });
        }
        // Some ids are chosen by whoever makes something.
        let chosen = object.get(&collection.id).and_then(Json::as_str);
        let key = chosen.map_or_else(|| format!("made-{}", self.made), str::to_owned);
        let id = match self.addresses {
            Some(before) => format!("{before}{}/{key}", call.request.path),
            None => key.clone(),
        };
        object[&collection.id] = id.into();
        self.objects.insert(format!("{}/{key}", call.request.path), object.clone());
        enveloped(&collection, object)
    }

    fn show(&mut self, path: &str) -> Option<Json> {
        let object = self.objects.get(path)?.clone();
        let parent = path.rsplit_once('/').map_or("", |it| it.0);
        let collection = self.collection(parent);
        let looks = self.looks.entry(path.to_owned()).or_default();
        *looks += 1;
        let mut object = object;
        self.finish.iter().for_each(|finish| finish(&mut object));
        if let Some((field, first, then)) = &collection.status {
            object[field] = if *looks > 1 { then } else { first }.as_str().into();
        }
        Some(enveloped(&collection, object))
    }

    fn list(&self, call: &Call) -> Option<Json> {
        let path = call.request.path.checked().expect("a path").trim_end_matches("/detail");
        let prefix = format!("{path}/");
        let below = |it: &&String| it.starts_with(&prefix) && !it[prefix.len()..].contains('/');
        let is_wanted = |object: &&Json| {
            call.request.query.iter().all(|(name, value)| match object.get(name) {
                Some(Json::String(text)) => text == value,
                Some(Json::Array(items)) => items.iter().any(|it| it == value.as_str()),
                _ => true,
            })
        };
        let all = self.objects.iter().filter(|(path, _)| below(path)).map(|(_, object)| object);
        let mut all: Vec<Json> = all.cloned().collect();
        self.finish.iter().for_each(|finish| all.iter_mut().for_each(finish));
        all.retain(|object| is_wanted(&object));
        let collection = self.collection(path);
        Some(match collection.many.as_str() {
            "" => all.into(),
            many => json!({ many: all }),
        })
    }

    fn change(&mut self, call: &Call) {
        if let Some(object) = defined(call) {
            let name = object["name"].as_str().unwrap_or_default();
            self.objects.insert(format!("{}/{name}", call.request.path), object);
            return;
        }
        let sent = call.request.body.clone().unwrap_or_default();
        let parent =
            call.request.path.checked().expect("a path").rsplit_once('/').map_or("", |it| it.0);
        let collection = self.collection(parent);
        self.looks.remove(call.request.path.checked().expect("a path"));
        let object = self.objects.entry(call.request.path.to_string()).or_insert(json!({}));
        let changes = sent.get(&collection.one).cloned().unwrap_or(sent);
        match changes {
            Json::Array(patches) => {
                for patch in patches {
                    let name = patch["path"].as_str().unwrap_or_default().trim_start_matches('/');
                    object[name] = patch["value"].clone();
                }
            }
            Json::Object(fields) => {
                object.as_object_mut().unwrap_or(&mut Map::new()).extend(fields);
            }
            Json::Null => {}
            other => *object = json!({ "sent": other }),
        }
    }
}

/// What is defined by a text, which says its name.
fn defined(call: &Call) -> Option<Json> {
    let text = call.request.body.as_ref()?.as_str()?;
    let definition: Json = serde_json::from_str(text).ok()?;
    let name = definition.as_object()?.keys().find(|key| *key != "version")?.clone();
    Some(json!({ "id": name, "name": name, "definition": definition }))
}

fn enveloped(collection: &Collection, object: Json) -> Json {
    match collection.one.as_str() {
        "" => object,
        one => json!({ one: object }),
    }
}

impl World for Rest {
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        let refused =
            |status| Err(CallError::Refused(Reply::new(status, json!({ "message": "no" }))));
        if call.request.method != Method::Get && call.request.method != Method::Head {
            self.told.push(format!("{} {}", call.request.method, call.request.path));
        }
        let is_busy = |(method, end): &(Method, &'static str)| {
            *method == call.request.method
                && call.request.path.checked().expect("a path").ends_with(end)
        };
        if let Some(at) = self.busy.iter().position(is_busy) {
            self.busy.remove(at);
            return refused(409);
        }
        let mut answers = self.answers.iter();
        if let Some((_, _, answer)) = answers.find(|(method, part, _)| {
            *method == call.request.method
                && call.request.path.checked().expect("a path").contains(part)
        }) {
            return Ok(Reply::new(200, answer.clone()));
        }
        match call.request.method {
            Method::Post => {
                let made = self.make(call);
                Ok(Reply::new(201, made))
            }
            Method::Put | Method::Patch => {
                if call.request.method == Method::Patch
                    && !self.objects.contains_key(call.request.path.checked().expect("a path"))
                {
                    return refused(404);
                }
                self.change(call);
                Ok(Reply::new(200, Json::Null))
            }
            Method::Delete => {
                match self.objects.remove(call.request.path.checked().expect("a path")) {
                    Some(_) => {
                        // What is about it goes with it.
                        if let Some(id) = call
                            .request
                            .path
                            .checked()
                            .expect("a path")
                            .rsplit('/')
                            .next()
                            .filter(|id| id.starts_with("made-"))
                        {
                            self.objects.retain(|path, _| !path.contains(&format!("/{id}/")));
                        }
                        Ok(Reply::new(204, Json::Null))
                    }
                    None => refused(404),
                }
            }
            Method::Get | Method::Head => {
                let is_collection =
                    !self.objects.contains_key(call.request.path.checked().expect("a path"))
                        && !call
                            .request
                            .path
                            .checked()
                            .expect("a path")
                            .rsplit('/')
                            .next()
                            .is_some_and(|it| it.starts_with("made-"));
                match self.show(call.request.path.checked().expect("a path")) {
                    Some(shown) => Ok(Reply::new(200, shown)),
                    None if is_collection
                        && !call.request.path.checked().expect("a path").ends_with("gone") =>
                    {
                        Ok(Reply::new(200, self.list(call).unwrap_or_default()))
                    }
                    None => refused(404),
                }
            }
        }
    }
}
