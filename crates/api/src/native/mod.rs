//! The native API: what each route does.

pub(crate) mod actions;
pub(crate) mod changes;
pub(crate) mod events;
pub(crate) mod info;
pub(crate) mod lookup;
pub(crate) mod plans;
pub(crate) mod previews;
mod resource_pages;
pub(crate) mod resources;
pub(crate) mod show;
pub(crate) mod snapshots;
pub(crate) mod software;
pub(crate) mod stack_body;
pub(crate) mod stacks;
pub(crate) mod stream;
pub(crate) mod types;
