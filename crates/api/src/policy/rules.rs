//! Rules by name, and errors of the whole set.

use super::eval::{ADMIN_RULE, IS_ADMIN};
use super::language::Check;
use crate::caller::Scope;
use std::collections::HashMap;

/// Rules may name rules that name rules, so many deep.
const MAX_CHAIN: usize = 64;

/// Rules by name.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    by_name: HashMap<Box<str>, Rule>,
    /// The rule that is used in place of missing ones.
    default_rule: Box<str>,
}

/// A rule: its check, and the scopes of tokens that it is for.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) check: Check,
    /// Tokens that the rule is for; empty for all of them.
    pub(super) scopes: &'static [Scope],
    /// Whether Kiln itself uses a rule of this name.
    pub(super) built_in: bool,
}

/// Why rules cannot be used together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tangle {
    /// Rules that need each other's answers, the first one again at the end.
    Circle(Vec<String>),
    /// A rule from which too many lead on.
    TooLong(String),
}

impl Rules {
    /// No rules, and the name of the one that is used in place of missing ones.
    pub(super) fn new(default_rule: &str) -> Rules {
        Rules { by_name: HashMap::new(), default_rule: default_rule.into() }
    }

    pub(super) fn default_rule(&self) -> &str {
        &self.default_rule
    }

    pub(super) fn insert(&mut self, name: &str, rule: Rule) {
        self.by_name.insert(name.into(), rule);
    }

    pub(super) fn get(&self, name: &str) -> Option<&Rule> {
        self.by_name.get(name)
    }

    /// The check of `rule:name`: that of the rule, else of the default rule, if there is one.
    pub(super) fn meant_by(&self, name: &str) -> Option<&Check> {
        self.get(name).or_else(|| self.get(&self.default_rule)).map(|rule| &rule.check)
    }

    /// The names of all rules, sorted.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.by_name.keys().map(|name| &**name).collect();
        names.sort_unstable();
        names
    }

    /// Circular or too deeply nested rules; each cycle is reported once.
    pub(super) fn tangles(&self) -> Vec<Tangle> {
        let mut walk = Walk { rules: self, path: Vec::new(), heights: HashMap::new() };
        self.names().into_iter().filter_map(|name| walk.enter(name).err()).collect()
    }

    /// The rules that a check needs the answers of.
    fn named_in<'a>(&'a self, check: &'a Check) -> Vec<&'a str> {
        let mut names = Vec::new();
        check.visit(&mut |leaf| match leaf {
            Check::Rule(name) if self.get(name).is_some() => names.push(&**name),
            Check::Rule(_) if self.get(&self.default_rule).is_some() => {
                names.push(&*self.default_rule)
            }
            Check::Attribute(name, _) if &**name == IS_ADMIN => names.push(ADMIN_RULE),
            _ => {}
        });
        names
    }
}

struct Walk<'a> {
    rules: &'a Rules,
    path: Vec<&'a str>,
    /// How deep rules are nested below one that was visited.
    heights: HashMap<&'a str, usize>,
}

impl<'a> Walk<'a> {
    fn enter(&mut self, name: &'a str) -> Result<usize, Tangle> {
        if let Some(height) = self.heights.get(name) {
            return Ok(*height);
        }
        if let Some(start) = self.path.iter().position(|on_path| *on_path == name) {
            let circle = self.path[start..].iter().copied().chain([name]);
            return Err(Tangle::Circle(circle.map(str::to_owned).collect()));
        }
        if self.path.len() >= MAX_CHAIN {
            return Err(Tangle::TooLong(self.path[0].to_owned()));
        }
        self.path.push(name);
        let height = self.below(name);
        self.path.pop();
        // A cycle is reported once, at the rule where it is found first.
        self.heights.insert(name, *height.as_ref().unwrap_or(&0));
        height
    }

    fn below(&mut self, name: &'a str) -> Result<usize, Tangle> {
        let rules = self.rules;
        let Some(rule) = rules.get(name) else { return Ok(0) };
        let mut height = 0;
        for next in rules.named_in(&rule.check) {
            height = height.max(self.enter(next)? + 1);
        }
        if height >= MAX_CHAIN { Err(Tangle::TooLong(name.to_owned())) } else { Ok(height) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(texts: &[(&str, &str)]) -> Rules {
        let mut rules = Rules::new("default");
        for (name, text) in texts {
            rules.insert(
                name,
                Rule { check: Check::parse(text).expect(text), scopes: &[], built_in: false },
            );
        }
        rules
    }

    fn circle(names: &[&str]) -> Tangle {
        Tangle::Circle(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn circles_are_found_and_told_once() {
        assert_eq!(rules(&[("a", "rule:b and @"), ("b", "rule:c"), ("c", "!")]).tangles(), []);
        let found =
            rules(&[("a", "rule:b"), ("b", "not rule:c"), ("c", "rule:b"), ("d", "rule:a")]);
        assert_eq!(found.tangles(), [circle(&["b", "c", "b"])]);
        assert_eq!(rules(&[("a", "rule:a")]).tangles(), [circle(&["a", "a"])]);
    }

    #[test]
    fn the_default_rule_and_is_admin_are_names_of_rules_too() {
        let found = rules(&[("default", "rule:missing")]);
        assert_eq!(found.tangles(), [circle(&["default", "default"])]);
        let found = rules(&[("context_is_admin", "is_admin:True")]);
        assert_eq!(found.tangles(), [circle(&["context_is_admin", "context_is_admin"])]);
    }

    #[test]
    fn chains_are_bounded() {
        let names: Vec<_> =
            (0..10_000).map(|n| (format!("r{n}"), format!("rule:r{}", n + 1))).collect();
        let texts: Vec<_> = names.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
        assert!(rules(&texts).tangles().iter().all(|t| matches!(t, Tangle::TooLong(_))));
        assert!(!rules(&texts).tangles().is_empty());
        assert_eq!(rules(&texts[..MAX_CHAIN - 1]).tangles(), []);
    }
}
