//! Records of every version stay readable, and what is not known is refused.
//!
//! The golden files are `tests/records/vN/RECORD.CASE.bin`. Those of version 0 were written by the last version that
//! wrote it; what they say is in the files of the same names of version 1. `KILN_WRITE_RECORDS=1 cargo test -p
//! kiln-engine record` writes the files of the current version that are not there yet; a file that is there never
//! changes.

use super::v1::names::Word;
use super::v1::*;
use super::value::{Id, Stored, StoredMembers};
use super::*;
use crate::state::Action;
use kiln_cloud::{Auth, Credential};
use kiln_template::Secret;
use kiln_yaql::Integer;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Reads a record, and gives it in the current version.
type Rewrite = fn(&[u8]) -> Result<Vec<u8>, Unreadable>;

fn rewrite<R: Record>(bytes: &[u8]) -> Result<Vec<u8>, Unreadable> {
    Ok(R::decode(bytes)?.encode())
}

/// Every kind of record, by the name of its files.
const RECORDS: [(&str, Rewrite); 15] = [
    ("alarm", rewrite::<AlarmBody>),
    ("alarm_event", rewrite::<AlarmEventBody>),
    ("change_set", rewrite::<ChangeSetBody>),
    ("command", rewrite::<CommandBody>),
    ("engine", rewrite::<EngineBody>),
    ("event", rewrite::<EventBody>),
    ("pending_delegation", rewrite::<PendingDelegationBody>),
    ("plan", rewrite::<PlanBody>),
    ("recipe", rewrite::<RecipeBody>),
    ("resource", rewrite::<ResourceBody>),
    ("series", rewrite::<SeriesBody>),
    ("snapshot", rewrite::<SnapshotBody>),
    ("software", rewrite::<SoftwareBody>),
    ("stack", rewrite::<StackBody>),
    ("webhook", rewrite::<WebhookBody>),
];

fn folder(version: u8) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/records/v{version}"))
}

/// The golden files of a version: the kind of record, the file, and what is in it.
fn golden(version: u8) -> Vec<(&'static str, Rewrite, PathBuf, Vec<u8>)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder(version)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "bin"));
    files.sort();
    let file = |file: PathBuf| {
        let name =
            file.file_name().unwrap().to_str().unwrap().split('.').next().unwrap().to_owned();
        let (name, rewrite) = *RECORDS.iter().find(|(it, _)| *it == name).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        (name, rewrite, file, bytes)
    };
    files.into_iter().map(file).collect()
}

#[test]
fn records_of_every_version_are_read_and_written_again_as_the_current_one() {
    if std::env::var_os("KILN_WRITE_RECORDS").is_some() {
        write_missing();
    }
    for version in [0, 1] {
        for (_, rewrite, file, bytes) in golden(version) {
            let now = rewrite(&bytes).unwrap_or_else(|error| panic!("{file:?}: {error}"));
            let expected = folder(1).join(file.file_name().unwrap());
            assert_eq!(now, std::fs::read(&expected).unwrap(), "{file:?}");
        }
    }
}

#[test]
fn every_kind_of_record_has_a_golden_file_of_every_version() {
    let all: BTreeSet<&str> = RECORDS.iter().map(|(name, _)| *name).collect();
    // These came after the form before versions.
    let newer = BTreeSet::from(["change_set", "plan"]);
    for (version, all) in [(0, &all - &newer), (1, all)] {
        let found: BTreeSet<&str> = golden(version).iter().map(|(name, ..)| *name).collect();
        assert_eq!(found, all, "version {version}");
    }
}

/// Writes what is not there: the current version of older files, and the samples.
fn write_missing() {
    let older = golden(0).into_iter().map(|(_, rewrite, file, bytes)| {
        (file.file_name().unwrap().to_str().unwrap().to_owned(), rewrite(&bytes).unwrap())
    });
    let samples = samples().into_iter().map(|(name, bytes)| (format!("{name}.bin"), bytes));
    for (name, bytes) in older.chain(samples) {
        let path = folder(1).join(name);
        if !path.exists() {
            std::fs::write(path, bytes).unwrap();
        }
    }
}

/// Records with what is rare.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let id = |number: u128| Id(Uuid::from_u128(number));
    let hidden = Value::Secret(Secret::new(Value::map([("word", Value::from("hunter2"))])));
    let big = Value::Int(Integer::parse("123456789012345678901234567890").unwrap());
    let members = |value: Value| StoredMembers(value.as_map().unwrap().clone().into());
    let credential = |auth: AuthBody| CredentialBody {
        project: "p".into(),
        user: "u".into(),
        auth,
        inherited: true,
    };
    let application = AuthBody::ApplicationCredential { id: "i".into(), secret: "hunter2".into() };
    let failure =
        FailureBody { class: "E".into(), path: "resources.r".into(), message: "m".into() };
    let traversal = TraversalBody {
        action: Word(Action::Adopt),
        deadline: 1_900_000_000_000_000,
        failure: Some(TraversalFailureBody { reason: "r".into(), resource: Some(failure) }),
        grace_until: Some(-1),
        flaws: vec!["flaw".into()],
        keeps_objects: true,
        adopted: Some(members(Value::map([("r", hidden.clone())]))),
        snapshot: Some(id(1)),
        must_roll_back: true,
        must_not_roll_back: true,
        converges: true,
        request: None,
        check_incomplete: false,
    };
    let stack = StackBody {
        parent_resource: Some(id(2)),
        timeout_secs: Some(u64::MAX),
        rollback: true,
        credential: Some(credential(application)),
        users_project: Some("".into()),
        makers: 0,
        to_revoke: vec![credential(AuthBody::Trust("t".into())), credential(AuthBody::None)],
        traversal: Some(traversal),
    };
    let checking = StackBody {
        traversal: Some(TraversalBody {
            action: Word(Action::Check),
            deadline: 0,
            failure: None,
            grace_until: None,
            flaws: Vec::new(),
            check_incomplete: true,
            keeps_objects: false,
            adopted: None,
            snapshot: None,
            must_roll_back: false,
            must_not_roll_back: false,
            converges: false,
            request: Some(id(7)),
        }),
        ..StackBody::default()
    };
    let made_by_stack = StackBody { makers: 3, ..StackBody::default() };
    let definition = || DefinitionBody {
        type_name: "T".into(),
        properties: members(Value::map([("a", hidden.clone()), ("b", big.clone())])),
        metadata: Stored(Value::map([("m", Value::Float(1.5))])),
        update_policy: Stored(Value::list([Value::Null, true.into()])),
        deletion_policy: Some(Word(kiln_template::DeletionPolicy::Snapshot)),
        depends_on: vec!["x".into()],
        external_id: Some("e".into()),
    };
    let steps = [
        StepBody::Begun,
        StepBody::Refused,
        StepBody::Settled,
        StepBody::Until(7),
        StepBody::Replied { status: 202, body: "{}".into() },
    ];
    let operation = OperationBody {
        kind: OperationName::ResolveDoubt,
        action: Word(Action::Update),
        target: Some(definition()),
        requires: vec![id(3)],
        drifted: members(Value::map([("d", Value::from(1))])),
        journal: steps.into_iter().map(|step| ("step".into(), step)).collect(),
        failures: 2,
        first_failure: Some(ErrorBody { class: "E".into(), message: "m".into() }),
        pause: Some(PauseBody::Stage(9)),
        awaited: true,
        snapshot: Some(id(4)),
        keeps_copy: true,
        last_stage: true,
        stage_pause_micros: 5,
        stages: 3,
    };
    let resource = ResourceBody {
        definition: Some(definition()),
        data: members(Value::map([("k", Value::from("v"))])),
        metadata: Stored(Value::map::<&str>([])),
        signals: None,
        shown: Stored(hidden.clone()),
        requires: vec![id(5), id(6)],
        replaces: Some(id(7)),
        replaced_by: Some(id(8)),
        nested_stack: Some(id(9)),
        doubtful: true,
        half_done: true,
        half_created: false,
        attempted: StoredMembers::default(),
        wanted_size: Some(3),
        cooldown: Some(CooldownBody {
            micros: 60_000_000,
            reason: "change_in_capacity : 1".into(),
        }),
        hook: Some(Word(kiln_template::environment::Hook::PreUpdate)),
        cleared_hooks: vec![Word(kiln_template::environment::Hook::PreCreate)],
        operation: Some(operation),
    };
    let cancelled = ResourceBody {
        operation: Some(OperationBody {
            kind: OperationName::Cancel,
            action: Word(Action::Create),
            target: None,
            requires: Vec::new(),
            drifted: members(Value::map::<&str>([])),
            journal: Vec::new(),
            failures: 0,
            first_failure: None,
            pause: None,
            awaited: false,
            snapshot: None,
            keeps_copy: false,
            last_stage: false,
            stage_pause_micros: 0,
            stages: 0,
        }),
        ..ResourceBody::default()
    };
    let signals = Some(SignalsBody { count: 2, bytes: 300 });
    let signalled = ResourceBody { signals, ..ResourceBody::default() };
    let half_created =
        ResourceBody { half_done: true, half_created: true, ..ResourceBody::default() };
    let half_updated = ResourceBody {
        half_done: true,
        attempted: members(Value::map([("size", Value::from(1))])),
        ..ResourceBody::default()
    };
    let change = ChangeBody {
        resource: "r".into(),
        type_name: "OS::Heat::Value".into(),
        physical_id: Some("p".into()),
        fate: ChangeName::Replace,
    };
    let other = |fate| ChangeBody { physical_id: None, fate, ..change.clone() };
    let change_set = ChangeSetBody {
        name: "n".into(),
        stack: id(12),
        creates: true,
        description: Some("d".into()),
        template: Some("t".into()),
        parameters: vec![("p".into(), "hunter2".into())],
        is_partial: true,
        cleared: vec!["q".into()],
        timeout: Some(60),
        is_rolled_back: Some(false),
        changes: vec![
            change.clone(),
            other(ChangeName::Add),
            other(ChangeName::Update),
            other(ChangeName::Remove),
        ],
        failure: Some("f".into()),
        base: Some("CREATE_COMPLETE 0".into()),
        is_executed: true,
    };
    let plan = PlanBody {
        action: PlannedActionName::Update,
        stack: id(13),
        recipe: None,
        settings: SettingsBody::default(),
        base: Some("b".into()),
        lines: vec!["create a".into()],
        shown: Stored(Value::map([("action", Value::from("update"))])),
        digest: "d".into(),
        expires: 1,
        is_applied: true,
    };
    let actions = [PlannedActionName::Create, PlannedActionName::Delete];
    let [creates, deletes] = actions.map(|action| PlanBody { action, ..plan.clone() });
    let cancel = CommandBody::Cancel { rollback: true };
    let restore = CommandBody::Restore(id(10));
    vec![
        ("stack.checking", checking.encode()),
        ("stack.made_by_stack", made_by_stack.encode()),
        ("stack.everything", stack.encode()),
        ("resource.everything", resource.encode()),
        ("resource.cancelled", cancelled.encode()),
        ("resource.half_created", half_created.encode()),
        ("resource.half_updated", half_updated.encode()),
        ("resource.signalled", signalled.encode()),
        ("change_set.everything", change_set.encode()),
        ("plan.everything", plan.encode()),
        ("plan.create", creates.encode()),
        ("plan.delete", deletes.encode()),
        ("command.cancel", cancel.encode()),
        ("command.restore", restore.encode()),
        ("command.delete_snapshot", CommandBody::DeleteSnapshot(id(11)).encode()),
        ("command.abandon", CommandBody::Abandon.encode()),
    ]
}

// --- what is not known ---

/// Bytes of version 0, as they were written.
fn encode_v0(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_v0(value, &mut out);
    out
}

fn write_v0(value: &Value, out: &mut Vec<u8>) {
    let text = |text: &str, out: &mut Vec<u8>| {
        length_v0(text.len() as u64, out);
        out.extend_from_slice(text.as_bytes());
    };
    match value {
        Value::Null | Value::Unknown(_) => out.push(b'n'),
        Value::Bool(flag) => out.push(if *flag { b't' } else { b'f' }),
        Value::Int(number) => match number.as_i64() {
            Some(number) => {
                out.push(b'i');
                length_v0(((number << 1) ^ (number >> 63)) as u64, out);
            }
            None => {
                out.push(b'I');
                text(&number.to_string(), out);
            }
        },
        Value::Float(number) => {
            out.push(b'd');
            out.extend_from_slice(&number.to_le_bytes());
        }
        Value::Text(it) => {
            out.push(b's');
            text(it, out);
        }
        Value::List(items) => {
            out.push(b'l');
            length_v0(items.len() as u64, out);
            items.iter().for_each(|item| write_v0(item, out));
        }
        Value::Map(members) => {
            out.push(b'm');
            length_v0(members.len() as u64, out);
            for (name, value) in members.iter() {
                text(name, out);
                write_v0(value, out);
            }
        }
        Value::Secret(secret) => {
            out.push(b'x');
            write_v0(secret.expose(), out);
        }
    }
}

fn length_v0(mut length: u64, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

fn why<R: Record + Debug>(bytes: &[u8]) -> String {
    R::decode(bytes).unwrap_err().to_string()
}

fn stack_v0(work: Value) -> Vec<u8> {
    encode_v0(&Value::map([("work", work)]))
}

#[test]
fn an_old_record_with_something_unknown_or_missing_is_unreadable() {
    let deadline = ("deadline", Value::from(1));
    let action = ("action", Value::from("UPDATE"));
    let known = Value::map([action.clone(), deadline.clone()]);
    assert!(StackBody::decode(&stack_v0(known)).is_ok());
    let unknown = Value::map([("action", Value::from("TELEPORT")), deadline.clone()]);
    let said = why::<StackBody>(&stack_v0(unknown));
    assert_eq!(said, "work: action: there is no action \"TELEPORT\"");
    let missing = why::<StackBody>(&stack_v0(Value::map([action.clone()])));
    assert_eq!(missing, "work: the field \"deadline\" is missing");
    let more = Value::map([action, deadline, ("speed", 1.into())]);
    assert_eq!(why::<StackBody>(&stack_v0(more)), "work: there is no field \"speed\"");
    let flags = encode_v0(&Value::map([("rollback", Value::from("yes"))]));
    assert_eq!(why::<StackBody>(&flags), "rollback: it is not a flag");
    let op = Value::map([("verb", Value::from("juggle")), ("action", "UPDATE".into())]);
    let op = encode_v0(&Value::map([("op", op)]));
    assert_eq!(why::<ResourceBody>(&op), "op: verb: there is no operation \"juggle\"");
    let command = encode_v0(&Value::map([("do", Value::from("explode"))]));
    assert_eq!(why::<CommandBody>(&command), "there is no command \"explode\"");
}

/// A record that a careless program wrote: fields by name, with the version before them.
fn forged(fields: &[(&str, Value)]) -> Vec<u8> {
    let members = Value::map(fields.iter().map(|(name, value)| (*name, value.clone())));
    let mut bytes = vec![1];
    bytes.extend(rmp_serde::to_vec(&Stored(members)).unwrap());
    bytes
}

#[test]
fn a_record_with_something_unknown_or_missing_is_unreadable() {
    assert!(StackBody::decode(&forged(&[])).is_ok());
    let said = why::<StackBody>(&forged(&[("speed", 1.into())]));
    assert!(said.starts_with("unknown field `speed`"), "{said}");
    let work = Value::map([("action", Value::from("UPDATE"))]);
    let said = why::<StackBody>(&forged(&[("traversal", work)]));
    assert!(said.contains("missing field `deadline`"), "{said}");
    let work = Value::map([("action", Value::from("TELEPORT")), ("deadline", 1.into())]);
    let said = why::<StackBody>(&forged(&[("traversal", work)]));
    assert!(said.contains("there is no action \"TELEPORT\""), "{said}");
    let op = Value::map([("kind", Value::from("juggle")), ("action", "UPDATE".into())]);
    let said = why::<ResourceBody>(&forged(&[("operation", op)]));
    assert!(said.contains("unknown variant `juggle`"), "{said}");
}

#[test]
fn a_record_of_a_later_version_is_told_apart() {
    for found in [2, 64] {
        let error = StackBody::decode(&[found, 0x80]).unwrap_err();
        assert_eq!(error, Unreadable::Newer { found, known: 1 });
        assert!(matches!(error.of("stack", "x"), StoreError::Newer { .. }));
    }
    assert!(matches!(StackBody::decode(&[]), Err(Unreadable::Malformed(_))));
}

#[test]
fn a_record_that_is_cut_off_or_too_long_is_unreadable() {
    for (_, rewrite, file, bytes) in golden(1) {
        for end in (0..bytes.len()).step_by(7) {
            assert!(rewrite(&bytes[..end]).is_err(), "{file:?} up to {end}");
        }
        assert!(rewrite(&[&bytes[..], b"\xc0"].concat()).is_err(), "{file:?}");
    }
}

#[test]
fn what_a_credential_proves_is_stored_and_never_shown() {
    let secret = Auth::ApplicationCredential { id: "i".into(), secret: "hunter2".into() };
    for auth in [Auth::None, Auth::Trust("t".into()), secret, Auth::Password("hunter2".into())] {
        let (project, user) = ("a".into(), "b".into());
        let credential = Credential { project, user, auth, is_inherited: true };
        let body = CredentialBody::from(&credential);
        assert!(!format!("{body:?}").contains("hunter2"));
        assert_eq!(Credential::from(body), credential);
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "-?[1-9][0-9]{20,40}".prop_map(|digits| Value::Int(Integer::parse(&digits).unwrap())),
        proptest::num::f64::NORMAL.prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::list),
            proptest::collection::vec((".{0,5}", inner.clone()), 0..5).prop_map(Value::map),
            inner.prop_filter_map("hidden once", |value| {
                (!value.has_secret()).then(|| Value::Secret(Secret::new(value)))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(value in any_value()) {
        let body = CommandBody::Signal {
            stack: Id(Uuid::nil()), resource: "r".into(), details: Stored(value.clone()),
        };
        let CommandBody::Signal { details: Stored(read), .. } = CommandBody::decode(&body.encode()).unwrap() else {
            panic!("another command");
        };
        prop_assert_eq!(read.has_secret(), value.has_secret());
        prop_assert_eq!(read.exposed(), value.exposed());
        let old = v0::decode(&encode_v0(&value)).unwrap();
        prop_assert_eq!(old.exposed(), value.exposed());
    }

    #[test]
    fn any_bytes_are_a_record_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        _ = StackBody::decode(&bytes);
        _ = ResourceBody::decode(&bytes);
        let versioned = [&[1], &bytes[..]].concat();
        _ = CommandBody::decode(&versioned);
    }
}

#[test]
fn an_old_value_that_is_too_deep_is_refused() {
    assert!(v0::decode(&[b"x".repeat(100_000), b"n".to_vec()].concat()).is_err());
}
