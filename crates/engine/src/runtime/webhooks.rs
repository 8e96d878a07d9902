//! Delivering what alarms tell addresses: each at least once, by whichever engine is first.
//!
//! A webhook stays in the store until it was taken. Whoever is about to deliver one says so by putting its time off; two
//! who do that at the same moment deliver it twice.

use super::{Engine, SystemIds, now};
use crate::alarms::{AlarmEvent, Webhook};
use crate::ids::Ids;
use crate::objects::{ObjectKind, ObjectQuery};
use crate::store::StoreError;
use std::time::Duration;
use tokio::task::JoinSet;

/// No more are delivered at once.
const MAX_PER_SCAN: u64 = 50;

/// How long others leave a webhook alone that is being delivered: longer than that takes.
const CLAIM_DURATION: Duration = Duration::from_secs(120);

impl Engine {
    /// Delivers letters again and again.
    pub(super) async fn deliver_webhooks(self) {
        loop {
            match self.deliver_due().await {
                Ok(count) if count == MAX_PER_SCAN => continue,
                Ok(_) => {}
                Err(error) => tracing::warn!("what alarms tell is delivered later: {error}"),
            }
            let written = self.inner.webhooks_due.notified();
            tokio::select! {
                biased;
                () = written => {}
                () = tokio::time::sleep(self.inner.settings.scan_interval) => {}
            }
        }
    }

    /// Delivers what is due; how much there was.
    async fn deliver_due(&self) -> Result<u64, StoreError> {
        let store = &self.inner.store;
        let query =
            ObjectQuery { limit: Some(MAX_PER_SCAN), ..ObjectQuery::new(ObjectKind::Webhook) };
        let due = store.objects(&query).await?.into_iter().filter(|row| row.created <= now());
        let (mut count, mut under_way) = (0, JoinSet::new());
        for row in due {
            count += 1;
            let Some(webhook) = Webhook::from_row(&row) else {
                store.drop_object(ObjectKind::Webhook, row.id).await?;
                continue;
            };
            store.put_object(webhook.to_row(now() + CLAIM_DURATION)).await?;
            under_way.spawn(self.clone().deliver(webhook));
        }
        while let Some(delivered) = under_way.join_next().await {
            match delivered {
                Ok(outcome) => outcome?,
                // It is tried again when others would.
                Err(error) => tracing::error!("delivering broke down: {error}"),
            }
        }
        Ok(count)
    }

    async fn deliver(self, mut webhook: Webhook) -> Result<(), StoreError> {
        let client = &self.inner.config.webhook_client;
        let sent = match client.is_allowed(&webhook.url) {
            true => client.send(&webhook.url, &webhook.body).await,
            false => {
                Err("this address may not be sent: [kiln] notify_allowed says which may".into())
            }
        };
        webhook.attempts += 1;
        if let Err(why) = &sent {
            tracing::info!(alarm = &*webhook.alarm, attempts = webhook.attempts, "not sent: {why}");
            let next = webhook.next_attempt(now()).filter(|_| client.is_allowed(&webhook.url));
            if let Some(next) = next {
                return self.inner.store.put_object(webhook.to_row(next)).await;
            }
        }
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
