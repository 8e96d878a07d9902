//! The Rust text of a declaration.
//!
//! Only differences from the defaults are written, one call each; rustfmt does the layout.

use super::constants::Constants;
use super::{Description, names};
use crate::facts::{object, text};
use serde_json::Value;
use std::fmt::Write;

/// The maximal number of members of an inline nested schema; a larger one becomes a function.
const INLINE: usize = 7;

/// Renders the file that declares a type.
pub(crate) fn type_file(
    name: &str,
    fact: &Value,
    description: &Description,
    constants: &Constants,
) -> Result<String, String> {
    let mut functions = Functions { taken: vec![names::file(name)], texts: Vec::new(), constants };
    let body = declaration(name, fact, description, &mut functions)?;
    let header = header(&format!("{name}: {}", inside_sentence(&description.sentence)));
    let function = names::file(name);
    let mut text = format!(
        "{header}\nuse crate::declare::*;\n\npub(super) fn {function}() -> ResourceType {{\n{body}\n}}\n"
    );
    for function in functions.texts {
        text += "\n";
        text += &function;
    }
    Ok(text)
}

/// Renders the file that lists the types of a family.
pub(crate) fn family(family: &str, types: &[(String, Value)]) -> String {
    let mut files: Vec<_> = types.iter().map(|(name, _)| names::file(name)).collect();
    files.sort();
    let prefix = types.first().map_or("", |(name, _)| {
        name.match_indices("::").nth(1).map_or(name.as_str(), |(end, _)| &name[..end])
    });
    let mut text = format!("//! The types of the family `{family}`: {prefix}.\n\n");
    text += "use crate::declare::ResourceType;\n\n";
    for file in &files {
        _ = writeln!(text, "mod {file};");
    }
    text += "\n/// The types of this family.\npub(crate) fn types() -> Vec<ResourceType> {\n    vec![\n";
    for file in &files {
        _ = writeln!(text, "        {file}::{file}(),");
    }
    text += "    ]\n}\n";
    text
}

/// Renders the file that lists the families.
pub(crate) fn families<'a>(families: impl Iterator<Item = &'a String>) -> String {
    let mut text =
        "//! The built-in types, a folder for each family and a file for each type.\n\n".to_owned();
    for family in families {
        _ = writeln!(text, "pub(crate) mod {family};");
    }
    text
}

/// The functions for nested schemas, and the constants that they use.
struct Functions<'c> {
    taken: Vec<String>,
    texts: Vec<String>,
    constants: &'c Constants,
}

impl Functions<'_> {
    /// Reserves a position and a name for the function of a property; callers precede callees.
    fn reserve(&mut self, property: &str) -> (usize, String) {
        let mut name = function_name(property);
        while self.taken.contains(&name) {
            name.push_str("_property");
        }
        self.taken.push(name.clone());
        self.texts.push(String::new());
        (self.texts.len() - 1, name)
    }

    /// Sets the function at a reserved position.
    fn fill(&mut self, position: usize, name: &str, body: &str) {
        self.texts[position] = format!("fn {name}() -> Prop {{\n{body}\n}}\n");
    }
}

fn declaration(
    name: &str,
    fact: &Value,
    description: &Description,
    functions: &mut Functions<'_>,
) -> Result<String, String> {
    let mut calls = format!("ResourceType::new({})", quoted(name));
    _ = write!(calls, "\n.about({})", quoted(&description.sentence));
    if let Some(client) = fact["default_client_name"].as_str() {
        _ = write!(calls, "\n.service(Service::{})", service(client));
    }
    for (key, word) in [
        ("required_service_extension", "extension"),
        ("entity", "entity"),
        ("template", "template"),
        ("successor", "successor"),
    ] {
        if let Some(value) = fact[key].as_str() {
            _ = write!(calls, "\n.{word}({})", quoted(value));
        }
    }
    if let Some(limit) = fact["physical_resource_name_limit"].as_i64() {
        _ = write!(calls, "\n.name_limit({limit})");
    }
    calls += &abilities(fact);
    calls += &support_statuses(&fact["support_status"]);
    if let Some(instead) = &description.instead {
        _ = write!(calls, "\n.note({})", quoted(instead));
    }
    if let properties @ Value::Object(_) = &fact["properties"] {
        _ = write!(calls, "\n.props([{}])", members(properties, functions)?);
    }
    if let Value::Object(attributes) = &fact["attributes"] {
        let attributes: Vec<_> = attributes.iter().map(|(n, f)| attribute(n, f)).collect();
        _ = write!(calls, "\n.attrs([{}])", attributes.join(", "));
    }
    if let policy @ Value::Object(_) = &fact["update_policy"] {
        _ = write!(calls, "\n.update_policy([{}])", members(policy, functions)?);
    }
    Ok(calls)
}

fn abilities(fact: &Value) -> String {
    let flag = |key: &str| fact[key] == Value::Bool(true);
    let able =
        |word: &str| fact["supports"].as_array().is_some_and(|a| a.iter().any(|w| w == word));
    let nested = flag("nested_stack");
    let placeholder = flag("any_property");
    let silent = fact["no_signal_actions"].is_array();
    let rows = [
        (placeholder, "placeholder"),
        (nested, "nested"),
        (!placeholder && flag("dynamic_attributes"), "any_attribute"),
        (!nested && able("check"), "checkable"),
        (able("observe_reality"), "detects_drift"),
        (able("snapshot"), "restorable"),
        (!silent && able("signal"), "signallable"),
        (silent, "always_signallable"),
        (flag("snapshot_on_delete"), "snapshot_on_delete"),
        (!nested && able("suspend"), "suspendable"),
        (fact["always_replace_on_check_failed"] == Value::Bool(false), "kept_on_failed_check"),
    ];
    rows.iter().filter(|(holds, _)| *holds).map(|(_, word)| format!("\n.{word}()")).collect()
}

fn members(schema: &Value, functions: &mut Functions<'_>) -> Result<String, String> {
    let rendered = object(schema).into_iter().map(|(name, fact)| {
        let start = format!("prop({}, {}, \"\")", quoted(&name), kind(&fact));
        if size(&fact) <= INLINE {
            return property(&start, &fact, functions);
        }
        let (position, function) = functions.reserve(&name);
        let body = property(&start, &fact, functions)?;
        functions.fill(position, &function, &body);
        Ok(format!("{function}()"))
    });
    Ok(rendered.collect::<Result<Vec<_>, String>>()?.join(", "))
}

/// Renders a property with its calls; the nested schema comes last, because it is long.
fn property(start: &str, fact: &Value, functions: &mut Functions<'_>) -> Result<String, String> {
    let mut calls = start.to_owned();
    for (key, holds, word) in [
        ("required", true, "required"),
        ("update_allowed", true, "updatable"),
        ("immutable", true, "immutable"),
        ("implemented", false, "unimplemented"),
    ] {
        if fact[key] == Value::Bool(holds) {
            _ = write!(calls, ".{word}()");
        }
    }
    if let Some(default) = fact.get("default") {
        calls += &default_call(fact, default);
    }
    for constraint in fact["constraints"].as_array().into_iter().flatten() {
        calls += &constraint_call(constraint, functions.constants)?;
    }
    calls += &support_statuses(&fact["support_status"]);
    match fact["schema"].as_object() {
        None => (),
        Some(schema) => match schema.get("*") {
            Some(item) => _ = write!(calls, ".each({})", item_text(item, functions)?),
            None => {
                _ = write!(calls, ".members([{}])", members(&fact["schema"], functions)?);
            }
        },
    }
    Ok(calls)
}

fn item_text(fact: &Value, functions: &mut Functions<'_>) -> Result<String, String> {
    let text = property(&format!("item({})", kind(fact)), fact, functions)?;
    Ok(match text.strip_prefix("item(Map).members(") {
        Some(rest) => format!("record({rest}"),
        None => text,
    })
}

fn attribute(name: &str, fact: &Value) -> String {
    let kind = if fact["type"].is_null() { "None".to_owned() } else { kind(fact) };
    let cache = if fact["cache_mode"] == "cache_none" { ".uncached()" } else { "" };
    format!(
        "attr({}, {kind}, \"\"){cache}{}",
        quoted(name),
        support_statuses(&fact["support_status"])
    )
}

/// Renders the support statuses, the oldest first.
fn support_statuses(support: &Value) -> String {
    if !support.is_object() {
        return String::new();
    }
    let before = &support["previous_status"];
    let version = support["version"].as_str().map(quoted);
    let call = match (text(&support["status"]), version, before) {
        ("SUPPORTED", Some(version), Value::Null) => format!(".since({version})"),
        ("SUPPORTED", Some(version), _) => format!(".changed({version})"),
        ("SUPPORTED", None, _) => String::new(),
        ("DEPRECATED", version, _) => format!(".deprecated({})", version.unwrap_or_default()),
        ("HIDDEN", version, _) => format!(".hidden({})", version.unwrap_or_default()),
        (_, version, _) => format!(".unsupported({})", version.unwrap_or("None".to_owned())),
    };
    support_statuses(before) + &call
}

fn default_call(fact: &Value, default: &Value) -> String {
    let empty = match (default, text(&fact["type"])) {
        (Value::Array(items), "List") => items.is_empty(),
        (Value::Object(members), "Map") => members.is_empty(),
        (Value::String(text), "String") => text.is_empty(),
        _ => false,
    };
    if empty { ".default_empty()".to_owned() } else { format!(".default({})", literal(default)) }
}

fn constraint_call(constraint: &Value, constants: &Constants) -> Result<String, String> {
    let Some((rule, bounds)) = object(constraint).into_iter().next() else {
        return Ok(String::new());
    };
    let (min, max) = (&bounds["min"], &bounds["max"]);
    Ok(match (rule.as_str(), min.is_null(), max.is_null()) {
        ("custom_constraint", ..) => format!(".is({})", constants.of(text(&bounds))?),
        ("allowed_pattern", ..) => format!(".pattern({})", quoted(text(&bounds))),
        ("allowed_values", ..) => {
            let values: Vec<_> = bounds.as_array().into_iter().flatten().map(literal).collect();
            format!(".one_of([{}])", values.join(", "))
        }
        ("range", false, false) => format!(".range({min}, {max})"),
        ("range", false, true) => format!(".min({min})"),
        ("range", true, _) => format!(".max({max})"),
        ("length", false, false) => format!(".length({min}, {max})"),
        ("length", false, true) => format!(".min_length({min})"),
        ("length", true, _) => format!(".max_length({max})"),
        (other, ..) => return Err(format!("there is no method for the rule `{other}`")),
    })
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "Value::Null".to_owned(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            format!("list([{}])", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) if members.is_empty() => "map::<Value>([])".to_owned(),
        Value::Object(members) => {
            let alike = |a: &Value, b: &Value| a.is_string() == b.is_string();
            let mixed = members.values().any(|v| members.values().any(|w| !alike(v, w)));
            let wrap =
                |v: &Value| if mixed { format!("Value::from({})", literal(v)) } else { literal(v) };
            let members: Vec<_> = members
                .iter()
                .map(|(name, v)| format!("({}, {})", quoted(name), wrap(v)))
                .collect();
            format!("map([{}])", members.join(", "))
        }
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    if text.contains('\\') && !text.contains('"') {
        format!("r\"{text}\"")
    } else {
        format!("{text:?}")
    }
}

fn kind(fact: &Value) -> String {
    match text(&fact["type"]) {
        "String" => "Str",
        "Integer" => "Int",
        "Number" => "Num",
        "Boolean" => "Bool",
        other => other,
    }
    .to_owned()
}

/// Returns the number of properties inside a property.
fn size(fact: &Value) -> usize {
    object(&fact["schema"])
        .iter()
        .map(|(name, member)| usize::from(name != "*") + size(member))
        .sum()
}

fn service(client: &str) -> &'static str {
    match client {
        "aodh" => "Alarming",
        "barbican" => "KeyManager",
        "blazar" => "Reservation",
        "cinder" => "Volume",
        "designate" => "Dns",
        "glance" => "Image",
        "heat" => "Orchestration",
        "ironic" => "BareMetal",
        "keystone" => "Identity",
        "magnum" => "ContainerInfra",
        "manila" => "Share",
        "mistral" => "Workflow",
        "neutron" | "openstack" => "Network",
        "nova" => "Compute",
        "octavia" => "LoadBalancer",
        "swift" => "ObjectStore",
        "trove" => "Database",
        "zaqar" => "Messaging",
        "zun" => "Container",
        _ => "Unknown",
    }
}

fn function_name(property: &str) -> String {
    let mut name = String::new();
    let mut low = false;
    for c in property.chars() {
        if c.is_ascii_uppercase() && low {
            name.push('_');
        }
        low = c.is_ascii_lowercase();
        name.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    name
}

/// Lowers the first letter of a sentence for use after a colon.
fn inside_sentence(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match (chars.next(), chars.next()) {
        (Some(first), second) if second.is_none_or(|c| !c.is_uppercase()) => {
            first.to_lowercase().to_string() + &sentence[first.len_utf8()..]
        }
        _ => sentence.to_owned(),
    }
}

/// Renders a header comment, wrapped.
fn header(text: &str) -> String {
    let mut lines = vec!["//!".to_owned()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 100 => *line += &format!(" {word}"),
            _ => lines.push(format!("//! {word}")),
        }
    }
    lines.join("\n") + "\n"
}
