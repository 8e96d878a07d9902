#!/usr/bin/env python3
"""Types the commands of a page into the real clients, and compares what they print.

    replay.py PAGE CLOUDS_YAML [--in-order] [--chain STEPS]... [--as RECORDED_USER] [--known COMMAND]...

Without chains every flow of the page is one of its own; chains run side by side, in folders of their own. With
`--in-order`, the whole page is one chain.
A chain is a list of headings (as far as they tell flows apart) and commands to run without a look at
their output, separated by semicolons. Commands that are known to print something else are named with
`--known`, and counted apart.

The clients are unmodified: what runs is the function behind `openstack` and `heat`, in a process of its
own for each command. Only loading them, which takes longer than most commands, is done once for all, when the
first of them is typed. `kiln` is the program that `KILN` names.
"""
import argparse
import importlib.metadata
import os
import shlex
import subprocess
import sys
import tempfile
import time
import traceback

import cliff.command
import yaml

import compare
import page

AT_ONCE = 4
# How long something that only looks may look until it sees what it should.
PATIENCE = float(os.environ.get('KILN_PATIENCE', '60'))
LOOKS = ('list', 'show', 'poll', 'metadata')
# Commands that need a stack to be at rest, while their page did not wait for it.
AT_REST = ('stack abandon',)


class Clients:
    """The clients, loaded when one of them is typed."""

    def __init__(self):
        self.main = {}

    def load(self):
        """Loads the Python clients."""
        # They take their name from here when they are loaded.
        sys.argv[0] = 'openstack'
        points = importlib.metadata.entry_points()
        scripts = points.select(group='console_scripts')
        self.main = {name: scripts[name].load() for name in ('openstack', 'heat')}
        # What each command would load anew.
        for group in points.groups:
            if group.startswith(('openstack.', 'cliff.', 'keystoneauth1.')):
                load_all(points.select(group=group))
        cliff.command._get_distribution_for_module(cliff.command)

    def run(self, arguments, folder, environment):
        """What a command prints, and its exit status."""
        if arguments[0] == 'kiln':
            return run_kiln(arguments[1:], folder, environment)
        if not self.main:
            self.load()
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reading)
            self.become(arguments, folder, environment, writing)
        os.close(writing)
        with os.fdopen(reading, encoding='utf-8', errors='replace') as output:
            text = output.read()
        _, status = os.waitpid(process, 0)
        return text, os.waitstatus_to_exitcode(status)

    def become(self, arguments, folder, environment, output):
        """Is the client from here on."""
        status = 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            sys.argv = arguments
            status = self.main[arguments[0]]()
        except SystemExit as ended:
            status = ended.code
            if isinstance(status, str):
                print(status, file=sys.stderr)
                status = 1
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(status or 0))


def run_kiln(arguments, folder, environment):
    """What our own program prints, and its exit status."""
    ended = subprocess.run(
        [os.environ['KILN'], *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return ended.stdout.decode('utf-8', 'replace'), ended.returncode


def load_all(points):
    """Loads plugins, as far as what they need is there."""
    for point in points:
        try:
            point.load()
        except (ImportError, AttributeError):
            continue


class Session:
    """A folder in which commands are typed one after the other."""

    def __init__(self, clients, clouds, the_page, names, known):
        self.clients, self.page, self.names, self.known = clients, the_page, names, known
        self.kept = tempfile.TemporaryDirectory(prefix='kiln-flow-')
        self.folder = os.path.realpath(self.kept.name)
        for name, text in the_page.files.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as a_file:
                a_file.write(text)
        self.needs = compare.needs(templates(the_page.files))
        self.environments = environments(clouds, self.folder)
        self.bound = {}

    def play(self, chain):
        """Types a chain; true if all came back as it should."""
        failed = 0
        for part in chain:
            for heading, steps in self.page.flows.items():
                if heading == part or heading.startswith(part + ':'):
                    failed += self.flow(heading, steps)
                    break
            else:
                self.silently(part)
        return failed == 0

    def silently(self, command):
        """Types a command that only prepares others."""
        output, status = self.type(command)
        if status != 0:
            raise RuntimeError('%s\n%s[exit status %d]' % (command, output, status))

    def flow(self, heading, steps):
        """Types a flow; says how many commands went wrong."""
        started, failed, known = time.monotonic(), 0, 0
        for step in steps:
            is_known = step.command in self.known
            try:
                self.step(step, 0 if is_known else PATIENCE)
                if is_known:
                    print('%s: is as written now: take it off the list' % step.command, flush=True)
            except compare.Difference as difference:
                known, failed = known + is_known, failed + (not is_known)
                if not is_known:
                    print('%s: %s\n%s\n' % (step.place, step.command, difference), flush=True)
        print('%s: %d of %d commands as written, %d known to differ, %.0f s' % (
            heading, len(steps) - failed - known, len(steps), known, time.monotonic() - started),
            flush=True)
        return failed

    def step(self, step, patience):
        """Types a command and compares, if need be until it fits."""
        if any(words in step.command for words in AT_REST):
            self.wait_for_rest(step.command.split()[-1])
        verbs = step.command.split()[2:]
        only_looks = any(verb in LOOKS for verb in verbs) or step.command.startswith('heat ')
        deadline = time.monotonic() + (patience if only_looks else 0)
        while True:
            output, status = self.type(step.command)
            try:
                return self.compare(step, output, status)
            except compare.Difference:
                if time.monotonic() >= deadline:
                    raise

    def wait_for_rest(self, stack):
        """Waits until nothing is being done with a stack."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            shown, _ = self.type('openstack stack show %s -f value -c stack_status' % stack)
            if 'IN_PROGRESS' not in shown:
                return

    def compare(self, step, output, status):
        lines = output.rstrip('\n').split('\n') if output.strip('\n') else []
        expected = [self.here(line) for line in step.lines]
        while expected and not expected[-1]:
            expected.pop()
        bound = compare.Comparison(step.command, self.needs).bind(expected, lines)
        if status != step.status:
            raise compare.Difference('exit status %d, not %d' % (status, step.status))
        self.bound.update(bound)

    def here(self, line):
        """A line as it is in this folder, for this user."""
        line = line.replace('/demo/', self.folder + '/')
        for recorded, name in self.names.items():
            line = line.replace(recorded, name)
        return line

    def type(self, command):
        """Types a command, with the ids of today."""
        for recorded, today in self.bound.items():
            if len(recorded) >= 32:
                command = command.replace(recorded, today)
        arguments = shlex.split(command)
        output, status = self.clients.run(arguments, self.folder, self.environments[arguments[0]])
        if 'stack abandon' in command and status == 0 and '--output-file' not in command:
            # What is printed is what another stack is made of.
            with open(os.path.join(self.folder, arguments[-1] + '.export'), 'w') as exported:
                exported.write(output)
        return output, status


def templates(files):
    """The files that are YAML."""
    for text in files.values():
        try:
            yield yaml.safe_load(text)
        except yaml.YAMLError:
            continue


def environments(clouds, folder):
    """The variables that each client wants."""
    with open(clouds, encoding='utf-8') as clouds_file:
        auth = yaml.safe_load(clouds_file)['clouds']['kiln']['auth']
    common = {'HOME': folder, 'PATH': os.environ['PATH'], 'LANG': 'C.UTF-8',
              'XDG_CACHE_HOME': os.path.join(sys.prefix, 'cache')}
    classic = {'OS_' + name.upper(): value for name, value in auth.items()}
    modern = dict(common, OS_CLOUD='kiln', OS_CLIENT_CONFIG_FILE=clouds)
    return {'openstack': modern, 'kiln': modern, 'heat': dict(common, **classic)}


def play_all(chains, make_session):
    """Plays chains side by side; true if all came back as it should."""
    waiting, running, failed = list(chains), set(), 0
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            chain, process = waiting.pop(0), os.fork()
            if process == 0:
                is_good = False
                try:
                    session = make_session()
                    with session.kept:
                        is_good = session.play(chain)
                except BaseException:
                    traceback.print_exc()
                sys.stdout.flush()
                os._exit(0 if is_good else 1)
            running.add(process)
        process, status = os.wait()
        running.discard(process)
        failed += status != 0
    return failed == 0


def main():
    parser = argparse.ArgumentParser(description='Types the commands of a page and compares.')
    parser.add_argument('page')
    parser.add_argument('clouds')
    parser.add_argument('--chain', action='append')
    parser.add_argument('--in-order', action='store_true', help='the page is one chain')
    parser.add_argument('--as', dest='user', help='the user in whose name the page was written')
    parser.add_argument('--known', action='append', default=[], help='a command that prints something else')
    options = parser.parse_args()
    the_page = page.read(options.page)
    chains = [[part.strip() for part in chain.split(';')] for chain in options.chain or []]
    if options.in_order:
        chains = [list(the_page.flows)]
    chains = chains or [[heading] for heading in the_page.flows]
    names = {options.user: 'demo'} if options.user else {}
    clients, clouds = Clients(), os.path.abspath(options.clouds)
    return not play_all(chains, lambda: Session(clients, clouds, the_page, names, options.known))


if __name__ == '__main__':
    sys.exit(main())
