//! The service catalogue in tokens.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::records::Endpoint;
use super::super::state::State;

/// Renders the services with their endpoints. A URL that needs a project is left out if there is none.
pub(super) fn catalogue(state: &State, project: Option<&str>, user: &str) -> Value {
    let mut by_service: BTreeMap<&str, Vec<&Endpoint>> = BTreeMap::new();
    for endpoint in state.endpoints.iter().filter(|endpoint| endpoint.enabled) {
        by_service.entry(&endpoint.service_id).or_default().push(endpoint);
    }
    let services = state.services.iter().filter(|service| service.enabled);
    let rendered = services.map(|service| {
        let mut endpoints = by_service.remove(service.id.as_str()).unwrap_or_default();
        endpoints.sort_by(|one, other| one.interface.cmp(&other.interface));
        let endpoints: Vec<Value> = endpoints
            .iter()
            .filter_map(|endpoint| {
                let url = address(&endpoint.url, project, user)?;
                Some(json!({
                    "id": endpoint.id, "interface": endpoint.interface,
                    "region_id": endpoint.region_id, "url": url, "region": endpoint.region_id,
                }))
            })
            .collect();
        let name = service.extra.get("name").cloned().unwrap_or_else(|| json!(""));
        json!({ "endpoints": endpoints, "id": service.id, "type": service.service_type, "name": name })
    });
    Value::Array(rendered.collect())
}

/// Reports whether all placeholders of a URL are known.
pub(super) fn is_address(url: &str) -> bool {
    address(url, Some(""), "").is_some()
}

/// Fills in `%(project_id)s`, `$(project_id)s` and the other placeholders; `None` if that is impossible.
fn address(url: &str, project: Option<&str>, user: &str) -> Option<String> {
    let mut full = String::with_capacity(url.len());
    let mut rest = url;
    while let Some(at) = rest.find(['%', '$']) {
        full.push_str(&rest[..at]);
        let Some(after) = rest[at + 1..].strip_prefix('(') else {
            full.push_str(&rest[at..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        let (name, after) = after.split_once(")s")?;
        full.push_str(match name {
            "project_id" | "tenant_id" => project?,
            "user_id" => user,
            _ => return None,
        });
        rest = after;
    }
    full.push_str(rest);
    Some(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_filled_in() {
        for (url, full) in [
            ("http://h/v1/%(project_id)s", Some("http://h/v1/P")),
            ("http://h/v1/$(tenant_id)s/x", Some("http://h/v1/P/x")),
            ("http://h/%(user_id)s$", Some("http://h/U$")),
            ("http://h/%20", Some("http://h/%20")),
            ("http://h/%(nope)s", None),
            ("http://h/%(project_id", None),
        ] {
            assert_eq!(address(url, Some("P"), "U").as_deref(), full, "{url}");
        }
        assert_eq!(address("http://h/%(project_id)s", None, "U"), None);
    }
}
