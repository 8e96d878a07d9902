//! The server and the keeping of its database.

use crate::place::Place;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

#[test]
fn a_server_starts_on_nothing_and_stops_when_asked() {
    let place = Place::with(&[]);
    let mut server = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["server", "--role", "engine"])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut out = BufReader::new(server.stdout.take().expect("its output"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    assert_eq!(line, "The engine runs. Stop it with Ctrl-C: nothing is lost.\n");
    let id = server.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("a signal").success());
    assert!(server.wait().expect("it stops").success());
    line.clear();
    out.read_line(&mut line).expect("a line");
    assert_eq!(line, "Stopped.\n");
}

#[test]
fn a_database_is_kept() {
    let place = Place::with(&[]);
    assert_eq!(place.run(&["db", "purge"]).out, "Purged 0 deleted stacks.\n");
    let run = place.run(&["db", "rotate-keys"]);
    assert_eq!(run.out, "A new key is in use; 0 rows were encrypted anew.\n");
}

#[test]
fn what_cannot_be_used_is_told_with_what_to_do() {
    let place = Place::with(&[]);
    let run = place.run(&["server", "--endpoint", "network"]);
    assert_eq!((run.status, &*run.err), (2, "kiln: --endpoint network: write it as SERVICE=URL\n"));
    let run = place.run(&["server", "--endpoint", "nets=http://x"]);
    assert!(
        run.err.starts_with("kiln: --endpoint: there is no service nets; it is one of alarming,")
    );
    place.run(&["db", "purge"]);
    let keys = place.path().join("kiln.keys");
    std::fs::set_permissions(&keys, PermissionsExt::from_mode(0o644)).expect("a mode");
    let run = place.run(&["db", "purge"]);
    assert_eq!(run.status, 2);
    assert!(
        run.err.ends_with("can be read by others (mode 644): chmod 600 'kiln.keys'\n"),
        "{}",
        run.err
    );
}
