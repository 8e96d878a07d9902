//! The collections of the services as data.
//!
//! The fields of a collection are a table, one line each:
//!
//! ```text
//! name            text               cu   ""
//! network_id      ref:network/networks c  !
//! direction       enum:ingress|egress c   !
//! status          text               r    "ACTIVE"
//! ```
//!
//! A line has the name, the type, when the field can be set (`c` on creation, `u` on update, `r` never, `a` by
//! administrators only) and the default: JSON, `!` for a required field, `-` for none, or `@project`, `@user` or `@now`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dialect::Dialect;
use super::request::{Done, RequestContext};
use super::table::Obj;

/// A collection of objects of a service.
pub(super) struct Collection {
    /// The service and the last segment of the path: `network/ports`.
    pub(super) name: &'static str,
    /// The path below the root of the service; segments in braces are fields that refer to the parent.
    pub(super) path: &'static str,
    /// The name of the element that holds one object.
    pub(super) singular: &'static str,
    /// The name of the element that holds a list.
    pub(super) plural: &'static str,
    /// The name of one object in messages.
    pub(super) title: &'static str,
    /// The fields, as described above.
    pub(super) fields: &'static str,
    /// Additional fields to index, besides names, projects and references.
    pub(super) index: &'static [&'static str],
    /// The field that holds the key.
    pub(super) key: &'static str,
    /// The collection whose key is in the path, if the objects have a parent.
    pub(super) parent: Option<&'static str>,
    /// The name and the default of the quota.
    pub(super) quota: Option<(&'static str, i64)>,
    /// The supported operations: `C`reate, `L`ist, `S`how, `U`pdate, `D`elete.
    pub(super) operations: &'static str,
    /// The HTTP method of updates.
    pub(super) update_method: &'static str,
    /// The statuses of a successful create, update and delete.
    pub(super) statuses: (u16, u16, u16),
    /// The wording of errors.
    pub(super) dialect: &'static dyn Dialect,
    /// Whether objects are also found by name.
    pub(super) by_name: bool,
    /// Whether a deleted object stays visible for a while; the hook removes it.
    pub(super) lingers: bool,
    /// Whether only administrators may change objects.
    pub(super) admin_only: bool,
    /// Reports whether callers other than the owner can see an object.
    pub(super) is_shared: fn(&RequestContext<'_>, &Obj) -> bool,
    /// Hook before a creation: completes or rejects the object.
    pub(super) make: fn(&mut RequestContext<'_>, &mut Obj) -> Done,
    /// Hook before an update: completes or rejects the new object, from the old one and the fields of the request.
    pub(super) change: fn(&mut RequestContext<'_>, &Obj, &mut Obj, &Obj) -> Done,
    /// Hook before a deletion: rejects it or cleans up. The object is removed afterwards.
    pub(super) remove: fn(&mut RequestContext<'_>, &Obj) -> Done,
    /// Hook before rendering: adds computed fields.
    pub(super) show: fn(&RequestContext<'_>, &mut Obj),
}

impl Collection {
    /// Returns a collection with the usual settings, to be completed by the service.
    pub(super) const fn new(dialect: &'static dyn Dialect) -> Collection {
        Collection {
            name: "",
            path: "",
            singular: "",
            plural: "",
            title: "",
            fields: "",
            index: &[],
            key: "id",
            parent: None,
            quota: None,
            operations: "CLSUD",
            update_method: "PUT",
            statuses: (201, 200, 204),
            dialect,
            by_name: false,
            lingers: false,
            admin_only: false,
            is_shared: |_, _| false,
            make: |_, _| Ok(()),
            change: |_, _, _, _| Ok(()),
            remove: |_, _| Ok(()),
            show: |_, _| (),
        }
    }
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldType {
    Text,
    Int,
    Number,
    Bool,
    List,
    Map,
    Any,
    Ip,
    Cidr,
    Mac,
    Uuid,
    OneOf(Vec<&'static str>),
    Ref(&'static str),
}

/// The default of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DefaultValue {
    /// The field is required.
    Required,
    /// The field is absent by default.
    Absent,
    Is(Value),
    Project,
    User,
    Now,
}

/// A field of a collection.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) field_type: FieldType,
    pub(super) on_create: bool,
    pub(super) on_update: bool,
    pub(super) by_admin: bool,
    pub(super) default: DefaultValue,
}

impl Field {
    /// Reports whether the field accepts null: it does if null is its default.
    pub(super) fn takes_null(&self) -> bool {
        matches!(self.default, DefaultValue::Is(Value::Null) | DefaultValue::Absent)
    }
}

/// A collection with its fields parsed.
pub(super) struct ParsedCollection {
    pub(super) collection: &'static Collection,
    pub(super) fields: Vec<Field>,
}

impl ParsedCollection {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the fields to index.
    pub(super) fn indexed(&self) -> Vec<&'static str> {
        let mut paths: Vec<&'static str> = self.collection.index.to_vec();
        for field in &self.fields {
            let often = matches!(field.field_type, FieldType::Ref(_))
                || ["name", "project_id"].contains(&field.name);
            if often && !paths.contains(&field.name) {
                paths.push(field.name);
            }
        }
        paths
    }
}

/// All collections, by name.
pub(super) type Schema = BTreeMap<&'static str, ParsedCollection>;

/// Parses the fields of the collections. Only a mistake in the tables of this crate is an error.
pub(super) fn read(
    collections: impl Iterator<Item = &'static Collection>,
) -> Result<Schema, String> {
    let mut schema = Schema::new();
    for collection in collections {
        let mut fields = Vec::new();
        for line in collection.fields.lines().filter(|line| !line.trim().is_empty()) {
            let field = read_field(line.trim());
            fields.push(field.ok_or_else(|| format!("{}: cannot read `{line}`", collection.name))?);
        }
        if schema.insert(collection.name, ParsedCollection { collection, fields }).is_some() {
            return Err(format!("{} is there twice", collection.name));
        }
    }
    Ok(schema)
}

fn read_field(line: &'static str) -> Option<Field> {
    let (name, rest) = line.split_once(' ')?;
    let (field_type, rest) = rest.trim_start().split_once(' ')?;
    let (when, default) = rest.trim_start().split_once(' ')?;
    if !when.chars().all(|letter| "cura".contains(letter)) {
        return None;
    }
    Some(Field {
        name,
        field_type: read_field_type(field_type)?,
        on_create: when.contains('c'),
        on_update: when.contains('u'),
        by_admin: when.contains('a'),
        default: match default.trim() {
            "!" => DefaultValue::Required,
            "-" => DefaultValue::Absent,
            "@project" => DefaultValue::Project,
            "@user" => DefaultValue::User,
            "@now" => DefaultValue::Now,
            json => DefaultValue::Is(serde_json::from_str(json).ok()?),
        },
    })
}

fn read_field_type(word: &'static str) -> Option<FieldType> {
    Some(match word.split_once(':').unwrap_or((word, "")) {
        ("text", _) => FieldType::Text,
        ("int", _) => FieldType::Int,
        ("number", _) => FieldType::Number,
        ("bool", _) => FieldType::Bool,
        ("list", _) => FieldType::List,
        ("map", _) => FieldType::Map,
        ("any", _) => FieldType::Any,
        ("ip", _) => FieldType::Ip,
        ("cidr", _) => FieldType::Cidr,
        ("mac", _) => FieldType::Mac,
        ("uuid", _) => FieldType::Uuid,
        ("enum", strings) => FieldType::OneOf(strings.split('|').collect()),
        ("ref", target) => FieldType::Ref(target),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_of_words_is_a_field() {
        let field = read_field("direction  enum:ingress|egress  c  !").unwrap();
        assert_eq!(field.field_type, FieldType::OneOf(vec!["ingress", "egress"]));
        assert!(field.on_create && !field.on_update && !field.by_admin);
        assert_eq!(field.default, DefaultValue::Required);
        let field = read_field("name text cu \"\"").unwrap();
        assert_eq!(field.default, DefaultValue::Is(json!("")));
        assert!(read_field("name what cu \"\"").is_none());
        assert!(read_field("name text x \"\"").is_none());
        assert!(read_field("name text cu nonsense").is_none());
    }
}
