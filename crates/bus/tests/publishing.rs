//! The messages that a broker receives, also across its restarts.

use crate::broker::{Broker, PASSWORD, VIRTUAL_HOST};
use amqprs::BasicProperties;
use amqprs::channel::{
    BasicGetArguments, Channel, ExchangeDeclareArguments, QueueDeclareArguments,
};
use amqprs::connection::{Connection, OpenConnectionArguments};
use kiln_bus::{Address, Bus, BusConfig, Driver, Tls};
use kiln_engine::{Action, Counters, Notification, StackId, State, Status, Time};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

fn notice(name: &str, status: Status) -> Notification {
    Notification {
        time: Time::from_micros(1_933_135_628_123_456),
        project: "p".into(),
        created_by: Arc::default(),
        user_id: "u".into(),
        user_name: "ana".into(),
        stack: StackId(Uuid::from_u128(7)),
        name: name.into(),
        state: State::new(Action::Create, status),
        reason: "why".into(),
        created: Time::from_micros(1_933_135_628_000_000),
        updated: None,
        tags: vec!["a".into()],
        description: Some("d".into()),
        scaling: None,
    }
}

fn config(broker: &Broker) -> BusConfig {
    BusConfig {
        drivers: vec![Driver::Messaging { is_enveloped: true }],
        address: Address::parse(&broker.url()).unwrap(),
        is_durable: true,
        pause: Duration::from_millis(50),
        ..BusConfig::default()
    }
}

/// A consumer at the broker.
struct Consumer {
    _connection: Connection,
    channel: Channel,
}

impl Consumer {
    async fn come(broker: &Broker) -> Consumer {
        let arguments = OpenConnectionArguments::new("127.0.0.1", broker.port, "kiln", PASSWORD)
            .virtual_host(VIRTUAL_HOST)
            .finish();
        let connection = Connection::open(&arguments).await.unwrap();
        let channel = connection.open_channel(None).await.unwrap();
        Consumer { _connection: connection, channel }
    }

    /// Waits for the next message in a queue.
    async fn next(&self, queue: &str) -> (BasicProperties, Json) {
        loop {
            let arguments = BasicGetArguments::new(queue).no_ack(true).finish();
            if let Some((_, properties, body)) = self.channel.basic_get(arguments).await.unwrap() {
                return (properties, serde_json::from_slice(&body).unwrap());
            }
            tokio::task::yield_now().await;
        }
    }

    /// Returns the name of the stack in the next message.
    async fn next_stack(&self, queue: &str) -> String {
        let message = opened(&self.next(queue).await.1);
        message["payload"]["stack_name"].as_str().unwrap().to_owned()
    }
}

fn opened(envelope: &Json) -> Json {
    assert_eq!(envelope["oslo.version"], "2.0");
    serde_json::from_str(envelope["oslo.message"].as_str().unwrap()).unwrap()
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(240), test).await.unwrap() });
}

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_broker_gets_everything_in_order_whatever_happens_to_it() {
    let tls = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kiln/tests/tls");
    let (certificate, key) = (tls.join("cert.pem"), tls.join("key.pem"));
    let mut broker = Broker::start(Some((&certificate, &key)));
    run(async {
        it_is_kept_for_whoever_comes_later(&broker).await;
        topics_have_queues_of_their_own_and_need_no_envelope(&broker).await;
        what_is_there_already_is_used_as_it_is(&broker).await;
        a_connection_may_be_encrypted(&broker, &certificate).await;
        it_outlives_the_broker(&mut broker).await;
    });
}

/// A message is kept for later consumers.
async fn it_is_kept_for_whoever_comes_later(broker: &Broker) {
    let bus = Bus::start(config(broker), Counters::default());
    let listener = bus.listener();
    listener.notify(vec![notice("one", Status::InProgress), notice("one", Status::Failed)]);
    listener.notify(vec![notice("two", Status::Complete)]);
    bus.close(PATIENCE).await;
    let visitor = Consumer::come(broker).await;
    let (properties, envelope) = visitor.next("notifications.info").await;
    assert_eq!(properties.content_type().map(String::as_str), Some("application/json"));
    assert_eq!(properties.content_encoding().map(String::as_str), Some("utf-8"));
    assert_eq!((properties.delivery_mode(), properties.priority()), (Some(2), Some(0)));
    assert!(properties.headers().is_none());
    let message = opened(&envelope);
    assert_eq!(message["event_type"], "orchestration.stack.create.start");
    assert_eq!(message["payload"]["stack_name"], "one");
    assert_eq!(visitor.next_stack("notifications.info").await, "two");
    let failed = opened(&visitor.next("notifications.error").await.1);
    assert_eq!(failed["event_type"], "orchestration.stack.create.error");
    assert_eq!(failed["priority"], "ERROR");
}

async fn topics_have_queues_of_their_own_and_need_no_envelope(broker: &Broker) {
    let config = BusConfig {
        drivers: vec![Driver::Log, Driver::Messaging { is_enveloped: false }],
        topics: vec!["a".into(), "b".into()],
        ..config(broker)
    };
    let bus = Bus::start(config, Counters::default());
    bus.listener().notify(vec![notice("plain", Status::Complete)]);
    bus.close(PATIENCE).await;
    let visitor = Consumer::come(broker).await;
    let (_, a) = visitor.next("a.info").await;
    let (_, b) = visitor.next("b.info").await;
    assert_eq!(a["payload"]["stack_name"], "plain");
    assert_eq!(a["message_id"], b["message_id"]);
    assert_ne!(a["_unique_id"], b["_unique_id"]);
}

async fn what_is_there_already_is_used_as_it_is(broker: &Broker) {
    let visitor = Consumer::come(broker).await;
    let exchange = ExchangeDeclareArguments::new("other", "topic");
    visitor.channel.exchange_declare(exchange).await.unwrap();
    let queue = QueueDeclareArguments::new("odd.info");
    visitor.channel.queue_declare(queue).await.unwrap();
    let (exchange, topics) = ("other".to_owned(), vec!["odd".to_owned()]);
    let bus = Bus::start(BusConfig { exchange, topics, ..config(broker) }, Counters::default());
    bus.listener().notify(vec![notice("odd", Status::Complete)]);
    assert_eq!(visitor.next_stack("odd.info").await, "odd");
    bus.close(PATIENCE).await;
}

async fn a_connection_may_be_encrypted(broker: &Broker, authority: &Path) {
    let mut address = Address::parse(&broker.url()).unwrap();
    address.hosts[0].port = broker.tls_port;
    // The first node of a cluster may be down.
    let dead = kiln_bus::Host { port: 1, ..address.hosts[0].clone() };
    address.hosts.insert(0, dead);
    let tls = Some(Tls { authorities: Some(authority.to_owned()), own: None });
    let bus = Bus::start(BusConfig { address, tls, ..config(broker) }, Counters::default());
    bus.listener().notify(vec![notice("secret", Status::Complete)]);
    bus.close(PATIENCE).await;
    let visitor = Consumer::come(broker).await;
    assert_eq!(visitor.next_stack("notifications.info").await, "secret");
}

/// Messages survive a restart of the broker, and so do messages sent meanwhile, as far as the queue has room.
async fn it_outlives_the_broker(broker: &mut Broker) {
    let counters = Counters::default();
    let bus = Bus::start(BusConfig { capacity: 150, ..config(broker) }, counters.clone());
    let listener = bus.listener();
    listener.notify(vec![notice("before", Status::Complete)]);
    let visitor = Consumer::come(broker).await;
    assert_eq!(visitor.next_stack("notifications.info").await, "before");
    let count = |outcome| counters.get_or_create(&[("outcome", outcome)]).get();
    // A message whose confirmation is lost would be sent again.
    while count("sent") == 0 {
        tokio::task::yield_now().await;
    }
    broker.stop();
    let meanwhile: Vec<Notification> =
        (0..500).map(|number| notice(&format!("m{number}"), Status::Complete)).collect();
    for some in meanwhile.chunks(50) {
        listener.notify(some.to_vec());
        tokio::task::yield_now().await;
    }
    broker.start_again();
    listener.notify(vec![notice("after", Status::Complete)]);
    bus.close(PATIENCE).await;
    let visitor = Consumer::come(broker).await;
    let mut seen = Vec::new();
    while seen.last().is_none_or(|name| name != "after") {
        seen.push(visitor.next_stack("notifications.info").await);
    }
    assert!(seen.len() >= 150, "only {} were kept", seen.len());
    assert!(seen.len() < 502, "there is room for 150, and {} were kept", seen.len());
    assert_eq!(seen[seen.len() - 2], "m499");
    // A broker that is stopped may deliver a message again that was already consumed.
    let mut different: BTreeSet<&str> = seen.iter().map(String::as_str).collect();
    different.insert("before");
    assert_eq!(count("sent"), different.len() as u64, "{seen:?}");
    assert_eq!(count("sent") + count("dropped"), 502);
    let mut in_order = seen.clone();
    in_order.dedup();
    assert_eq!(seen, in_order, "none comes twice when nothing was under way");
}
