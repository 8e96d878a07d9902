//! Constraints that only the cloud can check: is there such a flavor, such a network?
//!
//! Templates are validated by a pure function. Its questions to the cloud are collected and answered, and then the
//! template is validated again with the answers.

use crate::runtime::now;
use kiln_cloud::{CallError, Credential, Transport, in_current_request};
use kiln_resources::constraints::offline;
use kiln_resources::lookup::rules::{CloudRule, rule_of};
use kiln_resources::lookup::{Collection, collection_of};
use kiln_resources::op::rejection;
use kiln_template::{CustomConstraints, Offline, Value, Verdict};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::task::JoinSet;

/// A constraint and the value that it checks.
type Question = (String, Arc<str>);

/// The answers of the cloud so far.
pub(super) type CloudAnswers = BTreeMap<Question, Verdict>;

/// How many questions one request may have.
const MAX_QUESTIONS: usize = 500;

/// The constraints, as far as they can be checked.
pub(super) struct CloudConstraints<'a> {
    offline: Offline,
    answers: &'a CloudAnswers,
    open: RefCell<BTreeSet<Question>>,
}

impl<'a> CloudConstraints<'a> {
    pub(super) fn new(answers: &'a CloudAnswers) -> CloudConstraints<'a> {
        CloudConstraints {
            offline: offline(now().micros() / 1_000_000),
            answers,
            open: RefCell::default(),
        }
    }

    /// The open questions.
    pub(super) fn into_open(self) -> BTreeSet<Question> {
        self.open.into_inner()
    }
}

impl CustomConstraints for CloudConstraints<'_> {
    fn check(&self, name: &str, value: &Value) -> Verdict {
        match (self.offline.check(name, value), value) {
            (Verdict::Deferred, Value::Text(text)) if !text.is_empty() => {
                let question = (name.to_owned(), text.clone());
                if let Some(verdict) = self.answers.get(&question) {
                    return verdict.clone();
                }
                self.open.borrow_mut().insert(question);
                Verdict::Deferred
            }
            (verdict, _) => verdict,
        }
    }

    fn check_rule(&self, rule: &'static str, subject: &str) -> Verdict {
        let question = (rule.to_owned(), Arc::from(subject));
        let known = self.answers.get(&question).cloned();
        known.unwrap_or_else(|| {
            self.open.borrow_mut().insert(question);
            Verdict::Deferred
        })
    }

    fn check_nested(&self, name: &str, value: &Value) -> Verdict {
        self.offline.check(name, value)
    }
}

/// Asks the cloud all open questions at the same time.
pub(super) async fn ask(
    transport: &Arc<dyn Transport>,
    by: &Credential,
    open: BTreeSet<Question>,
) -> CloudAnswers {
    let mut asking = JoinSet::new();
    for question in open.into_iter().take(MAX_QUESTIONS) {
        let (transport, by) = (transport.clone(), by.clone());
        asking.spawn(in_current_request(async move {
            let (name, subject) = (&*question.0, &*question.1);
            let verdict = match (collection_of(name), rule_of(name)) {
                (Some(objects), _) => exists(&*transport, &by, objects, subject).await,
                (None, Some(rule)) => judge(&*transport, &by, rule, subject).await,
                (None, None) => Verdict::Deferred,
            };
            (question, verdict)
        }));
    }
    asking.join_all().await.into_iter().collect()
}

/// The verdict of a rule on a subject. If the cloud cannot be asked, the operation that needs it will fail instead.
async fn judge(
    transport: &dyn Transport,
    by: &Credential,
    rule: CloudRule,
    subject: &str,
) -> Verdict {
    let Some(call) = (rule.call)(subject) else { return Verdict::Deferred };
    match transport.send(by, call).await {
        Ok(reply) => (rule.judge)(subject, &reply),
        Err(_) => Verdict::Deferred,
    }
}

/// The id of a domain, from its id or its name.
async fn domain_id(transport: &dyn Transport, by: &Credential, given: &str) -> String {
    let Some(domains) = collection_of("keystone.domain") else { return given.to_owned() };
    let list = transport.send(by, domains.named(given)).await;
    let found =
        list.ok().and_then(|list| Some((*domains.ids_in(&list, given).first()?).to_owned()));
    found.unwrap_or_else(|| given.to_owned())
}

/// Whether an object exists. If the cloud cannot be asked, the operation that needs the object will fail instead.
async fn exists(
    transport: &dyn Transport,
    by: &Credential,
    objects: &Collection,
    given: &str,
) -> Verdict {
    let missing = || Verdict::Refused(Some(objects.missing(given)));
    let (name, domain) = objects.domain_of(given);
    let mut list = objects.named(name);
    if let Some(domain) = domain {
        list = list.query("domain_id", domain_id(transport, by, domain).await);
    }
    let is_name = !objects.is_id(name);
    if is_name && objects.has_only_references() {
        return Verdict::Failed(format!("{} incorrectly specified.", objects.called));
    }
    let mut forbidden = None;
    if is_name {
        match transport.send(by, list.clone()).await {
            Ok(list) => match objects.ids_in(&list, name).len() {
                0 => {}
                1 => return Verdict::Accepted,
                _ => return Verdict::Refused(Some(Collection::ambiguous(given))),
            },
            Err(CallError::Refused(reply)) if reply.status == 403 => forbidden = Some(reply),
            Err(_) => return Verdict::Deferred,
        }
    }
    if let Some(call) = objects.by_id(name) {
        match transport.send(by, call).await {
            Ok(_) => return Verdict::Accepted,
            Err(CallError::Refused(reply)) if matches!(reply.status, 400 | 404) => {}
            Err(CallError::Refused(reply)) if reply.status == 403 => forbidden = Some(reply),
            Err(_) => return Verdict::Deferred,
        }
    }
    // Who may not look for the object may not name it either, as in Heat.
    if let Some(reply) = forbidden {
        return Verdict::Failed(rejection(&reply));
    }
    if !is_name {
        return missing();
    }
    // The object may have been created since the list was cached.
    match transport.send(by, list.now()).await {
        Ok(list) if !objects.ids_in(&list, name).is_empty() => Verdict::Accepted,
        Ok(_) => missing(),
        Err(_) => Verdict::Deferred,
    }
}
