//! Rejections of requests that are not authenticated, as clients know them.

use axum::http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response as HttpResponse};

/// Why a request is rejected, and the format of the response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// In which form the client wants to read it, where there is a choice.
    pub format: Format,
}

/// Why a request is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is no token, or not a valid one; tokens can be had at this address.
    Token(String),
    /// There is no user, password or project, or the identity service at this URL refuses them.
    Password(String),
    /// The operator's own backend refuses the caller.
    Backend,
    /// The client did not say where its identity service is, and must.
    AuthUrlMissing,
    /// The client's identity service is not among those that the operator trusts.
    AuthUrlNotAllowed(String),
    /// The identity service cannot be asked.
    Unavailable,
}

/// The forms of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For programs.
    Json,
    /// For browsers.
    Html,
    /// For everything else.
    #[default]
    Text,
}

impl Format {
    /// The format that the `Accept` header prefers.
    pub fn from_accept(headers: &HeaderMap) -> Format {
        let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (html, json) =
            (quality(accept, "text", "html"), quality(accept, "application", "json"));
        match () {
            () if html > 0.0 && html >= json => Format::Html,
            () if json > 0.0 => Format::Json,
            () => Format::Text,
        }
    }
}

/// How much a media type is wanted, from 0 to 1: the most exact of the ranges that hold it counts.
fn quality(accept: &str, group: &str, kind: &str) -> f64 {
    let mut best = (0, 0.0);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let exactness = match parts.next().and_then(|range| range.split_once('/')) {
            Some((a, b)) if a.eq_ignore_ascii_case(group) && b.eq_ignore_ascii_case(kind) => 3,
            Some((a, "*")) if a.eq_ignore_ascii_case(group) => 2,
            Some(("*", "*")) => 1,
            _ => continue,
        };
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(Ok(1.0), str::parse);
        if exactness >= best.0 {
            best = (exactness, weight.unwrap_or(1.0));
        }
    }
    best.1
}

/// The exact body of Keystone's middleware.
const TOKEN_REFUSED: &str = "{\"error\": {\"code\": 401, \"title\": \"Unauthorized\", \
     \"message\": \"The request you have made requires authentication.\"}}";

impl Rejection {
    /// A rejection in the format that the client prefers.
    pub fn new(reason: Reason, headers: &HeaderMap) -> Rejection {
        Rejection { reason, format: Format::from_accept(headers) }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        match &self.reason {
            Reason::AuthUrlMissing => StatusCode::BAD_REQUEST,
            Reason::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::UNAUTHORIZED,
        }
    }

    /// The details of this rejection.
    fn detail(&self) -> String {
        match &self.reason {
            Reason::Token(_) => String::new(),
            Reason::Password(_) => "Authentication required".into(),
            Reason::Backend => "Backend authentication failed".into(),
            Reason::AuthUrlMissing => "Request missing required header X-Auth-Url".into(),
            Reason::AuthUrlNotAllowed(url) => {
                format!("Header X-Auth-Url \"{url}\" not an allowed endpoint")
            }
            Reason::Unavailable => "The Keystone service is temporarily unavailable.".into(),
        }
    }

    /// The explanation of the status.
    fn explanation(&self) -> &'static str {
        match self.status() {
            StatusCode::BAD_REQUEST => {
                "The server could not comply with the request since it is either malformed or otherwise \
                 incorrect."
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                "The server is currently unavailable. Please try again at a later time."
            }
            _ => {
                "This server could not verify that you are authorized to access the document you \
                 requested. Either you supplied the wrong credentials (e.g., bad password), or your browser \
                 does not understand how to supply the credentials required."
            }
        }
    }

    fn body(&self) -> (&'static str, String) {
        if let Reason::Token(_) = self.reason {
            return ("application/json", TOKEN_REFUSED.into());
        }
        let (explanation, detail) = (self.explanation(), self.detail());
        let title = self.status().canonical_reason().unwrap_or_default();
        let status = format!("{} {title}", self.status().as_u16());
        match self.format {
            Format::Json => {
                let message = format!("{explanation}<br /><br />\n{detail}\n\n");
                let message = serde_json::Value::from(message);
                let body = format!(
                    "{{\"message\": {message}, \"code\": \"{status}\", \"title\": \"{title}\"}}"
                );
                ("application/json", body)
            }
            Format::Html => {
                let detail = escaped(&detail);
                let body = format!(
                    "<html>\n <head>\n  <title>{status}</title>\n </head>\n <body>\n  <h1>{status}</h1>\n  \
                     {explanation}<br /><br />\n{detail}\n\n\n </body>\n</html>"
                );
                ("text/html; charset=UTF-8", body)
            }
            Format::Text => {
                ("text/plain; charset=UTF-8", format!("{status}\n\n{explanation}\n\n {detail}  "))
            }
        }
    }

    /// The challenge for clients that know how to get a token.
    fn challenge(&self) -> Option<HeaderValue> {
        let text = match &self.reason {
            Reason::Token(uri) => format!("Keystone uri=\"{uri}\""),
            Reason::Password(uri) => format!("Keystone uri='{uri}'"),
            _ => return None,
        };
        HeaderValue::try_from(text).ok()
    }
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#x27;"),
            c => safe.push(c),
        }
    }
    safe
}

impl IntoResponse for Rejection {
    fn into_response(self) -> HttpResponse {
        let (content_type, body) = self.body();
        let mut response = (self.status(), [(CONTENT_TYPE, content_type)], body).into_response();
        if let Some(challenge) = self.challenge() {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_the_one_that_is_wanted_most() {
        // As WebOb 1.8 chooses.
        for (accept, format) in [
            ("", Format::Text),
            ("*/*", Format::Html),
            ("text/html", Format::Html),
            ("application/json", Format::Json),
            ("application/json, */*", Format::Html),
            ("text/html;q=0.5, application/json", Format::Json),
            ("text/plain", Format::Text),
            ("application/*", Format::Json),
            ("text/*", Format::Html),
            ("application/json;q=0", Format::Text),
            ("application/xml, */*;q=0.1", Format::Html),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(Format::from_accept(&headers), format, "{accept}");
        }
        assert_eq!(Format::from_accept(&HeaderMap::new()), Format::Text);
    }
}
