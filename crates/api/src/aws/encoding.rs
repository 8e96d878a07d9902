//! Compressed bodies, which newer tools send.
//!
//! The signature is of the compressed body, which is kept beside the plain one. The limit on the size of bodies holds
//! for both.

use super::fault::{AwsFault, Code};
use super::render::Format;
use super::rpc::RpcCall;
use crate::body::RawBody;
use axum::body::Bytes;
use axum::http::Request as HttpRequest;
use axum::http::header::CONTENT_ENCODING;
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// The compressed body of a request.
#[derive(Clone)]
struct CompressedBody(Bytes);

/// The body of a request as it was signed.
pub(super) fn signed_body(request: &HttpRequest<RawBody>) -> &[u8] {
    match request.extensions().get::<CompressedBody>() {
        Some(CompressedBody(bytes)) => bytes,
        None => request.body().as_deref().unwrap_or_default(),
    }
}

/// Decompresses the body of a request. A body that is too long when decompressed counts as one that is too long; an
/// invalid one is refused in the format of the request.
pub(super) fn decompressed(
    mut request: HttpRequest<RawBody>,
    limit: usize,
) -> Result<HttpRequest<RawBody>, (AwsFault, Format)> {
    let mut codings = request.headers().get_all(CONTENT_ENCODING).iter();
    let coding = match (codings.next().map(|it| it.as_bytes()), codings.next()) {
        (None, _) => ContentCoding::None,
        (Some(one), None) => ContentCoding::parse(one),
        (Some(_), Some(_)) => ContentCoding::Unknown,
    };
    let refused = |why: &str| {
        let format = RpcCall::parse(&request).map_or(Format::Xml, |call| call.format);
        Err((AwsFault::new(Code::InvalidQueryParameter, why), format))
    };
    match coding {
        ContentCoding::None => return Ok(request),
        ContentCoding::Gzip => {}
        ContentCoding::Unknown => {
            return refused("The body may be packed with gzip, and with nothing else.");
        }
    }
    let body = request.body().clone().filter(|bytes| !bytes.is_empty());
    let Some(bytes) = body else { return Ok(request) };
    let mut plain = Vec::new();
    // One byte more shows that the body is too long.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    if let Err(error) = MultiGzDecoder::new(&*bytes).take(most).read_to_end(&mut plain) {
        return refused(&format!("The body is said to be packed with gzip, and is not: {error}"));
    }
    request.extensions_mut().insert(CompressedBody(bytes));
    *request.body_mut() = (plain.len() <= limit).then(|| plain.into());
    Ok(request)
}

/// How a body is packed.
enum ContentCoding {
    None,
    Gzip,
    Unknown,
}

impl ContentCoding {
    fn parse(name: &[u8]) -> ContentCoding {
        let is = |known: &str| name.trim_ascii().eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if is("gzip") || is("x-gzip") => ContentCoding::Gzip,
            () if is("identity") || is("") => ContentCoding::None,
            () => ContentCoding::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn request(coding: &str, body: impl Into<Bytes>) -> HttpRequest<RawBody> {
        let request = HttpRequest::post("/v1/").header(CONTENT_ENCODING, coding);
        request.body(Some(body.into())).unwrap()
    }

    #[test]
    fn a_packed_body_is_unpacked_and_the_packed_one_counts_for_signatures() {
        let body = packed(b"Action=ListStacks");
        for coding in ["gzip", " GZip ", "x-gzip"] {
            let request = decompressed(request(coding, body.clone()), 17).unwrap();
            assert_eq!(request.body().as_deref(), Some(&b"Action=ListStacks"[..]));
            assert_eq!(signed_body(&request), body);
        }
        let twice = [packed(b"Action="), packed(b"ListStacks")].concat();
        let request = decompressed(request("gzip", twice), 17).unwrap();
        assert_eq!(request.body().as_deref(), Some(&b"Action=ListStacks"[..]));
    }

    #[test]
    fn what_is_not_packed_stays_as_it_is() {
        let request = decompressed(request("identity", "a=1"), 3).unwrap();
        assert_eq!(
            (request.body().as_deref(), signed_body(&request)),
            (Some(&b"a=1"[..]), &b"a=1"[..])
        );
    }

    #[test]
    fn nothing_is_unpacked_beyond_what_a_body_may_have() {
        let bomb = packed(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000, "{}", bomb.len());
        let request = decompressed(request("gzip", bomb), 1000).unwrap();
        assert_eq!(*request.body(), None, "as if it had been sent so long");
    }

    #[test]
    fn what_cannot_be_unpacked_is_refused() {
        let mut broken = packed(b"Action=ListStacks");
        broken.truncate(20);
        for (coding, body) in [
            ("gzip", broken),
            ("gzip", b"Action=ListStacks".to_vec()),
            ("gzip, gzip", packed(b"a")),
            ("br", b"a".to_vec()),
            ("deflate", b"a".to_vec()),
        ] {
            let (fault, format) = decompressed(request(coding, body), 100).unwrap_err();
            assert_eq!(
                (fault.code, format),
                (Code::InvalidQueryParameter, Format::Xml),
                "{coding}"
            );
        }
    }
}
