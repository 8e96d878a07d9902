//! The maintenance of a database.

use crate::test_directory::TestDirectory;
use std::os::unix::fs::PermissionsExt;

/// A directory with the database of a server that has stopped, in `var`, and its configuration.
fn kept() -> TestDirectory {
    let config =
        "[database]\nconnection = sqlite:///var/heat.db\n[kiln]\nkeys_file = var/heat.keys\n";
    let directory = TestDirectory::with(&[("kiln.conf", config), ("var/.keep", "")]);
    let run = directory.run(&["server", "--config", "kiln.conf", "--role", "engine", "--once"]);
    assert_eq!(run.status, 0, "{}", run.err);
    directory
}

/// The ids in the output of `kiln db keys`.
fn ids(out: &str) -> Vec<String> {
    let ids = out.lines().filter_map(|line| line.strip_prefix("Key ")?.split_once(':'));
    ids.map(|(id, _)| id.to_owned()).collect()
}

#[test]
fn maintenance_creates_no_database() {
    for command in ["purge", "keys", "rotate-keys", "drop-keys", "migrate"] {
        let directory = TestDirectory::with(&[]);
        let run = directory.run(&["db", command]);
        assert_eq!((run.status, &*run.out), (2, ""), "{command}");
        assert_eq!(
            run.err,
            "kiln: there is no database kiln.db: check where it is, or start `kiln server` once, which \
             creates it; --config FILE names the configuration of the server\n"
        );
        let left = std::fs::read_dir(directory.path()).expect("a directory").count();
        assert_eq!(left, 0, "{command} creates nothing");
    }
}

#[test]
fn maintenance_reads_the_configuration_of_the_server() {
    let directory = kept();
    let run = directory.run(&["db", "purge", "--config", "kiln.conf"]);
    assert_eq!((run.status, &*run.out), (0, "Purged 0 deleted stacks.\n"), "{}", run.err);
    let keys = directory.path().join("var/heat.keys");
    std::fs::set_permissions(&keys, PermissionsExt::from_mode(0o644)).expect("a mode");
    let run = directory.run(&["db", "purge", "--config", "kiln.conf"]);
    let told = "can be read by others (mode 644): chmod 600 'var/heat.keys'\n";
    assert!(run.status == 2 && run.err.ends_with(told), "{}", run.err);
    std::fs::remove_file(&keys).expect("it is removed");
    let run = directory.run(&["db", "rotate-keys", "--config", "kiln.conf"]);
    assert!(run.err.contains("the key file var/heat.keys is missing"), "{}", run.err);
    assert!(!keys.exists());
    let run = directory.run(&["db", "purge", "--config", "missing.conf"]);
    assert_eq!(run.status, 2, "{}", run.err);
}

#[test]
fn old_keys_are_dropped_once_nothing_needs_them() {
    let directory = kept();
    let db = |command: &str| {
        let run = directory.run(&["db", command, "--config", "kiln.conf"]);
        assert_eq!(run.status, 0, "{}", run.err);
        run.out
    };
    let keys = directory.path().join("var/heat.keys");
    std::fs::set_permissions(&keys, PermissionsExt::from_mode(0o400)).expect("a mode");
    let first = db("keys");
    let old = ids(&first).remove(0);
    assert_eq!(first, format!("Key {old}: 1 row; encrypts new data.\n"));
    assert_eq!(db("drop-keys"), "Every key is in use; none was dropped.\n");
    let rotated = db("rotate-keys");
    let new = ids(&rotated).remove(1);
    assert_eq!(
        rotated,
        format!(
            "A new key is in use; 0 rows were encrypted again.\n\
             Key {old}: 0 rows; unused: `kiln db drop-keys` removes it.\n\
             Key {new}: 1 row; encrypts new data.\n"
        )
    );
    let mode = std::fs::metadata(&keys).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o400, "the mode is kept");
    assert_eq!(
        db("drop-keys"),
        format!("Dropped key {old}; backups from before its rotation need it.\n")
    );
    assert_eq!(db("keys"), format!("Key {new}: 1 row; encrypts new data.\n"));
}

#[test]
fn a_backup_is_put_in_place_again() {
    let directory = kept();
    let db = |arguments: &[&str]| {
        directory.run(&[&["db"], arguments, &["--config", "kiln.conf"]].concat())
    };
    let backup = db(&["backup", "copy.db"]);
    assert_eq!(backup.status, 0, "{}", backup.err);
    let copy = directory.path().join("copy.db");
    let mode = std::fs::metadata(&copy).expect("a copy").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "names and projects are in it");
    let again = db(&["backup", "copy.db"]);
    assert!(again.status == 2 && again.err.contains("cannot create copy.db"), "{}", again.err);

    let database = directory.path().join("var/heat.db");
    std::fs::write(&database, "damaged").expect("a damaged file");
    let restored = db(&["restore", "copy.db"]);
    assert_eq!(restored.status, 0, "{}", restored.err);
    assert!(restored.out.contains("admin orphans"), "{}", restored.out);
    let former = std::fs::read(directory.path().join("var/heat.db.before-restore"));
    assert_eq!(former.expect("the former file"), b"damaged");
    let checked = db(&["check"]);
    assert_eq!((checked.status, &*checked.out), (0, "0 stacks were read; problems: 0.\n"));
    let status = db(&["status"]);
    assert!(status.out.contains("the newest") && status.out.contains("Engines:"), "{}", status.out);
    let migrated = db(&["migrate"]);
    assert!(migrated.out.ends_with("already.\n"), "{}", migrated.out);

    directory.put("none.db", b"");
    let refused = db(&["restore", "none.db"]);
    assert!(
        refused.status == 2 && refused.err.contains("is no database of Kiln"),
        "{}",
        refused.err
    );
    let server = db(&["backup", "copy", "--database", "postgres://kiln:hunter2@db/kiln"]);
    assert!(server.status == 2 && server.err.contains("pg_dump --host=db"), "{}", server.err);
    assert!(!server.err.contains("hunter2"), "{}", server.err);
}
