"""The commands of dev/openstack."""
import shutil
import sys
import time
import clouds
import install
import process
import servers
import services
from layout import CLOUDS, PIDS, PORTS, STATE, SetupError, report


def up():
    """Start the services that are not running."""
    began = time.monotonic()
    process.make_folders()
    check_ports()
    install.install()
    servers.start_all()
    services.start_identity()
    clouds.write()
    services.start_others()
    report(f"ready after {time.monotonic() - began:.0f} s; `dev/openstack env` prints how to use it")


def check_ports():
    """Fail if another process uses one of the ports."""
    taken = [f"{port} ({name})" for name, port in PORTS.items()
             if process.listens(name) and not process.recorded("rabbitmq" if "rabbit" in name else name)]
    if taken:
        raise SetupError(f"Another process listens on {', '.join(taken)}.\n"
                      "Next: set KILN_OPENSTACK_PORT to the first of eleven free ports.")


def down(*options):
    """Stop all services, the newest first, so that none loses a service that it needs."""
    if options not in ((), ("--purge",)):
        raise SetupError("The only option of down is --purge.")
    pids = sorted(PIDS.glob("*.pid"), key=lambda path: path.stat().st_mtime, reverse=True)
    names = [path.stem for path in pids]
    backing = [name for name in servers.NAMES if name in names]
    process.stop([name for name in names if name not in backing])
    process.stop(backing)
    if options:
        for folder in ("conf", "log", "run", "data", "home"):
            shutil.rmtree(STATE / folder, ignore_errors=True)
        CLOUDS.unlink(missing_ok=True)
    report(f"{len(names)} processes stopped" + (", state deleted" if options else ""))


def status():
    """Print the running services and their ports."""
    for name in [*servers.NAMES, *services.NAMES]:
        pid = process.recorded(name)
        where = f"127.0.0.1:{PORTS[name]}" if name in PORTS else ""
        print(f"{name:18} {f'running as {pid}' if pid else 'not running':18} {where}".rstrip())
    if not all(process.recorded(name) for name in [*servers.NAMES, *services.NAMES]):
        sys.exit(3)


def env(name="demo"):
    """Print the environment variables for clients and tests."""
    if not CLOUDS.exists():
        raise SetupError("OpenStack is not installed.\nNext: dev/openstack up.")
    print(clouds.variables(name))


COMMANDS = {"up": up, "down": down, "status": status, "env": env}


def main(arguments):
    """Run a command."""
    if not arguments or arguments[0] not in COMMANDS:
        sys.exit("usage: dev/openstack up | status | env [CLOUD] | down [--purge]")
    try:
        COMMANDS[arguments[0]](*arguments[1:])
    except SetupError as error:
        sys.exit(f"openstack: {error}")


main(sys.argv[1:])
