# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs from a mirror on loopback: whole and verified or not at all, else built, and why is
said."""

from __future__ import annotations

import hashlib
import os
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cluster import programs, releases
from tests.cluster.errors import ClusterError
from tests.cluster.pki import Authority
from tests.cluster.ports import free_ports
from tests.cluster.programs import (
    KWOK_MODULES,
    MODULES,
    TOOLS,
    Module,
    cache_key,
    ensure_programs,
    module_version,
    release_address,
)
from tests.cluster.releases import SUMS, Releases, read_sums

CONTENT = bytes(range(256)) * 8192  # 2 MiB
TOOL = Module(
    "tool",
    "example.test/tool",
    {"one": "example.test/tool/one", "two": "example.test/tool/two"},
    {},
)
RELEASED = Module(**{**TOOL.__dict__, "release": "example.test/{version}/{program}-{arch}"})
# What stands for Go: its programs say that they were built.
GO = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
made=$2
shift 2
for package; do printf built >"$made$(basename "$package")"; done
"""


class Mirror(ThreadingHTTPServer):
    """Serves `files`, by path; the first `cuts` transfers break off in the middle; nothing is said
    before `speaks`."""

    daemon_threads = True

    def __init__(self, tools: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tools = tools
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.cuts = 0
        self.speaks = threading.Event()
        self.speaks.set()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""

    @property
    def base(self) -> str:
        return f"127.0.0.1:{self.server_port}/base"

    def obtain(
        self, module: Module = RELEASED, say: Callable[[str], None] = lambda _line: None
    ) -> dict[str, bytes]:
        """What the programs of the module are; nothing else is left in their folder."""
        found = ensure_programs(say, (module,), tools=self.tools).programs
        assert {path.name for path in found["one"].parent.iterdir()} == set(found)
        return {name: path.read_bytes() for name, path in found.items()}


class _Handler(BaseHTTPRequestHandler):
    server: Mirror

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.speaks.wait()
        content = self.server.files.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        cut, self.server.cuts = self.server.cuts > 0, max(self.server.cuts - 1, 0)
        self.wfile.write((content or b"")[: len(CONTENT) // 2 if cut else None])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A mirror that has both programs of RELEASED; tools, sums, cache and Go are the test's own."""
    tools, go = tmp_path / "tools" / "tool", tmp_path / "go"
    tools.mkdir(parents=True)
    (tools / "go.mod").write_text("require example.test/tool v1.2.3\n")
    (tools / "go.sum").touch()
    go.write_text(GO)
    go.chmod(0o755)
    monkeypatch.setattr(programs, "find_go", lambda _say: str(go))
    addresses = [release_address(RELEASED, name, tools.parent) for name in RELEASED.packages]
    digest = hashlib.sha256(CONTENT).hexdigest()
    (tools.parent / "SHA256SUMS").write_text(
        "# Tools\n" + "".join(f"{digest}  {item}\n" for item in addresses)
    )
    with Mirror(tools.parent) as server:
        server.files = {f"/base/{address}": CONTENT for address in addresses}
        monkeypatch.setenv("HE_MIRROR", f"http://{server.base}/")
        monkeypatch.setenv("HE_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.delenv("HE_BIN", raising=False)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.speaks.set()
        server.shutdown()


def test_programs_are_downloaded_once_with_progress(mirror: Mirror, tmp_path: Path) -> None:
    said: list[str] = []
    assert mirror.obtain(say=said.append) == {"one": CONTENT, "two": CONTENT}
    host = mirror.base.partition("/")[0]
    assert said[:4] == [
        f"downloading one v1.2.3 from {host} (2 MB) ...",
        "  one v1.2.3: 25 %",
        "  one v1.2.3: 50 %",
        "  one v1.2.3: 75 %",
    ]
    assert re.fullmatch(r"downloaded one v1\.2\.3 in \d+ s", said[4])
    assert mirror.obtain() == {"one": CONTENT, "two": CONTENT}
    assert len(mirror.asked) == 2
    assert all(os.access(path, os.X_OK) for path in (tmp_path / "cache").rglob("one"))


def test_a_wrong_sum_is_refused_and_nothing_is_built_in_its_place(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HE_MIRROR", f"http://me:secret@{mirror.base}")
    mirror.files = dict.fromkeys(mirror.files, CONTENT[:-1] + b"!")
    with pytest.raises(
        ClusterError, match=r"REFUSED: .*example\.test/v1\.2\.3/one-.* has the SHA-256 sum"
    ) as caught:
        mirror.obtain()
    assert "secret" not in str(caught.value)
    assert "HE_MIRROR" in str(caught.value)
    left = [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert left == [f".tool-{cache_key(RELEASED, mirror.tools)}.lock"]


def test_a_cut_transfer_is_tried_once_more(mirror: Mirror) -> None:
    mirror.cuts = 1
    said: list[str] = []
    assert mirror.obtain(say=said.append) == {"one": CONTENT, "two": CONTENT}
    assert "one v1.2.3: the transfer broke off, once more" in said


def test_what_cannot_be_downloaded_is_built_and_why_is_said(mirror: Mirror) -> None:
    mirror.cuts = 2
    del mirror.files[next(path for path in mirror.files if "two" in path)]
    said: list[str] = []
    assert mirror.obtain(say=said.append) == {"one": b"built", "two": b"built"}
    host = mirror.base.partition("/")[0]
    assert [line for line in said if line.startswith("building")] == [
        "building one v1.2.3, since its transfer broke off each time (once; minutes with an empty Go cache) ...",
        f"building two v1.2.3, since {host} answers 404 for it (once; minutes with an empty Go cache) ...",
    ]


def test_a_silent_network_is_waited_for_once(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "_ANSWER_WITHIN", 0.3)
    mirror.speaks.clear()
    said: list[str] = []
    assert mirror.obtain(say=said.append) == {"one": b"built", "two": b"built"}
    assert len(mirror.asked) == 1
    assert sum("does not answer within" in line for line in said) == 2


def test_a_host_that_refuses_or_is_not_trusted(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[str] = []
    monkeypatch.setenv("HE_MIRROR", f"http://127.0.0.1:{free_ports(1, taken=[])[0]}")
    assert mirror.obtain(say=said.append) == {"one": b"built", "two": b"built"}
    assert sum("cannot be reached" in line for line in said) == 2

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    Authority(tmp_path, "strangers")
    tls.load_cert_chain(tmp_path / "strangers.crt", tmp_path / "strangers.key")
    mirror.socket = tls.wrap_socket(mirror.socket, server_side=True)
    monkeypatch.setenv("HE_MIRROR", f"https://{mirror.base}")
    monkeypatch.setenv("HE_CACHE", str(tmp_path / "other"))
    assert mirror.obtain(say=said.append) == {"one": b"built", "two": b"built"}
    assert sum("has a certificate that is not trusted" in line for line in said) == 2


def test_without_a_sum_of_ours_or_a_mirror_nothing_is_asked(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    assert mirror.obtain(TOOL, said.append) == {"one": b"built", "two": b"built"}
    assert "since no checksum of its release is known here" in said[0]
    monkeypatch.setenv("HE_CACHE", f"{os.environ['HE_CACHE']}-2")
    monkeypatch.setenv("HE_MIRROR", "none")
    assert mirror.obtain(say=said.append) == {"one": b"built", "two": b"built"}
    assert "since HE_MIRROR is none" in said[-2]
    assert mirror.asked == []
    monkeypatch.setenv("HE_MIRROR", "mirror.example.test")
    with pytest.raises(ClusterError, match="give the base address"):
        mirror.obtain()


def test_a_folder_that_cannot_be_written_to(mirror: Mirror, tmp_path: Path) -> None:
    sums = read_sums(mirror.tools / SUMS)
    with pytest.raises(
        ClusterError, match=r"one cannot be written to .*/nowhere/one \(No such file"
    ):
        Releases(lambda _line: None, sums).download(
            next(iter(sums)), tmp_path / "nowhere" / "one", "one"
        )


def test_users_of_one_cache_share_a_download_and_remains_of_killed_ones_go(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(releases, "_ANSWER_WITHIN", 60)
    folder = tmp_path / "cache" / "programs" / f"tool-{cache_key(RELEASED, mirror.tools)}"
    folder.mkdir(parents=True)
    (folder / ".one.12345").write_bytes(b"half")
    mirror.speaks.clear()
    one_waits = threading.Event()

    def say(line: str) -> None:
        if line.startswith("waiting for another process"):
            one_waits.set()

    with ThreadPoolExecutor(2) as pool:
        users = [pool.submit(mirror.obtain, RELEASED, say) for _user in range(2)]
        waited = one_waits.wait(60)
        mirror.speaks.set()
    assert waited
    assert [user.result() for user in users] == [{"one": CONTENT, "two": CONTENT}] * 2
    assert len(mirror.asked) == 2


def test_the_sums_are_those_of_the_pinned_versions() -> None:
    wanted = {
        module.release.format(
            program=name, version=module_version(module), system="linux", arch=arch
        )
        for module in (*MODULES, *KWOK_MODULES)
        if module.release
        for name in module.packages
        for arch in ("amd64", "arm64")
    }
    sums = read_sums(TOOLS / SUMS)
    assert set(sums) == wanted
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in sums.values())
    assert len(set(sums.values())) == len(sums)
