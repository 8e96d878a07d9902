//! Resource types, template versions and functions.

use super::show::{members, wrapped};
use crate::fault::Fault;
use crate::request::Request;
use crate::response::Response;
use kiln_engine::{Availability, ErrorType, RequestError};
use kiln_resources::declare::ResourceType;
use kiln_template::schema::{
    Attribute, Inner, Name, Property, PropertyType, Status, Support, TypeSchema,
};
use kiln_template::version::{self, Dialect, Position};
use kiln_template::{Constraint, Members, Rule, Value, functions, print};
use std::borrow::Cow;
use std::sync::Arc;

/// The support statuses that clients may filter by.
const STATUSES: [&str; 5] = ["UNKNOWN", "SUPPORTED", "DEPRECATED", "UNSUPPORTED", "HIDDEN"];

// --- types ---

pub(crate) async fn index(request: Request) -> Result<Response, Fault> {
    let query = &request.query;
    let status = query.get("support_status");
    if status.is_some_and(|status| !STATUSES.contains(&status)) {
        let known = print::repr(&Value::list(STATUSES.map(Value::from)));
        let known = known.trim_start_matches('[').trim_end_matches(']');
        return Err(Fault::new(
            ErrorType::Invalid,
            format!(
                "Data supplied was not valid: Invalid support status and should be one of ({known})"
            ),
        ));
    }
    let with_description = query.flag("with_description")?.unwrap_or(false);
    // A pattern that cannot be read matches nothing.
    let pattern = query.get("name").map(|name| kiln_yaql::regex::compile(&format!("^(?:{name})")));
    let is_named = |name: &str| match &pattern {
        None => true,
        Some(Ok(pattern)) => pattern.is_match(name).unwrap_or(false),
        Some(Err(_)) => false,
    };
    let version = query.get("version");
    let policy = request.app.policy.get();
    let available = request.service().availability(&request.requester()).await;
    let is_listed = |kind: &&ResourceType| {
        let support = &kind.schema.support;
        support.status != Status::Hidden
            && status.is_none_or(|status| support.status.name() == status)
            && version.is_none_or(|version| support.version.as_deref() == Some(version))
            && is_named(kind.name())
            && policy.allows_type(&request.caller, kind.name())
            && available.reason(kind).is_none()
    };
    let declared = request.service().declared_types().filter(is_listed);
    let mut listed: Vec<(String, String)> =
        declared.map(|kind| (kind.name().to_owned(), kind.schema.about.to_string())).collect();
    let has_status = status.is_none_or(|status| status == Status::Supported.name());
    if has_status && version.is_none() {
        let templates = request.service().template_types().into_iter();
        let templates = templates
            .filter(|name| is_named(name) && policy.allows_type(&request.caller, name))
            .map(|name| {
                let schema = request.service().template_type(&name).and_then(Result::ok);
                (name.to_string(), schema.map(|it| it.about.to_string()).unwrap_or_default())
            });
        listed.extend(templates);
        listed.sort();
    }
    let shown = listed.into_iter().map(|(name, about)| {
        if with_description {
            Value::map([("resource_type", Value::from(name)), ("description", about.into())])
        } else {
            Value::from(name)
        }
    });
    Ok(Response::ok(&wrapped("resource_types", Value::list(shown))))
}

/// The schema of the type that the path names.
async fn named(request: &Request) -> Result<Cow<'static, TypeSchema>, Fault> {
    let name = request.part("type_name");
    let (template, kind) =
        (request.service().template_type(name), request.service().declared_type(name));
    let is_known = template.is_some() || kind.is_some();
    let policy = request.app.policy.get();
    let mut names = [Some(name), kind.map(ResourceType::name)].into_iter().flatten();
    if is_known && names.any(|name| !policy.allows_type(&request.caller, name)) {
        return Err(RequestError::forbidden_type(name).into());
    }
    if let Some(schema) = template {
        return Ok(Cow::Owned(schema?));
    }
    let kind = kind.ok_or_else(|| Fault::from(RequestError::not_found("Resource Type", name)))?;
    if kind.schema.support.status == Status::Hidden {
        return Err(RequestError::unsupported(format_args!("Hidden resource type {name}")).into());
    }
    let available = request.service().availability(&request.requester()).await;
    if available.reason(kind).is_some() {
        // Heat tells no other reason here.
        let message = Availability::message(kind, "Service endpoint not in service catalog.");
        return Err(Fault::new(ErrorType::ResourceTypeUnavailable, message));
    }
    Ok(Cow::Borrowed(&kind.schema))
}

pub(crate) async fn schema(request: Request) -> Result<Response, Fault> {
    let schema = &*named(&request).await?;
    let properties = schema.properties.iter().filter(|it| it.implemented).filter(is_shown);
    let mut attributes: Vec<(String, Value)> =
        schema.attributes.iter().map(|it| (it.name.to_string(), attribute(it))).collect();
    if has_show(schema) {
        let show = Value::map([("description", Value::from(SHOW)), ("type", "map".into())]);
        attributes.push(("show".into(), show));
    }
    let mut shown = members([
        ("resource_type", Value::from(request.part("type_name"))),
        ("properties", Value::map(properties.map(|it| (it.name.to_string(), property(it))))),
        ("attributes", Value::map(attributes)),
        ("support_status", support(&schema.support)),
    ]);
    if request.query.flag("with_description")?.unwrap_or(false) {
        shown.insert("description".into(), Value::from(&*schema.about));
    }
    Ok(Response::ok(&Value::Map(Arc::new(shown))))
}

/// The description of the attribute `show`, which nearly every type has.
const SHOW: &str = "All that the service knows of the object.";

/// Whether a type has that attribute without declaring it.
fn has_show(schema: &TypeSchema) -> bool {
    !schema.dynamic_attributes && !schema.attributes.iter().any(|it| &*it.name == "show")
}

fn is_shown(property: &&Property) -> bool {
    property.support.status != Status::Hidden
}

fn property(property: &Property) -> Value {
    let mut shown = members([("type", property.kind.name().to_lowercase().into())]);
    if !property.about.is_empty() {
        shown.insert("description".into(), Value::from(&*property.about));
    }
    if let Some(default) = &property.default {
        shown.insert("default".into(), default.clone());
    }
    let inner = match &property.inner {
        Inner::Free => None,
        Inner::Each(each) => Some(Value::map([("*", self::property(each))])),
        Inner::Members(all) => {
            let all = all.iter().filter(is_shown);
            Some(Value::map(all.map(|it| (it.name.to_string(), self::property(it)))))
        }
    };
    shown.extend(inner.map(|inner| ("schema".into(), inner)));
    shown.insert("required".into(), property.required.into());
    if !property.constraints.is_empty() {
        let constraints = property.constraints.iter().map(constraint);
        shown.insert("constraints".into(), Value::list(constraints));
    }
    shown.insert("update_allowed".into(), property.update_allowed.into());
    shown.insert("immutable".into(), property.immutable.into());
    Value::Map(Arc::new(shown))
}

fn constraint(constraint: &Constraint) -> Value {
    fn bounds<const N: usize>(parts: [(&'static str, Option<Value>); N]) -> Value {
        let said = parts.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Value::map(said)
    }
    let (name, value) = match &constraint.rule {
        Rule::Length { min, max } => {
            ("length", bounds([("min", min.map(Value::from)), ("max", max.map(Value::from))]))
        }
        Rule::Range { min, max } => ("range", bounds([("min", min.clone()), ("max", max.clone())])),
        Rule::Modulo { step, offset } => {
            let bounds =
                bounds([("step", Some((*step).into())), ("offset", Some((*offset).into()))]);
            ("modulo", bounds)
        }
        Rule::AllowedValues(values) => ("allowed_values", Value::list(values.iter().cloned())),
        Rule::AllowedPattern(pattern) => ("allowed_pattern", pattern.source().into()),
        Rule::Custom(name) => ("custom_constraint", Value::from(&**name)),
    };
    let mut shown = members([(name, value)]);
    if let Some(description) = &constraint.description {
        shown.insert("description".into(), Value::from(&**description));
    }
    Value::Map(Arc::new(shown))
}

fn attribute(attribute: &Attribute) -> Value {
    let mut shown = members([("description", Value::from(&*attribute.about))]);
    if let Some(kind) = attribute.kind {
        shown.insert("type".into(), kind.name().to_lowercase().into());
    }
    Value::Map(Arc::new(shown))
}

fn support(support: &Support) -> Value {
    let text = |text: &Option<Name>| match text {
        Some(text) => Value::from(&**text),
        None => Value::Null,
    };
    let previous = support.previous.as_deref().map(self::support);
    Value::map([
        ("status", Value::from(support.status.name())),
        ("message", text(&support.message)),
        ("version", text(&support.version)),
        ("previous_status", previous.unwrap_or_default()),
    ])
}

// --- a template to begin with ---

pub(crate) async fn template(request: Request) -> Result<Response, Fault> {
    let schema = named(&request).await?;
    let wanted = request.query.get("template_type").unwrap_or("cfn");
    let dialect = match wanted.to_ascii_lowercase().as_str() {
        "cfn" => Dialect::Cfn,
        "hot" => Dialect::Hot,
        _ => {
            return Err(Fault::bad(format!(
                "Template type is not supported: Invalid template type \"{wanted}\", valid types \
                 are: cfn, hot."
            )));
        }
    };
    Ok(Response::ok(&initial_template(&schema, dialect)))
}

/// A template with one resource of a type: its properties are parameters, its attributes outputs.
fn initial_template(schema: &TypeSchema, dialect: Dialect) -> Value {
    let name = schema.name.rsplit("::").next().unwrap_or(&schema.name);
    let usable: Vec<&Property> =
        schema.properties.iter().filter(|it| it.implemented).filter(is_shown).collect();
    let parameters = usable.iter().map(|it| (it.name.to_string(), parameter(it, dialect)));
    let properties = usable.iter().map(|it| (it.name.to_string(), property_value(it, dialect)));
    let output = |attribute: &str, about: &str| {
        let value = match dialect {
            Dialect::Cfn => ("Fn::GetAtt", "Value", "Description"),
            Dialect::Hot => ("get_attr", "value", "description"),
        };
        let path = Value::list([Value::from(name), Value::from(attribute)]);
        let about = Value::from(about);
        (
            attribute.to_owned(),
            Value::map([(value.1, Value::map([(value.0, path)])), (value.2, about)]),
        )
    };
    let mut outputs: Vec<(String, Value)> =
        schema.attributes.iter().map(|it| output(&it.name, &it.about)).collect();
    if has_show(schema) {
        outputs.push(output("show", SHOW));
    }
    let description = Value::from(format!("Initial template of {name}"));
    let parameters = Value::map(parameters);
    let properties = Value::map(properties);
    match dialect {
        Dialect::Cfn => {
            let resource =
                Value::map([("Type", Value::from(&*schema.name)), ("Properties", properties)]);
            let reference = Value::map([("Value", Value::map([("Ref", Value::from(name))]))]);
            let outputs = outputs.into_iter().chain([("OS::stack_id".to_owned(), reference)]);
            Value::map([
                ("HeatTemplateFormatVersion", Value::from("2012-12-12")),
                ("Description", description),
                ("Parameters", parameters),
                ("Resources", Value::map([(name, resource)])),
                ("Outputs", Value::map(outputs)),
            ])
        }
        Dialect::Hot => {
            let resource =
                Value::map([("type", Value::from(&*schema.name)), ("properties", properties)]);
            let reference = Value::map([("get_resource", Value::from(name))]);
            let reference = Value::map([("value", reference)]);
            let outputs = outputs.into_iter().chain([("OS::stack_id".to_owned(), reference)]);
            Value::map([
                ("heat_template_version", Value::from("2016-10-14")),
                ("description", description),
                ("parameters", parameters),
                ("outputs", Value::map(outputs)),
                ("resources", Value::map([(name, resource)])),
            ])
        }
    }
}

/// The parameter that stands for a property.
fn parameter(property: &Property, dialect: Dialect) -> Value {
    let mut shown = Members::new();
    let mut tell = |key: &str, value: Value| _ = shown.insert(key.into(), value);
    let kind = match (dialect, property.kind) {
        (Dialect::Cfn, PropertyType::Integer | PropertyType::Number) => "Number",
        (Dialect::Cfn, PropertyType::Boolean) => "Boolean",
        (Dialect::Cfn, PropertyType::List) => "CommaDelimitedList",
        (Dialect::Cfn, PropertyType::Map) => "Json",
        (Dialect::Cfn, PropertyType::String | PropertyType::Any) => "String",
        (Dialect::Hot, PropertyType::Integer | PropertyType::Number) => "number",
        (Dialect::Hot, PropertyType::Boolean) => "boolean",
        (Dialect::Hot, PropertyType::List) => "comma_delimited_list",
        (Dialect::Hot, PropertyType::Map) => "json",
        (Dialect::Hot, PropertyType::String | PropertyType::Any) => "string",
    };
    let words = match dialect {
        Dialect::Cfn => ["Type", "Description", "Default"],
        Dialect::Hot => ["type", "description", "default"],
    };
    tell(words[0], kind.into());
    if !property.about.is_empty() {
        tell(words[1], Value::from(&*property.about));
    }
    if let Some(default) = &property.default {
        tell(words[2], default.clone());
    }
    match dialect {
        Dialect::Hot if !property.constraints.is_empty() => {
            tell("constraints", Value::list(property.constraints.iter().map(constraint)));
        }
        Dialect::Hot => {}
        Dialect::Cfn if property.kind == PropertyType::Boolean => {
            let words = ["True", "true", "False", "false"];
            tell("AllowedValues", Value::list(words.map(Value::from)));
        }
        Dialect::Cfn => {
            for constraint in &property.constraints {
                cfn_rule(constraint, &mut tell);
            }
        }
    }
    Value::Map(Arc::new(shown))
}

fn cfn_rule(constraint: &Constraint, tell: &mut dyn FnMut(&str, Value)) {
    let mut bound = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            tell(name, value);
        }
    };
    match &constraint.rule {
        Rule::Length { min, max } => {
            bound("MinLength", min.map(Value::from));
            bound("MaxLength", max.map(Value::from));
        }
        Rule::Range { min, max } => {
            bound("MinValue", min.clone());
            bound("MaxValue", max.clone());
        }
        Rule::AllowedValues(values) => {
            bound("AllowedValues", Some(Value::list(values.iter().cloned())));
        }
        Rule::AllowedPattern(pattern) => bound("AllowedPattern", Some(pattern.source().into())),
        Rule::Custom(_) | Rule::Modulo { .. } => {}
    }
}

/// The value of a property in the template.
fn property_value(property: &Property, dialect: Dialect) -> Value {
    let name = Value::from(&*property.name);
    match dialect {
        Dialect::Hot => Value::map([("get_param", name)]),
        Dialect::Cfn if property.kind == PropertyType::List => {
            let parts = Value::list([",".into(), Value::map([("Ref", name)])]);
            Value::map([("Fn::Split", parts)])
        }
        Dialect::Cfn => Value::map([("Ref", name)]),
    }
}

// --- versions and functions ---

pub(crate) async fn versions(_ask: Request) -> Result<Response, Fault> {
    let mut all: Vec<(String, Value)> = version::ALL
        .iter()
        .map(|written| {
            let name = format!("{}.{}", written.key, written.date);
            let alias = written.alias.map(|alias| format!("{}.{alias}", written.key));
            let shown = Value::map([
                ("version", Value::from(name.as_str())),
                ("type", dialect_name(written.version.dialect()).into()),
                ("aliases", Value::list(alias.map(Value::from))),
            ]);
            (name, shown)
        })
        .collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    let all = all.into_iter().map(|(_, shown)| shown);
    Ok(Response::ok(&wrapped("template_versions", Value::list(all))))
}

fn dialect_name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Hot => "hot",
        Dialect::Cfn => "cfn",
    }
}

/// The order in which clients are used to see functions: as they came into the language.
const ORDER: [&str; 41] = [
    "get_attr",
    "get_file",
    "get_param",
    "get_resource",
    "list_join",
    "repeat",
    "resource_facade",
    "str_replace",
    "Fn::FindInMap",
    "Fn::GetAZs",
    "Ref",
    "Fn::GetAtt",
    "Fn::Select",
    "Fn::Join",
    "Fn::Split",
    "Fn::Replace",
    "Fn::Base64",
    "Fn::MemberListToMap",
    "Fn::ResourceFacade",
    "Fn::If",
    "Fn::Equals",
    "Fn::Not",
    "Fn::And",
    "Fn::Or",
    "digest",
    "str_split",
    "map_merge",
    "yaql",
    "map_replace",
    "if",
    "filter",
    "str_replace_strict",
    "make_url",
    "list_concat",
    "str_replace_vstrict",
    "list_concat_unique",
    "contains",
    "equals",
    "not",
    "and",
    "or",
];

fn place_of(function: &str) -> usize {
    ORDER.iter().position(|known| *known == function).unwrap_or(ORDER.len())
}

/// Descriptions that the interface's own tests, which clouds are certified with, compare word by word.
const COMPARED: [(&str, &str); 1] = [("get_file", "A function for including a file inline.")];

pub(crate) async fn functions(request: Request) -> Result<Response, Fault> {
    let with_conditions = request.query.flag("with_condition_func")?.unwrap_or(false);
    let name = request.part("template_version");
    let found = name.split_once('.').and_then(|(key, value)| version::find(key, value));
    let version = found.ok_or_else(|| {
        Fault::new(ErrorType::NotFound, format!("Template with version {name} not found"))
    })?;
    let is_listed = |function: &&functions::Function| {
        function.exists_in(version)
            && (function.allowed_in(Position::Value, version)
                || with_conditions && function.allowed_in(Position::Condition, version))
    };
    let mut listed: Vec<&functions::Function> = functions::ALL.iter().filter(is_listed).collect();
    listed.sort_by_key(|function| place_of(function.name));
    let shown = listed.into_iter().map(|function| {
        let compared = COMPARED.iter().find(|(name, _)| *name == function.name);
        let about = compared.map_or(function.about, |(_, about)| *about);
        Value::map([("functions", Value::from(function.name)), ("description", about.into())])
    });
    Ok(Response::ok(&wrapped("template_functions", Value::list(shown))))
}
