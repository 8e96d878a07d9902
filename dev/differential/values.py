"""Values for properties: from `values.json`, by the name of the property or by its constraint, else by its type.

A value may name helper resources with `{get_resource: NAME}`; `helpers` returns their definitions.
"""

import json
import pathlib
import re

TABLE = json.loads((pathlib.Path(__file__).parent / "values.json").read_text())
HELPER = re.compile(r'"get_(?:resource|attr)": \[?"(\w+)"')


def looked_up(names, schema):
    """The values that the table has, or None."""
    for name in names:
        if name in TABLE["properties"]:
            return TABLE["properties"][name]
    for constraint in schema.get("constraints", []):
        custom = constraint.get("custom_constraint")
        if custom in TABLE["constraints"]:
            return TABLE["constraints"][custom]
    return None


def values(kind, name, schema):
    """Two distinct values of a property where it has them: the first to set, the second to change to."""
    last = name.split(".")[-1]
    known = looked_up([f"{kind}.{name}", f"*.{last}"], schema)
    if known is not None:
        return known
    for constraint in schema.get("constraints", []):
        if "allowed_values" in constraint:
            allowed = [it for it in constraint["allowed_values"] if it != schema.get("default")] or constraint["allowed_values"]
            return [[it] for it in allowed[:2]] if schema["type"] == "List" else allowed[:2]
        if "range" in constraint and schema["type"] in ("Integer", "Number"):
            return ranged(constraint["range"])
    return by_type(kind, name, schema)


def ranged(limits):
    low, high = limits.get("min"), limits.get("max")
    first = low if low is not None and low > 0 else 1
    if high is not None and first > high:
        first = high
    return [first, first + 1] if high is None or first + 1 <= high else [first]


def by_type(kind, name, schema):
    word = name.split(".")[-1].replace(":", "-").lower()
    match schema["type"]:
        case "Boolean":
            first = not schema["default"] if isinstance(schema.get("default"), bool) else True
            return [first, not first]
        case "Integer" | "Number":
            return [1, 2]
        case "List":
            inner = (schema.get("schema") or {}).get("*")
            one = values(kind, name + ".*", inner) if inner else [f"{word}-1", f"{word}-2"]
            return [[it] for it in one]
        case "Map":
            return maps(kind, name, schema.get("schema") or {})
        case _:
            return [f"{word}-1", f"{word}-2"]


def maps(kind, name, schema):
    if not schema or "*" in schema:
        return [{"one": "1"}, {"one": "2", "two": "2"}]
    found = []
    for index in (0, 1):
        one = {}
        for key, inner in schema.items():
            known = values(kind, f"{name}.{key}", inner) if is_usable(inner) else []
            if known:
                one[key] = known[min(index, len(known) - 1)]
        found.append(one)
    return found if found[0] != found[1] else found[:1]


def is_usable(schema):
    return schema.get("implemented", True) and schema["support_status"]["status"] not in ("HIDDEN", "DEPRECATED")


def wrong_values(schema):
    """Values that a property does not take, each with the word for what is wrong with it."""
    found = []
    kind = schema["type"]
    for constraint in schema.get("constraints", []):
        if "allowed_values" in constraint:
            found.append(("not allowed", ["no such value"] if kind == "List" else "no such value"))
        if "range" in constraint and kind in ("Integer", "Number"):
            limits = constraint["range"]
            if limits.get("min") is not None:
                found.append(("below the range", limits["min"] - 1))
            if limits.get("max") is not None:
                found.append(("above the range", limits["max"] + 1))
        if "length" in constraint and kind == "String" and constraint["length"].get("max"):
            found.append(("too long", "x" * (constraint["length"]["max"] + 1)))
        if "allowed_pattern" in constraint:
            found.append(("not the pattern", "no match\n"))
        if "custom_constraint" in constraint:
            found.append(("no such object", "no-such-object"))
    if kind in ("Integer", "Number", "Boolean"):
        found.append(("another type", "not a value"))
    if kind in ("List", "Map"):
        found.append(("another type", "neither list nor map"))
    if kind == "String" and not found:
        found.append(("another type", {"a": "map"}))
    return found


def helpers(value):
    """The definitions of the helper resources that a value names, and of those that these name."""
    found, todo = {}, HELPER.findall(json.dumps(value))
    while todo:
        name = todo.pop()
        if name not in found and name in TABLE["helpers"]:
            found[name] = TABLE["helpers"][name]
            todo += HELPER.findall(json.dumps(found[name])) + found[name].get("depends_on", [])
    return found
