//! `kiln-guest install`: links, directories, templates and units for an image.

use crate::error::{GuestError, Result};
use crate::files;
use crate::hooks;
use crate::host::Host;
use crate::options::{Args, Flag, switch, value};
use std::os::unix::fs::symlink;
use std::path::Path;

pub(crate) const FLAGS: &[Flag] = &[
    value("root", None, "The root directory of the image."),
    switch(
        "hooks",
        None,
        "Also create a link for every hook, for another program that looks for them.",
    ),
    switch("force", Some('f'), "Replace existing programs."),
];

/// The names under which the program is called.
pub(crate) const LINKS: [&str; 13] = [
    "cfn-create-aws-symlinks",
    "cfn-get-metadata",
    "cfn-hup",
    "cfn-init",
    "cfn-push-stats",
    "cfn-signal",
    "dib-run-parts",
    "heat-config-notify",
    "heat-config-rebuild-deployed",
    "os-apply-config",
    "os-collect-config",
    "os-config-applier",
    "os-refresh-config",
];

/// The relative path of the program from the directories of scripts and hooks, because images are modified from
/// outside.
const PROGRAM: &str = "../../../../usr/bin/kiln-guest";

/// The scripts that run when the metadata changes.
const PARTS: [&str; 2] = ["20-os-apply-config", "55-heat-config"];

/// Files with their modes, which are written unless they exist.
const FILES: [(&str, &str, u32); 6] = [
    (
        "/usr/libexec/os-apply-config/templates/etc/os-collect-config.conf",
        include_str!("install/os-collect-config.conf"),
        0o644,
    ),
    (
        "/usr/libexec/os-apply-config/templates/etc/os-collect-config.conf.oac",
        "mode: 0600\n",
        0o644,
    ),
    (
        "/usr/libexec/os-apply-config/templates/var/run/heat-config/heat-config",
        "{{deployments}}",
        0o644,
    ),
    (
        "/usr/libexec/os-apply-config/templates/var/run/heat-config/heat-config.oac",
        "mode: 0600\n",
        0o644,
    ),
    (
        "/usr/lib/systemd/system/os-collect-config.service",
        include_str!("install/os-collect-config.service"),
        0o644,
    ),
    (
        "/usr/lib/systemd/system/kiln-guest.service",
        include_str!("install/kiln-guest.service"),
        0o644,
    ),
];

/// The initial configuration; the rest comes with the metadata.
const SETTINGS: &str = "[DEFAULT]\ncommand = os-refresh-config\n";

pub(crate) fn main(host: &Host, args: &Args) -> i32 {
    match install(host, args) {
        Ok(()) => 0,
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

fn install(host: &Host, args: &Args) -> Result<()> {
    let programs = host.path("/usr/bin");
    files::folder(&programs, 0o755)?;
    let own = programs.join("kiln-guest");
    let me = std::env::current_exe().map_err(|error| {
        GuestError::new(format!("cannot determine the path of this program: {error}"))
    })?;
    if me != own {
        // The program is replaced by renaming, because the old one may be running.
        let bytes = std::fs::read(&me).map_err(|error| GuestError::at(&me, error))?;
        files::write(&own, &bytes, 0o755)?;
        host.print(&own.display().to_string());
    }
    for name in LINKS {
        link(host, "kiln-guest", &programs.join(name), args.has("force"))?;
    }
    let parts = host.path("/usr/libexec/os-refresh-config/configure.d");
    files::folder(&parts, 0o755)?;
    for name in PARTS {
        link(host, PROGRAM, &parts.join(name), args.has("force"))?;
    }
    if args.has("hooks") {
        let folder = host.path("/usr/libexec/heat-config/hooks");
        files::folder(&folder, 0o755)?;
        for name in hooks::names() {
            link(host, PROGRAM, &folder.join(name), args.has("force"))?;
        }
    }
    for (path, text, mode) in FILES {
        write(host, path, text, mode)?;
    }
    write(host, "/etc/os-collect-config.conf", SETTINGS, 0o600)?;
    for folder in ["/var/lib/heat-config", "/var/lib/os-collect-config/local-data"] {
        files::private_folder(&host.path(folder))?;
    }
    Ok(())
}

fn link(host: &Host, target: &str, path: &Path, is_forced: bool) -> Result<()> {
    let known = path.symlink_metadata().ok();
    if known.as_ref().is_some_and(|it| !it.is_symlink()) && !is_forced {
        host.warn(format!("{} already exists; use --force to replace it", path.display()));
        return Ok(());
    }
    if known.is_some() {
        files::remove(path)?;
    }
    symlink(target, path).map_err(|error| GuestError::at(path, error))?;
    host.print(&format!("{} -> {target}", path.display()));
    Ok(())
}

fn write(host: &Host, path: &str, text: &str, mode: u32) -> Result<()> {
    let path = host.path(path);
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        files::folder(folder, 0o755)?;
    }
    host.print(&path.display().to_string());
    files::write(&path, text.as_bytes(), mode)
}
