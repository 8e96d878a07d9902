"""The commands of dev/openstack."""
import shutil
import sys
import time
import clouds
import install
import process
import servers
import services
from place import CLOUDS, PIDS, PORTS, STATE, Trouble, say


def up():
    """Starts what does not run yet."""
    began = time.monotonic()
    process.make_folders()
    check_ports()
    install.install()
    servers.start_all()
    services.start_identity()
    clouds.write()
    services.start_others()
    say(f"ready after {time.monotonic() - began:.0f} s; `dev/openstack env` tells how to use it")


def check_ports():
    """Nobody else may have our ports."""
    taken = [f"{port} ({name})" for name, port in PORTS.items()
             if process.listens(name) and not process.recorded("rabbitmq" if "rabbit" in name else name)]
    if taken:
        raise Trouble(f"Somebody listens on {', '.join(taken)}.\n"
                      "Next: set KILN_OPENSTACK_PORT to the first of eleven free ports.")


def down(*options):
    """Stops everything; newest first, so that nobody misses what it needs."""
    if options not in ((), ("--purge",)):
        raise Trouble("The only option of down is --purge.")
    pids = sorted(PIDS.glob("*.pid"), key=lambda path: path.stat().st_mtime, reverse=True)
    names = [path.stem for path in pids]
    ground = [name for name in servers.NAMES if name in names]
    process.stop([name for name in names if name not in ground])
    process.stop(ground)
    if options:
        for folder in ("conf", "log", "run", "data", "home"):
            shutil.rmtree(STATE / folder, ignore_errors=True)
        CLOUDS.unlink(missing_ok=True)
    say(f"{len(names)} processes stopped" + (", state forgotten" if options else ""))


def status():
    """What runs, and where."""
    for name in [*servers.NAMES, *services.NAMES]:
        pid = process.recorded(name)
        where = f"127.0.0.1:{PORTS[name]}" if name in PORTS else ""
        print(f"{name:18} {f'runs as {pid}' if pid else 'does not run':18} {where}".rstrip())
    if not all(process.recorded(name) for name in [*servers.NAMES, *services.NAMES]):
        sys.exit(3)


def env(name="demo"):
    """The variables that let clients and tests use it."""
    if not CLOUDS.exists():
        raise Trouble("There is no OpenStack of ours.\nNext: dev/openstack up.")
    print(clouds.variables(name))


COMMANDS = {"up": up, "down": down, "status": status, "env": env}


def main(words):
    """Does what the words say."""
    if not words or words[0] not in COMMANDS:
        sys.exit("usage: dev/openstack up | status | env [CLOUD] | down [--purge]")
    try:
        COMMANDS[words[0]](*words[1:])
    except Trouble as trouble:
        sys.exit(f"openstack: {trouble}")


main(sys.argv[1:])
