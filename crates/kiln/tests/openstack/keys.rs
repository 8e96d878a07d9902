//! Requests that are signed with a key of a real identity service.

use crate::clients::{clients, python};
use crate::cloud::world::World;

/// What AWS's own tools are told when their signatures are good, wrong, old, or not of what was sent.
const TESTS: [&str; 6] = [
    "test_old_signatures_are_good",
    "test_a_signature_in_the_address_is_good",
    "test_wrong_ones_are_refused",
    "test_expired_ones_are_refused",
    "test_what_was_not_signed_does_not_count",
    "test_json_is_answered_where_it_is_asked_for",
];

#[tokio::test(flavor = "multi_thread")]
async fn signatures_are_judged_by_the_real_identity_service() {
    let Some(world) = World::on_openstack().await else { return };
    let Some(clients) = clients() else { return };
    let Some(real) = &world.real else { return };
    let mut arguments = vec![real.clouds().into(), "demo".into(), world.cloudformation().into()];
    arguments.extend(TESTS.map(Into::into));
    python(&clients, "cloudformation.py", arguments);
}
