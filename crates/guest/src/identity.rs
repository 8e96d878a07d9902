//! Keystone login with a password, and the service catalogue.

use crate::error::{GuestError, Result};
use crate::http::{Http, Request};
use crate::json;
use serde_json::{Value, json};

/// The credentials and the URL of the identity service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Login<'l> {
    pub(crate) auth_url: &'l str,
    pub(crate) user: &'l str,
    pub(crate) password: &'l str,
    pub(crate) project: &'l str,
    pub(crate) region: Option<&'l str>,
}

/// A token and the catalogue.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) token: String,
    catalogue: Value,
    region: Option<String>,
}

impl Login<'_> {
    /// Logs in.
    pub(crate) fn log_in(&self, http: &Http) -> Result<Session> {
        let body = json!({ "auth": {
            "identity": { "methods": ["password"], "password": {
                "user": { "id": self.user, "password": self.password },
            } },
            "scope": { "project": { "id": self.project } },
        } });
        let base = self.auth_url.trim_end_matches('/');
        let base = base.strip_suffix("/v2.0").unwrap_or(base);
        let version = if base.ends_with("/v3") { "" } else { "/v3" };
        let url = format!("{base}{version}/auth/tokens");
        let request = Request::new("POST", url).with("Content-Type", "application/json");
        let request = request.with("Accept", "application/json").with_body(body.to_string());
        let reply = http.send(&request).map_err(|failed| GuestError::new(failed.to_string()))?;
        let token = reply.header("X-Subject-Token").map(str::to_owned);
        let (Some(token), true) = (token, reply.is_good()) else {
            let status = reply.status;
            return Err(GuestError::new(format!("{base} rejected the login with status {status}")));
        };
        let document: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let catalogue = document.pointer("/token/catalog").cloned().unwrap_or_default();
        Ok(Session { token, catalogue, region: self.region.map(str::to_owned) })
    }
}

impl Session {
    /// Returns the public endpoint of a service, without a trailing slash.
    pub(crate) fn endpoint(&self, service_type: &str) -> Result<String> {
        let services = self.catalogue.as_array().into_iter().flatten();
        let endpoints = services
            .filter(|service| json::text(service, "type") == Some(service_type))
            .flat_map(|service| service["endpoints"].as_array().into_iter().flatten())
            .filter(|endpoint| json::text(endpoint, "interface") == Some("public"));
        let is_here = |endpoint: &&Value| match &self.region {
            Some(region) => json::text(endpoint, "region").is_none_or(|it| it == region),
            None => true,
        };
        let url = endpoints.filter(is_here).find_map(|endpoint| json::text(endpoint, "url"));
        let missing =
            || GuestError::new(format!("the catalogue has no service of type {service_type}"));
        Ok(url.ok_or_else(missing)?.trim_end_matches('/').to_owned())
    }
}
