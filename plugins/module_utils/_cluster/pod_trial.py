# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod as some object would make it, for the API server's dry run: quotas, limits, Pod Security and
policies are asked about pods, not about what makes them. Pure."""

from __future__ import annotations

import copy

from .._json import Obj
from .api_client.api_errors import ApiError, Forbidden
from .api_objects.objects import ObjectKey

_LONGEST_NAME = 240


def trial_pod(owner: ObjectKey, template: Obj, lacking: set[tuple[str, str]]) -> Obj:
    """A pod of an object. template: its pod template. lacking: ServiceAccounts, by namespace and name,
    that are not there yet: a pod of none is tried instead."""
    spec = copy.deepcopy(template["spec"])
    account = str(spec.get("serviceAccountName") or spec.get("serviceAccount") or "")
    if (owner.namespace, account) in lacking:
        spec.pop("serviceAccountName", None)
        spec.pop("serviceAccount", None)
    own = template.get("metadata") or {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": _name(owner),
            "namespace": owner.namespace,
            "labels": dict(own.get("labels") or {}),
            "annotations": dict(own.get("annotations") or {}),
        },
        "spec": spec,
    }


def lacks_right(error: ApiError) -> bool:
    """Whether only this run's user may not make pods: it is not the user who will."""
    return isinstance(error, Forbidden) and " cannot create resource" in error.why


def why_refused(error: ApiError, owner: ObjectKey) -> str:
    """A reason without the name of the pod that was tried, so that one reason is said once."""
    return error.why.replace(f'pods "{_name(owner)}" is forbidden: ', "")


def _name(owner: ObjectKey) -> str:
    return f"{owner.name[:_LONGEST_NAME]}-preflight"
