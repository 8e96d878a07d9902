//! A directory that stands in for a server, and the program run in it.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The directory, which is removed with the test.
pub(crate) struct Server {
    pub(crate) root: PathBuf,
    variables: Vec<(String, String)>,
}

/// The output and the exit status of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Server {
    pub(crate) fn new() -> Server {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("server-{}-{number}", std::process::id());
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&root).expect("a folder");
        // Tests do not retry.
        Server { root, variables: vec![("KILN_GUEST_PATIENCE".into(), "1,1".into())] }
    }

    /// Returns a server on which `kiln-guest install` has run.
    pub(crate) fn installed() -> Server {
        let server = Server::new();
        server.good("kiln-guest", &["install"]);
        server
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Server {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    pub(crate) fn put(&self, path: &str, text: &str, mode: u32) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).expect("JSON")
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).expect("a file").permissions().mode() & 0o777
    }

    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }

    /// Runs a tool with standard input.
    pub(crate) fn run_with(&self, tool: &str, arguments: &[&str], input: &str) -> Run {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln-guest"));
        command.arg0(tool).args(arguments).env_clear().env("KILN_GUEST_ROOT", &self.root);
        command.env("PATH", "/usr/bin:/bin").envs(self.variables.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        // The program may end without reading its input.
        _ = child.stdin.take().expect("input").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("an end");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Run {
            status: output.status.code().expect("a status"),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    pub(crate) fn run(&self, tool: &str, arguments: &[&str]) -> Run {
        self.run_with(tool, arguments, "")
    }

    /// Runs a tool that must succeed.
    pub(crate) fn good(&self, tool: &str, arguments: &[&str]) -> Run {
        let run = self.run(tool, arguments);
        assert_eq!(run.status, 0, "{tool}: {run:?}");
        run
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.root);
    }
}
