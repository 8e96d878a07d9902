//! The state of the identity service and its referential integrity.
//!
//! Invariants: a grant, a membership, a trust, a credential or an application credential never outlives its user or
//! its project, and a grant never outlives its role. Removing a record removes its dependents; a token of a removed
//! record is invalid because the record is looked up on every use.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::records::{
    AppCredential, Credential, Domain, Endpoint, Grant, Group, Implication, Keys, Membership,
    Project, Region, Revocation, Revoked, Role, Scope, Service, Trust, User, grant_id,
};
use super::table::{Row, Table};
use super::time::Moment;

/// The number of revocations that are remembered; see [`State::revoke`].
const MAX_REVOCATIONS: usize = 10_000;

/// The tables of the service.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) app_credentials: Table<AppCredential>,
    pub(super) credentials: Table<Credential>,
    pub(super) domains: Table<Domain>,
    pub(super) endpoints: Table<Endpoint>,
    pub(super) grants: Table<Grant>,
    pub(super) groups: Table<Group>,
    pub(super) implications: Table<Implication>,
    pub(super) keys: Table<Keys>,
    pub(super) memberships: Table<Membership>,
    pub(super) projects: Table<Project>,
    pub(super) regions: Table<Region>,
    pub(super) revocations: Table<Revocation>,
    pub(super) roles: Table<Role>,
    pub(super) services: Table<Service>,
    pub(super) trusts: Table<Trust>,
    pub(super) users: Table<User>,
}

/// The rows to return.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ChangeSelection {
    Changes,
    Everything,
    /// No rows; the pending changes are discarded.
    Nothing,
}

/// A changed row: its table, its id, and the row unless it was removed.
pub(super) type Change = (String, String, Option<Value>);

impl State {
    /// Returns the changes since the last call, or all rows.
    pub(super) fn take(
        &mut self,
        selection: ChangeSelection,
    ) -> Result<Vec<Change>, serde_json::Error> {
        let mut all = Vec::new();
        collect_changes(&mut self.app_credentials, selection, &mut all)?;
        collect_changes(&mut self.credentials, selection, &mut all)?;
        collect_changes(&mut self.domains, selection, &mut all)?;
        collect_changes(&mut self.endpoints, selection, &mut all)?;
        collect_changes(&mut self.grants, selection, &mut all)?;
        collect_changes(&mut self.groups, selection, &mut all)?;
        collect_changes(&mut self.implications, selection, &mut all)?;
        collect_changes(&mut self.keys, selection, &mut all)?;
        collect_changes(&mut self.memberships, selection, &mut all)?;
        collect_changes(&mut self.projects, selection, &mut all)?;
        collect_changes(&mut self.regions, selection, &mut all)?;
        collect_changes(&mut self.revocations, selection, &mut all)?;
        collect_changes(&mut self.roles, selection, &mut all)?;
        collect_changes(&mut self.services, selection, &mut all)?;
        collect_changes(&mut self.trusts, selection, &mut all)?;
        collect_changes(&mut self.users, selection, &mut all)?;
        Ok(all)
    }

    /// Applies a change from the journal.
    pub(super) fn apply(&mut self, (table, id, row): Change) -> Result<(), String> {
        match table.as_str() {
            AppCredential::TABLE => replay(&mut self.app_credentials, &id, row),
            Credential::TABLE => replay(&mut self.credentials, &id, row),
            Domain::TABLE => replay(&mut self.domains, &id, row),
            Endpoint::TABLE => replay(&mut self.endpoints, &id, row),
            Grant::TABLE => replay(&mut self.grants, &id, row),
            Group::TABLE => replay(&mut self.groups, &id, row),
            Implication::TABLE => replay(&mut self.implications, &id, row),
            Keys::TABLE => replay(&mut self.keys, &id, row),
            Membership::TABLE => replay(&mut self.memberships, &id, row),
            Project::TABLE => replay(&mut self.projects, &id, row),
            Region::TABLE => replay(&mut self.regions, &id, row),
            Revocation::TABLE => replay(&mut self.revocations, &id, row),
            Role::TABLE => replay(&mut self.roles, &id, row),
            Service::TABLE => replay(&mut self.services, &id, row),
            Trust::TABLE => replay(&mut self.trusts, &id, row),
            User::TABLE => replay(&mut self.users, &id, row),
            other => Err(format!("there is no table {other}")),
        }
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.app_credentials.len()
            + self.credentials.len()
            + self.domains.len()
            + self.endpoints.len()
            + self.grants.len()
            + self.groups.len()
            + self.implications.len()
            + self.keys.len()
            + self.memberships.len()
            + self.projects.len()
            + self.regions.len()
            + self.revocations.len()
            + self.roles.len()
            + self.services.len()
            + self.trusts.len()
            + self.users.len()
    }

    /// Returns the roles that a user or a group was granted on a scope, without implied roles.
    pub(super) fn granted(&self, holder: &str, scope: &Scope) -> BTreeSet<String> {
        let prefix = grant_id(holder, scope, "");
        self.grants.beginning(&prefix).map(|grant| grant.role.clone()).collect()
    }

    /// Returns the effective roles of a user on a scope: also through groups, and with implied roles.
    pub(super) fn roles_at(&self, user: &str, scope: &Scope) -> BTreeSet<String> {
        let mut granted = self.granted(user, scope);
        for group in self.groups_of(user) {
            granted.extend(self.granted(&group.id, scope));
        }
        self.with_implied(granted)
    }

    /// Returns the scopes on which a user has roles, also through groups.
    pub(super) fn scopes_of(&self, user: &str) -> BTreeSet<&Scope> {
        let groups = self.groups_of(user).map(|group| group.id.as_str());
        let mut scopes = BTreeSet::new();
        for holder in std::iter::once(user).chain(groups) {
            let prefix = format!("{holder}/");
            scopes.extend(self.grants.beginning(&prefix).map(|grant| &grant.scope));
        }
        scopes
    }

    /// Returns the groups of a user.
    pub(super) fn groups_of(&self, user: &str) -> impl Iterator<Item = &Group> {
        let prefix = format!("{user}/");
        let ids: Vec<&str> =
            self.memberships.beginning(&prefix).map(|member| member.group.as_str()).collect();
        ids.into_iter().filter_map(|id| self.groups.get(id))
    }

    /// Returns the users of a group.
    pub(super) fn members_of(&self, group: &str) -> impl Iterator<Item = &User> {
        self.memberships.in_scope(group).filter_map(|member| self.users.get(&member.user))
    }

    /// Adds the implied roles. Domain-specific roles are replaced by the roles that they imply.
    pub(super) fn with_implied(&self, roles: BTreeSet<String>) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let mut open: Vec<String> = roles.into_iter().collect();
        while let Some(role) = open.pop() {
            let prefix = format!("{role}/");
            let implied = self.implications.beginning(&prefix).map(|rule| rule.implied.clone());
            open.extend(implied.filter(|role| !all.contains(role)));
            all.insert(role);
        }
        all.retain(|id| self.roles.get(id).is_some_and(|role| role.domain_id.is_none()));
        all
    }

    /// Finds a global role by name.
    pub(super) fn role_named(&self, name: &str) -> Option<&Role> {
        self.roles.named("", name)
    }

    /// Reports whether a user and its domain are enabled.
    pub(super) fn is_user_active(&self, user: &User) -> bool {
        user.enabled && self.is_domain_active(&user.domain_id)
    }

    /// Reports whether a project and its domain are enabled.
    pub(super) fn is_project_active(&self, project: &Project) -> bool {
        project.enabled && self.is_domain_active(&project.domain_id)
    }

    /// Reports whether a domain exists and is enabled.
    pub(super) fn is_domain_active(&self, id: &str) -> bool {
        self.domains.get(id).is_some_and(|domain| domain.enabled)
    }

    /// Invalidates the tokens of a user.
    pub(super) fn revoke_user_tokens(&mut self, id: &str, now: Moment, until: Moment) {
        if let Some(mut user) = self.users.get(id).cloned() {
            user.epoch += 1;
            // The name is unchanged, so it cannot conflict.
            let _ = self.users.put(user);
            self.revoke(Revoked::User(id.to_owned()), now, until);
        }
    }

    /// Invalidates the tokens for a project.
    pub(super) fn revoke_project_tokens(&mut self, id: &str, now: Moment, until: Moment) {
        if let Some(mut project) = self.projects.get(id).cloned() {
            project.epoch += 1;
            let _ = self.projects.put(project);
            self.revoke(Revoked::Project(id.to_owned()), now, until);
        }
    }

    /// Removes a user and its dependents.
    pub(super) fn remove_user(&mut self, id: &str) {
        self.users.remove(id);
        self.remove_grants_of(id);
        let prefix = format!("{id}/");
        let groups: Vec<String> = self.memberships.beginning(&prefix).map(Row::id).collect();
        groups.iter().for_each(|membership| drop(self.memberships.remove(membership)));
        self.app_credentials.remove_where(|credential| credential.user_id == id);
        self.credentials.remove_where(|credential| credential.user_id == id);
        self.trusts.remove_where(|trust| trust.trustor == id || trust.trustee == id);
    }

    /// Removes a group; its members stay.
    pub(super) fn remove_group(&mut self, id: &str) {
        self.groups.remove(id);
        self.remove_grants_of(id);
        let members: Vec<String> = self.memberships.in_scope(id).map(Row::id).collect();
        members.iter().for_each(|membership| drop(self.memberships.remove(membership)));
    }

    /// Removes a project and its dependents.
    pub(super) fn remove_project(&mut self, id: &str) {
        self.projects.remove(id);
        self.remove_grants_at(&Scope::Project(id.to_owned()));
        let here = Some(id);
        self.app_credentials.remove_where(|credential| credential.project_id.as_deref() == here);
        self.credentials.remove_where(|credential| credential.project_id.as_deref() == here);
        self.trusts.remove_where(|trust| trust.project_id.as_deref() == here);
    }

    /// Removes a domain with its users, groups, projects and roles.
    pub(super) fn remove_domain(&mut self, id: &str) {
        let users: Vec<String> = self.users.in_scope(id).map(|user| user.id.clone()).collect();
        users.iter().for_each(|user| self.remove_user(user));
        let groups: Vec<String> = self.groups.in_scope(id).map(|group| group.id.clone()).collect();
        groups.iter().for_each(|group| self.remove_group(group));
        let projects: Vec<String> =
            self.projects.in_scope(id).map(|project| project.id.clone()).collect();
        projects.iter().for_each(|project| self.remove_project(project));
        let roles: Vec<String> = self.roles.in_scope(id).map(|role| role.id.clone()).collect();
        roles.iter().for_each(|role| self.remove_role(role));
        self.remove_grants_at(&Scope::Domain(id.to_owned()));
        self.domains.remove(id);
    }

    /// Removes a role and its grants.
    pub(super) fn remove_role(&mut self, id: &str) {
        self.roles.remove(id);
        self.grants.remove_where(|grant| grant.role == id);
        self.implications.remove_where(|rule| rule.prior == id || rule.implied == id);
    }

    /// Removes a service with its endpoints.
    pub(super) fn remove_service(&mut self, id: &str) {
        self.services.remove(id);
        self.endpoints.remove_where(|endpoint| endpoint.service_id == id);
    }

    /// Records a revocation. Expired revocations are dropped. If there are too many, the oldest are dropped and all
    /// tokens issued until then become invalid, because dropping a revocation must not revive a token.
    pub(super) fn revoke(&mut self, of: Revoked, now: Moment, until: Moment) {
        let Some(mut keys) = self.keys.get("keys").cloned() else { return };
        self.forget_revocations(&mut keys, now);
        let number = keys.next;
        keys.next += 1;
        let _ = self.keys.put(keys);
        // Of two revocations of the same token, the first one counts.
        let _ = self.revocations.add(Revocation { number, of, at: now, until });
    }

    fn remove_grants_of(&mut self, holder: &str) {
        let prefix = format!("{holder}/");
        let grants: Vec<String> = self.grants.beginning(&prefix).map(Row::id).collect();
        grants.iter().for_each(|grant| drop(self.grants.remove(grant)));
    }

    fn remove_grants_at(&mut self, scope: &Scope) {
        let grants: Vec<String> = self.grants.in_scope(&scope.key()).map(Row::id).collect();
        grants.iter().for_each(|grant| drop(self.grants.remove(grant)));
    }

    fn forget_revocations(&mut self, keys: &mut Keys, now: Moment) {
        // Revocations are ordered by time and last about equally long, so checking the first one is enough.
        while let Some(first) = self.revocations.first().cloned() {
            if first.until >= now && self.revocations.len() < MAX_REVOCATIONS {
                break;
            }
            if let Revoked::Token(_, issued) = &first.of
                && first.until >= now
            {
                keys.floor = keys.floor.max(*issued);
            }
            let id = first.id();
            self.revocations.remove(&id);
        }
    }
}

fn collect_changes<T: Row>(
    table: &mut Table<T>,
    selection: ChangeSelection,
    all: &mut Vec<Change>,
) -> Result<(), serde_json::Error> {
    match selection {
        ChangeSelection::Changes => {}
        ChangeSelection::Everything => table.mark_all(),
        ChangeSelection::Nothing => table.mark_none(),
    }
    for (id, row) in table.take_changes() {
        let row = row.map(serde_json::to_value).transpose()?;
        all.push((T::TABLE.to_owned(), id, row));
    }
    Ok(())
}

fn replay<T: Row + DeserializeOwned>(
    table: &mut Table<T>,
    id: &str,
    row: Option<Value>,
) -> Result<(), String> {
    let Some(row) = row else {
        table.remove(id);
        return Ok(());
    };
    let row = serde_json::from_value::<T>(row).map_err(|error| format!("{id}: {error}"))?;
    table.put(row).map_err(|_| format!("{id}: its name is taken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_keys() -> State {
        let mut state = State::default();
        let keys = Keys { signing: String::new(), floor: Moment(i64::MIN), next: 0 };
        state.keys.put(keys).unwrap();
        state
    }

    fn floor(state: &State) -> Moment {
        state.keys.get("keys").unwrap().floor
    }

    #[test]
    fn revocations_are_forgotten_when_they_are_over() {
        let mut state = with_keys();
        state.revoke(Revoked::Token("a".into(), Moment(1)), Moment(2), Moment(10));
        state.revoke(Revoked::User("u".into()), Moment(10), Moment(20));
        assert_eq!(state.revocations.len(), 2);
        state.revoke(Revoked::User("u".into()), Moment(11), Moment(20));
        assert!(state.revocations.named("token", "a").is_none());
        assert_eq!(floor(&state), Moment(i64::MIN), "no other token is touched");
    }

    #[test]
    fn too_many_revocations_void_old_tokens_rather_than_bring_one_back() {
        let mut state = with_keys();
        let most = i64::try_from(MAX_REVOCATIONS).unwrap();
        for turn in 0..most + 5 {
            state.revoke(
                Revoked::Token(format!("t{turn}"), Moment(turn)),
                Moment(turn),
                Moment(i64::MAX),
            );
        }
        assert_eq!(state.revocations.len(), MAX_REVOCATIONS);
        assert!(state.revocations.named("token", "t4").is_none());
        assert!(state.revocations.named("token", "t5").is_some());
        assert_eq!(floor(&state), Moment(4));
    }
}
