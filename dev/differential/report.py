"""Judgements on differences, and the table of agreement."""

import csv
import fnmatch
import pathlib
import re

from compare import by_chance

ROWS = pathlib.Path(__file__).parent / "judgements.tsv"
DIFFERENCES = pathlib.Path(__file__).resolve().parents[2] / "docs/differences-from-heat.md"
AGREED = ("same", "better on purpose")


class Judge:
    """The rows of `judgements.tsv`; the first that fits a difference decides."""

    def __init__(self):
        with open(ROWS, newline="") as file:
            lines = (line for line in file if line.strip() and not line.startswith("#"))
            self.rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
        headings = {line.lstrip("# ").strip() for line in DIFFERENCES.read_text().splitlines() if line.startswith("## ")}
        for row in self.rows:
            if row["judgement"] == "better on purpose" and row["reason"] not in headings:
                raise SystemExit(f"{ROWS.name}: {DIFFERENCES.name} has no heading \"{row['reason']}\"")

    def __call__(self, kind, step, difference):
        path, heat, kiln = difference
        if masked(heat) == masked(kiln):
            return "same", "chance"
        for row in self.rows:
            fits = (fnmatch.fnmatchcase(kind, row["type"]) and fnmatch.fnmatchcase(step, row["step"])
                    and fnmatch.fnmatchcase(path, row["path"]) and re.search(row["heat"] or "", heat, re.S) and re.search(row["kiln"] or "", kiln, re.S))
            if fits:
                return row["judgement"], row["reason"]
        return "not judged", ""


def masked(text):
    return str(by_chance(text))


class Found:
    """A difference of a type, however often it was met."""

    def __init__(self, judgement, reason, difference, step):
        self.judgement, self.reason, self.difference, self.steps = judgement, reason, difference, [step]

    def lines(self):
        path, heat, kiln = self.difference
        more = f" and {len(self.steps) - 1} more" if len(self.steps) > 1 else ""
        reason = f" ({self.reason})" if self.reason else ""
        return f"- `{path}`: *{self.judgement}*{reason}, in {self.steps[0]}{more}\n    - Heat: {heat}\n    - Kiln: {kiln}\n"


def report(results, out):
    """Writes every difference with its judgement, and returns the lines of the table."""
    judge, table, found, broken = Judge(), {}, {}, []
    for result in results:
        kinds = result["kinds"]
        if result.get("error"):
            broken.append(f"{result['case']}: {result['error'].splitlines()[-1]}")
        for step in result["steps"]:
            where = f"{result['case']}: {step['step']}"
            verdicts = []
            for difference in step["differences"]:
                judgement, reason = judge(kinds[0], where, difference)
                verdicts.append(judgement)
                key = (difference[0], masked(difference[1]), masked(difference[2]))
                known = found.setdefault(kinds[0], {})
                if key in known:
                    known[key].steps.append(where)
                else:
                    known[key] = Found(judgement, reason, difference, where)
            row = table.setdefault(kinds[0], [0, 0, 0, 0, 0.0, 0.0])
            agreed = [1, step["heat"] == step["kiln"], not verdicts, all(it in AGREED for it in verdicts), *step["seconds"]]
            for index, value in enumerate(agreed):
                row[index] += value
    with open(out, "w") as file:
        file.writelines(f"The tool failed in {it}\n" for it in broken)
        for kind, known in sorted(found.items()):
            file.write(f"\n## {kind}\n\n")
            file.writelines(it.lines() for it in sorted(known.values(), key=lambda it: it.judgement in AGREED))
    return broken + rates(table)


def rates(table):
    """The table of agreement: outcomes, everything, and everything but what was judged."""
    total = [sum(row[index] for row in table.values()) for index in range(6)]
    lines = [f"{'type':48} steps  outcome   strict   judged   Heat s  Kiln s"]
    for kind, row in [*sorted(table.items()), ("all", total)]:
        shares = "  ".join(f"{100 * row[index] // max(row[0], 1):5} %" for index in (1, 2, 3))
        lines.append(f"{kind:48} {row[0]:5}  {shares}  {row[4]:7.0f} {row[5]:7.0f}")
    return lines
