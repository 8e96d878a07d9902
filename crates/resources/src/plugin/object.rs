//! The objects of a type at their service: what a plain type needs to be told.

use super::property::Sending;
use super::reader::{Reader, kind, quoted};
use crate::declare::{ImplicitDependency, Name};
use crate::rest::{ListSuffix, Readiness, RestSpec, UpdateMethod, field};
use crate::wire;
use kiln_cloud::{PathTemplate, Service};
use kiln_template::document::{Data, Map};
use kiln_template::schema::{Property, PropertyType};
use kiln_template::{Span, Value, suggest};

/// What is known of a type when its objects are read.
pub(super) struct TypeContext<'a> {
    pub(super) properties: &'a [Property],
    pub(super) sending: Sending,
    pub(super) shown: Vec<(Name, Name)>,
    /// Where the type's name stands.
    pub(super) at: Span,
}

/// What the type's service needs to be told. Nothing if it is not even known where the objects are.
pub(super) fn rest_spec(
    reading: &mut Reader,
    map: &Map,
    around: TypeContext<'_>,
) -> Option<RestSpec> {
    let why = "the service that has the objects, such as `network`";
    let service = match map.get("service") {
        None => {
            reading.needed_text(map, "service", around.at, why);
            None
        }
        Some(_) => reading.word(map, "service", &services()),
    };
    let path = path(reading, map, &around);
    let envelope = reading.text(map, "envelope").unwrap_or_default();
    // What is wrong elsewhere is told even if it is not known where the objects are.
    let somewhere = service.unwrap_or(Service::Network);
    let mut spec = RestSpec::new(somewhere, path.clone().unwrap_or("/".into()), envelope);
    spec.field_names = around.sending.fields;
    spec.unsent = around.sending.unsent;
    spec.uncompared = around.sending.uncompared;
    spec.attribute_paths = around.shown;
    if let Some(many) = reading.text(map, "list_envelope") {
        spec.list_envelope = many;
    }
    spec.bare_requests = !reading.flag(map, "envelope_in_requests", true);
    if let Some(id) = reading.text(map, "id") {
        spec.id = id;
    }
    for entry in reading.entries(map, "always") {
        let value = wire::json(&Value::from(&entry.value));
        spec.constant_fields.push((entry.key.to_string().into(), value));
    }
    spec.update_method = change(reading, map);
    spec.readiness = ready(reading, map);
    spec.retried_statuses = retried(reading, map);
    spec.awaits_deletion = !reading.flag(map, "gone_at_once", false);
    spec.microversion = reading.text(map, "microversion");
    spec.list_suffix = listed(reading, map);
    mark(reading, map, &mut spec, around.properties, around.at);
    fields_are_told_apart(reading, &spec, around.properties, around.at);
    service.and(path).map(|_| spec)
}

/// Services by the types of the catalogue, and by their projects.
fn services() -> Vec<(&'static str, Service)> {
    let of = |service: Service| {
        let types = service.catalogue_types().iter().copied();
        types.chain([service.project()]).map(move |name| (name, service))
    };
    Service::ALL.into_iter().flat_map(of).collect()
}

fn path(reading: &mut Reader, map: &Map, around: &TypeContext<'_>) -> Option<PathTemplate> {
    let why = "where the objects are, such as `/address-scopes`";
    let path = reading.needed_text(map, "path", around.at, why)?;
    let at = map.get("path").map_or(around.at, |node| node.span);
    let Some(template) = PathTemplate::parse(&path) else {
        let message = format!("{} is not a path below the service's version", quoted(&path));
        reading.wrong(
            at,
            message,
            "write one like `/address-scopes` or `/qos/policies/{policy}/rules`",
        );
        return None;
    };
    for word in template.names() {
        word_in_path(reading, word, at, around.properties);
    }
    Some(template)
}

/// A word in a path is a property that is always there and never changes.
fn word_in_path(reading: &mut Reader, word: &str, at: Span, properties: &[Property]) {
    let Some(property) = properties.iter().find(|property| property.name == word) else {
        let message = format!("the path needs {}, and there is no such property", quoted(word));
        let help = suggest::help(word, properties.iter().map(|property| &*property.name));
        return reading.wrong(at, message, help);
    };
    let is_given = property.required || property.default.is_some();
    if property.kind != PropertyType::String || !is_given || property.update_allowed {
        let message = format!(
            "the path needs the property `{word}`, which is not always there, may change, or is no text"
        );
        let help = "say `type: string` and `required: true` of it, and not `update_allowed`";
        reading.wrong(at, message, help);
    }
}

fn change(reading: &mut Reader, map: &Map) -> UpdateMethod {
    const USUAL: &str = "application/json-patch+json";
    let Some(entry) = map.entry("change") else { return UpdateMethod::Put };
    if entry.value.as_map().is_some() {
        let content = reading.members(&entry.value, "`change`", &["json_patch"]);
        let content = content.and_then(|map| reading.text(map, "json_patch"));
        return UpdateMethod::JsonPatch(content.unwrap_or(USUAL.into()));
    }
    let words = [("json_patch", 0), ("never", 1), ("patch", 2), ("put", 3)];
    match reading.word(map, "change", &words) {
        Some(0) => UpdateMethod::JsonPatch(USUAL.into()),
        Some(1) => UpdateMethod::Never,
        Some(2) => UpdateMethod::Patch,
        _ => UpdateMethod::Put,
    }
}

fn ready(reading: &mut Reader, map: &Map) -> Readiness {
    let Some(entry) = map.entry("ready") else { return Readiness::default() };
    let keys = ["done", "failed", "gone", "reason", "status", "waiting"];
    let Some(said) = reading.members(&entry.value, "`ready`", &keys) else {
        return Readiness::default();
    };
    let why = "the field that says how far an object is";
    let ready = Readiness {
        status: reading.needed_text(said, "status", entry.key_span, why).unwrap_or_default(),
        waiting: reading.texts(said, "waiting"),
        done: reading.texts(said, "done"),
        failed: reading.texts(said, "failed"),
        gone: reading.texts(said, "gone"),
        reason: reading.text(said, "reason").unwrap_or_default(),
        ..Readiness::default()
    };
    let lists = [&ready.waiting, &ready.done, &ready.failed];
    let twice = lists
        .iter()
        .flat_map(|list| list.iter())
        .find(|state| lists.iter().filter(|list| list.contains(state)).count() > 1);
    if let Some(state) = twice {
        let message = format!("an object in the state {} is two things at once", quoted(state));
        reading.wrong(
            entry.value.span,
            message,
            "name it in one of `waiting`, `done` and `failed`",
        );
    }
    if ready.waiting.is_empty() && ready.done.is_empty() {
        let message = "it is not said in which states an object is ready";
        reading.wrong(entry.key_span, message, "add `done: […]`, `waiting: […]`, or both");
    }
    ready
}

/// The answers after which a call is made again. What is not there, or not allowed, stays so; and a server
/// that failed may have done what it was asked for.
fn retried(reading: &mut Reader, map: &Map) -> Vec<u16> {
    let mut statuses = Vec::new();
    for item in reading.items(map, "retry") {
        let status = reading.number(item, "an item of `retry`", 400, 499);
        let status = status.and_then(|status| u16::try_from(status).ok());
        if let Some(401 | 404) = status {
            let message = "what is not allowed, or not there, will be so the next time";
            reading.wrong(item.span, message, "name answers like 409, that pass by themselves");
        }
        statuses.extend(status);
    }
    statuses
}

fn listed(reading: &mut Reader, map: &Map) -> Option<ListSuffix> {
    let behind = reading.text(map, "list")?;
    let suffix = ListSuffix::parse(&behind);
    if suffix.is_some() {
        return suffix;
    }
    let at = map.get("list").map_or(Span::start_of(Default::default()), |node| node.span);
    let message = format!("{} does not go behind a path", quoted(&behind));
    reading.wrong(at, message, "write something like `/detail` or `?limit=1000`");
    None
}

/// By what an object is found whose making was interrupted.
fn mark(reading: &mut Reader, map: &Map, spec: &mut RestSpec, properties: &[Property], at: Span) {
    let find = |name: &str| properties.iter().find(|property| property.name == name);
    let name = find("name").filter(|_| !spec.unsent.iter().any(|unsent| unsent == "name"));
    // What the user chose can be put in the place of a mark only if it may be changed.
    spec.marks_then_renames =
        spec.update_method != UpdateMethod::Never && name.is_some_and(|name| name.update_allowed);
    let Some(entry) = map.entry("mark") else {
        if name.is_none() {
            let message = "nothing tells which object is whose, so one would be made twice after an interruption";
            let help = "give the type a property `name`, or add `mark: {label: description}`, \
                        `mark: {tag: tags}` or `mark: {unique: […]}`";
            reading.wrong(at, message, help);
        }
        return;
    };
    if let Data::Text(word) = &entry.value.data {
        if &**word != "name" || name.is_none() {
            let message = format!("{} cannot be the mark of an object", quoted(word));
            let help = "write `name` if the type has that property, or `{label: …}`, `{tag: …}` or `{unique: […]}`";
            reading.wrong(entry.value.span, message, help);
        }
        return;
    }
    let keys = ["label", "tag", "unique"];
    let Some(said) = reading.members(&entry.value, "`mark`", &keys) else { return };
    if said.len() != 1 {
        let message = format!("`mark` is one of {}", keys.join(", "));
        reading.wrong(entry.value.span, message, "keep one of them");
    }
    spec.mark_field = reading.text(said, "label");
    spec.mark_tag = reading.text(said, "tag");
    spec.unique = reading.texts(said, "unique");
    if let Some(label) = spec.mark_field.clone() {
        let property = find(&label);
        if property.is_some_and(|it| it.kind != PropertyType::String) {
            let message = format!("the property {} is no text", quoted(&label));
            reading.wrong(entry.value.span, message, "name a field that takes any text");
        }
        spec.marks_then_renames &= property.is_none_or(|it| it.update_allowed);
    }
    if let Some(tag) = spec.mark_tag.as_deref()
        && find(tag).is_some_and(|it| it.kind != PropertyType::List)
    {
        let message = format!("the property {} is no list", quoted(tag));
        reading.wrong(entry.value.span, message, "name a field that takes a list of texts");
    }
    for name in &spec.unique {
        let sent = properties.iter().find(|it| field(spec, &it.name) == *name);
        if !sent.is_some_and(|it| it.required || it.default.is_some()) {
            let message = format!("the field {} is not always sent", quoted(name));
            let help = "name fields of properties with `required: true` or a default";
            reading.wrong(entry.value.span, message, help);
        }
    }
}

/// No two properties are sent in one field.
fn fields_are_told_apart(reading: &mut Reader, spec: &RestSpec, properties: &[Property], at: Span) {
    let sent = properties.iter().filter(|it| !spec.unsent.contains(&it.name));
    let mut fields: Vec<Name> = sent.map(|it| field(spec, &it.name)).collect();
    fields.extend(spec.constant_fields.iter().map(|(field, _)| field.clone()));
    fields.sort();
    for pair in fields.windows(2).filter(|pair| pair[0] == pair[1]) {
        let message = format!("two values are sent in the field {}", quoted(&pair[0]));
        reading.wrong(
            at,
            message,
            "give one of them another field with `sent_as`, or `sent: false`",
        );
    }
}

/// What resources need of their stacks although their templates do not say so.
pub(super) fn needs(
    reading: &mut Reader,
    map: &Map,
    properties: &[Property],
) -> Vec<ImplicitDependency> {
    let mut needs = Vec::new();
    for item in reading.items(map, "depends_on") {
        let what = "an item of `depends_on`";
        let Some(said) = reading.members(item, what, &["type", "where"]) else { continue };
        let kind_name = reading.needed_text(said, "type", item.span, "the type that is needed");
        let Some(pairs) = said.entry("where") else {
            let message = "it is not said which resources of the type are needed";
            let help = "add `where: {network: network}`: a property here, and one there that means the same";
            reading.wrong(item.span, message, help);
            continue;
        };
        let [pair] = reading.entries(said, "where") else {
            let message = format!("`where` is one pair of properties, not {}", kind(&pairs.value));
            reading.wrong(pairs.value.span, message, "write `where: {network: network}`");
            continue;
        };
        let first = pair.key.split('.').next().unwrap_or_default();
        if !properties.iter().any(|property| property.name == first) {
            let message = format!("there is no property {}", quoted(first));
            let help = suggest::help(first, properties.iter().map(|property| &*property.name));
            reading.wrong(pair.key_span, message, help);
        }
        let other = reading.as_text(&pair.value, "the property there");
        if let (Some(kind), Some(other)) = (kind_name, other) {
            needs.push(ImplicitDependency {
                type_name: kind,
                property: pair.key.to_string().into(),
                other_property: other,
            });
        }
    }
    needs
}
