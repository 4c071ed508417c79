# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m tests.originals CHECKOUT [NAME ...]: the custom resources of the Special Resource Operator
in a checkout of it, each enabled, enabled again and removed, unmodified, on a cluster of OpenShift's
flavour with two kernels. Prints a row for each: what came of it, what a second run wrote, what stayed."""

from __future__ import annotations

import json
import os
import re
import sys
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import Cluster
from tests.cluster.dump import dump
from tests.cluster.errors import ClusterError
from tests.cluster.programs import HELM_MODULES, ensure_programs
from tests.integration.plays import Played, Runner, close_play_server
from tests.originals.foreign_kinds import foreign_definitions

TOOLKIT = "quay.io/openshift-release-dev/ocp-v4.0-art-dev"
USER = "originals"
KERNELS = {
    "4.18.0-305.19.1.el8_4.x86_64": "410.84.202203290245-0",
    "5.14.0-570.23.1.el9_6.x86_64": "9.6.20250805-0",
}
# What custom resources choose nodes by.
LABELS = (
    "node-role.kubernetes.io/worker=",
    "node-role.kubernetes.io/node=",
    "node.kubernetes.io/instance-type=f1.2xlarge",
    "feature.node.kubernetes.io/pci-10de.present=true",
    "feature.node.kubernetes.io/pci-1d0f.present=true",
    "IS-cluster1=true",
)
LOG = "sim.hardware-enablement.io/log"
LINES = "+ wait 1\n+ touch /tmp/ready\n+ sleep infinity"
PLACEHOLDER = "REPLACE_NAMESPACE"
ISSUED = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
PAUSE_S = 3
# What a device plugin of the lab offers, of which simulated nodes know nothing.
DEVICES = {"status": {kind: {"dummy/dummyDev": "4"} for kind in ("capacity", "allocatable")}}
# Seconds; nobody mends what is wrong.
GRACE, TIMEOUT = 20, 900
_KIND = re.compile(r"^kind: *SpecialResource(Module)?\s*$", re.MULTILINE)
# Made by controllers, or what a first run makes for all that come.
_PASSING = re.compile(
    r"^\S+ (?:Endpoint|EndpointSlice|Node|NodeFeature|APIService|Pod) "
    r"|.*[ /](?:specialresources\.)?hardware-enablement"
)
_REASON = re.compile(r'"msg": "(?P<why>.*?)"(?:,|\s*\})|\[ERROR\]: (?P<error>.*)')


@dataclass(frozen=True)
class Outcome:
    """What came of one custom resource. rewrites: of the second run. left: what removal left."""

    end: str
    rewrites: int = 0
    left: tuple[str, ...] = ()

    def __str__(self) -> str:
        left = f", left {', '.join(self.left[:4])}" if self.left else ""
        return f"{self.end}, {self.rewrites} writes{left}" if self.end == "ready" else self.end


def resources_in(folder: Path, names: list[str]) -> Iterator[Path]:
    """The files with custom resources, in the order of their paths; names: parts of those wanted."""
    for path in sorted(folder.rglob("*.yaml")):
        inside = path.relative_to(folder).as_posix()
        if "/crd" in f"/{inside}" or (names and not any(name in inside for name in names)):
            continue
        if _KIND.search(path.read_text(errors="replace")):
            yield path


def resource_at(path: Path) -> dict[str, Any]:
    """The one custom resource of a file."""
    (resource,) = (each for each in yaml.safe_load_all(path.read_text()) if each)
    return dict(resource)


def main(arguments: list[str]) -> int:
    """Play them all; 0 where each is ready and leaves nothing."""
    folder = Path(arguments[0]).resolve()
    helm = Path(ensure_programs(modules=HELM_MODULES)["helm"]).parent
    os.environ["PATH"] = f"{helm}{os.pathsep}{os.environ['PATH']}"
    failed = 0
    try:
        with Cluster.up("originals", openshift=True, instant=True) as cluster:
            prepare(cluster)
            with tempfile.TemporaryDirectory() as scratch, other_programs(cluster):
                runner = Runner(cluster, USER, Path(scratch))
                for path in resources_in(folder, arguments[1:]):
                    outcome = play(cluster, runner, installed(cluster, path, Path(scratch)))
                    failed += outcome.end != "ready" or bool(outcome.rewrites or outcome.left)
                    print(f"{path.relative_to(folder)}: {outcome}", flush=True)
    finally:
        close_play_server()
    return 1 if failed else 0


def prepare(cluster: Cluster) -> None:
    """Two nodes with what the resources ask for, one that takes no pods, and kinds of others."""
    for kernel, build in KERNELS.items():
        prefix = f"node-{kernel[:4].replace('.', '-')}"
        cluster.add_nodes(
            1, profile="gpu-t4", kernel=kernel, os=f"rhcos:{build}", runtime="cri-o", prefix=prefix
        )
    nodes = cluster.kubectl("get", "nodes", "-o", "name").split()
    for node in nodes:
        if "/node-" in node:
            cluster.kubectl("label", "--overwrite", node, *LABELS)
            status = ("--subresource=status", "--type=merge", "-p", json.dumps(DEVICES))
            cluster.kubectl("patch", node, *status)
        else:
            cluster.kubectl(
                "taint",
                "--overwrite",
                "node",
                node.partition("/")[2],
                "node-role.kubernetes.io/master=:NoSchedule",
            )
    name = f"{TOOLKIT}@sha256:{'2b' * 32}"
    tag = {"name": KERNELS[min(KERNELS)], "from": {"kind": "DockerImage", "name": name}}
    add = json.dumps([{"op": "add", "path": "/spec/tags/-", "value": tag}])
    patch = ("patch", "imagestream", "driver-toolkit", "-n", "openshift", "--type=json")
    cluster.kubectl(*patch, "-p", add)
    # A chart's rights are its own.
    binding = ("create", "clusterrolebinding", USER, f"--user={USER}")
    cluster.kubectl(*binding, "--clusterrole=cluster-admin")


@contextmanager
def other_programs(cluster: Cluster) -> Iterator[None]:
    """Meanwhile all pods say what examples wait for, as simulated ones know of no such programs, and
    certificates are issued, as cert-manager would."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(PAUSE_S):
            with suppress(ClusterError):
                cluster.kubectl("annotate", "pods", "--all", "-A", f"{LOG}={LINES}")
            with suppress(ClusterError):
                issue_certificates(cluster)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join()


def issue_certificates(cluster: Cluster) -> None:
    """Set what is not there yet of the status of certificates and issuers."""
    for plural in ("certificates", "issuers"):
        listed = cluster.kubectl("get", f"{plural}.cert-manager.io", "-A", "-o", "json")
        for each in json.loads(listed)["items"]:
            if not each.get("status"):
                place = (plural, each["metadata"]["name"], "-n", each["metadata"]["namespace"])
                cluster.kubectl("patch", *place, "--type=merge", "-p", json.dumps(ISSUED))


def make_config_map(cluster: Cluster, path: Path) -> None:
    """The chart of an example in the ConfigMap that it names, as its user had put it there."""
    resource = resource_at(path)
    chart = (resource.get("spec") or {}).get("chart") or {}
    repository = chart.get("repository")
    url = repository.get("url", "") if isinstance(repository, dict) else ""
    folder = path.parent
    if not url.startswith("cm://") or not (folder / "Chart.yaml").is_file():
        return
    namespace, _slash, name = url.removeprefix("cm://").partition("/")
    with tempfile.TemporaryDirectory() as scratch, suppress(ClusterError):
        archive = Path(scratch) / f"{chart['name']}-{chart['version']}.tgz"
        with tarfile.open(archive, "w:gz") as packed:
            packed.add(folder, chart["name"])
        if namespace != resource["spec"]["namespace"]:
            cluster.kubectl("create", "namespace", namespace)
        cluster.kubectl("create", "configmap", name, "-n", namespace, f"--from-file={archive}")


def installed(cluster: Cluster, path: Path, scratch: Path) -> Path:
    """An example as its Makefile installs it, where it has a placeholder for the namespace: a copy with
    a namespace beside those of its brothers, and their manifests in ConfigMaps there."""
    if PLACEHOLDER not in path.read_text():
        return path
    for each in path.parent.glob("*.yaml"):
        (scratch / each.name).write_text(each.read_text().replace(PLACEHOLDER, USER))
    with suppress(ClusterError):
        cluster.kubectl("create", "namespace", USER)
    recipe = path.parent.parent
    for folder in (recipe / "manifests").iterdir():
        name = f"{recipe.name}-{folder.name}"
        with suppress(ClusterError):
            cluster.kubectl("create", "configmap", name, "-n", USER, f"--from-file={folder}")
    return scratch / path.name


def know_foreign_kinds(cluster: Cluster, path: Path) -> None:
    """Serve the kinds of other operators that an example does not bring itself."""
    texts = "".join(each.read_text(errors="replace") for each in path.parent.rglob("*.yaml"))
    brings = "kind: CustomResourceDefinition" in texts
    for definition in foreign_definitions():
        its = brings and f"group: {definition['spec']['group']}" in texts
        verb = "delete" if its else "apply"
        more = ["--ignore-not-found"] if verb == "delete" else ["--server-side"]
        cluster.kubectl(verb, *more, "-f", "-", stdin=yaml.safe_dump(definition))


def make_namespace(cluster: Cluster, path: Path) -> None:
    """The namespace of an example with what was in it before: the account of builds, as OpenShift makes
    it, and the Secret that the example's values name, as its user did."""
    resource = resource_at(path)
    spec = resource.get("spec") or {}
    metadata = resource["metadata"]
    depends = spec.get("dependsOn") or []
    for each in depends if isinstance(depends, list) else ():
        make_account(cluster, each["name"], None)
    namespace = spec.get("namespace") or metadata.get("namespace") or metadata["name"]
    make_account(cluster, namespace, (spec.get("set") or {}).get("pushSecret"))


def make_account(cluster: Cluster, namespace: str, secret: str | None) -> None:
    """A namespace with the account of builds and its Secret, and another Secret."""
    names = [f"builder-dockercfg-{namespace}"[:60], secret]
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "builder", "namespace": namespace},
        "secrets": [{"name": names[0]}],
    }
    with suppress(ClusterError):
        cluster.kubectl("create", "namespace", namespace)
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(account))
    for name in filter(None, names):
        with suppress(ClusterError):
            cluster.kubectl(
                "create", "secret", "generic", name, "-n", namespace, "--from-literal=a=b"
            )


def play(cluster: Cluster, runner: Runner, path: Path) -> Outcome:
    """Enable, enable again, remove."""
    know_foreign_kinds(cluster, path)
    make_namespace(cluster, path)
    make_config_map(cluster, path)
    before = dump(cluster.api)
    given = {
        "hardware_enablement_cr": str(path),
        "hardware_enablement_failure_grace": GRACE,
        "hardware_enablement_last_kernel_wins": True,
    }
    if "url: https://" in path.read_text():
        # What it depends on is in the collection as well.
        given["hardware_enablement_recipe_dir"] = str(path.parent.parent)
    for brother in brothers(path):
        log(
            path,
            runner.play(
                "special_resource",
                timeout=TIMEOUT,
                **{**given, "hardware_enablement_cr": str(brother)},
            ),
        )
    first = runner.play("special_resource", timeout=TIMEOUT, **given)
    log(path, first)
    if first.code:
        outcome = Outcome(f"not ready: {reason(first)}")
    else:
        mark = cluster.mark()
        again = runner.play("special_resource", timeout=TIMEOUT, **given)
        log(path, again)
        end = f"not ready again: {reason(again)}" if again.code else "ready"
        outcome = Outcome(end, rewrites=len(runner.writes(mark)) or again.changed)
    for name, place in enabled(cluster).items():
        ended = runner.play(
            "disable",
            timeout=TIMEOUT,
            hardware_enablement_recipe=name,
            hardware_enablement_force=True,
            hardware_enablement_delete_definitions=True,
            hardware_enablement_delete_others=True,
            # What is no folder, a person has to say.
            **({"hardware_enablement_recipe_dir": place} if "://" in place else {}),
        )
        log(path, ended)
    after = dump(cluster.api)
    left = tuple(sorted(key for key in after.keys() - before.keys() if not _PASSING.match(key)))
    return Outcome(outcome.end, outcome.rewrites, left)


def brothers(path: Path) -> list[Path]:
    """The custom resources of v1alpha1 that an example wants to be there, which its Makefile makes."""
    resource = resource_at(path)
    depends = (resource.get("spec") or {}).get("dependsOn")
    names = depends["name"] if isinstance(depends, dict) else []
    return [found for name in names for found in path.parent.glob(f"{name}[-_]*.yaml")]


def enabled(cluster: Cluster) -> dict[str, str]:
    """The names of all that is enabled, each with where its recipe is."""
    crd = "specialresources.hardware-enablement.io"
    if not cluster.kubectl("get", "crd", crd, "-o", "name", "--ignore-not-found"):
        return {}
    found = json.loads(cluster.kubectl("get", crd, "-o", "json"))["items"]
    return {each["metadata"]["name"]: each["spec"].get("recipeDir", "") for each in found}


def reason(played: Played) -> str:
    """Why a run has failed, as far as it says it in one line."""
    found = _REASON.search(played.output)
    return (found["why"] or found["error"]) if found else played.output[-300:]


def log(path: Path, played: Played) -> None:
    """The whole output, for whom the reason does not do."""
    folder = os.environ.get("HE_ORIGINALS_LOG")
    if folder:
        name = "-".join(path.parts[-3:])
        with (Path(folder) / f"{name}.log").open("a") as file:
            file.write(played.output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
