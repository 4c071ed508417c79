# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a log or the API server quotes of a secret option does not reach the record, which anybody
may read."""

from __future__ import annotations

from typing import Any, cast

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
    RecipeNodes,
    RecipeSource,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.standard import (
    STANDARD_OPTIONS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.intent import (
    Intent,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.prepare import (
    Prepared,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record_writer import (
    write_report,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.report import (
    summarize,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

TOKEN = "hunter2-hunter2"
RECIPE = Recipe(
    "demo",
    "demo",
    RecipeSource("demo"),
    RecipeNodes(selector=({"example.com/card": None},)),
    options=STANDARD_OPTIONS,
)


def test_messages_in_the_record_show_no_secret() -> None:
    result = Result(
        "driver", Phase.FAILED, "CrashLoopBackOff", f"it crashes: token {TOKEN} refused", final=True
    )
    report = summarize(
        [world.plan("driver")],
        {("n1", "driver"): result},
        [],
        {"n1": world.GROUP},
        all_nodes=False,
    )
    prepared = Prepared(RECIPE, Intent(resolve(RECIPE, {}), "demo"), "applyset")
    live: dict[str, Any] = {"metadata": {"generation": 1}, "spec": prepared.spec}
    context = RunContext(check_mode=True, secrets={TOKEN})

    # In check mode nothing is sent, so there is no need for an API server.
    status = write_report(cast(Client, None), prepared, live, report, context)["status"]

    assert TOKEN in report["message"]
    assert TOKEN not in str(status)
    assert status["causes"][0]["message"] == "it crashes: token ******** refused"
    assert status["problems"][0]["reason"] == "CrashLoopBackOff"
