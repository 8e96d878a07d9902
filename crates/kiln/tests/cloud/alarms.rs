//! Alarms that scale groups, from a report of a guest to the servers of the cloud; and what is left of that if
//! everything dies on the way.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect, path};
use crate::guests::inside::Inside;
use serde_json::{Value as Json, json};
use std::time::Duration;

const AUTOSCALING: &str = include_str!("../../../../examples/autoscaling.yaml");

/// How long something is asked for again and again before it counts as missing.
const PATIENCE: Duration = Duration::from_secs(90);

impl KilnProcess {
    /// Sends a request to the CloudWatch API as a user.
    async fn watch(&self, action: &str, pairs: &[(&str, &str)]) -> Json {
        let mut form = vec![("Action", action), ("ContentType", "JSON")];
        form.extend(pairs);
        let url = format!("{}/", self.cloudwatch().trim_end_matches('/'));
        let request = self.request(Who::Demo, "POST", url).header("X-Auth-User", "demo");
        let response = request.form(&form).send().await.expect("an answer");
        let status = response.status().as_u16();
        let body: Json = response.json().await.expect("JSON");
        assert_eq!(status, 200, "{action} {pairs:?}: {body}");
        body[format!("{action}Response")][format!("{action}Result")].clone()
    }

    /// How many members a stack's group has.
    async fn size(&self, stack: &str) -> u64 {
        let path = format!("{}/outputs/size", path(self, Who::Demo, stack).await);
        let reply = self.ask(Who::Demo, "GET", &path, None).await;
        reply.body["output"]["output_value"].as_u64().unwrap_or(0)
    }
}

/// The servers of a stack.
async fn servers(kiln: &KilnProcess, stack: &str) -> Vec<String> {
    let path = format!("{}/resources?nested_depth=2", path(kiln, Who::Demo, stack).await);
    let all = kiln.ask(Who::Demo, "GET", &path, None).await.body["resources"].clone();
    let all = all.as_array().into_iter().flatten();
    let servers = all.filter(|it| it["resource_type"] == "OS::Nova::Server");
    servers.filter_map(|it| Some(it["physical_resource_id"].as_str()?.to_owned())).collect()
}

/// The outputs with the key of the guests.
const KEY: &str = "
  access: {value: {get_resource: key}}
  secret: {value: {get_attr: [key, SecretAccessKey]}}
";

/// Sends a request to the CloudWatch API as a guest, with the key that its stack gave it; returns the answer.
async fn guest(kiln: &KilnProcess, form: &str) -> String {
    let mut key = Vec::new();
    for name in ["access", "secret"] {
        let path = format!("{}/outputs/{name}", path(kiln, Who::Demo, "web").await);
        let reply = kiln.ask(Who::Demo, "GET", &path, None).await;
        key.push(reply.body["output"]["output_value"].as_str().expect("a text").to_owned());
    }
    let url = format!("{}/", kiln.cloudwatch().trim_end_matches('/'));
    let curl = std::process::Command::new("curl")
        .args(["--silent", "--aws-sigv4", "aws:amz:RegionOne:monitoring", "--user"])
        .args([&key.join(":"), "--data", form, &url])
        .output()
        .expect("curl");
    String::from_utf8_lossy(&curl.stdout).into_owned()
}

/// Does something again and again until a group has so many members.
async fn until_size(kiln: &KilnProcess, stack: &str, size: u64, mut meanwhile: impl AsyncFnMut()) {
    let reached = async {
        while kiln.size(stack).await != size {
            meanwhile().await;
        }
    };
    let is_reached = tokio::time::timeout(PATIENCE, reached).await.is_ok();
    assert!(is_reached, "{stack} has {} members, not {size}", kiln.size(stack).await);
}

#[tokio::test]
async fn a_group_grows_while_its_servers_are_busy_and_shrinks_then() {
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    let parameters = json!({ "period": 1, "cooldown": 0 });
    let template = format!("{AUTOSCALING}{KEY}");
    let body = json!({ "stack_name": "web", "template": template, "parameters": parameters });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    ended(&kiln, Who::Demo, "web", "CREATE_COMPLETE").await.expect("created");
    assert_eq!(kiln.size("web").await, 1);

    // The guests may report, and nothing else.
    let report = "Action=PutMetricData&Namespace=system/linux&MetricData.member.1.MetricName=CPUUtilization\
                  &MetricData.member.1.Unit=Percent&MetricData.member.1.Value=40";
    let told = guest(&kiln, report).await;
    assert!(told.starts_with("<PutMetricDataResponse>"), "{told}");
    let told = guest(&kiln, "Action=DescribeAlarms").await;
    assert!(told.contains("Action DescribeAlarms not allowed for user"), "{told}");

    // The agent inside the first server reports, with the credentials that the server was given.
    let inside = Inside::installed();
    let server = servers(&kiln, "web").await.remove(0);
    inside.boot(&kiln.user_data(&server).await);
    let crontab = std::fs::read_to_string(inside.directory.path().join("etc/cron.d/report"));
    assert!(crontab.is_ok_and(|it| it.contains("cfn-push-stats --watch web-busy --cpu-util")));
    let report = |alarm: &str, busy: &str| {
        let figure = ["--metric", "CPUUtilization", "--units", "Percent", "--value", busy];
        inside.run(&[&["cfn-push-stats", "--watch", alarm], &figure[..]].concat());
    };
    until_size(&kiln, "web", 3, async || report("web-busy", "95")).await;
    let found = kiln.watch("DescribeAlarms", &[("AlarmName", "web-busy")]).await;
    assert_eq!(found["MetricAlarms"][0]["StateValue"], "ALARM", "{found}");
    until_size(&kiln, "web", 1, async || report("web-idle", "2")).await;
    let history = kiln
        .watch("DescribeAlarmHistory", &[("AlarmName", "web-idle"), ("HistoryItemType", "Action")]);
    let items = history.await["AlarmHistoryItems"].clone();
    let said = items[0]["HistorySummary"].as_str().unwrap_or_default().to_owned();
    assert!(said.starts_with("Successfully executed action "), "{items}");

    delete(&kiln, Who::Demo, "web").await.expect("deleted");
    assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new());
    assert_eq!(kiln.watch("DescribeAlarms", &[]).await["MetricAlarms"], json!([]));
}

/// A request of a user with a key of their own: the answer, and the headers that the request was signed with.
fn signed(kiln: &KilnProcess, key: &str, form: &str) -> (String, Vec<String>) {
    let url = format!("{}/", kiln.cloudwatch().trim_end_matches('/'));
    let curl = std::process::Command::new("curl")
        .args(["--silent", "--verbose", "--aws-sigv4", "aws:amz:RegionOne:monitoring"])
        .args(["--user", key, "--data", form, &url])
        .output()
        .expect("curl");
    let sent = String::from_utf8_lossy(&curl.stderr).into_owned();
    let headers = sent.lines().filter_map(|line| line.strip_prefix("> "));
    let is_of_signature = |it: &&str| {
        let name = it.to_lowercase();
        name.starts_with("authorization:") || name.starts_with("x-amz-date:")
    };
    let headers = headers.filter(is_of_signature).map(str::to_owned).collect();
    (String::from_utf8_lossy(&curl.stdout).into_owned(), headers)
}

#[tokio::test]
async fn a_request_that_was_answered_is_not_answered_again_after_a_restart() {
    let state = ["--state", "state"];
    let mut kiln = KilnProcess::empty(&state).await;
    let id = async |kind: &str| {
        let path = format!("/{kind}?name=demo");
        let found = kiln.identity(Who::Admin, "GET", &path, None).await.body;
        found[kind][0]["id"].as_str().expect("an id").to_owned()
    };
    let (user, project) = (id("users").await, id("projects").await);
    let path = format!("/users/{user}/credentials/OS-EC2");
    let body = json!({ "tenant_id": project });
    let made = kiln.identity(Who::Demo, "POST", &path, Some(body)).await.body;
    let text = |name: &str| made["credential"][name].as_str().expect("a text").to_owned();
    let key = format!("{}:{}", text("access"), text("secret"));
    let form = "Action=PutMetricAlarm&AlarmName=once&MetricName=m&Namespace=n&Statistic=Sum&Period=60\
                &EvaluationPeriods=1&Threshold=1&ComparisonOperator=GreaterThanThreshold";
    let (told, headers) = signed(&kiln, &key, form);
    assert!(told.starts_with("<PutMetricAlarmResponse>"), "{told}");
    assert_eq!(headers.len(), 2, "{headers:?}");
    kiln.watch("DeleteAlarms", &[("AlarmNames.member.1", "once")]).await;
    for is_restarted in [false, true] {
        let url = format!("{}/", kiln.cloudwatch().trim_end_matches('/'));
        let headers = headers.iter().flat_map(|header| ["--header", header]);
        let again = std::process::Command::new("curl")
            .args(["--silent", "--data", form, &url])
            .args(headers)
            .output()
            .expect("curl");
        let told = String::from_utf8_lossy(&again.stdout);
        // An equal request within two seconds gets the first answer. It is not carried out again in any case.
        let is_first_answer = told.starts_with("<PutMetricAlarmResponse>") && !is_restarted;
        assert!(is_first_answer || told.contains("<Code>RequestExpired</Code>"), "{told}");
        assert_eq!(kiln.watch("DescribeAlarms", &[]).await["MetricAlarms"], json!([]));
        kiln.kill(&state);
    }
}

const GROUP: &str = concat!(
    "
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 0, max_size: 100, desired_capacity: 1, resource: {type: OS::Heat::RandomString}}
",
    include_str!("../../../../tests/samples/scaling_policy.yaml"),
    "\
outputs:
  size: {value: {get_attr: [group, current_size]}}
"
);

/// After how many milliseconds a signal is not waited for any more.
const DELAYS: [u64; 6] = [0, 2, 5, 10, 20, 1000];

/// A signal that was acknowledged counts once, one that was not counts once or not at all; whenever the process
/// is killed.
#[tokio::test]
async fn a_signal_counts_once_whenever_everything_dies() {
    let state = ["--state", "state"];
    let mut kiln = KilnProcess::empty(&state).await;
    let body = json!({ "stack_name": "kill", "template": GROUP });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    ended(&kiln, Who::Demo, "kill", "CREATE_COMPLETE").await.expect("created");
    let mut size = kiln.size("kill").await;
    let (mut acknowledged, mut heard) = (0, 0);
    for delay in DELAYS {
        let signal = format!("{}/resources/up/signal", path(&kiln, Who::Demo, "kill").await);
        let sent = kiln.ask(Who::Demo, "POST", &signal, None);
        // Sooner or later on its way.
        let answer = tokio::time::timeout(Duration::from_millis(delay), sent).await;
        let is_acknowledged = answer.is_ok_and(|reply| reply.status == 200);
        kiln.kill(&state);
        kiln.rest(Who::Demo, "kill").await;
        // The commands in the queue are read at the start; another signal comes after them.
        let mark = json!({ "mark_unhealthy": false });
        let place = format!("{}/resources/up", path(&kiln, Who::Demo, "kill").await);
        kiln.ask(Who::Demo, "PATCH", &place, Some(mark)).await;
        kiln.rest(Who::Demo, "kill").await;
        if is_acknowledged {
            until_size(&kiln, "kill", size + 1, async || {}).await;
        }
        let now = kiln.size("kill").await;
        assert!(now == size || now == size + 1, "{size} became {now} by one signal");
        assert!(now == size + 1 || !is_acknowledged, "an acknowledged signal was lost");
        acknowledged += u64::from(is_acknowledged);
        heard += now - size;
        size = now;
    }
    println!("{acknowledged} of {} signals were acknowledged, {heard} were heard", DELAYS.len());
    assert!(acknowledged > 0 && heard >= acknowledged);
    delete(&kiln, Who::Demo, "kill").await.expect("deleted");
}
