//! Event sinks: the queues in `event_sinks` of the environment, to which the events of stacks are sent.
//!
//! This builds the calls; the driver makes them once the events are durable.

use crate::store::EventRow;
use crate::time::Time;
use kiln_cloud::{Call, CallPath, Service, post};
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use serde_json::{Value as Json, json};

/// How long a message stays in the queue by default, in seconds.
const DEFAULT_TTL_SECS: i64 = 3600;

/// How many messages and bytes one call has at most: less than the defaults of the messaging service.
const MAX_MESSAGES_PER_CALL: usize = 10;
const MAX_BYTES_PER_CALL: usize = 128 << 10;

/// The calls that send events to sinks, in the order of the events.
pub(crate) fn calls(sinks: &[Value], events: &[EventRow]) -> Vec<Call> {
    let messages: Vec<(Json, usize)> = events.iter().map(message).collect();
    sinks.iter().filter_map(Sink::parse).flat_map(|sink| sink.calls(&messages)).collect()
}

/// A queue.
struct Sink {
    queue: String,
    ttl_secs: i64,
}

impl Sink {
    /// Reads a sink of the environment, which was validated with the request.
    fn parse(value: &Value) -> Option<Sink> {
        let members = value.as_map()?;
        let ttl_secs = match members.get("ttl").map(Value::exposed) {
            Some(Value::Int(seconds)) => seconds.as_i64(),
            Some(Value::Text(text)) => text.trim().parse().ok(),
            _ => None,
        };
        let queue = print::plain(&members.get("target")?.exposed());
        Some(Sink { queue, ttl_secs: ttl_secs.unwrap_or(DEFAULT_TTL_SECS) })
    }

    fn calls(&self, messages: &[(Json, usize)]) -> Vec<Call> {
        let mut calls = Vec::new();
        let (mut group, mut bytes) = (Vec::new(), 0);
        for (body, size) in messages {
            if group.len() == MAX_MESSAGES_PER_CALL
                || (!group.is_empty() && bytes + size > MAX_BYTES_PER_CALL)
            {
                calls.push(self.call(std::mem::take(&mut group)));
                bytes = 0;
            }
            bytes += size;
            group.push(json!({ "body": body, "ttl": self.ttl_secs }));
        }
        if !group.is_empty() {
            calls.push(self.call(group));
        }
        calls
    }

    fn call(&self, messages: Vec<Json>) -> Call {
        let path = CallPath::from("/queues").id(&self.queue).then("/messages");
        post(Service::Messaging, path, json!({ "messages": messages }))
    }
}

/// The message of an event, and its approximate size in bytes.
fn message(event: &EventRow) -> (Json, usize) {
    // Secrets are printed as stars.
    let properties = print::json(&event.properties(), Keys::Ordered);
    let size = properties.len() + event.reason.len() + 500;
    let properties: Json = serde_json::from_str(&properties).unwrap_or_default();
    let message = json!({
        "timestamp": timestamp(event.time),
        "version": "0.1",
        "type": "os.heat.event",
        "id": event.id.to_string(),
        "payload": {
            "resource_name": *event.resource,
            "physical_resource_id": *event.physical_id,
            "stack_id": event.stack.to_string(),
            "resource_action": event.state.action.name(),
            "resource_status": event.state.status.name(),
            "resource_status_reason": *event.reason,
            "resource_type": *event.kind,
            "resource_properties": properties,
            "version": "0.1",
        },
    });
    (message, size)
}

/// A timestamp without a zone, with a fraction only if there is one.
fn timestamp(time: Time) -> String {
    let whole = time.to_string();
    let whole = whole.trim_end_matches('Z');
    match time.micros().rem_euclid(1_000_000) {
        0 => whole.to_owned(),
        micros => format!("{whole}.{micros:06}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{EventId, StackId};
    use crate::record::v1::EventBody;
    use crate::record::{Record, StoredMembers};
    use crate::state::{Action, State, Status};
    use kiln_template::Secret;
    use uuid::Uuid;

    fn event(number: u64, properties: &Value) -> EventRow {
        EventRow {
            id: EventId(Uuid::from_u128(u128::from(number))),
            stack: StackId(Uuid::from_u128(7)),
            root: StackId(Uuid::from_u128(7)),
            number,
            time: Time::from_micros(1_932_876_428_000_000),
            resource: "db".into(),
            kind: "OS::Trove::Instance".into(),
            physical_id: "web-db-k3j2h1".into(),
            state: State::new(Action::Create, Status::Complete),
            reason: "state changed".into(),
            body: EventBody {
                properties: StoredMembers(properties.as_map().cloned().unwrap_or_default().into()),
            }
            .encode(),
        }
    }

    fn sink(parts: &[(&'static str, Value)]) -> Value {
        Value::map(parts.iter().cloned())
    }

    #[test]
    fn an_event_is_sent_as_consumers_know_it() {
        let hidden = Value::Secret(Secret::new("hunter2".into()));
        let event = event(5, &Value::map([("flavor", "m1".into()), ("password", hidden)]));
        let sinks = [sink(&[("type", "zaqar-queue".into()), ("target", "my queue".into())])];
        let calls = calls(&sinks, &[event]);
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].request.path, "/queues/my%20queue/messages");
        let expected = json!({ "messages": [{ "ttl": 3600, "body": {
            "timestamp": "2031-04-02T06:07:08",
            "version": "0.1",
            "type": "os.heat.event",
            "id": "00000000-0000-0000-0000-000000000005",
            "payload": {
                "resource_name": "db",
                "physical_resource_id": "web-db-k3j2h1",
                "stack_id": "00000000-0000-0000-0000-000000000007",
                "resource_action": "CREATE",
                "resource_status": "COMPLETE",
                "resource_status_reason": "state changed",
                "resource_type": "OS::Trove::Instance",
                "resource_properties": { "flavor": "m1", "password": "******" },
                "version": "0.1",
            },
        } }] });
        assert_eq!(calls[0].request.body, Some(expected));
    }

    #[test]
    fn events_go_together_but_not_too_many_and_not_too_much() {
        let sinks = [sink(&[("target", "a".into()), ("ttl", 60.into())]), sink(&[])];
        let counts = |events: &[EventRow]| -> Vec<usize> {
            let calls = calls(&sinks, events);
            let body = |call: &Call| call.request.body.clone().unwrap_or_default();
            assert!(calls.iter().all(|call| body(call)["messages"][0]["ttl"] == 60));
            calls.iter().map(|call| body(call)["messages"].as_array().unwrap().len()).collect()
        };
        let small: Vec<EventRow> = (0..25).map(|it| event(it, &Value::Null)).collect();
        assert_eq!(counts(&small), [10, 10, 5]);
        let text = "x".repeat(100 << 10);
        let large = Value::map([("text", text.as_str().into())]);
        let large: Vec<EventRow> = (0..3).map(|it| event(it, &large)).collect();
        assert_eq!(counts(&large), [1, 1, 1]);
        assert!(counts(&[]).is_empty());
    }

    #[test]
    fn moments_have_a_fraction_only_if_there_is_one() {
        assert_eq!(timestamp(Time::from_micros(1_500_000)), "1970-01-01T00:00:01.500000");
        assert_eq!(timestamp(Time::from_micros(2_000_000)), "1970-01-01T00:00:02");
    }
}
