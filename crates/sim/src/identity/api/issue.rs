//! Issues tokens and renders their documents.

use serde_json::{Map, Value, json};

use super::super::Identity;
use super::super::error::ApiError;
use super::super::records::Scope;
use super::super::state::State;
use super::super::time::Moment;
use super::super::token::{self, Subject, TokenRequest};
use super::catalogue::catalogue;

/// Issues a token for an authenticated user who has roles on the scope.
pub(in super::super) fn issue(
    identity: &Identity,
    token_request: TokenRequest,
    now: Moment,
) -> Result<(String, Subject), ApiError> {
    let uses = token_request.trust.clone();
    let subject = identity.read(|state| {
        let claims = token::claims(state, token_request, now)?;
        token::examine(state, claims, now, 0)
    })?;
    if let Some(trust) = uses.filter(|_| limited(&subject)) {
        use_trust(identity, &trust)?;
    }
    Ok((token::sign(&identity.signing, &subject.claims)?, subject))
}

fn limited(subject: &Subject) -> bool {
    subject.trust.as_ref().is_some_and(|trust| trust.remaining_uses.is_some())
}

fn use_trust(identity: &Identity, id: &str) -> Result<(), ApiError> {
    identity.update(|state| {
        let mut trust = state.trusts.get(id).cloned().ok_or_else(ApiError::unauthorized)?;
        let left = trust.remaining_uses.unwrap_or(1).checked_sub(1);
        trust.remaining_uses = Some(left.ok_or_else(ApiError::unauthorized)?);
        let _ = state.trusts.put(trust);
        Ok(())
    })
}

/// Renders the document of a token.
pub(in super::super) fn body(state: &State, subject: &Subject, with_catalogue: bool) -> Value {
    let claims = &subject.claims;
    let domain = |id: &str| {
        let name = state.domains.get(id).map_or("", |domain| domain.name.as_str());
        json!({ "id": id, "name": name })
    };
    let mut token = Map::new();
    let mut set = |key: &str, value: Value| token.insert(key.to_owned(), value);
    set("methods", json!(claims.methods));
    let user = &subject.user;
    set(
        "user",
        json!({
            "domain": domain(&user.domain_id), "id": user.id, "name": user.name,
            "password_expires_at": null,
        }),
    );
    set("audit_ids", json!(claims.audit));
    set("expires_at", json!(claims.expires.seconds()));
    set("issued_at", json!(claims.issued.seconds()));
    if let Some(trust) = &subject.trust {
        set(
            "OS-TRUST:trust",
            json!({
                "id": trust.id, "trustor_user": { "id": trust.trustor },
                "trustee_user": { "id": trust.trustee }, "impersonation": trust.impersonation,
            }),
        );
    }
    if let Some(project) = &subject.project {
        let home = domain(&project.domain_id);
        set("project", json!({ "domain": home, "id": project.id, "name": project.name }));
        if subject.trust.is_none() {
            set("is_domain", json!(false));
        }
    }
    if let Some(scope) = &subject.domain {
        set("domain", json!({ "id": scope.id, "name": scope.name }));
    }
    if claims.scope.is_some() {
        let roles = subject.roles.iter().map(|role| json!({ "id": role.id, "name": role.name }));
        set("roles", roles.collect());
    }
    if claims.scope == Some(Scope::System) {
        set("system", json!({ "all": true }));
    }
    if claims.scope.is_some() && with_catalogue {
        let project = subject.project.as_ref().map(|project| project.id.as_str());
        set("catalog", catalogue(state, project, &subject.user.id));
    }
    if let Some(credential) = &subject.app_credential {
        let restricted = credential.unrestricted != Some(true);
        set(
            "application_credential",
            json!({ "id": credential.id, "name": credential.name, "restricted": restricted }),
        );
    }
    json!({ "token": token })
}
