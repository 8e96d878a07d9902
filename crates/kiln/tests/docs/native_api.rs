//! The reference of the native API, `docs/reference/native-api.md`, made of the OpenAPI document that the server has.

use super::compare;
use crate::cloud::kiln_process::KilnProcess;
use crate::test_directory::TestDirectory;
use kiln_api::routes::{ROUTES, Rule};
use serde_json::{Map, Value};
use std::fmt::Write;

const HEAD: &str = "\
# The native API

Every request of the native API, which is that of Heat. The server describes it as an [OpenAPI](https://www.openapis.org/) document at
`/openapi.json` (`http://127.0.0.1:8004/openapi.json` on `kiln dev`), which this page is generated from:
`KILN_BLESS=1 cargo nextest run -p kiln docs::native_api` writes it.

A request carries a token in `X-Auth-Token`, or another login of [authentication.md](../authentication.md). Every response has its request id in
`X-OpenStack-Request-Id`. A failed request is answered with the object that [error-codes.md](error-codes.md#error-types) describes. `tenant_id` is the
id of the project. In place of `{stack_name}/{stack_id}`, a name, an id or an ARN alone is answered with a redirect.

*Rule* names the [policy rule](../policy.md) that decides who may make the request.
";

#[tokio::test]
async fn the_page_of_the_native_api_is_in_step() {
    let kiln = KilnProcess::open(TestDirectory::with(&[]), &[]).await;
    let url = format!("{}/openapi.json", kiln.orchestration().trim_end_matches("/v1"));
    let response = kiln.client().get(url).send().await.expect("a response");
    let document: Value =
        serde_json::from_slice(&response.bytes().await.expect("a body")).expect("JSON");
    let mut page = HEAD.to_owned();
    for (path, operations) in object(&document["paths"]) {
        for (method, operation) in object(operations) {
            page.push_str(&section(&method.to_uppercase(), path, operation));
        }
    }
    page.push_str("\n## Objects\n\nThe objects that responses contain.\n");
    for (name, schema) in object(&document["components"]["schemas"]) {
        _ = writeln!(page, "\n### {name}\n\n| member | type |\n|---|---|");
        for (member, schema) in object(&schema["properties"]) {
            _ = writeln!(page, "| `{member}` | {} |", kind(schema));
        }
    }
    compare("native-api.md", &page);
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object")
}

fn section(method: &str, path: &str, operation: &Value) -> String {
    let mut text =
        format!("\n## {method} {path}\n\n{}\n", operation["summary"].as_str().unwrap_or(""));
    let rules = rules(method, path).join("`, `");
    _ = writeln!(text, "\nRule: `{rules}`. {}", success(&operation["responses"]));
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let query: Vec<String> = parameters
        .filter(|it| it["in"] == "query")
        .map(|it| format!("`{}` ({})", it["name"].as_str().unwrap_or(""), kind(&it["schema"])))
        .collect();
    if !query.is_empty() {
        _ = writeln!(text, "\nQuery: {}.", query.join(", "));
    }
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    if let Some(members) = body["properties"].as_object().filter(|it| !it.is_empty()) {
        let required = body["required"].as_array().cloned().unwrap_or_default();
        let members: Vec<String> = members
            .iter()
            .map(|(name, schema)| {
                let is_required = required.iter().any(|it| it == name);
                let word = if is_required { ", required" } else { "" };
                format!("`{name}` ({}{word})", kind(schema))
            })
            .collect();
        _ = writeln!(text, "\nBody: an object with {}.", members.join(", "));
    }
    text
}

/// The policy rules of an operation, from the same table that the document is made of.
fn rules(method: &str, path: &str) -> Vec<&'static str> {
    let fits = |form: &str| {
        let (mut form, mut path) = (form.split('/'), path.trim_start_matches("/v1").split('/'));
        loop {
            match (form.next(), path.next()) {
                (None, None) => return true,
                (Some(a), Some(b)) if a == b => (),
                (Some(a), Some(b)) if a.starts_with("{path:") => {
                    if !a.trim_matches(['{', '}'])[5..].split('|').any(|word| word == b) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    };
    let route = ROUTES.iter().find(|route| route.method == method && fits(route.path));
    match route.unwrap_or_else(|| panic!("no route for {method} {path}")).rule {
        Rule::Named(rule) => vec![rule],
        Rule::OfBody(_, rules) => rules.to_vec(),
    }
}

fn success(responses: &Value) -> String {
    let (status, response) =
        object(responses).iter().find(|(status, _)| status.as_str() < "400").expect("a success");
    let schema = &response["content"]["application/json"]["schema"];
    let body = match schema["properties"].as_object() {
        Some(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, it)| format!("`{name}` ({})", kind(it))).collect();
            format!(" with {}", members.join(", "))
        }
        None if schema.is_object() => format!(" with {}", kind(schema)),
        None => String::new(),
    };
    format!("Success: {status}{body}.")
}

/// The type of a schema in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    let null =
        if schema["nullable"] == true && !schema["type"].is_null() { " or null" } else { "" };
    let word = match schema["type"].as_str() {
        Some("array") => format!("list of {}", kind(&schema["items"])),
        Some("string") if schema["format"] == "date-time" => "time".to_owned(),
        Some("string") => match schema["enum"].as_array() {
            Some(words) => words
                .iter()
                .map(|it| it.as_str().unwrap_or("").to_owned())
                .collect::<Vec<_>>()
                .join(" or "),
            None => "text".to_owned(),
        },
        Some(word) => word.to_owned(),
        None => "any".to_owned(),
    };
    word + null
}
