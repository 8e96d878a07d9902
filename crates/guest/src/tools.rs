//! The table of tools. The name of the program, or its first argument, selects one.

use crate::host::Host;
use crate::options::{self, Args, Flag, ParseError};
use crate::{agent, apply, boot, cfn, collect, deploy, hooks, install, refresh, run_parts};
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// A tool.
struct Tool {
    name: &'static str,
    usage: &'static str,
    flags: &'static [Flag],
    /// Runs the tool. Returns the exit status, or `None` to restart.
    run: fn(&mut Host, &Args) -> Option<i32>,
}

/// Every tool, by name.
const TOOLS: &[Tool] = &[
    Tool {
        name: "agent",
        usage: "kiln-guest agent [OPTION...]",
        flags: agent::FLAGS,
        run: agent::main,
    },
    Tool {
        name: "boot",
        usage: "kiln-guest boot [--user-data FILE]",
        flags: boot::FLAGS,
        run: |host, args| Some(boot::main(host, args)),
    },
    Tool {
        name: "cfn-create-aws-symlinks",
        usage: "cfn-create-aws-symlinks [OPTION...]",
        flags: cfn::symlinks::FLAGS,
        run: |host, args| Some(cfn::symlinks::main(host, args)),
    },
    Tool {
        name: "cfn-get-metadata",
        usage: "cfn-get-metadata -s STACK -r RESOURCE [OPTION...]",
        flags: cfn::metadata::FLAGS,
        run: |host, args| Some(cfn::metadata::main(host, args)),
    },
    Tool {
        name: "cfn-hup",
        usage: "cfn-hup [OPTION...]",
        flags: cfn::hup::FLAGS,
        run: |host, args| Some(cfn::hup::main(host, args)),
    },
    Tool {
        name: "cfn-init",
        usage: "cfn-init -s STACK -r RESOURCE [OPTION...]",
        flags: cfn::init::FLAGS,
        run: |host, args| Some(cfn::init::main(host, args)),
    },
    Tool {
        name: "cfn-push-stats",
        usage: "cfn-push-stats --watch NAME [OPTION...]",
        flags: cfn::stats::FLAGS,
        run: |host, args| Some(cfn::stats::main(host, args)),
    },
    Tool {
        name: "cfn-signal",
        usage: "cfn-signal [OPTION...] URL",
        flags: cfn::signal::FLAGS,
        run: |host, args| Some(cfn::signal::main(host, args)),
    },
    Tool {
        name: "dib-run-parts",
        usage: "dib-run-parts [--list] FOLDER",
        flags: run_parts::FLAGS,
        run: |host, args| Some(run_parts::main(host, args)),
    },
    Tool {
        name: "heat-config",
        usage: "heat-config",
        flags: &[],
        run: |host, _| Some(deploy::main(host)),
    },
    Tool {
        name: "heat-config-hook",
        usage: "heat-config-hook NAME < DEPLOYMENT",
        flags: &[],
        run: |host, args| Some(hooks::main(host, args.rest.first().map_or("", String::as_str))),
    },
    Tool {
        name: "heat-config-notify",
        usage: "heat-config-notify FILE < SIGNAL",
        flags: &[],
        run: |host, args| Some(deploy::notify::main(host, args)),
    },
    Tool {
        name: "heat-config-rebuild-deployed",
        usage: "heat-config-rebuild-deployed",
        flags: &[],
        run: |host, _| Some(deploy::rebuild(host)),
    },
    Tool {
        name: "install",
        usage: "kiln-guest install [--root FOLDER] [--hooks] [--force]",
        flags: install::FLAGS,
        run: |host, args| Some(install::main(host, args)),
    },
    Tool {
        name: "os-apply-config",
        usage: "os-apply-config [OPTION...]",
        flags: apply::FLAGS,
        run: |host, args| Some(apply::main(host, args)),
    },
    Tool {
        name: "os-collect-config",
        usage: "os-collect-config [OPTION...] [COLLECTOR...]",
        flags: collect::FLAGS,
        run: collect::main,
    },
    Tool {
        name: "os-refresh-config",
        usage: "os-refresh-config [OPTION...]",
        flags: refresh::FLAGS,
        run: |host, args| Some(refresh::main(host, args)),
    },
];

/// Tools that also log to a file in `/var/log`.
const LOGGED: [&str; 6] =
    ["cfn-get-metadata", "cfn-hup", "cfn-init", "cfn-push-stats", "cfn-signal", "os-apply-config"];

/// The entry point: reads the arguments and the environment.
pub fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().map(|it| it.to_string_lossy().into_owned()).collect();
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let mut host = Host::new(environment);
    let status = match run(&mut host, &arguments) {
        Some(status) => status,
        None => restart(&host, &arguments),
    };
    // The system truncates larger statuses.
    ExitCode::from(u8::try_from(status & 0xff).unwrap_or(1))
}

/// Runs the tool that the arguments select.
fn run(host: &mut Host, arguments: &[String]) -> Option<i32> {
    let called = Path::new(arguments.first().map_or("kiln-guest", String::as_str));
    let name = called.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = called.parent().and_then(Path::file_name);
    let mut rest = arguments.get(1..).unwrap_or_default();
    if folder.is_some_and(|it| it == "hooks") && hooks::find(&name).is_some() {
        host.tool.clone_from(&name);
        return Some(hooks::main(host, &name));
    }
    if let Some(tool) = find(&name) {
        return start(host, tool, rest);
    }
    if let [flag, root, others @ ..] = rest
        && flag == "--root"
    {
        host.set_root(root);
        rest = others;
    }
    match rest {
        [first, ..] if first == "--version" => {
            host.print(concat!("kiln-guest ", env!("CARGO_PKG_VERSION")));
            Some(0)
        }
        [first, others @ ..] => match find(first) {
            Some(tool) => start(host, tool, others),
            None => Some(print_usage(host, first)),
        },
        [] => Some(print_usage(host, "--help")),
    }
}

/// Finds a tool by name; scripts in phases have a numeric prefix.
fn find(name: &str) -> Option<&'static Tool> {
    let plain = name.trim_start_matches(|it: char| it.is_ascii_digit()).trim_start_matches('-');
    let plain = if plain.len() < name.len() { plain } else { name };
    let plain = if plain == "os-config-applier" { "os-apply-config" } else { plain };
    TOOLS.iter().find(|tool| tool.name == plain)
}

fn start(host: &mut Host, tool: &Tool, arguments: &[String]) -> Option<i32> {
    host.tool = tool.name.into();
    let args = match options::parse(tool.flags, arguments) {
        Ok(args) => args,
        Err(ParseError::Help) => {
            host.print_part(&options::help(tool.usage, tool.flags));
            return Some(0);
        }
        Err(ParseError::Version) => {
            host.print(concat!("kiln-guest ", env!("CARGO_PKG_VERSION")));
            return Some(0);
        }
        Err(ParseError::Invalid(why)) => {
            host.error(format!("{why}; see --help"));
            return Some(2);
        }
    };
    if let Some(root) = args.get("root") {
        host.set_root(root);
    }
    let log = host.path(format!("/var/log/{}.log", tool.name));
    let is_there = log.parent().is_some_and(Path::is_dir);
    host.log_file = (LOGGED.contains(&tool.name) && is_there).then_some(log);
    (tool.run)(host, &args)
}

fn print_usage(host: &Host, requested: &str) -> i32 {
    let is_help = ["--help", "-h", "help"].contains(&requested);
    if !is_help {
        host.error(format!("unknown tool {requested:?}"));
    }
    host.print("Usage: kiln-guest [--root FOLDER] TOOL [OPTION...]\nTools:");
    TOOLS.iter().for_each(|tool| host.print(&format!("  {}", tool.name)));
    if is_help { 0 } else { 2 }
}

/// Restarts with the same name and arguments. Returns only if that fails.
fn restart(host: &Host, arguments: &[String]) -> i32 {
    let me = std::env::current_exe().unwrap_or_else(|_| "kiln-guest".into());
    let mut command = Command::new(me);
    if let Some(name) = arguments.first() {
        command.arg0(name);
    }
    let error = command.args(arguments.iter().skip(1)).exec();
    host.error(format!("cannot restart: {error}"));
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_sorted_and_links_lead_to_them() {
        assert!(TOOLS.is_sorted_by_key(|tool| tool.name));
        for link in install::LINKS {
            assert!(find(link).is_some(), "{link}");
        }
        for (name, tool) in
            [("55-heat-config", "heat-config"), ("20-os-apply-config", "os-apply-config")]
        {
            assert_eq!(find(name).map(|it| it.name), Some(tool));
        }
        assert!(find("kiln-guest").is_none());
    }
}
