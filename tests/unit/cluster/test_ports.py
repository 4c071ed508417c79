# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ports that are chosen are free."""

from __future__ import annotations

import socket

import pytest

from tests.cluster import ports
from tests.cluster.errors import ClusterError


def test_they_are_different_and_below_the_range_of_outgoing_connections() -> None:
    found = ports.free_ports(20)
    assert len(set(found)) == 20
    assert all(ports.FIRST <= port < ports.LAST for port in found)


def test_a_port_in_use_is_not_free() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        assert not ports.is_free(server.getsockname()[1])


def test_those_of_other_clusters_are_left_out() -> None:
    with pytest.raises(ClusterError, match="Only 0 of 1 ports"):
        ports.free_ports(1, taken=range(ports.FIRST, ports.LAST))
