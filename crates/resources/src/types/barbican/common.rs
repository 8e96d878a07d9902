//! The common parts of the types of the key manager. The ids of its objects are URLs; a path has the last
//! segment.

use crate::behaviour::View;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest::{Readiness, RestSpec, UpdateMethod};
use kiln_cloud::{CallPath, get};
use kiln_template::Secret;
use kiln_template::functions::{Fault, step_into_attribute};
use serde_json::{Map as Fields, Value as Json, json};
use std::collections::BTreeSet;

/// Objects of the key manager, which cannot be changed.
pub(super) fn rest_spec(path: &'static str, many: &'static str, id: &'static str) -> RestSpec {
    RestSpec::new(Service::KeyManager, path, "")
        .list_envelope(many)
        .id(id)
        .update_method(UpdateMethod::Never)
        .deleted_at_once()
}

/// Declares a container of secrets. The service lists a hundred containers at most.
pub(super) fn container(kind: ResourceType) -> ResourceType {
    kind.service(Service::KeyManager)
        .entity("containers")
        .since("6.0.0")
        .props([prop("name", Str, "Readable name of the container.")])
        .attrs([
            attr(
                "consumers",
                List,
                "Services that have registered their use of the container, with their URLs.",
            ),
            attr(
                "container_ref",
                Str,
                "Reference URL of the container, under which other services find it.",
            ),
            attr("secret_refs", Map, "Map from the name of each secret to its reference URL."),
            attr("status", Str, "State of the container in the key manager, such as `ACTIVE`."),
        ])
        .attributes(container_attribute)
        .rest(
            rest_spec("/containers", "containers", "container_ref")
                .list_suffix("?limit=100")
                .readiness(Readiness::when("status", ["ACTIVE"], ["ERROR"]).reason("error_reason")),
        )
}

/// The secrets of a private key in a container.
pub(super) fn private_key_props() -> [Prop; 2] {
    [
        prop(
            "private_key_passphrase_ref",
            Str,
            "Reference URL of the secret with the passphrase of the private key.",
        )
        .is(SECRET),
        prop("private_key_ref", Str, "Reference URL of the secret with the private key.")
            .is(SECRET),
    ]
}

/// Builds the request body of a container from the secrets in these properties. The name of a secret is that of
/// its property without `_ref`.
pub(super) fn refer(op: &Op, fields: &mut Fields<String, Json>, kind: &str, names: &[&str]) {
    let mut refs = Vec::new();
    for property in names {
        fields.remove(*property);
        if let Some(secret) = op.text(property) {
            refs.push(json!({ "name": property.trim_end_matches("_ref"), "secret_ref": secret }));
        }
    }
    fields.insert("type".into(), kind.into());
    fields.insert("secret_refs".into(), refs.into());
}

/// Refuses a secret that a container has twice, because the service refuses it, too.
pub(super) fn no_secret_twice<'a>(
    refs: impl Iterator<Item = &'a str>,
) -> Result<(), PropertyError> {
    let mut seen = BTreeSet::new();
    for secret in refs {
        if !seen.insert(secret) {
            return Err(PropertyError::new("Duplicate refs are not allowed."));
        }
    }
    Ok(())
}

/// Reads the attribute `secret_refs`: a map from the names of the secrets to their URLs.
fn container_attribute(
    view: &View<'_>,
    name: &str,
    path: &[Value],
) -> Result<Option<Value>, Fault> {
    if name != "secret_refs" {
        return Ok(None);
    }
    let shown = view.remote.as_map().and_then(|shown| shown.get(name));
    if shown.is_none() {
        return Ok(Some(Value::Null));
    }
    let secrets = shown.and_then(Value::as_list).unwrap_or_default().iter();
    let secrets = secrets.filter_map(|secret| {
        let secret = secret.as_map()?;
        Some((secret.get("name")?.as_text()?.clone(), secret.get("secret_ref")?.clone()))
    });
    Ok(Some(step_into_attribute(&Value::map(secrets), path)))
}

/// Reads the payload of a secret; the value is hidden.
pub(super) async fn payload(op: &mut Op, secret: &str) -> Result<Value, OpError> {
    let call =
        get(Service::KeyManager, CallPath::from("/secrets").id_or_url(secret).then("/payload"));
    let reply = op.read(call.header("Accept", "*/*")).await?;
    let text = match reply.body {
        Json::String(text) => text,
        Json::Null => String::new(),
        // The payload is text that is also valid JSON.
        other => other.to_string(),
    };
    Ok(Value::Secret(Secret::new(text.into())))
}
