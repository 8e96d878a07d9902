//! Responses.
//!
//! A body is a value of the template library, printed as the reference prints JSON. Hidden values show as stars.

use crate::fault::{reason, wants_json};
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response as HttpResponse;
use kiln_template::Value;
use kiln_template::print::{self, Keys};

/// The content type of JSON.
pub(crate) const JSON: &str = "application/json";

/// A response.
pub struct Response {
    status: StatusCode,
    headers: Vec<(HeaderName, String)>,
    body: ResponseBody,
}

/// The body of a response.
enum ResponseBody {
    /// A value that is printed when the response is sent.
    Json(Value),
    /// Bytes.
    Bytes(Body),
}

impl Response {
    /// A value.
    pub fn json(status: StatusCode, value: &Value) -> Response {
        Response {
            status,
            headers: vec![(CONTENT_TYPE, JSON.into())],
            body: ResponseBody::Json(value.clone()),
        }
    }

    /// Success, with a value as the body.
    pub fn ok(value: &Value) -> Response {
        Response::json(StatusCode::OK, value)
    }

    /// Success without a body.
    pub fn no_content() -> Response {
        Response {
            status: StatusCode::NO_CONTENT,
            headers: Vec::new(),
            body: ResponseBody::Bytes(Body::empty()),
        }
    }

    /// The client's copy is current.
    pub fn not_modified() -> Response {
        Response {
            status: StatusCode::NOT_MODIFIED,
            headers: Vec::new(),
            body: ResponseBody::Bytes(Body::empty()),
        }
    }

    /// Text.
    pub fn text(status: StatusCode, text: &str) -> Response {
        let headers = vec![(CONTENT_TYPE, "text/plain; charset=UTF-8".into())];
        Response { status, headers, body: ResponseBody::Bytes(Body::from(text.to_owned())) }
    }

    /// A response with any body.
    pub fn with_body(content_type: &str, body: Body) -> Response {
        let headers = vec![(CONTENT_TYPE, content_type.into())];
        Response { status: StatusCode::OK, headers, body: ResponseBody::Bytes(body) }
    }

    /// The same with a header.
    pub fn with(mut self, name: HeaderName, value: impl Into<String>) -> Response {
        self.headers.push((name, value.into()));
        self
    }

    /// How many bytes have to be printed.
    pub(crate) fn bytes_to_print(&self) -> usize {
        match &self.body {
            ResponseBody::Json(value) => value.byte_size(),
            ResponseBody::Bytes(_) => 0,
        }
    }

    /// The response.
    pub fn into_response(self) -> HttpResponse {
        let mut response = HttpResponse::new(match self.body {
            ResponseBody::Json(value) => Body::from(print::json(&value, Keys::Ordered)),
            ResponseBody::Bytes(body) => body,
        });
        *response.status_mut() = self.status;
        for (name, value) in self.headers {
            // A value that is no valid header comes from a client, and is left out.
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// A response with a generated body: JSON if the client accepts it, text otherwise.
pub(crate) fn framework(status: StatusCode, message: &str, accept: &str) -> Response {
    let title = reason(status);
    let code = format!("{} {title}", status.as_u16());
    if wants_json(accept) {
        let body = Value::map([
            ("message", Value::from(message)),
            ("code", code.into()),
            ("title", title.into()),
        ]);
        return Response::json(status, &body);
    }
    let said = message.replace("<br />", "").trim().to_owned();
    Response::text(status, &format!("{code}\n\n{said}\n"))
}

/// The request was accepted.
pub(crate) fn accepted(accept: &str) -> Response {
    let message = "The request is accepted for processing.<br /><br />\n\n\n";
    framework(StatusCode::ACCEPTED, message, accept)
}

/// A redirect.
pub(crate) fn found(location: &str, accept: &str) -> Response {
    let message = format!(
        "The resource was found at <a href=\"{location}\">{location}</a>;\nyou should be redirected \
         automatically.\n\n"
    );
    framework(StatusCode::FOUND, &message, accept).with(LOCATION, location)
}
