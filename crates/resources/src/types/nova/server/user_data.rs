//! The user data of a server, for its first boot.
//!
//! `RAW` is the text of the template. The other formats are a MIME message for cloud-init with that text, and
//! with scripts that write the metadata to files for the guest tools.

use crate::declare::Value;
use crate::op::{Op, OpError};
use crate::property_access::open;
use crate::types::heat::mime::{self, Part};
use crate::types::heat::{addresses, collecting, stack_user, stored_config};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kiln_template::print;
use serde_json::{Value as Json, json};

const BOOTHOOK: &str = include_str!("guest/boothook.sh");
const USER: &str = include_str!("guest/user.sh");
const PART_HANDLER: &str = include_str!("guest/part-handler.py");
const LOG_USER_DATA: &str = include_str!("guest/loguserdata.py");

/// The input for user data.
pub(crate) struct UserData<'a> {
    /// `RAW`, `HEAT_CFNTOOLS` or `SOFTWARE_CONFIG`.
    pub(crate) format: &'a str,
    /// The user's text, or the id of a stored configuration.
    pub(crate) text: &'a str,
    /// The account that cloud-init creates; `None` for the image's default.
    pub(crate) login: Option<&'a str>,
}

/// The data that a server gets in addition at its first boot.
pub(crate) struct Delivery {
    /// The metadata of the resource.
    pub(crate) metadata: Value,
    /// The URL of the CloudFormation API, with a slash at the end; `None` without guest tools.
    pub(crate) cfn_url: Option<String>,
    /// The URL of the CloudWatch API, likewise.
    pub(crate) watch_url: Option<String>,
}

/// Prepares the additional data. Servers with deployments read their metadata as a stack user.
async fn delivery(op: &mut Op, format: &str) -> Result<Delivery, OpError> {
    let (mut cfn_url, mut watch_url) = (None, None);
    if format == "SOFTWARE_CONFIG" {
        collecting::prepare(op, &["ec2"]).await?;
    } else if format == "HEAT_CFNTOOLS" && stack_user::are_there(op) {
        cfn_url = addresses::metadata(op).await.ok();
        watch_url = addresses::watch(op).await.ok();
    }
    let metadata = collecting::whole(&op.context().metadata, &op.context().data);
    Ok(Delivery { metadata, cfn_url, watch_url })
}

/// The user data in Base64, as the compute service expects them; `None` if they are empty.
pub(crate) async fn encoded(op: &mut Op, of: UserData<'_>) -> Result<Option<String>, OpError> {
    let delivery = delivery(op, of.format).await?;
    let text = match of.format {
        "HEAT_CFNTOOLS" => of.text.to_owned(),
        _ => content(op, of.text).await?,
    };
    let all = match of.format {
        "RAW" => text,
        "SOFTWARE_CONFIG" => match ignition(&text, &delivery.metadata) {
            Some(document) => document,
            None => message(&software_config(&text, &of, &delivery), op),
        },
        _ => message(&cfn_tools(&text, &of, &delivery), op),
    };
    Ok((!all.is_empty()).then(|| STANDARD.encode(all)))
}

/// Reads the stored configuration with an id; other text is the content itself.
async fn content(op: &mut Op, written: &str) -> Result<String, OpError> {
    if uuid::Uuid::try_parse(written).is_ok()
        && let Some(config) = stored_config::content(op, written).await?
    {
        return Ok(print::plain(open(&config)));
    }
    Ok(written.to_owned())
}

fn message(parts: &[Part], op: &Op) -> String {
    // The boundary must not occur in a part; it may be the same each time.
    let mut boundary = format!("===kiln-{}===", op.context().physical_name);
    while parts.iter().any(|part| part.content.contains(&boundary)) {
        boundary.push('=');
    }
    mime::message(parts, &boundary)
}

fn part(filename: &str, subtype: &str, content: impl Into<String>) -> Part {
    Part { subtype: subtype.into(), filename: Some(filename.into()), content: content.into() }
}

/// The first parts of both formats.
fn first(of: &UserData<'_>) -> Vec<Part> {
    let mut config = String::from("#cloud-config\n");
    let mut user = String::new();
    if let Some(login) = of.login {
        config.push_str(&format!("user: {login}\n"));
        user = USER.replace("@NAME@", login);
    }
    config.push_str("output: {all: '| tee -a /var/log/cloud-init-output.log'}\n");
    vec![
        part("cloud-config", "cloud-config", config),
        part("boothook.sh", "cloud-boothook", BOOTHOOK.replace("@USER@\n", &user)),
        part("part-handler.py", "part-handler", PART_HANDLER),
    ]
}

fn init_data(metadata: &Value) -> Option<Part> {
    let is_empty = metadata.is_null() || metadata.as_map().is_some_and(|it| it.is_empty());
    let text = || crate::wire::json(metadata).to_string();
    (!is_empty).then(|| part("cfn-init-data", "x-cfninitdata", text()))
}

fn cfn_tools(text: &str, of: &UserData<'_>, delivery: &Delivery) -> Vec<Part> {
    let mut parts = first(of);
    parts.push(part("cfn-userdata", "x-cfninitdata", text));
    parts.push(part("loguserdata.py", "x-shellscript", LOG_USER_DATA));
    parts.extend(init_data(&delivery.metadata));
    if let Some(url) = &delivery.cfn_url {
        parts.push(part("cfn-metadata-server", "x-cfninitdata", url.as_str()));
        parts.push(part("cfn-boto-cfg", "x-cfninitdata", boto(url)));
    }
    if let Some(url) = &delivery.watch_url {
        parts.push(part("cfn-watch-server", "x-cfninitdata", url.as_str()));
    }
    parts
}

/// The configuration of boto, with which older guest tools find the CloudFormation API.
fn boto(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let host = rest.split(['/', ':']).next().unwrap_or(rest);
    let secure = if scheme == "https" { 1 } else { 0 };
    format!(
        "[Boto]\ndebug = 0\nis_secure = {secure}\nhttps_validate_certificates = 1\n\
         cfn_region_name = heat\ncfn_region_endpoint = {host}\n"
    )
}

fn software_config(text: &str, of: &UserData<'_>, delivery: &Delivery) -> Vec<Part> {
    let mut parts = first(of);
    if !text.is_empty() {
        let own = mime::parts(text).into_iter();
        parts.extend(
            own.map(|part| Part {
                filename: part.filename.or_else(|| Some(String::new())),
                ..part
            }),
        );
    }
    parts.extend(init_data(&delivery.metadata));
    parts
}

/// Adds the metadata as files to an Ignition document; `None` if the text is no such document.
fn ignition(text: &str, metadata: &Value) -> Option<String> {
    let mut document: Json = serde_json::from_str(text).ok()?;
    document.pointer("/ignition/version")?;
    let Some(data) = init_data(metadata) else { return Some(text.to_owned()) };
    let mut storage = document.get("storage").filter(|it| it.is_object()).cloned();
    let storage = storage.get_or_insert_with(|| json!({}));
    let mut files = storage["files"].as_array().cloned().unwrap_or_default();
    for folder in ["/var/lib/heat-cfntools", "/var/lib/cloud/data"] {
        files.push(json!({
            "path": format!("{folder}/{}", "cfn-init-data"),
            "filesystem": "root",
            "mode": 0o640,
            "user": { "name": "root" },
            "group": { "name": "root" },
            "contents": { "source": format!("data:,{}", crate::wire::segment(&data.content)) },
        }));
    }
    storage["files"] = files.into();
    document["storage"] = storage.clone();
    Some(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::map;

    fn names(parts: &[Part]) -> Vec<&str> {
        parts.iter().filter_map(|part| part.filename.as_deref()).collect()
    }

    #[test]
    fn the_parts_are_in_the_order_that_tools_know() {
        let of = UserData { format: "", text: "", login: Some("ec2-user") };
        let metadata = map([("a", "b")]);
        let cfn_url = Some("https://heat.example:8000/v1/".into());
        let watch_url = Some("https://heat.example:8003/v1/".into());
        let delivery = Delivery { metadata, cfn_url, watch_url };
        let parts = cfn_tools("#!/bin/sh\n", &of, &delivery);
        assert_eq!(
            names(&parts),
            [
                "cloud-config",
                "boothook.sh",
                "part-handler.py",
                "cfn-userdata",
                "loguserdata.py",
                "cfn-init-data",
                "cfn-metadata-server",
                "cfn-boto-cfg",
                "cfn-watch-server"
            ]
        );
        assert!(parts[0].content.contains("user: ec2-user\n"));
        assert!(parts[1].content.contains("useradd -m ec2-user"));
        assert_eq!(parts[5].content, r#"{"a":"b"}"#);
        assert!(parts[7].content.contains("is_secure = 1\n"));
        assert!(parts[7].content.contains("cfn_region_endpoint = heat.example\n"));
        let of = UserData { login: None, ..of };
        let parts = software_config("echo hi", &of, &delivery);
        assert_eq!(
            names(&parts),
            ["cloud-config", "boothook.sh", "part-handler.py", "", "cfn-init-data"]
        );
        assert!(!parts[0].content.contains("user:"));
        assert!(!parts[1].content.contains('@'));
    }

    #[test]
    fn a_document_for_ignition_gets_files() {
        let text = r#"{"ignition": {"version": "2.2.0"}}"#;
        assert_eq!(ignition(text, &Value::Null).as_deref(), Some(text));
        let document = ignition(text, &map([("a", "b c")])).expect("it is one");
        let document: Json = serde_json::from_str(&document).expect("it is JSON");
        let files = document["storage"]["files"].as_array().expect("files");
        assert_eq!(files.len(), 2);
        assert_eq!(files[0]["path"], "/var/lib/heat-cfntools/cfn-init-data");
        assert_eq!(files[0]["contents"]["source"], "data:,%7B%22a%22%3A%22b%20c%22%7D");
        assert!(ignition("#!/bin/sh", &Value::Null).is_none());
    }
}
