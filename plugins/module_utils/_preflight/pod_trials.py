# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pods that objects would make, tried out in the API server's dry run: quotas, limits, Pod Security
and policies are asked about pods, not about what makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from .._cluster.api_client.api_errors import ApiError
from .._cluster.api_client.client import Client
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._cluster.pod_trial import lacks_right, trial_pod, why_refused
from .._json import Obj, elements, part
from .._recipes.templates.manifests import pod_template
from .kernel_answers import PreflightFinding

_LIMITED = "kubernetes.io/limit-ranger"


class PodTrials:
    """Pods of objects, tried. changes: what an enable would do before it makes any of them."""

    def __init__(
        self, client: Client, objects: Sequence[Obj], changes: Iterable[Change] = ()
    ) -> None:
        planned = list(changes)
        new = {change.key for change in planned if change.action == "create"}
        self._absent = {key.name for key in new if key.kind == "Namespace"}
        self._relabelled = {
            change.key.name
            for change in planned
            if change.key.kind == "Namespace" and not change.theirs
        }
        lacking = {(key.namespace, key.name) for key in new if key.kind == "ServiceAccount"}
        self.pods = _pods_of(objects, lacking)
        calls = [partial(client.create, pod, dry_run=True) for pod in self.present.values()]
        self._answers: Mapping[ObjectKey, Obj | ApiError] = dict(
            zip(self.present, client.parallel(calls), strict=True)
        )

    @property
    def present(self) -> dict[ObjectKey, Obj]:
        """The pods whose namespace is there, as they were tried."""
        return {key: pod for key, pod in self.pods.items() if key.namespace not in self._absent}

    @property
    def admitted(self) -> dict[ObjectKey, Obj]:
        """The pods as the API server would store them."""
        return {key: each for key, each in self._answers.items() if not isinstance(each, ApiError)}

    def findings(self) -> Iterator[PreflightFinding]:
        """Why the API server would not take pods, or would limit them; each reason once."""
        yield from self._refusals()
        yield from self._limits()
        for name in sorted({key.namespace for key in self.pods} & self._absent):
            yield PreflightFinding(
                "pods",
                f"namespace {name} does not exist yet, so nobody knows its quotas and policies; make it"
                " as it will be, and run preflight again",
                blocks=False,
            )

    def _refusals(self) -> Iterator[PreflightFinding]:
        errors = {key: each for key, each in self._answers.items() if isinstance(each, ApiError)}
        unasked = {key.namespace for key, error in errors.items() if lacks_right(error)}
        for name in sorted(unasked):
            yield PreflightFinding(
                "pods",
                f"this user may not make pods in {name}, so nobody knows its quotas and policies; run"
                " preflight as who will run enable",
                blocks=False,
            )
        found: dict[str, list[ObjectKey]] = {}
        for key, error in errors.items():
            if key.namespace not in unasked and not self._is_lifted(key, error):
                found.setdefault(why_refused(error, key), []).append(key)
        for why, keys in found.items():
            yield PreflightFinding("pods", f"{_named(keys)} would be refused: {why}")

    def _is_lifted(self, key: ObjectKey, error: ApiError) -> bool:
        """Whether the namespace refuses by a label that an enable gives another value first."""
        return "violates PodSecurity" in error.why and key.namespace in self._relabelled

    def _limits(self) -> Iterator[PreflightFinding]:
        found: dict[str, list[ObjectKey]] = {}
        for key, pod in self.admitted.items():
            added = ", ".join(sorted(_added_limits(self.pods[key], pod)))
            if added and _LIMITED in part(pod, "metadata", "annotations"):
                found.setdefault(added, []).append(key)
        for added, keys in found.items():
            yield PreflightFinding(
                "pods",
                f"a LimitRange of {keys[0].namespace} gives containers of {_named(keys)} the limits {added},"
                " with which they may be too slow, or killed; give them limits of their own by the option"
                " resources, or change the LimitRange",
                blocks=False,
            )


def _pods_of(objects: Sequence[Obj], lacking: set[tuple[str, str]]) -> dict[ObjectKey, Obj]:
    """The pods to try, by what would make them."""
    templates = {key_of(obj): pod_template(obj) for obj in objects}
    return {key: trial_pod(key, each, lacking) for key, each in templates.items() if each}


def _named(keys: Sequence[ObjectKey]) -> str:
    first, more = keys[0], f" and of {len(keys) - 1} more" if len(keys) > 1 else ""
    return f"{first}{more}" if first.kind == "Pod" else f"pods of {first}{more}"


def _added_limits(tried: Obj, admitted: Obj) -> Iterator[str]:
    """What containers may use at most, where only the cluster says so."""
    for kind in ("initContainers", "containers"):
        own = {each["name"]: each for each in elements(tried, "spec", kind)}
        for container in elements(admitted, "spec", kind):
            limits = part(own.get(str(container.get("name")), {}), "resources", "limits")
            for name, value in part(container, "resources", "limits").items():
                if name not in limits:
                    yield f"{name} {value}"
