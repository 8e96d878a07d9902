//! The real program on a real database against a service that survives it: killed, again and again.

use crate::networks::Networks;
use kiln_engine::store::{CommandRow, NewTree, Store};
use kiln_engine::{
    Action, Command as Wish, CommandId, Config, Env, Ids, NewStack, Recipe, RecipeId, Source,
    StackId, StackSettings, Status, SystemIds, Tree, now,
};
use kiln_store::SqlStore;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const NETWORKS: usize = 200;
const KILLS: u64 = 50;
/// How long the leases of these engines last.
pub(crate) const LEASE: Duration = Duration::from_secs(2);

pub(crate) struct Story {
    folder: PathBuf,
    database: String,
    pub(crate) address: String,
    pub(crate) networks: Networks,
    pub(crate) store: SqlStore,
    chance: SystemIds,
    pub(crate) root: StackId,
    server: Option<Child>,
    kills: u64,
}

impl Drop for Story {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            _ = server.kill();
            _ = server.wait();
        }
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Story {
    /// A story on a SQLite file.
    pub(crate) async fn new(name: &str) -> Story {
        Story::on(name, format!("sqlite://{}/kiln.db", directory(name).display())).await
    }

    /// A story on a database.
    pub(crate) async fn on(name: &str, database: String) -> Story {
        let folder = directory(name);
        _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let networks = Networks::default();
        let address = networks.start();
        let store = SqlStore::open(&database, &folder.join("keys")).await.expect("a store");
        let mut chance = SystemIds::default();
        let root = StackId(chance.next());
        let (server, kills) = (None, 0);
        Story { folder, database, address, networks, store, chance, root, server, kills }
    }

    fn start(&mut self, further: &[&str]) {
        self.server = Some(self.spawn(&self.address, further, &[]));
    }

    /// Starts a server that calls the service at an address, with further arguments and environment variables.
    pub(crate) fn spawn(
        &self,
        address: &str,
        further: &[&str],
        environment: &[(&str, &str)],
    ) -> Child {
        let server = Command::new(env!("CARGO_BIN_EXE_kiln"))
            .args(["server", "--role", "engine", "--quiet", "1"])
            .args(["--lease", &LEASE.as_secs().to_string()])
            .args(["--database", &self.database])
            .envs(environment.iter().copied())
            .arg("--keys")
            .arg(self.folder.join("keys"))
            .args(["--endpoint", &format!("network={address}")])
            .args(further)
            .stdout(Stdio::null())
            .spawn();
        server.expect("the program starts")
    }

    /// Runs another command of the program on the database.
    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_kiln"))
            .args(arguments)
            .args(["--database", &self.database])
            .arg("--keys")
            .arg(self.folder.join("keys"))
            .output()
            .expect("the program runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
    }

    /// Kills the program, with no chance to tidy up, and starts it again.
    fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().expect("it is killed");
            server.wait().expect("it is gone");
            self.kills += 1;
        }
        self.start(&[]);
    }

    fn recipe(&mut self, is_up: bool) -> Arc<Recipe> {
        let mut text = String::from("heat_template_version: 2021-04-16\nresources:\n");
        for n in 0..NETWORKS {
            _ = write!(
                text,
                "  n{n}: {{type: OS::Neutron::Net, properties: {{admin_state_up: {is_up}}}"
            );
            // Some wait for others.
            _ = match n % 4 {
                3 => writeln!(text, ", depends_on: n{}}}", n - 1),
                _ => writeln!(text, "}}"),
            };
        }
        Arc::new(Recipe {
            id: RecipeId(self.chance.next()),
            template: Source::Text(text.into()),
            files: Arc::default(),
            environment: Arc::default(),
            parameters: Arc::default(),
            aliases: Vec::new(),
            forbidden: Default::default(),
            created_by: Default::default(),
            contract: None,
        })
    }

    pub(crate) async fn create(&mut self) {
        let recipe = self.recipe(true);
        let new = NewStack {
            id: self.root,
            name: "killed".into(),
            project: "project".into(),
            user_name: "user".into(),
            recipe,
            settings: StackSettings::default(),
            adopted: None,
            makers: 0,
            request: None,
        };
        let mut env = Env { now: now(), ids: &mut self.chance };
        let mut tree = Tree::create(Arc::new(Config::default()), new, &mut env);
        let batch = tree.take_batch(1);
        let tree = NewTree {
            stack: batch.stacks[0].clone(),
            recipe: batch.recipes[0].clone(),
            contents: batch.contents,
            events: batch.events,
            owner: None,
            max_stacks: None,
        };
        self.store.create_tree(tree).await.expect("a new tree");
    }

    pub(crate) async fn wish(&mut self, wish: Wish) {
        let id = CommandId(self.chance.next());
        let row = CommandRow { id, root: self.root, time: now(), body: wish.encode() };
        self.store.submit(row).await.expect("a command");
    }

    /// Kills the program every few calls until it was killed often enough, then lets it finish.
    async fn finish(&mut self, kills: u64, action: Action) {
        let mut next = self.networks.with(|inside| inside.calls);
        while self.kills < kills {
            next += 7 + self.kills % 11;
            self.networks.wait_for_calls(next);
            next = next.max(self.networks.with(|inside| inside.calls));
            if self.is_at(action).await {
                break;
            }
            self.kill();
        }
        // The last one may finish what is left, and says so by ending.
        if let Some(mut server) = self.server.take() {
            server.kill().expect("it is killed");
            server.wait().expect("it is gone");
        }
        self.start(&["--once"]);
        let mut server = self.server.take().expect("it runs");
        assert!(server.wait().expect("it ends").success());
        assert!(self.is_at(action).await);
    }

    /// Whether the stack has come to the end of an action; it may only end well.
    pub(crate) async fn is_at(&self, action: Action) -> bool {
        let stack = self.store.stack(self.root).await.expect("a store").expect("a stack");
        assert_ne!(
            stack.summary.state.status,
            Status::Failed,
            "{}: {}",
            stack.summary.state,
            stack.summary.reason
        );
        stack.summary.state.is(action, Status::Complete)
    }

    /// The books and the cloud say the same.
    pub(crate) async fn compare(&self, count: usize, is_up: bool) {
        let rows = self.store.resources(&[self.root]).await.expect("a store");
        let known: BTreeMap<String, String> = rows
            .iter()
            .filter_map(|row| {
                Some((
                    row.summary.physical_id.as_ref()?.text().to_string(),
                    row.summary.name.to_string(),
                ))
            })
            .collect();
        let there = self.networks.with(|inside| inside.networks.clone());
        let ids: BTreeSet<&String> = there.keys().collect();
        assert_eq!(ids, known.keys().collect::<BTreeSet<_>>(), "the books are wrong");
        assert_eq!(there.len(), count);
        let names: BTreeSet<String> = there.values().map(|it| it["name"].to_string()).collect();
        assert_eq!(names.len(), count, "a network is there twice");
        assert!(there.values().all(|network| network["admin_state_up"] == is_up));
    }
}

fn directory(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("kiln-{name}-{}", std::process::id()))
}

#[test]
fn nothing_is_lost_and_nothing_is_there_twice_however_often_the_program_is_killed() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("threads").block_on(async {
        let mut story = Story::new("kills").await;
        story.create().await;
        story.start(&[]);
        story.finish(KILLS / 2, Action::Create).await;
        story.compare(NETWORKS, true).await;
        let recipe = story.recipe(false);
        story.wish(Wish::Update { recipe, settings: StackSettings::default() }).await;
        story.start(&[]);
        story.finish(KILLS * 3 / 4, Action::Update).await;
        story.compare(NETWORKS, false).await;
        story.wish(Wish::Delete).await;
        story.start(&[]);
        story.finish(KILLS, Action::Delete).await;
        story.compare(0, false).await;
        assert_eq!(story.kills, KILLS);
        println!("killed {} times", story.kills);
    });
}
