//! What everybody in a run shares.

use super::cloud::{CloudUser, Objects};
use super::ledger::Ledger;
use super::options::Options;
use super::site::Site;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use tokio::sync::oneshot;

/// The site, the cloud, the ledger.
pub(super) struct Experiment {
    pub(super) options: Options,
    pub(super) site: Site,
    pub(super) ledger: Ledger,
    /// The users of the cloud.
    pub(super) admin: CloudUser,
    pub(super) demo: CloudUser,
    /// What was in the cloud before.
    pub(super) before: Objects,
    pub(super) steward: Steward,
    /// Whether nobody begins anything new.
    pub(super) is_over: AtomicBool,
}

impl Experiment {
    pub(super) fn is_sqlite(&self) -> bool {
        self.site.is_sqlite
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// A thread that starts servers: they end with the thread that started them.
pub(super) struct Steward(mpsc::Sender<Job>);

impl Steward {
    pub(super) fn hire() -> Steward {
        let (sender, jobs) = mpsc::channel::<Job>();
        std::thread::spawn(move || jobs.into_iter().for_each(|job| job()));
        Steward(sender)
    }

    /// Has something done that blocks.
    pub(super) async fn run(&self, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let (done, is_done) = oneshot::channel();
        let job = move || {
            job();
            // The receiver may have been dropped.
            _ = done.send(());
        };
        let gone = || io::Error::other("the thread that starts servers has ended");
        self.0.send(Box::new(job)).map_err(|_| gone())?;
        is_done.await.map_err(|_| gone())
    }
}
