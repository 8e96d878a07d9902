//! Keys of calls whose replies are shared.

use crate::{CallPath, Credential, HttpRequest, Method, Service};
use std::sync::Arc;

/// All that the reply of a call that reads depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallKey {
    credential: Credential,
    service: Service,
    method: Method,
    path: CallPath,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    microversion: Option<Arc<str>>,
    region: Option<Arc<str>>,
    is_text: bool,
}

impl CallKey {
    /// The key of a request under a credential.
    pub(super) fn new(credential: &Credential, request: &HttpRequest) -> CallKey {
        CallKey { query: request.query.clone(), ..CallKey::without_query(credential, request) }
    }

    /// The key of all requests that differ in their queries alone.
    pub(super) fn without_query(credential: &Credential, request: &HttpRequest) -> CallKey {
        CallKey {
            credential: credential.clone(),
            service: request.service,
            method: request.method,
            path: request.path.clone(),
            query: Vec::new(),
            headers: request.headers.clone(),
            microversion: request.microversion.clone(),
            region: request.region.clone(),
            is_text: request.is_text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::get;

    #[test]
    fn every_difference_makes_another_key() {
        let key = |call: &crate::Call| CallKey::new(&Credential::default(), &call.request);
        let call = || get(Service::Image, "/images").query("name", "a");
        assert_eq!(key(&call()), key(&call().may_be_old()));
        for other in [
            get(Service::Image, "/images").query("name", "b"),
            call().query("limit", "1"),
            call().microversion("2.1"),
            call().in_region(Some("Two".into())),
            call().header("Accept", "text/plain"),
            call().as_text(),
        ] {
            assert_ne!(key(&call()), key(&other), "{other:?}");
        }
        let user = Credential::with_password("u", "p", "x");
        assert_ne!(key(&call()), CallKey::new(&user, &call().request));
    }
}
