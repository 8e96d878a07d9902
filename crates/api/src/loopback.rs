//! The policy of the calls that stacks make to this service.

use crate::app::App;
use crate::caller::{Caller, Scope};
use kiln_cloud::{ActingFor, Credential, UserToken};
use kiln_engine::loopback::Host;
use kiln_engine::{ErrorType, RequestError, Requester, Service};
use std::sync::Arc;

impl Host for App {
    fn service(&self) -> &Service {
        &self.service
    }

    fn requester(&self, user: &ActingFor, credential: &Credential) -> Requester {
        let (caller, policy) = (caller(user), self.policy.get());
        let user_token = UserToken {
            user: user.created_by.user_id.clone(),
            project: user.project.clone(),
            roles: user.created_by.roles.clone(),
            delegated: Some(Arc::new(credential.clone())),
            ..UserToken::default()
        };
        Requester {
            project: user.project.clone(),
            user_name: user.user_name.clone(),
            is_admin: policy.is_admin(&caller),
            stack_user_project: self.options.guest_in(&caller),
            user_token,
            created_by: user.created_by.clone(),
            may_use: Arc::new(move |type_name| policy.allows_type(&caller, type_name)),
            // A stack acts without a token, so there is no catalogue.
            has_service: Arc::new(|_| true),
        }
    }

    fn allow(&self, rule: &str, user: &ActingFor) -> Result<(), RequestError> {
        let allowed = self.allows(rule, &caller(user), &user.project);
        allowed.map_err(|forbidden| RequestError::new(ErrorType::Forbidden, forbidden.to_string()))
    }
}

/// The user of a stack as a caller, with the roles at the time of the user's last request.
fn caller(user: &ActingFor) -> Caller {
    let created_by = &user.created_by;
    Caller {
        user_id: created_by.user_id.to_string(),
        user_name: user.user_name.to_string(),
        user_domain_id: created_by.user_domain.to_string(),
        project_id: user.project.to_string(),
        project_name: created_by.project_name.to_string(),
        project_domain_id: created_by.project_domain.to_string(),
        scope: Scope::Project,
        roles: created_by.roles.iter().map(|role| role.to_string()).collect(),
        is_admin_project: created_by.is_admin_project,
        ..Caller::default()
    }
}
