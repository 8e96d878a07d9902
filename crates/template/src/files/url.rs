//! URLs of files: from paths, joined with each other, and back to paths. Text in, text out.
//!
//! Joining follows Python's urllib for `file`, `http`, `https` and `ftp`; nothing is
//! encoded or decoded by it, so keys of `files` look as they were written.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;

/// The schemes under which one URL can be relative to another.
const HIERARCHICAL: [&str; 5] = ["", "file", "ftp", "http", "https"];

/// The URL of a template or environment that a user names: a URL as it is, a path made absolute.
pub fn from_path(working_directory: &str, path: &str) -> String {
    if !UrlParts::parse(path).scheme.is_empty() {
        return path.to_owned();
    }
    let whole =
        if path.starts_with('/') { path.into() } else { format!("{working_directory}/{path}") };
    format!("file://{}", percent_encode(&normalize(&whole), &PATH))
}

/// The directory of a URL, with a slash at its end: what names in that file are relative to.
pub fn directory(url: &str) -> String {
    as_directory(&join(url, parent(UrlParts::parse(&clean(url)).path)))
}

/// The URL with a slash at its end.
pub fn as_directory(url: &str) -> String {
    if url.ends_with('/') { url.to_owned() } else { format!("{url}/") }
}

/// A reference as seen from a base URL.
pub fn join(base: &str, reference: &str) -> String {
    if base.is_empty() || reference.is_empty() {
        return if base.is_empty() { reference } else { base }.to_owned();
    }
    let (base, clean_reference) = (clean(base), clean(reference));
    let (base, mut parts) = (UrlParts::parse(&base), UrlParts::parse(&clean_reference));
    let other_scheme = !parts.scheme.is_empty() && parts.scheme != base.scheme;
    if other_scheme || !HIERARCHICAL.contains(&&*base.scheme) {
        return reference.to_owned();
    }
    parts.scheme.clone_from(&base.scheme);
    if !parts.host.is_empty() {
        return parts.text();
    }
    parts.host = base.host;
    if parts.path.is_empty() {
        parts.path = base.path;
        parts.query = if parts.query.is_empty() { base.query } else { parts.query };
        return parts.text();
    }
    let path = merge_paths(base.path, parts.path);
    UrlParts { path: &path, ..parts }.text()
}

/// The path that a `file` URL stands for; nothing for other URLs.
pub fn to_path(url: &str) -> Option<String> {
    let url = clean(url);
    let parts = UrlParts::parse(&url);
    if parts.scheme != "file" || !(parts.host.is_empty() || parts.host == "localhost") {
        return None;
    }
    // A question mark is part of a file's name: files have no queries.
    let query = if parts.query.is_empty() { "" } else { "?" };
    Some(percent_decode(&[parts.path, query, parts.query].concat()))
}

/// A URL taken apart; what is not there is empty.
#[derive(Clone, Debug, PartialEq)]
struct UrlParts<'a> {
    /// In lower case.
    scheme: Cow<'a, str>,
    host: &'a str,
    path: &'a str,
    query: &'a str,
    fragment: &'a str,
}

impl<'a> UrlParts<'a> {
    fn parse(url: &'a str) -> UrlParts<'a> {
        let (scheme, rest) = split_scheme(url);
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        UrlParts { scheme, host, path, query, fragment }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if !self.scheme.is_empty() {
            text.extend([&*self.scheme, ":"]);
        }
        if !self.host.is_empty() || !self.scheme.is_empty() {
            text.extend(["//", self.host]);
            if !self.path.is_empty() && !self.path.starts_with('/') {
                text.push('/');
            }
        }
        text.push_str(self.path);
        for (mark, part) in [("?", self.query), ("#", self.fragment)] {
            if !part.is_empty() {
                text.extend([mark, part]);
            }
        }
        text
    }
}

fn split_scheme(url: &str) -> (Cow<'_, str>, &str) {
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    match url.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => {
            let upper = scheme.contains(|c: char| c.is_ascii_uppercase());
            let scheme =
                if upper { scheme.to_ascii_lowercase().into() } else { Cow::Borrowed(scheme) };
            (scheme, rest)
        }
        _ => (Cow::Borrowed(""), url),
    }
}

/// The text without line breaks and tabs, and without blanks in front.
fn clean(url: &str) -> Cow<'_, str> {
    let url = url.trim_start_matches(|c| c <= ' ');
    if url.contains(['\t', '\r', '\n']) {
        Cow::Owned(url.replace(['\t', '\r', '\n'], ""))
    } else {
        Cow::Borrowed(url)
    }
}

/// A path as seen from another: its directory is kept unless the path is absolute, `.` and `..` are
/// resolved. Empty segments are dropped from relative paths only.
fn merge_paths(base: &str, path: &str) -> String {
    let absolute = path.strip_prefix('/');
    let (kept, path) = match absolute {
        Some(path) => (None, path),
        None => (base.rsplit_once('/').map(|(directory, _)| directory), path),
    };
    let rooted = absolute.is_some() || base.starts_with('/');
    let mut segments: Vec<&str> = Vec::new();
    for segment in kept.unwrap_or_default().split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = segments.pop(),
            segment => segments.push(segment),
        }
    }
    let last = path.split('/').count() - 1;
    for (at, segment) in path.split('/').enumerate() {
        match segment {
            "" if absolute.is_none() && at < last => {}
            "." | ".." => {
                if segment == ".." {
                    segments.pop();
                }
                if at == last {
                    segments.push("");
                }
            }
            segment => segments.push(segment),
        }
    }
    let text = segments.join("/");
    if rooted || text.is_empty() { format!("/{text}") } else { text }
}

/// The directory of a path, without a slash at its end unless it is the root.
fn parent(path: &str) -> &str {
    let Some(at) = path.rfind('/') else { return "" };
    let head = &path[..=at];
    let trimmed = head.trim_end_matches('/');
    if trimmed.is_empty() { head } else { trimmed }
}

/// An absolute path without `.`, `..` and repeated slashes.
fn normalize(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = segments.pop(),
            segment => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

/// The characters that Python's `quote` escapes: all but letters, digits and `_.-~`.
pub static COMPONENT: AsciiSet =
    NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The same without the slash.
pub static PATH: AsciiSet = COMPONENT.remove(b'/');
/// The same as [`COMPONENT`] without the colon.
pub static SEGMENT: AsciiSet = COMPONENT.remove(b':');

/// Percent-encodes the characters of a set, and everything beyond ASCII.
pub fn percent_encode(text: &str, set: &'static AsciiSet) -> String {
    utf8_percent_encode(text, set).to_string()
}

/// Decodes percent escapes; an invalid escape stays as it is, and invalid UTF-8 is replaced.
pub fn percent_decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_joined_as_the_client_joins_them() {
        for (base, reference, expected) in JOINED {
            assert_eq!(join(base, reference), *expected, "{base} {reference}");
        }
    }

    #[test]
    fn paths_become_urls_and_come_back() {
        for (path, url, directory_of) in [
            ("a.yaml", "file:///tmp/a.yaml", "file:///tmp/"),
            ("/a/b.yaml", "file:///a/b.yaml", "file:///a/"),
            ("../x.yaml", "file:///x.yaml", "file:///"),
            ("../../../x.yaml", "file:///x.yaml", "file:///"),
            ("a b.yaml", "file:///tmp/a%20b.yaml", "file:///tmp/"),
            ("é.yaml", "file:///tmp/%C3%A9.yaml", "file:///tmp/"),
            ("a%20b.yaml", "file:///tmp/a%2520b.yaml", "file:///tmp/"),
            ("a#b?c.yaml", "file:///tmp/a%23b%3Fc.yaml", "file:///tmp/"),
            ("/a//./b/", "file:///a/b", "file:///a/"),
            ("~/x;y", "file:///tmp/~/x%3By", "file:///tmp/~/"),
            ("", "file:///tmp", "file:///"),
        ] {
            assert_eq!(from_path("/tmp", path), url, "{path}");
            assert_eq!(directory(url), directory_of, "{path}");
            let back = to_path(url).unwrap();
            assert_eq!(from_path("/", &back), url);
        }
        for url in ["http://h/a/b.yaml?x=1", "file:///a/../b.yaml", "a:b", "HTTP://H/x"] {
            assert_eq!(from_path("/tmp", url), url);
        }
        assert_eq!(directory("http://h/a/b.yaml?x=1"), "http://h/a/");
        assert_eq!(directory("file:///a/../b.yaml"), "file:///");
        assert_eq!(directory("HTTP://H/x"), "http://H/");
    }

    #[test]
    fn text_is_escaped_as_python_escapes_it() {
        assert_eq!(percent_encode("a b/é~", &PATH), "a%20b/%C3%A9~");
        assert_eq!(percent_encode("-._~:/%\u{7f}\0", &COMPONENT), "-._~%3A%2F%25%7F%00");
        assert_eq!(percent_encode("a:b/c", &SEGMENT), "a:b%2Fc");
        assert_eq!(percent_decode("%41%zz%e9%C3%A9%"), "A%zz\u{fffd}é%");
    }

    #[test]
    fn only_local_file_urls_are_paths() {
        for (url, expected) in [
            ("file:///a/b%20c", Some("/a/b c")),
            ("file:///a/b c", Some("/a/b c")),
            ("file:///a%", Some("/a%")),
            ("file:///a%zz%41", Some("/a%zzA")),
            ("file:///e#f", Some("/e")),
            ("file:///e?f", Some("/e?f")),
            ("file://localhost/a", Some("/a")),
            ("file://elsewhere/a", None),
            ("http://h/a", None),
            ("/a", None),
        ] {
            assert_eq!(to_path(url).as_deref(), expected, "{url}");
        }
    }

    /// Base, reference, and what Python's own function answered.
    const JOINED: &[(&str, &str, &str)] = &[
        ("file:///a/b/", "x.sh", "file:///a/b/x.sh"),
        ("file:///a/b/", "./x", "file:///a/b/x"),
        ("file:///a/b/", "../x", "file:///a/x"),
        ("file:///a/b/", "../../../x", "file:///x"),
        ("file:///a/b/", "/x", "file:///x"),
        ("file:///a/b/", "//o/x", "file://o/x"),
        ("file:///a/b/", "sub/../x", "file:///a/b/x"),
        ("file:///a/b/", "sub/", "file:///a/b/sub/"),
        ("file:///a/b/", ".", "file:///a/b/"),
        ("file:///a/b/", "..", "file:///a/"),
        ("file:///a/b/", "a/.", "file:///a/b/a/"),
        ("file:///a/b/", "a/..", "file:///a/b/"),
        ("file:///a/b/", "?q", "file:///a/b/?q"),
        ("file:///a/b/", "#f", "file:///a/b/#f"),
        ("file:///a/b/", "x?q#f", "file:///a/b/x?q#f"),
        ("file:///a/b/", "x#", "file:///a/b/x"),
        ("file:///a/b/", "http://o/y", "http://o/y"),
        ("file:///a/b/", "http:y", "http:y"),
        ("file:///a/b/", "file:///c/../d", "file:///d"),
        ("file:///a/b/", "file:d", "file:///a/b/d"),
        ("file:///a/b/", "ftp://o/y", "ftp://o/y"),
        ("file:///a/b/", "a::b.yaml", "a::b.yaml"),
        ("file:///a/b/", "C:\\x", "C:\\x"),
        ("file:///a/b/", "a b", "file:///a/b/a b"),
        ("file:///a/b/", "%20", "file:///a/b/%20"),
        ("file:///a/b/", "é", "file:///a/b/é"),
        ("file:///a/b/", "a//b", "file:///a/b/a/b"),
        ("file:///a/b/", "/a//b", "file:///a//b"),
        ("file:///a/b/", "x\n", "file:///a/b/x"),
        ("file:///a/b/", " x", "file:///a/b/x"),
        ("file:///a/b/", "", "file:///a/b/"),
        ("file:///a/b/", "x:y/z", "x:y/z"),
        ("file:///a/b/", "1:x", "file:///a/b/1:x"),
        ("file:///a/b/", "HTTP://O/y", "HTTP://O/y"),
        ("file:///a/b/", ";p", "file:///a/b/;p"),
        ("file:///a/b/", "x;p", "file:///a/b/x;p"),
        ("file:///a/b/", "a/b/../../c", "file:///a/b/c"),
        ("file:///a/b/", "...", "file:///a/b/..."),
        ("file:///a/b/", "//", "file:///a/b/"),
        ("http://h", "x.sh", "http://h/x.sh"),
        ("http://h", "./x", "http://h/x"),
        ("http://h", "../x", "http://h/x"),
        ("http://h", "../../../x", "http://h/x"),
        ("http://h", "/x", "http://h/x"),
        ("http://h", "//o/x", "http://o/x"),
        ("http://h", "sub/../x", "http://h/x"),
        ("http://h", "sub/", "http://h/sub/"),
        ("http://h", ".", "http://h/"),
        ("http://h", "..", "http://h/"),
        ("http://h", "a/.", "http://h/a/"),
        ("http://h", "a/..", "http://h/"),
        ("http://h", "?q", "http://h?q"),
        ("http://h", "#f", "http://h#f"),
        ("http://h", "x?q#f", "http://h/x?q#f"),
        ("http://h", "x#", "http://h/x"),
        ("http://h", "http://o/y", "http://o/y"),
        ("http://h", "http:y", "http://h/y"),
        ("http://h", "file:///c/../d", "file:///c/../d"),
        ("http://h", "file:d", "file:d"),
        ("http://h", "ftp://o/y", "ftp://o/y"),
        ("http://h", "a::b.yaml", "a::b.yaml"),
        ("http://h", "C:\\x", "C:\\x"),
        ("http://h", "a b", "http://h/a b"),
        ("http://h", "%20", "http://h/%20"),
        ("http://h", "é", "http://h/é"),
        ("http://h", "a//b", "http://h/a/b"),
        ("http://h", "/a//b", "http://h/a//b"),
        ("http://h", "x\n", "http://h/x"),
        ("http://h", " x", "http://h/x"),
        ("http://h", "", "http://h"),
        ("http://h", "x:y/z", "x:y/z"),
        ("http://h", "1:x", "http://h/1:x"),
        ("http://h", "HTTP://O/y", "http://O/y"),
        ("http://h", ";p", "http://h/;p"),
        ("http://h", "x;p", "http://h/x;p"),
        ("http://h", "a/b/../../c", "http://h/c"),
        ("http://h", "...", "http://h/..."),
        ("http://h", "//", "http://h"),
        ("https://h/a/b?q#f", "x.sh", "https://h/a/x.sh"),
        ("https://h/a/b?q#f", "/x", "https://h/x"),
        ("https://h/a/b?q#f", ".", "https://h/a/"),
        ("https://h/a/b?q#f", "..", "https://h/"),
        ("https://h/a/b?q#f", "?q", "https://h/a/b?q"),
        ("https://h/a/b?q#f", "#f", "https://h/a/b?q#f"),
        ("https://h/a/b?q#f", "http:y", "http:y"),
        ("https://h/a/b?q#f", "", "https://h/a/b?q#f"),
    ];
}
