//! The language in which resource types are declared.
//!
//! A type is a value, [`ResourceType`]; the methods here build one. Most of it is data that an operator's
//! YAML file can express as well. There are no macros, and no type registers itself. Properties, their
//! members and attributes are sorted by name, in whatever order they are written.

mod handlers;
mod property;
mod support;

pub use crate::behaviour::Behaviour;
pub use crate::constraints::{
    CRON_EXPRESSION, CustomConstraint, DNS_DOMAIN, DNS_NAME, EXPIRATION, IP_ADDR, IP_OR_CIDR,
    ISO_8601, JSON_STRING, MAC_ADDR, NET_CIDR, REL_DNS_NAME, TEST_CONSTR, TIMEZONE,
};
pub use crate::lookup::kinds::*;
pub use kiln_cloud::Service;
pub use kiln_template::schema::Name;
pub use kiln_template::validate::{Expansion, PropertyError, Sample, SiblingDefinitions};
pub use kiln_template::{Members, Value};
pub use property::{Attr, Prop, attr, item, list, map, prop, record};
pub use support::SupportStatus;

use crate::rest::RestSpec;
use kiln_template::schema::{Property, PropertyType, Support, TypeSchema};

/// Short names for the types of properties and attributes.
///
/// They are written like Rust types because a declaration reads like one.
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
    /// The schema: what template validation needs of the type.
    pub schema: TypeSchema,
    /// The service of its objects; `None` for types without an object in the cloud.
    pub service: Option<Service>,
    /// The API extension that the service must have.
    pub extension: Option<Name>,
    /// Whether resources can be created in a cloud without the service, because Kiln does its work there.
    pub works_without_service: bool,
    /// The name of the object in the attribute `show`.
    pub entity: Option<Name>,
    /// The maximum length of an object's name.
    pub name_limit: usize,
    /// The actions that a resource supports beyond create, update and delete.
    pub abilities: Abilities,
    /// Whether a resource is a nested stack.
    pub nested: bool,
    /// Whether a resource does nothing: it accepts any property, and every attribute is null.
    pub placeholder: bool,
    /// Whether a resource is created when its stack is adopted, because its object or its data are credentials. Those
    /// of an adopted document are never used.
    pub created_on_adopt: bool,
    /// The entries of a resource's data that are no credentials and give no access to anything: a stack's export
    /// contains them, and an adoption uses them. All others stay inside.
    pub plain_data: Vec<Name>,
    /// The template of the shipped environment that implements the type.
    pub template: Option<Name>,
    /// The type that a template may change to without replacing the object.
    pub successor: Option<Name>,
    /// Whether a failed check alone is a reason to replace the object.
    pub replace_on_failed_check: bool,
    /// The actions during which signals are rejected.
    pub no_signal_actions: Vec<Name>,
    /// Whether the other resources of the stack refresh their metadata after a signal.
    pub signal_refreshes_metadata: bool,
    /// Dependencies that follow from property values and that templates do not spell out.
    pub implicit_dependencies: Vec<ImplicitDependency>,
    /// A check of the properties beyond their schemas.
    pub check: Option<Check>,
    /// A check of the properties together with the other resources of the stack.
    pub sibling_check: Option<SiblingCheck>,
    /// The nested stack that a resource creates, for validation.
    pub expand: Option<Expand>,
    /// Its handlers.
    pub behaviour: Behaviour,
}

/// A dependency on all resources of a type whose property refers to the same object as a property here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImplicitDependency {
    /// The type that the resource depends on.
    pub type_name: Name,
    /// The property of the dependent resource; a path with dots goes into maps, and into the maps of a list.
    pub property: Name,
    /// The property of the resource that it depends on.
    pub other_property: Name,
}

/// Checks converted properties, some of which may be unknown.
pub type Check = fn(&Members) -> Result<(), PropertyError>;

/// Checks converted properties, some of which may be unknown, together with the other resources of the stack.
pub type SiblingCheck = fn(&Members, &dyn SiblingDefinitions) -> Result<(), PropertyError>;

/// Generates a nested stack from converted properties and the other resources of the stack; `None` if too many values are
/// unknown.
pub type Expand = fn(&Members, &dyn SiblingDefinitions) -> Option<Expansion>;

/// The actions that a resource supports beyond create, update and delete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// The object can be checked.
    pub check: bool,
    /// Drift can be detected: properties are read back from the service.
    pub drift: bool,
    /// It can be restored to a snapshot.
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
    /// A type with a name and nothing else.
    pub fn new(name: impl Into<Name>) -> ResourceType {
        ResourceType {
            schema: TypeSchema::new(name),
            service: None,
            extension: None,
            works_without_service: false,
            entity: None,
            name_limit: 255,
            abilities: Abilities::default(),
            nested: false,
            placeholder: false,
            created_on_adopt: false,
            plain_data: Vec::new(),
            template: None,
            successor: None,
            replace_on_failed_check: true,
            no_signal_actions: vec!["SUSPEND".into(), "DELETE".into()],
            signal_refreshes_metadata: true,
            implicit_dependencies: Vec::new(),
            check: None,
            sibling_check: None,
            expand: None,
            behaviour: Behaviour::default(),
        }
    }

    /// The properties that are compared with the object to detect drift.
    pub fn compared(&self) -> impl Iterator<Item = &Property> {
        let spec = self.behaviour.rest.as_deref().filter(|_| self.behaviour.observe.is_none());
        let observed = self.behaviour.observed;
        let can_be = move |property: &&Property| {
            observed.iter().any(|name| property.name == *name)
                || spec.is_some_and(|spec| crate::rest::can_be_compared(spec, property))
        };
        self.schema.properties.iter().filter(can_be)
    }

    /// The updatable properties that a new object gets after the call that creates it, and that cannot be compared
    /// with the object. A create that failed may not have set them.
    pub fn set_after_create(&self) -> impl Iterator<Item = &Property> {
        let spec = self.behaviour.rest.as_deref();
        let is_later = move |property: &&Property| {
            let is_compared = self.compared().any(|it| it.name == property.name);
            let is_later = |spec: &RestSpec| {
                spec.after_write.is_some() || spec.unsent.contains(&property.name)
            };
            property.update_allowed && !is_compared && spec.is_some_and(is_later)
        };
        self.schema.properties.iter().filter(is_later)
    }

    /// The type's name, such as `OS::Nova::Server`.
    pub fn name(&self) -> &str {
        &self.schema.name
    }

    /// Describes the type in one sentence.
    pub fn about(mut self, about: impl Into<Name>) -> ResourceType {
        self.schema.about = about.into();
        self
    }

    /// Sets the service of the objects.
    pub fn service(mut self, service: Service) -> ResourceType {
        self.service = Some(service);
        self
    }

    /// Sets the API extension that the service must have.
    pub fn extension(mut self, alias: impl Into<Name>) -> ResourceType {
        self.extension = Some(alias.into());
        self
    }

    /// Kiln does the work of the service where the cloud does not have it.
    pub fn works_without_service(mut self) -> ResourceType {
        self.works_without_service = true;
        self
    }

    /// Sets the name of the object in the attribute `show`.
    pub fn entity(mut self, entity: impl Into<Name>) -> ResourceType {
        self.entity = Some(entity.into());
        self
    }

    /// Limits the length of an object's name; the default is 255.
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

    /// Adds the properties of `update_policy`.
    pub fn update_policy(mut self, props: impl IntoIterator<Item = Prop>) -> ResourceType {
        property::add(&mut self.schema.update_policy, props);
        self
    }

    /// Applies a fragment that several types share.
    pub fn with(self, fragment: fn(ResourceType) -> ResourceType) -> ResourceType {
        fragment(self)
    }

    /// Accepts any attribute name: the attributes are known only at run time.
    pub fn any_attribute(mut self) -> ResourceType {
        self.schema.dynamic_attributes = true;
        self
    }

    /// Makes the type do nothing: it accepts any property, and every attribute is null.
    ///
    /// Types of retired services are placeholders, so that old stacks can still be deleted.
    pub fn placeholder(mut self) -> ResourceType {
        self.placeholder = true;
        self.plain_data.push("is_placeholder".into());
        self.schema.any_property = true;
        self.schema.dynamic_attributes = true;
        self.creates(|op| Box::pin(handlers::create_placeholder(op)))
            .attributes(|_, _, _| Ok(Some(Value::Null)))
    }

    /// Whether the attribute `show` is the object of the service. It is null for AWS's types, which have only AWS's attributes.
    pub fn shows_object(&self) -> bool {
        !self.schema.name.starts_with("AWS::")
    }

    /// Creates a resource when its stack is adopted, because its object or its data are credentials.
    pub fn created_on_adopt(mut self) -> ResourceType {
        self.created_on_adopt = true;
        self
    }

    /// Names entries of a resource's data that are no credentials and give no access to anything: a stack's export
    /// contains them, and an adoption uses them.
    pub fn plain_data(mut self, names: impl IntoIterator<Item = &'static str>) -> ResourceType {
        self.plain_data.extend(names.into_iter().map(Name::Borrowed));
        self
    }

    /// Makes a resource a nested stack, with all actions of a stack.
    pub fn nested(mut self) -> ResourceType {
        self.nested = true;
        self.checkable().suspendable()
    }

    /// Sets the template of the shipped environment that implements the type.
    pub fn template(mut self, template: impl Into<Name>) -> ResourceType {
        self.template = Some(template.into());
        self
    }

    /// Sets the type that a template may change to without replacing the object.
    pub fn successor(mut self, name: impl Into<Name>) -> ResourceType {
        self.successor = Some(name.into());
        self
    }

    /// Allows the action check.
    pub fn checkable(mut self) -> ResourceType {
        self.abilities.check = true;
        self
    }

    /// Drift can be detected: properties are read back from the service.
    pub fn detects_drift(mut self) -> ResourceType {
        self.abilities.drift = true;
        self
    }

    /// Allows signals.
    pub fn signallable(mut self) -> ResourceType {
        self.abilities.signal = true;
        self
    }

    /// Includes the resource in snapshots of its stack, and allows to restore it.
    pub fn restorable(mut self) -> ResourceType {
        self.abilities.snapshot = true;
        self.abilities.restore = true;
        self
    }

    /// Allows the actions suspend and resume.
    pub fn suspendable(mut self) -> ResourceType {
        self.abilities.suspend = true;
        self.abilities.resume = true;
        self
    }

    /// Allows the deletion policy `Snapshot`.
    pub fn snapshot_on_delete(mut self) -> ResourceType {
        self.schema.snapshots = true;
        self
    }

    /// The reference is known before the resource is created: resources that refer to it do not wait for it.
    pub fn reference_known_early(mut self) -> ResourceType {
        self.schema.reference_known_early = true;
        self
    }

    /// Kiln still supports the type although Heat does not: its use is no warning.
    pub fn still_supported(mut self) -> ResourceType {
        self.schema.still_supported = true;
        self
    }

    /// Does not replace the object because of a failed check alone.
    pub fn kept_on_failed_check(mut self) -> ResourceType {
        self.replace_on_failed_check = false;
        self
    }

    /// Allows signals during every action; they do not refresh the metadata of other resources.
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

    /// Adds a check of the properties beyond their schemas.
    pub fn check(mut self, check: Check) -> ResourceType {
        self.check = Some(check);
        self
    }

    /// Adds a check of the properties together with the other resources of the stack.
    pub fn check_with_siblings(mut self, check: SiblingCheck) -> ResourceType {
        self.sibling_check = Some(check);
        self
    }

    /// Sets the function that generates the nested stack for validation.
    pub fn expands_to(mut self, expand: Expand) -> ResourceType {
        self.expand = Some(expand);
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
                prop("size", Int, "Size."),
                prop("pools", List, "Pools.")
                    .each(record([prop("b", Str, "B."), prop("a", Str, "A.")])),
            ])
            .props([prop("name", Str, "Name.")])
            .attrs([attr("z", Str, "Z."), attr("a", None, "A.")]);
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
