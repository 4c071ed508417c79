# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of a cluster: found where HE_BIN says, else built once from Go modules into the cache.

Every module has its own go.mod and go.sum under tools/. What is built lies in CACHE/programs/MODULE-KEY, where KEY is a
hash of those two files and of the build's flags: any change of a version gives a new folder and never a stale program.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.cluster.errors import ClusterError
from tests.cluster.locks import locked
from tests.cluster.paths import HERE, cache_folder
from tests.cluster.toolchain import find_go, go_environment

TOOLS = HERE / "tools"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Module:
    """A folder under tools/: Go packages that become programs, and files of the module that we also need."""

    folder: str
    module: str
    packages: Mapping[str, str]
    # name in our cache -> glob inside the module; YAML documents are gathered into one JSON array
    documents: Mapping[str, str]


MODULES = (
    Module("etcd", "go.etcd.io/etcd/server/v3", {"etcd": "go.etcd.io/etcd/server/v3"}, {}),
    Module(
        "kubernetes",
        "k8s.io/kubernetes",
        {
            name: f"k8s.io/kubernetes/cmd/{name}"
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
        },
        {},
    ),
    Module(
        "kwok",
        "sigs.k8s.io/kwok",
        {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
        {"kwok-crds.json": "kustomize/crd/bases/kwok.x-k8s.io_stages.yaml"},
    ),
    Module(
        "nfd",
        "sigs.k8s.io/node-feature-discovery",
        {"nfd-master": "sigs.k8s.io/node-feature-discovery/cmd/nfd-master"},
        {"nfd-crds.json": "deployment/base/nfd-crds/nfd-api-crds.yaml"},
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

# Only for tests that need a registry.
REGISTRY_MODULES = (
    Module(
        "registry",
        "github.com/distribution/distribution/v3",
        {"registry": "github.com/distribution/distribution/v3/cmd/registry"},
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


def ensure_programs(say: Say = print, modules: Sequence[Module] = MODULES) -> Programs:
    """All programs and documents; builds what is neither in HE_BIN nor in the cache, one line of progress for each."""
    given = given_programs(os.environ.get("HE_BIN", ""), modules)
    programs: dict[str, Path] = {}
    documents: dict[str, Path] = {}
    for module in modules:
        folder = cache_folder() / "programs" / f"{module.folder}-{cache_key(module)}"
        wanted = {name: given.get(name) or folder / name for name in module.packages}
        files = {name: folder / name for name in module.documents}
        if not all(path.exists() for path in [*wanted.values(), *files.values()]):
            _build(module, folder, [name for name in wanted if name not in given], say)
        programs.update(wanted)
        documents.update(files)
    return Programs(programs, documents)


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
    """16 hex digits over the module's go.mod and go.sum, the flags, the packages and this machine's architecture."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((tools / module.folder / name).read_bytes())
    recipe = [_flags(module, tools), sorted(module.packages.items()), sorted(module.documents.items())]
    digest.update(json.dumps([recipe, platform.system(), platform.machine()]).encode())
    return digest.hexdigest()[:16]


def module_version(module: Module, tools: Path = TOOLS) -> str:
    """The version of the module that its go.mod requires, such as v1.36.2."""
    text = (tools / module.folder / "go.mod").read_text()
    found = re.search(rf"^\s*(?:require\s+)?{re.escape(module.module)} (v\S+)", text, re.MULTILINE)
    if found is None:
        raise ClusterError(f"{tools / module.folder / 'go.mod'} does not require {module.module}: run `go get` there.")
    return found[1]


def _flags(module: Module, tools: Path) -> list[str]:
    stamps = ["-s", "-w"]
    if module.module == "k8s.io/kubernetes":
        # Without these /version says v0.0.0-master, and clients that compare versions go wrong.
        version = module_version(module, tools)
        major, minor, _patch = version.removeprefix("v").split(".", 2)
        values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
        stamps += [f"-X k8s.io/component-base/version.{name}={value}" for name, value in values.items()]
    elif module.folder in ("nfd", "nfd-worker"):
        stamps.append(f"-X {module.module}/pkg/version.version={module_version(module, tools)}")
    elif module.folder == "containerd":
        # The kubelet shows it as the node's container runtime.
        stamps.append(f"-X {module.module}/version.Version={module_version(module, tools)}")
    return ["-trimpath", "-buildvcs=false", "-ldflags", " ".join(stamps)]


def _build(module: Module, folder: Path, names: list[str], say: Say) -> None:
    lock = cache_folder() / "programs" / ".lock"
    with locked(lock, on_wait=lambda: say("waiting for another process that builds the programs")):
        folder.mkdir(parents=True, exist_ok=True)
        go = find_go(say)
        source = TOOLS / module.folder
        for name in names:
            if not (folder / name).exists():
                _build_program(go, module, source, name, folder / name, say)
        if missing := [name for name in module.documents if not (folder / name).exists()]:
            _run([go, "mod", "download", module.module], source, f"download {module.module}")
            root = Path(_run([go, "list", "-m", "-f", "{{.Dir}}", module.module], source, f"find {module.module}"))
            for name in missing:
                _gather(root, module.documents[name], folder / name)


def _build_program(go: str, module: Module, source: Path, name: str, target: Path, say: Say) -> None:
    say(f"building {name} {module_version(module)} (once; minutes with an empty Go cache) ...")
    began = time.monotonic()
    partial = target.with_name(f".{name}.{os.getpid()}")
    try:
        _run([go, "build", *_flags(module, TOOLS), "-o", str(partial), module.packages[name]], source, f"build {name}")
        partial.rename(target)
    finally:
        partial.unlink(missing_ok=True)
    say(f"built {name} in {time.monotonic() - began:.0f} s")


def _gather(root: Path, pattern: str, target: Path) -> None:
    """Write the YAML documents of the matching files as one JSON array, which loads much faster at each start."""
    documents = [
        document for file in sorted(root.glob(pattern)) for document in yaml.safe_load_all(file.read_text()) if document
    ]
    if not documents:
        raise ClusterError(f"No file of {root} matches {pattern}: the module was reorganised, correct programs.py.")
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    partial.write_text(json.dumps(documents))
    partial.rename(target)


def _run(command: list[str], directory: Path, purpose: str) -> str:
    result = subprocess.run(command, cwd=directory, env=go_environment(), capture_output=True, text=True, check=False)
    if result.returncode != 0:
        last = " / ".join(result.stderr.strip().splitlines()[-3:])
        raise ClusterError(f"Could not {purpose} in {directory}: {last}")
    return result.stdout.strip()
