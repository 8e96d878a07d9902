//! Who may do what: rules in the language of oslo.policy, with defaults that operators can replace.
//!
//! Rules are read once. What has no rule is refused; what cannot be read is an error at the start, not a
//! surprise later.

pub mod defaults;
mod error;
mod eval;
mod file;
pub mod language;
mod lexer;
mod pattern;
mod rules;
mod target;

pub use error::{Forbidden, PolicyError};
pub use pattern::Pattern;
pub use target::Target;

use crate::caller::Caller;
use eval::{ADMIN_RULE, Question};
use language::Check;
use rules::{Rule, Rules};

/// What an operator decides about rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether what a rule asked formerly no longer suffices.
    pub enforce_new_defaults: bool,
    /// Whether a token must be for what the rule is for: a project, mostly.
    pub enforce_scope: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { enforce_new_defaults: true, enforce_scope: true }
    }
}

/// All rules.
#[derive(Clone, Debug)]
pub struct Policy {
    rules: Rules,
    options: Options,
    warnings: Vec<PolicyError>,
}

impl Policy {
    /// The rules as they are built in.
    pub fn new() -> Policy {
        Policy::with(Options::default())
    }

    /// The rules as they are built in, under an operator's options.
    pub fn with(options: Options) -> Policy {
        // All defaults can be read, as a test makes sure; what could not would refuse everybody.
        let read = |text| Check::parse(text).unwrap_or(Check::Never);
        let mut rules = Rules::default();
        for row in defaults::all() {
            let former = row.deprecated.filter(|_| !options.enforce_new_defaults);
            let check = match former {
                Some(former) => Check::Any(vec![read(row.check), read(former)]),
                None => read(row.check),
            };
            rules.insert(row.name, Rule { check, scopes: row.scopes, built_in: true });
        }
        Policy { rules, options, warnings: Vec::new() }
    }

    /// The rules with those of a `policy.yaml` or `policy.json` in place of the ones of the same name.
    ///
    /// The name of the file is only for messages.
    pub fn load(file: &str, text: &str, options: Options) -> Result<Policy, Vec<PolicyError>> {
        let mut policy = Policy::with(options);
        policy.warnings = file::replace(&mut policy.rules, file, text)?;
        for warning in &policy.warnings {
            tracing::warn!("{warning}");
        }
        Ok(policy)
    }

    /// What an operator should know of the file, though it can be used.
    pub fn warnings(&self) -> &[PolicyError] {
        &self.warnings
    }

    /// Whether a caller may do what a rule is for. What has no rule is refused.
    pub fn check(&self, rule: &str, caller: &Caller, target: &Target<'_>) -> Result<(), Forbidden> {
        let allowed = match self.rules.get(rule).filter(|rule| rule.built_in) {
            Some(found) => self.satisfied(found, caller, target),
            None => {
                tracing::error!(rule, "an action has no rule and is refused: this is a defect");
                false
            }
        };
        if allowed { Ok(()) } else { Err(Forbidden { rule: rule.to_owned() }) }
    }

    /// Whether a caller is an administrator.
    pub fn is_admin(&self, caller: &Caller) -> bool {
        let target = Target::project(&caller.project_id);
        self.rules.get(ADMIN_RULE).is_some_and(|rule| self.satisfied(rule, caller, &target))
    }

    /// Whether a caller may have resources of a type: neither the rule for the type nor the one for its
    /// family (`OS::Nova::*`) may refuse. What has neither is allowed.
    pub fn allows_type(&self, caller: &Caller, type_name: &str) -> bool {
        let target = Target::project(&caller.project_id);
        let family = match type_name.rsplit_once("::") {
            Some((family, _)) => format!("resource_types:{family}::*"),
            None => "resource_types:*".to_owned(),
        };
        [format!("resource_types:{type_name}"), family].iter().all(|name| {
            self.rules.get(name).is_none_or(|rule| self.satisfied(rule, caller, &target))
        })
    }

    /// The same as [`Policy::allows_type`], with a refusal that names the type.
    pub fn check_type(&self, caller: &Caller, type_name: &str) -> Result<(), Forbidden> {
        match self.allows_type(caller, type_name) {
            true => Ok(()),
            false => Err(Forbidden { rule: format!("resource_types:{type_name}") }),
        }
    }

    fn satisfied(&self, rule: &Rule, caller: &Caller, target: &Target<'_>) -> bool {
        let scope_fits = rule.scopes.is_empty() || rule.scopes.contains(&caller.scope);
        let question = Question { rules: &self.rules, caller, target: *target };
        (scope_fits || !self.options.enforce_scope) && question.holds(&rule.check)
    }
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::new()
    }
}
