//! The language in which resource types are declared.
//!
//! A type is a value, [`ResourceType`]; the words here build one. All of it is data that an operator's
//! file can spell as well: no macros, no closures, nothing registered behind the reader's back.
//! Properties, their members and attributes are kept in order of name, in whatever order they are
//! written.

mod handlers;
mod property;
mod support;

pub use crate::behaviour::Behaviour;
pub use kiln_cloud::Service;
pub use kiln_template::schema::Name;
pub use kiln_template::validate::PropertyError;
pub use kiln_template::value::{Members, Value};
pub use property::{Attr, Prop, attr, item, list, map, prop, record};
pub use support::SupportStatus;

use kiln_template::schema::{Property, PropertyType, Support, TypeSchema};

/// The kinds of properties and attributes, as short words.
///
/// They are named like types because that is what they are to the reader of a declaration.
#[allow(non_upper_case_globals)]
mod kinds {
    use super::PropertyType;

    /// Text.
    pub const Str: PropertyType = PropertyType::String;
    /// A whole number.
    pub const Int: PropertyType = PropertyType::Integer;
    /// A number.
    pub const Num: PropertyType = PropertyType::Number;
    /// True or false.
    pub const Bool: PropertyType = PropertyType::Boolean;
    /// A list.
    pub const List: PropertyType = PropertyType::List;
    /// A map.
    pub const Map: PropertyType = PropertyType::Map;
    /// Anything.
    pub const Any: PropertyType = PropertyType::Any;
}
pub use kinds::*;

/// Everything about a resource type.
#[derive(Clone, Debug)]
pub struct ResourceType {
    /// What templates need to know of it.
    pub schema: TypeSchema,
    /// The service that has its objects; none for types that live in the engine alone.
    pub service: Option<Service>,
    /// The extension of the service's API without which the type cannot be used.
    pub extension: Option<Name>,
    /// What the service calls the object that the attribute `show` shows.
    pub entity: Option<Name>,
    /// The longest name that the service accepts for an object.
    pub name_limit: usize,
    /// What can be done with a resource beyond create, update and delete.
    pub abilities: Abilities,
    /// Whether a resource is a nested stack.
    pub nested: bool,
    /// Whether a resource does nothing: any property is taken, every attribute is null.
    pub placeholder: bool,
    /// The template of the shipped environment that stands behind the type.
    pub template: Option<Name>,
    /// The type to which a template may change without replacing the object.
    pub successor: Option<Name>,
    /// Whether a failed check alone is reason to replace the object.
    pub replace_on_failed_check: bool,
    /// The actions during which signals are refused.
    pub no_signal_actions: Vec<Name>,
    /// Whether the other resources of the stack refresh their metadata after a signal.
    pub signal_refreshes_metadata: bool,
    /// What a resource needs of its stack although its template does not say so.
    pub implicit_dependencies: Vec<ImplicitDependency>,
    /// What the type asks of its properties beyond their schemas.
    pub check: Option<Check>,
    /// The template that a resource makes a nested stack of.
    pub expansion: Option<Expansion>,
    /// What it does.
    pub behaviour: Behaviour,
}

/// Resources of a type are needed if a property means the same object there and here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImplicitDependency {
    /// The type.
    pub type_name: Name,
    /// The property here; names with dots between them go into maps, and into the maps of a list.
    pub property: Name,
    /// The property there.
    pub other_property: Name,
}

/// Looks at converted properties, parts of which may be unknown.
pub type Check = fn(&Members) -> Result<(), PropertyError>;

/// Makes a template of converted properties, or nothing if they are not known well enough.
pub type Expansion = fn(&Members) -> Option<Value>;

/// What can be done with a resource beyond create, update and delete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Its state can be compared with what the service reports.
    pub check: bool,
    /// Its properties can be read back from the service.
    pub drift: bool,
    /// It can be brought back to a snapshot.
    pub restore: bool,
    /// It can be resumed.
    pub resume: bool,
    /// It can be signalled.
    pub signal: bool,
    /// It takes part in snapshots of its stack.
    pub snapshot: bool,
    /// It can be suspended.
    pub suspend: bool,
}

impl ResourceType {
    /// A type of which nothing but the name is said yet.
    pub fn new(name: impl Into<Name>) -> ResourceType {
        ResourceType {
            schema: TypeSchema::new(name),
            service: None,
            extension: None,
            entity: None,
            name_limit: 255,
            abilities: Abilities::default(),
            nested: false,
            placeholder: false,
            template: None,
            successor: None,
            replace_on_failed_check: true,
            no_signal_actions: vec!["SUSPEND".into(), "DELETE".into()],
            signal_refreshes_metadata: true,
            implicit_dependencies: Vec::new(),
            check: None,
            expansion: None,
            behaviour: Behaviour::default(),
        }
    }

    /// The properties that are compared with what the service shows of an object.
    pub fn compared(&self) -> impl Iterator<Item = &Property> {
        let spec = self.behaviour.rest.as_deref();
        let can_be = move |property: &&Property| {
            spec.is_some_and(|spec| crate::rest::can_be_compared(spec, property))
        };
        self.schema.properties.iter().filter(can_be)
    }

    /// The type's name, such as `OS::Nova::Server`.
    pub fn name(&self) -> &str {
        &self.schema.name
    }

    /// Says in one sentence what the type is.
    pub fn about(mut self, about: impl Into<Name>) -> ResourceType {
        self.schema.about = about.into();
        self
    }

    /// Names the service that has the objects.
    pub fn service(mut self, service: Service) -> ResourceType {
        self.service = Some(service);
        self
    }

    /// Names the extension of the service's API without which the type cannot be used.
    pub fn extension(mut self, alias: impl Into<Name>) -> ResourceType {
        self.extension = Some(alias.into());
        self
    }

    /// Says what the service calls the object that the attribute `show` shows.
    pub fn entity(mut self, entity: impl Into<Name>) -> ResourceType {
        self.entity = Some(entity.into());
        self
    }

    /// Limits the length of an object's name; 255 if nothing is said.
    pub fn name_limit(mut self, characters: usize) -> ResourceType {
        self.name_limit = characters;
        self
    }

    /// Adds properties.
    pub fn props(mut self, props: impl IntoIterator<Item = Prop>) -> ResourceType {
        property::add(&mut self.schema.properties, props);
        self
    }

    /// Adds attributes.
    pub fn attrs(mut self, attrs: impl IntoIterator<Item = Attr>) -> ResourceType {
        self.schema.attributes.extend(attrs.into_iter().map(Attr::into_attribute));
        self.schema.attributes.sort_by(|a, b| a.name.cmp(&b.name));
        self
    }

    /// Says what `update_policy` may hold.
    pub fn update_policy(mut self, props: impl IntoIterator<Item = Prop>) -> ResourceType {
        property::add(&mut self.schema.update_policy, props);
        self
    }

    /// Applies a fragment that several types share.
    pub fn with(self, fragment: fn(ResourceType) -> ResourceType) -> ResourceType {
        fragment(self)
    }

    /// Any attribute name may be asked for: the resource only knows at run time what it has.
    pub fn any_attribute(mut self) -> ResourceType {
        self.schema.dynamic_attributes = true;
        self
    }

    /// The type does nothing: any property is taken, every attribute is null.
    ///
    /// Types whose service is gone end like this, so that old stacks can still be deleted.
    pub fn placeholder(mut self) -> ResourceType {
        self.placeholder = true;
        self.schema.any_property = true;
        self.schema.dynamic_attributes = true;
        self.creates(|op| Box::pin(handlers::create_placeholder(op)))
            .attributes(|_, _, _| Ok(Some(Value::Null)))
    }

    /// A resource is a nested stack, and all that can be done with a stack can be done with it.
    pub fn nested(mut self) -> ResourceType {
        self.nested = true;
        self.checkable().suspendable()
    }

    /// Names the template of the shipped environment that stands behind the type.
    pub fn template(mut self, template: impl Into<Name>) -> ResourceType {
        self.template = Some(template.into());
        self
    }

    /// Names the type to which a template may change without replacing the object.
    pub fn successor(mut self, name: impl Into<Name>) -> ResourceType {
        self.successor = Some(name.into());
        self
    }

    /// Its state can be compared with what the service reports.
    pub fn checkable(mut self) -> ResourceType {
        self.abilities.check = true;
        self
    }

    /// Its properties can be read back from the service.
    pub fn detects_drift(mut self) -> ResourceType {
        self.abilities.drift = true;
        self
    }

    /// It can be signalled.
    pub fn signallable(mut self) -> ResourceType {
        self.abilities.signal = true;
        self
    }

    /// It takes part in snapshots of its stack and can be brought back to one.
    pub fn restorable(mut self) -> ResourceType {
        self.abilities.snapshot = true;
        self.abilities.restore = true;
        self
    }

    /// It can be suspended and resumed.
    pub fn suspendable(mut self) -> ResourceType {
        self.abilities.suspend = true;
        self.abilities.resume = true;
        self
    }

    /// Its deletion policy may be `Snapshot`.
    pub fn snapshot_on_delete(mut self) -> ResourceType {
        self.schema.snapshots = true;
        self
    }

    /// Nobody waits for a resource: what it is called can be told before it is made.
    pub fn reference_known_early(mut self) -> ResourceType {
        self.schema.reference_known_early = true;
        self
    }

    /// It works here although its life elsewhere is over: nobody has to be warned.
    pub fn still_supported(mut self) -> ResourceType {
        self.schema.still_supported = true;
        self
    }

    /// A failed check alone is no reason to replace the object.
    pub fn kept_on_failed_check(mut self) -> ResourceType {
        self.replace_on_failed_check = false;
        self
    }

    /// Signals are taken during every action, and leave the metadata of other resources alone.
    pub fn always_signallable(mut self) -> ResourceType {
        self.no_signal_actions.clear();
        self.signal_refreshes_metadata = false;
        self.signallable()
    }

    /// A resource depends on those of a type whose property refers to the same object as its own property.
    pub fn depends_on(
        mut self,
        type_name: impl Into<Name>,
        property: impl Into<Name>,
        other_property: impl Into<Name>,
    ) -> ResourceType {
        self.implicit_dependencies.push(ImplicitDependency {
            type_name: type_name.into(),
            property: property.into(),
            other_property: other_property.into(),
        });
        self
    }

    /// Adds a check of its properties that their schemas cannot express.
    pub fn check(mut self, check: Check) -> ResourceType {
        self.check = Some(check);
        self
    }

    /// Says which template a resource makes a nested stack of.
    pub fn expands_to(mut self, expansion: Expansion) -> ResourceType {
        self.expansion = Some(expansion);
        self
    }
}

impl SupportStatus for ResourceType {
    fn support_mut(&mut self) -> &mut Support {
        &mut self.schema.support
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_template::schema::{Inner, Status};

    #[test]
    fn properties_attributes_and_members_come_out_by_name() {
        let kind = ResourceType::new("OS::Test::Thing")
            .props([
                prop("size", Int),
                prop("pools", List).each(record([prop("b", Str), prop("a", Str)])),
            ])
            .props([prop("name", Str)])
            .attrs([attr("z", Str), attr("a", None)]);
        let names: Vec<_> = kind.schema.properties.iter().map(|p| &*p.name).collect();
        assert_eq!(names, ["name", "pools", "size"]);
        assert_eq!(kind.schema.attributes[0].name, "a");
        assert_eq!(kind.schema.attributes[0].kind, None);
        let Inner::Each(item) = &kind.schema.properties[1].inner else { panic!("no items") };
        let Inner::Members(members) = &item.inner else { panic!("no members") };
        assert_eq!(members[0].name, "a");
    }

    #[test]
    fn a_life_is_written_in_the_order_it_was_lived() {
        let kind = ResourceType::new("OS::Test::Thing")
            .unsupported("5.0.0")
            .changed("7.0.0")
            .deprecated("22.0.0")
            .note("Use another.")
            .hidden("25.0.0");
        let mut seen = Vec::new();
        let mut at = Some(&kind.schema.support);
        while let Some(support) = at {
            seen.push((support.status, support.version.as_deref()));
            at = support.previous.as_deref();
        }
        assert_eq!(
            seen,
            [
                (Status::Hidden, Some("25.0.0")),
                (Status::Deprecated, Some("22.0.0")),
                (Status::Supported, Some("7.0.0")),
                (Status::Unsupported, Some("5.0.0")),
            ]
        );
        let deprecated = kind.schema.support.previous.expect("a state before");
        assert_eq!(deprecated.message.as_deref(), Some("Use another."));
    }

    #[test]
    fn a_placeholder_takes_everything() {
        let kind = ResourceType::new("OS::Test::Gone").placeholder();
        assert!(kind.schema.any_property);
        assert!(kind.schema.has_attribute("whatever"));
    }
}
