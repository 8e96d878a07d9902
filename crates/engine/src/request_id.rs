//! The id of a request, which goes with everything that is done for it: the log lines of the API, the command, the
//! operations, and the calls to other services.
//!
//! A request that submits a command gives its id to the command. So the id is stored with the command, whichever
//! engine carries it out.

use crate::ids::{CommandId, Ids};
use crate::runtime::SystemIds;
use std::cell::Cell;
use std::fmt;
use uuid::Uuid;

/// The id of a request to one of the APIs. It is shown as `req-` and a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(pub Uuid);

tokio::task_local! {
    static CURRENT: Current;
}

struct Current {
    id: RequestId,
    /// Whether a command has the id: there is one command of an id.
    is_used: Cell<bool>,
}

impl RequestId {
    /// Runs a future as part of this request.
    pub async fn scope<F: Future>(self, request: F) -> F::Output {
        CURRENT.scope(Current { id: self, is_used: Cell::new(false) }, request).await
    }

    /// Reads an id as it is shown.
    pub fn parse(text: &str) -> Option<RequestId> {
        Uuid::parse_str(text.strip_prefix("req-")?).ok().map(RequestId)
    }

    /// The request that the current task answers, if it answers one.
    pub fn current() -> Option<RequestId> {
        CURRENT.try_with(|current| current.id).ok()
    }

    /// An id for a command of the current request: the request's for its first command.
    pub(crate) fn command_id() -> CommandId {
        let unused = |current: &Current| (!current.is_used.replace(true)).then_some(current.id.0);
        let id = CURRENT.try_with(unused).ok().flatten();
        CommandId(id.unwrap_or_else(|| SystemIds::default().next()))
    }
}

impl From<CommandId> for RequestId {
    fn from(command: CommandId) -> RequestId {
        RequestId(command.0)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "req-{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_command_of_a_request_has_its_id() {
        let request = RequestId(Uuid::from_u128(7));
        assert_eq!(RequestId::current(), None);
        request
            .scope(async {
                assert_eq!(RequestId::current(), Some(request));
                assert_eq!(RequestId::command_id(), CommandId(request.0));
                assert_ne!(RequestId::command_id(), CommandId(request.0));
            })
            .await;
        assert_eq!(request.to_string(), "req-00000000-0000-0000-0000-000000000007");
        assert_eq!(RequestId::parse(&request.to_string()), Some(request));
    }
}
