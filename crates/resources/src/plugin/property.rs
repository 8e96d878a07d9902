//! Properties and attributes of a type, in the form in which clients are shown the schema of one.

use super::reader::{Reader, quoted};
use crate::constraints::{self, offline};
use crate::declare::Name;
use crate::lookup;
use kiln_template::document::{Entry, Map, Node};
use kiln_template::property::Checker;
use kiln_template::schema::{Attribute, Cache, Inner, Property, PropertyType, Status, Support};
use kiln_template::{Constraint, Diagnostic, Path, Rule, Value, codes, suggest};

/// So many levels of properties may be in each other.
const MAX_DEPTH: usize = 10;

/// The kinds of values, as clients are shown them.
const KINDS: [(&str, PropertyType); 8] = [
    ("any", PropertyType::Any),
    ("boolean", PropertyType::Boolean),
    ("comma_delimited_list", PropertyType::List),
    ("integer", PropertyType::Integer),
    ("list", PropertyType::List),
    ("map", PropertyType::Map),
    ("number", PropertyType::Number),
    ("string", PropertyType::String),
];

const STATES: [(&str, Status); 4] = [
    ("DEPRECATED", Status::Deprecated),
    ("HIDDEN", Status::Hidden),
    ("SUPPORTED", Status::Supported),
    ("UNSUPPORTED", Status::Unsupported),
];

/// What can be said of a property.
const PROPERTY: [&str; 13] = [
    "compared",
    "constraints",
    "default",
    "description",
    "finds",
    "immutable",
    "required",
    "schema",
    "sent",
    "sent_as",
    "support_status",
    "type",
    "update_allowed",
];

/// What can be said of every member of a list.
const ITEM: [&str; 7] =
    ["constraints", "default", "description", "finds", "required", "schema", "type"];

/// What is said of properties beside their schemas: how they go over the wire.
#[derive(Default)]
pub(super) struct Sending {
    /// Those that go by another name: with the names above them, and dots between.
    pub(super) fields: Vec<(Name, Name)>,
    /// Those that are not sent.
    pub(super) unsent: Vec<Name>,
    /// Those that are not shown as they were given.
    pub(super) uncompared: Vec<Name>,
}

/// The properties of a type.
pub(super) fn properties(reading: &mut Reader, map: &Map) -> (Vec<Property>, Sending) {
    let mut sending = Sending::default();
    let entries = reading.entries(map, "properties");
    let all = members(reading, entries, "", &mut sending);
    (all, sending)
}

fn members(
    reading: &mut Reader,
    entries: &[Entry],
    above: &str,
    sending: &mut Sending,
) -> Vec<Property> {
    let mut all = Vec::with_capacity(entries.len());
    for entry in entries {
        if !is_name(&entry.key) {
            let message = format!("{} cannot be the name of a property", quoted(&entry.key));
            let help = "a name has letters, digits, and any of `_-:` between them";
            reading.wrong(entry.key_span, message, help);
        }
        let path = match above {
            "" => entry.key.to_string(),
            above => format!("{above}.{}", entry.key),
        };
        all.extend(property(reading, &entry.key, &entry.value, &path, sending));
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-:".contains(c);
    !name.is_empty() && name.len() <= 255 && name.chars().all(is_letter)
}

fn property(
    reading: &mut Reader,
    name: &str,
    node: &Node,
    path: &str,
    sending: &mut Sending,
) -> Option<Property> {
    let what = format!("the property {}", quoted(path));
    let keys = if name.is_empty() { &ITEM[..] } else { &PROPERTY[..] };
    let map = reading.members(node, &what, keys)?;
    if map.get("type").is_none() {
        let all: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
        let message = format!("{what} has no `type`");
        reading.wrong(node.span, message, format!("add `type:` and one of: {}", all.join(", ")));
    }
    let kind = reading.word(map, "type", &KINDS)?;
    let mut property = Property::new(name.to_owned(), kind);
    property.about = reading.text(map, "description").unwrap_or_default();
    property.required = reading.flag(map, "required", false);
    property.update_allowed = reading.flag(map, "update_allowed", false);
    property.immutable = reading.flag(map, "immutable", false);
    property.support = support(reading, map);
    property.rewriting.finds = finds(reading, map, kind);
    property.inner = inner(reading, map, kind, path, sending);
    property.constraints = rules(reading, map, kind);
    property.default = default(reading, map, &property);
    if !name.is_empty() {
        sent(reading, map, path, sending);
    }
    if let (true, Some(entry)) = (property.required, map.entry("default")) {
        let message = format!("{what} must be given, so its default is never used");
        reading.wrong(entry.key_span, message, "leave out `default`, or `required`");
    }
    if let (true, true, Some(entry)) =
        (property.immutable, property.update_allowed, map.entry("immutable"))
    {
        let message = format!("{what} may be changed and may not");
        reading.wrong(entry.key_span, message, "leave out `immutable`, or `update_allowed`");
    }
    Some(property)
}

/// How a property goes over the wire.
fn sent(reading: &mut Reader, map: &Map, path: &str, sending: &mut Sending) {
    if let Some(field) = reading.text(map, "sent_as") {
        sending.fields.push((path.to_owned().into(), field));
    }
    for (key, names) in [("sent", &mut sending.unsent), ("compared", &mut sending.uncompared)] {
        if reading.flag(map, key, true) {
            continue;
        }
        names.push(path.to_owned().into());
        if let Some(entry) = map.entry(key).filter(|_| path.contains('.')) {
            let message = format!("`{key}` is for a property as a whole, not for its members");
            reading.wrong(entry.key_span, message, "say it of the property around this one");
        }
    }
}

/// The kind of objects whose names a property may have.
fn finds(reading: &mut Reader, map: &Map, kind: PropertyType) -> Option<Name> {
    let entry = map.entry("finds")?;
    let object = reading.as_text(&entry.value, "`finds`")?;
    if lookup::collection_of(&object).is_none() {
        let message = format!("there is no kind of object {}", quoted(&object));
        let help = suggest::help(&object, lookup::names());
        reading.wrong(entry.value.span, message, help);
        return None;
    }
    if !matches!(kind, PropertyType::String | PropertyType::List) {
        let message = "only texts, and lists of them, can be names of objects";
        reading.wrong(entry.key_span, message, "make its type `string` or `list`, or leave it out");
    }
    Some(object)
}

/// What the members of a list or a map must be.
fn inner(
    reading: &mut Reader,
    map: &Map,
    kind: PropertyType,
    path: &str,
    sending: &mut Sending,
) -> Inner {
    let Some(entry) = map.entry("schema") else { return Inner::Free };
    if !matches!(kind, PropertyType::List | PropertyType::Map) {
        let message = "only a list or a map has members to say something of";
        reading.wrong(entry.key_span, message, "make its type `list` or `map`, or leave it out");
        return Inner::Free;
    }
    if path.split('.').count() > MAX_DEPTH {
        let message = format!("properties may be {MAX_DEPTH} levels deep in each other");
        reading.wrong(entry.key_span, message, "make its type `any`, and say no more of it");
        return Inner::Free;
    }
    let Some(members_of) = reading.map(&entry.value, "`schema`") else { return Inner::Free };
    match members_of.entries.as_ref() {
        [each] if &*each.key == "*" => {
            let item = property(reading, "", &each.value, path, sending);
            item.map_or(Inner::Free, |item| Inner::Each(Box::new(item)))
        }
        [] => Inner::Free,
        entries if kind == PropertyType::Map => {
            Inner::Members(members(reading, entries, path, sending))
        }
        _ => {
            let message = "the members of a list have no names";
            reading.wrong(entry.value.span, message, "write `schema: {'*': {type: …}}`");
            Inner::Free
        }
    }
}

fn rules(reading: &mut Reader, map: &Map, kind: PropertyType) -> Vec<Constraint> {
    let mut rules = Vec::new();
    for item in reading.items(map, "constraints") {
        let before = reading.found.len();
        let rule = Constraint::parse(item, &mut reading.found);
        for found in &mut reading.found[before..] {
            (found.code, found.kind) = (&codes::TYPE_FILE, codes::TYPE_FILE.kind);
            found.help.get_or_insert_with(|| {
                "write it as parameters of templates have it, such as `range: {min: 1, max: 9}`"
                    .into()
            });
        }
        let Some(rule) = rule else { continue };
        if !rule.rule.fits(kind.into()) {
            let message = format!("{} says nothing of a {}", rule.rule.name(), kind.name());
            reading.wrong(item.span, message, "leave it out, or change `type`");
        }
        if let Rule::Custom(name) = &rule.rule
            && !constraints::is_known(name)
        {
            let message = format!("there is no check of the name {}", quoted(name));
            let help = suggest::help(name, constraints::NAMES);
            reading.wrong(item.span, message, help);
        }
        rules.push(rule);
    }
    rules
}

/// The default, which must be a value that could have been given.
fn default(reading: &mut Reader, map: &Map, property: &Property) -> Option<Value> {
    let entry = map.entry("default").filter(|entry| !entry.value.is_null())?;
    let value = Value::from(&entry.value);
    let custom = offline(0);
    let checker = Checker {
        custom: &custom,
        spans: &|_, _| entry.value.span,
        dropped: &[],
        nested_resource: None,
        facade: false,
        convert: false,
    };
    let mut wrong = Vec::new();
    checker.check(property, &value, &Path::Root, &mut wrong);
    for Diagnostic { message, .. } in wrong {
        let message = format!("the default would be refused: {message}");
        reading.wrong(entry.value.span, message, "write one that could have been given");
    }
    Some(value)
}

/// Where something stands in its life.
pub(super) fn support(reading: &mut Reader, map: &Map) -> Support {
    let Some(entry) = map.entry("support_status") else { return Support::default() };
    let mut node = &entry.value;
    let mut lives = Vec::new();
    loop {
        let keys = ["message", "previous_status", "status", "version"];
        let Some(life) = reading.members(node, "`support_status`", &keys) else { break };
        lives.push(Support {
            status: reading.word(life, "status", &STATES).unwrap_or_default(),
            version: reading.text(life, "version"),
            message: reading.text(life, "message"),
            previous: None,
        });
        match life.get("previous_status").filter(|_| lives.len() < MAX_DEPTH) {
            Some(previous) => node = previous,
            None => break,
        }
    }
    let lives = lives.into_iter().rev();
    let lived = lives.fold(None, |previous: Option<Box<Support>>, life| {
        Some(Box::new(Support { previous, ..life }))
    });
    lived.map(|it| *it).unwrap_or_default()
}

/// The attributes of a type, and where those are shown that are shown elsewhere.
pub(super) fn attributes(reading: &mut Reader, map: &Map) -> (Vec<Attribute>, Vec<(Name, Name)>) {
    let (mut all, mut shown) = (Vec::new(), Vec::new());
    for entry in reading.entries(map, "attributes") {
        let what = format!("the attribute {}", quoted(&entry.key));
        if &*entry.key == "show" {
            let message = "every type has the attribute `show`: all that its service shows";
            reading.wrong(entry.key_span, message, "leave it out");
            continue;
        }
        if !is_name(&entry.key) {
            let message = format!("{} cannot be the name of an attribute", quoted(&entry.key));
            let help = "a name has letters, digits, and any of `_-:` between them";
            reading.wrong(entry.key_span, message, help);
        }
        let mut attribute = Attribute {
            name: entry.key.to_string().into(),
            kind: None,
            about: Name::Borrowed(""),
            cache: Cache::Local,
            is_handed_out: false,
            support: Support::default(),
        };
        if !entry.value.is_null() {
            let keys = ["cached", "description", "shown_as", "support_status", "type"];
            let Some(said) = reading.members(&entry.value, &what, &keys) else { continue };
            attribute.kind = reading.word(said, "type", &KINDS);
            attribute.about = reading.text(said, "description").unwrap_or_default();
            attribute.support = support(reading, said);
            if !reading.flag(said, "cached", true) {
                attribute.cache = Cache::None;
            }
            let place = reading.text(said, "shown_as");
            shown.extend(place.map(|place| (attribute.name.clone(), place)));
        }
        all.push(attribute);
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    (all, shown)
}
