# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An RMD server with TLS, and clients for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.daemon_client import (
    Daemon,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.https import (
    Address,
    RmdConnection,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.tls import (
    Material,
    from_files,
)
from tests.rmd import Dialect, RmdServer
from tests.rmd.certificates import Certificates

NAME = "n1.rmd.hardware-enablement.io"
Connect = Callable[..., Daemon]


@pytest.fixture(scope="session", name="certificates")
def _certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("rmd-pki"))


@pytest.fixture(name="material", scope="session")
def _material(certificates: Certificates) -> Material:
    """An admin's, from files."""
    files = certificates.client()
    return from_files(str(files.ca), str(files.certificate), str(files.key))


@pytest.fixture(params=list(Dialect), ids=lambda dialect: dialect.value, name="dialect")
def _dialect(request: pytest.FixtureRequest) -> Dialect:
    found: Dialect = request.param
    return found


@pytest.fixture(name="server")
def _server(certificates: Certificates, dialect: Dialect, tmp_path: Path) -> Iterator[RmdServer]:
    """A server of each dialect, with TLS."""
    tls = certificates.tls("n1", [NAME])
    with RmdServer(
        dialect=dialect, tls=tls, plugins=("pstate",), resctrl=tmp_path / "resctrl"
    ) as server:
        yield server


@pytest.fixture(name="connect")
def _connect(material: Material) -> Iterator[Connect]:
    """connect(server): a client that never waits between attempts; material, name, tls and account
    may be others."""
    opened = []

    def connect(
        server: RmdServer,
        *,
        shown: Material = material,
        name: str = NAME,
        tls: bool = True,
        account: tuple[str, str] | None = None,
        timeout_s: float = 5.0,
    ) -> Daemon:
        address = Address("127.0.0.1", server.port, tls, name, f"node n1, 127.0.0.1:{server.port}")
        context = shown.context() if tls else None
        shows = bool(shown.cert)
        wire = RmdConnection(
            address, context, shows_certificate=shows, account=account, timeout_s=timeout_s
        )
        opened.append(Daemon("n1", wire, sleep=lambda _seconds: None))
        return opened[-1]

    yield connect
    for daemon in opened:
        daemon.close()
