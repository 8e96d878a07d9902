//! The common parts of database instances and clusters.

use crate::declare::*;
use crate::lookup::{self, rules::DATASTORE};
use crate::op::{Op, OpError};
use crate::property_access::{items, open, text};
use crate::refusals::{holds, may_be_given};
use serde_json::{Map as Fields, Value as Json, json};

/// The networks of an instance, as fields of the request.
pub(super) async fn nics(op: &mut Op, properties: &Members) -> Result<Vec<Json>, OpError> {
    let mut nics = Vec::new();
    for network in items(properties, "networks").iter().filter_map(|it| open(it).as_map()) {
        let mut nic = json!({});
        if let Some(given) = text(network, "network") {
            nic["net-id"] = (*lookup::find_id(op, NETWORK, given).await?).into();
        }
        if let Some(given) = text(network, "port") {
            nic["port-id"] = (*lookup::find_id(op, PORT, given).await?).into();
        }
        if let Some(address) = text(network, "fixed_ip") {
            nic["v4-fixed-ip"] = address.into();
        }
        nics.push(nic);
    }
    Ok(nics)
}

/// Combines the properties of the datastore into one field.
pub(super) fn datastore(op: &Op, fields: &mut Fields<String, Json>) {
    let (kind, version) = (fields.remove("datastore_type"), fields.remove("datastore_version"));
    let mut datastore = Fields::new();
    datastore.extend(kind.map(|kind| ("type".to_owned(), kind)));
    datastore.extend(version.map(|version| ("version".to_owned(), version)));
    if !datastore.is_empty() && op.id().is_none() {
        fields.insert("datastore".into(), Json::Object(datastore));
    }
}

/// Checks that the datastore exists; unknown values pass.
pub(super) fn check_datastore(
    members: &Members,
    siblings: &dyn SiblingDefinitions,
) -> Result<(), PropertyError> {
    let (kind, version) = (text(members, "datastore_type"), text(members, "datastore_version"));
    match (kind, version) {
        (Some(kind), Some(version)) => holds(siblings, DATASTORE, &format!("{kind}/{version}")),
        (None, Some(_)) if !may_be_given(members, "datastore_type") => {
            Err(PropertyError::new("Not allowed - datastore_version without datastore_type."))
        }
        _ => Ok(()),
    }
}

/// Checks that every entry has either a network or a port; unknown values pass.
pub(super) fn check_networks(members: &Members) -> Result<(), PropertyError> {
    for network in items(members, "networks").iter().filter_map(|it| open(it).as_map()) {
        let is_named = crate::refusals::is_given(network, "network");
        let has_port = crate::refusals::is_given(network, "port");
        if is_named && has_port {
            return Err(crate::refusals::conflict(&["network", "port"]));
        }
        if is_named == has_port && !["network", "port"].iter().any(|name| is_unknown(network, name))
        {
            return Err(PropertyError::new("Either network or port must be provided."));
        }
    }
    Ok(())
}

fn is_unknown(members: &Members, name: &str) -> bool {
    members.get(name).map(open).is_some_and(|value| value.unknown().is_some())
}
