//! The identity service: enough of Keystone's API, version 3, for OpenStack's clients and for Kiln itself.
//!
//! The middle is plain: `records` in tables (`table`) make up the `state`, a `token` is examined against it, `rights` say
//! who may, and one file under `api` per group of routes does the work. `http` is the way in, `journal` the way to disk.
//! Time and the addresses in the catalogue come from whoever opens the service.
//!
//! ```
//! use kiln_sim::identity::{Clock, Identity, Seed, Settings};
//!
//! let seed = Seed::new("http://127.0.0.1:5000")
//!     .service("orchestration", "heat", "http://127.0.0.1:8004/v1/%(project_id)s");
//! let identity = Identity::open(None, Settings::new(seed, Clock::new(|| 1_800_000_000_000_000)))?;
//! let token = identity.login("demo", "demo")?;
//! assert_eq!(token.roles, ["heat_stack_owner", "member", "reader"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod api;
mod ask;
mod http;
mod inside;
mod journal;
mod problem;
mod records;
mod rights;
mod routes;
mod secret;
mod seed;
mod shape;
mod state;
mod table;
mod time;
mod token;

use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use self::journal::Journal;
use self::problem::Problem;
use self::state::{State, What};
use self::time::Moment;

pub use self::http::router;
pub use self::inside::{LoginError, ServiceLogin, Token};
pub use self::journal::OpenError;
pub use self::seed::{Seed, project_id, user_id};
pub use self::time::Clock;

/// What the service is told when it is opened.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is there from the beginning.
    pub seed: Seed,
    /// Tells the time.
    pub clock: Clock,
    /// How long a token lasts.
    pub token_lifetime: Duration,
    /// Whether tokens from EC2 keys and from unrestricted application credentials may make trusts. Keystone allowed it
    /// before release 30 and refuses it since; without it, whoever logs in that way cannot have stacks that outlive
    /// their token.
    pub delegated_trusts: bool,
}

impl Settings {
    /// Settings with tokens that last a day and may make trusts.
    pub fn new(seed: Seed, clock: Clock) -> Settings {
        Settings { seed, clock, token_lifetime: Duration::from_hours(24), delegated_trusts: true }
    }
}

/// The identity service. It is shared by everybody who asks.
#[derive(Debug)]
pub struct Identity {
    state: RwLock<State>,
    journal: Option<Mutex<Journal>>,
    clock: Clock,
    /// What links begin with when a request does not name its host.
    public_url: String,
    /// Signs tokens.
    signing: Vec<u8>,
    /// Seconds that a token lasts.
    lifetime: u64,
    delegated_trusts: bool,
    service: ServiceLogin,
    domain_admin: ServiceLogin,
}

impl Identity {
    /// Opens the service with the state in the file, or in memory only. What the seed names and the state lacks is
    /// added; the catalogue becomes that of the seed.
    pub fn open(path: Option<&Path>, settings: Settings) -> Result<Identity, OpenError> {
        let (mut journal, mut state) = match path {
            Some(path) => Journal::open(path).map(|(journal, state)| (Some(journal), state))?,
            None => (None, State::default()),
        };
        let system = |error: String| OpenError::System(error);
        let sown = seed::sow(&mut state, &settings.seed).map_err(|e| system(e.to_string()))?;
        if let (Some(journal), Some(path)) = (&mut journal, path) {
            journal
                .write(&mut state)
                .map_err(|source| OpenError::Io { path: path.to_owned(), source })?;
        }
        Ok(Identity {
            state: RwLock::new(state),
            journal: journal.map(Mutex::new),
            clock: settings.clock,
            public_url: settings.seed.public_url.trim_end_matches('/').to_owned(),
            signing: sown.signing,
            lifetime: settings.token_lifetime.as_secs(),
            delegated_trusts: settings.delegated_trusts,
            service: sown.service,
            domain_admin: sown.domain_admin,
        })
    }

    fn now(&self) -> Moment {
        self.clock.now()
    }

    /// Looks something up.
    fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        // Nothing that holds the lock panics; if it did, the tables would still be whole.
        look(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes something and writes it down. Whoever changes decides first and acts last: after an error nothing has
    /// changed.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut State) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let done = change(&mut state)?;
        match &self.journal {
            Some(journal) => {
                let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
                let failed =
                    |error| Problem::internal(format!("its state cannot be written: {error}"));
                journal.write(&mut state).map_err(failed)?;
            }
            None => drop(state.take(What::Nothing)),
        }
        Ok(done)
    }
}
