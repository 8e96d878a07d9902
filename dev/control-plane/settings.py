"""The configuration files of the services."""
from layout import (BROKER, CONF, DATA, HOST, HYPERVISORS, PASSWORD, PIDS, PORTS, REGION, VENV, database,
                   url)


def write():
    """Write all configuration files."""
    keystone()
    glance()
    placement()
    nova()
    neutron()
    cinder()


def ini(name, sections):
    """Write a file with sections of options."""
    lines = []
    for section, options in sections.items():
        lines += [f"[{section}]", *(f"{key} = {value}" for key, value in options.items()), ""]
    path = CONF / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))
    return path


def data(*names):
    """Create the data directory of a service."""
    folder = DATA.joinpath(*names)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def login(user):
    """Return the credentials of a service user."""
    return {
        "auth_type": "password", "auth_url": url("keystone"), "username": user,
        "password": PASSWORD, "project_name": "service", "user_domain_id": "default",
        "project_domain_id": "default", "region_name": REGION,
    }


def usual(user, base):
    """Return the options that every service needs."""
    return {
        "database": {"connection": database(base), "max_pool_size": 5, "max_overflow": 40},
        "keystone_authtoken": {
            **login(user), "www_authenticate_uri": url("keystone"),
            "memcached_servers": f"{HOST}:{PORTS['memcached']}",
            "service_token_roles": "service", "service_token_roles_required": "true",
        },
        "oslo_concurrency": {"lock_path": PIDS},
        "oslo_messaging_notifications": {"driver": "noop"},
    }


def keystone():
    """Configure Keystone."""
    ini("keystone.conf", {
        "database": {"connection": database("keystone")},
        "token": {"provider": "fernet", "expiration": 14400},
        "fernet_tokens": {"key_repository": CONF / "fernet-keys"},
        "credential": {"key_repository": CONF / "credential-keys"},
        "identity": {"password_hash_rounds": 4},
        "cache": {"enabled": "true", "backend": "dogpile.cache.memcached",
                  "memcache_servers": f"{HOST}:{PORTS['memcached']}"},
    })


def glance():
    """Configure Glance, with images in files."""
    paste = VENV / "etc/glance/glance-api-paste.ini"
    ini("glance/glance-api.conf", {
        "DEFAULT": {"enabled_backends": "files:file", "transport_url": BROKER,
                    "worker_self_reference_url": url("glance")},
        "glance_store": {"default_backend": "files"},
        "files": {"filesystem_store_datadir": data("glance", "images")},
        "os_glance_staging_store": {"filesystem_store_datadir": data("glance", "staging")},
        "os_glance_tasks_store": {"filesystem_store_datadir": data("glance", "tasks")},
        "paste_deploy": {"flavor": "keystone", "config_file": paste},
        **usual("glance", "glance"),
    })


def placement():
    """Configure Placement."""
    base = {"connection": database("placement"), "max_pool_size": 5, "max_overflow": 40}
    ini("placement/placement.conf", {
        "api": {"auth_strategy": "keystone"}, "placement_database": base,
        "keystone_authtoken": usual("placement", "placement")["keystone_authtoken"],
    })


def nova():
    """Configure Nova, with hypervisors that run nothing."""
    for host in ("controller", *HYPERVISORS):
        sections = {
            "DEFAULT": {
                "host": host, "my_ip": HOST, "state_path": data("nova", host),
                "transport_url": BROKER, "compute_driver": "kiln.Hypervisor",
                "allow_resize_to_same_host": "true", "sync_power_state_interval": -1,
                "heal_instance_info_cache_interval": -1, "osapi_max_limit": 1000,
                "block_device_allocate_retries_interval": 1, "report_interval": 10,
                "service_down_time": 60,
            },
            "api": {"auth_strategy": "keystone"},
            "api_database": {"connection": database("nova_api"), "max_pool_size": 5, "max_overflow": 40},
            **usual("nova", "nova"),
            "service_user": {"send_service_user_token": "true", **login("nova")},
            "placement": login("placement"),
            "neutron": {**login("neutron"), "service_metadata_proxy": "true",
                        "metadata_proxy_shared_secret": PASSWORD},
            "glance": login("glance"),
            "cinder": {**login("cinder"), "os_region_name": REGION, "catalog_info": "volumev3::publicURL"},
            "vnc": {"enabled": "true", "novncproxy_base_url": f"http://{HOST}/vnc"},
            "conductor": {"workers": 1},
            "scheduler": {"workers": 1},
            "filter_scheduler": {"enabled_filters": ",".join((
                "ComputeFilter", "ComputeCapabilitiesFilter", "ImagePropertiesFilter",
                "ServerGroupAntiAffinityFilter", "ServerGroupAffinityFilter"))},
            "quota": {kind: -1 for kind in (
                "instances", "cores", "ram", "key_pairs", "server_groups", "server_group_members")},
            "vif_plug_ovs_privileged": {"helper_command": VENV / "bin/privsep-helper"},
        }
        if host in HYPERVISORS:
            # Nova requires hypervisors to use the database through the conductor only.
            del sections["database"], sections["api_database"]
        ini(f"nova/{host}.conf", sections)
    sections = (CONF / "nova/controller.conf").read_text()
    cell0 = sections.replace(f"{database('nova')}\n", f"{database('nova_cell0')}\n")
    (CONF / "nova/cell0.conf").write_text(cell0)


def neutron():
    """Configure Neutron, with networks that have no data plane."""
    ini("neutron/neutron.conf", {
        "DEFAULT": {
            "host": "controller", "state_path": data("neutron"), "transport_url": BROKER,
            "core_plugin": "ml2", "api_paste_config": VENV / "etc/neutron/api-paste.ini",
            "service_plugins": "router,qos,trunk,port_forwarding,segments,metering",
            "rpc_workers": 0, "dns_domain": "kiln.test.", "dhcp_agent_notification": "false",
        },
        **usual("neutron", "neutron"),
        "nova": login("nova"),
        "placement": login("placement"),
        "ml2": {
            "type_drivers": "flat,vlan,vxlan,local", "tenant_network_types": "vxlan",
            # The first driver binds no ports without its agents, but QoS and trunks require it.
            "mechanism_drivers": "openvswitch,kiln",
            "extension_drivers": "port_security,qos,dns_domain_ports",
        },
        "ml2_type_flat": {"flat_networks": "*"},
        "ml2_type_vlan": {"network_vlan_ranges": "physnet1:1:1000"},
        "ml2_type_vxlan": {"vni_ranges": "1:2000"},
        "securitygroup": {"enable_security_group": "true", "enable_ipset": "false"},
        "quotas": {"default_quota": -1, **{f"quota_{kind}": -1 for kind in (
            "network", "subnet", "port", "router", "floatingip", "security_group",
            "security_group_rule")}},
    })


def cinder():
    """Configure Cinder, with volumes that are empty files."""
    ini("cinder/cinder.conf", {
        "DEFAULT": {
            "host": "controller", "my_ip": HOST, "state_path": data("cinder"),
            "transport_url": BROKER, "auth_strategy": "keystone",
            "api_paste_config": VENV / "etc/cinder/api-paste.ini",
            "resource_query_filters_file": VENV / "etc/cinder/resource_filters.json",
            "enabled_backends": "files", "default_availability_zone": "nova",
            "storage_availability_zone": "nova", "glance_api_servers": url("glance"),
            "quota_volumes": -1, "quota_snapshots": -1, "quota_gigabytes": -1,
            "report_interval": 10, "service_down_time": 60,
        },
        "files": {"volume_driver": "kiln_fakes.volume.EmptyFiles", "volume_backend_name": "files",
                  "kiln_folder": data("cinder", "volumes")},
        "coordination": {"backend_url": f"file://{data('cinder', 'coordination')}"},
        **usual("cinder", "cinder"),
        "nova": {**login("nova"), "interface": "internal"},
        "service_user": {"send_service_user_token": "true", **login("cinder")},
    })
