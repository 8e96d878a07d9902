//! Objects that are stored beside stacks: plans, software configurations, deployments, engines, pending delegations, webhooks of
//! alarms, used signatures.
//!
//! These objects have no owner and no fence: each is written as a whole, and the last write wins.

use crate::store::StoreError;
use crate::time::Time;
use async_trait::async_trait;
use std::sync::Arc;
use uuid::Uuid;

/// Stores objects other than stacks.
#[async_trait]
pub trait Objects: Send + Sync {
    /// Writes an object, over an existing one.
    async fn put_object(&self, object: ObjectRow) -> Result<(), StoreError>;

    /// Writes an object unless one with its id exists; returns whether it was written. Of several writers at the same time
    /// one succeeds.
    async fn add_object(&self, object: ObjectRow) -> Result<bool, StoreError>;

    /// Writes an object, over an existing one, unless its project has `limit` others of its kind; returns whether it was
    /// written. However many are written at the same time, there are no more than `limit` afterwards.
    async fn put_object_within(&self, object: ObjectRow, limit: u64) -> Result<bool, StoreError>;

    /// Deletes an object; returns whether it existed.
    async fn drop_object(&self, kind: ObjectKind, id: Uuid) -> Result<bool, StoreError>;

    /// Deletes objects of a kind that were created before a time, the oldest first and no more than `limit`; returns their
    /// number.
    async fn drop_objects(
        &self,
        kind: ObjectKind,
        before: Time,
        limit: u64,
    ) -> Result<u64, StoreError>;

    /// An object.
    async fn object(&self, kind: ObjectKind, id: Uuid) -> Result<Option<ObjectRow>, StoreError>;

    /// The objects with these ids that exist, in this order.
    async fn objects_by_id(
        &self,
        kind: ObjectKind,
        ids: &[Uuid],
    ) -> Result<Vec<ObjectRow>, StoreError> {
        let mut objects = Vec::with_capacity(ids.len());
        for id in ids {
            objects.extend(self.object(kind, *id).await?);
        }
        Ok(objects)
    }

    /// A page of objects, by their time of creation.
    async fn objects(&self, query: &ObjectQuery) -> Result<Vec<ObjectRow>, StoreError>;

    /// The deployments on servers: server, deployment and configuration.
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

    /// The number of objects, regardless of the page.
    async fn count_objects(&self, query: &ObjectQuery) -> Result<u64, StoreError>;
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectKind {
    /// A software configuration.
    Config,
    /// A change set.
    ChangeSet,
    /// A plan.
    Plan,
    /// The application of a configuration to a server.
    Deployment,
    /// An engine that has reported itself.
    Engine,
    /// A trust or application credential that is being created for a stack.
    PendingDelegation,
    /// A webhook of an alarm that is not delivered yet.
    Webhook,
    /// Signatures of requests that were answered.
    UsedSignatures,
}

impl ObjectKind {
    /// The name in the store.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Config => "config",
            ObjectKind::ChangeSet => "change_set",
            ObjectKind::Plan => "plan",
            ObjectKind::Deployment => "deployment",
            ObjectKind::Engine => "engine",
            ObjectKind::PendingDelegation => "promise",
            ObjectKind::Webhook => "letter",
            ObjectKind::UsedSignatures => "spent",
        }
    }

    /// The kind of a name.
    pub fn parse(name: &str) -> Option<ObjectKind> {
        use ObjectKind::{
            ChangeSet, Config, Deployment, Engine, PendingDelegation, Plan, UsedSignatures, Webhook,
        };
        [ChangeSet, Config, Deployment, Engine, Webhook, PendingDelegation, Plan, UsedSignatures]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRow {
    /// Its id.
    pub id: Uuid,
    /// The kind.
    pub kind: ObjectKind,
    /// The project that it belongs to.
    pub project: Arc<str>,
    /// What the object is for, such as the server of a deployment; may be empty.
    pub subject: Arc<str>,
    /// The id of an object that this one uses, such as the configuration of a deployment.
    pub uses: Option<Uuid>,
    /// The time of creation.
    pub created: Time,
    /// The time of the last change.
    pub updated: Option<Time>,
    /// The encoded fields.
    pub body: Vec<u8>,
}

/// Which objects to list.
#[derive(Clone, Debug)]
pub struct ObjectQuery {
    /// Of this kind.
    pub kind: ObjectKind,
    /// Only those of this project.
    pub project: Option<Arc<str>>,
    /// Only those with this subject.
    pub subject: Option<Arc<str>>,
    /// Only those that use this.
    pub uses: Option<Uuid>,
    /// From the last to the first.
    pub descending: bool,
    /// Only those behind this one. If there is no such object, all.
    pub marker: Option<Uuid>,
    /// No more than this.
    pub limit: Option<u64>,
    /// Whether the bodies are read, too. Otherwise they are empty.
    pub with_bodies: bool,
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
            with_bodies: true,
        }
    }

    /// Whether an object matches, regardless of the page.
    pub fn matches(&self, object: &ObjectRow) -> bool {
        self.kind == object.kind
            && self.project.as_ref().is_none_or(|it| *it == object.project)
            && self.subject.as_ref().is_none_or(|it| *it == object.subject)
            && self.uses.is_none_or(|it| Some(it) == object.uses)
    }
}
