//! The common parts of compute types.

use crate::op::Op;
use crate::rest;
use kiln_cloud::Marker;

/// Finds an object by its name in the whole list: the compute service refuses unknown filters.
pub(super) fn among_all(op: &Op) -> Option<Marker> {
    let mut marker = rest::marker(op)?;
    marker.list.request.query.clear();
    Some(marker)
}
