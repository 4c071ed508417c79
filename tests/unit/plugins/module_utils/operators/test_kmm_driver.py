# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The script that loads the kernel module of what was a Module, run below a folder of its own."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    MACROS_PATH,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.kmm_recipe import (
    recipe_files,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.overlay import (
    MACROS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.templating import (
    Templates,
)
from tests.unit.patience import PATIENCE_S
from tests.unit.plugins.module_utils.operators.kmm_modules import module

KERNEL = "6.8.0-60-generic"
FILES = "/run/hardware-enablement/card"
# What the script calls of the node, in place of it: modprobe is written down.
STUBS = {
    "chroot": '#!/bin/sh\nshift\nfor each in "$@"; do printf "[%s]" "$each"; done >> ROOT/calls\necho >> ROOT/calls\n',
    "sleep": "#!/bin/sh\nexec /bin/sleep 0.2\n",
    "uname": '#!/bin/sh\ncat "ROOT/kernel"\n',
}


class Node:
    """A node's folders, and the driver's container on it."""

    def __init__(self, root: Path, kernel: str = KERNEL) -> None:
        self.root, self.kernel = root, kernel
        for name in (
            "bin",
            "host/sys/module/firmware_class/parameters",
            "run",
            "image/opt/lib/modules",
            "sys",
        ):
            (root / name).mkdir(parents=True)  # fmt: skip
        (root / "kernel").write_text(kernel)
        (root / "calls").touch()
        for name, text in STUBS.items():
            (root / "bin" / name).write_text(text.replace("ROOT", str(root)))
            (root / "bin" / name).chmod(0o755)

    def image_folder(self, name: str) -> Path:
        """The folder of a kernel in the image."""
        folder = self.root / "image/opt/lib/modules" / name
        folder.mkdir()
        (folder / "modules.dep").touch()
        return folder

    def loaded(self, name: str, taint: str = "") -> None:
        """Have a module in the kernel already."""
        folder = self.root / "sys" / name
        folder.mkdir()
        (folder / "taint").write_text(f"{taint}\n")

    def run(self, **container: Any) -> list[str]:
        """What modprobe was called with, until the driver was told to end."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", self._script(container)],
            env={"PATH": f"{self.root / 'bin'}:/usr/bin:/bin", **self._environment},
            stdout=(self.root / "log").open("w"),
        )
        deadline = time.monotonic() + PATIENCE_S
        while process.poll() is None and not (self.root / "run/loaded").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.terminate()
        assert process.wait(timeout=PATIENCE_S) == 0, (self.root / "log").read_text()
        return (self.root / "calls").read_text().splitlines()

    def _script(self, container: Any) -> str:
        files = recipe_files(module(**container), "card", "", {})
        options = {name: option.default for name, option in load(files, "card").options.items()}
        values = {
            "kernel": {"raw": self.kernel, "id": "k"},
            "image": "i",
            "options": options,
            "recipe": "card",
        }
        templates = Templates({**files, MACROS: MACROS_PATH.read_text(encoding="utf-8")}, "card")
        made = yaml.safe_load(templates.render("driver/daemonset.yaml.j2", values))
        (driver,) = made["spec"]["template"]["spec"]["containers"]
        self._environment = {each["name"]: each["value"] for each in driver["env"]}
        self._environment["FOLDER"] = f"{self.root}/image{self._environment['FOLDER']}"
        (script,) = driver["args"]
        for path, ours in (("/host", "host"), ("/sys/module", "sys"), ("/run/module", "run")):
            script = script.replace(f"{path}/", f"{self.root / ours}/")
            script = script.replace(f"{path} ", f"{self.root / ours} ")
        for before in ('"/host$', "#/host}"):
            script = script.replace(before, before.replace("/host", f"{self.root}/host"))
        return str(script)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """One with an image for its kernel."""
    made = Node(tmp_path)
    made.image_folder(KERNEL)
    return made


def test_arguments_are_given_as_the_module_has_them(node: Node) -> None:
    probe = {
        "moduleName": "card",
        "parameters": ["dyndbg=file a.c +p", "x=*"],
        "modulesLoadingOrder": ["card", "base"],
    }
    assert node.run(modprobe=probe) == [
        f"[modprobe][-d][{FILES}][base]",
        f"[modprobe][-vd][{FILES}][card][dyndbg=file a.c +p][x=*]",
        f"[modprobe][-rvd][{FILES}][card][base]",
    ]


def test_raw_arguments_load_without_a_name(node: Node) -> None:
    raw = {"rawArgs": {"load": ["-d", "/opt", "one"], "unload": ["-r", "one"]}}
    assert node.run(modprobe=raw) == [f"[modprobe][-d][{FILES}][one]", "[modprobe][-r][one]"]


def test_what_is_loaded_stays_as_it_is(node: Node) -> None:
    node.loaded("card", "OE")
    assert node.run(inTreeModulesToRemove=["card", "old"]) == [f"[modprobe][-rvd][{FILES}][card]"]


def test_the_kernel_s_own_module_of_that_name_goes_first(node: Node) -> None:
    node.loaded("card")
    node.loaded("old_one")
    assert node.run(inTreeModulesToRemove=["card", "old-one", "gone"]) == [
        "[modprobe][-rv][card]",
        "[modprobe][-rv][old-one]",
        f"[modprobe][-vd][{FILES}][card]",
        f"[modprobe][-rvd][{FILES}][card]",
    ]


def test_links_to_the_node_s_modules_lead_there(node: Node) -> None:
    folder = node.root / "image/opt/lib/modules" / KERNEL
    (folder / "host").symlink_to(f"{node.root}/host/lib/modules/{KERNEL}")
    (folder / "own").symlink_to("modules.dep")
    node.run()
    copied = node.root / f"host{FILES}/lib/modules/{KERNEL}"
    assert str((copied / "host").readlink()) == f"/lib/modules/{KERNEL}"
    assert str((copied / "own").readlink()) == "modules.dep"


def test_what_kmm_built_for_a_kernel_with_a_plus_at_its_end_is_found(tmp_path: Path) -> None:
    node = Node(tmp_path, "5.10.123+")
    node.image_folder("5.10.123")
    node.run()
    assert (tmp_path / f"host{FILES}/lib/modules/5.10.123+/modules.dep").exists()
