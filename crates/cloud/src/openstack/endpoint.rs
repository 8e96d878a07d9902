//! Where services are, and which versions they speak.

use super::Settings;
use crate::Service;
use serde_json::Value;
use std::collections::BTreeMap;

/// The endpoints in a token's catalogue, by type of service.
pub(super) fn catalogue(token: &Value, settings: &Settings) -> BTreeMap<String, String> {
    let entries = token.pointer("/token/catalog").and_then(Value::as_array);
    let mut found = BTreeMap::new();
    for entry in entries.into_iter().flatten() {
        let Some(kind) = entry["type"].as_str() else { continue };
        let (region, interface) = settings.place(kind);
        let endpoints = entry["endpoints"].as_array().into_iter().flatten();
        let mut fitting = endpoints.filter(|endpoint| {
            let is_here = region.is_none_or(|region| {
                endpoint["region_id"] == region || endpoint["region"] == region
            });
            is_here && endpoint["interface"] == interface
        });
        if let Some(url) = fitting.find_map(|endpoint| endpoint["url"].as_str()) {
            found.entry(kind.to_owned()).or_insert_with(|| url.to_owned());
        }
    }
    found
}

/// The root of the version that calls are written for: an endpoint may name it, or leave it out.
pub(crate) fn version_root(service: Service, endpoint: &str) -> String {
    let endpoint = endpoint.trim_end_matches('/');
    let path = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    if path.split('/').skip(1).any(is_version) {
        endpoint.to_owned()
    } else {
        format!("{endpoint}/{}", service.version())
    }
}

/// Whether a part of a path is one like `v2.1`.
fn is_version(part: &str) -> bool {
    let Some(number) = part.strip_prefix('v') else { return false };
    number.starts_with(|first: char| first.is_ascii_digit())
        && number.chars().all(|char| char.is_ascii_digit() || char == '.')
}

/// The part of an endpoint up to its version: what it says of itself is there.
pub(crate) fn version_document(root: &str) -> String {
    let mut parts: Vec<&str> = root.split('/').collect();
    if let Some(at) = parts.iter().skip(3).position(|part| is_version(part)) {
        parts.truncate(at + 4);
    }
    parts.join("/") + "/"
}

/// The highest microversion in what a service says of itself.
pub(crate) fn highest(document: &Value) -> Option<String> {
    let version = document.get("version").or_else(|| {
        let versions = document.get("versions")?;
        let all = versions.get("values").unwrap_or(versions).as_array()?;
        all.iter().rfind(|it| max(it).is_some())
    });
    max(version?).map(str::to_owned)
}

fn max(version: &Value) -> Option<&str> {
    let named = ["max_version", "version"].into_iter().find_map(|name| version[name].as_str());
    named.filter(|text| !text.is_empty())
}

/// The lower of two microversions.
pub(crate) fn lower<'v>(wanted: &'v str, highest: &'v str) -> &'v str {
    let parts = |text: &str| -> Vec<u64> {
        text.split('.').map(|part| part.parse().unwrap_or_default()).collect()
    };
    if parts(highest) < parts(wanted) { highest } else { wanted }
}

/// The header that asks for a microversion.
pub(crate) fn microversion_header(service: Service, version: &str) -> (&'static str, String) {
    let plain = version.to_owned();
    match service {
        Service::Share => ("X-OpenStack-Manila-API-Version", plain),
        Service::BareMetal => ("X-OpenStack-Ironic-API-Version", plain),
        Service::Volume => ("OpenStack-API-Version", format!("volume {version}")),
        service => ("OpenStack-API-Version", format!("{} {version}", service.catalogue_type())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openstack::ServiceSettings;
    use serde_json::json;

    #[test]
    fn a_version_is_added_where_an_endpoint_names_none() {
        let root = |service, url| version_root(service, url);
        assert_eq!(root(Service::Network, "http://n:9696/"), "http://n:9696/v2.0");
        assert_eq!(
            root(Service::Compute, "http://n/compute/v2.1/abc"),
            "http://n/compute/v2.1/abc"
        );
        assert_eq!(root(Service::Image, "http://v2.example/image"), "http://v2.example/image/v2");
        assert_eq!(version_document("http://n/volume/v3/abc"), "http://n/volume/v3/");
        assert_eq!(version_document("http://n:8774/v2.1"), "http://n:8774/v2.1/");
    }

    #[test]
    fn no_more_is_asked_for_than_a_service_has() {
        assert_eq!(lower("2.90", "2.9"), "2.9");
        assert_eq!(lower("2.90", "2.100"), "2.90");
        let nova = json!({ "version": { "id": "v2.1", "version": "2.96", "min_version": "2.1" } });
        assert_eq!(highest(&nova).as_deref(), Some("2.96"));
        let cinder = json!({ "versions": [{ "id": "v3.0", "version": "3.71" }] });
        assert_eq!(highest(&cinder).as_deref(), Some("3.71"));
        assert_eq!(highest(&json!({ "version": { "version": "" } })), None);
    }

    #[test]
    fn the_catalogue_is_read_for_one_region() {
        let token = json!({ "token": { "catalog": [{ "type": "compute", "endpoints": [
            { "interface": "public", "region_id": "Other", "url": "http://other" },
            { "interface": "internal", "region_id": "One", "url": "http://inside" },
            { "interface": "public", "region_id": "One", "url": "http://one" },
        ] }] } });
        let found = |region: Option<&str>, compute: ServiceSettings| {
            let services = BTreeMap::from([(Service::Compute, compute)]);
            let region = region.map(str::to_owned);
            let settings = Settings { region, services, ..Settings::new("http://identity") };
            catalogue(&token, &settings).get("compute").cloned().unwrap_or_default()
        };
        let usual = ServiceSettings::default;
        assert_eq!(found(Some("One"), usual()), "http://one");
        assert_eq!(found(None, usual()), "http://other");
        assert_eq!(found(Some("None"), usual()), "");
        // A service may have a region and an interface of its own.
        let elsewhere = ServiceSettings { region: Some("Other".into()), ..usual() };
        assert_eq!(found(Some("One"), elsewhere), "http://other");
        let inside = ServiceSettings { interface: Some("internal".into()), ..usual() };
        assert_eq!(found(Some("One"), inside), "http://inside");
    }
}
