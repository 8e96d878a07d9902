//! OS::Zaqar::Subscription: a subscriber that is told of every message in a queue.

use super::common::{self, rest_spec};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::text;
use crate::rest;

pub(super) fn subscription() -> ResourceType {
    ResourceType::new("OS::Zaqar::Subscription")
        .about("A subscriber that receives every message of a queue.")
        .service(Service::Messaging)
        .since("8.0.0")
        .props([
            prop("options", Map, "Further settings of the delivery, such as `post_data` or the `from` and `subject` of mails.").updatable(),
            prop("queue_name", Str, "Name of the queue whose messages are delivered.").required().is(QUEUE),
            prop("subscriber", Str, "Address that messages are delivered to, such as an `https` or `mailto` URL.").required().updatable(),
            prop("ttl", Int, "Seconds after which the subscription expires, 60 at least.").updatable().default(220367260800).min(60),
        ])
        .check(check)
        .creates(|op| Box::pin(create(op)))
        .rest(rest_spec())
}

const SCHEMES: [&str; 5] = ["http", "https", "mailto", "trust+http", "trust+https"];

fn check(members: &Members) -> Result<(), PropertyError> {
    let Some(subscriber) = text(members, "subscriber") else { return Ok(()) };
    let scheme = subscriber.split(':').next().unwrap_or_default();
    if SCHEMES.contains(&scheme) {
        Ok(())
    } else {
        let message = format!("The subscriber type of must be one of: {}.", SCHEMES.join(", "));
        Err(PropertyError::for_property("subscriber", message))
    }
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let fields = rest::new_fields(op, &spec);
    common::create(op, fields).await
}
