//! Properties and attributes of a declared type.

use super::SupportStatus;
use kiln_template::constraint::{Constraint, Rule};
use kiln_template::schema::{
    Attribute, Cache, Inner, Name, Property, PropertyType, Support, Takes,
};
use kiln_template::value::Value;
use std::sync::Arc;

/// A property under declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Prop(Property);

/// An attribute under declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Attr(Attribute);

/// An optional property; a change of it replaces the object.
pub fn prop(name: impl Into<Name>, kind: PropertyType) -> Prop {
    Prop(Property::new(name, kind))
}

/// A member of a list, or of a map with any keys.
pub fn item(kind: PropertyType) -> Prop {
    Prop(Property::new("", kind))
}

/// A member of a list that is a map with these members and no others.
pub fn record(members: impl IntoIterator<Item = Prop>) -> Prop {
    item(PropertyType::Map).members(members)
}

/// An attribute; the kind is `None` where it is not known.
pub fn attr(name: impl Into<Name>, kind: impl Into<Option<PropertyType>>) -> Attr {
    Attr(Attribute {
        name: name.into(),
        kind: kind.into(),
        about: Name::Borrowed(""),
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

/// Adds properties to others and keeps all in order of name.
pub(super) fn add(properties: &mut Vec<Property>, props: impl IntoIterator<Item = Prop>) {
    properties.extend(props.into_iter().map(|prop| prop.0));
    properties.sort_by(|a, b| a.name.cmp(&b.name));
}

impl Prop {
    /// Says what it is for.
    pub fn about(mut self, about: impl Into<Name>) -> Prop {
        self.0.about = about.into();
        self
    }

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

    /// It is known by name only: giving a value is refused.
    pub fn unimplemented(mut self) -> Prop {
        self.0.implemented = false;
        self
    }

    /// The value it takes when none is given.
    pub fn default(mut self, value: impl Into<Value>) -> Prop {
        self.0.default = Some(value.into());
        self
    }

    /// It is an empty list, map or text when no value is given.
    pub fn default_empty(self) -> Prop {
        match self.0.kind {
            PropertyType::List => self.default(Value::list([])),
            PropertyType::Map => self.default(map::<Value>([])),
            _ => self.default(""),
        }
    }

    /// Every member is of this form.
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

    /// It must pass the named check, one of [`crate::constraints::NAMES`].
    pub fn is(self, check: impl Into<Name>) -> Prop {
        self.must(Rule::Custom(check.into()))
    }

    /// The name of such an object does as well as its id; goes after [`Prop::is`].
    pub fn by_name(mut self) -> Prop {
        let checks = self.0.constraints.iter().rev();
        self.0.rewriting.finds = checks.into_iter().find_map(|check| match &check.rule {
            Rule::Custom(name) => Some(name.clone()),
            _ => None,
        });
        self
    }

    /// It is the id or the name of such an object, which is not checked beforehand.
    ///
    /// A word in braces stands for the value of the property of that name.
    pub fn names(mut self, object: impl Into<Name>) -> Prop {
        self.0.rewriting.finds = Some(object.into());
        self
    }

    /// It took the place of an older property beside it, or of a member of one: `policies.timeout`.
    pub fn replaces(mut self, older: impl Into<Name>) -> Prop {
        self.0.rewriting.takes = Some(Takes::Value(older.into()));
        self
    }

    /// A list that took the place of an older property beside it, which had one of its members.
    pub fn adds(mut self, older: impl Into<Name>) -> Prop {
        self.0.rewriting.takes = Some(Takes::Member { older: older.into(), key: None });
        self
    }

    /// The same where the members are maps: the older property is under a key, with others beside it.
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

    /// Whatever is given for it is thrown away, once others have taken what they need.
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
    /// Says what it tells.
    pub fn about(mut self, about: impl Into<Name>) -> Attr {
        self.0.about = about.into();
        self
    }

    /// Its value is asked for anew each time.
    pub fn uncached(mut self) -> Attr {
        self.0.cache = Cache::None;
        self
    }

    /// It is a secret that is made to be handed out: whoever may see the resource sees it.
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
