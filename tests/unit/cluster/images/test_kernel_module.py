# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.images.gpu import kernel_module
from tests.cluster.images.gpu.kernel_module import KernelModule


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelModule:
    """Of a machine on which two processes run."""
    monkeypatch.setattr(kernel_module, "UNLOADS_S", 0)
    for folder in ("run", "proc/7/fd", "proc/self/fd"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "proc/7/fd/0").symlink_to("/dev/null")
    return KernelModule(tmp_path, tmp_path / "proc")


def test_it_stays_loaded_while_a_process_has_a_device_open(
    module: KernelModule, tmp_path: Path
) -> None:
    assert module.unload()
    module.load("570")
    device = tmp_path / "proc/7/fd/3"
    device.symlink_to("/dev/nvidia0")
    assert not module.unload()
    assert list(module.users()) == [7]
    assert module.configuration == "570"
    device.unlink()
    assert module.unload()
    assert module.configuration is None


def test_a_reboot_unloads_it(module: KernelModule, tmp_path: Path) -> None:
    module.load("570")
    for file in (tmp_path / "run").iterdir():
        file.unlink()
    assert module.configuration is None
