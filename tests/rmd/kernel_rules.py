# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Linux takes in a file of resctrl, and what it makes of it. Pure.

Source: https://docs.kernel.org/filesystems/resctrl.html and fs/resctrl/ctrlmondata.c (cbm_validate,
bw_validate), where each sentence of info/last_cmd_status comes from; rdtgroup.c (rdtgroup_rmdir)."""

from __future__ import annotations

import errno
import re
from collections.abc import Collection

from tests.rmd.bits import ExpressionError, parse_list, runs
from tests.rmd.machine import Machine

_NUMBER = re.compile(r"\d+")
Values = dict[str, dict[int, int]]


class KernelError(OSError):
    """A write that the kernel refuses. status: what info/last_cmd_status says then; its text is
    what a program makes of the number."""

    def __init__(self, number: int, status: str, text: str = "invalid argument") -> None:
        super().__init__(number, text)
        self.status = status

    def __str__(self) -> str:
        return str(self.strerror)


class NoSpaceError(KernelError):
    """The kernel has no class of service left for another group."""

    def __init__(self, name: str) -> None:
        text = f"mkdir {name}: no space left on device"
        super().__init__(errno.ENOSPC, "Out of CLOSIDs", text)


def check_mask(machine: Machine, text: str) -> int:
    """The ways of a mask in hexadecimal digits: not none, none that is not there, side by side."""
    try:
        mask = int(text, 16)
    except ValueError:
        raise _refused(f"Non-hex character in the mask {text}") from None
    if not mask or mask > machine.full:
        raise _refused("Mask out of range")
    if len(runs(mask)) > 1:
        raise _refused(f"The mask {mask:x} has non-consecutive 1-bits")
    if mask.bit_count() < machine.min_cbm_bits:
        raise _refused(f"Need at least {machine.min_cbm_bits} bits in the mask")
    return mask


def check_bandwidth(machine: Machine, text: str) -> int:
    """Memory bandwidth: percent within bounds, rounded up to the next step; megabytes as they
    are."""
    if not _NUMBER.fullmatch(text):
        raise _refused(f"Invalid MB value {text}")
    value = int(text)
    if machine.mba_mbps:
        return value
    if not machine.mba_min <= value <= machine.mba_default:
        raise _refused(f"MB value {value} out of range [{machine.mba_min},{machine.mba_default}]")
    return -(-value // machine.mba_step) * machine.mba_step


def check_schemata(machine: Machine, text: str) -> Values:
    """What a write of lines such as "L3:0=3;1=7ff" sets, by resource and cache. All of it or
    nothing."""
    rules = {"L3": check_mask}
    if machine.mba_closids:
        rules["MB"] = check_bandwidth
    found: Values = {}
    if not text.endswith("\n"):
        raise _refused("Missing newline")
    for entry in text.splitlines():
        name, colon, pairs = entry.strip().partition(":")
        if not colon:
            raise _refused("Missing ':'")
        if name not in rules:
            raise _refused(f"Unknown or unsupported resource name '{name}'")
        for pair in pairs.split(";"):
            cache, _equals, value = pair.strip().partition("=")
            if not _NUMBER.fullmatch(cache) or int(cache) not in machine.caches:
                raise _refused(f"Unknown domain {cache}")
            found.setdefault(name, {})[int(cache)] = rules[name](machine, value.strip())
    return found


def check_cpus(machine: Machine, text: str, before: set[int], *, is_default: bool) -> set[int]:
    """The CPUs that a write of a list leaves in a group; the default group loses none by it."""
    try:
        cpus = parse_list([text.strip()]) if text.strip() else set()
    except ExpressionError:
        raise _refused("Bad CPU list/mask") from None
    if not cpus <= set(range(machine.cpus)):
        raise _refused("Can only assign online CPUs")
    if is_default and not before <= cpus:
        raise _refused("Can't drop CPUs from default group")
    return cpus


def check_removal(name: str, groups: Collection[str]) -> None:
    """A group can always be removed, whatever it has, pseudo-locked and monitored ones included;
    the default group and the folders beside the groups cannot, and nobody says why."""
    if name not in groups:
        raise KernelError(errno.EPERM, "Operation not permitted", "operation not permitted")


def _refused(status: str) -> KernelError:
    return KernelError(errno.EINVAL, status)
