# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_render without a cluster: which files there are for described nodes, what is in them, and what
is refused before the first one is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._authoring.gitops import (
    render_run,
)
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.gitops.gitops_files import (
    MARK,
    WAVE,
)
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.gitops.render_run import (
    RecipeRenderRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.gitops.sample_nodes import (
    SampleGroup,
    sample_nodes,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._schema.requests import (
    make_request,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.desired import Desired
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.strays import (
    MembershipRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.image_facts import (
    ImageRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.prepare import (
    prepare,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.recipe_request import (
    RecipeRequest,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)
from tests.unit.recipes.checks import TYPES
from tests.unit.recipes.conftest import REPO

__all__ = ["fake"]

Obj = dict[str, Any]

UBUNTU: Obj = {"kernel": "6.8.0-60-generic", "os_id": "ubuntu", "os_version": "24.04"}
NEWER: Obj = {**UBUNTU, "kernel": "6.14.0-27-generic"}
TOY = {
    "recipe.yml": """\
apiVersion: hardware-enablement.io/v1
name: toy
namespace: toy
selector: {any_of: [{card: "yes"}]}
options:
  token: {type: str, default: "", no_log: true}
  note: {type: str, default: "1e3"}
states:
  base: {role: state, assets: [base.yaml], validate: [{resource: {kind: ConfigMap, name: note}}]}
  late: {role: state, requires: [base], assets: [late.yaml.j2]}
""",
    "base.yaml": """\
apiVersion: v1
kind: Namespace
metadata: {name: toy}
""",
    "late.yaml.j2": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: note}
data: {note: "{{ options.note }}", SECRET_IN: "here", short: "y"}
---
apiVersion: v1
kind: Secret
metadata: {name: token}
stringData: {token: "{{ options.token }}"}
""",
}
TOY["recipe.yml"] = TOY["recipe.yml"].replace(
    ", validate: [{resource: {kind: ConfigMap, name: note}}]", ""
)


def render(folder: Path, *groups: Obj, check_mode: bool = False, **given: Any) -> Obj:
    """What the module returns for nvidia-gpu, or another recipe."""
    recipe = given.setdefault("recipe", "nvidia-gpu")
    given.setdefault("bundle", read_bundle(REPO / "recipes" / recipe) if recipe != "toy" else TOY)
    params = {"folder": str(folder), "groups": list(groups), **given}
    request = make_request(RecipeRenderRequest, params)
    return render_run.run(request, RunContext(check_mode=check_mode), TYPES)


def objects(folder: Path) -> dict[str, Obj]:
    """What the kustomization has, by kind and name."""
    names = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    found = [each for name in names for each in yaml.safe_load_all((folder / name).read_text())]
    return {f"{each['kind']} {each['metadata']['name']}": each for each in found}


def wave(obj: Obj) -> int:
    return int(obj["metadata"]["annotations"][WAVE])


def test_there_is_a_driver_for_each_kernel_that_is_described(tmp_path: Path) -> None:
    result = render(tmp_path / "out", UBUNTU, NEWER)
    found = objects(tmp_path / "out")
    drivers = [name for name in found if name.startswith("DaemonSet nvidia-driver-")]
    assert len(drivers) == 2
    assert result["objects"] == len(found)
    texts = [(tmp_path / "out" / name).read_text() for name in result["files"]]
    assert all(MARK in text.partition("\n")[0] for text in texts)
    (driver, *_others) = (found[name] for name in drivers)
    image = driver["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image in result["images"]
    assert image in (tmp_path / "out" / "images.txt").read_text().splitlines()


def test_waves_follow_the_graph_and_the_kinds(tmp_path: Path) -> None:
    render(tmp_path, UBUNTU)
    found = objects(tmp_path)
    namespace, account = found["Namespace nvidia-gpu"], found["ServiceAccount nvidia-driver"]
    (driver,) = (found[name] for name in found if name.startswith("DaemonSet nvidia-driver-"))
    plugin, record = found["DaemonSet nvidia-device-plugin"], found["SpecialResource nvidia-gpu"]
    assert wave(namespace) < wave(account) < wave(driver) < wave(plugin) < wave(record)
    assert wave(plugin) - wave(driver) >= 10
    assert "Prune=false" in str(namespace["metadata"]["annotations"])


def test_the_record_is_a_wish_and_no_run_on_its_way(tmp_path: Path) -> None:
    render(tmp_path, UBUNTU, options={"log_level": "debug"})
    record = objects(tmp_path)["SpecialResource nvidia-gpu"]
    assert "labels" not in record["metadata"]
    # By these a removal finds what no run has ever written.
    kinds = record["metadata"]["annotations"]["hardware-enablement.io/state-kinds"]
    assert "apps/v1/DaemonSet" in kinds
    assert record["spec"]["options"] == {"log_level": "debug"}


def test_a_second_run_writes_nothing_and_what_is_not_made_any_more_goes(tmp_path: Path) -> None:
    assert render(tmp_path, UBUNTU)["changed"]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert not render(tmp_path, UBUNTU)["changed"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    (gone,) = tmp_path.glob("*-feature_discovery.yaml")
    mine = tmp_path / "mine.yaml"
    mine.write_text("kind: mine\n")
    without = {"feature_discovery_enabled": False}
    assert render(tmp_path, UBUNTU, options=without, check_mode=True)["changed"]
    assert gone.exists()
    assert render(tmp_path, UBUNTU, options=without)["changed"]
    assert not gone.exists()
    assert mine.exists()


def test_a_file_of_somebody_else_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# mine\n")
    with pytest.raises(InvalidInput, match=r"file of somebody else \(.*README\.md\)"):
        render(tmp_path, UBUNTU)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_secrets_are_left_out_and_texts_stay_texts(tmp_path: Path) -> None:
    result = render(tmp_path, UBUNTU, recipe="toy", options={"token": "hunter2"})
    assert result["left_out"] == ["Secret toy/token"]
    assert (
        "Secret toy/token: secrets belong in no repository" in (tmp_path / "README.md").read_text()
    )
    assert not [path for path in tmp_path.iterdir() if "hunter2" in path.read_text()]
    # A reader of YAML 1.2 takes 1e3 for a number.
    (late,) = tmp_path.glob("*-late.yaml")
    assert 'note: "1e3"' in late.read_text()
    # Go's readers take y for yes.
    assert 'short: "y"' in late.read_text()


def test_a_secret_in_what_is_none_is_refused_before_the_first_write(tmp_path: Path) -> None:
    leaking = {
        **TOY,
        "late.yaml.j2": TOY["late.yaml.j2"].replace('"here"', "'{{ options.token }}'"),
    }
    with pytest.raises(InvalidInput, match="secret would be in a file"):
        render(tmp_path, UBUNTU, recipe="toy", bundle=leaking, options={"token": "hunter2"})
    assert list(tmp_path.iterdir()) == []


def test_nodes_without_the_hardware_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"kernel 6\.8\.0-60-generic do not have the hardware"):
        render(tmp_path, {**UBUNTU, "labels": {"card": "no"}}, recipe="toy")


def test_an_image_that_nobody_has_looked_up_is_refused_unless_it_is_named(tmp_path: Path) -> None:
    recipe: Obj = {
        "recipe": "simple-kmod",
        "options": {"repository": "registry.example.com/kmod"},
    }
    with pytest.raises(InvalidInput, match="is not known for the nodes of group") as refused:
        render(tmp_path, UBUNTU, **recipe)
    assert list(tmp_path.iterdir()) == []
    group = str(refused.value.what).rpartition(" ")[2]
    image = "registry.example.com/kmod:mine"
    assert image in render(tmp_path, UBUNTU, **recipe, images={group: image})["images"]


@pytest.mark.parametrize("by_nodes", [True, False])
def test_the_readme_says_who_sets_gates(tmp_path: Path, *, by_nodes: bool) -> None:
    options = {"readiness": "nfd"} if by_nodes else {}
    render(tmp_path, UBUNTU, options=options)
    text = (tmp_path / "README.md").read_text()
    assert ("by their own proofs" in text) is by_nodes
    assert ("without one, states that require another have no pods" in text) is not by_nodes


def test_the_readme_says_where_more_than_states_belongs_to_a_recipe(tmp_path: Path) -> None:
    render(tmp_path / "numa", UBUNTU, recipe="numa")
    render(tmp_path / "gpu", UBUNTU)
    found = {name: (tmp_path / name / "README.md").read_text() for name in ("numa", "gpu")}
    assert {name: "More than states" in text for name, text in found.items()} == {
        "numa": True,
        "gpu": False,
    }


# What these cannot be without.
NEEDED: dict[str, Obj] = {
    "intel-rmd": {"backend": "resctrl", "rmd_image": ""},
    "simple-kmod": {"repository": "registry.example.com/kmod"},
    "sriov-nic": {"policies": [{"name": "fast", "vendor": "15b3", "virtual_functions": 4}]},
}
# Their API server is asked which image a kernel has.
BUILT = {"simple-kmod"}
# Whether these are in a namespace, an API server in memory does not know.
UNKNOWN = {"cert-manager.io", "resource.k8s.io"}
RECIPES = sorted(path.parent.name for path in (REPO / "recipes").glob("*/recipe.yml"))


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_folder_has_what_a_run_would_apply(fake: FakeServer, tmp_path: Path, recipe: str) -> None:
    """Object by object: a run renders for nodes that an API server has, a folder for described ones."""
    given: Obj = {"recipe": recipe, "options": NEEDED.get(recipe)}
    if recipe in BUILT:
        given["images"] = dict.fromkeys(groups_of(fake, given), "registry.example.com/kmod:mine")
    wanted = [plain(each) for each in applied(fake, given) if each["kind"] != "Secret"]
    render(tmp_path, UBUNTU, NEWER, **given)
    names = yaml.safe_load((tmp_path / "kustomization.yaml").read_text())["resources"]
    found = [each for name in names for each in yaml.safe_load_all((tmp_path / name).read_text())]
    made = [plain(each) for each in found if each["kind"] != "SpecialResource"]
    assert sorted(made, key=str) == sorted(wanted, key=str)


def plain(obj: Obj) -> Obj:
    """An object without what is for Argo CD, and its keys in one order."""
    metadata = {**obj["metadata"]}
    if obj["apiVersion"].partition("/")[0] in UNKNOWN:
        metadata.pop("namespace", None)
    annotations = {
        name: value
        for name, value in metadata.pop("annotations", {}).items()
        if not name.startswith("argocd.argoproj.io/")
    }
    found = {**obj, "metadata": {**metadata, "annotations": annotations}}
    return dict(json.loads(json.dumps(found, sort_keys=True)))


def desired(fake: FakeServer, given: Obj) -> Desired:
    """What a run makes of a recipe where an API server has the described nodes."""
    bundle = read_bundle(REPO / "recipes" / given["recipe"])
    request = RecipeRequest(given["recipe"], bundle=bundle, options=given["options"])
    cluster = ScriptedCluster(fake)
    client = fake.client()
    prepared = prepare(request, RunContext(), client)
    groups = [SampleGroup(**each) for each in (UBUNTU, NEWER)]
    for node in sample_nodes(groups, prepared.selector):
        ready = {"type": "Ready", "status": "True"}
        cluster.put("nodes", {**node, "status": {**node["status"], "conditions": [ready]}})
    images = ImageRequest(images=given.get("images"))
    return Desired(client, prepared, MembershipRequest(), images, lambda: world.NOW)


def groups_of(fake: FakeServer, given: Obj) -> list[str]:
    return [group.id for group in desired(fake, given).discovery.node_groups]


def applied(fake: FakeServer, given: Obj) -> list[Obj]:
    rendered = desired(fake, given).rendered
    return [item.manifest for state in rendered.values() for item in state.objects]
