# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import io
import tarfile
import tracemalloc

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._charts.chart_archive import (
    DEEPEST,
    chart_files,
    charts_among,
    choose_version,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe_archive import (
    MOST_BYTES,
)

HEAD = b"apiVersion: v2\nname: a\nversion: 0.1.0\n"


def packed(*members: tuple[str, bytes | tarfile.TarInfo]) -> bytes:
    """A gzipped tar of files and of whatever else."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        for name, content in members:
            if isinstance(content, bytes):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                archive.addfile(content)
    return whole.getvalue()


def link(name: str, kind: bytes, target: str = "/etc/passwd") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_texts_come_by_their_path_inside_the_chart() -> None:
    data = packed(
        ("a/Chart.yaml", HEAD), ("a/templates/x.yaml", b"x: 1\n"), ("a/icon", b"\xff\xfe")
    )
    assert chart_files(data, "a.tgz") == {"Chart.yaml": HEAD.decode(), "templates/x.yaml": "x: 1\n"}


def test_a_header_with_an_extra_field_as_helm_writes_it_is_read() -> None:
    data = packed(("a/Chart.yaml", HEAD))
    flags, extra = bytes([data[3] | 4]), b"+aHR0cHM6"
    with_extra = (
        data[:3] + flags + data[4:10] + len(extra).to_bytes(2, "little") + extra + data[10:]
    )
    assert list(chart_files(with_extra, "a.tgz")) == ["Chart.yaml"]


def test_charts_inside_it_are_unpacked() -> None:
    inner = packed(("b/Chart.yaml", HEAD), ("b/templates/y.yaml", b"y: 1\n"))
    found = chart_files(packed(("a/Chart.yaml", HEAD), ("a/charts/b-1.0.0.tgz", inner)), "a.tgz")
    assert found["charts/b-1.0.0/templates/y.yaml"] == "y: 1\n"


def test_charts_inside_of_each_other_have_an_end() -> None:
    data = packed(("a/Chart.yaml", HEAD))
    for _depth in range(DEEPEST + 1):
        data = packed(("a/Chart.yaml", HEAD), ("a/charts/a.tgz", data))
    with pytest.raises(InvalidInput, match="inside of each other"):
        chart_files(data, "a.tgz")


@pytest.mark.parametrize(
    ("member", "why"),
    [
        (("a/../../etc/cron.d/x", b"x"), "leads out"),
        (("/etc/cron.d/x", b"x"), "leads out"),
        (("a\\..\\x", b"x"), "leads out"),
        (("a/x", link("a/x", tarfile.SYMTYPE)), "a link"),
        (("a/x", link("a/x", tarfile.LNKTYPE, "a/Chart.yaml")), "a link"),
        (("a/x", link("a/x", tarfile.FIFOTYPE)), "a link or a device"),
        (("b/x", b"x"), "no chart"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0].replace("/", "_"),
)
def test_what_is_more_than_one_folder_of_files_is_refused(
    member: tuple[str, bytes | tarfile.TarInfo], why: str
) -> None:
    with pytest.raises(InvalidInput, match=why):
        chart_files(packed(("a/Chart.yaml", HEAD), member), "a.tgz")


def test_a_small_archive_of_a_large_file_is_refused() -> None:
    data = packed(("a/Chart.yaml", HEAD), ("a/big", bytes(MOST_BYTES + 1)))
    assert len(data) < MOST_BYTES / 100
    with pytest.raises(InvalidInput, match="holds more than"):
        chart_files(data, "a.tgz")


def test_what_charts_inside_unpack_to_counts_together() -> None:
    """Each of 200 is small, and unpacks to less than the limit."""
    inner = packed(("b/Chart.yaml", HEAD), ("b/big", bytes(MOST_BYTES // 4)))
    many = [(f"a/charts/{number}.tgz", inner) for number in range(200)]
    data = packed(("a/Chart.yaml", HEAD), *many)
    tracemalloc.start()
    with pytest.raises(InvalidInput, match="holds more than"):
        chart_files(data, "a.tgz")
    with pytest.raises(InvalidInput, match="holds more than"):
        charts_among({f"{path.rpartition('/')[2]}": content for path, content in many}, "here", "")
    assert tracemalloc.get_traced_memory()[1] < 100 * 1024**2
    tracemalloc.stop()


@pytest.mark.parametrize(
    "data",
    [b"", b"no archive", packed(("a/Chart.yaml", HEAD))[:60]],
    ids=["empty", "text", "cut off"],
)
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"a\.tgz"):
        chart_files(data, "a.tgz")


@pytest.mark.parametrize(
    ("versions", "wanted", "chosen"),
    [
        (("0.9.0", "0.10.0", "0.10.1-rc.1"), "", "0.10.0"),
        (("0.9.0", "0.10.0"), "0.9.0", "0.9.0"),
        (("0.1.0-alpha", "0.1.0-beta"), "", "0.1.0-beta"),
        (("v1.2.0+build", "1.1.9"), "", "v1.2.0+build"),
    ],
)
def test_the_newest_version_counts_unless_one_is_wanted(
    versions: tuple[str, ...], wanted: str, chosen: str
) -> None:
    assert choose_version(versions, wanted, "here") == chosen


def test_a_version_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"there is no version 0\.3\.0 .*\(here\)"):
        choose_version(["0.1.0"], "0.3.0", "here")


def test_packed_charts_among_other_files_are_told_apart_by_name_and_version() -> None:
    newer = HEAD.replace(b"0.1.0", b"0.2.0")
    files = {
        "index.yaml": b"entries: {}",
        "a-0.1.0.tgz": packed(("a/Chart.yaml", HEAD)),
        "a-0.2.0.tgz": packed(("a/Chart.yaml", newer)),
    }
    others, charts = charts_among(files, "here", "")
    assert list(others) == ["index.yaml"]
    assert charts == {"a": {"Chart.yaml": newer.decode()}}
    assert charts_among(files, "here", "0.1.0")[1] == {"a": {"Chart.yaml": HEAD.decode()}}
