//! The CloudWatch API: its actions, its faults, and the alarms of stacks.

use crate::test_api::{Reply, TestApi, signature};
use axum::body::Body;
use axum::http::Request as HttpRequest;
use kiln_api::aws::Effect;
use serde_json::{Value as Json, json};

const RULE: &str = "MetricName=CPU&Namespace=n&Statistic=Average&Period=60&EvaluationPeriods=2\
                    &Threshold=7.5&ComparisonOperator=GreaterThanThreshold";

const STACK: &str = concat!(
    "
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 1, max_size: 3, resource: {type: OS::Heat::RandomString}}
",
    include_str!("../../../tests/samples/scaling_policy.yaml"),
    "  high:
    type: OS::Heat::CWLiteAlarm
    properties:
      MetricName: CPU
      Namespace: n
      Statistic: Sum
      Period: '300'
      EvaluationPeriods: '1'
      Threshold: '2'
      ComparisonOperator: GreaterThanThreshold
      AlarmDescription: too much
      AlarmActions: [{get_resource: up}]
      Dimensions: [{Name: Group, Value: web}]
outputs:
  alarm: {value: {get_resource: high}}
  size: {value: {get_attr: [group, current_size]}}
",
);

impl TestApi {
    async fn watch(&self, key: &str, query: &str) -> Reply {
        let path = format!("/v1/?{}&{query}", signature(key));
        let request = HttpRequest::builder().uri(path).header("host", "kiln.example:8003");
        let request = request.body(Body::empty()).expect("a request");
        let response = kiln_api::cloudwatch::answer(self.app.clone(), request).await;
        crate::test_api::reply(response).await
    }

    /// Asks for JSON, and gives what the action came to.
    async fn watched(&self, action: &str, query: &str) -> Json {
        let reply = self.watch("demo", &format!("Action={action}&ContentType=JSON&{query}")).await;
        assert_eq!(reply.status, 200, "{action} {query}: {reply:?}");
        reply.json()[format!("{action}Response")][format!("{action}Result")].clone()
    }

    async fn refused(&self, action: &str, query: &str) -> (u16, String, String) {
        let reply = self.watch("demo", &format!("Action={action}&ContentType=JSON&{query}")).await;
        let error = reply.json()["ErrorResponse"]["Error"].clone();
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let message = text("Message");
        let detail = message.split_once(':').map(|(_, detail)| detail.to_owned());
        (reply.status, text("Code"), detail.unwrap_or_default())
    }

    /// Waits until a group has so many members, and is at rest.
    async fn until_size(&self, path: &str, size: usize) {
        loop {
            let output = self.get(&format!("{path}/outputs/size")).await.json();
            let shown = self.get(path).await.json();
            let is_at_rest = shown["stack"]["stack_status"].as_str().unwrap_or_default();
            if output["output"]["output_value"] == size && is_at_rest.ends_with("COMPLETE") {
                self.rest(path).await;
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn alarm(&self, name: &str) -> Json {
        self.watched("DescribeAlarms", &format!("AlarmName={name}")).await["MetricAlarms"][0]
            .clone()
    }
}

fn put_datum(namespace: &str, metric: &str, value: &str, dimensions: &[(&str, &str)]) -> String {
    let mut query = format!(
        "Namespace={namespace}&MetricData.member.1.MetricName={metric}&MetricData.member.1.Unit=Count\
         &MetricData.member.1.Value={value}"
    );
    for (at, (name, value)) in dimensions.iter().enumerate() {
        let start = format!("MetricData.member.1.Dimensions.member.{}", at + 1);
        query.push_str(&format!("&{start}.Name={name}&{start}.Value={value}"));
    }
    query
}

fn names(found: &Json) -> Vec<&str> {
    let alarms = found["MetricAlarms"].as_array().expect("alarms");
    alarms.iter().map(|alarm| alarm["AlarmName"].as_str().expect("a name")).collect()
}

#[tokio::test]
async fn rights_are_asked_for_every_action() {
    let api = TestApi::new();
    for action in kiln_api::cloudwatch::ACTIONS {
        let query = format!("Action={}", action.name);
        let denied = format!("Action {} not allowed for user", action.name);
        let is_denied = async |key: &str| {
            let reply = api.watch(key, &query).await;
            let is_denied = reply.text.contains(&denied);
            assert_eq!(is_denied, reply.status == 403, "{reply:?}");
            is_denied
        };
        assert!(is_denied("nobody").await, "{}", action.name);
        assert_eq!(
            is_denied("stack-user").await,
            action.name != "PutMetricData",
            "{}",
            action.name
        );
        assert_eq!(is_denied("reader").await, action.effect != Effect::Reads, "{}", action.name);
        assert!(!is_denied("demo").await, "{}", action.name);
    }
    assert_eq!(kiln_api::cloudwatch::ACTIONS.len(), 11);
    assert_eq!(api.refused("Dance", "").await.1, "InvalidAction");
}

#[tokio::test]
async fn an_alarm_of_ones_own_lives_and_leaves_its_history() {
    let api = TestApi::new();
    assert_eq!(api.watched("PutMetricAlarm", &format!("AlarmName=a&{RULE}")).await, json!(""));
    let alarm = api.alarm("a").await;
    let members: Vec<&String> = alarm.as_object().expect("an object").keys().collect();
    assert_eq!(members.len(), 21, "{members:?}");
    assert_eq!(alarm["AlarmArn"], "arn:openstack:heat::demo:alarm/a");
    assert_eq!(
        (&alarm["StateValue"], &alarm["Threshold"], &alarm["Period"], &alarm["ActionsEnabled"]),
        (&json!("NODATA"), &json!("7.5"), &json!("60"), &json!(true))
    );
    assert_eq!((&alarm["Dimensions"], &alarm["AlarmActions"]), (&json!([]), &Json::Null));

    let set = "AlarmName=a&StateValue=ALARM&StateReason=hot&StateReasonData=%7B%22x%22%3A1%7D";
    assert_eq!(api.watched("SetAlarmState", set).await, json!(""));
    // A new rule keeps the state.
    api.watched("PutMetricAlarm", &format!("AlarmName=a&{RULE}&Unit=Percent")).await;
    let alarm = api.alarm("a").await;
    assert_eq!(
        (&alarm["StateValue"], &alarm["StateReason"], &alarm["StateReasonData"], &alarm["Unit"]),
        (&json!("ALARM"), &json!("hot"), &json!("{\"x\":1}"), &json!("Percent"))
    );
    api.watched("DisableAlarmActions", "AlarmNames.member.1=a&AlarmNames.member.2=none").await;
    assert_eq!(api.alarm("a").await["ActionsEnabled"], false);
    api.watched("EnableAlarmActions", "AlarmNames.member.1=a").await;
    assert_eq!(api.alarm("a").await["ActionsEnabled"], true);

    api.watched("DeleteAlarms", "AlarmNames.member.1=a").await;
    let gone = api.refused("DescribeAlarms", "AlarmName=a").await;
    let told = "The Watch Rule (a) could not be found.".to_owned();
    assert_eq!(gone, (400, "InvalidParameterValue".into(), told.clone()));
    let again = api.refused("DeleteAlarms", "AlarmNames.member.1=a").await;
    assert_eq!(again, (404, "ResourceNotFound".into(), told));

    let query = "AlarmName=a&ScanBy=TimestampAscending&MaxRecords=4";
    let history = api.watched("DescribeAlarmHistory", query).await;
    let summaries = |history: &Json| -> Vec<String> {
        let items = history["AlarmHistoryItems"].as_array().expect("items");
        items.iter().map(|it| it["HistorySummary"].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(
        summaries(&history),
        [
            "Alarm \"a\" created",
            "Alarm updated from INSUFFICIENT_DATA to ALARM",
            "Alarm \"a\" updated",
            "Alarm \"a\" updated"
        ]
    );
    let token = history["NextToken"].as_str().expect("another page");
    let rest = api.watched("DescribeAlarmHistory", &format!("{query}&NextToken={token}")).await;
    assert_eq!(summaries(&rest), ["Alarm \"a\" updated", "Alarm \"a\" deleted"]);
    assert_eq!(rest["NextToken"], Json::Null);
    let turned = &history["AlarmHistoryItems"][1];
    let data: Json = serde_json::from_str(turned["HistoryData"].as_str().expect("JSON")).unwrap();
    assert_eq!(data["newState"]["stateValue"], "ALARM");
    assert!(turned["Timestamp"].as_str().expect("a moment").ends_with('Z'));
    let states = api.watched("DescribeAlarmHistory", "HistoryItemType=StateUpdate").await;
    assert_eq!(states["AlarmHistoryItems"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn alarms_are_listed_page_by_page() {
    let api = TestApi::new();
    for name in ["web-1", "web-2", "web-3", "db-1"] {
        api.watched("PutMetricAlarm", &format!("AlarmName={name}&{RULE}")).await;
    }
    let all = api.watched("DescribeAlarms", "").await;
    assert_eq!(names(&all), ["db-1", "web-1", "web-2", "web-3"]);
    let first = api.watched("DescribeAlarms", "AlarmNamePrefix=web&MaxRecords=2").await;
    assert_eq!(names(&first), ["web-1", "web-2"]);
    let token = first["NextToken"].as_str().expect("another page");
    let query = format!("AlarmNamePrefix=web&MaxRecords=2&NextToken={token}");
    let rest = api.watched("DescribeAlarms", &query).await;
    assert_eq!((names(&rest), &rest["NextToken"]), (vec!["web-3"], &Json::Null));
    let some = "AlarmNames.member.1=web-2&AlarmNames.member.2=none&AlarmNames.member.3=db-1";
    assert_eq!(names(&api.watched("DescribeAlarms", some).await), ["web-2", "db-1"]);
    api.watched("SetAlarmState", "AlarmName=web-3&StateValue=OK&StateReason=x").await;
    assert_eq!(names(&api.watched("DescribeAlarms", "StateValue=OK").await), ["web-3"]);
    assert_eq!(names(&api.watched("DescribeAlarms", "ActionPrefix=arn").await), [""; 0]);
    let of_metric = "MetricName=CPU&Namespace=n";
    let found = api.watched("DescribeAlarmsForMetric", of_metric).await;
    assert_eq!(names(&found).len(), 4);
    for (more, count) in
        [("Period=60", 4), ("Period=300", 0), ("Statistic=Average", 4), ("Unit=Percent", 0)]
    {
        let found = api.watched("DescribeAlarmsForMetric", &format!("{of_metric}&{more}")).await;
        assert_eq!(names(&found).len(), count, "{more}");
    }
    // Alarms of others are not there.
    let other = api.watch("other", "Action=DescribeAlarms&ContentType=JSON").await.json();
    assert_eq!(other["DescribeAlarmsResponse"]["DescribeAlarmsResult"]["MetricAlarms"], json!([]));
}

#[tokio::test]
async fn what_is_wrong_is_refused() {
    let api = TestApi::new();
    api.watched("PutMetricAlarm", &format!("AlarmName=a&{RULE}")).await;
    let long = "x".repeat(256);
    let rule_without = |name: &str| {
        let parts = RULE.split('&').filter(|part| !part.starts_with(&format!("{name}=")));
        parts.collect::<Vec<_>>().join("&")
    };
    for name in [
        "MetricName",
        "Namespace",
        "Statistic",
        "Period",
        "EvaluationPeriods",
        "Threshold",
        "ComparisonOperator",
    ] {
        let refused =
            api.refused("PutMetricAlarm", &format!("AlarmName=b&{}", rule_without(name))).await;
        assert_eq!(refused, (400, "MissingParameter".into(), name.into()));
    }
    let (missing, bad, both) =
        ("MissingParameter", "InvalidParameterValue", "InvalidParameterCombination");
    let rule = |more: &str| {
        format!("AlarmName=b&{}&{more}", rule_without(more.split('=').next().unwrap()))
    };
    let statistics = "Namespace=n&MetricName=m&StartTime=2031-04-05T00:00:00Z&Period=60\
                      &Statistics.member.1=Sum";
    let cases = [
        ("PutMetricAlarm", RULE.to_owned(), missing),
        ("PutMetricAlarm", format!("AlarmName={long}&{RULE}"), bad),
        ("PutMetricAlarm", rule("Period=61"), bad),
        ("PutMetricAlarm", rule("Period=0"), bad),
        ("PutMetricAlarm", rule("Period=86400"), bad),
        ("PutMetricAlarm", rule("EvaluationPeriods=0"), bad),
        ("PutMetricAlarm", rule("Threshold=NaN"), bad),
        ("PutMetricAlarm", rule("Threshold=inf"), bad),
        ("PutMetricAlarm", rule("Statistic=Median"), bad),
        ("PutMetricAlarm", rule("ComparisonOperator=EqualToThreshold"), bad),
        ("PutMetricAlarm", rule("Namespace=:x"), bad),
        ("PutMetricAlarm", rule("Unit=Furlongs"), bad),
        ("PutMetricAlarm", rule("TreatMissingData=guess"), bad),
        ("PutMetricAlarm", rule("DatapointsToAlarm=3"), bad),
        ("PutMetricAlarm", rule("ActionsEnabled=perhaps"), bad),
        ("PutMetricAlarm", rule("AlarmActions.member.1=http://elsewhere/"), bad),
        ("PutMetricAlarm", rule("ExtendedStatistic=p99"), both),
        ("PutMetricAlarm", rule("Metrics.member.1.Id=x"), both),
        ("DescribeAlarms", "AlarmName=none".into(), bad),
        ("DescribeAlarms", "AlarmNames.member.1=a&AlarmNamePrefix=a".into(), both),
        ("DescribeAlarms", "MaxRecords=0".into(), bad),
        ("DescribeAlarms", "MaxRecords=101".into(), bad),
        ("DescribeAlarms", "StateValue=NORMAL".into(), bad),
        ("DescribeAlarms", "NextToken=x".into(), "InvalidNextToken"),
        ("DescribeAlarms", "AlarmNames.member.x=a".into(), "InvalidQueryParameter"),
        ("DescribeAlarmsForMetric", "MetricName=CPU".into(), missing),
        ("DescribeAlarmHistory", "HistoryItemType=Gossip".into(), bad),
        ("DescribeAlarmHistory", "StartDate=yesterday".into(), bad),
        ("DescribeAlarmHistory", "ScanBy=SystemIds".into(), bad),
        ("DescribeAlarmHistory", "NextToken=x".into(), "InvalidNextToken"),
        ("DeleteAlarms", "".into(), missing),
        ("EnableAlarmActions", "".into(), missing),
        ("DisableAlarmActions", "".into(), missing),
        ("SetAlarmState", "StateValue=OK".into(), missing),
        ("SetAlarmState", "AlarmName=a".into(), missing),
        ("SetAlarmState", "AlarmName=a&StateValue=NORMAL".into(), bad),
        ("SetAlarmState", "AlarmName=none&StateValue=OK".into(), bad),
        ("SetAlarmState", "AlarmName=a&StateValue=OK&StateReasonData=x".into(), "InvalidFormat"),
        ("PutMetricData", "".into(), missing),
        ("PutMetricData", "Namespace=n".into(), missing),
        ("PutMetricData", put_datum("n", "m", "NaN", &[]), bad),
        ("PutMetricData", put_datum("n", "m", "inf", &[]), bad),
        ("PutMetricData", put_datum("n", "m", "1e300", &[]), bad),
        ("PutMetricData", put_datum("n", "m", "some", &[]), bad),
        ("PutMetricData", put_datum("n", &long, "1", &[]), bad),
        ("PutMetricData", put_datum("n", "m", "1", &[("AlarmName", "none")]), bad),
        (
            "PutMetricData",
            put_datum("n", "m", "1", &[]) + "&MetricData.member.1.Timestamp=2001-01-01T00:00:00Z",
            bad,
        ),
        ("ListMetrics", "NextToken=x".into(), "InvalidNextToken"),
        ("GetMetricStatistics", statistics.into(), missing),
        ("GetMetricStatistics", format!("{statistics}&EndTime=2031-04-04T00:00:00Z"), bad),
        ("GetMetricStatistics", format!("{statistics}&EndTime=2032-04-05T00:00:00Z"), both),
        (
            "GetMetricStatistics",
            format!("{statistics}&EndTime=2031-04-05T00:10:00Z&ExtendedStatistics.member.1=p50"),
            both,
        ),
    ];
    for (action, query, code) in cases {
        let refused = api.refused(action, &query).await;
        assert_eq!((refused.0, refused.1.as_str()), (400, code), "{action} {query}: {}", refused.2);
    }
    let state = api.refused("SetAlarmState", "AlarmName=a&StateValue=BAD").await.2;
    assert_eq!(state, "Invalid state BAD, expecting one of ['OK', 'ALARM', 'INSUFFICIENT_DATA']");
    assert_eq!(api.refused("PutMetricData", "Namespace=n").await.2, "MetricData list");
    let unnamed = "Namespace=n&MetricData.member.1.Unit=Count&MetricData.member.1.Value=1";
    assert_eq!(api.refused("PutMetricData", unnamed).await.2, "MetricName");
}

#[tokio::test]
async fn an_address_that_is_allowed_is_told_and_redirects_are_not_followed() {
    use axum::response::{IntoResponse, Redirect};
    use axum::routing::post;
    let (send, mut told) = tokio::sync::mpsc::unbounded_channel::<(&'static str, String)>();
    let here = |name: &'static str| {
        let send = send.clone();
        post(move |body: String| async move {
            send.send((name, body)).expect("somebody listens");
            // A redirect is not followed.
            match name {
                "away" => Redirect::temporary("/good").into_response(),
                _ => "".into_response(),
            }
        })
    };
    let router = axum::Router::new().route("/good", here("good")).route("/away", here("away"));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });

    let api = TestApi::telling(Default::default(), Default::default(), vec![url.clone()]);
    for name in ["away", "good"] {
        let rule = format!("AlarmName={name}&{RULE}&AlarmActions.member.1={url}/{name}");
        api.watched("PutMetricAlarm", &rule).await;
        let state = format!("AlarmName={name}&StateValue=ALARM&StateReason=hot");
        api.watched("SetAlarmState", &state).await;
        let (at, body) = told.recv().await.expect("a letter");
        let body: Json = serde_json::from_str(&body).expect("JSON");
        assert_eq!(
            (at, &body["alarm_name"], &body["current"]),
            (name, &json!(name), &json!("alarm"))
        );
    }
    // The webhook that was redirected is kept, to be sent again.
    use kiln_engine::{ObjectKind, ObjectQuery};
    let letters = ObjectQuery::new(ObjectKind::Webhook);
    let left = loop {
        let left = api.app.service.store().objects(&letters).await.expect("letters");
        if left.len() == 1 {
            break left;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(&*left[0].subject, "away");
    let history = api.watched("DescribeAlarmHistory", "HistoryItemType=Action").await;
    let items = history["AlarmHistoryItems"].as_array().expect("items");
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["HistorySummary"], format!("Successfully executed action {url}/good"));
    for other in ["http://127.0.0.1:1/", "http://localhost/", "ftp://h/"] {
        let rule = format!("AlarmName=x&{RULE}&AlarmActions.member.1={other}");
        let (status, code, why) = api.refused("PutMetricAlarm", &rule).await;
        assert_eq!((status, code.as_str()), (400, "InvalidParameterValue"), "{other}");
        assert!(why.contains("[kiln] notify_allowed"), "{why}");
    }
}

#[tokio::test]
async fn there_are_only_so_many_alarms() {
    let api = TestApi::with(kiln_engine::Rules { max_alarms: Some(1), ..Default::default() });
    api.watched("PutMetricAlarm", &format!("AlarmName=a&{RULE}")).await;
    api.watched("PutMetricAlarm", &format!("AlarmName=a&{RULE}&Unit=Count")).await;
    let refused = api.refused("PutMetricAlarm", &format!("AlarmName=b&{RULE}")).await;
    assert_eq!((refused.0, refused.1.as_str()), (400, "LimitExceeded"));
}

#[tokio::test]
async fn what_was_measured_is_summed_up() {
    let api = TestApi::new();
    let at = |second: u32, value: &str, more: &str| {
        put_datum("n", "CPU", value, &[("Host", "a")])
            + &format!("&MetricData.member.1.Timestamp={}{more}", moment(second))
    };
    for (second, value) in [(0, "1"), (5, "3"), (65, "8"), (200, "5")] {
        api.watched("PutMetricData", &at(second, value, "")).await;
    }
    let summed = "&MetricData.member.1.StatisticValues.SampleCount=10\
                  &MetricData.member.1.StatisticValues.Sum=50&MetricData.member.1.StatisticValues.Minimum=2\
                  &MetricData.member.1.StatisticValues.Maximum=9";
    api.watched("PutMetricData", &at(66, "0", summed)).await;
    let many = "&MetricData.member.1.Values.member.1=4&MetricData.member.1.Values.member.2=6\
                &MetricData.member.1.Counts.member.1=3&MetricData.member.1.Counts.member.2=1";
    api.watched("PutMetricData", &at(205, "0", many)).await;
    let query = format!(
        "Namespace=n&MetricName=CPU&StartTime={}&EndTime={}&Period=60&Dimensions.member.1.Name=Host\
         &Dimensions.member.1.Value=a",
        moment(0),
        moment(600)
    );
    let all: String = ["SampleCount", "Average", "Sum", "Minimum", "Maximum"]
        .iter()
        .enumerate()
        .map(|(at, name)| format!("&Statistics.member.{}={name}", at + 1))
        .collect();
    let found = api.watched("GetMetricStatistics", &format!("{query}{all}")).await;
    assert_eq!(found["Label"], "CPU");
    let point = |at: usize| {
        let point = &found["Datapoints"][at];
        ["SampleCount", "Sum", "Minimum", "Maximum", "Average"]
            .map(|name| point[name].as_f64().expect("a number"))
    };
    assert_eq!(point(0), [2.0, 4.0, 1.0, 3.0, 2.0]);
    assert_eq!(point(1), [11.0, 58.0, 2.0, 9.0, 58.0 / 11.0]);
    assert_eq!(point(2), [5.0, 23.0, 4.0, 6.0, 4.6]);
    assert_eq!(found["Datapoints"].as_array().map(Vec::len), Some(3));
    assert_eq!(found["Datapoints"][0]["Unit"], "Count");
    let one = api.watched("GetMetricStatistics", &format!("{query}&Statistics.member.1=Sum")).await;
    assert_eq!(one["Datapoints"][0]["Average"], Json::Null, "only what was asked for");
    for more in ["&Unit=Percent", "&Dimensions.member.2.Name=x&Dimensions.member.2.Value=y"] {
        let query = format!("{query}&Statistics.member.1=Sum{more}");
        let none = api.watched("GetMetricStatistics", &query).await;
        assert_eq!(none["Datapoints"], json!([]), "{more}");
    }
}

#[tokio::test]
async fn packed_reports_are_taken_and_bombs_are_not() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    let api = TestApi::new();
    let post = async |plain: &str| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(plain.as_bytes()).expect("packed");
        let request = HttpRequest::post(format!("/v1/?{}", signature("demo")))
            .header("host", "kiln.example:8003")
            .header("content-type", "application/x-www-form-urlencoded; charset=utf-8")
            .header("content-encoding", "gzip")
            .body(Body::from(packed.finish().expect("packed")))
            .expect("a request");
        let response = kiln_api::cloudwatch::answer(api.app.clone(), request).await;
        crate::test_api::reply(response).await
    };
    let mut form = "Action=PutMetricData&Namespace=n".to_owned();
    for number in 1..=500 {
        let start = format!("MetricData.member.{number}");
        form.push_str(&format!("&{start}.MetricName=m&{start}.Unit=Count&{start}.Value={number}"));
    }
    let taken = post(&form).await;
    assert_eq!(taken.status, 200, "{taken:?}");
    let query = format!(
        "Namespace=n&MetricName=m&StartTime={}&EndTime={}&Period=7200&Statistics.member.1=Sum",
        moment(0),
        moment(4000)
    );
    let found = api.watched("GetMetricStatistics", &query).await;
    let sums = found["Datapoints"].as_array().expect("points").iter();
    assert_eq!(sums.map(|it| it["Sum"].as_f64().expect("a sum")).sum::<f64>(), 125_250.0);
    let bomb = post(&format!("Action=ListMetrics&x={}", "x".repeat(2 << 20))).await;
    assert!(bomb.text.contains("<Code>RequestLimitExceeded</Code>"), "{bomb:?}");
}

/// A moment of the last hour, that a minute begins with, and so many seconds later.
fn moment(later: u32) -> String {
    let now = kiln_engine::now().seconds();
    let start = (now - 1800) / 600 * 600;
    let time = kiln_engine::Time::from_micros((start + i64::from(later)) * 1_000_000);
    time.to_string()
}

#[tokio::test]
async fn an_alarm_of_a_stack_is_shown_and_given_samples() {
    let api = TestApi::new();
    let path = api.create("web", STACK).await;
    let id = path.rsplit('/').next().expect("an id").to_owned();
    let output = api.get(&format!("{path}/outputs/alarm")).await.json();
    assert_eq!(output["output"]["output_value"], "web-high");
    let alarm = api.alarm("web-high").await;
    assert_eq!(
        (
            &alarm["Threshold"],
            &alarm["AlarmDescription"],
            &alarm["AlarmArn"],
            &alarm["ActionsEnabled"]
        ),
        (&json!("2"), &json!("too much"), &Json::Null, &Json::Null)
    );
    let dimensions = json!([{"Name": "Group", "Value": "web"}, {"Name": "StackId", "Value": id}]);
    assert_eq!(alarm["Dimensions"], dimensions);
    // It belongs to the stack.
    for (action, query) in [
        ("PutMetricAlarm", format!("AlarmName=web-high&{RULE}")),
        ("DeleteAlarms", "AlarmNames.member.1=web-high".to_owned()),
    ] {
        assert_eq!(api.refused(action, &query).await.1, "InvalidParameterValue", "{action}");
    }

    let answer = api
        .watched("PutMetricData", &put_datum("n", "CPU", "1", &[("AlarmName", "web-high")]))
        .await;
    assert_eq!(answer, json!({ "ResponseMetadata": null }));
    let listed = api.watched("ListMetrics", "MetricName=CPU").await;
    let sample = &listed["Metrics"][0];
    let parts: Vec<&str> = sample["Dimensions"]
        .as_array()
        .expect("parts")
        .iter()
        .map(|it| it["Name"].as_str().unwrap())
        .collect();
    assert_eq!(parts, ["AlarmName", "Timestamp", "Unit", "Value", "Dimensions"]);
    assert_eq!(sample["Dimensions"][0]["Value"], "web-high");
    assert_eq!(sample["Dimensions"][3]["Value"], "1");
    assert_eq!(api.watched("ListMetrics", "MetricName=Memory").await["Metrics"], json!([]));

    // A user sets the alarm twice: the group grows, once.
    api.watched("SetAlarmState", "AlarmName=web-high&StateValue=ALARM&StateReason=x").await;
    api.watched("SetAlarmState", "AlarmName=web-high&StateValue=ALARM&StateReason=x").await;
    api.until_size(&path, 2).await;
    let history = api.watched("DescribeAlarmHistory", "HistoryItemType=Action").await;
    let items = history["AlarmHistoryItems"].as_array().expect("items");
    assert_eq!(items.len(), 1, "{items:?}");
    let said = items[0]["HistorySummary"].as_str().expect("a text");
    assert!(said.starts_with("Successfully executed action "), "{said}");

    // An alarm of one's own reaches it, too.
    let arn = format!("arn:openstack:heat::demo:stacks/web/{id}/resources/up");
    let own = format!("AlarmName=own&{RULE}&AlarmActions.member.1={arn}");
    api.watched("PutMetricAlarm", &own).await;
    api.watched("SetAlarmState", "AlarmName=own&StateValue=ALARM&StateReason=x").await;
    api.until_size(&path, 3).await;

    let suspend =
        api.send("demo", "POST", &format!("{path}/actions"), Some(json!({"suspend": null}))).await;
    assert_eq!(suspend.status, 200, "{suspend:?}");
    api.rest(&path).await;
    assert_eq!(api.alarm("web-high").await["StateValue"], "SUSPENDED");
    api.send("demo", "POST", &format!("{path}/actions"), Some(json!({"resume": null}))).await;
    api.rest(&path).await;
    assert_eq!(api.alarm("web-high").await["StateValue"], "NODATA");
    api.send("demo", "DELETE", &path, None).await;
    api.rest(&path).await;
    assert_eq!(names(&api.watched("DescribeAlarms", "").await), ["own"]);
}

#[tokio::test]
async fn alarms_of_a_service_that_is_not_there_are_kept_here() {
    let api = TestApi::new();
    let template = "
heat_template_version: 2021-04-16
resources:
  aws:
    type: AWS::CloudWatch::Alarm
    properties:
      MetricName: CPU
      Namespace: n
      Statistic: Maximum
      Period: '60'
      EvaluationPeriods: '2'
      Threshold: '70'
      ComparisonOperator: GreaterThanThreshold
      Dimensions: [{Name: Group, Value: web}]
  native:
    type: OS::Aodh::Alarm
    properties:
      meter_name: cpu_util
      threshold: 5
      period: 60
      evaluation_periods: 1
      statistic: avg
      comparison_operator: lt
  old:
    type: OS::Ceilometer::Alarm
    properties: {meter_name: memory, threshold: 5, matching_metadata: {'metering.group': web}}
outputs:
  aws: {value: {get_resource: aws}}
";
    let path = api.create("web", template).await;
    let shown = api.get(&path).await.json();
    assert_eq!(shown["stack"]["stack_status"], "CREATE_COMPLETE", "{shown}");
    let all = api.watched("DescribeAlarms", "").await;
    let found = names(&all);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.contains(&"web-aws"), "{found:?}");
    let alarm = api.alarm("web-aws").await;
    assert_eq!(
        (&alarm["Statistic"], &alarm["EvaluationPeriods"], &alarm["Dimensions"][0]["Name"]),
        (&json!("Maximum"), &json!(2), &json!("Group"))
    );
    // Guests know it by what the template calls it.
    let outputs = api.get(&format!("{path}/outputs/aws")).await.json();
    let arn = outputs["output"]["output_value"].as_str().expect("an ARN");
    api.watched("PutMetricData", &put_datum("n", "CPU", "80", &[("AlarmName", arn)])).await;
    let update = template.replace("'70'", "'80'");
    let body = json!({ "template": update });
    let reply = api.send("demo", "PUT", &path, Some(body)).await;
    assert_eq!(reply.status, 202, "{reply:?}");
    api.rest(&path).await;
    assert_eq!(api.alarm("web-aws").await["Threshold"], json!(80));
    api.send("demo", "DELETE", &path, None).await;
    api.rest(&path).await;
    assert_eq!(names(&api.watched("DescribeAlarms", "").await), [""; 0]);

    let other = "
heat_template_version: 2021-04-16
resources:
  event: {type: OS::Aodh::EventAlarm, properties: {event_type: x}}
";
    let path = api.create("events", other).await;
    let reason = api.get(&path).await.json()["stack"]["stack_status_reason"].to_string();
    assert!(reason.contains("no alarming service"), "{reason}");
}

#[tokio::test]
async fn a_restarter_has_a_resource_replaced_with_all_that_depend_on_it() {
    let api = TestApi::new();
    let template = "
heat_template_version: 2021-04-16
resources:
  server: {type: OS::Heat::TestResource, properties: {value: a}}
  volume: {type: OS::Heat::TestResource, properties: {value: {get_resource: server}}}
  other: {type: OS::Heat::TestResource, properties: {value: b}}
  restarter: {type: OS::Heat::HARestarter, properties: {InstanceId: {get_resource: server}}}
";
    let path = api.create("ha", template).await;
    let ids = async || {
        let mut ids = Vec::new();
        for name in ["server", "volume", "other", "restarter"] {
            let shown = api.get(&format!("{path}/resources/{name}")).await.json();
            ids.push(shown["resource"]["physical_resource_id"].to_string());
        }
        ids
    };
    let before = ids().await;
    let signal = async |body: Json| {
        let path = format!("{path}/resources/restarter/signal");
        let reply = api.send("demo", "POST", &path, Some(body)).await;
        assert_eq!(reply.status, 200, "{reply:?}");
    };
    signal(json!({ "state": "ok" })).await;
    api.rest(&path).await;
    assert_eq!(ids().await, before);
    signal(json!({ "alarm": "a", "state": "ALARM" })).await;
    api.rest(&path).await;
    let shown = api.get(&path).await.json();
    assert_eq!(shown["stack"]["stack_status"], "UPDATE_COMPLETE", "{shown}");
    let after = ids().await;
    let is_other: Vec<bool> = before.iter().zip(&after).map(|(old, new)| old != new).collect();
    assert_eq!(is_other, [true, true, false, false], "{before:?} {after:?}");
}

#[tokio::test]
async fn answers_are_xml_unless_json_is_asked_for() {
    let api = TestApi::new();
    api.watched("PutMetricAlarm", &format!("AlarmName=a&{RULE}")).await;
    let reply = api.watch("demo", "Action=DescribeAlarms").await;
    let start = "<DescribeAlarmsResponse><DescribeAlarmsResult><MetricAlarms><member><ActionsEnabled>true</ActionsEnabled>";
    assert!(reply.text.starts_with(start), "{}", reply.text);
    let reply = api.watch("demo", "Action=DeleteAlarms&AlarmNames.member.1=a").await;
    assert_eq!(
        reply.text,
        "<DeleteAlarmsResponse><DeleteAlarmsResult></DeleteAlarmsResult></DeleteAlarmsResponse>"
    );
}
