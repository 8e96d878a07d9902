//! Alarms, what happened to them, what they measure, and the webhooks that they call.

use super::is_false;
use crate::record::value::StoredMembers;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an alarm has besides its columns: its rule, in the words of the CloudWatch API.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlarmBody {
    pub(crate) rule: StoredMembers,
}

/// What happened to an alarm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlarmEventBody {
    pub(crate) summary: Arc<str>,
    /// More of that, as JSON.
    pub(crate) data: Arc<str>,
}

/// What a series of samples has besides its columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SeriesBody {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<Arc<str>>,
    /// The alarm that the samples were given to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) alarm: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) dimensions: BTreeMap<Arc<str>, Arc<str>>,
}

/// A call of a webhook that has yet to succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookBody {
    pub(crate) url: Arc<str>,
    pub(crate) text: Arc<str>,
    /// When it was written, in microseconds since 1970.
    pub(crate) written: i64,
    /// Whether it reports a change of the state, rather than a state that lasts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) is_change: bool,
    pub(crate) tries: u32,
}
