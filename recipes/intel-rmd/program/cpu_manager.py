# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which CPUs the kubelet's CPU manager gave to which container alone, from the file in which it
remembers that.

Source: kubernetes/pkg/kubelet/cm/cpumanager/state/checkpoint.go (CPUManagerCheckpoint)."""

from __future__ import annotations

import json
from pathlib import Path

FILE = "cpu_manager_state"


class UnreadableError(Exception):
    """One sentence that says why nothing is known of the CPU manager."""


def read(kubelet: Path) -> tuple[dict[str, object], str]:
    """{"policy", "entries": {pod uid: {container: CPUs}}} and the CPUs that all other containers
    share.

    kubelet: the kubelet's folder. Raises UnreadableError. The file is replaced as a whole, so it is
    never half of one.
    """
    path = kubelet / FILE
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnreadableError(
            f"the kubelet has no {FILE} in its folder; is the option kubelet_root right?"
        ) from None
    except (OSError, ValueError) as error:
        raise UnreadableError(f"the kubelet's {FILE} cannot be read: {error}") from None
    if not isinstance(state, dict) or not isinstance(state.get("policyName"), str):
        raise UnreadableError(f"the kubelet's {FILE} names no policy")
    entries: dict[str, dict[str, str]] = {}
    for pod, containers in (state.get("entries") or {}).items():
        entries[str(pod)] = {str(container): str(cpus) for container, cpus in containers.items()}
    return {"policy": state["policyName"], "entries": entries}, str(
        state.get("defaultCpuSet") or ""
    )
