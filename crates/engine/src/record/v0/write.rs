//! Writes records in the form before versions, as the builds of that time did. Only the simulation does that: in its runs
//! old and new records mix, as they do in a database after an upgrade.
//!
//! What that form has no place for is left out: the request of a traversal.

use super::resource::KINDS;
use crate::record::Record;
use crate::record::v1::{
    AuthBody, CredentialBody, DefinitionBody, OperationBody, OperationName, PauseBody,
    ResourceBody, StackBody, StepBody, TraversalBody,
};
use crate::record::value::{Id, StoredMembers};
use crate::state::Action;
use crate::store::{Batch, ResourceRow, StackRow};
use kiln_template::{Members, Value};
use std::sync::Arc;

/// Rewrites some of the rows of a batch; `is_chosen` says of each whether it is one of them.
pub fn downgrade(batch: &mut Batch, mut is_chosen: impl FnMut() -> bool) {
    for row in batch.stacks.iter_mut().filter(|_| is_chosen()) {
        downgrade_stack(row);
    }
    for row in batch.resources.iter_mut().filter(|_| is_chosen()) {
        downgrade_resource(row);
    }
}

fn downgrade_stack(row: &mut StackRow) {
    if let Ok(body) = StackBody::decode(&row.body) {
        row.body = encode(&stack(&body));
    }
}

fn downgrade_resource(row: &mut ResourceRow) {
    // The builds of that time did not know this operation, nor did they record what a failed update was to set: what they
    // lost by that, no later build can bring back.
    let is_known = |body: &ResourceBody| {
        body.attempted.0.is_empty()
            && body.operation.as_ref().is_none_or(|it| it.kind != OperationName::Cancel)
    };
    if let Some(body) = ResourceBody::decode(&row.body).ok().filter(is_known) {
        row.body = encode(&resource(&body));
    }
}

// --- records to values ---

/// A map of what is there.
fn map(fields: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Value {
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
    Value::Map(Arc::new(fields.collect::<Members>()))
}

fn flag(is_set: bool) -> Option<Value> {
    is_set.then_some(Value::Bool(true))
}

fn number(number: i64) -> Value {
    Value::from(number)
}

fn count(count: u64) -> Option<Value> {
    (count > 0).then(|| number(count as i64))
}

fn id(id: &Id) -> Value {
    Value::from(id.0.to_string().as_str())
}

fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::List(Arc::new(items.into_iter().collect()))
}

fn non_empty(items: impl IntoIterator<Item = Value>) -> Option<Value> {
    match list(items) {
        Value::List(items) if items.is_empty() => None,
        items => Some(items),
    }
}

fn members(members: &StoredMembers) -> Option<Value> {
    (!members.is_empty()).then(|| Value::Map(members.0.clone()))
}

fn present(value: &Value) -> Option<Value> {
    (!value.is_null()).then(|| value.clone())
}

fn stack(body: &StackBody) -> Value {
    map([
        ("holder", body.parent_resource.as_ref().map(id)),
        ("timeout", body.timeout_secs.map(|secs| number(secs as i64))),
        ("rollback", flag(body.rollback)),
        ("credential", body.credential.as_ref().map(credential)),
        ("users", body.users_project.as_deref().map(Value::from)),
        ("retired", non_empty(body.to_revoke.iter().map(credential))),
        ("work", body.traversal.as_ref().map(traversal)),
    ])
}

fn traversal(body: &TraversalBody) -> Value {
    let failure = body.failure.as_ref().map(|failure| {
        let resource = failure.resource.iter();
        let resource = resource.flat_map(|it| [&*it.class, &it.path, &it.message]);
        list([&*failure.reason].into_iter().chain(resource).map(Value::from))
    });
    // One flag had two meanings.
    let is_check = body.action.0 == Action::Check;
    map([
        ("action", Some(Value::from(body.action.0.name()))),
        ("deadline", Some(number(body.deadline))),
        ("failure", failure),
        ("patience", body.grace_until.map(number)),
        ("flaws", non_empty(body.flaws.iter().map(|flaw| Value::from(flaw.as_str())))),
        ("keeps_objects", flag(body.keeps_objects || is_check && body.check_incomplete)),
        ("adopted", body.adopted.as_ref().map(|it| Value::Map(it.0.clone()))),
        ("snapshot", body.snapshot.as_ref().map(id)),
        ("must_roll_back", flag(body.must_roll_back)),
        ("must_not_roll_back", flag(body.must_not_roll_back)),
        ("converges", flag(body.converges)),
    ])
}

fn credential(body: &CredentialBody) -> Value {
    let proof = match &body.auth {
        AuthBody::None => serde_json::Value::Null,
        AuthBody::Trust(id) => serde_json::json!({ "trust": &**id }),
        AuthBody::ApplicationCredential { id, secret } => {
            serde_json::json!({ "application": &**id, "secret": &**secret })
        }
        AuthBody::Password(password) => serde_json::json!({ "password": &**password }),
    };
    let whole = serde_json::json!({
        "project": &*body.project, "user": &*body.user, "proof": proof, "borrowed": body.inherited,
    });
    Value::from(whole.to_string().as_str())
}

fn resource(body: &ResourceBody) -> Value {
    let cooldown = body.cooldown.as_ref();
    map([
        ("frozen", body.definition.as_ref().map(definition)),
        ("data", members(&body.data)),
        ("metadata", present(&body.metadata.0)),
        ("shown", present(&body.shown.0)),
        ("requires", non_empty(body.requires.iter().map(id))),
        ("replaces", body.replaces.as_ref().map(id)),
        ("replaced_by", body.replaced_by.as_ref().map(id)),
        ("child", body.nested_stack.as_ref().map(id)),
        ("doubtful", flag(body.doubtful)),
        ("half_done", flag(body.half_done)),
        ("size", body.wanted_size.map(|size| number(size as i64))),
        ("cooldown", cooldown.map(|it| list([number(it.micros as i64), Value::from(&*it.reason)]))),
        ("hook", body.hook.as_ref().map(|hook| Value::from(hook.0.name()))),
        ("cleared", non_empty(body.cleared_hooks.iter().map(|hook| Value::from(hook.0.name())))),
        ("op", body.operation.as_ref().map(operation)),
    ])
}

fn definition(body: &DefinitionBody) -> Value {
    map([
        ("kind", Some(Value::from(&*body.type_name))),
        ("properties", members(&body.properties)),
        ("metadata", present(&body.metadata.0)),
        ("update_policy", present(&body.update_policy.0)),
        ("deletion_policy", body.deletion_policy.as_ref().map(|it| Value::from(it.0.name()))),
        ("depends_on", non_empty(body.depends_on.iter().map(|name| Value::from(&**name)))),
        ("external_id", body.external_id.as_deref().map(Value::from)),
    ])
}

fn operation(body: &OperationBody) -> Value {
    let kind = KINDS.iter().find(|(kind, _)| *kind == body.kind).map(|(_, name)| *name);
    let error = body.first_failure.as_ref();
    map([
        ("verb", kind.map(Value::from)),
        ("action", Some(Value::from(body.action.0.name()))),
        ("target", body.target.as_ref().map(definition)),
        ("requires", non_empty(body.requires.iter().map(id))),
        ("drifted", members(&body.drifted)),
        ("journal", non_empty(body.journal.iter().map(|(name, step)| journal_step(name, step)))),
        ("failures", count(body.failures.into())),
        ("failure", error.map(|it| list([Value::from(&*it.class), Value::from(&*it.message)]))),
        ("pause", body.pause.map(pause)),
        ("own", flag(body.awaited)),
        ("snapshot", body.snapshot.as_ref().map(id)),
        ("copy", flag(body.keeps_copy)),
        ("last", flag(body.last_stage)),
        ("stage_pause", count(body.stage_pause_micros)),
        ("stages", count(body.stages.into())),
    ])
}

fn journal_step(name: &str, step: &StepBody) -> Value {
    let rest = match step {
        StepBody::Begun => Vec::new(),
        StepBody::Settled => vec![Value::Bool(true)],
        StepBody::Refused => vec![Value::Bool(false)],
        StepBody::Until(micros) => vec![number(*micros)],
        StepBody::Replied { status, body } => {
            vec![number(i64::from(*status)), Value::from(body.as_str())]
        }
    };
    list([Value::from(name)].into_iter().chain(rest))
}

fn pause(pause: PauseBody) -> Value {
    match pause {
        PauseBody::Retry(micros) => list([Value::from("retry"), number(micros)]),
        PauseBody::Stage(micros) => list([Value::from("stage"), number(micros)]),
    }
}

// --- values to bytes ---

fn encode(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null | Value::Unknown(_) => out.push(b'n'),
        Value::Bool(is_true) => out.push(if *is_true { b't' } else { b'f' }),
        Value::Int(number) => match number.as_i64() {
            Some(number) => {
                out.push(b'i');
                write_length(((number << 1) ^ (number >> 63)) as u64, out);
            }
            None => {
                out.push(b'I');
                write_text(&number.to_string(), out);
            }
        },
        Value::Float(number) => {
            out.push(b'd');
            out.extend_from_slice(&number.to_le_bytes());
        }
        Value::Text(text) => {
            out.push(b's');
            write_text(text, out);
        }
        Value::List(items) => {
            out.push(b'l');
            write_length(items.len() as u64, out);
            items.iter().for_each(|item| write(item, out));
        }
        Value::Map(members) => {
            out.push(b'm');
            write_length(members.len() as u64, out);
            for (name, value) in members.iter() {
                write_text(name, out);
                write(value, out);
            }
        }
        Value::Secret(secret) => {
            out.push(b'x');
            write(secret.expose(), out);
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    write_length(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn write_length(mut length: u64, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}
