//! Who signed a request: what the identity service has to know of it to tell.

use super::fault::CfnFault;
use crate::app::App;
use crate::auth::Unsigned;
use crate::body::Carried;
use crate::caller::Caller;
use crate::query::{Query, percent};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, Request};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

/// Who signed a request.
pub(super) async fn signer(app: &App, request: &Request<Carried>) -> Result<Caller, CfnFault> {
    let params = params(request);
    let header = text(request.headers(), AUTHORIZATION.as_str());
    let given = |name: &str| params.get(name).and_then(Json::as_str).filter(|it| !it.is_empty());
    let signature = given("Signature")
        .or_else(|| given("X-Amz-Signature"))
        .or_else(|| part(header, "Signature="));
    let Some(signature) = signature else {
        return Err(CfnFault::bare("IncompleteSignature"));
    };
    let credential = given("X-Amz-Credential").or_else(|| part(header, "Credential="));
    let access = given("AWSAccessKeyId")
        .or_else(|| credential.and_then(|credential| credential.split('/').next()));
    let Some(access) = access else {
        return Err(CfnFault::bare("MissingAuthenticationToken"));
    };
    let mut signed = params.clone();
    signed.remove("Signature");
    let headers = request.headers().iter().filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), Json::from(value.to_str().ok()?)))
    });
    let body = request.body().as_deref().unwrap_or_default();
    let hash: String = Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
    let said = json!({ "ec2Credentials": {
        "access": access,
        "signature": signature,
        "host": text(request.headers(), HOST.as_str()),
        "verb": request.method().as_str(),
        "path": percent::decode(request.uri().path()),
        "params": signed,
        "headers": headers.collect::<Map<_, _>>(),
        "body_hash": hash,
    } });
    app.auth.authenticate_signed(&said).await.map_err(|unsigned| match unsigned {
        Unsigned::UnknownKey => CfnFault::bare("InvalidClientTokenId"),
        Unsigned::Wrong => CfnFault::bare("AccessDenied"),
        Unsigned::Unsupported => CfnFault::new("InternalFailure", "Service misconfigured"),
        Unsigned::Unavailable => CfnFault::bare("ServiceUnavailable"),
    })
}

/// The parameters behind the question mark, and those of a form in the body.
fn params(request: &Request<Carried>) -> Map<String, Json> {
    let kind = text(request.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
    let body = request.body().as_deref().unwrap_or_default();
    // Tools send objects and call them forms.
    let is_form =
        kind.starts_with("application/x-www-form-urlencoded") && body.first() != Some(&b'{');
    let form = if is_form { String::from_utf8_lossy(body) } else { "".into() };
    let query = request.uri().query().unwrap_or("");
    let (query, form) = (Query::parse(query), Query::parse(&form));
    let pairs = query.pairs().chain(form.pairs());
    pairs.map(|(name, value)| (name.to_owned(), value.into())).collect()
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// What stands behind a word in a header, up to a comma.
fn part<'h>(header: Option<&'h str>, word: &str) -> Option<&'h str> {
    let (_, rest) = header?.split_once(word)?;
    rest.split(',').next().map(str::trim)
}
