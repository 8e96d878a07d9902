//! The requests for stacks, the same for every API.
//!
//! A request is checked here, completely, before anything is stored: a request that is not refused is recorded, and
//! the engine carries it out. Answers show what is recorded.

mod actions;
mod alarms;
mod availability;
mod change_sets;
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
mod global_types;
mod hidden_parameters;
mod metrics;
mod observe;
mod plans;
mod refresh;
mod remote_stacks;
mod request;
mod request_error;
mod sealing;
mod snapshots;
mod software;
mod update;

pub use alarms::StackAlarm;
pub use availability::Availability;
pub use change_sets::{Change, ChangeKind, ChangeSet, ChangeSetState, NewChangeSet};
pub use changes::{ChangeSubscription, ChangeTopic};
pub use create::StackPreview;
pub(crate) use delegation::pending_delegation;
pub use engines::{EngineView, REPORT_INTERVAL, engines};
pub use filter::PostFilter;
pub use find::Page;
pub use metrics::{MetricDatum, MetricQuery, MetricSample};
pub use plans::{AppliedPlan, StoredPlan};
pub use request::{StackRequest, TemplateSource};
pub use request_error::RequestError;
pub use software::SoftwareObject;
pub use update::Patch;

use crate::config::Config;
use crate::ids::{CommandId, StackId};
use crate::machine::Command;
use crate::request_id::RequestId;
use crate::runtime::{Engine, now};
use crate::store::{CommandRow, Store};
use crate::wakeup::Wakeup;
use crate::workers::{WorkLimits, Workers};
use kiln_cloud::{CreatedBy, Transport, UserToken};
use std::sync::Arc;
use std::time::Duration;

/// The user who makes a request, as far as stacks are concerned.
#[derive(Clone)]
pub struct Requester {
    /// The project that the user acts for.
    pub project: Arc<str>,
    /// The name of the user.
    pub user_name: Arc<str>,
    /// Whether the user may see the stacks of all projects, and is not bound by quotas.
    pub is_admin: bool,
    /// For a user that a stack created: the name of the project of that stack's users.
    pub stack_user_project: Option<Arc<str>>,
    /// The token of the request, from which the engine gets a credential to act for the user later.
    pub user_token: UserToken,
    /// The user as it is stored with stacks: their later calls are made with these rights.
    pub created_by: Arc<CreatedBy>,
    /// Whether the user may use a resource type.
    pub may_use: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// Whether the cloud has a service, as far as the user's token tells.
    pub has_service: Arc<dyn Fn(kiln_cloud::Service) -> bool + Send + Sync>,
}

/// The operator's limits for requests.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How many root stacks a project may have; `None` means no limit.
    pub max_stacks: Option<u64>,
    /// How many snapshots a stack may have; `None` means no limit.
    pub max_snapshots: Option<u64>,
    /// How many software configurations a project may have; `None` means no limit.
    pub max_configs: Option<u64>,
    /// How many software deployments a project may have; `None` means no limit.
    pub max_deployments: Option<u64>,
    /// How many alarms a project may have; `None` means no limit.
    pub max_alarms: Option<u64>,
    /// The maximum size of a template.
    pub max_template_bytes: usize,
    /// Whether the objects of an abandoned stack can be adopted.
    pub allows_adopt: bool,
    /// Whether stacks can be abandoned and exported.
    pub allows_abandon: bool,
    /// Whether exports have hidden values in clear, for requesters who may see them.
    pub exports_in_clear: bool,
    /// Stacks with one of these tags are not listed.
    pub hidden_tags: Vec<Arc<str>>,
    /// How many requests of a project are validated or previewed at the same time, and how many wait for that.
    pub work: WorkLimits,
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
            exports_in_clear: false,
            hidden_tags: Vec::new(),
            work: WorkLimits::default(),
        }
    }
}

/// How long a request waits until an engine of another process has begun with its command, and how often it looks.
const TAKEN_TIMEOUT: Duration = Duration::from_secs(2);
const TAKEN_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Answers the requests for stacks.
#[derive(Clone)]
pub struct Service {
    store: Arc<dyn Store>,
    config: Arc<Config>,
    rules: Arc<Rules>,
    /// The cloud.
    transport: Arc<dyn Transport>,
    /// The engine in this process, if there is one.
    engine: Option<Engine>,
    /// The subscriptions to changes.
    changes: changes::Changes,
    collector: Arc<collect::Collector>,
    workers: Arc<Workers>,
    extensions: Arc<availability::ExtensionCache>,
}

impl Service {
    /// A service for a store. Without an engine, commands are left to the engines of other processes.
    pub fn new(
        store: Arc<dyn Store>,
        config: Arc<Config>,
        rules: Rules,
        transport: Arc<dyn Transport>,
        engine: Option<Engine>,
    ) -> Service {
        Service {
            workers: Arc::new(Workers::new(rules.work, config.work_priority)),
            store,
            config,
            rules: Arc::new(rules),
            transport,
            engine,
            changes: Default::default(),
            collector: Arc::default(),
            extensions: Arc::default(),
        }
    }

    /// The configuration of the engine.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The operator's limits.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The threads for long work without I/O.
    pub fn workers(&self) -> &Arc<Workers> {
        &self.workers
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Subscribes to the changes of one topic or two.
    pub fn watch(&self, first: ChangeTopic, second: Option<ChangeTopic>) -> ChangeSubscription {
        self.changes.watch((&self.store, &self.config.wakeups), first, second)
    }

    /// Submits a command to a tree.
    async fn command(&self, root: StackId, command: Command) -> Result<(), RequestError> {
        match &self.engine {
            Some(engine) => engine.begin(root, command).await?,
            None => {
                let id = RequestId::command_id();
                let row = CommandRow { id, root, time: now(), body: command.encode() };
                self.store.submit(row).await?;
                self.config.wakeups.send(Wakeup::Work(root));
                self.wait_until_taken(root, id).await?;
            }
        }
        Ok(())
    }

    /// Waits for a while until an engine of another process has begun with a command, so that the client sees the new
    /// state afterwards. The command is carried out in any case.
    async fn wait_until_taken(&self, root: StackId, id: CommandId) -> Result<(), RequestError> {
        let mut listener = self.config.wakeups.listen();
        let is_news = |wakeup| wakeup == Wakeup::Change(root) || wakeup == Wakeup::Anything;
        let taken = async {
            while self.store.commands(root).await?.iter().any(|waiting| waiting.id == id) {
                listener.wait_for(is_news, TAKEN_POLL_INTERVAL).await;
            }
            Ok(())
        };
        tokio::time::timeout(TAKEN_TIMEOUT, taken).await.unwrap_or(Ok(()))
    }
}
