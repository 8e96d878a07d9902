#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod arguments;
mod collections;
mod context;
mod convert;
mod dispose;
mod equality;
mod error;
mod expression;
mod functions;
mod integer;
mod iterate;
mod lexer;
mod machine;
mod options;
mod parser;
pub mod python;
pub mod regex;
mod render;
mod resolve;
mod signature;
mod syntax;
mod time;
mod value;
mod work;

pub use collections::{Key, Map, Set};
pub use context::Context;
pub use convert::Data;
pub use error::{Error, ErrorKind, FailureClass, Span};
pub use expression::Expression;
pub use integer::Integer;
pub use iterate::{Iter, Lazy};
pub use options::{Environment, Options};
pub use time::{Date, TimeSpan};
pub use value::{List, Value, View, ViewKind};

/// The names of all functions and methods of the standard library, sorted.
pub fn function_names() -> Vec<&'static str> {
    functions::names()
}
