# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods get an RmdWorkload, and which one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.pods.pod_requests import (
    Claim,
    claims,
    claims_share,
    workload_of,
)
from tests.unit.rmd.objects.things import container, pod, report


def claimed(
    found: dict[str, Any],
    form: str = "v0.3",
    without_rmd: Collection[str] = (),
    **entries: str,
) -> list[Claim]:
    return claims(found, lambda _node: report(**entries), form, without_rmd)  # type: ignore[arg-type]


def test_the_seeds_pod() -> None:
    (claim,) = claimed(
        pod(container(), annotations={"nginx1_cache_min": "2"}), "v0.1", nginx1="1-2,49"
    )
    assert claim.names[0] == "rmd-workload-pod-1"
    assert claim.spec == {
        "coreIds": ["1", "2", "49"],
        "cache": {"max": 2, "min": 2},
        "nodes": ["worker-node-1"],
    }


def test_version_0_3_writes_rdt_and_asks_for_what_is_guaranteed() -> None:
    (claim,) = claimed(pod(container()), nginx1="1-3")
    assert claim.names == ("pod-1-rmd-workload-nginx1", "rmd-workload-pod-1")
    assert claim.spec["rdt"] == {"cache": {"max": 2, "min": 2}}


def test_every_suffix() -> None:
    annotations = {
        "nginx1_cache_min": "1",
        "nginx1_policy": "gold",
        "nginx1_pstate_ratio": "3.0",
        "nginx1_pstate_monitoring": "on",
        "nginx1_mba_percentage": "50",
        "nginx1_mba_mbps": "100",
    }
    (new,) = claimed(pod(container(), annotations=annotations), nginx1="1-3")
    assert new.spec["rdt"] == {
        "cache": {"max": 2, "min": 1},
        "mba": {"percentage": 50, "mbps": 100},
    }
    assert new.spec["plugins"] == {"pstate": {"ratio": "3.0", "monitoring": "on"}}
    assert new.spec["policy"] == "gold"
    (old,) = claimed(pod(container(), annotations=annotations), "v0.1", nginx1="1-3")
    assert old.spec["pstate"] == {"ratio": "3.0", "monitoring": "on"}
    assert old.spec["cache"] == {"max": 2, "min": 1}


def test_a_containers_annotations_are_its_own() -> None:
    found = pod(
        container("c1"), container("c10"), annotations={"c10_policy": "gold", "c1_cache_min": "1"}
    )
    one, ten = claimed(found, c1="1-3", c10="4-6")
    assert "policy" not in one.spec
    assert (ten.spec["policy"], ten.spec["rdt"]["cache"]["min"]) == ("gold", 2)


def test_each_container_has_its_own_workload() -> None:
    one, two = claimed(
        pod(container("a"), container("b"), container("c", ways="")), "v0.1", a="1-3", b="4-6"
    )
    assert one.names[0] == "rmd-workload-pod-1"
    assert two.names == ("pod-1-rmd-workload-b",)
    assert two.spec["coreIds"] == ["4", "5", "6"]


def test_a_number_that_is_none_is_told() -> None:
    (claim,) = claimed(pod(container(), annotations={"nginx1_cache_min": "two"}), nginx1="1-3")
    assert claim.problem == (
        'Annotation nginx1_cache_min cannot be used: "two" is no whole number; correct it, or remove it.'
    )


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (pod(container(), qosClass="Burstable"), "the pod's quality of service is Burstable"),
        (pod(container(cpu="1500m")), "its limit of cpu is 1500m"),
    ],
)
def test_without_cpus_of_its_own_there_is_no_workload(found: dict[str, Any], why: str) -> None:
    (claim,) = claimed(found, nginx1="1-3")
    assert why in claim.problem
    assert claim.spec == {}


def test_3000m_are_three() -> None:
    assert claimed(pod(container(cpu="3000m")), nginx1="1-3")[0].problem == ""


def test_no_report() -> None:
    def missing(node: str) -> dict[str, Any]:
        raise EnablementError(f"There is no agent on {node}")

    (claim,) = claims(pod(container()), missing, "v0.3")
    assert claim.problem == "There is no agent on worker-node-1."


def test_who_asks() -> None:
    assert claims_share(pod(container()), ())
    assert not claims_share(pod(container(ways="")), ())
    assert not claims_share(pod(container(), phase="Succeeded"), ())
    gone = pod(container())
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert not claims_share(gone, ())


def test_memory_bandwidth_alone_is_asked_for_where_no_rmd_is() -> None:
    init, main = container("init", ways=""), container("main")
    annotations = {"init_mba_percentage": "50", "other_mba_mbps": "9"}
    found = pod(main, annotations=annotations)
    found["spec"]["initContainers"] = [init]
    alone = pod(init, annotations=annotations)
    assert [claims_share(alone, nodes) for nodes in ((), ["worker-node-1"])] == [False, True]
    entries = {"init": "1-3", "main": "4-6"}
    assert [claim.container for claim in claimed(found, "v0.1", **entries)] == ["main"]
    first, second = claimed(found, "v0.1", ["worker-node-1"], **entries)
    assert first.spec == {
        "coreIds": ["1", "2", "3"],
        "nodes": ["worker-node-1"],
        "rdt": {"mba": {"percentage": 50}},
    }
    # The operator's short name is that of who asks for cache first, as it was.
    assert (first.names[0], second.names[0]) == ("pod-1-rmd-workload-init", "rmd-workload-pod-1")
    shares = pod(container("init", cpu="500m", ways=""), annotations=annotations)
    (claim,) = claimed(shares, "v0.3", ["worker-node-1"])
    assert claim.problem.startswith("Container init asks for memory bandwidth but for no CPUs")


def test_a_container_that_is_done_has_no_claim() -> None:
    found = pod(
        container("main"), initContainerStatuses=[{"name": "init", "state": {"terminated": {}}}]
    )
    found["spec"]["initContainers"] = [container("init")]
    assert [claim.container for claim in claimed(found, main="1-3", init="1-3")] == ["main"]


def test_the_pod_owns_the_workload() -> None:
    (claim,) = claimed(pod(container()), nginx1="1-3")
    made = workload_of(claim, claim.names[0])
    assert made["metadata"]["namespace"] == "team"
    assert made["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "Pod", "name": "pod-1", "uid": "uid-1", "controller": True}
    ]


def test_names_fit_the_api_server() -> None:
    found = pod(container("c" * 63))
    found["metadata"]["name"] = "p" * 240
    (claim,) = claimed(found, **{"c" * 63: "1-3"})
    assert len(claim.names[0]) == 253
