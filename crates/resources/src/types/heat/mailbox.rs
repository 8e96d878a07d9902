//! Mailboxes: objects and queues to which guests send signals, and which resources poll.
//!
//! An object has versions, which stay until the mailbox is deleted. So a repeated read finds the same letters
//! in the same order, and an interrupted operation loses none.

use super::stack_user::User;
use crate::declare::{Members, Value, map};
use crate::op::{Op, OpError};
use crate::property_access::{section, text};
use kiln_cloud::{Call, CallPath, Credential, Service, delete, get, put};
use serde_json::{Value as Json, json};

/// The content of an object before the first signal.
const NOTHING_YET: &str = "in progress";

/// The number of messages in one page of a queue.
const PAGE: usize = 20;

/// The entry of the resource's data with its mailbox.
const MAILBOX: &str = "mailbox";

/// A place to which signals are sent.
#[derive(Clone, Debug)]
pub(crate) enum Mailbox {
    /// An object with versions.
    Object {
        /// Its container.
        container: String,
        /// Its name.
        object: String,
    },
    /// A queue, with the credential to read it.
    Queue {
        /// Its name.
        name: String,
        /// The credential of the stack user who may read it.
        by: Box<Credential>,
    },
}

impl Mailbox {
    /// The mailbox in a resource's data; `None` if it has none.
    pub(crate) fn of(data: &Members) -> Option<Mailbox> {
        let said = section(data, MAILBOX)?;
        let part = |name: &str| text(said, name).map(str::to_owned);
        if let (Some(container), Some(object)) = (part("container"), part("object")) {
            return Some(Mailbox::Object { container, object });
        }
        let user = |name: &str| text(data, name).unwrap_or_default();
        let by = Credential::with_password(user("user_id"), user("password"), user("user_project"));
        Some(Mailbox::Queue { name: part("queue")?, by: Box::new(by) })
    }

    /// Reads all letters, the oldest first.
    pub(crate) async fn letters(&self, op: &mut Op) -> Result<Vec<Json>, OpError> {
        match self {
            Mailbox::Object { container, object } => in_object(op, container, object).await,
            Mailbox::Queue { name, by } => in_queue(op, name, by).await,
        }
    }

    /// Deletes the mailbox with its letters.
    pub(crate) async fn remove(&self, op: &mut Op) -> Result<(), OpError> {
        match self {
            Mailbox::Object { container, object } => remove_object(op, container, object).await,
            Mailbox::Queue { name, by } => {
                let call =
                    delete(Service::Messaging, queue_path(name)).with_credential((**by).clone());
                op.remove(&format!("remove queue {name}"), call).await
            }
        }
    }
}

fn container_path(container: &str) -> CallPath {
    CallPath::from("").id(container)
}

fn object_path(container: &str, object: &str) -> CallPath {
    CallPath::from("").id(container).object(object)
}

fn queue_path(name: &str) -> CallPath {
    CallPath::from("/queues").id(name)
}

// --- creating ---

/// Creates an object as the resource's mailbox, and records it. Returns its temporary URL.
pub(crate) async fn make_object(op: &mut Op, object: &str) -> Result<String, OpError> {
    let container = op.stack().id.to_string();
    op.set_data(MAILBOX, map([("container", container.as_str()), ("object", object)]));
    let make = put(Service::ObjectStore, container_path(&container), Json::Null).empty();
    op.call("container", make.header("X-Versions-Location", container.as_str())).await?;
    op.call("object", write(&container, object, NOTHING_YET)).await?;
    Ok(container)
}

/// The call that writes a text into an object.
pub(crate) fn write(container: &str, object: &str, text: &str) -> Call {
    let body = Json::String(text.to_owned());
    put(Service::ObjectStore, object_path(container, object), body)
        .header("Content-Type", "text/plain")
}

/// Creates a queue as the resource's mailbox, and records it.
pub(crate) async fn make_queue(op: &mut Op, user: &User, name: &str) -> Result<(), OpError> {
    op.set_data(MAILBOX, map([("queue", name)]));
    let call =
        put(Service::Messaging, queue_path(name), json!({})).with_credential(user.credential());
    op.call("queue", call).await.map(drop)
}

/// Deletes the resource's mailbox, if it has one.
pub(crate) async fn remove_own(op: &mut Op) -> Result<(), OpError> {
    if let Some(mailbox) = Mailbox::of(&op.context().data) {
        mailbox.remove(op).await?;
        op.set_data(MAILBOX, Value::Null);
    }
    Ok(())
}

// --- reading ---

/// The names of an object's versions in the container, the oldest first, and then the object's own name.
async fn versions(op: &mut Op, container: &str, object: &str) -> Result<Vec<String>, OpError> {
    let list = get(Service::ObjectStore, container_path(container)).query("format", "json");
    let list = match op.read(list).await {
        Err(stop) if stop.is_not_found() => return Ok(Vec::new()),
        list => list?,
    };
    let all = list.body.as_array().into_iter().flatten();
    let names: Vec<&str> = all.filter_map(|entry| entry["name"].as_str()).collect();
    let prefix = format!("{:03x}{object}/", object.len());
    let mut found: Vec<String> =
        names.iter().filter(|name| name.starts_with(&prefix)).map(|it| (*it).to_owned()).collect();
    // The prefix is followed by a timestamp of fixed length, so the order of names is that of time.
    found.sort();
    found.extend(names.iter().filter(|name| **name == object).map(|it| (*it).to_owned()));
    Ok(found)
}

async fn in_object(op: &mut Op, container: &str, object: &str) -> Result<Vec<Json>, OpError> {
    let mut letters = Vec::new();
    for name in versions(op, container, object).await? {
        match op.read(get(Service::ObjectStore, object_path(container, &name))).await {
            Ok(reply) if reply.body == NOTHING_YET => {}
            Ok(reply) => letters.push(reply.body),
            // A new signal moved the object into a version; the next read finds it.
            Err(stop) if stop.is_not_found() => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(letters)
}

async fn in_queue(op: &mut Op, name: &str, by: &Credential) -> Result<Vec<Json>, OpError> {
    let mut letters = Vec::new();
    let mut marker: Option<String> = None;
    loop {
        let mut call = get(Service::Messaging, queue_path(name).then("/messages"))
            .query("echo", "true")
            .query("limit", PAGE.to_string());
        if let Some(marker) = &marker {
            call = call.query("marker", marker.as_str());
        }
        let reply = op.read(call.with_credential(by.clone())).await?;
        let page = reply.body["messages"].as_array().cloned().unwrap_or_default();
        letters.extend(page.iter().map(|message| message["body"].clone()));
        let next = reply.text("/links/0/href").and_then(|it| it.split_once("marker="));
        marker = next.map(|(_, rest)| rest.split('&').next().unwrap_or(rest).to_owned());
        if page.len() < PAGE || marker.is_none() {
            return Ok(letters);
        }
    }
}

// --- removing ---

async fn remove_object(op: &mut Op, container: &str, object: &str) -> Result<(), OpError> {
    // The versions are deleted first: as long as there is one, it replaces a deleted object.
    for name in versions(op, container, object).await? {
        let call = delete(Service::ObjectStore, object_path(container, &name));
        op.remove(&format!("remove object {name}"), call).await?;
    }
    let call = delete(Service::ObjectStore, container_path(container));
    match op.remove(&format!("remove container of {object}"), call).await {
        // The container still has objects of other resources of the stack.
        Err(stop) if stop.is_conflict() => Ok(()),
        removed => removed,
    }
}
