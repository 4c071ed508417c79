# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done at once, what in its turn, and what last."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.changes import (
    Change,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    GROUP_LABEL,
    STATE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    key_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    RenderedObject,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.staging import (
    ProvenOn,
    StateOrder,
    acts,
    divide,
    members_of,
)

ORDER = StateOrder({"driver": (), "plugin": ("driver",), "host": ()}, {"host"})


def obj(
    kind: str, name: str, api_version: str = "apps/v1", state: str = "", group: str = ""
) -> dict[str, Any]:
    """An object, labelled as ours where a state is given."""
    labels = {STATE_LABEL: state, **({GROUP_LABEL: group} if group else {})}
    metadata = {"name": name, "namespace": "demo", **({"labels": labels} if state else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def change(manifest: dict[str, Any], action: Any = "create") -> Change:
    """A planned change."""
    before = manifest if action == "delete" else None
    return Change(
        key_of(manifest), action, before, None, desired=None if action == "delete" else manifest
    )


@pytest.mark.parametrize(
    ("kind", "api_version", "expected"),
    [
        ("DaemonSet", "apps/v1", False),
        ("ConfigMap", "v1", False),
        ("Service", "v1", False),
        ("ResourceClaimTemplate", "resource.k8s.io/v1", False),
        ("DeviceClass", "resource.k8s.io/v1", False),
        ("CustomResourceDefinition", "apiextensions.k8s.io/v1", False),
        ("Deployment", "apps/v1", True),
        ("Job", "batch/v1", True),
        ("Certificate", "cert-manager.io/v1", True),
        ("BuildConfig", "build.openshift.io/v1", True),
        ("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", True),
    ],
)
def test_what_acts_as_soon_as_it_exists(kind: str, api_version: str, expected: bool) -> None:
    assert acts(obj(kind, "x", api_version)) is expected


def test_only_what_acts_in_a_state_that_requires_others_comes_later() -> None:
    objects = {
        "driver": [RenderedObject(obj("Deployment", "operator"), "", "f")],
        "plugin": [
            RenderedObject(obj("DaemonSet", "plugin"), "", "f"),
            RenderedObject(obj("Job", "init-a"), "a", "f"),
            RenderedObject(obj("Job", "init-b"), "b", "f"),
        ],
    }
    changes = [change(item.manifest) for found in objects.values() for item in found]
    staged = divide(changes, members_of(objects), ORDER)
    assert [item.key.name for item in staged.now] == ["operator", "plugin"]
    assert [(stage.state, stage.group, stage.requires) for stage in staged.later] == [
        ("plugin", "a", ("driver",)),
        ("plugin", "b", ("driver",)),
    ]


def test_what_is_as_it_should_be_waits_for_nothing() -> None:
    objects = {"plugin": [RenderedObject(obj("Deployment", "server"), "", "f")]}
    staged = divide(
        [change(objects["plugin"][0].manifest, "unchanged")], members_of(objects), ORDER
    )
    assert (len(staged.now), staged.later) == (1, ())


def test_what_worked_goes_when_its_replacement_is_proven() -> None:
    gone = [
        change(obj("DaemonSet", "hook", state="host"), "delete"),
        change(obj("DaemonSet", "old-kernel", state="driver", group="k"), "delete"),
    ]
    staged = divide(gone, {}, ORDER)
    assert [item.key.name for item in staged.now] == ["old-kernel"]
    assert [(stage.state, stage.requires, stage.on) for stage in staged.later] == [
        ("host", ("host",), ProvenOn.ALL)
    ]


@pytest.mark.parametrize(("replaced", "held"), [("host", ["plugin", "exporter"]), ("driver", [])])
def test_what_stands_on_something_that_is_replaced_keeps_its_version_until_that_is_proven(
    replaced: str, held: list[str]
) -> None:
    order = StateOrder(
        {"driver": (), "host": ("driver",), "plugin": ("host",), "exporter": ("plugin",)}, {"host"}
    )
    objects = {
        state: [
            RenderedObject(obj("DaemonSet", state), "", "f"),
            RenderedObject(obj("ConfigMap", state), "", "f"),
        ]
        for state in ("driver", "plugin", "exporter")
    }
    changes = [change(item.manifest, "update") for found in objects.values() for item in found]
    # Nothing is taken away by what is new.
    changes.append(change(obj("DaemonSet", "new")))
    objects["plugin"].append(RenderedObject(obj("DaemonSet", "new"), "", "f"))
    gone = change(obj("DaemonSet", "hook", state=replaced), "delete")
    staged = divide([*changes, gone], members_of(objects), order)
    waiting = [stage for stage in staged.later if not stage.deletes]
    assert [(stage.state, stage.requires, stage.on) for stage in waiting] == [
        (state, ("host",), ProvenOn.ALL) for state in held
    ]
    assert {key.kind for stage in waiting for key in stage.keys} <= {"DaemonSet"}
    assert "new" in [item.key.name for item in staged.now]


def test_the_lock_is_for_what_is_written_now_and_for_what_goes() -> None:
    objects = {"plugin": [RenderedObject(obj("Deployment", "operator"), "", "f")]}
    same, waits = (
        change(obj("ConfigMap", "same"), "unchanged"),
        change(objects["plugin"][0].manifest),
    )
    members = members_of(objects)
    assert not divide([same, waits], members, ORDER).needs_lock
    assert divide([waits, change(obj("ConfigMap", "new"))], members, ORDER).needs_lock
    assert divide(
        [same, change(obj("DaemonSet", "hook", state="host"), "delete")], members, ORDER
    ).needs_lock


def test_what_begins_last_waits_for_all_nodes_that_can() -> None:
    objects = {"plugin": [RenderedObject(obj("Deployment", "scheduler"), "", "f")]}
    changes = [change(item.manifest) for item in objects["plugin"]]
    (stage,) = divide(
        changes, members_of(objects), StateOrder(ORDER.requires, last={"plugin"})
    ).later
    assert (stage.requires, stage.on) == (("driver",), ProvenOn.ALL_THAT_CAN)
