//! What compute types have in common.

use crate::op::Op;
use crate::rest;
use kiln_cloud::Marker;

/// How a plain object is found. The compute service refuses a list with a filter that it does not know,
/// so all objects are listed.
pub(super) fn among_all(op: &Op) -> Option<Marker> {
    let mut marker = rest::marker(op)?;
    marker.list.request.query.clear();
    Some(marker)
}
