# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that a test injects, the log, and many servers at once."""

from __future__ import annotations

import http.client
import threading
import time
from pathlib import Path

import pytest

from tests.rmd import Dialect, Injection, Machine, RmdServer
from tests.rmd.certificates import Certificates
from tests.rmd.fleet import ANNOTATION, Fleet
from tests.unit.rmd_server.asking import Reply, ask, nested, post
from tests.unit.rmd_server.test_tls import trust

GONE = (http.client.RemoteDisconnected, ConnectionError)


def test_the_second_post_fails(v03: RmdServer) -> None:
    text = "Not enough cache left on cache_id 0"
    v03.faults.inject(Injection("POST", after=1, status=500, text=text))
    replies = [ask(v03, "POST", "/workloads", nested(str(core))) for core in (1, 2, 3)]
    assert [reply.status for reply in replies] == [201, 500, 201]
    assert replies[1] == Reply(500, "text/plain", text)
    assert [workload["core_ids"] for workload in v03.workloads()] == [["1"], ["3"]]


def test_until_it_is_taken_away(v03: RmdServer) -> None:
    with v03.faults.on(Injection("GET", times=None, status=503, text="busy")):
        assert [ask(v03, "GET", "/workloads").status for _round in range(3)] == [503] * 3
        assert ask(v03, "GET", "/mba").status == 200
    assert ask(v03, "GET", "/workloads").status == 200
    v03.faults.inject(Injection(path="", status=500))
    v03.faults.clear()
    assert ask(v03, "GET", "/policy").status == 200


@pytest.mark.parametrize(("cut", "left"), [("before", 0), ("after", 1)])
def test_a_connection_that_is_cut(v03: RmdServer, cut: str, left: int) -> None:
    v03.faults.inject(Injection("POST", cut="before" if cut == "before" else "after"))
    with pytest.raises(GONE):
        post(v03, "1")
    assert len(v03.workloads()) == left
    assert v03.requests()[-1].status == 0


def test_an_answer_that_does_not_come(v03: RmdServer) -> None:
    v03.faults.inject(Injection("POST", hang=30))
    failures: list[BaseException] = []

    def client() -> None:
        try:
            post(v03, "1")
        except GONE as error:
            failures.append(error)

    thread = threading.Thread(target=client)
    thread.start()
    seen = v03.wait_for(lambda entry: entry.method == "POST")
    assert seen.status is None
    assert seen.json["core_ids"] == ["1"]
    v03.restart()
    thread.join(5)
    assert len(failures) == 1
    assert v03.workloads() == []


def test_a_short_wait_is_only_that(v03: RmdServer) -> None:
    v03.faults.inject(Injection("GET", hang=0.2))
    began = time.monotonic()
    assert ask(v03, "GET", "/workloads").status == 200
    assert time.monotonic() - began >= 0.2


def test_gone_between_delete_and_post(server: RmdServer) -> None:
    post(server, "1", uuid="u")
    server.faults.inject(Injection("POST", die=True))
    assert ask(server, "DELETE", "/workloads/1").status == 200
    with pytest.raises(GONE):
        post(server, "1", 2, uuid="u")
    assert not server.running
    with pytest.raises(ConnectionRefusedError):
        ask(server, "GET", "/workloads")
    server.start()
    assert server.workloads() == []
    assert post(server, "1", 2, uuid="u")["id"] == "2"


def test_the_log(v03: RmdServer) -> None:
    post(v03, "1")
    mark = v03.mark()
    ask(v03, "GET", "/workloads")
    ask(v03, "DELETE", "/workloads/9")
    assert [(seen.method, seen.path, seen.status) for seen in v03.requests(mark)] == [
        ("GET", "/v1/workloads", 200),
        ("DELETE", "/v1/workloads/9", 404),
    ]
    with pytest.raises(TimeoutError):
        v03.wait_for(lambda seen: seen.method == "PATCH", timeout=0.1)


def test_connections_are_kept(v03: RmdServer) -> None:
    connection = http.client.HTTPConnection(v03.address, v03.port, timeout=5)
    for _round in range(3):
        connection.request("GET", "/v1/workloads")
        assert connection.getresponse().read() == b"[]"
    v03.restart()
    connection.auto_open = 0
    with pytest.raises((*GONE, http.client.NotConnected)):
        _answer_of(connection)
    connection.close()
    assert ask(v03, "GET", "/workloads").status == 200


def _answer_of(connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    connection.request("GET", "/v1/workloads")
    return connection.getresponse()


def test_a_stopped_server_has_no_port(v03: RmdServer) -> None:
    v03.stop()
    with RmdServer(port=v03.port) as other:
        assert other.workloads() == []


def test_a_hundred_servers(tmp_path: Path) -> None:
    """One address each, one port, one thread for all that wait; what one is told is not told to the
    others."""
    certificates = Certificates(tmp_path / "pki")
    nodes = [f"n{number}" for number in range(1, 101)]
    admin = trust(certificates, certificates.client())
    before = threading.active_count()
    with Fleet(
        nodes, tls=lambda node, address: certificates.tls(node, [f"{node}.example", address])
    ) as fleet:
        assert threading.active_count() <= before + 1
        assert len({server.address for server in fleet.servers.values()}) == len(fleet) == 100
        assert {server.port for server in fleet.servers.values()} == {fleet.port}
        mark = fleet.mark()
        for node in nodes:
            body = nested("1", 2, uuid=node)
            assert ask(fleet[node], "POST", "/workloads", body, tls=admin).status == 201
        assert {node: found["workloads"][0]["uuid"] for node, found in fleet.dump().items()} == {
            node: node for node in nodes
        }
        assert {len(requests) for requests in fleet.requests(mark).values()} == {1}
    assert list(fleet) == nodes
    assert all(not server.running for server in fleet.servers.values())


def test_each_node_has_an_annotation() -> None:
    fleet = Fleet(
        [f"n{number}" for number in range(300)], dialect=Dialect.V02, machine=Machine(cpus=16)
    )
    assert fleet["n299"].address == "127.77.1.46"
    assert fleet["n299"].machine.cpus == 16
    assert fleet.annotations["n0"] == {
        ANNOTATION: '{"app.kubernetes.io/name=intel-rmd,app.kubernetes.io/component=daemon": "127.77.0.1"}'
    }


def test_a_fleet_starts_as_a_whole() -> None:
    fleet = Fleet(["n1", "n2"])
    with RmdServer(address=fleet["n2"].address, port=fleet.port):
        with pytest.raises(OSError, match="in use"):
            fleet.start()
        assert not fleet["n1"].running
