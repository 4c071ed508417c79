# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client against a server of each dialect: what it reads, whom it trusts, what it sends again
and what never."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon import (
    dialect as dialects,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.https import (
    Address,
    RmdConnection,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.tls import Material
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes import node_machine
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.rmd_errors import (
    RmdError,
    Unanswered,
)
from ansible_collections.hardware.enablement.tests.unit.rmd.bodies import workload
from ansible_collections.hardware.enablement.tests.unit.rmd.conftest import Connect
from tests.cluster import pki
from tests.rmd import Dialect, Injection, RmdServer
from tests.rmd.access import ROLES
from tests.rmd.certificates import Certificates


def refused(error: pytest.ExceptionInfo[RmdError], kind: str, words: str) -> None:
    assert error.value.kind == kind, str(error.value)
    assert words in str(error.value)
    assert str(error.value).count("\n") == 0


def without_group(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != "cos_name"}


def methods(server: RmdServer) -> list[str]:
    return [seen.method for seen in server.requests()]


def test_what_is_posted_is_read_again_and_removed(
    server: RmdServer, connect: Connect, dialect: Dialect
) -> None:
    daemon = connect(server)
    assert daemon.workloads() == []
    made = daemon.post(dialects.encode(workload(), node_machine.Dialect(dialect.value)))
    assert made.workload == workload()
    assert daemon.workloads() == [made]
    assert daemon.dialect is node_machine.Dialect(dialect.value)
    assert daemon.delete(made)
    assert not daemon.delete(made)
    assert dict(daemon.requests) == {"GET": 2, "POST": 1, "DELETE": 2}


def test_the_dialect_is_learnt_without_changing_anything(
    server: RmdServer, connect: Connect, dialect: Dialect
) -> None:
    daemon = connect(server)
    before = server.dump()
    assert daemon.learn_dialect().value == dialect.value
    assert daemon.learn_dialect().value == dialect.value
    assert methods(server) == ["POST"]
    assert server.dump() == before


def test_the_machine_is_read(server: RmdServer, connect: Connect) -> None:
    daemon = connect(server)
    found = daemon.topology(mba=True)
    assert [(cache.id, cache.cores, cache.ways) for cache in found.caches] == [
        ("0", (0, 1, 2, 3), 11),
        ("1", (4, 5, 6, 7), 11),
    ]
    assert found.caches[0].free("guaranteed") == 6
    assert found.mba is not None
    assert found.mba.supported
    assert daemon.topology().mba is None
    gold = daemon.policies()["gold"].cache
    assert gold is not None
    assert gold.pool == "guaranteed"


def test_a_restored_workload_keeps_its_id(
    server: RmdServer, connect: Connect, dialect: Dialect
) -> None:
    daemon = connect(server)
    first = daemon.post(dialects.encode(workload("a", 1), node_machine.Dialect(dialect.value)))
    daemon.post(dialects.encode(workload("b", 2), node_machine.Dialect(dialect.value)))
    before = server.workloads()
    daemon.delete(first)
    daemon.post(dialects.restorable(first.body))
    # Which group it is given is RMD's own choice: v0.3 takes the one that has been free for
    # longest.
    assert [without_group(body) for body in server.workloads()] == [
        without_group(body) for body in before
    ]


# Whom the client trusts, and what it shows.


def test_another_authority_is_not_trusted(
    server: RmdServer, connect: Connect, material: Material, certificates: Certificates
) -> None:
    stranger = replace(material, ca=certificates.clients.certificate_file.read_text())
    with pytest.raises(RmdError) as error:
        connect(server, shown=stranger).workloads()
    refused(error, "not_trusted", "the daemon's certificate cannot be verified")
    assert server.requests() == []


def test_another_name_is_not_trusted(server: RmdServer, connect: Connect) -> None:
    with pytest.raises(RmdError) as error:
        connect(server, name="n2.rmd.hardware-enablement.io").workloads()
    refused(error, "not_trusted", "n2.rmd.hardware-enablement.io")
    assert "tls_server_name" in str(error.value)
    assert server.requests() == []


def test_an_expired_certificate_is_not_trusted(
    connect: Connect, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pki, "LIFETIME", -datetime.timedelta(minutes=1))
    tls = certificates.tls("expired", ["n1.rmd.hardware-enablement.io"])
    with RmdServer(tls=tls) as server, pytest.raises(RmdError) as error:
        connect(server).workloads()
    refused(error, "expired", "certificate has expired; renew it")
    assert server.requests() == []


def test_no_client_certificate(server: RmdServer, connect: Connect, material: Material) -> None:
    with pytest.raises(RmdError) as error:
        connect(server, shown=replace(material, cert="", key="")).workloads()
    refused(error, "no_client_certificate", "wants a client certificate, and none was given")


def test_a_strangers_client_certificate(
    server: RmdServer, connect: Connect, material: Material, certificates: Certificates
) -> None:
    files = certificates.client("stranger", authority=certificates.servers)
    shown = replace(material, cert=files.certificate.read_text(), key=files.key.read_text())
    with pytest.raises(RmdError) as error:
        connect(server, shown=shown).workloads()
    refused(error, "no_client_certificate", "does not accept our client certificate (unknown ca)")


def test_a_client_without_rights(
    server: RmdServer,
    connect: Connect,
    material: Material,
    certificates: Certificates,
    dialect: Dialect,
) -> None:
    files = certificates.client("reader", "user")
    shown = replace(material, cert=files.certificate.read_text(), key=files.key.read_text())
    daemon = connect(server, shown=shown)
    assert daemon.workloads() == []
    with pytest.raises(RmdError) as error:
        daemon.post(dialects.encode(workload(), node_machine.Dialect(dialect.value)))
    refused(error, "auth", "access list")


@pytest.mark.parametrize(
    ("account", "kind"), [(("ann", "right"), ""), (("ann", "wrong"), "auth"), (None, "auth")]
)
def test_an_account_instead_of_a_certificate(
    connect: Connect,
    certificates: Certificates,
    material: Material,
    account: tuple[str, str] | None,
    kind: str,
) -> None:
    names = ["n1.rmd.hardware-enablement.io"]
    roles = (*ROLES, ("ann", "admin"))
    tls = certificates.tls("pam", names, clientauth="no", accounts={"ann": "right"}, roles=roles)
    with RmdServer(tls=tls) as server:
        daemon = connect(server, shown=replace(material, cert="", key=""), account=account)
        if not kind:
            assert daemon.workloads() == []
            return
        with pytest.raises(RmdError) as error:
            daemon.workloads()
        refused(error, kind, "an account")
        assert "wrong" not in str(error.value)


def test_tls_is_never_left_out(connect: Connect) -> None:
    with RmdServer() as plain:
        with pytest.raises(RmdError) as error:
            connect(plain).workloads()
        refused(error, "no_tls", "speaks no TLS")
        assert plain.requests() == []


def test_tls_without_an_authority_is_no_option() -> None:
    with pytest.raises(InvalidInput, match="no CA is known"):
        RmdConnection(Address("127.0.0.1", 1, True, "n", "node n"), None)


def test_the_debug_port_is_asked_without_tls(connect: Connect) -> None:
    with RmdServer() as plain:
        assert connect(plain, tls=False).workloads() == []


def test_an_address_of_ipv6_is_a_url() -> None:
    assert Address("fd00::1", 8443, True, "n", "node n").url == "https://[fd00::1]:8443"


# What is sent again.


@pytest.mark.parametrize(
    "fault",
    [
        Injection("GET", cut="before"),
        Injection("GET", status=503, times=2),
        Injection("GET", status=502),
    ],
)
def test_a_get_is_repeated(server: RmdServer, connect: Connect, fault: Injection) -> None:
    server.faults.inject(fault)
    assert connect(server).workloads() == []
    assert set(methods(server)) == {"GET"}
    assert len(methods(server)) > 1


def test_a_get_is_not_repeated_for_ever(server: RmdServer, connect: Connect) -> None:
    server.faults.inject(Injection("GET", status=503, text="busy", times=None))
    with pytest.raises(RmdError) as error:
        connect(server).workloads()
    refused(error, "unknown", 'RMD says "busy" (503)')
    assert methods(server) == ["GET"] * 4


@pytest.mark.parametrize("status", [400, 500])
def test_what_was_refused_is_not_repeated(server: RmdServer, connect: Connect, status: int) -> None:
    server.faults.inject(Injection("GET", status=status, text="no", times=None))
    with pytest.raises(RmdError):
        connect(server).workloads()
    assert methods(server) == ["GET"]


@pytest.mark.parametrize("cut", ["before", "after"])
def test_a_write_without_an_answer_is_never_repeated(
    server: RmdServer, connect: Connect, dialect: Dialect, cut: str
) -> None:
    server.faults.inject(Injection("POST", cut=cut, times=None))  # type: ignore[arg-type]
    with pytest.raises(Unanswered) as error:
        connect(server).post(dialects.encode(workload(), node_machine.Dialect(dialect.value)))
    refused(error, "server_panic", "closed without an answer")  # type: ignore[arg-type]
    assert error.value.was_sent
    assert methods(server) == ["POST"]


def test_a_write_that_hangs_is_never_repeated(
    server: RmdServer, connect: Connect, dialect: Dialect
) -> None:
    server.faults.inject(Injection("POST", hang=3.0, times=None))
    with pytest.raises(Unanswered) as error:
        connect(server, timeout_s=0.3).post(
            dialects.encode(workload(), node_machine.Dialect(dialect.value))
        )
    refused(error, "transport", "no answer within 0.3 s")  # type: ignore[arg-type]
    assert error.value.was_sent
    assert methods(server) == ["POST"]


def test_a_daemon_that_is_gone(server: RmdServer, connect: Connect, dialect: Dialect) -> None:
    daemon = connect(server)
    server.stop()
    for ask in (
        daemon.workloads,
        lambda: daemon.post(dialects.encode(workload(), node_machine.Dialect(dialect.value))),
    ):
        with pytest.raises(Unanswered) as error:
            ask()
        refused(error, "transport", "no connection (Connection refused)")  # type: ignore[arg-type]
        assert not error.value.was_sent
    assert dict(daemon.requests) == {"GET": 4, "POST": 4}


def test_a_core_that_crashes_the_handler(
    server: RmdServer, connect: Connect, dialect: Dialect
) -> None:
    daemon = connect(server)
    with pytest.raises(Unanswered) as error:
        daemon.post(dialects.encode(workload("w", 99), node_machine.Dialect(dialect.value)))
    refused(error, "server_panic", "not sent again")  # type: ignore[arg-type]
    assert daemon.workloads() == []


def test_an_answer_that_makes_no_sense(server: RmdServer, connect: Connect) -> None:
    server.faults.inject(Injection("GET", status=200, text="hello", times=None))
    with pytest.raises(RmdError) as error:
        connect(server).workloads()
    refused(error, "unknown", "makes no sense")
    server.faults.inject(Injection("GET", path="/cache", status=200, text="[]", times=None))
    with pytest.raises(RmdError) as error:
        connect(server).topology()
    refused(error, "unknown", "makes no sense")


def test_a_dialect_that_cannot_be_learnt(server: RmdServer, connect: Connect) -> None:
    server.faults.inject(Injection("POST", status=400, text="what?"))
    with pytest.raises(RmdError) as error:
        connect(server).learn_dialect()
    refused(error, "unknown", "name the dialect (option dialect)")


def test_no_policies_for_this_cpu(server: RmdServer, connect: Connect) -> None:
    server.faults.inject(Injection("GET", path="/policy", status=404, times=None))
    assert connect(server).policies() == {}


@pytest.mark.parametrize("dialect", [Dialect.V03], indirect=True)
def test_what_openstack_made_is_answered_by_200_and_stays(
    server: RmdServer, connect: Connect
) -> None:
    server.faults.inject(
        Injection(
            "DELETE",
            status=200,
            text="200: You only have permission to modify REST origin workloads",
        )
    )
    daemon = connect(server)
    made = daemon.post(dialects.encode(workload(), node_machine.Dialect.V03))
    with pytest.raises(RmdError) as error:
        daemon.delete(made)
    refused(error, "foreign_origin", "what REST has made")
