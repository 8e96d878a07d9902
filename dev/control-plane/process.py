"""Background processes, identified by their pid files."""
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from layout import CONF, DATA, FAKES, HOST, LOGS, PIDS, PORTS, STATE, VENV, SetupError, report

TIMEOUT = 600


def start_time(pid):
    """Return the start time of a process, which tells it from a later one with the same id."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return None


def recorded(name):
    """Return the id of a running service."""
    try:
        pid, born = (PIDS / f"{name}.pid").read_text().split()
    except (OSError, ValueError):
        return None
    return int(pid) if start_time(pid) == born else None


def environment(**further):
    """Return a minimal environment, so that no settings of the user leak in."""
    path = f"{VENV / 'bin'}:{os.environ.get('PATH', '')}:/usr/sbin:/usr/lib/rabbitmq/bin"
    return {"PATH": path, "HOME": str(STATE), "LANG": "C.UTF-8", "PYTHONPATH": str(FAKES),
            "PYTHONUNBUFFERED": "1", **further}


def start(name, *command, **further):
    """Start a process unless it is running."""
    if recorded(name):
        return
    report(f"starting {name}")
    with open(LOGS / f"{name}.log", "ab") as log:
        process = subprocess.Popen(
            [str(word) for word in command], env=environment(**further), cwd=STATE,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    (PIDS / f"{name}.pid").write_text(f"{process.pid} {start_time(process.pid)}")


def start_api(name, module, *arguments, **further):
    """Start a WSGI application."""
    words = ["--pyargv", " ".join(str(word) for word in arguments)] if arguments else []
    start(name, VENV / "bin/uwsgi", "--http-socket", f"{HOST}:{PORTS[name]}", "--master",
          "--die-on-term", "--enable-threads", "--lazy-apps", "--need-app", "--processes", "1",
          "--threads", "8", "--buffer-size", "65535", "--http-auto-chunked",
          "--add-header", "Connection: close", "--worker-reload-mercy", "3",
          "--module", f"{module}:application", *words, **further)


def run(name, *command, **further):
    """Run a command and check its status."""
    with open(LOGS / f"{name}.log", "ab") as log:
        ended = subprocess.run([str(word) for word in command], env=environment(**further),
                               cwd=STATE, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    if ended.returncode:
        raise SetupError(f"`{' '.join(str(word) for word in command)}` failed.\n"
                      f"Next: read the end of {LOGS / name}.log.")


def stop(names):
    """Terminate processes, wait for them, and kill those that do not end."""
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


def wait(what, name, condition):
    """Wait for a condition while the process that brings it about is running."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        if not recorded(name):
            raise SetupError(f"{name} has ended.\nNext: read the end of {LOGS / name}.log.")
        if time.monotonic() > end:
            raise SetupError(f"{what} takes longer than {TIMEOUT} s.\nNext: read the end of {LOGS / name}.log.")
        time.sleep(0.2)


def listens(name):
    """Tell whether a process listens on the port of a service."""
    with socket.socket() as it:
        it.settimeout(1)
        return it.connect_ex((HOST, PORTS[name])) == 0


def answers(name):
    """Tell whether a service answers requests."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{PORTS[name]}/", timeout=20):
            return True
    except urllib.error.HTTPError as refused:
        return refused.code < 500
    except OSError:
        return False


def wait_for_port(name):
    """Wait until a process listens."""
    wait(f"opening port {PORTS[name]}", name, lambda: listens(name))


def wait_for_api(name):
    """Wait until a service answers."""
    wait(f"the first answer of {name}", name, lambda: answers(name))


def make_folders():
    """Create the directories."""
    for folder in (CONF, LOGS, PIDS, DATA):
        folder.mkdir(parents=True, exist_ok=True)
    STATE.chmod(0o700)
