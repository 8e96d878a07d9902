//! Whether a check holds for a caller and a target.

use super::language::Check;
use super::pattern::Pattern;
use super::rules::Rules;
use super::target::Target;
use crate::caller::{Caller, Scope};

/// The attribute that refers to the rule for administrators.
pub(super) const IS_ADMIN: &str = "is_admin";

/// The rule for administrators.
pub(super) const ADMIN_RULE: &str = "context_is_admin";

/// The caller and the target that checks are evaluated for.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) rules: &'a Rules,
    pub(super) caller: &'a Caller,
    pub(super) target: Target<'a>,
}

impl<'a> Question<'a> {
    /// Whether a check holds. The rules are known not to lead in circles.
    pub(super) fn holds(&self, check: &'a Check) -> bool {
        match check {
            Check::Always => true,
            Check::Never => false,
            Check::Role(role) => role.fill(&self.target).is_some_and(|role| self.has_role(&role)),
            Check::Rule(name) => self.rules.meant_by(name).is_some_and(|rule| self.holds(rule)),
            Check::Attribute(name, value) => self.has(name, value),
            Check::Constant(text, value) => {
                value.fill(&self.target).is_some_and(|value| *value == **text)
            }
            Check::Not(check) => !self.holds(check),
            Check::All(checks) => checks.iter().all(|check| self.holds(check)),
            Check::Any(checks) => checks.iter().any(|check| self.holds(check)),
        }
    }

    fn has_role(&self, role: &str) -> bool {
        self.caller.roles.iter().any(|held| same_but_for_case(held, role))
    }

    /// Whether the caller has an attribute with a value.
    ///
    /// An attribute that a caller lacks equals `None` in a rule, but no field of a target: a caller without a project
    /// has no access to objects without one.
    fn has(&self, name: &str, pattern: &'a Pattern) -> bool {
        let Some(value) = pattern.fill(&self.target) else { return false };
        match attribute(self.caller, name) {
            Attribute::Unknown => false,
            Attribute::Text("") => pattern.literal() == Some("None"),
            Attribute::Text(text) => *text == *value,
            Attribute::Flag(flag) => *value == *flag_text(flag),
            Attribute::List(texts) => texts.iter().any(|text| **text == *value),
            Attribute::IsAdmin => *value == *flag_text(self.is_admin()),
        }
    }

    fn is_admin(&self) -> bool {
        self.rules.meant_by(ADMIN_RULE).is_some_and(|rule| self.holds(rule))
    }
}

/// The attribute of a caller.
enum Attribute<'a> {
    Unknown,
    Text(&'a str),
    Flag(bool),
    List(&'a [String]),
    IsAdmin,
}

fn attribute<'a>(caller: &'a Caller, name: &str) -> Attribute<'a> {
    match name {
        "project_id" | "tenant" => Attribute::Text(&caller.project_id),
        "user_id" | "user" => Attribute::Text(&caller.user_id),
        "user_domain_id" => Attribute::Text(&caller.user_domain_id),
        "project_domain_id" => Attribute::Text(&caller.project_domain_id),
        "domain_id" => Attribute::Text(&caller.domain_id),
        "system_scope" if caller.scope == Scope::System => Attribute::Text("all"),
        "system_scope" => Attribute::Text(""),
        "is_admin_project" => Attribute::Flag(caller.is_admin_project),
        "roles" => Attribute::List(&caller.roles),
        "service_roles" => Attribute::List(&caller.service_roles),
        IS_ADMIN => Attribute::IsAdmin,
        _ => Attribute::Unknown,
    }
}

/// Whether rules may use an attribute.
pub(super) fn is_attribute(name: &str) -> bool {
    !matches!(attribute(&Caller::default(), name), Attribute::Unknown)
}

fn flag_text(flag: bool) -> &'static str {
    if flag { "True" } else { "False" }
}

fn same_but_for_case(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return one.eq_ignore_ascii_case(other);
    }
    one.to_lowercase() == other.to_lowercase()
}
