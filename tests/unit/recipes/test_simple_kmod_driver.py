# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The script of simple-kmod's driver container, run by a real shell. The kernel is a folder, since
none loads modules here: insmod, modprobe and rmmod change that folder and write down how they were
called."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    GROUPS,
    REPO,
    renderer,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import container, env_of

KERNEL = GROUPS[0].system.kernel
PROGRAMS = {
    "uname": 'cat "$NODE/uname"',
    "insmod": """
        file=$1 && shift && echo "insmod ${file##*/} $*" | sed "s/ *$//" >> "$NODE/calls"
        name=$(basename "$file" | sed "s/[.]ko.*//" | tr - _)
        [ ! -e "$NODE/hangs" ] || while [ -e "$NODE/hangs" ]; do sleep 0.05; done
        [ ! -e "$NODE/unsigned" ] || {
          echo "[    9.1] Loading of $(cat "$NODE/unsigned") is rejected" >> "$NODE/dmesg"
          echo "[    9.2] pods: port 2 entered blocking state" >> "$NODE/dmesg"
          echo "insmod: ERROR: could not insert module $file: Key was rejected by service" >&2
          exit 1
        }
        [ ! -e "$NODE/refuses/$name" ] || {
          echo "[    9.1] $name: version magic 'a' should be 'b'" >> "$NODE/dmesg"
          echo "[    9.2]  begin+0x16/0x1000 [$name]" >> "$NODE/dmesg"
          echo "[    9.2] pods: port 2 entered blocking state" >> "$NODE/dmesg"
          echo "insmod: ERROR: could not insert module $file" >&2
          exit 1
        }
        mkdir -p "$NODE/sys/module/$name" && cat "$file" > "$NODE/sys/module/$name/srcversion"
    """,
    "modprobe": 'echo "modprobe $3" >> "$NODE/calls"; [ "$1 $2" = "--dirname /host" ]',
    "rmmod": """
        echo "rmmod $1" >> "$NODE/calls"
        name=$(echo "$1" | tr - _)
        [ ! -e "$NODE/in-use/$name" ] || { echo "rmmod: ERROR: Module $1 is in use" >&2; exit 1; }
        rm -r "$NODE/sys/module/$name"
    """,
    "modinfo": '[ "$2" = signer ] && cat "$NODE/signer" || cat "$3"',
    "dmesg": 'cat "$NODE/dmesg"',
}


class Node:
    """A node: its running kernel, the modules in that, the image's modules, and the programs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None
        for name in ("bin", "sys/module", f"image/{KERNEL}", "in-use", "refuses", "run"):
            (folder / name).mkdir(parents=True)
        for name, script in PROGRAMS.items():
            program = folder / "bin" / name
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        (folder / "dmesg").write_text("[    1.0] simple_kmod: an older line\n")
        self.boot(KERNEL)
        self.image("simple_kmod.ko")

    def boot(self, kernel: str) -> None:
        """Let this kernel run."""
        (self.folder / "uname").write_text(f"{kernel}\n")

    def image(self, *files: str, version: str = "ours") -> None:
        """Put modules into the image; a version tells builds of the same module apart."""
        for file in files:
            (self.folder / "image" / KERNEL / file).write_text(f"{version}\n")

    def holds(self, module: str, version: str = "ours") -> None:
        """Load a module, as if somebody else had done it."""
        (self.folder / "sys/module" / module).mkdir()
        (self.folder / "sys/module" / module / "srcversion").write_text(f"{version}\n")

    def start(self, **options: Any) -> None:
        """Start the container with the recipe's options."""
        rendering = renderer(REPO / "recipes" / "simple-kmod")(
            repository="registry.example/kmod", **options
        )
        daemonset = rendering.one("DaemonSet", f"simple-kmod-{GROUPS[0].id}")
        driver = container(daemonset["spec"]["template"]["spec"], "driver")
        script = driver["args"][0]
        for path, here in (
            ("/sys/module/", f"{self.folder}/sys/module/"),
            ("/opt/modules/", f"{self.folder}/image/"),
            ("/run/simple-kmod/", f"{self.folder}/run/"),
            ("/host/firmware-search-path", f"{self.folder}/firmware"),
            ("/host/firmware/", f"{self.folder}/node-firmware/"),
        ):
            script = script.replace(path, here)
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        self.process = subprocess.Popen(
            [
                *driver["command"],
                script.replace("nap 10", "nap 0.05").replace("sleep 10", "sleep 0.1"),
            ],
            env={"PATH": path, "NODE": str(self.folder), **env_of(driver)},
            stdout=(self.folder / "log").open("a"),
            stderr=subprocess.STDOUT,
            text=True,
        )

    def until(self, line: str) -> None:
        """Wait until the log says something."""
        deadline = time.monotonic() + 10
        while line not in self.log():
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.02)

    def end(self) -> int:
        """The exit code of a container that ends by itself."""
        assert self.process is not None
        return self.process.wait(10)

    def stop(self) -> int:
        """Stop it as a kubelet does; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(10)

    def calls(self) -> list[str]:
        """How the kernel's modules were changed, in order."""
        calls = self.folder / "calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def log(self) -> str:
        """What the container has said."""
        return (self.folder / "log").read_text()

    @property
    def ready(self) -> bool:
        """Whether the readiness probe passes."""
        return (self.folder / "run" / "loaded").exists()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A node with the default module in the image."""
    made = Node(tmp_path)
    yield made
    if made.process is not None and made.process.poll() is None:
        made.process.kill()
        made.process.wait()


def test_modules_are_loaded_in_order_with_parameters_and_unloaded_in_reverse(node: Node) -> None:
    node.image("base-kmod.ko")
    node.start(
        modules=["base-kmod", "simple_kmod"],
        module_parameters={"simple_kmod": "greeting=hello pattern=*"},
        softdeps=["dm_mod", "nvme"],
    )
    node.until("loaded: simple_kmod base-kmod")
    assert node.ready
    begun = [
        "modprobe dm_mod",
        "modprobe nvme",
        "insmod base-kmod.ko",
        "insmod simple_kmod.ko greeting=hello pattern=*",
    ]
    assert node.calls() == begun
    assert node.stop() == 0
    assert node.calls() == [*begun, "rmmod simple_kmod", "rmmod base-kmod"]
    assert not node.ready


@pytest.mark.parametrize("end", [".xz", ".zst", ".gz"])
def test_compressed_modules_are_found(node: Node, end: str) -> None:
    (node.folder / "image" / KERNEL / "simple_kmod.ko").unlink()
    node.image(f"simple_kmod.ko{end}")
    node.start()
    node.until("loaded")
    assert node.calls() == [f"insmod simple_kmod.ko{end}"]


def test_what_would_take_the_hardware_is_removed_first_and_what_is_not_there_is_no_trouble(
    node: Node,
) -> None:
    node.holds("nouveau", "of the distribution")
    node.start(remove_modules=["nouveau", "snd-hda"])
    node.until("loaded")
    assert node.calls() == ["rmmod nouveau", "insmod simple_kmod.ko"]
    assert node.stop() == 0
    # What was not there is not put back.
    assert node.calls()[2:] == ["rmmod simple_kmod", "modprobe nouveau"]


def test_what_another_container_of_the_pod_has_removed_is_put_back(node: Node) -> None:
    node.holds("nouveau", "of the distribution")
    node.start(remove_modules=["nouveau"])
    node.until("loaded")
    assert node.process is not None
    node.process.kill()
    node.process.wait()
    (node.folder / "log").write_text("")
    node.start(remove_modules=["nouveau"])
    node.until("loaded")
    assert node.stop() == 0
    assert node.calls()[-1] == "modprobe nouveau"


def test_what_cannot_be_removed_ends_it(node: Node) -> None:
    node.holds("nouveau")
    (node.folder / "in-use" / "nouveau").touch()
    node.start(remove_modules=["nouveau"])
    assert node.end() == 1
    assert "Module nouveau is in use" in node.log()
    assert node.calls() == ["rmmod nouveau"]


@pytest.mark.parametrize(
    ("version", "calls"), [("ours", []), ("older", ["rmmod simple_kmod", "insmod simple_kmod.ko"])]
)
def test_another_build_of_the_module_is_exchanged_and_the_same_is_kept(
    node: Node, version: str, calls: list[str]
) -> None:
    node.holds("simple_kmod", version)
    node.start()
    node.until("loaded")
    assert node.calls() == calls


def test_a_load_that_is_refused_leaves_nothing_behind(node: Node) -> None:
    node.image("base_kmod.ko")
    (node.folder / "refuses" / "simple_kmod").touch()
    node.start(modules=["base_kmod", "simple_kmod"])
    assert node.end() == 1
    assert "could not insert module" in node.log()
    # The last word is the kernel's, and about this module: that is what a person is shown.
    assert (
        node.log().splitlines()[-1]
        == "the kernel says: simple_kmod: version magic 'a' should be 'b'"
    )
    assert node.calls() == ["insmod base_kmod.ko", "insmod simple_kmod.ko", "rmmod base_kmod"]
    assert not node.ready


SECURE_BOOT = """\
[    0.0] Kernel is locked down from EFI Secure Boot; see man kernel_lockdown.7
[    1.0] Loaded X.509 cert 'Distribution CA: 6cce'
[    1.1] cfg80211: Loaded X.509 cert 'sforshee: 00b2'
[    1.2] integrity: Loaded X.509 cert 'our modules: d4d1'
"""
TODO = "sign it with a key that the node trusts (sign_key_secret, sign_cert_secret), or enrol its certificate there"


@pytest.mark.parametrize(
    ("signer", "kind", "why"),
    [
        ("", "unsigned module", "not signed"),
        ("them\n", "module with unavailable key", "signed by them"),
    ],
)
def test_what_is_not_signed_as_the_node_wants_it_is_told_with_whom_that_trusts(
    node: Node, signer: str, kind: str, why: str
) -> None:
    (node.folder / "dmesg").write_text(SECURE_BOOT)
    (node.folder / "signer").write_text(signer)
    (node.folder / "unsigned").write_text(kind)
    node.start()
    assert node.end() == 1
    assert "this node takes signed modules only: Secure Boot is on" in node.log()
    assert node.log().splitlines()[-1] == (
        f"the kernel says: Loading of {kind} is rejected; Secure Boot is on, and simple_kmod is {why}: {TODO}"
        " (mokutil --import); it trusts Distribution CA, our modules"
    )


def test_a_kernel_that_wants_signatures_without_secure_boot_is_told_from_it(node: Node) -> None:
    (node.folder / "signer").write_text("")
    (node.folder / "unsigned").write_text("unsigned module")
    parameters = node.folder / "sys/module/module/parameters"
    parameters.mkdir(parents=True)
    (parameters / "sig_enforce").write_text("Y\n")
    node.start()
    assert node.end() == 1
    assert "is rejected; module.sig_enforce is set, and simple_kmod is not signed: " in node.log()
    # Of its boot the kernel has no lines any more.
    assert "it trusts" not in node.log()


def test_a_node_that_takes_all_modules_says_nothing_of_signatures(node: Node) -> None:
    node.start()
    node.until("loaded")
    assert "signed" not in node.log()


def test_a_module_whose_start_hangs_is_told_with_the_time_and_what_the_kernel_says(
    node: Node,
) -> None:
    (node.folder / "hangs").touch()
    node.start()
    node.until("simple_kmod is being loaded for 20 s, its start has not come to an end\n")
    with (node.folder / "dmesg").open("a") as log:
        log.write("[ 250.1] INFO: task insmod:312 blocked for more than 120 seconds.\n")
    node.until(
        "to an end; the kernel says: INFO: task insmod:312 blocked for more than 120 seconds."
    )
    assert not node.ready
    (node.folder / "hangs").unlink()
    node.until("loaded: simple_kmod")
    assert node.log().splitlines()[-1] == "loaded: simple_kmod"


def test_the_firmware_path_is_set_while_the_driver_runs(node: Node) -> None:
    firmware = node.folder / "firmware"
    firmware.write_text("/before\n")
    node.start(firmware_path="/opt/firm ware")
    node.until("loaded")
    assert firmware.read_text() == "/opt/firm ware"
    node.stop()
    assert firmware.read_text() == "/before\n"


def test_firmware_of_the_image_is_there_before_the_module_is_loaded(node: Node) -> None:
    (node.folder / "firmware").write_text("/before\n")
    of_image, of_node = node.folder / "of image", node.folder / "node-firmware"
    (of_image / "card").mkdir(parents=True)
    (of_image / "card" / "one.bin").write_text("one\n")
    of_node.mkdir()
    node.start(firmware_path="/var/lib/firmware/card", firmware_directory=str(of_image))
    node.until("loading simple_kmod")
    assert (of_node / "card" / "one.bin").read_text() == "one\n"
    node.stop()
    assert (of_node / "card" / "one.bin").is_file()


def test_firmware_needs_a_place_on_the_node() -> None:
    render = renderer(REPO / "recipes" / "simple-kmod")
    with pytest.raises(InvalidInput, match="that is empty; set firmware_path"):
        assert render(
            repository="registry.example/kmod", firmware_directory="/opt/firmware"
        ).objects


def test_it_waits_for_its_kernel_and_unloads_nothing_from_another(node: Node) -> None:
    node.boot("6.9.0-1-generic")
    node.holds("simple_kmod", "of the other kernel's driver")
    node.start()
    node.until(f"waiting: this image is for kernel {KERNEL}, and the node runs 6.9.0-1-generic")
    assert node.stop() == 0
    assert (node.calls(), node.ready) == ([], False)

    node.start()
    node.boot(KERNEL)
    node.until("loaded")


def test_something_in_use_stays_loaded_and_is_said(node: Node) -> None:
    node.start()
    node.until("loaded")
    (node.folder / "in-use" / "simple_kmod").touch()
    assert node.stop() == 0
    assert "module simple_kmod stays loaded: something uses it" in node.log()


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ([], "the option modules names no module"),
        (["other"], "this image has no module other for kernel"),
    ],
)
def test_nothing_to_load_is_no_success(node: Node, modules: list[str], said: str) -> None:
    node.start(modules=modules)
    assert node.end() == 1
    assert said in node.log()
    assert node.calls() == []
