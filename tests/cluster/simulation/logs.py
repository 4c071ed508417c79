# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `kubectl logs` shows of a simulated container. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .model import SIM_DOMAIN, Obj, Pod

# What a pod writes, line by line, instead of what its operand does.
LOG_ANNOTATION = f"{SIM_DOMAIN}/log"
# The same in a file, which a test writes; {node} in its path is the pod's node.
LOG_FILE_ANNOTATION = f"{SIM_DOMAIN}/log-file"


class NotStartedError(Exception):
    """The container has no log yet; the text is what a kubelet answers."""


def log_lines(
    pod: Pod, container: str, *, previous: bool, last_log: str, missing: Sequence[str]
) -> list[str]:
    """The container's log lines; NotStartedError when it has none, KeyError when the pod has no
    such container.

    last_log: the last line of the run that failed last. missing: what the pod waits for.
    """
    inits = {item.name: item for item in pod.inits}
    known = {**inits, **{item.name: item for item in pod.containers}}
    if container not in known:
        raise KeyError(container)
    key = "initContainerStatuses" if container in inits else "containerStatuses"
    state: Obj = next((item for item in pod.status.get(key) or () if item["name"] == container), {})
    reason = (state.get("state", {}).get("waiting") or {}).get(
        "reason", "ContainerCreating" if not state else ""
    )
    prefix = f'container "{container}" in pod "{pod.name}"'
    if previous and not state.get("lastState"):
        raise NotStartedError(f"previous terminated {prefix} not found")
    if reason in ("ErrImagePull", "ImagePullBackOff"):
        raise NotStartedError(f"{prefix} is waiting to start: trying and failing to pull image")
    if reason and reason != "CrashLoopBackOff":
        raise NotStartedError(f"{prefix} is waiting to start: {reason}")
    if container in inits:
        return ["init container of the simulation", *(f"waiting: {text}" for text in missing)]
    if pod.ready or pod.phase == "Succeeded":
        own = (pod.metadata.get("annotations") or {}).get(LOG_ANNOTATION, "").splitlines()
        return own or list(pod.operand.logs) or [f"{container}: simulated by the test cluster"]
    first = list(pod.operand.logs[:1])
    if last_log:
        return [*first, last_log]
    return [*first, *(f"waiting: {text}" for text in missing)]


def own_file(pod: Pod) -> str:
    """The path of the file that is a pod's log; "" for none."""
    path = str((pod.metadata.get("annotations") or {}).get(LOG_FILE_ANNOTATION, ""))
    return path.replace("{node}", pod.node)


def tail(lines: Sequence[str], count: int | None) -> str:
    """The last lines as text, each ended by a newline."""
    chosen = lines if count is None else lines[-count:] if count else []
    return "".join(f"{line}\n" for line in chosen)
