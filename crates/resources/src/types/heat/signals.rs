//! The common parts of wait conditions, their handles and other resources that receive signals.
//!
//! A handle records its signals in its metadata under their ids, so a repeated signal counts once. A wait
//! condition watches the metadata of its handle.

use super::addresses::{self, Signed};
use super::mailbox::{self, Mailbox};
use super::signal_transport::SignalTransport;
use super::stack_user::{self, User};
use crate::behaviour::{OperationKind, Signal, SignalOutcome, SignalStorage, View};
use crate::declare::{Members, Prop, ResourceType, SupportStatus, Value, prop};
use crate::op::{Backoff, FailureClass, Op, OpError, Watched};
use crate::property_access::text;
use crate::{random, wire};
use kiln_template::Secret;
use kiln_template::print::{self, Keys};
use kiln_template::schema::PropertyType;
use serde_json::Value as Json;
use std::time::Duration;

/// The names of the parts of a signal in one of the two dialects.
pub(crate) struct Words {
    pub(crate) status: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) data: &'static str,
    pub(crate) id: &'static str,
}

/// The names for `OS::Heat` types; every part of a signal is optional.
pub(crate) const NATIVE: Words =
    Words { status: "status", reason: "reason", data: "data", id: "id" };

/// The names for `AWS::CloudFormation` types; every part of a signal is required.
pub(crate) const AWS: Words =
    Words { status: "Status", reason: "Reason", data: "Data", id: "UniqueId" };

/// The entry of the resource's data with the transport of signals.
pub(crate) const TRANSPORT: &str = "transport";

/// The transport of a handle without signals: a wait condition on it is complete at once.
pub(crate) const NO_SIGNAL: &str = SignalTransport::NoSignal.name();

/// The pauses between two reads of a mailbox.
pub(crate) const POLLING: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(5));

pub(crate) const SUCCESS: &str = "SUCCESS";
const INVALID: &str = "Metadata format invalid";

/// Sets a random id, for clouds without stack users.
pub(crate) async fn nameless(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        let id = random::uuid(op).await?.simple().to_string();
        op.set_id(id);
    }
    Ok(())
}

/// The entry of the resource's data with its signed URL.
const URL: &str = "url";

/// The entry of the resource's data with the URL for signals with a token.
const ENDPOINT: &str = "endpoint";

/// Creates a stack user for the resource, and a URL that is signed with the user's key.
pub(crate) async fn signed(op: &mut Op, kind: Signed) -> Result<Option<User>, OpError> {
    if !stack_user::are_there(op) {
        return nameless(op).await.map(|()| None);
    }
    let user = stack_user::own(op).await?;
    if op.data(URL).is_none() {
        let url = addresses::signed(op, kind, &user).await?;
        op.set_data(URL, url);
    }
    Ok(Some(user))
}

/// Creates a stack user and both URLs for a scaling policy: one that is signed with the user's key, and one for tokens of
/// the stack's owner.
pub(crate) async fn policy(op: &mut Op) -> Result<(), OpError> {
    if signed(op, Signed::Signal).await?.is_some() && op.data(ENDPOINT).is_none() {
        let owner = op.stack().project.clone();
        let url = addresses::native_in(op, &owner).await?;
        op.set_data(ENDPOINT, url);
    }
    Ok(())
}

/// Sets the handlers of a type whose resources have a stack user for signals.
pub(crate) fn with_user(kind: ResourceType) -> ResourceType {
    kind.created_on_adopt()
        .finder(stack_user::marker)
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Suspend, |op| Box::pin(stack_user::enable(op, false)))
        .on(OperationKind::Resume, |op| Box::pin(stack_user::enable(op, true)))
}

/// Declares a handle of the AWS dialect, whose reference is its signed URL.
pub(crate) fn aws_handle(kind: ResourceType) -> ResourceType {
    kind.suspendable()
        .since("2014.1")
        .with(with_user)
        .creates(|op| Box::pin(async move { signed(op, Signed::WaitCondition).await.map(drop) }))
        .reference(called_by_url)
        .on_signal(aws_signal)
        .signals_kept_in(SignalStorage::Metadata)
}

/// How long a condition waits: a property in seconds, half a day at most.
pub(crate) fn timeout_prop(name: &'static str, kind: PropertyType) -> Prop {
    prop(name, kind, "Seconds to wait for the signals before the resource fails, 43200 at most.")
        .required()
        .range(1, 43200)
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    mailbox::remove_own(op).await?;
    stack_user::remove_own(op).await
}

/// The signed URL of a resource; null if it has none.
pub(crate) fn url(view: &View<'_>) -> Value {
    text(view.data, URL).map_or(Value::Null, hidden)
}

/// A value that only people who may change the stack, and its servers, may see.
pub(crate) fn hidden(text: impl Into<Value>) -> Value {
    Value::Secret(Secret::new(text.into()))
}

/// The URL for signals with a token; null if the resource has none.
pub(crate) fn endpoint(view: &View<'_>) -> Value {
    view.data.get(ENDPOINT).cloned().unwrap_or_default()
}

/// The URL for signals with a token of the stack's owner; null if the resource has none.
pub(crate) fn owner_endpoint(view: &View<'_>) -> Value {
    let Some(url) = text(view.data, ENDPOINT) else { return Value::Null };
    // Policies of earlier versions have the URL for tokens of their stack user.
    match (text(view.data, stack_user::PROJECT), view.arn.split(':').nth(4)) {
        (Some(users), Some(owner)) => {
            url.replace(&format!("/{users}/"), &format!("/{owner}/")).into()
        }
        _ => url.into(),
    }
}

/// The reference of a handle, which is its signed URL if it has one.
pub(crate) fn called_by_url(view: &View<'_>) -> Value {
    match url(view) {
        Value::Null => view.physical_id.unwrap_or(view.name).into(),
        url => url,
    }
}

/// Handles a signal to a native handle.
pub(crate) fn native_signal(view: &View<'_>, signal: &Signal<'_>) -> Result<SignalOutcome, String> {
    native(view.metadata.as_map().map_or(0, Members::len), signal.details)
}

/// A signal to a native handle that has received a number of signals.
fn native(received: usize, details: &Value) -> Result<SignalOutcome, String> {
    let number = received + 1;
    let empty = Members::new();
    let details = match details {
        Value::Null => &empty,
        Value::Map(details) => details,
        _ => return Err(INVALID.to_owned()),
    };
    let mut complete: Members = [
        (NATIVE.status, Value::from(SUCCESS)),
        (NATIVE.reason, format!("Signal {number} received").into()),
        (NATIVE.data, Value::Null),
        (NATIVE.id, number.to_string().into()),
    ]
    .map(|(key, value)| (key.into(), value))
    .into_iter()
    .collect();
    for (key, value) in details {
        *complete.get_mut(key).ok_or(INVALID)? = value.clone();
    }
    keep(&NATIVE, &complete)
}

/// Handles a signal to a handle of the AWS dialect.
pub(crate) fn aws_signal(_: &View<'_>, signal: &Signal<'_>) -> Result<SignalOutcome, String> {
    let details = signal.details.as_map().ok_or(INVALID)?;
    let is_complete =
        [AWS.status, AWS.reason, AWS.data, AWS.id].iter().all(|key| details.contains_key(*key));
    if details.len() != 4 || !is_complete {
        return Err(INVALID.to_owned());
    }
    keep(&AWS, details)
}

/// The signal as the handle's metadata keeps it, under its id.
fn keep(words: &Words, details: &Members) -> Result<SignalOutcome, String> {
    let part = |name: &str| details.get(name).cloned().unwrap_or_default();
    let status = print::plain(&part(words.status));
    if status != SUCCESS && status != "FAILURE" {
        return Err(INVALID.to_owned());
    }
    let signal = [words.status, words.reason, words.data].map(|name| (name, part(name)));
    let id = print::plain(&part(words.id)).into();
    let reason = format!("status:{status} reason:{}", print::plain(&part(words.reason)));
    Ok(SignalOutcome {
        signal: Some((id, Value::map(signal))),
        reason: Some(reason),
        ..SignalOutcome::default()
    })
}

/// The names of a wait condition's properties. The dialect of the signals is that of its handle, which may be
/// another.
pub(crate) struct Condition {
    pub(crate) handle: &'static str,
    pub(crate) count: &'static str,
    pub(crate) timeout: &'static str,
}

/// Waits until the handle has enough signals.
pub(crate) async fn wait(op: &mut Op, condition: &Condition) -> Result<(), OpError> {
    let handle = op.text(condition.handle).unwrap_or_default().to_owned();
    let wanted = op.count(condition.count).unwrap_or(1);
    let timeout: Duration = op.seconds(condition.timeout);
    let deadline = op.deadline("timeout", timeout);
    if let Some(handle_data) = op.sibling(&handle).await?.map(|sibling| sibling.data) {
        if text(&handle_data, TRANSPORT) == Some(NO_SIGNAL) {
            op.set_metadata_of(&handle, all_of(&vec![Json::Null; wanted]));
            return Ok(());
        }
        if let Some(mailbox) = Mailbox::of(&handle_data) {
            return collect(op, &handle, &mailbox, wanted, deadline).await;
        }
    }
    let mut seen = None;
    loop {
        match op.watch(&handle, seen.as_ref(), deadline).await? {
            Watched::Changed(metadata) => {
                if is_enough(&metadata, wanted)? {
                    return Ok(());
                }
                seen = Some(metadata);
            }
            Watched::TimedOut => {
                return Err(too_late(seen.as_ref().unwrap_or(&Value::Null), wanted));
            }
            Watched::Missing => {
                let message = format!("{handle} is no wait condition handle of this stack");
                return Err(OpError::failed(FailureClass::ValueError, message));
            }
        }
    }
}

/// Polls a mailbox until it has enough signals.
async fn collect(
    op: &mut Op,
    handle: &str,
    mailbox: &Mailbox,
    wanted: usize,
    deadline: i64,
) -> Result<(), OpError> {
    let mut known = Value::Null;
    let mut backoff = POLLING;
    loop {
        let letters = mailbox.letters(op).await?;
        let told = all_of(&letters);
        if told != known {
            op.set_metadata_of(handle, told.clone());
            known = told;
        }
        if is_enough(&known, wanted)? {
            return Ok(());
        }
        let left = deadline.saturating_sub(op.from_now(Duration::ZERO));
        if left <= 0 {
            return Err(too_late(&known, wanted));
        }
        let left = Duration::from_micros(left.unsigned_abs());
        op.pause(backoff.next_pause().min(left)).await?;
    }
}

/// The metadata of a native handle after these signals. Invalid signals are ignored.
fn all_of(letters: &[Json]) -> Value {
    let mut metadata = Members::new();
    for letter in letters {
        let heard = native(metadata.len(), &wire::value(letter));
        metadata.extend(heard.ok().and_then(|heard| heard.signal));
    }
    Value::Map(metadata.into())
}

/// Removes the signals, so that another condition on the same handle waits for new ones.
pub(crate) async fn forget(op: &mut Op, condition: &Condition) -> Result<(), OpError> {
    if let Some(handle) = op.text(condition.handle).map(str::to_owned) {
        op.set_metadata_of(&handle, Value::map::<&str>([]));
    }
    Ok(())
}

/// The data of the signals, as JSON.
pub(crate) fn data(view: &View<'_>, condition: &Condition) -> Value {
    let handle = text(view.properties, condition.handle).unwrap_or_default();
    let metadata =
        view.siblings.by_reference(handle).and_then(|name| view.siblings.metadata(&name));
    let metadata = metadata.unwrap_or_default();
    let data = signals(&metadata)
        .map(|(id, signal)| (id, signal.get(words(signal).data).cloned().unwrap_or_default()));
    print::json(&Value::map(data), Keys::Ordered).into()
}

/// Whether there are enough signals; it is an error if one of them reports a failure.
fn is_enough(metadata: &Value, wanted: usize) -> Result<bool, OpError> {
    let has_failed = |signal: &&Members| text(signal, words(signal).status) != Some(SUCCESS);
    let failed: Vec<&Members> =
        signals(metadata).map(|(_, signal)| signal).filter(has_failed).collect();
    if failed.is_empty() {
        return Ok(signals(metadata).count() >= wanted);
    }
    Err(OpError::failed(FailureClass::WaitConditionFailure, reasons(failed.into_iter())))
}

fn too_late(metadata: &Value, wanted: usize) -> OpError {
    let received = signals(metadata).count();
    let mut message = format!("{received} of {wanted} received");
    if received > 0 {
        let all = signals(metadata).map(|(_, signal)| signal);
        message = format!("{message} - {}", reasons(all));
    }
    OpError::failed(FailureClass::WaitConditionTimeout, message)
}

fn reasons<'m>(signals: impl Iterator<Item = &'m Members>) -> String {
    let reason =
        |signal: &Members| signal.get(words(signal).reason).map(print::plain).unwrap_or_default();
    signals.map(reason).collect::<Vec<_>>().join(";")
}

/// The dialect of a recorded signal.
fn words(signal: &Members) -> &'static Words {
    if signal.contains_key(AWS.status) { &AWS } else { &NATIVE }
}

/// The signals in a handle's metadata, with their ids.
fn signals(metadata: &Value) -> impl Iterator<Item = (std::sync::Arc<str>, &Members)> {
    let members = metadata.as_map().into_iter().flatten();
    members.filter_map(|(id, signal)| Some((id.clone(), signal.as_map()?)))
}
