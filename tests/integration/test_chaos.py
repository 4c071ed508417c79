# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Single faults at random requests of an enable, and nodes that leave and come during one: whatever
happened, no label is wrong, nothing is left behind, what is said can be acted on, and the next run
makes everything ready.

Small by default; HE_CHAOS_FAULTS, HE_CHAOS_NODES, HE_CHAOS_LEAVING and HE_CHAOS_SEED make it
larger, or another one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, TypeVar

import pytest

from tests.cluster import Cluster
from tests.cluster.faults import Fault, FaultProxy
from tests.cluster.kubeconfig import write_kubeconfig
from tests.cluster.pki import Authority
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.conftest import documented, name_of
from tests.integration.plays import Played, Runner
from tests.integration.waiting import wait_until, wait_until_none

pytestmark = pytest.mark.faults
T = TypeVar("T")

FAULTS, NODES, LEAVING, SEED = (
    int(os.environ.get(f"HE_CHAOS_{name}", default))
    for name, default in (("FAULTS", 10), ("NODES", 20), ("LEAVING", 4), ("SEED", 1))
)
# Of so many runs one begins with nothing; the others have some nodes and objects to make ready
# again.
FROM_NOTHING = 10
WIPED = 3
# Method, path, and how many such requests a run has at least: any request half of the time, else
# one that is about a node, a validation pod, the lock or the record.
TARGETS = (
    *[("", "", 100)] * 4,
    ("PATCH", "/nodes/", 4),
    ("POST", "/pods", 4),
    ("", "/leases/", 3),
    ("", "/specialresources/", 3),
)
DEPLOYED = ("driver", "runtime_hook", "device_plugin")
KERNELS = ("6.8.0-60-generic", "6.8.0-71-generic")


def _status(code: int, reason: str) -> Fault:
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
    }
    text = json.dumps({**body, "message": f"{reason}, says the test"}).encode()
    return Fault(status=code, headers={"Content-Type": "application/json"}, body=text)


KINDS = (
    _status(500, "InternalError"),
    _status(409, "Conflict"),
    _status(403, "Forbidden"),
    _status(422, "Invalid"),
    replace(_status(429, "TooManyRequests"), headers={"Retry-After": "1"}),
    Fault(status=503, body=b"<html>Service Unavailable</html>"),
    Fault(status=200, headers={"Content-Type": "text/html"}, body=b"<html>Sign in</html>"),
    Fault(status=200, headers={"Content-Type": "application/json"}, body=b"null"),
    Fault(lost="request"),
    Fault(lost="answer"),
    Fault(cut_after=40),
)


@dataclass
class Bed:
    """A cluster, who runs directly and who does through the proxy, and the objects that are there
    after an enable."""

    cluster: Cluster
    direct: Runner
    through: Runner
    proxy: FaultProxy
    objects: frozenset[str] = frozenset()

    def nodes(self) -> list[str]:
        """The nodes with GPUs."""
        return sorted(
            name for name in sight.nodes(self.cluster) if name.startswith(("gpu-", "more-"))
        )

    def ready(self) -> list[str]:
        """Those of them whose labels all say that they are ready."""
        return [
            node
            for node in self.nodes()
            if set(sight.gates(self.cluster, node).values()) == {"ready"}
        ]

    def inventory(self) -> frozenset[str]:
        """What the recipe's namespace and the cluster hold besides nodes and what controllers make."""
        made = (
            " Pod ",
            " ControllerRevision ",
            " Endpoints ",
            " EndpointSlice ",
            " Node ",
            " NodeFeature ",
            " CSINode ",
        )
        return frozenset(
            key for key in self.cluster.dump() if not any(kind in key for kind in made)
        )


@pytest.fixture(scope="module")
def bed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A cluster of nodes on two kernels that was enabled once, with a proxy before its API server."""
    with Cluster.up(name_of(request)) as cluster:
        for kernel, count in zip(KERNELS, (NODES - NODES // 2, NODES // 2), strict=True):
            cluster.add_nodes(count, prefix="gpu", kernel=kernel)
        direct = documented(cluster, tmp_path_factory.mktemp("runner"))
        authority = Authority(cluster.folder / "pki", "kubernetes")
        pair = authority.client(direct.user)
        with FaultProxy(cluster.server.removeprefix("https://"), authority, client=pair) as proxy:
            through = copy(direct)
            file = write_kubeconfig(
                direct.folder / "proxy.yaml",
                cluster=cluster.name,
                server=f"https://{proxy.address}",
                authority=authority.certificate_file,
                user=direct.user,
                pair=pair,
            )
            through.settings = {"K8S_AUTH_KUBECONFIG": str(file)}
            bed = Bed(cluster, direct, through, proxy)
            through.play("enable_gpu", timeout=900).check()
            assert bed.ready() == bed.nodes()
            bed.objects = bed.inventory()
            yield bed


def lies(cluster: Cluster) -> list[str]:
    """The labels that say what is not so."""
    pods, nodes = sight.pods(cluster), sight.nodes(cluster)
    found = []
    for node in nodes:
        gates = sight.gates(cluster, node)
        for state in DEPLOYED:
            if gates.get(state) == "ready" and not sight.is_ready(pods.get((node, state), {})):
                found.append(f"{node} {state}")
        offered = nodes[node]["status"].get("allocatable", {}).get("nvidia.com/gpu")
        if gates.get("") == "ready" and (set(gates.values()) != {"ready"} or offered != "8"):
            found.append(f"{node}: {gates}, {offered} GPUs")
    return found


def left_behind(bed: Bed) -> list[str]:
    """Validation pods, a lock that somebody holds, objects that were not there after the first run."""
    items = bed.cluster.api.get(sight.PODS_PATH)["items"]
    found = [
        pod["metadata"]["name"]
        for pod in items
        if sight.VALIDATION_LABEL in pod["metadata"]["labels"]
        and "deletionTimestamp" not in pod["metadata"]
    ]
    lease = json.loads(
        bed.cluster.kubectl("get", "lease", "nvidia-gpu", "-n", "hardware-enablement", "-o", "json")
    )
    held = (
        [f"the lock of {lease['spec']['holderIdentity']}"]
        if lease["spec"].get("holderIdentity")
        else []
    )
    return [*found, *held, *sorted(bed.inventory() ^ bed.objects)]


def check_sentences(played: Played) -> None:
    """What a failed run says has what, where, why and what to do."""
    assert "Traceback" not in played.output
    assert "a bug in hardware.enablement" not in played.output, played.output
    said = [
        json.loads(f'"{text}"') for text in re.findall(r'"msg": "((?:[^"\\]|\\.)*)"', played.output)
    ]
    assert said or played.code == 0, played.output
    for sentence in said:
        assert re.search(r"\S.*(\(.+\)|node|cluster).*: .+; \S+", sentence, re.DOTALL), sentence


def drawn(options: Sequence[T], *key: object) -> list[T]:
    """The options in an order that the seed and the key decide."""

    def place(option: T) -> bytes:
        return sha256(repr((SEED, key, option)).encode()).digest()

    return sorted(options, key=place)


def wipe(bed: Bed, number: int) -> None:
    """Take marks off some nodes, and an object away, so that a run has all kinds of work."""
    for node in drawn(bed.nodes(), "wipe", number)[:WIPED]:
        carried = sight.marks(bed.cluster)[node]
        annotations = [name for name in carried if name.endswith(".proofs")]
        patch: dict[str, Any] = {
            "labels": {
                f"{sight.DOMAIN}/{name}": None for name in carried if name not in annotations
            },
            "annotations": {f"{sight.DOMAIN}/{name}": None for name in annotations},
        }
        bed.cluster.api.patch(f"/api/v1/nodes/{node}", {"metadata": patch})
    bed.cluster.kubectl(
        "delete", "configmap", "-n", sight.NAMESPACE, "nvidia-device-plugin", "--ignore-not-found"
    )


def concerned(path: str) -> set[str]:
    """The node that a request is about, if it is about one."""
    found = re.match(r"/api/v1/nodes/([^/?]+)", path)
    return {found[1]} if found else set()


@pytest.mark.parametrize("number", range(FAULTS))
def test_a_single_fault_costs_no_more_than_the_node_that_it_hits(bed: Bed, number: int) -> None:
    if number % FROM_NOTHING == FROM_NOTHING - 1:
        bed.direct.play("disable", hardware_enablement_recipe="nvidia-gpu").check()
    else:
        wipe(bed, number)
    method, path, requests = TARGETS[number % len(TARGETS)]
    skip = drawn(range(requests), "skip", number)[0]
    fault = replace(drawn(KINDS, "kind", number)[0], method=method, path=path, skip=skip, times=1)
    mark = len(bed.proxy.seen)
    with bed.proxy.faults.on(fault):
        played = bed.through.play("enable_gpu", timeout=900, hardware_enablement_failure_grace=10)
    struck = [seen for seen in bed.proxy.seen[mark:] if seen.fault]
    assert struck, f"the run had only {len(bed.proxy.seen) - mark} requests"
    print(f"{number}: {struck[0]}, exit code {played.code}")
    check_sentences(played)
    wait_until_none(lambda: lies(bed.cluster), "labels that say what is not so")
    hit = concerned(struck[0].path)
    if played.code == 0 or hit:
        assert set(bed.ready()) >= set(bed.nodes()) - hit, played.output
    if played.code != 0 or len(bed.ready()) < len(bed.nodes()) or left_behind(bed):
        bed.direct.play("enable_gpu", timeout=900).check()
    assert bed.ready() == bed.nodes()
    wait_until_none(lambda: lies(bed.cluster), "labels that say what is not so")
    assert left_behind(bed) == []


def test_nodes_that_leave_and_come_cost_the_others_nothing(bed: Bed) -> None:
    bed.direct.play("disable", hardware_enablement_recipe="nvidia-gpu").check()
    slow, *others = drawn(bed.nodes(), "leave")
    leaving = others[:LEAVING]
    # It keeps the run waiting until all that is to happen has happened.
    set_fault(bed.cluster.kubeconfig, slow, "driver", "dead")
    run = bed.through.start("enable_gpu", hardware_enablement_failure_grace=600)
    try:
        wait_until(lambda: sight.pods(bed.cluster), "the first pods")
        for number, node in enumerate(leaving):
            bed.cluster.remove_nodes(node)
            # Another one comes under a name that is free again, or under a new one.
            bed.cluster.add_nodes(
                1, prefix=("gpu", "more")[number % 2], kernel=drawn(KERNELS, node)[0]
            )
        clear_faults(bed.cluster.kubeconfig, slow)
        code = run.wait(timeout=900)
    finally:
        if run.poll() is None:
            run.kill()
    played = Played(code, (bed.through.folder / "enable_gpu.log").read_text())
    check_sentences(played)
    assert played.code == 0, played.output
    line = next(line for line in played.output.splitlines() if "~ left during the run: " in line)
    named = line.partition("run: ")[2].partition(" and ")[0].split(", ")
    assert set(named) <= set(leaving) - set(bed.nodes()), line
    assert set(bed.ready()) == set(bed.nodes())
    wait_until_none(lambda: lies(bed.cluster), "labels that say what is not so")
    assert left_behind(bed) == []
