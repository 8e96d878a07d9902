//! What happens to a stack in a simulation: templates made up from a seed, and wishes one after the
//! other.

use super::swarm::Swarm;
use super::world::{Rng, World, recipe};
use kiln_engine::{Action, Command, Ids, Recipe, SnapshotId, StackId, StackSettings};
use kiln_template::environment::Environment;
use kiln_template::{Limits, Sources, Value};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// A resource of a made-up template.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    pub name: String,
    pub value: String,
    pub size: u64,
    /// Names of resources before it.
    pub needs: Vec<String>,
    pub kind: Kind,
}

/// What a resource of a made-up template is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A thing.
    Thing,
    /// A stack with two things inside.
    Nested,
    /// A stack of its own, made by way of the orchestration service.
    Remote,
    /// A group of so many things; they change in batches of this size, or all at once.
    Group { count: u64, batch: Option<u64> },
    /// A group of things that is made with so many, and has a policy that adds one.
    Scaling { size: u64 },
}

impl Kind {
    /// A stack, or else a thing.
    pub fn of(is_nested: bool) -> Kind {
        if is_nested { Kind::Nested } else { Kind::Thing }
    }
}

/// A made-up template.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub resources: Vec<Planned>,
    /// The hooks of resources, and those of which updates are restricted.
    pub hooks: Vec<(String, &'static str)>,
    pub restricted: Vec<(String, &'static str)>,
}

pub const CHILD: &str = "heat_template_version: 2021-04-16\n\
    parameters:\n  value: {type: string}\n  size: {type: number}\n  needs: {type: comma_delimited_list, default: ''}\n\
    resources:\n\
    \x20 inner: {type: Test::Thing, properties: {value: {get_param: value}, size: {get_param: size}}}\n\
    \x20 outer: {type: Test::Thing, properties: {value: {get_attr: [inner, value]}, needs: [{get_resource: inner}]}}\n\
    outputs:\n  OS::stack_id: {value: {get_resource: outer}}\n";

impl Planned {
    /// Makes a group another size.
    fn resize(&mut self, rng: &mut Rng) {
        match &mut self.kind {
            Kind::Group { count, .. } => *count = rng.below(4),
            Kind::Scaling { size } => *size = rng.below(3),
            Kind::Thing | Kind::Nested | Kind::Remote => {}
        }
    }
}

impl Plan {
    /// A plan in short: `a x; b y*2 a` are a thing with the value x, and one with the value y and the
    /// size 2 that needs it. `@n` is a nested stack, `~r` one of its own, `3#g` a group of three, `3/2#g` one of three that
    /// changes two at a time, `2^s` a scaling group of two.
    pub fn of(text: &str) -> Plan {
        let mut plan = Plan::default();
        for line in text.split(';').map(str::trim).filter(|line| !line.is_empty()) {
            let mut words = line.split_whitespace();
            let (name, value) = (words.next().unwrap(), words.next().unwrap_or("-"));
            let (kind, name) = kind_of(name);
            let (value, size) = match value.split_once('*') {
                Some((value, size)) => (value, size.parse().unwrap()),
                None => (value, 1),
            };
            let needs = words.map(str::to_owned).collect();
            plan.resources.push(Planned { name, value: value.to_owned(), size, needs, kind });
        }
        plan
    }

    pub fn random(rng: &mut Rng, swarm: &Swarm) -> Plan {
        let mut plan = Plan::default();
        for _ in 0..1 + rng.below(6) {
            plan.add(rng, swarm);
        }
        plan
    }

    fn add(&mut self, rng: &mut Rng, swarm: &Swarm) {
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
        let kind = match rng.pick(&swarm.kinds) {
            1 => Kind::Nested,
            2 => Kind::Group { count: rng.below(4), batch: None },
            3 => Kind::Group { count: rng.below(4), batch: Some(1 + rng.below(2)) },
            4 => Kind::Scaling { size: rng.below(3) },
            5 => Kind::Remote,
            _ => Kind::Thing,
        };
        if rng.happens(swarm.hooks) {
            self.hooks.push((name.clone(), HOOKS[rng.below(4) as usize]));
        }
        if rng.happens(swarm.restrictions) {
            self.restricted.push((name.clone(), ["update", "replace"][rng.below(2) as usize]));
        }
        let value = random_value(rng, swarm, kind);
        self.resources.push(Planned { name, value, size: rng.below(2), needs, kind });
    }

    fn kind(&self, name: &str) -> Kind {
        self.resources.iter().find(|it| it.name == name).map_or(Kind::Thing, |it| it.kind)
    }

    /// Another template that is a little different.
    pub fn changed(&self, rng: &mut Rng, swarm: &Swarm) -> Plan {
        let mut plan = self.clone();
        for _ in 0..1 + rng.below(3) {
            let count = plan.resources.len() as u64;
            match rng.below(6) {
                0 => plan.add(rng, swarm),
                5 if count > 0 => plan.resources[rng.below(count) as usize].resize(rng),
                1 if count > 1 => {
                    let gone = plan.resources.remove(rng.below(count) as usize).name;
                    plan.resources.iter_mut().for_each(|it| it.needs.retain(|need| *need != gone));
                    plan.hooks.retain(|(name, _)| *name != gone);
                    plan.restricted.retain(|(name, _)| *name != gone);
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
                    resource.value = random_value(rng, swarm, resource.kind);
                }
                _ => {}
            }
        }
        plan
    }

    /// The environment: hooks and restrictions.
    fn environment(&self) -> Environment {
        let mut text = String::new();
        let entries = self.hooks.iter().map(|(name, hook)| (name, "hooks", hook));
        let others = self.restricted.iter().map(|(name, it)| (name, "restricted_actions", it));
        let mut known = BTreeMap::<&str, Vec<String>>::new();
        for (name, key, value) in entries.chain(others) {
            known.entry(name).or_default().push(format!("{key}: {value}"));
        }
        for (name, entries) in known {
            let heading = if text.is_empty() { "resource_registry:\n  resources:\n" } else { "" };
            _ = writeln!(text, "{heading}    {name}: {{{}}}", entries.join(", "));
        }
        let file = Sources::new().add("environment", text.as_str());
        let (environment, problems) = Environment::read(file, &text, &Limits::default());
        assert!(problems.is_empty(), "{text}: {problems:?}");
        environment
    }

    pub fn template(&self) -> String {
        let mut text = String::from("heat_template_version: 2021-04-16\n");
        if !self.resources.is_empty() {
            text.push_str("resources:\n");
        }
        for resource in &self.resources {
            let needs = self.needs(resource);
            let Planned { name, value, size, .. } = resource;
            let properties = format!("{{value: {value}, size: {size}, needs: {needs}}}");
            let thing = format!("{{type: Test::Thing, properties: {properties}}}");
            let (kind, properties, more) = match resource.kind {
                Kind::Thing => ("Test::Thing", properties, String::new()),
                Kind::Nested => ("child.yaml", properties, String::new()),
                Kind::Remote => {
                    let after = format!(", depends_on: [{}]", resource.needs.join(", "));
                    ("OS::Heat::Stack", format!("{{template: {value}}}"), after)
                }
                Kind::Group { count, batch } => {
                    let policy = batch.map_or_else(String::new, |batch| {
                        format!(", update_policy: {{rolling_update: {{max_batch_size: {batch}}}}}")
                    });
                    let properties = format!("{{count: {count}, resource_def: {thing}}}");
                    ("OS::Heat::ResourceGroup", properties, policy)
                }
                Kind::Scaling { size } => {
                    let bounds = format!("min_size: {size}, max_size: {MAX_SIZE}, cooldown: 0");
                    let properties = format!("{{{bounds}, resource: {thing}}}");
                    ("OS::Heat::AutoScalingGroup", properties, String::new())
                }
            };
            _ = writeln!(text, "  {name}: {{type: {kind}, properties: {properties}{more}}}");
            if let Kind::Scaling { .. } = resource.kind {
                _ = writeln!(
                    text,
                    "  {name}_more: {{type: OS::Heat::ScalingPolicy, properties: \
                     {{auto_scaling_group_id: {{get_resource: {name}}}, cooldown: 0, \
                     adjustment_type: change_in_capacity, scaling_adjustment: 1}}}}"
                );
            }
        }
        let things = self.resources.iter().filter(|it| it.kind == Kind::Thing);
        for (at, thing) in things.enumerate() {
            let heading = if at == 0 { "outputs:\n" } else { "" };
            let name = &thing.name;
            _ = writeln!(text, "{heading}  {name}: {{value: {{get_attr: [{name}, users]}}}}");
        }
        text
    }

    /// The things that a resource needs; all members of a group, unless they go one after the other.
    fn needs(&self, resource: &Planned) -> String {
        let lists = resource.needs.iter().map(|need| match self.kind(need) {
            Kind::Thing | Kind::Nested | Kind::Remote => format!("[{{get_resource: {need}}}]"),
            Kind::Group { batch: None, .. } => format!("{{get_attr: [{need}, refs]}}"),
            Kind::Group { .. } | Kind::Scaling { .. } => "[]".to_owned(),
        });
        let lists: Vec<String> = lists.collect();
        match lists.is_empty() {
            true => "[]".to_owned(),
            false => format!("{{list_concat: [{}]}}", lists.join(", ")),
        }
    }
}

/// The hooks that a made-up plan may have. A delete ends every story: nothing holds it up.
const HOOKS: [&str; 4] = ["pre-create", "post-create", "pre-update", "post-update"];

/// The value of a thing; some cannot be made, never get ready, or take their time.
fn random_value(rng: &mut Rng, swarm: &Swarm, kind: Kind) -> String {
    const BAD: [&str; 3] = ["refused", "broken", "slow"];
    match rng.happens(swarm.bad_values) && kind != Kind::Remote {
        true => BAD[rng.below(3) as usize].to_owned(),
        false => format!("v{}", rng.below(4)),
    }
}

fn kind_of(name: &str) -> (Kind, String) {
    if let Some(name) = name.strip_prefix('@') {
        return (Kind::Nested, name.to_owned());
    }
    if let Some(name) = name.strip_prefix('~') {
        return (Kind::Remote, name.to_owned());
    }
    if let Some((size, name)) = name.split_once('^') {
        return (Kind::Scaling { size: size.parse().unwrap() }, name.to_owned());
    }
    let Some((numbers, name)) = name.split_once('#') else { return (Kind::Thing, name.to_owned()) };
    let (count, batch) = match numbers.split_once('/') {
        Some((count, batch)) => (count, batch.parse().ok()),
        None => (numbers, None),
    };
    (Kind::Group { count: count.parse().unwrap(), batch }, name.to_owned())
}

/// How large a scaling group may get.
pub const MAX_SIZE: u64 = 4;

pub fn wish(rng: &mut Rng, plan: &Plan) -> Arc<Recipe> {
    let plain = recipe(rng, &plan.template(), &[("child.yaml", CHILD)]);
    let whole = Recipe { environment: Arc::new(plan.environment()), ..(*plain).clone() };
    Arc::new(whole)
}

/// What was wanted last.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    Plan(Plan),
    Nothing,
}

/// Something for the whole stack.
fn over(rng: &mut Rng, root: StackId) -> Command {
    let actions = [Action::Suspend, Action::Resume, Action::Resume, Action::Check];
    Command::ForEach(root, actions[rng.below(4) as usize])
}

/// Something for one of the resources: a signal to a policy, or a word about its health.
fn one(rng: &mut Rng, stack: StackId, plan: &Plan) -> Command {
    let resource = &plan.resources[rng.below(plan.resources.len() as u64) as usize];
    match resource.kind {
        Kind::Scaling { .. } => {
            let resource = format!("{}_more", resource.name).into();
            Command::Signal { stack, resource, details: Value::Null }
        }
        _ => {
            let (resource, reason) = (resource.name.as_str().into(), "".into());
            Command::Mark { stack, resource, is_healthy: rng.happens(200), reason }
        }
    }
}

/// Something with snapshots: one is taken, goes, or is gone back to.
fn snapshot(rng: &mut Rng, known: &mut Vec<SnapshotId>) -> Command {
    let known_one =
        |rng: &mut Rng, known: &[SnapshotId]| known[rng.below(known.len() as u64) as usize];
    match rng.below(4) {
        0 if !known.is_empty() => Command::DeleteSnapshot(known_one(rng, known)),
        1 if !known.is_empty() => Command::Restore(known_one(rng, known)),
        _ => {
            let id = SnapshotId(Ids::next(rng));
            known.push(id);
            Command::Snapshot { id, name: None, limit: None }
        }
    }
}

/// A hook of some resource is cleared, if it waits there.
fn clear_hook(rng: &mut Rng, stack: StackId, plan: &Plan) -> Command {
    let hook = plan.hooks.get(rng.below(plan.hooks.len() as u64) as usize);
    let (resource, hook) = hook.map_or(("none", HOOKS[0]), |(name, hook)| (name, hook));
    let details = Value::map([("unset_hook", Value::from(hook))]);
    Command::Signal { stack, resource: resource.into(), details }
}

/// Lets a made-up story happen; gives the plans that were wanted, in order.
pub fn random_story(world: &mut World) -> Vec<Wanted> {
    let mut rng = Rng(world.rng.next());
    let swarm = Swarm::draw(&mut rng);
    if let Some(log) = &mut world.log {
        log.push(format!("{swarm:#?}"));
    }
    world.faults = swarm.faults;
    world.old_records = swarm.old_records;
    world.config = Arc::new(swarm.config(&world.config));
    let mut plan = Plan::random(&mut rng, &swarm);
    let mut wanted = vec![Wanted::Plan(plan.clone())];
    let timeout = swarm.timeout;
    world.has_timeout = timeout.is_some();
    let is_rolled_back = Some(rng.happens(500));
    let settings = StackSettings { is_rolled_back, timeout, ..StackSettings::default() };
    let first = wish(&mut rng, &plan);
    world.create(first, settings);
    let mut time = world.now;
    let mut known = Vec::new();
    for _ in 0..rng.below(swarm.max_commands) {
        // Often while the last wish is being carried out.
        time = time + Duration::from_micros(rng.below(swarm.gap.as_micros() as u64));
        let command = match rng.pick(&swarm.commands) {
            1 => Command::Cancel { with_rollback: true },
            2 => Command::Cancel { with_rollback: false },
            3 => {
                wanted.push(Wanted::Nothing);
                Command::Delete
            }
            4 => over(&mut rng, world.root),
            5 if !plan.resources.is_empty() => one(&mut rng, world.root, &plan),
            6 => snapshot(&mut rng, &mut known),
            7 => clear_hook(&mut rng, world.root, &plan),
            _ => {
                plan = plan.changed(&mut rng, &swarm);
                wanted.push(Wanted::Plan(plan.clone()));
                let converges = rng.happens(swarm.converging);
                let settings = StackSettings { converges, ..StackSettings::default() };
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
