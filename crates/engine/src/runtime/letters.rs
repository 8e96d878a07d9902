//! Delivering what alarms tell addresses: each at least once, by whichever engine is first.
//!
//! A letter stays in the store until it was taken. Whoever is about to deliver one says so by putting its time off; two
//! who do that at the same moment deliver it twice.

use super::{Chance, Engine, now};
use crate::ids::Ids;
use crate::objects::{ObjectKind, ObjectQuery};
use crate::store::StoreError;
use crate::watch::{AlarmEvent, Letter};
use std::time::Duration;
use tokio::task::JoinSet;

/// No more are delivered at once.
const AT_ONCE: u64 = 50;

/// How long others leave a letter alone that is being delivered: longer than that takes.
const CLAIM: Duration = Duration::from_secs(120);

impl Engine {
    /// Delivers letters again and again.
    pub(super) async fn deliver_letters(self) {
        loop {
            match self.deliver_due().await {
                Ok(count) if count == AT_ONCE => continue,
                Ok(_) => {}
                Err(error) => tracing::warn!("what alarms tell is delivered later: {error}"),
            }
            let written = self.inner.letters.notified();
            tokio::select! {
                biased;
                () = written => {}
                () = tokio::time::sleep(self.inner.settings.look) => {}
            }
        }
    }

    /// Delivers what is due; how much there was.
    async fn deliver_due(&self) -> Result<u64, StoreError> {
        let store = &self.inner.store;
        let query = ObjectQuery { limit: Some(AT_ONCE), ..ObjectQuery::of(ObjectKind::Letter) };
        let due = store.objects(&query).await?.into_iter().filter(|row| row.created <= now());
        let (mut count, mut under_way) = (0, JoinSet::new());
        for row in due {
            count += 1;
            let Some(letter) = Letter::of(&row) else {
                store.drop_object(ObjectKind::Letter, row.id).await?;
                continue;
            };
            store.put_object(letter.row(now() + CLAIM)).await?;
            under_way.spawn(self.clone().deliver(letter));
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

    async fn deliver(self, mut letter: Letter) -> Result<(), StoreError> {
        let messenger = &self.inner.config.messenger;
        let told = match messenger.may_tell(&letter.url) {
            true => messenger.tell(&letter.url, &letter.text).await,
            false => {
                Err("this address may not be told: [kiln] notify_allowed says which may".into())
            }
        };
        letter.tries += 1;
        if let Err(why) = &told {
            tracing::info!(alarm = &*letter.alarm, tries = letter.tries, "not told: {why}");
            let next = letter.next_try(now()).filter(|_| messenger.may_tell(&letter.url));
            if let Some(next) = next {
                return self.inner.store.put_object(letter.row(next)).await;
            }
        }
        if letter.is_news {
            let event = AlarmEvent::acted(
                (&letter.project, &letter.alarm),
                &letter.url,
                told.as_ref().err().map(String::as_str),
                now(),
                Chance::default().next_in_order(now(), 0),
            );
            self.inner.store.note_alarms(&[event]).await?;
        }
        self.inner.store.drop_object(ObjectKind::Letter, letter.id).await.map(drop)
    }
}
