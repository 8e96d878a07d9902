//! Maps that look like functions, and are none: a function that only later versions have, or a misspelt name.
//!
//! To Heat they are plain data, so they are warnings.

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::expr::{Expr, ExprKind, Member};
use crate::functions::{self, Function};
use crate::suggest;
use crate::template::Template;
use crate::version::{Dialect, Meaning, Position, Version};
use std::collections::BTreeMap;

/// Further words are not looked at.
const MAX_WORDS: usize = 1000;

/// Returns a warning for each map in resources and outputs that looks like a function and is none.
pub(super) fn lookalikes(template: &Template) -> Vec<Diagnostic> {
    let version = template.version;
    let mut search = Search { version, words: BTreeMap::new(), found: Vec::new() };
    for resource in template.resources.values() {
        let fields = [&resource.properties, &resource.metadata];
        fields.into_iter().flatten().for_each(|field| search.visit(field));
    }
    template.outputs.values().for_each(|output| search.visit(&output.value));
    search.found
}

struct Search {
    version: Version,
    /// The functions that words seem to mean.
    words: BTreeMap<Box<str>, Option<&'static Function>>,
    found: Vec<Diagnostic>,
}

impl Search {
    fn visit(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Scalar(_) | ExprKind::Invalid(_) => {}
            ExprKind::List(items) => items.iter().for_each(|item| self.visit(item)),
            ExprKind::Map(members) => {
                if let [member] = &**members {
                    self.check(member);
                }
                members.iter().for_each(|member| self.visit(&member.value));
            }
            ExprKind::Call(call) => self.visit(&call.args),
            ExprKind::If(choice) => {
                let parts = [Some(&choice.then), choice.otherwise.as_ref()];
                parts.into_iter().flatten().for_each(|part| self.visit(part));
            }
        }
    }

    fn check(&mut self, member: &Member) {
        if self.found.len() >= suggest::MAX_SUGGESTIONS {
            return;
        }
        let Some(function) = self.seemingly(&member.key) else { return };
        let form_version =
            if function.exists_in(self.version) { self.version } else { function.since };
        if function.form(&member.value, form_version).is_err() {
            return;
        }
        let message =
            format!("`{}` is no function of this version, and stays as it is", member.key);
        let help = if &*member.key != function.name {
            format!("did you mean `{}`?", function.name)
        } else if self.version.dialect() == Dialect::Cfn {
            format!("`{}` needs a template with heat_template_version", function.name)
        } else {
            format!(
                "`{}` needs heat_template_version {} or later",
                function.name,
                function.since.info().date
            )
        };
        let warning = Diagnostic::warning(&codes::FUNCTION_MISPLACED, message);
        self.found.push(warning.at(member.key_span).help(help));
    }

    /// The function that a word seems to mean, if it is no function of this version.
    fn seemingly(&mut self, word: &str) -> Option<&'static Function> {
        if let Some(known) = self.words.get(word) {
            return *known;
        }
        if self.words.len() >= MAX_WORDS {
            return None;
        }
        let found = match self.version.meaning(word, Position::Value) {
            Meaning::Data => intended(word, self.version),
            _ => None,
        };
        self.words.insert(word.into(), found);
        found
    }
}

fn intended(word: &str, version: Version) -> Option<&'static Function> {
    if let Some(function) = functions::named(word) {
        return (function.in_values && version < function.since).then_some(function);
    }
    // Other names are words that any map may have.
    let is_marked = |name: &str| name.contains('_') || name.starts_with("Fn::");
    if !is_marked(word) {
        return None;
    }
    let known = version.functions(Position::Value).map(|function| function.name);
    functions::named(suggest::closest(word, known.filter(|name| is_marked(name)))?)
}
