"""A `kiln server` with the configuration of the Heat beside it: another database, other ports, the same everything else."""

import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import time

from cloud import heat_conf
from rest import call


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def end_with_parent():
    """Has the kernel end this process when its parent ends, however that ends."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)


class Server:
    """The process; `url` is that of its orchestration API."""

    def __init__(self, root, folder, oracle):
        binary = os.environ.get("KILN_BINARY", root / "target/debug/kiln")
        folder.mkdir(parents=True)
        api, cfn, watch = free_port(), free_port(), free_port()
        settings = heat_conf(oracle)
        defaults = settings["DEFAULT"]
        defaults["heat_metadata_server_url"] = f"http://127.0.0.1:{cfn}"
        defaults["heat_waitcondition_server_url"] = f"http://127.0.0.1:{cfn}/v1/waitcondition"
        for section, port in (("heat_api", api), ("heat_api_cfn", cfn), ("heat_api_cloudwatch", watch)):
            settings[section] = {"bind_host": "127.0.0.1", "bind_port": str(port)}
        settings["database"] = {"connection": f"sqlite:///{folder / 'kiln.db'}"}
        settings["kiln"] = {"keys_file": str(folder / "kiln.keys")}
        settings.remove_section("paste_deploy")
        with open(folder / "kiln.conf", "w") as file:
            settings.write(file)
        log = open(folder / "log", "w")
        self.url = f"http://127.0.0.1:{api}/v1"
        command = [binary, "server", "--config", "kiln.conf"]
        self.process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, preexec_fn=end_with_parent)
        self.wait(pathlib.Path(log.name))

    def wait(self, log):
        for _ in range(240):
            if self.process.poll() is not None:
                raise SystemExit(f"kiln server ended at once:\n{log.read_text()[-2000:]}")
            try:
                call("GET", self.url)
                return
            except OSError:
                time.sleep(0.25)
        raise SystemExit(f"kiln server does not answer on {self.url}")

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
