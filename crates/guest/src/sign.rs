//! Signatures for the AWS-compatible APIs: version 2 in the query, version 4 in headers.

use crate::time::Timestamp;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

/// The id of a key, and its secret.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key<'k> {
    pub(crate) id: &'k str,
    pub(crate) secret: &'k str,
}

/// A request to be signed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'c> {
    pub(crate) method: &'c str,
    /// The host, with its port.
    pub(crate) host: &'c str,
    pub(crate) path: &'c str,
    pub(crate) parameters: &'c [(&'c str, &'c str)],
}

/// Returns the query of a request, signed with version 2. It has no timestamp, so it does not expire.
pub(crate) fn version_2(key: Key<'_>, call: Call<'_>) -> String {
    let mut all = call.parameters.to_vec();
    all.extend([
        ("AWSAccessKeyId", key.id),
        ("SignatureMethod", "HmacSHA256"),
        ("SignatureVersion", "2"),
    ]);
    let query = query(&all);
    let text = format!("{}\n{}\n{}\n{query}", call.method, call.host, call.path);
    let signature = STANDARD.encode(hmac(key.secret.as_bytes(), &text));
    format!("{query}&Signature={}", percent_encode(&signature))
}

/// Returns the query of a request, and the headers with its signature of version 4.
pub(crate) fn version_4(
    key: Key<'_>,
    call: Call<'_>,
    (region, service): (&str, &str),
    now: u64,
) -> (String, Vec<(&'static str, String)>) {
    let date = Timestamp::from_unix(now).for_signatures();
    let day = date.get(..8).unwrap_or_default();
    let query = query(call.parameters);
    let canonical = format!(
        "{}\n{}\n{query}\nhost:{}\nx-amz-date:{date}\n\nhost;x-amz-date\n{}",
        call.method,
        call.path,
        call.host,
        hex::encode(Sha256::digest(b""))
    );
    let scope = format!("{day}/{region}/{service}/aws4_request");
    let digest = hex::encode(Sha256::digest(canonical.as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}");
    let mut signing_key = hmac(format!("AWS4{}", key.secret).as_bytes(), day);
    for part in [region, service, "aws4_request"] {
        signing_key = hmac(&signing_key, part);
    }
    let signature = hex::encode(hmac(&signing_key, &text));
    let header = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders=host;x-amz-date,Signature={signature}",
        key.id
    );
    (query, vec![("X-Amz-Date", date), ("Authorization", header)])
}

/// Returns the canonical query: the parameters in byte order.
fn query(parameters: &[(&str, &str)]) -> String {
    let mut all: Vec<_> = parameters
        .iter()
        .map(|(key, value)| (percent_encode(key), percent_encode(value)))
        .collect();
    all.sort();
    all.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("&")
}

/// The characters that are percent-encoded: all but letters, digits and `-_.~`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Percent-encodes a text as part of a URL.
pub(crate) fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Splits a URL into the host with its port, and the path.
pub(crate) fn split_url(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('?').next().unwrap_or(rest);
    match rest.find('/') {
        Some(at) => (&rest[..at], &rest[at..]),
        None => (rest, "/"),
    }
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    match Hmac::<Sha256>::new_from_slice(key) {
        Ok(mut mac) => {
            mac.update(text.as_bytes());
            mac.finalize().into_bytes().to_vec()
        }
        // HMAC accepts keys of any length.
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_2_as_the_collector_signs() {
        let call = Call {
            method: "GET",
            host: "192.0.2.10:8000",
            path: "/v1/",
            parameters: &[
                ("Action", "DescribeStackResource"),
                ("StackName", "web"),
                ("LogicalResourceId", "server"),
            ],
        };
        let query = version_2(Key { id: "AKID", secret: "SECRET" }, call);
        let expected = percent_encode("ZGo4tfO9M2B6B5QXcr5aEa8xQxLxlQLFVvrUbWmTO1g=");
        assert!(query.ends_with(&format!("&Signature={expected}")), "{query}");
    }

    #[test]
    fn version_4_names_its_scope() {
        let call = Call {
            method: "GET",
            host: "h:8000",
            path: "/v1/",
            parameters: &[("b", "2 3"), ("a", "1")],
        };
        let key = Key { id: "AKID", secret: "SECRET" };
        let (query, headers) = version_4(key, call, ("heat", "cloudformation"), 1_794_833_964);
        assert_eq!(query, "a=1&b=2%203");
        assert_eq!(headers[0], ("X-Amz-Date", "20261116T125924Z".into()));
        let start = "AWS4-HMAC-SHA256 Credential=AKID/20261116/heat/cloudformation/aws4_request,\
                     SignedHeaders=host;x-amz-date,Signature=";
        assert!(headers[1].1.starts_with(start), "{}", headers[1].1);
        assert_eq!(split_url("http://h:8000/v1/?x"), ("h:8000", "/v1/"));
    }
}
