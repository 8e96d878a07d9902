//! Several engines on one database share the stacks that have work.

use crate::server::{Served, wait};
use crate::test_directory::TestDirectory;
use serde_json::{Value, json};

const STACKS: usize = 20;

/// How many stacks each engine that is up has.
fn shares(directory: &TestDirectory) -> Vec<u64> {
    let run = directory.run(&["admin", "engines", "--config", "engine.conf", "-f", "json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let engines: Value = serde_json::from_str(&run.out).expect("JSON");
    let up = engines.as_array().into_iter().flatten().filter(|engine| engine["State"] == "up");
    up.map(|engine| engine["Stacks"].as_u64().unwrap_or_default()).collect()
}

#[test]
fn an_engine_that_starts_takes_its_part_and_gives_it_back_when_it_leaves() {
    let config = "[heat_api]\nbind_host = 127.0.0.1\nbind_port = 0\n[paste_deploy]\nflavor = noauth\n\
                  [kiln]\nroles = api\n";
    let directory =
        TestDirectory::with(&[("api.conf", config), ("engine.conf", "[kiln]\nroles = engine\n")]);
    let mut api = Served::start(&directory, "api.conf");
    let url = api.address();
    let mut first = Served::start(&directory, "engine.conf");
    first.wait_for("The engine runs.");
    let slow = json!({"type": "OS::Heat::TestResource", "properties": {"wait_secs": 3000}});
    let template = json!({"heat_template_version": "2021-04-16", "resources": {"slow": slow}});
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        for number in 0..STACKS {
            let stack = json!({"stack_name": format!("s{number}"), "template": template});
            let made = client.post(format!("{url}/v1/admin/stacks")).json(&stack).send().await;
            assert_eq!(made.expect("an answer").status(), 201);
        }
    });
    while shares(&directory) != [STACKS as u64] {}
    let second = Served::start(&directory, "engine.conf");
    let is_fair = |shares: &[u64]| shares.len() == 2 && shares.iter().all(|share| *share >= 8);
    while !is_fair(&shares(&directory)) {}
    assert!(second.stop());
    while shares(&directory) != [STACKS as u64] {}
    assert!(first.stop() && api.stop());
}
