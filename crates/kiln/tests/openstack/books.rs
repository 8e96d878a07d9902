//! Everything there is in a real OpenStack, service by service, as an administrator sees it.

use crate::cloud::kiln_process::{KilnProcess, Objects, Who};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// A collection: type of service, path, the name of the list, the member that tells objects apart.
const COLLECTIONS: &[(&str, &str, &str, &str)] = &[
    ("compute", "/flavors?is_public=None", "flavors", "id"),
    ("compute", "/os-aggregates", "aggregates", "id"),
    ("compute", "/os-server-groups?all_projects=True", "server_groups", "id"),
    ("compute", "/servers?all_tenants=1", "servers", "id"),
    ("image", "/v2/images?limit=1000", "images", "id"),
    ("network", "/v2.0/address-scopes", "address_scopes", "id"),
    ("network", "/v2.0/floatingips", "floatingips", "id"),
    ("network", "/v2.0/metering/metering-label-rules", "metering_label_rules", "id"),
    ("network", "/v2.0/metering/metering-labels", "metering_labels", "id"),
    ("network", "/v2.0/networks", "networks", "id"),
    ("network", "/v2.0/ports", "ports", "id"),
    ("network", "/v2.0/qos/policies", "policies", "id"),
    ("network", "/v2.0/rbac-policies", "rbac_policies", "id"),
    ("network", "/v2.0/routers", "routers", "id"),
    ("network", "/v2.0/security-group-rules", "security_group_rules", "id"),
    ("network", "/v2.0/security-groups", "security_groups", "id"),
    ("network", "/v2.0/segments", "segments", "id"),
    ("network", "/v2.0/subnetpools", "subnetpools", "id"),
    ("network", "/v2.0/subnets", "subnets", "id"),
    ("network", "/v2.0/trunks", "trunks", "id"),
    ("volumev3", "/attachments?all_tenants=1", "attachments", "id"),
    ("volumev3", "/qos-specs", "qos_specs", "id"),
    ("volumev3", "/snapshots?all_tenants=1", "snapshots", "id"),
    ("volumev3", "/types", "volume_types", "id"),
    ("volumev3", "/volumes?all_tenants=1", "volumes", "id"),
];

impl KilnProcess {
    /// The ids of everything in the services of a real cloud.
    pub(crate) async fn books(&self) -> Objects {
        let mut objects = Objects::new();
        for (kind, path, many, key) in COLLECTIONS {
            let found = self.listed(Who::Admin, kind, path, many).await;
            let ids =
                found.iter().map(|it| it[key].as_str().map_or(it[key].to_string(), str::to_owned));
            objects.insert(format!("{kind}.{many}"), ids.collect());
        }
        // Keys belong to users, and everybody sees only their own.
        for who in [Who::Demo, Who::Admin] {
            let keys = self.listed(who, "compute", "/os-keypairs", "keypairs").await;
            let names = keys.iter().map(|it| it["keypair"]["name"].to_string()).collect();
            objects.insert(format!("compute.keypairs of {who:?}"), names);
        }
        objects.insert("placement.allocations".into(), self.allocations().await);
        objects
    }

    /// The consumers of allocations on hypervisors.
    async fn allocations(&self) -> BTreeSet<String> {
        let mut users = BTreeSet::new();
        let kind = "placement";
        for provider in
            self.listed(Who::Admin, kind, "/resource_providers", "resource_providers").await
        {
            let id = provider["uuid"].as_str().expect("an id");
            let path = format!("/resource_providers/{id}/allocations");
            let reply = self.service(Who::Admin, "GET", kind, &path).await;
            users.extend(
                reply.body["allocations"].as_object().into_iter().flatten().map(|it| it.0.clone()),
            );
        }
        users
    }

    /// The objects in a collection.
    pub(crate) async fn listed(&self, who: Who, kind: &str, path: &str, many: &str) -> Vec<Json> {
        let reply = self.service(who, "GET", kind, path).await;
        let found = reply.body[many].as_array();
        found.cloned().unwrap_or_else(|| panic!("{kind}{path}: {} {}", reply.status, reply.body))
    }
}
