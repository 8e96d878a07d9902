//! Delivering the webhooks of alarms: each at least once, by whichever engine is first.
//!
//! A webhook stays in the store until it was delivered. An engine that is about to deliver one postpones its due time,
//! so that others leave it alone; two engines that do so at the same moment deliver it twice.

use super::{Engine, SystemIds, now};
use crate::alarms::{AlarmEvent, Webhook};
use crate::ids::Ids;
use crate::metrics::Metrics;
use crate::objects::{ObjectKind, ObjectQuery};
use crate::store::StoreError;
use std::time::Duration;
use tokio::task::JoinSet;

/// How many webhooks are delivered at once.
const MAX_PER_SCAN: u64 = 50;

/// How long other engines leave a webhook alone: longer than its delivery takes.
const CLAIM_DURATION: Duration = Duration::from_secs(120);

impl Engine {
    /// Delivers webhooks, again and again.
    pub(super) async fn deliver_webhooks(self) {
        loop {
            match self.deliver_due_webhooks().await {
                Ok(count) if count == MAX_PER_SCAN => continue,
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "could not deliver webhooks: retrying"),
            }
            let written = self.inner.webhooks_due.notified();
            tokio::select! {
                biased;
                () = written => {}
                () = tokio::time::sleep(self.inner.settings.scan_interval) => {}
            }
        }
    }

    /// Delivers the webhooks that are due; returns their number.
    async fn deliver_due_webhooks(&self) -> Result<u64, StoreError> {
        let store = &self.inner.store;
        let query =
            ObjectQuery { limit: Some(MAX_PER_SCAN), ..ObjectQuery::new(ObjectKind::Webhook) };
        let waiting = store.objects(&query).await?;
        let count_waiting = i64::try_from(waiting.len()).unwrap_or(i64::MAX);
        self.metrics().webhooks_waiting.set(count_waiting);
        let due = waiting.into_iter().filter(|row| row.created <= now());
        let (mut count, mut deliveries) = (0, JoinSet::new());
        for row in due {
            count += 1;
            let webhook = match Webhook::from_row(&row) {
                Ok(webhook) => webhook,
                Err(error) => {
                    tracing::error!(alarm = &*row.subject, %error, "could not read a webhook: it is dropped");
                    store.drop_object(ObjectKind::Webhook, row.id).await?;
                    continue;
                }
            };
            store.put_object(webhook.to_row(now() + CLAIM_DURATION)).await?;
            deliveries.spawn(self.clone().deliver(webhook));
        }
        while let Some(delivered) = deliveries.join_next().await {
            match delivered {
                Ok(outcome) => outcome?,
                // The webhook is tried again when its claim ends.
                Err(error) => {
                    tracing::error!(%error, "the delivery of a webhook panicked: this is a defect, please report it")
                }
            }
        }
        Ok(count)
    }

    async fn deliver(self, mut webhook: Webhook) -> Result<(), StoreError> {
        let (client, metrics) = (&self.inner.config.webhook_client, self.metrics());
        let is_allowed = client.is_allowed(&webhook.url);
        let sent = if is_allowed {
            client.send(&webhook.url, &webhook.body).await
        } else {
            Err("webhooks to this address are not allowed: see [kiln] notify_allowed".into())
        };
        webhook.attempts += 1;
        if let Err(error) = &sent {
            let (alarm, url, attempts) = (&*webhook.alarm, &*webhook.url, webhook.attempts);
            if let Some(next) = webhook.next_attempt(now()).filter(|_| is_allowed) {
                tracing::info!(
                    alarm,
                    url,
                    attempts,
                    error,
                    "could not deliver a webhook: retrying"
                );
                Metrics::count(&metrics.webhooks, "retried", 1);
                return self.inner.store.put_object(webhook.to_row(next)).await;
            }
            tracing::warn!(
                alarm,
                url,
                attempts,
                error,
                "could not deliver a webhook: it is dropped"
            );
        }
        Metrics::count(&metrics.webhooks, if sent.is_ok() { "sent" } else { "failed" }, 1);
        if webhook.is_state_change {
            let event = AlarmEvent::action(
                (&webhook.project, &webhook.alarm),
                &webhook.url,
                sent.as_ref().err().map(String::as_str),
                now(),
                SystemIds::default().next_in_order(now(), 0),
            );
            self.inner.store.add_alarm_events(&[event]).await?;
        }
        self.inner.store.drop_object(ObjectKind::Webhook, webhook.id).await.map(drop)
    }
}
