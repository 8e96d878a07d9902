//! Properties and attributes of a declared type.

use super::SupportStatus;
use crate::constraints::CustomConstraint;
use kiln_template::schema::{
    Attribute, Cache, Inner, Name, Property, PropertyType, Support, Takes,
};
use kiln_template::{Constraint, Rule, Value};
use std::sync::Arc;

/// A property under declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Prop(Property);

/// An attribute under declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Attr(Attribute);

/// An optional property whose change replaces the object; the description is one sentence.
pub fn prop(name: impl Into<Name>, kind: PropertyType, description: impl Into<Name>) -> Prop {
    let mut property = Property::new(name, kind);
    property.about = description.into();
    Prop(property)
}

/// An item of a list, or of a map with any keys.
pub fn item(kind: PropertyType) -> Prop {
    Prop(Property::new("", kind))
}

/// An item of a list that is a map with these members and no others.
pub fn record(members: impl IntoIterator<Item = Prop>) -> Prop {
    item(PropertyType::Map).members(members)
}

/// An attribute; its type is `None` where it is not known. The description is one sentence.
pub fn attr(
    name: impl Into<Name>,
    kind: impl Into<Option<PropertyType>>,
    description: impl Into<Name>,
) -> Attr {
    Attr(Attribute {
        name: name.into(),
        kind: kind.into(),
        about: description.into(),
        cache: Cache::Local,
        is_handed_out: false,
        support: Support::default(),
    })
}

/// A list, as a default.
pub fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Value {
    Value::list(items.into_iter().map(Into::into))
}

/// A map, as a default.
pub fn map<T: Into<Value>>(members: impl IntoIterator<Item = (&'static str, T)>) -> Value {
    Value::map(members.into_iter().map(|(name, value)| (name, value.into())))
}

/// Adds properties and sorts all by name.
pub(super) fn add(properties: &mut Vec<Property>, props: impl IntoIterator<Item = Prop>) {
    properties.extend(props.into_iter().map(|prop| prop.0));
    properties.sort_by(|a, b| a.name.cmp(&b.name));
}

impl Prop {
    /// A value must be given.
    pub fn required(mut self) -> Prop {
        self.0.required = true;
        self
    }

    /// A change is made in place.
    pub fn updatable(mut self) -> Prop {
        self.0.update_allowed = true;
        self
    }

    /// A change is refused.
    pub fn immutable(mut self) -> Prop {
        self.0.immutable = true;
        self
    }

    /// The property has no implementation: a value for it is an error.
    pub fn unimplemented(mut self) -> Prop {
        self.0.implemented = false;
        self
    }

    /// Sets the default.
    pub fn default(mut self, value: impl Into<Value>) -> Prop {
        self.0.default = Some(value.into());
        self
    }

    /// Sets an empty list, map or string as the default.
    pub fn default_empty(self) -> Prop {
        match self.0.kind {
            PropertyType::List => self.default(Value::list([])),
            PropertyType::Map => self.default(map::<Value>([])),
            _ => self.default(""),
        }
    }

    /// Every item has this schema.
    pub fn each(mut self, item: Prop) -> Prop {
        self.0.inner = Inner::Each(Box::new(item.0));
        self
    }

    /// It has these members and no others.
    pub fn members(mut self, members: impl IntoIterator<Item = Prop>) -> Prop {
        let mut properties = Vec::new();
        add(&mut properties, members);
        self.0.inner = Inner::Members(properties);
        self
    }

    /// It must be one of these values.
    pub fn one_of<T: Into<Value>>(self, values: impl IntoIterator<Item = T>) -> Prop {
        self.must(Rule::AllowedValues(values.into_iter().map(Into::into).collect()))
    }

    /// It must be a number from one bound to the other.
    pub fn range(self, min: impl Into<Value>, max: impl Into<Value>) -> Prop {
        self.must(Rule::Range { min: Some(min.into()), max: Some(max.into()) })
    }

    /// It must be a number no smaller than this.
    pub fn min(self, min: impl Into<Value>) -> Prop {
        self.must(Rule::Range { min: Some(min.into()), max: None })
    }

    /// It must be a number no greater than this.
    pub fn max(self, max: impl Into<Value>) -> Prop {
        self.must(Rule::Range { min: None, max: Some(max.into()) })
    }

    /// It must have this many characters or members, from one bound to the other.
    pub fn length(self, min: i64, max: i64) -> Prop {
        self.must(Rule::Length { min: Some(min), max: Some(max) })
    }

    /// It must have at least this many characters or members.
    pub fn min_length(self, min: i64) -> Prop {
        self.must(Rule::Length { min: Some(min), max: None })
    }

    /// It must have at most this many characters or members.
    pub fn max_length(self, max: i64) -> Prop {
        self.must(Rule::Length { min: None, max: Some(max) })
    }

    /// All of it must match this pattern.
    pub fn pattern(self, pattern: impl Into<Name>) -> Prop {
        self.must(Rule::AllowedPattern(pattern.into().into()))
    }

    /// It must satisfy a custom constraint.
    pub fn is(self, constraint: CustomConstraint) -> Prop {
        self.must(Rule::Custom(constraint.into()))
    }

    /// The object's name is accepted in place of its id; call it after [`Prop::is`].
    pub fn by_name(mut self) -> Prop {
        let checks = self.0.constraints.iter().rev();
        self.0.rewriting.finds = checks.into_iter().find_map(|check| match &check.rule {
            Rule::Custom(name) => Some(name.clone()),
            _ => None,
        });
        self
    }

    /// It is the id or the name of an object of this kind; validation does not check that the object exists.
    pub fn finds(mut self, kind: CustomConstraint) -> Prop {
        self.0.rewriting.finds = Some(kind.into());
        self
    }

    /// Like [`Prop::finds`], for a kind with the value of another property in its name, such as
    /// `neutron.{object_type}`.
    pub fn finds_by(mut self, kind: &'static str) -> Prop {
        self.0.rewriting.finds = Some(kind.into());
        self
    }

    /// It replaces an older property beside it, or a member of one: `policies.timeout`.
    pub fn replaces(mut self, older: impl Into<Name>) -> Prop {
        self.0.rewriting.takes = Some(Takes::Value(older.into()));
        self
    }

    /// A list that replaces an older property beside it, whose value becomes one of its items.
    pub fn adds(mut self, older: impl Into<Name>) -> Prop {
        self.0.rewriting.takes = Some(Takes::Member { older: older.into(), key: None });
        self
    }

    /// Like [`Prop::adds`] for a list of maps: the older property's value is put under a key, with other members.
    pub fn adds_as<T: Into<Value>>(
        mut self,
        older: impl Into<Name>,
        key: impl Into<Name>,
        others: impl IntoIterator<Item = (&'static str, T)>,
    ) -> Prop {
        let others = others.into_iter().map(|(name, value)| (Arc::from(name), value.into()));
        let key = Some((key.into(), others.collect()));
        self.0.rewriting.takes = Some(Takes::Member { older: older.into(), key });
        self
    }

    /// Its value is discarded after the properties that replace it have been set.
    pub fn dropped(mut self) -> Prop {
        self.0.rewriting.dropped = true;
        self
    }

    /// It must satisfy this rule.
    pub fn must(mut self, rule: Rule) -> Prop {
        self.0.constraints.push(Constraint::from(rule));
        self
    }
}

impl SupportStatus for Prop {
    fn support_mut(&mut self) -> &mut Support {
        &mut self.0.support
    }
}

impl Attr {
    /// Its value is read from the service each time.
    pub fn uncached(mut self) -> Attr {
        self.0.cache = Cache::None;
        self
    }

    /// It is a secret that users are meant to read: everyone who may see the resource sees its value.
    pub fn handed_out(mut self) -> Attr {
        self.0.is_handed_out = true;
        self
    }

    /// The declared attribute.
    pub(super) fn into_attribute(self) -> Attribute {
        self.0
    }
}

impl SupportStatus for Attr {
    fn support_mut(&mut self) -> &mut Support {
        &mut self.0.support
    }
}
