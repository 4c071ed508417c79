# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of a cluster: found where HE_BIN says, else downloaded or built once into the cache.

Every module has its own go.mod and go.sum under tools/. Its programs lie in
CACHE/programs/MODULE-KEY, where KEY is a hash of those two files and of the build's flags: any
change of a version gives a new folder and never a stale program.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.cluster.errors import ClusterError, last_words
from tests.cluster.locks import locked
from tests.cluster.paths import HERE, cache_folder, replacing
from tests.cluster.releases import SUMS, NotDownloadedError, Releases, read_sums, this_platform
from tests.cluster.toolchain import find_go, go_environment

TOOLS = HERE / "tools"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Module:
    """A folder under tools/: Go packages that become programs, and files of the module that we also
    need."""

    folder: str
    module: str
    packages: Mapping[str, str]
    # name in our cache -> glob inside the module; YAML documents are gathered into one JSON array
    documents: Mapping[str, str]
    # where the project releases its programs, see releases.py: {program}, {version}, {system} and
    # {arch} are filled in
    release: str = ""


KUBERNETES = Module(
    "kubernetes",
    "k8s.io/kubernetes",
    {
        name: f"k8s.io/kubernetes/cmd/{name}"
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
    },
    {},
    "dl.k8s.io/release/{version}/bin/{system}/{arch}/{program}",
)
NFD = Module(
    "nfd",
    "sigs.k8s.io/node-feature-discovery",
    {"nfd-master": "sigs.k8s.io/node-feature-discovery/cmd/nfd-master"},
    {"nfd-crds.json": "deployment/base/nfd-crds/nfd-api-crds.yaml"},
)
MODULES = (
    Module("etcd", "go.etcd.io/etcd/server/v3", {"etcd": "go.etcd.io/etcd/server/v3"}, {}),
    KUBERNETES,
    NFD,
)
# Only for the test of molecule's scenario on kind.
KWOK_MODULES = (
    Module(
        "kwok",
        "sigs.k8s.io/kwok",
        {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
        {},
        "github.com/kubernetes-sigs/kwok/releases/download/{version}/{program}-{system}-{arch}",
    ),
)
# Only for clusters with real nodes.
KUBELET_MODULES = (
    Module("kubelet", "k8s.io/kubernetes", {"kubelet": "k8s.io/kubernetes/cmd/kubelet"}, {}),
    Module(
        "containerd",
        "github.com/containerd/containerd/v2",
        {
            name: f"github.com/containerd/containerd/v2/cmd/{name}"
            for name in ("containerd", "containerd-shim-runc-v2", "ctr")
        },
        {},
    ),
    Module(
        "nfd-worker",
        "sigs.k8s.io/node-feature-discovery",
        {"nfd-worker": "sigs.k8s.io/node-feature-discovery/cmd/nfd-worker"},
        {},
    ),
)

# Only for molecule's scenario on kind, and what a node image of kind holds beside all others.
KIND_MODULES = (Module("kind", "sigs.k8s.io/kind", {"kind": "sigs.k8s.io/kind"}, {}),)
KIND_NODE_MODULES = (
    Module(
        "kind-node",
        "k8s.io/kubernetes",
        {name: f"k8s.io/kubernetes/cmd/{name}" for name in ("kubeadm", "kube-proxy")},
        {},
    ),
)

# Only for clusters whose scheduler goes by NUMA nodes.
NUMA_MODULES = (
    Module(
        "scheduler-plugins",
        "sigs.k8s.io/scheduler-plugins",
        {"scheduler-plugins": "sigs.k8s.io/scheduler-plugins/cmd/scheduler"},
        {},
    ),
)

# What NFD's image holds, for real nodes on which it runs as pods.
NFD_IMAGE_MODULES = (
    Module(
        "nfd-image",
        "sigs.k8s.io/node-feature-discovery",
        {
            name: f"sigs.k8s.io/node-feature-discovery/cmd/{name}"
            for name in ("nfd-gc", "nfd-master", "nfd-topology-updater", "nfd-worker")
        },
        {},
    ),
)

# Only for real nodes whose container runtime gives CDI devices by an annotation.
INJECTOR_MODULES = (
    Module(
        "device-injector",
        "github.com/containerd/nri",
        {"device-injector": "hardware.enablement/tests/cluster/tools/device-injector"},
        {},
    ),
)

# Only for real nodes that say what their NUMA nodes have free.
EXPORTER_MODULES = (
    Module(
        "resource-topology-exporter",
        "github.com/k8stopologyawareschedwg/resource-topology-exporter",
        {
            "resource-topology-exporter": "github.com/k8stopologyawareschedwg/resource-topology-exporter"
            "/cmd/resource-topology-exporter"
        },
        {},
    ),
    *NFD_IMAGE_MODULES,
)

# Only for tests that need a registry.
REGISTRY_MODULES = (
    Module(
        "registry",
        "github.com/distribution/distribution/v3",
        {"registry": "github.com/distribution/distribution/v3/cmd/registry"},
        {},
    ),
)

# Only for tests of recipes that are Helm charts, or directories of Go templates.
HELM_MODULES = (
    Module(
        "helm",
        "helm.sh/helm/v4",
        {"helm": "helm.sh/helm/v4/cmd/helm"},
        {},
    ),
)

# Only for tests of alert rules.
PROMTOOL_MODULES = (
    Module(
        "promtool",
        "github.com/prometheus/prometheus",
        {"promtool": "github.com/prometheus/prometheus/cmd/promtool"},
        {},
    ),
)

# Only for the test of the record's metrics.
STATE_METRICS_MODULES = (
    Module(
        "kube-state-metrics",
        "k8s.io/kube-state-metrics/v2",
        {"kube-state-metrics": "k8s.io/kube-state-metrics/v2"},
        {},
    ),
)


@dataclass(frozen=True)
class Programs:
    """Paths of the programs and of the documents (JSON arrays of Kubernetes objects), by name."""

    programs: Mapping[str, Path]
    documents: Mapping[str, Path]

    def __getitem__(self, name: str) -> str:
        return str(self.programs[name])

    def objects(self, name: str) -> list[dict[str, object]]:
        """The Kubernetes objects of one document."""
        loaded: list[dict[str, object]] = json.loads(self.documents[name].read_text())
        return loaded


def ensure_programs(
    say: Say = print,
    modules: Sequence[Module] = MODULES,
    *,
    without: Collection[str] = (),
    tools: Path = TOOLS,
) -> Programs:
    """All documents and all programs but some; what neither HE_BIN nor the cache has is downloaded
    or built."""
    given = given_programs(os.environ.get("HE_BIN", ""), modules)
    source = _Source(tools, Releases(say, read_sums(tools / SUMS)), say)
    programs: dict[str, Path] = {}
    documents: dict[str, Path] = {}
    lacking: list[tuple[Module, Path, list[str]]] = []
    for module in modules:
        folder = cache_folder() / "programs" / f"{module.folder}-{cache_key(module, tools)}"
        wanted = {
            name: given.get(name) or folder / name
            for name in module.packages
            if name not in without
        }
        files = {name: folder / name for name in module.documents}
        if not all(path.exists() for path in [*wanted.values(), *files.values()]):
            lacking.append((module, folder, [name for name in wanted if name not in given]))
        programs.update(wanted)
        documents.update(files)
    if lacking:
        # Beside each other: while one links, which takes one processor, others compile.
        with ThreadPoolExecutor(len(lacking)) as pool:
            list(pool.map(lambda each: source.fill(*each), lacking))
    return Programs(programs, documents)


def kubectl(say: Say = print) -> str:
    """Path of kubectl."""
    return ensure_programs(say, (KUBERNETES,))["kubectl"]


def given_programs(search_path: str, modules: Sequence[Module] = MODULES) -> dict[str, Path]:
    """Programs found in the folders of a PATH-like list; the first folder that has one wins."""
    found: dict[str, Path] = {}
    for folder in filter(None, search_path.split(os.pathsep)):
        for name in (name for module in modules for name in module.packages):
            path = Path(folder).expanduser().absolute() / name
            if name not in found and os.access(path, os.X_OK):
                found[name] = path
    return found


def cache_key(module: Module, tools: Path = TOOLS) -> str:
    """16 hex digits over the module's go.mod and go.sum, sources of our own beside them, the flags,
    the packages and this machine's architecture."""
    digest = hashlib.sha256()
    folder = tools / module.folder
    for file in (folder / "go.mod", folder / "go.sum", *sorted(folder.glob("*.go"))):
        digest.update(file.read_bytes())
    recipe = [
        _flags(module, tools),
        sorted(module.packages.items()),
        sorted(module.documents.items()),
    ]
    digest.update(json.dumps([recipe, platform.system(), platform.machine()]).encode())
    return digest.hexdigest()[:16]


def module_version(module: Module, tools: Path = TOOLS) -> str:
    """The version of the module that its go.mod requires, such as v1.36.2."""
    text = (tools / module.folder / "go.mod").read_text()
    found = re.search(rf"^\s*(?:require\s+)?{re.escape(module.module)} (v\S+)", text, re.MULTILINE)
    if found is None:
        raise ClusterError(
            f"{tools / module.folder / 'go.mod'} does not require {module.module}: run `go get` there."
        )
    return found[1]


def module_folder(module: Module, say: Say, tools: Path = TOOLS) -> Path:
    """Where Go has the files of the module, which is downloaded if it is not there."""
    go, place = find_go(say), tools / module.folder
    _run([go, "mod", "download", module.module], place, f"download {module.module}")
    listed = [go, "list", "-m", "-f", "{{.Dir}}", module.module]
    return Path(_run(listed, place, f"find {module.module}"))


def _flags(module: Module, tools: Path) -> list[str]:
    stamps, tags = ["-s", "-w"], []
    if module.module == "k8s.io/kubernetes":
        # Without these /version says v0.0.0-master, and clients that compare versions go wrong.
        version = module_version(module, tools)
        major, minor, _patch = version.removeprefix("v").split(".", 2)
        values = {
            "gitVersion": version,
            "gitMajor": major,
            "gitMinor": minor,
            "gitTreeState": "clean",
        }
        stamps += [
            f"-X k8s.io/component-base/version.{name}={value}" for name, value in values.items()
        ]
    elif module.module == "sigs.k8s.io/node-feature-discovery":
        stamps.append(f"-X {module.module}/pkg/version.version={module_version(module, tools)}")
        if module.folder == "nfd-image":
            # Where the image expects what is the host's.
            stamps.append(f"-X {module.module}/pkg/utils/hostpath.pathPrefix=/host-")
    elif module.folder == "containerd":
        # The kubelet shows it as the node's container runtime.
        stamps.append(f"-X {module.module}/version.Version={module_version(module, tools)}")
    elif module.folder == "helm":
        stamps.append(
            f"-X {module.module}/internal/version.version={module_version(module, tools)}"
        )
    elif module.folder == "promtool":
        # Without the clients of two dozen clouds, which rules have nothing to do with.
        tags = ["-tags", "remove_all_sd"]
    return ["-trimpath", "-buildvcs=false", *tags, "-ldflags", " ".join(stamps)]


def release_address(module: Module, program: str, tools: Path = TOOLS) -> str:
    """Where the project releases that program for this machine, "" if it does not; host and path,
    see releases.py."""
    return module.release.format(
        program=program, version=module_version(module, tools), **this_platform()
    )


@dataclass(frozen=True)
class _Source:
    """Where programs come from that are not there yet."""

    tools: Path
    releases: Releases
    say: Say

    def fill(self, module: Module, folder: Path, names: list[str]) -> None:
        """Bring what the folder lacks of these programs and of the module's documents; one process
        at a time."""
        lock = folder.with_name(f".{folder.name}.lock")
        waiting = "waiting for another process that downloads or builds the programs"
        with locked(lock, on_wait=lambda: self.say(waiting)):
            folder.mkdir(parents=True, exist_ok=True)
            for partial in folder.glob(".*"):  # of a process that was killed
                shutil.rmtree(partial) if partial.is_dir() else partial.unlink()
            absent = [name for name in names if not (folder / name).exists()]
            if to_build := [name for name in absent if not self._download(module, name, folder)]:
                self._build(module, to_build, folder)
            if missing := [name for name in module.documents if not (folder / name).exists()]:
                root = module_folder(module, self.say, self.tools)
                for name in missing:
                    _gather(root, module.documents[name], folder / name)

    def _download(self, module: Module, name: str, folder: Path) -> bool:
        """Bring the program as its project released it; whether that could be done."""
        title = f"{name} {module_version(module, self.tools)}"
        began = time.monotonic()
        try:
            address = release_address(module, name, self.tools)
            self.releases.download(address, folder / name, title)
        except NotDownloadedError as reason:
            self.say(f"building {title}, since {reason} (once; minutes with an empty Go cache) ...")
            return False
        self.say(f"downloaded {title} in {time.monotonic() - began:.0f} s")
        return True

    def _build(self, module: Module, names: list[str], folder: Path) -> None:
        """Build programs by one command, which links some while it compiles others."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=".", dir=folder) as made:
            packages = [module.packages[name] for name in names]
            with locked(folder.with_name(".go.lock")):
                # It may be installed first.
                go = find_go(self.say)
            command = [go, "build", *_flags(module, self.tools), "-o", f"{made}/"]
            _run([*command, *packages], self.tools / module.folder, f"build {', '.join(names)}")
            for name, package in zip(names, packages, strict=True):
                (Path(made) / built_name(package)).replace(folder / name)
        version = module_version(module, self.tools)
        self.say(f"built {', '.join(names)} {version} in {time.monotonic() - began:.0f} s")


def built_name(package: str) -> str:
    """What Go calls the program of a package: the last part of its path that is no version."""
    return re.sub(r"/v\d+$", "", package).rpartition("/")[2]


def _gather(root: Path, pattern: str, target: Path) -> None:
    """Write the YAML documents of the matching files as one JSON array, which loads much faster at
    each start."""
    documents = [
        document
        for file in sorted(root.glob(pattern))
        for document in yaml.safe_load_all(file.read_text())
        if document
    ]
    if not documents:
        raise ClusterError(
            f"No file of {root} matches {pattern}: the module was reorganised, correct programs.py."
        )
    with replacing(target) as partial:
        partial.write_text(json.dumps(documents))


def _run(command: list[str], directory: Path, purpose: str) -> str:
    result = subprocess.run(
        command, cwd=directory, env=go_environment(), capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        last = last_words(result.stderr)
        raise ClusterError(f"Could not {purpose} in {directory}: {last}")
    return result.stdout.strip()
