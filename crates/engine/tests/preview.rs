//! What an update would do: told without doing it, and then done.

use crate::simulation::script::{CHILD, Kind, Plan, Planned, wish};
use crate::simulation::world::{World, recipe};
use kiln_engine::StackSettings;
use kiln_engine::preview::{Fate, Forecast, NewRoot, create};
use kiln_template::{Members, Value};

fn planned(name: &str, value: &str, size: u64, needs: &[&str], is_nested: bool) -> Planned {
    let needs = needs.iter().map(|need| (*need).to_owned()).collect();
    Planned { name: name.into(), value: value.into(), size, needs, kind: Kind::of(is_nested) }
}

fn told(forecasts: &[Forecast]) -> Vec<String> {
    let mut lines = Vec::new();
    for forecast in forecasts {
        let name = &forecast.resource.name;
        lines.push(format!("{name} {:?}", forecast.fate));
        let inside = told(&forecast.inside);
        lines.extend(inside.into_iter().map(|line| format!("{name}: {line}")));
    }
    lines
}

fn preview(first: &[Planned], second: &[Planned]) -> Vec<String> {
    told(&forecasts(first, second))
}

fn forecasts(first: &[Planned], second: &[Planned]) -> Vec<Forecast> {
    let mut world = World::new(1);
    let recipe = wish(&mut world.rng, &Plan { resources: first.to_vec(), ..Plan::default() });
    world.create(recipe, StackSettings::default());
    world.run();
    let things = world.cloud.things.clone();
    let recipe = wish(&mut world.rng, &Plan { resources: second.to_vec(), ..Plan::default() });
    let forecasts = world.tree_mut().unwrap().preview(&recipe).unwrap();
    assert_eq!(world.cloud.things, things);
    assert!(!world.tree_mut().unwrap().has_changes());
    forecasts
}

#[test]
fn a_preview_shows_changed_resources_and_their_dependents() {
    let first = [
        planned("kept", "x", 1, &[], false),
        planned("changed", "x", 1, &["kept"], false),
        planned("replaced", "x", 1, &[], false),
        planned("user", "x", 1, &["replaced"], false),
        planned("gone", "x", 1, &["user"], false),
    ];
    let second = [
        planned("kept", "x", 1, &[], false),
        planned("changed", "y", 1, &["kept"], false),
        planned("replaced", "x", 2, &[], false),
        planned("user", "x", 1, &["replaced"], false),
        planned("added", "x", 1, &["changed"], false),
    ];
    let mut lines = preview(&first, &second);
    lines.sort();
    assert_eq!(
        lines,
        [
            "added Added",
            "changed Updated",
            "gone Deleted",
            "kept Unchanged",
            "replaced Replaced",
            "user Updated",
        ]
    );
}

#[test]
fn a_preview_includes_nested_stacks() {
    let first = [planned("n", "x", 1, &[], true), planned("m", "x", 1, &[], true)];
    let second = [planned("n", "x", 2, &[], true), planned("m", "x", 1, &[], true)];
    let mut lines = preview(&first, &second);
    lines.sort();
    assert_eq!(
        lines,
        [
            "m Updated",
            "m: inner Unchanged",
            "m: outer Unchanged",
            "n Updated",
            "n: inner Replaced",
            "n: outer Updated",
        ]
    );
    let lines = preview(&first, &[]);
    assert_eq!(
        lines,
        [
            "n Deleted",
            "n: inner Deleted",
            "n: outer Deleted",
            "m Deleted",
            "m: inner Deleted",
            "m: outer Deleted",
        ]
    );
}

#[test]
fn a_preview_includes_the_members_of_groups() {
    let group = |value: &str, count| Planned {
        kind: Kind::Group { count, batch: Some(1) },
        ..planned("g", value, 1, &[], false)
    };
    let lines = preview(&[group("x", 2)], &[group("y", 3)]);
    assert_eq!(lines, ["g Updated", "g: 0 Updated", "g: 1 Updated", "g: 2 Added"]);
    let scaling = |value: &str| Planned { kind: Kind::Scaling { size: 2 }, ..group(value, 0) };
    let mut fates: Vec<String> =
        preview(&[scaling("x")], &[scaling("y")]).iter().map(|line| fate_of(line)).collect();
    fates.sort();
    assert_eq!(fates, ["Unchanged", "Updated", "Updated", "Updated"]);
}

/// Members of scaling groups have names that say nothing.
fn fate_of(line: &str) -> String {
    line.rsplit(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn kept_resources_are_shown_as_they_are_and_new_ones_as_they_would_be() {
    let first = [planned("a", "x", 1, &[], false), planned("n", "x", 1, &["a"], true)];
    let second = [planned("a", "y", 1, &[], false), planned("n", "x", 2, &["a"], true)];
    let forecasts = forecasts(&first, &second);
    let a = &forecasts[0].resource;
    assert_eq!(a.attributes.get("value"), Some(&"x".into()));
    let current = a.current.as_ref().unwrap();
    assert_eq!(current.state.to_string(), "CREATE_COMPLETE");
    assert_eq!(current.physical_id.as_deref(), Some("t1"));
    assert_eq!(a.required_by, ["n".into()]);
    let n = &forecasts[1];
    let (id, name) = n.resource.current.as_ref().unwrap().nested.clone().unwrap();
    assert!(n.is_nested && name.starts_with("s-n-"), "{name}");
    let inner = &n.inside[0];
    assert_eq!((inner.fate, inner.resource.stack), (Fate::Replaced, Some(id)));
    assert_eq!(inner.resource.parent_resource.as_deref(), Some("n"));
    assert!(inner.resource.current.is_none());
    assert_eq!(inner.resource.properties.get("size"), Some(&2.into()));
    assert_eq!(inner.resource.attributes.get("value"), Some(&Value::Null));
}

const NEW: &str = "heat_template_version: 2021-04-16
parameters: {size: {type: number, default: 3}}
resources:
  a:
    type: Test::Thing
    description: the first
    metadata: {of: {get_param: OS::stack_id}}
    properties: {size: {get_param: size}}
  b: {type: Test::Thing, properties: {value: {get_attr: [a, value]}, needs: [{get_resource: a}]}}
  n: {type: child.yaml, properties: {value: x, size: 1, needs: [{get_resource: b}]}}
  g:
    type: OS::Heat::ResourceGroup
    update_policy: {batch_create: {max_batch_size: 1}}
    properties: {count: 2, resource_def: {type: Test::Thing, properties: {value: v%index%}}}
";

#[test]
fn a_create_is_previewed_without_a_stack() {
    let mut world = World::new(1);
    let recipe = recipe(&mut world.rng, NEW, &[("child.yaml", CHILD)]);
    let (name, project) = ("web".into(), "p".into());
    let new = NewRoot { name: &name, project: &project, recipe: &recipe };
    let forecasts = create(&world.config, new).unwrap();
    let mut lines = told(&forecasts);
    lines.sort();
    assert_eq!(
        lines,
        [
            "a Added",
            "b Added",
            "g Added",
            "g: 0 Added",
            "g: 1 Added",
            "n Added",
            "n: inner Added",
            "n: outer Added",
        ]
    );
    let find = |all: &[Forecast], name: &str| {
        all.iter().find(|it| &*it.resource.name == name).cloned().unwrap()
    };
    let a = find(&forecasts, "a").resource;
    assert_eq!((&*a.stack_name, a.stack, &*a.description), ("web", None, "the first"));
    assert_eq!(a.required_by, ["b".into()]);
    assert_eq!(a.metadata, Value::map([("of", Value::from("None"))]));
    let nothing = |name: &str| (name.into(), Value::Null);
    assert_eq!(a.attributes, Members::from_iter([nothing("users"), nothing("value")]));
    let names: Vec<&str> = a.properties.keys().map(|name| &**name).collect();
    assert_eq!(names, ["colour", "needs", "size", "source", "value"]);
    assert_eq!(a.properties.get("size"), Some(&3.into()));
    assert_eq!(a.properties.get("source"), Some(&Value::Null));
    let b = find(&forecasts, "b").resource;
    assert_eq!(b.properties.get("needs"), Some(&Value::list(["a".into()])));
    let n = find(&forecasts, "n");
    assert!(n.is_nested);
    let inner = find(&n.inside, "inner").resource;
    assert_eq!((&*inner.stack_name, inner.parent_resource.as_deref()), ("web-n", Some("n")));
    assert_eq!(inner.required_by, ["outer".into()]);
    let second = find(&find(&forecasts, "g").inside, "1").resource;
    assert_eq!(second.properties.get("value"), Some(&"v1".into()));
}

#[test]
fn a_create_that_would_be_too_large_is_refused_before_it_is_drawn() {
    let mut world = World::new(1);
    let template = NEW.replace("count: 2", "count: 1000000000");
    let recipe = recipe(&mut world.rng, &template, &[("child.yaml", CHILD)]);
    let (name, project) = ("web".into(), "p".into());
    let new = NewRoot { name: &name, project: &project, recipe: &recipe };
    let why = create(&world.config, new).unwrap_err();
    assert_eq!(why, "Request limit exceeded: Maximum resources per stack exceeded.");
}
