# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences that several packages say."""

from __future__ import annotations

import sys

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client import (
    connection,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    InvalidInput,
    PackageNotFound,
)


def test_a_python_that_lacks_the_client_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "kubernetes", None)
    with pytest.raises(InvalidInput) as caught:
        connection.open_connection(ConnectionRequest())
    python = sys.executable
    assert str(caught.value) == (
        f"Cannot connect to a cluster: {python} has no package kubernetes; install it there"
        f" ({python} -m pip install 'kubernetes>=29'), or set ansible_python_interpreter to one that has it."
    )


def test_what_could_be_done_instead_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    error = PackageNotFound("It cannot be read", "PyYAML>=5.4.1", otherwise="read it yourself")
    assert str(error) == (
        "It cannot be read: python3 has no package PyYAML; install it there (python3 -m pip install"
        " 'PyYAML>=5.4.1'), or set ansible_python_interpreter to one that has it, or read it yourself."
    )
