//! Alarms that the service keeps itself: rules on metrics, the metrics, and what a rule makes of them.
//!
//! Everything here is a pure function of what is stored. Samples are kept as totals of ten seconds, so
//! that neither a million of them nor ten thousand guests make as many rows. What is written down is
//! in `store.rs`; who looks at rules, and when, is in `runtime/alarms.rs`; what people can ask is in
//! `service/alarms.rs` and `service/metrics.rs`.

mod alarm;
mod evaluate;
mod metric;
mod rule;
mod store;
mod webhook;

pub(crate) use alarm::REASON_DATA;
pub use alarm::{Alarm, EvaluationContext, Target};
pub use evaluate::{Verdict, evaluate, samples_needed_from};
pub use metric::{BUCKET, Bucket, MAX_MAGNITUDE, Series, Statistic, Totals, datapoints};
pub use rule::{AlarmState, Comparison, EvaluationMode, Missing, Rule, dimensions};
pub use store::{
    AlarmChange, AlarmEvent, AlarmEventKind, AlarmQuery, AlarmRow, Alarms, HistoryQuery,
    SeriesQuery, SeriesRow,
};
pub use webhook::{NoWebhooks, Webhook, WebhookClient, is_url};
