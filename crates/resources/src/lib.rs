//! Resource types of Kiln, declared as values.
//!
//! A type is a [`ResourceType`](declare::ResourceType): what templates need to know of it, and what
//! the engine does. Each built-in type is a file under `types/`, in the folder of its family; the
//! family's `mod.rs` lists it, and [`registry`] lists the families. Nothing registers itself.
//!
//! # How to read a declaration
//!
//! ```
//! use kiln_resources::declare::*;
//!
//! fn pool() -> ResourceType {
//!     ResourceType::new("OS::Example::Pool")
//!         .about("A pool of addresses.")
//!         .service(Service::Network)
//!         .extension("example-pools")
//!         .observable()
//!         .since("27.0.0")
//!         .props([
//!             prop("name", Str).updatable(),
//!             prop("prefixes", List).required().updatable().each(item(Str).is("net_cidr")),
//!             prop("ip_version", Int).default(4).one_of([4, 6]),
//!             prop("routes", List).default_empty().each(record([
//!                 prop("destination", Str).required().is("net_cidr"),
//!                 prop("metric", Int).range(0, 255),
//!             ])),
//!             prop("cidr", Str).deprecated("26.0.0").note("Use `prefixes`."),
//!         ])
//!         .attrs([attr("free", Int).uncached()])
//! }
//!
//! let pool = pool();
//! assert!(pool.schema.property("name").is_some_and(|name| name.update_allowed));
//! assert!(pool.schema.has_attribute("free"));
//! ```
//!
//! Only what is out of the ordinary is said. So a property is optional, has no default, and a change
//! of it replaces the object; a value is kept until the next action; a type's name for an object may
//! have 255 characters; a resource can be created, updated and deleted and nothing else.
//!
//! | words | mean |
//! |---|---|
//! | `Str Int Num Bool List Map Any` | the kind of a value |
//! | `.required() .default(v)` | what happens when no value is given |
//! | `.updatable() .immutable()` | what happens when the value changes: in place, or refused |
//! | `.one_of .range .min .max .length .pattern .is` | what the value must satisfy |
//! | `.each(item(Str)) .each(record([…]))` | every member of a list is text, or a map of this form |
//! | `.members([…])` | a map has these members and no others |
//! | `.since .changed .deprecated .hidden .unsupported` | its life, in the order it was lived |
//! | `.note("…")` | what to use instead, or why, on the state before it |
//! | `.with(fragment)` | what several types share, said once |
//! | `.checkable() .detects_drift() .signallable() .suspendable() .restorable()` | what else can be done |
//! | `.still_supported()` | works here though its life elsewhere is over: no warning |
//! | `.reference_known_early()` | nobody waits for it: what it is called is known before it is made |
//! | `.placeholder()` | takes anything and does nothing: its service is gone |
//! | `.creates .updates .deletes .on(operation, …)` | what is done with the object: handlers over [`op::Op`] |
//! | `.found_by .called .answers .replaced_if` | how it is found, referred to, asked, and when replaced |
//! | `.staged .on_signal .rests` | groups, signals, scaling |
//!
//! Properties, members and attributes are kept by name, so they may be written in any order.
//!
//! Every declaration is compared with what is known of the reference (`tests/golden.rs`);
//! `xtask facts` refreshes that knowledge and `xtask scaffold` writes the first version of a file.

#![forbid(unsafe_code)]

pub mod behaviour;
pub mod constraints;
pub mod declare;
pub mod environment;
mod groups;
pub mod guard;
pub mod implicit_dependencies;
pub mod lookup;
pub mod op;
pub mod plugin;
mod property_access;
mod random;
mod refusals;
pub mod registry;
pub mod rest;
pub mod scaling;
mod types;
pub mod wire;

pub use types::aws_cloudwatch::UNITS;
