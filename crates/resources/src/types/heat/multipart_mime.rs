//! OS::Heat::MultipartMime: several configurations put together as one MIME message for cloud-init.

use super::mime;
use super::stored_config;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{open, text};
use crate::random::RandomPool;
use kiln_template::print;

pub(super) fn multipart_mime() -> ResourceType {
    ResourceType::new("OS::Heat::MultipartMime")
        .about("Several configurations put together as one MIME message for cloud-init.")
        .service(Service::Orchestration)
        .entity("software_configs")
        .since("2014.1")
        .props([
            prop("group", Str, "Tool that applies the message when it is deployed; none for mere user data.").default("Heat::Ungrouped").since("14.0.0"),
            prop("parts", List, "Parts of the message, in order.").default_empty().each(record([
                prop("config", Str, "Text of the part, or the ID of a software config with the text.").required(),
                prop("filename", Str, "File name under which the part is attached to the message."),
                prop("subtype", Str, "MIME subtype of a text part, such as `x-shellscript`; from the file name if omitted."),
                prop("type", Str, "Whether the part is text or a multipart message whose own parts are added.").default("text").one_of(["text", "multipart"]),
            ])),
        ])
        .attrs([attr("config", Str, "Complete MIME message as text, as it is handed to servers.")])
        .creates(|op| Box::pin(create(op)))
        .created_on_adopt()
        .deletes(|op| Box::pin(stored_config::remove(op)))
        .attributes(stored_config::attribute)
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        return stored_config::publish(op).await;
    }
    let parts = op.items("parts").to_vec();
    let mut is_hidden = op.prop("parts").has_secret();
    let mut message = Vec::new();
    for part in parts.iter().filter_map(Value::as_map) {
        let config = content(op, text(part, "config").unwrap_or_default()).await?;
        is_hidden |= config.has_secret();
        let content = print::plain(open(&config));
        let filename = text(part, "filename");
        match text(part, "type") {
            Some("multipart") => message.extend(mime::parts(&content)),
            _ => message.push(mime::Part {
                subtype: subtype(text(part, "subtype"), filename),
                filename: filename.map(str::to_owned),
                content,
            }),
        }
    }
    let boundary = boundary(op).await?;
    let group = op.prop("group").clone();
    let config = stored_config::text(mime::message(&message, &boundary), is_hidden);
    stored_config::store(op, group, config).await
}

/// Reads the stored configuration with an id; other text is the content itself.
async fn content(op: &mut Op, written: &str) -> Result<Value, OpError> {
    if uuid::Uuid::try_parse(written).is_ok()
        && let Some(config) = stored_config::content(op, written).await?
    {
        return Ok(if config.is_null() { "".into() } else { config });
    }
    Ok(written.into())
}

/// The subtype of a part; by default the file name without its extension.
fn subtype(given: Option<&str>, filename: Option<&str>) -> String {
    let stem = || filename.map(|name| name.rsplit_once('.').map_or(name, |(stem, _)| stem));
    given.or_else(stem).filter(|name| !name.is_empty()).unwrap_or("plain").to_owned()
}

/// Draws a boundary that is unlikely to occur in a part.
async fn boundary(op: &mut Op) -> Result<String, OpError> {
    let mut dice = RandomPool::default();
    let mut digits = String::new();
    while digits.len() < 19 {
        digits.push(dice.one_of(op, &['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']).await?);
    }
    Ok(format!("==============={digits}=="))
}
