//! Bodies that were packed by whoever sent them, as newer tools do with longer ones.
//!
//! What is signed is what was sent: that is kept beside what was unpacked. Nothing is unpacked beyond what
//! a body may have.

use super::call::Call;
use super::fault::{AwsFault, Code};
use super::render::Form;
use crate::body::Carried;
use axum::body::Bytes;
use axum::http::Request;
use axum::http::header::CONTENT_ENCODING;
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// What a request carried before it was unpacked.
#[derive(Clone)]
struct Sent(Bytes);

/// What a request carried as it was sent.
pub(super) fn sent(request: &Request<Carried>) -> &[u8] {
    match request.extensions().get::<Sent>() {
        Some(Sent(bytes)) => bytes,
        None => request.body().as_deref().unwrap_or_default(),
    }
}

/// A request with its body unpacked. One that is longer then than it may be carries nothing, like
/// any other that is too long. What cannot be unpacked is refused, in the form that is asked for.
pub(super) fn unpacked(
    mut request: Request<Carried>,
    limit: usize,
) -> Result<Request<Carried>, (AwsFault, Form)> {
    let mut codings = request.headers().get_all(CONTENT_ENCODING).iter();
    let packing = match (codings.next().map(|it| it.as_bytes()), codings.next()) {
        (None, _) => Packing::None,
        (Some(one), None) => Packing::of(one),
        (Some(_), Some(_)) => Packing::Unknown,
    };
    let refused = |why: &str| {
        let form = Call::of(&request).map_or(Form::Xml, |call| call.form);
        Err((AwsFault::new(Code::InvalidQueryParameter, why), form))
    };
    match packing {
        Packing::None => return Ok(request),
        Packing::Gzip => {}
        Packing::Unknown => {
            return refused("The body may be packed with gzip, and with nothing else.");
        }
    }
    let carried = request.body().clone().filter(|bytes| !bytes.is_empty());
    let Some(bytes) = carried else { return Ok(request) };
    let mut plain = Vec::new();
    // One more tells whether there is more than there may be.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    if let Err(error) = MultiGzDecoder::new(&*bytes).take(most).read_to_end(&mut plain) {
        return refused(&format!("The body is said to be packed with gzip, and is not: {error}"));
    }
    request.extensions_mut().insert(Sent(bytes));
    *request.body_mut() = (plain.len() <= limit).then(|| plain.into());
    Ok(request)
}

/// How a body is packed.
enum Packing {
    None,
    Gzip,
    Unknown,
}

impl Packing {
    fn of(name: &[u8]) -> Packing {
        let is = |known: &str| name.trim_ascii().eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if is("gzip") || is("x-gzip") => Packing::Gzip,
            () if is("identity") || is("") => Packing::None,
            () => Packing::Unknown,
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

    fn request(coding: &str, body: impl Into<Bytes>) -> Request<Carried> {
        let request = Request::post("/v1/").header(CONTENT_ENCODING, coding);
        request.body(Some(body.into())).unwrap()
    }

    #[test]
    fn a_packed_body_is_unpacked_and_the_packed_one_counts_for_signatures() {
        let body = packed(b"Action=ListStacks");
        for coding in ["gzip", " GZip ", "x-gzip"] {
            let request = unpacked(request(coding, body.clone()), 17).unwrap();
            assert_eq!(request.body().as_deref(), Some(&b"Action=ListStacks"[..]));
            assert_eq!(sent(&request), body);
        }
        let twice = [packed(b"Action="), packed(b"ListStacks")].concat();
        let request = unpacked(request("gzip", twice), 17).unwrap();
        assert_eq!(request.body().as_deref(), Some(&b"Action=ListStacks"[..]));
    }

    #[test]
    fn what_is_not_packed_stays_as_it_is() {
        let request = unpacked(request("identity", "a=1"), 3).unwrap();
        assert_eq!((request.body().as_deref(), sent(&request)), (Some(&b"a=1"[..]), &b"a=1"[..]));
    }

    #[test]
    fn nothing_is_unpacked_beyond_what_a_body_may_have() {
        let bomb = packed(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000, "{}", bomb.len());
        let request = unpacked(request("gzip", bomb), 1000).unwrap();
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
            let (fault, form) = unpacked(request(coding, body), 100).unwrap_err();
            assert_eq!((fault.code, form), (Code::InvalidQueryParameter, Form::Xml), "{coding}");
        }
    }
}
