//! AWS signatures, versions 0, 1, 2 and 4, of a described request: its host, method, path, parameters, headers and
//! the hash of its body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::super::secret::{hmac, hmac_sha1, same, sha256_hex};

/// Reports whether the described request was signed with this secret.
pub(super) fn is_valid(secret: &str, described: &Value) -> bool {
    let Some(signature) = described["signature"].as_str() else { return false };
    let matches = |expected: Option<String>| {
        expected.is_some_and(|expected| same(expected.as_bytes(), signature.as_bytes()))
    };
    let host = described["host"].as_str().unwrap_or_default();
    match described["params"]["SignatureVersion"].as_str() {
        Some("0") => matches(version_0(secret, described)),
        Some("1") => matches(version_1(secret, described)),
        Some("2") => {
            // Some clients sign the host without its port.
            let bare = host.split(':').next().unwrap_or_default();
            matches(version_2(secret, described, host))
                || matches(version_2(secret, described, bare))
        }
        _ => matches(version_4(secret, described)),
    }
}

/// Returns a header, ignoring the case of its name.
fn header<'a>(headers: &'a Value, name: &str) -> &'a Value {
    let headers = headers.as_object().into_iter().flatten();
    let found = headers.into_iter().find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    found.map_or(&Value::Null, |(_, value)| value)
}

/// Version 0 signs the action and the timestamp only.
fn version_0(secret: &str, described: &Value) -> Option<String> {
    let part = |name: &str| described["params"][name].as_str();
    let text = format!("{}{}", part("Action")?, part("Timestamp")?);
    Some(STANDARD.encode(hmac_sha1(secret.as_bytes(), text.as_bytes())))
}

/// Version 1 signs all parameters, sorted by name without regard to case.
fn version_1(secret: &str, described: &Value) -> Option<String> {
    let mut pairs: Vec<(&String, &Value)> = described["params"].as_object()?.iter().collect();
    pairs.sort_by_key(|(name, _)| name.to_lowercase());
    let text: String =
        pairs.iter().map(|(name, value)| format!("{name}{}", printed(value))).collect();
    Some(STANDARD.encode(hmac_sha1(secret.as_bytes(), text.as_bytes())))
}

fn version_2(secret: &str, described: &Value, host: &str) -> Option<String> {
    let mut params = described["params"].as_object()?.clone();
    params.insert("SignatureMethod".to_owned(), Value::from("HmacSHA256"));
    let (verb, path) = (described["verb"].as_str()?, described["path"].as_str()?);
    let text = format!("{verb}\n{host}\n{path}\n{}", query(&params));
    Some(STANDARD.encode(hmac(secret.as_bytes(), text.as_bytes())))
}

fn version_4(secret: &str, described: &Value) -> Option<String> {
    let none = Map::new();
    let params = described["params"].as_object().unwrap_or(&none);
    let headers = &described["headers"];
    // Keystone looks for these two headers in exactly this spelling.
    let authorization = headers["Authorization"].as_str();
    let (credential, signed) = match authorization {
        Some(line) if line.starts_with("AWS4-HMAC-SHA256") => {
            (between(line, "Credential=")?, between(line, "SignedHeaders=")?)
        }
        Some(_) => return None,
        None if params.get("X-Amz-Algorithm")? == "AWS4-HMAC-SHA256" => (
            params.get("X-Amz-Credential")?.as_str()?,
            params.get("X-Amz-SignedHeaders")?.as_str()?,
        ),
        None => return None,
    };
    let date = headers["X-Amz-Date"].as_str();
    let date = date.or_else(|| params.get("X-Amz-Date")?.as_str())?;
    let (_, scope) = credential.split_once('/')?;
    let mut parts = scope.split('/');
    let (day, region, service) = (parts.next()?, parts.next()?, parts.next()?);
    if !date.starts_with(day) {
        return None;
    }
    let verb = described["verb"].as_str()?.to_uppercase();
    // The parameters of a POST are in its body, whose hash is signed.
    let query = if verb == "POST" { String::new() } else { query(params) };
    let (path, body) = (described["path"].as_str()?, described["body_hash"].as_str()?);
    let lines = signed
        .split(';')
        .filter_map(|name| Some(format!("{name}:{}\n", header(headers, name).as_str()?.trim())));
    let lines: String = lines.collect();
    let request = format!("{verb}\n{path}\n{query}\n{lines}\n{signed}\n{body}");
    let hash = sha256_hex(request.as_bytes());
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{hash}");
    let steps = [day, region, service, "aws4_request", &text];
    let start = format!("AWS4{secret}").into_bytes();
    let tag = steps.iter().fold(start, |key, step| hmac(&key, step.as_bytes()).to_vec());
    Some(hex::encode(&tag))
}

/// Returns the text after a word, up to a comma.
fn between<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let (_, after) = line.split_once(word)?;
    after.split(',').next().map(str::trim)
}

/// Returns the canonical query string.
fn query(params: &Map<String, Value>) -> String {
    let mut pairs: Vec<(&String, &Value)> = params.iter().collect();
    pairs.sort_by_key(|(name, _)| name.as_str());
    let pairs =
        pairs.iter().map(|(name, value)| format!("{}={}", escape(name), escape(&printed(value))));
    pairs.collect::<Vec<_>>().join("&")
}

/// Formats a parameter as text.
fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => crate::python::repr(other),
    }
}

/// The characters that AWS percent-encodes: all but letters, digits and `-_.~`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

fn escape(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// AWS's published example of a signature of version 2.
    #[test]
    fn version_2_is_as_published() {
        let params = json!({
            "AWSAccessKeyId": "AKIAIOSFODNN7EXAMPLE", "Action": "DescribeJobFlows",
            "SignatureMethod": "HmacSHA256", "SignatureVersion": "2",
            "Timestamp": "2011-10-03T15:19:30", "Version": "2009-03-31",
        });
        let described = json!({
            "signature": "i91nKc4PWAt0JJIdXwz9HxZCJDdiy6cf/Mj6vPxyYIs=",
            "host": "elasticmapreduce.amazonaws.com", "verb": "GET", "path": "/", "params": params,
        });
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        assert!(is_valid(secret, &described));
        assert!(!is_valid("other", &described));
    }

    /// Keystone's own library creates the same signatures.
    #[test]
    fn versions_0_and_1_are_as_the_library_signs() {
        let params = |version: &str| {
            json!({ "Action": "Test", "SignatureVersion": version, "Timestamp": "2012-01-01T00:00:00Z",
                    "aWSAccessKeyId": "k" })
        };
        let described = |version: &str, signature: &str| json!({ "signature": signature, "params": params(version) });
        let signed = |text: &str| STANDARD.encode(hmac_sha1(b"secret", text.as_bytes()));
        let zero = described("0", &signed("Test2012-01-01T00:00:00Z"));
        let one = "ActionTestaWSAccessKeyIdkSignatureVersion1Timestamp2012-01-01T00:00:00Z";
        let one = described("1", &signed(one));
        assert!(is_valid("secret", &zero) && !is_valid("other", &zero));
        assert!(is_valid("secret", &one) && !is_valid("other", &one));
    }

    /// AWS's published test `get-vanilla` of version 4.
    #[test]
    fn version_4_is_as_published() {
        let authorization = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
        let described = json!({
            "signature": "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            "host": "example.amazonaws.com", "verb": "GET", "path": "/", "params": {},
            "headers": {
                "Host": "example.amazonaws.com", "X-Amz-Date": "20150830T123600Z",
                "Authorization": authorization,
            },
            "body_hash": sha256_hex(b""),
        });
        assert!(is_valid("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", &described));
        assert!(!is_valid("other", &described));
    }

    #[test]
    fn nonsense_is_wrong_but_harmless() {
        for described in [
            json!(null),
            json!([]),
            json!({ "signature": "x" }),
            json!({ "signature": "x", "params": { "SignatureVersion": "2" } }),
            json!({ "signature": "x", "headers": { "Authorization": "AWS4-HMAC-SHA256 Credential=" } }),
            json!({ "signature": "x", "headers": 5, "params": { "X-Amz-Algorithm": "AWS4-HMAC-SHA256" } }),
        ] {
            assert!(!is_valid("secret", &described), "{described}");
        }
    }
}
