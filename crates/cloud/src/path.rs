//! The path of a call: fixed parts, and ids that are one segment each.
//!
//! An id comes from a service, a template or an adopted stack. It never adds a segment to a path and never leaves the
//! collection it is in: it is percent-encoded, and one that some server could take for several segments is refused.

use crate::CallError;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt;

/// Everything that is encoded in a segment.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The path of a call below the root of its service's version, such as `/servers/3f2a/action`.
///
/// A path with an id that cannot be a segment is refused when the call is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallPath(Result<String, InvalidId>);

/// An id that cannot be a segment of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InvalidId(String);

/// A path with property names in braces, such as `/qos/policies/{policy}/rules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathTemplate(String);

impl CallPath {
    /// The path as it is sent; an error if one of its ids is invalid.
    pub fn checked(&self) -> Result<&str, InvalidId> {
        self.0.as_deref().map_err(InvalidId::clone)
    }

    /// Appends an id as one segment.
    pub fn id(self, id: impl AsRef<str>) -> CallPath {
        let id = id.as_ref();
        self.append(id, [id])
    }

    /// Appends an id that may be a URL; of a URL, its last segment.
    pub fn id_or_url(self, id: impl AsRef<str>) -> CallPath {
        let id = id.as_ref();
        let last = if id.contains("://") { id.rsplit('/').next().unwrap_or(id) } else { id };
        self.append(id, [last])
    }

    /// Appends the name of an object in a container, whose slashes separate segments.
    pub fn object(self, name: impl AsRef<str>) -> CallPath {
        let name = name.as_ref();
        self.append(name, name.split('/'))
    }

    /// Appends a fixed part, such as `/action`.
    pub fn then(self, part: &'static str) -> CallPath {
        CallPath(self.0.map(|path| path + part))
    }

    /// Appends a template; `value` has the ids for its names.
    pub fn filled<'v>(
        self,
        template: &PathTemplate,
        value: impl Fn(&str) -> Option<&'v str>,
    ) -> CallPath {
        let parts = template.0.split('/').skip(1);
        parts.fold(self, |path, part| {
            match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
                Some(name) => path.id_or_url(value(name).unwrap_or_default()),
                None => CallPath(path.0.map(|path| path + "/" + part)),
            }
        })
    }

    fn append<'s>(self, id: &str, segments: impl IntoIterator<Item = &'s str>) -> CallPath {
        CallPath(self.0.and_then(|mut path| {
            let mut is_empty = true;
            for segment in segments {
                if !is_segment(segment) {
                    return Err(InvalidId(id.to_owned()));
                }
                is_empty &= segment.is_empty();
                path.push('/');
                path.extend(utf8_percent_encode(segment, ENCODED));
            }
            // A path that ends with an empty segment is that of the collection or of the container.
            if is_empty { Err(InvalidId(id.to_owned())) } else { Ok(path) }
        }))
    }
}

/// Whether a text can be a segment. Servers differ in whether they resolve `%2F` and `%2E%2E` before they route a
/// request, so encoding is not enough.
fn is_segment(text: &str) -> bool {
    !matches!(text, "." | "..") && !text.contains(|c: char| c == '/' || c.is_control())
}

impl From<&'static str> for CallPath {
    fn from(path: &'static str) -> CallPath {
        CallPath(Ok(path.to_owned()))
    }
}

impl PathTemplate {
    /// A template from a text; `None` if it is not a path whose names in braces are whole segments.
    pub fn parse(text: &str) -> Option<PathTemplate> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.~:".contains(c);
        let is_part = |part: &str| {
            let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
            !part.is_empty() && is_segment(part) && name.unwrap_or(part).chars().all(is_plain)
        };
        let parts = text.strip_prefix('/')?;
        parts.split('/').all(is_part).then(|| PathTemplate(text.to_owned()))
    }

    /// The template as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names in braces.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

impl From<&'static str> for PathTemplate {
    fn from(path: &'static str) -> PathTemplate {
        PathTemplate(path.to_owned())
    }
}

/// For logs and messages.
impl fmt::Display for CallPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(path) => f.write_str(path),
            Err(error) => write!(f, "({error})"),
        }
    }
}

impl PartialEq<str> for CallPath {
    fn eq(&self, other: &str) -> bool {
        self.0.as_deref() == Ok(other)
    }
}

impl PartialEq<&str> for CallPath {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NEXT: &str = "so no call was made for it. Next: name another object; to delete the stack without it, set \
                            its deletion policy to Retain first.";
        match self.0.as_str() {
            "" => write!(f, "The id of an object is empty, {NEXT}"),
            id => write!(f, "{id:?} cannot be the id of an object, {NEXT}"),
        }
    }
}

impl std::error::Error for InvalidId {}

impl From<InvalidId> for CallError {
    fn from(error: InvalidId) -> CallError {
        CallError::Impossible(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use percent_encoding::percent_decode_str;

    fn decoded(path: &str) -> Vec<String> {
        let whole = percent_decode_str(path).decode_utf8().expect("UTF-8").into_owned();
        whole.split('/').skip(1).map(str::to_owned).collect()
    }

    /// Texts of the characters that paths are made of, and of some others.
    fn texts() -> impl Iterator<Item = String> {
        const PARTS: [&str; 14] =
            ["a", "/", ".", "..", "%", "%2F", "%2e", "\\", "?", "#", ";", "é", "\0", " "];
        let count = PARTS.len().pow(4);
        (0..count).map(|number| {
            let digits = (0..4).map(|at| number / PARTS.len().pow(at) % PARTS.len());
            digits.map(|digit| PARTS[digit]).collect()
        })
    }

    #[test]
    fn an_id_is_one_segment_or_refused() {
        for text in texts().chain(["".into(), ".".into(), "..".into(), "\u{7f}".into()]) {
            let path = CallPath::from("/users").id(&text).then("/roles");
            match path.checked() {
                Ok(path) => {
                    assert_eq!(decoded(path), ["users", &text, "roles"]);
                    let url = format!("http://cloud/v3{path}");
                    let url = reqwest::Url::parse(&url).expect("a URL");
                    assert_eq!(url.path(), format!("/v3{path}"), "nothing is resolved");
                    assert_eq!((url.query(), url.fragment()), (None, None));
                }
                Err(error) => {
                    assert!(text.is_empty() || !is_segment(&text), "{text:?}");
                    let message = error.to_string();
                    assert!(text.is_empty() || message.contains(&format!("{text:?}")), "{message}");
                    assert!(message.contains("Next: "), "{message}");
                }
            }
        }
    }

    #[test]
    fn slashes_of_objects_separate_segments() {
        for name in texts() {
            let path = CallPath::from("/v1").id("box").object(&name);
            match path.checked() {
                Ok(path) => {
                    let parts: Vec<&str> =
                        ["v1", "box"].into_iter().chain(name.split('/')).collect();
                    assert_eq!(decoded(path), parts);
                }
                Err(_) => {
                    let has_bad_part = name.split('/').any(|part| !is_segment(part));
                    assert!(has_bad_part || name.trim_matches('/').is_empty(), "{name:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_special_in_a_url_is_encoded() {
        let path = CallPath::from("").id("my box").object("lib/a b?é.yaml");
        assert_eq!(path, "/my%20box/lib/a%20b%3F%C3%A9.yaml");
    }

    #[test]
    fn ids_that_are_urls_are_their_last_segment() {
        let path = |id: &str| CallPath::from("/secrets").id_or_url(id).to_string();
        assert_eq!(path("https://keys/v1/secrets/7"), "/secrets/7");
        assert_eq!(path("7"), "/secrets/7");
        for id in ["https://keys/v1/secrets/..", "https://keys/", "../users/1"] {
            assert!(CallPath::from("/secrets").id_or_url(id).checked().is_err(), "{id}");
        }
    }

    #[test]
    fn a_template_is_filled_with_segments() {
        let template = PathTemplate::parse("/qos/policies/{policy}/rules").expect("a template");
        assert_eq!(template.names().collect::<Vec<_>>(), ["policy"]);
        let path = |id: &'static str| CallPath::from("").filled(&template, |_| Some(id));
        assert_eq!(path("a b"), "/qos/policies/a%20b/rules");
        assert!(path("../x").checked().is_err());
        for text in ["", "a", "/", "/a/", "//a", "/../a", "/a{b}", "/{a", "/a?b", "/{a/b}", "/%2e"]
        {
            assert_eq!(PathTemplate::parse(text), None, "{text}");
        }
    }
}
