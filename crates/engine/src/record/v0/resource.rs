//! Resources and their operations of version 0.

use super::Fields;
use super::fields::{id, items, number, text, word};
use crate::record::v1::{
    CooldownBody, DefinitionBody, ErrorBody, OperationBody, OperationName, PauseBody, ResourceBody,
    StepBody,
};
use crate::record::value::StoredMembers;
use crate::record::{Record, Unreadable};
use kiln_template::Value;
use std::sync::Arc;

impl Record for ResourceBody {
    const NAME: &'static str = "resource";

    fn from_v0(value: Value) -> Result<ResourceBody, Unreadable> {
        let mut fields = Fields::new(value)?;
        let body = ResourceBody {
            definition: fields.optional("frozen", definition)?,
            data: fields.members("data")?,
            metadata: fields.value("metadata"),
            signals: None,
            shown: fields.value("shown"),
            requires: fields.list("requires", id)?,
            replaces: fields.optional("replaces", id)?,
            replaced_by: fields.optional("replaced_by", id)?,
            nested_stack: fields.optional("child", id)?,
            doubtful: fields.flag("doubtful")?,
            half_done: fields.flag("half_done")?,
            half_created: false,
            attempted: StoredMembers::default(),
            wanted_size: fields.optional("size", number)?,
            cooldown: fields.optional("cooldown", cooldown)?,
            hook: fields.optional("hook", word)?,
            cleared_hooks: fields.list("cleared", word)?,
            operation: fields.optional("op", operation)?,
        };
        fields.finish()?;
        Ok(body)
    }
}

fn definition(value: Value) -> Result<DefinitionBody, Unreadable> {
    let mut fields = Fields::new(value)?;
    let body = DefinitionBody {
        type_name: fields.required("kind", text)?,
        properties: fields.members("properties")?,
        metadata: fields.value("metadata"),
        update_policy: fields.value("update_policy"),
        deletion_policy: fields.optional("deletion_policy", word)?,
        depends_on: fields.list("depends_on", text)?,
        external_id: fields.optional("external_id", text)?,
    };
    fields.finish()?;
    Ok(body)
}

fn cooldown(value: Value) -> Result<CooldownBody, Unreadable> {
    match <[Value; 2]>::try_from(items(value)?) {
        Ok([micros, reason]) => {
            Ok(CooldownBody { micros: number(micros)?, reason: text(reason)?.to_string() })
        }
        Err(_) => Err(Unreadable::malformed("it is not a cooldown")),
    }
}

pub(super) const KINDS: [(OperationName, &str); 11] = [
    (OperationName::Create, "create"),
    (OperationName::Update, "update"),
    (OperationName::Delete, "delete"),
    (OperationName::Check, "check"),
    (OperationName::Refresh, "look"),
    (OperationName::Suspend, "suspend"),
    (OperationName::Resume, "resume"),
    (OperationName::Snapshot, "snapshot"),
    (OperationName::DeleteSnapshot, "forget"),
    (OperationName::ResolveDoubt, "settle"),
    (OperationName::Observe, "observe"),
];

fn kind(value: Value) -> Result<OperationName, Unreadable> {
    let name = text(value)?;
    let known = KINDS.iter().find(|(_, known)| *known == &*name);
    let unknown = || Unreadable::malformed(format!("there is no operation {name:?}"));
    known.map(|(kind, _)| *kind).ok_or_else(unknown)
}

fn operation(value: Value) -> Result<OperationBody, Unreadable> {
    let mut fields = Fields::new(value)?;
    let body = OperationBody {
        kind: fields.required("verb", kind)?,
        action: fields.required("action", word)?,
        target: fields.optional("target", definition)?,
        requires: fields.list("requires", id)?,
        drifted: fields.members("drifted")?,
        journal: fields.list("journal", step)?,
        failures: fields.count("failures")?,
        first_failure: fields.optional("failure", error)?,
        pause: fields.optional("pause", pause)?,
        awaited: fields.flag("own")?,
        snapshot: fields.optional("snapshot", id)?,
        keeps_copy: fields.flag("copy")?,
        last_stage: fields.flag("last")?,
        stage_pause_micros: fields.count("stage_pause")?,
        stages: fields.count("stages")?,
    };
    fields.finish()?;
    Ok(body)
}

fn step(value: Value) -> Result<(Arc<str>, StepBody), Unreadable> {
    let mut parts = items(value)?.into_iter();
    let parts = (parts.next(), parts.next(), parts.next(), parts.next());
    let (name, step) = match parts {
        (Some(name), None, None, None) => (name, StepBody::Begun),
        (Some(name), Some(Value::Bool(true)), None, None) => (name, StepBody::Settled),
        (Some(name), Some(Value::Bool(false)), None, None) => (name, StepBody::Refused),
        (Some(name), Some(micros), None, None) => (name, StepBody::Until(number(micros)?)),
        (Some(name), Some(status), Some(body), None) => {
            (name, StepBody::Replied { status: number(status)?, body: text(body)?.to_string() })
        }
        _ => return Err(Unreadable::malformed("it is not a step")),
    };
    Ok((text(name)?, step))
}

fn error(value: Value) -> Result<ErrorBody, Unreadable> {
    match &items(value)?[..] {
        [Value::Text(class), Value::Text(message)] => {
            Ok(ErrorBody { class: class.clone(), message: message.to_string() })
        }
        _ => Err(Unreadable::malformed("it is not an error")),
    }
}

fn pause(value: Value) -> Result<PauseBody, Unreadable> {
    let wrong = || Unreadable::malformed("it is not a pause");
    let [name, micros] = <[Value; 2]>::try_from(items(value)?).map_err(|_| wrong())?;
    let micros = number(micros)?;
    match &*text(name)? {
        "retry" => Ok(PauseBody::Retry(micros)),
        "stage" => Ok(PauseBody::Stage(micros)),
        _ => Err(wrong()),
    }
}
