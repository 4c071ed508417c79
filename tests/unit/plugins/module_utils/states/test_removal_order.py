# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    STATE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    OrderRules,
    Recipe,
    RecipeSource,
    State,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.cleanup.removal_order import (
    removal_stages,
)

STATES = (
    State("build", "state"),
    State("driver", "state_driver", order=OrderRules(("build",))),
    State("plugin", "state_device_plugin", order=OrderRules(("driver",))),
)
DEMO = Recipe("demo", "demo", RecipeSource("demo"), states={state.name: state for state in STATES})


def key(state: str, kind: str = "DaemonSet") -> ObjectKey:
    return ObjectKey("apps/v1", kind, "demo", state)


def live(state: str, strategy: str = "RollingUpdate") -> dict[str, object]:
    return {
        "metadata": {"labels": {STATE_LABEL: state}},
        "spec": {"updateStrategy": {"type": strategy}},
    }


def test_a_driver_goes_when_what_stands_on_it_has_gone() -> None:
    objects = {
        key("build"): live("build"),
        key("driver"): live("driver", "OnDelete"),
        key("driver", "ConfigMap"): live("driver"),
        key("plugin"): live("plugin"),
        key("of-a-version-before"): live("of-a-version-before"),
    }
    assert removal_stages(list(objects), objects, DEMO) == [
        [key("plugin"), key("of-a-version-before")],
        [key("build"), key("driver"), key("driver", "ConfigMap")],
    ]


def test_without_a_driver_all_goes_at_once() -> None:
    objects = {key(state): live(state) for state in DEMO.states}
    assert removal_stages(list(objects), objects, DEMO) == [list(objects)]


def test_what_would_undo_the_others_work_goes_first() -> None:
    states = (
        State("api", "state"),
        State("master", "state", order=OrderRules(("api",), removed_first=True)),
        State("worker", "state", order=OrderRules(("master",))),
    )
    demo = Recipe(
        "demo", "demo", RecipeSource("demo"), states={state.name: state for state in states}
    )
    objects = {key(state): live(state) for state in ("api", "master", "worker")}
    objects[key("worker")] = live("worker", "OnDelete")
    assert removal_stages(list(objects), objects, demo) == [
        [key("master")],
        [key("api"), key("worker")],
    ]
