//! The credentials of a resource's stack user, for tools on servers.

use super::stack_user::{self, User};
use crate::op::{Op, OpError};
use serde_json::{Value as Json, json};

/// The credentials of a stack user, under the names that tools on servers expect.
pub(crate) async fn of(op: &mut Op, user: &User) -> Result<Json, OpError> {
    let domain = stack_user::domain(op).await?;
    let outside = &op.stack().guests;
    Ok(json!({
        "auth_url": *outside.auth_url,
        "username": user.name,
        "user_id": *user.id,
        "password": user.password,
        "project_id": *user.project,
        "domain_id": *domain,
        "region_name": outside.region.as_deref(),
    }))
}
