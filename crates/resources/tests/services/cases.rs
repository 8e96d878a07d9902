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
];
