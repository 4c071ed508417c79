# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""preflight against a scripted API server and a scripted registry: the answer by kernel, what is in the
way, what is written and what is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    PREFLIGHT,
    STATE_APPLY,
)
from ansible_collections.hardware.enablement.plugins.module_utils._preflight import preflight_core
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states import apply
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    serving,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import (
    runs,
    world,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Answer,
    Obj,
    ScriptedCluster,
    refusal,
)

RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: toy
namespace: toy
selector: {any_of: [{card: "yes"}]}
states:
  build:
    role: state_driver_container
    per: kernel
    build: {repository: REGISTRY/driver, containerfile: Containerfile}
  driver:
    role: state_driver
    per: kernel
    requires: [build]
    assets: [namespace.yaml.j2, driver.yaml.j2]
    validate: [{rollout: {}}]
"""
DRIVER = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: "driver-{{ group.id }}"}
spec:
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {serviceAccountName: driver, containers: [{name: main, image: "{{ image }}"}]}
"""
NEXT = "6.9.0-1"


class Bed:
    """A node without an image, and a registry that has none."""

    def __init__(self, api: FakeServer, registry: FakeServer) -> None:
        self.cluster = ScriptedCluster(api, runs.card_node(card="yes"))
        self._api = api
        host = registry.url.partition("://")[2]
        registry.answer = lambda _asked: refusal(404, "NotFound")
        self._files = {
            "recipe.yml": RECIPE.replace("REGISTRY", host),
            "Containerfile": "FROM scratch\n",
            "namespace.yaml.j2": runs.FILES["namespace.yaml.j2"],
            "driver.yaml.j2": DRIVER,
        }
        self.host = host
        self._plain = [{"host": host, "plain_http": True}]

    def run(self, **given: Any) -> Obj:
        """preflight, with a builder that is never asked."""
        given = {"bundle": self._files, "registries": self._plain, "builder": "controller", **given}
        return runs.run(preflight_core.TASK, PREFLIGHT, self._api, **given)

    def enable(self) -> None:
        """Make the record, and forget what was written."""
        runs.run(apply.TASK, STATE_APPLY, self._api, bundle=self._files)
        self.cluster.writes.clear()


@pytest.fixture
def bed() -> Iterator[Bed]:
    with serving() as api, serving() as registry:
        yield Bed(api, registry)


def answers(result: Obj) -> dict[str, tuple[str, int]]:
    """Kernel -> what it gets, and how many nodes run it."""
    return {row["kernel"]: (row["answer"], row["nodes"]) for row in result["kernels"]}


def test_a_kernel_that_nobody_runs_is_answered_and_nothing_is_written(bed: Bed) -> None:
    result = bed.run(kernels=[NEXT])
    assert answers(result) == {world.KERNEL: ("would build", 1), NEXT: ("would build", 0)}
    assert (result["changed"], result["ready"], result["enabled"]) == (False, True, False)
    assert result["table"][-1] == "-> run enable"
    assert answers(bed.run(builder="none"))[world.KERNEL] == ("cannot", 1)
    assert bed.cluster.writes == []


def test_what_the_record_knows_of_images_is_left_to_enable(bed: Bed) -> None:
    bed.enable()
    entry = dict.fromkeys(("name", "inputs", "problem", "failed"), "") | {"image": "r/i@sha256:1"}
    groups = (runs.group_of(runs.card_node()), "gone")
    bed.cluster.objects["specialresources"]["toy"].setdefault("status", {})["images"] = [
        {"state": "build", "kernel": world.KERNEL, "group": group, **entry} for group in groups
    ]
    assert answers(bed.run(kernels=[NEXT]))[NEXT] == ("would build", 0)
    assert bed.cluster.writes == []


def test_what_would_be_built_is_what_pods_are_tried_with(bed: Bed) -> None:
    bed.enable()
    tried: list[str] = []

    def refuse(asked: Asked) -> Answer | None:
        if asked.method == "POST" and "/pods?" in asked.path:
            tried.append(str(asked.body))
            return refusal(403, "Forbidden", "exceeded quota: tight")
        return None

    bed.cluster.refuse = refuse
    result = bed.run(kernels=[NEXT])
    assert [each["check"] for each in result["findings"] if each["blocks"]] == ["pods"]
    assert "exceeded quota: tight" in result["findings"][0]["message"]
    assert not result["ready"]
    assert len(tried) == 2
    assert all("/driver:" in body and '"Pod"' in body for body in tried)


def test_an_image_that_is_nowhere_stops_an_enable_and_is_among_those_that_are_needed(
    bed: Bed,
) -> None:
    builder = f"{bed.host}/builder:1"
    result = bed.run(builder_image=builder)
    (finding,) = [each for each in result["findings"] if each["blocks"]]
    assert finding["message"] == f"{builder} does not exist; push it"
    assert (result["images"], result["ready"]) == ([{"image": builder, "pinned": ""}], False)
    assert bed.cluster.writes == []


def test_who_may_not_make_pods_is_told_what_was_not_asked(bed: Bed) -> None:
    bed.enable()
    bed.cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", 'pods is forbidden: User "u" cannot create resource "pods"')
        if asked.method == "POST" and "/pods?" in asked.path
        else None
    )
    (finding,) = bed.run()["findings"]
    assert (finding["check"], finding["blocks"]) == ("pods", False)
    assert finding["message"].startswith("this user may not make pods in toy")


def test_kernels_are_staged_for_what_is_enabled_and_can_be_had(bed: Bed) -> None:
    with pytest.raises(EnablementError, match="toy is not enabled"):
        bed.run(kernels=[NEXT], stage=True)
    bed.enable()
    with pytest.raises(InvalidInput, match="Nothing is named to stage"):
        bed.run(stage=True)
    with pytest.raises(InvalidInput, match="no kernel to prepare for"):
        bed.run(kernels=["6.9 "], stage=True)
    with pytest.raises(EnablementError, match=f"toy cannot be staged: kernel {NEXT}"):
        bed.run(kernels=[NEXT], stage=True, builder="none")
    assert bed.cluster.writes == []


def test_what_is_staged_is_recorded_once_and_taken_back_by_an_empty_list(bed: Bed) -> None:
    bed.enable()
    record = bed.cluster.objects["specialresources"]["toy"]
    before = dict(record["spec"])
    dry = RunContext(check_mode=True, run_id="run-1", clock=lambda: world.NOW)
    assert bed.run(context=dry, kernels=[NEXT], stage=True)["changed"]
    assert bed.cluster.writes == []
    result = bed.run(kernels=[NEXT], stage=True)
    assert (result["changed"], result["staged"]) == (True, [NEXT])
    spec = bed.cluster.objects["specialresources"]["toy"]["spec"]
    assert spec == {**before, "expectedKernels": [{"kernel": NEXT}]}
    # Who names none asks for those that are staged.
    assert answers(bed.run())[NEXT] == ("would build", 0)
    assert not bed.run(kernels=[NEXT], stage=True)["changed"]
    applied: list[Obj] = []

    def watch(asked: Asked) -> None:
        if asked.method == "PATCH" and "specialresources/toy" in asked.path:
            applied.append(json.loads(asked.body))

    bed.cluster.refuse = watch
    assert bed.run(kernels=[], stage=True)["changed"]
    assert applied[-1]["spec"] == before


def test_without_a_recipe_no_kernel_is_prepared_for(bed: Bed) -> None:
    with pytest.raises(InvalidInput, match="none is named"):
        bed.run(recipe=None, bundle=None, kernels=[NEXT])
