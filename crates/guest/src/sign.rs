//! Signatures of requests to the APIs in AWS's style: version 2 in the address, version 4 in headers.

use crate::time::Moment;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// A key and what it is signed with.
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

/// The query of a request, signed with version 2. Without a timestamp it does not end.
pub(crate) fn version_2(key: Key<'_>, call: Call<'_>) -> String {
    let mut all = call.parameters.to_vec();
    all.extend([
        ("AWSAccessKeyId", key.id),
        ("SignatureMethod", "HmacSHA256"),
        ("SignatureVersion", "2"),
    ]);
    let query = query(&all);
    let text = format!("{}\n{}\n{}\n{query}", call.method, call.host, call.path);
    let signature = STANDARD.encode(hash(key.secret.as_bytes(), &text));
    format!("{query}&Signature={}", encoded(&signature))
}

/// The query of a request and the headers that sign it with version 4.
pub(crate) fn version_4(
    key: Key<'_>,
    call: Call<'_>,
    (region, service): (&str, &str),
    now: u64,
) -> (String, Vec<(&'static str, String)>) {
    let date = Moment::since_1970(now).for_signatures();
    let day = date.get(..8).unwrap_or_default();
    let query = query(call.parameters);
    let canonical = format!(
        "{}\n{}\n{query}\nhost:{}\nx-amz-date:{date}\n\nhost;x-amz-date\n{}",
        call.method,
        call.path,
        call.host,
        hexadecimal(&Sha256::digest(b""))
    );
    let scope = format!("{day}/{region}/{service}/aws4_request");
    let digest = hexadecimal(&Sha256::digest(canonical.as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}");
    let mut by = hash(format!("AWS4{}", key.secret).as_bytes(), day);
    for part in [region, service, "aws4_request"] {
        by = hash(&by, part);
    }
    let signature = hexadecimal(&hash(&by, &text));
    let header = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders=host;x-amz-date,Signature={signature}",
        key.id
    );
    (query, vec![("X-Amz-Date", date), ("Authorization", header)])
}

/// Parameters in the order of their bytes.
fn query(parameters: &[(&str, &str)]) -> String {
    let mut all: Vec<_> =
        parameters.iter().map(|(key, value)| (encoded(key), encoded(value))).collect();
    all.sort();
    all.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("&")
}

/// A text as part of an address.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// Host with port, and path, of an address.
pub(crate) fn parts(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('?').next().unwrap_or(rest);
    match rest.find('/') {
        Some(at) => (&rest[..at], &rest[at..]),
        None => (rest, "/"),
    }
}

fn hash(key: &[u8], text: &str) -> Vec<u8> {
    match Hmac::<Sha256>::new_from_slice(key) {
        Ok(mut mac) => {
            mac.update(text.as_bytes());
            mac.finalize().into_bytes().to_vec()
        }
        // Keys of any length are taken.
        Err(_) => Vec::new(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
        let expected = encoded("ZGo4tfO9M2B6B5QXcr5aEa8xQxLxlQLFVvrUbWmTO1g=");
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
        assert_eq!(parts("http://h:8000/v1/?x"), ("h:8000", "/v1/"));
    }
}
