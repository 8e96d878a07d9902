//! The tools of heat-cfntools.

pub(crate) mod api;
mod haproxy;
pub(crate) mod hup;
pub(crate) mod init;
pub(crate) mod metadata;
pub(crate) mod signal;
pub(crate) mod stats;
pub(crate) mod symlinks;
