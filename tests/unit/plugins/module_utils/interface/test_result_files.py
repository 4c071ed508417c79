# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that a run writes at its end are refused before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.result_files import (
    refuse_result_files,
)

PREFIX = "hardware_enablement_"


def refuse(**named: str | Path) -> None:
    refuse_result_files({f"{PREFIX}{name}": str(path) for name, path in named.items()})


def test_files_that_can_be_written_are_not_even_made(tmp_path: Path) -> None:
    (tmp_path / "status.json").write_text("{}")
    refuse(
        report=tmp_path / "page.html",
        metrics_file=tmp_path / "record.prom",
        junit_file=tmp_path / "status.xml",
        fleet_file=tmp_path / "fleet.json",
        status_file=tmp_path / "status.json",
    )
    refuse(report="", status_file="")
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]


@pytest.mark.parametrize(
    "name",
    [
        *("report", "metrics_file", "junit_file", "fleet_file", "status_file"),
        *("numa_json", "numa_junit"),
    ],
)
def test_a_folder_that_is_not_there_is_refused_with_what_to_do(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="its folder is not there; name a file in a folder"):
        refuse(**{name: tmp_path / "none" / "file.html"})
    with pytest.raises(InvalidInput, match="it is a folder"):
        refuse(**{name: tmp_path})


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    """The page's data is beside it."""
    with pytest.raises(InvalidInput, match=r"report, for its data, and \w+_fleet_file both write"):
        refuse(report=tmp_path / "all.html", fleet_file=tmp_path / "all.json")
    with pytest.raises(InvalidInput, match="would be the same one"):
        refuse(report=tmp_path / "all.json")
    with pytest.raises(InvalidInput, match="would be the same one"):
        refuse(fleet_file=tmp_path / "all.json", status_file=tmp_path / "all.json")
