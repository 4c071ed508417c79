# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CustomResourceDefinition of SpecialResource: the cluster's own record of an enabled recipe.

The same text is published as manifests/crd.yaml for clusters whose admin applies it beforehand (a test compares)."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster import definitions
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.definitions import (
    GENERATION,
    NUMBER,
    TEXT,
    list_of,
    object_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.kinds import Kind
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import DOMAIN

RECORD = Kind(DOMAIN, "v1", "SpecialResource", "specialresources", namespaced=False)
GROUP = RECORD.group
API_VERSION = RECORD.api_version
KIND = RECORD.kind
NAME = f"{RECORD.plural}.{RECORD.group}"


def _schema() -> dict[str, Any]:
    group = object_of("One kernel group's share of a state.", id=TEXT, kernel=TEXT, ready=NUMBER, total=NUMBER)
    state = object_of(
        "One state of the recipe.",
        name=TEXT,
        phase=TEXT,
        scope=TEXT,
        ready=NUMBER,
        total=NUMBER,
        reason=TEXT,
        message=TEXT,
        since=TEXT,
        groups=list_of(group),
    )
    state["required"] = ["name", "phase"]
    problem = object_of(
        "What keeps one node from being ready.",
        node=TEXT,
        state=TEXT,
        phase=TEXT,
        reason=TEXT,
        message=TEXT,
        since=TEXT,
        todo=TEXT,
    )
    spec = object_of(
        "What was asked for.",
        recipe=TEXT,
        namespace=TEXT,
        options={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        secretOptions=list_of(TEXT),
    )
    spec["required"] = ["recipe", "namespace"]
    image = object_of(
        "The image of one kernel group, looked up or built.",
        state=TEXT,
        group=TEXT,
        kernel=TEXT,
        image=TEXT,
        inputs=TEXT,
        problem=TEXT,
        failed=TEXT,
    )
    image["required"] = ["state", "group"]
    status = object_of(
        "What was found.",
        phase=TEXT,
        message=TEXT,
        observedGeneration=GENERATION,
        nodes=object_of("Nodes with the hardware.", total=NUMBER, ready=NUMBER, summary=TEXT),
        kernels=list_of(TEXT),
        kernelCount=NUMBER,
        conditions=definitions.conditions("Ready, Progressing and Degraded"),
        states=list_of(state, "name"),
        problems=list_of(problem),
        images=list_of(image, "state", "group"),
    )
    root = object_of("An enabled special resource: hardware and what makes it usable.", spec=spec, status=status)
    root["required"] = ["spec"]
    return root


def definition() -> dict[str, Any]:
    """The CRD as an object to apply. By its ApplySet label, its instances may be parents of an ApplySet (KEP-3659)."""
    columns = [
        ("Phase", "string", ".status.phase"),
        ("Nodes", "string", ".status.nodes.summary"),
        ("Kernels", "integer", ".status.kernelCount"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ]
    labels = {"applyset.kubernetes.io/is-parent-type": "true"}
    return definitions.definition(RECORD, _schema(), columns, short_names=["sr"], labels=labels)
