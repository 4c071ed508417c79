# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""driver_container against a scripted API server and a scripted registry: who is asked, what is handed out, and what
a build that has failed means for the next run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds import container
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    DRIVER_CONTAINER,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    serving,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import (
    runs,
    world,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
    refusal,
)

RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: toy
namespace: toy
selector: {any_of: [{card: "yes"}]}
states:
  build:
    role: state_driver_container
    per: kernel
    build: {repository: REGISTRY/driver, containerfile: Containerfile}
"""


class Bed:
    """A node without an image, and a registry that has none."""

    def __init__(self, api: FakeServer, registry: FakeServer) -> None:
        self.cluster = ScriptedCluster(api, runs.card_node(card="yes"))
        self.registry = registry
        self._api = api
        self._host = registry.url.partition("://")[2]
        registry.answer = lambda _asked: refusal(404, "NotFound")

    def run(self, context: RunContext | None = None, **given: Any) -> Obj:
        """A task that hands its builds out."""
        files = {
            "recipe.yml": RECIPE.replace("REGISTRY", self._host),
            "Containerfile": "FROM scratch\n",
        }
        plain = [{"host": self._host, "plain_http": True}]
        given = {"builder": "controller", "bundle": files, "registries": plain, **given}
        return runs.run(container.TASK, DRIVER_CONTAINER, self._api, context, **given)

    def failed(self, order: Obj, context: RunContext | None = None, **said: str) -> Obj:
        """The task that is told how the build of an order ended."""
        return self.run(
            context, outcomes=[{"item": order, "msg": "error: no rule to make", **said}]
        )


@pytest.fixture
def bed() -> Iterator[Bed]:
    with serving() as api, serving() as registry:
        yield Bed(api, registry)


def test_a_build_that_failed_is_handed_out_again_only_where_that_may_help(bed: Bed) -> None:
    (order,) = bed.run()["orders"]
    assert order["target"].startswith(f"{bed.registry.url.partition('://')[2]}/driver:")
    result = bed.failed(order, phase="compile")
    assert "no rule to make" in result["msg"]
    assert bed.cluster.objects["specialresources"]["toy"]["status"]["images"][0]["failed"]
    assert bed.run()["orders"] == []
    assert bed.run(rebuild=True)["orders"] == [order]


def test_check_mode_hands_out_and_writes_nothing(bed: Bed) -> None:
    context = RunContext(check_mode=True, run_id="run-1", clock=lambda: world.NOW)
    result = bed.run(context)
    assert (result["changed"], result["orders"]) == (True, [])
    assert bed.cluster.writes == []


def test_without_a_builder_it_is_said_what_was_tried(bed: Bed) -> None:
    result = bed.run(builder="none")
    assert result["failed"]
    assert f"no image fits kernel {world.KERNEL}" in result["msg"]
    assert "it may not be built" in result["msg"]
    assert bed.cluster.writes == []


def test_a_registry_that_does_not_answer_takes_no_image_away(bed: Bed) -> None:
    (order,) = bed.run()["orders"]
    bed.failed(order, phase="compile")
    before = bed.cluster.objects["specialresources"]["toy"]["status"]["images"]
    bed.registry.answer = lambda _asked: refusal(403, "Forbidden")
    bed.run()
    assert (
        bed.cluster.objects["specialresources"]["toy"]["status"]["images"][0]["failed"]
        == before[0]["failed"]
    )


def test_the_record_quotes_no_secret(bed: Bed) -> None:
    (order,) = bed.run()["orders"]
    context = RunContext(run_id="run-1", clock=lambda: world.NOW, secrets={"swordfish"})
    bed.failed(order, context, phase="compile", msg="cannot log in with swordfish")
    text = json.dumps(bed.cluster.objects["specialresources"])
    assert "cannot log in with ********" in text
    assert "swordfish" not in text
