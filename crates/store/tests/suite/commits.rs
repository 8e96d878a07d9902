//! Writing, and reading what was written.

use crate::test_store::{COMPLETE, LONG, TestStore, at, batch, deleted, text};
use kiln_engine::store::{Batch, CreateError, EventQuery, EventRow, NewTree, RecipeRow, StackRow};
use kiln_engine::{PhysicalId, RecipeId, StackId, StackSummary};
use std::collections::BTreeSet;
use std::sync::Arc;

fn events_of(stack: &StackRow) -> EventQuery {
    let stacks = vec![stack.id];
    EventQuery { stacks, filters: Vec::new(), descending: false, marker: None, limit: None }
}

pub(crate) async fn what_is_written_comes_back(test: TestStore) {
    let store = &test.store;
    let mut tree = test.tree("project", "the name");
    tree.stack = StackRow {
        user_name: "jürgen".into(),
        summary: StackSummary {
            reason: "'quoted' \\ \" ? $1 \n € 🔥 %s  ".into(),
            created: at(-5),
            updated: Some(at(7)),
            tags: vec!["b".into(), "a tag".into(), "line\nline".into()],
            ..tree.stack.summary
        },
        previous: Some(RecipeId(test.id())),
        body: (0..=255).collect(),
        ..tree.stack
    };
    tree.recipe.contents.push(text("a file").hash);
    tree.contents.push(text("a file"));
    tree.events.push(test.event(&tree.stack, 1));
    tree.owner = Some((test.engine(), LONG));
    store.create_tree(tree.clone()).await.unwrap();

    let id = tree.stack.id;
    assert_eq!(store.stack(id).await.unwrap().as_ref(), Some(&tree.stack));
    assert_eq!(store.recipe(tree.recipe.id).await.unwrap().as_ref(), Some(&tree.recipe));
    for content in &tree.contents {
        assert_eq!(store.content(content.hash).await.unwrap().as_ref(), Some(&content.bytes));
    }
    assert_eq!(store.event(tree.events[0].id).await.unwrap().as_ref(), Some(&tree.events[0]));
    let named = store.stack_by_name("project", "the name").await.unwrap();
    assert_eq!(named.as_ref(), Some(&tree.stack));
    for (project, name) in
        [("project", "The name"), ("project", "the name "), ("other", "the name")]
    {
        assert_eq!(store.stack_by_name(project, name).await.unwrap(), None);
    }

    let mut resource = test.resource(&tree.stack, 3);
    resource.summary.physical_id = None;
    resource.body = Vec::new();
    let mut event = test.event(&tree.stack, 2);
    event.body = vec![0; 70_000];
    event.reason = "x".repeat(255).into();
    let lease = store.claim_tree(test.engine(), id, LONG + LONG.since(at(0)), LONG).await;
    let lease = lease.unwrap().unwrap();
    let (resources, events) = (vec![resource.clone()], vec![event.clone()]);
    test.write(Batch { resources, events, ..batch(lease) }).await;
    assert_eq!(test.other.resources(&[id]).await.unwrap(), [resource.clone()]);
    let events = test.other.events(&events_of(&tree.stack)).await.unwrap();
    let listed = |event: &EventRow| EventRow { body: Vec::new(), ..event.clone() };
    assert_eq!(events, [listed(&tree.events[0]), listed(&event)]);
    assert_eq!(test.other.event(event.id).await.unwrap(), Some(event));
    let loaded = test.other.load_tree(id).await.unwrap().unwrap();
    assert_eq!(loaded.stacks, [tree.stack]);
    assert_eq!(loaded.resources, [resource]);
    assert_eq!((loaded.recipes, loaded.last_event), (vec![tree.recipe], 2));

    let nobody = StackId(test.id());
    assert_eq!(store.stack(nobody).await.unwrap(), None);
    assert!(store.load_tree(nobody).await.unwrap().is_none());
    assert_eq!(store.resources(&[nobody]).await.unwrap(), []);
    assert_eq!(store.content(text("nobody's").hash).await.unwrap(), None);
}

pub(crate) async fn rows_are_overwritten_and_dropped(test: TestStore) {
    let (stack, lease) = test.owned("p", "a").await;
    let resources = [1, 2, 3].map(|number| test.resource(&stack, number));
    let recipe = RecipeRow {
        id: RecipeId(test.id()),
        root: stack.id,
        contents: vec![text("new").hash],
        body: Vec::new(),
    };
    let mut changed = StackRow { recipe: recipe.id, ..stack.clone() };
    changed.summary.state = COMPLETE;
    changed.summary.tags = vec!["t".into()];
    // Twice in one batch: the later is the one.
    test.write(Batch {
        contents: vec![text("new")],
        recipes: vec![recipe.clone()],
        stacks: vec![stack.clone(), changed.clone()],
        resources: [&resources[..], &resources[..1]].concat(),
        ..batch(lease)
    })
    .await;
    assert_eq!(test.store.stack(stack.id).await.unwrap().as_ref(), Some(&changed));
    assert_eq!(test.store.resources(&[stack.id]).await.unwrap(), resources);
    let mut first = resources[0].clone();
    first.summary.physical_id = Some(PhysicalId::new("found"));
    first.summary.state = COMPLETE;
    let mut done = changed;
    done.summary.tags.clear();
    test.write(Batch {
        stacks: vec![done.clone()],
        resources: vec![first.clone(), resources[2].clone()],
        dropped_resources: vec![resources[1].id, resources[2].id],
        dropped_recipes: vec![stack.recipe],
        ..batch(lease)
    })
    .await;
    assert_eq!(test.store.resources(&[stack.id]).await.unwrap(), [first]);
    assert_eq!(test.store.stack(stack.id).await.unwrap(), Some(done));
    assert_eq!(test.store.recipe(stack.recipe).await.unwrap(), None);
    assert_eq!(test.store.recipe(recipe.id).await.unwrap(), Some(recipe));
}

pub(crate) async fn a_stale_fence_changes_nothing(test: TestStore) {
    let (stack, lease) = test.owned("p", "a").await;
    let resource = test.resource(&stack, 1);
    test.write(Batch { resources: vec![resource.clone()], ..batch(lease) }).await;
    let command = test.command(stack.id);
    test.store.submit(command.clone()).await.unwrap();
    let engine = test.engine();
    let after = LONG + LONG.since(at(0));
    let taken = test.other.claim_tree(engine, stack.id, after, after).await.unwrap().unwrap();
    assert_eq!(taken.fence, 2);
    let event = test.event(&stack, 9);
    let late = Batch {
        contents: vec![text("late")],
        stacks: vec![deleted(&stack, at(1))],
        resources: vec![test.resource(&stack, 2)],
        dropped_resources: vec![resource.id],
        dropped_recipes: vec![stack.recipe],
        events: vec![event.clone()],
        done: vec![command.id],
        ..batch(lease)
    };
    let future = Batch { fence: 3, ..late.clone() };
    assert_eq!(test.store.commit(&[late, future]).await.unwrap(), [false, false]);
    let tree = test.store.load_tree(stack.id).await.unwrap().unwrap();
    assert_eq!(tree.stacks, std::slice::from_ref(&stack));
    assert_eq!(tree.resources, [resource]);
    assert_eq!((tree.recipes.len(), tree.commands, tree.last_event), (1, vec![command], 0));
    assert_eq!(test.store.event(event.id).await.unwrap(), None);
    assert_eq!(test.store.content(text("late").hash).await.unwrap(), None);
    assert!(test.store.stack_by_name("p", "a").await.unwrap().is_some());
}

pub(crate) async fn one_stale_batch_does_not_hold_up_the_others(test: TestStore) {
    let mut batches = Vec::new();
    let mut stacks = Vec::new();
    for name in 0..5 {
        let (stack, lease) = test.owned("p", &format!("s{name}")).await;
        let resources = vec![test.resource(&stack, 1)];
        batches.push(Batch { resources, ..batch(lease) });
        stacks.push(stack);
    }
    batches[2].fence = 0;
    batches[3].root = StackId(test.id());
    let written = test.store.commit(&batches).await.unwrap();
    assert_eq!(written, [true, true, false, false, true]);
    for (stack, written) in stacks.iter().zip([1, 1, 0, 0, 1]) {
        assert_eq!(test.store.resources(&[stack.id]).await.unwrap().len(), written);
    }
    assert_eq!(test.store.commit(&[]).await.unwrap(), Vec::<bool>::new());
}

pub(crate) async fn batches_of_one_tree_follow_each_other(test: TestStore) {
    let (stack, lease) = test.owned("p", "a").await;
    let resource = test.resource(&stack, 1);
    let batches = [
        Batch { resources: vec![resource.clone()], ..batch(lease) },
        Batch { dropped_resources: vec![resource.id], ..batch(lease) },
        Batch { resources: vec![resource.clone()], has_work: false, ..batch(lease) },
    ];
    assert_eq!(test.store.commit(&batches).await.unwrap(), [true; 3]);
    assert_eq!(test.store.resources(&[stack.id]).await.unwrap(), [resource]);
}

pub(crate) async fn commands_wait_in_order(test: TestStore) {
    let (stack, lease) = test.owned("p", "a").await;
    let mut commands = Vec::new();
    for number in 0..12_u8 {
        let mut command = test.command(stack.id);
        command.body = vec![number];
        let store = if number % 2 == 0 { &test.store } else { &test.other };
        store.submit(command.clone()).await.unwrap();
        commands.push(command);
    }
    test.store.submit(commands[0].clone()).await.unwrap();
    assert_eq!(test.store.commands(stack.id).await.unwrap(), commands);
    let done = commands[..5].iter().map(|command| command.id).collect();
    test.write(Batch { done, ..batch(lease) }).await;
    let tree = test.other.load_tree(stack.id).await.unwrap().unwrap();
    assert_eq!(tree.commands, commands[5..]);
    let nobody = test.command(StackId(test.id()));
    test.store.submit(nobody.clone()).await.unwrap();
    assert_eq!(test.store.commands(nobody.root).await.unwrap(), []);
}

pub(crate) async fn a_waiting_command_is_work(test: TestStore) {
    let (stack, lease) = test.owned("p", "a").await;
    let command = test.command(stack.id);
    test.store.submit(command.clone()).await.unwrap();
    // The owner has not seen the command yet.
    test.write(Batch { has_work: false, ..batch(lease) }).await;
    test.store.release(lease).await.unwrap();
    let engine = test.engine();
    let taken = test.store.claim(engine, at(1), LONG, 1).await.unwrap();
    assert_eq!(taken.len(), 1);
    let done = vec![command.id];
    test.write(Batch { done, has_work: false, ..batch(taken[0]) }).await;
    test.store.release(taken[0]).await.unwrap();
    assert_eq!(test.store.claim(engine, at(1), LONG, 1).await.unwrap(), []);
}

pub(crate) async fn a_name_is_taken_once(test: TestStore) {
    let (stack, lease) = test.owned("p", "a").await;
    let second = test.other.create_tree(test.tree("p", "a")).await;
    let Err(CreateError::NameTaken(name)) = second else { panic!("{second:?}") };
    assert_eq!(&*name, "a");
    test.store.create_tree(test.tree("q", "a")).await.unwrap();
    test.store.create_tree(test.tree("p", "A")).await.unwrap();
    // A nested stack can have any name.
    let nested = test.nested(&stack, "A");
    test.write(Batch { stacks: vec![nested], ..batch(lease) }).await;
    test.delete(&stack, lease, at(5)).await;
    assert_eq!(test.store.stack_by_name("p", "a").await.unwrap(), None);
    let second = test.tree("p", "a");
    test.other.create_tree(second.clone()).await.unwrap();
    // What the former owner writes later does not take the name away again.
    test.write(Batch { stacks: vec![stack], ..batch(lease) }).await;
    let found = test.store.stack_by_name("p", "a").await.unwrap().unwrap();
    assert_eq!(found.id, second.stack.id);
}

pub(crate) async fn eight_at_once_get_one_name_once(test: TestStore) {
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let store = Arc::clone(if number % 2 == 0 { &test.store } else { &test.other });
            let tree = test.tree("p", "wanted");
            tokio::spawn(async move { store.create_tree(tree).await })
        })
        .collect();
    let (mut created, mut refused) = (0, 0);
    for task in tasks {
        match task.await.unwrap() {
            Ok(()) => created += 1,
            Err(CreateError::NameTaken(_)) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((created, refused), (1, 7));
}

pub(crate) async fn a_tree_is_loaded_parents_first(test: TestStore) {
    let (root, lease) = test.owned("p", "root").await;
    let mut stacks = vec![root.clone()];
    // Children that seem older than their parents, and deleted ones.
    for (parent, name, created, deleted) in [
        (0, "a", 9, None),
        (0, "b", 8, None),
        (1, "aa", 1, None),
        (2, "ba", 2, None),
        (0, "x", 3, Some(at(4))),
    ] {
        let mut stack = test.nested(&stacks[parent], name);
        stack.summary.created = at(created);
        stack.summary.deleted = deleted;
        stacks.push(stack);
    }
    let resources: Vec<_> = (0..stacks.len() as u64 * 2)
        .map(|number| test.resource(&stacks[number as usize % stacks.len()], 100 - number))
        .collect();
    let recipe =
        RecipeRow { id: RecipeId(test.id()), root: root.id, contents: vec![], body: vec![1] };
    stacks[1].previous = Some(recipe.id);
    let written = Batch { recipes: vec![recipe.clone()], stacks, resources, ..batch(lease) };
    test.write(written).await;
    let tree = test.store.load_tree(root.id).await.unwrap().unwrap();
    let names: Vec<&str> = tree.stacks.iter().map(|stack| &*stack.summary.name).collect();
    assert_eq!(names, ["root", "b", "a", "ba", "aa"]);
    assert_eq!(tree.recipes.len(), 2);
    assert!(tree.recipes.contains(&recipe));
    let order: Vec<_> = tree.resources.iter().map(|row| (row.stack, row.number)).collect();
    let expected: Vec<_> = tree
        .stacks
        .iter()
        .flat_map(|stack| {
            let mut numbers: Vec<u64> = tree
                .resources
                .iter()
                .filter(|row| row.stack == stack.id)
                .map(|row| row.number)
                .collect();
            numbers.sort();
            numbers.into_iter().map(|number| (stack.id, number))
        })
        .collect();
    assert_eq!(order, expected);
    assert_eq!(order.len(), 10);
}

pub(crate) async fn thousands_of_rows_fit_in_one_commit(test: TestStore) {
    let (stack, lease) = test.owned("p", "a").await;
    let mut resources: Vec<_> = (1..=3000).map(|number| test.resource(&stack, number)).collect();
    resources[17].body = vec![7; 9 << 19];
    let events: Vec<_> = (1..=6000).map(|number| test.event(&stack, number)).collect();
    let big = Batch { resources: resources.clone(), events: events.clone(), ..batch(lease) };
    test.write(big).await;
    assert_eq!(test.other.resources(&[stack.id]).await.unwrap(), resources);
    resources[17].body = vec![7; 9];
    test.write(Batch { resources: resources.clone(), ..batch(lease) }).await;
    assert_eq!(test.other.resources(&[stack.id]).await.unwrap(), resources);
    assert_eq!(test.other.events(&events_of(&stack)).await.unwrap(), events);
    let dropped_resources = resources.iter().map(|row| row.id).collect();
    test.write(Batch { dropped_resources, ..batch(lease) }).await;
    assert_eq!(test.store.resources(&[stack.id]).await.unwrap(), []);
}

pub(crate) async fn two_writers_of_the_same_texts_do_not_disturb_each_other(test: TestStore) {
    // Trees and texts in opposite orders, many times: databases see deadlocks here.
    let test = Arc::new(test);
    let mut owned = Vec::new();
    for number in 0..10 {
        owned.push(test.owned("p", &format!("s{number}")).await.1);
    }
    let tasks = [0, 1, 2, 3].map(|writer| {
        let (test, mut leases) = (Arc::clone(&test), owned.clone());
        if writer % 2 == 0 {
            leases.reverse();
        }
        tokio::spawn(async move {
            let store = if writer % 2 == 0 { &test.store } else { &test.other };
            for round in 0..5 {
                let mut contents: Vec<_> =
                    (0..10).map(|number| text(&format!("{round} {number}"))).collect();
                if writer % 2 == 0 {
                    contents.reverse();
                }
                let batches: Vec<Batch> = leases
                    .iter()
                    .map(|lease| Batch { contents: contents.clone(), ..batch(*lease) })
                    .collect();
                let written = store.commit(&batches).await.unwrap();
                assert!(written.iter().all(|written| *written));
                let mut tree = test.tree("p", &format!("w{writer}r{round}"));
                tree.recipe.contents = contents.iter().map(|content| content.hash).collect();
                store.create_tree(NewTree { contents, ..tree }).await.unwrap();
            }
        })
    });
    for task in tasks {
        task.await.unwrap();
    }
    let all = test.store.stacks(&Default::default()).await.unwrap();
    let names: BTreeSet<_> = all.iter().map(|stack| stack.summary.name.clone()).collect();
    assert_eq!((all.len(), names.len()), (30, 30));
}
