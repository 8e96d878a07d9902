//! Alarms, what happened to them, and the metrics that they look at.

use crate::test_store::{TestStore, at};
use kiln_engine::alarms::{
    AlarmChange, AlarmEvent, AlarmEventKind, AlarmQuery, AlarmRow, AlarmState, Bucket,
    HistoryQuery, Series, SeriesQuery, SeriesRow, Totals,
};
use kiln_engine::{ObjectKind, ObjectQuery, ObjectRow, StackId, Time};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

pub(super) fn alarm(number: u128, project: &str, name: &str) -> AlarmRow {
    AlarmRow {
        id: Uuid::from_u128(number),
        project: project.into(),
        name: name.into(),
        stack: number.is_multiple_of(2).then(|| StackId(Uuid::from_u128(number / 2))),
        metric: if number < 3 { "CPU".into() } else { "Memory é".into() },
        state: if number.is_multiple_of(3) { AlarmState::Alarm } else { AlarmState::NoData },
        created: at(1),
        updated: at(2),
        changed: at(3),
        evaluated: at(4),
        period: Duration::from_secs(60),
        due: at(64 + number as i64),
        version: 1,
        body: format!("the rule of {name}").into_bytes(),
    }
}

pub(super) fn change(alarm: &AlarmRow, was: Option<u64>) -> AlarmChange {
    let (history, commands, letters) = (Vec::new(), Vec::new(), Vec::new());
    AlarmChange {
        alarm: alarm.clone(),
        expected_version: was,
        max_alarms: None,
        is_deleted: false,
        history,
        commands,
        webhooks: letters,
    }
}

fn letter(number: u128) -> ObjectRow {
    ObjectRow {
        id: Uuid::from_u128(number + 100),
        kind: ObjectKind::Webhook,
        project: "p".into(),
        subject: "a".into(),
        uses: None,
        created: at(5),
        updated: None,
        body: b"dear".to_vec(),
    }
}

fn event(number: u128, name: &str, seconds: i64) -> AlarmEvent {
    AlarmEvent {
        id: Uuid::from_u128(number),
        project: "p".into(),
        alarm: name.into(),
        kind: if number.is_multiple_of(2) { AlarmEventKind::State } else { AlarmEventKind::Action },
        time: at(seconds),
        body: vec![number as u8],
    }
}

async fn names(test: &TestStore, query: &AlarmQuery) -> Vec<String> {
    let found = test.other.alarms(query).await.unwrap();
    found.iter().map(|alarm| alarm.name.to_string()).collect()
}

pub(crate) async fn alarms_are_kept_listed_and_dropped(test: TestStore) {
    let all = [(5, "web-low"), (1, "web-high"), (2, "db"), (3, "web_x"), (4, "Web"), (6, "")];
    let rows: Vec<AlarmRow> = all.map(|(number, name)| alarm(number, "p", name)).into();
    let changes: Vec<AlarmChange> = rows.iter().map(|row| change(row, None)).collect();
    assert_eq!(test.store.write_alarms(&changes).await.unwrap(), [true; 6]);
    let elsewhere = alarm(7, "q", "web-high");
    test.store.write_alarms(&[change(&elsewhere, None)]).await.unwrap();

    assert_eq!(test.other.alarm(rows[0].id).await.unwrap(), Some(rows[0].clone()));
    assert_eq!(test.other.alarm(Uuid::from_u128(99)).await.unwrap(), None);
    assert_eq!(test.other.count_alarms("p").await.unwrap(), 6);

    let query = AlarmQuery::new(&"p".into());
    assert_eq!(names(&test, &query).await, ["", "Web", "db", "web-high", "web-low", "web_x"]);
    let filtered = |change: fn(&mut AlarmQuery)| {
        let mut query = query.clone();
        change(&mut query);
        query
    };
    for (query, expected) in [
        (filtered(|it| it.prefix = Some("web-".into())), vec!["web-high", "web-low"]),
        (filtered(|it| it.name = Some("db".into())), vec!["db"]),
        (filtered(|it| it.metric = Some("CPU".into())), vec!["db", "web-high"]),
        (filtered(|it| it.stack = Some(StackId(Uuid::from_u128(2)))), vec!["Web"]),
        (filtered(|it| it.state = Some(AlarmState::Alarm)), vec!["", "web_x"]),
    ] {
        assert_eq!(names(&test, &query).await, expected, "{query:?}");
    }
    let mut seen = Vec::new();
    let mut page = AlarmQuery { limit: Some(4), ..query };
    loop {
        let found = test.store.alarms(&page).await.unwrap();
        page.marker = found.last().map(|it| (it.name.clone(), it.id));
        seen.extend(found.iter().map(|it| it.name.to_string()));
        if found.len() < 4 {
            break;
        }
    }
    assert_eq!(seen.len(), 6);

    let dropped = AlarmChange { is_deleted: true, ..change(&rows[2], Some(1)) };
    assert_eq!(test.store.write_alarms(std::slice::from_ref(&dropped)).await.unwrap(), [true]);
    assert_eq!(test.store.write_alarms(&[dropped]).await.unwrap(), [false]);
    assert_eq!(test.other.alarm(rows[2].id).await.unwrap(), None);
}

pub(crate) async fn an_alarm_is_written_by_whoever_read_it_last(test: TestStore) {
    let (root, _) = test.owned("p", "s").await;
    let first = alarm(1, "p", "a");
    assert_eq!(test.store.write_alarms(&[change(&first, None)]).await.unwrap(), [true]);
    assert_eq!(test.store.write_alarms(&[change(&first, None)]).await.unwrap(), [false]);

    let tells = |number: u128| AlarmChange {
        history: vec![event(number, "a", 10)],
        commands: vec![test.command(root.id)],
        webhooks: vec![letter(number)],
        ..change(&AlarmRow { state: AlarmState::Alarm, ..first.clone() }, Some(1))
    };
    let (one, other) = (tells(2), tells(4));
    let (one_told, other_told) = tokio::join!(
        test.store.write_alarms(std::slice::from_ref(&one)),
        test.other.write_alarms(std::slice::from_ref(&other)),
    );
    let told = [one_told.unwrap()[0], other_told.unwrap()[0]];
    assert_eq!(told.iter().filter(|it| **it).count(), 1, "{told:?}");
    // Nothing comes of what was not written.
    let commands = test.store.commands(root.id).await.unwrap();
    let winner = if told[0] { &one } else { &other };
    assert_eq!(commands, winner.commands);
    let query = HistoryQuery {
        project: "p".into(),
        alarm: None,
        kind: None,
        from: None,
        until: None,
        descending: false,
        marker: None,
        limit: 10,
    };
    assert_eq!(test.other.alarm_history(&query).await.unwrap(), winner.history);
    let letters = test.other.objects(&ObjectQuery::new(ObjectKind::Webhook)).await.unwrap();
    assert_eq!(letters, winner.webhooks);
    test.store.add_alarm_events(&[event(9, "a", 11)]).await.unwrap();
    assert_eq!(test.other.alarm_history(&query).await.unwrap().len(), 2);
    let written = test.store.alarm(first.id).await.unwrap().unwrap();
    assert_eq!((written.state, written.version), (AlarmState::Alarm, 2));
}

pub(crate) async fn alarms_are_due_until_they_are_looked_at(test: TestStore) {
    let rows: Vec<AlarmRow> = (1..6).map(|number| alarm(number, "p", "a")).collect();
    let mut changes: Vec<AlarmChange> = rows.iter().map(|row| change(row, None)).collect();
    changes[4].alarm.due = Time::NEVER;
    test.store.write_alarms(&changes).await.unwrap();
    let due = |now: i64, limit: u64| {
        let store = test.other.clone();
        async move {
            let due = store.due_alarms(at(now), limit).await.unwrap();
            due.iter().map(|it| it.id.as_u128()).collect::<Vec<_>>()
        }
    };
    assert_eq!(due(67, 10).await, [1, 2, 3]);
    assert_eq!(due(1000, 2).await, [1, 2]);
    assert_eq!(due(64, 10).await, [0u128; 0]);
    test.store.reset_alarms(at(1000)).await.unwrap();
    assert_eq!(due(1059, 10).await, [0u128; 0]);
    assert_eq!(due(1060, 10).await, [1, 2, 3, 4]);
    let reset = test.store.alarm(rows[0].id).await.unwrap().unwrap();
    assert_eq!((reset.evaluated, reset.version), (at(1000), 2));
}

pub(crate) async fn the_history_of_alarms_is_paged_both_ways(test: TestStore) {
    let events: Vec<AlarmEvent> = (1..21)
        .map(|number| event(number, if number < 11 { "a" } else { "b" }, number as i64 / 3))
        .collect();
    let row = alarm(1, "p", "a");
    let written = AlarmChange { history: events.clone(), ..change(&row, None) };
    test.store.write_alarms(&[written]).await.unwrap();
    for descending in [false, true] {
        let mut query = HistoryQuery {
            project: "p".into(),
            alarm: None,
            kind: None,
            from: None,
            until: None,
            descending,
            marker: None,
            limit: 7,
        };
        let mut seen = Vec::new();
        loop {
            let page = test.other.alarm_history(&query).await.unwrap();
            query.marker = page.last().map(|it| (it.time, it.id));
            seen.extend(page.iter().cloned());
            if page.len() < 7 {
                break;
            }
        }
        if descending {
            seen.reverse();
        }
        assert_eq!(seen, events);
        let some = HistoryQuery {
            alarm: Some("a".into()),
            kind: Some(AlarmEventKind::State),
            from: Some(at(1)),
            until: Some(at(2)),
            marker: None,
            ..query
        };
        let mut some: Vec<u128> = test
            .store
            .alarm_history(&some)
            .await
            .unwrap()
            .iter()
            .map(|it| it.id.as_u128())
            .collect();
        some.sort();
        assert_eq!(some, [4, 6, 8]);
    }
}

fn series(metric: &str, instance: &str) -> Series {
    Series {
        project: "p".into(),
        namespace: "system/linux".into(),
        metric: metric.into(),
        unit: Some("Percent".into()),
        alarm: None,
        dimensions: [(Arc::from("InstanceId"), Arc::from(instance))].into(),
    }
}

pub(crate) async fn samples_add_up_whoever_adds_them(test: TestStore) {
    let one = series("CPU", "i-1");
    let row = SeriesRow::new(&one, at(100));
    let add = |store: Arc<dyn kiln_engine::store::Store>, value: f64| {
        let (row, id) = (row.clone(), one.id());
        async move {
            let buckets: Vec<Bucket> = [105, 111, 3000]
                .map(|second| Bucket::at(id, at(second), Totals::single(value)))
                .into();
            store.add_samples(&[row], &buckets).await.unwrap();
        }
    };
    let values = [1.5, -2.0, 7.0, 3.0, 0.25, 9.0];
    let added = values.map(|value| {
        let store = if value > 2.0 { &test.store } else { &test.other };
        tokio::spawn(add(store.clone(), value))
    });
    for task in added {
        task.await.unwrap();
    }
    let found = test.store.samples(&[one.id(), Uuid::nil()], at(100), at(120)).await.unwrap();
    let totals = Totals { count: 6.0, sum: 18.75, low: -2.0, high: 9.0 };
    let expected: Vec<Bucket> =
        [100, 110].map(|start| Bucket { series: one.id(), start: at(start), totals }).into();
    assert_eq!(found, expected);
    assert_eq!(test.store.samples(&[one.id()], at(120), at(100)).await.unwrap(), []);

    let others: Vec<SeriesRow> = ["i-2", "i-3", "i-4"]
        .iter()
        .map(|instance| SeriesRow::new(&series("Memory", instance), at(9000)))
        .collect();
    let samples: Vec<Bucket> = (0..300)
        .map(|number| {
            Bucket::at(others[0].id, at(9000 + 10 * number), Totals::single(number as f64))
        })
        .collect();
    test.store.add_samples(&others, &samples).await.unwrap();
    assert_eq!(test.other.samples(&[others[0].id], at(0), Time::NEVER).await.unwrap(), samples);
    let query = SeriesQuery { project: "p".into(), limit: 10, ..SeriesQuery::default() };
    assert_eq!(test.other.series(&query).await.unwrap().len(), 4);
    let memory = SeriesQuery { metric: Some("Memory".into()), limit: 2, ..query };
    let page = test.other.series(&memory).await.unwrap();
    let next = SeriesQuery { marker: Some(page[1].id), ..memory };
    let last = test.other.series(&next).await.unwrap();
    assert_eq!((page.len(), last.len()), (2, 1));
    assert!(others.contains(&last[0]) && last[0].series().unwrap().metric == "Memory".into());
}

pub(crate) async fn old_samples_and_history_are_dropped(test: TestStore) {
    let (old, new) = (series("CPU", "i-1"), series("CPU", "i-2"));
    let rows = [SeriesRow::new(&old, at(100)), SeriesRow::new(&new, at(900))];
    let of_alarm = alarm(1, "p", "a");
    let samples: Vec<Bucket> =
        [(old.id(), 100), (new.id(), 100), (new.id(), 900), (of_alarm.id, 900)]
            .map(|(id, second)| Bucket::at(id, at(second), Totals::single(1.0)))
            .into();
    test.store.add_samples(&rows, &samples).await.unwrap();
    let history = vec![event(1, "a", 100), event(2, "a", 900)];
    test.store.write_alarms(&[AlarmChange { history, ..change(&of_alarm, None) }]).await.unwrap();

    assert_eq!(test.store.prune_metrics(at(500), at(50), 1).await.unwrap(), 1);
    assert_eq!(test.store.prune_metrics(at(500), at(500), 10).await.unwrap(), 1);
    assert_eq!(test.store.prune_metrics(at(500), at(500), 10).await.unwrap(), 0);
    let all = [old.id(), new.id(), of_alarm.id];
    let left = test.store.samples(&all, at(0), Time::NEVER).await.unwrap();
    assert_eq!(left.iter().map(|it| it.start).collect::<Vec<_>>(), [at(900), at(900)]);
    let query = SeriesQuery { project: "p".into(), limit: 10, ..SeriesQuery::default() };
    assert_eq!(test.store.series(&query).await.unwrap(), rows[1..]);
    // What an alarm was given goes with it.
    let dropped = AlarmChange { is_deleted: true, ..change(&of_alarm, Some(1)) };
    test.store.write_alarms(&[dropped]).await.unwrap();
    assert_eq!(test.store.samples(&[of_alarm.id], at(0), Time::NEVER).await.unwrap(), []);
}
