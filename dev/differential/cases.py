"""The cases: for every type of the list of facts, generated ones; and those of the folder `cases`, which are written.

A case gets a `Pair`, the same stack on both sides, and tells it what to do; the pair compares after each step.
"""

import json
import pathlib

from cloud import SERVICES, SHARED
from values import TABLE, helpers, is_usable, values, wrong_values

HERE = pathlib.Path(__file__).parent
FACTS = json.loads((SHARED / "facts/resource_types.json").read_text())["types"]
SUBJECT = "subject"


def services(kinds):
    """The services in which resources of these types have objects."""
    found = set()
    for kind in kinds:
        found.update(SERVICES.get(kind.split("::")[1], []))
    return found


class TypeCase:
    """A generated case of one type."""

    def __init__(self, kind, plan, who):
        self.kind, self.name, self.who = kind, f"{kind}/{plan.__name__}", who
        self.kinds, self.plan = [kind], plan
        facts = FACTS[kind]
        self.properties = {name: it for name, it in facts["properties"].items() if is_usable(it)}
        self.outputs = sorted(facts["attributes"]) + ["show"]
        self.handlers = facts["handlers"]

    def run(self, start):
        self.plan(self, start)

    def values(self, name):
        return values(self.kind, name, self.properties[name])

    def minimum(self):
        """The required properties, and those without which the type is of no use."""
        names = [name for name, it in self.properties.items() if it["required"]] + TABLE["minimal"].get(self.kind, [])
        return {name: self.values(name)[0] for name in names if self.values(name)}

    def template(self, properties, needed=None):
        """A stack with the subject, the helpers of these values and an output for each attribute."""
        needed = needed if needed is not None else properties
        depends = [it for it in TABLE["depends"].get(self.kind, [])]
        around = helpers([needed, [{"get_resource": it} for it in depends]])
        around = {name: it for name, it in around.items() if it["type"] != self.kind or name in json.dumps(needed)}
        subject = {"type": self.kind, "properties": properties}
        if depends:
            subject["depends_on"] = [it for it in depends if it in around]
        outputs = {name: {"value": {"get_attr": [SUBJECT, name]}} for name in self.outputs}
        return json.dumps({"heat_template_version": "2021-04-16", "resources": {SUBJECT: subject, **around}, "outputs": outputs})


def minimal(case, start):
    """As little as possible, created, checked, suspended, resumed and deleted by a member of the project."""
    pair = start(case)
    pair.step("create", "create", case.template(case.minimum()))
    if pair.is_complete():
        pair.step("update without changes", "update", case.template(case.minimum()))
        pair.step("check", "action", "check")
        if case.handlers["suspend"]:
            pair.step("suspend", "action", "suspend")
            pair.step("resume", "action", "resume")
    pair.delete()


def properties(case, start):
    """Each property set and changed by an update, then all of them at once in a new stack, then removed."""
    settled = case.minimum()
    everything = {name: case.values(name) for name in case.properties}
    todo = [(name, value) for is_updatable in (True, False) for name, it in sorted(case.properties.items())
            if it["update_allowed"] is is_updatable
            for value in everything[name][: 2 if is_updatable or name in settled else 1] if value != settled.get(name)]
    pair = None
    for name, value in todo:
        if pair is None:
            pair = start(case)
            pair.step("create", "create", case.template(settled, everything))
            if not pair.is_complete():
                break
        trial = {**settled, name: value}
        label = f"{name} = {json.dumps(value)}"
        pair.step(label, "update", case.template(trial, everything))
        if pair.is_complete():
            settled = trial
        elif pair.was_accepted():
            pair.step(f"back from {label}", "update", case.template(settled, everything))
            if not pair.is_complete():
                pair.delete()
                pair = None
    if pair:
        pair.delete()
    if settled != case.minimum():
        pair = start(case)
        pair.step("create with all properties", "create", case.template(settled, everything))
        if pair.is_complete():
            pair.step("check", "action", "check")
            pair.step("remove all properties", "update", case.template(case.minimum(), everything))
        pair.delete()


def mistakes(case, start):
    """Values that are wrong, references to what is not there, and properties that are missing: each in a creation of its own."""
    right = case.minimum()
    trials = [(f"without {name}", {key: it for key, it in right.items() if key != name})
              for name, it in case.properties.items() if it["required"]]
    for name, schema in sorted(case.properties.items()):
        trials += [(f"{name}: {what}", {**right, name: value}) for what, value in wrong_values(schema)]
    trials.append(("unknown property", {**right, "no_such_property": "x"}))
    pair = start(case)
    for label, trial in trials:
        pair.step(label, "create", case.template(trial))
        if pair.seen[0].get("error type") == "ResourceTypeUnavailable":
            return  # The cloud does not have this type: every further answer would be the same.
        if pair.exists():
            pair.delete()
            pair = start(case)


PLANS = [(minimal, "member"), (mistakes, "member"), (properties, "admin")]


class WrittenCase:
    """A case of the folder `cases`: templates, and between them lines `# then STEP`."""

    def __init__(self, path):
        text = path.read_text()
        self.name = f"cases/{path.stem}"
        self.kinds = text.split("\n", 1)[0].removeprefix("# types:").split()
        self.who = "admin" if "\n# as admin\n" in text else "member"
        self.steps = text.split("\n# then ")

    def run(self, start):
        pair = start(self)
        pair.step("create", "create", self.steps[0])
        last = self.steps[0]
        if not pair.was_accepted():
            return pair.delete()
        for step in self.steps[1:]:
            words, _, template = step.partition("\n")
            verb, _, rest = words.partition(" ")
            if verb == "update":
                last = template if template.strip() else last
                more = {"rollback": {"disable_rollback": False}, "converge": {"converge": True}}.get(rest, {})
                pair.step(words, "update", last, more)
            elif verb in ("check", "suspend", "resume"):
                pair.step(words, "action", verb)
            elif template.strip():
                pair.step(words, verb, template)
            else:
                pair.step(words, verb, rest)
        pair.delete()


def all_cases():
    """Those that cover most in the least time come first; then the long ones, the longest of them first."""
    written = [WrittenCase(path) for path in sorted((HERE / "cases").glob("*.yaml"))]
    kinds = [kind for kind, it in sorted(FACTS.items()) if not it["hidden_status"]]
    generated = [TypeCase(kind, plan, who) for plan, who in PLANS for kind in kinds]
    return written + sorted(generated, key=lambda it: -len(it.properties) if it.plan is properties else -1000)
