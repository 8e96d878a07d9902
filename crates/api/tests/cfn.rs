//! The CloudFormation API: its table of actions, its faults, its forms.

use crate::test_api::{Reply, TestApi, signature};
use axum::body::Body;
use axum::http::Request as HttpRequest;
use kiln_api::Options;
use kiln_api::aws::{Action, Effect};
use kiln_api::policy::defaults;
use kiln_engine::Rules;
use serde_json::Value as Json;
use std::sync::Arc;

const TEMPLATE: &str = "heat_template_version: 2021-04-16
description: A word
parameters:
  length: {type: number, default: 6, description: How long}
  pin: {type: string, default: '', hidden: true}
resources:
  word: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
  echo: {type: OS::Heat::Value, description: The same, properties: {value: {get_attr: [word, value]}}}
outputs:
  word: {description: The word, value: {get_attr: [word, value]}}
  map: {value: {'a::b': [1, {'c:d': 'x < y'}]}}
";

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The parts of a fault in XML.
fn fault(reply: &Reply) -> (u16, String, String) {
    let part = |name: &str| {
        let (_, rest) = reply.text.split_once(&format!("<{name}>")).unwrap_or_default();
        rest.split_once('<').unwrap_or_default().0.to_owned()
    };
    assert!(reply.text.starts_with("<ErrorResponse><Error><Type>"), "{reply:?}");
    assert_eq!(reply.header("content-type"), "application/xml; charset=UTF-8");
    (reply.status, part("Code"), part("Message"))
}

fn is(status: u16, code: &str, message: &str) -> (u16, String, String) {
    (status, code.to_owned(), message.to_owned())
}

impl TestApi {
    /// Asks for JSON, and gives what the action came to.
    async fn json_of(&self, key: &str, action: &str, query: &str) -> Json {
        let reply = self.cfn(key, &format!("Action={action}&ContentType=JSON&{query}")).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.header("content-type"), "application/json");
        let document = reply.json();
        document[format!("{action}Response")][format!("{action}Result")].clone()
    }

    async fn stack(&self, name: &str) -> String {
        let query = format!("StackName={name}&TemplateBody={}", escaped(TEMPLATE));
        let made = self.json_of("demo", "CreateStack", &query).await;
        let arn = made["StackId"].as_str().expect("an ARN").to_owned();
        self.rest(&arn).await;
        arn
    }
}

#[test]
fn every_action_has_a_rule_and_its_place() {
    for (scope, table) in
        [("cloudformation", kiln_api::cfn::ACTIONS), ("cloudwatch", kiln_api::cloudwatch::ACTIONS)]
    {
        let ruled = |action: &Action| {
            let rule = format!("{scope}:{}", action.name);
            defaults::all().any(|known| known.name == rule)
        };
        assert!(table.iter().all(ruled), "{scope}");
        assert!(table.is_sorted_by_key(|action| action.name), "{scope}");
    }
    let changing = kiln_api::cfn::ACTIONS.iter().filter(|it| it.effect == Effect::Changes);
    let names: Vec<&str> = changing.map(|it| it.name).collect();
    let expected = [
        "CancelUpdateStack",
        "CreateChangeSet",
        "CreateStack",
        "DeleteChangeSet",
        "DeleteStack",
        "ExecuteChangeSet",
        "UpdateStack",
    ];
    assert_eq!(names, expected);
    assert_eq!(kiln_api::cfn::ACTIONS.len(), 19);
}

#[tokio::test]
async fn nobody_passes_an_action_that_they_have_no_right_to() {
    let api = TestApi::new();
    let denied = "User is not authorized to perform action";
    for action in kiln_api::cfn::ACTIONS {
        let name = action.name;
        let query = format!("Action={name}&StackName=x&LogicalResourceId=y");
        let message = format!("{denied}:Action {name} not allowed for user");
        for caller in ["nobody", "homeless"] {
            let refused = fault(&api.cfn(caller, &query).await);
            assert_eq!(refused, is(403, "AccessDenied", &message), "{caller}");
        }
        let key = fault(&api.cfn("nobody-at-all", &query).await);
        let message = "The certificate or AWS Key ID provided does not exist";
        assert_eq!(key, is(403, "InvalidClientTokenId", message), "{name}");
        let guest = fault_or(&api.cfn("stack-user", &query).await);
        assert_eq!(
            guest.contains("not allowed for user"),
            name != "DescribeStackResource",
            "{guest}"
        );
        let reader = fault_or(&api.cfn("reader", &query).await);
        let is_kept_out = reader.contains("not allowed for user");
        assert_eq!(is_kept_out, action.effect == Effect::Changes, "{name}: {reader}");
        let request = |query: &str| {
            let request = HttpRequest::builder().uri(format!("/v1/?Action={name}&{query}"));
            request.body(Body::empty()).unwrap()
        };
        let wrong = request("AWSAccessKeyId=demo&Signature=bad");
        assert_eq!(fault(&api.cfn_raw(wrong).await), is(403, "AccessDenied", denied));
        let unsigned = fault(&api.cfn_raw(request("")).await);
        let message = "The request signature does not conform to AWS standards";
        assert_eq!(unsigned, is(400, "IncompleteSignature", message));
        let nameless = fault(&api.cfn_raw(request("Signature=good")).await);
        assert_eq!((nameless.0, nameless.1.as_str()), (403, "MissingAuthenticationToken"));
    }
}

fn fault_or(reply: &Reply) -> String {
    reply.text.clone()
}

#[tokio::test]
async fn a_token_does_for_those_who_say_who_they_are() {
    let api = TestApi::new();
    let request = |token: &str, user: bool| {
        let request = HttpRequest::builder().uri("/v1/?Action=ListStacks");
        let request = request.header("x-auth-token", token);
        let request = if user { request.header("x-auth-user", "demo") } else { request };
        request.body(Body::empty()).unwrap()
    };
    assert_eq!(api.cfn_raw(request("demo", true)).await.status, 200);
    assert_eq!(fault(&api.cfn_raw(request("demo", false)).await).1, "IncompleteSignature");
    let refused = api.cfn_raw(request("nobody-at-all", true)).await;
    assert_eq!((refused.status, refused.json()["error"]["code"].clone()), (401, 401.into()));
}

#[tokio::test]
async fn a_stack_lives_and_is_told_of_in_json() {
    let api = TestApi::new();
    let query = format!(
        "StackName=web&TemplateBody={}&Parameters.member.1.ParameterKey=length\
         &Parameters.member.1.ParameterValue=9&Parameters.member.3.ParameterKey=pin\
         &Parameters.member.3.ParameterValue=s3cret&Parameters.member.2.ParameterKey=lost\
         &TimeoutInMinutes=5&OnFailure=ROLLBACK",
        escaped(TEMPLATE)
    );
    let made = api.json_of("demo", "CreateStack", &query).await;
    let arn = made["StackId"].as_str().unwrap().to_owned();
    assert!(arn.starts_with("arn:openstack:heat::demo:stacks/web/"), "{arn}");
    api.rest(&arn).await;
    let id = arn.rsplit('/').next().unwrap();
    for name in ["web", id, &escaped(&arn)] {
        let shown = api.json_of("demo", "DescribeStacks", &format!("StackName={name}")).await;
        let stack = &shown["Stacks"][0];
        assert_eq!(stack["StackId"], arn.as_str());
        assert_eq!(stack["StackStatus"], "CREATE_COMPLETE");
        assert_eq!(stack["StackStatusReason"], "Stack CREATE completed successfully");
        assert_eq!(
            (&stack["DisableRollback"], &stack["TimeoutInMinutes"]),
            (&false.into(), &5.into())
        );
        assert_eq!(stack["Description"], "A word");
        assert_eq!(
            (&stack["Capabilities"], &stack["NotificationARNs"]),
            (&Json::Array(vec![]), &Json::Array(vec![]))
        );
        let parameters: Vec<_> = stack["Parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| {
                (it["ParameterKey"].as_str().unwrap(), it["ParameterValue"].as_str().unwrap())
            })
            .collect();
        assert!(parameters.contains(&("length", "9")) && parameters.contains(&("pin", "******")));
        assert!(parameters.contains(&("OS::stack_name", "web")), "{parameters:?}");
        let outputs = stack["Outputs"].as_array().unwrap();
        assert_eq!(outputs[0]["OutputKey"], "word");
        assert_eq!(outputs[0]["OutputValue"].as_str().unwrap().len(), 9);
        assert!(outputs[1]["OutputValue"]["a..b"].is_array(), "{outputs:?}");
    }
    let all = api.json_of("demo", "DescribeStacks", "").await;
    assert_eq!(all["Stacks"].as_array().unwrap().len(), 1);
    let listed = api.json_of("demo", "ListStacks", "").await;
    assert_eq!(listed["StackSummaries"][0]["StackName"], "web");
    assert_eq!(listed["StackSummaries"][0]["DeletionTime"], Json::Null);
    assert_eq!(api.json_of("other", "ListStacks", "").await["StackSummaries"], Json::Array(vec![]));

    let template = api.json_of("demo", "GetTemplate", "StackName=web").await;
    assert_eq!(template["TemplateBody"]["description"], "A word");
    let resources = api.json_of("demo", "ListStackResources", "StackName=web").await;
    assert_eq!(resources["StackResourceSummaries"].as_array().unwrap().len(), 2);
    let word = &api
        .json_of("demo", "DescribeStackResources", "StackName=web&LogicalResourceId=word")
        .await["StackResources"];
    assert_eq!(
        (word.as_array().unwrap().len(), &word[0]["ResourceType"]),
        (1, &"OS::Heat::RandomString".into())
    );
    let physical = word[0]["PhysicalResourceId"].as_str().unwrap();
    let query = format!("PhysicalResourceId={physical}");
    let found = api.json_of("demo", "DescribeStackResources", &query).await;
    assert_eq!(found["StackResources"].as_array().unwrap().len(), 2);
    let echo =
        api.json_of("demo", "DescribeStackResource", "StackName=web&LogicalResourceId=echo").await;
    let echo = &echo["StackResourceDetail"];
    assert_eq!(
        (&echo["Description"], &echo["Metadata"]),
        (&"The same".into(), &serde_json::json!({}))
    );
    assert_eq!(
        (&echo["StackName"], &echo["ResourceStatus"]),
        (&"web".into(), &"CREATE_COMPLETE".into())
    );

    let query = format!("StackName=web&TemplateBody={}", escaped(TEMPLATE));
    assert_eq!(api.json_of("demo", "UpdateStack", &query).await["StackId"], arn.as_str());
    api.rest(&arn).await;
    let shown = api.json_of("demo", "DescribeStacks", "StackName=web").await;
    assert_eq!(shown["Stacks"][0]["StackStatus"], "UPDATE_COMPLETE");
    assert!(shown["Stacks"][0]["LastUpdatedTime"].is_string());
    for query in ["StackName=web", ""] {
        let events = api.json_of("demo", "DescribeStackEvents", query).await;
        let events = events["StackEvents"].as_array().unwrap().clone();
        assert_eq!(
            (&events[0]["ResourceStatus"], &events[0]["LogicalResourceId"]),
            (&"UPDATE_COMPLETE".into(), &"web".into())
        );
        assert_eq!(events.last().unwrap()["ResourceStatus"], "CREATE_IN_PROGRESS");
        assert!(events.iter().any(|it| it["ResourceProperties"] != "{}"));
        assert!(events.iter().all(|it| {
            serde_json::from_str::<Json>(it["ResourceProperties"].as_str().unwrap())
                .unwrap()
                .is_object()
        }));
    }
    assert_eq!(api.json_of("demo", "DeleteStack", "StackName=web").await, "");
    api.rest(&arn).await;
    let gone = api.cfn("demo", "Action=DescribeStacks&StackName=web").await;
    let message = "The request is not valid:Stack with id web does not exist";
    assert_eq!(fault(&gone), is(400, "ValidationError", message));
    let query = format!("StackName={}", escaped(&arn));
    let shown = api.json_of("demo", "DescribeStacks", &query).await;
    assert_eq!(shown["Stacks"][0]["StackStatus"], "DELETE_COMPLETE");
}

#[tokio::test]
async fn xml_is_what_clients_of_aws_read() {
    let api = TestApi::new();
    let arn = api.stack("web").await;
    let reply = api.cfn("demo", "Action=ListStacks").await;
    assert_eq!(reply.header("content-type"), "application/xml; charset=UTF-8");
    assert!(reply.header("x-openstack-request-id").starts_with("req-"));
    let start = "<ListStacksResponse><ListStacksResult><StackSummaries><member><CreationTime>";
    assert!(reply.text.starts_with(start), "{reply:?}");
    assert!(reply.text.contains(&format!("<StackId>{arn}</StackId><StackName>web</StackName>")));
    assert!(!reply.text.contains("None"), "{reply:?}");
    let shown = api.cfn("demo", "Action=DescribeStacks&StackName=web").await.text;
    assert!(shown.contains("<DisableRollback>true</DisableRollback>"), "{shown}");
    let value = "<OutputValue><a..b><member>1</member><member><c.d>x &lt; y</c.d></member></a..b></OutputValue>";
    assert!(shown.contains(value), "{shown}");
    let template = api.cfn("demo", "Action=GetTemplate&StackName=web").await.text;
    assert!(template.contains("<TemplateBody>{\"heat_template_version\""), "{template}");
    let deleted = api.cfn("demo", "Action=DeleteStack&StackName=web").await.text;
    let nothing =
        "<DeleteStackResponse><DeleteStackResult></DeleteStackResult></DeleteStackResponse>";
    assert_eq!(deleted, nothing);
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_told() {
    let api = TestApi::new();
    let arn = api.stack("web").await;
    let template = escaped(TEMPLATE);
    let bad = "A bad or out-of-range value was supplied";
    let missing = "A mandatory input parameter is missing";
    for (query, code, message) in [
        ("Action=CreateStack&TemplateBody=x".into(), "MissingParameter", format!("{missing}:StackName")),
        ("Action=CreateStack&StackName=a".into(), "MissingParameter", format!("{missing}:TemplateBody or TemplateUrl were not given.")),
        ("Action=CreateStack&StackName=a&TemplateBody=%7B".into(), "InvalidParameterValue", format!("{bad}:The Template must be a JSON or YAML document.")),
        (format!("Action=CreateStack&StackName=web&TemplateBody={template}"), "AlreadyExists", "Resource with the name requested already exists:The Stack (web) already exists.".into()),
        (format!("Action=CreateStack&StackName=a&TemplateBody={template}&DisableRollback=true&OnFailure=DELETE"), "InvalidParameterCombination", "Incompatible parameters were used together:DisableRollback and OnFailure may not be used together".into()),
        (format!("Action=CreateStack&StackName=a&TemplateBody={template}&TimeoutInMinutes=soon"), "InvalidParameterValue", format!("{bad}:Only integer is acceptable by 'TimeoutInMinutes'.")),
        (format!("Action=CreateStack&StackName=a&TemplateBody={template}&OnFailure=PANIC"), "InvalidParameterValue", format!("{bad}:Unrecognized value \"PANIC\" for \"OnFailure\", acceptable values are: DO_NOTHING, ROLLBACK, DELETE.")),
        (format!("Action=CreateStack&StackName=a&TemplateBody={template}&Parameters.member.x.ParameterKey=1"), "InvalidQueryParameter", "AWS query string is malformed, does not adhere to AWS spec:Parameters.member.x.ParameterKey is not how members of lists are called: Name.member.1.Field".into()),
        (format!("Action=CreateStack&StackName=a&TemplateBody={template}&Parameters.member.1.ParameterKey=z&Parameters.member.1.ParameterValue=1"), "InvalidParameterValue", format!("{bad}:The Parameter (z) was not defined in template.")),
        ("Action=CreateStack&StackName=a&TemplateUrl=file:///etc/passwd".into(), "InvalidParameterValue", format!("{bad}:Failed to fetch template: Invalid URL scheme file")),
        ("Action=CreateStack&StackName=a&TemplateURL=http://127.0.0.1:1/t".into(), "InvalidParameterValue", format!("{bad}:Failed to fetch template: Failed to retrieve template from http://127.0.0.1:1/t")),
        ("Action=UpdateStack&StackName=none".into(), "InvalidParameterValue", format!("{bad}:The Stack (none) could not be found.")),
        ("Action=CancelUpdateStack&StackName=web".into(), "InvalidParameterValue", format!("{bad}:Cancelling update when stack is CREATE_COMPLETE is not supported.")),
        ("Action=DescribeStacks&StackName=arn:aws:x".into(), "InvalidParameterValue", format!("{bad}:\"arn:aws:x\" is not the ARN of a stack")),
        ("Action=DescribeStackResource&StackName=web".into(), "MissingParameter", format!("{missing}:LogicalResourceId")),
        ("Action=DescribeStackResource&StackName=web&LogicalResourceId=x".into(), "InvalidParameterValue", format!("{bad}:The Resource (x) could not be found in Stack web.")),
        ("Action=DescribeStackResources&StackName=web&PhysicalResourceId=x".into(), "InvalidParameterCombination", "Incompatible parameters were used together:Use `StackName` or `PhysicalResourceId` but not both".into()),
        ("Action=DescribeStackResources".into(), "MissingParameter", format!("{missing}:StackName or PhysicalResourceId")),
        ("Action=DescribeStackResources&PhysicalResourceId=x".into(), "InvalidParameterValue", format!("{bad}:The Resource (x) could not be found.")),
        ("Action=DescribeStackEvents&NextToken=x".into(), "InvalidNextToken", "There is no page with this token".into()),
        ("Action=RunInstances".into(), "InvalidAction", "The action or operation requested is invalid".into()),
        ("Action=".into(), "InvalidAction", "The action or operation requested is invalid".into()),
        ("Action=liststacks".into(), "InvalidAction", "The action or operation requested is invalid".into()),
    ] {
        let refused: String = query;
        assert_eq!(fault(&api.cfn("demo", &refused).await), is(400, code, &message), "{refused}");
        let json = api.cfn("demo", &format!("{refused}&ContentType=JSON")).await;
        assert_eq!(json.status, 400, "{json:?}");
        assert_eq!(json.json()["ErrorResponse"]["Error"]["Code"], code);
        assert_eq!(json.json()["ErrorResponse"]["Error"]["Message"], message.as_str());
    }
    let other = api.cfn("other", &format!("Action=GetTemplate&StackName={}", escaped(&arn))).await;
    assert_eq!(fault(&other).1, "InvalidParameterValue", "stacks of others are not there");
}

#[tokio::test]
async fn a_template_is_validated() {
    let api = TestApi::new();
    let query = format!("TemplateBody={}", escaped(TEMPLATE));
    let told = api.json_of("demo", "ValidateTemplate", &query).await;
    assert_eq!(told["Description"], "A word");
    assert_eq!(
        told["Parameters"][0],
        serde_json::json!({
            "ParameterKey": "length", "DefaultValue": 6, "Description": "How long", "NoEcho": "false"
        })
    );
    assert_eq!(told["Parameters"][1]["NoEcho"], "true");
    assert!(told["Environment"].is_object());
    let wrong = "heat_template_version: 2021-04-16\nresources: {r: {type: No::Such}}";
    let query = format!("Action=ValidateTemplate&TemplateBody={}", escaped(wrong));
    let told = api.cfn("demo", &query).await;
    let (status, code, message) = fault(&told);
    assert_eq!((status, &*code), (400, "ValidationError"));
    assert!(message.contains("The Resource Type (No::Such) could not be found."), "{told:?}");
}

#[tokio::test]
async fn a_change_set_is_looked_at_and_then_executed() {
    let api = TestApi::new();
    let new = |stack: &str, name: &str, more: &str| {
        format!("StackName={stack}&ChangeSetName={name}&TemplateBody={}{more}", escaped(TEMPLATE))
    };
    let made =
        api.json_of("demo", "CreateChangeSet", &new("web", "one", "&ChangeSetType=CREATE")).await;
    let (id, arn) = (made["Id"].as_str().unwrap(), made["StackId"].as_str().unwrap());
    assert!(id.starts_with("arn:openstack:heat::demo:changeSets/one/"), "{id}");
    let named = format!("ChangeSetName={}", escaped(id));
    let shown = api.json_of("demo", "DescribeChangeSet", &named).await;
    assert_eq!(
        (&shown["Status"], &shown["ExecutionStatus"]),
        (&"CREATE_COMPLETE".into(), &"AVAILABLE".into())
    );
    assert_eq!(shown["Changes"][0]["ResourceChange"]["Action"], "Add");
    let stack = api.json_of("demo", "DescribeStacks", "StackName=web").await;
    assert_eq!(stack["Stacks"][0]["StackStatus"], "REVIEW_IN_PROGRESS");
    assert_eq!(stack["Stacks"][0]["StackId"], arn);
    // Other projects and the native API know nothing of it.
    let other = fault(&api.cfn("other", &format!("Action=DescribeChangeSet&{named}")).await);
    assert_eq!((other.0, &*other.1), (404, "ChangeSetNotFound"));
    let twice = format!("Action=CreateChangeSet&{}", new("web", "one", "&ChangeSetType=CREATE"));
    assert_eq!(fault(&api.cfn("demo", &twice).await).1, "AlreadyExists");
    assert_eq!(api.json_of("demo", "ExecuteChangeSet", &named).await, "");
    api.rest(arn).await;
    let stack = api.json_of("demo", "DescribeStacks", "StackName=web").await;
    assert_eq!(stack["Stacks"][0]["StackStatus"], "CREATE_COMPLETE");

    // An update without changes cannot be executed.
    let made = api.json_of("demo", "CreateChangeSet", &new("web", "same", "")).await;
    let same = format!("ChangeSetName={}", escaped(made["Id"].as_str().unwrap()));
    let shown = api.json_of("demo", "DescribeChangeSet", &same).await;
    assert_eq!(shown["Status"], "FAILED");
    assert!(
        shown["StatusReason"]
            .as_str()
            .unwrap()
            .starts_with("The submitted information didn't contain changes.")
    );
    assert_eq!(
        fault(&api.cfn("demo", &format!("Action=ExecuteChangeSet&{same}")).await).1,
        "InvalidChangeSetStatus"
    );

    // Of two updates, the one that is executed makes the other obsolete.
    let longer = "&Parameters.member.1.ParameterKey=length&Parameters.member.1.ParameterValue=9";
    for name in ["two", "three"] {
        api.json_of("demo", "CreateChangeSet", &new("web", name, longer)).await;
    }
    api.json_of("demo", "ExecuteChangeSet", "StackName=web&ChangeSetName=two").await;
    api.rest(arn).await;
    let listed = api.json_of("demo", "ListChangeSets", "StackName=web").await;
    let states: Vec<_> = listed["Summaries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["ChangeSetName"].as_str().unwrap(), it["ExecutionStatus"].as_str().unwrap()))
        .collect();
    let expected = [
        ("one", "EXECUTE_COMPLETE"),
        ("same", "UNAVAILABLE"),
        ("two", "EXECUTE_COMPLETE"),
        ("three", "OBSOLETE"),
    ];
    assert_eq!(states, expected);

    // Values that are to be kept are kept, and others go back to their defaults.
    let kept = "StackName=web&UsePreviousTemplate=true&Parameters.member.1.ParameterKey=length&Parameters.member.1.UsePreviousValue=true";
    api.json_of("demo", "UpdateStack", kept).await;
    api.rest(arn).await;
    let shown = api.json_of("demo", "DescribeStacks", "StackName=web").await;
    assert_eq!(shown["Stacks"][0]["Outputs"][0]["OutputValue"].as_str().unwrap().len(), 9);
    api.json_of("demo", "UpdateStack", "StackName=web&UsePreviousTemplate=true").await;
    api.rest(arn).await;
    let shown = api.json_of("demo", "DescribeStacks", "StackName=web").await;
    assert_eq!(shown["Stacks"][0]["Outputs"][0]["OutputValue"].as_str().unwrap().len(), 6);

    // What a template declares is told, whether a request or a stack has it.
    for query in ["StackName=web".to_owned(), format!("TemplateBody={}", escaped(TEMPLATE))] {
        let told = api.json_of("demo", "GetTemplateSummary", &query).await;
        assert_eq!(told["Parameters"][0]["ParameterKey"], "length");
        assert_eq!(
            (&told["Parameters"][0]["DefaultValue"], &told["Parameters"][1]["NoEcho"]),
            (&"6".into(), &true.into())
        );
        assert!(
            told["ResourceTypes"].as_array().unwrap().contains(&"OS::Heat::RandomString".into())
        );
    }

    // A stack that was only to be created goes with its change sets.
    api.json_of("demo", "CreateChangeSet", &new("only", "one", "&ChangeSetType=CREATE")).await;
    api.json_of("demo", "DeleteStack", "StackName=only").await;
    assert_eq!(
        fault(&api.cfn("demo", "Action=DescribeStacks&StackName=only").await).1,
        "ValidationError"
    );
    let nothing = format!("Action=CreateChangeSet&{}", new("only", "two", ""));
    assert_eq!(
        fault(&api.cfn("demo", &nothing).await).1,
        "ValidationError",
        "there is nothing to update"
    );
}

#[tokio::test]
async fn a_form_is_as_good_as_a_query() {
    let api = TestApi::new();
    let form = |body: String| {
        let request = HttpRequest::builder().method("POST").uri("/v1/?AWSAccessKeyId=demo");
        let kind = "application/x-www-form-urlencoded; charset=utf-8";
        let request = request.header("content-type", kind).header("content-length", body.len());
        request.body(Body::from(body)).unwrap()
    };
    let reply = api.cfn_raw(form("Signature=good&Action=ListStacks&ContentType=JSON".into())).await;
    assert_eq!(
        reply.json(),
        serde_json::json!({"ListStacksResponse": {"ListStacksResult": {"StackSummaries": []}}})
    );
    let long = "x".repeat(2 << 20);
    let reply = api.cfn_raw(form(format!("Signature=good&Action=ListStacks&Junk={long}"))).await;
    assert_eq!(
        fault(&reply),
        is(400, "RequestLimitExceeded", "Payload exceeds maximum allowed size")
    );
    let members: Vec<String> =
        (1..=1001).map(|it| format!("Parameters.member.{it}.ParameterKey=a")).collect();
    let body = format!(
        "{}&Action=CreateStack&StackName=a&TemplateBody={{}}&{}",
        signature("demo"),
        members.join("&")
    );
    let message = "A bad or out-of-range value was supplied:Parameters has more than 1000 members";
    assert_eq!(fault(&api.cfn_raw(form(body)).await), is(400, "InvalidParameterValue", message));
}

#[tokio::test]
async fn paths_lead_where_they_should() {
    let api = TestApi::new();
    let signed = "AWSAccessKeyId=demo&Signature=good";
    for (path, status) in [
        ("/".to_owned(), 300),
        ("/versions".to_owned(), 300),
        ("/v2/".to_owned(), 300),
        ("/healthcheck".to_owned(), 200),
        (format!("/v1?{signed}&Action=ListStacks"), 200),
        ("/nowhere".to_owned(), 404),
        (format!("/v1/elsewhere?{signed}"), 404),
        (format!("/v1/stacks?{signed}&Action=ListStacks"), 400),
        (format!("/v1/stacks/detail?{signed}"), 400),
        (format!("/v1/?{signed}"), 400),
    ] {
        let request = HttpRequest::builder().uri(path.as_str()).header("host", "kiln.example:8000");
        let reply = api.cfn_raw(request.body(Body::empty()).unwrap()).await;
        assert_eq!(reply.status, status, "{path}: {reply:?}");
        match status {
            300 => assert!(reply.text.contains("http://kiln.example:8000/v1/"), "{reply:?}"),
            400 => assert_eq!(fault(&reply).1, "InvalidAction", "{path}"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_template_costs_what_the_list_says() {
    let api = TestApi::new();
    let free = api.json_of("demo", "EstimateTemplateCost", "").await;
    assert_eq!(free, serde_json::json!({"Url": "http://en.wikipedia.org/wiki/Gratis"}));
    let list = "currency: EUR
flavors: {small: 0.021}
volumes: {default: 0.0001, ssd: 0.0002}
floating_ip: 0.004
resources: {OS::Neutron::Router: 0.01}
";
    let prices = kiln_api::cfn::Prices::read("prices.yaml", list).unwrap();
    let options = Options { prices: Some(Arc::new(prices)), ..Options::default() };
    let api = TestApi::made(Rules::default(), options);
    let template = "heat_template_version: 2021-04-16
parameters: {count: {type: number, default: 1}}
resources:
  servers:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def: {type: OS::Nova::Server, properties: {flavor: small, image: i, networks: [{network: n}]}}
  odd: {type: OS::Nova::Server, properties: {flavor: odd, image: i, networks: [{network: n}]}}
  disk: {type: OS::Cinder::Volume, properties: {size: 10, volume_type: ssd}}
  plain: {type: OS::Cinder::Volume, properties: {size: 5}}
  address: {type: OS::Neutron::FloatingIP, properties: {floating_network: public}}
  router: {type: OS::Neutron::Router}
  word: {type: OS::Heat::RandomString}
";
    let query = format!(
        "TemplateBody={}&Parameters.member.1.ParameterKey=count&Parameters.member.1.ParameterValue=3",
        escaped(template)
    );
    let told = api.json_of("demo", "EstimateTemplateCost", &query).await;
    // 3 * 0.021 + 10 * 0.0002 + 5 * 0.0001 + 0.004 + 0.01
    let sums = (&told["Currency"], &told["Hourly"], &told["Monthly"]);
    assert_eq!(sums, (&"EUR".into(), &"0.0795".into(), &"58.035".into()), "{told}");
    let servers =
        told["Lines"].as_array().unwrap().iter().find(|it| it["Item"] == "small").unwrap();
    assert_eq!(
        *servers,
        serde_json::json!({
            "ResourceType": "OS::Nova::Server", "Item": "small", "Count": 3, "Amount": 3, "Price": "0.021", "Hourly": "0.063"
        })
    );
    assert_eq!(told["Lines"].as_array().unwrap().len(), 5, "{told}");
    assert_eq!(
        told["Unpriced"],
        serde_json::json!([
            {"ResourceType": "OS::Nova::Server", "Item": "odd", "Count": 1, "Amount": 1}
        ])
    );
    assert!(
        told["Url"].as_str().unwrap().starts_with("data:application/json,%7B%22Currency"),
        "{told}"
    );
    let xml = api.cfn("demo", &format!("Action=EstimateTemplateCost&{query}")).await.text;
    assert!(xml.contains("<Hourly>0.0795</Hourly>"), "{xml}");
    let nothing = fault(&api.cfn("demo", "Action=EstimateTemplateCost").await);
    assert_eq!(nothing.1, "MissingParameter");
}

#[tokio::test]
async fn what_was_answered_is_not_answered_again() {
    let api = TestApi::new();
    let now = kiln_engine::now();
    let signed = |key: &str, minutes: i64| {
        let time = kiln_engine::Time::from_micros(now.micros() + minutes * 60_000_000);
        format!("AWSAccessKeyId={key}&Signature=good&SignatureVersion=2&Timestamp={time}")
    };
    let (delete, list) = ("Action=DeleteStack&StackName=none", "Action=ListStacks");
    let once = signed("demo", 0);
    assert_eq!(fault(&api.cfn_signed(&once, delete).await).1, "InvalidParameterValue");
    // Clients sign whole seconds, so an equal request gets the same answer for a moment.
    assert_eq!(fault(&api.cfn_signed(&once, delete).await).1, "InvalidParameterValue");
    let why = "Request expired or more than 15mins in the future:This signature was used already: sign the request anew.";
    let beside = api.beside();
    let again = fault(&beside.cfn_signed(&once, delete).await);
    assert_eq!(again, is(400, "RequestExpired", why), "another process does not know the answer");
    // It is the signature that counts, not what it is for: here it is always the same.
    for _ in 0..2 {
        assert_eq!(api.cfn_signed(&signed("reader", 0), list).await.status, 200);
    }
    for minutes in [-16, 16] {
        let old = signed("other", minutes);
        assert_eq!(fault(&api.cfn_signed(&old, list).await).1, "RequestExpired");
    }
    // A signature without a time, where it is allowed, can be used for ever.
    let lax = TestApi::new().with_old_signatures();
    let timeless = "AWSAccessKeyId=other&Signature=good&SignatureVersion=2";
    for _ in 0..2 {
        let refused = fault(&lax.cfn_signed(timeless, delete).await);
        assert_eq!(refused.1, "InvalidParameterValue");
    }
}

#[tokio::test]
async fn a_project_may_ask_so_often_and_what_was_not_answered_may_come_again() {
    let api = TestApi::new().asked_so_often(1);
    let (delete, once) = ("Action=DeleteStack&StackName=none", signature("demo"));
    let mut told = Vec::new();
    while told.last().is_none_or(|code| code != "Throttling") {
        told.push(fault(&api.cfn("demo", "Action=DeleteStack&StackName=none").await).1);
    }
    assert!(told[..told.len() - 1].iter().all(|code| code == "InvalidParameterValue"), "{told:?}");
    // The first one that gets through is answered, however many were not.
    let mut first = "Throttling".to_owned();
    while first == "Throttling" {
        first = fault(&api.cfn_signed(&once, delete).await).1;
    }
    assert_eq!(first, "InvalidParameterValue");
    assert_eq!(
        fault(&api.cfn("other", "Action=DeleteStack&StackName=none").await).1,
        "InvalidParameterValue"
    );
}

/// Others name it in a header, and speak JSON.
#[tokio::test]
async fn calls_in_json_are_the_same_actions() {
    let api = TestApi::new();
    let call = |action: &str, body: &'static str| {
        let authorization =
            "AWS4-HMAC-SHA256 Credential=demo/x, SignedHeaders=host, Signature=good";
        let request =
            HttpRequest::builder().method("POST").uri("/v1").header("authorization", authorization);
        let request = request.header("x-amz-target", format!("CloudFormation_20100515.{action}"));
        request.body(Body::from(body)).unwrap()
    };
    let listed = api.cfn_raw(call("ListStacks", "{}")).await;
    assert_eq!(listed.header("content-type"), "application/x-amz-json-1.0");
    assert_eq!(listed.json(), serde_json::json!({"StackSummaries": []}));
    let shown = api.cfn_raw(call("GetTemplate", r#"{"StackName": "none"}"#)).await;
    assert_eq!(
        (shown.status, shown.header("x-amzn-query-error")),
        (400, "InvalidParameterValue;Sender")
    );
    assert_eq!(shown.json()["__type"], "InvalidParameterValue");
    let nonsense = api.cfn_raw(call("ListStacks", "[1]")).await;
    assert_eq!(nonsense.header("x-amzn-query-error"), "InvalidQueryParameter;Sender");
}

/// Newer tools name the action in the path, and speak CBOR.
#[tokio::test]
async fn calls_in_cbor_are_the_same_actions() {
    let api = TestApi::new();
    let call = |key: &str, action: &str, body: &[u8]| {
        let path = format!("/v1/service/CloudFormation_20100515/operation/{action}");
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={key}/x, SignedHeaders=host, Signature=good{action}"
        );
        HttpRequest::builder()
            .method("POST")
            .uri(path)
            .header("smithy-protocol", "rpc-v2-cbor")
            .header("authorization", authorization)
            .header("x-amz-date", kiln_engine::now().to_string())
            .body(Body::from(body.to_vec()))
            .unwrap()
    };
    let send = async |request| {
        let response = kiln_api::cfn::answer(api.app.clone(), request).await;
        let header =
            |name: &str| response.headers().get(name).map(|it| it.to_str().unwrap().to_owned());
        let told =
            (response.status().as_u16(), header("content-type"), header("x-amzn-query-error"));
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (told.0, told.1.unwrap_or_default(), told.2, body.to_vec())
    };
    let cbor = "application/cbor".to_owned();
    let nothing = b"\xa1\x6eStackSummaries\x80".to_vec();
    assert_eq!(send(call("demo", "ListStacks", b"")).await, (200, cbor.clone(), None, nothing));
    let deleted = send(call("demo", "DeleteStack", b"\xa1\x69StackName\x64none")).await;
    assert_eq!((deleted.0, deleted.2.as_deref()), (400, Some("InvalidParameterValue;Sender")));
    assert!(String::from_utf8_lossy(&deleted.3).contains("The Stack (none) could not be found."));
    for (key, action, body, code) in [
        ("demo", "MakeCoffee", b"\xa0".as_slice(), "InvalidAction;Sender"),
        ("nobody", "ListStacks", b"\xa0", "AccessDenied;Sender"),
        ("unknown", "ListStacks", b"\xa0", "InvalidClientTokenId;Sender"),
        ("demo", "ListStacks", b"Action=ListStacks", "InvalidQueryParameter;Sender"),
    ] {
        let refused = send(call(key, action, body)).await;
        assert_eq!((refused.1.as_str(), refused.2.as_deref()), ("application/cbor", Some(code)));
    }
    // A signature in the body does not count.
    let mut forged = call("demo", "ListStacks", b"\xa1\x69Signature\x64good");
    forged.headers_mut().remove("authorization");
    assert_eq!(send(forged).await.2.as_deref(), Some("IncompleteSignature;Sender"));
}

/// A request that changes something must be signed as a whole, with its time.
#[tokio::test]
async fn old_and_timeless_signatures_are_good_for_reading_alone() {
    let lax = TestApi::new().with_old_signatures();
    let now = kiln_engine::now();
    let timed = format!("SignatureVersion=2&Timestamp={now}");
    let (zero, one) = (timed.replace("=2&", "=0&"), timed.replace("=2&", "=1&"));
    let delete = "Action=DeleteStack&StackName=none";
    // The key, the parameters of the signature, a header, and what a change comes to.
    let rows: [(&str, &str, Option<&str>, &str); 9] = [
        ("demo", &zero, None, "IncompleteSignature"),
        ("demo", &one, None, "IncompleteSignature"),
        ("demo", "", None, "IncompleteSignature"),
        ("demo", "SignatureVersion=2", None, "IncompleteSignature"),
        ("demo", "SignatureVersion=2&Timestamp=soon", None, "IncompleteSignature"),
        // Version 2 does not sign this header.
        ("demo", "SignatureVersion=2", Some("x-amz-date"), "IncompleteSignature"),
        ("demo", "SignatureVersion=2&Timestamp=2020-01-01T00:00:00Z", None, "RequestExpired"),
        ("demo", &timed, None, "InvalidParameterValue"),
        // An equal request at once gets the same answer.
        ("demo", &timed, None, "InvalidParameterValue"),
    ];
    let api = TestApi::new();
    for (key, signature, header, code) in rows {
        let path = format!("/v1/?AWSAccessKeyId={key}&Signature=good&{delete}&{signature}");
        let mut request = HttpRequest::builder().uri(path);
        if let Some(header) = header {
            request = request.header(header, now.to_string());
        }
        let reply = api.cfn_raw(request.body(Body::empty()).unwrap()).await;
        assert_eq!(fault(&reply).1, code, "{signature} {header:?}");
    }
    let four = |action: &str| {
        let authorization =
            "AWS4-HMAC-SHA256 Credential=other/x, SignedHeaders=host, Signature=good";
        HttpRequest::builder()
            .uri(format!("/v1/?{action}"))
            .header("authorization", authorization)
            .header("x-amz-date", now.to_string())
            .body(Body::empty())
            .unwrap()
    };
    assert_eq!(fault(&api.cfn_raw(four(delete)).await).1, "InvalidParameterValue");
    for signature in [zero.as_str(), &one, "SignatureVersion=2", ""] {
        let listed = api.cfn("reader", &format!("Action=ListStacks&{signature}")).await;
        assert_eq!(listed.status, 200, "{signature}: {listed:?}");
        let deleted = fault(&lax.cfn("other", &format!("{delete}&{signature}")).await).1;
        assert!(
            ["InvalidParameterValue", "RequestExpired"].contains(&&*deleted),
            "the operator allows {signature}: {deleted}"
        );
    }
    // Addresses that stacks sign have version 2 and no time.
    for (signature, is_weak) in
        [(zero.as_str(), true), (&one, true), ("", true), ("SignatureVersion=2", false)]
    {
        for (method, path) in [("POST", "signal"), ("PUT", "waitcondition")] {
            let arn = escaped("arn:openstack:heat::demo:stacks/a/b/resources/c");
            let path = format!("/v1/{path}/{arn}?AWSAccessKeyId=demo&Signature=good&{signature}");
            let request = HttpRequest::builder().method(method).uri(path);
            let reply = api.cfn_raw(request.body(Body::from("{}")).unwrap()).await;
            assert_eq!(
                reply.text.contains("IncompleteSignature"),
                is_weak,
                "{signature}: {reply:?}"
            );
        }
    }
    let path = "/v1/?AWSAccessKeyId=demo&Signature=good&Action=PutMetricData&SignatureVersion=2";
    let request = HttpRequest::builder().uri(path).body(Body::empty()).unwrap();
    let reply =
        crate::test_api::reply(kiln_api::cloudwatch::answer(api.app.clone(), request).await);
    assert_eq!(fault(&reply.await).1, "IncompleteSignature");
}
