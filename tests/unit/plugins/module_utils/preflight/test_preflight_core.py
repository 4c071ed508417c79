# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""preflight against a scripted API server and a scripted registry: the answer by kernel, what is in the
way, what is written and what is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.changes import (
    Change,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    key_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    PREFLIGHT,
    STATE_APPLY,
)
from ansible_collections.hardware.enablement.plugins.module_utils._preflight import preflight_core
from ansible_collections.hardware.enablement.plugins.module_utils._preflight.pod_trials import (
    PodTrials,
)
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

    def file(self, name: str, old: str, new: str) -> None:
        """Change a file of the recipe."""
        self._files[name] = self._files[name].replace(old, new)

    def client(self) -> Client:
        """Of the cluster."""
        return self._api.client()

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


def admitted(**pod: Any) -> Any:
    """Trial pods are taken, and get what is said."""

    def answer(asked: Asked) -> Answer | None:
        if asked.method != "POST" or "/pods?" not in asked.path:
            return None
        tried = json.loads(asked.body)
        tried["metadata"]["annotations"] = pod["annotations"]
        tried["spec"]["containers"][0]["resources"] = pod["resources"]
        return 201, {}, tried

    return answer


def test_an_image_that_a_build_names_itself_is_needed_too(bed: Bed) -> None:
    signer = f"{bed.host}/signer:1"
    bed.file("Containerfile", "FROM scratch", f"FROM {signer} AS signer\nFROM signer")
    result = bed.run()
    assert [each["image"] for each in result["images"]] == [signer]
    assert f"{signer} does not exist; push it" in result["table"][-2]


def test_a_limit_range_that_would_starve_pods_is_told_with_what_it_gives(bed: Bed) -> None:
    bed.enable()
    limits = {"resources": {"limits": {"memory": "8Mi"}, "requests": {"memory": "8Mi"}}}
    bed.cluster.refuse = admitted(**limits, annotations={"kubernetes.io/limit-ranger": "set"})
    (finding,) = bed.run()["findings"]
    assert finding["message"].startswith(
        f"a LimitRange of toy gives containers of pods of DaemonSet toy/driver-{runs.group_of(runs.card_node())}"
        " the limits memory 8Mi"
    )
    assert not finding["blocks"]
    bed.cluster.refuse = admitted(**limits, annotations={})
    assert bed.run()["findings"] == []


def test_a_secret_that_pods_mount_and_nobody_has_made_is_told(bed: Bed) -> None:
    volumes = "volumes: [{name: a, secret: {secretName: license}}], containers:"
    bed.file("driver.yaml.j2", "containers:", volumes)
    bed.enable()
    (finding,) = bed.run()["findings"]
    assert (finding["check"], finding["blocks"]) == ("secrets", False)
    assert "Secret toy/license does not exist, and pods of DaemonSet toy/" in finding["message"]
    bed.cluster.put("secrets", {"metadata": {"name": "license", "namespace": "toy"}})
    assert bed.run()["findings"] == []


def test_a_quota_without_room_for_all_nodes_stops_an_enable(bed: Bed) -> None:
    bed.cluster.put("namespaces", {"metadata": {"name": "toy"}})
    for number in range(3):
        bed.cluster.put("nodes", runs.card_node(f"more-{number}", card="yes"))
    quota = {
        "metadata": {"name": "tight", "namespace": "toy"},
        "spec": {"hard": {"pods": "3"}},
        "status": {"used": {"pods": "0"}},
    }
    bed.cluster.put("resourcequotas", quota)
    said = "quota toy/tight has room for 3 of pods, and pods for all nodes take 4 more; raise it"
    assert [each["message"] for each in bed.run()["findings"] if each["blocks"]] == [said]
    template = {"metadata": {}, "spec": {"containers": []}}
    live = {
        "metadata": {"name": f"driver-{runs.group_of(runs.card_node())}", "namespace": "toy"},
        "spec": {"selector": {}, "template": template},
        "status": {"currentNumberScheduled": 1},
    }
    bed.cluster.put("daemonsets", live)
    assert [each["message"] for each in bed.run()["findings"] if "quota" in each["message"]] == []


def test_a_namespace_that_enable_labels_anew_refuses_nothing_by_its_old_label(bed: Bed) -> None:
    bed.cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", 'violates PodSecurity "restricted:latest": host namespaces')
        if asked.method == "POST" and "/pods?" in asked.path
        else None
    )
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "toy"}}
    update = Change(key_of(namespace), "update", namespace, namespace)
    driver = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "driver", "namespace": "toy"},
        "spec": {"template": {"spec": {"containers": []}}},
    }
    assert list(PodTrials(bed.client(), [driver], [update]).findings()) == []
    for changes in ([], [replace(update, theirs=True)]):
        (finding,) = PodTrials(bed.client(), [driver], changes).findings()
        assert "DaemonSet toy/driver would be refused: violates PodSecurity" in finding.message


def test_an_image_that_is_nowhere_stops_an_enable_and_is_among_those_that_are_needed(
    bed: Bed,
) -> None:
    builder = f"{bed.host}/builder:1"
    result = bed.run(builder_image=builder)
    (finding,) = [each for each in result["findings"] if each["blocks"]]
    assert finding["message"] == f"{builder} does not exist; push it"
    assert (result["images"], result["ready"]) == ([{"image": builder, "pinned": ""}], False)
    assert bed.cluster.writes == []


def test_nodes_pull_in_the_namespace_of_the_recipe_or_not_at_all(bed: Bed) -> None:
    with pytest.raises(
        EnablementError, match="No node is asked for images, since the namespace toy"
    ):
        bed.run(pull=True)
    dry = RunContext(check_mode=True, run_id="run-1", clock=lambda: world.NOW)
    assert bed.run(context=dry, pull=True)["ready"]
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


def test_what_only_nodes_can_say_is_not_known_and_stops_nobody(bed: Bed) -> None:
    bed.enable()
    for given in ({}, {"kernels": [NEXT]}):
        result = bed.run(lookup_from="node", **given)
        assert {row["answer"] for row in result["kernels"]} == {"not known"}
        assert result["ready"]
        lines = [line for line in result["table"] if line.startswith(("!", "~"))]
        assert len(lines) == len(result["kernels"])
        for line in lines:
            assert line.startswith("~ ")
            assert line.endswith("by pods, and a mere look makes none; enable asks them.")
    assert bed.cluster.writes == []
