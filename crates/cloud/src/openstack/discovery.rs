//! The endpoints of all services, for those who check a cloud before it is used.

use super::{Settings, endpoint};
use crate::Service;
use serde_json::Value;

/// Where a service is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceEndpoint {
    /// The service.
    pub service: Service,
    /// Whether the catalogue lists the service, in whatever region.
    pub is_listed: bool,
    /// The URL of the document of its version, if the service is where calls would look for it.
    pub document: Option<String>,
}

impl Settings {
    /// Where the services are, according to the configuration and the catalogue of a token. Kiln itself is left out.
    pub fn endpoints_in(&self, token: &Value) -> Vec<ServiceEndpoint> {
        let found = endpoint::catalogue(token, self);
        let entries = token.pointer("/token/catalog").and_then(Value::as_array);
        let types: Vec<&str> =
            entries.into_iter().flatten().filter_map(|entry| entry["type"].as_str()).collect();
        let others = Service::ALL.into_iter().filter(|it| *it != Service::Orchestration);
        let endpoint = |service: Service| {
            let names = service.catalogue_types();
            let listed = names.iter().find_map(|name| found.get(*name));
            let url = self.endpoints.get(&service).or(listed);
            let document =
                |url: &String| endpoint::version_document(&endpoint::version_root(service, url));
            ServiceEndpoint {
                service,
                is_listed: names.iter().any(|name| types.contains(name)),
                document: url.map(document),
            }
        };
        others.map(endpoint).collect()
    }
}

/// The newest version, or microversion, in the document of a service.
pub fn version_of(document: &Value) -> Option<String> {
    let id = || {
        let version =
            document.get("version").or_else(|| document.get("versions")?.as_array()?.last());
        version?.get("id")?.as_str().map(str::to_owned)
    };
    endpoint::highest(document).or_else(id)
}
