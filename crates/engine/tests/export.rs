//! A tree as one document.

use crate::simulation::script::{Plan, Planned, wish};
use crate::simulation::world::World;
use kiln_engine::machine::Settings;
use kiln_template::value::Value;

#[test]
fn an_export_has_every_stack_and_every_object() {
    let planned = |name: &str, is_nested| Planned {
        name: name.into(),
        value: "x".into(),
        size: 1,
        needs: Vec::new(),
        is_nested,
    };
    let plan = Plan { resources: vec![planned("a", false), planned("n", true)] };
    let mut world = World::new(3);
    let recipe = wish(&mut world.rng, &plan);
    world.create(recipe, Settings::default());
    world.run();
    let export = world.tree().unwrap().export();
    let part = |value: &Value, path: &[&str]| {
        let mut at = value.clone();
        for key in path {
            at = at.as_map().and_then(|members| members.get(*key)).cloned().unwrap_or_default();
        }
        at.as_text().map(|text| text.to_string()).unwrap_or_default()
    };
    assert_eq!(part(&export, &["action"]) + &part(&export, &["status"]), "CREATECOMPLETE");
    assert_eq!(part(&export, &["template", "resources", "a", "type"]), "Test::Thing");
    assert_eq!(part(&export, &["resources", "a", "type"]), "Test::Thing");
    let inner = part(&export, &["resources", "n", "resources", "inner", "resource_id"]);
    let ids = [part(&export, &["resources", "a", "resource_id"]), inner];
    assert!(ids.iter().all(|id| world.cloud.things.contains_key(id)), "{ids:?}");
}
