//! Webhooks of alarms: stored until they are delivered, or too old.

use crate::objects::{ObjectKind, ObjectRow};
use crate::record::Record;
use crate::record::v1::WebhookBody;
use crate::store::StoreError;
use crate::time::Time;
use async_trait::async_trait;
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Delivers the webhooks of alarms.
#[async_trait]
pub trait WebhookClient: fmt::Debug + Send + Sync {
    /// Whether the operator allows webhooks to a URL.
    fn is_allowed(&self, url: &str) -> bool;

    /// Sends a webhook; returns the error if it was not accepted. It takes a bounded time and follows no redirects.
    async fn send(&self, url: &str, webhook: &str) -> Result<(), String>;
}

/// A client that allows no webhooks.
#[derive(Debug)]
pub(crate) struct NoWebhooks;

#[async_trait]
impl WebhookClient for NoWebhooks {
    fn is_allowed(&self, _: &str) -> bool {
        false
    }

    async fn send(&self, _: &str, _: &str) -> Result<(), String> {
        Err("no webhooks are allowed".into())
    }
}

/// A webhook of an alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// The id, derived from the alarm, the URL and the change of state; a repetition has another one.
    pub id: Uuid,
    /// The project of the alarm.
    pub project: Arc<str>,
    /// The name of the alarm.
    pub alarm: Arc<str>,
    /// The URL.
    pub url: Arc<str>,
    /// The body, as JSON.
    pub body: Arc<str>,
    /// The time of creation.
    pub created: Time,
    /// Whether the state of the alarm changed; otherwise the webhook repeats the state.
    pub is_state_change: bool,
    /// The number of attempts so far.
    pub attempts: u32,
}

/// The delay before the second attempt; each following delay is twice the one before.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(5);
/// The longest delay.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(600);
/// The age at which a webhook is dropped.
const MAX_AGE: Duration = Duration::from_secs(86_400);

impl Webhook {
    /// The id of the webhook of an alarm for a URL and a change of state, or for its repetition.
    pub fn id_of(alarm: Uuid, url: &str, changed: Time, is_state_change: bool) -> Uuid {
        let text = format!("{alarm}\0{url}\0{}\0{is_state_change}", changed.micros());
        let digest: [u8; 32] = Sha256::digest(text).into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// The webhook of a row.
    pub fn from_row(row: &ObjectRow) -> Result<Webhook, StoreError> {
        let body = WebhookBody::read(&row.body, row.id)?;
        Ok(Webhook {
            id: row.id,
            project: row.project.clone(),
            alarm: row.subject.clone(),
            url: body.url,
            body: body.text,
            created: Time::from_micros(body.written),
            is_state_change: body.is_change,
            attempts: body.tries,
        })
    }

    /// The row of the webhook, due at a time.
    pub fn to_row(&self, due: Time) -> ObjectRow {
        let body = WebhookBody {
            url: self.url.clone(),
            text: self.body.clone(),
            written: self.created.micros(),
            is_change: self.is_state_change,
            tries: self.attempts,
        };
        ObjectRow {
            id: self.id,
            kind: ObjectKind::Webhook,
            project: self.project.clone(),
            subject: self.alarm.clone(),
            uses: None,
            // Objects are listed by their time of creation: this one has the time when the webhook is due.
            created: due,
            updated: None,
            body: body.encode(),
        }
    }

    /// The time of the next attempt after a failure; `None` if the webhook is too old.
    pub(crate) fn next_attempt(&self, now: Time) -> Option<Time> {
        let pause = FIRST_RETRY_DELAY.saturating_mul(1 << self.attempts.saturating_sub(1).min(16));
        let next = now + pause.min(MAX_RETRY_DELAY);
        (next.since(self.created) <= MAX_AGE).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook() -> Webhook {
        Webhook {
            id: Webhook::id_of(Uuid::from_u128(1), "http://h/", Time::from_micros(7), true),
            project: "p".into(),
            alarm: "a".into(),
            url: "http://h/".into(),
            body: "{}".into(),
            created: Time::from_micros(7),
            is_state_change: true,
            attempts: 3,
        }
    }

    #[test]
    fn a_letter_is_kept_as_it_is() {
        let row = webhook().to_row(Time::from_micros(9));
        assert_eq!(
            (row.created, Webhook::from_row(&row).unwrap()),
            (Time::from_micros(9), webhook())
        );
        assert!(Webhook::from_row(&ObjectRow { body: b"x".to_vec(), ..row }).is_err());
    }

    #[test]
    fn it_is_tried_again_less_and_less_often_and_not_for_ever() {
        let at = |seconds: u64| Time::default() + Duration::from_secs(seconds);
        let next =
            |attempts, now| Webhook { attempts, created: at(0), ..webhook() }.next_attempt(at(now));
        assert_eq!((next(1, 10), next(3, 10)), (Some(at(15)), Some(at(30))));
        assert_eq!(next(50, 1000), Some(at(1600)));
        assert_eq!(next(50, 86_000), None);
    }
}
