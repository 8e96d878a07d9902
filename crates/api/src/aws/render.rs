//! Responses: a value as XML, JSON or CBOR.

use super::params::Params;
use super::{cbor, rpc};
use crate::response::{JSON, Response};
use axum::body::Body;
use axum::http::{HeaderName, StatusCode};
use axum::response::Response as HttpResponse;
use kiln_template::Value;
use kiln_template::print::{self, Keys};

/// The content type of answers in XML.
pub(crate) const XML: &str = "application/xml; charset=UTF-8";

/// Members whose values are documents: in XML, their JSON is the text.
const DOCUMENTS: [&str; 2] = ["Metadata", "TemplateBody"];

/// The format of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Xml,
    Json,
    /// For RPC requests in CBOR.
    Cbor,
    /// For RPC requests in JSON: with numbers and timestamps.
    TypedJson,
}

impl Format {
    /// The format that a request wants.
    pub(crate) fn parse(params: &Params) -> Format {
        match params.get("ContentType") {
            Some("JSON") => Format::Json,
            _ => Format::Xml,
        }
    }
}

/// The response of an action.
pub(super) fn action_response(action: &str, result: &Value, format: Format) -> HttpResponse {
    if let Format::Cbor | Format::TypedJson = format {
        return rpc_response(StatusCode::OK, result, format);
    }
    let result = Value::map([(format!("{action}Result"), result.clone())]);
    let body = Value::map([(format!("{action}Response"), result)]);
    document(StatusCode::OK, &body, format)
}

/// A response whose body is a map with one member.
pub(super) fn document(status: StatusCode, value: &Value, format: Format) -> HttpResponse {
    let (kind, text) = match format {
        Format::Xml => (XML, xml(value)),
        _ => (JSON, print::json(value, Keys::Ordered)),
    };
    let mut response = Response::with_body(kind, Body::from(text)).into_response();
    *response.status_mut() = status;
    response
}

/// The response to an RPC request, which is always a map.
pub(super) fn rpc_response(status: StatusCode, value: &Value, format: Format) -> HttpResponse {
    let nothing = Value::Map(Default::default());
    let value = if let Value::Map(_) = value { value } else { &nothing };
    let response = match format {
        Format::Cbor => Response::with_body("application/cbor", Body::from(cbor::written(value)))
            .with(HeaderName::from_static("smithy-protocol"), "rpc-v2-cbor"),
        _ => {
            let text = print::json(&rpc::typed("", value), Keys::Ordered);
            Response::with_body("application/x-amz-json-1.0", Body::from(text))
        }
    };
    let mut response = response.into_response();
    *response.status_mut() = status;
    response
}

/// A value as XML, without members that are null: clients that expect a number or a date cannot read `None`.
fn xml(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Map(members) => {
            for (name, member) in members.iter().filter(|(_, member)| !member.is_null()) {
                let name = element(name);
                if DOCUMENTS.contains(&name.as_str()) {
                    wrapped(&name, out, |out| out.push_str(&escape(&json(member))))
                } else {
                    wrapped(&name, out, |out| write(member, out))
                }
            }
        }
        Value::List(items) => {
            for item in items.iter().filter(|item| !item.is_null()) {
                wrapped("member", out, |out| write(item, out));
            }
        }
        // As AWS writes them: there are clients that take `True` for no.
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Null => {}
        other => out.push_str(&escape(&print::plain(other))),
    }
}

fn wrapped(name: &str, out: &mut String, inner: impl FnOnce(&mut String)) {
    out.extend(["<", name, ">"]);
    inner(out);
    out.extend(["</", name, ">"]);
}

/// A document as text; none if there is nothing in it.
fn json(value: &Value) -> String {
    match value {
        Value::Map(members) if members.is_empty() => String::new(),
        Value::Text(text) => text.to_string(),
        value => print::json(value, Keys::Ordered),
    }
}

/// A name as the name of an element, which cannot have everything in it.
fn element(name: &str) -> String {
    let fit = name.chars().map(|it| match it {
        ':' => '.',
        it if begins(it) || matches!(it, '0'..='9' | '-' | '.') => it,
        _ => '_',
    });
    let fit: String = fit.collect();
    if fit.starts_with(begins) { fit } else { format!("_{fit}") }
}

/// Whether the name of an element may begin so.
fn begins(it: char) -> bool {
    matches!(it, '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}'
        | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}'
        | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

/// A text as part of a document in XML. Characters that no document may have are left out.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // A reader would make a newline of it.
            '\r' => escaped.push_str("&#13;"),
            '\t' | '\n' => escaped.push(char),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        kiln_template::json::parse(json).unwrap()
    }

    #[test]
    fn a_value_is_elements_by_its_names() {
        let shown = value(
            r#"{"A": {"Yes": true, "No": null, "List": [1, "x<y"], "Empty": "", "None": [],
                "a b": 1, "9": 2, "AWS::X": {"c:d": 1}, "Half": 0.5}}"#,
        );
        assert_eq!(
            xml(&shown),
            "<A><Yes>true</Yes><List><member>1</member><member>x&lt;y</member></List><Empty></Empty>\
             <None></None><a_b>1</a_b><_9>2</_9><AWS..X><c.d>1</c.d></AWS..X><Half>0.5</Half></A>"
        );
    }

    #[test]
    fn names_are_those_that_elements_may_have() {
        for (name, fit) in [
            ("", "_"),
            ("größe", "größe"),
            ("-a", "_-a"),
            ("m²", "m_"),
            ("<x>", "_x_"),
            ("a/b", "a_b"),
        ] {
            assert_eq!(element(name), fit);
        }
    }

    #[test]
    fn documents_are_text() {
        let shown = value(r#"{"R": {"Metadata": {"a": {"b": "<"}}, "TemplateBody": {}}}"#);
        assert_eq!(
            xml(&shown),
            r#"<R><Metadata>{"a": {"b": "&lt;"}}</Metadata><TemplateBody></TemplateBody></R>"#
        );
    }

    #[test]
    fn secrets_stay_secret_and_control_characters_out() {
        let secret = Value::Secret(kiln_template::Secret::new("s3cret".into()));
        let shown = xml(&Value::map([("A", secret), ("B", "a\u{1}b\rc\nd".into())]));
        assert_eq!(shown, "<A>******</A><B>ab&#13;c\nd</B>");
    }
}
