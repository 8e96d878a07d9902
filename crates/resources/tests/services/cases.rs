//! What each type is created with, and what it is updated to.

use super::rest::Rest;
use kiln_cloud::Method;
use serde_json::json;

/// A life.
pub(super) struct Case {
    pub(super) kind: &'static str,
    pub(super) first: &'static str,
    pub(super) then: &'static str,
    /// What there is before.
    pub(super) world: fn(Rest) -> Rest,
}

const fn case(kind: &'static str, first: &'static str, then: &'static str) -> Case {
    Case { kind, first, then, world: |rest| rest }
}

impl Case {
    const fn with(self, world: fn(Rest) -> Rest) -> Case {
        Case { world, ..self }
    }
}

/// A cloud with a domain, a project, a role, a group and so on, each called as its id.
fn identity(rest: Rest) -> Rest {
    let named = |name: &str| json!({ "id": name, "name": name });
    rest.with("/domains/default", named("default"))
        .with("/projects/p1", named("p1"))
        .with("/roles/r1", named("r1"))
        .with("/roles/r2", named("r2"))
        .with("/groups/g1", named("g1"))
        .with("/groups/g2", named("g2"))
        .with("/users/u1", named("u1"))
        .with("/services/s1", named("s1"))
        .with("/regions/one", json!({ "id": "one" }))
}

/// A service that is not done with something else yet.
fn busy(mut rest: Rest) -> Rest {
    rest.busy = vec![(Method::Post, ""), (Method::Put, ""), (Method::Delete, "")];
    rest
}

/// A service whose ids are addresses.
fn addresses(mut rest: Rest) -> Rest {
    rest.addresses = Some("http://key/v1");
    rest
}

/// A service that signs what it is asked to.
fn signing(mut rest: Rest) -> Rest {
    let signed = json!({ "signature": "s", "expires": "2030-01-01T00:00:00", "paths": ["/v2/queues/q/messages"],
                         "methods": ["GET"], "project": "p" });
    rest.answers = vec![(Method::Post, "/share", signed)];
    rest
}

/// A service that takes actions and makes nothing of them.
fn acting(mut rest: Rest) -> Rest {
    rest.answers = vec![(Method::Post, "/action", json!({ "access_list": [] }))];
    rest
}

const TEMPLATE_OF_CLUSTERS: (&str, &str) = (
    r#"{"coe": "kubernetes", "image": "i", "external_network": "00000000000000000000000000000001"}"#,
    r#"{"coe": "kubernetes", "image": "i", "external_network": "00000000000000000000000000000001", "public": true}"#,
);

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    case("OS::Keystone::Domain", r#"{"name": "d"}"#, r#"{"name": "e", "description": "mine"}"#).with(identity),
    case(
        "OS::Keystone::Endpoint",
        r#"{"interface": "public", "service": "s1", "region": "one", "url": "http://a"}"#,
        r#"{"interface": "public", "service": "s1", "region": "one", "url": "http://b"}"#,
    ).with(identity),
    case(
        "OS::Keystone::Group",
        r#"{"domain": "default", "roles": [{"role": "r1", "project": "p1"}]}"#,
        r#"{"domain": "default", "name": "g", "roles": [{"role": "r2", "domain": "default"}]}"#,
    ).with(identity),
    case(
        "OS::Keystone::GroupRoleAssignment",
        r#"{"group": "g1", "roles": [{"role": "r1", "project": "p1"}]}"#,
        r#"{"group": "g2", "roles": [{"role": "r1", "project": "p1"}, {"role": "r2", "domain": "default"}]}"#,
    ).with(identity),
    case("OS::Keystone::Project", r#"{"domain": "default"}"#, r#"{"domain": "default", "enabled": false}"#).with(identity),
    case("OS::Keystone::Region", r#"{"id": "two"}"#, r#"{"id": "two", "description": "mine"}"#).with(identity),
    case("OS::Keystone::Region", r#"{"description": "a"}"#, r#"{"description": "b", "parent_region": "one"}"#).with(identity),
    case("OS::Keystone::Role", r#"{"name": "r", "domain": "default"}"#, r#"{"name": "s", "domain": "default"}"#).with(identity),
    case("OS::Keystone::Service", r#"{"type": "t", "name": "n", "description": "d"}"#, r#"{"type": "u"}"#).with(identity),
    case(
        "OS::Keystone::User",
        r#"{"domain": "default", "groups": ["g1"], "roles": [{"role": "r1", "project": "p1"}], "password": "x"}"#,
        r#"{"domain": "default", "groups": ["g2"], "roles": [], "email": "a@b.c", "password": "y"}"#,
    ).with(identity),
    case(
        "OS::Keystone::UserRoleAssignment",
        r#"{"user": "u1", "roles": [{"role": "r1", "project": "p1"}]}"#,
        r#"{"user": "u1", "roles": [{"role": "r2", "domain": "default"}]}"#,
    ).with(identity),
    case(
        "OS::Octavia::AvailabilityZone",
        r#"{"name": "az", "availability_zone_profile": "00000000000000000000000000000001"}"#,
        r#"{"name": "az", "availability_zone_profile": "00000000000000000000000000000001", "enabled": false}"#,
    ),
    case("OS::Octavia::AvailabilityZoneProfile", r#"{"name": "p", "availability_zone_data": "{}"}"#, r#"{"name": "q", "availability_zone_data": "{}"}"#),
    case(
        "OS::Octavia::Flavor",
        r#"{"flavor_profile": "00000000000000000000000000000001"}"#,
        r#"{"flavor_profile": "00000000000000000000000000000001", "description": "d"}"#,
    ),
    case("OS::Octavia::FlavorProfile", r#"{"flavor_data": "{}", "provider_name": "amphora"}"#, r#"{"flavor_data": "{\"a\": 1}", "provider_name": "amphora"}"#),
    case(
        "OS::Octavia::HealthMonitor",
        r#"{"pool": "00000000000000000000000000000001", "type": "HTTP", "delay": 1, "max_retries": 2, "timeout": 3}"#,
        r#"{"pool": "00000000000000000000000000000001", "type": "HTTP", "delay": 2, "max_retries": 2, "timeout": 3}"#,
    ).with(busy),
    case(
        "OS::Octavia::L7Policy",
        r#"{"listener": "00000000000000000000000000000001", "action": "REJECT"}"#,
        r#"{"listener": "00000000000000000000000000000001", "action": "REDIRECT_TO_URL", "redirect_url": "http://a"}"#,
    ).with(busy),
    case(
        "OS::Octavia::L7Rule",
        r#"{"l7policy": "00000000000000000000000000000001", "compare_type": "EQUAL_TO", "type": "PATH", "value": "/"}"#,
        r#"{"l7policy": "00000000000000000000000000000001", "compare_type": "EQUAL_TO", "type": "PATH", "value": "/a"}"#,
    ).with(busy),
    case(
        "OS::Octavia::Listener",
        r#"{"loadbalancer": "00000000000000000000000000000001", "protocol": "HTTP", "protocol_port": 80}"#,
        r#"{"loadbalancer": "00000000000000000000000000000001", "protocol": "HTTP", "protocol_port": 80, "connection_limit": 7}"#,
    ).with(busy),
    case(
        "OS::Octavia::LoadBalancer",
        r#"{"vip_subnet": "00000000000000000000000000000001"}"#,
        r#"{"vip_subnet": "00000000000000000000000000000001", "name": "lb", "admin_state_up": false}"#,
    ),
    case(
        "OS::Octavia::Pool",
        r#"{"listener": "00000000000000000000000000000001", "lb_algorithm": "SOURCE_IP", "protocol": "HTTP", "session_persistence": {"type": "SOURCE_IP"}}"#,
        r#"{"listener": "00000000000000000000000000000001", "lb_algorithm": "ROUND_ROBIN", "protocol": "HTTP", "session_persistence": {"type": "SOURCE_IP"}}"#,
    ).with(busy),
    case(
        "OS::Octavia::PoolMember",
        r#"{"pool": "00000000000000000000000000000001", "address": "10.0.0.1", "protocol_port": 80}"#,
        r#"{"pool": "00000000000000000000000000000001", "address": "10.0.0.1", "protocol_port": 80, "weight": 5, "tags": ["a"]}"#,
    ).with(busy),
    case("OS::Octavia::Quota", r#"{"project": "p1", "pool": 5}"#, r#"{"project": "p1", "pool": 6, "member": 7}"#).with(identity),
    case("OS::Swift::Container", r#"{"X-Container-Meta": {"a": 1}, "X-Container-Read": ".r:*"}"#, r#"{}"#),
    case("AWS::S3::Bucket", r#"{"AccessControl": "PublicRead", "Tags": [{"Key": "k", "Value": "v"}]}"#, r#"{}"#),
    case("OS::Barbican::Secret", r#"{"payload": "x", "payload_content_type": "text/plain"}"#, r#"{}"#).with(addresses),
    case("OS::Barbican::Order", r#"{"type": "key", "algorithm": "aes", "bit_length": 256}"#, r#"{"type": "key"}"#).with(addresses),
    case("OS::Barbican::GenericContainer", r#"{"secrets": [{"name": "a", "ref": "http://key/v1/secrets/1"}]}"#, r#"{}"#).with(addresses),
    case("OS::Barbican::CertificateContainer", r#"{"certificate_ref": "http://key/v1/secrets/1"}"#, r#"{}"#).with(addresses),
    case("OS::Barbican::RSAContainer", r#"{"public_key_ref": "http://key/v1/secrets/1"}"#, r#"{}"#).with(addresses),
    case(
        "OS::Designate::Zone",
        r#"{"name": "example.com.", "email": "a@example.com"}"#,
        r#"{"name": "example.com.", "email": "b@example.com", "ttl": 60}"#,
    ),
    case(
        "OS::Designate::RecordSet",
        r#"{"zone": "00000000000000000000000000000001", "name": "a.example.com.", "type": "A", "records": ["10.0.0.1"], "description": "d"}"#,
        r#"{"zone": "00000000000000000000000000000001", "name": "a.example.com.", "type": "A", "records": ["10.0.0.2"], "description": "d"}"#,
    ),
    case("OS::Aodh::Alarm", r#"{"meter_name": "cpu", "threshold": 5, "matching_metadata": {"a": "b"}}"#, r#"{"meter_name": "cpu", "threshold": 6}"#),
    case(
        "OS::Aodh::CompositeAlarm",
        r#"{"composite_rule": {"operator": "or", "rules": [{"a": 1}, {"b": 2}]}}"#,
        r#"{"composite_rule": {"operator": "and", "rules": [{"a": 1}, {"b": 2}]}}"#,
    ),
    case("OS::Aodh::EventAlarm", r#"{"event_type": "a.*", "alarm_queues": ["q"]}"#, r#"{"event_type": "b.*"}"#),
    case("OS::Aodh::GnocchiAggregationByMetricsAlarm", r#"{"metrics": ["m"], "threshold": 5}"#, r#"{"metrics": ["m"], "threshold": 6}"#),
    case(
        "OS::Aodh::GnocchiAggregationByResourcesAlarm",
        r#"{"metric": "m", "query": "{}", "resource_type": "instance", "threshold": 5}"#,
        r#"{"metric": "m", "query": "{}", "resource_type": "instance", "threshold": 6}"#,
    ),
    case(
        "OS::Aodh::GnocchiResourcesAlarm",
        r#"{"metric": "m", "resource_id": "r", "resource_type": "instance", "threshold": 5}"#,
        r#"{"metric": "m", "resource_id": "r", "resource_type": "instance", "threshold": 6}"#,
    ),
    case(
        "OS::Aodh::LBMemberHealthAlarm",
        r#"{"pool": "00000000000000000000000000000001", "stack": "s", "autoscaling_group_id": "g"}"#,
        r#"{"pool": "00000000000000000000000000000001", "stack": "s", "autoscaling_group_id": "h"}"#,
    ),
    case("OS::Aodh::PrometheusAlarm", r#"{"query": "up", "threshold": 1}"#, r#"{"query": "up", "threshold": 2}"#),
    case("OS::Zaqar::Queue", r#"{"metadata": {"a": 1}}"#, r#"{"metadata": {"b": 2}}"#),
    case("OS::Zaqar::SignedQueueURL", r#"{"queue": "q", "ttl": 60, "paths": ["messages"]}"#, r#"{"queue": "q"}"#).with(signing),
    case(
        "OS::Zaqar::Subscription",
        r#"{"queue_name": "q", "subscriber": "http://a", "ttl": 60}"#,
        r#"{"queue_name": "q", "subscriber": "http://b", "ttl": 60}"#,
    ),
    case(
        "OS::Zaqar::MistralTrigger",
        r#"{"queue_name": "q", "workflow_id": "w", "ttl": 60}"#,
        r#"{"queue_name": "q", "workflow_id": "w", "ttl": 70, "input": {"a": 1}}"#,
    ).with(|rest| rest.with("/workflows/w", json!({ "id": "w" }))),
    case("OS::Manila::SecurityService", r#"{"type": "ldap", "name": "s", "description": "d"}"#, r#"{"type": "ldap", "server": "10.0.0.1"}"#),
    case(
        "OS::Manila::Share",
        r#"{"share_protocol": "NFS", "size": 1, "metadata": {"a": "b"}}"#,
        r#"{"share_protocol": "NFS", "size": 1, "name": "n", "metadata": {"a": "c"}}"#,
    ).with(acting),
    case(
        "OS::Manila::ShareNetwork",
        r#"{"neutron_subnet": "00000000000000000000000000000001"}"#,
        r#"{"neutron_subnet": "00000000000000000000000000000001", "security_services": ["00000000000000000000000000000002"]}"#,
    ).with(|rest| {
        let subnet = json!({ "id": "1", "network_id": "n1" });
        acting(rest).with("/subnets/00000000000000000000000000000001", subnet)
    }),
    case(
        "OS::Manila::ShareType",
        r#"{"name": "t", "driver_handles_share_servers": true, "extra_specs": {"a": "b"}}"#,
        r#"{"name": "t", "driver_handles_share_servers": true, "extra_specs": {}}"#,
    ),
    case(
        "OS::Mistral::CronTrigger",
        r#"{"pattern": "* * * * *", "workflow": {"name": "w", "input": {"a": 1}}}"#,
        r#"{"pattern": "* * * * *", "workflow": {"name": "w"}}"#,
    ),
    case(
        "OS::Mistral::Workflow",
        r#"{"type": "direct", "tasks": [{"name": "one", "action": "std.noop"}]}"#,
        r#"{"type": "direct", "tasks": [{"name": "two", "action": "std.noop"}]}"#,
    ),
    case("OS::Magnum::BayModel", TEMPLATE_OF_CLUSTERS.0, TEMPLATE_OF_CLUSTERS.1),
    case("OS::Magnum::ClusterTemplate", TEMPLATE_OF_CLUSTERS.0, TEMPLATE_OF_CLUSTERS.1),
    case(
        "OS::Magnum::Cluster",
        r#"{"cluster_template": "00000000000000000000000000000001", "node_count": 1}"#,
        r#"{"cluster_template": "00000000000000000000000000000001", "node_count": 2}"#,
    ),
    case("OS::Trove::Cluster", r#"{"datastore_type": "a", "datastore_version": "1", "instances": [{"flavor": "00000000000000000000000000000001", "volume_size": 1}]}"#, r#"{}"#).with(|mut rest| {
        rest.finish = Some(|object| {
            object["instances"] = json!([{ "status": "ACTIVE" }]);
            object["task"]["name"] = "NONE".into();
        });
        rest.with("/flavors/00000000000000000000000000000001", json!({ "id": "1" }))
    }),
    case("OS::Trove::Instance", r#"{"flavor": "f1", "size": 1}"#, r#"{"flavor": "f2", "size": 2, "name": "n"}"#).with(|rest| {
        let named = |name: &str| json!({ "id": name, "name": name });
        acting(rest).with("/flavors/f1", named("f1")).with("/flavors/f2", named("f2"))
    }),
    case(
        "OS::Zun::Container",
        r#"{"image": "cirros", "restart_policy": "on-failure:2", "mounts": [{"mount_path": "/a", "volume_size": 1}]}"#,
        r#"{"image": "cirros", "restart_policy": "on-failure:2", "mounts": [{"mount_path": "/a", "volume_size": 1}], "cpu": 0.5}"#,
    ).with(|mut rest| {
        rest.finish = Some(|object| object["status"] = "Running".into());
        rest
    }),
    case("OS::Blazar::Host", r#"{"name": "host", "extra_capability": {"gpu": "yes"}}"#, r#"{"name": "host"}"#).with(|mut rest| {
        rest.finish = Some(|object| object["hypervisor_hostname"] = object["name"].clone());
        rest
    }),
    case(
        "OS::Blazar::Lease",
        r#"{"name": "l", "start_date": "2030-01-01 00:00", "end_date": "2030-01-02 00:00", "reservations": [{"resource_type": "virtual:instance", "amount": 1, "min": 3}]}"#,
        r#"{"name": "l"}"#,
    ),
    case(
        "OS::Ironic::Port",
        r#"{"address": "AA:00:00:00:00:01", "node": "00000000000000000000000000000001"}"#,
        r#"{"address": "AA:00:00:00:00:01", "node": "00000000000000000000000000000001", "pxe_enabled": true}"#,
    ),
];
