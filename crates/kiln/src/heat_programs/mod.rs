//! The programs of Heat: a link with one of their names to this program starts what its namesake does.
//!
//! `heat-engine --config-file F` is `kiln server --role engine --config F`, with the options that the services of
//! OpenStack have in common.

mod manage;
mod options;

use crate::cli::{Color, Server, ServerRole};
use crate::{client, commands, stdio};
use clap::{CommandFactory, FromArgMatches, Parser};
use options::CommonOptions;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// A program of Heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeatProgram {
    /// The command-line client.
    Client,
    /// The maintenance of the database.
    Manage,
    /// A service with these roles, under this name.
    Service(&'static str, &'static [ServerRole]),
}

use ServerRole::{Api, Cfn, Cloudwatch, Engine};

/// The names of the programs.
const PROGRAMS: [(&str, HeatProgram); 7] = [
    ("heat", HeatProgram::Client),
    ("heat-all", HeatProgram::Service("heat-all", &[Api, Cfn, Cloudwatch, Engine])),
    ("heat-api", HeatProgram::Service("heat-api", &[Api])),
    ("heat-api-cfn", HeatProgram::Service("heat-api-cfn", &[Cfn])),
    ("heat-api-cloudwatch", HeatProgram::Service("heat-api-cloudwatch", &[Cloudwatch])),
    ("heat-engine", HeatProgram::Service("heat-engine", &[Engine])),
    ("heat-manage", HeatProgram::Manage),
];

/// The program that has the name by which this one was started.
pub(crate) fn named(program: Option<&OsStr>) -> Option<HeatProgram> {
    let name = Path::new(program?).file_stem()?;
    PROGRAMS.iter().find(|(it, _)| name == *it).map(|(_, program)| *program)
}

/// Runs a program of Heat.
pub(crate) fn run(program: HeatProgram, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match program {
        HeatProgram::Client => client::heat_cli::main(arguments),
        HeatProgram::Manage => manage::main(arguments),
        HeatProgram::Service(name, roles) => serve(name, roles, arguments),
    }
}

/// A service of Heat, as a role of Kiln's server
#[derive(Debug, Parser)]
#[command(max_term_width = 100, version = crate::serving::REVISION)]
struct Service {
    #[command(flatten)]
    common: CommonOptions,
}

fn serve(
    name: &'static str,
    roles: &[ServerRole],
    arguments: impl Iterator<Item = OsString>,
) -> ExitCode {
    let command = Service::command().name(name).bin_name(name);
    let matches = command.get_matches_from(arguments);
    let service = Service::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    stdio::with_standard(Color::Auto, |streams| {
        let file = service.common.load(name)?;
        let arguments = Server { roles: roles.to_vec(), ..Server::default() };
        commands::server::run_with(&arguments, &file, streams)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name_alone() {
        let named = |name: &str| named(Some(OsStr::new(name)));
        assert_eq!(named("heat"), Some(HeatProgram::Client));
        assert_eq!(named("/usr/bin/heat-manage"), Some(HeatProgram::Manage));
        assert_eq!(named("heat-engine"), Some(HeatProgram::Service("heat-engine", &[Engine])));
        assert_eq!(
            (named("kiln"), named("/opt/heat/kiln"), super::named(None)),
            (None, None, None)
        );
    }

    #[test]
    fn the_command_line_is_consistent() {
        Service::command().debug_assert();
    }
}
