//! A world with a clock, a disk and a cloud of its own, all driven by one seed.

use super::cloud::{Cloud, fragile, fragile_group, homing, panics, thing, wordy};
use kiln_cloud::{Call, CallError, Method, Reply};
use kiln_engine::store::{CommandRow, NewTree, Store};
use kiln_engine::{
    Command, CommandId, Config, EngineId, Env, Ids, Input, MemoryStore, NewStack, OpId, Order,
    Owner, Reached, Recipe, RecipeId, Source, StackId, StackSettings, Time, Tree,
};
use kiln_resources::op::Answer;
use kiln_resources::registry::Registry;
use kiln_template::Members;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use uuid::Uuid;

/// SystemIds from a seed (the SplitMix64 sequence).
#[derive(Clone)]
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Whether something happens that happens so many times in a thousand.
    pub fn happens(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }
}

impl Ids for Rng {
    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// How often things go wrong, in a thousand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// The engine dies at a boundary.
    pub crash: u64,
    /// A call does not reach the cloud.
    pub not_sent: u64,
    /// A call is carried out and its reply is lost.
    pub lost: u64,
    /// A call's reply is lost, and it is carried out later, or never.
    pub late: u64,
    /// The cloud breaks down over a call.
    pub refused: u64,
    /// A call meets a conflict.
    pub conflict: u64,
    /// A reply arrives a second time, some time after the first.
    pub twice: u64,
}

/// How long a call whose reply was lost may still take effect.
const QUIET: Duration = Duration::from_secs(30);

static TYPES: LazyLock<Registry> = LazyLock::new(|| {
    let ours = [thing(), panics(), wordy(), fragile(), fragile_group(), homing()];
    Registry::new(Registry::builtin().iter().cloned().chain(ours))
});

pub struct World {
    pub now: Time,
    pub rng: Rng,
    /// What is heard twice: a chance of its own, so that stories are otherwise what they were without.
    echo: Rng,
    pub store: Arc<MemoryStore>,
    pub cloud: Cloud,
    pub faults: Faults,
    /// How often a row is stored in the form of the version before, in a thousand.
    pub old_records: u64,
    /// Whether actions have less time than an hour.
    pub has_timeout: bool,
    /// Die at the boundary of this number.
    pub crash_at: Option<u64>,
    /// Finds what must not be, whenever something was written down or done.
    pub observer: Option<fn(&World) -> Option<String>>,
    /// How many boundaries were crossed.
    pub boundaries: u64,
    pub crashes: u64,
    pub root: StackId,
    pub config: Arc<Config>,
    owner: Option<Owner>,
    happenings: BTreeMap<(Time, u64), Happening>,
    next: u64,
    /// Grows with every crash: replies to a dead engine reach nobody.
    epoch: u64,
    /// What happened, for whoever wants to know why.
    pub log: Option<Vec<String>>,
    /// Which transitions the engines went through.
    pub reached: Reached,
}

/// Who waits for a reply: in which life of the engine, which operation, with which of its orders.
#[derive(Clone, Copy)]
struct Waiter(u64, OpId, u64);

enum Happening {
    /// The cloud gets round to a call; somebody may wait for the reply.
    Act(Call, Option<Waiter>),
    /// A reply arrives.
    Answer(Waiter, Result<Reply, CallError>),
    /// Somebody wants something.
    Command(Box<Command>),
}

/// The engine died.
pub struct Crash;

/// Finishes a future that never waits.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a store in memory does not wait"),
    }
}

/// How engines work in tests.
pub fn config() -> Arc<Config> {
    Arc::new(Config { types: &TYPES, lost_call_window: QUIET, ..Config::default() })
}

/// In some worlds little is looked at before it is written down, so that there are many more moments to
/// die at.
fn stride(seed: u64) -> usize {
    match seed % 4 {
        0 => 1 + (seed / 4 % 30) as usize,
        _ => Config::default().max_changes_per_step,
    }
}

pub fn recipe(rng: &mut Rng, template: &str, files: &[(&str, &str)]) -> Arc<Recipe> {
    let files = files.iter().map(|(name, text)| ((*name).into(), (*text).into()));
    Arc::new(Recipe {
        id: RecipeId(Ids::next(rng)),
        template: Source::Text(template.into()),
        files: Arc::new(files.collect()),
        environment: Arc::default(),
        parameters: Arc::default(),
        aliases: Vec::new(),
        forbidden: Default::default(),
        contract: None,
        created_by: Default::default(),
    })
}

impl World {
    pub fn new(seed: u64) -> World {
        let mut rng = Rng(seed);
        let root = StackId(Ids::next(&mut rng));
        World {
            now: Time::from_micros(1_700_000_000_000_000),
            rng,
            echo: Rng(!seed),
            store: Arc::new(MemoryStore::default()),
            cloud: Cloud::default(),
            faults: Faults::default(),
            old_records: 0,
            has_timeout: false,
            crash_at: None,
            observer: None,
            boundaries: 0,
            crashes: 0,
            root,
            config: Arc::new(Config { max_changes_per_step: stride(seed), ..(*config()).clone() }),
            owner: None,
            happenings: BTreeMap::new(),
            next: 0,
            epoch: 0,
            log: None,
            reached: Reached::default(),
        }
    }

    /// Creates the stack, as the service does: its row is there before an engine knows of it.
    pub fn create(&mut self, recipe: Arc<Recipe>, settings: StackSettings) {
        self.begin(recipe, settings, None);
    }

    /// Creates a stack of objects that exist; if that fails it is undone.
    pub fn adopt(&mut self, recipe: Arc<Recipe>, adopted: Arc<Members>) {
        let settings = StackSettings { is_rolled_back: Some(true), ..StackSettings::default() };
        self.begin(recipe, settings, Some(adopted));
    }

    fn begin(
        &mut self,
        recipe: Arc<Recipe>,
        settings: StackSettings,
        adopted: Option<Arc<Members>>,
    ) {
        let new = NewStack {
            id: self.root,
            name: "s".into(),
            project: "p".into(),
            user_name: "u".into(),
            recipe: recipe.clone(),
            settings,
            adopted,
            makers: 0,
            request: None,
        };
        let mut env = Env { now: self.now, ids: &mut self.rng };
        let mut tree = Tree::create(self.config.clone(), new, &mut env);
        let batch = tree.take_batch(1);
        let tree = NewTree {
            stack: batch.stacks[0].clone(),
            recipe: batch.recipes[0].clone(),
            contents: batch.contents,
            events: batch.events,
            owner: None,
            max_stacks: None,
        };
        now(self.store.create_tree(tree)).unwrap();
    }

    /// Has something wanted at a moment.
    pub fn command_at(&mut self, time: Time, command: Command) {
        self.schedule(time, Happening::Command(Box::new(command)));
    }

    fn note(&mut self, what: impl FnOnce() -> String) {
        let seconds = self.now.micros() as f64 / 1e6 - 1_700_000_000.0;
        if let Some(log) = &mut self.log {
            log.push(format!("{seconds:9.3} {}", what()));
        }
    }

    fn schedule(&mut self, time: Time, happening: Happening) {
        self.next += 1;
        self.happenings.insert((time, self.next), happening);
    }

    pub fn tree_mut(&mut self) -> Option<&mut Tree> {
        self.owner.as_mut().map(Owner::tree_mut)
    }

    pub fn tree(&self) -> Option<&Tree> {
        self.owner.as_ref().map(Owner::tree)
    }

    /// Gives the machine an input, if there is an engine.
    pub fn report(&mut self, input: Input) {
        if let Some(owner) = &mut self.owner {
            owner.input(input, self.now, &mut self.rng);
        }
    }

    // --- the engine's life ---

    /// Lets the world go on until nothing is left to happen.
    pub fn run(&mut self) {
        let mut turns = 0;
        loop {
            turns += 1;
            assert!(turns < 200_000, "the world does not come to rest");
            match self.advance() {
                Ok(true) => self.check_machine(),
                Ok(false) => break,
                Err(Crash) => self.crash(),
            }
        }
        self.count_transitions();
    }

    /// The machine's state must not contradict itself, and must be one that can occur.
    fn check_machine(&mut self) {
        if let Some(owner) = &mut self.owner {
            let bugs = owner.take_bugs().into_iter().map(|bug| bug.to_string());
            self.cloud.violations.extend(bugs.chain(owner.machine().check_invariants()));
        }
    }

    /// Adds the transitions of the engine that dies, or comes to rest.
    fn count_transitions(&mut self) {
        if let Some(owner) = &mut self.owner {
            self.reached.add(&owner.take_reached());
        }
    }

    fn crash(&mut self) {
        self.note(|| "crash".into());
        self.check_machine();
        self.count_transitions();
        self.owner = None;
        self.epoch += 1;
        self.crashes += 1;
        self.now = self.now + Duration::from_millis(self.rng.below(20_000));
    }

    fn observe(&mut self) {
        let flaw = self.observer.and_then(|observer| observer(self));
        self.cloud.violations.extend(flaw);
    }

    /// A place where the engine may die.
    fn boundary(&mut self) -> Result<(), Crash> {
        self.boundaries += 1;
        let is_planned = self.crash_at == Some(self.boundaries);
        if is_planned || self.faults.crash > 0 && self.rng.happens(self.faults.crash) {
            return Err(Crash);
        }
        Ok(())
    }

    /// One thing after another; whether there is more to come.
    fn advance(&mut self) -> Result<bool, Crash> {
        if self.owner.is_none() {
            self.start()?;
        }
        self.flush()?;
        if let Some(owner) = self.owner.as_mut().filter(|owner| owner.has_queued_tasks()) {
            owner.go_on(self.now, &mut self.rng);
            return Ok(true);
        }
        let wake = self.owner.as_ref().and_then(Owner::next_wake);
        let first = self.happenings.first_key_value().map(|(key, _)| *key);
        match (first, wake) {
            (None, None) => return Ok(false),
            (Some(key), wake) if wake.is_none_or(|wake| key.0 <= wake) => {
                let happening = self.happenings.remove(&key);
                self.now = self.now.max(key.0);
                if let Some(happening) = happening {
                    self.happen(happening)?;
                }
            }
            (_, Some(wake)) => {
                self.now = self.now.max(wake);
                let (now, rng) = (self.now, &mut self.rng);
                if let Some(owner) = &mut self.owner {
                    owner.wake(now, rng);
                }
            }
            (Some(_), None) => {}
        }
        Ok(true)
    }

    fn start(&mut self) -> Result<(), Crash> {
        let engine = EngineId(Uuid::from_u128(u128::from(self.epoch)));
        // Nobody else holds the lease: the dead one's has run out.
        let far = self.now + Duration::from_secs(1_000_000_000);
        let lease = now(self.store.claim_tree(engine, self.root, Time::NEVER, far)).unwrap();
        let lease = lease.expect("the lease of a dead engine runs out");
        let rows = now(self.store.load_tree(self.root)).unwrap().expect("the tree is there");
        let commands = rows.commands.clone();
        let text = |hash| {
            let bytes = now(self.store.content(hash)).unwrap()?;
            Some(Arc::from(std::str::from_utf8(&bytes).unwrap()))
        };
        let tree = Tree::load(self.config.clone(), rows, &text).unwrap();
        let mut owner = Owner::new(tree, lease.fence, self.now, &mut self.rng);
        for row in commands {
            let command = Command::read(&row).unwrap();
            owner.input(Input::Command(row.id, Box::new(command)), self.now, &mut self.rng);
        }
        self.owner = Some(owner);
        self.boundary()
    }

    /// Writes down what changed, then does what may be done.
    fn flush(&mut self) -> Result<(), Crash> {
        let Some(owner) = &mut self.owner else { return Ok(()) };
        let (batch, orders) = owner.flush();
        if let Some(mut batch) = batch {
            self.boundary()?;
            if self.old_records > 0 {
                kiln_engine::downgrade(&mut batch, || self.rng.happens(self.old_records));
            }
            for event in &batch.events {
                self.note(|| format!("event {} {} {}", event.resource, event.state, event.reason));
            }
            let written = now(self.store.commit(&[batch])).unwrap();
            assert_eq!(written, [true], "a fence was lost");
            self.observe();
        }
        for order in orders {
            self.boundary()?;
            self.send(order);
        }
        Ok(())
    }

    fn send(&mut self, order: Order) {
        let waiter = Waiter(self.epoch, order.op, order.number);
        self.note(|| format!("send {:?} for {:?}", order.call, order.op));
        let soon = self.now + Duration::from_millis(1 + self.rng.below(2000));
        let later = soon + Duration::from_millis(1 + self.rng.below(2000));
        let answer = |error| Happening::Answer(waiter, Err(error));
        let faults = self.faults;
        let refused = |status| {
            let body = serde_json::json!({ "message": "the cloud does not feel like it" });
            CallError::Refused(Reply::new(status, body))
        };
        if self.rng.happens(faults.not_sent) {
            let happening = answer(CallError::NotSent("no route".into()));
            self.schedule(soon, happening);
        } else if self.rng.happens(faults.lost) {
            let happening = answer(CallError::Lost("the line went dead".into()));
            self.schedule(later, happening);
            self.schedule(soon, Happening::Act(order.call, None));
        } else if self.rng.happens(faults.late) {
            let happening = answer(CallError::Lost("the line went dead".into()));
            self.schedule(soon, happening);
            if self.rng.happens(700) {
                let late = self.now + Duration::from_millis(self.rng.below(25_000));
                self.schedule(late.max(soon), Happening::Act(order.call, None));
            }
        } else if order.call.request.method != Method::Get && self.rng.happens(faults.refused) {
            // A service that breaks down may have done it before.
            let happening = answer(refused(500));
            self.schedule(later, happening);
            if self.rng.happens(500) {
                self.schedule(soon, Happening::Act(order.call, None));
            }
        } else if order.call.request.method != Method::Get && self.rng.happens(faults.conflict) {
            let happening = answer(refused(409));
            self.schedule(soon, happening);
        } else {
            self.schedule(soon, Happening::Act(order.call, Some(waiter)));
        }
    }

    fn happen(&mut self, happening: Happening) -> Result<(), Crash> {
        match happening {
            Happening::Act(call, waiter) => {
                let reply = self.cloud.act(&call);
                self.note(|| format!("act {call:?}: {} {}", reply.status, reply.body));
                if call.request.method != Method::Get {
                    self.observe();
                }
                let Some(waiter) = waiter else { return Ok(()) };
                let answer = match reply.status {
                    400.. => Err(CallError::Refused(reply)),
                    _ => Ok(reply),
                };
                let soon = self.now + Duration::from_millis(self.rng.below(500));
                if self.echo.happens(self.faults.twice) {
                    let again = soon + Duration::from_millis(self.echo.below(5000));
                    self.schedule(again, Happening::Answer(waiter, answer.clone()));
                }
                self.schedule(soon, Happening::Answer(waiter, answer));
                Ok(())
            }
            Happening::Answer(Waiter(epoch, ..), _) if epoch != self.epoch => Ok(()),
            Happening::Answer(Waiter(_, op, order), answer) => {
                self.note(|| format!("answer to {op:?}: {answer:?}"));
                self.boundary()?;
                if let Some(owner) = &mut self.owner {
                    owner.answer(op, order, Answer::Reply(answer), self.now, &mut self.rng);
                }
                Ok(())
            }
            Happening::Command(command) => {
                let id = CommandId(Ids::next(&mut self.rng));
                let (root, time, body) = (self.root, self.now, command.encode());
                now(self.store.submit(CommandRow { id, root, time, body })).unwrap();
                self.note(|| format!("command {command:?}").chars().take(100).collect());
                self.boundary()?;
                if let Some(owner) = &mut self.owner {
                    owner.input(Input::Command(id, command), self.now, &mut self.rng);
                }
                Ok(())
            }
        }
    }
}
