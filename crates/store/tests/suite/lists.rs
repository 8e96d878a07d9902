//! Pages of stacks and events.

use crate::test_store::{COMPLETE, LONG, TestStore, at, batch, deleted, scatter};
use kiln_engine::store::{
    Batch, EventField, EventQuery, StackField, StackQuery, StackRow, StackSort, TagQuery,
};
use kiln_engine::{Action, State, Status, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) async fn pages_hold_each_stack_once(test: TestStore) {
    const STACKS: usize = 1000;
    let statuses = [Status::Complete, Status::Failed, Status::InProgress];
    let (root, lease) = test.owned("p", "root").await;
    let mut stacks = vec![];
    for number in 1..STACKS as u64 {
        let random = scatter(number);
        let mut stack = test.nested(&root, &format!("n{}é", random % 300));
        stack.summary.state = State::new(Action::Create, statuses[(random >> 8) as usize % 3]);
        stack.summary.created = Time::from_micros((random >> 16) as i64 % 50);
        stack.summary.updated =
            random.is_multiple_of(2).then(|| Time::from_micros((random >> 24) as i64 % 40 - 20));
        stacks.push(stack);
    }
    test.write(Batch { stacks, ..batch(lease) }).await;
    use StackSort::{Created, Name, Status as ByStatus, Updated};
    let sorts: [&[StackSort]; 7] = [
        &[],
        &[Name],
        &[ByStatus],
        &[Created],
        &[Updated],
        &[ByStatus, Updated, Name],
        &[Name, Name],
    ];
    for (number, sort) in sorts.into_iter().enumerate() {
        let mut query = StackQuery {
            project: (number % 2 == 0).then(|| "p".into()),
            nested: true,
            sort: sort.to_vec(),
            descending: number % 3 == 1,
            limit: Some(97),
            ..StackQuery::default()
        };
        let mut all: Vec<StackRow> = Vec::new();
        loop {
            let page = test.store.stacks(&query).await.unwrap();
            let Some(last) = page.last() else { break };
            query.marker = Some(last.id);
            all.extend(page);
        }
        let ids: BTreeSet<_> = all.iter().map(|stack| stack.id).collect();
        assert_eq!((all.len(), ids.len()), (STACKS, STACKS), "{sort:?}");
        let key = |stack: &StackRow| {
            let of = |sort: &StackSort| match sort {
                Name => stack.summary.name.to_string(),
                ByStatus => stack.summary.state.status.name().to_owned(),
                Created => order(Some(stack.summary.created)),
                Updated => order(stack.summary.updated),
            };
            let sort = if sort.is_empty() { &[Created][..] } else { sort };
            (sort.iter().map(of).collect::<Vec<_>>(), stack.id)
        };
        let mut keys: Vec<_> = all.iter().map(key).collect();
        if query.descending {
            keys.reverse();
        }
        assert!(keys.is_sorted(), "{sort:?}");
        assert_eq!(test.store.count_stacks(&query).await.unwrap(), STACKS as u64);
    }
}

/// A text that sorts like a moment.
fn order(time: Option<Time>) -> String {
    time.map_or_else(String::new, |time| format!("{:020}", time.micros() + 1_000_000_000_000))
}

pub(crate) async fn stacks_are_filtered(test: TestStore) {
    let mut ids = Vec::new();
    for (number, (project, name)) in
        [("p", "a"), ("p", "b"), ("q", "a"), ("p", "c")].into_iter().enumerate()
    {
        let mut tree = test.tree(project, name);
        tree.stack.summary.created = at(number as i64);
        tree.stack.user_name = if name == "a" { "ann" } else { "bob" }.into();
        tree.stack.summary.state = if name == "c" { COMPLETE } else { tree.stack.summary.state };
        tree.stack.summary.reason = format!("reason of {name}").into();
        ids.push(tree.stack.id);
        test.store.create_tree(tree).await.unwrap();
    }
    let filtered = |filters: &[(StackField, &[&str])]| {
        let value = |values: &[&str]| values.iter().map(|value| Arc::from(*value)).collect();
        let filters = filters.iter().map(|(field, values)| (*field, value(values))).collect();
        StackQuery { filters, ..StackQuery::default() }
    };
    use StackField::{Action, Id, Name, Parent, Project, Reason, Status, UserName};
    for (filters, expected) in [
        (&[][..], &["a", "b", "a", "c"][..]),
        (&[(Name, &["a"][..])][..], &["a", "a"]),
        (&[(Name, &["a", "c"])], &["a", "a", "c"]),
        (&[(Name, &["A", "a "])], &[]),
        (&[(Name, &["a", "c"]), (Project, &["p"])], &["a", "c"]),
        (&[(Status, &["COMPLETE"])], &["c"]),
        (&[(Action, &["CREATE"]), (UserName, &["bob"])], &["b", "c"]),
        (&[(Action, &["DELETE"])], &[]),
        (&[(Reason, &["reason of b"])], &["b"]),
        (&[(Id, &[&ids[1].to_string(), "nonsense"])], &["b"]),
        (&[(Id, &["nonsense"])], &[]),
        (&[(Id, &[])], &[]),
        (&[(Parent, &[&ids[1].to_string()])], &[]),
    ] {
        assert_eq!(test.names(&filtered(filters)).await, expected, "{filters:?}");
    }
    let query = StackQuery { project: Some("p".into()), ..filtered(&[]) };
    assert_eq!(test.names(&query).await, ["a", "b", "c"]);
    assert_eq!(test.store.count_stacks(&query).await.unwrap(), 3);
    // A marker that is not in the list still has a place; one that is nowhere has none.
    let query = StackQuery { marker: Some(ids[2]), ..query };
    assert_eq!(test.names(&query).await, ["c"]);
    let marker = Some(kiln_engine::StackId(test.id()));
    assert_eq!(test.names(&StackQuery { marker, ..query }).await, ["a", "b", "c"]);
}

pub(crate) async fn stacks_are_found_by_tags(test: TestStore) {
    for (name, tags) in [
        ("none", &[][..]),
        ("x", &["x"]),
        ("xy", &["y", "x"]),
        ("yz", &["y", "z"]),
        ("X", &["X", "x "]),
    ] {
        let mut tree = test.tree("p", name);
        tree.stack.summary.tags = tags.iter().map(|tag| Arc::from(*tag)).collect();
        test.store.create_tree(tree).await.unwrap();
    }
    let list = |tags: &[&str]| tags.iter().map(|tag| Arc::from(*tag)).collect();
    type Tags = &'static [&'static str];
    let cases: [(Tags, Tags, Tags, Tags, Tags); 7] = [
        (&["x"], &[], &[], &[], &["x", "xy"]),
        (&["x", "y"], &[], &[], &[], &["xy"]),
        (&[], &["x", "z"], &[], &[], &["x", "xy", "yz"]),
        (&[], &[], &["x", "y"], &[], &["X", "none", "x", "yz"]),
        (&[], &[], &[], &["x", "y"], &["X", "none"]),
        (&["y"], &["x", "z"], &["x", "y"], &["q"], &["yz"]),
        (&[], &[], &[], &[], &["X", "none", "x", "xy", "yz"]),
    ];
    for (all, any, not_all, none, expected) in cases {
        let tags =
            TagQuery { all: list(all), any: list(any), not_all: list(not_all), none: list(none) };
        let sort = vec![StackSort::Name];
        let query = StackQuery { tags, sort, ..StackQuery::default() };
        assert_eq!(test.names(&query).await, expected, "{:?}", query.tags);
        assert_eq!(test.store.count_stacks(&query).await.unwrap(), expected.len() as u64);
    }
}

pub(crate) async fn nested_and_deleted_stacks_are_listed_if_asked_for(test: TestStore) {
    let (root, lease) = test.owned("p", "root").await;
    let (dead, dead_lease) = test.owned("p", "dead").await;
    let child = test.nested(&root, "child");
    let grandchild = test.nested(&child, "grandchild");
    let gone = deleted(&test.nested(&root, "gone"), at(5));
    test.write(Batch { stacks: vec![child.clone(), grandchild, gone], ..batch(lease) }).await;
    test.delete(&dead, dead_lease, at(6)).await;
    let all = ["child", "dead", "gone", "grandchild", "root"];
    for (nested, deleted, parent, expected) in [
        (false, false, None, &["root"][..]),
        (true, false, None, &["child", "grandchild", "root"]),
        (false, true, None, &["dead", "root"]),
        (true, true, None, &all),
        (false, false, Some(root.id), &["child"]),
        (false, true, Some(root.id), &["child", "gone"]),
        (true, false, Some(child.id), &["grandchild"]),
    ] {
        let sort = vec![StackSort::Name];
        let query = StackQuery { nested, deleted, parent, sort, ..StackQuery::default() };
        assert_eq!(test.names(&query).await, expected);
    }
    let deleted = test.store.stack(dead.id).await.unwrap().unwrap();
    assert_eq!(deleted.summary.deleted, Some(at(6)));
    let tree = test.store.load_tree(dead.id).await.unwrap().unwrap();
    assert_eq!(tree.stacks, [deleted]);
}

pub(crate) async fn events_are_paged_and_filtered(test: TestStore) {
    let (root, lease) = test.owned("p", "root").await;
    let child = test.nested(&root, "child");
    let mut events: Vec<_> = (1..=50)
        .map(|number| test.event(if number % 5 == 0 { &child } else { &root }, number))
        .collect();
    events[3].state = COMPLETE;
    events[4].kind = "OS::Nova::Server".into();
    let written = Batch { stacks: vec![child.clone()], events: events.clone(), ..batch(lease) };
    test.write(written).await;
    let numbers = async |query: &EventQuery| -> Vec<u64> {
        let events = test.store.events(query).await.unwrap();
        events.iter().map(|event| event.number).collect()
    };
    let everything = EventQuery {
        stacks: vec![child.id, root.id, child.id],
        filters: Vec::new(),
        descending: false,
        marker: None,
        limit: None,
    };
    assert_eq!(numbers(&everything).await, (1..=50).collect::<Vec<_>>());
    for descending in [false, true] {
        let mut query = EventQuery { descending, limit: Some(7), ..everything.clone() };
        let mut seen = Vec::new();
        loop {
            let page = test.store.events(&query).await.unwrap();
            let Some(last) = page.last() else { break };
            query.marker = Some(last.id);
            seen.extend(page);
        }
        if descending {
            seen.reverse();
        }
        assert_eq!(seen, events);
    }
    let of_child = EventQuery { stacks: vec![child.id], ..everything.clone() };
    assert_eq!(numbers(&of_child).await, (1..=10).map(|n| n * 5).collect::<Vec<_>>());
    // The marker of another stack still has a place.
    let behind = EventQuery { marker: Some(events[41].id), ..of_child.clone() };
    assert_eq!(numbers(&behind).await, [45, 50]);
    let marker = Some(kiln_engine::EventId(test.id()));
    assert_eq!(numbers(&EventQuery { marker, ..of_child }).await.len(), 10);
    let nobody = EventQuery { stacks: Vec::new(), ..everything.clone() };
    assert_eq!(numbers(&nobody).await, Vec::<u64>::new());
    use EventField::{Action, Id, Kind, Resource, Status};
    let id = events[9].id.to_string();
    for (field, values, expected) in [
        (Id, vec![&*id, "nonsense"], vec![10]),
        (Resource, vec!["r3", "r5"], vec![3, 5]),
        (Kind, vec!["OS::Nova::Server"], vec![5]),
        (Status, vec!["COMPLETE"], vec![4]),
        (Action, vec!["UPDATE"], vec![]),
    ] {
        let values = values.into_iter().map(Arc::from).collect();
        let query = EventQuery { filters: vec![(field, values)], ..everything.clone() };
        assert_eq!(numbers(&query).await, expected, "{field:?}");
    }
}

pub(crate) async fn events_of_many_stacks_are_merged(test: TestStore) {
    let (root, lease) = test.owned("p", "root").await;
    let stacks: Vec<_> =
        (0..1100).map(|number| test.nested(&root, &format!("n{number}"))).collect();
    let events: Vec<_> = (0..1100_u64)
        .map(|number| test.event(&stacks[(number * 7 % 1100) as usize], number))
        .collect();
    let ids = stacks.iter().map(|stack| stack.id).collect();
    test.write(Batch { stacks, events: events.clone(), ..batch(lease) }).await;
    let query = EventQuery {
        stacks: ids,
        filters: Vec::new(),
        descending: true,
        marker: Some(events[600].id),
        limit: Some(100),
    };
    let page = test.store.events(&query).await.unwrap();
    let numbers: Vec<u64> = page.iter().map(|event| event.number).collect();
    assert_eq!(numbers, (500..600).rev().collect::<Vec<_>>());
    assert_eq!(test.store.renew(lease.engine, LONG).await.unwrap().len(), 1);
}
