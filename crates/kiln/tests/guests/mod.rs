//! Servers of the simulated cloud with guests inside: folders that play them, and programs that run there with only the
//! user data that the stack gave them.

mod deployments;
pub(crate) mod inside;
mod older;
mod originals;
mod waiting;
