//! A call to a service, its reply, and how to find out whether it happened.

use crate::{Credential, Service};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What is done to what a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It is read.
    Get,
    /// Something is added to it, or it is told something.
    Post,
    /// It is written.
    Put,
    /// It is changed.
    Patch,
    /// It is removed.
    Delete,
    /// It is described without being read.
    Head,
}

/// A call to a service of the cloud.
#[derive(Clone, PartialEq)]
pub struct Call {
    /// The service.
    pub service: Service,
    /// What is done.
    pub method: Method,
    /// To what: a path below the root of the service's version, such as `/servers`.
    pub path: String,
    /// The parameters behind the question mark.
    pub query: Vec<(String, String)>,
    /// Headers beside the usual ones. If there is a content type other than JSON, a body that is a text is
    /// sent as it is.
    pub headers: Vec<(String, String)>,
    /// What is sent along.
    pub body: Option<Value>,
    /// The microversion that the call is written for, if not the usual one of its service.
    pub microversion: Option<Arc<str>>,
    /// Whether an answer that is a minute old will do: for looking up what rarely changes.
    pub may_be_old: bool,
    /// Whether being made twice does no harm: then it is made again if its reply was lost.
    pub may_be_repeated: bool,
    /// Whether what comes back is a text, whatever it looks like.
    pub is_text: bool,
    /// Whether what it makes claims something that a second one would take away: then it is made again only
    /// when the first one would have appeared by now.
    pub is_exclusive: bool,
    /// How to find what the call made, if its reply was lost. Of a call that reads: where that is listed as long as it
    /// is not ready, so that many who wait can look together.
    pub marker: Option<Box<Marker>>,
    /// Of a call that reads a list by values of one field: where in the reply the objects are, so that many who want
    /// some of them can ask together.
    pub together: Option<&'static str>,
    /// On whose behalf it is made; whoever sends it says so.
    pub acting_for: Option<Box<ActingFor>>,
    /// The region whose service is meant; our own if nothing is said.
    pub region: Option<Arc<str>>,
    /// In whose name it is made, if not in that of whoever sends it.
    pub by: Option<Box<Credential>>,
}

/// On whose behalf a call is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActingFor {
    /// The project.
    pub project: Arc<str>,
    /// The name of the user.
    pub user_name: Arc<str>,
    /// What else is known of whoever asked for it.
    pub author: Arc<CreatedBy>,
    /// The id of what it is made for, if that is known.
    pub origin: Option<Arc<str>>,
}

/// What is known of whoever asked for something, at the moment when they did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreatedBy {
    /// Their id.
    pub user_id: Arc<str>,
    /// Their name.
    pub user_name: Arc<str>,
    /// The id of the domain that they belong to.
    pub user_domain: Arc<str>,
    /// The name of the project that they act for.
    pub project_name: Arc<str>,
    /// The id of the domain that the project belongs to.
    pub project_domain: Arc<str>,
    /// The names of their roles in the project.
    pub roles: Vec<Arc<str>>,
    /// Whether the project is the one for administrators.
    pub is_admin_project: bool,
}

/// How to find an object of which it is not certain that it exists: list, and look for a mark that is
/// unique to it and was known before the call.
#[derive(Clone, PartialEq)]
pub struct Marker {
    /// Lists objects, ours among them if it exists.
    pub list: Call,
    /// Where in the reply the objects are: a JSON pointer.
    pub objects: String,
    /// Where in an object the mark is: a JSON pointer. If it is empty and the mark is an object, an object
    /// carries the mark if it has every member of it.
    pub field: String,
    /// The mark.
    pub value: Value,
    /// What the reply of the lost call would have had around the object.
    pub envelope: Option<String>,
    /// The path of an object but for its id, which goes behind it.
    pub path: String,
    /// Where in an object its id is: a JSON pointer.
    pub id: String,
}

/// What a service answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// What was sent back; null if nothing was.
    pub body: Value,
    /// The headers, their names in small letters. They are not kept in journals.
    pub headers: BTreeMap<String, String>,
}

/// Why there is no good reply.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// The service refused.
    Refused(Reply),
    /// The call did not reach the service: nothing has happened.
    NotSent(String),
    /// The call cannot be made at all, now or later: there is no such service.
    Impossible(String),
    /// The call was sent and no reply came: it may have happened, or may happen yet.
    Lost(String),
}

/// Reads what a path names.
pub fn get(service: Service, path: impl Into<String>) -> Call {
    Call::new(service, Method::Get, path, None)
}

/// Adds to what a path names.
pub fn post(service: Service, path: impl Into<String>, body: Value) -> Call {
    Call::new(service, Method::Post, path, Some(body))
}

/// Writes what a path names.
pub fn put(service: Service, path: impl Into<String>, body: Value) -> Call {
    Call::new(service, Method::Put, path, Some(body))
}

/// Changes what a path names.
pub fn patch(service: Service, path: impl Into<String>, body: Value) -> Call {
    Call::new(service, Method::Patch, path, Some(body))
}

/// Describes what a path names, in headers alone.
pub fn head(service: Service, path: impl Into<String>) -> Call {
    Call::new(service, Method::Head, path, None)
}

/// Removes what a path names.
pub fn delete(service: Service, path: impl Into<String>) -> Call {
    Call::new(service, Method::Delete, path, None)
}

/// What is told of a region in which there is no orchestration service, in the reference's words.
pub fn no_such_region(region: &str) -> String {
    format!(
        "Cannot establish connection to Heat endpoint at region \"{region}\" due to \"public endpoint for \
         orchestration service in {region} region not found\""
    )
}

impl Call {
    fn new(service: Service, method: Method, path: impl Into<String>, body: Option<Value>) -> Call {
        Call {
            service,
            method,
            path: path.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body,
            microversion: None,
            may_be_old: false,
            may_be_repeated: false,
            is_text: false,
            is_exclusive: false,
            together: None,
            marker: None,
            acting_for: None,
            region: None,
            by: None,
        }
    }

    /// Adds a parameter behind the question mark.
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Call {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Call {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends nothing along.
    pub fn empty(mut self) -> Call {
        self.body = None;
        self
    }

    /// Says which microversion the call is written for.
    pub fn microversion(mut self, version: impl Into<Arc<str>>) -> Call {
        self.microversion = Some(version.into());
        self
    }

    /// An answer that is a minute old will do.
    pub fn may_be_old(mut self) -> Call {
        self.may_be_old = true;
        self
    }

    /// Only an answer of now will do.
    pub fn now(mut self) -> Call {
        self.may_be_old = false;
        self
    }

    /// Says which region is meant.
    pub fn in_region(mut self, region: Option<Arc<str>>) -> Call {
        self.region = region;
        self
    }

    /// Says in whose name the call is made: one that is not the sender's own.
    pub fn by(mut self, credential: Credential) -> Call {
        self.by = Some(Box::new(credential));
        self
    }

    /// Says on whose behalf the call is made.
    pub fn acting_for(mut self, acting_for: ActingFor) -> Call {
        self.acting_for = Some(Box::new(acting_for));
        self
    }

    /// Being made twice does no harm: nothing new comes of it, or the service refuses what it has.
    pub fn may_be_repeated(mut self) -> Call {
        self.may_be_repeated = true;
        self
    }

    /// What comes back is a text, also if it looks like JSON.
    pub fn as_text(mut self) -> Call {
        self.is_text = true;
        self
    }

    /// Says where what the call reads is listed as long as it is not ready.
    pub fn among(mut self, list: Marker) -> Call {
        self.marker = Some(Box::new(list));
        self
    }

    /// Says where in the reply the objects of a list are that is filtered by one field.
    pub fn together(mut self, objects: &'static str) -> Call {
        self.together = Some(objects);
        self
    }

    /// What it makes claims something that a second one would take away.
    pub fn exclusive(mut self) -> Call {
        self.is_exclusive = true;
        self
    }

    /// Says how to find what the call made, if its reply was lost.
    pub fn marker(mut self, marker: Marker) -> Call {
        self.marker = Some(Box::new(marker));
        self
    }
}

impl Marker {
    /// The objects in the reply of the list that carry the mark.
    pub fn found<'r>(&self, reply: &'r Reply) -> Vec<&'r Value> {
        let objects = reply.body.pointer(&self.objects).and_then(Value::as_array);
        let is_ours = |object: &&Value| match &self.value {
            Value::Object(marks) if self.field.is_empty() => {
                marks.iter().all(|(name, mark)| object.get(name) == Some(mark))
            }
            mark => match object.pointer(&self.field) {
                // A tag among others.
                Some(Value::Array(tags)) if !mark.is_array() => tags.contains(mark),
                found => found == Some(mark),
            },
        };
        objects.into_iter().flatten().filter(is_ours).collect()
    }

    /// The id of an object; some services number theirs.
    pub fn id_of(&self, object: &Value) -> Option<String> {
        match object.pointer(&self.id)? {
            Value::String(id) => Some(id.clone()),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        }
    }

    /// Removes an object.
    pub fn removal(&self, id: &str) -> Call {
        // Where ids are addresses, the last part is what paths have.
        let id = if id.contains("://") { id.rsplit('/').next().unwrap_or(id) } else { id };
        let mut removal = delete(self.list.service, format!("{}{id}", self.path));
        removal.by.clone_from(&self.list.by);
        removal.in_region(self.list.region.clone())
    }

    /// The reply that was lost, as far as it can be told from the object.
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

    /// Where what was asked for is: the whole address, without parameters.
    pub fn address(&self) -> Option<&str> {
        self.header("content-location")
    }

    /// The id under which the service's logs have the request.
    pub fn request_id(&self) -> Option<&str> {
        self.header("x-openstack-request-id").or_else(|| self.header("x-compute-request-id"))
    }

    /// Why the service refused, in its own words.
    ///
    /// Each service has its own form: an object with a message somewhere in it, or text.
    pub fn error_text(&self) -> Option<String> {
        const PLACES: [&str; 9] = [
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
        let said = match &self.body {
            Value::String(text) => Some(text.as_str()),
            Value::Object(members) => {
                // Compute, volumes and others: one member, named after the kind of refusal.
                let inner = members.values().find_map(|inner| inner.pointer("/message"));
                PLACES
                    .into_iter()
                    .find_map(|place| self.text(place))
                    .or_else(|| inner.and_then(Value::as_str))
                    .or_else(|| self.text("/NeutronError"))
            }
            _ => None,
        };
        said.map(plain_text).filter(|said| !said.is_empty())
    }

    /// The text at a place in the body: a JSON pointer.
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.body.pointer(pointer).and_then(Value::as_str)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
            Method::Head => "HEAD",
        })
    }
}

/// Bodies may hold secrets and are not shown.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}:{}", self.method, self.service.project(), self.path)
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
        }
    }
}

/// Text without the tags of a page that some services put around it, on one line, and bounded.
fn plain_text(text: &str) -> String {
    const LONGEST: usize = 2_000;
    let mut plain = String::new();
    let mut is_tag = false;
    for char in text.chars() {
        match char {
            '<' => is_tag = true,
            '>' if is_tag => {
                is_tag = false;
                plain.push(' ');
            }
            _ if is_tag => {}
            _ => plain.push(char),
        }
        if plain.len() > LONGEST {
            plain.push('…');
            break;
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
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
            path: "/networks/".into(),
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
    fn several_fields_together_can_be_a_mark() {
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
    fn what_is_sent_is_not_shown() {
        let call = post(Service::Compute, "/servers", json!({ "adminPass": "hunter2" }));
        assert_eq!(format!("{call:?}"), "POST nova:/servers");
    }

    #[test]
    fn every_service_is_heard() {
        let said = |body: Value| Reply::new(400, body).error_text();
        assert_eq!(
            said(json!({"NeutronError": {"message": "no", "type": "X"}})),
            Some("no".into())
        );
        assert_eq!(said(json!({"badRequest": {"message": "no", "code": 400}})), Some("no".into()));
        assert_eq!(said(json!({"faultcode": "Client", "faultstring": "no"})), Some("no".into()));
        let page = "<html><body><h1>409 Conflict</h1>\n in use<br /></body></html>";
        assert_eq!(said(json!(page)), Some("409 Conflict in use".into()));
        assert_eq!(said(Value::Null), None);
    }
}
