# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_render and a cluster: what the record of a folder says of namespaces, what is left of a run's
notes where the folder is applied, and what stays in the folder since a run would keep it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._authoring.gitops import (
    render_run,
)
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.gitops.render_run import (
    RecipeRenderRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    KEPT_ANNOTATION,
    PART_OF_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    RECIPE_RENDER,
    SPECIAL_RESOURCE,
    STATE_APPLY,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._runs.task import Task
from ansible_collections.hardware.enablement.plugins.module_utils._states import (
    apply,
    special_resource,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.adopted import (
    ANNOTATION as ADOPTED,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_spec import (
    KINDS_ANNOTATION,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_spec import (
    MADE_NAMESPACES_ANNOTATION as MADE,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import (
    runs,
    world,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    KINDS,
    Obj,
    ScriptedCluster,
    refusal,
)
from tests.unit.recipes.checks import TYPES

__all__ = ["fake"]

DESCRIBED = [{"kernel": "6.8.0-60-generic", "os_id": "ubuntu"}]
TASK = Task(RecipeRenderRequest, lambda request, context: render_run.run(request, context, TYPES))
OTHER_KERNEL = "5.15.0-9"
PLURALS = {kind.kind: plural for plural, kind in KINDS.items()}
PLACES = "applyset.kubernetes.io/additional-namespaces"


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """One node with the hardware."""
    return ScriptedCluster(fake, runs.card_node(card="yes"))


def render(fake: FakeServer, folder: Path, **given: Any) -> dict[str, Obj]:
    """What the files of a folder have, by kind and name."""
    runs.run(TASK, RECIPE_RENDER, fake, folder=str(folder), **given)
    names = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    found = [each for name in names for each in yaml.safe_load_all((folder / name).read_text())]
    return {f"{each['kind']} {each['metadata']['name']}": each for each in found}


def notes(objects: dict[str, Obj]) -> dict[str, str]:
    """The annotations of the record."""
    return dict(objects["SpecialResource toy"]["metadata"]["annotations"])


def kubectl_apply(cluster: ScriptedCluster, objects: dict[str, Obj]) -> None:
    """Each annotation and label that a file has is as the file has it, and others are left alone."""
    for obj in objects.values():
        known = cluster.objects[PLURALS[obj["kind"]]]
        live = known.get(obj["metadata"]["name"], {"metadata": {}})
        metadata = {**live["metadata"], **obj["metadata"]}
        for field in ("annotations", "labels"):
            before, wanted = live["metadata"].get(field) or {}, obj["metadata"].get(field) or {}
            metadata[field] = {**before, **wanted}
        cluster.put(PLURALS[obj["kind"]], {**live, **obj, "metadata": metadata})


def enable(fake: FakeServer) -> None:
    runs.run(apply.TASK, STATE_APPLY, fake)


def disable(fake: FakeServer) -> Obj:
    runs.run(apply.TASK, STATE_APPLY, fake, state="absent")
    return runs.run(special_resource.TASK, SPECIAL_RESOURCE, fake, state="absent")


def put_namespace(cluster: ScriptedCluster, **metadata: Obj) -> None:
    found = {"name": "toy", **metadata}
    cluster.put("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": found})


@pytest.mark.parametrize("given", [{}, {"groups": DESCRIBED}], ids=["cluster", "described"])
def test_disable_removes_the_namespace_that_a_folder_made(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path, given: Obj
) -> None:
    kubectl_apply(cluster, render(fake, tmp_path, **given))
    enable(fake)
    assert "Namespace toy" in disable(fake)["removed"]
    assert "toy" not in cluster.objects["namespaces"]


@pytest.mark.parametrize("given", [{}, {"groups": DESCRIBED}], ids=["cluster", "described"])
def test_disable_removes_the_namespace_that_a_run_made_before_a_folder_was_applied(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path, given: Obj
) -> None:
    enable(fake)
    kubectl_apply(cluster, render(fake, tmp_path, **given))
    assert "Namespace toy" in disable(fake)["removed"]


def test_a_namespace_that_was_there_before_stays(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    put_namespace(cluster)
    kubectl_apply(cluster, render(fake, tmp_path))
    enable(fake)
    kept = {entry["object"]: entry["reason"] for entry in disable(fake)["kept"]}
    assert kept["Namespace toy"] == "which was there before"
    assert "toy" in cluster.objects["namespaces"]


def test_a_namespace_that_disable_had_to_leave_is_made_once_more(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    ours, left = {PART_OF_LABEL: runs.PART_OF}, {KEPT_ANNOTATION: "toy"}
    put_namespace(cluster, labels=ours, annotations=left)
    assert notes(render(fake, tmp_path))[MADE] == "toy"


def test_a_folder_says_nothing_of_what_it_does_not_know(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    put_namespace(cluster)
    assert not {MADE, ADOPTED} & notes(render(fake, tmp_path)).keys()


def test_a_folder_remembers_what_the_record_does(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    enable(fake)
    live = cluster.objects["specialresources"]["toy"]["metadata"]["annotations"]
    live[KINDS_ANNOTATION] = '{"gone":["batch/v1/Job"],"report":["v1/Service"]}'
    live[PLACES] = live[MADE] = "older,toy"
    found = notes(render(fake, tmp_path))
    assert (found[MADE], found[PLACES]) == ("older,toy", "older,toy")
    assert yaml.safe_load(found[KINDS_ANNOTATION]) == {
        "driver": ["apps/v1/DaemonSet"],
        "gone": ["batch/v1/Job"],
        "report": ["v1/ConfigMap", "v1/Namespace", "v1/Service"],
    }


def lose_labels(cluster: ScriptedCluster) -> str:
    """A second node, of another kernel, has its driver and has lost the labels; the driver's name."""
    node = runs.card_node("n2", OTHER_KERNEL)
    group = runs.group_of(node)
    node["metadata"]["labels"]["hardware-enablement.io/toy.node-kernel"] = group
    cluster.put("nodes", node)
    driver = runs.ours("DaemonSet", f"driver-{group}", "driver", group=group)
    cluster.put("daemonsets", {**driver, "status": {"numberReady": 1}})
    return f"driver-{group}"


def test_the_driver_of_a_node_that_lost_its_labels_stays_in_the_folder(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    enable(fake)
    driver = lose_labels(cluster)
    said: list[str] = []
    context = RunContext(clock=lambda: world.NOW, notice=said.append)
    runs.run(TASK, RECIPE_RENDER, fake, context, folder=str(tmp_path))
    (kept,) = filter(None, yaml.safe_load_all((tmp_path / "kept.yaml").read_text()))
    assert list(kept)[:2] == ["apiVersion", "kind"]
    assert (kept["kind"], kept["metadata"]["name"]) == ("DaemonSet", driver)
    assert not {"uid", "resourceVersion"} & kept["metadata"].keys()
    assert "status" not in kept
    assert f"as it is: DaemonSet toy/{driver} |" in (tmp_path / "README.md").read_text()
    group = driver.removeprefix("driver-")
    why = f"a node of group {group} has lost the labels of the hardware, and has not left yet"
    assert said == [f"DaemonSet toy/{driver} stays in the folder: {why}"]


def test_the_folder_keeps_what_a_run_keeps(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    enable(fake)
    lose_labels(cluster)
    found = {name for name in render(fake, tmp_path) if name.startswith("DaemonSet ")}
    enable(fake)
    assert found == {f"DaemonSet {name}" for name in cluster.objects["daemonsets"]}


@pytest.mark.parametrize("given", [{"vanished_grace": 0}, {"release_nodes": ["n2"]}])
def test_the_driver_of_a_node_that_leaves_is_not_kept(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path, given: Obj
) -> None:
    enable(fake)
    driver = f"DaemonSet {lose_labels(cluster)}"
    assert driver in render(fake, tmp_path)
    assert driver not in render(fake, tmp_path, **given)
    assert not (tmp_path / "kept.yaml").exists()


def test_who_may_list_no_secrets_can_render(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    enable(fake)
    live = cluster.objects["specialresources"]["toy"]["metadata"]["annotations"]
    live[KINDS_ANNOTATION] = '{"report":["v1/Secret"]}'
    driver = lose_labels(cluster)
    cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", "no right") if "/secrets" in asked.path else None
    )
    assert f"DaemonSet {driver}" in render(fake, tmp_path)
