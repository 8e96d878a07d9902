//! The template language of Kiln.
//!
//! Text becomes a tree with spans ([`document`]), the tree a typed template, the template a graph.
//! This crate does no I/O, knows no clock and no cloud: callers pass in what it needs
//! through small traits.
//!
//! The types that all callers need are at the root, the others in the module of their subject:
//!
//! | subject | modules |
//! |---|---|
//! | reading text | [`read`], [`yaml`], [`json`], [`limits`] to [`document`] |
//! | templates | [`lower`] to [`template`] and [`expr`], by [`version`] |
//! | parameters, environments, files | [`parameters`], [`environment`], [`files`] |
//! | binding and evaluation | [`definition`], [`eval`], [`functions`], [`graph`], [`resolved`], [`nested`] |
//! | resource types | [`schema`], [`property`], [`constraint`], [`translation`] |
//! | findings | [`validate`], [`check`], [`codes`], [`diagnostic`], [`suggest`] |
//! | values as text | [`value`], [`print`](mod@print), [`path`], [`hidden`] |

#![forbid(unsafe_code)]

pub mod check;
pub mod codes;
mod conditions;
pub mod constraint;
pub mod definition;
mod dependencies;
pub mod diagnostic;
pub mod document;
pub mod environment;
pub mod eval;
pub mod expr;
pub mod files;
mod findings;
pub mod functions;
pub mod graph;
pub mod hidden;
pub mod json;
pub mod limits;
pub mod lower;
mod names;
pub mod nested;
pub mod parameters;
pub mod path;
pub mod print;
pub mod property;
pub mod read;
pub mod resolved;
pub mod schema;
pub mod source;
pub mod suggest;
pub mod template;
pub mod translation;
pub mod validate;
pub mod value;
pub mod version;
pub mod yaml;

pub use diagnostic::{Diagnostic, Severity};
pub use findings::{Findings, Stage};
pub use source::{FileId, Sources, Span};
pub use value::{Secret, Unknown, Value};
