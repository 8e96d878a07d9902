//! Requests that are signed with a key of a real identity service.

use crate::clients::{clients, python};
use crate::cloud::kiln_process::KilnProcess;

/// The tests of AWS's own tools with signatures that are good, wrong, old, or not of the request that was sent.
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
    let Some(kiln) = KilnProcess::on_openstack().await else { return };
    let Some(clients) = clients() else { return };
    let Some(real) = &kiln.real else { return };
    let mut arguments = vec![real.clouds().into(), "demo".into(), kiln.cloudformation().into()];
    arguments.extend(TESTS.map(Into::into));
    python(&clients, "cloudformation.py", arguments);
}
