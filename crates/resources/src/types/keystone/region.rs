//! OS::Keystone::Region: a region of the cloud, possibly part of another.

use super::common::rest_spec;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest;
use kiln_cloud::put;
use serde_json::Value as Json;

pub(super) fn region() -> ResourceType {
    ResourceType::new("OS::Keystone::Region")
        .about("A region of the cloud, possibly part of another.")
        .service(Service::Identity)
        .entity("regions")
        .detects_drift()
        .since("6.0.0")
        .props([
            prop("description", Str, "Free text that describes the region.").updatable(),
            prop("enabled", Bool, "Whether the region is marked as in use.")
                .updatable()
                .default(true),
            prop(
                "id",
                Str,
                "ID of the region, such as `RegionOne`; the service chooses one if omitted.",
            ),
            prop("parent_region", Str, "Name or ID of the region that this one is part of.")
                .updatable()
                .is(REGION)
                .by_name(),
        ])
        .creates(|op| Box::pin(create(op)))
        .rest(
            rest_spec("/regions", "region")
                .field("parent_region", "parent_region_id")
                .mark_field("description"),
        )
}

/// Creates the region. One with an id in the template is created with PUT at its path, so it needs no mark.
async fn create(op: &mut Op) -> Result<(), OpError> {
    let (Some(id), Some(spec)) = (op.text("id").map(str::to_owned), op.rest_spec()) else {
        return rest::create(op).await;
    };
    if op.id().is_none() {
        let mut fields = rest::new_fields(op, &spec);
        fields.remove("id");
        if op.text("description").is_none_or(str::is_empty) {
            fields.remove("description");
        }
        let place = rest::collection(op, &spec).id_or_url(&id);
        let body = Json::from_iter([("region", Json::Object(fields))]);
        op.add("create", put(Service::Identity, place, body)).await?;
        op.set_id(id);
    }
    rest::until_ready(op).await
}
