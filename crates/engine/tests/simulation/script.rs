//! What happens to a stack in a simulation: templates made up from a seed, and wishes one after the
//! other.

use super::world::{Faults, Rng, World, recipe};
use kiln_engine::machine::{Command, Settings};
use std::fmt::Write;
use std::time::Duration;

/// A resource of a made-up template.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    pub name: String,
    pub value: String,
    pub size: u64,
    /// Names of resources before it.
    pub needs: Vec<String>,
    /// Whether it is a stack with a thing inside.
    pub is_nested: bool,
}

/// A made-up template.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub resources: Vec<Planned>,
}

pub const CHILD: &str = "heat_template_version: 2021-04-16\n\
    parameters:\n  value: {type: string}\n  size: {type: number}\n  needs: {type: comma_delimited_list, default: ''}\n\
    resources:\n\
    \x20 inner: {type: Test::Thing, properties: {value: {get_param: value}, size: {get_param: size}}}\n\
    \x20 outer: {type: Test::Thing, properties: {value: {get_attr: [inner, value]}, needs: [{get_resource: inner}]}}\n\
    outputs:\n  OS::stack_id: {value: {get_resource: outer}}\n";

impl Plan {
    pub fn random(rng: &mut Rng) -> Plan {
        let mut plan = Plan::default();
        for _ in 0..1 + rng.below(6) {
            plan.add(rng);
        }
        plan
    }

    fn add(&mut self, rng: &mut Rng) {
        let number = rng.below(1000);
        let name = format!("r{number}");
        if self.resources.iter().any(|it| it.name == name) {
            return;
        }
        let mut needs: Vec<String> = Vec::new();
        for other in &self.resources {
            if rng.happens(350) {
                needs.push(other.name.clone());
            }
        }
        let is_nested = rng.happens(150);
        let value = format!("v{}", rng.below(4));
        self.resources.push(Planned { name, value, size: rng.below(2), needs, is_nested });
    }

    /// Another template that is a little different.
    pub fn changed(&self, rng: &mut Rng) -> Plan {
        let mut plan = self.clone();
        for _ in 0..1 + rng.below(3) {
            let count = plan.resources.len() as u64;
            match rng.below(5) {
                0 => plan.add(rng),
                1 if count > 1 => {
                    let gone = plan.resources.remove(rng.below(count) as usize).name;
                    plan.resources.iter_mut().for_each(|it| it.needs.retain(|need| *need != gone));
                }
                2 if count > 0 => {
                    let resource = &mut plan.resources[rng.below(count) as usize];
                    resource.size = rng.below(3);
                }
                3 if count > 0 => {
                    let resource = &mut plan.resources[rng.below(count) as usize];
                    resource.needs.pop();
                }
                _ if count > 0 => {
                    let resource = &mut plan.resources[rng.below(count) as usize];
                    resource.value = format!("v{}", rng.below(4));
                }
                _ => {}
            }
        }
        plan
    }

    pub fn template(&self) -> String {
        let mut text = String::from("heat_template_version: 2021-04-16\nresources:\n");
        for resource in &self.resources {
            let kind = if resource.is_nested { "child.yaml" } else { "Test::Thing" };
            let needs: Vec<String> =
                resource.needs.iter().map(|need| format!("{{get_resource: {need}}}")).collect();
            _ = writeln!(
                text,
                "  {}: {{type: {kind}, properties: {{value: {}, size: {}, needs: [{}]}}}}",
                resource.name,
                resource.value,
                resource.size,
                needs.join(", ")
            );
        }
        if self.resources.is_empty() {
            text = "heat_template_version: 2021-04-16\n".into();
        }
        text
    }
}

pub fn wish(rng: &mut Rng, plan: &Plan) -> std::sync::Arc<kiln_engine::blueprint::Recipe> {
    recipe(rng, &plan.template(), &[("child.yaml", CHILD)])
}

/// What was wanted last.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    Plan(Plan),
    Nothing,
}

/// Lets a made-up story happen; gives the plans that were wanted, in order.
pub fn random_story(world: &mut World) -> Vec<Wanted> {
    let mut rng = Rng(world.rng.next());
    world.faults = match rng.below(4) {
        0 => Faults { crash: 30, ..Faults::default() },
        1 => Faults { lost: 60, late: 60, not_sent: 60, ..Faults::default() },
        2 => Faults { crash: 20, lost: 40, late: 40, not_sent: 20, refused: 20, conflict: 30 },
        _ => Faults { refused: 60, conflict: 60, ..Faults::default() },
    };
    let mut plan = Plan::random(&mut rng);
    let mut wanted = vec![Wanted::Plan(plan.clone())];
    let settings = Settings { is_rolled_back: Some(rng.happens(500)), ..Settings::default() };
    let first = wish(&mut rng, &plan);
    world.create(first, settings);
    let mut time = world.now;
    for _ in 0..rng.below(4) {
        // Often while the last wish is being carried out.
        time = time + Duration::from_millis(rng.below(60_000));
        let command = match rng.below(10) {
            0 => Command::Cancel { with_rollback: true },
            1 => Command::Cancel { with_rollback: false },
            2 => {
                wanted.push(Wanted::Nothing);
                Command::Delete
            }
            _ => {
                plan = plan.changed(&mut rng);
                wanted.push(Wanted::Plan(plan.clone()));
                let settings = Settings::default();
                Command::Update { recipe: wish(&mut rng, &plan), settings }
            }
        };
        let is_delete = matches!(command, Command::Delete);
        world.command_at(time, command);
        if is_delete {
            break;
        }
    }
    wanted
}
