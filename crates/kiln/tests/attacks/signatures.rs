//! Signatures of AWS: which of them change something.

use crate::cloud::kiln_process::KilnProcess;
use crate::cloud::users::User;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha1::Sha1;
use sha2::Sha256;
use std::collections::BTreeMap;

/// An access key with its secret.
pub(super) struct Key {
    pub(super) access: String,
    pub(super) secret: String,
}

/// The versions of signatures of query parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Version {
    /// The action and the time.
    Zero,
    /// All parameters, with SHA-1.
    One,
    /// All parameters, the method, the host and the path.
    Two,
}

impl Key {
    /// A key of a user.
    async fn of(kiln: &KilnProcess, user: &User) -> Key {
        let url = format!("{}/users/{}/credentials/OS-EC2", kiln.identity, user.id);
        let body = json!({ "tenant_id": user.project });
        let request = kiln.client().post(url).header("X-Auth-Token", &user.token).json(&body);
        let made = request.send().await.expect("an answer");
        let made: serde_json::Value = made.json().await.expect("a key");
        let text = |name: &str| made["credential"][name].as_str().expect("a text").to_owned();
        Key { access: text("access"), secret: text("secret") }
    }

    /// Sends a request to the CloudFormation API; gives its status and its body.
    pub(super) async fn send(
        &self,
        kiln: &KilnProcess,
        version: Version,
        parameters: &[(&str, &str)],
    ) -> (u16, String) {
        let url = self.signed(&format!("{}/", kiln.cloudformation()), version, parameters);
        let reply = kiln.client().get(url).send().await.expect("an answer");
        (reply.status().as_u16(), reply.text().await.expect("a text"))
    }

    /// The URL of a signed request.
    fn signed(&self, url: &str, version: Version, parameters: &[(&str, &str)]) -> String {
        let number = ["0", "1", "2"][version as usize];
        let mut all: BTreeMap<&str, &str> = parameters.iter().copied().collect();
        all.extend([("AWSAccessKeyId", self.access.as_str()), ("SignatureVersion", number)]);
        let method = if matches!(version, Version::Two) { "HmacSHA256" } else { "HmacSHA1" };
        all.insert("SignatureMethod", method);
        let pairs: Vec<String> =
            all.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let query = pairs.join("&");
        let key = self.secret.as_bytes();
        let by_sha1 = |text: String| {
            let keyed = Hmac::<Sha1>::new_from_slice(key).expect("a key");
            STANDARD.encode(keyed.chain_update(text).finalize().into_bytes())
        };
        let signature = match version {
            Version::Zero => {
                let part = |name: &str| all.get(name).copied().unwrap_or_default();
                by_sha1(format!("{}{}", part("Action"), part("Timestamp")))
            }
            Version::One => {
                let mut sorted: Vec<(&&str, &&str)> = all.iter().collect();
                sorted.sort_by_key(|(name, _)| name.to_lowercase());
                by_sha1(sorted.iter().map(|(name, value)| format!("{name}{value}")).collect())
            }
            Version::Two => {
                let rest = url.split_once("://").expect("a URL").1;
                let (host, path) = rest.split_once('/').expect("a path");
                let text = format!("GET\n{host}\n/{path}\n{query}");
                let keyed = Hmac::<Sha256>::new_from_slice(key).expect("a key");
                STANDARD.encode(keyed.chain_update(text).finalize().into_bytes())
            }
        };
        format!("{url}?{query}&Signature={}", encoded(&signature))
    }
}

/// A value in a query, with every character encoded that AWS has encoded.
fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// The present, as signatures have it.
pub(super) fn now() -> String {
    kiln_engine::now().to_string()
}

/// Requests that are signed in part, without a time, long ago or for the second time create a stack.
pub(super) async fn old_ones_change_nothing(kiln: &KilnProcess) {
    let user = User::member(kiln, "sigrid").await;
    let key = Key::of(kiln, &user).await;
    let template = "{heat_template_version: 2021-04-16, resources: {n: {type: 'OS::Heat::None'}}}";
    let now = now();
    let send = async |stack: &str, version, time: Option<&str>| {
        let mut parameters =
            vec![("Action", "CreateStack"), ("StackName", stack), ("TemplateBody", template)];
        parameters.extend(time.map(|time| ("Timestamp", time)));
        key.send(kiln, version, &parameters).await
    };
    for (stack, version, time, code) in [
        ("zero", Version::Zero, Some(now.as_str()), "IncompleteSignature"),
        ("one", Version::One, Some(&now), "IncompleteSignature"),
        ("timeless", Version::Two, None, "IncompleteSignature"),
        ("timeless", Version::Two, None, "IncompleteSignature"),
        ("expired", Version::Two, Some("2020-01-01T00:00:00Z"), "RequestExpired"),
    ] {
        let (status, text) = send(stack, version, time).await;
        assert!(status == 400 && text.contains(code), "{stack}: {status} {text}");
    }
    let (status, first) = send("timed", Version::Two, Some(&now)).await;
    assert_eq!(status, 200, "{first}");
    // Within the second that both name, the answer is the same; nothing is created again.
    let (status, text) = send("timed", Version::Two, Some(&now)).await;
    let is_refused = status == 400 && text.contains("RequestExpired");
    assert!(is_refused || status == 200 && text == first, "again: {status} {text}");
    let listed = user.ask(kiln, "GET", "/stacks", None).await.body;
    let names = listed["stacks"].as_array().expect("a list").iter();
    assert_eq!(names.map(|it| &it["stack_name"]).collect::<Vec<_>>(), ["timed"]);
}
