"""One of the two engines, and the life of one stack in it: every step returns what can be observed afterwards."""

import json
import time

from rest import call

STEP_TIMEOUT = 150
GRACE = 6
UNKNOWN = "no answer"


class Side:
    """An engine with the project in which it works. `tag` tells its objects from those of the other where names are global."""

    def __init__(self, name, url, cloud, label):
        self.name, self.url, self.cloud = name, url, cloud
        self.tag = f"{label}{name[0]}"
        self.project, self.logins = cloud.project(f"dx-{self.tag}")

    def close(self):
        """Deletes the project and its users, unless there is something left in it to look at."""
        _, answer = self.request("admin", "GET", "/stacks")
        if not answer["stacks"]:
            self.cloud.forget(self.project, self.logins)

    def request(self, who, method, path, body=None):
        login = self.logins[who]
        status, answer, _ = call(method, f"{self.url}/{self.project}{path}", login.token(), body)
        return status, answer


class Stack:
    """A stack on one side. `labels` names the ids that were met, so that both sides can be compared."""

    def __init__(self, side, name, who, services, attributes):
        self.side, self.name, self.who, self.services = side, name, who, services
        self.attributes = attributes
        self.path, self.last_event, self.state, self.ids, self.snapshot_id = None, None, None, {}, None
        self.labels = {side.project: "PROJECT"}
        for who_, login in side.logins.items():
            login.token()
            self.labels[login.reply["user"]["id"]] = f"USER {who_}"
        self.before = {it["id"] for them in side.cloud.objects(side.project, services).values() for it in them}

    def text(self, template):
        """The template for this side: names in global namespaces have its tag."""
        return template.replace("${tag}", self.side.tag).replace("${project}", self.side.project)

    def request(self, method, path, body=None):
        return self.side.request(self.who, method, path, body)

    # --- steps ------------------------------------------------------------------------------------

    def create(self, template, more=None):
        body = {"stack_name": self.name, "template": self.text(template), "timeout_mins": 5, "disable_rollback": True, **(more or {})}
        return self.accept("CREATE", *self.request("POST", "/stacks", body))

    def adopt(self, data):
        body = {"stack_name": self.name, "timeout_mins": 5, "adopt_stack_data": json.dumps(data)}
        return self.accept("ADOPT", *self.request("POST", "/stacks", body))

    def accept(self, action, status, answer):
        if status == 201:
            self.path = f"/stacks/{self.name}/{answer['stack']['id']}"
            self.labels[answer["stack"]["id"]] = "STACK"
            self.wait(action)
        return self.observe(status, answer)

    def update(self, template, more=None):
        return self.do("UPDATE", "PUT", "", {"template": self.text(template), "timeout_mins": 5, **(more or {})})

    def action(self, name):
        return self.do(name.upper(), "POST", "/actions", {name: None})

    def cancel_in_the_middle(self, template):
        """Starts an update and cancels it, with a rollback, as soon as a resource is being updated."""
        code, answer = self.request("PUT", self.path, {"template": self.text(template), "timeout_mins": 5})
        for _ in range(60):
            code, answer = self.request("GET", self.path + "/resources")
            if any(it["resource_status"] == "UPDATE_IN_PROGRESS" for it in answer["resources"]):
                break
            time.sleep(0.3)
        return self.do("ROLLBACK", "POST", "/actions", {"cancel_update": None})

    def snapshot(self, _):
        status, answer = self.request("POST", self.path + "/snapshots", {"name": "dx"})
        self.snapshot_id = answer.get("snapshot", answer)["id"] if status == 200 else None
        self.wait("SNAPSHOT")
        code, shown = self.request("GET", f"{self.path}/snapshots/{self.snapshot_id}")
        seen = self.observe(status, answer)
        return {**seen, "snapshot": shown.get("snapshot", shown)["status"] if code == 200 else code}

    def restore(self, _):
        return self.do("RESTORE", "POST", f"/snapshots/{self.snapshot_id}/restore", None)

    def abandon_and_adopt(self, _):
        """Has the stack forget its resources and makes another of what it returned."""
        status, data = self.request("DELETE", self.path + "/abandon")
        if status != 200:
            return self.observe(status, data)
        self.last_event = None
        self.wait_until_gone()
        seen = self.adopt(data)
        return {**seen, "abandoned": data}

    def signal(self, resource):
        """Signals a resource as its owner and waits until the stack below it has changed."""
        status, answer = self.request("POST", f"{self.path}/resources/{resource}/signal", {})
        time.sleep(GRACE)
        return self.observe(status, answer)

    def mark(self, resource):
        """Marks a resource as unhealthy."""
        status, answer = self.request("PATCH", f"{self.path}/resources/{resource}", {"mark_unhealthy": True, "resource_status_reason": "dx"})
        return self.observe(status, answer)

    def behind(self, request):
        """Changes an object in its service, past the engine: METHOD SERVICE PATH BODY, with `{NAME}` for the id of a resource."""
        method, service, path, *body = request.split(" ", 3)
        for name, id_ in self.ids.items():
            path = path.replace("{" + name + "}", id_)
        cloud = self.side.cloud
        status, answer, _ = call(method, cloud.endpoint(service) + path, cloud.admin.token(), json.loads(body[0]) if body else None)
        time.sleep(GRACE)
        return self.observe(200 if status < 300 else status, answer)

    def do(self, action, method, path, body):
        if not self.path:
            return {"http": "no stack"}
        status, answer = self.request(method, self.path + path, body)
        if status < 300:
            self.wait(action)
        return self.observe(status, answer)

    def delete(self):
        """Deletes the stack and waits until it is gone; returns what is left of it."""
        if not self.path:
            return {"http": "no stack"}
        status, _ = self.request("DELETE", self.path)
        self.wait("DELETE")
        code, shown = self.request("GET", self.path + "?resolve_outputs=False")
        state = shown["stack"]["stack_status"] if code == 200 else "gone"
        left = self.side.cloud.objects(self.side.project, self.services)
        left = {name: [it for it in them if it["id"] not in self.before] for name, them in left.items()}
        left = {name: [it.get("name") for it in them] for name, them in left.items() if them}
        is_done = state in ("gone", "DELETE_COMPLETE")
        return {"http": status, "state": "gone" if is_done else state, "reason": "" if is_done else shown["stack"]["stack_status_reason"],
                "events": self.events(), "left": left}

    # --- observation --------------------------------------------------------------------------------

    def shown(self):
        status, answer = self.request("GET", self.path + "?resolve_outputs=False")
        return answer["stack"] if status == 200 else None

    def wait(self, action):
        """Waits until the action has ended. What it shows before it has begun is told apart by the time of the last change."""
        start = time.monotonic()
        while time.monotonic() - start < STEP_TIMEOUT:
            stack = self.shown()
            if stack is None:
                return
            done, _, state = stack["stack_status"].partition("_")
            mark = (done, stack["updated_time"])
            has_begun = (done == action and mark != self.state) or time.monotonic() - start > GRACE
            if has_begun and state != "IN_PROGRESS":
                self.state = mark
                return
            time.sleep(0.7)

    def wait_until_gone(self):
        start = time.monotonic()
        while self.request("GET", f"/stacks/{self.name}")[0] != 404 and time.monotonic() - start < STEP_TIMEOUT:
            time.sleep(0.7)

    def observe(self, status, answer):
        seen = {"http": status}
        if status >= 400:
            error = answer.get("error", {}) if isinstance(answer, dict) else {}
            seen["error"] = error.get("message", str(answer))
            seen["error type"] = error.get("type", "")
        if self.path is None:
            return seen
        code, shown = self.request("GET", self.path)
        if code != 200:
            return {**seen, "state": UNKNOWN, "reason": str(shown)}
        shown = shown["stack"]
        seen["state"], seen["reason"] = shown["stack_status"], shown["stack_status_reason"]
        seen["outputs"] = {it["output_key"]: it.get("output_error") or it["output_value"] for it in shown.get("outputs", [])}
        seen["resources"] = self.resources()
        seen["events"] = self.events()
        seen["objects"] = self.side.cloud.objects(self.side.project, self.services)
        return seen

    def resources(self):
        code, answer = self.request("GET", self.path + "/resources?nested_depth=2")
        if code != 200:
            return {}
        found = {}
        for it in answer["resources"]:
            name, physical = it["resource_name"], it["physical_resource_id"]
            nested = it.get("parent_resource")
            key = f"{nested}/{name}" if nested else name
            before = self.ids.get(key)
            kept = "none" if not physical else "new" if not before else "kept" if before == physical else "replaced"
            if physical:
                # Some resources have the id of another, such as an attachment: one of them names it, the same on both sides.
                self.labels[physical] = min(f"ID {key}", self.labels.get(physical, "JD"))
                self.ids[key] = physical
            found[key] = {"type": it["resource_type"], "state": it["resource_status"], "reason": it["resource_status_reason"],
                          "required by": sorted(it.get("required_by", [])), "physical id": kept}
            if not nested and name in self.attributes:
                asked = "&".join(f"with_attr={one}" for one in self.attributes[name])
                code, shown = self.request("GET", f"{self.path}/resources/{name}?{asked}")
                found[key]["show"] = shown["resource"].get("attributes") if code == 200 else shown
        return found

    def events(self):
        """What happened since the last step: resource -> its events in order."""
        code, answer = self.request("GET", self.path + "/events?sort_dir=desc&limit=100")
        if code != 200:
            return {}
        fresh = []
        for it in answer["events"]:
            if it["id"] == self.last_event:
                break
            fresh.append(it)
        if fresh:
            self.last_event = fresh[0]["id"]
        found = {}
        for it in reversed(fresh):
            found.setdefault(it["resource_name"], []).append(f"{it['resource_status']}: {it['resource_status_reason']}")
        return found
