# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node image of kind, made of Debian packages and Go modules; kept with the other images.

It is what kind's own build makes: the files of images/base in kind's module, the programs, the
images that kubeadm asks for. These are one file system under several names, since all but
kube-proxy, which needs iptables, are single programs.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.errors import ClusterError, last_words
from tests.cluster.images import ensure_image, ensure_tree
from tests.cluster.images.archive import read_layers, write_archive, write_layer
from tests.cluster.images.build import images_lock, make_once
from tests.cluster.images.recipes import PAUSE
from tests.cluster.paths import REPO
from tests.cluster.programs import (
    KIND_MODULES,
    KIND_NODE_MODULES,
    KUBELET_MODULES,
    KUBERNETES,
    KWOK_MODULES,
    MODULES,
    Programs,
    Say,
    ensure_programs,
    module_folder,
    module_version,
)

SCENARIO = REPO / "extensions" / "molecule" / "kind"
REFERENCE = "localhost/kind-node:1"
_ENV = {"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}
# Where kind's units and kubeadm look for them.
_PROGRAMS = {
    **{name: f"usr/bin/{name}" for name in ("kubeadm", "kubectl", "kubelet")},
    **{name: f"usr/local/bin/{name}" for name in ("containerd", "containerd-shim-runc-v2", "ctr")},
}
_COMPONENTS = (
    *("etcd", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler"),
    "kwok",
)
_IMAGES = "kind/images/components.tar"
_UNITS = ("containerd", "kubelet", "undo-mount-hacks")
# Without CAP_SYS_RESOURCE neither limits nor OOM scores can be set.
_CONTAINERD_UNIT = f"""[Service]
OOMScoreAdjust=
LimitNPROC=
LimitCORE=
LimitNOFILE=
ExecStartPost=/usr/local/bin/ctr --namespace k8s.io images import /{_IMAGES}
"""
_KUBELET_ARGUMENTS = (
    "KUBELET_EXTRA_ARGS=--runtime-cgroups=/system.slice/containerd.service"
    " --fail-cgroupv1=false --oom-score-adj=0\n"
)
# In the place of kindnetd, which is for clusters of more than one node.
_CNI = {
    "cniVersion": "1.0.0",
    "name": "kind",
    "plugins": [
        {
            "type": "bridge",
            "bridge": "cni0",
            "isGateway": True,
            "ipMasq": True,
            "hairpinMode": True,
            "ipam": {
                "type": "host-local",
                "ranges": [[{"subnet": "10.244.0.0/24"}]],
                "routes": [{"dst": "0.0.0.0/0"}],
            },
        }
    ],
}
# kind creates what its node image has as the network's manifest.
_CNI_MANIFEST = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "no-kindnet", "namespace": "kube-system"},
}


@dataclass(frozen=True)
class _Parts:
    """What the image is made of. tree: its root file system's layers, the lowest first. kind: the
    folder of kind's module. pause: the image's archive. kwok: under which name KWOK is asked for."""

    tree: list[Path]
    programs: Programs
    kind: Path
    pause: Path
    kwok: str


def published() -> str:
    """The node image that the scenario names, pinned by digest."""
    cluster = yaml.safe_load((SCENARIO / "files" / "kind.yml").read_text())
    return str(cluster["nodes"][0]["image"])


def kwok_image(manifest: str) -> str:
    """KWOK's image in the scenario's manifest."""
    items: list[dict[str, Any]] = yaml.safe_load(manifest)["items"]
    (deployment,) = (item for item in items if item["kind"] == "Deployment")
    return str(deployment["spec"]["template"]["spec"]["containers"][0]["image"])


def ensure_node_image(say: Say) -> Path:
    """Archive with the image REFERENCE, for `docker load`; made if it is not in the cache, ClusterError where
    that cannot be done."""
    modules = (
        *(module for module in MODULES if module.folder != "nfd"),
        *(module for module in KUBELET_MODULES if module.folder != "nfd-worker"),
        *KIND_NODE_MODULES,
        *KWOK_MODULES,
    )
    parts = _Parts(
        list(reversed(ensure_tree("kind-node", say))),
        ensure_programs(say, modules),
        module_folder(KIND_MODULES[0], say),
        ensure_image(PAUSE, say).archive,
        kwok_image((SCENARIO / "files" / "kwok.yml").read_text()),
    )
    with images_lock(say):
        folder = make_once(
            "kind-node-image",
            _inputs(parts),
            f"a node of kind with Kubernetes {module_version(KUBERNETES)}",
            lambda folder: _make(parts, folder),
            say,
        )
    return folder / "image.tar"


def _inputs(parts: _Parts) -> list[object]:
    return [
        [folder.parent.name for folder in parts.tree],
        [parts.programs.programs[name].parent.name for name in (*_PROGRAMS, *_COMPONENTS)],
        [parts.kind.name, parts.pause.parent.name, parts.kwok, Path(__file__).read_text()],
    ]


def _make(parts: _Parts, folder: Path) -> None:
    layers = [
        write_layer(tree, folder / f"tree-{number}.tar") for number, tree in enumerate(parts.tree)
    ]
    root, components = folder / "root", folder / "components"
    for name in _COMPONENTS:
        _copy_program(parts.programs, name, components / "usr/local/bin" / name)
    (pause,) = read_layers(parts.pause, folder)
    own = write_layer(components, folder / "components.tar")
    images = component_images(_asked_for(parts.programs), _sandbox(parts.kind), parts.kwok)
    (root / _IMAGES).parent.mkdir(parents=True)
    write_archive(root / _IMAGES, [*layers, pause, own], images)
    _lay_out(parts, root)
    layers.append(write_layer(root, folder / "root.tar"))
    config = {
        "Env": [*_ENV["Env"], "container=docker"],
        "Entrypoint": ["/usr/local/bin/entrypoint", "/sbin/init"],
        # systemd ends by it.
        "StopSignal": "SIGRTMIN+3",
    }
    write_archive(folder / "image.tar", layers, {REFERENCE: config})
    for layer in (*layers, pause, own):
        layer.file.unlink()
    for place in (root, components):
        shutil.rmtree(place)


def component_images(
    asked_for: list[str], sandbox: str, kwok: str
) -> Mapping[str, Mapping[str, object]]:
    """Reference -> config of all images that the node has, of those that kubeadm asks for. Not
    CoreDNS, which nothing here needs."""
    named = {reference.rpartition("/")[2].partition(":")[0]: reference for reference in asked_for}
    found: dict[str, Mapping[str, object]] = {
        reference: _ENV for name, reference in named.items() if name in _COMPONENTS
    }
    found[sandbox] = {**_ENV, "Entrypoint": ["/pause"]}
    found[kwok] = {**_ENV, "Entrypoint": ["kwok"]}
    return found


def _asked_for(programs: Programs) -> list[str]:
    version = f"--kubernetes-version={module_version(KUBERNETES)}"
    command = [programs["kubeadm"], "config", "images", "list", version]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ClusterError(
            f"kubeadm does not say which images it asks for: {last_words(result.stderr)}"
        )
    return result.stdout.split()


def _sandbox(kind: Path) -> str:
    text = (kind / "images/base/files/etc/containerd/config.toml").read_text()
    found = re.search(r'sandbox_image = "(.*)"', text)
    if found is None:
        raise ClusterError(
            f"containerd's configuration in {kind} names no sandbox image: kind was reorganised, "
            "correct node_image.py."
        )
    return found[1]


def _lay_out(parts: _Parts, root: Path) -> None:
    """kind's files, programs, network, and what an engine without CAP_SYS_RESOURCE needs changed."""
    source = parts.kind / "images/base/files"
    for file in filter(Path.is_file, source.rglob("*")):
        mode = 0o755 if file.parent.name == "bin" else 0o644
        _write(root / file.relative_to(source), file.read_text(), mode)
    for name, path in _PROGRAMS.items():
        _copy_program(parts.programs, name, root / path)
    configuration = root / "etc/containerd/config.toml"
    configuration.write_text(adapted(configuration.read_text()))
    _write(root / "etc/systemd/system/containerd.service.d/20-images.conf", _CONTAINERD_UNIT)
    _write(root / "etc/default/kubelet", _KUBELET_ARGUMENTS)
    _write(root / "etc/cni/net.d/10-kind.conflist", json.dumps(_CNI))
    _write(root / "kind/manifests/default-cni.yaml", json.dumps(_CNI_MANIFEST))
    _write(root / "kind/version", module_version(KUBERNETES))
    (root / "etc/kubernetes/manifests").mkdir(parents=True)
    wanted = root / "etc/systemd/system/multi-user.target.wants"
    wanted.mkdir()
    for unit in _UNITS:
        (wanted / f"{unit}.service").symlink_to(f"/etc/systemd/system/{unit}.service")


def adapted(configuration: str) -> str:
    """containerd's configuration without what needs CAP_SYS_RESOURCE, and without the specification
    that kind's own build generates beside it."""
    text = configuration.replace("restrict_oom_score_adj = false", "restrict_oom_score_adj = true")
    return re.sub(r"(?m)^ *base_runtime_spec = .*\n", "", text)


def _copy_program(programs: Programs, name: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(programs[name], target)
    target.chmod(0o755)


def _write(file: Path, text: str, mode: int = 0o644) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
