# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each fault of the daemon that the test server has as a switch: what becomes of it in our hands.

What needs a run over nodes is in tests/integration/rmd; here one daemon is asked, without a
cluster.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.daemon_client import (
    Daemon,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.dialect import encode
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes import node_machine
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.actions import (
    Action,
    Delete,
    Keep,
    Post,
    Replace,
    plan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_snapshot import (
    judged,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.rules import (
    check,
    leftover_warning,
    machine_for,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.rmd_errors import (
    Refusal,
    RmdError,
    Unanswered,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    RunningWorkload,
    Workload,
)
from ansible_collections.hardware.enablement.tests.unit.rmd.bodies import workload
from ansible_collections.hardware.enablement.tests.unit.rmd.conftest import Connect
from tests.rmd import Dialect, Faults, Machine, Policies, Pools, RmdServer, StartError
from tests.rmd import Workload as Record
from tests.rmd.reports import report_of

V02, V03 = node_machine.Dialect.V02, node_machine.Dialect.V03
Show = Callable[..., RmdServer]


@pytest.fixture(name="serve")
def _serve(request: pytest.FixtureRequest, tmp_path: Path) -> Show:
    """serve(...): a started server without TLS."""

    def serve(dialect: Dialect = Dialect.V03, **settings: object) -> RmdServer:
        server = RmdServer(dialect=dialect, resctrl=tmp_path / "resctrl", **settings)  # type: ignore[arg-type]
        request.addfinalizer(server.stop)
        return server.start()

    return serve


def differences(server: RmdServer, there: list[RunningWorkload]) -> list[str]:
    """In what the server's tree differs from what it says."""
    snapshot = judged(tuple(there), report_of(server))
    strays = [f"core {core} is a stray" for core in snapshot.strays]
    return [*(word for said in snapshot.broken.values() for word in said.split("; ")), *strays]


def refused(
    actions: list[Action], there: list[RunningWorkload], daemon: Daemon
) -> dict[str, Refusal]:
    """What is not sent, by uuid."""
    return check(actions, there, machine_for(actions, daemon), {})[1]


def post(daemon: Daemon, wanted: Workload) -> None:
    daemon.add(wanted)


def test_a_patch_is_never_sent() -> None:
    """destructive_patch, patch_refuses_cores, patch_steals_cores: there is no such request in the
    client."""
    folder = Path(__file__).parents[3] / "plugins" / "module_utils" / "_rmd"
    assert not [file for file in folder.glob("*.py") if '"PATCH"' in file.read_text()]


def test_what_anothers_patch_has_freed_is_seen_on_the_node(serve: Show, connect: Connect) -> None:
    """destructive_patch: GET still says Successful."""
    server = serve()
    daemon = connect(server, tls=False)
    post(daemon, workload())
    assert differences(server, daemon.workloads()) == []
    daemon._wire.send(
        "PATCH", "/v1/workloads/1", "patch", {"rdt": {"cache": {"max": 99, "min": 99}}}
    )
    (found,) = daemon.workloads()
    assert found.status == "Successful"
    assert "core 1-2 is not in COS2" in differences(server, [found])


def test_cores_that_anothers_patch_has_stolen_are_seen_on_the_node(
    serve: Show, connect: Connect
) -> None:
    """patch_steals_cores."""
    server = serve()
    daemon = connect(server, tls=False)
    post(daemon, workload("a", 1))
    post(daemon, workload("b", 2))
    body = {"core_ids": ["1"], "rdt": {"cache": {"max": 1, "min": 1}}}
    daemon._wire.send("PATCH", "/v1/workloads/2", "patch", body)
    assert any(
        "core 1 is not in COS2" in found for found in differences(server, daemon.workloads())
    )


def test_a_change_of_cores_alone_is_made(serve: Show, connect: Connect) -> None:
    """patch_refuses_cores: a PATCH would fail, a DELETE and a POST do not."""
    server = serve()
    daemon = connect(server, tls=False)
    post(daemon, workload("w", 1))
    (action,) = plan([workload("w", 2)], [], daemon.workloads())
    assert isinstance(action, Replace)
    daemon.remove(action.old)
    post(daemon, action.workload)
    assert [found.workload.cores for found in daemon.workloads()] == [(2,)]


def test_doubles_of_a_race_are_made_one(serve: Show, connect: Connect) -> None:
    """race: one uuid, made several times at once."""
    server = serve()
    server.faults.enforce_seconds = 0.05

    def make() -> None:
        with contextlib.suppress(RmdError):
            connect(server, tls=False).post(encode(workload(), V03))

    threads = [threading.Thread(target=make) for _number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    daemon = connect(server, tls=False)
    doubles = daemon.workloads()
    assert len(doubles) > 1
    *deletions, replacement = plan([workload()], [], doubles)
    assert isinstance(replacement, Replace)
    assert {action.old.id for action in deletions if isinstance(action, Delete)} | {
        replacement.old.id
    } == {found.id for found in doubles}


@pytest.mark.parametrize("wrong", [True, False])
def test_the_class_of_a_status_decides_nothing(serve: Show, connect: Connect, wrong: bool) -> None:
    """wrong_class."""
    server = serve(machine=Machine(mba_closids=4))
    server.faults.wrong_class = wrong
    daemon = connect(server, tls=False)
    kinds = {}
    for name, most, least in (("range", 1, 2), ("pair", 2, 0), ("ways", 9, 9)):
        with pytest.raises(RmdError) as error:
            daemon.post(encode(workload(name, 1, most=most, least=least), V03))
        kinds[name] = error.value.kind
    for core in (1, 2):
        post(daemon, workload(f"w{core}", core, most=1, least=1))
    with pytest.raises(RmdError) as error:
        daemon.post(encode(workload("clos", 3, most=1, least=1), V03))
    kinds["clos"] = error.value.kind
    assert kinds == {
        "range": "bad_range",
        "pair": "bad_range",
        "ways": "no_cache",
        "clos": "no_clos",
    }


@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_core_that_would_crash_it_is_not_asked_for(
    serve: Show, connect: Connect, dialect: Dialect
) -> None:
    """panic_on_bad_core."""
    server = serve(dialect)
    daemon = connect(server, tls=False)
    assert refused([Post(workload("w", 32))], [], daemon)["w"].kind == "unknown_core"
    with pytest.raises(Unanswered):
        daemon.post(encode(workload("w", 32), node_machine.Dialect(dialect.value)))


def test_a_range_is_never_sent_and_warned_of(serve: Show, connect: Connect) -> None:
    """range_delete: another client's range, deleted by us, and what it leaves."""
    server = serve()
    daemon = connect(server, tls=False)
    daemon.post({"uuid": "r", "core_ids": ["4-5"], "rdt": {"cache": {"max": 2, "min": 2}}})
    (found,) = daemon.workloads()
    assert "cores 4-5 stay in COS2" in leftover_warning(found, V03)
    daemon.remove(found)
    assert differences(server, daemon.workloads()) == [
        "core 4 is a stray",
        "core 5 is a stray",
    ]
    assert encode(found.workload, V03)["core_ids"] == ["4", "5"]


def test_the_wrong_socket_is_seen_on_the_node(serve: Show, connect: Connect) -> None:
    """wrong_socket."""
    server = serve()
    daemon = connect(server, tls=False)
    server.faults.wrong_socket = 1.0
    post(daemon, workload())
    assert differences(server, daemon.workloads()) == [
        "it has all 11 ways of its cache 0 instead of 2",
        "cache 1, where it has no core, is divided instead (2 ways)",
    ]


def test_nothing_set_is_seen_on_the_node(serve: Show, connect: Connect) -> None:
    """silent_noop."""
    server = serve()
    daemon = connect(server, tls=False)
    server.faults.silent_noop = True
    post(daemon, workload())
    assert differences(server, daemon.workloads()) != []


def test_ghosts_of_a_restart_are_seen_on_the_node(serve: Show, connect: Connect) -> None:
    """ghosts: the group is there, so the record is; what is in the group nobody has set again."""
    server = serve()
    post(connect(server, tls=False), workload())
    cos = server.workloads()[0]["cos_name"]
    server.stop()
    server.node.resctrl.reset()
    server.node.resctrl.make(cos)
    server.start()
    daemon = connect(server, tls=False)
    (action,) = plan([workload()], [], daemon.workloads())
    assert isinstance(action, Keep)
    assert differences(server, daemon.workloads()) != []


@pytest.mark.parametrize(
    ("machine", "pools"),
    [
        (Machine(closids=8, mba_closids=8), None),
        (Machine(mba_closids=0), None),
    ],
    ids=["equal_closids", "needs_mba"],
)
def test_a_daemon_that_does_not_start_is_not_there(
    connect: Connect, machine: Machine, pools: Pools | None
) -> None:
    server = RmdServer(machine, pools=pools)
    with pytest.raises(StartError):
        server.start()
    server.port = 1
    with pytest.raises(Unanswered, match="no connection"):
        connect(server, tls=False).workloads()


def test_a_daemon_that_does_not_start_again_is_not_there(serve: Show, connect: Connect) -> None:
    """shared_restart: two workloads of the shared pool."""
    server = serve()
    for name, core in (("a", 1), ("b", 2)):
        post(connect(server, tls=False), workload(name, core, most=0, least=0))
    with pytest.raises(StartError):
        server.restart()
    with pytest.raises(Unanswered, match="no connection"):
        connect(server, tls=False).workloads()


def test_a_daemon_with_empty_pools_is_asked_for_nothing(serve: Show, connect: Connect) -> None:
    """empty_pools: RMD's own defaults need 20 ways."""
    server = serve(pools=Pools(guarantee=10, besteffort=7, shared=2))
    found = refused([Post(workload("w", 1))], [], connect(server, tls=False))
    assert "has 0 guaranteed ways to give" in found["w"].why


def test_a_policy_of_yaml_enforces_nothing_and_is_taken_back(serve: Show, connect: Connect) -> None:
    """yaml_policy: 201, Successful, no group; and the caches cannot be read any more."""
    server = serve(policies=Policies(yaml=True))
    daemon = connect(server, tls=False)
    with pytest.raises(RmdError) as error:
        post(daemon, workload(policy="gold"))
    assert error.value.kind == "not_enforced"
    assert daemon.workloads() == []


def test_hospitality_is_never_asked() -> None:
    """hospitality_policy: by a policy it fails; the free ways of the pools say the same."""
    folder = Path(__file__).parents[3] / "plugins" / "module_utils" / "_rmd"
    assert not [file for file in folder.glob("*.py") if "/v1/hospitality" in file.read_text()]


def test_a_mask_of_cores_is_told_as_cores(serve: Show, connect: Connect) -> None:
    """hex_cpus."""
    server = serve(Dialect.V02)
    daemon = connect(server, tls=False)
    post(daemon, workload("a", 2))
    with pytest.raises(RmdError, match=r"CPU list 4 .*which is core 2"):
        daemon.post(encode(workload("b", 2, 3), V02))


def test_what_another_origin_made_is_not_changed(serve: Show, connect: Connect) -> None:
    server = serve()
    server.seed(
        Record(
            uuid="o",
            core_ids=["1"],
            origin="OPENSTACK",
            status="Successful",
            cos_name="COS2",
            max=1,
            min=1,
        )
    )
    daemon = connect(server, tls=False)
    (found,) = daemon.workloads()
    assert refused([Delete(found)], [found], daemon)["o"].kind == "foreign_origin"
    with pytest.raises(RmdError) as error:
        daemon.delete(found)
    assert error.value.kind == "foreign_origin"


def test_every_switch_has_a_test() -> None:
    text = Path(__file__).read_text()
    switches = {field.name for field in dataclasses.fields(Faults) if field.type == "bool"}
    assert len(switches) > 10
    assert {name for name in switches if name not in text} == set()
