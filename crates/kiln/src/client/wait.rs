//! Waiting for a stack: what happens is told as it happens, as lines or as a tree that moves.

use super::bell::Bell;
use super::console::Console;
use super::events::{Paths, is_of_stack};
use super::heat::{Heat, StackId, query, text};
use super::problem::{Kind, Problem, Result};
use super::tree::Tree;
use clap::Args;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The longest time between two questions, unless the user says otherwise.
const USUAL_POLL: Duration = Duration::from_secs(5);
/// The shortest, while much happens.
const SHORTEST_POLL: Duration = Duration::from_millis(500);
/// So many questions in a row may go unanswered before the wait is given up.
const MAX_LOST: usize = 12;

/// So many levels of nested stacks are drawn.
const DEPTH: &str = "5";

/// How to wait.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Patience {
    /// Wait until the stack is done, and tell what happens meanwhile
    #[arg(long)]
    pub(crate) wait: bool,

    /// Seconds between two looks at the stack [default: 5, less while much happens]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) poll: Option<f64>,

    /// Seconds after which to stop waiting; the stack goes on
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait_timeout: Option<f64>,
}

/// A stack that is waited for.
#[derive(Clone, Debug)]
pub(crate) struct Awaited<'a> {
    /// The stack.
    pub(crate) stack: StackId,
    /// What it is called.
    pub(crate) name: String,
    /// What it does: `CREATE`, `UPDATE`…
    pub(crate) action: &'static str,
    /// The last event before it began.
    pub(crate) marker: Option<String>,
    /// Whether a failure is followed by a rollback.
    pub(crate) rolls_back: bool,
    /// How to wait.
    pub(crate) patience: &'a Patience,
}

/// How what was waited for ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It was done.
    Complete,
    /// It failed.
    Failed,
    /// The stack is gone.
    Gone,
}

/// The id of the newest event of a stack, which later ones come after.
pub(crate) async fn newest_event(heat: &Heat, stack: &StackId) -> Result<Option<String>> {
    let newest = heat.events(stack, query([("sort_dir", "desc"), ("limit", "1")])).await;
    match newest {
        Ok(events) => Ok(events.first().map(|event| text(event, "id").to_owned())),
        Err(problem) if problem.is_not_found() => Ok(None),
        Err(problem) => Err(problem),
    }
}

impl Awaited<'_> {
    /// Waits until it is done, and tells what happens.
    pub(crate) async fn wait(self, heat: &Heat, console: &mut Console<'_, '_>) -> Result<Ending> {
        let mut teller = match console.is_live() {
            true => Teller::Tree(self.tree(heat).await),
            false => Teller::Lines(Paths::default()),
        };
        let ended = self.watch(heat, console, &mut teller).await;
        if let Teller::Tree(tree) = &mut teller {
            if let Ok(Ending::Complete | Ending::Gone) = &ended {
                tree.complete(self.action);
            }
            tree.draw(console)?;
        }
        ended
    }

    /// The tree that is drawn. Of a stack that was there before, the events that told who owns which
    /// nested stack are long past.
    async fn tree(&self, heat: &Heat) -> Tree {
        let resources = match self.marker {
            Some(_) => heat.resources(&self.stack, query([("nested_depth", DEPTH)])).await,
            None => Ok(Vec::new()),
        };
        Tree::new(&self.name, &resources.unwrap_or_default())
    }

    /// What to say if it failed: this is what other programs look for.
    pub(crate) fn failure(name: &str, action: &str) -> Problem {
        Problem::new(format!("\n Stack {name} {action}_FAILED \n"))
            .hint(format!("`kiln stack failures list {name}` tells why."))
    }

    async fn watch(
        &self,
        heat: &Heat,
        console: &mut Console<'_, '_>,
        teller: &mut Teller,
    ) -> Result<Ending> {
        let start = Instant::now();
        let mut progress = Progress { marker: self.marker.clone(), ..Progress::default() };
        let mut pause = SHORTEST_POLL;
        // Whoever says how often to look is looked for as often.
        let mut bell = if self.patience.poll.is_some() { Bell::mute() } else { Bell::default() };
        loop {
            let seen = progress.marker.clone();
            match self.look(heat, console, teller, &mut progress).await {
                Ok(Some(ending)) => return Ok(ending),
                Ok(None) => progress.lost = 0,
                Err(problem) if problem.may_pass() && progress.lost < MAX_LOST => {
                    progress.lost += 1
                }
                Err(problem) => return Err(problem),
            }
            if let Teller::Tree(tree) = teller {
                tree.draw(console)?;
            }
            pause = match progress.marker == seen {
                true => (pause * 3 / 2).min(USUAL_POLL),
                false => SHORTEST_POLL,
            };
            let pause = self.patience.poll.map_or(pause, seconds);
            let left = match self.patience.wait_timeout.map(seconds) {
                Some(limit) if start.elapsed() >= limit => return Err(self.too_long()),
                Some(limit) => limit - start.elapsed(),
                None => pause,
            };
            let depth = if let Teller::Tree(_) = teller { DEPTH } else { "0" };
            let nested = query([("nested_depth", depth)]);
            let marker = progress.marker.as_deref();
            bell.wait(heat, &self.stack, nested, marker, pause.min(left)).await;
        }
    }

    /// Looks once; gives how it ended, if it did.
    async fn look(
        &self,
        heat: &Heat,
        console: &mut Console<'_, '_>,
        teller: &mut Teller,
        progress: &mut Progress,
    ) -> Result<Option<Ending>> {
        let mut asked = query([("sort_dir", "asc")]);
        if let Some(marker) = &progress.marker {
            asked.push(("marker".into(), marker.clone()));
        }
        if let Teller::Tree(_) = teller {
            asked.extend(query([("nested_depth", DEPTH)]));
        }
        let events = match heat.events(&self.stack, asked).await {
            Err(problem) if problem.is_not_found() => return Ok(Some(Ending::Gone)),
            events => events?,
        };
        for event in &events {
            match teller {
                Teller::Lines(paths) => console.line(&paths.line(event))?,
                Teller::Tree(tree) => tree.add(event),
            }
            if is_of_stack(event) && text(event, "physical_resource_id") == self.stack.id() {
                progress.note(text(event, "resource_status"), self.action);
            }
        }
        match events.last() {
            Some(last) => {
                progress.marker = Some(text(last, "id").to_owned());
                progress.idle = 0;
            }
            None => progress.idle += 1,
        }
        if let Some(ending) = progress.ending(self.rolls_back) {
            return Ok(Some(ending));
        }
        if progress.idle < 2 {
            return Ok(None);
        }
        // Events may have been lost; the stack itself knows.
        let state = match heat.state(&self.stack).await {
            Err(problem) if problem.is_not_found() => return Ok(Some(Ending::Gone)),
            state => state?,
        };
        Ok(self.at_rest(&state, progress))
    }

    /// How it ended, if the stack itself says so.
    fn at_rest(&self, state: &Value, progress: &Progress) -> Option<Ending> {
        let (action, status) = text(state, "stack_status").split_once('_')?;
        match (action == self.action, status) {
            (_, "IN_PROGRESS") => None,
            (true, "COMPLETE") => Some(Ending::Complete),
            (true, _) => Some(Ending::Failed),
            (false, _) if progress.failed || action == "ROLLBACK" => Some(Ending::Failed),
            (false, _) => None,
        }
    }

    fn too_long(&self) -> Problem {
        let Awaited { name, action, .. } = self;
        Problem::new(format!("Stack {name} is still in {action}_IN_PROGRESS; it goes on."))
            .next(format!("`kiln stack event list --follow {name}` tells what happens next."))
            .of(Kind::TimedOut)
    }
}

/// How far a stack has come.
#[derive(Debug, Default)]
struct Progress {
    marker: Option<String>,
    complete: bool,
    failed: bool,
    rolled_back: bool,
    /// Looks in a row at which nothing had happened.
    idle: usize,
    /// Looks in a row that failed.
    lost: usize,
}

impl Progress {
    fn note(&mut self, status: &str, action: &str) {
        match status.split_once('_') {
            Some((it, "COMPLETE")) if it == action => self.complete = true,
            Some((it, "FAILED")) if it == action => self.failed = true,
            Some(("ROLLBACK", "COMPLETE" | "FAILED")) => self.rolled_back = true,
            _ => {}
        }
    }

    fn ending(&self, rolls_back: bool) -> Option<Ending> {
        match self {
            Progress { complete: true, .. } => Some(Ending::Complete),
            Progress { failed: true, rolled_back, .. } if *rolled_back || !rolls_back => {
                Some(Ending::Failed)
            }
            Progress { rolled_back: true, .. } => Some(Ending::Failed),
            _ => None,
        }
    }
}

/// How what happens is told.
enum Teller {
    /// As lines of a log.
    Lines(Paths),
    /// As a tree that moves.
    Tree(Tree),
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX).min(Duration::from_secs(1 << 32))
}
