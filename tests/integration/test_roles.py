# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles used alone, tags, options as command lines and surveys give them, and what is refused
before the first write."""

from __future__ import annotations

import base64
import json
import shutil
import tarfile
from collections.abc import Iterator
from copy import copy
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster, ClusterError
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.gates.place import Place
from tests.integration.conftest import grant
from tests.integration.plays import PLAYBOOKS, REVIEWS, Runner

RECIPE = {
    "hardware_enablement_recipe": "two-states",
    "hardware_enablement_recipe_dir": str(Path(__file__).parents[1] / "recipes"),
}
READY = "hardware-enablement.io/two-states"
GATE = f"{READY}.driver"
GPU_NODES = {"gpu-old-1", "gpu-old-2", "gpu-new-1"}
# Each time another one than before.
VERSIONS = (f"2.{number}" for number in count())


def daemonsets(cluster: Cluster) -> dict[str, str]:
    """The DaemonSets' images by name."""
    items = json.loads(cluster.kubectl("get", "daemonsets", "-n", "two-states", "-o", "json"))[
        "items"
    ]
    return {
        item["metadata"]["name"]: item["spec"]["template"]["spec"]["containers"][0][
            "image"
        ].rpartition("/")[2]
        for item in items
    }


def lock_holder(cluster: Cluster) -> str:
    """Who holds the run's lock."""
    lease = (
        "get",
        "lease",
        "two-states",
        "-n",
        "hardware-enablement",
        "-o",
        "jsonpath={.spec.holderIdentity}",
    )
    return cluster.kubectl(*lease)


def gated(cluster: Cluster, label: str = GATE) -> set[str]:
    """The nodes that carry the driver's gate, or another label."""
    return {
        name.partition("/")[2]
        for name in cluster.kubectl("get", "nodes", "-l", label, "-o", "name").split()
    }


@pytest.fixture
def enabled(cluster: Cluster, runner: Runner) -> None:
    """two-states is ready in its namespace; a test that finds it so does not pay for a run."""
    if not daemonsets(cluster) or gated(cluster, f"{READY}=ready") != GPU_NODES:
        runner.play("enable", **RECIPE, hardware_enablement_namespace="two-states").check()


@pytest.fixture
def disabled(cluster: Cluster, runner: Runner) -> None:
    """Nothing of two-states is there."""
    made = ("-A", "-l", "hardware-enablement.io/recipe=two-states", "-o", "name")
    if cluster.kubectl("get", "daemonsets", *made):
        runner.play("disable", **RECIPE).check()


@pytest.fixture
def plugin_that_never_comes_up(cluster: Cluster) -> Iterator[None]:
    """On no node its image can be pulled."""
    set_fault(cluster.kubeconfig, "*", "device-plugin", "image-pull")
    yield
    clear_faults(cluster.kubeconfig)


@pytest.mark.usefixtures("disabled", "plugin_that_never_comes_up")
def test_a_role_alone_waits_for_its_own_states_and_fails_with_them(
    cluster: Cluster, runner: Runner
) -> None:
    # The plugin is nobody's business here.
    runner.play(PLAYBOOKS / "roles_alone.yml", **RECIPE).check()
    assert gated(cluster) == GPU_NODES
    assert lock_holder(cluster) == ""
    assert {name.rpartition("-")[0].partition("-")[0] for name in daemonsets(cluster)} == {"driver"}
    set_fault(cluster.kubeconfig, "gpu-new-1", "driver", "crash", message="no such device")
    cluster.kubectl("delete", "pods", "-n", "two-states", "--all", "--wait=false")
    # With something to write, so that it takes the lock.
    options = {"log_level": "debug", "env": {"driver": {"DEBUG": "1"}}}
    played = runner.play(
        PLAYBOOKS / "roles_alone.yml",
        hardware_enablement_failure_grace=1,
        hardware_enablement_options=options,
        **RECIPE,
    )
    assert played.code != 0
    assert "node gpu-new-1, state driver" in played.output
    assert "waited_seconds" not in played.output
    assert lock_holder(cluster) == ""
    # Who does not wait does not look at it either.
    runner.play(PLAYBOOKS / "roles_alone.yml", hardware_enablement_wait=False, **RECIPE).check()


@pytest.mark.usefixtures("disabled", "plugin_that_never_comes_up")
def test_what_is_required_is_waited_for_although_the_state_itself_is_not(
    cluster: Cluster, runner: Runner
) -> None:
    runner.play(PLAYBOOKS / "required_first.yml", **RECIPE).check()
    assert gated(cluster) == GPU_NODES
    assert "plugin" in daemonsets(cluster)


@pytest.mark.usefixtures("enabled")
def test_a_tag_applies_one_state_and_a_skipped_one_leaves_it_as_it_is(
    cluster: Cluster, runner: Runner
) -> None:
    before, first, second = daemonsets(cluster), next(VERSIONS), next(VERSIONS)
    options = {"driver_version": first, "plugin_version": first}
    played = runner.play(
        "enable", "--tags", "device_plugin", **RECIPE, hardware_enablement_options=options
    ).check()
    assert played.changed > 0
    assert daemonsets(cluster) == before | {"plugin": f"plugin:{first}"}
    options = {"driver_version": second, "plugin_version": second}
    runner.play(
        "enable", "--skip-tags", "device_plugin", **RECIPE, hardware_enablement_options=options
    ).check()
    found = daemonsets(cluster)
    assert found.pop("plugin") == f"plugin:{first}"
    assert all(image.startswith(f"driver:{second}") for image in found.values())


def test_a_tag_that_means_no_state_changes_nothing(runner: Runner) -> None:
    runner.play("enable", "--tags", "nothing", **RECIPE).unchanged()


@pytest.mark.usefixtures("enabled")
@pytest.mark.parametrize(
    ("options", "others"),
    [
        ('{{"plugin_version": "{}", "plugin_enabled": true}}', {}),
        # What a survey sends: everything is text, and a question without an answer is an empty one.
        (
            "plugin_version={} plugin_enabled=yes",
            {
                "hardware_enablement_options": "",
                "hardware_enablement_namespace": "",
                "hardware_enablement_images": "",
                "hardware_enablement_timeout": "",
                "hardware_enablement_failure_grace": "10",
                "hardware_enablement_allow_empty": "no",
                "hardware_enablement_kubeconfig": "",
                "hardware_enablement_context": "",
            },
        ),
    ],
    ids=["json", "survey"],
)
def test_answers_as_text_which_are_kept_where_none_are_given_later(
    cluster: Cluster, runner: Runner, options: str, others: dict[str, str]
) -> None:
    version = next(VERSIONS)
    answers = {**RECIPE, **others, "hardware_enablement_options": options.format(version)}
    runner.play("enable", **answers).check()
    assert gated(cluster) == GPU_NODES
    runner.play("enable", **answers).unchanged()
    runner.play("enable", **RECIPE, **others).unchanged()
    assert daemonsets(cluster)["plugin"] == f"plugin:{version}"


@pytest.mark.usefixtures("enabled")
def test_status_takes_options_as_text_too(runner: Runner) -> None:
    options = '{"plugin_version": "3.1"}'
    runner.play("status", **RECIPE, hardware_enablement_options=options).check()


def refused(runner: Runner, playbook: str = "enable", **variables: Any) -> str:
    """The sentence of a run that was refused, which has written nothing."""
    mark = runner.cluster.mark()
    played = runner.play(playbook, **variables)
    assert played.code != 0
    assert "Traceback" not in played.output
    assert runner.writes(mark) == []
    (text,) = [line for line in played.output.splitlines() if line.startswith("fatal:")]
    return text


def asked(runner: Runner, since: int, what: str) -> list[str]:
    """The requests of the user whose path holds a text."""
    events = runner.cluster.audit(user=runner.user, since=since)
    return [event["requestURI"] for event in events if what in event["requestURI"]]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("hardware_enablement_on_regres", "keep", "did you mean hardware_enablement_on_regress?"),
        ("hardware_enablement_on_regress", "shrug", "must be one of: keep, withdraw, got: shrug"),
        ("hardware_enablement_rmd_pod_form", "v9", "must be one of: v0.1, v0.3, got: v9"),
    ],
)
def test_variables_are_checked_before_the_first_request(
    runner: Runner, name: str, value: str, said: str
) -> None:
    mark = runner.cluster.mark()
    assert said in refused(runner, **RECIPE, **{name: value})
    assert asked(runner, mark, "/") == []


@pytest.mark.usefixtures("enabled")
def test_a_run_says_which_cluster_it_speaks_to_and_refuses_another_one(
    cluster: Cluster, runner: Runner
) -> None:
    uid = cluster.kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
    played = runner.play("status", **RECIPE, hardware_enablement_cluster_uid=uid).check()
    assert f"UID {uid}" in played.output.partition("TASK [Read what is enabled]")[0]
    text = refused(
        runner, **RECIPE, hardware_enablement_cluster_uid="2f8fdd9d-3a0c-4d43-9b4e-2c0a3b3f1a55"
    )
    assert "This is not the cluster that was meant" in text
    assert uid in text


@pytest.mark.usefixtures("enabled")
def test_host_and_token_as_variables_win_over_the_environment(
    cluster: Cluster, runner: Runner
) -> None:
    cluster.kubectl("create", "serviceaccount", "robot", "-n", "default")
    binding = ("clusterrolebinding", "robot", "--clusterrole=hardware-enablement-viewer")
    cluster.kubectl("create", *binding, "--serviceaccount=default:robot")
    token = cluster.kubectl("create", "token", "robot", "-n", "default")
    (server,) = json.loads(cluster.kubectl("config", "view", "--raw", "--minify", "-o", "json"))[
        "clusters"
    ]
    elsewhere = runner.without_kubeconfig()
    elsewhere.settings = {"K8S_AUTH_HOST": "https://127.0.0.1:1", "K8S_AUTH_API_KEY": "another"}
    ca = runner.folder / "ca.crt"
    ca.write_bytes(base64.b64decode(server["cluster"]["certificate-authority-data"]))
    mark = cluster.mark()
    played = elsewhere.play(
        "status",
        **RECIPE,
        hardware_enablement_host=server["cluster"]["server"],
        hardware_enablement_api_key=token,
        hardware_enablement_ca_cert=str(ca),
    ).check()
    assert token not in played.output
    assert cluster.audit(user="system:serviceaccount:default:robot", since=mark)


@pytest.mark.usefixtures("enabled")
def test_a_client_certificate_as_variables_and_a_server_that_is_not_checked(
    cluster: Cluster, runner: Runner, tmp_path: Path
) -> None:
    (user,) = yaml.safe_load(runner.kubeconfig.read_text())["users"]
    certificate, key = tmp_path / "client.crt", tmp_path / "client.key"
    certificate.write_bytes(base64.b64decode(user["user"]["client-certificate-data"]))
    key.write_bytes(base64.b64decode(user["user"]["client-key-data"]))
    reached = {
        **RECIPE,
        "hardware_enablement_host": cluster.server,
        "hardware_enablement_client_cert": str(certificate),
        "hardware_enablement_client_key": str(key),
    }
    without_kubeconfig = runner.without_kubeconfig()
    said = refused(without_kubeconfig, "status", **reached)
    assert "give the CA that signed it" in said
    mark = cluster.mark()
    without_kubeconfig.play("status", **reached, hardware_enablement_validate_certs=False).check()
    assert cluster.audit(user=runner.user, since=mark)


def test_a_cluster_that_does_not_answer_has_a_support_bundle(
    runner: Runner, tmp_path: Path
) -> None:
    file = tmp_path / "bundle.tar.gz"
    nowhere = {
        "hardware_enablement_host": "https://127.0.0.1:1",
        "hardware_enablement_api_key": "x",
    }
    played = runner.without_kubeconfig().play(
        "support_bundle",
        **nowhere,
        hardware_enablement_recipe="nfd",
        hardware_enablement_support_file=str(file),
    )
    assert "the API server cannot be reached" in played.check().output
    with tarfile.open(file) as opened:
        names = [name.partition("/")[2] for name in opened.getnames()]
    assert names == ["README.md", "versions.yaml", "nfd/recipe.yml"]


@pytest.mark.usefixtures("enabled")
def test_missing_rights_are_named_together_before_the_first_write(
    cluster: Cluster, runner: Runner
) -> None:
    limited = Runner(cluster, "limited", runner.folder)
    grant(cluster, "limited", "hardware-enablement-viewer")
    text = refused(limited, **RECIPE, hardware_enablement_options={"plugin_version": "4.0"})
    for words in (
        "patch daemonsets.apps in two-states",
        "patch nodes",
        "patch specialresources/status.hardware",
    ):
        assert words in text
    assert "manifests/rbac.yaml" in text


def test_what_changed_options_ask_rights_for_and_say(cluster: Cluster, runner: Runner) -> None:
    recipe = {**RECIPE, "hardware_enablement_namespace": "two-states"}
    runner.play("enable", **recipe, hardware_enablement_options={}).check()
    mark = cluster.mark()
    runner.play("enable", **RECIPE).unchanged()
    assert asked(runner, mark, REVIEWS) == []
    mark = cluster.mark()
    runner.play("enable", **RECIPE, hardware_enablement_options={"plugin_version": "4.0"}).check()
    # The lock's three verbs, the record and its status, nodes, and the one DaemonSet that differs.
    assert len(asked(runner, mark, REVIEWS)) == 7

    options = {"driver_version": "2.0"}
    schedule = {
        "hardware_enablement_options": options,
        "hardware_enablement_options_replace": False,
    }
    text = refused(runner, **RECIPE, **schedule)
    assert "What is given for two-states leaves out plugin_version" in text
    played = runner.play("enable", "--check", **RECIPE, hardware_enablement_options=options).check()
    changes = 'driver_version: "1.0" -> "2.0"; plugin_version: "4.0" -> "1.0", its default'
    said = f"two-states differs from its record: {changes}"
    assert played.output.count(said) == 1
    assert played.output.index(said) < played.output.index("TASK [hardware.enablement.enable : ")
    runner.play("enable", **RECIPE, hardware_enablement_options={}).check()
    assert daemonsets(cluster)["plugin"] == "plugin:1.0"


def a_driver_of_the_operator() -> dict[str, Any]:
    """The DaemonSet of a driver as GPU Operator makes it, as far as that is seen on the nodes; its
    pods do not come."""
    labels = {"app": "nvidia-driver-daemonset"}
    mount = {"name": "run", "mountPath": "/run/nvidia", "mountPropagation": "Bidirectional"}
    container = {
        "name": "driver",
        "image": "registry.test/nvidia/driver:580.95.05-ubuntu22.04",
        "securityContext": {"privileged": True},
        "volumeMounts": [mount],
    }
    pod = {
        "schedulerName": "nobody",
        "containers": [container],
        "volumes": [{"name": "run", "hostPath": {"path": "/run/nvidia"}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "nvidia-driver-daemonset", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


@pytest.mark.usefixtures("enabled")
def test_what_somebody_else_writes_into_the_record_is_said_and_dropped_once(
    cluster: Cluster, runner: Runner
) -> None:
    runner.play("enable", **RECIPE, hardware_enablement_options={}).check()
    spec = ("get", "specialresource", "two-states", "-o", "jsonpath={.spec}")
    before = json.loads(cluster.kubectl(*spec))
    written = ("patch", "specialresource", "two-states", "--type=merge", "-p")
    cluster.kubectl(*written, json.dumps({"spec": {"options": {"plugin_version": "9.0"}}}))
    said = "SpecialResource two-states was changed since the last run, by kubectl-patch"
    assert said in runner.play("status", **RECIPE).output
    pool = {"name": "theirs", "selector": {"matchLabels": {"no": "node"}}, "options": {}}
    patch = {"options": {"unheard_of": {"a": [1]}}, "pools": [pool]}
    cluster.kubectl(*written, json.dumps({"spec": patch}))
    assert "unheard_of" in runner.play("status", **RECIPE).output
    assert "unheard_of" in refused(runner, **RECIPE)
    given = {"hardware_enablement_options": {}, "hardware_enablement_pools": []}
    played = runner.play("enable", **RECIPE, **given).check()
    assert 'unheard_of: {"a": [1]} -> no option of this recipe any more' in played.output
    assert json.loads(cluster.kubectl(*spec)) == before
    mark = cluster.mark()
    runner.play("enable", **RECIPE, **given).unchanged()
    assert runner.writes(mark) == []
    for wrong in ({"namespace": "a/b"}, {"recipe": "../x"}, {"foundAs": "../../etc"}):
        with pytest.raises(ClusterError, match="should match"):
            cluster.kubectl(*written, json.dumps({"spec": wrong}))


@pytest.mark.usefixtures("enabled")
def test_a_rival_is_refused_by_its_kind_alone_or_by_what_it_does(
    cluster: Cluster, runner: Runner
) -> None:
    names = {"plural": "clusterpolicies", "singular": "clusterpolicy", "kind": "ClusterPolicy"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "clusterpolicies.nvidia.com"},
        "spec": {"group": "nvidia.com", "scope": "Cluster", "names": names, "versions": [version]},
    }
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(definition))
    cluster.kubectl("wait", "--for=condition=Established", "crd/clusterpolicies.nvidia.com")
    policy = {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy"},
    }
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(policy))
    text = refused(runner, "enable_gpu")
    assert "does what nvidia-gpu is to do (ClusterPolicy cluster-policy)" in text
    cluster.kubectl("delete", "clusterpolicy", "cluster-policy")
    # Its driver serves the devices without it, too.
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(a_driver_of_the_operator()))
    text = refused(runner, "enable_gpu")
    assert "(DaemonSet default/nvidia-driver-daemonset, which writes to /run/nvidia of the" in text
    assert "or leave it to that one (driver_enabled=false)" in text
    cluster.kubectl("delete", "daemonset", "nvidia-driver-daemonset")
    # What is left to refuse is two-states, which serves the same resource.
    assert "nvidia.com/gpu would be served twice, by two-states and by nvidia-gpu" in refused(
        runner, "enable_gpu"
    )
    runner.play("disable", **RECIPE).check()
    runner.play("enable_gpu", "--check").check()


@pytest.fixture
def giving_back(runner: Runner, tmp_path: Path) -> Runner:
    """Plays that know two-states with a role to play first, which fails where it is told to or
    DaemonSets are gone."""
    shutil.copytree(
        Path(RECIPE["hardware_enablement_recipe_dir"]) / "two-states", tmp_path / "two-states"
    )
    with (tmp_path / "two-states" / "recipe.yml").open("a") as recipe:
        recipe.write("release_role: acme.cards.give_back\n")
    tasks = tmp_path / "ansible_collections" / "acme" / "cards" / "roles" / "give_back" / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "main.yml").write_text(
        """
- kubernetes.core.k8s_info: {api_version: apps/v1, kind: DaemonSet, namespace: elsewhere}
  register: found
- ansible.builtin.fail: {msg: "{{ found.resources | length }} DaemonSets, a card is stuck"}
  when: stuck | bool or not found.resources
"""
    )
    other = copy(runner)
    other.settings = runner.settings | {"ANSIBLE_COLLECTIONS_PATH": f"{tmp_path}:{Place().tested}"}
    return other


@pytest.mark.usefixtures("disabled")
def test_what_a_recipe_has_to_give_back_comes_first_and_a_namespace_not_given_is_the_records(
    cluster: Cluster, giving_back: Runner, tmp_path: Path
) -> None:
    recipe = RECIPE | {"hardware_enablement_recipe_dir": str(tmp_path)}
    giving_back.play("enable", **recipe, hardware_enablement_namespace="elsewhere").check()
    giving_back.play("enable", **recipe).unchanged()
    assert daemonsets(cluster) == {}
    assert "3 DaemonSets, a card is stuck" in refused(giving_back, "disable", **recipe, stuck=True)
    giving_back.play("disable", **recipe, stuck=False).check()
    assert cluster.kubectl("get", "daemonsets", "-n", "elsewhere", "-o", "name") == ""


def test_an_operator_whose_settings_are_read_from_a_file_is_not_taken_over(
    runner: Runner, tmp_path: Path
) -> None:
    policy = {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy"},
        "spec": {"driver": {"enabled": False}},
    }
    file, saved = tmp_path / "policy.yml", tmp_path / "gpu.yml"
    file.write_text(yaml.safe_dump(policy))
    mark = runner.cluster.mark()
    played = runner.play(
        "import_operator",
        operator_import_file=str(file),
        operator_import_save=str(saved),
        operator_import_stop=True,
    ).check()
    assert "settings were read, and nothing was changed" in played.output
    assert runner.writes(mark) == []
    kept = yaml.safe_load(saved.read_text())
    assert kept["hardware_enablement_options"]["driver_enabled"] is False


def test_a_recipe_is_begun_where_label_and_resource_are_named(
    runner: Runner, tmp_path: Path
) -> None:
    named = {
        "hardware_enablement_recipe": "acme",
        "hardware_enablement_recipe_dir": str(tmp_path),
        "hardware_enablement_new_label": "acme.example/card",
    }
    played = runner.play("recipe_new", **named)
    assert "hardware_enablement_new_resource is not given" in played.output
    assert list(tmp_path.iterdir()) == []
    runner.run_program(
        "recipe_new", **named, hardware_enablement_new_resource="acme.example/slot"
    ).check()
    recipe = yaml.safe_load((tmp_path / "acme" / "recipe.yml").read_text())
    assert recipe["resources"] == ["acme.example/slot"]
    assert "acme.example/card" in str(recipe["selector"])
