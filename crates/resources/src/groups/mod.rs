//! Groups: resources that are nested stacks of like members.
//!
//! The next template of a group's stack is a pure function of its members and of the wanted size and
//! definition. A member is up to date if its definition equals that of a new member, so a group records nothing
//! between two stages except its size before a rolling update.

pub(crate) mod attributes;
mod batch;
mod forwarded;
pub(crate) mod named;
mod pace;
pub(crate) mod scaled;
mod template;

pub(crate) use forwarded::{Addressing, forwarded, split};
pub(crate) use pace::Pace;
pub(crate) use template::{Dialect, Member, template, template_with_outputs};
