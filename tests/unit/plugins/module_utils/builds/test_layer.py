# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer that a compiled folder becomes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import tarfile
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds import layer
from ansible_collections.hardware.enablement.plugins.module_utils._builds.layer import (
    IncompleteError,
    make_layer,
    received,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError

MODULE = b"\x7fELF module"


def entry(name: str, content: bytes = b"", **attributes: Any) -> tuple[tarfile.TarInfo, bytes]:
    """An entry as a pod's tar makes it: somebody's, of some time."""
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.uid, info.uname, info.mode = (
        len(content),
        1_700_000_000,
        1000,
        "builder",
        0o664,
    )
    for attribute, value in attributes.items():
        setattr(info, attribute, value)
    return info, content


def packed(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """What a pod sends."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for info, content in entries:
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


FOLDERS = (entry("./", type=tarfile.DIRTYPE, mode=0o777), entry("./6.1.0/", type=tarfile.DIRTYPE))
COMPILED = (
    *FOLDERS,
    entry("./6.1.0/kmod.ko", MODULE),
    entry("./6.1.0/load", b"#!/bin/sh\n", mode=0o4775),
)


def entries(content: bytes) -> dict[str, tarfile.TarInfo]:
    """What a layer holds."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(content))) as tar:
        return {info.name: info for info in tar}


def log(content: bytes, **changes: str) -> str:
    """The log that a pod writes."""
    head = {"size": str(len(content)), "digest": hashlib.sha256(content).hexdigest(), **changes}
    return f"{head['size']} {head['digest']}  -\n{base64.encodebytes(content).decode()}"


def test_a_layer_holds_the_folder_and_belongs_to_root() -> None:
    found = entries(make_layer(packed(*COMPILED), "/opt/modules"))
    assert list(found) == [
        "opt/modules",
        "opt/modules/6.1.0",
        "opt/modules/6.1.0/kmod.ko",
        "opt/modules/6.1.0/load",
    ]
    assert {(info.uid, info.gid, info.uname, info.mtime) for info in found.values()} == {
        (0, 0, "", 0)
    }
    assert [oct(info.mode) for info in found.values()] == ["0o755", "0o755", "0o644", "0o755"]


def test_the_same_files_are_the_same_layer() -> None:
    later = [
        entry(info.name, content, mtime=5, uid=7, type=info.type, mode=info.mode)
        for info, content in COMPILED
    ]
    assert make_layer(packed(*reversed(later)), "/opt/modules/") == make_layer(
        packed(*COMPILED), "/opt/modules"
    )
    assert make_layer(packed(*COMPILED), "/opt/other") != make_layer(
        packed(*COMPILED), "/opt/modules"
    )


def test_links_are_kept_and_hard_links_become_files() -> None:
    link = entry("./link.ko", type=tarfile.SYMTYPE, linkname="6.1.0/kmod.ko")
    hard = entry("./hard.ko", type=tarfile.LNKTYPE, linkname="./6.1.0/kmod.ko")
    found = entries(make_layer(packed(*COMPILED, link, hard), "/opt/modules"))
    assert found["opt/modules/link.ko"].linkname == "6.1.0/kmod.ko"
    assert (found["opt/modules/hard.ko"].isreg(), found["opt/modules/hard.ko"].size) == (
        True,
        len(MODULE),
    )


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (entry("../outside", b"x"), "under such a name"),
        (entry("/etc/passwd", b"x"), "under such a name"),
        (entry("./6.1.0/.wh.sh", b""), "under such a name"),
        (entry("./null", type=tarfile.CHRTYPE), "neither a file nor a folder nor a link"),
        (entry("./hard", type=tarfile.LNKTYPE, linkname="nothing"), "no whole tar file"),
    ],
)
def test_what_belongs_into_no_layer_is_refused(
    wrong: tuple[tarfile.TarInfo, bytes], why: str
) -> None:
    with pytest.raises(EnablementError, match=why):
        make_layer(packed(*COMPILED, wrong), "/opt/modules")


def test_what_is_nothing_or_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EnablementError, match="holds no file"):
        make_layer(packed(*FOLDERS), "/opt/modules")
    with pytest.raises(EnablementError, match=r"no tar\.gz file"):
        make_layer(b"text", "/opt/modules")
    with pytest.raises(EnablementError, match="no whole tar file"):
        make_layer(gzip.compress(b"text"), "/opt/modules")
    monkeypatch.setattr(layer, "MAX_CONTENT_BYTES", 1000)
    with pytest.raises(EnablementError, match="too much for a layer"):
        make_layer(packed(*COMPILED), "/opt/modules")


def test_a_log_brings_what_was_sent() -> None:
    content = packed(*COMPILED)
    assert received(log(content)) == content


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not begin"),
        ("standard_init_linux.go: exec format error\n", "does not begin"),
        (log(b"content")[:-6], "0 of 7 bytes"),
        (log(b"content", size="8"), "7 of 8 bytes"),
        (log(b"content", digest="0" * 64), "other ones"),
    ],
)
def test_a_log_that_is_not_whole_is_noticed(text: str, why: str) -> None:
    with pytest.raises(IncompleteError, match=why):
        received(text)
