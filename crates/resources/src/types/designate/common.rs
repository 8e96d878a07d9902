//! The common parts of DNS types.

use crate::behaviour::OperationKind;
use crate::op::Op;
use crate::rest::Readiness;
use serde_json::{Map as Fields, Value as Json};

/// When the name servers have a change.
pub(super) fn settled() -> Readiness {
    Readiness::when("status", [], ["ERROR"]).waiting(["PENDING"])
}

/// Leaves a value as it is if an update removes it from the template: the service takes no empty values.
pub(super) fn omit_empty(_: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    if operation == OperationKind::Update {
        fields.retain(|_, value| !value.is_null() && value != "");
    }
}
