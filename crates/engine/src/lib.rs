//! The engine of Kiln.
//!
//! A template becomes a graph. A machine, which is a pure function of state and input, compares each node of the graph
//! with the record and decides what is done: new state and effects come out. The driver carries the effects out, and
//! only after the machine's records of them are durable.
//!
//! The modules are private, except for four whose names say what their items belong to: [`alarms`], [`loopback`],
//! [`preview`] and [`store`]. Everything else that other crates use is named here.
#![forbid(unsafe_code)]

mod activity;
pub mod alarms;
mod blueprint;
mod config;
mod decide;
mod delegation;
mod drift;
mod error_type;
mod event_sinks;
mod export;
mod failure;
mod global_environment;
mod ids;
mod load_balancing;
pub mod loopback;
mod machine;
mod memory;
mod metrics;
mod notification;
mod objects;
mod owner;
mod partial_tree;
pub mod preview;
mod record;
mod repair;
mod request_id;
mod resolver;
mod runtime;
mod service;
mod signal_check;
mod site_mark;
mod snapshot;
mod state;
pub mod store;
mod summary;
mod template_cache;
mod template_fetcher;
mod time;
mod tree;
mod view;
mod wakeup;
mod workers;

// The words of all others: ids, times and states.
pub use ids::{
    CommandId, EngineId, EventId, Ids, PhysicalId, RecipeId, ResourceId, SnapshotId, StackId,
};
pub use state::{Action, State, Status};
pub use summary::{ResourceSummary, StackSummary};
pub use time::Time;

// What a store needs besides `store` and `alarms`: the objects beside the trees, and the order of a batch's stacks.
pub use memory::parents_first;
pub use objects::{ObjectKind, ObjectQuery, ObjectRow, Objects};

// What an API needs: the service with its requests and errors, and views of what is stored.
pub use error_type::{AwsCode, ErrorType};
pub use partial_tree::TreePart;
pub use request_id::RequestId;
pub use service::{
    AppliedPlan, Availability, Change, ChangeKind, ChangeSet, ChangeSetState, ChangeSubscription,
    ChangeTopic, EngineView, MetricDatum, MetricQuery, MetricSample, NewChangeSet, Page, Patch,
    PostFilter, REPORT_INTERVAL, RequestError, Requester, Rules, Service, SoftwareObject,
    StackAlarm, StackPreview, StackRequest, StoredPlan, TemplateSource, engines,
};
pub use snapshot::read_snapshot;
pub use view::{OutputView, ResourceView, StackView, TreeReader, View};
pub use workers::{HeldMemory, TooMuchWork, WorkLimits, WorkPriority, WorkShare, Workers};

// What the binary needs to run an engine, and what a receiver of notifications needs.
pub use config::{ByteLimits, Config};
pub use global_environment::SharedGlobalEnvironment;
pub use metrics::{Counters, Label, Metrics};
pub use notification::{Notification, NotificationListener, Scaling};
pub use runtime::{
    Engine, EngineSettings, SystemIds, TreeStatus, follow_store_clock, keep_following_store_clock,
    now,
};
pub use template_cache::TemplateCache;
pub use template_fetcher::TemplateFetcher;
pub use wakeup::{CarriedWakeups, Listener, Wakeup, WakeupChannel};

// What a stack is created of, and the commands to it, for programs that call the engine without the service.
pub use blueprint::{Recipe, Source};
pub use machine::{Command, NewStack, StackSettings};

// What tests need: a store in memory, and the parts of an engine that a simulation drives itself.
pub use machine::{Bug, Input, Machine, Reached, Transition};
pub use memory::MemoryStore;
pub use owner::{Order, Owner};
pub use record::is_parked;
#[cfg(feature = "simulation")]
pub use record::v0::downgrade;
pub use repair::{EndedWork, check_tree, fail_tree, release_tree};
pub use site_mark::SiteMark;
pub use tree::{Env, OpId, Tree};
