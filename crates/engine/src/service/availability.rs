//! Which resource types can be used in a cloud: those whose service is in the catalogue and has the extension that they
//! need.

use super::{Requester, Service};
use kiln_cloud::{Service as CloudService, get};
use kiln_resources::declare::ResourceType;
use kiln_resources::registry::Registry;
use kiln_template::Members;
use kiln_template::schema::TypeSchema;
use kiln_template::validate::{Expansion, PropertyError, SiblingDefinitions, Types};
use parking_lot::Mutex;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// How long the list of extensions is used before it is requested again. Extensions change when a service is configured.
const MAX_AGE: Duration = Duration::from_secs(600);

/// The extensions of the network service, by alias.
pub(super) type Extensions = Arc<BTreeSet<String>>;

/// The list of extensions, and when it was requested. It is the same for all users.
#[derive(Debug, Default)]
pub(super) struct ExtensionCache {
    known: Mutex<Option<(crate::time::Time, Extensions)>>,
}

/// What a requester's cloud has.
#[derive(Clone)]
pub struct Availability {
    has_service: Arc<dyn Fn(CloudService) -> bool + Send + Sync>,
    /// The extensions of the network service, if they are known.
    extensions: Option<Extensions>,
}

impl Availability {
    /// Why resources of a type cannot be created, in Heat's words.
    pub fn reason(&self, kind: &ResourceType) -> Option<String> {
        let service = kind.service?;
        let project = service.project();
        let is_own = service == CloudService::Orchestration || kind.works_without_service;
        if !is_own && !(self.has_service)(service) {
            let endpoint = service.catalogue_type();
            return Some(format!("{project} {endpoint} endpoint is not in service catalog."));
        }
        let extension = kind.extension.as_ref().filter(|_| service == CloudService::Network)?;
        let is_missing = self.extensions.as_ref().is_some_and(|all| !all.contains(&**extension));
        is_missing.then(|| {
            format!("Required extension {extension} in {project} service is not available.")
        })
    }

    /// The message for a type that cannot be used for a reason.
    pub fn message(kind: &ResourceType, reason: &str) -> String {
        let service = kind.service.map_or("", CloudService::project);
        let name = kind.name();
        format!(
            "HEAT-E99001 Service {service} is not available for resource type {name}, reason: {reason}"
        )
    }
}

/// The resource types, as far as the cloud has the services for them.
pub(super) struct AvailableTypes {
    types: &'static Registry,
    available: Availability,
    /// Whether the answer of a check depends on extensions that are not known yet.
    needs_extensions: Cell<bool>,
}

impl AvailableTypes {
    pub(super) fn new(
        types: &'static Registry,
        requester: &Requester,
        extensions: Option<Extensions>,
    ) -> AvailableTypes {
        let available = Availability { has_service: requester.has_service.clone(), extensions };
        AvailableTypes { types, available, needs_extensions: Cell::new(false) }
    }

    /// All types.
    pub(super) fn all(types: &'static Registry) -> AvailableTypes {
        let available = Availability { has_service: Arc::new(|_| true), extensions: None };
        AvailableTypes { types, available, needs_extensions: Cell::new(false) }
    }

    /// Whether a type was checked that needs an extension, while the extensions are not known.
    pub(super) fn needs_extensions(&self) -> bool {
        self.needs_extensions.get()
    }
}

impl Types for AvailableTypes {
    fn schema(&self, name: &str) -> Option<&TypeSchema> {
        Types::schema(self.types, name)
    }

    fn names(&self) -> Vec<&str> {
        self.types.names()
    }

    fn unavailable(&self, name: &str) -> Option<String> {
        let kind = self.types.get(name)?;
        if kind.extension.is_some() && self.available.extensions.is_none() {
            self.needs_extensions.set(true);
        }
        Some(Availability::message(kind, &self.available.reason(kind)?))
    }

    fn checks_properties(&self, name: &str) -> bool {
        self.types.checks_properties(name)
    }

    fn check(
        &self,
        name: &str,
        properties: &Members,
        siblings: &dyn SiblingDefinitions,
    ) -> Result<(), PropertyError> {
        Types::check(self.types, name, properties, siblings)
    }

    fn expansion(
        &self,
        name: &str,
        properties: &Members,
        siblings: &dyn SiblingDefinitions,
    ) -> Option<Expansion> {
        Types::expansion(self.types, name, properties, siblings)
    }
}

impl Service {
    /// What a requester's cloud has.
    pub async fn availability(&self, requester: &Requester) -> Availability {
        let extensions = self.network_extensions(requester).await;
        Availability { has_service: requester.has_service.clone(), extensions }
    }

    /// The extensions of the network service; `None` if it cannot be asked.
    pub(super) async fn network_extensions(&self, requester: &Requester) -> Option<Extensions> {
        let now = crate::runtime::now();
        let known = || self.extensions.known.lock();
        if let Some((at, extensions)) = &*known()
            && now < *at + MAX_AGE
        {
            return Some(extensions.clone());
        }
        if !self.transport.has_cloud() || !(requester.has_service)(CloudService::Network) {
            return None;
        }
        let by = requester.user_token.credential();
        let reply =
            self.transport.send(&by, get(CloudService::Network, "/extensions")).await.ok()?;
        let listed = reply.body["extensions"].as_array()?;
        let alias = |it: &serde_json::Value| Some(it["alias"].as_str()?.to_owned());
        let extensions: Extensions = Arc::new(listed.iter().filter_map(alias).collect());
        *known() = Some((now, extensions.clone()));
        Some(extensions)
    }
}
