//! The common parts of alarms.
//!
//! Alarms differ only in their rule, which has a kind and properties of its own. Every request contains the
//! whole alarm, because the service replaces an alarm on update.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::open;
use crate::rest::{self, FieldAdjuster, RestSpec};
use crate::wire;
use kiln_cloud::{Marker, get, put};
use serde_json::{Map as Fields, Value as Json, json};

/// The operators that compare a value with a threshold.
pub(super) const OPERATORS: [&str; 6] = ["le", "ge", "eq", "lt", "gt", "ne"];

/// Declares what every alarm has besides its rule: actions, time constraints, severity and whether it is
/// enabled.
pub(super) fn any_alarm(kind: ResourceType) -> ResourceType {
    let kind = kind.service(Service::Alarming).entity("alarm").checkable().suspendable();
    kind.props([
        prop("alarm_actions", List, "URLs called when the alarm fires, usually signal URLs of scaling policies.").updatable(),
        queues("alarm_queues"),
        prop("description", Str, "Free text that describes the alarm.").updatable(),
        prop("enabled", Bool, "Whether the alarm is evaluated and its actions are called.").updatable().default("true"),
        prop("insufficient_data_actions", List, "URLs called when there are too few data to decide whether the alarm fires.").updatable(),
        queues("insufficient_data_queues"),
        prop("ok_actions", List, "URLs called when the alarm is back to normal.").updatable(),
        queues("ok_queues"),
        prop("repeat_actions", Bool, "Whether actions are called after every evaluation while a state lasts, not only on its change.").updatable().default("true"),
        prop("severity", Str, "How serious the alarm is to those who see it.")
            .updatable()
            .default("low")
            .one_of(["low", "moderate", "critical"])
            .since("5.0.0"),
        prop("time_constraints", List, "Time windows in which the alarm is looked at; at any time if empty.").default_empty().since("5.0.0").each(record([
            prop("description", Str, "Free text that describes the time window."),
            prop("duration", Int, "Length of the time window in seconds.").required().min(0),
            prop("name", Str, "Name of the time window, unique within the alarm.").required(),
            prop("start", Str, "Cron expression of the moments at which the time window opens.").required().is(CRON_EXPRESSION),
            prop("timezone", Str, "Time zone of the start, such as `Europe/Berlin`; UTC if omitted.").is(TIMEZONE),
        ])),
    ])
}

/// Declares an alarm on metrics of Gnocchi.
pub(super) fn gnocchi_alarm(kind: ResourceType) -> ResourceType {
    kind.detects_drift().since("2015.1").with(any_alarm).props([
        prop("aggregation_method", Str, "Gnocchi aggregation that turns measures into one value, such as `mean` or `rate:mean`.").updatable(),
        prop("comparison_operator", Str, "How the aggregated value is compared with the threshold, such as `gt` for greater than.").updatable().one_of(OPERATORS),
        prop("evaluation_periods", Int, "Number of granularity periods in a row in which the comparison must hold before the alarm fires.").updatable(),
        prop("granularity", Int, "Seconds covered by one aggregated value; the archive policy of the metric must offer it.").updatable(),
        prop("threshold", Num, "Number that the aggregated value is compared with.").required().updatable(),
    ])
}

fn queues(name: &'static str) -> Prop {
    prop(name, List, "Message queues that receive a notification when the alarm enters this state.")
        .updatable()
        .default_empty()
        .since("8.0.0")
        .each(item(Str).is(QUEUE))
}

/// A condition on samples or events, as an item of the property `query`.
pub(super) fn condition(field: &'static str, value_type: Prop) -> Prop {
    record([
        prop("field", Str, field),
        prop("op", Str, "Operator with which the field is compared with the value.")
            .one_of(OPERATORS),
        value_type,
        prop("value", Str, "Value that the field is compared with."),
    ])
}

/// The type of the value in a condition.
pub(super) fn value_type() -> Prop {
    prop("type", Str, "Data type as which the value is compared.")
        .default("string")
        .one_of(["integer", "float", "string", "boolean", "datetime"])
}

/// Sets the handlers of an alarm whose request body `adjust_fields` builds with [`whole`].
pub(super) fn rest_alarm(kind: ResourceType, adjust_fields: FieldAdjuster) -> ResourceType {
    kind.finder(by_name)
        .on(OperationKind::Suspend, |op| Box::pin(enable(op, false)))
        .on(OperationKind::Resume, |op| Box::pin(enable(op, true)))
        .rest(
            RestSpec::new(Service::Alarming, "/alarms", "")
                .id("alarm_id")
                .adjust_fields(adjust_fields)
                .deleted_at_once(),
        )
}

/// Finds the alarm by its name, which Kiln always chooses.
fn by_name(op: &Op) -> Option<Marker> {
    let name = &*op.context().physical_name;
    let list = get(Service::Alarming, "/alarms")
        .query("q.field", "name")
        .query("q.op", "eq")
        .query("q.value", name);
    Some(Marker {
        list,
        objects: String::new(),
        field: "/name".into(),
        value: name.into(),
        envelope: None,
        path: "/alarms".into(),
        id: "/alarm_id".into(),
    })
}

/// Builds the request body of an alarm, with a rule from these properties.
pub(super) fn whole(op: &Op, fields: &mut Fields<String, Json>, kind: &str, rule: &[&str]) {
    let rule = rule.iter().map(|name| ((*name).to_owned(), wire::json(op.prop(name))));
    let rule = rule.filter(|(_, value)| !value.is_null());
    ruled(op, fields, kind, Json::Object(rule.collect()));
}

/// Builds the request body of an alarm with this rule.
pub(super) fn ruled(op: &Op, fields: &mut Fields<String, Json>, kind: &str, rule: Json) {
    fields.clear();
    fields.insert("name".into(), (*op.context().physical_name).into());
    fields.insert("type".into(), kind.into());
    fields.insert(format!("{kind}_rule"), rule);
    for name in ["description", "severity", "time_constraints"] {
        let value = match wire::json(op.prop(name)) {
            Json::Array(spans) => spans.into_iter().map(without_nulls).collect(),
            value => value,
        };
        if !value.is_null() {
            fields.insert(name.into(), value);
        }
    }
    for name in ["enabled", "repeat_actions"] {
        fields.insert(name.into(), is_true(op.prop(name)).into());
    }
    for (actions, queues) in [
        ("alarm_actions", "alarm_queues"),
        ("insufficient_data_actions", "insufficient_data_queues"),
        ("ok_actions", "ok_queues"),
    ] {
        fields.insert(actions.into(), told(op, actions, queues));
    }
}

/// The actions of an alarm: URLs, and queues as URLs.
///
/// Resources without a signal URL have an empty text here, which is left out.
fn told(op: &Op, actions: &str, queues: &str) -> Json {
    let texts = |name| {
        let items = op.items(name).iter();
        items.filter_map(|item| open(item).as_text()).filter(|text| !text.is_empty())
    };
    let queues =
        texts(queues).map(|name| format!("trust+zaqar://?queue_name={}", wire::segment(name)));
    texts(actions).map(|text| text.to_string()).chain(queues).collect()
}

fn without_nulls(mut value: Json) -> Json {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    value
}

fn is_true(value: &Value) -> bool {
    match open(value) {
        Value::Text(text) => text.eq_ignore_ascii_case("true"),
        value => value.is_truthy(),
    }
}

/// Enables or disables the alarm, for resume and suspend. An alarm that the template disables stays disabled.
async fn enable(op: &mut Op, enabled: bool) -> Result<(), OpError> {
    let (Some(_), Some(spec)) = (op.id(), op.rest_spec()) else { return Ok(()) };
    let mut fields = rest::new_fields(op, &spec);
    fields.insert("enabled".into(), (enabled && is_true(op.prop("enabled"))).into());
    let call = put(Service::Alarming, rest::path(op, &spec), Json::Object(fields));
    op.call("enable", call).await?;
    rest::until_ready(op).await
}

/// The query of an alarm on samples: the template's own conditions and those from `matching_metadata`.
pub(super) fn matching(op: &Op) -> Json {
    let meter = op.text("meter_name").unwrap_or_default();
    let is_of_server = matches!(meter, "instance" | "cpu" | "cpu_util" | "vcpus")
        || ["memory", "disk.", "network."].iter().any(|start| meter.starts_with(start));
    let prefix = if is_of_server { "metadata.user_metadata." } else { "metadata.metering." };
    let metadata = op.prop("matching_metadata");
    let metadata = open(metadata).as_map().into_iter().flatten().map(|(name, value)| {
        let name = ["metadata.user_metadata.", "metadata.metering."]
            .iter()
            .find_map(|known| name.strip_prefix(known))
            .unwrap_or(name);
        let value = kiln_template::print::plain(open(value));
        json!({ "field": format!("{prefix}{name}"), "op": "eq", "value": value })
    });
    let given = op.items("query").iter();
    given.map(|query| without_nulls(wire::json(query))).chain(metadata).collect()
}

/// The properties in every rule on metrics of Gnocchi.
pub(super) const GNOCCHI: [&str; 5] =
    ["aggregation_method", "comparison_operator", "evaluation_periods", "granularity", "threshold"];

/// Builds the request body of an alarm on metrics of Gnocchi.
pub(super) fn on_metrics(op: &Op, fields: &mut Fields<String, Json>, kind: &str, rule: &[&str]) {
    let all: Vec<&str> = GNOCCHI.iter().chain(rule).copied().collect();
    whole(op, fields, kind, &all);
}
