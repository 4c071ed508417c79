# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that run, one for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.rmd import Dialect, RmdServer


@pytest.fixture
def v03() -> Iterator[RmdServer]:
    """RMD 0.3."""
    with RmdServer(dialect=Dialect.V03) as server:
        yield server


@pytest.fixture
def v02() -> Iterator[RmdServer]:
    """RMD 0.2."""
    with RmdServer(dialect=Dialect.V02) as server:
        yield server


@pytest.fixture(params=[Dialect.V02, Dialect.V03], ids=lambda dialect: dialect.value)
def server(request: pytest.FixtureRequest) -> Iterator[RmdServer]:
    """RMD 0.2, then 0.3."""
    with RmdServer(dialect=request.param) as started:
        yield started
