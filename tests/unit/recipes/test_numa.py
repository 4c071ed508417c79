# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the recipe numa deploys with which options: the scheduler's configuration, TLS, network policies."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.unit.recipes.conftest import REPO, Render, renderer
from tests.unit.recipes.looking import Obj, container, names, pod_spec

TLS = {"tls_min_version": "VersionTLS13", "tls_cipher_suites": ["TLS_A", "TLS_B"]}


@pytest.fixture(scope="module")
def numa() -> Render:
    """Renders recipes/numa."""
    return renderer(REPO / "recipes" / "numa")


def informers(rendering: object) -> set[str]:
    """Where the scheduler's plugin takes pods from."""
    data = rendering.one("ConfigMap", "numa-scheduler")["data"]  # type: ignore[attr-defined]
    profiles = yaml.safe_load(data["config.yaml"])["profiles"]
    return {each["pluginConfig"][0]["args"]["cache"]["informerMode"] for each in profiles}


@pytest.mark.parametrize(
    ("platform", "version", "informer"),
    [
        ("kubernetes", "1.33.5", "Dedicated"),
        ("kubernetes", "1.34.0", "Shared"),
        # There is no image for so new a cluster; its kubelets are what counts.
        ("kubernetes", "1.36.2", "Shared"),
        ("openshift", "1.32.9", "Dedicated"),
        ("openshift", "1.33.5", "Shared"),
    ],
)
def test_pods_that_have_ended_count_where_kubelets_tell_of_them(
    numa: Render, platform: str, version: str, informer: str
) -> None:
    cluster = {"kubernetes_version": version}
    assert informers(numa(platform, cluster=cluster)) == {informer}
    assert informers(numa(platform, cluster=cluster, scheduler_informer="dedicated")) == {
        "Dedicated"
    }


def test_what_is_served_has_the_tls_that_is_asked_for(numa: Render) -> None:
    rendering = numa(metrics="https", metrics_secret="certificate", **TLS)
    exporter = pod_spec(rendering, "numa-exporter")
    assert {
        "--metrics-mode=httptls",
        "--metrics-tls-min-version=VersionTLS13",
        "--metrics-tls-cipher-suites=TLS_A,TLS_B",
    } <= set(container(exporter, "exporter")["args"])
    assert {"secretName": "certificate"} in [each.get("secret") for each in exporter["volumes"]]
    scheduler = rendering.one("Deployment", "numa-scheduler")["spec"]["template"]["spec"]
    assert {"--tls-min-version=VersionTLS13", "--tls-cipher-suites=TLS_A,TLS_B"} <= set(
        container(scheduler, "scheduler")["args"]
    )
    assert "tls" not in json.dumps(numa().objects("Deployment"))


def test_network_policies_let_through_what_is_needed_and_nothing_else(numa: Render) -> None:
    policies: dict[str, Obj] = {
        each["metadata"]["name"]: each["spec"]
        for each in numa(metrics="http", api_server_ports=[6443]).objects("NetworkPolicy")
    }
    ports = {
        (port["port"], port["protocol"])
        for rule in policies["numa"]["egress"]
        for port in rule["ports"]
    }
    assert ports == {
        (6443, "TCP"),
        *((port, protocol) for port in (53, 5353) for protocol in ("UDP", "TCP")),
    }
    # Nothing comes in but for metrics, and that to exporters only.
    assert policies["numa"]["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in policies["numa"]
    assert policies["numa-metrics"]["ingress"] == [{"ports": [{"port": 2112, "protocol": "TCP"}]}]
    assert (
        policies["numa-metrics"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
        == "exporter"
    )
    assert names(numa(), "NetworkPolicy") == {"numa"}
    assert names(numa(network_policies=False), "NetworkPolicy") == set()


def test_policies_and_pods_have_the_same_labels(numa: Render) -> None:
    rendering = numa(metrics="http")
    for policy in rendering.objects("NetworkPolicy"):
        wanted = policy["spec"]["podSelector"]["matchLabels"].items()
        pods = [
            each["spec"]["template"]["metadata"]["labels"].items()
            for each in rendering.objects()
            if each["kind"] in ("DaemonSet", "Deployment")
        ]
        exporters_only = policy["metadata"]["name"] == "numa-metrics"
        assert [wanted <= labels for labels in pods].count(True) == (
            1 if exporters_only else len(pods)
        )


def test_what_tolerates_a_taint_is_the_exporter(numa: Render) -> None:
    toleration = {"key": "example.org/reserved", "operator": "Exists"}
    rendering = numa(tolerations=[toleration])
    assert toleration in pod_spec(rendering, "numa-exporter")["tolerations"]
