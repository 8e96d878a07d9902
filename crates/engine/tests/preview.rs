//! What an update would do: told without doing it, and then done.

use crate::simulation::script::{Kind, Plan, Planned, wish};
use crate::simulation::world::World;
use kiln_engine::machine::Settings;
use kiln_engine::preview::Forecast;

fn planned(name: &str, value: &str, size: u64, needs: &[&str], is_nested: bool) -> Planned {
    let needs = needs.iter().map(|need| (*need).to_owned()).collect();
    Planned { name: name.into(), value: value.into(), size, needs, kind: Kind::of(is_nested) }
}

fn told(forecasts: &[Forecast]) -> Vec<String> {
    let mut lines = Vec::new();
    for forecast in forecasts {
        lines.push(format!("{} {:?}", forecast.name, forecast.fate));
        let inside = told(&forecast.inside);
        lines.extend(inside.into_iter().map(|line| format!("{}: {line}", forecast.name)));
    }
    lines
}

fn preview(first: &[Planned], second: &[Planned]) -> Vec<String> {
    let mut world = World::new(1);
    let recipe = wish(&mut world.rng, &Plan { resources: first.to_vec() });
    world.create(recipe, Settings::default());
    world.run();
    let things = world.cloud.things.clone();
    let recipe = wish(&mut world.rng, &Plan { resources: second.to_vec() });
    let forecasts = world.tree_mut().unwrap().preview(&recipe).unwrap();
    assert_eq!(world.cloud.things, things);
    assert!(!world.tree_mut().unwrap().has_changes());
    told(&forecasts)
}

#[test]
fn what_changes_is_told_and_who_uses_it_too() {
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
fn nested_stacks_are_looked_into() {
    let first = [planned("n", "x", 1, &[], true), planned("m", "x", 1, &[], true)];
    let second = [planned("n", "x", 2, &[], true), planned("m", "x", 1, &[], true)];
    let mut lines = preview(&first, &second);
    lines.sort();
    assert_eq!(lines, ["m Unchanged", "n Updated", "n: inner Replaced", "n: outer Updated"]);
}
