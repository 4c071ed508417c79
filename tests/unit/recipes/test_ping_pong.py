# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""cert-manager-ping-pong: its programs, as they arrive in their pods, talk over real TLS."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cluster.pki import Authority
from tests.unit.recipes.conftest import REPO, Rendering, renderer


@pytest.fixture(scope="module")
def rendering() -> Rendering:
    """The recipe with its defaults."""
    return renderer(REPO / "recipes" / "cert-manager-ping-pong")()


def program(rendering: Rendering, name: str, certificates: Path, port: int) -> Any:
    """One of the programs, with its certificates in a folder of the test and on loopback."""
    module = ModuleType(name)
    exec(rendering.one("ConfigMap", name)["data"][f"{name}.py"], vars(module))  # noqa: S102 - our own
    vars(module).update(CERTIFICATES=str(certificates), PORT=port, SERVER="localhost")
    return module


def certificates(folder: Path, authority: Authority, name: str) -> Path:
    """What cert-manager puts into a Secret."""
    folder.mkdir()
    pair = authority.server(name, ["localhost"])
    (folder / "ca.crt").write_bytes(authority.certificate_file.read_bytes())
    (folder / "tls.crt").write_bytes(pair.certificate)
    (folder / "tls.key").write_bytes(pair.key)
    return folder


def talk(rendering: Rendering, server: Path, client: Path) -> list[str]:
    """One ping; what went wrong with the server."""
    with socket.create_server(("localhost", 0)) as listening:
        listening.settimeout(20)
        port = listening.getsockname()[1]
        answering = program(rendering, "server", server, port)
        refused: list[str] = []

        def answer() -> None:
            accepted, _address = listening.accept()
            with accepted:
                try:
                    answering.answer(accepted)
                except OSError as error:
                    refused.append(str(error))

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            program(rendering, "client", client, port).ping()
        finally:
            thread.join()
        return refused


def test_they_talk_where_one_authority_vouches_for_both(
    rendering: Rendering, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    authority = Authority(tmp_path, "authority")
    server = certificates(tmp_path / "server", authority, "server")
    client = certificates(tmp_path / "client", authority, "client")
    assert talk(rendering, server, client) == []
    assert capsys.readouterr().out == "ping from client\n"


@pytest.mark.parametrize("stranger", ["server", "client"])
def test_a_stranger_is_refused(rendering: Rendering, tmp_path: Path, stranger: str) -> None:
    authorities = {
        name: Authority(tmp_path, "another" if name == stranger else "authority")
        for name in ("server", "client")
    }
    server, client = (
        certificates(tmp_path / name, authority, name) for name, authority in authorities.items()
    )
    if stranger == "server":
        with pytest.raises(OSError, match="certificate verify failed"):
            talk(rendering, server, client)
    else:
        # It trusts the server's authority, which has not signed what it shows.
        trusted = (server / "ca.crt").read_bytes()
        (client / "ca.crt").write_bytes(trusted)
        with pytest.raises(OSError):  # noqa: PT011 - which one is up to when the refusal comes
            talk(rendering, server, client)


def test_each_certificate_is_for_one_use_and_proven_before_who_needs_it(
    rendering: Rendering,
) -> None:
    signed = {item["metadata"]["name"]: item["spec"] for item in rendering.objects("Certificate")}
    assert signed["server"]["usages"] == ["digital signature", "server auth"]
    assert signed["client"]["usages"] == ["digital signature", "client auth"]
    assert signed["authority"]["isCA"]
    assert [each.name for each in rendering.recipe.depends] == ["cert-manager"]
    for name, before in (("server", "certificates"), ("client", "server")):
        assert rendering.recipe.states[name].order.requires == (before,)
