//! The CloudWatch API: alarms and metrics.

mod alarms;
mod history;
mod metrics;
mod params;
mod show;

use crate::app::App;
use crate::aws::{self, Action, Interface, action};
use axum::body::Body;
use axum::http::Request as HttpRequest;
use axum::response::Response as HttpResponse;
use std::sync::Arc;

/// Its actions.
pub static ACTIONS: &[Action] = &[
    action!("DeleteAlarms", Changes, alarms::delete),
    action!("DescribeAlarmHistory", Reads, history::describe),
    action!("DescribeAlarms", Reads, alarms::describe),
    action!("DescribeAlarmsForMetric", Reads, alarms::describe_for_metric),
    action!("DisableAlarmActions", Changes, alarms::disable_actions),
    action!("EnableAlarmActions", Changes, alarms::enable_actions),
    action!("GetMetricStatistics", Reads, metrics::statistics),
    action!("ListMetrics", Reads, metrics::list),
    action!("PutMetricAlarm", Changes, alarms::put),
    action!("PutMetricData", Reports, metrics::put),
    action!("SetAlarmState", Changes, alarms::set_state),
];

static CLOUDWATCH: Interface = Interface { scope: "cloudwatch", actions: ACTIONS };

/// Answers a request to the CloudWatch API.
pub async fn answer(app: Arc<App>, request: HttpRequest<Body>) -> HttpResponse {
    aws::answer(app, request, |app, request| CLOUDWATCH.route(app, request)).await
}
