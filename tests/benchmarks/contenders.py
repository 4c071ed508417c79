# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways to get a recipe's objects into a cluster that are compared: each is one command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    RECIPE_LABEL,
)
from tests.benchmarks.bed import Bed, write_playbook
from tests.benchmarks.rendering import Manifests

Obj = dict[str, Any]


@dataclass(frozen=True)
class Contender:
    """A name for the table, and a command that may be run any number of times.

    converges: whether a second run must say that nothing has changed.
    """

    name: str
    command: Sequence[str]
    converges: bool = False


def ours(bed: Bed, recipe_folder: Path, states: Sequence[str]) -> Contender:
    """state_apply, one task per state, inside the controller."""
    return Contender("state_apply", _apply_command(bed, recipe_folder, states), converges=True)


def ours_as_modules(bed: Bed, recipe_folder: Path, states: Sequence[str]) -> Contender:
    """The same tasks, but each sent to a Python process as a module."""
    interpreter = f"ansible_python_interpreter={bed.other_interpreter()}"
    command = [*_apply_command(bed, recipe_folder, states), "-e", interpreter]
    return Contender("state_apply, as a module", command, converges=True)


def enable(bed: Bed, recipe: str, options: Mapping[str, str] | None = None) -> Contender:
    """The whole machine: discovery, all states, proofs on every node, labels, record."""
    command = bed.runner.command(
        "enable", hardware_enablement_recipe=recipe, hardware_enablement_options=options or {}
    )
    return Contender(f"enable {recipe} (with proofs)", command, converges=True)


def status(bed: Bed, recipe: str, *, page: bool = False) -> Contender:
    """A look at all states on all nodes; page: written as HTML as well."""
    report = {"hardware_enablement_report": str(bed.folder / "page.html")} if page else {}
    command = bed.runner.command("status", hardware_enablement_recipe=recipe, **report)
    return Contender(f"status {recipe}", command, converges=True)


def exchange(bed: Bed, recipe: str, at_once: str) -> Contender:
    """Drivers that wait for a restart, so many at a time."""
    pace = {"upgrade_waves": [at_once], "upgrade_max_unavailable": at_once}
    command = bed.runner.command("upgrade", hardware_enablement_recipe=recipe, **pace)
    return Contender(f"upgrade {recipe}", command)


def per_object(bed: Bed, manifests: Manifests) -> Contender:
    """kubernetes.core.k8s, one task for each object."""
    command = _k8s_command(bed, "per-object", manifests.by_object)
    return Contender("kubernetes.core.k8s, task per object", command)


def per_state(bed: Bed, manifests: Manifests) -> Contender:
    """kubernetes.core.k8s, one task with all documents of a state."""
    command = _k8s_command(bed, "per-state", manifests.by_state)
    return Contender("kubernetes.core.k8s, task per state", command)


def kubectl(bed: Bed, manifests: Manifests) -> Contender:
    """kubectl, everything in one call."""
    return Contender("kubectl apply --server-side", _apply(bed, manifests.together))


def until_pods_run(bed: Bed, recipe: str, manifests: Manifests) -> Contender:
    """kubectl, everything in one call, then until every DaemonSet has all its pods."""
    return _rolled_out(bed, recipe, "kubectl until pods run", [manifests.together])


def state_after_state(bed: Bed, recipe: str, manifests: Manifests) -> Contender:
    """The same for each state, before the next one is applied."""
    return _rolled_out(bed, recipe, "kubectl state after state", manifests.by_state)


def _rolled_out(bed: Bed, recipe: str, name: str, files: Sequence[Path]) -> Contender:
    selector = f"{RECIPE_LABEL}={recipe}"
    wait = shlex.join([bed.kubectl, "rollout", "status", "daemonset", "-n", recipe, "-l", selector])
    steps = [f"{shlex.join(_apply(bed, file))} && {wait}" for file in files]
    return Contender(name, ["sh", "-c", " && ".join(steps)])


def cache(bed: Bed, nodes: Sequence[str]) -> Contender:
    """rmd_workload: four workloads on each node, in one task. A node that fails takes nothing from
    the others, so that another run has less to do."""
    pools = [{"max": 2, "min": 2}, {"max": 2, "min": 2}, {"max": 3, "min": 1}, {"max": 0, "min": 0}]
    workloads = [
        {"uuid": f"bench-{number}", "core_ids": [str(number + 1)], "cache": pool}
        for number, pool in enumerate(pools)
    ]
    options = {"workloads": workloads, "nodes": list(nodes), "on_partial_failure": "keep"}
    playbook = write_playbook(
        bed.folder / "cache.yml", [{"hardware.enablement.rmd_workload": options}]
    )
    return Contender("rmd_workload", bed.runner.command(playbook), converges=True)


def numa_checks(bed: Bed) -> Contender:
    """All checks of NUMA but those that ask kubelets."""
    task = {"kubelets": False, "settle": 0, "fail_on": "warning"}
    tasks = [{"name": "Check", "hardware.enablement.numa_validate": task}]
    playbook = write_playbook(bed.folder / "numa.yml", tasks)
    return Contender("numa_validate", bed.runner.command(playbook))


def nothing(bed: Bed) -> Contender:
    """A playbook without tasks: what any run of Ansible costs."""
    playbook = write_playbook(bed.folder / "nothing.yml", [])
    return Contender("ansible-playbook without tasks", bed.runner.command(playbook))


def _apply(bed: Bed, file: Path) -> list[str]:
    cache = f"--cache-dir={bed.folder / 'kubectl'}"
    return [bed.kubectl, cache, "apply", "--server-side", "-f", str(file)]


def _apply_command(bed: Bed, recipe_folder: Path, states: Sequence[str]) -> list[str]:
    place = {"recipe": recipe_folder.name, "recipe_dir": str(recipe_folder.parent)}
    tasks = [
        {"name": state, "hardware.enablement.state_apply": {**place, "states": [state]}}
        for state in states
    ]
    # As in every playbook of several tasks: they share the lock, and the last one gives it back.
    lock = {"recipe": recipe_folder.name, "state": "absent"}
    tasks.append({"name": "lock", "hardware.enablement.run_lock": lock, "changed_when": False})
    return bed.runner.command(write_playbook(bed.folder / "state-apply.yml", tasks))


def _k8s_command(bed: Bed, name: str, files: Sequence[Path]) -> list[str]:
    tasks = [
        {
            "name": file.stem,
            "kubernetes.core.k8s": {"state": "present", "apply": True, "src": str(file)},
        }
        for file in files
    ]
    return bed.runner.command(write_playbook(bed.folder / f"{name}.yml", tasks))
