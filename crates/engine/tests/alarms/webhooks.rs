//! Addresses that alarms tell: of changes, at least once, and only those that may be told.

use super::*;
use kiln_engine::alarms::{AlarmEventKind, Webhook, WebhookClient};
use kiln_engine::{ErrorType, ObjectKind, ObjectQuery, ObjectRow, Objects};

/// A client that accepts webhooks to addresses that begin with `http://good/`.
#[derive(Debug, Default)]
struct Post {
    is_refusing: std::sync::atomic::AtomicBool,
    taken: std::sync::Mutex<Vec<(String, serde_json::Value)>>,
}

#[async_trait::async_trait]
impl WebhookClient for Post {
    fn is_allowed(&self, url: &str) -> bool {
        url.starts_with("http://good/")
    }

    async fn send(&self, url: &str, webhook: &str) -> Result<(), String> {
        if self.is_refusing.load(std::sync::atomic::Ordering::SeqCst) {
            return Err("it answered with 503".into());
        }
        let webhook = serde_json::from_str(webhook).unwrap();
        self.taken.lock().unwrap().push((url.to_owned(), webhook));
        Ok(())
    }
}

impl Post {
    fn taken(&self) -> Vec<(String, serde_json::Value)> {
        self.taken.lock().unwrap().clone()
    }
}

impl Site {
    fn with_post(post: &Arc<Post>) -> Site {
        let site = Site::new();
        let config = Config { webhook_client: post.clone(), ..(*site.config).clone() };
        Site { config: Arc::new(config), ..site }
    }

    async fn pending_webhooks(&self) -> Vec<ObjectRow> {
        self.store.objects(&ObjectQuery::new(ObjectKind::Webhook)).await.unwrap()
    }

    /// What is told of actions in the history, once there are so many.
    async fn acted(&self, count: usize) -> Vec<String> {
        let query = HistoryQuery {
            project: "p".into(),
            alarm: None,
            kind: Some(AlarmEventKind::Action),
            from: None,
            until: None,
            descending: false,
            marker: None,
            limit: 100,
        };
        let events = self
            .until(async || {
                let events = self.store.alarm_history(&query).await.unwrap();
                (events.len() >= count).then_some(events)
            })
            .await;
        events.iter().map(|it| it.details().unwrap().0.to_string()).collect()
    }
}

fn telling(url: &str) -> Members {
    rule(&[("AlarmActions", Value::list([url.into()]))])
}

async fn alarm_now(service: &Service, state: AlarmState, reason: &str) {
    let verdict = Verdict { state, reason: reason.into() };
    service.set_alarm_state(&asker(None), "a", &verdict, Value::Null).await.unwrap();
}

#[tokio::test]
async fn a_webhook_reports_changes_in_the_format_of_aodh() {
    let post = Arc::new(Post::default());
    let site = Site::with_post(&post);
    let engine = site.engine();
    let service = site.service(&engine);
    service.put_alarm(&asker(None), "a", telling("http://good/x")).await.unwrap();
    alarm_now(&service, AlarmState::Alarm, "hot").await;
    assert_eq!(site.acted(1).await, ["Successfully executed action http://good/x"]);
    while !site.pending_webhooks().await.is_empty() {
        tokio::task::yield_now().await;
    }
    alarm_now(&service, AlarmState::Normal, "cool").await;
    alarm_now(&service, AlarmState::Alarm, "hot again").await;
    site.acted(2).await;
    let taken = post.taken();
    assert_eq!(taken.len(), 2, "{taken:?}");
    let (url, webhook) = &taken[0];
    assert_eq!(url, "http://good/x");
    let id = service.alarm_named(&asker(None), "a").await.unwrap().unwrap().row.id.to_string();
    assert_eq!(
        *webhook,
        serde_json::json!({"alarm_id": id, "alarm_name": "a", "severity": "low", "reason": "hot",
            "previous": "insufficient data", "current": "alarm", "reason_data": {"type": "threshold"}})
    );
    assert_eq!(taken[1].1["previous"], "ok");

    let refused = service.put_alarm(&asker(None), "b", telling("http://bad/x")).await.unwrap_err();
    assert_eq!(refused.error_type, ErrorType::InvalidParameterValue);
    let message = refused.message.unwrap_or_default();
    assert!(message.contains("[kiln] notify_allowed"), "{message}");
    engine.stop().await;
}

#[tokio::test]
async fn a_webhook_is_kept_until_it_is_delivered_even_if_engines_die() {
    let post = Arc::new(Post::default());
    post.is_refusing.store(true, std::sync::atomic::Ordering::SeqCst);
    let site = Site::with_post(&post);
    let engine = site.engine();
    let service = site.service(&engine);
    service.put_alarm(&asker(None), "a", telling("http://good/x")).await.unwrap();
    alarm_now(&service, AlarmState::Alarm, "hot").await;
    let tried = |pending_webhooks: &[ObjectRow]| {
        Webhook::from_row(&pending_webhooks[0]).unwrap().attempts == 1
    };
    let pending_webhooks = loop {
        let pending_webhooks = site.pending_webhooks().await;
        if tried(&pending_webhooks) {
            break pending_webhooks;
        }
        tokio::task::yield_now().await;
    };
    assert!(pending_webhooks[0].created > now(), "it is tried again after a while");
    engine.stop().await;
    post.is_refusing.store(false, std::sync::atomic::Ordering::SeqCst);
    // That while is over when another engine comes.
    let due = ObjectRow { created: now(), ..pending_webhooks[0].clone() };
    site.store.put_object(due).await.unwrap();
    let engine = site.engine();
    assert_eq!(site.acted(1).await, ["Successfully executed action http://good/x"]);
    assert_eq!(post.taken().len(), 1);
    engine.stop().await;
}

#[tokio::test]
async fn a_webhook_to_a_forbidden_url_is_dropped() {
    let post = Arc::new(Post::default());
    let site = Site::with_post(&post);
    let engine = site.engine();
    let webhook = Webhook {
        id: Uuid::from_u128(1),
        project: "p".into(),
        alarm: "a".into(),
        url: "http://bad/".into(),
        body: "{}".into(),
        created: now(),
        is_state_change: true,
        attempts: 0,
    };
    site.store.put_object(webhook.to_row(now())).await.unwrap();
    assert_eq!(site.acted(1).await, ["Failed to execute action http://bad/"]);
    while !site.pending_webhooks().await.is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(post.taken().len(), 0);
    engine.stop().await;
}
