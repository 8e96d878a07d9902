//! Variables and functions in scope, and expressions waiting to be evaluated in one.
//!
//! Contexts form a chain towards the root. Nothing in a context points back down the chain, so no
//! cycle keeps them alive.

use crate::dispose::dispose;
use crate::syntax::{Node, Variable};
use crate::value::Value;
use std::sync::Arc;

/// A scope of variables and functions.
#[derive(Debug)]
pub struct Context {
    parent: Option<Arc<Context>>,
    /// `$1`, `$2`, ...
    positional: Vec<Value>,
    named: Vec<(Arc<str>, Value)>,
    function: Option<(Arc<str>, Arc<Node>)>,
    /// Whether this context or one above it defines a function.
    functions: bool,
}

impl Context {
    /// The outermost context, where `$` is the data.
    pub(crate) fn root(data: Value) -> Arc<Context> {
        Arc::new(Context {
            parent: None,
            positional: vec![data],
            named: Vec::new(),
            function: None,
            functions: false,
        })
    }

    /// A context below this one with variables of its own.
    pub(crate) fn child(
        self: &Arc<Context>,
        positional: Vec<Value>,
        named: Vec<(Arc<str>, Value)>,
    ) -> Arc<Context> {
        Arc::new(Context {
            parent: Some(self.clone()),
            positional,
            named,
            function: None,
            functions: self.functions,
        })
    }

    /// A context below this one with a function.
    pub(crate) fn with_function(
        self: &Arc<Context>,
        name: Arc<str>,
        body: Arc<Node>,
    ) -> Arc<Context> {
        Arc::new(Context {
            parent: Some(self.clone()),
            positional: Vec::new(),
            named: Vec::new(),
            function: Some((name, body)),
            functions: true,
        })
    }

    /// The value of a variable; null when nothing sets it.
    pub(crate) fn variable(&self, variable: &Variable) -> Value {
        let mut context = Some(self);
        while let Some(here) = context {
            let found = match variable {
                Variable::Position(position, _) => here.positional.get(position - 1),
                Variable::Name(name) => {
                    here.named.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
                }
            };
            if let Some(value) = found {
                return value.clone();
            }
            context = here.parent.as_deref();
        }
        Value::Null
    }

    /// The innermost function of a name: its body and the context it belongs to.
    pub(crate) fn function(self: &Arc<Context>, name: &str) -> Option<(Arc<Context>, Arc<Node>)> {
        if !self.functions {
            return None;
        }
        let mut context = Some(self);
        while let Some(here) = context.filter(|here| here.functions) {
            if let Some((found, body)) = &here.function
                && **found == *name
            {
                return Some((here.clone(), body.clone()));
            }
            context = here.parent.as_ref();
        }
        None
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        dispose(self.parent.take());
        dispose(std::mem::take(&mut self.positional));
        dispose(std::mem::take(&mut self.named));
    }
}

/// An expression to be evaluated later, with the context it was written in.
#[derive(Clone, Debug)]
pub(crate) struct Lambda {
    pub(crate) body: Body,
    pub(crate) context: Arc<Context>,
}

/// What a lambda evaluates.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Node(Arc<Node>),
    /// A value that was given where an expression is expected.
    Value(Value),
}
