//! The handlers, one file per group of routes.

pub(super) mod app_credentials;
pub(super) mod assignments;
mod auth_request;
mod catalogue;
pub(super) mod credentials;
pub(super) mod discovery;
pub(super) mod domains;
pub(super) mod ec2;
pub(super) mod endpoints;
pub(super) mod grants;
pub(super) mod groups;
mod issue;
pub(super) mod login;
mod named_entity;
pub(super) mod projects;
pub(super) mod regions;
pub(super) mod revocations;
pub(super) mod roles;
pub(super) mod services;
mod signature;
pub(super) mod tokens;
pub(super) mod trusts;
pub(super) mod users;

pub(super) use self::issue::{body, issue};
