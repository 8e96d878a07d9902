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

use super::ask::{Done, Turn};
use super::dialect::Dialect;
use super::table::Obj;

/// A kind of thing that a service keeps.
pub(super) struct Collection {
    /// The service and the last words of the path: `network/ports`.
    pub(super) name: &'static str,
    /// The path below the service's root; parts in braces are fields that name the parent.
    pub(super) path: &'static str,
    /// What holds one of them in a body.
    pub(super) one: &'static str,
    /// What holds a list of them.
    pub(super) many: &'static str,
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
    pub(super) verbs: &'static str,
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
    pub(super) is_shared: fn(&Turn<'_>, &Obj) -> bool,
    /// Completes or refuses what is about to be made.
    pub(super) make: fn(&mut Turn<'_>, &mut Obj) -> Done,
    /// Completes or refuses a change: what was, what will be, what was sent.
    pub(super) change: fn(&mut Turn<'_>, &Obj, &mut Obj, &Obj) -> Done,
    /// Refuses a removal, or clears up before it. What it leaves behind is removed.
    pub(super) remove: fn(&mut Turn<'_>, &Obj) -> Done,
    /// Adds what is only known when somebody looks.
    pub(super) show: fn(&Turn<'_>, &mut Obj),
}

/// The parts of a collection that are mostly the same.
pub(super) const fn plain(dialect: &'static dyn Dialect) -> Collection {
    Collection {
        name: "",
        path: "",
        one: "",
        many: "",
        title: "",
        fields: "",
        index: &[],
        key: "id",
        parent: None,
        quota: None,
        verbs: "CLSUD",
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

/// What a value has to be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
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
pub(super) enum Otherwise {
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
    pub(super) kind: Kind,
    pub(super) on_create: bool,
    pub(super) on_update: bool,
    pub(super) by_admin: bool,
    pub(super) otherwise: Otherwise,
}

impl Field {
    /// Whether it may be null: if it is null where nobody says otherwise.
    pub(super) fn takes_null(&self) -> bool {
        matches!(self.otherwise, Otherwise::Is(Value::Null) | Otherwise::Absent)
    }
}

/// A collection with its fields read.
pub(super) struct Shape {
    pub(super) of: &'static Collection,
    pub(super) fields: Vec<Field>,
}

impl Shape {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// What questions are asked about often.
    pub(super) fn indexed(&self) -> Vec<&'static str> {
        let mut paths: Vec<&'static str> = self.of.index.to_vec();
        for field in &self.fields {
            let often =
                matches!(field.kind, Kind::Ref(_)) || ["name", "project_id"].contains(&field.name);
            if often && !paths.contains(&field.name) {
                paths.push(field.name);
            }
        }
        paths
    }
}

/// All collections, by name.
pub(super) type Schema = BTreeMap<&'static str, Shape>;

/// Reads the fields of collections. Only a mistake in our own tables makes it fail; the tests would tell.
pub(super) fn read(
    collections: impl Iterator<Item = &'static Collection>,
) -> Result<Schema, String> {
    let mut schema = Schema::new();
    for of in collections {
        let mut fields = Vec::new();
        for line in of.fields.lines().filter(|line| !line.trim().is_empty()) {
            let field = read_field(line.trim());
            fields.push(field.ok_or_else(|| format!("{}: cannot read `{line}`", of.name))?);
        }
        if schema.insert(of.name, Shape { of, fields }).is_some() {
            return Err(format!("{} is there twice", of.name));
        }
    }
    Ok(schema)
}

fn read_field(line: &'static str) -> Option<Field> {
    let (name, rest) = line.split_once(' ')?;
    let (kind, rest) = rest.trim_start().split_once(' ')?;
    let (when, otherwise) = rest.trim_start().split_once(' ')?;
    if !when.chars().all(|letter| "cura".contains(letter)) {
        return None;
    }
    Some(Field {
        name,
        kind: read_kind(kind)?,
        on_create: when.contains('c'),
        on_update: when.contains('u'),
        by_admin: when.contains('a'),
        otherwise: match otherwise.trim() {
            "!" => Otherwise::Required,
            "-" => Otherwise::Absent,
            "@project" => Otherwise::Project,
            "@user" => Otherwise::User,
            "@now" => Otherwise::Now,
            json => Otherwise::Is(serde_json::from_str(json).ok()?),
        },
    })
}

fn read_kind(word: &'static str) -> Option<Kind> {
    Some(match word.split_once(':').unwrap_or((word, "")) {
        ("text", _) => Kind::Text,
        ("int", _) => Kind::Int,
        ("number", _) => Kind::Number,
        ("bool", _) => Kind::Bool,
        ("list", _) => Kind::List,
        ("map", _) => Kind::Map,
        ("any", _) => Kind::Any,
        ("ip", _) => Kind::Ip,
        ("cidr", _) => Kind::Cidr,
        ("mac", _) => Kind::Mac,
        ("uuid", _) => Kind::Uuid,
        ("enum", words) => Kind::OneOf(words.split('|').collect()),
        ("ref", target) => Kind::Ref(target),
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
        assert_eq!(field.kind, Kind::OneOf(vec!["ingress", "egress"]));
        assert!(field.on_create && !field.on_update && !field.by_admin);
        assert_eq!(field.otherwise, Otherwise::Required);
        let field = read_field("name text cu \"\"").unwrap();
        assert_eq!(field.otherwise, Otherwise::Is(json!("")));
        assert!(read_field("name what cu \"\"").is_none());
        assert!(read_field("name text x \"\"").is_none());
        assert!(read_field("name text cu nonsense").is_none());
    }
}
