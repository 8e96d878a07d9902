//! Public templates on the simulated cloud, where the record of them is at hand: created, updated with no change, checked
//! and deleted, with nothing left behind.

use super::side::side_by_side;
use super::templates::{self, Case, Folder};
use serde_json::{Value as Json, json};
use std::cell::Cell;
use std::path::PathBuf;
use std::time::Instant;

/// Parameter values that do not follow from the names of the parameters: the end of a template's path, and the
/// parameters.
const TOLD: &[(&str, &str)] = &[
    ("barbican/order.yaml", r#"{"expiration": "2099-12-28T19:14:44"}"#),
    ("blazar/blazar_host.yaml", r#"{"name": "compute-1"}"#),
    ("keystone_service_endpoint.yaml", r#"{"region": "RegionOne"}"#),
    (
        "openshift-scalable-cpu-nbgears/openshift.yaml",
        r#"{"asg_template_repo_address": "http://127.0.0.1/node.yaml"}"#,
    ),
    (
        "openshift-scalable-cpu/openshift.yaml",
        r#"{"asg_template_repo_address": "http://127.0.0.1/node.yaml"}"#,
    ),
    ("openshift-scalable-nbgears/nodeinstance.yaml", r#"{"ssh_key": "key"}"#),
    ("oso_ha.yaml", r#"{"broker_image": "cirros", "node_image": "cirros"}"#),
    (
        "test_keystone_user_with_domain/assign_user_roles.yaml",
        r#"{"user_name": "demo", "project_name": "demo", "domain_name": "default"}"#,
    ),
];

/// Environments without which templates cannot live: the end of a template's path, the text.
const ENVIRONMENTS: &[(&str, &str)] = &[
    // Servers that name the alarms which watch them: a ring, unless the service keeps the alarms itself.
    ("invalid/AutoScalingMultiAZSample.template", KEPT_ALARMS),
    ("invalid/AutoScalingMultiAZSample.yaml", KEPT_ALARMS),
    ("invalid/WordPress_Single_Instance_With_HA.template", KEPT_ALARMS),
    ("invalid/WordPress_Single_Instance_With_HA_AccessPolicy.template", KEPT_ALARMS),
    // A type that only the reference's own tests know.
    ("octavia_lbaas.yaml", "resource_registry: {OS::Test::PoolMember: lb_member.yaml}"),
];

const KEPT_ALARMS: &str = "resource_registry: {AWS::CloudWatch::Alarm: OS::Heat::CWLiteAlarm}";

/// The placeholders of the reference's own tests: a word, and the text that replaces it.
const FILLED: [(&str, &str); 1] = [("$NETWORKS", "[{network: {get_resource: net}}]")];

/// Files that the reference's own tests made up: their paths, and what has the same text.
const COPIES: &[(&str, &str)] = &[(
    "heat/heat_integrationtests/functional/test_aws_stack/AwsStackTest/the.yaml",
    "heat/heat_integrationtests/functional/test_aws_stack/AwsStackTest/nested_with_res_template.yaml",
)];

/// A member of a group whose template is elsewhere.
const NODE: &str = "
heat_template_version: 2013-05-23
parameters:
  metadata: {type: json}
  private_network: {type: string}
  private_sub_network: {type: string}
  ssh_key: {type: string}
  security_group: {type: string}
  broker_ip: {type: string}
  broker_wait_condition_data: {type: string}
resources:
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.small
      key_name: {get_param: ssh_key}
      metadata: {get_param: metadata}
      networks: [{network: {get_param: private_network}}]
";

/// The templates in which such members are expected.
const NODES: [&str; 2] = [
    "openshift-origin/F19/hot-template/openshift-scalable-cpu/node.yaml",
    "openshift-origin/F19/hot-template/openshift-scalable-cpu-nbgears/node.yaml",
];

/// Objects that a template wants to be kept: the end of its path, their collection.
const KEPT: &[(&str, &str)] = &[("test_volumes_delete_snapshot.yaml", "volume/backups")];

/// Templates that fit nowhere: the end of a template's path, and what is said of it.
const UNFIT: &[(&str, &str)] = &[
    // They are there to fail.
    ("AutoscalingGroupTest/bad_instance_template.yaml", "Test Resource failed random1"),
    ("ResourceGroupErrorResourceTest/fail.yaml", "Test Resource failed oops"),
    ("ResourceGroupErrorResourceTest/template.yaml", "Test Resource failed oops"),
    ("ResourceGroupTest/provider.yaml", "Value 'BAD' is not an integer"),
    ("TemplateResourceCheckTest/failed_templ.yaml", "Test Resource failed check_failed"),
    ("TemplateResourceErrorMessageTest/fail.yaml", "Test Resource failed oops"),
    ("test_conditions/fail_rename_tmpl.yaml", "Test Resource failed test_fail"),
    // A list where the type wants a map.
    ("example-chef-template.yaml", "is not a map"),
    // Its load balancer is of a service that is gone, so it has no port.
    ("oso_ha.yaml", "Port could not be found"),
    // There is one region.
    ("multi_region_hello_world.yaml", "orchestration service in RegionTwo region not found"),
    // A server on no network in particular, while the stack brings a second one.
    ("WordPress_Single_Instance_With_Neutron.template", "Multiple possible networks found"),
];

#[tokio::test]
async fn public_templates_live_and_leave_nothing_behind() {
    let Some(corpus) = shared("corpus") else {
        eprintln!("the corpus of public templates is not here");
        return;
    };
    let text = std::fs::read_to_string(corpus.join("expected_validate.json")).expect("the record");
    let record: Json = serde_json::from_str(&text).expect("the record in JSON");
    let only = std::env::var_os("KILN_CASE").unwrap_or_default().to_string_lossy().into_owned();
    let mut cases = cases(&record);
    cases.retain(|case| case.template.contains(&only));
    let folder = folder(corpus.join("heat-templates"), &cases);
    // The templates that wait on purpose go first, so that the test does not wait for them alone at the end.
    cases.sort_by_key(|case| {
        !folder.text(&case.template).contains("_secs") && unfit(case).is_none()
    });
    let count = cases.len();
    let ended = Cell::new(0);
    let ends = side_by_side(cases, async |kiln, case| {
        let began = Instant::now();
        let end = judged(&case, templates::live(kiln, &folder, &case).await);
        ended.set(ended.get() + 1);
        let (name, seconds) = (&case.template, began.elapsed().as_secs_f64());
        println!("{}/{count} {name} ({seconds:.1} s): {end:?}", ended.get());
        end.map_err(|why| format!("{name}: {why}"))
    });
    let ends = ends.await;
    let all = |what: End| ends.iter().filter(|end| **end == Ok(what)).count();
    let (lived, unfit) = (all(End::Lived), all(End::Unfit));
    let wrong: Vec<&String> = ends.iter().filter_map(|end| end.as_ref().err()).collect();
    println!(
        "{count} templates: {lived} lived, {unfit} fit nowhere and said so, {} went wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The expected result of a template.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Lived,
    Unfit,
}

fn unfit(case: &Case) -> Option<&'static str> {
    let found = UNFIT.iter().find(|(template, _)| case.template.ends_with(template));
    found.map(|(_, told)| *told)
}

/// Compares the result of a template with the expected one. A template that cannot succeed here leaves nothing behind,
/// either.
fn judged(case: &Case, end: Result<(), String>) -> Result<End, String> {
    match (unfit(case), end) {
        (None, Ok(())) => Ok(End::Lived),
        (Some(_), Ok(())) => Err("it should not have lived".into()),
        (Some(told), Err(why)) if why.contains(told) && !why.contains("left: ") => Ok(End::Unfit),
        (_, Err(why)) => Err(why),
    }
}

/// The templates that the reference accepts, would accept if its cloud had all services, or accepted once.
fn cases(record: &Json) -> Vec<Case> {
    let all = record["results"].as_array().into_iter().flatten().enumerate();
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let has_environment = |case: &Json| {
        let template = case["template"].as_str().unwrap_or_default();
        ENVIRONMENTS.iter().any(|(end, _)| template.ends_with(end))
    };
    let accepted = all.filter(|(_, case)| {
        case["result"] == "ok" || case["compare"] == "skip" || has_environment(case)
    });
    accepted
        .filter_map(|(number, case)| {
            let template = text(&case["template"])?;
            let told = TOLD.iter().find(|(end, _)| template.ends_with(end));
            let told =
                told.map_or(json!({}), |(_, told)| serde_json::from_str(told).expect("JSON"));
            let own = ENVIRONMENTS.iter().any(|(end, _)| template.ends_with(end));
            let environment = text(&case["environment"]).or(own.then(|| format!("{template}.env")));
            let kept = KEPT.iter().find(|(end, _)| template.ends_with(end)).map(|(_, kept)| *kept);
            Some(Case { number, template, environment, told, kept })
        })
        .collect()
}

fn folder(path: PathBuf, cases: &[Case]) -> Folder {
    let there = Folder { path: path.clone(), beside: Vec::new() };
    let mut beside: Vec<(String, String)> =
        COPIES.iter().map(|(name, same)| ((*name).to_owned(), there.text(same))).collect();
    beside.extend(NODES.map(|name| (name.to_owned(), NODE.to_owned())));
    for case in cases {
        let text = there.text(&case.template);
        if let Some((word, meant)) = FILLED.iter().find(|(word, _)| text.contains(word)) {
            beside.push((case.template.clone(), text.replace(word, meant)));
        }
        let text = ENVIRONMENTS.iter().find(|(end, _)| case.template.ends_with(end));
        beside.extend(text.map(|(_, text)| (format!("{}.env", case.template), (*text).to_owned())));
    }
    Folder { path, beside }
}

fn shared(folder: &str) -> Option<PathBuf> {
    let all = match std::env::var_os("KILN_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").into(),
    };
    Some(all.join(folder)).filter(|path| path.exists())
}
