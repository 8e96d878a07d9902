//! What DNS types have in common.

use crate::rest::Readiness;

/// Changes take until the name servers have them.
pub(super) fn settled() -> Readiness {
    Readiness::when("status", [], ["ERROR"]).waiting(["PENDING"])
}
