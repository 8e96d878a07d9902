//! The files of the dashboard, inside the binary.

use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::LazyLock;

/// Names and contents, as the build collected them.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/dashboard_files.rs"));

/// A file as it is served.
struct Asset {
    bytes: &'static [u8],
    /// The compressed bytes, if they are fewer.
    gzip: Option<Vec<u8>>,
    etag: HeaderValue,
    content_type: HeaderValue,
    cache_control: HeaderValue,
}

static ASSETS: LazyLock<BTreeMap<&str, Asset>> = LazyLock::new(|| {
    let asset = |(name, bytes): &(&'static str, &'static [u8])| (*name, Asset::new(name, bytes));
    FILES.iter().map(asset).collect()
});

impl Asset {
    fn new(name: &str, bytes: &'static [u8]) -> Asset {
        let digest = hex::encode(&Sha256::digest(bytes)[..16]);
        let etag = HeaderValue::from_str(&format!("\"{digest}\""));
        // The names of assets have the hashes of their contents in them.
        let cache_control = match name.starts_with("assets/") {
            true => "public, max-age=31536000, immutable",
            false => "no-cache",
        };
        Asset {
            bytes,
            gzip: compressed(bytes),
            etag: etag.unwrap_or_else(|_| HeaderValue::from_static("\"\"")),
            content_type: HeaderValue::from_static(content_type(name)),
            cache_control: HeaderValue::from_static(cache_control),
        }
    }
}

fn compressed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().filter(|compressed| compressed.len() < bytes.len())
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}

/// The page that loads all others.
pub(super) const INDEX: &str = "index.html";

/// The text of the page.
pub(super) fn index() -> &'static str {
    let file = FILES.iter().find(|(name, _)| *name == INDEX);
    file.and_then(|(_, bytes)| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// The response with a file.
pub(super) fn respond(name: &str, request: &HeaderMap) -> Response {
    let Some(asset) = ASSETS.get(name) else { return StatusCode::NOT_FOUND.into_response() };
    let common = [
        (ETAG, asset.etag.clone()),
        (CACHE_CONTROL, asset.cache_control.clone()),
        (VARY, HeaderValue::from_static("Accept-Encoding")),
    ];
    let has = |name, text: &str| {
        let value = request.get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.split(',').any(|part| is_named(part, text)))
    };
    if has(IF_NONE_MATCH, asset.etag.to_str().unwrap_or_default()) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    let kind = [(CONTENT_TYPE, asset.content_type.clone())];
    match &asset.gzip {
        Some(gzip) if has(ACCEPT_ENCODING, "gzip") => {
            let encoding = [(CONTENT_ENCODING, HeaderValue::from_static("gzip"))];
            (common, kind, encoding, gzip.as_slice()).into_response()
        }
        _ => (common, kind, asset.bytes).into_response(),
    }
}

/// Whether a member of a list in a header is this text. A refusal (`q=0`) is none.
fn is_named(part: &str, text: &str) -> bool {
    let (name, parameters) = part.split_once(';').unwrap_or((part, ""));
    let is_refused = matches!(parameters.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
    name.trim().trim_start_matches("W/") == text && !is_refused
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::HeaderName;
    use axum::http::response::Parts;
    use flate2::read::GzDecoder;
    use std::io::Read;

    fn get(name: &str, headers: &[(HeaderName, &str)]) -> Parts {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        respond(name, &headers.collect()).into_parts().0
    }

    #[test]
    fn the_page_names_only_files_that_there_are_and_has_no_inline_script() {
        let page = index();
        let named: Vec<&str> =
            page.split('"').filter(|it| it.starts_with("./")).map(|it| &it[2..]).collect();
        assert!(named.len() >= 3, "{page}");
        for name in named {
            assert!(ASSETS.contains_key(name), "{name}");
        }
        assert_eq!(
            page.matches("<script").count(),
            page.matches("<script type=\"module\"").count()
        );
        assert!(!page.contains("<style"), "{page}");
    }

    #[test]
    fn files_are_compressed_for_those_who_accept_it() {
        let parts = get(INDEX, &[(ACCEPT_ENCODING, "br, gzip;q=0.8")]);
        assert_eq!(parts.headers[CONTENT_ENCODING], "gzip");
        assert!(
            !get(INDEX, &[(ACCEPT_ENCODING, "gzip;q=0")]).headers.contains_key(CONTENT_ENCODING)
        );
        assert!(!get(INDEX, &[]).headers.contains_key(CONTENT_ENCODING));
        for (name, asset) in ASSETS.iter() {
            let Some(gzip) = &asset.gzip else { continue };
            let mut bytes = Vec::new();
            GzDecoder::new(gzip.as_slice()).read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, asset.bytes, "{name}");
        }
    }

    #[test]
    fn a_file_that_the_browser_has_is_not_sent_again() {
        let etag = get(INDEX, &[]).headers[ETAG].clone();
        let weak = format!("\"other\", W/{}", etag.to_str().unwrap());
        assert_eq!(get(INDEX, &[(IF_NONE_MATCH, &weak)]).status, StatusCode::NOT_MODIFIED);
        assert_eq!(get(INDEX, &[(IF_NONE_MATCH, "\"other\"")]).status, StatusCode::OK);
        assert_eq!(get(INDEX, &[]).headers[CACHE_CONTROL], "no-cache");
        assert_eq!(get("nothing.js", &[]).status, StatusCode::NOT_FOUND);
        let asset = ASSETS.keys().find(|name| name.starts_with("assets/")).unwrap();
        assert!(get(asset, &[]).headers[CACHE_CONTROL].to_str().unwrap().contains("immutable"));
    }
}
