//! The schemas of resource types: properties and attributes.
//!
//! Parameters have their own, older rules (`parameters`); both share [`Constraint`].

use crate::constraint::Constraint;
use crate::value::{Members, Value};
use std::borrow::Cow;

/// Static text for built-in types, owned text for types from an operator's file.
pub type Name = Cow<'static, str>;

/// The type of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropertyType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    List,
    /// A map.
    Map,
    /// Anything.
    Any,
}

impl PropertyType {
    /// The name that clients see.
    pub fn name(self) -> &'static str {
        match self {
            PropertyType::String => "String",
            PropertyType::Integer => "Integer",
            PropertyType::Number => "Number",
            PropertyType::Boolean => "Boolean",
            PropertyType::List => "List",
            PropertyType::Map => "Map",
            PropertyType::Any => "Any",
        }
    }
}

/// The schema of the members of a list or a map.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Inner {
    /// Any members.
    #[default]
    Free,
    /// Every member of the list (or of the map, whatever its key) has this schema.
    Each(Box<Property>),
    /// The map has these members and no others.
    Members(Vec<Property>),
}

/// The support status of a type, property or attribute.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Support {
    /// The status.
    pub status: Status,
    /// The release since which the status holds.
    pub version: Option<Name>,
    /// What to use instead, or why.
    pub message: Option<Name>,
    /// The status before this one.
    pub previous: Option<Box<Support>>,
}

/// The support states that Heat has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Status {
    /// Supported.
    #[default]
    Supported,
    /// Works, and will be removed.
    Deprecated,
    /// Kept only so that old stacks can be deleted; not listed.
    Hidden,
    /// Not supported.
    Unsupported,
}

impl Status {
    /// The name that clients see.
    pub fn name(self) -> &'static str {
        match self {
            Status::Supported => "SUPPORTED",
            Status::Deprecated => "DEPRECATED",
            Status::Hidden => "HIDDEN",
            Status::Unsupported => "UNSUPPORTED",
        }
    }
}

/// The schema of a property.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name; empty for the members of a list.
    pub name: Name,
    /// Its type.
    pub kind: PropertyType,
    /// The description; may be empty.
    pub about: Name,
    /// The schema of its members.
    pub inner: Inner,
    /// The default value.
    pub default: Option<Value>,
    /// Whether a value is required.
    pub required: bool,
    /// Whether a change updates the object in place instead of replacing it.
    pub update_allowed: bool,
    /// Whether a change is rejected.
    pub immutable: bool,
    /// Whether it is implemented.
    pub implemented: bool,
    /// The constraints on its value.
    pub constraints: Vec<Constraint>,
    /// Its support status.
    pub support: Support,
    /// The translation of its value before use.
    pub rewriting: Rewriting,
}

/// The translation of a property: from a deprecated property beside it, and from a name to an id.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Rewriting {
    /// The deprecated property whose value it takes.
    pub takes: Option<Takes>,
    /// The kind of object that is found by name or id, such as `neutron.network`.
    ///
    /// A word in braces stands for the value of the property of that name.
    pub finds: Option<Name>,
    /// Whether its own value is discarded.
    pub dropped: bool,
}

/// How a property takes the value of a deprecated one beside it.
#[derive(Clone, Debug, PartialEq)]
pub enum Takes {
    /// As its own value. The deprecated one may be a member of a map: `policies.timeout`.
    Value(Name),
    /// As the only member of a list.
    Member {
        /// The deprecated property.
        older: Name,
        /// Where the member is a map: the key of the value, and the map's other members.
        key: Option<(Name, Members)>,
    },
}

impl Takes {
    /// The deprecated property, or the map that it is a member of.
    pub fn older(&self) -> &str {
        match self {
            Takes::Value(older) => older.split('.').next().unwrap_or_default(),
            Takes::Member { older, .. } => older,
        }
    }
}

impl Property {
    /// An optional property with a type and nothing else.
    pub fn new(name: impl Into<Name>, kind: PropertyType) -> Property {
        Property {
            name: name.into(),
            kind,
            about: Name::Borrowed(""),
            inner: Inner::Free,
            default: None,
            required: false,
            update_allowed: false,
            immutable: false,
            implemented: true,
            constraints: Vec::new(),
            support: Support::default(),
            rewriting: Rewriting::default(),
        }
    }
}

/// How long an attribute's value may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Cache {
    /// Until the resource's next action.
    #[default]
    Local,
    /// Not at all.
    None,
}

/// The schema of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: Name,
    /// Its type, where known.
    pub kind: Option<PropertyType>,
    /// The description; may be empty.
    pub about: Name,
    /// How long its value may be kept.
    pub cache: Cache,
    /// Whether it is a secret that is meant to be handed out: every reader of the resource sees it.
    pub is_handed_out: bool,
    /// Its support status.
    pub support: Support,
}

/// The schema of a resource type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeSchema {
    /// The type's name, such as `OS::Nova::Server`.
    pub name: Name,
    /// The description; may be empty.
    pub about: Name,
    /// Its properties, by name.
    pub properties: Vec<Property>,
    /// Its attributes, by name, `show` left out.
    pub attributes: Vec<Attribute>,
    /// The schema of `update_policy`.
    pub update_policy: Vec<Property>,
    /// Whether any property is accepted, whatever its name and value.
    pub any_property: bool,
    /// Whether it was made from a template's parameters: lists then take text, maps text and lists.
    pub from_template: bool,
    /// Whether any attribute name is accepted.
    pub dynamic_attributes: bool,
    /// Whether the deletion policy `Snapshot` is possible.
    pub snapshots: bool,
    /// Whether the reference ids of its resources are known before they are created, so that no
    /// resource waits for them.
    pub reference_known_early: bool,
    /// Its support status.
    pub support: Support,
    /// Whether it still works in Kiln although Heat has ended its support: no warning is given.
    pub still_supported: bool,
}

impl TypeSchema {
    /// A type that has no properties and no attributes of its own.
    pub fn new(name: impl Into<Name>) -> TypeSchema {
        TypeSchema {
            name: name.into(),
            about: Name::Borrowed(""),
            properties: Vec::new(),
            attributes: Vec::new(),
            update_policy: Vec::new(),
            any_property: false,
            from_template: false,
            dynamic_attributes: false,
            snapshots: false,
            reference_known_early: false,
            support: Support::default(),
            still_supported: false,
        }
    }

    /// The property with a name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Whether a template may use an attribute with this name.
    pub fn has_attribute(&self, name: &str) -> bool {
        self.dynamic_attributes
            || name == "show"
            || self.attributes.iter().any(|attribute| attribute.name == name)
    }
}
