//! What is likely in one run. Every probability is itself drawn from the seed: a run in which calls are lost all the time
//! and nothing else goes wrong finds other bugs than one in which everything happens now and then.

use super::world::{Faults, Rng};
use kiln_engine::Config;
use std::time::Duration;

/// The options of one run; printed with the log of a run that fails.
#[derive(Clone, Debug)]
pub struct Swarm {
    pub faults: Faults,
    /// How often a row is stored in the form of the version before, in a thousand.
    pub old_records: u64,
    /// How likely each kind of resource is: things, nested stacks, groups, rolling groups, scaling groups, remote stacks.
    pub kinds: [u64; 6],
    /// How likely each kind of command is: see [`COMMANDS`].
    pub commands: [u64; COMMANDS],
    /// How many commands follow the create, at most.
    pub max_commands: u64,
    /// How far apart commands are, at most.
    pub gap: Duration,
    /// How often a resource has a hook, or an update of it is restricted, in a thousand.
    pub hooks: u64,
    pub restrictions: u64,
    /// How often the value of a thing is one that goes wrong, in a thousand.
    pub bad_values: u64,
    /// How often an update compares objects with their definitions, in a thousand.
    pub converging: u64,
    /// How long an action may take, in whole minutes as in the API; `None` for an hour.
    pub timeout: Option<Duration>,
    pub max_changes_per_step: usize,
    pub retries: u32,
    pub error_wait: Duration,
    pub max_resources: Option<usize>,
}

/// Updates, cancels with and without rollback, deletes, actions on each resource, signals and marks, snapshots, and hooks
/// that are cleared.
pub const COMMANDS: usize = 8;

impl Swarm {
    pub fn draw(rng: &mut Rng) -> Swarm {
        let default = Config::default();
        let mut rare = |max: u64| if rng.happens(500) { 0 } else { 1 + rng.below(max) };
        let faults = Faults {
            crash: rare(50),
            not_sent: rare(100),
            lost: rare(100),
            late: rare(100),
            refused: rare(80),
            conflict: rare(80),
            twice: rare(80),
        };
        let (old_records, hooks, restrictions) = (rare(500), rare(300), rare(200));
        let (bad_values, converging) = (rare(200), rare(600));
        let mut weights = [0; 6 + COMMANDS];
        weights.iter_mut().for_each(|weight| *weight = rare(100));
        let (kinds, commands) = weights.split_at(6);
        let (mut kinds, mut commands) = (<[u64; 6]>::try_from(kinds), commands.try_into());
        // There is always something to begin with.
        kinds.iter_mut().for_each(|kinds| kinds[0] += 20);
        commands.iter_mut().for_each(|commands: &mut [u64; COMMANDS]| commands[0] += 20);
        let longest_gap = if rng.happens(500) { 10_000 } else { 120_000 };
        Swarm {
            faults,
            old_records,
            kinds: kinds.unwrap(),
            commands: commands.unwrap(),
            max_commands: 1 + rng.below(8),
            gap: Duration::from_millis(1 + rng.below(longest_gap)),
            hooks,
            restrictions,
            bad_values,
            converging,
            timeout: rng.happens(200).then(|| Duration::from_secs(60 * (1 + rng.below(5)))),
            max_changes_per_step: match rng.happens(300) {
                true => 1 + rng.below(30) as usize,
                false => default.max_changes_per_step,
            },
            retries: if rng.happens(300) { rng.below(3) as u32 } else { default.retries },
            error_wait: match rng.happens(300) {
                true => Duration::from_secs(rng.below(20)),
                false => default.error_wait,
            },
            max_resources: match rng.happens(50) {
                true => Some(3 + rng.below(8) as usize),
                false => default.max_resources,
            },
        }
    }

    /// A configuration with these options.
    pub fn config(&self, config: &Config) -> Config {
        Config {
            max_changes_per_step: self.max_changes_per_step,
            retries: self.retries,
            error_wait: self.error_wait,
            max_resources: self.max_resources,
            ..config.clone()
        }
    }
}

impl Rng {
    /// A position in a list of weights, each as likely as its weight.
    pub fn pick(&mut self, weights: &[u64]) -> usize {
        let mut at = self.below(weights.iter().sum());
        for (position, weight) in weights.iter().enumerate() {
            if at < *weight {
                return position;
            }
            at -= weight;
        }
        0
    }
}
