//! Commands as they wait in the store.

use crate::blueprint::{Recipe, Source, author_of, author_value, texts};
use crate::codec;
use crate::ids::{RecipeId, SnapshotId, StackId};
use crate::machine::{Command, Settings};
use crate::state::Action;
use crate::store::StoreError;
use kiln_cloud::Credential;
use kiln_template::definition::Files;
use kiln_template::environment::Environment;
use kiln_template::value::{Members, Value};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

impl Command {
    /// The command as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let value = match self {
            Command::Update { recipe, settings } => Value::map([
                ("do", "update".into()),
                ("recipe", recipe_value(recipe)),
                ("settings", settings_value(settings)),
            ]),
            Command::Delete => Value::map([("do", "delete")].map(|(k, v)| (k, Value::from(v)))),
            Command::Abandon => Value::map([("do", "abandon")].map(|(k, v)| (k, Value::from(v)))),
            Command::Snapshot { id, name } => Value::map([
                ("do", "snapshot".into()),
                ("snapshot", id.to_string().into()),
                ("name", name.clone().map(Value::Text).unwrap_or_default()),
            ]),
            Command::DeleteSnapshot(id) => about_snapshot("delete snapshot", *id),
            Command::Restore(id) => about_snapshot("restore", *id),
            Command::Cancel { with_rollback } => {
                Value::map([("do", "cancel".into()), ("rollback", (*with_rollback).into())])
            }
            Command::ForEach(stack, action) => Value::map([
                ("do", "over".into()),
                ("stack", stack.to_string().into()),
                ("action", action.name().into()),
            ]),
            Command::Signal { stack, resource, details } => Value::map([
                ("do", "signal".into()),
                ("stack", stack.to_string().into()),
                ("resource", Value::Text(resource.clone())),
                ("details", details.clone()),
            ]),
            Command::Mark { stack, resource, is_healthy, reason } => Value::map([
                ("do", "mark".into()),
                ("stack", stack.to_string().into()),
                ("resource", Value::Text(resource.clone())),
                ("healthy", (*is_healthy).into()),
                ("reason", Value::Text(reason.clone())),
            ]),
        };
        codec::encode(&value)
    }

    /// The command that bytes stand for.
    pub fn decode(bytes: &[u8]) -> Result<Command, StoreError> {
        let value = codec::decode(bytes).ok();
        let parts = value.as_ref().and_then(Value::as_map).map(Parts);
        parts.and_then(|parts| parts.command()).ok_or_else(|| StoreError::Damaged {
            what: "a command".into(),
            why: "it is not one that is known".into(),
        })
    }
}

struct Parts<'v>(&'v Members);

impl<'v> Parts<'v> {
    fn get(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_default()
    }

    fn text(&self, name: &str) -> Option<Arc<str>> {
        self.0.get(name)?.as_text().cloned()
    }

    fn flag(&self, name: &str) -> Option<bool> {
        match self.0.get(name)? {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    fn map(&self, name: &str) -> Option<Parts<'v>> {
        self.0.get(name)?.as_map().map(Parts)
    }

    fn stack(&self) -> Option<StackId> {
        Uuid::parse_str(&self.text("stack")?).ok().map(StackId)
    }

    fn snapshot(&self) -> Option<SnapshotId> {
        Uuid::parse_str(&self.text("snapshot")?).ok().map(SnapshotId)
    }

    fn command(&self) -> Option<Command> {
        Some(match &*self.text("do")? {
            "update" => Command::Update {
                recipe: Arc::new(self.map("recipe")?.recipe()?),
                settings: self.map("settings")?.settings(),
            },
            "delete" => Command::Delete,
            "abandon" => Command::Abandon,
            "snapshot" => Command::Snapshot { id: self.snapshot()?, name: self.text("name") },
            "delete snapshot" => Command::DeleteSnapshot(self.snapshot()?),
            "restore" => Command::Restore(self.snapshot()?),
            "cancel" => Command::Cancel { with_rollback: self.flag("rollback")? },
            "over" => Command::ForEach(self.stack()?, Action::parse(&self.text("action")?)?),
            "signal" => Command::Signal {
                stack: self.stack()?,
                resource: self.text("resource")?,
                details: self.get("details"),
            },
            "mark" => Command::Mark {
                stack: self.stack()?,
                resource: self.text("resource")?,
                is_healthy: self.flag("healthy")?,
                reason: self.text("reason")?,
            },
            _ => return None,
        })
    }

    fn recipe(&self) -> Option<Recipe> {
        let files = self.map("files")?;
        let files =
            files.0.iter().filter_map(|(name, text)| Some((name.clone(), text.as_text()?.clone())));
        let (environment, _) = Environment::from_value(&self.get("environment"));
        Some(Recipe {
            id: RecipeId(Uuid::parse_str(&self.text("id")?).ok()?),
            template: Source::Text(self.text("template")?),
            files: Arc::new(files.collect::<Files>()),
            environment: Arc::new(environment),
            parameters: Arc::default(),
            aliases: Vec::new(),
            forbidden: Arc::new(texts(&self.get("forbidden"))),
            author: Arc::new(author_of(&self.get("author"))),
        })
    }

    fn credential(&self) -> Option<Arc<Credential>> {
        let stored = serde_json::from_str(&self.text("credential")?).ok()?;
        Some(Arc::new(Credential::from_stored(&stored)))
    }

    fn settings(&self) -> Settings {
        let tags = self.0.get("tags").and_then(Value::as_list);
        let timeout = match self.0.get("timeout") {
            Some(Value::Int(seconds)) => seconds.as_i64().and_then(|it| u64::try_from(it).ok()),
            _ => None,
        };
        Settings {
            tags: tags.map(|tags| tags.iter().filter_map(Value::as_text).cloned().collect()),
            timeout: timeout.map(Duration::from_secs),
            is_rolled_back: self.flag("rollback"),
            credential: self.credential(),
            converges: self.flag("converges") == Some(true),
        }
    }
}

fn about_snapshot(what: &str, id: SnapshotId) -> Value {
    Value::map([("do", what.into()), ("snapshot", Value::from(id.to_string()))])
}

fn recipe_value(recipe: &Recipe) -> Value {
    let template = match &recipe.template {
        Source::Text(text) => Value::Text(text.clone()),
        _ => Value::Null,
    };
    let files = recipe.files.iter().map(|(name, text)| (name.clone(), Value::Text(text.clone())));
    Value::map([
        ("id", recipe.id.to_string().into()),
        ("template", template),
        ("files", Value::map(files)),
        ("environment", recipe.environment.to_value()),
        ("forbidden", Value::list(recipe.forbidden.iter().cloned().map(Value::Text))),
        ("author", author_value(&recipe.author)),
    ])
}

fn settings_value(settings: &Settings) -> Value {
    let tags = settings.tags.as_ref();
    let tags = tags.map(|tags| Value::list(tags.iter().cloned().map(Value::Text)));
    let timeout = settings.timeout.map(|timeout| Value::from(timeout.as_secs() as i64));
    let mut parts = Members::new();
    parts.extend(tags.map(|tags| ("tags".into(), tags)));
    parts.extend(timeout.map(|timeout| ("timeout".into(), timeout)));
    parts.extend(settings.is_rolled_back.map(|flag| ("rollback".into(), flag.into())));
    let credential = settings.credential.as_ref().map(|it| it.to_stored().to_string());
    parts.extend(credential.map(|stored| ("credential".into(), stored.into())));
    if settings.converges {
        parts.insert("converges".into(), true.into());
    }
    Value::Map(Arc::new(parts))
}
