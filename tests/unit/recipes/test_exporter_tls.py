# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exporters that serve HTTPS: the exporter, its probes, its proof, its Service and its ServiceMonitor
agree."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    MONITORING_APIS,
    OPENSHIFT_APIS,
    REPO,
    Rendering,
    renderer,
)

# Recipe -> its exporter, and the options that it needs.
EXPORTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "nvidia-gpu": ("nvidia-dcgm-exporter", {}),
    "intel-gpu": ("intel-gpu-exporter", {}),
    "rdt-classes": ("rdt-classes-exporter", {"classes": {"gold": {"ways": 4}}}),
}
ISSUED = "service.beta.openshift.io/serving-cert-secret-name"


def rendered(recipe: str, platform: str = "kubernetes", **options: Any) -> Rendering:
    """The recipe where ServiceMonitors are served."""
    openshift = OPENSHIFT_APIS if platform == "openshift" else frozenset()
    render = renderer(REPO / "recipes" / recipe)
    needed = EXPORTERS[recipe][1]
    return render(platform, MONITORING_APIS | openshift, **needed, **options)


def exporter_of(rendering: Rendering, recipe: str) -> dict[str, Any]:
    """The pod of the exporter."""
    (spec, *_same) = [
        each["spec"]["template"]["spec"]
        for each in rendering.objects("DaemonSet", "monitoring")
        if each["metadata"]["name"].startswith(EXPORTERS[recipe][0])
    ]
    return dict(spec)


def probes(spec: dict[str, Any]) -> set[str]:
    """How its container is asked."""
    (container,) = spec["containers"]
    asked = [value for name, value in container.items() if name.endswith("Probe")]
    return {probe["httpGet"]["scheme"] for probe in asked if "httpGet" in probe}


@pytest.mark.parametrize("recipe", EXPORTERS)
def test_by_default_all_is_http(recipe: str) -> None:
    rendering = rendered(recipe)
    spec = exporter_of(rendering, recipe)
    assert probes(spec) == {"HTTP"}
    assert not [volume for volume in spec["volumes"] if "secret" in volume]
    monitor = rendering.one("ServiceMonitor", EXPORTERS[recipe][0])["spec"]["endpoints"][0]
    assert "scheme" not in monitor
    assert rendering.states["monitoring"].proofs[1].spec["scheme"] == "http"


@pytest.mark.parametrize("recipe", EXPORTERS)
@pytest.mark.parametrize("tls", ["secret", "service-ca"])
def test_certificate_and_authority_are_where_they_are_looked_for(recipe: str, tls: str) -> None:
    name = EXPORTERS[recipe][0]
    platform = "openshift" if tls == "service-ca" else "kubernetes"
    rendering = rendered(recipe, platform, exporter_tls=tls, exporter_tls_secret="mine")
    spec = exporter_of(rendering, recipe)
    assert probes(spec) == {"HTTPS"}
    (secret,) = [volume for volume in spec["volumes"] if "secret" in volume]
    assert secret["secret"] == {"secretName": "mine"}
    (mount,) = [
        mount["mountPath"]
        for mount in spec["containers"][0]["volumeMounts"]
        if mount["name"] == secret["name"]
    ]
    told = [
        *spec["containers"][0].get("args", []),
        *(
            text
            for each in rendering.objects("ConfigMap", "monitoring")
            for text in each.get("data", {}).values()
        ),
    ]
    assert any(mount in text for text in told)
    endpoint = rendering.one("ServiceMonitor", name)["spec"]["endpoints"][0]
    assert endpoint["scheme"] == "https"
    assert endpoint["tlsConfig"]["serverName"] == f"{name}.{rendering.recipe.namespace}.svc"
    annotations = rendering.one("Service", name)["metadata"].get("annotations", {})
    if tls == "secret":
        assert endpoint["tlsConfig"]["ca"] == {"secret": {"name": "mine", "key": "ca.crt"}}
        assert ISSUED not in annotations
    else:
        bundle = endpoint["tlsConfig"]["ca"]["configMap"]
        assert bundle["key"] == "service-ca.crt"
        made = rendering.one("ConfigMap", bundle["name"])["metadata"]["annotations"]
        assert made["service.beta.openshift.io/inject-cabundle"] == "true"
        assert annotations[ISSUED] == "mine"
    assert rendering.states["monitoring"].proofs[1].spec["scheme"] == "https"


@pytest.mark.parametrize("recipe", EXPORTERS)
def test_a_service_ca_is_openshifts_alone(recipe: str) -> None:
    with pytest.raises(InvalidInput, match="OpenShift alone has a service CA"):
        rendered(recipe, exporter_tls="service-ca")
