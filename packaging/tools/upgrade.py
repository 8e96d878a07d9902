"""Installs a second version of the package in a new Debian while a stack is being created, and counts what is there afterwards.

The cloud is that of `kiln dev`. The service runs without systemd: as its units do on an upgrade, the old process is stopped with
SIGTERM and the new one started.
"""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

SERVERS = 6
BUILD_TIME_MS = 1500

root, package = Path(sys.argv[1]), Path(sys.argv[2])
processes = []


def start(*command):
    with open(root / "tmp/kiln.log", "a") as log:
        process = subprocess.Popen(["chroot", str(root), *command], stdout=subprocess.PIPE, stderr=log, text=True)
    processes.append(process)
    return process


def wait_for(process, pattern):
    """The first match in the output of a process."""
    for line in process.stdout:
        if found := re.search(pattern, line):
            return found
    raise SystemExit(f"{pattern} was never printed")


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def call(method, url, token=None, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    if token:
        request.add_header("X-Auth-Token", token)
    with urllib.request.urlopen(request, timeout=30) as response:
        text = response.read()
        return response.headers, json.loads(text) if text else None


def log_in(identity):
    user = {"name": "demo", "domain": {"name": "Default"}, "password": "demo"}
    scope = {"project": {"name": "demo", "domain": {"name": "Default"}}}
    auth = {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}
    headers, body = call("POST", f"{identity}/v3/auth/tokens", body={"auth": auth})
    endpoints = {
        entry["type"]: endpoint["url"]
        for entry in body["token"]["catalog"]
        for endpoint in entry["endpoints"]
        if endpoint["interface"] == "public"
    }
    return headers["X-Subject-Token"], body["token"]["project"]["id"], endpoints


def second_version():
    """The same package with a higher version."""
    directory = root / "tmp/second"
    shutil.rmtree(directory, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-R", str(package), str(directory)], check=True)
    control = directory / "DEBIAN/control"
    control.write_text(re.sub(r"^(Version: .*)$", r"\1+second", control.read_text(), flags=re.M))
    command = ["dpkg-deb", "--root-owner-group", "-Zgzip", "-b", str(directory), str(root / "tmp/second.deb")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def template():
    """Servers that are created one after the other."""
    resources = {}
    for number in range(SERVERS):
        properties = {"name": f"s{number}", "image": "cirros", "flavor": "m1.small", "networks": [{"network": "private"}]}
        resources[f"s{number}"] = {"type": "OS::Nova::Server", "properties": properties}
        if number:
            resources[f"s{number}"]["depends_on"] = f"s{number - 1}"
    return {"heat_template_version": "2021-04-16", "resources": resources}


def main():
    second_version()
    ports = {name: free_port() for name in ("identity", "api", "cfn", "cloudwatch", "cloud")}
    flags = [word for name, port in ports.items() for word in (f"--{name}-port", str(port))]
    dev = start("kiln", "dev", "--clouds", "/tmp/clouds.yaml", "--build-time", str(BUILD_TIME_MS), *flags)
    wait_for(dev, "Stop with")
    identity = f"http://127.0.0.1:{ports['identity']}"
    port = free_port()
    (root / "etc/kiln/kiln.conf").write_text(
        f"[database]\nconnection = sqlite:////var/lib/kiln/kiln.db\n[kiln]\nkeys_file = /var/lib/kiln/kiln.keys\n"
        f"[heat_api]\nbind_host = 127.0.0.1\nbind_port = {port}\n"
        f"[keystone_authtoken]\nauth_url = {identity}\nusername = admin\npassword = admin\nproject_name = admin\n"
    )
    for name in ("kiln.db", "kiln.keys"):
        (root / "var/lib/kiln" / name).unlink(missing_ok=True)
    checked = subprocess.run(["chroot", str(root), "kiln", "doctor", "--config", "/etc/kiln/kiln.conf"])
    if checked.returncode != 0:
        raise SystemExit("kiln doctor finds a problem")
    serve = ("kiln", "server", "--config", "/etc/kiln/kiln.conf")
    first = start(*serve)
    wait_for(first, "The engine runs")
    token, project, endpoints = log_in(identity)
    stacks = f"http://127.0.0.1:{port}/v1/{project}/stacks"
    call("POST", stacks, token, {"stack_name": "upgraded", "template": template()})

    def states():
        _, body = call("GET", f"{stacks}/upgraded/resources", token)
        return [it["resource_status"] for it in body["resources"]]

    while "CREATE_COMPLETE" not in states():
        time.sleep(0.1)
    before = states().count("CREATE_COMPLETE")
    began = time.monotonic()
    subprocess.run(["chroot", str(root), "dpkg", "-i", "--force-confold", "/tmp/second.deb"], check=True, stdout=subprocess.DEVNULL)
    # This is what the units do at the end of the installation.
    first.send_signal(signal.SIGTERM)
    if first.wait(60) != 0:
        raise SystemExit("the first server did not stop in order")
    second = start(*serve)
    wait_for(second, "The engine runs")
    took = time.monotonic() - began
    deadline = time.monotonic() + 120
    while (now := call("GET", f"{stacks}/upgraded", token)[1]["stack"]["stack_status"]) == "CREATE_IN_PROGRESS":
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    servers = call("GET", f"{endpoints['compute']}/servers", token)[1]["servers"]
    names = sorted(it["name"] for it in servers)
    version = subprocess.run(["chroot", str(root), "dpkg-query", "-W", "kiln"], capture_output=True, text=True).stdout
    print(f"{before} of {SERVERS} servers were there when {version.strip()} was installed; the change took {took:.1f} s")
    print(f"stack {now}; servers in the cloud: {', '.join(names)}")
    if now != "CREATE_COMPLETE" or names != [f"s{number}" for number in range(SERVERS)] or before >= SERVERS:
        raise SystemExit("the upgrade lost something, or came too late to show anything")


try:
    main()
finally:
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait(30)
