//! Revocation events.

use super::token::{Token, moment};
use kiln_engine::Time;
use serde_json::Value as Json;
use std::collections::HashMap;

/// Revocation events.
#[derive(Debug, Default)]
pub(super) struct Revocations {
    /// Events by the first value that they name: a token is only compared with events that name a value of it.
    by_name: HashMap<String, Vec<Event>>,
    /// Events that name no value.
    general: Vec<Event>,
}

/// An event revokes the tokens that match everything it names.
#[derive(Debug, Default)]
struct Event {
    /// The fields that a token must match, with their values.
    demands: Vec<(Field, String)>,
    issued_before: Option<Time>,
    expires_at: Option<Time>,
}

/// The fields of tokens that events name, the rarest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    AuditId,
    AuditChain,
    Trust,
    AccessToken,
    User,
    Project,
    Consumer,
    Domain,
    Role,
}

/// The names of the fields in the identity service.
const FIELDS: [(&str, Field); 9] = [
    ("audit_id", Field::AuditId),
    ("audit_chain_id", Field::AuditChain),
    ("OS-TRUST:trust_id", Field::Trust),
    ("OS-OAUTH1:access_token_id", Field::AccessToken),
    ("user_id", Field::User),
    ("project_id", Field::Project),
    ("OS-OAUTH1:consumer_id", Field::Consumer),
    ("domain_id", Field::Domain),
    ("role_id", Field::Role),
];

impl Revocations {
    /// Reads the identity service's list.
    pub(super) fn read(list: &Json) -> Revocations {
        let mut read = Revocations::default();
        for event in list["events"].as_array().into_iter().flatten() {
            let demand =
                |(name, field): (&str, Field)| Some((field, event[name].as_str()?.to_owned()));
            let event = Event {
                demands: FIELDS.into_iter().filter_map(demand).collect(),
                issued_before: moment(&event["issued_before"]),
                expires_at: moment(&event["expires_at"]),
            };
            match event.demands.first() {
                Some((_, name)) => read.by_name.entry(name.clone()).or_default().push(event),
                // An event that names nothing would revoke every token, and is ignored.
                None if event.issued_before.is_none() && event.expires_at.is_none() => {}
                None => read.general.push(event),
            }
        }
        read
    }

    /// Whether one of the events revokes a token.
    pub(super) fn end(&self, token: &Token) -> bool {
        let named = names(token).filter_map(|name| self.by_name.get(name)).flatten();
        named.chain(&self.general).any(|event| event.ends(token))
    }
}

impl Event {
    fn ends(&self, token: &Token) -> bool {
        self.issued_before.is_none_or(|moment| token.issued_at <= moment)
            && self.expires_at.is_none_or(|moment| token.expires_at == moment)
            && self.demands.iter().all(|(field, value)| field.fits(token, value))
    }
}

impl Field {
    fn fits(self, token: &Token, value: &str) -> bool {
        let caller = &token.caller;
        match self {
            Field::AuditId => token.audit_id == value,
            Field::AuditChain => token.audit_chain_id == value,
            Field::Trust => caller.trust_id.as_deref() == Some(value),
            Field::Consumer => token.oauth[0] == value,
            Field::AccessToken => token.oauth[1] == value,
            Field::User => {
                caller.user_id == value || token.trust_users.iter().any(|user| user == value)
            }
            Field::Project => caller.project_id == value,
            Field::Domain => [&caller.user_domain_id, &caller.project_domain_id, &caller.domain_id]
                .into_iter()
                .any(|domain| domain == value),
            Field::Role => caller.role_ids.iter().any(|role| role == value),
        }
    }
}

/// The values of a token by which events are indexed.
fn names(token: &Token) -> impl Iterator<Item = &str> {
    let caller = &token.caller;
    let single = [
        &token.audit_id,
        &token.audit_chain_id,
        &caller.user_id,
        &caller.project_id,
        &caller.user_domain_id,
        &caller.project_domain_id,
        &caller.domain_id,
    ];
    let lists = token.trust_users.iter().chain(&token.oauth).chain(&caller.role_ids);
    single.into_iter().chain(lists).chain(&caller.trust_id).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn token() -> Token {
        let description = json!({ "token": {
            "user": { "id": "u", "name": "n", "domain": { "id": "ud" } },
            "project": { "id": "p", "name": "pn", "domain": { "id": "pd" } },
            "roles": [{ "id": "r1", "name": "member" }, { "id": "r2", "name": "reader" }],
            "issued_at": "2026-11-16T10:00:00.000000Z",
            "expires_at": "2026-11-16T11:00:00.000000Z",
            "audit_ids": ["a", "c"],
            "OS-TRUST:trust": { "id": "t", "trustor_user": { "id": "u" }, "trustee_user": { "id": "h" } },
            "OS-OAUTH1": { "consumer_id": "oc", "access_token_id": "oa" },
        } });
        Token::read(&description).expect("a token")
    }

    fn ends(event: Json) -> bool {
        Revocations::read(&json!({ "events": [event] })).end(&token())
    }

    #[test]
    fn each_field_names_something_of_the_token() {
        for (field, fits) in [
            ("audit_id", "a"),
            ("audit_chain_id", "c"),
            ("OS-TRUST:trust_id", "t"),
            ("OS-OAUTH1:consumer_id", "oc"),
            ("OS-OAUTH1:access_token_id", "oa"),
            ("user_id", "u"),
            ("user_id", "h"),
            ("project_id", "p"),
            ("domain_id", "ud"),
            ("domain_id", "pd"),
            ("role_id", "r2"),
            ("expires_at", "2026-11-16T11:00:00.000000Z"),
        ] {
            assert!(ends(json!({ field: fits })), "{field}");
            assert!(!ends(json!({ field: "2026-11-16T11:30:00.000000Z" })), "{field}");
        }
    }

    #[test]
    fn an_event_must_fit_in_all_that_it_says() {
        assert!(ends(json!({ "user_id": "u", "project_id": "p", "role_id": "r1" })));
        assert!(!ends(json!({ "user_id": "u", "project_id": "q" })));
        assert!(!ends(json!({ "user_id": "x", "project_id": "p" })));
    }

    #[test]
    fn tokens_that_were_given_later_go_on() {
        let event = |moment: &str| json!({ "user_id": "u", "issued_before": moment });
        assert!(ends(event("2026-11-16T10:00:00.000000Z")));
        assert!(ends(event("2026-11-16T10:30:00.000000Z")));
        assert!(!ends(event("2026-11-16T09:59:59.000000Z")));
        assert!(ends(json!({ "issued_before": "2026-11-16T10:30:00.000000Z" })));
    }

    #[test]
    fn what_says_nothing_ends_nothing() {
        assert!(!ends(json!({})));
        assert!(!ends(json!({ "something_new": "u" })));
        assert!(!Revocations::read(&json!({ "error": 1 })).end(&token()));
    }
}
