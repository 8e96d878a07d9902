"""Installation: packages of the distribution, and the services from PyPI in a virtual environment."""
import os
import shutil
import subprocess
import sys
from layout import FAKES, HERE, LOGS, STATE, VENV, SetupError, report
from process import run

# For each package, a file that exists if it is installed.
PACKAGES = {
    "gcc": "/usr/bin/gcc",
    "libc6-dev": "/usr/include/stdio.h",
    "mariadb-server": "/usr/sbin/mariadbd",
    "memcached": "/usr/bin/memcached",
    "rabbitmq-server": "/usr/lib/rabbitmq/bin/rabbitmq-server",
}


def install():
    """Install what is missing."""
    packages()
    services()
    fakes()


def packages():
    """Install the backing services and the compiler for uWSGI."""
    missing = [name for name, file in PACKAGES.items() if not os.path.exists(file)]
    if sys.prefix == "/usr" and not os.path.exists(f"/usr/include/python3.{sys.version_info[1]}/Python.h"):
        missing += ["python3-dev", "python3-venv"]
    if not missing:
        return
    report(f"installing {' '.join(missing)} (the instances that these packages start are not used)")
    root = [] if os.getuid() == 0 else ["sudo"]
    with open(LOGS / "apt.log", "ab") as log:
        for words in (["update"], ["install", "-y", "--no-install-recommends", *missing]):
            command = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", *words]
            if subprocess.run(command, stdout=log, stderr=log).returncode:
                raise SetupError(f"`apt-get {' '.join(words)}` failed.\nNext: read {LOGS / 'apt.log'}.")


def services():
    """Install the services in the versions of requirements.txt, again whenever that file changes."""
    wanted, stamp = HERE / "requirements.txt", VENV / "made-of.txt"
    if stamp.exists() and stamp.read_text() == wanted.read_text():
        return
    if sys.version_info < (3, 11):
        raise SetupError("The services need Python 3.11 or later.\nNext: put such a python3 first in PATH.")
    report("installing the services from PyPI: half a gigabyte, which takes some minutes")
    shutil.rmtree(VENV, ignore_errors=True)
    run("pip", sys.executable, "-m", "venv", VENV)
    pinned = [line for line in wanted.read_text().splitlines() if line.startswith("uv==")]
    pip = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "UV_", "SSL_"))}
    home = {"HOME": os.environ.get("HOME", str(STATE)), **pip}
    run("pip", VENV / "bin/pip", "install", "--quiet", *pinned, **home)
    run("pip", VENV / "bin/uv", "pip", "install", "--python", VENV / "bin/python",
        "--compile-bytecode", "-r", wanted, **home)
    stamp.write_text(wanted.read_text())


def fakes():
    """Install the fake drivers as a package that the services find by its entry points."""
    shutil.rmtree(FAKES, ignore_errors=True)
    shutil.copytree(HERE / "fakes", FAKES / "kiln_fakes", ignore=shutil.ignore_patterns("__pycache__"))
    dist_info = FAKES / "kiln_fakes-1.0.dist-info"
    dist_info.mkdir()
    (dist_info / "METADATA").write_text("Metadata-Version: 2.1\nName: kiln-fakes\nVersion: 1.0\n")
    (dist_info / "entry_points.txt").write_text(
        "[neutron.ml2.mechanism_drivers]\nkiln = kiln_fakes.network:BindsAtOnce\n")
