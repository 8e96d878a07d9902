"""What is in the cloud from the start: people, a catalogue, an image, flavors, a network to the outside."""
import json
import urllib.error
import urllib.request
from place import CLOUDS, PASSWORD, REGION, Trouble, say, url

# Who there is: name, project, roles.
PEOPLE = (
    ("admin", "admin", ("admin",)),
    ("demo", "demo", ("member",)),
    *((name, "service", ("admin", "service")) for name in (
        "kiln", "glance", "placement", "nova", "neutron", "cinder")),
)
# Type, name and address of each service.
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
    """The administrator, logged in."""

    def __init__(self):
        who = {"name": "admin", "domain": {"id": "default"}}
        auth = {"identity": {"methods": ["password"],
                             "password": {"user": {**who, "password": PASSWORD}}},
                "scope": {"project": who}}
        self.token = None
        _, headers = self.send("POST", url("keystone", "/v3/auth/tokens"), {"auth": auth})
        self.token = headers["X-Subject-Token"]

    def send(self, method, address, body=None, kind="application/json"):
        """Sends a request; gives the body of the answer and its headers."""
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Content-Type": kind, **({"X-Auth-Token": self.token} if self.token else {})}
        request = urllib.request.Request(address, raw, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                text = answer.read()
                return (json.loads(text) if text else None), answer.headers
        except urllib.error.HTTPError as refused:
            said = refused.read().decode(errors="replace")[:500]
            raise Trouble(f"{method} {address} is refused with {refused.code}: {said}") from None

    def found(self, address, many, **fields):
        """The first object with these fields."""
        objects, _ = self.send("GET", address)
        return next((it for it in objects[many] if fields.items() <= it.items()), None)

    def ensure(self, address, one, look=("name",), many=None, **fields):
        """An object: the one that is there, or a new one."""
        sought = {name: fields[name] for name in look}
        there = self.found(address, many or f"{one}s", **sought)
        return there or self.send("POST", address, {one: fields})[0][one]


def write():
    """Lets people in, lists the services, and writes down how to come in."""
    admin = Session()
    identity = url("keystone", "/v3")
    roles = {name: admin.ensure(f"{identity}/roles", "role", name=name)["id"]
             for name in ("admin", "member", "service")}
    for name, project, theirs in PEOPLE:
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
               for name, project, _ in PEOPLE if name in ("admin", "demo", "kiln")}
    # What is JSON is YAML, too.
    CLOUDS.write_text(json.dumps({"clouds": entries}, indent=2) + "\n")
    CLOUDS.chmod(0o600)


def credentials(name, project):
    """How somebody logs in."""
    return {"auth_url": url("keystone", "/v3"), "username": name, "password": PASSWORD,
            "project_name": project, "user_domain_name": "Default", "project_domain_name": "Default"}


def furnish():
    """Puts into the cloud what stacks need."""
    say("an image, flavors, a network to the outside")
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
    """The variables that let clients and our tests in."""
    entries = json.loads(CLOUDS.read_text())["clouds"]
    if name not in entries:
        raise Trouble(f"There is no cloud {name}; there are {', '.join(entries)}.")
    auth = {f"OS_{key.upper()}": value for key, value in entries[name]["auth"].items()}
    auth.update({"OS_REGION_NAME": REGION, "OS_IDENTITY_API_VERSION": "3", "KILN_OPENSTACK": CLOUDS})
    return "\n".join(f"export {key}='{value}'" for key, value in auth.items())
