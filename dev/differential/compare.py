"""What two observations have in common: ids, times and addresses become names, and the rest is compared leaf by leaf."""

import base64
import json
import re

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?")
# What differs between any two runs of one engine, too: such a part is hidden where the values are not equal as they are.
CHANCE = [
    # An event has the beginning of a long reason only, which may end within the id of a request.
    (re.compile(r"\breq-(<uuid>|[0-9a-f-]+)"), "<request>"),
    (re.compile(r"\bhost-\d+-\d+-\d+-\d+\b"), "<host>"),
    (re.compile(r"(?<![\d.])\d{1,3}(\.\d{1,3}){3}(?![\d.])"), "<ip>"),
    (re.compile(r"\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b"), "<mac>"),
    (re.compile(r"127\.0\.0\.1:\d+|<ip>:\d+"), "<address>"),
    (re.compile(r"(?<=[-/])[a-z0-9]{12}\b"), "<random>"),
    (re.compile(r"(AWSAccessKeyId|Signature|Timestamp|temp_url_sig|temp_url_expires)=[^&\"\\]+"), r"\1=<value>"),
    (re.compile(r"={3,}[\w-]+={2,}"), "<boundary>"),
    (re.compile(r"\binstance-[0-9a-f]{8}\b"), "<instance>"),
    (re.compile(r"\bgAAAAA[\w-]+"), "<token>"),
    (re.compile(r'(secret_access_key|SecretAccessKey|host_name)": "[^"]+"'), r'\1": "<value>"'),
]
# Fields that say when, where or which one in a row: whether they are there is compared, their values are not.
VOLATILE = {"OS-EXT-SRV-ATTR:host", "OS-EXT-SRV-ATTR:hostname", "OS-EXT-SRV-ATTR:hypervisor_hostname", "OS-EXT-SRV-ATTR:instance_name",
            "OS-EXT-SRV-ATTR:reservation_id", "OS-SRV-USG:launched_at", "binding:host_id", "checksum", "created", "created_at", "hostId",
            "os-vol-host-attr:host", "os_hash_value", "provider:segmentation_id", "revision_number", "standard_attr_id", "updated",
            "updated_at", "adminPass", "user_data_hash", "evaluate_timestamp"}
# What Kiln adds to reasons on purpose ("A reason says what to do next" in docs/differences-from-heat.md): hidden always.
# An event has the beginning of a long reason only.
ADDED = re.compile(r'\.? Next: [^"]*?(?:\.(?="|; |$)|(?=\.? \'CHECK\')|(?="))')
LIMIT = 600
# From this number on, fields that only one side has are one difference.
MANY = 4


def named(value, stack):
    """The value with ids replaced by what they are the ids of."""
    text = ADDED.sub("", json.dumps(value, sort_keys=True))
    for id_, label in stack.labels.items():
        # A number, such as the id of an aggregate, is only replaced as a text of its own.
        if id_.isdigit():
            text = text.replace(f'"{id_}"', f'"<{label}>"')
        else:
            text = text.replace(json.dumps(id_)[1:-1], f"<{label}>")
    text = text.replace(stack.side.tag, "<tag>")
    text = UUID.sub("<uuid>", TIME.sub("<time>", text))
    return without_volatile(json.loads(text))


def without_volatile(value):
    """The value with `<volatile>` in the fields of that kind, and without the ids of objects that have no name here."""
    if isinstance(value, dict):
        return {key: "<volatile>" if key in VOLATILE else decoded(one) if key.endswith("user_data") else without_volatile(one)
                for key, one in value.items()}
    if isinstance(value, list):
        return [without_volatile(one) for one in value]
    return value


def decoded(value):
    """User data as text."""
    try:
        return base64.b64decode(value, validate=True).decode()
    except (TypeError, ValueError):
        return value


def by_chance(value):
    """The value without what differs between any two runs."""
    text = json.dumps(value, sort_keys=True)
    for pattern, name in CHANCE:
        text = pattern.sub(name, text)
    return json.loads(text)


def masked(key):
    """A key without what differs between any two runs, such as the name of a network."""
    for pattern, name in CHANCE:
        key = pattern.sub(name, key)
    return key


def in_order(value):
    """The value with every list in a fixed order: the services return sets."""
    if isinstance(value, dict):
        return {key: in_order(one) for key, one in value.items()}
    if isinstance(value, list):
        return sorted((in_order(one) for one in value), key=lambda it: json.dumps(it, sort_keys=True))
    return value


def differences(heat, kiln, path=""):
    """The leaves that differ: path, Heat's value, Kiln's value."""
    if heat == kiln or in_order(by_chance(heat)) == in_order(by_chance(kiln)):
        return []
    if isinstance(heat, dict) and isinstance(kiln, dict):
        heat, kiln = ({masked(key): one for key, one in side.items()} for side in (heat, kiln))
        found, alone = [], set(heat) ^ set(kiln)
        if len(alone) >= MANY:
            found.append([path + " (fields)", "only here: " + ", ".join(sorted(alone & set(heat))), "only here: " + ", ".join(sorted(alone & set(kiln)))])
        for key in sorted(set(heat) | set(kiln)):
            inner = f"{path}.{key}" if path else key
            if len(alone) < MANY or key not in alone:
                found += differences(heat.get(key, "(absent)"), kiln.get(key, "(absent)"), inner)
        return found
    if is_table(heat) and is_table(kiln) and len(heat) == len(kiln):
        pairs = zip(*(sorted(side, key=lambda it: json.dumps(in_order(by_chance(it)), sort_keys=True)) for side in (heat, kiln)))
        return [it for one, other in pairs for it in differences(one, other, path + "[]")]
    return [[path, short(heat), short(kiln)]]


def is_table(value):
    return isinstance(value, list) and all(isinstance(it, dict) for it in value)


def short(value):
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= LIMIT else text[:LIMIT] + "…"


def object_differences(heat, kiln):
    """Objects of one collection: equal ones are taken away, the others are compared in the order of their names."""
    found = []
    for name in sorted(set(heat) | set(kiln)):
        sides = []
        for them in (heat.get(name, []), kiln.get(name, [])):
            sides.append(sorted((json.dumps(in_order(by_chance(it)), sort_keys=True) for it in them)))
        only_heat, only_kiln = [list(it) for it in sides]
        for one in sides[0]:
            if one in only_kiln:
                only_kiln.remove(one)
                only_heat.remove(one)
        order = lambda text: json.dumps(json.loads(text).get("name"))
        only_heat, only_kiln = sorted(only_heat, key=order), sorted(only_kiln, key=order)
        if len(only_heat) != len(only_kiln):
            count = lambda them: f"{len(them)} objects: " + ", ".join(str(json.loads(it).get("name")) for it in them)
            found.append([f"objects.{name}", count(sides[0]), count(sides[1])])
            continue
        for one, other in zip(only_heat, only_kiln):
            found += differences(json.loads(one), json.loads(other), f"objects.{name}")
    return found


def compare(heat, kiln):
    """All differences between two observations that were named. A step with another outcome is one difference, not many."""
    outcome = [[key, short(heat.get(key, "(absent)")), short(kiln.get(key, "(absent)"))]
               for key in ("http", "state") if heat.get(key) != kiln.get(key)]
    if outcome:
        reason = lambda seen: short(" ".join(str(seen[key]) for key in ("error", "reason") if seen.get(key)))
        return [[f"outcome.{key}", f"{one} {reason(heat)}".strip(), f"{other} {reason(kiln)}".strip()] for key, one, other in outcome[:1]]
    rest = lambda seen: {key: one for key, one in seen.items() if key != "objects"}
    found = differences(rest(heat), rest(kiln))
    return found + object_differences(heat.get("objects", {}), kiln.get("objects", {}))
