# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What should run on a node, whose it is, and what goes."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.view import (
    WantedWorkloads,
    refuse_collisions,
    wanted_on,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.workload_spec import (
    Declared,
    Name,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    RunningWorkload,
)
from tests.unit.rmd.objects.things import CACHE, declared, running

NODE = "worker-node-1"
OLD, NEW = "2025-01-01T00:00:00Z", "2026-06-01T00:00:00Z"


def wanted(
    objects: list[Declared],
    there: list[RunningWorkload] | None = None,
    owned: set[str] | None = None,
) -> WantedWorkloads:
    judged = refuse_collisions(objects)
    targets = {entry.name: entry.nodes({}, {}) for entry in judged}
    return wanted_on(
        NODE, judged, targets, running=there or [], cores=range(8), owned=owned or set()
    )


def test_what_is_for_the_node_is_wanted_the_oldest_first() -> None:
    found = wanted(
        [
            declared("b", created=OLD),
            declared("a", created=NEW),
            declared("c", spec={**CACHE, "nodes": ["x"]}),
        ]
    )
    assert [workload.uuid for workload in found.present] == ["b", "a"]
    assert found.absent == frozenset()


def test_a_node_that_is_no_longer_listed_loses_the_workload_whoever_made_it() -> None:
    assert wanted([declared(spec={**CACHE, "nodes": ["x"]})], [running("web")]).absent == {"web"}


def test_a_deleted_object_loses_its_workload() -> None:
    found = wanted([declared(deleted=True)], [running("web")])
    assert (found.present, found.absent, found.orphans) == ((), {"web"}, frozenset())


def test_an_object_with_a_problem_stays_as_it_is() -> None:
    found = wanted([declared(spec={**CACHE, "coreIds": ["x"]})], [running("web")], {"web"})
    assert (found.present, found.absent) == ((), frozenset())


def test_orphans_are_ours_or_stay() -> None:
    found = wanted([], [running("ours"), running("theirs"), running("")], {"ours", "gone"})
    assert (found.absent, found.orphans) == ({"ours"}, {"ours"})


def test_one_uuid_is_one_objects_and_the_older_has_it() -> None:
    pair = [declared("team.web", created=NEW), declared("web", "team", created=OLD)]
    judged = {entry.name: entry for entry in refuse_collisions(pair)}
    assert judged[Name("team", "web")].problem == ""
    assert "the older RmdWorkload team/web" in judged[Name("default", "team.web")].problem
    found = wanted(pair, [running("team.web")])
    assert [workload.uuid for workload in found.present] == ["team.web"]
    assert found.objects["team.web"] == Name("team", "web")


def test_deleting_the_one_that_was_refused_removes_nothing() -> None:
    pair = [declared("team.web", created=NEW, deleted=True), declared("web", "team", created=OLD)]
    assert wanted(pair, [running("team.web")]).absent == frozenset()
    pair = [declared("team.web", created=OLD), declared("web", "team", created=NEW, deleted=True)]
    assert wanted(pair, [running("team.web")]).absent == frozenset()


def test_deleting_the_one_that_was_refused_removes_nothing_of_an_owner_with_a_problem() -> None:
    owner = declared("web", "team", created=OLD, spec={**CACHE, "coreIds": ["x"]})
    pair = [declared("a.b", created=NEW), owner, declared("team.web", created=NEW, deleted=True)]
    assert wanted(pair, [running("team.web")]).absent == frozenset()


def test_what_the_operator_called_by_the_bare_name_is_adopted_where_it_is_the_same() -> None:
    found = wanted([declared("web", "team")], [running("web")])
    assert (found.adopted, found.absent) == ({"team.web": ["web"]}, frozenset())


def test_what_the_operator_called_by_the_bare_name_is_adopted_by_its_id() -> None:
    status = {"workloadStates": {NODE: {"id": "7"}}}
    objects = [declared("web", "team", status=status), declared("web", "other")]
    found = wanted(objects, [running("web", ways=5, number=7)])
    assert found.adopted == {"team.web": ["web"]}


def test_a_bare_name_of_two_objects_that_ask_for_the_same_is_nobodys() -> None:
    found = wanted([declared("web", "team"), declared("web", "other")], [running("web")])
    assert (found.adopted, found.absent) == ({}, frozenset())


def test_a_bare_name_is_that_of_the_object_in_default() -> None:
    found = wanted(
        [declared("web", "team"), declared("web", spec={**CACHE, "nodes": []})], [running("web")]
    )
    assert (found.adopted, found.absent) == ({}, {"web"})


def test_what_the_operator_made_goes_with_its_object() -> None:
    status = {"workloadStates": {NODE: {"id": "7"}}}
    found = wanted(
        [declared("web", "team", status=status, deleted=True)], [running("web", number=7)]
    )
    assert found.absent == {"web"}


def test_what_may_be_that_of_an_object_with_a_problem_is_no_orphan() -> None:
    found = wanted([declared("web", "team", spec={})], [running("web")], {"web"})
    assert found.absent == frozenset()
