//! A service that is down for a while, with many stacks that need it.
//!
//! `KILN_OUTAGE=90` keeps the service down for so many seconds, as a demonstration.

use super::kiln_process::{KilnProcess, Who};
use super::life::expect;
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

const STACKS: usize = 50;

const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.0.0.0/24}}
  port: {type: OS::Neutron::Port, properties: {network: {get_resource: net}}, depends_on: subnet}
";

fn name(number: usize) -> String {
    format!("patient-{number}")
}

/// How many calls the network service got so far, also those that it refused.
async fn network_calls(kiln: &KilnProcess) -> u64 {
    let calls = kiln.cloud(Who::Admin, "GET", "/sim/calls", None).await.body;
    let calls = calls["calls"].as_object().into_iter().flatten();
    calls
        .filter(|(route, _)| route.contains("network/v2.0/"))
        .filter_map(|(_, it)| it.as_u64())
        .sum()
}

/// The state of every stack and its reason.
async fn stacks(kiln: &KilnProcess) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for number in 0..STACKS {
        let stack = kiln.stack(Who::Demo, &name(number)).await.expect("a stack");
        let text = |field: &str| stack[field].as_str().unwrap_or_default().to_owned();
        all.push((text("stack_status"), text("stack_status_reason")));
    }
    all
}

#[tokio::test]
async fn a_service_that_is_down_is_waited_for_by_all_and_called_by_one() {
    let kiln = KilnProcess::start(&[]).await;
    kiln.set_faults(json!([{ "service": "network", "kind": { "status": 503 } }])).await;
    let (began, before) = (Instant::now(), network_calls(&kiln).await);
    for number in 0..STACKS {
        let body = json!({ "stack_name": name(number), "template": TEMPLATE, "timeout_mins": 10 });
        let created = kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await;
        expect(created, "create").expect("a stack");
    }
    let is_told = |(state, reason): &(String, String)| {
        state == "CREATE_IN_PROGRESS"
            && reason.contains("Waiting for the network service (HTTP 503)")
    };
    while !stacks(&kiln).await.iter().all(is_told) {}
    let told = network_calls(&kiln).await;
    // From now on there are probes, and nothing else.
    let mut calls = told;
    while calls < told + 3 {
        calls = network_calls(&kiln).await;
    }
    assert!(calls < told + 6, "{} calls, when one at a time is tried", calls - told);
    let seconds = std::env::var("KILN_OUTAGE").ok().and_then(|it| it.parse().ok());
    let outage = Duration::from_secs(seconds.unwrap_or_default());
    while began.elapsed() < outage {
        network_calls(&kiln).await;
    }
    let (calls, lasted, back) =
        (network_calls(&kiln).await - before, began.elapsed(), Instant::now());
    kiln.set_faults(Json::Array(Vec::new())).await;
    for number in 0..STACKS {
        let (state, reason) = kiln.rest(Who::Demo, &name(number)).await.expect("a stack");
        assert_eq!(state, "CREATE_COMPLETE", "{reason}");
    }
    println!(
        "{STACKS} stacks complete {:?} after an outage of {lasted:?}, in which there were {calls} calls",
        back.elapsed()
    );
}
