//! What a database does not accept: one tree cannot write it, and the others go on.

use crate::test_store::{TestDatabase, batch};
use kiln_engine::store::{Batch, ResourceRow, StoreError};

pub(crate) async fn what_a_database_does_not_accept_is_told_from_an_outage(database: TestDatabase) {
    let url = database.url.clone();
    let test = database.test_store().await;
    let (bad, bad_lease) = test.owned("p", "bad").await;
    let (good, good_lease) = test.owned("p", "good").await;
    let mut refused = Vec::new();
    if !url.starts_with("sqlite") {
        // A name that is too long for an index or for its column.
        let mut stack = bad.clone();
        let parts = (0..1000).map(|_| test.id().to_string());
        stack.summary.name = parts.collect::<String>().into();
        refused.push(Batch { stacks: vec![stack], ..batch(bad_lease) });
    }
    if let Some(max) = test.store.max_row_bytes() {
        let row = test.resource(&bad, 1);
        let large = ResourceRow { body: vec![7; max + 1], ..row.clone() };
        refused.push(Batch { resources: vec![large], ..batch(bad_lease) });
        // The largest that the engine writes then is accepted.
        let row = ResourceRow { body: vec![7; max / 4 * 3], ..row };
        test.write(Batch { resources: vec![row], ..batch(bad_lease) }).await;
    }
    for bad in refused {
        let beside = test.resource(&good, 1);
        let good = Batch { resources: vec![beside], ..batch(good_lease) };
        for batches in [vec![bad.clone(), good.clone()], vec![bad.clone()]] {
            let outcome = test.store.commit(&batches).await;
            assert!(matches!(outcome, Err(StoreError::Refused(_))), "{outcome:?}");
        }
        assert_eq!(test.store.commit(&[good]).await.unwrap(), [true]);
    }
}
