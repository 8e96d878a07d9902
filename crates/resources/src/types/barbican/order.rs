//! OS::Barbican::Order: a request to the key manager to generate a key or have a certificate
//! issued.

use super::common::{payload, rest_spec};
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError, Progress};
use crate::property_access::text;
use crate::refusals::{is_given, may_be_given, needs};
use crate::rest::{self, Readiness};
use crate::wire;
use kiln_cloud::{CallPath, Marker, Reply, delete, get};
use serde_json::{Map as Fields, Value as Json};

pub(super) fn order() -> ResourceType {
    ResourceType::new("OS::Barbican::Order")
        .about("A request to the key manager to generate a key or have a certificate issued.")
        .service(Service::KeyManager)
        .entity("orders")
        .since("2014.2")
        .props([
            prop("algorithm", Str, "Algorithm that the ordered key is for, such as `aes` or `rsa`."),
            prop("bit_length", Int, "Length of the ordered key in bits."),
            prop("ca_id", Str, "ID of the certificate authority that is to issue the certificate.").since("5.0.0"),
            prop("expiration", Str, "ISO 8601 time after which the ordered secret can no longer be used.").is(EXPIRATION),
            prop("mode", Str, "Block cipher mode that the ordered key is for, such as `cbc`."),
            prop("name", Str, "Readable name that the ordered secret gets."),
            prop("pass_phrase", Str, "Passphrase with which the private key of the ordered pair is protected.").since("5.0.0"),
            prop("payload_content_type", Str, "Media type of the ordered secret, such as `application/octet-stream`."),
            prop("profile", Str, "Certificate profile of the authority, which decides what the certificate may be used for.").since("5.0.0"),
            prop("request_data", Str, "Base64-encoded certificate signing request or other data for the authority.").since("5.0.0"),
            prop("request_type", Str, "Form of the certificate request, such as `stored-key` for one with a stored key.").one_of(["stored-key", "simple-cmc", "custom"]).since("5.0.0"),
            prop("source_container_ref", Str, "Reference URL of the container with the key pair that is to be certified.").is(SECRET_CONTAINER).since("5.0.0"),
            prop("subject_dn", Str, "Distinguished name of the certificate's subject, such as `CN=example.org`.").since("5.0.0"),
            prop("type", Str, "What is ordered: a symmetric key, an asymmetric key pair or a certificate.")
                .required()
                .one_of(["key", "asymmetric", "certificate"])
                .since("5.0.0"),
        ])
        .attrs([
            attr("certificate", Str, "Payload of the issued certificate, once it is there.").since("5.0.0"),
            attr("container_ref", Str, "Reference URL of the container with the ordered key pair or certificate.").since("5.0.0"),
            attr("intermediates", Str, "Payload of the intermediate certificates of the chain.").since("5.0.0"),
            attr("order_ref", Str, "Reference URL of the order in the key manager."),
            attr("private_key", Str, "Payload of the private key of the ordered pair.").since("5.0.0"),
            attr("public_key", Str, "Payload of the public key of the ordered pair.").since("5.0.0"),
            attr("secret_ref", Str, "Reference URL of the ordered symmetric key."),
            attr("status", Str, "State of the order, such as `ACTIVE` when it has been carried out."),
        ])
        .check(check)
        .finder(by_name)
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
        .rest(rest_spec("/orders", "orders", "order_ref").readiness(made()).adjust_fields(
            |_, _, fields| {
                let kind = fields.remove("type").unwrap_or_default();
                let meta = std::mem::take(fields);
                *fields =
                    Fields::from_iter([("type".into(), kind), ("meta".into(), Json::Object(meta))]);
            },
        ))
}

/// When the ordered secret or container exists.
fn made() -> Readiness {
    Readiness::when("status", ["ACTIVE"], ["ERROR"]).reason("error_reason")
}

const KEY: [&str; 6] =
    ["algorithm", "bit_length", "expiration", "mode", "name", "payload_content_type"];
const ASYMMETRIC: [&str; 7] = [
    "algorithm",
    "bit_length",
    "expiration",
    "mode",
    "name",
    "pass_phrase",
    "payload_content_type",
];
const CERTIFICATE: [&str; 7] = [
    "ca_id",
    "name",
    "profile",
    "request_data",
    "request_type",
    "source_container_ref",
    "subject_dn",
];

/// Checks that the properties suit the type of the order.
fn check(members: &Members) -> Result<(), PropertyError> {
    let Some(kind) = text(members, "type") else { return Ok(()) };
    let allowed: &[&str] = match kind {
        "key" => &KEY,
        "asymmetric" => &ASYMMETRIC,
        _ => &CERTIFICATE,
    };
    let lacks = |name| !may_be_given(members, name);
    if kind != "certificate" && (lacks("algorithm") || lacks("bit_length")) {
        let message =
            format!("Properties algorithm and bit_length are required for {kind} type of order.");
        return Err(PropertyError::new(message));
    }
    needs(members, "profile", "ca_id")?;
    let given = members.keys().map(|name| &**name).filter(|name| is_given(members, name));
    let mut unexpected: Vec<&str> =
        given.filter(|name| *name != "type" && !allowed.contains(name)).collect();
    unexpected.sort_unstable();
    if !unexpected.is_empty() {
        let message = format!(
            "Unexpected properties: {}. Only these properties are allowed for {kind} type of order: {}.",
            unexpected.join(", "),
            allowed.join(", "),
        );
        return Err(PropertyError::new(message));
    }
    Ok(())
}

/// Finds the order by the name of the ordered object, which the order shows.
fn by_name(op: &Op) -> Option<Marker> {
    let name = op.text("name").unwrap_or(&op.context().physical_name);
    Some(Marker {
        list: get(Service::KeyManager, "/orders").query("limit", "100"),
        objects: "/orders".into(),
        field: "/meta/name".into(),
        value: name.into(),
        envelope: None,
        path: "/orders".into(),
        id: "/order_ref".into(),
    })
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        let Some(spec) = op.rest_spec() else { return Ok(()) };
        let mut fields = rest::new_fields(op, &spec);
        // The name, which has the mark, belongs to the ordered object.
        if let Some(name) = fields.remove("name") {
            fields["meta"]["name"] = name;
        }
        let call = kiln_cloud::post(Service::KeyManager, "/orders", Json::Object(fields));
        let reply = op.call("create", call).await?;
        op.set_id(reply.text("/order_ref").unwrap_or_default());
    }
    let place = CallPath::from("/orders").id_or_url(op.id().map_or("", |id| id));
    let name = op.context().resource.clone();
    let order = op.until(get(Service::KeyManager, place), |reply| progress(reply, &name)).await;
    let mut order = match order {
        // Heat does not repeat a failed order.
        Err(OpError::Failed(failure))
            if failure.is_retryable && failure.class == FailureClass::ResourceInError =>
        {
            return Err(OpError::failed(FailureClass::Error, failure.message));
        }
        order => order?.body,
    };
    let products = products(op, &order).await?;
    let mut shown = wire::value(&order.take()).as_map().cloned().unwrap_or_default();
    shown.extend(products);
    op.set_remote(Value::Map(shown.into()));
    Ok(())
}

fn progress(reply: &Reply, name: &str) -> Progress {
    match reply.text("/status") {
        Some("ACTIVE") => Progress::Ready,
        Some("ERROR") => {
            let code = reply.body.get("error_status_code").unwrap_or(&Json::Null);
            let code = code.as_str().map_or_else(|| code.to_string(), str::to_owned);
            let why = reply.text("/error_reason").unwrap_or("Unknown");
            Progress::Failed(format!("Order '{name}' failed: {code} - {why}"))
        }
        _ => Progress::NotYet,
    }
}

/// The secrets of an ordered container, by name.
async fn products(op: &mut Op, order: &Json) -> Result<Members, OpError> {
    let mut products = Members::new();
    let Some(container) = order["container_ref"].as_str() else { return Ok(products) };
    let call = get(Service::KeyManager, CallPath::from("/containers").id_or_url(container));
    let container = op.read(call).await?.body;
    for secret in container["secret_refs"].as_array().into_iter().flatten() {
        let (Some(name), Some(place)) = (secret["name"].as_str(), secret["secret_ref"].as_str())
        else {
            continue;
        };
        if ["certificate", "intermediates", "private_key", "public_key"].contains(&name) {
            products.insert(name.into(), payload(op, place).await?);
        }
    }
    Ok(products)
}

/// Deletes the ordered objects, then the order. The order goes last because only it has their URLs, which a
/// repeated deletion needs.
async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(order) = op.id().cloned() else { return Ok(()) };
    if let Some(order) = read(op, "orders", &order).await? {
        if let Some(container) = order["container_ref"].as_str() {
            remove_container(op, container).await?;
        }
        if let Some(secret) = order["secret_ref"].as_str() {
            remove_product(op, "secrets", secret).await?;
        }
    }
    rest::remove(op).await
}

async fn remove_container(op: &mut Op, place: &str) -> Result<(), OpError> {
    let container = read(op, "containers", place).await?.unwrap_or_default();
    // A certificate for an existing key is in the container of that key, which does not belong to the resource.
    let has_source = op.text("source_container_ref").is_some();
    for secret in container["secret_refs"].as_array().into_iter().flatten() {
        let is_ours =
            !has_source || ["certificate", "intermediates"].iter().any(|it| secret["name"] == *it);
        if let Some(place) = secret["secret_ref"].as_str().filter(|_| is_ours) {
            remove_product(op, "secrets", place).await?;
        }
    }
    remove_product(op, "containers", place).await
}

/// Reads an object of the key manager; `None` if it does not exist.
async fn read(op: &mut Op, many: &str, place: &str) -> Result<Option<Json>, OpError> {
    match op.read(get(Service::KeyManager, CallPath::from("").id(many).id_or_url(place))).await {
        Ok(reply) => Ok(Some(reply.body)),
        Err(stop) if stop.is_not_found() => Ok(None),
        Err(stop) => Err(stop),
    }
}

async fn remove_product(op: &mut Op, many: &str, place: &str) -> Result<(), OpError> {
    let path = CallPath::from("").id(many).id_or_url(place);
    op.remove(&format!("remove {path}"), delete(Service::KeyManager, path)).await
}
