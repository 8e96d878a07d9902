//! Groups: resources that are nested stacks of like members.
//!
//! What a group's stack should be next is a pure function of the members there are and of what is
//! wanted. Members are up to date if their definitions are what they would be if made now, so nothing
//! has to be remembered between two stages but the size that a rolling update set out with.

pub(crate) mod attributes;
mod batch;
pub(crate) mod named;
mod pace;
pub(crate) mod scaled;
mod template;

pub(crate) use pace::Pace;
pub(crate) use template::{Dialect, Member, template};
