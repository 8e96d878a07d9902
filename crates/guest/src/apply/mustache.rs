//! Mustache templates in the dialect of os-apply-config: nothing is escaped, values other than strings are rendered
//! as JSON, and missing values are empty.

use crate::error::{GuestError, Result};
use crate::json;
use serde_json::Value;

/// Renders a template.
pub(crate) fn render(template: &str, metadata: &Value) -> Result<String> {
    let mut tokens = tokens(template)?.into_iter().peekable();
    let parse_tree = parse_tree(&mut tokens, None)?;
    let mut text = String::new();
    render_nodes(&parse_tree, &mut vec![metadata], &mut text);
    Ok(text)
}

#[derive(Debug)]
enum Token<'t> {
    Text(&'t str),
    Name(&'t str),
    Open { name: &'t str, is_inverted: bool },
    Close(&'t str),
}

enum Node<'t> {
    Text(&'t str),
    Name(&'t str),
    Section { name: &'t str, is_inverted: bool, inner: Vec<Node<'t>> },
}

fn tokens(template: &str) -> Result<Vec<Token<'_>>> {
    let (mut open, mut close) = ("{{", "}}");
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = template[at..].find(open).map(|it| it + at) {
        let inner = start + open.len();
        // Three braces mean the same as two, because nothing is escaped.
        let (inner, closing) = if template[inner..].starts_with('{') && open == "{{" {
            (inner + 1, "}}}")
        } else {
            (inner, close)
        };
        let changes = template[inner..].starts_with('=');
        let closing = if changes { format!("={closing}") } else { closing.to_owned() };
        let from = if changes { inner + 1 } else { inner };
        let Some(end) = template[from..].find(&closing).map(|it| it + from) else {
            let line = template[..start].lines().count().max(1);
            return Err(GuestError::new(format!("line {line}: unterminated tag")));
        };
        let after = end + closing.len();
        let tag = template[from..end].trim();
        let sign = if changes { Some('=') } else { tag.chars().next() };
        let is_silent = matches!(sign, Some('#' | '^' | '/' | '!' | '=' | '>'));
        let (text_end, next) = if is_silent {
            standalone_line(template, start, after).unwrap_or((start, after))
        } else {
            (start, after)
        };
        found.push(Token::Text(&template[at..text_end.max(at)]));
        let name = tag.get(1..).unwrap_or_default().trim();
        match sign {
            Some('#') => found.push(Token::Open { name, is_inverted: false }),
            Some('^') => found.push(Token::Open { name, is_inverted: true }),
            Some('/') => found.push(Token::Close(name)),
            Some('&') => found.push(Token::Name(name)),
            // Comments are dropped, and so are partials, which are not supported.
            Some('!' | '>') => {}
            Some('=') => {
                let mut both = tag.split_whitespace();
                (open, close) = (both.next().unwrap_or(open), both.next().unwrap_or(close));
            }
            _ => found.push(Token::Name(tag)),
        }
        at = next;
    }
    found.push(Token::Text(&template[at..]));
    Ok(found)
}

/// For a tag that is alone on its line, returns the beginning of the line and that of the next one.
fn standalone_line(template: &str, start: usize, after: usize) -> Option<(usize, usize)> {
    let line = template[..start].rfind('\n').map_or(0, |it| it + 1);
    let rest = &template[after..];
    let end = rest.find('\n').map_or(rest.len(), |it| it + 1);
    let is_blank = |text: &str| text.trim().is_empty();
    (is_blank(&template[line..start]) && is_blank(&rest[..end])).then_some((line, after + end))
}

fn parse_tree<'t>(
    tokens: &mut std::iter::Peekable<std::vec::IntoIter<Token<'t>>>,
    inside: Option<&str>,
) -> Result<Vec<Node<'t>>> {
    let mut nodes = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            Token::Text(text) => nodes.push(Node::Text(text)),
            Token::Name(name) => nodes.push(Node::Name(name)),
            Token::Open { name, is_inverted } => {
                let inner = parse_tree(tokens, Some(name))?;
                nodes.push(Node::Section { name, is_inverted, inner });
            }
            Token::Close(name) if Some(name) == inside => return Ok(nodes),
            Token::Close(name) => {
                return Err(GuestError::new(format!("{{{{/{name}}}}} has no opening tag")));
            }
        }
    }
    match inside {
        Some(name) => Err(GuestError::new(format!("{{{{#{name}}}}} is not closed"))),
        None => Ok(nodes),
    }
}

fn render_nodes(nodes: &[Node<'_>], context: &mut Vec<&Value>, text: &mut String) {
    for node in nodes {
        match node {
            Node::Text(plain) => text.push_str(plain),
            Node::Name(name) => {
                text.push_str(&look_up(context, name).map(json::plain).unwrap_or_default());
            }
            Node::Section { name, is_inverted, inner } => {
                let value = look_up(context, name).filter(|value| is_truthy(value));
                match (value, is_inverted) {
                    (None, true) => render_nodes(inner, context, text),
                    (None, false) | (Some(_), true) => {}
                    (Some(Value::Array(items)), false) => {
                        for item in items {
                            context.push(item);
                            render_nodes(inner, context, text);
                            context.pop();
                        }
                    }
                    (Some(value), false) => {
                        context.push(value);
                        render_nodes(inner, context, text);
                        context.pop();
                    }
                }
            }
        }
    }
}

/// Looks up a dotted name: the first part in the nearest context that has it, the other parts inside that value.
fn look_up<'v>(context: &[&'v Value], name: &str) -> Option<&'v Value> {
    if name == "." {
        return context.last().copied();
    }
    let mut parts = name.split('.');
    let first = parts.next()?;
    let mut value = context.iter().rev().find_map(|it| it.as_object()?.get(first))?;
    for part in parts {
        value = value.as_object()?.get(part)?;
    }
    Some(value)
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tags_are_what_the_original_makes_of_them() {
        let metadata = json!({"d": [{"a": 1}], "s": "<\"x\">&", "n": 5, "f": 1.5, "b": true, "nul": null,
            "l": ["p", "q"], "m": {"k": "v"}, "l2": [{"x": 1}, {"x": 2}]});
        for (template, expected) in [
            ("{{d}}", "[{\"a\": 1}]"),
            ("{{s}}{{{s}}}{{&s}}", "<\"x\">&<\"x\">&<\"x\">&"),
            ("{{n}} {{f}} {{b}}", "5 1.5 true"),
            ("{{nul}}{{missing}}", ""),
            ("{{l.0}}{{> p}}", ""),
            ("{{#l}}<{{.}}>{{/l}}", "<p><q>"),
            ("{{#m}}{{k}}{{/m}}{{m.k}}", "vv"),
            ("{{^m.z}}none{{/m.z}}", "none"),
            ("{{#l2}}{{x}};{{/l2}}", "1;2;"),
            ("{{#m.k}}has {{m.k}}{{/m.k}}", "has v"),
            ("a\n  {{#m}}\nb\n{{/m}}\nc{{! no }}d\n", "a\nb\ncd\n"),
            ("{{=<% %>=}}<%n%>{{n}}", "5{{n}}"),
        ] {
            assert_eq!(render(template, &metadata).unwrap(), expected, "{template}");
        }
        assert!(render("{{#m}}", &metadata).is_err());
        assert!(render("{{m", &metadata).is_err());
        assert!(render("{{/m}}", &metadata).is_err());
    }
}
