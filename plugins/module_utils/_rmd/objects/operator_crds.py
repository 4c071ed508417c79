# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CustomResourceDefinitions of RmdWorkload, RmdNodeState and RmdConfig.

They accept every field and value that objects of the operator's versions v0.1 to v0.3 may lease:
the API server refuses nothing that RMD would refuse, so that manifests that exist keep working and
a workload that cannot be says itself why. The same text is published as manifests/rmd-crds.yaml for
clusters whose admin applies it beforehand (a test compares). Source: deploy/crds of
https://github.com/intel/rmd-operator, tags v0.1.1, v0.2 and v0.3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._cluster import definitions
from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.kinds import Kind
from ..._cluster.api_objects.labels import DOMAIN
from ..._cluster.definitions import (
    GENERATION,
    MOMENT,
    TEXT,
    conditions,
    described,
    list_of,
    object_of,
)
from ..._json import Obj
from ..workloads import PARTS, TEXTS, RmdSettings, in_groups
from .operator_names import CONFIG, CONFIG_NAME, NODE_STATE, WORKLOAD

_INTEGER: Obj = {"type": "integer", "format": "int64"}
_FLAG: Obj = {"type": "boolean"}
_AGE = ("Age", "date", ".metadata.creationTimestamp")


def all_definitions() -> list[Obj]:
    """The three CRDs as objects to apply."""
    return [_workload(), _node_state(), _config()]


def ensure_definitions(client: Client) -> bool:
    """Apply the CRDs and wait until they are served; returns whether that changed anything."""
    return definitions.ensure(client, all_definitions())


def _nullable(schema: Mapping[str, Any]) -> Obj:
    """Also null: the operator's Go types write unset lists and objects so."""
    return {**schema, "nullable": True}


def _map(values: Mapping[str, Any]) -> Obj:
    return {"type": "object", "additionalProperties": dict(values)}


def _parameters() -> dict[str, Obj]:
    """What RMD is asked for, in the words of the operator's v0.2 and v0.3; in spec and in status
    alike."""
    groups = in_groups({name: _nullable(_part(name)) for name in PARTS})
    return {
        group: _nullable(object_of(about, **groups[group]))
        for group, about in (
            ("rdt", "Resource Director Technology."),
            ("plugins", "Settings of RMD's plugins."),
        )
    }


def _part(name: str) -> Obj:
    return object_of(PARTS[name].about, **_of_settings(PARTS[name]))


def _of_settings(kind: type[RmdSettings]) -> dict[str, Obj]:
    """Whole numbers are numbers, all else is text."""
    return {
        name: _nullable(_INTEGER if each["kind"] == "int" else TEXT)
        for name, each in kind.parameters().items()
    }


def _workload() -> Obj:
    parameters = _parameters()
    spec = object_of(
        "What is asked for. Fields of all versions of the operator; rdt wins over cache, plugins.pstate over pstate.",
        allCores=_nullable(described(_FLAG, "All CPUs but reservedCoreIds; wins over coreIds.")),
        coreIds=_nullable(described(list_of(TEXT), 'CPUs: "3", "4-5" or "0-1,3".')),
        reservedCoreIds=_nullable(described(list_of(TEXT), "CPUs that allCores leaves out.")),
        nodes=_nullable(described(list_of(TEXT), "Names of nodes.")),
        nodeSelector=_nullable(described(_map(TEXT), "Labels of nodes; wins over nodes.")),
        **{name: _nullable(described(TEXT, about)) for name, about in TEXTS.items()},
        cache=_nullable(described(_part("cache"), "As rdt.cache.")),
        pstate=_nullable(described(_part("pstate"), "As plugins.pstate.")),
        **parameters,
    )
    state = object_of(
        "How the workload stands on one node.",
        response=described(TEXT, 'What RMD answered: "Success: 201", or "Fail: " and why.'),
        id=TEXT,
        cosName=TEXT,
        status=TEXT,
        enforced=described(_FLAG, "Whether the node's kernel does what is asked for."),
        coreIds=_nullable(list_of(TEXT)),
        **dict.fromkeys(TEXTS, TEXT),
        **parameters,
    )
    status = object_of(
        "What was found.",
        workloadStates=_nullable(described(_map(state), "By the node's name.")),
        nodes=described(TEXT, 'On how many of its nodes the workload is as asked for, "2/2".'),
        observedGeneration=GENERATION,
        conditions=conditions("Ready, Enforced, Degraded and Invalid"),
    )
    schema = object_of(
        "A share of L3 cache, memory bandwidth and P-states for CPUs.", spec=spec, status=status
    )
    columns = [
        ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
        ("Enforced", "string", '.status.conditions[?(@.type=="Enforced")].status'),
        ("Nodes", "string", ".status.nodes"),
        ("Reason", "string", '.status.conditions[?(@.type=="Ready")].reason'),
        _AGE,
    ]
    return _definition(WORKLOAD, schema, columns, "rmdw")


def _node_state() -> Obj:
    parameters = _parameters()["rdt"]["properties"]
    entry = object_of(
        "One workload.",
        coreIds=_nullable(list_of(TEXT)),
        pod=_nullable(described(TEXT, "The uid of the pod that it goes with.")),
        **parameters,
    )
    spec = object_of(
        "Which node this is about, and what its agent enforces with the back end resctrl.",
        node=TEXT,
        nodeUid=_nullable(TEXT),
        workloads=_nullable(described(_map(entry), "By uuid.")),
    )
    spec["required"] = ["node"]
    status = object_of(
        "What RMD on the node answered last.",
        workloads=_nullable(described(_map(_map(TEXT)), "By uuid; the last that was seen.")),
        groups=_nullable(
            described(
                _map(_map(TEXT)),
                "Groups of the kernel's resctrl with their CPUs, masks of ways by cache, and bandwidth.",
            )
        ),
        bootID=described(TEXT, "The boot of the node in which this was seen."),
        reachable=described(_FLAG, "Whether the node could be looked at the last time."),
        lastSeen=described(
            MOMENT, "When RMD answered; renewed with other changes or after an hour."
        ),
        conditions=conditions("Reachable and Enforced"),
    )
    schema = object_of("The workloads that RMD runs on one node.", spec=spec, status=status)
    columns = [
        ("Node", "string", ".spec.node"),
        ("Reachable", "boolean", ".status.reachable"),
        ("Seen", "date", ".status.lastSeen"),
        _AGE,
    ]
    return _definition(NODE_STATE, schema, columns, "rmdns")


def _config() -> Obj:
    spec = object_of(
        "How RMD is deployed.",
        rmdImage=_nullable(described(TEXT, "RMD's image.")),
        rmdNodeSelector=_nullable(described(_map(TEXT), "Labels of the nodes that get RMD.")),
        backend=_nullable(
            described(TEXT, "Who divides the cache: resctrl, or rmd (the default with rmdImage).")
        ),
        deployNodeAgent=_nullable(described(_FLAG, "Whether pods may ask for cache ways.")),
    )
    status = object_of(
        "What was found.",
        nodes=_nullable(described(list_of(TEXT), "The nodes that have RMD.")),
        observedGeneration=GENERATION,
        conditions=conditions("Ready"),
    )
    schema = object_of("The cluster's configuration of RMD.", spec=spec, status=status)
    schema["properties"]["metadata"] = {
        "type": "object",
        "properties": {"name": {"type": "string", "pattern": f"^{CONFIG_NAME}$"}},
    }
    columns = [("Image", "string", ".spec.rmdImage"), _AGE]
    return _definition(CONFIG, schema, columns, "rmdc")


def _definition(
    kind: Kind, schema: Obj, columns: Sequence[tuple[str, str, str]], short: str
) -> Obj:
    labels = {"app.kubernetes.io/managed-by": DOMAIN}
    crd = definitions.definition(kind, schema, columns, short_names=[short], labels=labels)
    # The operator's own CRDs were v1beta1, where this was true, which a schema like these must not
    # be served with.
    crd["spec"]["preserveUnknownFields"] = False
    return crd
