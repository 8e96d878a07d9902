//! Tests of the identity service through its router. The asserted texts and statuses are those of Keystone 30.

mod app_credentials;
mod catalogue;
mod discovery;
mod ec2;
mod grants;
mod groups;
mod in_process;
mod invalidation;
mod login;
mod people;
mod persistence;
mod robustness;
mod test_identity;
mod tokens;
mod trusts;
