//! Commands of version 0.

use super::Fields;
use super::fields::{flag, id, list, number, text, word};
use super::recipe::sent_recipe;
use super::stack::credential;
use crate::record::v1::{CommandBody, SettingsBody};
use crate::record::{Record, Unreadable};
use kiln_template::Value;

impl Record for CommandBody {
    const NAME: &'static str = "command";

    fn from_v0(value: Value) -> Result<CommandBody, Unreadable> {
        let mut fields = Fields::new(value)?;
        let name = fields.required("do", text)?;
        let command = match &*name {
            "update" => CommandBody::Update {
                recipe: Box::new(fields.required("recipe", sent_recipe)?),
                settings: fields.required("settings", settings)?,
            },
            "delete" => CommandBody::Delete,
            "abandon" => CommandBody::Abandon,
            "snapshot" => CommandBody::Snapshot {
                id: fields.required("snapshot", id)?,
                name: fields.optional("name", text)?,
                limit: None,
            },
            "delete snapshot" => CommandBody::DeleteSnapshot(fields.required("snapshot", id)?),
            "restore" => CommandBody::Restore(fields.required("snapshot", id)?),
            "cancel" => CommandBody::Cancel { rollback: fields.required("rollback", flag)? },
            "over" => CommandBody::ForEach {
                stack: fields.required("stack", id)?,
                action: fields.required("action", word)?,
            },
            "signal" => CommandBody::Signal {
                stack: fields.required("stack", id)?,
                resource: fields.required("resource", text)?,
                details: fields.value("details"),
            },
            "mark" => CommandBody::MarkHealth {
                stack: fields.required("stack", id)?,
                resource: fields.required("resource", text)?,
                healthy: fields.required("healthy", flag)?,
                reason: fields.required("reason", text)?,
            },
            _ => return Err(Unreadable::malformed(format!("there is no command {name:?}"))),
        };
        fields.finish()?;
        Ok(command)
    }
}

fn settings(value: Value) -> Result<SettingsBody, Unreadable> {
    let mut fields = Fields::new(value)?;
    let settings = SettingsBody {
        tags: fields.optional("tags", |value| list(value, text))?,
        timeout_secs: fields.optional("timeout", number)?,
        rollback: fields.optional("rollback", flag)?,
        credential: fields.optional("credential", credential)?,
        converges: fields.flag("converges")?,
    };
    fields.finish()?;
    Ok(settings)
}
