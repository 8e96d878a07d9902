//! The tests of Heat itself, unmodified, on a real cloud: all that need no program in a booted server.
//!
//! The API is in the catalogue for as long as a suite runs.

use crate::clients::{clients, python};
use crate::cloud::kiln_process::KilnProcess;

#[tokio::test(flavor = "multi_thread")]
async fn the_api_tests_of_the_reference_pass_on_a_real_cloud() {
    suite("api").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_functional_tests_of_the_reference_pass_on_a_real_cloud() {
    suite("functional").await;
}

async fn suite(name: &str) {
    let Some(kiln) = KilnProcess::on_openstack().await else { return };
    let Some(clients) = clients() else { return };
    let Some(real) = &kiln.real else { return };
    let before = kiln.objects().await;
    let ours = [kiln.orchestration(), kiln.cloudformation()].map(Into::into);
    let mut arguments = vec![real.clouds().into(), name.into()];
    arguments.extend(ours);
    python(&clients, "interface.py", arguments);
    let left = kiln.changed_since(&before).await;
    assert!(left.is_empty(), "{}", left.join(", "));
}
