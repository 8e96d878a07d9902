//! A directory of its own for each test, and the program run in it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory that goes away with the test.
pub(crate) struct TestDirectory {
    path: PathBuf,
}

/// The output and the exit status of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl TestDirectory {
    /// A directory with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> TestDirectory {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("kiln-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a directory for the test");
        let directory = TestDirectory { path };
        for (name, text) in files {
            directory.put(name, text.as_bytes());
        }
        directory
    }

    /// Writes a file.
    pub(crate) fn put(&self, name: &str, content: &[u8]) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, content).expect("a file of the test");
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs the program with arguments.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, b"")
    }

    /// Runs the program with arguments and standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut child = self.command(arguments).spawn().expect("the program");
        let mut stdin = child.stdin.take().expect("standard input");
        // The program may end without reading all of it.
        _ = stdin.write_all(input);
        drop(stdin);
        Run::from(child.wait_with_output().expect("an end"))
    }

    /// The program with arguments, not yet started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
        command.args(arguments).current_dir(&self.path);
        command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.path);
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let status = output.status.code().expect("an exit status");
        Run { status, out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Asserts what a run printed on standard output, and its exit status.
pub(crate) fn prints(run: &Run, status: i32, expected: &str) {
    assert!(
        run.out == expected && run.status == status && run.err.is_empty(),
        "exit status {} with\n{}{}\nwanted {status} with\n{expected}",
        run.status,
        run.out,
        run.err
    );
}

/// Asserts that a run could not be carried out, and why.
pub(crate) fn fails(run: &Run, why: &str) {
    assert_eq!((run.status, &*run.out, &*run.err), (2, "", &*format!("kiln: {why}\n")));
}
