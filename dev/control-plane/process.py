"""Processes that outlive the command that started them, known by what was written down of them."""
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from place import CONF, DATA, FAKES, HOST, LOGS, PIDS, PORTS, STATE, VENV, Trouble, say

PATIENCE = 600


def birth(pid):
    """When a process began: a number that is used again does not make it the same process."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return None


def recorded(name):
    """The id of a process of ours that runs."""
    try:
        pid, born = (PIDS / f"{name}.pid").read_text().split()
    except (OSError, ValueError):
        return None
    return int(pid) if birth(pid) == born else None


def environment(**further):
    """What processes see of the surroundings: little, so that nobody's settings leak in."""
    path = f"{VENV / 'bin'}:{os.environ.get('PATH', '')}:/usr/sbin:/usr/lib/rabbitmq/bin"
    return {"PATH": path, "HOME": str(STATE), "LANG": "C.UTF-8", "PYTHONPATH": str(FAKES),
            "PYTHONUNBUFFERED": "1", **further}


def start(name, *command, **further):
    """Starts a process unless it runs."""
    if recorded(name):
        return
    say(f"starting {name}")
    with open(LOGS / f"{name}.log", "ab") as log:
        process = subprocess.Popen(
            [str(word) for word in command], env=environment(**further), cwd=STATE,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    (PIDS / f"{name}.pid").write_text(f"{process.pid} {birth(process.pid)}")


def start_api(name, module, *arguments, **further):
    """Starts a service that is a WSGI application."""
    words = ["--pyargv", " ".join(str(word) for word in arguments)] if arguments else []
    start(name, VENV / "bin/uwsgi", "--http-socket", f"{HOST}:{PORTS[name]}", "--master",
          "--die-on-term", "--enable-threads", "--lazy-apps", "--need-app", "--processes", "1",
          "--threads", "8", "--buffer-size", "65535", "--http-auto-chunked",
          "--add-header", "Connection: close", "--worker-reload-mercy", "3",
          "--module", f"{module}:application", *words, **further)


def run(name, *command, **further):
    """Runs a command to its end, which must be a good one."""
    with open(LOGS / f"{name}.log", "ab") as log:
        ended = subprocess.run([str(word) for word in command], env=environment(**further),
                               cwd=STATE, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    if ended.returncode:
        raise Trouble(f"`{' '.join(str(word) for word in command)}` failed.\n"
                      f"Next: read the end of {LOGS / name}.log.")


def stop(names):
    """Stops processes: all are asked, then waited for, and made to end if need be."""
    pids = {name: recorded(name) for name in names}
    for pid in filter(None, pids.values()):
        os.kill(pid, signal.SIGTERM)
    for name, pid in pids.items():
        end = time.monotonic() + 30
        while pid and recorded(name) and time.monotonic() < end:
            time.sleep(0.1)
        if pid and recorded(name):
            os.killpg(pid, signal.SIGKILL)
        (PIDS / f"{name}.pid").unlink(missing_ok=True)


def wait(what, name, is_so):
    """Waits until something is so, as long as the process that brings it about runs."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        if not recorded(name):
            raise Trouble(f"{name} has ended.\nNext: read the end of {LOGS / name}.log.")
        if time.monotonic() > end:
            raise Trouble(f"{what} takes more than {PATIENCE} s.\nNext: read the end of {LOGS / name}.log.")
        time.sleep(0.2)


def listens(name):
    """Whether somebody listens on a service's port."""
    with socket.socket() as it:
        it.settimeout(1)
        return it.connect_ex((HOST, PORTS[name])) == 0


def answers(name):
    """Whether a service answers requests."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{PORTS[name]}/", timeout=20):
            return True
    except urllib.error.HTTPError as refused:
        return refused.code < 500
    except OSError:
        return False


def wait_for_port(name):
    """Waits until a process listens."""
    wait(f"opening port {PORTS[name]}", name, lambda: listens(name))


def wait_for_api(name):
    """Waits until a service answers."""
    wait(f"an answer of {name}", name, lambda: answers(name))


def make_folders():
    """Makes the folders that everything is in."""
    for folder in (CONF, LOGS, PIDS, DATA):
        folder.mkdir(parents=True, exist_ok=True)
    STATE.chmod(0o700)
