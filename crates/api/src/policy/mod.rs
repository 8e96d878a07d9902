//! The policy: rules in the language of oslo.policy, with defaults that operators can replace.
//!
//! An action without a rule is refused; an invalid rule is an error. Files that change while requests are served give a
//! new policy, which takes the place of the former one as a whole.

pub mod defaults;
mod error;
mod eval;
mod file;
pub mod language;
mod lexer;
mod pattern;
mod rules;
mod shared;
mod target;

pub use error::{Forbidden, PolicyError};
pub use pattern::Pattern;
pub use shared::SharedPolicy;
pub use target::Target;

use crate::caller::Caller;
use eval::{ADMIN_RULE, Question};
use language::Check;
use rules::{Rule, Rules};

/// The operator's options for rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether the deprecated default of a rule no longer suffices.
    pub enforce_new_defaults: bool,
    /// Whether the scope of a token must be that of the rule: a project, mostly.
    pub enforce_scope: bool,
    /// The rule that is used in place of a missing one that another rule names.
    pub default_rule: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            enforce_new_defaults: true,
            enforce_scope: true,
            default_rule: "default".to_owned(),
        }
    }
}

/// The name and the text of a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyText {
    /// The name, for messages.
    pub name: String,
    /// The text, in YAML or JSON.
    pub text: String,
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
        // All defaults are valid, as a test makes sure; an invalid one would refuse everything.
        let read = |text| Check::parse(text).unwrap_or(Check::Never);
        let mut rules = Rules::new(&options.default_rule);
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

    /// The built-in rules, replaced by those of a `policy.yaml` or `policy.json` with the same names.
    ///
    /// The name of the file is only for messages.
    pub fn load(file: &str, text: &str, options: Options) -> Result<Policy, Vec<PolicyError>> {
        Policy::load_all(&[PolicyText { name: file.to_owned(), text: text.to_owned() }], options)
    }

    /// The built-in rules, replaced by those of several files: each file replaces rules of the ones before it.
    pub fn load_all(files: &[PolicyText], options: Options) -> Result<Policy, Vec<PolicyError>> {
        let mut policy = Policy::with(options);
        policy.warnings = file::replace(&mut policy.rules, files)?;
        for warning in &policy.warnings {
            tracing::warn!("{warning}");
        }
        Ok(policy)
    }

    /// The warnings about the file.
    pub fn warnings(&self) -> &[PolicyError] {
        &self.warnings
    }

    /// Checks a rule for a caller. An action without a rule is refused.
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

    /// The same as [`Policy::allows_type`], with an error that names the type.
    pub fn check_type(&self, caller: &Caller, type_name: &str) -> Result<(), Forbidden> {
        if self.allows_type(caller, type_name) {
            Ok(())
        } else {
            Err(Forbidden { rule: format!("resource_types:{type_name}") })
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
