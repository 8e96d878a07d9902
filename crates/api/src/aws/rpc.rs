//! Calls in the newer ways of AWS's tools, in JSON or CBOR.
//!
//! Such a request becomes the parameters of a form, so that actions need not know of it: the members of lists and maps
//! are `Name.member.1.Field`. Responses have numbers and timestamps, which forms leave to their readers.

use super::cbor;
use super::fault::{AwsFault, Code};
use super::params::Params;
use super::render::Format;
use crate::body::RawBody;
use axum::http::{Method, Request as HttpRequest};
use kiln_template::{Members, Value, json, print};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Members that are moments. In JSON they are numbers.
const MOMENTS: [&str; 5] = ["EndDate", "EndTime", "StartDate", "StartTime", "Timestamp"];

/// Members that are numbers, though forms have them as text.
const NUMBERS: [&str; 9] = [
    "Average",
    "DatapointsToAlarm",
    "EvaluationPeriods",
    "Maximum",
    "Minimum",
    "Period",
    "SampleCount",
    "Sum",
    "Threshold",
];

/// A call: the action, and how it is made and answered.
pub(super) struct RpcCall<'r> {
    pub(super) action: &'r str,
    pub(super) format: Format,
}

impl<'r> RpcCall<'r> {
    /// The call that a request is, if it is one.
    pub(super) fn parse(request: &'r HttpRequest<RawBody>) -> Option<RpcCall<'r>> {
        if request.method() != Method::POST {
            return None;
        }
        let header = |name: &str| request.headers().get(name).and_then(|it| it.to_str().ok());
        let path = request.uri().path();
        if header("smithy-protocol") == Some("rpc-v2-cbor") {
            let (_, action) = path.strip_prefix("/v1/service/")?.split_once("/operation/")?;
            return Some(RpcCall { action, format: Format::Cbor });
        }
        let (_, action) = header("x-amz-target")?.rsplit_once('.')?;
        ["/v1", "/v1/"].contains(&path).then_some(RpcCall { action, format: Format::TypedJson })
    }

    /// Its parameters.
    pub(super) fn params(&self, request: &HttpRequest<RawBody>) -> Result<Params, AwsFault> {
        let bad = |why: &str| AwsFault::new(Code::InvalidQueryParameter, why);
        let body = request.body().as_deref().unwrap_or_default();
        let value = match self.format {
            _ if body.is_empty() => Some(Value::Map(Arc::default())),
            Format::Cbor => cbor::read(body),
            _ => std::str::from_utf8(body).ok().and_then(|text| json::parse(text).ok()),
        };
        let Some(Value::Map(members)) = value else { return Err(bad("The body is no object")) };
        let mut params = BTreeMap::new();
        members.iter().for_each(|(name, value)| flatten(name, name, value, &mut params));
        Ok(Params::from(params))
    }
}

/// A value as the parameter of a name, or as several; `last` is the last part of the name.
fn flatten(name: &str, last: &str, value: &Value, params: &mut BTreeMap<String, String>) {
    let text = match value {
        Value::Null => return,
        Value::Map(members) => {
            for (inner, value) in members.iter() {
                flatten(&format!("{name}.{inner}"), inner, value, params);
            }
            return;
        }
        Value::List(items) => {
            for (at, value) in items.iter().enumerate() {
                flatten(&format!("{name}.member.{}", at + 1), "", value, params);
            }
            return;
        }
        Value::Bool(flag) => flag.to_string(),
        Value::Int(_) | Value::Float(_) if MOMENTS.contains(&last) => {
            let digits = print::plain(value);
            digits.parse().ok().and_then(iso).unwrap_or(digits)
        }
        value => print::plain(value),
    };
    params.insert(name.to_owned(), text);
}

/// A moment as forms have it.
pub(super) fn iso(seconds: f64) -> Option<String> {
    let micros = (seconds * 1e6).round();
    let is_sane = micros.abs() < 1e17;
    let moment = jiff::Timestamp::from_microsecond(is_sane.then_some(micros as i64)?).ok()?;
    Some(moment.to_string())
}

/// The type of a text in an RPC response.
pub(super) enum Typed {
    /// Seconds since 1970.
    Moment(f64),
    Number,
    Text,
}

impl Typed {
    /// The type of a member's text.
    pub(super) fn parse(name: &str, text: &str) -> Typed {
        if NUMBERS.contains(&name) && text.parse::<f64>().is_ok() {
            return Typed::Number;
        }
        match name.ends_with("Timestamp").then(|| text.parse::<jiff::Timestamp>()) {
            Some(Ok(moment)) => Typed::Moment(moment.as_microsecond() as f64 / 1e6),
            _ => Typed::Text,
        }
    }
}

/// An answer with numbers and moments, and nothing that is null.
pub(super) fn typed(name: &str, value: &Value) -> Value {
    match value {
        Value::Map(members) => {
            let there = members.iter().filter(|(_, value)| !value.is_null());
            let there = there.map(|(name, value)| (name.clone(), typed(name, value)));
            Value::Map(Arc::new(there.collect::<Members>()))
        }
        Value::List(items) => Value::list(items.iter().map(|item| typed("", item))),
        Value::Text(text) => match Typed::parse(name, text) {
            Typed::Moment(seconds) => Value::Float(seconds),
            Typed::Number => match text.parse::<i64>() {
                Ok(number) => number.into(),
                Err(_) => text.parse().map_or(value.clone(), Value::Float),
            },
            Typed::Text => value.clone(),
        },
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        json::parse(text).unwrap()
    }

    #[test]
    fn a_call_has_the_parameters_of_a_form() {
        let body = r#"{"Namespace": "n", "Nothing": null, "StartTime": 1363896240.5, "Period": 60, "Yes": true,
            "MetricData": [{"MetricName": "a", "Value": 1.5, "Timestamp": 1363896240,
                            "Dimensions": [{"Name": "x", "Value": "1"}]}, {"MetricName": "b"}]}"#;
        let request = HttpRequest::post("/v1/").header("x-amz-target", "Granite.PutMetricData");
        let request = request.body(Some(body.into())).unwrap();
        let call = RpcCall::parse(&request).unwrap();
        assert_eq!((call.action, call.format), ("PutMetricData", Format::TypedJson));
        let params = call.params(&request).unwrap();
        let pairs: Vec<(&str, &str)> = params.pairs().collect();
        assert_eq!(
            pairs,
            [
                ("MetricData.member.1.Dimensions.member.1.Name", "x"),
                ("MetricData.member.1.Dimensions.member.1.Value", "1"),
                ("MetricData.member.1.MetricName", "a"),
                ("MetricData.member.1.Timestamp", "2013-03-21T20:04:00Z"),
                ("MetricData.member.1.Value", "1.5"),
                ("MetricData.member.2.MetricName", "b"),
                ("Namespace", "n"),
                ("Period", "60"),
                ("StartTime", "2013-03-21T20:04:00.5Z"),
                ("Yes", "true"),
            ]
        );
    }

    #[test]
    fn what_is_no_call_is_none() {
        let is_call = |method: &str, path: &str, name: &str, value: &str| {
            let request = HttpRequest::builder().method(method).uri(path).header(name, value);
            RpcCall::parse(&request.body(None).unwrap()).is_some()
        };
        assert!(is_call("POST", "/v1/service/X/operation/Y", "smithy-protocol", "rpc-v2-cbor"));
        assert!(!is_call("GET", "/v1/service/X/operation/Y", "smithy-protocol", "rpc-v2-cbor"));
        assert!(!is_call("POST", "/v1/service/X", "smithy-protocol", "rpc-v2-cbor"));
        assert!(!is_call("POST", "/v1/service/X/operation/Y", "x-amz-target", "A.B"));
        assert!(!is_call("POST", "/v1/", "x-amz-target", "B"));
        assert!(!is_call("POST", "/v1/", "content-type", "application/json"));
    }

    #[test]
    fn answers_have_numbers_and_moments() {
        let shown = typed(
            "",
            &value(
                r#"{"Threshold": "2", "Average": "0.5", "Period": "soon", "Timestamp": "2013-03-21T20:04:00Z",
                "Nothing": null, "List": [{"Sum": "1.5"}], "Value": "2"}"#,
            ),
        );
        let expected = value(
            r#"{"Threshold": 2, "Average": 0.5, "Period": "soon", "Timestamp": 1363896240.0,
                "List": [{"Sum": 1.5}], "Value": "2"}"#,
        );
        assert!(shown.equals(&expected), "{shown:?}");
    }
}
