"""The initial content: users, a catalogue, an image, flavors and an external network."""
import json
import urllib.error
import urllib.request
from layout import CLOUDS, PASSWORD, REGION, SetupError, report, url

# The users: name, project, roles.
USERS = (
    ("admin", "admin", ("admin",)),
    ("demo", "demo", ("member",)),
    *((name, "service", ("admin", "service")) for name in (
        "kiln", "glance", "placement", "nova", "neutron", "cinder")),
)
# The domain of stack users, and its administrator.
STACKS = "stacks"
# Type, name and URL of each service.
CATALOGUE = (
    ("image", "glance", url("glance")),
    ("placement", "placement", url("placement")),
    ("compute", "nova", url("nova", "/v2.1")),
    ("network", "neutron", url("neutron")),
    ("volumev3", "cinder", url("cinder", "/v3/%(project_id)s")),
)
FLAVORS = (("m1.tiny", 512, 1, 1), ("m1.small", 2048, 20, 1), ("m1.medium", 4096, 40, 2),
           ("m1.large", 8192, 80, 4))


class Session:
    """A session of the administrator."""

    def __init__(self):
        who = {"name": "admin", "domain": {"id": "default"}}
        auth = {"identity": {"methods": ["password"],
                             "password": {"user": {**who, "password": PASSWORD}}},
                "scope": {"project": who}}
        self.token = None
        _, headers = self.send("POST", url("keystone", "/v3/auth/tokens"), {"auth": auth})
        self.token = headers["X-Subject-Token"]

    def send(self, method, address, body=None, kind="application/json"):
        """Send a request and return the body and the headers of the response."""
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Content-Type": kind, **({"X-Auth-Token": self.token} if self.token else {})}
        request = urllib.request.Request(address, raw, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                text = answer.read()
                return (json.loads(text) if text else None), answer.headers
        except urllib.error.HTTPError as error:
            message = error.read().decode(errors="replace")[:500]
            raise SetupError(f"{method} {address} returned status {error.code}: {message}") from None

    def found(self, address, many, **fields):
        """Return the first object with these fields."""
        objects, _ = self.send("GET", address)
        return next((it for it in objects[many] if fields.items() <= it.items()), None)

    def ensure(self, address, one, keys=("name",), many=None, **fields):
        """Return the existing object, or create it."""
        sought = {name: fields[name] for name in keys}
        there = self.found(address, many or f"{one}s", **sought)
        return there or self.send("POST", address, {one: fields})[0][one]


def write():
    """Create the users and the catalogue, and write clouds.yaml."""
    admin = Session()
    identity = url("keystone", "/v3")
    roles = {name: admin.ensure(f"{identity}/roles", "role", name=name)["id"]
             for name in ("admin", "member", "service")}
    for name, project, theirs in USERS:
        project = admin.ensure(f"{identity}/projects", "project", name=project, domain_id="default")
        user = admin.ensure(f"{identity}/users", "user", ("name", "domain_id"), name=name,
                            password=PASSWORD, domain_id="default")
        for role in theirs:
            admin.send("PUT", f"{identity}/projects/{project['id']}/users/{user['id']}/roles/{roles[role]}")
    for kind, name, address in CATALOGUE:
        service = admin.ensure(f"{identity}/services", "service", ("type",), type=kind, name=name)
        for interface in ("public", "internal"):
            admin.ensure(f"{identity}/endpoints", "endpoint", ("service_id", "interface", "url"),
                         service_id=service["id"], interface=interface, url=address, region_id=REGION)
    entries = {name: {"auth": credentials(name, project), "region_name": REGION}
               for name, project, _ in USERS if name in ("admin", "demo", "kiln")}
    entries["stacks"] = {"auth": stack_domain(admin, identity, roles["admin"]), "region_name": REGION}
    # JSON is also YAML.
    CLOUDS.write_text(json.dumps({"clouds": entries}, indent=2) + "\n")
    CLOUDS.chmod(0o600)


def stack_domain(admin, identity, role):
    """Create the domain of stack users with its administrator, and return the credentials of the latter."""
    domain = admin.ensure(f"{identity}/domains", "domain", name=STACKS)
    user = admin.ensure(f"{identity}/users?domain_id={domain['id']}", "user", name=STACKS, password=PASSWORD, domain_id=domain["id"])
    admin.send("PUT", f"{identity}/domains/{domain['id']}/users/{user['id']}/roles/{role}")
    return {"auth_url": url("keystone", "/v3"), "username": STACKS, "password": PASSWORD,
            "user_domain_name": STACKS, "domain_name": STACKS}


def credentials(name, project):
    """Return the credentials of a user."""
    return {"auth_url": url("keystone", "/v3"), "username": name, "password": PASSWORD,
            "project_name": project, "user_domain_name": "Default", "project_domain_name": "Default"}


def furnish():
    """Create the objects that stacks need."""
    report("an image, flavors, a network to the outside")
    admin = Session()
    images = url("glance", "/v2/images")
    if not admin.found(images, "images", name="cirros", status="active"):
        fields = {"name": "cirros", "visibility": "public", "disk_format": "raw",
                  "container_format": "bare"}
        image, _ = admin.send("POST", images, fields)
        admin.send("PUT", f"{images}/{image['id']}/file", bytes(1024), "application/octet-stream")
    for name, ram, disk, vcpus in FLAVORS:
        admin.ensure(url("nova", "/v2.1/flavors"), "flavor", name=name, ram=ram, disk=disk, vcpus=vcpus)
    networks, subnets = (url("neutron", f"/v2.0/{kind}") for kind in ("networks", "subnets"))
    public = admin.ensure(networks, "network", **{
        "name": "public", "router:external": True, "is_default": True,
        "provider:network_type": "flat", "provider:physical_network": "public"})
    admin.ensure(subnets, "subnet", name="public", network_id=public["id"], ip_version=4,
                 cidr="203.0.113.0/24", enable_dhcp=False)
    demo = admin.found(url("keystone", "/v3/projects"), "projects", name="demo")["id"]
    private = admin.ensure(networks, "network", name="private", project_id=demo)
    admin.ensure(subnets, "subnet", name="private", network_id=private["id"], ip_version=4,
                 cidr="10.0.0.0/24", project_id=demo)


def variables(name):
    """Return the environment variables for clients and tests."""
    entries = json.loads(CLOUDS.read_text())["clouds"]
    if name not in entries:
        raise SetupError(f"Unknown cloud {name}; known clouds: {', '.join(entries)}.")
    auth = {f"OS_{key.upper()}": value for key, value in entries[name]["auth"].items()}
    auth.update({"OS_REGION_NAME": REGION, "OS_IDENTITY_API_VERSION": "3", "KILN_OPENSTACK": CLOUDS})
    return "\n".join(f"export {key}='{value}'" for key, value in auth.items())
