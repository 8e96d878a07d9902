"""Directories, ports and names."""
import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
STATE = TARGET / "openstack"
VENV = STATE / "venv"
CONF, LOGS, PIDS, DATA = (STATE / name for name in ("conf", "log", "run", "data"))
FAKES = STATE / "fakes"
CLOUDS = STATE / "clouds.yaml"

HOST = "127.0.0.1"
REGION = "RegionOne"
# All services are local and temporary, so the passwords protect nothing.
PASSWORD = "kiln"
HYPERVISORS = ("compute-1", "compute-2")

FIRST_PORT = int(os.environ.get("KILN_OPENSTACK_PORT", "25000"))
PORTS = {
    name: FIRST_PORT + number
    for number, name in enumerate(
        ("keystone", "glance", "placement", "nova", "neutron", "cinder", "mariadb", "rabbitmq",
         "rabbitmq-nodes", "epmd", "memcached"))
}


def url(name, path=""):
    """Return the URL of a service."""
    return f"http://{HOST}:{PORTS[name]}{path}"


def database(name):
    """Return the SQLAlchemy URL of a database."""
    return f"mysql+pymysql://kiln:{PASSWORD}@{HOST}:{PORTS['mariadb']}/{name}"


BROKER = f"rabbit://guest:guest@{HOST}:{PORTS['rabbitmq']}/"


class SetupError(Exception):
    """An error message for the user."""


def report(text):
    """Print the progress."""
    print(f"openstack: {text}", flush=True)
