//! Tests of the identity service, by way of its router. What is asserted of texts and statuses was answered by Keystone 30.

mod app_credentials;
mod catalogue;
mod discovery;
mod ec2;
mod grants;
mod groups;
mod inside;
mod login;
mod people;
mod persistence;
mod robustness;
mod tokens;
mod trusts;
mod void;
mod world;
