//! A folder that plays a server.

use crate::cloud::kiln_process::{KilnProcess, Objects, Who};
use crate::cloud::life::{delete, ended, expect, path};
use crate::test_directory::TestDirectory;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long something is asked for again and again before it counts as missing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// A server. What runs in it ends with this.
pub(crate) struct Inside {
    pub(crate) directory: TestDirectory,
    running: Option<Child>,
}

impl Drop for Inside {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            // It may have ended by itself.
            _ = running.kill();
            _ = running.wait();
        }
    }
}

/// The program inside servers, as it was built with these tests.
pub(crate) fn program() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_kiln")).parent().expect("a folder");
    folder.join("examples/kiln-guest")
}

impl Inside {
    /// A server from an image with everything.
    pub(crate) fn installed() -> Inside {
        let inside = Inside { directory: TestDirectory::with(&[]), running: None };
        inside.run(&["install"]);
        inside
    }

    /// Runs the program to its end, which is good.
    pub(crate) fn run(&self, arguments: &[&str]) {
        let done = self.command(&program()).args(arguments).output().expect("the program");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{arguments:?}: {said}");
    }

    /// A program in this server.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let root = self.directory.path();
        command.env_clear().env("KILN_GUEST_ROOT", root).env("HOME", root);
        command.env("PATH", format!("{}:/usr/bin:/bin", root.join("usr/bin").display()));
        command.current_dir(root).stdin(Stdio::null());
        command
    }

    /// The first boot.
    pub(crate) fn boot(&self, user_data: &[u8]) {
        self.directory.put("user-data", user_data);
        let file = self.directory.path().join("user-data");
        self.run(&["boot", "--user-data", &file.display().to_string()]);
    }

    /// Starts a command that keeps running.
    pub(crate) fn start(&mut self, mut command: Command) {
        let log = std::fs::File::create(self.directory.path().join("log")).expect("a log");
        command.stdout(Stdio::null()).stderr(log);
        self.running = Some(command.spawn().expect("the program"));
    }

    /// The log of the commands that keep running.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

/// Creates a stack.
pub(crate) async fn create(kiln: &KilnProcess, name: &str, template: &str, parameters: &Json) {
    let body = json!({ "stack_name": name, "template": template, "parameters": parameters });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
}

/// The user data of a server of a stack, as soon as there is one.
pub(crate) async fn user_data(kiln: &KilnProcess, stack: &str, resource: &str) -> Vec<u8> {
    let known = async {
        loop {
            let path = format!("{}/resources/{resource}", path(kiln, Who::Demo, stack).await);
            let shown = kiln.ask(Who::Demo, "GET", &path, None).await.body;
            let id = shown["resource"]["physical_resource_id"].as_str().unwrap_or_default();
            if !id.is_empty() {
                let data = kiln.user_data(id).await;
                if !data.is_empty() {
                    return data;
                }
            }
        }
    };
    tokio::time::timeout(PATIENCE, known).await.expect("a server")
}

/// An output of a stack.
pub(crate) async fn output(kiln: &KilnProcess, stack: &str, name: &str) -> Json {
    let path = format!("{}/outputs/{name}", path(kiln, Who::Demo, stack).await);
    kiln.ask(Who::Demo, "GET", &path, None).await.body["output"]["output_value"].clone()
}

/// Waits for a stack to come to an end; what the guest said is told if it is another one.
pub(crate) async fn comes_to(kiln: &KilnProcess, stack: &str, state: &str, inside: &Inside) {
    let ended = tokio::time::timeout(PATIENCE, ended(kiln, Who::Demo, stack, state)).await;
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(why)) => panic!("{why}\n{}", inside.log()),
        Err(_) => panic!("it does not end\n{}", inside.log()),
    }
}

/// Changes a stack, and gives how that ended.
pub(crate) async fn change(
    kiln: &KilnProcess,
    stack: &str,
    template: &str,
    parameters: &Json,
    inside: &Inside,
) -> Result<(), String> {
    let body = json!({ "template": template, "parameters": parameters });
    let updating = crate::cloud::life::update(kiln, Who::Demo, stack, &body);
    let ended = tokio::time::timeout(PATIENCE, updating).await;
    ended.unwrap_or_else(|_| panic!("the update does not end\n{}", inside.log()))
}

/// Deletes a stack, and finds nothing of it.
pub(crate) async fn gone(kiln: &KilnProcess, stack: &str, before: &Objects) {
    delete(kiln, Who::Demo, stack).await.expect("deleted");
    assert_eq!(kiln.changed_since(before).await, Vec::<String>::new());
}
