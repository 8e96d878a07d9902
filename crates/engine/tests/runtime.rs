//! The engine at work in real time, on a store in memory and a cloud that answers at once.

use crate::reader;
use crate::simulation::cloud::Cloud;
use crate::simulation::script::{Kind, Plan, Planned, wish};
use crate::simulation::world::{Rng, config, recipe};
use kiln_cloud::{Auth, Call, CallError, Credential, Reply, Transport};
use kiln_engine::store::{Batch, CommandRow, EventQuery, Lease, ResourceRow, StackQuery, Store};
use kiln_engine::{
    Action, Command, CommandId, Config, Engine, EngineId, EngineSettings as Pace, Ids, MemoryStore,
    NewStack, StackId, StackSettings, Status, Time, TreePart, View, WakeupChannel, now,
};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often these engines look for work.
const SCAN_INTERVAL: Duration = Duration::from_millis(20);

/// How long the leases of these engines last.
pub(crate) const LEASE: Duration = Duration::from_millis(300);

/// The cloud of the simulation, behind a real task, and its book of delegations.
#[derive(Default)]
pub(crate) struct Near(Mutex<Cloud>, Mutex<Book>);

/// The delegations that exist, and whether they can be revoked.
#[derive(Default)]
struct Book {
    delegations: BTreeSet<String>,
    is_closed: bool,
}

#[async_trait::async_trait]
impl Transport for Near {
    async fn send(&self, _by: &Credential, call: Call) -> Result<Reply, CallError> {
        tokio::task::yield_now().await;
        let reply = self.0.lock().unwrap().act(&call);
        if reply.status >= 400 { Err(CallError::Refused(reply)) } else { Ok(reply) }
    }

    async fn revoke(&self, credential: &Credential) -> Result<(), CallError> {
        let Auth::Trust(id) = &credential.auth else { return Ok(()) };
        let mut book = self.1.lock().unwrap();
        if book.is_closed {
            return Err(CallError::NotSent("nobody is there".into()));
        }
        book.delegations.remove(&**id);
        Ok(())
    }
}

pub(crate) struct Site {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) cloud: Arc<Near>,
    pub(crate) wakeups: WakeupChannel,
    pub(crate) rng: Rng,
}

impl Site {
    pub(crate) fn new() -> Site {
        Site {
            store: Arc::default(),
            cloud: Arc::default(),
            wakeups: WakeupChannel::default(),
            rng: Rng(7),
        }
    }

    pub(crate) fn engine(&self) -> Engine {
        self.starter(self.cloud.clone(), SCAN_INTERVAL)()
    }

    /// Starts an engine whose calls go through a transport.
    pub(crate) fn starter(
        &self,
        transport: Arc<dyn Transport>,
        scan_interval: Duration,
    ) -> impl FnOnce() -> Engine + Send + 'static {
        let pace = Pace {
            lease_duration: LEASE,
            scan_interval,
            idle_timeout: Duration::from_millis(200),
            ..Pace::default()
        };
        let config = Config {
            lost_call_window: Duration::from_millis(100),
            wakeups: self.wakeups.clone(),
            ..(*config()).clone()
        };
        let store = self.store.clone();
        move || Engine::start(Arc::new(config), store, transport, pace)
    }

    pub(crate) async fn create(&mut self, engine: &Engine, name: &str, plan: &Plan) -> StackId {
        let new = self.new_stack(name, plan);
        let id = new.id;
        engine.create(new, None).await.unwrap();
        id
    }

    pub(crate) fn new_stack(&mut self, name: &str, plan: &Plan) -> NewStack {
        NewStack {
            id: StackId(Ids::next(&mut self.rng)),
            name: name.into(),
            project: "p".into(),
            user_name: "u".into(),
            recipe: wish(&mut self.rng, plan),
            settings: self.delegate(name),
            adopted: None,
            makers: 0,
            request: None,
        }
    }

    /// Creates a delegation of this name for a stack.
    fn delegate(&self, name: &str) -> StackSettings {
        self.cloud.1.lock().unwrap().delegations.insert(name.to_owned());
        let credential = Credential { auth: Auth::Trust(name.into()), ..Credential::default() };
        StackSettings { credential: Some(Arc::new(credential)), ..StackSettings::default() }
    }

    /// Waits until exactly these delegations exist.
    async fn until_delegations(&self, names: &[&str]) {
        let is_all = || self.cloud.1.lock().unwrap().delegations.iter().eq(names);
        while !is_all() {
            tokio::task::yield_now().await;
        }
    }

    fn close_book(&self, is_closed: bool) {
        self.cloud.1.lock().unwrap().is_closed = is_closed;
    }

    /// Waits until a stack has come to a state.
    pub(crate) async fn until(&self, id: StackId, action: Action, status: Status) {
        let mut commits = self.store.watch_commits();
        loop {
            commits.mark_unchanged();
            if let Ok(Some(stack)) = self.store.stack(id).await
                && stack.summary.state.is(action, status)
            {
                return;
            }
            commits.changed().await.unwrap();
        }
    }

    pub(crate) fn things(&self) -> usize {
        self.cloud.0.lock().unwrap().things.len()
    }
}

pub(crate) fn plan(count: usize) -> Plan {
    let resource = |n: usize| Planned {
        name: format!("r{n}"),
        value: "x".into(),
        size: 1,
        needs: if n % 3 == 2 { vec![format!("r{}", n - 1)] } else { Vec::new() },
        kind: Kind::of(n % 5 == 4),
    };
    Plan { resources: (0..count).map(resource).collect(), ..Plan::default() }
}

pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), test).await.unwrap() });
}

#[test]
fn a_stack_lives_and_dies() {
    run(async {
        let mut site = Site::new();
        let engine = site.engine();
        let id = site.create(&engine, "s", &plan(20)).await;
        site.until(id, Action::Create, Status::Complete).await;
        assert_eq!(site.things(), 24);
        let recipe = wish(&mut site.rng, &plan(5));
        let settings = StackSettings::default();
        engine.command(id, Command::Update { recipe, settings }).await.unwrap();
        site.until(id, Action::Update, Status::Complete).await;
        assert_eq!(site.things(), 6);
        engine.command(id, Command::Delete).await.unwrap();
        site.until(id, Action::Delete, Status::Complete).await;
        assert_eq!(site.things(), 0);
        engine.stop().await;
    });
}

#[test]
fn a_store_that_refuses_delays_and_loses_nothing() {
    run(async {
        let mut site = Site::new();
        let engine = site.engine();
        let id = site.create(&engine, "s", &plan(20)).await;
        site.store.set_failing(true);
        assert!(engine.command(id, Command::Delete).await.is_err());
        site.store.set_failing(false);
        site.until(id, Action::Create, Status::Complete).await;
        assert_eq!(site.things(), 24);
        engine.stop().await;
    });
}

#[test]
fn another_engine_adopts_the_trees_of_a_dead_one() {
    run(async {
        let mut site = Site::new();
        let first = site.engine();
        let mut ids = Vec::new();
        for n in 0..10 {
            ids.push(site.create(&first, &format!("s{n}"), &plan(20)).await);
        }
        // It leaves in the middle; some stacks are not even begun.
        first.stop().await;
        let second = site.engine();
        for id in &ids {
            site.until(*id, Action::Create, Status::Complete).await;
        }
        assert_eq!(site.things(), 240);
        for id in &ids {
            second.command(*id, Command::Delete).await.unwrap();
        }
        for id in &ids {
            site.until(*id, Action::Delete, Status::Complete).await;
        }
        assert_eq!(site.things(), 0);
        let query = StackQuery::default();
        assert_eq!(site.store.count_stacks(&query).await.unwrap(), 0);
        second.stop().await;
    });
}

#[test]
fn an_idle_tree_is_released_and_adopted_again_for_a_command() {
    run(async {
        let mut site = Site::new();
        let engine = site.engine();
        let id = site.create(&engine, "s", &plan(3)).await;
        site.until(id, Action::Create, Status::Complete).await;
        while engine.status(id).is_some() {
            tokio::task::yield_now().await;
        }
        engine.command(id, Command::Delete).await.unwrap();
        site.until(id, Action::Delete, Status::Complete).await;
        assert_eq!(site.things(), 0);
        engine.stop().await;
    });
}

#[test]
fn a_tree_whose_type_panics_harms_no_other() {
    run(async {
        let mut site = Site::new();
        let engine = site.engine();
        let broken = "heat_template_version: 2021-04-16\nresources:\n  \
                      f: {type: Test::Fragile, properties: {at: reference}}\n  \
                      v: {type: OS::Heat::Value, properties: {value: {get_resource: f}}}\n";
        let id = StackId(Ids::next(&mut site.rng));
        let recipe = recipe(&mut site.rng, broken, &[]);
        let new = NewStack {
            id,
            name: "broken".into(),
            project: "p".into(),
            user_name: "u".into(),
            recipe,
            settings: StackSettings::default(),
            adopted: None,
            makers: 0,
            request: None,
        };
        engine.create(new, None).await.unwrap();
        let beside = site.create(&engine, "beside", &plan(5)).await;
        site.until(id, Action::Create, Status::Failed).await;
        site.until(beside, Action::Create, Status::Complete).await;
        for id in [id, beside] {
            engine.command(id, Command::Delete).await.unwrap();
            site.until(id, Action::Delete, Status::Complete).await;
        }
        assert_eq!(site.things(), 0);
        engine.stop().await;
    });
}

#[test]
fn a_delegation_is_revoked_even_if_an_engine_dies_in_between() {
    run(async {
        let mut site = Site::new();
        let first = site.engine();
        let id = site.create(&first, "s", &plan(3)).await;
        site.until(id, Action::Create, Status::Complete).await;
        site.close_book(true);
        first.command(id, Command::Delete).await.unwrap();
        site.until(id, Action::Delete, Status::Complete).await;
        first.stop().await;
        site.until_delegations(&["s"]).await;
        site.close_book(false);
        let second = site.engine();
        site.until_delegations(&[]).await;
        second.wait_until_all_idle().await;
        second.stop().await;
    });
}

#[test]
fn the_former_users_delegation_is_revoked_after_an_update() {
    run(async {
        let mut site = Site::new();
        let engine = site.engine();
        let id = site.create(&engine, "first", &plan(3)).await;
        site.until(id, Action::Create, Status::Complete).await;
        let recipe = wish(&mut site.rng, &plan(4));
        let settings = site.delegate("second");
        engine.command(id, Command::Update { recipe, settings }).await.unwrap();
        site.until(id, Action::Update, Status::Complete).await;
        site.until_delegations(&["second"]).await;
        engine.command(id, Command::Delete).await.unwrap();
        // One that comes too late is not needed at all.
        let recipe = wish(&mut site.rng, &plan(4));
        let settings = site.delegate("third");
        engine.command(id, Command::Update { recipe, settings }).await.unwrap();
        site.until(id, Action::Delete, Status::Complete).await;
        site.until_delegations(&[]).await;
        engine.stop().await;
    });
}

#[test]
fn a_name_is_free_as_soon_as_its_stack_is_gone() {
    run(async {
        let mut site = Site::new();
        let engine = site.engine();
        for _ in 0..5 {
            let id = site.create(&engine, "s", &plan(3)).await;
            engine.command(id, Command::Delete).await.unwrap();
            site.until(id, Action::Delete, Status::Complete).await;
        }
        assert_eq!(site.things(), 0);
        engine.stop().await;
    });
}

// --- records that cannot be read ---

impl Site {
    /// Submits a command as another process does.
    pub(crate) async fn submit(&mut self, root: StackId, command: Command) -> CommandId {
        let id = CommandId(Ids::next(&mut self.rng));
        let row = CommandRow { id, root, time: now(), body: command.encode() };
        self.store.submit(row).await.unwrap();
        id
    }

    /// Writes a row of a tree as a careless program would: with another body.
    async fn forge(&mut self, root: StackId, body: Vec<u8>) -> Vec<u8> {
        let engine = EngineId(Ids::next(&mut self.rng));
        let lease = self.store.claim_tree(engine, root, Time::NEVER, Time::NEVER).await;
        let lease = lease.unwrap().unwrap();
        let rows = self.store.load_tree(root).await.unwrap().unwrap();
        let row = rows.resources[0].clone();
        let before = row.body.clone();
        let batch = Batch {
            resources: vec![ResourceRow { body, ..row }],
            has_work: true,
            ..empty_batch(lease)
        };
        assert_eq!(self.store.commit(&[batch]).await.unwrap(), [true]);
        self.store.release(lease).await.unwrap();
        before
    }

    /// The reasons of a stack's own events that have this state.
    pub(crate) async fn reasons(&self, id: StackId, action: Action, status: Status) -> Vec<String> {
        let query = EventQuery {
            stacks: vec![id],
            filters: Vec::new(),
            descending: false,
            marker: None,
            limit: None,
        };
        let events = self.store.events(&query).await.unwrap().into_iter();
        let wanted =
            events.filter(|it| it.state.is(action, status) && &*it.kind == "OS::Heat::Stack");
        wanted.map(|it| it.reason.to_string()).collect()
    }
}

fn empty_batch(lease: Lease) -> Batch {
    Batch {
        root: lease.root,
        fence: lease.fence,
        contents: Vec::new(),
        recipes: Vec::new(),
        dropped_recipes: Vec::new(),
        stacks: Vec::new(),
        resources: Vec::new(),
        dropped_resources: Vec::new(),
        snapshots: Vec::new(),
        dropped_snapshots: Vec::new(),
        events: Vec::new(),
        done: Vec::new(),
        has_work: true,
    }
}

#[test]
fn a_tree_that_cannot_be_read_is_shown_as_failed_and_harms_no_other() {
    run(async {
        let mut site = Site::new();
        let engine = site.engine();
        let bad = site.create(&engine, "bad", &plan(3)).await;
        site.until(bad, Action::Create, Status::Complete).await;
        engine.stop().await;
        let before = site.forge(bad, vec![1, 0x81]).await;

        let engine = site.engine();
        site.until(bad, Action::Create, Status::Failed).await;
        let good = site.create(&engine, "good", &plan(3)).await;
        site.until(good, Action::Create, Status::Complete).await;
        let stack = site.store.stack(bad).await.unwrap().unwrap();
        let told = site.reasons(bad, Action::Create, Status::Failed).await;
        assert_eq!(told, [stack.summary.reason.to_string()]);
        for part in ["cannot be read", "restore the database from a backup", "resource "] {
            assert!(told[0].contains(part), "{part:?} is not in {told:?}");
        }
        // It can be shown, as far as that is known.
        let view =
            View::open_part(&reader(&*site.store, &config()), bad, TreePart::Resources).await;
        assert!(view.unwrap().is_some());
        engine.stop().await;

        // An engine that can read it goes on as if nothing had been.
        site.forge(bad, before).await;
        let engine = site.engine();
        site.until(bad, Action::Create, Status::Complete).await;
        engine.command(bad, Command::Delete).await.unwrap();
        site.until(bad, Action::Delete, Status::Complete).await;
    });
}

#[test]
fn a_command_that_cannot_be_read_leaves_the_queue_with_an_event() {
    run(async {
        let mut site = Site::new();
        let engine = site.engine();
        let id = site.create(&engine, "s", &plan(3)).await;
        site.until(id, Action::Create, Status::Complete).await;
        engine.stop().await;
        let command = CommandId(Ids::next(&mut site.rng));
        let row = CommandRow { id: command, root: id, time: now(), body: vec![1, 0xc1] };
        site.store.submit(row).await.unwrap();

        let engine = site.engine();
        while !site.store.commands(id).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        let told = site.reasons(id, Action::Signal, Status::Failed).await;
        assert!(told.len() == 1 && told[0].contains("send it again"), "{told:?}");
        assert!(told[0].contains(&command.to_string()), "{told:?}");
        engine.stop().await;
        // Nobody finds work in it any more.
        let other = EngineId(Ids::next(&mut site.rng));
        let work = site.store.claim(other, Time::NEVER, Time::NEVER, 10).await.unwrap();
        assert_eq!(work, []);
    });
}
