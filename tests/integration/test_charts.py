# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes in the formats of the Special Resource Operator, as they are, rendered by the real helm: on
plain Kubernetes and with OpenShift's kinds, on two kernels each."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._authoring import (
    check_core,
    new_core,
)
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.check_core import (
    RecipeCheckRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.of_chart import (
    of_chart,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.kernel_affine import (
    fnv64a,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.recipe_reading import (
    read_recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface import arguments
from ansible_collections.hardware.enablement.plugins.module_utils._interface.api_types_file import (
    read_api_types,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.checking.check import (
    check as check_recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.standard import (
    STANDARD_OPTIONS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    RenderFacts,
    render_state,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.sample import (
    SAMPLE_GROUPS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states import apply
from tests.cluster import Cluster
from tests.cluster.programs import HELM_MODULES, ensure_programs
from tests.integration import sight
from tests.integration.conftest import grant
from tests.integration.in_process import Module
from tests.integration.plays import Runner
from tests.integration.waiting import wait_until
from tests.scenes.plugin_chart import write_plugin_chart
from tests.scenes.sro_recipes import special_resources, sro_recipes
from tests.scenes.vendor_chart import (
    CARDS,
    GADGETS,
    GPU,
    SHARING,
    WIDGETS,
    definition,
    write_chart,
)

pytestmark = pytest.mark.recipes

Obj = dict[str, Any]

RECIPES = sro_recipes()
BROKEN = RECIPES / "broken"
NAMES = sorted(path.name for path in RECIPES.iterdir() if path != BROKEN)
MISSPELT = ("nic", "vran")
# simple-kmod builds there, see below.
ON_OPENSHIFT = ("gpu-stack", "kmod-numbered", "upgrade-aware", "vran")
# The GPU nodes of the demo, which have two kernels.
GPUS = {"feature.node.kubernetes.io/pci-0302_10de.present": "true"}
SET: dict[str, Obj] = {
    "behind-a-proxy": {"url": "https://example.org/{{ .Values.kernelFullVersion }}.tar"},
    "kmod-numbered": {"driverContainer": {"buildArgs": [{"name": "KMODVER", "value": "SRO"}]}},
}
KERNELS = ("5.14.0-427.50.1.el9_4.x86_64", "5.14.0-570.23.1.el9_6.x86_64")


@pytest.fixture(scope="module", autouse=True)
def helm() -> Iterator[None]:
    """The real program, first on the PATH."""
    folder = Path(ensure_programs(modules=HELM_MODULES)["helm"]).parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        yield


@pytest.fixture(scope="module")
def openshift() -> Iterator[Cluster]:
    """A cluster that serves what OpenShift serves, with RHCOS of two builds."""
    with Cluster.up("test-charts-openshift", openshift=True) as started:
        for kernel, build in zip(KERNELS, ("418.94.202411201839-0", "9.6.20250805-0"), strict=True):
            started.add_nodes(
                1,
                profile="gpu-t4",
                kernel=kernel,
                os=f"rhcos:{build}",
                runtime="cri-o",
                prefix=f"gpu-{build[:3].strip('.')}".replace(".", "-"),
            )
        yield started


def state_apply(cluster: Cluster) -> Module:
    """The module, as an admin of the cluster: the rights that a chart needs are its own."""
    return Module(apply.TASK, arguments.STATE_APPLY, cluster.kubeconfig)


def parameters(name: str, folder: Path = RECIPES, **options: Any) -> Obj:
    """What the action plugin gives to the module."""
    given = {"node_selector": GPUS, **options}
    if name in SET:
        given.setdefault("set", SET[name])
    return {"recipe": name, "bundle": read_bundle(folder / name), "options": given}


def items(cluster: Cluster, namespace: str, kind: str) -> dict[str, Obj]:
    """The objects of a kind by name."""
    listed = json.loads(cluster.kubectl("get", kind, "-n", namespace, "-o", "json"))["items"]
    return {item["metadata"]["name"]: item for item in listed}


def check(name: str, folder: Path = RECIPES) -> tuple[Obj, list[str]]:
    """What recipe_check says of a recipe, without a cluster."""
    shown: list[str] = []
    context = RunContext(progress=shown.append)
    request = RecipeCheckRequest(name, bundle=read_bundle(folder / name))
    return check_core.run(request, context, read_api_types()), shown


def with_rights(cluster: Cluster, folder: Path, given: Obj) -> Runner:
    """Plays as a user with the rights that these variables need, and no more."""
    rights = folder / "rights.yaml"
    Runner(cluster, "admin", folder).without_kubeconfig().play(
        "rights",
        **given,
        hardware_enablement_rights_file=str(rights),
        hardware_enablement_rights_subjects=[{"kind": "User", "name": "runner"}],
    ).check()
    cluster.kubectl("apply", "-f", str(rights))
    return Runner(cluster, "runner", folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_runs_to_ready_and_a_second_run_changes_nothing(
    cluster: Cluster, name: str
) -> None:
    module = state_apply(cluster)
    found = module.done(**parameters(name), wait=True)
    assert found["changed"]
    assert bool(found.get("warnings")) == (name in MISSPELT)
    assert found["report"]["phase"] == "ready", found["report"].keys()
    module.unchanged(**parameters(name), wait=True)
    module.done(**parameters(name), state="absent")


@pytest.mark.parametrize("name", ON_OPENSHIFT)
def test_a_recipe_runs_to_ready_on_openshift(openshift: Cluster, name: str) -> None:
    module = state_apply(openshift)
    found = module.done(**parameters(name), wait=True)
    assert found["report"]["phase"] == "ready", found["report"].keys()
    if name == "upgrade-aware":
        data = items(openshift, name, "configmap")["kernels"]["data"]
        versions = dict(zip(KERNELS, ("9.4", "9.6"), strict=True))
        assert {kernel: data[kernel].split()[0] for kernel in KERNELS} == versions
        assert (data["platform"], data["version"]) == ("OCP", "4.19")
        assert data["image"].startswith("quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:9f")
        # The namespace is this resource's own.
        assert data["push"] == ""
    module.unchanged(**parameters(name), wait=True)
    module.done(**parameters(name), state="absent")


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_is_found_to_be_sound_without_a_cluster(name: str) -> None:
    result, shown = check(name)
    assert result["errors"] == [], shown
    misspelt = [text for text in shown if "is taken for" in text]
    assert bool(misspelt) == (name in MISSPELT)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("template-error", 'templates/0000-a.yaml:7: function "nosuchfunction" not defined'),
        ("missing-value", "templates/0000-a.yaml:7: the image has to be given"),
        ("nil-value", "templates/0000-a.yaml:7: executing"),
        ("unknown-kind", "templates/0000-a.yaml:3: there is no apps/v1 Daemonset, did you mean"),
        ("wrong-annotation", "templates/0000-a.yaml:7: ConfigMap a has a wrong annotation"),
        ("wrong-flag", "templates/0000-a.yaml:7: ConfigMap a has a wrong annotation"),
        ("no-version", "Chart.yaml:1: this is no chart that can be used: version"),
        ("cycle", "templates/_a.tpl:2: executing"),
        ("no-yaml", "templates/0000-a.yaml:7: it gives no YAML: mapping values"),
        (
            "no-yaml-rendered",
            "templates/0000-a.yaml: it gives no YAML: mapping values are not allowed in this context (line 13 of",
        ),
        (
            "no-kind",
            (
                "templates/0000-a.yaml: a template does not give a Kubernetes object: expected kind,"
                " found nothing (line 13 of"
            ),
        ),
        ("missing-subchart", "Chart.yaml: an error occurred while checking"),
        ("changes-each-time", "templates/0000-a.yaml:7: the function randAlphaNum"),
        (
            "changes-unlisted",
            "templates/0000-a.yaml: line 6 of what it renders to is another one each time",
        ),
        ("one-name-for-all-kernels", "templates/0000-a.yaml:7: ConfigMap a is not the same for"),
        ("templated-hook", "templates/0000-a.yaml: the hook pre-install of ConfigMap a"),
        ("unknown-field", "0000-a.yaml:7: there is no field .KernelFulVersion"),
    ],
)
def test_a_broken_one_is_refused_with_file_and_line(name: str, message: str) -> None:
    result, shown = check(name, BROKEN)
    assert result["failed"]
    assert any(text.startswith(f"error: {name}/{message}") for text in shown), shown
    assert all("\n" not in text for text in shown)


def test_every_broken_one_is_tried() -> None:
    (mark,) = (
        each
        for each in test_a_broken_one_is_refused_with_file_and_line.pytestmark  # type: ignore[attr-defined]
    )
    assert sorted(name for name, _message in mark.args[1]) == sorted(
        path.name for path in BROKEN.iterdir()
    )


def test_a_broken_one_writes_nothing(cluster: Cluster) -> None:
    text = state_apply(cluster).failed(**parameters("missing-value", BROKEN), wait=True)
    assert "templates/0000-a.yaml, line 7" in text
    assert "missing-value" not in cluster.kubectl("get", "namespaces")


def test_what_a_person_gives_goes_over_the_charts_values_and_under_the_runtimes(
    cluster: Cluster,
) -> None:
    given = {"image": "registry.example.org/mine/kmod", "kernelFullVersion": "none"}
    module = state_apply(cluster)
    module.done(**parameters("simple-kmod", set=given), wait=True)
    found = items(cluster, "simple-kmod", "daemonset").values()
    kernels = {
        node["status"]["nodeInfo"]["kernelVersion"]
        for name, node in sight.nodes(cluster).items()
        if name.startswith("gpu-")
    }
    images = {item["spec"]["template"]["spec"]["containers"][0]["image"] for item in found}
    assert images == {f"registry.example.org/mine/kmod:v{kernel}" for kernel in kernels}
    module.done(**parameters("simple-kmod"), state="absent")


def test_the_proxy_and_templates_in_what_is_given(cluster: Cluster) -> None:
    module = state_apply(cluster)
    proxy = {"https": "http://proxy.example.org:3128"}
    module.done(**parameters("behind-a-proxy", proxy=proxy), wait=True)
    for item in items(cluster, "behind-a-proxy", "daemonset").values():
        (container,) = item["spec"]["template"]["spec"]["containers"]
        assert {"name": "HTTPS_PROXY", "value": proxy["https"]} in container["env"]
        assert container["command"][1].startswith("https://example.org/6.8.0-")
    module.done(**parameters("behind-a-proxy"), state="absent")


def test_a_hook_that_has_changed_runs_again(cluster: Cluster) -> None:
    module = state_apply(cluster)
    module.done(**parameters("plain-chart"), wait=True)
    before = items(cluster, "plain-chart", "job")
    given = parameters("plain-chart", set={"image": "registry.example.org/sro/plain:2"})
    module.done(**given, wait=True)
    after = items(cluster, "plain-chart", "job")
    assert set(after) == set(before) == {"before", "after"}
    for name, job in after.items():
        assert job["metadata"]["uid"] != before[name]["metadata"]["uid"]
        assert job["status"]["succeeded"] == 1
    module.unchanged(**given, wait=True)
    module.done(**parameters("plain-chart"), state="absent")


IMAGE = "image-registry.openshift-image-registry.svc:5000/vendor/kmod"
SIMULATION = "simulation.hardware-enablement.test"


def image_stream(cluster: Cluster, *kernels: str) -> None:
    """The vendor's images are there for these kernels, and for no others."""
    source = {"kind": "DockerImage", "name": f"registry.example.org/kmod@sha256:{'3c' * 32}"}
    stream = {
        "apiVersion": "image.openshift.io/v1",
        "kind": "ImageStream",
        "metadata": {"name": "kmod", "namespace": "vendor"},
        "spec": {"tags": [{"name": f"v{kernel}", "from": source} for kernel in kernels]},
    }
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(stream))
    path = "/apis/image.openshift.io/v1/namespaces/vendor/imagestreamtags"
    wait_until(
        lambda: len(cluster.api.get(path)["items"]) == len(kernels),
        "the ImageStream has all tags",
    )


def test_what_is_not_in_its_registry_is_built_and_a_build_that_fails_is_named(
    openshift: Cluster, tmp_path: Path
) -> None:
    given: Obj = {
        "hardware_enablement_recipe": "simple-kmod",
        "hardware_enablement_recipe_dir": str(RECIPES),
        "hardware_enablement_options": {"node_selector": GPUS, "set": {"image": IMAGE}},
        "hardware_enablement_instance": "built",
        "hardware_enablement_failure_grace": 1,
    }
    runner = with_rights(openshift, tmp_path, given)
    openshift.kubectl("create", "namespace", "vendor")
    image_stream(openshift, KERNELS[0])
    # As the operator would call them.
    hashes = [
        f"{fnv64a(f'{version}-{kernel.replace(chr(95), chr(45))}'):x}"
        for kernel, version in zip(KERNELS, ("9.4", "9.6"), strict=True)
    ]
    names = [f"built-driver-build-{each}" for each in hashes]
    played = runner.play("enable", **given).check()
    assert (
        f"builds the image for kernel {KERNELS[1]}: {IMAGE}:v{KERNELS[1]} does not" in played.output
    )
    assert set(items(openshift, "built", "buildconfig")) == {names[1]}
    daemonsets = items(openshift, "built", "daemonset")
    assert set(daemonsets) == {f"built-driver-container-{each}" for each in hashes}
    (build,) = items(openshift, "built", "build").values()
    assert build["status"]["phase"] == "Complete"
    runner.play("enable", **given).unchanged()

    # Neither what was built here nor what was found is there any more.
    openshift.kubectl("delete", "imagestream", "kmod", "-n", "vendor")
    fail = [f"{SIMULATION}/behaviour=fail", f"{SIMULATION}/message=no headers"]
    openshift.kubectl("annotate", "namespace", "built", *fail)
    played = runner.play("enable", **given)
    assert played.code != 0
    assert f"build {names[0]}-1 is Failed: Dockerfile build strategy has failed." in played.output
    assert set(items(openshift, "built", "buildconfig")) == set(names)
    marks = sorted(mark["built"] for mark in sight.marks(openshift).values() if "built" in mark)
    assert marks == ["ready", "s0000_buildconfig.degraded"]
    runner.play("disable", **given).check()


def test_charts_are_told_the_push_secret_of_a_namespace_that_is_there(openshift: Cluster) -> None:
    account: Obj = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "builder"}}
    account["secrets"] = [{"name": "builder-dockercfg-x7k2p"}]
    openshift.kubectl("create", "namespace", "pushing")
    openshift.kubectl("create", "-n", "pushing", "-f", "-", stdin=json.dumps(account))
    module = state_apply(openshift)
    # An instance, so that the record of the recipe itself knows nothing of this namespace.
    given = {**parameters("upgrade-aware"), "instance": "pushing", "adopt": True}
    module.done(**given)
    assert items(openshift, "pushing", "configmap")["kernels"]["data"]["push"] == (
        "builder-dockercfg-x7k2p"
    )
    module.unchanged(**given)
    module.done(**{**given, **parameters("upgrade-aware", push_secret="mine")})
    assert items(openshift, "pushing", "configmap")["kernels"]["data"]["push"] == "mine"
    module.done(**{**given, "state": "absent"})


def test_playbooks_take_a_packed_chart(cluster: Cluster, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "plain-chart-0.1.0.tgz", "w:gz") as archive:
        archive.add(RECIPES / "plain-chart", "plain-chart")
    given: Obj = {
        "hardware_enablement_recipe": "plain-chart",
        "hardware_enablement_recipe_dir": str(tmp_path),
        "hardware_enablement_instance": "packed",
    }
    runner = with_rights(cluster, tmp_path, given)
    played = runner.play("enable", **given).check()
    assert "Plain, in packed, with 2 replicas." in played.output
    assert set(items(cluster, "packed", "job")) == {"before", "after"}
    runner.play("status", **given).unchanged()
    runner.play("disable", **given).check()


# What creating an object by POST or PUT never told of: see the API server's `fieldValidation`.
DROPPED = {
    "Chart.yaml": "apiVersion: v2\nname: dropped\nversion: 0.1.0\n",
    "crds/widgets.yaml": """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.dropped.example.org}
spec:
  group: dropped.example.org
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {size: {type: integer}}}
""",
    "templates/0000-roles.yaml": """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: dropped, namespace: dropped}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: dropped}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: dropped}
subjects: [{kind: ServiceAccount, name: default, namespace: dropped}]
userNames: ["system:serviceaccount:dropped:default"]
---
apiVersion: dropped.example.org/v1
kind: Widget
metadata: {name: dropped}
spec: {size: 1, colour: red}
""",
    "templates/1000-driver.yaml": """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: dropped
  annotations: {specialresource.openshift.io/kernel-affine: "true"}
annotations: {example.org/for: somebody}
spec:
  selector: {matchLabels: {app: dropped}}
  template:
    metadata: {labels: {app: dropped}}
    spec:
      containers:
        - name: main
          image: registry.example.org/sro/kmod:{{ .Values.kernelFullVersion }}
          env: [{name: A, value: "1", from: nowhere}]
""",
}


def recipe_at(folder: Path, files: dict[str, str]) -> Path:
    """A recipe of these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture(scope="module")
def author(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays as somebody whose writes nobody else does, with all rights: a chart's are its own."""
    grant(cluster, "author", "cluster-admin")
    return Runner(cluster, "author", tmp_path_factory.mktemp("author"))


def test_a_charts_fields_that_kinds_do_not_have_are_left_out_and_told(
    cluster: Cluster, author: Runner, tmp_path: Path
) -> None:
    recipe_at(tmp_path / "dropped", DROPPED)
    given: Obj = {
        "hardware_enablement_recipe": "dropped",
        "hardware_enablement_recipe_dir": str(tmp_path),
        "hardware_enablement_options": {"node_selector": GPUS},
    }
    mark = cluster.mark()
    tried = author.play("enable", "--check", **given).check()
    assert author.writes(mark) == []
    played = author.play("enable", **given).check()
    fields = (
        "ClusterRole dropped has no field metadata.namespace",
        "RoleBinding dropped/dropped has no field userNames",
        "Widget dropped/dropped has no field spec.colour",
        "has no field annotations",
        "has no field spec.template.spec.containers[0].env[0].from",
    )
    for output in (tried.output, played.output):
        said = " ".join(output.split())
        assert all(field in said for field in fields), output
        assert said.count(fields[1]) == 1
    assert "userNames" not in cluster.kubectl(
        "get", "rolebinding", "dropped", "-n", "dropped", "-o", "json", "--show-managed-fields"
    )
    author.play("enable", **given).unchanged()
    author.play("disable", **given).check()


OWN_RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: own-fields
description: Objects with a mistake
namespace: own-fields
selector: {any_of: [{feature.node.kubernetes.io/pci-0302_10de.present: "true"}]}
states:
  objects:
    role: state
    description: Both of them
    assets: [objects.yaml.j2]
"""
OWN_OBJECTS = """\
apiVersion: v1
kind: Namespace
metadata: {name: own-fields}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, lables: {a: b}}
---
apiVersion: nfd.k8s-sigs.io/v1alpha1
kind: NodeFeatureRule
metadata: {name: own-fields}
spec: {rules: [{name: a, labelss: {example.org/a: "true"}}]}
"""


def test_a_field_that_a_kind_of_an_own_recipe_does_not_have_is_refused_before_the_first_write(
    cluster: Cluster, author: Runner, tmp_path: Path
) -> None:
    recipe_at(tmp_path / "own-fields", {"recipe.yml": OWN_RECIPE, "objects.yaml.j2": OWN_OBJECTS})
    given = {
        "hardware_enablement_recipe": "own-fields",
        "hardware_enablement_recipe_dir": str(tmp_path),
    }
    mark = cluster.mark()
    for mode in ((), ("--check",)):
        played = author.play("enable", *mode, **given)
        said = " ".join(played.output.split())
        assert played.code != 0
        assert "own-fields/objects.yaml.j2: ConfigMap own-fields/a: metadata has no field" in said
        assert "lables, did you mean labels?" in said
        assert "spec.rules[0] has no field labelss, did you mean labels?" in said
        assert "healthy" not in said
    assert author.writes(mark) == []


RESOURCES = special_resources()
CUSTOM_RESOURCES = {
    "kmod": RESOURCES / "charts" / "example" / "kmod-0.0.1" / "kmod.yaml",
    "kmod-module": RESOURCES / "charts" / "example" / "kmod-module-0.0.1" / "kmod-module.yaml",
    "old-kmod": RESOURCES / "recipes" / "old-kmod" / "0000-old-kmod-cr.yaml",
}
DEPENDENCIES = {"kmod": ["kmod-base"], "old-kmod": ["kmod-headers"]}
# Made by others for what we made, and what the first run of a cluster makes.
PASSING = re.compile(
    r"\S+ (?:Node|NodeFeature|APIService|CustomResourceDefinition) |.*[ /]hardware-enab"
    r"|.*/(?:kube-root-ca\.crt|default)$"
)


@pytest.fixture(scope="module")
def owner(openshift: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays as the owner of a cluster with a node that takes no pods, as SRO had all rights."""
    node = ("node", "control-plane")
    openshift.kubectl("taint", *node, "node-role.kubernetes.io/master=:NoSchedule")
    openshift.kubectl("label", *node, "kubernetes.io/os=linux", "--overwrite")
    grant(openshift, "owner", "cluster-admin")
    return Runner(openshift, "owner", tmp_path_factory.mktemp("owner"))


def config(cluster: Cluster, namespace: str, name: str) -> dict[str, str]:
    """What a ConfigMap holds."""
    data: dict[str, str] = items(cluster, namespace, "configmap")[name]["data"]
    return data


def kept(cluster: Cluster) -> set[str]:
    """The names of everything that is there."""
    return {name for name in cluster.dump() if not PASSING.match(name)}


def pack(cluster: Cluster, folder: Path, name: str) -> None:
    """A chart in a ConfigMap in the special resource's own namespace."""
    with TemporaryDirectory() as scratch:
        archive = Path(scratch) / f"{folder.name}.tgz"
        with tarfile.open(archive, "w:gz") as packed:
            packed.add(folder, name)
        cluster.kubectl("create", "configmap", name, "-n", name, f"--from-file={archive}")


def of_kmod(cluster: Cluster) -> None:
    """All fields of the custom resource, the operator's choice of nodes, and what it depends on."""
    daemonsets = items(cluster, "kmod", "daemonset").values()
    templates = [each["spec"]["template"]["spec"] for each in daemonsets]
    images = {template["containers"][0]["image"].rpartition(":v")[2] for template in templates}
    assert images == set(KERNELS)
    assert [each["nodeSelector"] for each in templates] == [{"kubernetes.io/os": "linux"}] * 2
    for build in items(cluster, "kmod", "buildconfig").values():
        assert build["spec"]["source"]["git"]["ref"] == "stable"
        arguments = build["spec"]["strategy"]["dockerStrategy"]["buildArgs"]
        assert {each["name"] for each in arguments} == {"IMAGE", "KMODVER"}
        assert arguments[1]["value"] in KERNELS
    assert config(cluster, "headers", "headers") == {
        "colour": "green",
        "ref": "own",
        "artifacts": "{}",
        "unset": "",
    }
    (subject,) = items(cluster, "headers", "rolebinding")["kmod-image-puller"]["subjects"]
    assert (subject["name"], subject["namespace"]) == ("builder", "kmod")


def of_module(cluster: Cluster) -> None:
    """A chart of a module sees its custom resource, by another name."""
    for kernel in KERNELS:
        found = config(cluster, "kmod-module", f"kmod-module-{kernel.replace('_', '-')}")
        assert found == {"ref": "next", "path": "$.status.desired.version", "selector": ""}


def of_numbered(cluster: Cluster) -> None:
    """Placeholders in the custom resource, and those that nobody has set."""
    found = [
        each["data"]
        for name, each in items(cluster, "old-kmod", "configmap").items()
        if name.startswith("old-kmod-csi-driver-")
    ]
    assert {each["args"] for each in found} == {f"KVER={kernel}" for kernel in KERNELS}
    assert {(each["names"], each["unset"]) for each in found} == {("kmod kmod-procfs ", "")}
    assert "elsewhere" in items(cluster, "old-kmod", "secret")
    assert config(cluster, "kmod-headers", "headers-driver-build")["ref"] == "headers"


@pytest.mark.parametrize(
    ("name", "look"),
    [("kmod", of_kmod), ("kmod-module", of_module), ("old-kmod", of_numbered)],
)
def test_a_custom_resource_as_its_author_wrote_it(
    openshift: Cluster, owner: Runner, name: str, look: Callable[[Cluster], None]
) -> None:
    if name != "old-kmod":
        # What is in it belongs to others, and stays.
        openshift.kubectl("create", "namespace", name)
    if name == "kmod-module":
        pack(openshift, CUSTOM_RESOURCES[name].parent, name)
    before = kept(openshift)
    given = {
        "hardware_enablement_cr": str(CUSTOM_RESOURCES[name]),
        "hardware_enablement_failure_grace": 1,
    }
    if name == "old-kmod":
        mark = openshift.mark()
        refused = owner.play("special_resource", **given)
        assert "hardware_enablement_last_kernel_wins" in " ".join(refused.output.split())
        assert not [each for each in owner.writes(mark) if "configmaps" in each]
        given["hardware_enablement_last_kernel_wins"] = True
    played = owner.play("special_resource", **given).check()
    assert ("the operator's API knew no such field" in played.output) == (name == "kmod")
    look(openshift)
    mark = openshift.mark()
    owner.play("special_resource", **given).unchanged()
    assert owner.writes(mark) == []
    # The record knows where it came from.
    owner.play("status", hardware_enablement_recipe=name).check()
    if name == "kmod-module":
        # A record is no reason to take a recipe from anywhere but a folder.
        place = "cm://kmod-module/kmod-module"
        refused = owner.play("disable", hardware_enablement_recipe=name)
        assert refused.code != 0
        assert place in refused.output
        owner.play(
            "disable", hardware_enablement_recipe=name, hardware_enablement_recipe_dir=place
        ).check()
    else:
        for each in (name, *DEPENDENCIES.get(name, ())):
            owner.play("disable", hardware_enablement_recipe=each).check()
    assert kept(openshift) == before


def as_helm_has_it(folder: Path, values: Obj) -> dict[tuple[str, str], Obj]:
    """The objects of `helm template` by kind and name."""
    given = folder.parent / "given.json"
    given.write_text(json.dumps(values), encoding="utf-8")
    done = subprocess.run(
        ["helm", "template", "vendor", str(folder), "--include-crds", "--values", str(given)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = filter(None, yaml.safe_load_all(done.stdout))
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def as_we_have_it(folder: Path, values: Obj) -> dict[tuple[str, str], Obj]:
    """Ours, without what we add to objects and but for the namespace."""
    return made_of(read_recipe(read_bundle(folder), "vendor"), {"set": values})


def made_of(recipe: Recipe, options: Obj) -> dict[tuple[str, str], Obj]:
    """The objects of a recipe by kind and name."""
    cluster = {"platform": "kubernetes", "kubernetes_version": "", "openshift_version": ""}
    facts = RenderFacts(
        "vendor",
        resolve(recipe, options),
        SAMPLE_GROUPS[:1],
        "",
        cluster={**cluster, "proxy": {}, "trusted_ca": ""},
        resolved={},
    )
    made = [
        item.manifest
        for name in recipe.states
        for item in render_state(recipe, name, facts).objects
    ]
    return {
        (each["kind"], each["metadata"]["name"]): each
        for each in made
        if each["kind"] != "Namespace"
    }


@pytest.mark.parametrize(
    ("values", "operator", "labels"),
    [
        ({}, False, True),
        ({"operator": {"enabled": True}}, True, True),
        ({"nfd": {"enabled": False}}, False, False),
        # A path that gives no true or false is none; the first that does counts, and goes over tags.
        ({"operator": {"enabled": "yes", "deploy": True}}, True, True),
        ({"operator": {"deploy": True}}, False, True),
        ({"tags": {"extras": True}}, False, True),
        ({"operator": {"enabled": None}, "tags": {"extras": False}}, False, True),
        ({"operator": {"enabled": None}}, True, True),
    ],
)
def test_what_is_switched_off_in_a_chart_brings_nothing(
    tmp_path: Path, values: Obj, operator: bool, labels: bool
) -> None:
    folder = write_chart(tmp_path / "vendor")
    theirs, ours = as_helm_has_it(folder, values), as_we_have_it(folder, values)
    assert ours.keys() == theirs.keys()
    specs = {key: each["spec"] for key, each in ours.items() if "Definition" in key[0]}
    assert specs == {key: each["spec"] for key, each in theirs.items() if "Definition" in key[0]}
    definitions = {name for _kind, name in specs}
    assert definitions == {CARDS, *([GADGETS] if operator else []), *([WIDGETS] if labels else [])}
    assert (("ConfigMap", "nfd") in ours) is labels


def packed(folder: Path) -> Path:
    """The chart as an archive beside it."""
    archive = folder.with_suffix(".tgz")
    with tarfile.open(archive, "w:gz") as made:
        made.add(folder, arcname=folder.name)
    return archive


def vendor(folder: Path, **values: Any) -> Obj:
    """The chart with these values, on all nodes."""
    return {"recipe": "vendor", "bundle": read_bundle(folder), "options": {"set": values}}


def test_a_vendors_chart_on_nodes_that_its_author_chooses(cluster: Cluster, tmp_path: Path) -> None:
    folder = write_chart(tmp_path / "vendor")
    module = state_apply(cluster)
    for name, *versions in ((GADGETS, "v1alpha1"), (CARDS, "v1alpha1")):
        cluster.kubectl("create", "-f", "-", stdin=json.dumps(definition(name, *versions)))
    before = definitions(cluster)

    # What is somebody else's lacks the version: that is known before the first write.
    text = module.failed(**vendor(folder, card=True), wait=True)
    assert "vendor.example/v1" in text
    assert f"update CustomResourceDefinition {CARDS}, which was there before" in text
    assert "vendor" not in json.loads(cluster.kubectl("get", "namespaces", "-o", "json"))["items"]

    given = vendor(folder, operator={"enabled": True}, nfd={"enabled": False})
    found = module.done(**given, wait=True)
    left = [row for state in found["states"] for row in state["left_alone"]]
    assert {row["object"] for row in left} == {
        f"CustomResourceDefinition {name}" for name in (GADGETS, CARDS)
    }
    assert {row["note"] for row in left} == {"was there before, and is not what the recipe has"}
    assert definitions(cluster) == before
    assert set(items(cluster, "vendor", "configmap")) >= {"operator"}

    report = found["report"]
    assert report["phase"] == "ready"
    # A control plane takes no pods.
    nodes = {
        name: node for name, node in sight.nodes(cluster).items() if not node["spec"].get("taints")
    }
    without = [name for name in nodes if GPU not in nodes[name]["metadata"]["labels"]]
    told = {row["message"]: (row["nodes"], row["total"]) for row in report["unwanted"]}
    sharing = f"it wants {SHARING}=true, and the node has no {SHARING}"
    on_gpus = f"DaemonSet vendor/sharing is not for the node: {sharing}"
    assert told.pop(on_gpus) == (len(nodes) - len(without), len(nodes))
    ((elsewhere, count),) = told.items()
    assert count == (len(without), len(nodes))
    assert f"DaemonSet vendor/plugin is not for the node: it wants {GPU}=true" in elsewhere
    assert elsewhere.endswith(on_gpus)
    module.unchanged(**given, wait=True)

    # A label that comes brings the pod, and the state tells of the others.
    chosen = next(name for name in nodes if name not in without)
    cluster.kubectl("label", "node", chosen, f"{SHARING}=true")
    report = module.done(**given, wait=True)["report"]
    assert report["phase"] == "ready"
    assert on_gpus in {row["message"] for row in report["unwanted"]}
    pods = items(cluster, "vendor", "pod").values()
    assert chosen in {
        pod["spec"]["nodeName"] for pod in pods if pod["metadata"]["labels"]["app"] == "sharing"
    }
    cluster.kubectl("label", "node", chosen, f"{SHARING}-")

    module.done(**given, state="absent")
    assert definitions(cluster) == before
    for name in (GADGETS, CARDS):
        cluster.kubectl("delete", "customresourcedefinition", name)


def definitions(cluster: Cluster) -> dict[str, tuple[str, str]]:
    """The chart's definitions that are there: which they are, and since when they are as they are."""
    listed = json.loads(cluster.kubectl("get", "customresourcedefinitions", "-o", "json"))["items"]
    return {
        each["metadata"]["name"]: (each["metadata"]["uid"], each["metadata"]["generation"])
        for each in listed
        if each["spec"]["group"] == "vendor.example"
    }


def test_a_chart_is_found_again_by_the_name_of_its_folder_and_by_its_own(
    cluster: Cluster, tmp_path: Path
) -> None:
    folder = tmp_path / "found-again-v1"
    shutil.copytree(RECIPES / "plain-chart", folder)
    chart = (folder / "Chart.yaml").read_text(encoding="utf-8")
    (folder / "Chart.yaml").write_text(
        chart.replace("plain-chart", "found-again"), encoding="utf-8"
    )
    by_folder: Obj = {
        "hardware_enablement_recipe": "found-again-v1",
        "hardware_enablement_recipe_dir": str(tmp_path),
    }
    by_chart = {**by_folder, "hardware_enablement_recipe": "found-again"}
    runner = with_rights(cluster, tmp_path, by_folder)
    runner.play("enable", **by_folder).check()
    for given in (by_folder, by_chart):
        # The record says by which name it was found last.
        runner.play("enable", **given).check()
        runner.play("enable", **given).unchanged()
        played = runner.play("status", **given).unchanged()
        assert "found-again: ready" in played.output
    # Nobody else holds the lock after any of them.
    runner.play("disable", **by_folder).check()
    runner.play("enable", **by_chart).check()
    runner.play("disable", **by_chart).check()


def test_a_recipe_is_made_of_a_chart(tmp_path: Path) -> None:
    chart = write_plugin_chart(tmp_path / "acme-plugin")
    for place, folder in ((chart, "of-folder"), (packed(chart), "of-archive")):
        request = {"name": "vendor", "recipe_dir": str(tmp_path / folder), "chart": str(place)}
        hardware = {"label": "acme.example/card", "resource": "acme.example/card"}
        new_core.TASK.run({**request, **hardware}, RunContext())
    bundle = read_bundle(tmp_path / "of-folder" / "vendor")
    texts = read_bundle(tmp_path / "of-archive" / "vendor")
    assert {**texts, "recipe.yml": "", "README.md": ""} == {
        **bundle,
        "recipe.yml": "",
        "README.md": "",
    }
    checked = check_recipe(bundle, "vendor", {}, read_api_types())
    assert [str(finding) for finding in (*checked.errors, *checked.warnings)] == []
    recipe = checked.recipe
    assert recipe is not None

    own = {name: option for name, option in recipe.options.items() if name not in STANDARD_OPTIONS}
    assert sorted(own) == [
        "chart_log_level",
        "exporter_image",
        "exporter_port",
        "plugin_image",
        "port",
        "validation_image",
    ]
    assert own["plugin_image"].default == "registry.example.org/acme/plugin:4.1"
    level = own["chart_log_level"]
    assert (level.default, level.choices, level.description) == (
        "info",
        ("info", "debug"),
        "How much it says.",
    )
    assert (own["port"].type, own["port"].default) == ("int", 9400)

    proofs = {
        name: [proof.kind for proof in state.proofs.validate]
        for name, state in recipe.states.items()
    }
    assert proofs == {
        "objects": [],
        "controllers": ["rollout"],
        "device_plugin": ["rollout", "allocatable"],
        "device_plugin_validation": ["workload"],
    }
    assert "- Job test: a hook of helm" in bundle["README.md"]

    # What it deploys is what helm would, but for who manages it, the hook, and what we add.
    theirs = as_helm_has_it(chart, {"logLevel": "debug", "port": 9500})
    del theirs["Job", "test"]
    ours = made_of(recipe, {"chart_log_level": "debug", "port": 9500})
    assert ours.keys() == theirs.keys()
    containers = [
        each["DaemonSet", "vendor-a-name"]["spec"]["template"]["spec"]["containers"][0]
        for each in (ours, theirs)
    ]
    for part in ("image", "args", "env"):
        assert containers[0][part] == containers[1][part]
    data = ours["ConfigMap", "dashboard"]["data"]
    assert (
        data
        == theirs["ConfigMap", "dashboard"]["data"]
        == {"legend": "{{ instance }} {% of all %}"}
    )


def test_a_chart_that_cannot_be_rendered_makes_no_recipe(tmp_path: Path) -> None:
    chart = write_plugin_chart(tmp_path / "acme-plugin")
    (chart / "values.schema.json").write_text('{"required": ["token"]}')
    with pytest.raises(InvalidInput, match=r"its own values: .*token.*; do in a copy"):
        of_chart(chart, "vendor", "acme.example/card", "acme.example/card")
    with pytest.raises(InvalidInput, match="there is no chart at"):
        of_chart(tmp_path, "vendor", "acme.example/card", "acme.example/card")
