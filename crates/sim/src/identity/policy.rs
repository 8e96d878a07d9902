//! The policy: which callers may do what.
//!
//! The rules have Keystone's names, because clients see them in error messages. In one point they are stricter than
//! Keystone's: the administrator of a domain has no rights outside of it, so the administrator of stack users cannot
//! touch any other user.

use super::error::ApiError;
use super::records::Scope;
use super::token::Subject;

/// A condition on the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// The caller has the role admin on a project or on the system.
    Admin,
    /// The caller has the role admin on the domain of the target.
    DomainAdmin,
    /// The caller has the role admin on a domain.
    AnyDomainAdmin,
    /// The caller has the role reader on the system.
    SystemReader,
    /// The caller has the role service.
    Service,
    /// The caller is the user in the target.
    Owner,
    /// The caller is the user in the target and has the role member.
    OwnerMember,
    /// The caller's token is for the project in the target.
    ProjectMember,
    /// The caller's token is for the domain in the target, or for a project of it.
    DomainMember,
    /// The caller has a valid token.
    Anyone,
}

use Condition::{
    Admin, AnyDomainAdmin, Anyone, DomainAdmin, DomainMember, Owner, OwnerMember, ProjectMember,
    Service, SystemReader,
};

/// The rules, by name; one of the conditions must hold.
#[rustfmt::skip]
pub(super) const RULES: &[(&str, &[Condition])] = &[
    ("add_user_to_group",                 &[Admin, DomainAdmin]),
    ("check_grant",                       &[Admin, SystemReader, DomainAdmin]),
    ("check_implied_role",                &[Admin, SystemReader]),
    ("check_system_grant_for_user",       &[Admin, SystemReader]),
    ("check_user_in_group",               &[Admin, SystemReader, DomainAdmin]),
    ("create_application_credential",     &[Owner]),
    ("create_credential",                 &[Admin, DomainAdmin, Owner]),
    ("create_domain",                     &[Admin]),
    ("create_endpoint",                   &[Admin]),
    ("create_grant",                      &[Admin, DomainAdmin]),
    ("create_group",                      &[Admin, DomainAdmin]),
    ("create_implied_role",               &[Admin]),
    ("create_project",                    &[Admin, DomainAdmin]),
    ("create_region",                     &[Admin]),
    ("create_role",                       &[Admin]),
    ("create_service",                    &[Admin]),
    ("create_system_grant_for_user",      &[Admin]),
    ("create_trust",                      &[Owner]),
    ("create_user",                       &[Admin, DomainAdmin]),
    ("delete_application_credential",     &[Admin, Owner]),
    ("delete_credential",                 &[Admin, DomainAdmin, Owner]),
    ("delete_domain",                     &[Admin]),
    ("delete_endpoint",                   &[Admin]),
    ("delete_group",                      &[Admin, DomainAdmin]),
    ("delete_implied_role",               &[Admin]),
    ("delete_project",                    &[Admin, DomainAdmin]),
    ("delete_region",                     &[Admin]),
    ("delete_role",                       &[Admin]),
    ("delete_service",                    &[Admin]),
    ("delete_trust",                      &[Admin, Owner]),
    ("delete_user",                       &[Admin, DomainAdmin]),
    ("ec2_create_credential",             &[Admin, DomainAdmin, OwnerMember]),
    ("ec2_delete_credential",             &[Admin, DomainAdmin, OwnerMember]),
    ("ec2_get_credential",                &[Admin, SystemReader, DomainAdmin, Owner]),
    ("ec2_list_credentials",              &[Admin, SystemReader, DomainAdmin, Owner]),
    ("ec2tokens_validate",                &[Admin, Service]),
    ("get_application_credential",        &[Admin, SystemReader, Owner]),
    ("get_credential",                    &[Admin, SystemReader, DomainAdmin, Owner]),
    ("get_domain",                        &[Admin, SystemReader, DomainMember]),
    ("get_endpoint",                      &[Admin, SystemReader]),
    ("get_group",                         &[Admin, SystemReader, DomainAdmin]),
    ("get_implied_role",                  &[Admin, SystemReader]),
    ("get_project",                       &[Admin, SystemReader, DomainAdmin, ProjectMember]),
    ("get_region",                        &[Anyone]),
    ("get_role",                          &[Admin, SystemReader, AnyDomainAdmin]),
    ("get_role_for_trust",                &[Admin, SystemReader, Owner]),
    ("get_service",                       &[Admin, SystemReader]),
    ("get_trust",                         &[Admin, SystemReader, Owner]),
    ("get_user",                          &[Admin, SystemReader, DomainAdmin, Owner]),
    ("list_application_credentials",      &[Admin, SystemReader, Owner]),
    ("list_credentials",                  &[Anyone]),
    ("list_domains",                      &[Admin, SystemReader, AnyDomainAdmin]),
    ("list_endpoints",                    &[Admin, SystemReader]),
    ("list_grants",                       &[Admin, SystemReader, DomainAdmin]),
    ("list_groups",                       &[Admin, SystemReader, AnyDomainAdmin]),
    ("list_groups_for_user",              &[Admin, SystemReader, DomainAdmin, Owner]),
    ("list_implied_roles",                &[Admin, SystemReader]),
    ("list_projects",                     &[Admin, SystemReader, AnyDomainAdmin]),
    ("list_regions",                      &[Anyone]),
    ("list_revoke_events",                &[Admin, Service]),
    ("list_role_assignments",             &[Admin, SystemReader, AnyDomainAdmin]),
    ("list_role_inference_rules",         &[Admin, SystemReader]),
    ("list_roles",                        &[Admin, SystemReader, AnyDomainAdmin]),
    ("list_roles_for_trust",              &[Admin, SystemReader, Owner]),
    ("list_services",                     &[Admin, SystemReader]),
    ("list_system_grants_for_user",       &[Admin, SystemReader]),
    ("list_trusts",                       &[Admin, SystemReader]),
    ("list_trusts_for_trustee",           &[Admin, SystemReader, Owner]),
    ("list_trusts_for_trustor",           &[Admin, SystemReader, Owner]),
    ("list_user_projects",                &[Admin, SystemReader, DomainAdmin, Owner]),
    ("list_users",                        &[Admin, SystemReader, AnyDomainAdmin]),
    ("list_users_in_group",               &[Admin, SystemReader, DomainAdmin]),
    ("remove_user_from_group",            &[Admin, DomainAdmin]),
    ("revoke_grant",                      &[Admin, DomainAdmin]),
    ("revoke_system_grant_for_user",      &[Admin]),
    ("revoke_token",                      &[Admin, Owner]),
    ("update_credential",                 &[Admin, DomainAdmin, Owner]),
    ("update_domain",                     &[Admin]),
    ("update_endpoint",                   &[Admin]),
    ("update_group",                      &[Admin, DomainAdmin]),
    ("update_project",                    &[Admin, DomainAdmin]),
    ("update_region",                     &[Admin]),
    ("update_role",                       &[Admin]),
    ("update_service",                    &[Admin]),
    ("update_user",                       &[Admin, DomainAdmin]),
    ("validate_token",                    &[Admin, Service, Owner]),
];

/// The target of a request; unknown parts stay empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Target<'a> {
    /// The domains that the request affects; the administrator must be that of all of them.
    pub(super) domains: &'a [&'a str],
    /// The users that the request concerns; the caller must be one of them.
    pub(super) users: &'a [&'a str],
    pub(super) project: Option<&'a str>,
}

impl Subject {
    /// Authorizes the caller; the error names the rule.
    pub(super) fn authorize(&self, rule: &str, target: Target<'_>) -> Result<(), ApiError> {
        let allowed = RULES.binary_search_by(|(name, _)| name.cmp(&rule)).map(|at| RULES[at].1);
        if allowed.unwrap_or(&[]).iter().any(|condition| self.meets(*condition, target)) {
            return Ok(());
        }
        Err(ApiError::forbidden(&format!("identity:{rule}")))
    }

    /// Reports whether the caller is an administrator of the whole cloud.
    pub(super) fn is_admin(&self) -> bool {
        self.has_role("admin") && (self.project.is_some() || self.is_system())
    }

    /// Returns the domain that the caller's token is limited to.
    pub(super) fn scope_domain(&self) -> Option<&str> {
        match &self.claims.scope {
            Some(Scope::Domain(id)) => Some(id),
            _ => None,
        }
    }

    fn meets(&self, condition: Condition, target: Target<'_>) -> bool {
        let domain_admin = self.has_role("admin").then(|| self.scope_domain()).flatten();
        let owner = || target.users.contains(&self.user.id.as_str());
        match condition {
            Admin => self.is_admin(),
            DomainAdmin => domain_admin.is_some_and(|own| {
                !target.domains.is_empty() && target.domains.iter().all(|domain| *domain == own)
            }),
            AnyDomainAdmin => domain_admin.is_some(),
            SystemReader => self.is_system() && self.has_role("reader"),
            Service => self.has_role("service"),
            Owner => owner(),
            OwnerMember => owner() && self.has_role("member"),
            ProjectMember => {
                target.project.is_some()
                    && self.project.as_ref().map(|project| project.id.as_str()) == target.project
            }
            DomainMember => {
                let home = self.project.as_ref().map(|project| project.domain_id.as_str());
                let home = home.or(self.scope_domain());
                home.is_some_and(|home| target.domains.contains(&home))
            }
            Anyone => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_sorted_so_that_they_can_be_found() {
        assert!(RULES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
