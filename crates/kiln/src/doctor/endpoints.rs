//! The services of the catalogue: which of them there are, whether they answer, and with which version.

use super::finding::Finding;
use super::identity_client::{RequestFailure, ServiceToken, exchange};
use crate::config::Settings;
use crate::serving;
use kiln_cloud::{ServiceEndpoint, version_of};

/// The findings about the services of the cloud.
pub(super) async fn check(settings: &Settings, token: Option<&ServiceToken>) -> Vec<Finding> {
    let (Some(cloud), Some(token)) = (&settings.cloud, token) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut absent = Vec::new();
    for endpoint in cloud.endpoints_in(&token.body) {
        match &endpoint.document {
            None if endpoint.is_listed => findings.push(in_another_region(cloud, &endpoint)),
            None => absent.push(endpoint.service.catalogue_type()),
            Some(document) => findings.push(answer(settings, &endpoint, document, token).await),
        }
    }
    if !absent.is_empty() {
        let text = format!("not in the catalogue: {}", absent.join(", "));
        findings.push(Finding::ok(
            "endpoints",
            format!("{text}; their resource types are not available"),
        ));
    }
    findings.extend(own_services(settings, token));
    findings
}

fn in_another_region(cloud: &kiln_cloud::Settings, endpoint: &ServiceEndpoint) -> Finding {
    let name = endpoint.service.catalogue_type();
    let region = cloud.region.as_deref().unwrap_or("any");
    Finding::problem(
        "endpoints",
        format!("{name} has no {} endpoint in region {region}", cloud.interface),
        format!(
            "correct [DEFAULT] region_name_for_services or [clients] endpoint_type, or create the endpoint; \
             `openstack endpoint list --service {name}` shows those that exist"
        ),
    )
}

/// What a service says of itself.
async fn answer(
    settings: &Settings,
    endpoint: &ServiceEndpoint,
    document: &str,
    token: &ServiceToken,
) -> Finding {
    let name = endpoint.service.catalogue_type();
    let own = settings.cloud.as_ref().and_then(|cloud| cloud.services.get(&endpoint.service));
    let tls = own.and_then(|own| own.tls.as_ref()).or(settings.cloud.as_ref().map(|it| &it.tls));
    let client = serving::client(tls.unwrap_or(&settings.login.tls));
    let Ok(client) = client else {
        let next = format!(
            "correct ca_file, cert_file and key_file in [clients_{}]",
            endpoint.service.project()
        );
        return Finding::problem(
            "endpoints",
            format!("{name}: no TLS connection is possible"),
            next,
        );
    };
    let request = client.get(document).header("X-Auth-Token", &token.secret);
    match exchange(request).await {
        Ok((_, body)) => {
            let version = version_of(&body).map_or(String::new(), |it| format!(", version {it}"));
            Finding::ok("endpoints", format!("{name}: {document} answers{version}"))
        }
        // Some services have no document of versions at this place; they answer, which is what counts.
        Err(RequestFailure::Refused(status, _)) if status < 500 => {
            Finding::ok("endpoints", format!("{name}: {document} answers"))
        }
        Err(failure) => Finding::problem(
            "endpoints",
            format!("{name}: {document} {failure}"),
            "start the service, open the firewall, or correct its endpoint in the catalogue; stacks with its resources \
             wait for it",
        ),
    }
}

/// Whether clients find this service in the catalogue.
fn own_services(settings: &Settings, token: &ServiceToken) -> Vec<Finding> {
    let catalogue = token.body.pointer("/token/catalog").and_then(serde_json::Value::as_array);
    let types: Vec<&str> =
        catalogue.into_iter().flatten().filter_map(|entry| entry["type"].as_str()).collect();
    let wanted = [(settings.has_api, "orchestration"), (settings.has_cfn, "cloudformation")];
    let missing =
        wanted.into_iter().filter(|(is_served, name)| *is_served && !types.contains(name));
    let finding = |(_, name): (bool, &str)| {
        Finding::warning(
            "endpoints",
            format!("{name} is not in the catalogue, so clients do not find this service"),
            format!(
                "`openstack service create {name}` and `openstack endpoint create` (docs/install.md)"
            ),
        )
    };
    missing.map(finding).collect()
}
