# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults happen to the requests that they concern, as often as they are told to."""

from __future__ import annotations

from tests.cluster.faults.model import Fault, Faults


def test_a_fault_concerns_a_method_and_a_path() -> None:
    fault = Fault(method="PUT", path=r"^/v2/[a-z/]+/manifests/")
    assert fault.concerns("PUT", "/v2/a/b/manifests/c")
    assert not fault.concerns("GET", "/v2/a/b/manifests/c")
    assert not fault.concerns("PUT", "/v2/a/b/blobs/uploads/")
    assert Fault().concerns("GET", "/")


def test_it_happens_as_often_as_it_is_told_to_and_then_the_next_one() -> None:
    faults = Faults()
    first, second = Fault(status=500, times=2), Fault(status=503)
    with faults.on(first), faults.on(second):
        assert [faults.strike("GET", "/") for _number in range(4)] == [first, first, second, second]


def test_it_ends_with_its_context() -> None:
    faults = Faults()
    fault = Fault(status=500)
    with faults.on(fault):
        assert faults.strike("GET", "/") is fault
    assert faults.strike("GET", "/") is None


def test_what_does_not_concern_a_request_is_not_used_up() -> None:
    faults = Faults()
    fault = Fault(method="PUT", times=1)
    with faults.on(fault):
        assert faults.strike("GET", "/") is None
        assert faults.strike("PUT", "/") is fault


def test_a_fault_may_let_requests_go_well_first() -> None:
    faults, fault = Faults(), Fault(method="GET", skip=2, times=1)
    with faults.on(fault):
        struck = [faults.strike(method, "/") for method in ("GET", "PUT", "GET", "GET", "GET")]
    assert struck == [None, None, None, fault, None]
