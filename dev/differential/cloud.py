"""The control plane that both engines use: its users and projects, and the objects of a project in every service."""

import configparser
import os
import pathlib
import subprocess
import threading
import time

from rest import ask, call

TOKEN_LIFETIME = 1200

# Collections of objects that belong to a project: name, type of the service, path, key of the reply.
# The filter by project is applied to the reply, because not every service has one.
COLLECTIONS = [
    ("networks", "network", "/v2.0/networks", "networks"),
    ("subnets", "network", "/v2.0/subnets", "subnets"),
    ("ports", "network", "/v2.0/ports", "ports"),
    ("routers", "network", "/v2.0/routers", "routers"),
    ("security groups", "network", "/v2.0/security-groups", "security_groups"),
    ("floating IPs", "network", "/v2.0/floatingips", "floatingips"),
    ("trunks", "network", "/v2.0/trunks", "trunks"),
    ("QoS policies", "network", "/v2.0/qos/policies", "policies"),
    ("RBAC policies", "network", "/v2.0/rbac-policies", "rbac_policies"),
    ("subnet pools", "network", "/v2.0/subnetpools", "subnetpools"),
    ("address scopes", "network", "/v2.0/address-scopes", "address_scopes"),
    ("metering labels", "network", "/v2.0/metering/metering-labels", "metering_labels"),
    ("servers", "compute", "/servers/detail?all_tenants=1", "servers"),
    ("volumes", "block-storage", "/volumes/detail?all_tenants=1", "volumes"),
    ("snapshots", "block-storage", "/snapshots/detail?all_tenants=1", "snapshots"),
    ("backups", "block-storage", "/backups/detail?all_tenants=1", "backups"),
    ("images", "image", "/v2/images", "images"),
    ("load balancers", "load-balancer", "/v2/lbaas/loadbalancers", "loadbalancers"),
    ("pools", "load-balancer", "/v2/lbaas/pools", "pools"),
    ("listeners", "load-balancer", "/v2/lbaas/listeners", "listeners"),
    ("zones", "dns", "/v2/zones", "zones"),
]

# The services whose objects a family of types may make.
SERVICES = {
    "Cinder": ["block-storage"],
    "Designate": ["dns"],
    "EC2": ["network", "compute", "block-storage"],
    "AutoScaling": ["network", "compute", "block-storage"],
    "Glance": ["image"],
    "Neutron": ["network"],
    "Nova": ["network", "compute", "block-storage", "image"],
    "Octavia": ["network", "load-balancer"],
}

# Types of services as catalogues write them, next to the one used here.
ALIASES = {"block-storage": ["block-storage", "volumev3", "block-store"]}

OWNERS = ("project_id", "tenant_id", "os-vol-tenant-attr:tenant_id", "owner", "os-extended-snapshot-attributes:project_id",
          "os-backup-project-attr:project_id")


ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("KILN_SHARED", ROOT.parent / "shared"))


def oracle():
    """The folder with the state of the running Heat: the credentials of the administrator, and its configuration."""
    script = SHARED / "oracle/lib.sh"
    if not script.exists():
        raise SystemExit(f"{script} is missing: docs/differential.md says where the Heat to compare with comes from")
    said = subprocess.run(["bash", "-c", '. "$0"; printf %s "$ORACLE"', script], capture_output=True, text=True, check=True)
    folder = pathlib.Path(said.stdout)
    if not (folder / "openrc-admin").exists():
        raise SystemExit(f"Heat does not run: start it with {SHARED / 'oracle/cloud/up'}")
    return folder


def openrc(path):
    """The variables that a file of `export NAME=VALUE` lines sets."""
    lines = [line.removeprefix("export ").strip() for line in path.read_text().splitlines()]
    return dict(line.split("=", 1) for line in lines if "=" in line)


def heat_conf(folder):
    """Heat's configuration."""
    settings = configparser.RawConfigParser(strict=False)
    settings.optionxform = str
    settings.read(folder / "home/.heat/heat.conf")
    return settings


class Login:
    """A user in a project, with a token that is renewed in time."""

    def __init__(self, identity, user, password, project_id=None, project_name=None):
        self.identity, self.user, self.password = identity, user, password
        self.scope = {"id": project_id} if project_id else {"name": project_name, "domain": {"id": "default"}}
        self.lock, self.at, self.value, self.reply = threading.Lock(), 0.0, None, None

    def token(self):
        with self.lock:
            if time.monotonic() - self.at > TOKEN_LIFETIME or not self.value:
                user = {"name": self.user, "domain": {"id": "default"}, "password": self.password}
                body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}},
                                 "scope": {"project": self.scope}}}
                status, answer, headers = call("POST", self.identity + "/auth/tokens", body=body)
                if status != 201:
                    raise RuntimeError(f"no token for {self.user}: {status} {answer}")
                self.value, self.reply, self.at = headers["X-Subject-Token"], answer["token"], time.monotonic()
            return self.value


class Cloud:
    """Keystone with its catalogue, as the administrator sees it."""

    def __init__(self):
        self.folder = oracle()
        variables = openrc(self.folder / "openrc-admin")
        self.identity = variables["OS_AUTH_URL"].rstrip("/")
        self.admin = Login(self.identity, variables["OS_USERNAME"], variables["OS_PASSWORD"],
                           project_name=variables["OS_PROJECT_NAME"])
        self.admin.token()
        self.admin_password = variables["OS_PASSWORD"]
        self.region = variables.get("OS_REGION_NAME")
        self.catalog = self.admin.reply["catalog"]
        self.roles = {role["name"]: role["id"] for role in self.keystone("GET", "/roles")["roles"]}

    def keystone(self, method, path, body=None):
        return ask(method, self.identity + path, self.admin.token(), body)

    def endpoint(self, service):
        """The public URL of a service in the administrator's project, or None."""
        for kind in ALIASES.get(service, [service]):
            for entry in self.catalog:
                if entry["type"] == kind:
                    return next(it["url"] for it in entry["endpoints"] if self.is_public(it)).rstrip("/")
        return None

    def is_public(self, endpoint):
        return endpoint["interface"] == "public" and self.region in (None, endpoint["region_id"])

    def project(self, name):
        """A fresh project with a member and an administrator of its own, without quotas."""
        project = self.keystone("POST", "/projects", {"project": {"name": name, "domain_id": "default"}})["project"]["id"]
        for user, roles in ((name, ["member"]), (name + "-admin", ["member", "admin"])):
            made = {"name": user, "domain_id": "default", "password": "secret", "default_project_id": project}
            made = self.keystone("POST", "/users", {"user": made})["user"]["id"]
            for role in roles:
                self.keystone("PUT", f"/projects/{project}/users/{made}/roles/{self.roles[role]}")
        self.lift_quotas(project)
        logins = {who: Login(self.identity, user, "secret", project) for who, user in (("member", name), ("admin", name + "-admin"))}
        # Neutron makes the default security group when it is first asked: now, and not in the middle of a case.
        ask("GET", self.endpoint("network") + "/v2.0/security-groups", logins["member"].token())
        return project, logins

    def forget(self, project, logins):
        """Deletes a project and its users."""
        for login in logins.values():
            login.token()
            self.keystone("DELETE", "/users/" + login.reply["user"]["id"])
        self.keystone("DELETE", "/projects/" + project)

    def lift_quotas(self, project):
        none = {
            "network": (f"/v2.0/quotas/{project}", "quota", "network subnet port router floatingip security_group security_group_rule"),
            "compute": (f"/os-quota-sets/{project}", "quota_set", "cores instances ram key_pairs server_groups"),
            "block-storage": (f"/os-quota-sets/{project}", "quota_set", "volumes gigabytes snapshots backups backup_gigabytes"),
        }
        for service, (path, key, names) in none.items():
            ask("PUT", self.endpoint(service) + path, self.admin.token(), {key: {name: -1 for name in names.split()}})

    def objects(self, project, services):
        """The objects of a project in some services: collection -> list."""
        found = {}
        for name, service, path, key in COLLECTIONS:
            endpoint = self.endpoint(service)
            if service in services and endpoint:
                status, answer, _ = call("GET", endpoint + path, self.admin.token())
                if status == 200:
                    found[name] = [it for it in answer[key] if any(it.get(owner) == project for owner in OWNERS)]
        return found
