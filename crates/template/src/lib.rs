//! The template language of Kiln.
//!
//! Text becomes a tree with spans ([`document`]), the tree a typed template, the template a graph.
//! This crate does no I/O, knows no clock and no cloud: callers pass in what it needs
//! through small traits.
//!
//! The types of the language are at the root: [`Value`], [`Template`], [`Definition`], [`Graph`], [`Constraint`], [`Diagnostic`] and
//! what belongs to them. The work on them is in modules:
//!
//! | subject | modules |
//! |---|---|
//! | reading text | [`read`], [`yaml`] and [`json`] to [`document`] |
//! | templates | [`lower`] to a [`Template`], by [`version`] |
//! | parameters, environments, files | [`parameters`], [`environment`], [`files`] |
//! | evaluation and nested templates | [`functions`], [`nested`] |
//! | resource types | [`schema`], [`property`], [`translation`] |
//! | findings | [`validate`], [`codes`], [`suggest`] |
//! | values as text | [`print`](mod@print) |

#![forbid(unsafe_code)]

mod check;
pub mod codes;
mod conditions;
mod constraint;
mod definition;
mod dependencies;
mod diagnostic;
pub mod document;
pub mod environment;
mod eval;
mod expr;
pub mod files;
mod findings;
pub mod functions;
pub mod generated;
mod graph;
mod hidden;
pub mod json;
mod limits;
pub mod lower;
mod names;
pub mod nested;
pub mod parameters;
mod path;
pub mod print;
pub mod property;
pub mod read;
mod resolved;
pub mod schema;
mod source;
pub mod suggest;
mod template;
pub mod translation;
mod uses;
pub mod validate;
mod value;
pub mod version;
pub mod yaml;

pub use check::collect_dependencies;
pub use constraint::{Constraint, CustomConstraints, Offline, Rule, Verdict};
pub use definition::{Definition, Files, QueryLimits, UnknownResolver, UnsetParameters};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use eval::{Budget, Resolver, Scope};
pub use expr::Expr;
pub use findings::{Findings, Stage};
pub use graph::{Dependents, Edge, Graph};
pub use hidden::{HiddenTexts, STARS};
pub use limits::Limits;
pub use path::Path;
pub use resolved::{ResolveError, ResolvedDefinition, convert_properties, convert_update_policy};
pub use source::{FileId, Location, Sources, Span};
pub use template::{DeletionPolicy, Output, Resource, Template};
pub use uses::Use;
pub use value::{Members, Secret, Unknown, Value, member_byte_size, members_byte_size};
