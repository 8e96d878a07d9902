//! What people can ask of stacks: the same for every front end.
//!
//! Requests are checked here, completely, before anything is written down: whoever gets no refusal has
//! their wish recorded, and the engine goes for it. What is shown is what is recorded.

mod actions;
mod alarms;
mod changes;
mod cloud_constraints;
mod collect;
mod create;
mod delegation;
mod engines;
mod events;
mod files;
mod filter;
mod find;
mod metrics;
mod observe;
mod refresh;
mod remote_stacks;
mod request;
mod request_error;
mod snapshots;
mod software;
mod update;

pub use actions::Signalled;
pub use alarms::StackAlarm;
pub use changes::{ChangeSubscription, ChangeTopic};
pub use create::StackPreview;
pub(crate) use delegation::pending_delegation;
pub use engines::{EngineView, REPORT_INTERVAL};
pub use filter::PostFilter;
pub use find::Page;
pub use metrics::{MetricDatum, MetricQuery, MetricSample};
pub use request::{StackRequest, TemplateSource};
pub use request_error::RequestError;
pub use software::SoftwareObject;
pub use update::Patch;

use crate::config::Config;
use crate::ids::{CommandId, Ids, StackId};
use crate::machine::Command;
use crate::runtime::{Engine, SystemIds, now};
use crate::store::{CommandRow, Store};
use kiln_cloud::{CreatedBy, Transport, UserToken};
use std::sync::Arc;

/// Who asks, as far as stacks are concerned.
#[derive(Clone)]
pub struct Requester {
    /// The project that they act for.
    pub project: Arc<str>,
    /// The name of the user.
    pub user_name: Arc<str>,
    /// Whether they may see the stacks of all projects, and quotas do not bind them.
    pub is_admin: bool,
    /// If they are a user of a stack: the name of the project of that stack's users.
    pub stack_user_project: Option<Arc<str>>,
    /// With what they came, so that one can act for them when they have left.
    pub visitor: UserToken,
    /// What else is known of them: what their stacks do later is done with their rights.
    pub author: Arc<CreatedBy>,
    /// Whether they may use a resource type.
    pub may_use: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

/// What an operator decides about requests.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How many root stacks a project may have; nothing means no limit.
    pub max_stacks: Option<u64>,
    /// How many snapshots a stack may have; nothing means no limit.
    pub max_snapshots: Option<u64>,
    /// How many software configurations a project may have; nothing means no limit.
    pub max_configs: Option<u64>,
    /// How many software deployments a project may have; nothing means no limit.
    pub max_deployments: Option<u64>,
    /// How many alarms a project may have; nothing means no limit.
    pub max_alarms: Option<u64>,
    /// How long a template may be.
    pub max_template_bytes: usize,
    /// Whether stacks can be made of what another one left behind.
    pub allows_adopt: bool,
    /// Whether stacks can be given up, and exported.
    pub allows_abandon: bool,
    /// Stacks with one of these tags are not listed.
    pub hidden_tags: Vec<Arc<str>>,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            max_stacks: Some(512),
            max_snapshots: Some(32),
            max_configs: Some(4096),
            max_deployments: Some(4096),
            max_alarms: Some(5000),
            max_template_bytes: 524_288,
            allows_adopt: false,
            allows_abandon: false,
            hidden_tags: Vec::new(),
        }
    }
}

/// Takes what people ask of stacks.
#[derive(Clone)]
pub struct Service {
    store: Arc<dyn Store>,
    config: Arc<Config>,
    rules: Arc<Rules>,
    /// The cloud.
    transport: Arc<dyn Transport>,
    /// The engine in this process, if there is one.
    engine: Option<Engine>,
    /// Who waits for changes.
    changes: changes::Changes,
    collector: Arc<collect::Collector>,
}

impl Service {
    /// A service in front of a store; without an engine, whatever is wanted is left to those elsewhere.
    pub fn new(
        store: Arc<dyn Store>,
        config: Arc<Config>,
        rules: Rules,
        transport: Arc<dyn Transport>,
        engine: Option<Engine>,
    ) -> Service {
        Service {
            store,
            config,
            rules: Arc::new(rules),
            transport,
            engine,
            changes: Default::default(),
            collector: Arc::default(),
        }
    }

    /// How the engine works.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// What the operator decided.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Registers somebody who waits for changes of a thing, or of two.
    pub fn watch(&self, first: ChangeTopic, second: Option<ChangeTopic>) -> ChangeSubscription {
        self.changes.watch(&self.store, first, second)
    }

    /// Has something done with a tree.
    async fn command(&self, root: StackId, command: Command) -> Result<(), RequestError> {
        match &self.engine {
            Some(engine) => engine.begin(root, command).await?,
            None => {
                let id = CommandId(SystemIds::default().next());
                let row = CommandRow { id, root, time: now(), body: command.encode() };
                self.store.submit(row).await?;
            }
        }
        Ok(())
    }
}
