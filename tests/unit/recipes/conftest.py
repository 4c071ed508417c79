# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe's folder, rendered by the real engine with the options that a test wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import (
    FACETS,
    GroupSystem,
    NodeGroup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.lookups import (
    settled,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    check_recipe,
    render_images,
    render_pod,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    ClusterApi,
    RenderedState,
    RenderFacts,
)
from tests.unit.recipes.checks import use_once

Obj = dict[str, Any]

REPO = Path(__file__).resolve().parents[3]

CLUSTER_SCOPED = {
    "ClusterRole",
    "ClusterRoleBinding",
    "MachineConfig",
    "Namespace",
    "NodeFeatureRule",
    "RuntimeClass",
    "SecurityContextConstraints",
}
MONITORING_APIS = frozenset(
    {"monitoring.coreos.com/v1/ServiceMonitor", "monitoring.coreos.com/v1/PrometheusRule"}
)
OPENSHIFT_APIS = frozenset(
    {"security.openshift.io/v1/SecurityContextConstraints", "route.openshift.io/v1/Route"}
)


def group_of(name: str, kernel: str, **facts: Any) -> NodeGroup:
    """A group of nodes with Ubuntu and containerd, but for what is said otherwise."""
    usual: dict[str, Any] = {
        "os_id": "ubuntu",
        "os_version": "24.04",
        "arch": "amd64",
        "runtime": "containerd",
        "runtime_version": "2.2.1",
    }
    names = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}
    label = kernel.replace("+", "_")
    known = {**usual, **facts}
    system = {
        field.name: known.pop(field.name) for field in fields(GroupSystem) if field.name in known
    }
    return NodeGroup(name, FACETS, GroupSystem(kernel, label, **system), terms=(names,), **known)


def coarse(group: NodeGroup, per: Sequence[str]) -> NodeGroup:
    """The group by fewer facets: nothing but kernel and pool set nodes apart here, and their runtime
    is the same."""
    if "kernel" in per:
        return group
    alike = TOOLKIT.removeprefix("nvidia-container-toolkit-") if "runtime" in per else "default"
    return replace(group, id=group.pool or alike, per=tuple(per))


GROUPS = (
    group_of("6-8-0-60-generic-11aa22", "6.8.0-60-generic"),
    group_of("5-15-0-1-33bb44", "5.15.0-1+fips", os_version="22.04"),
)


TOOLKIT = "nvidia-container-toolkit-containerd-2-44cc55"


@dataclass(frozen=True)
class Rendering:
    """A whole recipe under one set of options."""

    recipe: Recipe
    facts: RenderFacts
    states: Mapping[str, RenderedState]

    def objects(self, kind: str = "", state: str = "") -> list[Obj]:
        """The manifests, of one kind or one state or all."""
        return [
            item.manifest
            for name, rendered in self.states.items()
            if state in ("", name)
            for item in rendered.objects
            if kind in ("", item.manifest["kind"])
        ]

    def one(self, kind: str, name: str) -> Obj:
        """The only object of that kind and name."""
        (found,) = [item for item in self.objects(kind) if item["metadata"]["name"] == name]
        return found

    def skipped(self) -> dict[str, str]:
        """Source file, below the recipe's folder -> why it was left out."""
        folder = f"{self.recipe.source.folder}/"
        left_out = [skipped for state in self.states.values() for skipped in state.skipped]
        return {skipped.source.removeprefix(folder): skipped.reason for skipped in left_out}

    def validation_pods(self) -> Iterator[tuple[str, Obj]]:
        """(state, pod) of each workload proof that counts under these options."""
        group = self.facts.groups[0]
        for name, state in self.states.items():
            for proof in state.proofs:
                if proof.kind == "workload":
                    yield name, render_pod(self.recipe, name, proof, self.facts, group, "node-1")

    def pod(self, state: str) -> Obj:
        """The validation pod of a state that has one."""
        (found,) = [pod for name, pod in self.validation_pods() if name == state]
        return found

    def pod_specs(self) -> Iterator[tuple[str, Obj]]:
        """(state, pod spec) of everything that runs containers."""
        for name, rendered in self.states.items():
            for item in rendered.objects:
                if item.manifest["kind"] in ("DaemonSet", "Deployment"):
                    yield name, item.manifest["spec"]["template"]["spec"]
        for name, pod in self.validation_pods():
            yield name, pod["spec"]

    def images(self) -> dict[str, str]:
        """Kernel group's id -> driver image."""
        return render_images(self.recipe, "driver_container", self.facts)


Render = Callable[..., Rendering]


def renderer(folder: Path) -> Render:
    """A function (platform, apis, groups, what is known of the cluster and of Driver Toolkits, options
    of pools by name, options as keywords) -> Rendering for the recipe in a folder."""
    recipe = load(read_bundle(folder), str(folder))

    def render(
        platform: str = "kubernetes",
        apis: frozenset[str] | None = None,
        groups: Sequence[NodeGroup] = GROUPS,
        cluster: Mapping[str, Any] | None = None,
        driver_toolkits: Mapping[str, str] | None = None,
        pools: Mapping[str, Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> Rendering:
        served = MONITORING_APIS | (OPENSHIFT_APIS if platform == "openshift" else frozenset())
        facts = RenderFacts(
            namespace=recipe.namespace,
            options=resolve(recipe, options),
            groups=groups,
            coarse=coarse,
            usual_allocation=recipe.usual_allocation,
            applyset_id="applyset-test",
            cluster={"platform": platform, **(cluster or {})},
            driver_toolkits=driver_toolkits or {},
            api=ClusterApi(
                served if apis is None else apis, lambda _, kind: kind not in CLUSTER_SCOPED
            ),
            pool_options={
                name: resolve(recipe, {**options, **own}) for name, own in (pools or {}).items()
            },
        )
        return Rendering(recipe, facts, check_recipe(settled(recipe, facts.options), facts))

    return render


@pytest.fixture(scope="session", autouse=True)
def _checks_are_made_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        use_once(patch)
        yield


@pytest.fixture(scope="session")
def nvidia_gpu() -> Render:
    """Renders recipes/nvidia-gpu."""
    return renderer(REPO / "recipes" / "nvidia-gpu")


@pytest.fixture(scope="session")
def two_states() -> Render:
    """Renders tests/recipes/two-states."""
    return renderer(REPO / "tests" / "recipes" / "two-states")


@pytest.fixture(scope="session")
def render_folder() -> Callable[[Path], Render]:
    """Makes a renderer of the recipe in a folder."""
    return renderer
