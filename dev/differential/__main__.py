"""Runs the same cases on Heat and on Kiln, on one real control plane, and compares (docs/differential.md).

    dev/test differential                       all cases; continues a run that was interrupted
    dev/test differential OS::Neutron::Port …   the cases whose names contain one of the words, anew
    dev/test differential --report              only the report on what was recorded
    dev/test differential --clean               only delete what interrupted runs left in the cloud
"""

import argparse
import json
import os
import queue
import threading
import time
import traceback

from cases import all_cases
from clean import clean
from cloud import ROOT, Cloud
from kiln import Server
from pair import Pair, Sides
from report import report

FOLDER = ROOT / "target/differential"
RESULTS = FOLDER / "results.jsonl"


def recorded():
    """Results by the name of the case; the last one counts."""
    if not RESULTS.exists():
        return {}
    results = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    return {it["case"]: it for it in results}


def work(todo, cloud, urls, lock):
    """Takes cases until there are none, each in a project of this worker."""
    sides = Sides(cloud, urls)
    while True:
        try:
            case = todo.get_nowait()
        except queue.Empty:
            return sides.close()
        begin, record, error = time.monotonic(), [], None
        try:
            case.run(lambda it: Pair(it, sides, record))
        except Exception:  # A case that the tool cannot run is reported; the others go on.
            error = traceback.format_exc()
            sides.renew()
        result = {"case": case.name, "kinds": case.kinds, "steps": record, "seconds": round(time.monotonic() - begin), "error": error}
        with lock:
            with open(RESULTS, "a") as file:
                file.write(json.dumps(result) + "\n")
            count = sum(bool(step["differences"]) for step in record)
            note = f" ERROR {error.splitlines()[-1]}" if error else ""
            print(f"{case.name}: {len(record)} steps, {count} with differences, {result['seconds']} s, {todo.qsize()} left{note}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="dev/test differential")
    parser.add_argument("words", nargs="*", help="parts of the names of cases, such as OS::Neutron::Port or cases/adopt")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--clean", action="store_true", help="delete what interrupted runs left in the cloud, and run nothing")
    parser.add_argument("--fresh", action="store_true", help="forget what was recorded")
    parser.add_argument("--workers", type=int, default=5)
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    if options.clean:
        cloud = Cloud()
        return clean(cloud, heat_url(cloud))
    if options.fresh:
        RESULTS.unlink(missing_ok=True)
    if not options.report:
        run(options)
    results = recorded()
    chosen = [it for name, it in sorted(results.items()) if is_chosen(name, options.words)]
    print("\n".join(report(chosen, FOLDER / "differences.md")))
    print(f"every difference: {FOLDER / 'differences.md'}")


def heat_url(cloud):
    """The URL of Heat's API, before the project."""
    return cloud.endpoint("orchestration").rsplit("/", 1)[0]


def is_chosen(name, words):
    """A word is a part of a name; a type stands for itself alone, not for those whose names begin with it."""
    return not words or any(word == name.split("/")[0] or (word in name and "::" not in word) or word == name for word in words)


def run(options):
    done = {} if options.words else recorded()
    todo = queue.Queue()
    for case in all_cases():
        if is_chosen(case.name, options.words) and case.name not in done:
            todo.put(case)
    cloud = Cloud()
    server = Server(ROOT, FOLDER / f"kiln-{os.getpid()}", cloud.folder)
    urls = {"heat": heat_url(cloud), "kiln": server.url}
    lock = threading.Lock()
    try:
        workers = [threading.Thread(target=work, args=(todo, cloud, urls, lock), daemon=True) for _ in range(min(options.workers, todo.qsize()))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        server.stop()


main()
