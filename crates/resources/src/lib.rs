//! Resource types of Kiln, declared as values.
//!
//! A type is a [`ResourceType`](declare::ResourceType): the schema for templates, and the handlers for
//! the engine. Each built-in type is a file under `types/`, in the folder of its family; the
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
//!         .detects_drift()
//!         .since("27.0.0")
//!         .props([
//!             prop("name", Str, "Name of the pool.").updatable(),
//!             prop("prefixes", List, "Prefixes to allocate from.")
//!                 .required().updatable().each(item(Str).is(NET_CIDR)),
//!             prop("ip_version", Int, "IP version.").default(4).one_of([4, 6]),
//!             prop("routes", List, "Static routes.").default_empty().each(record([
//!                 prop("destination", Str, "Destination.").required().is(NET_CIDR),
//!                 prop("metric", Int, "Metric.").range(0, 255),
//!             ])),
//!             prop("cidr", Str, "Single prefix.").deprecated("26.0.0").note("Use `prefixes`."),
//!         ])
//!         .attrs([attr("free", Int, "Number of free addresses.").uncached()])
//! }
//!
//! let pool = pool();
//! assert!(pool.schema.property("name").is_some_and(|name| name.update_allowed));
//! assert!(pool.schema.has_attribute("free"));
//! ```
//!
//! A declaration states only what differs from the defaults: a property is optional, has no default, and a
//! change of it replaces the object; attributes are cached until the next action; an object's name may have
//! 255 characters; a resource supports create, update and delete and no other action.
//!
//! | methods | meaning |
//! |---|---|
//! | `prop(name, type, description)`, `attr(name, type, description)` | a property, an attribute |
//! | `Str Int Num Bool List Map Any` | the type of a value |
//! | `.required() .default(v)` | what happens without a value |
//! | `.updatable() .immutable()` | a change is made in place, or is an error |
//! | `.one_of .range .min .max .length .pattern .is(NETWORK)` | the constraints of the value |
//! | `.by_name() .finds(NETWORK)` | an object's name is accepted in place of its id |
//! | `.each(item(Str)) .each(record([…]))` | every item of a list is a string, or a map of this form |
//! | `.members([…])` | a map has these members and no others |
//! | `.since .changed .deprecated .hidden .unsupported` | the support status with its history, oldest first |
//! | `.note("…")` | the message of the support status: what to use instead, or why |
//! | `.with(fragment)` | a fragment that several types share |
//! | `.checkable() .detects_drift() .signallable() .suspendable() .restorable()` | further actions |
//! | `.still_supported()` | Kiln supports the type although Heat does not: no warning |
//! | `.reference_known_early()` | the reference is known before the resource is created |
//! | `.placeholder()` | accepts any property and does nothing: its service is retired |
//! | `.creates .updates .deletes .on(operation, …)` | handlers over [`op::Op`] |
//! | `.rest(RestSpec)` | generic handlers for objects with a REST interface |
//! | `.finder .reference .attributes .replaced_if` | the mark of the object, its reference and attributes, and when an update replaces it |
//! | `.staged .on_signal .cooldown` | groups, signals, scaling |
//!
//! Properties, members and attributes are sorted by name, so they may be written in any order.
//!
//! Every declaration is compared with the facts known of Heat (`tests/golden.rs`); `xtask facts` refreshes
//! the facts and `xtask scaffold` writes the first version of a file.

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
mod type_settings;
mod types;
pub mod wire;

pub use type_settings::TypeSettings;
pub use types::aws_cloudwatch::UNITS;
