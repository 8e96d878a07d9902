//! Collections as data: what a service keeps, where, and what may be said of it.
//!
//! The fields of a collection are a table of words, one line each:
//!
//! ```text
//! name            text               cu   ""
//! network_id      ref:network/networks c  !
//! direction       enum:ingress|egress c   !
//! status          text               r    "ACTIVE"
//! ```
//!
//! A line says the name, the kind, when it may be set (`c` on creation, `u` on update, `r` never, `a` by administrators
//! only) and what it is otherwise: JSON, or `!` if it has to be given, or `@project` and its like for what the cloud knows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dialect::Dialect;
use super::request::{Done, RequestContext};
use super::table::Obj;

/// A kind of thing that a service keeps.
pub(super) struct Collection {
    /// The service and the last words of the path: `network/ports`.
    pub(super) name: &'static str,
    /// The path below the service's root; parts in braces are fields that name the parent.
    pub(super) path: &'static str,
    /// What holds one of them in a body.
    pub(super) singular: &'static str,
    /// What holds a list of them.
    pub(super) plural: &'static str,
    /// What messages call one of them.
    pub(super) title: &'static str,
    /// The fields, in words.
    pub(super) fields: &'static str,
    /// Fields that are asked for often, beyond names, projects and references.
    pub(super) index: &'static [&'static str],
    /// The field that holds the key.
    pub(super) key: &'static str,
    /// The collection whose key is in the path, if there is one.
    pub(super) parent: Option<&'static str>,
    /// The name of the quota and what it is from the beginning.
    pub(super) quota: Option<(&'static str, i64)>,
    /// The methods that clients may use: `C`reate, `L`ist, `S`how, `U`pdate, `D`elete.
    pub(super) operations: &'static str,
    /// The method of updates.
    pub(super) update_method: &'static str,
    /// The statuses of a successful create, update and delete.
    pub(super) statuses: (u16, u16, u16),
    /// How the service words its refusals.
    pub(super) dialect: &'static dyn Dialect,
    /// Whether these are also found by name.
    pub(super) by_name: bool,
    /// Whether what is removed stays for a while: the hook sees to it.
    pub(super) lingers: bool,
    /// Whether only administrators may change these.
    pub(super) admin_only: bool,
    /// Whether others than the owner see it.
    pub(super) is_shared: fn(&RequestContext<'_>, &Obj) -> bool,
    /// Completes or refuses what is about to be made.
    pub(super) make: fn(&mut RequestContext<'_>, &mut Obj) -> Done,
    /// Completes or refuses a change: what was, what will be, what was sent.
    pub(super) change: fn(&mut RequestContext<'_>, &Obj, &mut Obj, &Obj) -> Done,
    /// Refuses a removal, or clears up before it. What it leaves behind is removed.
    pub(super) remove: fn(&mut RequestContext<'_>, &Obj) -> Done,
    /// Adds what is only known when somebody looks.
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

/// What a value has to be.
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

/// What a field is if nobody says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DefaultValue {
    /// It has to be given.
    Required,
    /// It is not there at all.
    Absent,
    Is(Value),
    Project,
    User,
    Now,
}

/// One field.
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
    /// Whether it may be null: if it is null where nobody says otherwise.
    pub(super) fn takes_null(&self) -> bool {
        matches!(self.default, DefaultValue::Is(Value::Null) | DefaultValue::Absent)
    }
}

/// A collection with its fields read.
pub(super) struct ParsedCollection {
    pub(super) collection: &'static Collection,
    pub(super) fields: Vec<Field>,
}

impl ParsedCollection {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// What questions are asked about often.
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

/// Reads the fields of collections. Only a mistake in our own tables makes it fail; the tests would tell.
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
