//! The inputs by which a server knows where to send the signal of a deployment.

use super::addresses::{self, Signed};
use super::derive::Told;
use super::signal_transport::SignalTransport;
use super::{credentials, mailbox, stack_user};
use crate::op::{Op, OpError};
use serde_json::Value as Json;

const SIGNAL: &str = "Where the server says how it went.";
const VERB: &str = "The method with which it does.";

/// The inputs with the address for the signal. `fresh` is a name that was never used before.
pub(super) async fn inputs(
    op: &mut Op,
    transport: SignalTransport,
    fresh: &str,
) -> Result<Vec<Told>, OpError> {
    if !stack_user::are_there(op) {
        return Ok(Vec::new());
    }
    match transport {
        SignalTransport::Cfn => {
            let user = stack_user::beside(op).await?;
            let url = addresses::signed(op, Signed::Signal, &user).await?;
            Ok(at(url, Signed::Signal.method()))
        }
        SignalTransport::TempUrl => {
            leave_former(op).await?;
            let container = mailbox::make_object(op, fresh).await?;
            let url = addresses::object(op, "PUT", &container, fresh).await?;
            Ok(at(url, "PUT"))
        }
        SignalTransport::Heat => as_user(op).await,
        SignalTransport::Zaqar => {
            let mut told = as_user(op).await?;
            leave_former(op).await?;
            let user = stack_user::beside(op).await?;
            mailbox::make_queue(op, &user, fresh).await?;
            told.push(("deploy_queue_id", fresh.to_owned(), SIGNAL));
            Ok(told)
        }
        SignalTransport::NoSignal | SignalTransport::Token => Ok(Vec::new()),
    }
}

fn at(url: String, method: &str) -> Vec<Told> {
    vec![("deploy_signal_id", url, SIGNAL), ("deploy_signal_verb", method.to_owned(), VERB)]
}

/// Deletes the mailbox of an earlier configuration before this operation creates one.
async fn leave_former(op: &mut Op) -> Result<(), OpError> {
    let is_begun = ["container", "queue"].iter().any(|it| op.context().journal.step(it).is_some());
    if is_begun { Ok(()) } else { mailbox::remove_own(op).await }
}

async fn as_user(op: &mut Op) -> Result<Vec<Told>, OpError> {
    const ABOUT: &str = "Who the server is to the cloud.";
    let user = stack_user::beside(op).await?;
    let known = credentials::of(op, &user).await?;
    let names = [
        ("deploy_auth_url", "auth_url"),
        ("deploy_username", "username"),
        ("deploy_user_id", "user_id"),
        ("deploy_password", "password"),
        ("deploy_project_id", "project_id"),
        ("deploy_region_name", "region_name"),
    ];
    let told = names.into_iter().filter_map(|(input, name)| match &known[name] {
        Json::String(value) => Some((input, value.clone(), ABOUT)),
        _ => None,
    });
    Ok(told.collect())
}
