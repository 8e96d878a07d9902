//! The attributes that domains and projects share, and how requests set them.

use serde_json::{Map, Value, json};

use super::super::records::{Domain, Extra, Project};
use super::super::validation;
use super::users::set_options;

/// The shared attributes of a record, to be changed.
pub(super) struct Attributes<'a> {
    name: &'a mut String,
    description: &'a mut Option<String>,
    enabled: &'a mut bool,
    tags: &'a mut Vec<String>,
    options: &'a mut Extra,
    extra: &'a mut Extra,
}

/// A record with the shared attributes.
pub(super) trait NamedEntity {
    /// The fields of a request that are not merely stored in `extra`.
    const KNOWN: &'static [&'static str];

    /// Returns the shared attributes.
    fn attributes(&mut self) -> Attributes<'_>;

    /// Sets the attributes of a new record from a validated request.
    fn initialize(&mut self, requested: &Map<String, Value>) {
        let attributes = self.attributes();
        *attributes.name = validation::text(requested, "name").unwrap_or_default();
        *attributes.description = match requested.get("description") {
            None => Some(String::new()),
            Some(value) => value.as_str().map(str::to_owned),
        };
        *attributes.enabled = validation::flag(requested, "enabled").unwrap_or(true);
        *attributes.tags = tags(requested).unwrap_or_default();
        *attributes.options = set_options(Map::new(), requested);
        *attributes.extra = validation::extra_fields(requested, Self::KNOWN);
    }

    /// Changes the attributes that a validated request names.
    fn apply(&mut self, requested: &Map<String, Value>) {
        let attributes = self.attributes();
        if let Some(name) = validation::text(requested, "name") {
            *attributes.name = name;
        }
        if requested.contains_key("description") {
            *attributes.description = validation::text(requested, "description");
        }
        if let Some(enabled) = validation::flag(requested, "enabled") {
            *attributes.enabled = enabled;
        }
        if let Some(tags) = tags(requested) {
            *attributes.tags = tags;
        }
        let options = std::mem::take(attributes.options);
        *attributes.options = set_options(options, requested);
        attributes.extra.extend(validation::extra_fields(requested, Self::KNOWN));
    }

    /// Renders the shared attributes.
    fn render(mut self) -> Map<String, Value>
    where
        Self: Sized,
    {
        let Attributes { name, description, enabled, tags, options, extra } = self.attributes();
        let mut rendered = std::mem::take(extra);
        rendered.insert("name".to_owned(), json!(name));
        rendered.insert("description".to_owned(), json!(description));
        rendered.insert("enabled".to_owned(), json!(enabled));
        rendered.insert("tags".to_owned(), json!(tags));
        rendered.insert("options".to_owned(), json!(options));
        rendered
    }
}

impl NamedEntity for Domain {
    const KNOWN: &'static [&'static str] =
        &["description", "enabled", "id", "links", "name", "options", "tags"];

    fn attributes(&mut self) -> Attributes<'_> {
        let Domain { id: _, name, description, enabled, tags, options, extra } = self;
        Attributes { name, description, enabled, tags, options, extra }
    }
}

impl NamedEntity for Project {
    const KNOWN: &'static [&'static str] = &[
        "description",
        "domain_id",
        "enabled",
        "id",
        "is_domain",
        "links",
        "name",
        "options",
        "parent_id",
        "tags",
    ];

    fn attributes(&mut self) -> Attributes<'_> {
        let Project { name, description, enabled, tags, options, extra, .. } = self;
        Attributes { name, description, enabled, tags, options, extra }
    }
}

/// Returns the tags of a validated request.
fn tags(requested: &Map<String, Value>) -> Option<Vec<String>> {
    let tags = requested.get("tags")?.as_array()?;
    Some(tags.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}
