//! Alarms that the service evaluates itself: rules on metrics, the metrics, and the evaluation.
//!
//! Everything here is a pure function of stored data. Samples are stored as totals of ten seconds, so that neither a
//! million samples nor ten thousand servers need as many rows. `store.rs` has the interface of the store;
//! `runtime/alarms.rs` evaluates alarms when they are due; `service/alarms.rs` and `service/metrics.rs` answer requests.

mod alarm;
mod evaluate;
mod metric;
mod rule;
mod store;
mod target;
mod webhook;

pub(crate) use alarm::REASON_DATA;
pub use alarm::{Alarm, EvaluationContext};
pub use evaluate::Verdict;
pub(crate) use evaluate::{evaluate, samples_needed_from};
pub(crate) use metric::{BUCKET, datapoints};
pub use metric::{Bucket, MAX_MAGNITUDE, Series, Statistic, Totals};
pub use rule::{AlarmState, Comparison, EvaluationMode, Missing, Rule, dimensions};
pub use store::{
    AlarmChange, AlarmEvent, AlarmEventKind, AlarmQuery, AlarmRow, Alarms, HistoryQuery,
    SeriesQuery, SeriesRow,
};
pub use target::{AlarmTarget, SignalledResource, WebhookUrl};
pub(crate) use webhook::NoWebhooks;
pub use webhook::{Webhook, WebhookClient};
