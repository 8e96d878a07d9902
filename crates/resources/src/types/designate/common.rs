//! What DNS types have in common.

use crate::rest::Ready;

/// Changes take until the name servers have them.
pub(super) fn settled() -> Ready {
    Ready::when("status", [], ["ERROR"]).waiting(["PENDING"])
}
