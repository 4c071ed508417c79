# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rights are asked before the first write."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    UnknownKind,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.changes import (
    Change,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
    builtin,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    key_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preflight import (
    in_words,
    of_changes,
)

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "policies.acme.example"},
    "spec": {
        "group": "acme.example",
        "scope": "Namespaced",
        "names": {"kind": "Policy", "plural": "policies"},
        "versions": [{"name": "v1alpha1"}, {"name": "v1"}],
    },
}


def served(api_version: str, kind: str) -> Kind:
    """A cluster without kinds of anybody's own."""
    found = builtin(api_version, kind)
    if found is None:
        raise UnknownKind(f"there is no {kind}", where="here")
    return found


def created(manifest: dict[str, Any]) -> Change:
    """The plan to make an object."""
    return Change(key_of(manifest), "create", None, None, desired=manifest)


def test_kinds_that_come_with_the_changes_are_asked_for_too() -> None:
    own = {
        "apiVersion": "acme.example/v1",
        "kind": "Policy",
        "metadata": {"name": "cards", "namespace": "acme"},
    }
    later = {
        "apiVersion": "acme.example/v1",
        "kind": "Card",
        "metadata": {"name": "a", "namespace": "acme"},
    }
    text = in_words(of_changes(served, [created(CRD), created(own), created(later)]))
    assert text == (
        "create, patch policies.acme.example in acme; create, patch customresourcedefinitions.apiextensions.k8s.io"
    )
