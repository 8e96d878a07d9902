//! Signatures of requests, verified by the identity service.

use super::encoding::signed_body;
use super::fault::{AwsFault, Code};
use super::params::Params;
use super::replay::Key;
use crate::app::App;
use crate::auth::SignatureError;
use crate::body::RawBody;
use crate::caller::Caller;
use crate::query::percent;
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::{HeaderMap, Request as HttpRequest};
use kiln_engine::Time;
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

/// The version of a signature, as far as versions differ in what they protect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignatureVersion {
    /// Version 0 or 1: it covers the parameters at most, and neither method, host nor path.
    Old,
    /// Version 2: it covers the whole request, and the time if there is a `Timestamp`.
    Two,
    /// Version 4: it always covers the time.
    Four,
}

/// The signature of a request.
pub(super) struct Signature<'r> {
    access: &'r str,
    text: &'r str,
    version: SignatureVersion,
    /// Whether the signature covers a time: a time beside it can be replaced by anybody.
    covers_time: bool,
    /// The time of the signature, if the request has a valid one.
    pub(super) time: Option<Time>,
}

impl<'r> Signature<'r> {
    /// Reads the signature of a request; a fault if there is none.
    pub(super) fn parse(
        request: &'r HttpRequest<RawBody>,
        params: &'r Params,
    ) -> Result<Signature<'r>, AwsFault> {
        let header = text(request.headers(), AUTHORIZATION.as_str());
        let signature = params
            .get("Signature")
            .or_else(|| params.get("X-Amz-Signature"))
            .or_else(|| part(header, "Signature="));
        let Some(signature) = signature else {
            return Err(AwsFault::bare(Code::IncompleteSignature));
        };
        let credential = params.get("X-Amz-Credential").or_else(|| part(header, "Credential="));
        let access = params
            .get("AWSAccessKeyId")
            .or_else(|| credential.and_then(|credential| credential.split('/').next()));
        let Some(access) = access else {
            return Err(AwsFault::bare(Code::MissingAuthenticationToken));
        };
        // This is the order in which the identity service searches.
        let time = params
            .get("Timestamp")
            .or_else(|| text(request.headers(), "x-amz-date"))
            .or_else(|| params.get("X-Amz-Date"));
        let time = time.and_then(moment);
        let version = version_of(header, params);
        let covers_time = match version {
            SignatureVersion::Old => false,
            SignatureVersion::Two => params.get("Timestamp").and_then(moment).is_some(),
            SignatureVersion::Four => time.is_some(),
        };
        Ok(Signature { access, text: signature, version, covers_time, time })
    }

    /// Checks that the signature suffices for a request that changes something: a third party that sees the
    /// request must not be able to use its signature for another request, or for ever.
    pub(super) fn check_for_change(&self) -> Result<(), AwsFault> {
        let suffices = self.version != SignatureVersion::Old && self.covers_time;
        if suffices { Ok(()) } else { Err(weak()) }
    }

    /// Checks that the signature suffices for an address that a stack gives to servers and alarms, which is meant to
    /// be used many times.
    pub(super) fn check_for_address(&self) -> Result<(), AwsFault> {
        if self.version == SignatureVersion::Old { Err(weak()) } else { Ok(()) }
    }

    /// The key under which the signature is remembered.
    pub(super) fn key(&self) -> Key {
        let hash = Sha256::new().chain_update(self.access).chain_update([0]);
        let hash: [u8; 32] = hash.chain_update(self.text).finalize().into();
        let mut key = Key::default();
        key.copy_from_slice(&hash[..16]);
        key
    }
}

/// The version, in the order in which the identity service decides on it.
fn version_of(header: Option<&str>, params: &Params) -> SignatureVersion {
    const FOUR: &str = "AWS4-HMAC-SHA256";
    let is_four = header.is_some_and(|header| header.starts_with(FOUR))
        || params.get("X-Amz-Algorithm") == Some(FOUR);
    match params.get("SignatureVersion") {
        Some("0" | "1") => SignatureVersion::Old,
        Some("2") => SignatureVersion::Two,
        _ if is_four => SignatureVersion::Four,
        _ => SignatureVersion::Old,
    }
}

fn weak() -> AwsFault {
    let why = "Sign this request with version 4, or with version 2 and a Timestamp.";
    AwsFault::new(Code::IncompleteSignature, why)
}

/// A moment as clients write them: `2026-11-16T08:30:00Z`, with or without the letter, or `20261116T083000Z`.
fn moment(text: &str) -> Option<Time> {
    let moment = match text.parse::<jiff::Timestamp>() {
        Ok(moment) => moment,
        Err(_) => {
            let date: jiff::civil::DateTime = text.parse().ok()?;
            date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp()
        }
    };
    Some(Time::from_micros(moment.as_microsecond()))
}

/// Verifies the signature of a request; returns the caller who signed it.
pub(super) async fn authenticate_signer(
    app: &App,
    request: &HttpRequest<RawBody>,
    params: &Params,
) -> Result<Caller, AwsFault> {
    let Signature { access, text: signature, .. } = Signature::parse(request, params)?;
    // The parameters that are added after signing.
    let later = ["Signature", "X-Amz-Signature"];
    let signed = params.pairs().filter(|(name, _)| !later.contains(name));
    let headers = request.headers().iter().filter_map(|(name, value)| {
        Some((capitalised(name.as_str()), Json::from(value.to_str().ok()?)))
    });
    let hash = hex::encode(Sha256::digest(signed_body(request)));
    let signed_request = json!({ "ec2Credentials": {
        "access": access,
        "signature": signature,
        "host": text(request.headers(), HOST.as_str()),
        "verb": request.method().as_str(),
        "path": percent::decode(request.uri().path()),
        "params": signed.map(|(name, value)| (name.to_owned(), value.into())).collect::<Map<_, _>>(),
        "headers": headers.collect::<Map<_, _>>(),
        "body_hash": hash,
    } });
    app.auth.authenticate_signed(&signed_request).await.map_err(|error| match error {
        SignatureError::UnknownKey => AwsFault::bare(Code::InvalidClientTokenId),
        SignatureError::Wrong => AwsFault::bare(Code::AccessDenied),
        SignatureError::Unsupported => {
            AwsFault::new(Code::InternalFailure, "Service misconfigured")
        }
        SignatureError::Unavailable => AwsFault::bare(Code::ServiceUnavailable),
    })
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The name of a header in the form that the identity service expects: `X-Amz-Date`.
fn capitalised(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join("-")
}

/// The value behind a word in a header, up to a comma.
fn part<'h>(header: Option<&'h str>, word: &str) -> Option<&'h str> {
    let (_, rest) = header?.split_once(word)?;
    rest.split(',').next().map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_clients_write_them() {
        let read = |text: &str| moment(text).map(|time| time.to_string());
        for text in [
            "2026-11-16T08:30:00Z",
            "2026-11-16T08:30:00",
            "20261116T083000Z",
            "2026-11-16T09:30:00+01:00",
        ] {
            assert_eq!(read(text).as_deref(), Some("2026-11-16T08:30:00Z"), "{text}");
        }
        assert_eq!(read("now"), None);
    }

    #[test]
    fn headers_are_called_as_the_identity_service_calls_them() {
        assert_eq!(capitalised("x-amz-date"), "X-Amz-Date");
        assert_eq!(capitalised("authorization"), "Authorization");
        assert_eq!(capitalised("-x-"), "-X-");
        assert_eq!(part(Some("A Credential=k/1/2, Signature=s"), "Credential="), Some("k/1/2"));
        assert_eq!(part(Some("A Signature=, x"), "Signature="), None);
    }
}
