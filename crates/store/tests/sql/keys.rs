//! Encryption: what the database holds, and what happens without the right keys.

use crate::test_store::{LONG, TestDatabase, TestStore, at, batch, damage, text};
use kiln_engine::PhysicalId;
use kiln_engine::store::{Batch, NewTree, StackRow, Store};
use kiln_store::{KeyError, OpenError, SqlStore};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

pub(crate) async fn execute(database: &TestDatabase, statement: &str) -> Vec<sqlx::any::AnyRow> {
    let mut connection = AnyConnection::connect(&database.url).await.unwrap();
    let query = sqlx::query(AssertSqlSafe(statement.to_owned()));
    let rows = query.fetch_all(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    rows
}

const TABLES: [&str; 7] =
    ["stacks", "recipes", "resources", "events", "commands", "contents", "snapshots"];

/// The tables that also have sealed texts: reasons and physical ids.
const WITH_TEXTS: [&str; 4] = ["stacks", "resources", "events", "snapshots"];

async fn bodies(database: &TestDatabase) -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    for table in TABLES {
        let rows = execute(database, &format!("SELECT body FROM {table}")).await;
        bodies.extend(rows.iter().map(|row| row.get::<Vec<u8>, _>(0)));
    }
    for table in WITH_TEXTS {
        let rows = execute(database, &format!("SELECT texts FROM {table}")).await;
        bodies.extend(rows.iter().map(|row| row.get::<Vec<u8>, _>(0)));
    }
    bodies.retain(|body| !body.is_empty());
    bodies
}

/// A tree with a secret in every body and in every text: seven bodies, and the texts of a stack, a resource, two events
/// and a snapshot.
async fn fill(store: Arc<SqlStore>) -> (TestStore, StackRow) {
    let test = TestStore::new(store.clone(), store);
    let engine = test.engine();
    let mut tree = NewTree { owner: Some((engine, LONG)), ..test.tree("p", "a") };
    tree.stack.body = b"SECRET stack".to_vec();
    tree.stack.summary.reason = "SECRET reason".into();
    tree.recipe.body = b"SECRET recipe".to_vec();
    tree.contents = vec![text("SECRET text")];
    tree.recipe.contents = vec![text("SECRET text").hash];
    let stack = tree.stack.clone();
    let (mut resource, mut event) = (test.resource(&stack, 1), test.event(&stack, 1));
    resource.body = b"SECRET resource".to_vec();
    event.body = b"SECRET event".to_vec();
    (resource.summary.reason, event.reason) = ("SECRET reason".into(), "SECRET reason".into());
    resource.summary.physical_id = Some(PhysicalId::hidden("SECRET id"));
    event.physical_id = "SECRET id".into();
    tree.events = vec![event, test.event(&stack, 2)];
    test.store.create_tree(tree).await.unwrap();
    let lease = test.store.renew(engine, LONG).await.unwrap()[0];
    let mut snapshot = test.snapshot(&stack, "s");
    snapshot.body = b"SECRET snapshot".to_vec();
    snapshot.reason = "SECRET reason".into();
    let (resources, snapshots) = (vec![resource], vec![snapshot]);
    test.write(Batch { resources, snapshots, ..batch(lease) }).await;
    let mut command = test.command(stack.id);
    command.body = b"SECRET command".to_vec();
    test.store.submit(command).await.unwrap();
    (test, stack)
}

pub(crate) async fn bodies_are_encrypted(database: TestDatabase) {
    let (test, _) = fill(Arc::new(database.open().await)).await;
    let found = bodies(&database).await;
    assert_eq!(found.len(), 12);
    for body in found {
        assert!(!body.windows(6).any(|part| part == b"SECRET"));
        // Nor do hashes of the text betray it.
        assert!(!body.windows(32).any(|part| part == text("SECRET text").hash.0));
    }
    let ids = execute(&database, "SELECT id FROM contents").await;
    assert_ne!(ids[0].get::<Vec<u8>, _>(0), text("SECRET text").hash.0);
    let content = test.store.content(text("SECRET text").hash).await.unwrap();
    assert_eq!(content.as_deref(), Some(&b"SECRET text"[..]));
    let mode = fs::metadata(&database.keys).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

pub(crate) async fn a_body_cannot_stand_in_for_another(database: TestDatabase) {
    let (test, stack) = fill(Arc::new(database.open().await)).await;
    let other = test.tree("p", "b");
    let other_id = other.stack.id;
    test.store.create_tree(other).await.unwrap();
    let copies = execute(&database, "SELECT id, body FROM stacks").await;
    let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let literal = |hex: &str| match database.url.split(':').next() {
        Some("postgres") => format!("'\\x{hex}'"),
        _ => format!("X'{hex}'"),
    };
    let body_of = |id: &[u8]| {
        let row = copies.iter().find(|row| row.get::<Vec<u8>, _>(0) == id).unwrap();
        literal(&hex(row.get(1)))
    };
    let body = body_of(other_id.0.as_bytes());
    let id = literal(&hex(stack.id.0.as_bytes().to_vec()));
    execute(&database, &format!("UPDATE stacks SET body = {body} WHERE id = {id}")).await;
    let (what, why) = damage(test.store.stack(stack.id).await);
    assert_eq!(what, format!("the body of stack {}", stack.id));
    assert!(why.contains("backup"), "{why}");
    assert!(test.store.stack(other_id).await.unwrap().is_some());
}

pub(crate) async fn a_damaged_body_is_reported(database: TestDatabase) {
    let (test, stack) = fill(Arc::new(database.open().await)).await;
    let empty = if database.url.starts_with("postgres") { "''" } else { "X''" };
    execute(&database, &format!("UPDATE resources SET body = {empty}")).await;
    let (what, why) = damage(test.store.resources(&[stack.id]).await);
    assert!(what.starts_with("the body of resource "), "{what}");
    assert!(why.contains("restore the database from a backup"), "{why}");
    execute(&database, "UPDATE stacks SET status = 'HALF'").await;
    let (what, _) = damage(test.store.stack(stack.id).await);
    assert_eq!(what, "the state CREATE_HALF");
}

pub(crate) async fn a_missing_key_file_is_reported(database: TestDatabase) {
    database.open().await.close().await;
    fs::remove_file(&database.keys).unwrap();
    let error = SqlStore::open(&database.url, &database.keys).await.unwrap_err();
    assert!(matches!(error, OpenError::Keys(KeyError::Missing(_))), "{error}");
    assert!(error.to_string().contains("restore it from a backup"), "{error}");
    assert!(!database.keys.exists());
}

pub(crate) async fn a_wrong_key_file_is_reported(database: TestDatabase) {
    database.open().await.close().await;
    write_keys(&database.keys, &format!("lookup {0}\nkey {0}\n", "ab".repeat(32)));
    let error = SqlStore::open(&database.url, &database.keys).await.unwrap_err();
    assert!(matches!(error, OpenError::Keys(KeyError::Wrong(_))), "{error}");
    assert!(!format!("{error} {error:?}").contains("abab"), "{error:?}");
    write_keys(&database.keys, "lookup 1234\n");
    let error = SqlStore::open(&database.url, &database.keys).await.unwrap_err();
    assert!(error.to_string().contains("line 1: a key has 64 hexadecimal digits"), "{error}");
    assert!(!error.to_string().contains("1234"), "{error}");
}

pub(crate) async fn a_key_file_that_others_can_read_is_refused(database: TestDatabase) {
    database.open().await.close().await;
    fs::set_permissions(&database.keys, fs::Permissions::from_mode(0o640)).unwrap();
    let error = SqlStore::open(&database.url, &database.keys).await.unwrap_err();
    let told = format!("chmod 600 '{}'", database.keys.display());
    assert!(error.to_string().contains(&told), "{error}");
}

pub(crate) async fn rotation_encrypts_everything_again(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let (test, stack) = fill(store.clone()).await;
    let before = bodies(&database).await;
    let old_keys = fs::read_to_string(&database.keys).unwrap();
    let old_tree = format!("{:?}", test.store.load_tree(stack.id).await.unwrap());
    assert_eq!(store.rotate().await.unwrap(), 12);
    let after = bodies(&database).await;
    let key = |bodies: &[Vec<u8>]| {
        let keys: std::collections::BTreeSet<_> =
            bodies.iter().map(|body| body[1..5].to_vec()).collect();
        assert_eq!(keys.len(), 1);
        keys.into_iter().next()
    };
    assert_ne!(key(&before), key(&after));
    assert_eq!(format!("{:?}", test.store.load_tree(stack.id).await.unwrap()), old_tree);
    // The old key is not needed any more: a ring with the new one alone will do.
    let keys = fs::read_to_string(&database.keys).unwrap();
    assert!(keys.starts_with(&old_keys));
    let (lookup, newest) = (keys.lines().nth(1).unwrap(), keys.lines().last().unwrap());
    write_keys(&database.keys, &format!("{lookup}\n{newest}\n"));
    let alone = database.open().await;
    assert_eq!(format!("{:?}", alone.load_tree(stack.id).await.unwrap()), old_tree);
    let hash = text("SECRET text").hash;
    assert!(alone.content(hash).await.unwrap().is_some());
}

pub(crate) async fn a_rotation_that_was_broken_off_is_taken_up(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let (test, stack) = fill(store.clone()).await;
    // As if a rotation had added its key and then stopped, half of the bodies done.
    store.add_key().unwrap();
    let lease = test.store.claim_tree(test.engine(), stack.id, LONG + LONG.since(at(0)), LONG);
    let lease = lease.await.unwrap().unwrap();
    test.write(Batch { stacks: vec![stack.clone()], ..batch(lease) }).await;
    let keys = fs::read_to_string(&database.keys).unwrap();
    assert_eq!(store.rotate().await.unwrap(), 10);
    assert_eq!(fs::read_to_string(&database.keys).unwrap(), keys, "no second key was needed");
    assert_eq!(store.rotate().await.unwrap(), 12);
    assert_ne!(fs::read_to_string(&database.keys).unwrap(), keys);
}

pub(crate) async fn another_process_notices_a_new_key(database: TestDatabase) {
    let (ours, theirs) = (Arc::new(database.open().await), Arc::new(database.open().await));
    let (_, stack) = fill(ours.clone()).await;
    ours.rotate().await.unwrap();
    assert_eq!(theirs.stack(stack.id).await.unwrap().as_ref(), Some(&stack));
    // And it writes with it.
    ours.rotate().await.unwrap();
    let other = TestStore::new(theirs.clone(), theirs);
    let mut second = other.tree("p", "b");
    second.stack.id = kiln_engine::StackId(uuid::Uuid::from_u128(1));
    second.recipe.id = kiln_engine::RecipeId(uuid::Uuid::from_u128(2));
    other.store.create_tree(second).await.unwrap();
    let keys: std::collections::BTreeSet<_> =
        bodies(&database).await.iter().map(|body| body[1..5].to_vec()).collect();
    assert_eq!(keys.len(), 1);
}

pub(crate) async fn a_key_that_is_nowhere_is_reported(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let (test, stack) = fill(store.clone()).await;
    let keys = fs::read_to_string(&database.keys).unwrap();
    store.rotate().await.unwrap();
    // The other machine has no copy of the new file.
    write_keys(&database.keys, &keys);
    let _ = test.store.submit(test.command(stack.id)).await;
    let (what, why) = damage(store.stack(stack.id).await);
    assert_eq!(what, format!("the body of stack {}", stack.id));
    let told = format!("which the key file {} has not; copy the file", database.keys.display());
    assert!(why.contains(&told), "{why}");
}

pub(crate) async fn keys_that_nothing_needs_are_dropped(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let (test, stack) = fill(store.clone()).await;
    let rows = |usage: &[kiln_store::KeyUsage]| -> Vec<(u64, bool, bool)> {
        usage.iter().map(|key| (key.rows, key.encrypts, key.is_known)).collect()
    };
    // Twelve values and the one that tells whether the keys are right.
    assert_eq!(rows(&store.key_usage().await.unwrap()), [(13, true, true)]);
    assert_eq!(store.drop_unused_keys().await.unwrap(), Vec::<String>::new());
    store.add_key().unwrap();
    let usage = store.key_usage().await.unwrap();
    assert_eq!(rows(&usage), [(13, false, true), (0, true, true)]);
    assert_eq!(store.drop_unused_keys().await.unwrap(), Vec::<String>::new(), "both are needed");
    store.rotate().await.unwrap();
    let old = usage[0].id.clone();
    assert_eq!(rows(&store.key_usage().await.unwrap()), [(0, false, true), (13, true, true)]);
    let keys = fs::read_to_string(&database.keys).unwrap();
    assert_eq!(store.drop_unused_keys().await.unwrap(), [old]);
    assert_eq!(rows(&store.key_usage().await.unwrap()), [(13, true, true)]);
    let left = fs::read_to_string(&database.keys).unwrap();
    assert_eq!(left.lines().count(), keys.lines().count() - 1);
    let again = database.open().await;
    assert_eq!(again.stack(stack.id).await.unwrap().as_ref(), Some(&stack));
    // A key that the file lacks is shown with its rows.
    store.rotate().await.unwrap();
    write_keys(&database.keys, &left);
    drop(test);
    assert_eq!(rows(&again.key_usage().await.unwrap()), [(13, false, false), (0, true, true)]);
}

pub(crate) async fn a_store_that_must_exist_is_not_created(database: TestDatabase) {
    let error = SqlStore::open_existing(&database.url, &database.keys).await.unwrap_err();
    assert!(matches!(error, OpenError::Absent(_)), "{error}");
    assert!(error.to_string().contains("start `kiln server` once"), "{error}");
    assert!(!database.keys.exists());
    database.open().await.close().await;
    SqlStore::open_existing(&database.url, &database.keys).await.unwrap().close().await;
    fs::remove_file(&database.keys).unwrap();
    let error = SqlStore::open_existing(&database.url, &database.keys).await.unwrap_err();
    assert!(matches!(error, OpenError::Keys(KeyError::Missing(_))), "{error}");
    assert!(!database.keys.exists());
}

fn write_keys(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
