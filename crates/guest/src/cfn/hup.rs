//! cfn-hup: looks once whether metadata changed or services are down, and does what hooks ask for then.

use super::init;
use super::metadata::{self, Wanted};
use crate::files;
use crate::host::{Host, Level};
use crate::ini::Ini;
use crate::options::{Flag, Given, switch, value};
use crate::problem::{Problem, Result};
use crate::process;
use crate::users;
use serde_json::Value;
use std::os::unix::process::CommandExt;

pub(crate) const FLAGS: &[Flag] = &[
    value("config", Some('c'), "The folder of hooks."),
    switch("no-daemon", Some('f'), "Taken and not needed: it looks once and ends."),
    switch("verbose", Some('v'), "Say more."),
];

/// Something that is done when something happens.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hook {
    name: String,
    triggers: String,
    resource: String,
    runas: String,
    action: String,
}

pub(crate) fn main(host: &mut Host, given: &Given) -> i32 {
    if given.has("verbose") {
        host.level = Level::Debug;
    }
    match look(host, given) {
        Ok(()) => 0,
        Err(problem) => {
            host.error(problem.to_string());
            1
        }
    }
}

fn look(host: &Host, given: &Given) -> Result<()> {
    let main = host.path("/etc/cfn/cfn-hup.conf");
    let text = files::read(&main)?.ok_or_else(|| Problem::at(&main, "is not there"))?;
    let settings = Ini::parse(&text);
    let needed = |key: &str| {
        let value = settings.get("main", key).filter(|it| !it.is_empty());
        value.ok_or_else(|| Problem::at(&main, format!("section main has no {key}")))
    };
    let (stack, keys) = (needed("stack")?, needed("credential-file")?);
    if files::read(&host.path(keys))?.is_none() {
        return Err(Problem::at(&host.path(keys), "is not there"));
    }
    let hooks = hooks(host, given)?;
    let mut resources: Vec<&str> = Vec::new();
    for hook in &hooks {
        if !resources.contains(&hook.resource.as_str()) {
            resources.push(&hook.resource);
        }
    }
    let key = metadata::key_in(host, keys);
    for resource in resources {
        let wanted = Wanted { stack: Some(stack), resource: Some(resource), key: key.clone() };
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

/// Starts services that are down. Gives whether there were any.
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

fn hooks(host: &Host, given: &Given) -> Result<Vec<Hook>> {
    let folder = host.path(given.get("config").unwrap_or("/etc/cfn/hooks.d"));
    let inside = files::names(&folder).into_iter().map(|name| folder.join(name));
    let mut hooks = Vec::new();
    for path in [host.path("/etc/cfn/hooks.conf")].into_iter().chain(inside) {
        let Some(text) = files::text(&path) else { continue };
        hooks.extend(read(&text).map_err(|problem| Problem::at(&path, problem))?);
    }
    if hooks.is_empty() {
        Err(Problem::at(&folder, "there are no hooks, here or in /etc/cfn/hooks.conf"))
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
            value.ok_or_else(|| Problem::new(format!("hook {section} has no {key}")))
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

/// Does what the hooks of a resource ask for when something happened.
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
                host.error(format!("hook {}: there is no user {}", hook.name, hook.runas));
                continue;
            }
        }
        match process::caught(&mut command, None, None) {
            Ok(caught) => {
                host.info(format!("hook {}: {event}, ended with {}", hook.name, caught.status))
            }
            Err(problem) => host.error(format!("hook {}: {problem}", hook.name)),
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
