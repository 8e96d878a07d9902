//! Services, started and stopped by the service manager of the system.

use crate::error::Result;
use crate::host::Host;
use crate::process;
use std::path::Path;

/// A service manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    Systemd,
    Chkconfig,
    UpdateRc,
}

/// Starts or stops a service, now and at boot. Returns whether it was started.
pub(crate) fn ensure(
    host: &Host,
    name: &str,
    enabled: Option<bool>,
    running: Option<bool>,
) -> Result<bool> {
    let there = |path: &str| host.path(path).exists() || Path::new(path).exists();
    let manager = match () {
        () if there("/bin/systemctl") || there("/usr/bin/systemctl") => Manager::Systemd,
        () if there("/sbin/chkconfig") => Manager::Chkconfig,
        () => Manager::UpdateRc,
    };
    if let Some(enabled) = enabled {
        call(host, &enabling(manager, name, enabled));
    }
    let Some(running) = running else { return Ok(false) };
    let is_running = call(host, &doing(manager, name, "status"));
    match (is_running, running) {
        (false, true) => {
            host.info(format!("starting {name}"));
            call(host, &doing(manager, name, "start"));
            Ok(true)
        }
        (true, false) => {
            host.info(format!("stopping {name}"));
            call(host, &doing(manager, name, "stop"));
            Ok(false)
        }
        _ => Ok(false),
    }
}

fn enabling(manager: Manager, name: &str, is_enabled: bool) -> Vec<String> {
    let words: [&str; 3] = match (manager, is_enabled) {
        (Manager::Systemd, true) => ["systemctl", "enable", name],
        (Manager::Systemd, false) => ["systemctl", "disable", name],
        (Manager::Chkconfig, true) => ["/sbin/chkconfig", name, "on"],
        (Manager::Chkconfig, false) => ["/sbin/chkconfig", name, "off"],
        (Manager::UpdateRc, true) => ["update-rc.d", name, "enable"],
        (Manager::UpdateRc, false) => ["update-rc.d", name, "disable"],
    };
    words.map(str::to_owned).to_vec()
}

fn doing(manager: Manager, name: &str, what: &str) -> Vec<String> {
    let words = match manager {
        Manager::Systemd => ["systemctl", what, name],
        _ => ["service", name, what],
    };
    words.map(str::to_owned).to_vec()
}

/// Reports whether the program succeeded.
fn call(host: &Host, words: &[String]) -> bool {
    let [program, arguments @ ..] = words else { return false };
    let mut command = process::program(host, program);
    match process::capture(command.args(arguments), None, None) {
        Ok(output) => {
            host.debug(format!("{} exited with status {}", words.join(" "), output.status));
            output.status == 0
        }
        Err(error) => {
            host.warn(error.to_string());
            false
        }
    }
}
