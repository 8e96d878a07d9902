//! Commands and their records.

use super::v1::names::Word;
use super::v1::{CommandBody, ContractBody, CredentialBody, SentRecipeBody, SettingsBody};
use super::value::{Id, Stored};
use super::{Record, Unreadable};
use crate::blueprint::{Recipe, Source};
use crate::ids::{RecipeId, SnapshotId, StackId};
use crate::machine::{Command, StackSettings};
use crate::store::{CommandRow, StoreError};
use std::sync::Arc;
use std::time::Duration;

impl Command {
    /// The command as bytes.
    pub fn encode(&self) -> Vec<u8> {
        CommandBody::from(self).encode()
    }

    /// The command of a row.
    pub fn read(row: &CommandRow) -> Result<Command, StoreError> {
        let body = CommandBody::read(&row.body, row.id)?;
        Command::try_from(body).map_err(|error| error.of(CommandBody::NAME, row.id))
    }
}

impl From<&Command> for CommandBody {
    fn from(command: &Command) -> CommandBody {
        match command {
            Command::Update { recipe, settings } => CommandBody::Update {
                recipe: Box::new(recipe.as_ref().into()),
                settings: settings.into(),
            },
            Command::Delete => CommandBody::Delete,
            Command::Abandon => CommandBody::Abandon,
            Command::Snapshot { id, name, limit } => {
                CommandBody::Snapshot { id: Id(id.0), name: name.clone(), limit: *limit }
            }
            Command::DeleteSnapshot(id) => CommandBody::DeleteSnapshot(Id(id.0)),
            Command::Restore(id) => CommandBody::Restore(Id(id.0)),
            Command::Cancel { with_rollback } => CommandBody::Cancel { rollback: *with_rollback },
            Command::ForEach(stack, action) => {
                CommandBody::ForEach { stack: Id(stack.0), action: Word(*action) }
            }
            Command::Signal { stack, resource, details } => CommandBody::Signal {
                stack: Id(stack.0),
                resource: resource.clone(),
                details: Stored(details.clone()),
            },
            Command::Mark { stack, resource, is_healthy, reason } => CommandBody::MarkHealth {
                stack: Id(stack.0),
                resource: resource.clone(),
                healthy: *is_healthy,
                reason: reason.clone(),
            },
        }
    }
}

impl TryFrom<CommandBody> for Command {
    type Error = Unreadable;

    fn try_from(body: CommandBody) -> Result<Command, Unreadable> {
        Ok(match body {
            CommandBody::Update { recipe, settings } => Command::Update {
                recipe: Arc::new(Recipe::try_from(*recipe)?),
                settings: settings.into(),
            },
            CommandBody::Delete => Command::Delete,
            CommandBody::Abandon => Command::Abandon,
            CommandBody::Snapshot { id, name, limit } => {
                Command::Snapshot { id: SnapshotId(id.0), name, limit }
            }
            CommandBody::DeleteSnapshot(id) => Command::DeleteSnapshot(SnapshotId(id.0)),
            CommandBody::Restore(id) => Command::Restore(SnapshotId(id.0)),
            CommandBody::Cancel { rollback } => Command::Cancel { with_rollback: rollback },
            CommandBody::ForEach { stack, action } => Command::ForEach(StackId(stack.0), action.0),
            CommandBody::Signal { stack, resource, details } => {
                Command::Signal { stack: StackId(stack.0), resource, details: details.0 }
            }
            CommandBody::MarkHealth { stack, resource, healthy, reason } => {
                Command::Mark { stack: StackId(stack.0), resource, is_healthy: healthy, reason }
            }
        })
    }
}

impl From<&Recipe> for SentRecipeBody {
    fn from(recipe: &Recipe) -> SentRecipeBody {
        SentRecipeBody {
            id: Id(recipe.id.0),
            // A request for an update always contains a text.
            template: match &recipe.template {
                Source::Text(text) => text.clone(),
                _ => "".into(),
            },
            files: (*recipe.files).clone(),
            environment: Stored(recipe.environment.to_value()),
            forbidden: (*recipe.forbidden).clone(),
            created_by: super::recipe::write_created_by(&recipe.created_by),
            contract: recipe.contract.as_deref().map(ContractBody::from),
        }
    }
}

impl TryFrom<SentRecipeBody> for Recipe {
    type Error = Unreadable;

    fn try_from(body: SentRecipeBody) -> Result<Recipe, Unreadable> {
        Ok(Recipe {
            id: RecipeId(body.id.0),
            template: Source::Text(body.template),
            files: Arc::new(body.files),
            environment: Arc::new(super::recipe::environment(&body.environment)?),
            parameters: Arc::default(),
            aliases: Vec::new(),
            contract: super::recipe::read_contract(body.contract)?,
            forbidden: Arc::new(body.forbidden),
            created_by: Arc::new(super::recipe::read_created_by(body.created_by)),
        })
    }
}

impl From<&StackSettings> for SettingsBody {
    fn from(settings: &StackSettings) -> SettingsBody {
        SettingsBody {
            tags: settings.tags.clone(),
            timeout_secs: settings.timeout.map(|timeout| timeout.as_secs()),
            rollback: settings.is_rolled_back,
            credential: settings.credential.as_deref().map(CredentialBody::from),
            converges: settings.converges,
        }
    }
}

impl From<SettingsBody> for StackSettings {
    fn from(body: SettingsBody) -> StackSettings {
        StackSettings {
            tags: body.tags,
            timeout: body.timeout_secs.map(Duration::from_secs),
            is_rolled_back: body.rollback,
            credential: body.credential.map(|credential| Arc::new(credential.into())),
            converges: body.converges,
        }
    }
}
