# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which daemon is asked, who trusts whom, and which rights a run needs."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.conftest import grant
from tests.integration.plays import Runner
from tests.integration.rmd.asking import OLD, failed, good
from tests.integration.rmd.bed import NAMESPACE, Obj
from tests.integration.rmd.workload_bed import WorkloadBed

pytestmark = pytest.mark.rmd


def test_tls_by_files(v03: WorkloadBed) -> None:
    files = v03.client
    good(
        v03.workload(
            **OLD, rmd_ca=str(files.ca), rmd_cert=str(files.certificate), rmd_key=str(files.key)
        )
    )


@pytest.mark.parametrize(
    ("spoil", "kind", "words"),
    [
        ("ca", "not_trusted", "the daemon's certificate cannot be verified"),
        ("name", "not_trusted", "certificate is not valid for 'other.example'"),
        ("none", "no_client_certificate", "wants a client certificate, and none was given"),
        ("stranger", "no_client_certificate", "does not accept our client certificate"),
    ],
)
def test_who_is_not_trusted_gets_nothing(
    v03: WorkloadBed, spoil: str, kind: str, words: str
) -> None:
    files = v03.client
    params: Obj = {
        "rmd_ca": str(files.ca),
        "rmd_cert": str(files.certificate),
        "rmd_key": str(files.key),
    }
    if spoil == "ca":
        params["rmd_ca"] = str(v03.certificates.clients.certificate_file)
    elif spoil == "name":
        params["tls_server_name"] = "other.example"
    elif spoil == "none":
        params = {"rmd_ca": str(files.ca)}
    else:
        stranger = v03.certificates.client("stranger", authority=v03.certificates.servers)
        params |= {"rmd_cert": str(stranger.certificate), "rmd_key": str(stranger.key)}
    mark = v03.fleet.mark()
    result = failed(v03.workload(**OLD, **params), words)
    assert {entry["kind"] for entry in result["nodes"]} == {kind}
    assert set(v03.methods(mark).values()) == {""}


def test_a_server_without_tls_is_not_spoken_to(v03: WorkloadBed) -> None:
    server = v03.server(0)
    tls = server.tls
    server.stop()
    server.tls = None
    server.start()
    mark = server.mark()
    try:
        result = failed(
            v03.workload(**OLD, nodes=v03.nodes[:1]),
            "speaks no TLS",
            "nothing is ever sent without TLS",
        )
        assert result["nodes"][0]["kind"] == "no_tls"
        assert server.requests(mark) == []
    finally:
        server.stop()
        server.tls = tls
        server.start()


def test_tls_settings_of_no_use(v03: WorkloadBed) -> None:
    failed(
        v03.workload(**OLD, tls_secret="missing"),
        f"Secret {NAMESPACE}/missing",
        "there is no such Secret",
    )
    failed(v03.workload(**OLD, rmd_cert=str(v03.client.certificate)), "no CA to trust")


def test_nodes_without_a_daemon(v03: WorkloadBed) -> None:
    (extra,) = v03.cluster.add_nodes(1, profile="cpu-only", prefix="bare")
    v03.cluster.kubectl("label", "node", extra, "bare=yes")
    result = failed(
        v03.workload(**OLD, nodes=["nowhere", v03.nodes[0]]), "nowhere", "it does not exist"
    )
    assert result["nodes"][0]["kind"] == "no_such_node"
    assert result["nodes"][1]["outcome"] == "withheld"
    v03.cluster.remove_nodes(extra)


def test_a_daemon_that_is_not_there_yet_is_asked_again(v03: WorkloadBed) -> None:
    server = v03.server(0)
    server.stop()
    (silent,) = v03.info(nodes=v03.nodes[:1])["nodes"]
    assert not silent["reachable"]
    again = threading.Timer(2, server.start)
    again.start()
    (found,) = v03.info(nodes=v03.nodes[:1], failure_grace=60)["nodes"]
    again.join()
    assert found["reachable"], found


def test_a_host_port_that_is_not_there(v03: WorkloadBed) -> None:
    result = failed(
        v03.workload(**OLD, nodes=v03.nodes[:1], endpoint="host_port"), "has no hostPort"
    )
    assert result["nodes"][0]["kind"] == "no_daemon"


def test_a_port_forward_that_leads_nowhere(v03: WorkloadBed) -> None:
    """Simulated nodes have no kubelet that could forward; a real one is asked in
    tests/integration/kubelet."""
    result = failed(
        v03.workload(**OLD, nodes=v03.nodes[:1], endpoint="port_forward"),
        "port-forward to intel-rmd-",
    )
    assert result["nodes"][0]["kind"] == "transport"


def test_the_rights_are_those_of_the_manifest(v03: WorkloadBed, tmp_path: Path) -> None:
    """Who may only view cannot read the client's Secret, and is told so."""
    with contextlib.suppress(Exception):
        grant(v03.cluster, "viewer", "hardware-enablement-viewer")
    viewer = replace(v03, runner=Runner(v03.cluster, "viewer", tmp_path))
    with pytest.raises(Exception, match="secrets"):
        viewer.info()
    files = v03.client
    access = {
        "rmd_ca": str(files.ca),
        "rmd_cert": str(files.certificate),
        "rmd_key": str(files.key),
    }
    assert all(entry["reachable"] for entry in viewer.info(**access)["nodes"])
    assert good(viewer.workload(check=True, **OLD, **access))["changed"]
    result = failed(
        viewer.workload(**OLD, **access),
        'cannot create resource "leases"',
        "give the run's user this right",
    )
    assert {entry["kind"] for entry in result["nodes"]} == {"api"}
    assert not any(v03.workloads().values())
