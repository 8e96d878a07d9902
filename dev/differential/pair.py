"""The same stack on both sides: every step is done at the same moment on each, and then compared."""

import concurrent.futures
import itertools
import time

from cases import SUBJECT, TypeCase, services
from compare import compare, named
from engine import Side, Stack

NUMBERS = itertools.count(1)
STARTED = time.strftime("%H%M%S")


class Sides:
    """Two fresh projects, one for each engine. They are replaced when something was left in them."""

    def __init__(self, cloud, urls):
        self.cloud, self.urls, self.each = cloud, urls, []
        self.renew()

    def close(self):
        for side in self.each:
            side.close()

    def renew(self):
        self.close()
        label = f"{STARTED}x{next(NUMBERS)}"
        self.each = [Side(name, url, self.cloud, label) for name, url in self.urls.items()]


class Pair:
    """One stack on both sides, and the steps so far."""

    def __init__(self, case, sides, record):
        self.sides, self.record = sides, record
        name = f"dx{next(NUMBERS)}"
        attributes = {SUBJECT: []} if isinstance(case, TypeCase) else Everything()
        self.stacks = [Stack(side, name, case.who, services(case.kinds), attributes) for side in sides.each]
        self.seen = [{}, {}]

    def step(self, label, verb, *arguments):
        """Has both sides do it, and records the differences."""
        times = [0.0, 0.0]

        def one(index):
            begin = time.monotonic()
            seen = getattr(self.stacks[index], verb)(*arguments)
            times[index] = round(time.monotonic() - begin, 1)
            return named(seen, self.stacks[index])

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.seen = list(pool.map(one, range(2)))
        heat, kiln = self.seen
        self.record.append({"step": label, "heat": outcome(heat), "kiln": outcome(kiln), "seconds": times,
                            "differences": compare(heat, kiln)})

    def delete(self):
        self.step("delete", "delete")
        if any(seen.get("left") or seen.get("state") not in ("gone", None) for seen in self.seen):
            self.sides.renew()

    def is_complete(self):
        """Whether Heat has done the last step."""
        return self.seen[0].get("state", "").endswith("_COMPLETE") and self.was_accepted()

    def was_accepted(self):
        return self.seen[0]["http"] in (200, 201, 202, 204)

    def exists(self):
        return any(stack.path for stack in self.stacks)


class Everything(dict):
    """Each resource is shown, with no further attributes."""

    def __contains__(self, name):
        return True

    def __getitem__(self, name):
        return []


def outcome(seen):
    return f"{seen['http']} {seen.get('state', '')}".strip()
