# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What rdt-classes deploys with which options: the programs of two recipes in one pod, and what pods may
ask for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.host_access import (
    written_paths,
)
from tests.unit.recipes.conftest import OPENSHIFT_APIS, REPO, Render, group_of, renderer
from tests.unit.recipes.looking import Obj, all_containers, names, pod_spec
from tests.unit.rmd.agent import trees

FOLDER = REPO / "recipes" / "rdt-classes"
CLASSES = {"gold": {"ways": 4}, "batch": {"ways": 2, "exclusive": False, "bandwidth": 30}}
INJECTOR = {"injector_image": "registry.example.org/nri-rdt:0.12.5"}


@pytest.fixture(scope="module")
def classes() -> Render:
    """Renders recipes/rdt-classes."""
    render = renderer(FOLDER)
    return lambda *words, **options: render(*words, **{"classes": CLASSES, **options})


def run(rendering: object, folder: Path, resctrl: Path) -> subprocess.CompletedProcess[str]:
    """What the ConfigMap holds, as the pod has it."""
    data = rendering.one("ConfigMap", "rdt-classes")["data"]  # type: ignore[attr-defined]
    trees.write(folder, data)
    words = [f"--resctrl={resctrl}", f"--classes={folder / 'classes.json'}"]
    program = [sys.executable, "-B", str(folder / "class_keeper.py"), "--once", *words]
    return subprocess.run(
        [*program, f"--ready={folder / 'ready'}"], capture_output=True, text=True, check=False
    )


def test_what_the_config_map_holds_looks_at_resctrl(classes: Render, tmp_path: Path) -> None:
    resctrl = trees.resctrl_tree(tmp_path / "resctrl", closids=3)
    done = run(classes(), tmp_path, resctrl)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("the kernel has 3 classes of service, of which others have 1")


def test_every_program_of_its_own_is_in_a_pod(classes: Render) -> None:
    data = classes().one("ConfigMap", "rdt-classes")["data"]
    metrics = classes().one("ConfigMap", "rdt-classes-exporter")["data"]
    own = {path.name for path in (FOLDER / "program").glob("*.py")}
    assert own <= data.keys() | metrics.keys()
    text = (FOLDER / "program" / "class_metrics.py").read_text()
    assert metrics["class_metrics.py"].rstrip() == text.rstrip()
    assert json.loads(data["classes.json"]) == CLASSES


def test_other_classes_start_the_pods_anew(classes: Render) -> None:
    def template(rendering: object) -> Obj:
        found = rendering.one("DaemonSet", "rdt-classes")  # type: ignore[attr-defined]
        return dict(found["spec"]["template"]["metadata"]["annotations"])

    assert template(classes()) == template(classes())
    assert template(classes()) != template(classes(classes={"gold": {"ways": 5}}))


def test_pools_have_classes_of_their_own(classes: Render) -> None:
    rendering = classes(
        groups=(group_of("a", "6.8"), group_of("b", "6.8", pool="big")),
        pools={"big": {"classes": {"gold": {"ways": 9}}}},
    )
    given = {
        item["metadata"]["name"]: json.loads(item["data"]["classes.json"])
        for item in rendering.objects("ConfigMap", state="classes")
    }
    assert given == {"rdt-classes": CLASSES, "rdt-classes-big": {"gold": {"ways": 9}}}
    assert names(rendering, "DaemonSet") == {*given, "rdt-classes-exporter"}


def test_only_resctrl_may_be_written_to_and_by_root_without_more(classes: Render) -> None:
    spec = pod_spec(classes(resctrl_path="/srv/resctrl"), "rdt-classes")
    (container,) = all_containers(spec)
    writable = {each["mountPath"] for each in container["volumeMounts"] if not each.get("readOnly")}
    assert writable == {"/srv/resctrl", "/run/classes"}
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert spec["automountServiceAccountToken"] is False
    users = {
        user
        for each in classes("openshift", OPENSHIFT_APIS, **INJECTOR).objects(
            "SecurityContextConstraints"
        )
        for user in each["users"]
    }
    assert users == {
        f"system:serviceaccount:rdt-classes:{name}"
        for name in ("rdt-classes", "rdt-classes-exporter", "injector")
    }


def test_what_is_counted_is_read_by_nobody_and_found_by_prometheus(classes: Render) -> None:
    rendering = classes(monitoring_labels={"release": "prometheus"}, resctrl_path="/srv/resctrl")
    spec = pod_spec(rendering, "rdt-classes-exporter")
    (exporter,) = all_containers(spec)
    assert [each["readOnly"] for each in exporter["volumeMounts"]] == [True, True]
    assert exporter["securityContext"]["runAsUser"] == 65534
    assert spec["automountServiceAccountToken"] is False
    assert "--resctrl=/srv/resctrl" in exporter["args"]
    (monitor,) = rendering.objects("ServiceMonitor")
    (service,) = rendering.objects("Service")
    (port,) = exporter["ports"]
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]
    assert (
        monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    )
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    proof = rendering.states["monitoring"].proofs[-1]
    assert (proof.kind, proof.spec["port"]) == ("metrics", port["containerPort"])
    assert not classes(exporter_enabled=False).objects(state="monitoring")


def test_the_dashboard_asks_for_what_is_served(classes: Render) -> None:
    (shown,) = classes(grafana_namespace="dashboards").objects("ConfigMap", state="grafana")
    assert shown["metadata"]["namespace"] == "dashboards"
    board = json.loads(shown["data"]["rdt-classes.json"])
    text = json.dumps(board)
    program = (FOLDER / "program" / "class_metrics.py").read_text()
    asked = set(re.findall(r"resctrl_\w+", text))
    assert asked == set(re.findall(r'"(resctrl_\w+)"', program))
    assert not classes(grafana="off").objects(state="grafana")


def test_without_an_injector_the_classes_are_kept_all_the_same(classes: Render) -> None:
    assert "injector" in names(classes(**INJECTOR), "DaemonSet")
    assert "injector" not in names(classes(), "DaemonSet")
    # Somebody else's may be there.
    assert names(classes(), "ValidatingAdmissionPolicy") == {"rdt-classes"}


def test_the_validation_asks_for_each_class(classes: Render) -> None:
    pod = classes(**INJECTOR).pod("class_validation")
    assert pod["metadata"]["annotations"] == {
        f"closid.rdt.noderesource.dev/container.{name}": f"hardware-enablement.{name}"
        for name in CLASSES
    }
    assert {each["name"] for each in pod["spec"]["containers"]} == set(CLASSES)
    assert list(classes(**{**INJECTOR, "classes": {}}).validation_pods()) == []


@pytest.mark.parametrize(
    ("shown", "code", "says"),
    [
        ("res:hardware-enablement.gold\nmon:\n", 0, "in the group hardware-enablement.gold"),
        ("res:/hardware-enablement.gold\nmon:/\n", 0, "in the group hardware-enablement.gold"),
        ("res:/\nmon:/\n", 1, "in the group '' of resctrl instead of hardware-enablement.gold"),
        (None, 1, "No such file"),
    ],
)
def test_the_validation_believes_the_kernel_only(
    classes: Render, tmp_path: Path, shown: str | None, code: int, says: str
) -> None:
    pod = classes(**{**INJECTOR, "classes": {"gold": {"ways": 4}}}).pod("class_validation")
    (container,) = pod["spec"]["containers"]
    file = tmp_path / "cpu_resctrl_groups"
    if shown is not None:
        file.write_text(shown)
    (script,) = container["args"]
    done = subprocess.run(
        ["/bin/sh", "-c", script.replace("/proc/self/cpu_resctrl_groups", str(file))],
        env={each["name"]: each["value"] for each in container["env"]} | {"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert says in done.stdout


def test_every_option_of_its_own_is_used() -> None:
    """What intel-rmd gets one day is not offered here without a use."""
    recipe = renderer(FOLDER)(classes=CLASSES).recipe
    texts = "".join(path.read_text() for path in FOLDER.rglob("*.j2"))
    texts += (FOLDER / "recipe.yml").read_text()
    standard = renderer(REPO / "recipes" / "nfd")().recipe.options.keys()
    own = recipe.options.keys() - standard
    ways = ("options.{}", "enabled: {}")
    unused = {name for name in own if not any(way.format(name) in texts for way in ways)}
    assert unused == set()


def test_it_and_intel_rmd_refuse_each_other(classes: Render) -> None:
    rmd = renderer(REPO / "recipes" / "intel-rmd")(
        rmd_image="registry.example.org/rmd:0.3.1", backend="rmd"
    )
    own = [rival for rival in classes().recipe.devices.rivals if rival.kind == "DaemonSet"]
    named = {rival.name for rival in own if rival.name}
    assert named == names(rmd, "DaemonSet")
    labels = classes().one("DaemonSet", "rdt-classes")["metadata"]["labels"]
    theirs = [rival for rival in rmd.recipe.devices.rivals if rival.kind == "DaemonSet"]
    (wanted,) = [rival.labels for rival in theirs if rival.labels]
    assert dict(wanted).items() <= labels.items()
    # Anybody else is known by what it does, and so does each of them.
    for rivals, manifest in ((own, classes()), (theirs, classes())):
        (paths,) = [rival.host_paths for rival in rivals if rival.host_paths]
        spec = manifest.one("DaemonSet", "rdt-classes")["spec"]["template"]["spec"]
        assert set(paths) <= written_paths(spec)
