//! The AWS-compatible APIs: their endpoints, and signed calls.

use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::http::{Http, Request};
use crate::ini::Ini;
use crate::sign::{self, Call, Key};
use serde_json::Value;

/// Makes a signed call and returns the response.
pub(crate) fn call(
    host: &Host,
    url: &str,
    key: &(String, String),
    service: &str,
    parameters: &[(&str, &str)],
) -> Result<Value> {
    let (at, path) = sign::split_url(url);
    let call = Call { method: "GET", host: at, path, parameters };
    let key = Key { id: &key.0, secret: &key.1 };
    let (query, headers) = sign::version_4(key, call, ("heat", service), host.now());
    let mut request = Request::new("GET", format!("{url}?{query}"));
    request.headers = headers;
    let is_insecure = boto(host).get("Boto", "https_validate_certificates") == Some("0");
    let http = Http::new(host).insecure(is_insecure);
    let reply = http.send_with_retries(host, &request);
    let reply = reply.map_err(|failed| GuestError::new(failed.to_string()))?;
    if !reply.is_good() {
        let message: String = reply.text().chars().take(300).collect();
        return Err(GuestError::new(format!("{url} returned status {}: {message}", reply.status)));
    }
    Ok(serde_json::from_slice(&reply.body).unwrap_or_default())
}

fn boto(host: &Host) -> Ini {
    let path = host.path_of("BOTO_CONFIG", "/var/lib/heat-cfntools/cfn-boto-cfg");
    Ini::parse(&files::text(&path).unwrap_or_default())
}

/// Returns the URL of the CloudFormation API from the first boot.
pub(crate) fn cloudformation(host: &Host) -> Result<String> {
    if let Some(url) = delivered_url(host, "cfn-metadata-server") {
        return Ok(url);
    }
    let config = boto(host);
    let Some(at) = config.get("Boto", "cfn_region_endpoint") else {
        return Err(GuestError::new("the URL of the CloudFormation API is not configured"));
    };
    let is_secure = ["1", "true", "True"].contains(&config.get("Boto", "is_secure").unwrap_or(""));
    let scheme = if is_secure { "https" } else { "http" };
    let port = if at.contains(':') { "" } else { ":8000" };
    Ok(format!("{scheme}://{at}{port}/v1/"))
}

/// Returns the URL of the CloudWatch API from the first boot, or the one next to the CloudFormation API.
pub(crate) fn cloudwatch(host: &Host) -> Result<String> {
    if let Some(url) = delivered_url(host, "cfn-watch-server") {
        return Ok(url);
    }
    let beside = cloudformation(host)
        .map_err(|_| GuestError::new("the URL of the CloudWatch API is not configured"))?;
    let (scheme, rest) = beside.split_once("://").unwrap_or(("http", &beside));
    let at = rest.split(['/', ':']).next().unwrap_or(rest);
    Ok(format!("{scheme}://{at}:8003/v1/"))
}

/// Returns a URL from the first boot, with the version and a trailing slash.
fn delivered_url(host: &Host, name: &str) -> Option<String> {
    let text = files::text(&host.path(format!("/var/lib/heat-cfntools/{name}")))?;
    let base = text.trim().trim_end_matches('/');
    let base = base.strip_suffix("/v1").unwrap_or(base);
    (!base.is_empty()).then(|| format!("{base}/v1/"))
}
