# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Secrets and ConfigMaps a pod cannot do without: pure functions."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._preflight.pod_reference import (
    mounted_objects,
)


def test_objects_are_found_wherever_a_pod_names_them_but_optional_ones() -> None:
    spec = {
        "volumes": [
            {"name": "a", "secret": {"secretName": "volume"}},
            {"name": "b", "configMap": {"name": "files"}},
            {"name": "c", "configMap": {"name": "not-needed", "optional": True}},
            {"name": "d", "projected": {"sources": [{"secret": {"name": "projected"}}]}},
            {"name": "e", "emptyDir": {}},
        ],
        "initContainers": [{"name": "i", "envFrom": [{"configMapRef": {"name": "variables"}}]}],
        "containers": [
            {
                "name": "main",
                "env": [
                    {"name": "A", "value": "text"},
                    {"name": "B", "valueFrom": {"secretKeyRef": {"name": "key", "key": "k"}}},
                    {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                ],
                "envFrom": [{"secretRef": {"name": "not-needed", "optional": True}}],
            }
        ],
    }
    assert mounted_objects({"spec": spec}) == {
        ("Secret", "volume"),
        ("ConfigMap", "files"),
        ("Secret", "projected"),
        ("ConfigMap", "variables"),
        ("Secret", "key"),
    }
    assert mounted_objects({"spec": {"containers": [{"name": "main"}]}}) == set()
