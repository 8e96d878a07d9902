"""Archives, Debian packages, an OCI image and a list of components, from binaries that were built.

The same inputs give the same bytes: entries are sorted, belong to root and have the time of the commit.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
import tempfile
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The names of machines: Rust's, Debian's, and those of images.
MACHINES = {"x86_64": ("amd64", "amd64"), "aarch64": ("arm64", "arm64")}

# The programs of Heat that the binary stands in for.
LINKS = ["heat", "heat-all", "heat-api", "heat-api-cfn", "heat-api-cloudwatch", "heat-engine", "heat-manage"]

# The user of the image; it has no name on most hosts.
IMAGE_USER = 65532


class Tree:
    """Files, links and directories by their paths."""

    def __init__(self):
        self.entries = {}

    def file(self, path, content, mode=0o644):
        self.entries[path] = ("file", content, mode)

    def link(self, path, target):
        self.entries[path] = ("link", target, 0o777)

    def directory(self, path, mode=0o755, user=0):
        self.entries[path] = ("directory", user, mode)

    def complete(self):
        """All entries, with the directories above them."""
        entries = dict(self.entries)
        for path in self.entries:
            for parent in Path(path).parents:
                if str(parent) not in (".", "/"):
                    entries.setdefault(str(parent), ("directory", 0, 0o755))
        return sorted(entries.items())

    def tar(self, epoch, prefix=""):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for path, (kind, value, mode) in self.complete():
                entry = tarfile.TarInfo(prefix + path)
                entry.mtime, entry.mode = epoch, mode
                content = None
                if kind == "file":
                    entry.size, content = len(value), io.BytesIO(value)
                elif kind == "link":
                    entry.type, entry.linkname = tarfile.SYMTYPE, value
                else:
                    entry.type, entry.uid, entry.gid = tarfile.DIRTYPE, value, value
                archive.addfile(entry, content)
        return buffer.getvalue()

    def write(self, directory, epoch):
        for path, (kind, value, mode) in self.complete():
            target = directory / path
            if kind == "directory":
                target.mkdir(parents=True, exist_ok=True)
            elif kind == "link":
                target.symlink_to(value)
            else:
                target.write_bytes(value)
            if kind != "link":
                target.chmod(mode)
            os.utime(target, (epoch, epoch), follow_symlinks=False)


def compressed(content, epoch):
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=6, mtime=epoch) as file:
        file.write(content)
    return buffer.getvalue()


def common(tree, dist, prefix):
    """What archive and package have in common, below a prefix such as `usr/`."""
    for page in sorted((dist / "man").iterdir()):
        tree.file(f"{prefix}share/man/man1/{page.name}", page.read_bytes())
    completions = dist / "completions"
    tree.file(f"{prefix}share/bash-completion/completions/kiln", (completions / "kiln").read_bytes())
    tree.file(f"{prefix}share/zsh/vendor-completions/_kiln", (completions / "_kiln").read_bytes())
    tree.file(f"{prefix}share/fish/vendor_completions.d/kiln.fish", (completions / "kiln.fish").read_bytes())
    for example in sorted((ROOT / "examples").rglob("*")):
        if example.is_file():
            name = example.relative_to(ROOT / "examples")
            tree.file(f"{prefix}share/doc/kiln/examples/{name}", example.read_bytes())
    for name in ("README.md", "CHANGELOG.md"):
        tree.file(f"{prefix}share/doc/kiln/{name}", (ROOT / name).read_bytes())
    tree.file(f"{prefix}share/doc/kiln/copyright", (ROOT / "LICENSE").read_bytes())


def binaries(tree, dist, machine, prefix):
    for name in ("kiln", "kiln-guest"):
        tree.file(f"{prefix}bin/{name}", (dist / f"bin-{machine}" / name).read_bytes(), 0o755)
    for name in LINKS:
        tree.link(f"{prefix}bin/{name}", "kiln")


def archive(options, machine):
    """The archive for any Linux."""
    tree = Tree()
    binaries(tree, options.dist, machine, "")
    common(tree, options.dist, "")
    tree.file("etc/kiln/kiln.conf", (options.dist / "kiln.conf").read_bytes())
    for unit in sorted((ROOT / "packaging/systemd").iterdir()):
        tree.file(f"lib/systemd/system/{unit.name}", unit.read_bytes())
    name = f"kiln-{options.version}-{machine}-unknown-linux-musl"
    (options.dist / f"{name}.tar.gz").write_bytes(compressed(tree.tar(options.epoch, f"{name}/"), options.epoch))


def package(options, machine):
    """The Debian package."""
    architecture = MACHINES[machine][0]
    tree = Tree()
    binaries(tree, options.dist, machine, "usr/")
    common(tree, options.dist, "usr/")
    for path, (kind, value, mode) in list(tree.entries.items()):
        if path.startswith("usr/share/man/"):
            del tree.entries[path]
            tree.file(f"{path}.gz", compressed(value, options.epoch))
    tree.file("etc/kiln/kiln.conf", (options.dist / "kiln.conf").read_bytes(), 0o640)
    for unit in sorted((ROOT / "packaging/systemd").iterdir()):
        tree.file(f"lib/systemd/system/{unit.name}", unit.read_bytes())
    files = [(path, value) for path, (kind, value, _) in tree.complete() if kind == "file"]
    debian = ROOT / "packaging/debian"
    control = (debian / "control.in").read_text()
    size = sum((len(value) + 1023) // 1024 for _, value in files)
    for name, value in {"VERSION": options.version, "ARCH": architecture, "SIZE": size}.items():
        control = control.replace(f"@{name}@", str(value))
    tree.file("DEBIAN/control", control.encode())
    tree.file("DEBIAN/conffiles", b"/etc/kiln/kiln.conf\n")
    sums = "".join(f"{hashlib.md5(value).hexdigest()}  {path}\n" for path, value in files)
    tree.file("DEBIAN/md5sums", sums.encode())
    for script in ("postinst", "prerm", "postrm"):
        tree.file(f"DEBIAN/{script}", (debian / script).read_bytes(), 0o755)
    with tempfile.TemporaryDirectory() as directory:
        tree.write(Path(directory), options.epoch)
        target = options.dist / f"kiln_{options.version}_{architecture}.deb"
        command = ["dpkg-deb", "--root-owner-group", "-Zgzip", "-z6", "--build", directory, str(target)]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(options.epoch)}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


class Layout:
    """An OCI image layout."""

    def __init__(self):
        self.tree = Tree()
        self.tree.file("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')

    def blob(self, content, media_type, **more):
        if not isinstance(content, bytes):
            content = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
        digest = hashlib.sha256(content).hexdigest()
        self.tree.file(f"blobs/sha256/{digest}", content)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content), **more}


def layer(options, machine):
    """The only layer: the program, a user, and directories that it may write to. There is nothing else in the image."""
    tree = Tree()
    tree.file("usr/bin/kiln", (options.dist / f"bin-{machine}" / "kiln").read_bytes(), 0o755)
    for name in LINKS:
        tree.link(f"usr/bin/{name}", "kiln")
    tree.file("etc/passwd", f"kiln:x:{IMAGE_USER}:{IMAGE_USER}::/var/lib/kiln:/usr/bin/kiln\n".encode())
    tree.file("etc/group", f"kiln:x:{IMAGE_USER}:\n".encode())
    tree.directory("var/lib/kiln", 0o750, IMAGE_USER)
    tree.directory("tmp", 0o1777)
    for example in ("first.yaml", "web.yaml"):
        tree.file(f"usr/share/doc/kiln/examples/{example}", (ROOT / "examples" / example).read_bytes())
    return tree.tar(options.epoch)


def image(options):
    """The image for all machines, as an archive that `skopeo`, `podman load` and `ctr image import` read."""
    created = timestamp(options.epoch)
    layout = Layout()
    manifests = []
    for machine in options.machines:
        plain = layer(options, machine)
        packed = layout.blob(compressed(plain, options.epoch), "application/vnd.oci.image.layer.v1.tar+gzip")
        config = {
            "created": created,
            "architecture": MACHINES[machine][1],
            "os": "linux",
            "config": {
                "User": f"{IMAGE_USER}:{IMAGE_USER}",
                "Env": ["PATH=/usr/bin"],
                "Entrypoint": ["/usr/bin/kiln"],
                "Cmd": ["server", "--config", "/etc/kiln/kiln.conf"],
                "WorkingDir": "/var/lib/kiln",
                "ExposedPorts": {"8000/tcp": {}, "8003/tcp": {}, "8004/tcp": {}},
                "StopSignal": "SIGTERM",
                "Labels": {
                    "org.opencontainers.image.title": "kiln",
                    "org.opencontainers.image.version": options.version,
                    "org.opencontainers.image.revision": options.commit,
                    "org.opencontainers.image.licenses": "Apache-2.0",
                },
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]},
            "history": [{"created": created, "created_by": "dev/release"}],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": layout.blob(config, "application/vnd.oci.image.config.v1+json"),
            "layers": [packed],
        }
        platform = {"architecture": MACHINES[machine][1], "os": "linux"}
        manifests.append(layout.blob(manifest, "application/vnd.oci.image.manifest.v1+json", platform=platform))
    for manifest in manifests:
        manifest["annotations"] = {"org.opencontainers.image.ref.name": options.version}
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests}
    layout.tree.file("index.json", json.dumps(index, sort_keys=True, indent=1).encode())
    (options.dist / f"kiln-{options.version}-oci.tar").write_bytes(layout.tree.tar(options.epoch))


def checksums():
    """The checksums of Cargo.lock, by name and version."""
    sums, current = {}, {}
    for line in (ROOT / "Cargo.lock").read_text().splitlines():
        name, _, value = line.partition(" = ")
        if name == "name":
            current = {}
        current[name] = value.strip('"')
        if name == "checksum":
            sums[current["name"], current["version"]] = current["checksum"]
    return sums


def components(options):
    """The list of components, in the format CycloneDX: everything that is linked into the two programs."""
    metadata = json.loads(options.metadata.read_text())
    packages = {it["id"]: it for it in metadata["packages"]}
    nodes = {it["id"]: it for it in metadata["resolve"]["nodes"]}
    queue = [it for it in packages.values() if it["name"] in ("kiln", "kiln-guest")]
    reached, edges = {it["id"] for it in queue}, {}
    while queue:
        package = queue.pop()
        linked = [
            it["pkg"]
            for it in nodes[package["id"]]["deps"]
            if any(kind["kind"] is None for kind in it["dep_kinds"])
        ]
        edges[package["id"]] = linked
        queue.extend(packages[it] for it in linked if it not in reached)
        reached.update(linked)
    reference = lambda it: f"pkg:cargo/{packages[it]['name']}@{packages[it]['version']}"
    sums = checksums()

    def component(identity):
        package = packages[identity]
        described = {"type": "library", "bom-ref": reference(identity), "name": package["name"],
                     "version": package["version"], "purl": reference(identity)}
        if package.get("license"):
            described["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        digest = sums.get((package["name"], package["version"]))
        if digest:
            described["hashes"] = [{"alg": "SHA-256", "content": digest}]
        return described

    ordered = sorted(reached, key=reference)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, options.version + options.commit)}",
        "version": 1,
        "metadata": {
            "timestamp": timestamp(options.epoch),
            "component": {"type": "application", "bom-ref": "kiln-release", "name": "kiln", "version": options.version},
        },
        "components": [component(it) for it in ordered],
        "dependencies": [
            {"ref": reference(it), "dependsOn": sorted({reference(to) for to in edges.get(it, [])})} for it in ordered
        ],
    }
    (options.dist / f"kiln-{options.version}.cdx.json").write_text(json.dumps(document, indent=1) + "\n")


def timestamp(epoch):
    import datetime

    return datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--epoch", type=int, required=True)
    parser.add_argument("--dist", type=Path, required=True)
    parser.add_argument("--metadata", type=Path, required=True)
    parser.add_argument("machines", nargs="+", choices=sorted(MACHINES))
    options = parser.parse_args()
    for machine in options.machines:
        archive(options, machine)
        package(options, machine)
    image(options)
    components(options)


main()
