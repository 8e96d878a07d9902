//! What holds of every declaration, whatever the reference says.

use crate::stack::{Stack, view};
use kiln_resources::behaviour::View;
use kiln_resources::constraints;
use kiln_resources::declare::Members;
use kiln_resources::environment::MAPPINGS;
use kiln_resources::registry::Registry;
use kiln_template::Rule;
use kiln_template::schema::{Inner, Property};
use std::collections::BTreeSet;

/// Calls a function for each property of a type and for each member inside it.
fn visit(properties: &[Property], seen: &mut impl FnMut(&Property)) {
    for property in properties {
        seen(property);
        match &property.inner {
            Inner::Free => (),
            Inner::Each(item) => visit(std::slice::from_ref(item.as_ref()), seen),
            Inner::Members(members) => visit(members, seen),
        }
    }
}

fn assert_by_name<'a>(place: &str, names: impl Iterator<Item = &'a str>) {
    let names: Vec<_> = names.collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{place}: not by name, or twice: {names:?}");
}

#[test]
fn every_type_says_what_it_is_in_one_sentence() {
    let mut short = Vec::new();
    for kind in Registry::builtin().iter() {
        let about = &kind.schema.about;
        let sentence = about.ends_with('.') && about.split_whitespace().count() > 2;
        if !sentence || about.trim() != about.as_ref() {
            short.push((kind.name(), about));
        }
    }
    assert!(short.is_empty(), "{short:?}");
}

#[test]
fn every_visible_property_and_attribute_has_a_description() {
    let is_sentence = |text: &str| text.ends_with('.') && text.trim() == text;
    let mut missing = BTreeSet::new();
    for kind in Registry::builtin().iter() {
        let schema = &kind.schema;
        for properties in [&schema.properties, &schema.update_policy] {
            visit(properties, &mut |property| {
                if !property.name.is_empty() && !is_sentence(&property.about) {
                    missing.insert(format!("{}: {}", kind.name(), property.name));
                }
            });
        }
        for attribute in schema.attributes.iter().filter(|it| !is_sentence(&it.about)) {
            missing.insert(format!("{}: {}", kind.name(), attribute.name));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Whether a type declares the property at a path with dots.
fn is_declared(properties: &[Property], path: &str) -> bool {
    let (first, rest) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
    let found = properties.iter().find(|property| property.name == first);
    found.is_some_and(|property| match (rest, &property.inner) {
        (None, _) => true,
        (Some(rest), Inner::Members(members)) => is_declared(members, rest),
        (Some(rest), Inner::Each(item)) => match &item.inner {
            Inner::Members(members) => is_declared(members, rest),
            _ => false,
        },
        (Some(_), Inner::Free) => false,
    })
}

#[test]
fn the_rest_interface_of_a_type_names_declared_properties() {
    let mut unknown = BTreeSet::new();
    for kind in Registry::builtin().iter() {
        let Some(spec) = &kind.behaviour.rest else { continue };
        let properties = &kind.schema.properties;
        let renamed = spec.field_names.iter().map(|(property, _)| &**property);
        let found = spec.finds.iter().map(|(property, _)| &**property);
        let listed = spec.unsent.iter().chain(&spec.uncompared).map(|property| &**property);
        let in_path = spec.path.names();
        for name in renamed.chain(found).chain(listed).chain(in_path) {
            if !is_declared(properties, name) {
                unknown.insert(format!("{}: {name}", kind.name()));
            }
        }
        for (name, _) in &spec.attribute_paths {
            if !kind.schema.attributes.iter().any(|attribute| attribute.name == *name) {
                unknown.insert(format!("{}: attribute {name}", kind.name()));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn names_are_in_order_and_occur_once() {
    let registry = Registry::builtin();
    assert_by_name("types", registry.iter().map(|kind| kind.name()));
    assert_by_name("checks", constraints::NAMES.into_iter());
    assert_by_name("mappings", MAPPINGS.iter().map(|mapping| mapping.name));
    for kind in registry.iter() {
        let place = kind.name();
        assert_by_name(place, kind.schema.properties.iter().map(|p| p.name.as_ref()));
        assert_by_name(place, kind.schema.attributes.iter().map(|a| a.name.as_ref()));
        assert_by_name(place, kind.schema.update_policy.iter().map(|p| p.name.as_ref()));
        visit(&kind.schema.properties, &mut |property| {
            if let Inner::Members(members) = &property.inner {
                assert_by_name(place, members.iter().map(|p| p.name.as_ref()));
            }
        });
    }
}

#[test]
fn what_is_named_beforehand_does_not_depend_on_what_is_not_known_then() {
    let early = Registry::builtin().iter().filter(|kind| kind.schema.reference_known_early);
    for kind in early {
        let reference = kind.behaviour.reference.expect("a name");
        let called = |physical_name: &str, id: Option<&str>| {
            let (properties, stack) = (Members::new(), Stack::default());
            let view = view("it", &properties, &stack);
            reference(&View { physical_name, physical_id: id, ..view })
        };
        let before = called("stack-it-aaaaaaaaaaaa", None);
        assert_eq!(before, called("stack-it-bcdefghijklm", Some("some-id")), "{}", kind.name());
    }
}

#[test]
fn every_named_check_exists() {
    let mut unknown = BTreeSet::new();
    for kind in Registry::builtin().iter() {
        visit(&kind.schema.properties, &mut |property| {
            for constraint in &property.constraints {
                if let Rule::Custom(name) = &constraint.rule
                    && !constraints::is_known(name)
                {
                    unknown.insert(format!("{}.{}: {name}", kind.name(), property.name));
                }
            }
        });
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_type_is_found_by_its_name() {
    let registry = Registry::builtin();
    for kind in registry.iter() {
        assert_eq!(registry.get(kind.name()).map(|found| found.name()), Some(kind.name()));
    }
    assert!(registry.get("OS::Nova::Serve").is_none());
    assert!(registry.get("").is_none());
}

#[test]
fn other_names_and_successors_lead_to_types() {
    let registry = Registry::builtin();
    for mapping in &MAPPINGS {
        let target = mapping.target.trim_end_matches('*');
        assert!(
            registry.iter().any(|kind| kind.name().starts_with(target)),
            "{} leads nowhere",
            mapping.name
        );
    }
    for kind in registry.iter() {
        if let Some(successor) = &kind.successor {
            assert!(registry.get(successor).is_some(), "{} becomes nothing", kind.name());
        }
    }
}
