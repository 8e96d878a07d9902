//! What holds of every operation: it may be interrupted at any demand and started anew.

use crate::driving::{Configs, Drive, Nothing, START, Seam, World};
use kiln_cloud::{Call, CallError, CallPath, Marker, Method, Reply, Service, delete, get, post};
use kiln_resources::behaviour::{Handler, OperationKind, SignalStorage};
use kiln_resources::declare::*;
use kiln_resources::op::{Answer, Demand, FailureClass, Journal, Op, OpError, Progress, Sibling};
use kiln_resources::registry::Registry;
use kiln_resources::rest::RestSpec;
use kiln_template::schema::PropertyType;
use serde_json::json;

const VERBS: [OperationKind; 7] = [
    OperationKind::Create,
    OperationKind::Update,
    OperationKind::Delete,
    OperationKind::Check,
    OperationKind::Suspend,
    OperationKind::Resume,
    OperationKind::Snapshot,
];

/// Properties that make a type do as much as it can, beside its defaults.
fn interesting(kind: &str) -> Vec<(&'static str, Value)> {
    match kind {
        "OS::Heat::Delay" => vec![
            ("actions", list(["CREATE", "DELETE", "SUSPEND", "RESUME"])),
            ("min_wait", 30.into()),
            ("max_jitter", 20.into()),
        ],
        "OS::Heat::TestResource" => vec![("wait_secs", 10.into())],
        "OS::Heat::MultipartMime" => vec![(
            "parts",
            list([map([("config", "6509a887-bfe5-48c2-90c1-aff0f78a804f"), ("type", "text")])]),
        )],
        "OS::Heat::WaitCondition" => vec![("timeout", 100.into())],
        "AWS::CloudFormation::WaitCondition" => vec![("Timeout", 100.into())],
        _ => vec![],
    }
}

/// The defaults of a type, something for what it requires, and something to do.
fn properties(kind: &ResourceType) -> Members {
    let mut members = Members::new();
    for property in &kind.schema.properties {
        let required = property.required.then(|| match property.kind {
            PropertyType::Integer | PropertyType::Number => 1.into(),
            PropertyType::List => Value::list([]),
            PropertyType::Map => Value::map::<&str>([]),
            _ => "x".into(),
        });
        let value = property.default.clone().or(required).unwrap_or_default();
        members.insert(property.name.as_ref().into(), value);
    }
    for (name, value) in interesting(kind.name()) {
        members.insert(name.into(), value);
    }
    members
}

/// A stack in which handles get one signal at a time.
#[derive(Default)]
struct Signals(Configs);

impl World for Signals {
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        self.0.call(call)
    }

    fn metadata(&mut self, _: &str, seen: Option<&Value>) -> Option<Answer> {
        let signal = map([("status", "SUCCESS"), ("Status", "SUCCESS")]);
        let metadata = match seen {
            None => Value::Null,
            Some(Value::Null) => map([("1", signal)]),
            Some(_) => return None,
        };
        Some(Answer::Metadata(Some(metadata)))
    }

    fn sibling(&mut self, _: &str) -> Option<Sibling> {
        Some(Sibling::default())
    }
}

/// What others can see of a resource after an operation, but for what is random.
fn seen(drive: &Drive) -> (String, bool, Vec<String>, Value) {
    let data = drive.context.data.keys().map(|key| key.to_string()).collect();
    let has_id = drive.context.physical_id.is_some();
    (format!("{:?}", drive.result()), has_id, data, drive.context.metadata.clone())
}

#[test]
fn every_operation_ends_the_same_wherever_it_was_interrupted() {
    let mut operations = 0;
    for kind in Registry::builtin().iter() {
        // Types with a service have a world of their own.
        let is_local = kind.service.is_none_or(|service| service == Service::Orchestration)
            && kind.behaviour.finder.is_none()
            && kind.behaviour.signals_kept_in != SignalStorage::Data;
        for operation in VERBS.into_iter().filter(|_| is_local) {
            if kind.behaviour.handler(operation).is_none() {
                continue;
            }
            operations += 1;
            let place = format!("{operation:?} of {}", kind.name());
            let mut straight = Drive::new(properties(kind));
            straight.run(kind, operation, &mut Signals::default());
            assert!(straight.result().is_ok(), "{place}: {:?}", straight.result());
            for at in 0..straight.demands.len() {
                for seam in [Seam::Before(at), Seam::After(at)] {
                    let mut broken = Drive::new(properties(kind));
                    broken.run_through(kind, operation, &mut Signals::default(), seam);
                    assert_eq!(seen(&broken), seen(&straight), "{place} at {seam:?}");
                    // A call of which it is not known whether it was made is given time.
                    let is_call = matches!(straight.demands[at], Demand::Call { .. });
                    let quiet = if is_call { 60_000_000 } else { 0 };
                    assert!(
                        broken.now <= straight.now + 20_000_000 + quiet,
                        "{place} waited twice at {seam:?}"
                    );
                }
            }
        }
    }
    assert!(operations > 20, "only {operations} operations");
}

// --- a made-up type with an object at a service ---

fn thing() -> ResourceType {
    ResourceType::new("OS::Test::Thing")
        .about("A thing at a service.")
        .service(Service::Network)
        .finder(by_name)
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
}

fn by_name(op: &Op) -> Option<Marker> {
    let name = op.context().physical_name.to_string();
    Some(Marker {
        list: get(Service::Network, "/things").query("name", name.as_str()),
        objects: "/things".into(),
        field: "/name".into(),
        value: name.into(),
        envelope: Some("thing".into()),
        path: "/things".into(),
        id: "/id".into(),
    })
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let body = json!({ "thing": { "name": &*op.context().physical_name } });
    let reply = op.call("create", post(Service::Network, "/things", body)).await?;
    let id = reply.text("/thing/id").unwrap_or_default().to_owned();
    op.set_id(id.as_str());
    let is_ready = |reply: &Reply| match reply.text("/thing/status") {
        Some("ACTIVE") => Progress::Ready,
        Some("ERROR") => Progress::Failed("Went to status ERROR due to \"Unknown\"".into()),
        _ => Progress::NotYet,
    };
    op.until(get(Service::Network, CallPath::from("/things").id(&id)), is_ready).await.map(drop)
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    op.remove("delete", delete(Service::Network, CallPath::from("/things").id(&id))).await?;
    op.clear_id();
    Ok(())
}

/// A service that can lose replies and be late.
#[derive(Default)]
struct Things {
    objects: Vec<(String, String)>,
    made: usize,
    /// The replies to so many posts are lost.
    lost: usize,
    /// A post whose reply is lost is carried out only after so many other calls.
    late: Option<usize>,
    waiting: Option<(usize, String)>,
    looks: usize,
}

impl Things {
    fn make(&mut self, name: String) -> String {
        self.made += 1;
        let id = format!("t{}", self.made);
        self.objects.push((id.clone(), name));
        id
    }

    fn tick(&mut self) {
        match self.waiting.take() {
            Some((0, name)) => _ = self.make(name),
            Some((left, name)) => self.waiting = Some((left - 1, name)),
            None => (),
        }
    }
}

impl World for Things {
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        self.tick();
        let ok = |body| Ok(Reply::new(200, body));
        let id = call.request.path.checked().expect("a path").strip_prefix("/things/");
        match (call.request.method, id) {
            (Method::Post, _) => {
                let name =
                    call.request.body.as_ref().and_then(|body| body["thing"]["name"].as_str());
                let name = name.unwrap_or_default().to_owned();
                if self.lost > 0 {
                    self.lost -= 1;
                    match self.late {
                        Some(late) => self.waiting = Some((late, name)),
                        None => _ = self.make(name),
                    }
                    return Err(CallError::Lost("connection reset".into()));
                }
                let id = self.make(name);
                ok(json!({ "thing": { "id": id } }))
            }
            (Method::Get, None) => {
                let objects: Vec<_> = self
                    .objects
                    .iter()
                    .map(|(id, name)| json!({ "id": id, "name": name }))
                    .collect();
                ok(json!({ "things": objects }))
            }
            (Method::Get, Some(id)) => {
                self.looks += 1;
                let status = if self.looks > 2 { "ACTIVE" } else { "BUILD" };
                ok(json!({ "thing": { "id": id, "status": status } }))
            }
            (Method::Delete, Some(id)) => {
                let before = self.objects.len();
                self.objects.retain(|(known, _)| known != id);
                if self.objects.len() == before {
                    let body = json!({ "NeutronError": { "message": "not there" } });
                    return Err(CallError::Refused(Reply::new(404, body)));
                }
                ok(json!(null))
            }
            other => panic!("nobody expected {other:?}"),
        }
    }
}

/// There is one object, and it is the resource's.
fn assert_settled(drive: &Drive, things: &Things, place: &str) {
    assert_eq!(drive.result(), &Ok(()), "{place}");
    let ids: Vec<&str> = things.objects.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, [drive.context.physical_id.as_deref().expect("an id")], "{place}");
}

#[test]
fn an_object_is_made_once_wherever_the_operation_was_interrupted() {
    let behaviour = thing();
    let mut straight = Drive::new(Members::new());
    straight.run(&behaviour, OperationKind::Create, &mut Things::default());
    assert_eq!(straight.now, START + 200_000 + 300_000, "two pauses between three looks");
    for at in 0..straight.demands.len() {
        for seam in [Seam::Before(at), Seam::After(at)] {
            let mut things = Things::default();
            let mut drive = Drive::new(Members::new());
            drive.run_through(&behaviour, OperationKind::Create, &mut things, seam);
            assert_settled(&drive, &things, &format!("{seam:?}"));
            assert_eq!(things.made, 1, "{seam:?}");
        }
    }
}

#[test]
fn an_object_whose_reply_was_lost_is_found_by_its_mark() {
    let mut things = Things { lost: 1, ..Things::default() };
    let mut drive = Drive::new(Members::new());
    drive.run(&thing(), OperationKind::Create, &mut things);
    assert_settled(&drive, &things, "a lost reply");
    assert_eq!(things.made, 1);
    assert!(drive.now >= START + 60_000_000, "it looks again when nothing can come any more");
}

#[test]
fn a_call_that_takes_effect_late_leaves_nothing_behind() {
    for late in 0..6 {
        let mut things = Things { lost: 1, late: Some(late), ..Things::default() };
        let mut drive = Drive::new(Members::new());
        drive.run(&thing(), OperationKind::Create, &mut things);
        assert_settled(&drive, &things, &format!("carried out after {late} calls"));
    }
}

/// A type whose objects can carry no mark: they have nothing but names, which templates choose.
fn named() -> ResourceType {
    ResourceType::new("Test::Named")
        .service(Service::Network)
        .props([prop("name", Str, "The name.")])
        .rest(RestSpec::new(Service::Network, "/things", "thing").deleted_at_once())
}

/// A resource with the name `data`, and an object of somebody else that has the same name.
fn named_twice(lost: usize, late: Option<usize>) -> (Drive, Things, String) {
    let mut things = Things { lost, late, ..Things::default() };
    let theirs = things.make("data".into());
    (Drive::new([("name".into(), "data".into())].into_iter().collect()), things, theirs)
}

#[test]
fn an_object_of_others_with_the_chosen_name_is_neither_adopted_nor_removed() {
    let (mut straight, mut things, _) = named_twice(0, None);
    straight.run(&named(), OperationKind::Create, &mut things);
    let seams = (0..straight.demands.len()).flat_map(|at| [Seam::Before(at), Seam::After(at)]);
    for (seam, lost) in seams.map(|seam| (Some(seam), 0)).chain([(None, 1)]) {
        let (mut drive, mut things, theirs) = named_twice(lost, None);
        match seam {
            Some(seam) => drive.run_through(&named(), OperationKind::Create, &mut things, seam),
            None => drive.run(&named(), OperationKind::Create, &mut things),
        }
        assert_eq!(drive.result(), &Ok(()), "{seam:?}");
        assert_ne!(drive.context.physical_id.as_deref(), Some(theirs.as_str()), "{seam:?}");
        assert_eq!(things.made, 2, "{seam:?}");
        (drive.context.journal, drive.ended) = (Journal::default(), None);
        drive.run(&named(), OperationKind::Delete, &mut things);
        assert_eq!(things.objects, [(theirs, "data".to_owned())], "{seam:?}");
    }
}

#[test]
fn what_may_be_of_others_is_named_and_not_removed() {
    let (mut drive, mut things, theirs) = named_twice(1, Some(2));
    drive.run(&named(), OperationKind::Create, &mut things);
    assert_eq!(things.objects.len(), 3);
    let failure = drive.failure();
    assert!(failure.contains("there are further new objects like this one: "), "{failure}");
    assert!(!failure.contains(&theirs), "{failure}");
}

#[test]
fn what_an_interrupted_create_made_is_removed_by_a_delete() {
    let mut drive = Drive::new(Members::new());
    drive.context.is_doubtful = true;
    let mut things = Things::default();
    things.make(drive.context.physical_name.to_string());
    drive.run(&thing(), OperationKind::Delete, &mut things);
    assert_eq!(drive.result(), &Ok(()));
    assert!(things.objects.is_empty());
}

#[test]
fn a_delete_of_something_that_is_gone_is_done() {
    let mut drive = Drive::new(Members::new());
    drive.context.physical_id = Some("gone".into());
    drive.run(&thing(), OperationKind::Delete, &mut Things::default());
    assert_eq!(drive.result(), &Ok(()));
    assert_eq!(drive.context.physical_id, None);
}

#[test]
fn a_failure_is_told_in_the_words_of_the_service() {
    struct Full;
    impl World for Full {
        fn call(&mut self, _: &Call) -> Result<Reply, CallError> {
            let body = json!({ "NeutronError": { "message": "Quota exceeded for resources: ['thing']." } });
            Err(CallError::Refused(Reply::new(409, body)))
        }
    }
    let mut drive = Drive::new(Members::new());
    drive.run(&thing(), OperationKind::Create, &mut Full);
    let told = "Conflict: Quota exceeded for resources: ['thing']. Next: ask for a higher quota, or \
                remove something.";
    assert_eq!(drive.failure(), told);
}

/// A service that refuses whatever changes something, at first.
struct Refusing {
    status: u16,
    left: usize,
    /// Whether it does what it refuses.
    does_it: bool,
    things: Things,
}

impl World for Refusing {
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        if call.request.method == Method::Get || self.left == 0 {
            return self.things.call(call);
        }
        self.left -= 1;
        if self.does_it {
            _ = self.things.call(call);
        }
        Err(CallError::Refused(Reply::new(self.status, json!({ "message": "no" }))))
    }
}

fn refusing(status: u16, left: usize, does_it: bool) -> Refusing {
    Refusing { status, left, does_it, things: Things::default() }
}

#[test]
fn a_refusal_is_an_answer_and_leaves_no_doubt() {
    for status in [400, 401, 403, 404, 409, 413, 429, 503] {
        let mut drive = Drive::new(Members::new());
        drive.run(&thing(), OperationKind::Create, &mut refusing(status, usize::MAX, false));
        assert!(drive.result().is_err(), "{status}");
        assert!(!drive.context.journal.is_doubtful(), "{status}");
    }
    for status in [500, 502, 504] {
        let mut drive = Drive::new(Members::new());
        drive.run(&thing(), OperationKind::Create, &mut refusing(status, usize::MAX, false));
        assert!(drive.context.journal.is_doubtful(), "{status} may have done it all the same");
    }
}

#[test]
fn what_cannot_be_sent_leaves_no_doubt() {
    struct Nowhere(CallError);
    impl World for Nowhere {
        fn call(&mut self, _: &Call) -> Result<Reply, CallError> {
            Err(self.0.clone())
        }
    }
    for error in [CallError::NotSent("no route".into()), CallError::Impossible("no such".into())] {
        let mut drive = Drive::new(Members::new());
        drive.run(&thing(), OperationKind::Create, &mut Nowhere(error));
        assert!(!drive.context.journal.is_doubtful(), "{:?}", drive.result());
    }
}

#[test]
fn a_refusal_after_a_lost_try_leaves_the_doubt() {
    struct LostThenRefused(bool);
    impl World for LostThenRefused {
        fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
            match call.request.method {
                Method::Get => Ok(Reply::new(200, json!({ "things": [] }))),
                _ if std::mem::replace(&mut self.0, true) => {
                    Err(CallError::Refused(Reply::new(400, json!({ "message": "no" }))))
                }
                _ => Err(CallError::Lost("connection reset".into())),
            }
        }
    }
    let mut drive = Drive::new(Members::new());
    drive.run(&thing(), OperationKind::Create, &mut LostThenRefused(false));
    assert!(drive.context.journal.is_doubtful(), "the first may be carried out yet");
}

#[test]
fn what_a_service_breaks_down_over_is_asked_for_again_unless_it_was_done() {
    for (status, does_it) in [(500, false), (500, true), (502, true), (503, false), (504, true)] {
        let mut service = refusing(status, 2, does_it);
        let mut drive = Drive::new(Members::new());
        drive.run(&thing(), OperationKind::Create, &mut service);
        assert_settled(&drive, &service.things, &format!("{status} {does_it}"));
        assert_eq!(service.things.made, 1, "{status} {does_it}");
        let mut service = Refusing { left: 1, ..service };
        drive.context.journal = Default::default();
        drive.run(&thing(), OperationKind::Delete, &mut service);
        assert_eq!(drive.result(), &Ok(()), "{status} {does_it}");
        assert!(service.things.objects.is_empty(), "{status} {does_it}");
    }
}

#[test]
fn an_outage_is_waited_out_and_users_are_told() {
    let ride_out = std::time::Duration::from_secs(900);
    for status in [429, 502, 503, 504] {
        let mut service = refusing(status, 20, false);
        let mut drive = Drive::new(Members::new());
        drive.context.ride_out = ride_out;
        drive.run(&thing(), OperationKind::Create, &mut service);
        assert_settled(&drive, &service.things, &format!("{status}"));
        let first = drive.waits.first().and_then(Option::as_deref).unwrap_or_default();
        assert!(first.starts_with("Waiting for the "), "{first}");
        assert!(first.contains(&format!("HTTP {status}")) && first.contains("15 min"), "{first}");
        assert_eq!(drive.waits.last(), Some(&None), "it does not wait any more");
    }
}

/// A service that is known to be down for the first calls: the transport does not send them.
struct Down<W> {
    left: usize,
    patience: Vec<std::time::Duration>,
    then: W,
}

impl<W: World> World for Down<W> {
    fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
        self.patience.push(call.patience);
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Err(CallError::Down("HTTP 503".into()))
            }
            None => self.then.call(call),
        }
    }
}

#[test]
fn a_call_to_a_service_that_is_down_is_told_at_once_and_waits_then() {
    let mut service = Down { left: 5, patience: Vec::new(), then: refusing(503, 0, false) };
    let mut drive = Drive::new(Members::new());
    drive.context.ride_out = std::time::Duration::from_secs(900);
    drive.run(&thing(), OperationKind::Create, &mut service);
    assert_settled(&drive, &service.then.things, "down");
    assert!(service.patience[0].is_zero(), "users are told before anything waits");
    assert!(service.patience[1..=5].iter().all(|it| !it.is_zero()));
    let told = "Waiting for the network service (HTTP 503): it is called again as soon as it accepts calls, for 15 min in all.";
    assert_eq!(drive.waits.first().and_then(Option::as_deref), Some(told));
    assert_eq!(drive.waits.last(), Some(&None));

    let mut service =
        Down { left: usize::MAX, patience: Vec::new(), then: refusing(503, 0, false) };
    let mut drive = Drive::new(Members::new());
    drive.context.ride_out = std::time::Duration::from_secs(900);
    let began = drive.now;
    drive.run(&thing(), OperationKind::Create, &mut service);
    assert!(drive.result().is_err());
    assert!((900..902).contains(&((drive.now - began) / 1_000_000)));
}

#[test]
fn an_outage_is_not_waited_for_for_ever() {
    let mut drive = Drive::new(Members::new());
    drive.context.ride_out = std::time::Duration::from_secs(900);
    let began = drive.now;
    drive.run(&thing(), OperationKind::Create, &mut refusing(503, usize::MAX, false));
    assert!(drive.result().is_err());
    let waited = (drive.now - began) / 1_000_000;
    assert!((900..960).contains(&waited), "{waited} s");
}

#[test]
fn a_check_that_finds_nothing_tells_what_to_do() {
    let kind = thing().on(OperationKind::Check, |op| {
        Box::pin(async {
            let id = op.id().cloned().unwrap_or_default();
            op.read(get(Service::Network, CallPath::from("/gone").id(&id))).await.map(drop)
        })
    });
    struct Gone;
    impl World for Gone {
        fn call(&mut self, _: &Call) -> Result<Reply, CallError> {
            Err(CallError::Refused(Reply::new(404, json!({ "message": "It is gone." }))))
        }
    }
    let mut drive = Drive::new(Members::new());
    drive.context.physical_id = Some("t1".into());
    drive.run(&kind, OperationKind::Check, &mut Gone);
    let told =
        "NotFound: It is gone. Next: bring it back, or update the stack, which makes another.";
    assert_eq!(drive.failure(), told);
}

#[test]
fn an_update_of_something_that_is_gone_makes_another() {
    let kind = thing().updates(|op| {
        Box::pin(async {
            let path = CallPath::from("/things").id(op.id().cloned().unwrap_or_default());
            op.call("change", kiln_cloud::put(Service::Network, path, json!({}))).await.map(drop)
        })
    });
    struct Missing(bool);
    impl World for Missing {
        fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
            match call.request.method {
                Method::Get if self.0 => Ok(Reply::new(200, json!({ "thing": {} }))),
                _ => Err(CallError::Refused(Reply::new(404, json!({ "message": "no" })))),
            }
        }
    }
    for (is_there, expected) in
        [(false, OpError::Replace), (true, OpError::failed(FailureClass::NotFound, ""))]
    {
        let mut drive = Drive::new(Members::new());
        drive.context.physical_id = Some("t1".into());
        drive.run(&kind, OperationKind::Update, &mut Missing(is_there));
        let replaces = drive.result() == &Err(OpError::Replace);
        assert_eq!(replaces, expected == OpError::Replace, "{:?}", drive.result());
    }
}

// --- operations that go wrong in themselves ---

async fn panics(op: &mut Op) -> Result<(), OpError> {
    op.pause(std::time::Duration::from_secs(1)).await?;
    assert!(op.id().is_some(), "a bug");
    Ok(())
}

#[test]
fn a_panic_is_a_failure_of_its_resource() {
    let kind = ResourceType::new("OS::Test::Bug").creates(|op| Box::pin(panics(op)));
    let mut drive = Drive::new(Members::new());
    drive.run(&kind, OperationKind::Create, &mut Nothing);
    assert!(drive.failure().starts_with("InternalError: the resource type's operation panicked"));
}

/// A release build reads null: a typo in a handler must not stop an operation of a user.
#[cfg(debug_assertions)]
#[test]
fn a_property_that_the_type_does_not_declare_is_found_by_tests() {
    let handlers: [Handler; 3] = [
        |op| Box::pin(async { Ok(_ = op.prop("sise")) }),
        |op| Box::pin(async { Ok(_ = op.text("sise")) }),
        |op| Box::pin(async { Ok(_ = op.changes("sise")) }),
    ];
    for handler in handlers {
        let kind = ResourceType::new("OS::Test::Bug");
        let kind = kind.props([prop("size", Int, "Size of the object.")]).creates(handler);
        let mut drive = Drive::new(Members::new());
        drive.run(&kind, OperationKind::Create, &mut Nothing);
        let failure = drive.failure();
        let reason = "OS::Test::Bug does not declare the property \"sise\"";
        assert!(failure.contains(reason), "{failure}");
    }
}

#[test]
fn waiting_for_something_else_is_a_failure_of_its_resource() {
    let kind = ResourceType::new("OS::Test::Bug").creates(|_| Box::pin(std::future::pending()));
    let mut drive = Drive::new(Members::new());
    drive.run(&kind, OperationKind::Create, &mut Nothing);
    assert!(drive.failure().starts_with("InternalError: "), "{}", drive.failure());
}

#[test]
fn a_type_without_handlers_has_nothing_to_do() {
    let mut drive = Drive::new(Members::new());
    drive.run(&ResourceType::new("OS::Test::Idle"), OperationKind::Create, &mut Nothing);
    assert_eq!(drive.result(), &Ok(()));
    assert_eq!(drive.demands, Vec::<Demand>::new());
}
