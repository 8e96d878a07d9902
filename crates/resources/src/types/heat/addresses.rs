//! URLs through which guests reach a resource: signed URLs, endpoints of services, and temporary URLs of
//! objects.

use super::stack_user::{self, Key, User};
use crate::op::{FailureClass, Op, OpError};
use crate::wire;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kiln_cloud::{Service, get, head, post};
use ring::hmac;
use serde_json::Value as Json;

/// The expiry of temporary URLs: the last second that 32 bits can count.
const FOR_EVER: i64 = 0x7fff_ffff;

/// The header with the key that signs the temporary URLs of an account.
const TEMP_KEY: &str = "x-account-meta-temp-url-key";

/// The public endpoint of a service, from the catalogue.
pub(crate) async fn service(op: &mut Op, kind: &str) -> Result<String, OpError> {
    let reply = op.read(get(Service::Identity, "/auth/catalog").may_be_old()).await?;
    let region = op.stack().guests.region.clone();
    let is_here = |endpoint: &&Json| {
        let is_there =
            |region: &str| endpoint["region_id"] == region || endpoint["region"] == region;
        endpoint["interface"] == "public" && region.as_deref().is_none_or(is_there)
    };
    let mut entries = reply.body["catalog"].as_array().into_iter().flatten();
    let entry = entries.find(|entry| entry["type"] == kind);
    let mut endpoints = entry.and_then(|it| it["endpoints"].as_array()).into_iter().flatten();
    let url = endpoints.find(is_here).and_then(|endpoint| endpoint["url"].as_str());
    url.map(|url| url.trim_end_matches('/').to_owned()).ok_or_else(|| {
        let message = format!(
            "The catalogue has no public endpoint of type {kind}. Next: ask the operator of the cloud."
        );
        OpError::failed(FailureClass::EndpointNotFound, message)
    })
}

// --- the CloudFormation API ---

/// The URL of the CloudFormation API, where servers read their metadata, with its version and a slash at the
/// end.
pub(crate) async fn metadata(op: &mut Op) -> Result<String, OpError> {
    let url = match op.stack().guests.metadata_url.clone() {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => service(op, "cloudformation").await?,
    };
    Ok(if url.ends_with("/v1") { format!("{url}/") } else { format!("{url}/v1/") })
}

/// The URL of the CloudWatch API, to which servers report, with its version and a slash at the end.
pub(crate) async fn watch(op: &mut Op) -> Result<String, OpError> {
    let url = match op.stack().guests.watch_url.clone() {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => service(op, "cloudwatch").await?,
    };
    Ok(if url.ends_with("/v1") { format!("{url}/") } else { format!("{url}/v1/") })
}

/// The purpose of a signed URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signed {
    /// A signal to a wait condition handle, with PUT.
    WaitCondition,
    /// A signal to any other resource, with POST.
    Signal,
}

impl Signed {
    fn word(self) -> &'static str {
        match self {
            Signed::WaitCondition => "waitcondition",
            Signed::Signal => "signal",
        }
    }

    /// The method that the signature is for.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Signed::WaitCondition => "PUT",
            Signed::Signal => "POST",
        }
    }
}

/// A signed URL for signals to the resource without a token.
///
/// It has no timestamp: Keystone rejects signatures some minutes after their timestamp, and a wait condition
/// may wait for hours.
pub(crate) async fn signed(op: &mut Op, kind: Signed, user: &User) -> Result<String, OpError> {
    let key = stack_user::key(op, user).await?;
    let base = match op.stack().guests.waitcondition_url.clone() {
        Some(url) => url.replace("/waitcondition", &format!("/{}", kind.word())),
        None => format!("{}/{}", service(op, "cloudformation").await?, kind.word()),
    };
    Ok(signed_with(&key, kind.method(), &base.to_lowercase(), &op.arn()))
}

fn signed_with(key: &Key, method: &str, base: &str, arn: &str) -> String {
    let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
    let (host, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let mut query = [
        ("SignatureMethod", "HmacSHA256"),
        ("SignatureVersion", "2"),
        ("AWSAccessKeyId", key.access.as_str()),
    ];
    let shown = joined(&query);
    query.sort_unstable();
    let text = format!("{method}\n{host}\n{path}/{arn}\n{}", joined(&query));
    let secret = hmac::Key::new(hmac::HMAC_SHA256, key.secret.as_bytes());
    let signature = STANDARD.encode(hmac::sign(&secret, text.as_bytes()));
    let path: Vec<String> = arn.split('/').map(wire::segment).collect();
    format!("{base}/{}?{shown}&Signature={}", path.join("/"), wire::segment(&signature))
}

fn joined(query: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = query
        .iter()
        .map(|(name, value)| format!("{}={}", wire::segment(name), wire::segment(value)))
        .collect();
    pairs.join("&")
}

// --- the native API ---

/// The URL for signals to the resource with a token of a stack user.
pub(crate) async fn native(op: &mut Op, user: &User) -> Result<String, OpError> {
    native_in(op, &user.project.clone()).await
}

/// The URL for signals to the resource with a token for a project.
pub(crate) async fn native_in(op: &mut Op, project: &str) -> Result<String, OpError> {
    let url = service(op, "orchestration").await?;
    let place = op.stack();
    let url = url.replace(&*place.project, project);
    let (stack, resource) = (wire::segment(&place.name), wire::segment(&op.context().resource));
    Ok(format!("{url}/stacks/{stack}/{}/resources/{resource}/signal", place.id))
}

// --- the object store ---

/// A temporary URL for one method on an object.
pub(crate) async fn object(
    op: &mut Op,
    method: &str,
    container: &str,
    object: &str,
) -> Result<String, OpError> {
    let account = op.read(head(Service::ObjectStore, "")).await?;
    let key = match account.header(TEMP_KEY) {
        Some(key) => key.to_owned(),
        None => new_key(op).await?,
    };
    let Some(address) = account.address() else {
        return Err(OpError::failed(
            FailureClass::Error,
            "the object store does not say where it is",
        ));
    };
    let (scheme, rest) = address.split_once("://").unwrap_or(("http", address));
    let (host, root) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let root = root.trim_end_matches('/');
    let path = format!("{root}/{}/{}", wire::segment(container), wire::segment(object));
    // The object store computes the signature from the unescaped path.
    let text = format!("{method}\n{FOR_EVER}\n{root}/{container}/{object}");
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    let signed = hmac::sign(&key, text.as_bytes());
    let signed: String = signed.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{scheme}://{host}{path}?temp_url_sig={signed}&temp_url_expires={FOR_EVER}"))
}

/// Sets the key of the account. Another resource may do so at the same time, so the key is read again
/// afterwards.
async fn new_key(op: &mut Op) -> Result<String, OpError> {
    let drawn: String = op.random(32).await?.iter().map(|byte| format!("{byte:02x}")).collect();
    let call = post(Service::ObjectStore, "", Json::Null).empty().header(TEMP_KEY, drawn.as_str());
    op.call("account key", call.may_be_repeated()).await?;
    let account = op.read(head(Service::ObjectStore, "")).await?;
    Ok(account.header(TEMP_KEY).unwrap_or(&drawn).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_the_address_as_it_is_decoded() {
        let key = Key { access: "0d9e".into(), secret: "hunter2".into() };
        let arn = "arn:openstack:heat::7c2f:stacks/web/8f1f0a52/resources/done";
        let url = signed_with(&key, "PUT", "http://orch.example:8000/v1/waitcondition", arn);
        let (path, signature) = url.split_once("&Signature=").expect("it is signed");
        assert_eq!(
            path,
            "http://orch.example:8000/v1/waitcondition/arn%3Aopenstack%3Aheat%3A%3A7c2f%3Astacks/web/\
             8f1f0a52/resources/done?SignatureMethod=HmacSHA256&SignatureVersion=2&AWSAccessKeyId=0d9e"
        );
        let text = format!(
            "PUT\norch.example:8000\n/v1/waitcondition/{arn}\nAWSAccessKeyId=0d9e&\
             SignatureMethod=HmacSHA256&SignatureVersion=2"
        );
        let secret = hmac::Key::new(hmac::HMAC_SHA256, b"hunter2");
        let expected = STANDARD.encode(hmac::sign(&secret, text.as_bytes()));
        assert_eq!(signature, wire::segment(&expected));
    }
}
