//! The collections below a load balancer and their fields.

use serde_json::{Value, json};

use super::super::error_style::refuse;
use super::super::network::{PORTS, SUBNETS, internal, ports::PORT};
use super::super::request::{Done, RequestContext, list, set, text};
use super::super::schema::Collection;
use super::super::table::Obj;
use super::tree;
use super::{BALANCERS, LISTENERS, MEMBERS, MONITORS, OCTAVIA, POLICIES, POOLS, RULES};

/// The fields that all of these collections have.
macro_rules! common {
    () => {
        "
        name                text cu \"\"
        description         text cu \"\"
        admin_state_up      bool cu true
        tags                list cu []
        project_id          text c  @project
        provisioning_status text r  \"PENDING_CREATE\"
        operating_status    text r  \"OFFLINE\"
        created_at          text r  null
        updated_at          text r  null"
    };
}

const fn child() -> Collection {
    Collection {
        make: |ctx, row| tree::join(ctx, row),
        change: |ctx, old, new, _| tree::alter(ctx, old, new),
        remove: |ctx, row| tree::leave(ctx, row),
        lingers: true,
        show: |ctx, row| tree::show(ctx, row),
        ..Collection::new(&OCTAVIA)
    }
}

pub(super) static BALANCER: Collection = Collection {
    name: BALANCERS,
    path: "loadbalancers",
    singular: "loadbalancer",
    plural: "loadbalancers",
    title: "Load Balancer",
    quota: Some(("load_balancer", -1)),
    fields: concat!(
        "vip_address       ip   c  -
         vip_subnet_id     text c  null
         vip_network_id    text c  null
         vip_port_id       text c  null
         vip_qos_policy_id text cu null
         vip_vnic_type     text r  \"normal\"
         vip_sg_ids        list cu []
         additional_vips   list c  []
         provider          text c  \"amphora\"
         flavor_id         text c  null
         availability_zone text c  null",
        common!()
    ),
    make: vip,
    ..child()
};

/// Creates or adopts the port of the virtual IP address.
fn vip(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let bad = |message: &str| Err(refuse(400, message));
    let id = text(row, "id").to_owned();
    let owner = "Octavia";
    let port = if let Some(port) = row["vip_port_id"].as_str().map(str::to_owned) {
        let found = ctx.state.copy(PORTS, &port);
        if found.is_empty() {
            return bad(&format!("Port {port} not found."));
        }
        ctx.state.set(
            PORTS,
            &port,
            json!({ "device_owner": owner, "device_id": format!("lb-{id}") }),
        );
        found
    } else {
        let subnet = row["vip_subnet_id"].as_str().map(|subnet| ctx.state.copy(SUBNETS, subnet));
        let network = match (&subnet, row["vip_network_id"].as_str()) {
            (Some(subnet), _) if subnet.is_empty() => {
                return bad(&format!("Subnet {} not found.", text(row, "vip_subnet_id")));
            }
            (Some(subnet), _) => subnet["network_id"].clone(),
            (None, Some(network)) => json!(network),
            (None, None) => {
                return bad(
                    "Validation failure: VIP must contain one of: vip_port_id, vip_subnet_id, vip_network_id.",
                );
            }
        };
        let mut port = json!({
            "network_id": network, "name": format!("octavia-lb-{id}"), "device_id": format!("lb-{id}"),
            "device_owner": owner, "admin_state_up": false,
        });
        let mut ip = json!({});
        if let Some(subnet) = row["vip_subnet_id"].as_str() {
            ip["subnet_id"] = json!(subnet);
        }
        if let Some(address) = row.get("vip_address").and_then(Value::as_str) {
            ip["ip_address"] = json!(address);
        }
        if ip != json!({}) {
            port["fixed_ips"] = json!([ip]);
        }
        let project = text(row, "project_id").to_owned();
        internal(ctx, &PORT, port, &project).map_err(|failed| refuse(400, failed.message))?
    };
    let first = list(&port, "fixed_ips").first().cloned().unwrap_or_default();
    set(row, "vip_port_id", port["id"].clone());
    set(row, "vip_network_id", port["network_id"].clone());
    set(row, "vip_subnet_id", first["subnet_id"].clone());
    set(row, "vip_address", first["ip_address"].clone());
    tree::begin(ctx, BALANCERS, row);
    Ok(())
}

pub(super) static LISTENER: Collection = Collection {
    name: LISTENERS,
    path: "listeners",
    singular: "listener",
    plural: "listeners",
    title: "Listener",
    quota: Some(("listener", -1)),
    fields: concat!(
        "loadbalancer_id           ref:load-balancer/loadbalancers c !
         protocol                  enum:HTTP|HTTPS|TCP|TERMINATED_HTTPS|UDP|SCTP|PROMETHEUS c !
         protocol_port             int  c  !
         connection_limit          int  cu -1
         default_pool_id           ref:load-balancer/pools cu null
         default_tls_container_ref text cu null
         sni_container_refs        list cu []
         insert_headers            map  cu {}
         timeout_client_data       int  cu 50000
         timeout_member_connect    int  cu 5000
         timeout_member_data       int  cu 50000
         timeout_tcp_inspect       int  cu 0
         client_ca_tls_container_ref text cu null
         client_authentication     text cu \"NONE\"
         client_crl_container_ref  text cu null
         allowed_cidrs             list cu null
         tls_ciphers               text cu null
         tls_versions              list cu []
         alpn_protocols            list cu []
         hsts_max_age              int  cu null
         hsts_include_subdomains   bool cu false
         hsts_preload              bool cu false",
        common!()
    ),
    make: |ctx, row| {
        let siblings =
            ctx.state.table(LISTENERS).with("loadbalancer_id", text(row, "loadbalancer_id"));
        let kind = |row: &Obj| if text(row, "protocol") == "UDP" { "UDP" } else { "TCP" };
        if siblings
            .iter()
            .any(|other| other["protocol_port"] == row["protocol_port"] && kind(other) == kind(row))
        {
            return Err(refuse(
                409,
                format!(
                    "Another Listener on this Load Balancer is already using protocol {} and protocol_port {}",
                    text(row, "protocol"),
                    row["protocol_port"]
                ),
            ));
        }
        if text(row, "protocol") == "TERMINATED_HTTPS"
            && row["default_tls_container_ref"].is_null()
            && list(row, "sni_container_refs").is_empty()
        {
            return Err(refuse(
                400,
                "An SNI or default container is required with TERMINATED_HTTPS protocol.",
            ));
        }
        tree::join(ctx, row)
    },
    ..child()
};

pub(super) static POOL: Collection = Collection {
    name: POOLS,
    path: "pools",
    singular: "pool",
    plural: "pools",
    title: "Pool",
    quota: Some(("pool", -1)),
    fields: concat!(
        "loadbalancer_id     ref:load-balancer/loadbalancers c null
         listener_id         ref:load-balancer/listeners c -
         protocol            enum:HTTP|HTTPS|PROXY|PROXYV2|TCP|UDP|SCTP c !
         lb_algorithm        enum:ROUND_ROBIN|LEAST_CONNECTIONS|SOURCE_IP|SOURCE_IP_PORT cu !
         session_persistence map  cu null
         tls_enabled         bool cu false
         tls_container_ref   text cu null
         ca_tls_container_ref text cu null
         crl_container_ref   text cu null
         tls_ciphers         text cu null
         tls_versions        list cu []
         alpn_protocols      list cu []",
        common!()
    ),
    make: |ctx, row| {
        let listener = ctx.state.copy(LISTENERS, text(row, "listener_id"));
        if row["loadbalancer_id"].is_null() {
            if listener.is_empty() {
                return Err(refuse(
                    400,
                    "Validation failure: Must provide at least one of: loadbalancer_id, listener_id.",
                ));
            }
            set(row, "loadbalancer_id", listener["loadbalancer_id"].clone());
        }
        if !listener.is_empty() && !listener["default_pool_id"].is_null() {
            return Err(refuse(
                409,
                format!("Listener {} already has a default pool.", text(&listener, "id")),
            ));
        }
        tree::join(ctx, row)?;
        if !listener.is_empty() {
            let id = row["id"].clone();
            ctx.state.set(LISTENERS, text(&listener, "id"), json!({ "default_pool_id": id }));
            row.remove("listener_id");
        }
        Ok(())
    },
    ..child()
};

pub(super) static MEMBER: Collection = Collection {
    name: MEMBERS,
    path: "pools/{pool_id}/members",
    singular: "member",
    plural: "members",
    title: "Member",
    parent: Some(POOLS),
    index: &["pool_id"],
    quota: Some(("member", -1)),
    fields: concat!(
        "pool_id         text c  !
         address         ip   c  !
         protocol_port   int  c  !
         subnet_id       text c  null
         weight          int  cu 1
         backup          bool cu false
         monitor_address ip   cu null
         monitor_port    int  cu null
         vnic_type       text r  \"normal\"",
        common!()
    ),
    make: |ctx, row| {
        let siblings = ctx.state.table(MEMBERS).with("pool_id", text(row, "pool_id"));
        if siblings.iter().any(|other| {
            other["address"] == row["address"] && other["protocol_port"] == row["protocol_port"]
        }) {
            return Err(refuse(
                409,
                format!(
                    "Another member on this pool is already using ip {} on protocol_port {}",
                    text(row, "address"),
                    row["protocol_port"]
                ),
            ));
        }
        tree::join(ctx, row)
    },
    ..child()
};

pub(super) static MONITOR: Collection = Collection {
    name: MONITORS,
    path: "healthmonitors",
    singular: "healthmonitor",
    plural: "healthmonitors",
    title: "Health Monitor",
    quota: Some(("health_monitor", -1)),
    fields: concat!(
        "pool_id          ref:load-balancer/pools c !
         type             enum:HTTP|HTTPS|PING|TCP|TLS-HELLO|UDP-CONNECT|SCTP c !
         delay            int  cu !
         timeout          int  cu !
         max_retries      int  cu !
         max_retries_down int  cu 3
         http_method      text cu null
         url_path         text cu null
         expected_codes   text cu null
         http_version     number cu null
         domain_name      text cu null",
        common!()
    ),
    make: |ctx, row| {
        if ctx.state.table(MONITORS).count("pool_id", text(row, "pool_id")) > 0 {
            return Err(refuse(409, "This pool already has a health monitor."));
        }
        if text(row, "type").starts_with("HTTP") {
            for (field, usual) in
                [("http_method", "GET"), ("url_path", "/"), ("expected_codes", "200")]
            {
                if row[field].is_null() {
                    set(row, field, usual);
                }
            }
        }
        tree::join(ctx, row)
    },
    ..child()
};

pub(super) static POLICY: Collection = Collection {
    name: POLICIES,
    path: "l7policies",
    singular: "l7policy",
    plural: "l7policies",
    title: "L7Policy",
    quota: Some(("l7policy", -1)),
    fields: concat!(
        "listener_id        ref:load-balancer/listeners c !
         action             enum:REDIRECT_TO_POOL|REDIRECT_TO_URL|REDIRECT_PREFIX|REJECT cu !
         position           int  cu 1
         redirect_pool_id   ref:load-balancer/pools cu null
         redirect_url       text cu null
         redirect_prefix    text cu null
         redirect_http_code int  cu null",
        common!()
    ),
    make: |ctx, row| {
        let needed = match text(row, "action") {
            "REDIRECT_TO_POOL" => "redirect_pool_id",
            "REDIRECT_TO_URL" => "redirect_url",
            "REDIRECT_PREFIX" => "redirect_prefix",
            _ => "",
        };
        if !needed.is_empty() && row[needed].is_null() {
            return Err(refuse(400, format!("Validation failure: Missing attribute {needed}.")));
        }
        tree::join(ctx, row)
    },
    ..child()
};

pub(super) static RULE: Collection = Collection {
    name: RULES,
    path: "l7policies/{l7policy_id}/rules",
    singular: "rule",
    plural: "rules",
    title: "L7Rule",
    parent: Some(POLICIES),
    index: &["l7policy_id"],
    quota: Some(("l7rule", -1)),
    fields: concat!(
        "l7policy_id  text c  !
         type         enum:HOST_NAME|PATH|FILE_TYPE|HEADER|COOKIE|SSL_CONN_HAS_CERT|SSL_VERIFY_RESULT|SSL_DN_FIELD cu !
         compare_type enum:REGEX|STARTS_WITH|ENDS_WITH|CONTAINS|EQUAL_TO cu !
         key          text cu null
         value        text cu !
         invert       bool cu false",
        common!()
    ),
    ..child()
};

/// Returns the base of collections that only administrators change and that do not belong to a load balancer.
const fn offer() -> Collection {
    Collection { admin_only: true, ..Collection::new(&OCTAVIA) }
}

fn in_use(
    ctx: &RequestContext<'_>,
    table: &str,
    field: &'static str,
    key: &str,
    what: &str,
) -> Done {
    let uses = ctx.state.table(table).iter().any(|row| text(row, field) == key);
    if uses {
        return Err(refuse(409, format!("{what} {key} is in use and cannot be modified.")));
    }
    Ok(())
}

pub(super) static FLAVOR: Collection = Collection {
    name: "load-balancer/flavors",
    path: "flavors",
    singular: "flavor",
    plural: "flavors",
    title: "Flavor",
    fields: "name              text cu !
             description       text cu \"\"
             enabled           bool cu true
             flavor_profile_id ref:load-balancer/flavorprofiles c !",
    remove: |ctx, row| in_use(ctx, BALANCERS, "flavor_id", text(row, "id"), "Flavor"),
    ..offer()
};

pub(super) static FLAVOR_PROFILE: Collection = Collection {
    name: "load-balancer/flavorprofiles",
    path: "flavorprofiles",
    singular: "flavorprofile",
    plural: "flavorprofiles",
    title: "Flavor Profile",
    fields: "name          text cu !
             provider_name text cu !
             flavor_data   text cu !",
    remove: |ctx, row| {
        in_use(ctx, FLAVOR.name, "flavor_profile_id", text(row, "id"), "Flavor profile")
    },
    ..offer()
};

pub(super) static ZONE: Collection = Collection {
    name: "load-balancer/availabilityzones",
    path: "availabilityzones",
    singular: "availability_zone",
    plural: "availability_zones",
    title: "Availability Zone",
    key: "name",
    fields: "name        text c  !
             description text cu \"\"
             enabled     bool cu true
             availability_zone_profile_id ref:load-balancer/availabilityzoneprofiles c !",
    make: |ctx, row| {
        let name = text(row, "name");
        if ctx.state.get(ZONE.name, name).is_some() {
            return Err(refuse(409, format!("A availability zone of {name} already exists.")));
        }
        Ok(())
    },
    remove: |ctx, row| {
        in_use(ctx, BALANCERS, "availability_zone", text(row, "name"), "Availability Zone")
    },
    show: |_, row| {
        row.remove("id");
    },
    ..offer()
};

pub(super) static ZONE_PROFILE: Collection = Collection {
    name: "load-balancer/availabilityzoneprofiles",
    path: "availabilityzoneprofiles",
    singular: "availability_zone_profile",
    plural: "availability_zone_profiles",
    title: "Availability Zone Profile",
    fields: "name                   text cu !
             provider_name          text cu !
             availability_zone_data text cu !",
    ..offer()
};
