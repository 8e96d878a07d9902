//! A call to a service, its reply, and how to find out whether it happened.

use crate::{CallPath, Credential, Secret, Service};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The HTTP method of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Reads an object or a list.
    Get,
    /// Creates an object, or runs an action on one.
    Post,
    /// Writes an object.
    Put,
    /// Changes parts of an object.
    Patch,
    /// Deletes an object.
    Delete,
    /// Reads the headers of an object.
    Head,
}

/// A call to a service of the cloud.
#[derive(Clone, PartialEq)]
pub struct Call {
    /// The request that is sent.
    pub request: HttpRequest,
    /// What to do if its reply is lost.
    pub recovery: Recovery,
    /// Whether its reply may be shared with other callers.
    pub sharing: Sharing,
    /// For whom, and with whose credential, it is made.
    pub identity: Option<Box<Identity>>,
    /// How long it waits for a service that is known to be down, before it ends with [`CallError::Down`].
    pub patience: Duration,
}

/// For whom, and with whose credential, a call is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// The user and the stack that the call is made for. The sender fills it in.
    pub acting_for: Option<ActingFor>,
    /// The credential that the call is made with, if not the sender's.
    pub credential: Option<Credential>,
}

/// The request of a call.
#[derive(Clone, PartialEq)]
pub struct HttpRequest {
    /// The service that is called.
    pub service: Service,
    /// The method.
    pub method: Method,
    /// The path below the root of the service's version, such as `/servers`.
    pub path: CallPath,
    /// The query parameters.
    pub query: Vec<(String, String)>,
    /// Headers beside the usual ones. With a content type other than JSON, a body that is a text is sent as it is.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Value>,
    /// The microversion that the call is written for, if not the usual one of its service.
    pub microversion: Option<Arc<str>>,
    /// The region of the service; the engine's own region if there is none.
    pub region: Option<Arc<str>>,
    /// Whether the reply is a text, even if it looks like JSON.
    pub is_text: bool,
}

/// What to do if the reply of a call is lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recovery {
    /// How to find the object that the call may have created.
    pub marker: Option<Box<Marker>>,
    /// Whether making the call twice does no harm: then it is repeated.
    pub is_repeatable: bool,
    /// Whether the object claims something that a second one would take away: then the call is repeated only when the
    /// first object would have appeared by now.
    pub is_exclusive: bool,
}

/// Whether the reply of a call that reads may be shared with other callers.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Sharing {
    /// It is read for this caller alone.
    #[default]
    None,
    /// A reply that is a minute old will do: for names and ids, which rarely change.
    MayBeOld,
    /// The object is in this list as long as it is not ready, so that many callers can poll it with one call.
    PollTogether(Box<Marker>),
    /// The call lists objects by the values of one field, and the objects are at this JSON pointer of the reply, so that
    /// many callers can list theirs with one call.
    BatchBy(&'static str),
}

/// The user, the project, the stack and the resource that a call is made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActingFor {
    /// The id of the project.
    pub project: Arc<str>,
    /// The name of the user.
    pub user_name: Arc<str>,
    /// The user who created or last updated the stack.
    pub created_by: Arc<CreatedBy>,
    /// The id of the stack, if the call is made for one.
    pub stack_id: Option<Arc<str>>,
    /// The name of the resource in that stack, if the call is made for one.
    pub resource: Option<Arc<str>>,
    /// Texts that the definition of the resource hides: neither log lines nor errors of the transport show them.
    pub hidden: Arc<[Secret]>,
}

impl ActingFor {
    /// A text with asterisks in place of what is hidden.
    pub fn mask(&self, text: &str) -> String {
        let mask = |text: String, hidden: &Secret| match text.contains(hidden.expose()) {
            true => text.replace(hidden.expose(), "******"),
            false => text,
        };
        self.hidden.iter().filter(|hidden| !hidden.is_empty()).fold(text.to_owned(), mask)
    }
}

/// What was known of the user of a request at that moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreatedBy {
    /// The id of the user.
    pub user_id: Arc<str>,
    /// The name of the user.
    pub user_name: Arc<str>,
    /// The id of the user's domain.
    pub user_domain: Arc<str>,
    /// The name of the project of the user's token.
    pub project_name: Arc<str>,
    /// The id of the project's domain.
    pub project_domain: Arc<str>,
    /// The names of the user's roles in the project.
    pub roles: Vec<Arc<str>>,
    /// Whether the project is the one for administrators.
    pub is_admin_project: bool,
}

/// How to find an object that may or may not exist: list, and look for a mark that is unique to it and was known before
/// the call.
#[derive(Clone, PartialEq)]
pub struct Marker {
    /// Lists objects, the marked one among them if it exists.
    pub list: Call,
    /// The JSON pointer to the objects in the reply.
    pub objects: String,
    /// The JSON pointer to the mark in an object. If it is empty and the mark is an object, an object is marked if it has
    /// every member of the mark.
    pub field: String,
    /// The mark.
    pub value: Value,
    /// The member around the object in the reply of the lost call.
    pub envelope: Option<String>,
    /// The path of the objects, without the id at its end.
    pub path: CallPath,
    /// The JSON pointer to the id in an object.
    pub id: String,
}

/// The reply of a service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body; null if it is empty.
    pub body: Value,
    /// The headers by their names in small letters. They are not kept in journals.
    pub headers: BTreeMap<String, String>,
}

/// Why there is no good reply.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// The service refused the call.
    Refused(Reply),
    /// The call did not reach the service: nothing has happened.
    NotSent(String),
    /// The call cannot be made at all, now or later: there is no such service.
    Impossible(String),
    /// The call was sent and no reply came: it may have happened, or may happen yet.
    Lost(String),
    /// The call was not sent, because the service is known to be down, or asked the project to wait: nothing has happened.
    Down(String),
    /// The call was not sent, because its sender does not own what it works on any more.
    Fenced,
}

/// A call that reads an object or a list.
pub fn get(service: Service, path: impl Into<CallPath>) -> Call {
    Call::new(service, Method::Get, path, None)
}

/// A call that creates an object or runs an action.
pub fn post(service: Service, path: impl Into<CallPath>, body: Value) -> Call {
    Call::new(service, Method::Post, path, Some(body))
}

/// A call that writes an object.
pub fn put(service: Service, path: impl Into<CallPath>, body: Value) -> Call {
    Call::new(service, Method::Put, path, Some(body))
}

/// A call that changes parts of an object.
pub fn patch(service: Service, path: impl Into<CallPath>, body: Value) -> Call {
    Call::new(service, Method::Patch, path, Some(body))
}

/// A call that reads the headers of an object.
pub fn head(service: Service, path: impl Into<CallPath>) -> Call {
    Call::new(service, Method::Head, path, None)
}

/// A call that deletes an object.
pub fn delete(service: Service, path: impl Into<CallPath>) -> Call {
    Call::new(service, Method::Delete, path, None)
}

/// The error for a region without an orchestration service, in the reference's words.
pub fn no_such_region(region: &str) -> String {
    format!(
        "Cannot establish connection to Heat endpoint at region \"{region}\" due to \"public endpoint for \
         orchestration service in {region} region not found\""
    )
}

impl Call {
    fn new(
        service: Service,
        method: Method,
        path: impl Into<CallPath>,
        body: Option<Value>,
    ) -> Call {
        let request = HttpRequest {
            service,
            method,
            path: path.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body,
            microversion: None,
            region: None,
            is_text: false,
        };
        let (recovery, sharing) = Default::default();
        Call { request, recovery, sharing, identity: None, patience: Duration::ZERO }
    }

    /// Adds a query parameter.
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Call {
        self.request.query.push((name.into(), value.into()));
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Call {
        self.request.headers.push((name.into(), value.into()));
        self
    }

    /// Removes the body.
    pub fn empty(mut self) -> Call {
        self.request.body = None;
        self
    }

    /// Sets the microversion that the call is written for.
    pub fn microversion(mut self, version: impl Into<Arc<str>>) -> Call {
        self.request.microversion = Some(version.into());
        self
    }

    /// Accepts a reply that is a minute old.
    pub fn may_be_old(mut self) -> Call {
        self.sharing = Sharing::MayBeOld;
        self
    }

    /// Accepts only a reply of now.
    pub fn now(mut self) -> Call {
        if self.sharing == Sharing::MayBeOld {
            self.sharing = Sharing::None;
        }
        self
    }

    /// Sets how long it waits for a service that is known to be down.
    pub fn patience(mut self, patience: Duration) -> Call {
        self.patience = patience;
        self
    }

    /// Sets the region of the service.
    pub fn in_region(mut self, region: Option<Arc<str>>) -> Call {
        self.request.region = region;
        self
    }

    /// Sets the credential that the call is made with, if not the sender's.
    pub fn with_credential(mut self, credential: Credential) -> Call {
        self.identity.get_or_insert_default().credential = Some(credential);
        self
    }

    /// Sets the user and the stack that the call is made for.
    pub fn acting_for(mut self, acting_for: ActingFor) -> Call {
        self.identity.get_or_insert_default().acting_for = Some(acting_for);
        self
    }

    /// The credential that the call is made with, if not the sender's.
    pub fn credential(&self) -> Option<&Credential> {
        self.identity.as_ref()?.credential.as_ref()
    }

    /// The user and the stack that the call is made for.
    pub fn made_for(&self) -> Option<&ActingFor> {
        self.identity.as_ref()?.acting_for.as_ref()
    }

    /// Declares that making the call twice does no harm: it creates nothing, or the service refuses a second object.
    pub fn may_be_repeated(mut self) -> Call {
        self.recovery.is_repeatable = true;
        self
    }

    /// Reads the reply as text, even if it looks like JSON.
    pub fn as_text(mut self) -> Call {
        self.request.is_text = true;
        self
    }

    /// Names the list in which the object of the call is as long as it is not ready.
    pub fn among(mut self, list: Marker) -> Call {
        self.sharing = Sharing::PollTogether(Box::new(list));
        self
    }

    /// Names the JSON pointer to the objects in the reply of a list that is filtered by one field.
    pub fn together(mut self, objects: &'static str) -> Call {
        self.sharing = Sharing::BatchBy(objects);
        self
    }

    /// Declares that the object claims something that a second one would take away.
    pub fn exclusive(mut self) -> Call {
        self.recovery.is_exclusive = true;
        self
    }

    /// Sets how to find the object of the call if its reply is lost.
    pub fn marker(mut self, marker: Marker) -> Call {
        self.recovery.marker = Some(Box::new(marker));
        self
    }
}

impl Marker {
    /// The objects in the reply of the list that carry the mark.
    pub fn found<'r>(&self, reply: &'r Reply) -> Vec<&'r Value> {
        let objects = reply.body.pointer(&self.objects).and_then(Value::as_array);
        let is_marked = |object: &&Value| match &self.value {
            Value::Object(marks) if self.field.is_empty() => {
                marks.iter().all(|(name, mark)| object.get(name) == Some(mark))
            }
            mark => match object.pointer(&self.field) {
                // The mark is one of several tags.
                Some(Value::Array(tags)) if !mark.is_array() => tags.contains(mark),
                found => found == Some(mark),
            },
        };
        objects.into_iter().flatten().filter(is_marked).collect()
    }

    /// The id of an object, which some services give as a number.
    pub fn id_of(&self, object: &Value) -> Option<String> {
        match object.pointer(&self.id)? {
            Value::String(id) => Some(id.clone()),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        }
    }

    /// The call that deletes an object.
    pub fn removal(&self, id: &str) -> Call {
        let list = &self.list;
        let removal = delete(list.request.service, self.path.clone().id_or_url(id));
        let removal = removal.in_region(list.request.region.clone());
        match list.credential() {
            Some(credential) => removal.with_credential(credential.clone()),
            None => removal,
        }
    }

    /// The reply that was lost, as far as the object shows it.
    pub fn reply(&self, object: &Value) -> Reply {
        let body = match &self.envelope {
            Some(name) => serde_json::json!({ name.as_str(): object }),
            None => object.clone(),
        };
        Reply::new(200, body)
    }
}

impl Reply {
    /// A reply without headers.
    pub fn new(status: u16, body: Value) -> Reply {
        Reply { status, body, headers: BTreeMap::new() }
    }

    /// A header, by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The URL that was called, without its query.
    pub fn address(&self) -> Option<&str> {
        self.header("content-location")
    }

    /// The id of the request in the service's logs.
    pub fn request_id(&self) -> Option<&str> {
        self.header("x-openstack-request-id").or_else(|| self.header("x-compute-request-id"))
    }

    /// The service's error message.
    ///
    /// Each service has its own form: an object with a message somewhere in it, or a text.
    pub fn error_text(&self) -> Option<String> {
        const POINTERS: [&str; 9] = [
            "/NeutronError/message",
            "/error/message",
            "/message",
            "/faultstring",
            "/error_message/faultstring",
            "/description",
            "/error_message",
            "/explanation",
            "/errors/0/detail",
        ];
        let text = match &self.body {
            Value::String(text) => Some(text.as_str()),
            Value::Object(members) => {
                // Compute, volumes and others have one member, named after the type of the error.
                let inner = members.values().find_map(|inner| inner.pointer("/message"));
                POINTERS
                    .into_iter()
                    .find_map(|pointer| self.text(pointer))
                    .or_else(|| inner.and_then(Value::as_str))
                    .or_else(|| self.text("/NeutronError"))
            }
            _ => None,
        };
        text.map(plain_text).filter(|text| !text.is_empty())
    }

    /// The text at a JSON pointer of the body.
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.body.pointer(pointer).and_then(Value::as_str)
    }
}

impl Method {
    /// The name of the method in HTTP.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
            Method::Head => "HEAD",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Shows the method and the path. Bodies, headers and queries may hold secrets.
impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}:{}", self.method, self.service.project(), self.path)
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.request.fmt(f)
    }
}

/// The mark itself is shown: it is a name or an id.
impl fmt::Debug for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with {} = {}", self.list, self.field, self.value)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Refused(reply) => write!(f, "refused with HTTP {}", reply.status),
            CallError::NotSent(why) => write!(f, "not sent: {why}"),
            CallError::Impossible(why) => write!(f, "{why}"),
            CallError::Lost(why) => write!(f, "no reply: {why}"),
            CallError::Down(why) => write!(f, "{why}"),
            CallError::Fenced => write!(f, "not sent: another engine owns the stack"),
        }
    }
}

/// A text on one line and of bounded length, without the HTML tags that some services put around it.
fn plain_text(text: &str) -> String {
    const MAX_BYTES: usize = 2_000;
    let mut plain = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        if let Some(tag) = tag(rest) {
            plain.push(' ');
            rest = &rest[tag.len()..];
            continue;
        }
        plain.push(char);
        rest = &rest[char.len_utf8()..];
        if plain.len() > MAX_BYTES {
            plain.push('…');
            break;
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The HTML tag that a text begins with. A `<` that no name follows is a comparison.
fn tag(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let name = inner.strip_prefix(['/', '!']).unwrap_or(inner);
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '-');
    let end = inner.find('>').filter(|_| is_name)?;
    Some(&text[..end + 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn marker() -> Marker {
        Marker {
            list: get(Service::Network, "/networks").query("name", "web-net-1"),
            objects: "/networks".into(),
            field: "/name".into(),
            value: json!("web-net-1"),
            envelope: Some("network".into()),
            path: "/networks".into(),
            id: "/id".into(),
        }
    }

    #[test]
    fn a_lost_reply_is_made_up_from_the_object_that_carries_the_mark() {
        let objects = json!({ "networks": [
            { "id": "1", "name": "other" },
            { "id": "2", "name": "web-net-1" },
        ]});
        let reply = Reply::new(200, objects);
        let marker = marker();
        let found = marker.found(&reply);
        assert_eq!(found.len(), 1);
        assert_eq!(marker.reply(found[0]).text("/network/id"), Some("2"));
        assert!(marker.found(&Reply::default()).is_empty());
    }

    #[test]
    fn several_fields_can_be_a_mark() {
        let objects = json!({ "networks": [
            { "id": "1", "name": "a", "mtu": 1500 },
            { "id": "2", "name": "a", "mtu": 9000 },
        ]});
        let value = json!({ "name": "a", "mtu": 9000 });
        let marker = Marker { field: String::new(), value, ..marker() };
        let reply = Reply::new(200, objects);
        let found = marker.found(&reply);
        assert_eq!(found.iter().map(|it| &it["id"]).collect::<Vec<_>>(), ["2"]);
    }

    #[test]
    fn a_tag_among_others_can_be_a_mark() {
        let objects = json!({ "networks": [
            { "id": "1", "tags": ["blue"] },
            { "id": "2", "tags": ["blue", "kiln 1"] },
        ]});
        let marker = Marker { field: "/tags".into(), value: json!("kiln 1"), ..marker() };
        let reply = Reply::new(200, objects);
        let found = marker.found(&reply);
        assert_eq!(found.iter().map(|it| &it["id"]).collect::<Vec<_>>(), ["2"]);
    }

    #[test]
    fn bodies_are_not_shown() {
        let call = post(Service::Compute, "/servers", json!({ "adminPass": "hunter2" }));
        assert_eq!(format!("{call:?}"), "POST nova:/servers");
    }

    #[test]
    fn the_message_of_every_service_is_found() {
        let text = |body: Value| Reply::new(400, body).error_text();
        assert_eq!(
            text(json!({"NeutronError": {"message": "no", "type": "X"}})),
            Some("no".into())
        );
        assert_eq!(text(json!({"badRequest": {"message": "no", "code": 400}})), Some("no".into()));
        assert_eq!(text(json!({"faultcode": "Client", "faultstring": "no"})), Some("no".into()));
        let page = "<html><body><h1>409 Conflict</h1>\n in use<br /></body></html>";
        assert_eq!(text(json!(page)), Some("409 Conflict in use".into()));
        let compared = "port_range_min must be <= port_range_max, 1 <2 and 3>2; see <URL:x> or a<b";
        let shown = "port_range_min must be <= port_range_max, 1 <2 and 3>2; see or a<b";
        assert_eq!(text(json!(compared)), Some(shown.into()));
        assert_eq!(text(Value::Null), None);
    }
}
