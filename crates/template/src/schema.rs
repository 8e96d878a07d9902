//! What a resource type's properties and attributes may be.
//!
//! Parameters have their own, older rules (`parameters`); both share [`Constraint`].

use crate::constraint::Constraint;
use crate::value::{Members, Value};
use std::borrow::Cow;

/// Text that a built-in type has in the binary and an operator's file brings along.
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

/// What a list's or a map's members must be.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Inner {
    /// Nothing is said of them.
    #[default]
    Free,
    /// Every member of the list (or of the map, whatever its key) is of this form.
    Each(Box<Property>),
    /// The map has these members and no others.
    Members(Vec<Property>),
}

/// Where a type, property or attribute stands in its life.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Support {
    /// The state.
    pub status: Status,
    /// The release since which the state holds.
    pub version: Option<Name>,
    /// What to use instead, or why.
    pub message: Option<Name>,
    /// The state before this one.
    pub previous: Option<Box<Support>>,
}

/// A state of support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Status {
    /// In use.
    #[default]
    Supported,
    /// Works, and will go.
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

/// What a property may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name; empty for the members of a list.
    pub name: Name,
    /// Its type.
    pub kind: PropertyType,
    /// What it is for; may be empty.
    pub about: Name,
    /// What its members must be.
    pub inner: Inner,
    /// The value it takes when none is given.
    pub default: Option<Value>,
    /// Whether a value must be given.
    pub required: bool,
    /// Whether a change is made in place rather than by replacing the object.
    pub update_allowed: bool,
    /// Whether a change is refused.
    pub immutable: bool,
    /// Whether it can be used at all.
    pub implemented: bool,
    /// What its value must satisfy.
    pub constraints: Vec<Constraint>,
    /// Where it stands in its life.
    pub support: Support,
    /// What of it is rewritten before use.
    pub rewriting: Rewriting,
}

/// How a property is rewritten before use: from an older property beside it, and from a name to an id.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Rewriting {
    /// The older property whose value it takes.
    pub takes: Option<Takes>,
    /// The kind of object whose name may be given for its id, such as `neutron.network`.
    ///
    /// A word in braces stands for the value of the property of that name.
    pub finds: Option<Name>,
    /// Whether its own value is thrown away.
    pub dropped: bool,
}

/// How a property takes the value of an older one beside it.
#[derive(Clone, Debug, PartialEq)]
pub enum Takes {
    /// As its own value. The older one may be a member of a map: `policies.timeout`.
    Value(Name),
    /// As the only member of a list.
    Member {
        /// The older property.
        older: Name,
        /// Where the member is a map: the key of the value, and the map's other members.
        key: Option<(Name, Members)>,
    },
}

impl Takes {
    /// The older property, or the map that it is a member of.
    pub fn older(&self) -> &str {
        match self {
            Takes::Value(older) => older.split('.').next().unwrap_or_default(),
            Takes::Member { older, .. } => older,
        }
    }
}

impl Property {
    /// An optional property of a type, with nothing else said of it.
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

/// What a resource can tell of itself once it exists.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: Name,
    /// Its type, where known.
    pub kind: Option<PropertyType>,
    /// What it tells; may be empty.
    pub about: Name,
    /// How long its value may be kept.
    pub cache: Cache,
    /// Whether it is a secret that is made to be handed out: whoever may see the resource sees it.
    pub is_handed_out: bool,
    /// Where it stands in its life.
    pub support: Support,
}

/// Everything that templates need to know of a resource type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeSchema {
    /// The type's name, such as `OS::Nova::Server`.
    pub name: Name,
    /// What it is; may be empty.
    pub about: Name,
    /// Its properties, by name.
    pub properties: Vec<Property>,
    /// Its attributes, by name, `show` left out.
    pub attributes: Vec<Attribute>,
    /// What `update_policy` may hold.
    pub update_policy: Vec<Property>,
    /// Whether any property may be given, whatever its name and value.
    pub any_property: bool,
    /// Whether it was made from a template's parameters: lists then take text, maps text and lists.
    pub from_template: bool,
    /// Whether any attribute name may be asked for.
    pub dynamic_attributes: bool,
    /// Whether the deletion policy `Snapshot` is possible.
    pub snapshots: bool,
    /// Whether nobody waits for its resources: what they are called can be told before they are made.
    pub reference_known_early: bool,
    /// Where it stands in its life.
    pub support: Support,
    /// Whether it works here although its life elsewhere is over: nobody has to be warned.
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

    /// The property of a name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Whether a template may ask for an attribute of this name.
    pub fn has_attribute(&self, name: &str) -> bool {
        self.dynamic_attributes
            || name == "show"
            || self.attributes.iter().any(|attribute| attribute.name == name)
    }
}
