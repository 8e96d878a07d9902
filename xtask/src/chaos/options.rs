//! What a run of `xtask chaos` is asked to do.

use std::time::Duration;

/// A database that stacks are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatabaseKind {
    Sqlite,
    Postgres,
    Mariadb,
    /// Three nodes of MariaDB.
    Galera,
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// An engine or an API process is killed and started again.
    Kill,
    /// A process stops for longer than a lease, and goes on as if nothing had happened.
    Pause,
    /// An engine starts again with a clock that is an hour ahead or behind.
    Clock,
    /// The database server is killed and started again.
    Database,
    /// The message broker is killed and started again.
    Broker,
    /// The cloud refuses calls, loses replies and is slow.
    Cloud,
    /// A process and the database, the broker or the cloud no longer hear each other.
    Network,
    /// There is no room on the disk of the database.
    Disk,
}

/// The names of databases and faults, as they are given and printed.
const DATABASES: [(&str, DatabaseKind); 4] = [
    ("sqlite", DatabaseKind::Sqlite),
    ("postgres", DatabaseKind::Postgres),
    ("mariadb", DatabaseKind::Mariadb),
    ("galera", DatabaseKind::Galera),
];
pub(super) const FAULTS: [(&str, Fault); 8] = [
    ("kill", Fault::Kill),
    ("pause", Fault::Pause),
    ("clock", Fault::Clock),
    ("database", Fault::Database),
    ("broker", Fault::Broker),
    ("cloud", Fault::Cloud),
    ("network", Fault::Network),
    ("disk", Fault::Disk),
];

impl DatabaseKind {
    pub(super) fn name(self) -> &'static str {
        DATABASES.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }
}

impl Fault {
    pub(super) fn name(self) -> &'static str {
        FAULTS.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }
}

/// The options of a run.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// What all choices are drawn from.
    pub(super) seed: u64,
    /// How long things go wrong, for each database.
    pub(super) time: Duration,
    pub(super) databases: Vec<DatabaseKind>,
    pub(super) faults: Vec<Fault>,
    /// How many people work at the same time.
    pub(super) people: usize,
    /// Whether the directory with the logs stays although all was well.
    pub(super) keep: bool,
}

pub(super) const USAGE: &str = "\
usage: xtask chaos [--minutes N | --seconds N] [--seed N] [--people N] [--keep]
                   [--database NAME,...] [--faults NAME,...]
  databases: sqlite, postgres, mariadb, galera (all of them if none is named)
  faults: kill, pause, clock, database, broker, cloud, network, disk (all of them if none is named)";

impl Options {
    pub(super) fn parse(arguments: &[String], seed: u64) -> Result<Options, String> {
        let mut options = Options {
            seed,
            time: Duration::from_mins(5),
            databases: DATABASES.map(|row| row.1).to_vec(),
            faults: FAULTS.map(|row| row.1).to_vec(),
            people: 16,
            keep: false,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word == "--keep" {
                options.keep = true;
                continue;
            }
            let value = words.next().ok_or_else(|| USAGE.to_owned())?;
            let number =
                || value.parse::<u64>().map_err(|_| format!("{word} {value}: not a number"));
            match word.as_str() {
                "--minutes" => options.time = Duration::from_secs(number()? * 60),
                "--seconds" => options.time = Duration::from_secs(number()?),
                "--seed" => options.seed = number()?,
                "--people" => options.people = usize::try_from(number()?).unwrap_or(usize::MAX),
                "--database" => options.databases = named(value, &DATABASES)?,
                "--faults" => options.faults = named(value, &FAULTS)?,
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(options)
    }
}

/// The rows of a table with these names.
fn named<T: Copy>(names: &str, table: &[(&str, T)]) -> Result<Vec<T>, String> {
    let find = |name: &str| {
        let row = table.iter().find(|row| row.0 == name).map(|row| row.1);
        row.ok_or_else(|| format!("there is no {name}\n{USAGE}"))
    };
    names.split(',').filter(|name| !name.is_empty()).map(find).collect()
}
