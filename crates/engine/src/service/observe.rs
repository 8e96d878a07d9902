//! Reading the objects of a tree for a request, without changing anything.

use crate::drift::{Observations, Observed};
use crate::ids::ResourceId;
use crate::runtime::now;
use kiln_cloud::{ActingFor, Credential, Secret, Transport, in_current_request};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::ResourceType;
use kiln_resources::op::{Answer, Context, Demand, Note, OpError, OpPoll, RunningOperation};
use kiln_template::HiddenTexts;
use std::sync::Arc;
use tokio::task::JoinSet;

/// How many objects are read at the same time.
pub(super) const MAX_CONCURRENT: usize = 16;

/// How many calls an operation may make.
const MAX_TURNS: usize = 100;

/// Reads the objects of a tree, and compares them with their definitions.
pub(super) async fn read(
    transport: &Arc<dyn Transport>,
    by: &Credential,
    behalf: ActingFor,
    open: Vec<(ResourceId, &'static ResourceType, Context)>,
) -> Observations {
    let mut found = Observations::new();
    let mut reading = JoinSet::new();
    for (id, kind, context) in open {
        if reading.len() >= MAX_CONCURRENT
            && let Some(Ok((id, reality))) = reading.join_next().await
        {
            found.insert(id, reality);
        }
        let (transport, by, behalf) = (transport.clone(), by.clone(), behalf.clone());
        let read = async move { (id, read_one(&*transport, &by, &behalf, kind, context).await) };
        reading.spawn(in_current_request(read));
    }
    found.extend(reading.join_all().await);
    found
}

async fn read_one(
    transport: &dyn Transport,
    by: &Credential,
    behalf: &ActingFor,
    kind: &'static ResourceType,
    context: Context,
) -> Observed {
    let hidden = HiddenTexts::of(context.properties.values());
    let hidden = hidden.expose().iter().map(|text| Secret::from(text.as_str())).collect();
    let behalf = ActingFor { hidden, ..behalf.clone() };
    let running = RunningOperation::new(kind, OperationKind::Observe, context);
    let mut observed = Observed::default();
    let on_note = |note| {
        if let Note::Compared(compared) = note {
            observed = Observed::Read(compared);
        }
    };
    match run(transport, by, &behalf, running, on_note).await {
        Some(result) => Observed::of_end(observed, &result),
        None => Observed::default(),
    }
}

/// Runs an operation as long as it only reads: it changes nothing and waits for nothing. Returns its result, if it ended.
pub(super) async fn run(
    transport: &dyn Transport,
    by: &Credential,
    behalf: &ActingFor,
    mut running: RunningOperation,
    mut on_note: impl FnMut(Note),
) -> Option<Result<(), OpError>> {
    let mut answer = None;
    for _ in 0..MAX_TURNS {
        let (turn, notes) = running.poll(now().micros(), answer.take());
        notes.into_iter().for_each(&mut on_note);
        match turn {
            OpPoll::Finished(result) => return Some(result),
            OpPoll::Demands(Demand::Read(call)) => {
                let call = call.acting_for(behalf.clone());
                answer = Some(Answer::Reply(transport.send(by, call).await));
            }
            OpPoll::Demands(_) => break,
        }
    }
    None
}
