//! The reference of the AWS-style APIs, `docs/reference/aws-apis.md`, and of the functions of templates.

use super::{cell, compare, root};
use kiln_api::aws::{Action, Effect};
use kiln_template::functions::{ALL, Function};
use kiln_template::version::{self, Version};
use std::fmt::Write;
use std::fs;

const HEAD: &str = "\
# CloudFormation and CloudWatch actions

The actions of the two AWS-style APIs, with the [policy rule](../policy.md) of each. [cloudformation.md](../cloudformation.md) describes signatures,
protocols and change sets, and [alarms.md](../alarms.md) alarms and metrics. Generated: `KILN_BLESS=1 cargo nextest run -p kiln docs::interfaces`
writes it.
";

#[test]
fn the_page_of_the_aws_apis_is_in_step() {
    let mut page = HEAD.to_owned();
    let apis: [(&str, &str, &[Action]); 2] = [
        ("CloudFormation", "cloudformation", kiln_api::cfn::ACTIONS),
        ("CloudWatch", "cloudwatch", kiln_api::cloudwatch::ACTIONS),
    ];
    for (title, scope, actions) in apis {
        _ = writeln!(page, "\n## {title}\n\n| action | effect | rule |\n|---|---|---|");
        for action in actions {
            let effect = match action.effect {
                Effect::Reads => "reads",
                Effect::Changes => "changes",
                Effect::Reports => "reports",
            };
            _ = writeln!(page, "| `{0}` | {effect} | `{scope}:{0}` |", action.name);
        }
    }
    page.push_str(
        "\n## Addresses that stacks sign\n\n| request | effect |\n|---|---|\n\
         | `PUT /v1/waitcondition/ARN` | signals a wait condition handle |\n\
         | `POST /v1/signal/ARN` | signals a scaling policy, a deployment or another resource |\n",
    );
    compare("aws-apis.md", &page);
    for (file, actions) in
        [("cloudformation", kiln_api::cfn::ACTIONS), ("alarms", kiln_api::cloudwatch::ACTIONS)]
    {
        let text = fs::read_to_string(root().join(format!("docs/{file}.md"))).expect("a page");
        for action in actions {
            assert!(text.contains(&format!("`{}`", action.name)), "{file}.md: no {}", action.name);
        }
    }
}

const FUNCTIONS: &str = "\
# Functions by version

Every function of both dialects. [functions.md](../functions.md) has an example of each function of HOT; `kiln template functions VERSION` prints
those of one version. Generated: `KILN_BLESS=1 cargo nextest run -p kiln docs::interfaces` writes it.

| function | versions | in conditions | syntax | value |
|---|---|---|---|---|
";

#[test]
fn the_page_of_the_functions_is_in_step() {
    let mut page = FUNCTIONS.to_owned();
    for function in ALL {
        let conditions = match function.in_conditions {
            Some(_) if !function.in_values => "only",
            Some(_) => "yes",
            None => "no",
        };
        let (usage, about) = (function.usage.replace('|', "\\|"), cell(function.about));
        let versions = versions(function);
        _ = writeln!(
            page,
            "| `{}` | {versions} | {conditions} | `{usage}` | {about} |",
            function.name
        );
    }
    compare("functions.md", &page);
}

fn versions(function: &Function) -> String {
    let date = |version: Version| {
        version::ALL.iter().find(|it| it.version == version).map(|it| it.date).unwrap_or_default()
    };
    match (function.since, function.until) {
        (since, None) => format!("from {}", date(since)),
        (Version::Aws20100909, Some(Version::Heat20121212)) => "CloudFormation (AWS)".to_owned(),
        (Version::Aws20100909, Some(Version::Hot20130523)) => "CloudFormation".to_owned(),
        (_, Some(until)) => format!("CloudFormation, and HOT before {}", date(until)),
    }
}
