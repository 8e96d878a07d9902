//! The states of stacks and resources: an action and its status.

use std::fmt;

/// The action in progress, or the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// None yet: the resource is only a record.
    Init,
    /// It is created.
    Create,
    /// It is removed.
    Delete,
    /// It is updated.
    Update,
    /// It is rolled back.
    Rollback,
    /// It is suspended.
    Suspend,
    /// It is resumed.
    Resume,
    /// An existing object is adopted.
    Adopt,
    /// A copy of its state is kept.
    Snapshot,
    /// Its object is checked.
    Check,
    /// It is restored from a snapshot.
    Restore,
    /// It received a signal. Only events have this action, no state has it.
    Signal,
}

/// The status of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// In progress.
    InProgress,
    /// Complete.
    Complete,
    /// Failed.
    Failed,
}

const ACTIONS: [(Action, &str, &str); 12] = [
    (Action::Init, "INIT", "init"),
    (Action::Create, "CREATE", "create"),
    (Action::Delete, "DELETE", "delete"),
    (Action::Update, "UPDATE", "update"),
    (Action::Rollback, "ROLLBACK", "rollback"),
    (Action::Suspend, "SUSPEND", "suspend"),
    (Action::Resume, "RESUME", "resume"),
    (Action::Adopt, "ADOPT", "adopt"),
    (Action::Snapshot, "SNAPSHOT", "snapshot"),
    (Action::Check, "CHECK", "check"),
    (Action::Restore, "RESTORE", "restore"),
    (Action::Signal, "SIGNAL", "signal"),
];

impl Action {
    /// Its name, such as `CREATE`.
    pub fn name(self) -> &'static str {
        ACTIONS[self as usize].1
    }

    /// Its name in running text, such as `create`.
    pub fn verb(self) -> &'static str {
        ACTIONS[self as usize].2
    }

    /// The action of a name.
    pub fn parse(name: &str) -> Option<Action> {
        ACTIONS.iter().find(|row| row.1 == name).map(|row| row.0)
    }
}

impl Status {
    /// Its name, such as `IN_PROGRESS`.
    pub fn name(self) -> &'static str {
        match self {
            Status::InProgress => "IN_PROGRESS",
            Status::Complete => "COMPLETE",
            Status::Failed => "FAILED",
        }
    }

    /// The status of a name.
    pub fn parse(name: &str) -> Option<Status> {
        [Status::InProgress, Status::Complete, Status::Failed]
            .into_iter()
            .find(|status| status.name() == name)
    }
}

/// An action and how far it is, as clients see it: `CREATE_COMPLETE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The action.
    pub action: Action,
    /// How far it is.
    pub status: Status,
}

impl State {
    /// An action that has come so far.
    pub const fn new(action: Action, status: Status) -> State {
        State { action, status }
    }

    /// Whether this is where the action is.
    pub fn is(self, action: Action, status: Status) -> bool {
        self == State { action, status }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.action, self.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_what_they_name() {
        for (at, (action, name, _)) in ACTIONS.into_iter().enumerate() {
            assert_eq!((action as usize, Action::parse(name)), (at, Some(action)));
        }
        assert_eq!(Status::parse("FAILED"), Some(Status::Failed));
        assert_eq!(
            State::new(Action::Create, Status::InProgress).to_string(),
            "CREATE_IN_PROGRESS"
        );
    }
}
