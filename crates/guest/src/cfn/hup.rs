//! cfn-hup: checks once whether the metadata changed or services are down, and runs the hooks.

use super::init;
use super::metadata::{self, MetadataQuery};
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::{Host, Level};
use crate::ini::Ini;
use crate::options::{Args, Flag, switch, value};
use crate::process;
use crate::users;
use serde_json::Value;
use std::os::unix::process::CommandExt;

pub(crate) const FLAGS: &[Flag] = &[
    value("config", Some('c'), "The directory of the hooks."),
    switch(
        "no-daemon",
        Some('f'),
        "Accepted for compatibility: the tool always checks once and exits.",
    ),
    switch("verbose", Some('v'), "Print debug messages."),
];

/// An action that runs on certain events.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hook {
    name: String,
    triggers: String,
    resource: String,
    runas: String,
    action: String,
}

pub(crate) fn main(host: &mut Host, args: &Args) -> i32 {
    if args.has("verbose") {
        host.level = Level::Debug;
    }
    match check(host, args) {
        Ok(()) => 0,
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

fn check(host: &Host, args: &Args) -> Result<()> {
    let main = host.path("/etc/cfn/cfn-hup.conf");
    let text = files::read(&main)?.ok_or_else(|| GuestError::at(&main, "does not exist"))?;
    let config = Ini::parse(&text);
    let needed = |key: &str| {
        let value = config.get("main", key).filter(|it| !it.is_empty());
        value.ok_or_else(|| GuestError::at(&main, format!("section [main] has no {key}")))
    };
    let (stack, keys) = (needed("stack")?, needed("credential-file")?);
    if files::read(&host.path(keys))?.is_none() {
        return Err(GuestError::at(&host.path(keys), "does not exist"));
    }
    let hooks = hooks(host, args)?;
    let mut resources: Vec<&str> = Vec::new();
    for hook in &hooks {
        if !resources.contains(&hook.resource.as_str()) {
            resources.push(&hook.resource);
        }
    }
    let key = metadata::key_in(host, keys);
    for resource in resources {
        let wanted =
            MetadataQuery { stack: Some(stack), resource: Some(resource), key: key.clone() };
        let found = metadata::find(host, &wanted)?;
        if restart(host, &found.metadata)? {
            fire(host, &hooks, resource, "service.restarted");
        }
        if found.has_changed {
            fire(host, &hooks, resource, "post.update");
        }
    }
    Ok(())
}

/// Starts services that are down. Returns whether there were any.
fn restart(host: &Host, found: &Value) -> Result<bool> {
    let config = found.pointer("/AWS::CloudFormation::Init/config").cloned().unwrap_or_default();
    let mut has_started = false;
    for step in init::planned_services(&config) {
        if let init::Step::Service { name, running: Some(true), .. } = step {
            has_started |= init::ensure_service(host, &name, None, Some(true))?;
        }
    }
    Ok(has_started)
}

fn hooks(host: &Host, args: &Args) -> Result<Vec<Hook>> {
    let folder = host.path(args.get("config").unwrap_or("/etc/cfn/hooks.d"));
    let inside = files::names(&folder).into_iter().map(|name| folder.join(name));
    let mut hooks = Vec::new();
    for path in [host.path("/etc/cfn/hooks.conf")].into_iter().chain(inside) {
        let Some(text) = files::text(&path) else { continue };
        hooks.extend(read(&text).map_err(|error| GuestError::at(&path, error))?);
    }
    if hooks.is_empty() {
        Err(GuestError::at(&folder, "no hooks, neither here nor in /etc/cfn/hooks.conf"))
    } else {
        Ok(hooks)
    }
}

fn read(text: &str) -> Result<Vec<Hook>> {
    let ini = Ini::parse(text);
    let mut hooks = Vec::new();
    for section in ini.sections() {
        let needed = |key: &str| {
            let value = ini.get(section, key).filter(|it| !it.is_empty()).map(str::to_owned);
            value.ok_or_else(|| GuestError::new(format!("hook {section} has no {key}")))
        };
        let path = needed("path")?;
        let resource = path.split('.').nth(1).unwrap_or_default().to_owned();
        hooks.push(Hook {
            name: section.to_owned(),
            triggers: needed("triggers")?,
            resource,
            runas: needed("runas")?,
            action: needed("action")?,
        });
    }
    Ok(hooks)
}

/// Runs the hooks of a resource for an event.
fn fire(host: &Host, hooks: &[Hook], resource: &str, event: &str) {
    for hook in
        hooks.iter().filter(|hook| hook.resource == resource && hook.triggers.contains(event))
    {
        let mut command = process::shell(host, &hook.action);
        let me = rustix::process::geteuid().as_raw();
        match users::user(host, &hook.runas) {
            Some(user) if user.id == me => {}
            Some(user) => _ = command.uid(user.id).gid(user.group),
            None => {
                host.error(format!("hook {}: unknown user {}", hook.name, hook.runas));
                continue;
            }
        }
        match process::capture(&mut command, None, None) {
            Ok(output) => host
                .info(format!("hook {}: {event}, exited with status {}", hook.name, output.status)),
            Err(error) => host.error(format!("hook {}: {error}", hook.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_have_four_keys() {
        let text =
            "[a]\ntriggers=post.update\npath=Resources.server.Metadata\nrunas=root\naction=true\n";
        assert_eq!(read(text).unwrap()[0].resource, "server");
        assert!(read(&text.replace("runas=root", "")).is_err());
    }
}
