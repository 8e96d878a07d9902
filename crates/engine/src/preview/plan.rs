//! Plans: what an action would do to every resource of a tree, one step each, in an order in which it can be done.

use super::{Detail, Fate, Forecast};
use crate::blueprint::Source;
use crate::store::Hash;
use kiln_template::{STARS, Sources, Unknown, Value, print};
use std::fmt;
use std::sync::Arc;

/// The action that is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedAction {
    /// The stack is created.
    Create,
    /// The stack is updated.
    Update,
    /// The stack is deleted.
    Delete,
}

impl PlannedAction {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            PlannedAction::Create => "create",
            PlannedAction::Update => "update",
            PlannedAction::Delete => "delete",
        }
    }
}

/// What is done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// Nothing.
    Keep,
    /// It is created.
    Create,
    /// It is updated in place.
    Update,
    /// Another one is created, and then it is deleted.
    Replace,
    /// It is deleted.
    Delete,
    /// It cannot get its definition: the action fails there.
    Refuse,
}

impl Act {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Act::Keep => "no-op",
            Act::Create => "create",
            Act::Update => "update",
            Act::Replace => "replace",
            Act::Delete => "delete",
            Act::Refuse => "refuse",
        }
    }
}

/// What is done to one resource.
#[derive(Clone, Debug)]
pub struct Step {
    /// The names of the resources from the root to this one, with slashes between them.
    pub path: Arc<str>,
    /// Its type, as written.
    pub type_name: Arc<str>,
    /// What is done to it.
    pub act: Act,
    /// The id of its object, if there is one.
    pub physical_id: Option<Arc<str>>,
    /// Whether it has a nested stack, or will have one.
    pub is_nested: bool,
    /// Whether it is a new member of a group that draws the names of its members.
    pub(super) is_named_later: bool,
    /// What changes, and why.
    pub detail: Detail,
}

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The action.
    pub action: PlannedAction,
    /// What is done, in an order in which it can be done; independent steps are done at the same time.
    pub steps: Vec<Step>,
}

/// How many resources have which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Resources that are created.
    pub create: usize,
    /// Resources that are updated in place.
    pub update: usize,
    /// Resources that are replaced.
    pub replace: usize,
    /// Resources that are deleted.
    pub delete: usize,
    /// Resources that are refused.
    pub refuse: usize,
    /// Resources that stay as they are.
    pub keep: usize,
}

/// The line `+3 ~1 ±1 -2`.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{} ~{} ±{} -{}", self.create, self.update, self.replace, self.delete)?;
        match self.refuse {
            0 => Ok(()),
            count => write!(f, " !{count}"),
        }
    }
}

impl Plan {
    pub(super) fn new(action: PlannedAction, forecasts: Vec<Forecast>) -> Plan {
        let mut steps = Vec::new();
        forecasts.into_iter().for_each(|forecast| add(forecast, "", false, &mut steps));
        Plan { action, steps }
    }

    /// How many resources have which fate.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for step in &self.steps {
            *match step.act {
                Act::Keep => &mut tally.keep,
                Act::Create => &mut tally.create,
                Act::Update => &mut tally.update,
                Act::Replace => &mut tally.replace,
                Act::Delete => &mut tally.delete,
                Act::Refuse => &mut tally.refuse,
            } += 1;
        }
        tally
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| step.act == Act::Keep)
    }

    /// The steps that do something, one line each. Plans with the same lines do the same. Secrets are in them as hashes
    /// of the whole value.
    pub fn lines(&self) -> Vec<String> {
        let steps = self.steps.iter().filter(|step| step.act != Act::Keep);
        steps.map(Step::line).collect()
    }
}

impl Step {
    /// The step in one line that is the same for the same step.
    fn line(&self) -> String {
        let id = self.physical_id.as_deref().unwrap_or("-");
        let mut line = format!("{} {} {} {id}", self.act.name(), self.path, self.type_name);
        for change in &self.detail.changes {
            let values = [&change.before, &change.after].map(fingerprint);
            line.push_str(&format!(" {}={}>{}", change.path, values[0], values[1]));
        }
        for why in [&self.detail.because, &self.detail.refusal, &self.detail.inside_unknown] {
            why.iter().for_each(|why| line.push_str(&format!(" ({why})")));
        }
        line
    }
}

/// A short text that differs for values that differ.
fn fingerprint(value: &Value) -> String {
    let unknown = value.unknown().map(|unknown| format!("{unknown:?}"));
    let text = format!("{unknown:?} {}", print::json(&value.exposed(), print::Keys::Sorted));
    Hash::of(text.as_bytes()).to_string()[..16].to_owned()
}

fn add(forecast: Forecast, above: &str, is_in_group: bool, steps: &mut Vec<Step>) {
    let resource = forecast.resource;
    let path: Arc<str> = match above {
        "" => resource.name.clone(),
        above => format!("{above}/{}", resource.name).into(),
    };
    let detail = forecast.detail.map(|detail| *detail).unwrap_or_default();
    let act = match forecast.fate {
        Fate::Unchanged => Act::Keep,
        // An update goes into every nested stack, also if there is nothing to do.
        Fate::Updated if forecast.keeps_values && detail.inside_unknown.is_none() => Act::Keep,
        Fate::Updated => Act::Update,
        Fate::Replaced if detail.is_unmade => Act::Create,
        Fate::Replaced => Act::Replace,
        Fate::Added => Act::Create,
        Fate::Deleted => Act::Delete,
        Fate::Refused => Act::Refuse,
    };
    steps.push(Step {
        path: path.clone(),
        type_name: resource.type_name,
        act,
        physical_id: resource.current.and_then(|it| it.physical_id),
        is_nested: forecast.is_nested,
        is_named_later: is_in_group && act == Act::Create && resource.name.starts_with("new-"),
        detail,
    });
    let is_group = forecast.is_group;
    forecast.inside.into_iter().for_each(|forecast| add(forecast, &path, is_group, steps));
}

/// The text of a template, for the positions in it.
pub(super) fn sources(template: &Source) -> Option<Sources> {
    let mut sources = Sources::new();
    match template {
        Source::Text(text) => sources.add("template", text.clone()),
        Source::File(url, text) => sources.add(url.clone(), text.clone()),
        Source::Made(_) | Source::Nothing => return None,
    };
    Some(sources)
}

/// A value for display: secrets are stars, and what is not known yet is an object that says why.
pub fn shown(value: &Value) -> Value {
    match value {
        Value::Unknown(why) => Value::map([("unknown", Value::from(reason(why)))]),
        Value::Secret(_) => STARS.into(),
        Value::List(items) => Value::list(items.iter().map(shown)),
        Value::Map(members) => {
            Value::map(members.iter().map(|(name, value)| (name.clone(), shown(value))))
        }
        value => value.clone(),
    }
}

/// Why a value is not known yet, for people.
fn reason(why: &Unknown) -> String {
    match why {
        Unknown::Parameter(name) => format!("the parameter {name} has no value"),
        Unknown::Reference(name) => format!("known after {name} is created"),
        Unknown::Attribute(of) if of.attribute.is_empty() => {
            format!("the attributes of {} are known after it is created or updated", of.resource)
        }
        Unknown::Attribute(of) => {
            format!(
                "the attribute {} of {} is known after it is created or updated",
                of.attribute, of.resource
            )
        }
        Unknown::AvailabilityZones => "the availability zones are asked for then".to_owned(),
        Unknown::Facade => "it is a part of the resource that the template implements".to_owned(),
        Unknown::Moment => "it depends on the time or on chance".to_owned(),
    }
}
