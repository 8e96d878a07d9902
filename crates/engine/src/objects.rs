//! What is kept beside stacks: software configurations, deployments, engines, promises of users, letters of alarms,
//! signatures that were answered.
//!
//! Nothing here has an owner or a fence: each is written as a whole, and the last write counts.

use crate::store::StoreError;
use crate::time::Time;
use async_trait::async_trait;
use std::sync::Arc;
use uuid::Uuid;

/// Keeps things that are no stacks.
#[async_trait]
pub trait Objects: Send + Sync {
    /// Writes an object over the one that is there.
    async fn put_object(&self, object: ObjectRow) -> Result<(), StoreError>;

    /// Writes an object unless there is one of its id; whether it was written. Of several who write the same
    /// at once, one does.
    async fn add_object(&self, object: ObjectRow) -> Result<bool, StoreError>;

    /// Removes an object; whether it was there.
    async fn drop_object(&self, kind: ObjectKind, id: Uuid) -> Result<bool, StoreError>;

    /// Removes objects of a kind that were made before a moment, the oldest first and no more than `limit`; how
    /// many there were.
    async fn drop_objects(
        &self,
        kind: ObjectKind,
        before: Time,
        limit: u64,
    ) -> Result<u64, StoreError>;

    /// An object.
    async fn object(&self, kind: ObjectKind, id: Uuid) -> Result<Option<ObjectRow>, StoreError>;

    /// A page of objects, by when they were made.
    async fn objects(&self, query: &ObjectQuery) -> Result<Vec<ObjectRow>, StoreError>;

    /// The deployments on servers: the server, the deployment, its configuration.
    async fn deployed_on(
        &self,
        servers: &[Arc<str>],
    ) -> Result<Vec<(Arc<str>, Uuid, Option<Uuid>)>, StoreError> {
        let mut all = Vec::new();
        for server in servers {
            let subject = Some(server.clone());
            let query = ObjectQuery { subject, ..ObjectQuery::new(ObjectKind::Deployment) };
            let rows = self.objects(&query).await?.into_iter();
            all.extend(rows.map(|row| (row.subject, row.id, row.uses)));
        }
        Ok(all)
    }

    /// How many there are, whatever the page.
    async fn count_objects(&self, query: &ObjectQuery) -> Result<u64, StoreError>;
}

/// What kind of thing is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectKind {
    /// A software configuration.
    Config,
    /// The application of a configuration to a server.
    Deployment,
    /// An engine that is at work.
    Engine,
    /// What a user is about to lend to a stack.
    PendingDelegation,
    /// What an alarm tells an address.
    Webhook,
    /// Signatures that were answered.
    UsedSignatures,
}

impl ObjectKind {
    /// Its name in the record.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Config => "config",
            ObjectKind::Deployment => "deployment",
            ObjectKind::Engine => "engine",
            ObjectKind::PendingDelegation => "promise",
            ObjectKind::Webhook => "letter",
            ObjectKind::UsedSignatures => "spent",
        }
    }

    /// The kind of a name.
    pub fn parse(name: &str) -> Option<ObjectKind> {
        use ObjectKind::{Config, Deployment, Engine, PendingDelegation, UsedSignatures, Webhook};
        [Config, Deployment, Engine, Webhook, PendingDelegation, UsedSignatures]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// Something that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRow {
    /// Its id.
    pub id: Uuid,
    /// What it is.
    pub kind: ObjectKind,
    /// The project that it belongs to.
    pub project: Arc<str>,
    /// What it is for, such as the server of a deployment; empty if for nothing in particular.
    pub subject: Arc<str>,
    /// The object that it uses, such as the configuration of a deployment.
    pub uses: Option<Uuid>,
    /// When it was made.
    pub created: Time,
    /// When it was last changed.
    pub updated: Option<Time>,
    /// The rest.
    pub body: Vec<u8>,
}

/// Which objects to list.
#[derive(Clone, Debug)]
pub struct ObjectQuery {
    /// Of this kind.
    pub kind: ObjectKind,
    /// Only those of this project.
    pub project: Option<Arc<str>>,
    /// Only those that are for this.
    pub subject: Option<Arc<str>>,
    /// Only those that use this.
    pub uses: Option<Uuid>,
    /// From the last to the first.
    pub descending: bool,
    /// Only those behind this one. If there is no such object, all.
    pub marker: Option<Uuid>,
    /// No more than this.
    pub limit: Option<u64>,
}

impl ObjectQuery {
    /// All objects of a kind.
    pub fn new(kind: ObjectKind) -> ObjectQuery {
        ObjectQuery {
            kind,
            project: None,
            subject: None,
            uses: None,
            descending: false,
            marker: None,
            limit: None,
        }
    }

    /// Whether an object is asked for, whatever the page.
    pub fn matches(&self, object: &ObjectRow) -> bool {
        self.kind == object.kind
            && self.project.as_ref().is_none_or(|it| *it == object.project)
            && self.subject.as_ref().is_none_or(|it| *it == object.subject)
            && self.uses.is_none_or(|it| Some(it) == object.uses)
    }
}
