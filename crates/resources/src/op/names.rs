//! Names that stand for ids: looked up before an operation begins, so that it sees ids alone.

use super::{Op, OpError};
use crate::behaviour::OperationKind;
use crate::declare::{Members, Value};
use crate::lookup;
use crate::property_access::open;
use kiln_template::Secret;
use kiln_template::schema::{Inner, Property};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The ids of objects, by their kind and by what was given for them.
type Ids = BTreeMap<(String, Arc<str>), Arc<str>>;

impl Op {
    /// Puts ids in place of the names of objects, where a property may have either.
    pub(super) async fn look_up_names(&mut self, operation: OperationKind) -> Result<(), OpError> {
        let needs_path = || self.rest_spec().is_some_and(|spec| spec.path.names().next().is_some());
        let must_be_found = match operation {
            OperationKind::Create | OperationKind::Update => true,
            // Objects that are below another are not found without it.
            OperationKind::Delete | OperationKind::Check if needs_path() => false,
            // What is sent can be compared with what is shown only by ids.
            OperationKind::Observe => false,
            OperationKind::Check if self.rest_spec().is_some() => false,
            _ => return Ok(()),
        };
        let schema = &self.schema_with_names();
        let (new, former) =
            (self.context.properties.clone(), self.context.previous_properties.clone());
        let mut ids = Ids::new();
        self.look_up(names(schema, &new), must_be_found, &mut ids).await?;
        // What something was called before may be gone.
        self.look_up(names(schema, &former), false, &mut ids).await?;
        if !ids.is_empty() {
            self.context.properties = Arc::new(with_ids(schema, &new, &new, &ids));
            self.context.previous_properties = Arc::new(with_ids(schema, &former, &former, &ids));
        }
        Ok(())
    }

    /// The properties of the type; those that its handlers want looked up are as if the schema said so.
    fn schema_with_names(&self) -> Cow<'static, [Property]> {
        let schema = &self.resource_type().schema.properties;
        let Some(spec) = self.rest_spec().filter(|spec| !spec.finds.is_empty()) else {
            return Cow::Borrowed(schema);
        };
        let mut schema = schema.clone();
        for (name, kind) in &spec.finds {
            if let Some(property) = schema.iter_mut().find(|property| property.name == *name) {
                property.rewriting.finds = Some(kind.clone());
            }
        }
        Cow::Owned(schema)
    }

    async fn look_up(
        &mut self,
        names: Vec<(String, Arc<str>)>,
        must_be_found: bool,
        ids: &mut Ids,
    ) -> Result<(), OpError> {
        for (kind, given) in names {
            if ids.contains_key(&(kind.clone(), given.clone())) {
                continue;
            }
            match lookup::find_id_by_name(self, &kind, &given).await {
                Ok(id) if id == given => {}
                Ok(id) => _ = ids.insert((kind, given), id),
                Err(stop) if must_be_found => return Err(stop),
                Err(_) => {}
            }
        }
        Ok(())
    }
}

/// What may be names among properties, with the kinds of objects.
fn names(schema: &[Property], properties: &Members) -> Vec<(String, Arc<str>)> {
    let mut found = Vec::new();
    for property in schema {
        let Some(value) = properties.get(&*property.name) else { continue };
        collect(property, value, properties, &mut found);
    }
    found
}

fn collect(
    property: &Property,
    value: &Value,
    beside: &Members,
    found: &mut Vec<(String, Arc<str>)>,
) {
    match (open(value), &property.inner) {
        (Value::Text(text), _) if !text.is_empty() => {
            found.extend(kind_of(property, beside).map(|kind| (kind, text.clone())));
        }
        (Value::List(items), inner) => {
            for item in items.iter() {
                match inner {
                    Inner::Each(each) => collect(each, item, beside, found),
                    _ => collect(
                        &Property { inner: Inner::Free, ..property.clone() },
                        item,
                        beside,
                        found,
                    ),
                }
            }
        }
        (Value::Map(values), Inner::Members(members)) => {
            for member in members {
                if let Some(value) = values.get(&*member.name) {
                    collect(member, value, values, found);
                }
            }
        }
        _ => {}
    }
}

/// The kind of object that a property names; a word in braces is a property beside it.
fn kind_of(property: &Property, beside: &Members) -> Option<String> {
    let finds = property.rewriting.finds.as_deref()?;
    match finds.split_once('{').and_then(|(before, it)| Some((before, it.split_once('}')?))) {
        Some((before, (word, after))) => {
            let word = beside.get(word).and_then(|value| open(value).as_text())?;
            Some(format!("{before}{word}{after}"))
        }
        None => Some(finds.to_owned()),
    }
}

fn with_ids(schema: &[Property], values: &Members, beside: &Members, ids: &Ids) -> Members {
    let mut replaced = values.clone();
    for property in schema {
        if let Some(value) = replaced.get_mut(&*property.name) {
            *value = with_id(property, value, beside, ids);
        }
    }
    replaced
}

fn with_id(property: &Property, value: &Value, beside: &Members, ids: &Ids) -> Value {
    if let Value::Secret(secret) = value {
        return Value::Secret(Secret::new(with_id(property, secret.expose(), beside, ids)));
    }
    match (value, &property.inner) {
        (Value::Text(text), _) => {
            let id = kind_of(property, beside).and_then(|kind| ids.get(&(kind, text.clone())));
            id.map_or_else(|| value.clone(), |id| Value::Text(id.clone()))
        }
        (Value::List(items), inner) => Value::list(items.iter().map(|item| match inner {
            Inner::Each(each) => with_id(each, item, beside, ids),
            _ => with_id(&Property { inner: Inner::Free, ..property.clone() }, item, beside, ids),
        })),
        (Value::Map(values), Inner::Members(members)) => {
            Value::Map(Arc::new(with_ids(members, values, values, ids)))
        }
        _ => value.clone(),
    }
}
