//! Groups of parameters, for display by clients.

use super::Definitions;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Map, Node};
use crate::path::Path;
use crate::print;
use crate::source::Span;
use crate::suggest;
use crate::value::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A group of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its span.
    pub span: Span,
    /// The label; usually text.
    pub label: Option<Value>,
    /// The description; usually text.
    pub description: Option<Value>,
    /// The names of its parameters.
    pub parameters: Vec<Arc<str>>,
}

impl Group {
    /// The group's description in the API's template validation.
    pub fn describe(&self) -> Value {
        let names = self.parameters.iter().map(|name| Value::Text(name.clone()));
        let members = [("label", self.label.clone()), ("description", self.description.clone())];
        let members = members.into_iter().filter_map(|(key, value)| Some((key, value?)));
        Value::map(members.chain([("parameters", Value::list(names))]))
    }
}

/// Reads `parameter_groups` of a native template that has these parameters.
pub fn groups(node: &Node, definitions: &Definitions) -> (Vec<Group>, Vec<Diagnostic>) {
    let mut out = Vec::new();
    let items = match &node.data {
        Data::List(items) => items,
        _ if !Value::from(node).is_truthy() => return (Vec::new(), out),
        _ => {
            let text = "The parameter_groups should be a list.";
            out.push(fault(&Path::Root.key(SECTION), text.into(), node.span));
            return (Vec::new(), out);
        }
    };
    let mut reader = GroupReader { definitions, seen: BTreeSet::new(), out: &mut out };
    let groups = items.iter().filter_map(|item| reader.group(item)).collect();
    (groups, out)
}

const SECTION: &str = "parameter_groups";

/// Pseudo parameters that may be grouped, too.
const PSEUDO: &[&str] = &["OS::project_id", "OS::stack_id"];

struct GroupReader<'a> {
    definitions: &'a Definitions,
    seen: BTreeSet<String>,
    out: &'a mut Vec<Diagnostic>,
}

impl GroupReader<'_> {
    fn group(&mut self, node: &Node) -> Option<Group> {
        let section = Path::Root.key(SECTION);
        let Some(map) = node.as_map() else {
            let text = "Each parameter group must be a map.";
            self.out.push(fault(&section, text.into(), node.span));
            return None;
        };
        let label = map.get("label").map(Value::from).filter(|label| !label.is_null());
        let printed = label.as_ref().map(print::plain).unwrap_or_default();
        let path = section.key(&printed);
        let parameters = self.members(map, node, &path);
        Some(Group {
            span: node.span,
            label,
            description: map.get("description").map(Value::from).filter(|value| !value.is_null()),
            parameters,
        })
    }

    fn members(&mut self, map: &Map, node: &Node, path: &Path<'_>) -> Vec<Arc<str>> {
        let Some(parameters) = map.get("parameters").filter(|node| !node.is_null()) else {
            let text = "The parameters must be provided for each parameter group.";
            self.out.push(fault(path, text.into(), node.span));
            return Vec::new();
        };
        let Some(items) = parameters.as_list() else {
            let text = "The parameters of parameter group should be a list.";
            self.out.push(fault(path, text.into(), parameters.span));
            return Vec::new();
        };
        items.iter().filter_map(|item| self.member(item, path)).collect()
    }

    fn member(&mut self, node: &Node, path: &Path<'_>) -> Option<Arc<str>> {
        let name = print::plain(&Value::from(node));
        if !self.seen.insert(name.clone()) {
            let text =
                format!("The {name} parameter must be assigned to one parameter group only.");
            self.out.push(fault(path, text, node.span));
            return None;
        }
        let is_text = node.as_text().is_some();
        if is_text && (self.definitions.contains_key(&*name) || PSEUDO.contains(&&*name)) {
            return Some(name.into());
        }
        let text = format!("The grouped parameter {name} does not reference a valid parameter.");
        let mut error = fault(path, text, node.span);
        // A suggestion compares all names: too expensive for every one of many errors.
        if self.out.len() < 20 {
            error.help = suggest::did_you_mean(&name, self.definitions.keys().map(|key| &**key));
        }
        self.out.push(error);
        None
    }
}

fn fault(path: &Path<'_>, text: String, span: Span) -> Diagnostic {
    Diagnostic::error(&codes::PARAMETER_GROUPS, text)
        .class("Parameter Groups error")
        .path(path)
        .at(span)
}
