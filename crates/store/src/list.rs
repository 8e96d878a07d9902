//! Lists: stacks and events, filtered, sorted and cut into pages by key.

use crate::cipher::Cipher;
use crate::database::SqlStore;
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::rows::{NEVER_UPDATED, class};
use crate::sql::{Reader, Statement, Values};
use crate::table::{TableRow, placeholders};
use kiln_engine::Time;
use kiln_engine::store::{
    EventField, EventQuery, EventRow, StackField, StackQuery, StackRow, StackSort, TagQuery,
};
use std::sync::Arc;
use uuid::Uuid;

/// Up to how many values a list's statement is kept prepared.
const KEPT_VALUES: usize = 8;
/// How many stacks' events are asked for at once.
const STACKS_AT_ONCE: usize = 500;

/// A condition that grows, with the values that it has so far.
pub(crate) struct Condition {
    text: String,
    values: Vec<Value>,
}

#[derive(Clone)]
pub(crate) enum Value {
    Id(Uuid),
    Int(i64),
    Text(Arc<str>),
    Hash([u8; 32]),
}

impl Condition {
    pub(crate) fn new() -> Condition {
        Condition { text: "1 = 1".to_owned(), values: Vec::new() }
    }

    pub(crate) fn and(&mut self, text: &str, values: impl IntoIterator<Item = Value>) {
        self.text.push_str(" AND ");
        self.text.push_str(text);
        self.values.extend(values);
    }

    /// Requires that a column has one of the values.
    fn one_of(&mut self, column: &str, values: Vec<Value>) {
        if values.is_empty() {
            return self.and("1 = 0", []);
        }
        let list = placeholders(values.len());
        self.and(&format!("{column} IN ({list})"), values);
    }

    /// Requires that a row comes behind the one that has these values. The first key occurs twice, the
    /// second time in a form for which databases use their indexes.
    pub(crate) fn behind(&mut self, keys: &[(&str, Value)], descending: bool) {
        let Some((first, _)) = keys.split_first() else { return };
        let sign = if descending { '<' } else { '>' };
        self.and(&format!("{} {sign}= ?", first.0), [first.1.clone()]);
        let (mut text, mut values, mut ends) = (String::new(), Vec::new(), 0);
        for (at, (column, value)) in keys.iter().enumerate() {
            values.push(value.clone());
            if at + 1 < keys.len() {
                text.push_str(&format!("({column} {sign} ? OR ({column} = ? AND "));
                values.push(value.clone());
                ends += 2;
            } else {
                text.push_str(&format!("{column} {sign} ?"));
            }
        }
        text.push_str(&")".repeat(ends));
        self.and(&text, values);
    }

    /// The text of the condition.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn add_to(self, values: &mut Values) {
        for value in self.values {
            match value {
                Value::Id(id) => values.id(id),
                Value::Int(number) => values.int(number),
                Value::Text(text) => values.text(&text),
                Value::Hash(hash) => values.bytes(&hash),
            }
        }
    }
}

fn texts(values: &[Arc<str>]) -> Vec<Value> {
    values.iter().cloned().map(Value::Text).collect()
}

/// A text that is not an id matches no row.
fn ids(values: &[Arc<str>]) -> Vec<Value> {
    values.iter().filter_map(|text| Uuid::parse_str(text).ok()).map(Value::Id).collect()
}

/// How a list is sorted, how long it is and what it reads.
pub(crate) struct ListSpec<'k> {
    pub(crate) keys: &'k [&'k str],
    pub(crate) descending: bool,
    pub(crate) limit: Option<u64>,
    pub(crate) with_bodies: bool,
}

impl<'k> ListSpec<'k> {
    /// A list of whole rows, from the first to the last.
    pub(crate) fn whole(keys: &'k [&'k str], limit: Option<u64>) -> ListSpec<'k> {
        ListSpec { keys, descending: false, limit, with_bodies: true }
    }
}

pub(crate) fn select<R: TableRow>(
    dialect: Dialect,
    condition: Condition,
    list: &ListSpec<'_>,
) -> Statement {
    let ListSpec { keys, descending, limit, with_bodies } = *list;
    let direction = if descending { " DESC" } else { "" };
    let order: Vec<String> = keys.iter().map(|key| format!("{key}{direction}")).collect();
    let text = format!(
        "SELECT {} FROM {} WHERE {} ORDER BY {}{}",
        if with_bodies { R::column_names() } else { R::listed_names() },
        R::TABLE,
        condition.text,
        order.join(", "),
        if limit.is_some() { " LIMIT ?" } else { "" }
    );
    let mut statement = Statement::new(dialect, &text);
    // Plain lists are asked for all the time; of those with filters, there are too many different ones.
    statement.is_cached = condition.values.len() <= KEPT_VALUES;
    condition.add_to(&mut statement.values);
    limit.into_iter().for_each(|limit| statement.values.count(limit));
    statement
}

impl SqlStore {
    pub(crate) async fn page_of_stacks(
        &self,
        query: &StackQuery,
    ) -> Result<Vec<StackRow>, DbError> {
        let mut condition = stack_condition(&self.cipher, query);
        let keys = stack_keys(query);
        let marker = match query.marker {
            Some(id) => self.by_id::<StackRow>(id.0.as_bytes()).await?,
            None => None,
        };
        if let Some(marker) = marker {
            let behind: Vec<_> = keys.iter().map(|key| (*key, stack_key(&marker, key))).collect();
            condition.behind(&behind, query.descending);
        }
        let StackQuery { descending, limit, with_bodies, .. } = *query;
        let list = ListSpec { keys: &keys, descending, limit, with_bodies };
        self.list(condition, &list).await
    }

    /// The rows of a list.
    pub(crate) async fn list<R: TableRow>(
        &self,
        condition: Condition,
        list: &ListSpec<'_>,
    ) -> Result<Vec<R>, DbError> {
        let statement = select::<R>(self.dialect, condition, list);
        let mut reader = self.reader().await?;
        match list.with_bodies {
            true => statement.read(&mut reader, &self.cipher).await,
            false => statement.read_listed(&mut reader, &self.cipher).await,
        }
    }

    pub(crate) async fn number_of_stacks(&self, query: &StackQuery) -> Result<u64, DbError> {
        let condition = stack_condition(&self.cipher, query);
        let text = format!("SELECT COUNT(*) FROM stacks WHERE {}", condition.text);
        let mut statement = self.statement(&text);
        statement.is_cached = false;
        condition.add_to(&mut statement.values);
        let row = statement.first(&mut *self.reader().await?).await?;
        row.map_or(Ok(0), |row| Reader::new(&row).count())
    }

    pub(crate) async fn page_of_events(
        &self,
        query: &EventQuery,
    ) -> Result<Vec<EventRow>, DbError> {
        let marker = match query.marker {
            Some(id) => self.by_id::<EventRow>(id.0.as_bytes()).await?,
            None => None,
        };
        let mut stacks: Vec<Uuid> = query.stacks.iter().map(|stack| stack.0).collect();
        stacks.sort();
        stacks.dedup();
        let mut events: Vec<EventRow> = Vec::new();
        for stacks in stacks.chunks(STACKS_AT_ONCE) {
            let mut condition = event_condition(query, stacks);
            if let Some(marker) = &marker {
                let number = Value::Int(i64::try_from(marker.number).unwrap_or(i64::MAX));
                let keys = [("number", number), ("id", Value::Id(marker.id.0))];
                condition.behind(&keys, query.descending);
            }
            let EventQuery { descending, limit, .. } = *query;
            let keys = &["number", "id"];
            let list = ListSpec { keys, descending, limit, with_bodies: false };
            events.extend(self.list::<EventRow>(condition, &list).await?);
        }
        if stacks.len() > STACKS_AT_ONCE {
            events.sort_by_key(|event| (event.number, event.id));
            if query.descending {
                events.reverse();
            }
            let limit = query.limit.and_then(|limit| usize::try_from(limit).ok());
            events.truncate(limit.unwrap_or(usize::MAX));
        }
        Ok(events)
    }
}

fn event_condition(query: &EventQuery, stacks: &[Uuid]) -> Condition {
    let mut condition = Condition::new();
    condition.one_of("stack", stacks.iter().copied().map(Value::Id).collect());
    for (field, values) in &query.filters {
        match field {
            EventField::Id => condition.one_of("id", ids(values)),
            EventField::Resource => condition.one_of("resource", texts(values)),
            EventField::Kind => condition.one_of("kind", texts(values)),
            EventField::Action => condition.one_of("action", texts(values)),
            EventField::Status => condition.one_of("status", texts(values)),
        }
    }
    condition
}

fn stack_condition(cipher: &Cipher, query: &StackQuery) -> Condition {
    let mut condition = Condition::new();
    if let Some(project) = &query.project {
        condition.and("project = ?", [Value::Text(project.clone())]);
    }
    if let Some(parent) = query.parent {
        condition.and("parent = ?", [Value::Id(parent.0)]);
    }
    let nested = query.nested || query.parent.is_some();
    let classes = [(false, false), (true, false), (false, true), (true, true)];
    let classes: Vec<Value> = classes
        .into_iter()
        .filter(|(is_nested, deleted)| (nested || !is_nested) && (query.deleted || !deleted))
        .map(|(nested, deleted)| Value::Int(class(nested, deleted).into()))
        .collect();
    if classes.len() < 4 {
        condition.one_of("class", classes);
    }
    for (field, values) in &query.filters {
        match field {
            StackField::Id => condition.one_of("id", ids(values)),
            StackField::Name => condition.one_of("name", texts(values)),
            StackField::Action => condition.one_of("action", texts(values)),
            StackField::Status => condition.one_of("status", texts(values)),
            StackField::Reason => {
                let keys = values.iter().map(|reason| Value::Hash(cipher.reason_key(reason)));
                condition.one_of("reason_key", keys.collect());
            }
            StackField::Project => condition.one_of("project", texts(values)),
            StackField::UserName => condition.one_of("user_name", texts(values)),
            StackField::Parent => condition.one_of("parent", ids(values)),
        }
    }
    tag_condition(&mut condition, &query.tags);
    condition
}

fn tag_condition(condition: &mut Condition, tags: &TagQuery) {
    let has = "EXISTS (SELECT 1 FROM tags WHERE tags.stack = stacks.id AND tags.tag = ?)";
    let has_one_of = |count: usize| {
        let list = placeholders(count);
        format!("EXISTS (SELECT 1 FROM tags WHERE tags.stack = stacks.id AND tags.tag IN ({list}))")
    };
    for tag in &tags.all {
        condition.and(has, [Value::Text(tag.clone())]);
    }
    if !tags.any.is_empty() {
        condition.and(&has_one_of(tags.any.len()), texts(&tags.any));
    }
    if !tags.not_all.is_empty() {
        let all = vec![has; tags.not_all.len()].join(" AND ");
        condition.and(&format!("NOT ({all})"), texts(&tags.not_all));
    }
    if !tags.none.is_empty() {
        condition.and(&format!("NOT {}", has_one_of(tags.none.len())), texts(&tags.none));
    }
}

/// The columns that a list is sorted by; the id, which ends it, once.
fn stack_keys(query: &StackQuery) -> Vec<&'static str> {
    let column = |sort: &StackSort| match sort {
        StackSort::Name => "name",
        StackSort::Status => "status",
        StackSort::Created => "created",
        StackSort::Updated => "updated",
    };
    let mut keys: Vec<&str> = query.sort.iter().map(column).collect();
    if keys.is_empty() {
        keys.push("created");
    }
    keys.push("id");
    keys
}

fn stack_key(stack: &StackRow, column: &str) -> Value {
    match column {
        "name" => Value::Text(stack.summary.name.clone()),
        "status" => Value::Text(stack.summary.state.status.name().into()),
        "created" => Value::Int(stack.summary.created.micros()),
        "updated" => Value::Int(stack.summary.updated.map_or(NEVER_UPDATED, Time::micros)),
        _ => Value::Id(stack.id.0),
    }
}
