# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node that is a virtual machine: on, off, and commands on its serial console."""

from __future__ import annotations

import base64
import io
import shlex
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cluster import processes
from tests.cluster.errors import ClusterError
from tests.cluster.kubelet import configuration
from tests.cluster.kubelet.node import FEATURE_FILES, WORKER_KUBECONFIG, feature_worker
from tests.cluster.vms.console import Console
from tests.cluster.vms.disk import Boot, Disk
from tests.cluster.vms.secure_boot import CODE, Firmware

# What a machine of QEMU's user network calls the host, whose loopback it is.
HOST = "10.0.2.2"
# A name of it that the API server's certificate knows, in the machine's file of hosts.
API_NAME = "kubernetes.default.svc"
# What init.sh keeps running once it is there.
_FEATURE_WORKER = "/etc/kubernetes/feature-worker.sh"
# Takes letters: u makes all disks read-only, o turns the machine off.
_SYSRQ = "/proc/sysrq-trigger"
# Bytes that a device of blocks has to be a multiple of.
_BLOCK = 512


class Vm:
    """The virtual machine `name` of the cluster in `folder`; its own things are in FOLDER/nodes/NAME."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.cluster_folder = folder
        self.folder = folder / "nodes" / name
        self.console = Console(name, self.folder / "console")

    @property
    def log(self) -> Path:
        """What QEMU and the machine's kernel said, of the kernel what it says by itself."""
        return self.cluster_folder / "logs" / f"{self.name}.log"

    def make(self, disk: Disk, files: Mapping[str, bytes]) -> None:
        """Make its disk, whose changes are its own, and the files that it has from its first boot on."""
        self.folder.mkdir(parents=True, exist_ok=True)
        image = ["-F", "raw", "-b", str(disk.file), str(self._disk)]
        subprocess.run(
            ["qemu-img", "create", "-q", "-f", "qcow2", *image], check=True, capture_output=True
        )
        with tarfile.open(self._files, "w") as tar:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(content), 0o600
                tar.addfile(entry, io.BytesIO(content))
        size = self._files.stat().st_size
        assert size % _BLOCK == 0, size

    def start(self, boot: Boot, port: int) -> None:
        """Power on; the kubelet's port is the same here and in the machine."""
        (self.folder / "console").unlink(missing_ok=True)
        command = self._command(boot, port)
        machine = processes.start(self.name, command, folder=self.cluster_folder, port=port)
        # Emulated it is slow enough: what waits for it fails by its timeouts where much else runs.
        machine.favour()

    def equip(self, firmware: Firmware | None) -> None:
        """From the next start on it has this firmware, or QEMU's own BIOS again."""
        if firmware:
            self._variables.write_bytes(firmware.variables())
        else:
            self._variables.unlink(missing_ok=True)

    def stop(self) -> None:
        """Power off, after what was written is on the disk."""
        running = self._process()
        try:
            self.console.run(
                f"sync; echo u > {_SYSRQ}; sleep 1; echo o > {_SYSRQ}; sleep 10", timeout=11
            )
        except (ClusterError, OSError):
            """As it has to be: a machine that is off says no more."""
        processes.stop([running], patience=5)
        processes.forget(self.cluster_folder, self.name)

    @property
    def runs(self) -> bool:
        """Whether it is on."""
        found = self._noted()
        return found is not None and found.alive

    def run(self, script: str, *, timeout: float = 60) -> str:
        """See Console.run."""
        return self.console.run(script, timeout=timeout)

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file of the machine; its folder is made when missing."""
        data = content.encode() if isinstance(content, str) else content
        encoded = base64.b64encode(data).decode()
        self.run(f"mkdir -p {Path(path).parent}; echo {encoded} | base64 -d > {path}")

    def trust(self, registry: str, authority: str) -> None:
        """See RealNode.trust."""
        folder = f"{configuration.CERTS_FOLDER}/{registry}"
        self.write(f"{folder}/ca.crt", authority)
        self.write(f"{folder}/hosts.toml", configuration.registry_hosts(registry))

    def start_feature_worker(self, kubeconfig: str, namespace: str) -> None:
        """Start NFD's worker, in this boot and those to come; see RealNode.start_feature_worker."""
        self.run(f"mkdir -p {FEATURE_FILES}")
        self.write(WORKER_KUBECONFIG, kubeconfig)
        self.write(_FEATURE_WORKER, f"exec {shlex.join(feature_worker(self.name, namespace))}\n")

    @property
    def _disk(self) -> Path:
        return self.folder / "disk.qcow2"

    @property
    def _variables(self) -> Path:
        """What the firmware of a machine remembers; there is none with QEMU's own BIOS."""
        return self.folder / "firmware.fd"

    @property
    def _files(self) -> Path:
        return self.folder / "files.tar"

    def _noted(self) -> processes.Process | None:
        """What was started last; None once it was turned off."""
        noted = processes.noted(self.cluster_folder)
        return next((each for each in noted if each.program == self.name), None)

    def _process(self) -> processes.Process:
        if found := self._noted():
            return found
        raise ClusterError(f"The node {self.name} is off: see {self.log}.")

    def _command(self, boot: Boot, port: int) -> Sequence[str]:
        forward = f"hostfwd=tcp:127.0.0.1:{port}-:{port}"
        return [
            "qemu-system-x86_64",
            # Emulated: the kernel of a machine for tests often offers nothing else. One processor costs a
            # fifth less than two, which wait for each other, and no kernel gave up on the other one; a
            # model, because some kernels do not start with all that QEMU can emulate (la57).
            *("-accel", "tcg,tb-size=512", "-cpu", "Nehalem", "-m", "2048", "-smp", "1"),
            *self._firmware(),
            *("-kernel", str(boot.kernel), "-initrd", str(boot.initrd)),
            *("-append", "console=ttyS0 quiet mitigations=off"),
            # What a test's machine loses with its power is not missed.
            *("-drive", f"file={self._disk},format=qcow2,if=virtio,cache=unsafe"),
            *("-drive", f"file={self._files},format=raw,if=virtio,readonly=on"),
            *("-nic", f"user,model=virtio-net-pci,{forward}"),
            # Hardware that the system finds, and that it can do without.
            *("-device", "virtio-rng-pci"),
            # The first for the kernel, the second for commands.
            *("-chardev", f"file,id=kernel,path={self.log},append=on", "-serial", "chardev:kernel"),
            *("-serial", f"unix:{self.folder / 'console'},server=on,wait=off"),
            *("-no-reboot", "-display", "none", "-monitor", "none"),
        ]

    def _firmware(self) -> Sequence[str]:
        if not self._variables.exists():
            return []
        flash = "if=pflash,format=raw,unit"
        return [
            # Without the mode of the processor by which firmware keeps its variables from the system.
            *("-machine", "q35,smm=off"),
            *("-drive", f"{flash}=0,readonly=on,file={CODE}"),
            *("-drive", f"{flash}=1,file={self._variables}"),
        ]
