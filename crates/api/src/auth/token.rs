//! The identity service's description of a token.

use crate::caller::{Caller, Scope};
use kiln_engine::Time;
use serde_json::Value as Json;
use std::sync::Arc;

/// The identity service's description of a token, without the token itself.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// The caller that the token authenticates.
    pub(super) caller: Caller,
    /// When it was issued, by the clock of the identity service.
    pub(super) issued_at: Time,
    /// When it expires, by the clock of the identity service.
    pub(super) expires_at: Time,
    /// Its audit id.
    pub(super) audit_id: String,
    /// The audit id of the first token of its chain.
    pub(super) audit_chain_id: String,
    /// The trustor and the trustee of the trust that it was issued for.
    pub(super) trust_users: [String; 2],
    /// The OAuth consumer and access token that it was issued for.
    pub(super) oauth: [String; 2],
}

impl Token {
    /// Reads the identity service's description; nothing if it is not one.
    pub(super) fn read(description: &Json) -> Option<Token> {
        let token = &description["token"];
        let audit: Vec<_> = list(&token["audit_ids"]).map(text).collect();
        let (trust, oauth) = (&token["OS-TRUST:trust"], &token["OS-OAUTH1"]);
        Some(Token {
            caller: caller(token)?,
            issued_at: moment(&token["issued_at"])?,
            expires_at: moment(&token["expires_at"])?,
            audit_id: audit.first().cloned().unwrap_or_default(),
            audit_chain_id: audit.last().cloned().unwrap_or_default(),
            trust_users: [text(&trust["trustor_user"]["id"]), text(&trust["trustee_user"]["id"])],
            oauth: [text(&oauth["consumer_id"]), text(&oauth["access_token_id"])],
        })
    }
}

fn caller(token: &Json) -> Option<Caller> {
    let (user, project) = (&token["user"], &token["project"]);
    let scope = match () {
        () if project.is_object() => Scope::Project,
        () if token["domain"].is_object() => Scope::Domain,
        () if token["system"]["all"] == Json::Bool(true) => Scope::System,
        () => Scope::None,
    };
    Some(Caller {
        user_id: user["id"].as_str()?.to_owned(),
        user_name: text(&user["name"]),
        user_domain_id: text(&user["domain"]["id"]),
        project_id: text(&project["id"]),
        project_name: text(&project["name"]),
        project_domain_id: text(&project["domain"]["id"]),
        project_domain_name: text(&project["domain"]["name"]),
        domain_id: text(&token["domain"]["id"]),
        scope,
        roles: list(&token["roles"]).map(|role| text(&role["name"])).collect(),
        role_ids: list(&token["roles"]).map(|role| text(&role["id"])).collect(),
        is_admin_project: token["is_admin_project"].as_bool().unwrap_or(true),
        trust_id: token["OS-TRUST:trust"]["id"].as_str().map(str::to_owned),
        catalog: Arc::new(token["catalog"].clone()),
        ..Caller::default()
    })
}

/// A moment as the identity service writes them.
pub(super) fn moment(json: &Json) -> Option<Time> {
    let moment: jiff::Timestamp = json.as_str()?.parse().ok()?;
    Some(Time::from_micros(moment.as_microsecond()))
}

fn text(json: &Json) -> String {
    json.as_str().unwrap_or_default().to_owned()
}

fn list(json: &Json) -> impl Iterator<Item = &Json> {
    json.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_token_is_for_a_project_a_domain_the_system_or_nothing() {
        let read = |more: Json| {
            let mut token = json!({
                "user": { "id": "u", "name": "n", "domain": { "id": "d" } },
                "issued_at": "2026-11-16T03:27:14.000000Z",
                "expires_at": "2026-11-17T03:27:14.000000Z",
                "audit_ids": ["a", "b"],
            });
            token.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
            Token::read(&json!({ "token": token })).expect("a token")
        };
        let token = read(json!({
            "project": { "id": "p", "name": "pn", "domain": { "id": "pd" } },
            "roles": [{ "id": "r1", "name": "member" }],
            "is_admin_project": false,
            "OS-TRUST:trust": { "id": "t", "trustor_user": { "id": "x" }, "trustee_user": { "id": "y" } },
        }));
        assert_eq!((token.caller.scope, token.caller.project_id.as_str()), (Scope::Project, "p"));
        assert_eq!((token.audit_id.as_str(), token.audit_chain_id.as_str()), ("a", "b"));
        assert_eq!(token.caller.trust_id.as_deref(), Some("t"));
        assert_eq!(token.trust_users, ["x", "y"]);
        assert!(!token.caller.is_admin_project);
        assert_eq!(token.expires_at.since(token.issued_at).as_secs(), 86_400);
        let token = read(json!({ "domain": { "id": "dd" } }));
        assert_eq!((token.caller.scope, token.caller.domain_id.as_str()), (Scope::Domain, "dd"));
        assert!(token.caller.is_admin_project);
        assert_eq!(read(json!({ "system": { "all": true } })).caller.scope, Scope::System);
        assert_eq!(read(json!({})).caller.scope, Scope::None);
        assert!(Token::read(&json!({ "token": {} })).is_none());
    }
}
