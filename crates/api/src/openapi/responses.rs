//! The schemas of responses.

use super::{list, members, object};
use crate::routes::{ResponseBody, Route};
use kiln_template::{Members, Value};
use std::sync::Arc;

/// An object and its members. A kind that ends in `?` may be null, a name that ends in `?` may be missing.
type Shape = (&'static str, &'static [(&'static str, &'static str)]);

#[rustfmt::skip]
const SHAPES: [Shape; 18] = [
    ("Link", &[("href", "text"), ("rel", "text")]),
    ("NewStack", &[("id", "text"), ("links", "Link*")]),
    ("ListedStack", &[
        ("id", "text"), ("links", "Link*"), ("stack_name", "text"), ("description", "any"),
        ("stack_status", "text"), ("stack_status_reason", "text"), ("creation_time", "time"),
        ("updated_time", "time?"), ("deletion_time", "time?"), ("stack_owner", "text?"),
        ("parent", "text?"), ("stack_user_project_id", "text?"), ("tags", "list?"),
        ("project?", "text"),
    ]),
    ("Stack", &[
        ("id", "text"), ("links", "Link*"), ("stack_name", "text"), ("description", "any"),
        ("stack_status?", "text"), ("stack_status_reason?", "text"), ("creation_time", "time"),
        ("updated_time", "time?"), ("deletion_time", "time?"), ("stack_owner", "text?"),
        ("parent", "text?"), ("stack_user_project_id", "text?"), ("tags", "list"),
        ("template_description", "any"), ("parameters", "map"), ("outputs?", "Output*"),
        ("capabilities", "list"), ("notification_topics", "list"), ("disable_rollback", "flag"),
        ("timeout_mins", "count?"), ("resources?", "list"),
    ]),
    ("ListedOutput", &[("output_key", "text"), ("description", "any")]),
    ("Output", &[
        ("output_key", "text"), ("description", "any"), ("output_value", "any"),
        ("output_error?", "text"),
    ]),
    ("Resource", &[
        ("updated_time", "time"), ("creation_time", "time"), ("logical_resource_id", "text"),
        ("resource_name", "text"), ("physical_resource_id", "text"), ("resource_status", "text"),
        ("resource_status_reason", "text"), ("resource_type", "text"), ("links", "Link*"),
        ("required_by", "list"), ("parent_resource?", "text"), ("description?", "text"),
        ("attributes?", "map"),
    ]),
    ("Event", &[
        ("id", "text"), ("links", "Link*"), ("event_time", "time"), ("logical_resource_id", "text"),
        ("resource_name", "text"), ("physical_resource_id", "text"), ("resource_status", "text"),
        ("resource_status_reason", "text"), ("resource_type?", "text"),
        ("resource_properties?", "map?"),
    ]),
    ("Changes", &[
        ("unchanged", "list"), ("updated", "list"), ("replaced", "list"), ("added", "list"),
        ("deleted", "list"),
    ]),
    ("Plan", &[
        ("id", "text"), ("stack_name", "text"), ("stack_id", "text"), ("links", "Link*"), ("action", "text"),
        ("created", "time"), ("expires", "time"), ("digest", "text"), ("applied", "flag"), ("summary", "map"),
        ("resources", "list"),
    ]),
    ("ListedPlan", &[
        ("id", "text"), ("stack_name", "text"), ("stack_id", "text"), ("links", "Link*"), ("action", "text"),
        ("created", "time"), ("expires", "time"), ("digest", "text"), ("applied", "flag"), ("summary", "map"),
    ]),
    ("PlannedStack", &[("id", "text"), ("stack_name", "text"), ("links", "Link*")]),
    ("Document", &[
        ("name", "text"), ("id", "text"), ("action", "text"), ("status", "text"), ("template", "map"),
        ("environment", "map"), ("files", "map"), ("project_id", "text"),
        ("stack_user_project_id", "text"), ("tags", "list"), ("resources", "map"),
    ]),
    ("Snapshot", &[
        ("id", "text"), ("name", "text?"), ("action", "text"), ("status", "text"),
        ("status_reason", "text?"), ("data", "map"), ("creation_time", "time"),
    ]),
    ("Validation", &[
        ("Description", "any"), ("Parameters", "map"), ("ParameterGroups?", "list"),
        ("NestedParameters?", "map"), ("Environment", "map"),
    ]),
    ("ListedConfig", &[
        ("id", "text"), ("name", "text?"), ("group", "text?"), ("creation_time", "time"),
        ("project?", "text"),
    ]),
    ("Config", &[
        ("id", "text"), ("name", "text?"), ("group", "text?"), ("creation_time", "time"),
        ("config", "any"), ("inputs", "list"), ("outputs", "list"), ("options", "map"),
    ]),
    ("Deployment", &[
        ("id", "text"), ("server_id", "text"), ("config_id", "text?"), ("input_values", "map?"),
        ("output_values", "map?"), ("action", "text?"), ("status", "text?"), ("status_reason", "text?"),
        ("creation_time", "time"), ("updated_time?", "time"),
    ]),
];

/// The successful response of a route, by content type.
pub(super) fn content(route: &Route) -> Value {
    let is_text = route.response == ResponseBody::Text;
    let schema = match route.response {
        ResponseBody::Text => object([("type", "object".into())]),
        ResponseBody::Empty | ResponseBody::Null => object([("nullable", true.into())]),
        ResponseBody::Value(what) => kind(what),
        ResponseBody::Member(name, what) => object([
            ("type", "object".into()),
            ("required", Value::list([name.into()])),
            ("properties", object([(name, kind(what))])),
        ]),
    };
    let mut content = members([("application/json", object([("schema", schema)]))]);
    let text = || object([("schema", object([("type", "string".into())]))]);
    if is_text {
        content.insert("text/plain".into(), text());
    }
    if route.path.ends_with("{stack_id}/events") {
        content.insert("text/event-stream".into(), text());
    }
    Value::Map(Arc::new(content))
}

/// The objects, by their names.
pub(super) fn schemas() -> Members {
    SHAPES.iter().map(|(name, parts)| ((*name).into(), record(parts))).collect()
}

fn record(parts: &[(&str, &str)]) -> Value {
    let bare = |name: &str| name.trim_end_matches('?').to_owned();
    let required = parts.iter().filter(|(name, _)| !name.ends_with('?'));
    let properties = parts.iter().map(|(name, what)| (bare(name), kind(what)));
    object([
        ("type", "object".into()),
        ("required", Value::list(required.map(|(name, _)| Value::from(*name)))),
        ("properties", Value::map(properties)),
    ])
}

fn kind(what: &str) -> Value {
    if let Some(of) = what.strip_suffix('*') {
        return list(kind(of));
    }
    let (what, is_nullable) = match what.strip_suffix('?') {
        Some(what) => (what, true),
        None => (what, false),
    };
    let word = match what {
        "any" => return object([("nullable", true.into())]),
        "list" => return nullable(list(object([("nullable", true.into())])), is_nullable),
        "text" => "string",
        "time" => {
            let time = object([("type", "string".into()), ("format", "date-time".into())]);
            return nullable(time, is_nullable);
        }
        "flag" => "boolean",
        "count" => "integer",
        "map" => "object",
        shape => return object([("$ref", format!("#/components/schemas/{shape}").into())]),
    };
    nullable(object([("type", word.into())]), is_nullable)
}

fn nullable(schema: Value, is_nullable: bool) -> Value {
    match schema {
        Value::Map(mut schema) if is_nullable => {
            Arc::make_mut(&mut schema).insert("nullable".into(), true.into());
            Value::Map(schema)
        }
        schema => schema,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn every_answer_is_of_a_known_kind() {
        let words = ["any", "list", "text", "time", "flag", "count", "map"];
        let of_routes = ROUTES.iter().filter_map(|route| match route.response {
            ResponseBody::Value(what) | ResponseBody::Member(_, what) => Some(what),
            _ => None,
        });
        let of_shapes = SHAPES.iter().flat_map(|(_, parts)| parts.iter().map(|(_, what)| *what));
        for what in of_routes.chain(of_shapes) {
            let what = what.trim_end_matches(['*', '?']);
            let is_shape = SHAPES.iter().any(|(name, _)| *name == what);
            assert!(is_shape || words.contains(&what), "{what}");
        }
    }

    #[test]
    fn every_route_that_shows_something_says_what() {
        for route in ROUTES.iter().filter(|route| route.method == "GET" && route.success == 200) {
            let is_typed =
                matches!(route.response, ResponseBody::Value(_) | ResponseBody::Member(..));
            assert!(is_typed, "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn bodies_go_with_their_statuses() {
        for route in ROUTES {
            let is_empty = route.response == ResponseBody::Empty;
            let is_text = route.response == ResponseBody::Text;
            assert_eq!(is_empty, route.success == 204, "{} {}", route.method, route.path);
            assert_eq!(is_text, matches!(route.success, 202 | 302), "{}", route.path);
        }
    }
}
