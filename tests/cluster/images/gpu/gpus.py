# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPUs of a machine, and what their driver answers.

A machine's GPUs are what its file /etc/stand-in-gpus.json says. Their driver hands that on in a
file that is named like the real driver's library: a program that has not got it has no driver, as
with the real one.
"""

from __future__ import annotations

import json
import stat
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

# The driver's container shares the host's processes, so the host's files are to be seen.
MACHINE = Path("/proc/1/root")
HARDWARE = Path("/etc/stand-in-gpus.json")
LIBRARY = Path("/usr/lib/libcuda.so.1")
SMI = Path("/usr/bin/nvidia-smi")
CONTROL = Path("/dev/nvidiactl")
# Of the real driver (linux/Documentation/admin-guide/devices.txt); nothing answers behind these
# numbers here.
MAJOR, CONTROL_MINOR = 195, 255


@dataclass(frozen=True)
class Gpus:
    """GPUs of one model. memory: MiB of each; temperature: degrees Celsius; fault: what CUDA says,
    "" if well; nouveau: whether the kernel's own driver takes them when the machine boots."""

    product: str = "Tesla T4"
    count: int = 2
    memory: int = 15360
    temperature: int = 41
    fault: str = ""
    nouveau: bool = False

    def uuid(self, number: int) -> str:
        """The same for the same GPU at each start."""
        return f"GPU-{uuid.uuid5(uuid.NAMESPACE_OID, f'{self.product} {number}')}"


def read(file: Path) -> Gpus:
    """The GPUs in a file; OSError where there is none."""
    known = json.loads(file.read_text())
    known.pop("uuids", None)
    return Gpus(**known)


def write(gpus: Gpus, file: Path) -> None:
    """Write them so that no reader sees half of them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".new")
    partial.write_text(
        json.dumps({**asdict(gpus), "uuids": [gpus.uuid(number) for number in range(gpus.count)]})
    )
    partial.rename(file)


def device(number: int) -> Path:
    """The device node of a GPU."""
    return Path(f"/dev/nvidia{number}")


def is_device(path: Path, minor: int) -> bool:
    """Whether the device node is there and is the driver's."""
    try:
        status = path.stat()
    except OSError:
        return False
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == MAJOR << 8 | minor
