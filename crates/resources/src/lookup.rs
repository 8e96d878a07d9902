//! Looking up objects by name or id, in the collections in which their services list them.
//!
//! A property may have an object's name in place of its id, and a constraint may require that an object exists.

pub mod kinds;
pub mod rules;

use crate::constraints::CustomConstraint;
use crate::op::{FailureClass, Op, OpError};
use kiln_cloud::{Call, CallPath, Reply, Service, get};
use kinds::COLLECTIONS;
use serde_json::Value as Json;
use std::sync::Arc;

/// The collection of a kind of objects.
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// The name of such an object in error messages.
    pub called: &'static str,
    service: Service,
    /// The path of the collection.
    path: &'static str,
    /// The keys around one object and around a list in replies; empty if there is none.
    one: &'static str,
    many: &'static str,
    /// The fields with an object's id and its name.
    id: &'static str,
    name: &'static str,
    /// Whether the list can be filtered by name.
    is_filtered: bool,
    /// Whether ids are UUIDs, so that a UUID need not be looked up.
    has_uuids: bool,
}

/// The collection of a kind; `None` if there is no such kind.
pub fn collection_of(kind: &str) -> Option<&'static Collection> {
    let at = COLLECTIONS.binary_search_by_key(&kind, |(kind, _)| kind.name()).ok()?;
    COLLECTIONS.get(at).map(|(_, collection)| collection)
}

/// The names of all kinds.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    COLLECTIONS.iter().map(|(kind, _)| kind.name())
}

/// Whether a text has the form of a UUID, with or without hyphens.
pub fn is_uuid(text: &str) -> bool {
    let digits = || text.chars().filter(|char| *char != '-');
    digits().count() == 32
        && (text.len() == 32 || text.len() == 36)
        && digits().all(|char| char.is_ascii_hexdigit())
}

impl Collection {
    /// Whether a text can only be an id, so that it need not be looked up.
    pub fn is_id(&self, text: &str) -> bool {
        (self.has_uuids && is_uuid(text))
            || text.starts_with("http://")
            || text.starts_with("https://")
    }

    /// Whether objects are only named by references, which are URLs.
    pub fn has_only_references(&self) -> bool {
        self.service == Service::KeyManager
    }

    /// Splits `name{domain}`, the form of users, groups and projects in another domain.
    pub fn domain_of<'g>(&self, given: &'g str) -> (&'g str, Option<&'g str>) {
        match given.strip_suffix('}').and_then(|it| it.split_once('{')) {
            Some((name, domain)) if self.service == Service::Identity => (name, Some(domain)),
            _ => (given, None),
        }
    }

    /// The call that lists objects, filtered by name if possible; a recent reply may be reused.
    pub fn named(&self, name: &str) -> Call {
        let list = get(self.service, self.path).may_be_old();
        if self.is_filtered { list.query(self.name, name) } else { list }
    }

    /// The call that reads the object with an id; `None` if a text cannot be an id.
    pub fn by_id(&self, id: &str) -> Option<Call> {
        let path = CallPath::from(self.path.trim_end_matches("/detail")).id_or_url(id);
        path.checked().is_ok().then(|| get(self.service, path).may_be_old())
    }

    /// The ids of the objects with a name in a list.
    pub fn ids_in<'r>(&self, list: &'r Reply, name: &str) -> Vec<&'r str> {
        let all = list.body.get(self.many).and_then(Json::as_array).into_iter().flatten();
        // Some services wrap each object of a list in its own envelope.
        let all = all.map(|object| object.get(self.one).unwrap_or(object));
        let fitting = all.filter(|object| object[self.name] == name);
        let id = if self.one == "keypair" { "name" } else { self.id };
        fitting.filter_map(|object| object[id].as_str()).collect()
    }

    /// The id of the one object in a reply.
    pub fn id_in<'r>(&self, reply: &'r Reply) -> Option<&'r str> {
        let object = if self.one.is_empty() { &reply.body } else { &reply.body[self.one] };
        let id = if self.one == "keypair" { "name" } else { self.id };
        object[id].as_str()
    }

    /// The message if there is no such object, in the words of Heat and its clients.
    pub fn missing(&self, given: &str) -> String {
        match self.service {
            Service::Network => format!("Unable to find {} with name or id '{given}'", self.one),
            Service::LoadBalancer => format!("{given} not found (HTTP 404)"),
            Service::Image => format!("No images matching {{'name': '{given}'}}."),
            Service::Compute if self.called == "Flavor" => {
                format!("No Flavor matching {{'name': '{given}'}}. (HTTP 404)")
            }
            _ => format!("The {} ({given}) could not be found.", self.called),
        }
    }

    /// The message if there are several objects with the name.
    pub fn ambiguous(name: &str) -> String {
        format!("Multiple physical resources were found with name ({name}).")
    }
}

/// The id of an object, found by its id or its name.
pub async fn find_id(
    op: &mut Op,
    kind: CustomConstraint,
    given: &str,
) -> Result<Arc<str>, OpError> {
    find_id_by_name(op, kind.name(), given).await
}

/// Like [`find_id`], for a kind by its name.
pub(crate) async fn find_id_by_name(
    op: &mut Op,
    kind: &str,
    given: &str,
) -> Result<Arc<str>, OpError> {
    let Some(objects) = collection_of(kind) else { return Ok(given.into()) };
    let (name, domain) = objects.domain_of(given);
    if objects.is_id(name) {
        return Ok(given.into());
    }
    let mut list = objects.named(name);
    if let Some(domain) = domain {
        let domain = Box::pin(find_id(op, kinds::DOMAIN, domain)).await?;
        list = list.query("domain_id", &*domain);
    }
    let reply = op.read(list.clone()).await?;
    match objects.ids_in(&reply, name).as_slice() {
        [id] => return Ok((*id).into()),
        [] => {}
        _ => {
            return Err(OpError::failed(
                FailureClass::PhysicalResourceNameAmbiguity,
                Collection::ambiguous(given),
            ));
        }
    }
    if let Some(call) = objects.by_id(name) {
        match op.read(call).await {
            Ok(reply) => return Ok(objects.id_in(&reply).unwrap_or(name).into()),
            Err(stop) if stop.is_not_found() => {}
            Err(stop) => return Err(stop),
        }
    }
    // The object may have been created after the reused list was read.
    let reply = op.read(list.now()).await?;
    match objects.ids_in(&reply, name).first() {
        Some(id) => Ok((*id).into()),
        None => {
            let missing = OpError::failed(FailureClass::EntityNotFound, objects.missing(given));
            Err(missing.advise("name one that is there, and update the stack"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_order_and_uuids_are_known() {
        assert!(COLLECTIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(is_uuid("0f1b7c1e-8f6e-4b7e-9c7e-0123456789ab"));
        assert!(is_uuid("0f1b7c1e8f6e4b7e9c7e0123456789ab"));
        assert!(!is_uuid("web"));
        assert!(!is_uuid("0f1b7c1e8f6e4b7e9c7e0123456789abcdef"));
    }

    #[test]
    fn people_may_have_their_domain_behind_their_name() {
        let split = |kind| collection_of(kind).map(|objects| objects.domain_of("ann{east}"));
        assert_eq!(split("keystone.user"), Some(("ann", Some("east"))));
        assert_eq!(split("nova.server"), Some(("ann{east}", None)));
    }

    #[test]
    fn every_constraint_that_asks_the_cloud_knows_where() {
        // There are no such objects any more: their services are gone.
        let gone = ["nova.network", "neutron.lbaas"];
        for name in crate::constraints::NAMES.iter().filter(|name| name.contains('.')) {
            assert!(
                collection_of(name).is_some() || gone.iter().any(|it| name.starts_with(it)),
                "{name}"
            );
        }
    }

    #[test]
    fn missing_objects_are_told_in_the_words_of_heat() {
        for (constraint, message) in [
            ("cinder.vtype", "The VolumeType (x) could not be found."),
            ("cinder.snapshot", "The VolumeSnapshot (x) could not be found."),
            ("designate.zone", "The Designate Zone (x) could not be found."),
            ("glance.image", "No images matching {'name': 'x'}."),
            ("neutron.network", "Unable to find network with name or id 'x'"),
            ("neutron.security_group", "Unable to find security_group with name or id 'x'"),
            ("nova.flavor", "No Flavor matching {'name': 'x'}. (HTTP 404)"),
            ("nova.keypair", "The Key (x) could not be found."),
        ] {
            let collection = collection_of(constraint).expect(constraint);
            assert_eq!(collection.missing("x"), message);
        }
    }
}
