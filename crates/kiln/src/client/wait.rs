//! Waits for a stack and shows its progress as log lines or as a live tree.

use super::console::Console;
use super::error::{ClientError, ClientErrorKind, Result};
use super::event_stream::EventStream;
use super::events::{Paths, is_of_stack};
use super::heat::{HeatApi, StackId, query, text};
use super::tree::ProgressTree;
use clap::Args;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The default maximum polling interval.
const USUAL_POLL: Duration = Duration::from_secs(5);
/// The minimum polling interval.
const SHORTEST_POLL: Duration = Duration::from_millis(500);
/// The number of consecutive failed polls after which waiting fails.
const MAX_LOST: usize = 12;

/// The number of levels of nested stacks that are drawn.
const DEPTH: &str = "5";

/// Options for waiting.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Waiting {
    /// Wait until the action is finished, and show its progress
    #[arg(long)]
    pub(crate) wait: bool,

    /// Polling interval in seconds [default: 5, less while there are events]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) poll: Option<f64>,

    /// Seconds after which to stop waiting; the action continues
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait_timeout: Option<f64>,
}

/// The action to wait for.
#[derive(Clone, Debug)]
pub(crate) struct AwaitedAction<'a> {
    /// The stack.
    pub(crate) stack: StackId,
    /// The name of the stack.
    pub(crate) name: String,
    /// The action: `CREATE`, `UPDATE`…
    pub(crate) action: &'static str,
    /// The id of the last event before the action.
    pub(crate) marker: Option<String>,
    /// Whether a failure is followed by a rollback.
    pub(crate) rolls_back: bool,
    /// Options for waiting.
    pub(crate) waiting: &'a Waiting,
}

/// The result of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ActionResult {
    /// The action succeeded.
    Complete,
    /// The action failed.
    Failed,
    /// The stack was deleted.
    Gone,
}

/// The id of the newest event of a stack.
pub(crate) async fn newest_event(heat: &HeatApi, stack: &StackId) -> Result<Option<String>> {
    let newest = heat.events(stack, query([("sort_dir", "desc"), ("limit", "1")])).await;
    match newest {
        Ok(events) => Ok(events.first().map(|event| text(event, "id").to_owned())),
        Err(problem) if problem.is_not_found() => Ok(None),
        Err(problem) => Err(problem),
    }
}

impl<'a> AwaitedAction<'a> {
    /// The action that makes a new stack, which has no events before it.
    pub(crate) fn of_new(
        stack: &StackId,
        name: &str,
        action: &'static str,
        rolls_back: bool,
        waiting: &'a Waiting,
    ) -> AwaitedAction<'a> {
        let (stack, name) = (stack.clone(), name.to_owned());
        AwaitedAction { stack, name, action, marker: None, rolls_back, waiting }
    }

    /// Waits until the action is finished, and shows its progress.
    pub(crate) async fn wait(
        self,
        heat: &HeatApi,
        console: &mut Console<'_, '_>,
    ) -> Result<ActionResult> {
        let mut teller = match console.is_live() {
            true => ProgressOutput::Tree(self.tree(heat).await),
            false => ProgressOutput::Lines(Paths::default()),
        };
        let ended = self.watch(heat, console, &mut teller).await;
        if let ProgressOutput::Tree(tree) = &mut teller {
            if let Ok(ActionResult::Complete | ActionResult::Gone) = &ended {
                tree.complete(self.action);
            }
            tree.draw(console)?;
        }
        ended
    }

    /// The tree that is drawn. If the stack existed before, the events that revealed the paths of
    /// nested stacks are long past, so the resources are read.
    async fn tree(&self, heat: &HeatApi) -> ProgressTree {
        let resources = match self.marker {
            Some(_) => heat.resources(&self.stack, query([("nested_depth", DEPTH)])).await,
            None => Ok(Vec::new()),
        };
        ProgressTree::new(&self.name, &resources.unwrap_or_default())
    }

    /// The message of a failed action; scripts search for it.
    pub(crate) fn failure(name: &str, action: &str) -> ClientError {
        ClientError::new(format!("\n Stack {name} {action}_FAILED \n"))
            .hint(format!("`kiln stack failures list {name}` shows the reasons."))
    }

    async fn watch(
        &self,
        heat: &HeatApi,
        console: &mut Console<'_, '_>,
        teller: &mut ProgressOutput,
    ) -> Result<ActionResult> {
        let start = Instant::now();
        let mut progress = WaitState { marker: self.marker.clone(), ..WaitState::default() };
        let mut pause = SHORTEST_POLL;
        // An explicit polling interval is kept.
        let mut event_stream = if self.waiting.poll.is_some() {
            EventStream::disabled()
        } else {
            EventStream::default()
        };
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
            if let ProgressOutput::Tree(tree) = teller {
                tree.draw(console)?;
            }
            pause = match progress.marker == seen {
                true => (pause * 3 / 2).min(USUAL_POLL),
                false => SHORTEST_POLL,
            };
            let pause = self.waiting.poll.map_or(pause, seconds);
            let left = match self.waiting.wait_timeout.map(seconds) {
                Some(limit) if start.elapsed() >= limit => return Err(self.too_long()),
                Some(limit) => limit - start.elapsed(),
                None => pause,
            };
            let depth = if let ProgressOutput::Tree(_) = teller { DEPTH } else { "0" };
            let nested = query([("nested_depth", depth)]);
            let marker = progress.marker.as_deref();
            event_stream.wait(heat, &self.stack, nested, marker, pause.min(left)).await;
        }
    }

    /// Polls once; returns the result if the action is finished.
    async fn look(
        &self,
        heat: &HeatApi,
        console: &mut Console<'_, '_>,
        teller: &mut ProgressOutput,
        progress: &mut WaitState,
    ) -> Result<Option<ActionResult>> {
        if !self.show_events(heat, console, teller, progress).await? {
            return Ok(Some(ActionResult::Gone));
        }
        if let Some(ending) = progress.ending(self.rolls_back) {
            return Ok(Some(ending));
        }
        if progress.idle < 2 {
            return Ok(None);
        }
        // Events may have been missed; the status of the stack decides.
        let state = match heat.state(&self.stack).await {
            Err(problem) if problem.is_not_found() => return Ok(Some(ActionResult::Gone)),
            state => state?,
        };
        let ending = self.at_rest(&state, progress);
        if ending.is_some() {
            // The last events may have come after the last poll.
            self.show_events(heat, console, teller, progress).await?;
        }
        Ok(ending)
    }

    /// Shows the events since the last poll; returns whether the stack still exists.
    async fn show_events(
        &self,
        heat: &HeatApi,
        console: &mut Console<'_, '_>,
        teller: &mut ProgressOutput,
        progress: &mut WaitState,
    ) -> Result<bool> {
        let mut asked = query([("sort_dir", "asc")]);
        if let Some(marker) = &progress.marker {
            asked.push(("marker".into(), marker.clone()));
        }
        if let ProgressOutput::Tree(_) = teller {
            asked.extend(query([("nested_depth", DEPTH)]));
        }
        let events = match heat.events(&self.stack, asked).await {
            Err(problem) if problem.is_not_found() => return Ok(false),
            events => events?,
        };
        for event in &events {
            match teller {
                ProgressOutput::Lines(paths) => console.line(&paths.line(event))?,
                ProgressOutput::Tree(tree) => tree.add(event),
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
        Ok(true)
    }

    /// The result according to the status of the stack, if it is finished.
    fn at_rest(&self, state: &Value, progress: &WaitState) -> Option<ActionResult> {
        let (action, status) = text(state, "stack_status").split_once('_')?;
        match (action == self.action, status) {
            (_, "IN_PROGRESS") => None,
            (true, "COMPLETE") => Some(ActionResult::Complete),
            (true, _) => Some(ActionResult::Failed),
            (false, _) if progress.failed || action == "ROLLBACK" => Some(ActionResult::Failed),
            (false, _) => None,
        }
    }

    fn too_long(&self) -> ClientError {
        let AwaitedAction { name, action, .. } = self;
        ClientError::new(format!(
            "Stack {name} is still in {action}_IN_PROGRESS; the action continues."
        ))
        .next(format!("`kiln stack event list --follow {name}` shows its progress."))
        .of(ClientErrorKind::TimedOut)
    }
}

/// The progress of an action.
#[derive(Debug, Default)]
struct WaitState {
    marker: Option<String>,
    complete: bool,
    failed: bool,
    rolled_back: bool,
    /// Consecutive polls without events.
    idle: usize,
    /// Consecutive polls that failed.
    lost: usize,
}

impl WaitState {
    fn note(&mut self, status: &str, action: &str) {
        match status.split_once('_') {
            Some((it, "COMPLETE")) if it == action => self.complete = true,
            Some((it, "FAILED")) if it == action => self.failed = true,
            Some(("ROLLBACK", "COMPLETE" | "FAILED")) => self.rolled_back = true,
            _ => {}
        }
    }

    fn ending(&self, rolls_back: bool) -> Option<ActionResult> {
        match self {
            WaitState { complete: true, .. } => Some(ActionResult::Complete),
            WaitState { failed: true, rolled_back, .. } if *rolled_back || !rolls_back => {
                Some(ActionResult::Failed)
            }
            WaitState { rolled_back: true, .. } => Some(ActionResult::Failed),
            _ => None,
        }
    }
}

/// The output of progress.
enum ProgressOutput {
    /// Log lines.
    Lines(Paths),
    /// A live tree.
    Tree(ProgressTree),
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX).min(Duration::from_secs(1 << 32))
}
