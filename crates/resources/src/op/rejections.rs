//! The rejections of services, in the class and the form in which the client libraries of Heat report them.
//!
//! Most libraries name the class after the HTTP status and put status and request id behind the service's sentence. The rows
//! of [`Form::of`] are the others.

use super::FailureClass;
use kiln_cloud::{Reply, Service};
use serde_json::Value as Json;

/// The form in which a client library reports rejections.
#[derive(Clone, Copy)]
enum Form {
    /// Sentence, status and request id; the class is that of the status.
    Usual,
    /// The sentence of the first of several places, without status and request id.
    Dns,
    /// Title and description; one class for all that the caller did wrong.
    KeyManager,
    /// As usual, in one class for all statuses.
    LoadBalancer,
    /// Status, title and description as sentences.
    Messaging,
    /// Sentence, detail and request ids on lines of their own; a class for some types of errors.
    Network,
}

impl Form {
    fn of(service: Service) -> Form {
        match service {
            Service::Dns => Form::Dns,
            Service::KeyManager => Form::KeyManager,
            Service::LoadBalancer => Form::LoadBalancer,
            Service::Messaging => Form::Messaging,
            Service::Network => Form::Network,
            _ => Form::Usual,
        }
    }
}

/// The class and the message of a rejection. `said` is the sentence of the service, `usual` the class of the status.
pub(super) fn of_service(
    service: Service,
    reply: &Reply,
    said: &str,
    usual: FailureClass,
) -> (FailureClass, String) {
    match Form::of(service) {
        Form::Usual => (usual, usual_message(said, reply)),
        Form::Dns => (dns_class(reply.status, usual), dns_message(reply, said)),
        Form::KeyManager => (key_manager_class(reply.status), key_manager_message(reply, said)),
        Form::LoadBalancer => {
            (FailureClass::OctaviaClientException, load_balancer_message(reply, said))
        }
        Form::Messaging => (messaging_class(reply.status, usual), messaging_message(reply, said)),
        Form::Network => {
            let kind = reply.text("/NeutronError/type").unwrap_or_default();
            let class = FailureClass::of_network(kind).unwrap_or(usual);
            (class, network_message(reply, said))
        }
    }
}

/// The status is behind the sentence of the service, full stop included.
pub(super) fn usual_message(said: &str, reply: &Reply) -> String {
    let id = reply.request_id().map(|id| format!(" (Request-ID: {id})")).unwrap_or_default();
    format!("{said} (HTTP {}){id}", reply.status)
}

fn dns_class(status: u16, usual: FailureClass) -> FailureClass {
    match status {
        401 => FailureClass::Forbidden,
        413 => FailureClass::OverQuota,
        500.. => FailureClass::Unknown,
        _ => usual,
    }
}

/// The message, else those of the single errors, else the type of the error.
fn dns_message(reply: &Reply, said: &str) -> String {
    let text = |pointer: &str| reply.text(pointer).filter(|text| !text.is_empty());
    let single = reply.body.pointer("/errors/errors").and_then(Json::as_array);
    let single = single.map(|errors| {
        let messages = errors.iter().filter_map(|error| error["message"].as_str());
        messages.collect::<Vec<_>>().join(". ")
    });
    let message = text("/message").map(str::to_owned).or(single).filter(|it| !it.is_empty());
    message.or_else(|| text("/type").map(str::to_owned)).unwrap_or_else(|| said.to_owned())
}

fn key_manager_class(status: u16) -> FailureClass {
    match status {
        401 => FailureClass::HttpAuthError,
        500.. => FailureClass::HttpServerError,
        _ => FailureClass::HttpClientError,
    }
}

fn key_manager_message(reply: &Reply, said: &str) -> String {
    let description = reply.text("/description").filter(|text| !text.is_empty());
    match (reply.text("/title"), description) {
        (Some(title), Some(description)) => format!("{title}: {description}"),
        (Some(title), None) => title.to_owned(),
        (None, _) => said.to_owned(),
    }
}

fn load_balancer_message(reply: &Reply, said: &str) -> String {
    let id = reply.request_id().unwrap_or("None");
    format!("{said} (HTTP {}) (Request-ID: {id})", reply.status)
}

fn messaging_class(status: u16, usual: FailureClass) -> FailureClass {
    match status {
        400 => FailureClass::MalformedRequest,
        401 => FailureClass::UnauthorizedError,
        403 => FailureClass::ForbiddenError,
        404 => FailureClass::ResourceNotFound,
        409 => FailureClass::ConflictError,
        500 => FailureClass::InternalServerError,
        503 => FailureClass::ServiceUnavailableError,
        _ => usual,
    }
}

fn messaging_message(reply: &Reply, said: &str) -> String {
    let detail = match (reply.text("/title"), reply.text("/description")) {
        (Some(title), Some(description)) => format!("Title: {title}. Description: {description}."),
        _ => format!("Text: {said}."),
    };
    format!("Error response from Zaqar. Code: {}. {detail}", reply.status)
}

fn network_message(reply: &Reply, said: &str) -> String {
    let detail = reply.text("/NeutronError/detail").filter(|detail| !detail.is_empty());
    let detail = detail.map(|detail| format!("\n{detail}")).unwrap_or_default();
    let id = reply.request_id().map(|id| format!("\nNeutron server returns request_ids: ['{id}']"));
    format!("{said}{detail}{}", id.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use crate::op::OpError;
    use kiln_cloud::{Reply, Service, get};
    use serde_json::{Value as Json, json};

    /// Class and message of a rejection, without the advice behind them.
    fn told(service: Service, status: u16, body: Json) -> String {
        let mut reply = Reply::new(status, body);
        reply.headers.insert("x-openstack-request-id".into(), "req-7".into());
        let OpError::Failed(failure) = OpError::refused(&get(service, "/things"), &reply) else {
            panic!("a rejection is a failure")
        };
        failure.to_string().split(". Next: ").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn most_services_have_status_and_request_id_behind_the_sentence() {
        let body = json!({ "badRequest": { "message": "Bad size.", "code": 400 } });
        let message = "BadRequest: Bad size. (HTTP 400) (Request-ID: req-7)";
        assert_eq!(told(Service::Volume, 400, body), message);
    }

    #[test]
    fn the_load_balancer_has_one_class() {
        let body =
            json!({ "faultcode": "Client", "faultstring": "Invalid L7 rule", "debuginfo": null });
        let message = "OctaviaClientException: Invalid L7 rule (HTTP 409) (Request-ID: req-7)";
        assert_eq!(told(Service::LoadBalancer, 409, body), message);
        let error = OpError::refused(
            &get(Service::LoadBalancer, "/things"),
            &Reply::new(404, json!({ "faultstring": "No such pool" })),
        );
        assert!(error.is_not_found());
    }

    #[test]
    fn names_have_the_messages_of_the_single_errors() {
        let duplicate =
            json!({ "code": 409, "type": "duplicate_zone", "message": "Duplicate Zone" });
        assert_eq!(told(Service::Dns, 409, duplicate), "Conflict: Duplicate Zone");
        let invalid = json!({ "code": 400, "type": "invalid_object", "errors": { "errors": [
            { "path": ["ttl"], "message": "ttl is too small" }, { "message": "no email" } ] } });
        assert_eq!(told(Service::Dns, 400, invalid), "BadRequest: ttl is too small. no email");
        let full = json!({ "code": 413, "type": "over_quota" });
        assert_eq!(told(Service::Dns, 413, full), "OverQuota: over_quota");
        assert_eq!(told(Service::Dns, 500, json!({ "type": "unknown" })), "Unknown: unknown");
    }

    #[test]
    fn the_key_manager_has_title_and_description() {
        let body = json!({ "code": 400, "title": "Bad Request", "description": "Provided bit_length is odd." });
        let message = "HTTPClientError: Bad Request: Provided bit_length is odd";
        assert_eq!(told(Service::KeyManager, 400, body), message);
        let body = json!({ "title": "Internal Server Error" });
        assert_eq!(told(Service::KeyManager, 500, body), "HTTPServerError: Internal Server Error");
    }

    #[test]
    fn queues_have_classes_of_their_own() {
        let body = json!({ "title": "Invalid API request", "description": "Bad queue" });
        let message = "MalformedRequest: Error response from Zaqar. Code: 400. Title: Invalid API request. \
                       Description: Bad queue";
        assert_eq!(told(Service::Messaging, 400, body), message);
        let message = "ConflictError: Error response from Zaqar. Code: 409. Text: it is there";
        assert_eq!(told(Service::Messaging, 409, json!("it is there")), message);
    }

    #[test]
    fn what_a_rejection_means_does_not_depend_on_its_class() {
        let services =
            [Service::Dns, Service::KeyManager, Service::LoadBalancer, Service::Messaging];
        for service in services {
            let refused =
                |status| OpError::refused(&get(service, "/things"), &Reply::new(status, json!({})));
            assert!(refused(404).is_not_found(), "{service:?}");
            assert!(refused(403).is_forbidden(), "{service:?}");
            assert!(refused(409).is_conflict() && refused(409).is_already_done(), "{service:?}");
        }
    }
}
