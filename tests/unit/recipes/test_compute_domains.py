# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-gpu with ComputeDomains: what NVIDIA's chart deploys for them, and nothing unless asked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    GROUPS,
    MONITORING_APIS,
    OPENSHIFT_APIS,
    Render,
    Rendering,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    container,
    env_of,
    names,
    pod_spec,
)

STATES = ("compute_domain_controller", "compute_domains")
CONTROLLER, PLUGIN = "nvidia-compute-domain-controller", "nvidia-compute-domains"
DAEMON = "compute-domain-daemon-service-account"
LOOK = {"get", "list", "watch"}
Rules = dict[str, set[str]]
# kubernetes-sigs/dra-driver-nvidia-gpu v0.4.1, deployments/helm/dra-driver-nvidia-gpu/templates:
# what deviceclass-*.yaml select, and rbac-*.yaml allow, without the leases of a leader, since there is one controller.
CLASSES = {
    "compute-domain-daemon.nvidia.com": "type == 'daemon'",
    "compute-domain-default-channel.nvidia.com": (
        "type == 'channel' && device.attributes['compute-domain.nvidia.com'].id == 0"
    ),
}
RULES: dict[str, Rules] = {
    CONTROLLER: {
        "resource.nvidia.com/computedomains": LOOK | {"update"},
        "resource.nvidia.com/computedomains/status": {"update"},
        "resource.nvidia.com/computedomaincliques": LOOK | {"update"},
        "resource.k8s.io/resourceclaimtemplates": LOOK | {"create", "update", "delete"},
        "apps/daemonsets": LOOK | {"create", "update", "patch", "delete"},
        "/nodes": LOOK | {"update"},
        "/pods": LOOK,
    },
    PLUGIN: {
        "resource.nvidia.com/computedomains": LOOK,
        "resource.nvidia.com/computedomaincliques": {"get"},
        "resource.k8s.io/resourceclaims": LOOK,
        "resource.k8s.io/resourceslices": LOOK | {"create", "update", "delete"},
        "/nodes": LOOK | {"update"},
        "/pods": LOOK,
    },
    DAEMON: {
        "resource.nvidia.com/computedomains": LOOK | {"update", "patch"},
        "resource.nvidia.com/computedomains/status": LOOK | {"update", "patch"},
        "resource.nvidia.com/computedomaincliques": LOOK | {"create", "update", "patch"},
        "/pods": LOOK | {"patch"},
    },
}


def rendered(nvidia_gpu: Render, **options: Any) -> Rendering:
    """Where OpenShift's kinds are served, too."""
    return nvidia_gpu(
        "openshift",
        MONITORING_APIS | OPENSHIFT_APIS,
        cluster={"kubernetes_version": "1.36.2"},
        compute_domains_enabled=True,
        **options,
    )


def rules_of(rendering: Rendering, account: str) -> Rules:
    """What the roles of a service account allow: group/resource -> verbs."""
    found: Rules = defaultdict(set)
    for kind in ("ClusterRole", "Role"):
        bound = {
            each["roleRef"]["name"]
            for each in rendering.objects(f"{kind}Binding")
            if each["subjects"][0]["name"] == account
        }
        for role in rendering.objects(kind):
            for rule in role["rules"] if role["metadata"]["name"] in bound else ():
                for resource in rule["resources"]:
                    found[f"{rule['apiGroups'][0]}/{resource}"] |= set(rule["verbs"])
    return dict(found)


def test_nobody_has_them_who_does_not_ask(nvidia_gpu: Render) -> None:
    usual = nvidia_gpu(cluster={"kubernetes_version": "1.33.4"})
    assert not [each for state in STATES for each in usual.objects(state=state)]
    assert not [proof for state in STATES for proof in usual.states[state].proofs]


def test_classes_and_kinds_are_those_of_the_chart(nvidia_gpu: Render) -> None:
    rendering = rendered(nvidia_gpu)
    driver = "device.driver == 'compute-domain.nvidia.com'"
    assert {
        each["metadata"]["name"]: each["spec"]["selectors"][0]["cel"]["expression"]
        for each in rendering.objects("DeviceClass")
    } == {
        name: f"{driver} && device.attributes['compute-domain.nvidia.com'].{expression}"
        for name, expression in CLASSES.items()
    }
    definitions = {
        each["spec"]["names"]["kind"]: each["spec"]
        for each in rendering.objects("CustomResourceDefinition")
    }
    assert definitions.keys() == {"ComputeDomain", "ComputeDomainClique"}
    (version,) = definitions["ComputeDomain"]["versions"]
    assert (version["name"], version["subresources"]) == ("v1beta1", {"status": {}})
    # The controller alone writes a status; one without the subresource would go with each spec.
    assert "subresources" not in definitions["ComputeDomainClique"]["versions"][0]


@pytest.mark.parametrize("account", RULES)
def test_each_may_what_the_chart_lets_it(nvidia_gpu: Render, account: str) -> None:
    assert rules_of(rendered(nvidia_gpu), account) == RULES[account]


def test_plugin_controller_and_daemons_know_the_same(nvidia_gpu: Render) -> None:
    rendering = rendered(
        nvidia_gpu,
        dra_feature_gates={"IMEXDaemonsWithDNSNames": False},
        dra_image="registry.example.com/dra:1",
        image_pull_secrets=["pull"],
    )
    (deployment,) = rendering.objects("Deployment", STATES[0])
    controller = container(deployment["spec"]["template"]["spec"], "controller")
    plugin = container(pod_spec(rendering, PLUGIN), "compute-domains")
    assert controller["image"] == plugin["image"] == env_of(controller)["IMAGE_NAME"]
    gates = {env_of(each)["FEATURE_GATES"] for each in (controller, plugin)}
    assert gates == {"IMEXDaemonsWithDNSNames=false"}
    assert env_of(controller)["CD_DAEMON_IMAGE_PULL_SECRET_NAMES"] == "pull"
    assert env_of(plugin)["NVIDIA_DRIVER_ROOT"] == "/run/nvidia/driver"
    # Beside NVIDIA's DRA driver for GPUs, in the node's network or not.
    assert (
        str(plugin["livenessProbe"]["grpc"]["port"])
        == env_of(plugin)["HEALTHCHECK_PORT"]
        != "51516"
    )


def test_what_proves_them(nvidia_gpu: Render) -> None:
    rendering = rendered(nvidia_gpu)
    controller, plugin = (rendering.states[state].proofs for state in STATES)
    assert [each.kind for each in controller] == ["rollout", "resource", "resource"]
    assert {each.spec["name"] for each in controller[1:]} == {
        each["metadata"]["name"] for each in rendering.objects("CustomResourceDefinition")
    }
    assert plugin[1].spec["driver"] == "compute-domain.nvidia.com"
    assert plugin[2].spec["present"] == ["nvidia.com/gpu.clique"]
    without = rendered(nvidia_gpu, feature_discovery_enabled=False).states["compute_domains"].proofs
    assert [each.kind for each in without] == ["rollout", "resource_slices"]


def test_one_pool_may_have_them(nvidia_gpu: Render) -> None:
    groups = [replace(GROUPS[0], pool="racks"), replace(GROUPS[1], pool="others")]
    pools = {"racks": {"compute_domains_enabled": True}, "others": {}}
    rendering = nvidia_gpu(groups=groups, pools=pools, cluster={"kubernetes_version": "1.36.2"})
    made = {name for name in names(rendering, "DaemonSet") if name.startswith(PLUGIN)}
    assert len(made) == 1
    assert all("racks" in name for name in made)
    assert len(rendering.objects("Deployment", STATES[0])) == 1


def test_a_cluster_that_is_too_old_is_told_before_anything_is_written(nvidia_gpu: Render) -> None:
    with pytest.raises(
        InvalidInput, match=r"does not serve resource\.k8s\.io/v1, by which pods claim"
    ):
        nvidia_gpu(cluster={"kubernetes_version": "1.33.4"}, compute_domains_enabled=True)


def test_what_the_image_has_no_shell_for_runs_in_another(nvidia_gpu: Render) -> None:
    """The DRA driver's image is distroless, with bash at /bin/bash alone: deployments/container/Dockerfile."""
    dra = replace(GROUPS[0], allocation="dra")
    rendering = nvidia_gpu(
        groups=(dra,), cluster={"kubernetes_version": "1.36.2"}, compute_domains_enabled=True
    )
    checked = 0
    for _state, spec in rendering.pod_specs():
        for each in [*spec.get("initContainers", []), *spec["containers"]]:
            if "dra-driver-nvidia-gpu" in each["image"]:
                assert each["command"][0] != "/bin/sh"
                checked += 1
    assert checked == 3
