"""Deletes what interrupted runs left: the stacks of Heat, then the objects, the users and the projects."""

import time

from cloud import Login
from rest import call

# Collections in the order in which their objects can be deleted: service, path of an object.
ORDER = [
    ("servers", "compute", "/servers/{id}"),
    ("floating IPs", "network", "/v2.0/floatingips/{id}"),
    ("trunks", "network", "/v2.0/trunks/{id}"),
    ("backups", "block-storage", "/backups/{id}"),
    ("snapshots", "block-storage", "/snapshots/{id}"),
    ("volumes", "block-storage", "/volumes/{id}"),
    ("load balancers", "load-balancer", "/v2/lbaas/loadbalancers/{id}?cascade=true"),
    ("ports", "network", "/v2.0/ports/{id}"),
    ("routers", "network", "/v2.0/routers/{id}"),
    ("subnets", "network", "/v2.0/subnets/{id}"),
    ("networks", "network", "/v2.0/networks/{id}"),
    ("subnet pools", "network", "/v2.0/subnetpools/{id}"),
    ("address scopes", "network", "/v2.0/address-scopes/{id}"),
    ("security groups", "network", "/v2.0/security-groups/{id}"),
    ("QoS policies", "network", "/v2.0/qos/policies/{id}"),
    ("metering labels", "network", "/v2.0/metering/metering-labels/{id}"),
    ("images", "image", "/v2/images/{id}"),
    ("zones", "dns", "/v2/zones/{id}"),
]
SERVICES = {service for _, service, _ in ORDER}


def clean(cloud, heat):
    """Cleans every project whose name begins like those of this tool."""
    for project in cloud.keystone("GET", "/projects")["projects"]:
        if project["name"].startswith("dx-"):
            delete_stacks(cloud, heat, project)
            delete_objects(cloud, project["id"])
            for user in cloud.keystone("GET", f"/users?default_project_id={project['id']}")["users"]:
                if user.get("default_project_id") == project["id"]:
                    cloud.keystone("DELETE", "/users/" + user["id"])
            cloud.keystone("DELETE", "/projects/" + project["id"])
            print(f"{project['name']}: deleted", flush=True)


def delete_stacks(cloud, heat, project):
    try:
        # As a member: to an administrator, Heat lists the stacks of all projects.
        token = Login(cloud.identity, project["name"], "secret", project["id"]).token()
    except RuntimeError:
        return  # Its users are deleted already.
    stacks = f"{heat}/{project['id']}/stacks"
    for _ in range(30):
        status, answer, _ = call("GET", stacks, token)
        left = [it for it in answer["stacks"] if it["stack_status"] != "DELETE_IN_PROGRESS"] if status == 200 else []
        for stack in left:
            call("DELETE", f"{stacks}/{stack['stack_name']}/{stack['id']}", token)
        if status != 200 or not answer["stacks"]:
            return
        time.sleep(2)


def delete_objects(cloud, project):
    """Each attempt deletes what nothing else uses any more."""
    for _ in range(5):
        there = cloud.objects(project, SERVICES)
        there["security groups"] = [it for it in there.get("security groups", []) if it["name"] != "default"]
        if not any(there.values()):
            return
        for router in there.get("routers", []):
            url = f"{cloud.endpoint('network')}/v2.0/routers/{router['id']}"
            call("PUT", url, cloud.admin.token(), {"router": {"routes": []}})
            for port in there.get("ports", []):
                if port["device_id"] == router["id"]:
                    call("PUT", url + "/remove_router_interface", cloud.admin.token(), {"port_id": port["id"]})
        for name, service, path in ORDER:
            for one in there.get(name, []):
                call("DELETE", cloud.endpoint(service) + path.format(id=one["id"]), cloud.admin.token())
        time.sleep(3)
