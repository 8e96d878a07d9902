//! AWS::EC2::NetworkInterface: a port on a VPC's subnet that a server can be given.

use super::key_value;
use super::network::{built, by_name, look, rest_spec};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::{lookup, rest};
use kiln_cloud::CallPath;
use kiln_template::functions::step_into_attribute;
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn network_interface() -> ResourceType {
    ResourceType::new("AWS::EC2::NetworkInterface")
        .about("A port on a VPC's subnet that a server can be given.")
        .service(Service::Network)
        .props([
            prop("Description", Str, "Free text that describes the network interface."),
            prop("GroupSet", List, "IDs or names of security groups of the port; the project's default group if omitted.").updatable(),
            prop("PrivateIpAddress", Str, "Fixed IP address of the port; one is picked from the subnet if omitted."),
            prop("SourceDestCheck", Bool, "Whether traffic that is not from or to the port's own address is dropped; not supported.").unimplemented(),
            prop("SubnetId", Str, "Name or ID of the subnet that the port takes its address from.").required().is(SUBNET),
            prop("Tags", List, "Key and value labels of the network interface; tags are not supported.").each(key_value().unimplemented()),
        ])
        .attrs([attr("PrivateIpAddress", Str, "Fixed IP address of the port.")])
        .finder(by_name)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .attributes(|view, name, path| {
            let given = view.properties.get("PrivateIpAddress").filter(|it| !it.is_null());
            let shown = || {
                let ips = view.remote.as_map()?.get("fixed_ips")?.as_list()?;
                ips.first()?.as_map()?.get("ip_address")
            };
            let address = given.or_else(shown).unwrap_or(&Value::Null);
            Ok((name == "PrivateIpAddress").then(|| step_into_attribute(address, path)))
        })
        .rest(
            rest_spec("/ports", "port")
                .field("GroupSet", "security_groups")
                .unsent(["Description", "PrivateIpAddress", "SubnetId", "SourceDestCheck", "Tags"])
                .constant_field("admin_state_up", true)
                .finds("GroupSet", SECURITY_GROUP)
                .finds("SubnetId", SUBNET)
                .readiness(built()),
        )
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let id = op.text("SubnetId").unwrap_or_default().to_owned();
    let subnet = look(op, CallPath::from("/subnets").id(&id), "subnet").await?.unwrap_or_default();
    let mut fields = rest::new_fields(op, &spec);
    let mut address = json!({ "subnet_id": id });
    if let Some(given) = op.text("PrivateIpAddress") {
        address["ip_address"] = given.into();
    }
    fields.insert("network_id".into(), subnet["network_id"].clone());
    fields.insert("fixed_ips".into(), json!([address]));
    rest::create_with(op, fields).await
}

/// Updates the port. Without groups in the template it gets the default group of the project again.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let mut fields: Fields<String, Json> = rest::changed_fields(op, &spec);
    if fields.get("security_groups").is_some_and(Json::is_null) {
        let group = lookup::find_id(op, SECURITY_GROUP, "default").await?;
        fields.insert("security_groups".into(), json!([&*group]));
    }
    rest::update_with(op, fields).await
}
