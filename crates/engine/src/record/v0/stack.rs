//! Stacks, their traversals, credentials, snapshots and events of version 0.

use super::Fields;
use super::fields::{id, items, members, number, string, text, word};
use crate::record::v1::{
    AuthBody, ChangeSetBody, CredentialBody, EngineBody, EventBody, FailureBody,
    PendingDelegationBody, PlanBody, SnapshotBody, SoftwareBody, StackBody, TraversalBody,
    TraversalFailureBody,
};
use crate::record::{Record, Unreadable};
use kiln_template::Value;
use std::sync::Arc;

impl Record for StackBody {
    const NAME: &'static str = "stack";

    fn from_v0(value: Value) -> Result<StackBody, Unreadable> {
        let mut fields = Fields::new(value)?;
        let body = StackBody {
            parent_resource: fields.optional("holder", id)?,
            timeout_secs: fields.optional("timeout", number)?,
            rollback: fields.flag("rollback")?,
            credential: fields.optional("credential", credential)?,
            users_project: fields.optional("users", text)?,
            to_revoke: fields.list("retired", credential)?,
            makers: 0,
            traversal: fields.optional("work", traversal)?,
        };
        fields.finish()?;
        Ok(body)
    }
}

fn traversal(value: Value) -> Result<TraversalBody, Unreadable> {
    let mut fields = Fields::new(value)?;
    let body = TraversalBody {
        action: fields.required("action", word)?,
        deadline: fields.required("deadline", number)?,
        failure: fields.optional("failure", traversal_failure)?,
        grace_until: fields.optional("patience", number)?,
        flaws: fields.list("flaws", string)?,
        keeps_objects: fields.flag("keeps_objects")?,
        adopted: fields.optional("adopted", members)?,
        snapshot: fields.optional("snapshot", id)?,
        must_roll_back: fields.flag("must_roll_back")?,
        must_not_roll_back: fields.flag("must_not_roll_back")?,
        converges: fields.flag("converges")?,
        request: None,
        check_incomplete: false,
    };
    fields.finish()?;
    Ok(body)
}

fn traversal_failure(value: Value) -> Result<TraversalFailureBody, Unreadable> {
    match &items(value)?[..] {
        [Value::Text(reason)] => {
            Ok(TraversalFailureBody { reason: reason.to_string(), resource: None })
        }
        [Value::Text(reason), Value::Text(class), Value::Text(path), Value::Text(message)] => {
            let resource = FailureBody {
                class: class.clone(),
                path: path.to_string(),
                message: message.to_string(),
            };
            Ok(TraversalFailureBody { reason: reason.to_string(), resource: Some(resource) })
        }
        _ => Err(Unreadable::malformed("it is not a failure")),
    }
}

/// Credentials were kept as JSON in a text.
pub(super) fn credential(value: Value) -> Result<CredentialBody, Unreadable> {
    let wrong = |why: &str| Unreadable::malformed(format!("a credential {why}"));
    let json: serde_json::Value =
        serde_json::from_str(&text(value)?).map_err(|_| wrong("is not JSON"))?;
    let part =
        |pointer: &str| json.pointer(pointer).and_then(|it| it.as_str()).map(Arc::<str>::from);
    let names = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().into_iter().flat_map(|it| it.keys().cloned()).collect()
    };
    let mut known = names(&json);
    known.retain(|name| !["project", "user", "proof", "borrowed"].contains(&name.as_str()));
    if let Some(name) = known.first() {
        return Err(wrong(&format!("has an unknown field {name:?}")));
    }
    let proof = names(&json["proof"]);
    let proof: Vec<&str> = proof.iter().map(String::as_str).collect();
    let text = |pointer: &str| part(pointer).ok_or_else(|| wrong("is incomplete"));
    let auth = match proof[..] {
        [] if json["proof"].is_null() => AuthBody::None,
        ["trust"] => AuthBody::Trust(text("/proof/trust")?),
        ["application", "secret"] => AuthBody::ApplicationCredential {
            id: text("/proof/application")?,
            secret: text("/proof/secret")?,
        },
        ["password"] => AuthBody::Password(text("/proof/password")?),
        _ => return Err(wrong("is of an unknown kind")),
    };
    let inherited = json["borrowed"].as_bool().ok_or_else(|| wrong("is incomplete"))?;
    Ok(CredentialBody { project: text("/project")?, user: text("/user")?, auth, inherited })
}

impl Record for SnapshotBody {
    const NAME: &'static str = "snapshot";

    fn from_v0(value: Value) -> Result<SnapshotBody, Unreadable> {
        let mut fields = Fields::new(value)?;
        let body = SnapshotBody {
            data: fields.required("data", members)?,
            text: fields.optional("text", text)?,
        };
        fields.finish()?;
        Ok(body)
    }
}

impl Record for EventBody {
    const NAME: &'static str = "event";

    fn from_v0(value: Value) -> Result<EventBody, Unreadable> {
        Ok(EventBody { properties: members(value)? })
    }
}

impl Record for SoftwareBody {
    const NAME: &'static str = "software configuration";

    fn from_v0(value: Value) -> Result<SoftwareBody, Unreadable> {
        Ok(SoftwareBody { fields: members(value)? })
    }
}

impl Record for PendingDelegationBody {
    const NAME: &'static str = "pending delegation";

    fn from_v0(value: Value) -> Result<PendingDelegationBody, Unreadable> {
        Ok(PendingDelegationBody { secret: text(value)? })
    }
}

impl Record for ChangeSetBody {
    const NAME: &'static str = "change_set";

    fn from_v0(_: Value) -> Result<ChangeSetBody, Unreadable> {
        Err(Unreadable::malformed("change sets have always had a version"))
    }
}

impl Record for PlanBody {
    const NAME: &'static str = "plan";

    fn from_v0(_: Value) -> Result<PlanBody, Unreadable> {
        Err(Unreadable::malformed("plans have always had a version"))
    }
}

impl Record for EngineBody {
    const NAME: &'static str = "engine";

    fn from_v0(value: Value) -> Result<EngineBody, Unreadable> {
        if value.is_null() {
            Ok(EngineBody {})
        } else {
            Err(Unreadable::malformed("it is not empty"))
        }
    }
}
