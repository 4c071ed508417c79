# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pods that objects would make, tried out in the API server's dry run: quotas, limits, Pod Security
and policies are asked about pods, not about what makes them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from .._cluster.api_client.api_errors import ApiError, Forbidden
from .._cluster.api_client.client import Client
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._json import Obj
from .._recipes.templates.manifests import pod_template
from .kernel_answers import PreflightFinding

_LONGEST_NAME = 240


def refused_pods(
    client: Client, objects: Sequence[Obj], made: Iterable[ObjectKey]
) -> Iterator[PreflightFinding]:
    """Why the API server would not take pods of these objects; each reason once. made: objects that
    are not there yet."""
    new = set(made)
    absent = {key.name for key in new if key.kind == "Namespace"}
    lacking = {(key.namespace, key.name) for key in new if key.kind == "ServiceAccount"}
    pods = {key_of(obj): trial_pod(obj, lacking) for obj in objects if pod_template(obj)}
    tried = {key: pod for key, pod in pods.items() if key.namespace not in absent}
    calls = [partial(client.create, pod, dry_run=True) for pod in tried.values()]
    answers = dict(zip(tried, client.parallel(calls), strict=True))
    yield from _refusals(answers)
    for name in sorted({key.namespace for key in pods} & absent):
        yield PreflightFinding(
            "pods",
            f"namespace {name} does not exist yet, so nobody knows its quotas and policies; make it"
            " as it will be, and run preflight again",
            blocks=False,
        )


def _refusals(answers: Mapping[ObjectKey, Obj | ApiError]) -> Iterator[PreflightFinding]:
    """Why pods were refused. answers: by what would make them."""
    errors = {key: each for key, each in answers.items() if isinstance(each, ApiError)}
    unasked = {key.namespace for key, error in errors.items() if _lacks_right(error)}
    for name in sorted(unasked):
        yield PreflightFinding(
            "pods",
            f"this user may not make pods in {name}, so nobody knows its quotas and policies; run"
            " preflight as who will run enable",
            blocks=False,
        )
    found: dict[str, list[ObjectKey]] = {}
    for key, error in errors.items():
        if key.namespace not in unasked:
            found.setdefault(_without_name(error.why, key), []).append(key)
    for why, keys in found.items():
        more = f" and of {len(keys) - 1} more" if len(keys) > 1 else ""
        yield PreflightFinding("pods", f"pods of {keys[0]}{more} would be refused: {why}")


def trial_pod(manifest: Obj, lacking: set[tuple[str, str]]) -> Obj:
    """A pod as an object with a pod template would make it. lacking: ServiceAccounts, by namespace and
    name, that are not there yet: a pod of none is tried instead."""
    template = pod_template(manifest) or {}
    metadata, spec = manifest["metadata"], copy.deepcopy(template["spec"])
    namespace = str(metadata.get("namespace") or "")
    account = str(spec.get("serviceAccountName") or spec.get("serviceAccount") or "")
    if (namespace, account) in lacking:
        spec.pop("serviceAccountName", None)
        spec.pop("serviceAccount", None)
    own = template.get("metadata") or {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{str(metadata['name'])[:_LONGEST_NAME]}-preflight",
            "namespace": namespace,
            "labels": dict(own.get("labels") or {}),
            "annotations": dict(own.get("annotations") or {}),
        },
        "spec": spec,
    }


def _lacks_right(error: ApiError) -> bool:
    """Whether only this run's user may not make pods: it is not the user who will."""
    return isinstance(error, Forbidden) and " cannot create resource" in error.why


def _without_name(why: str, key: ObjectKey) -> str:
    """A reason without the name of the pod that was tried, so that one reason is said once."""
    return why.replace(f'pods "{key.name[:_LONGEST_NAME]}-preflight" is forbidden: ', "")
