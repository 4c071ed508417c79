# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod that a DaemonSet made, and the same as somebody else may make it, with every label of it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

Obj = dict[str, Any]
DAEMONSET_UID = "0b8c9d5e-8f0d-4f7e-9a57-5d6f0c1a2b3c"


def made_by_daemonset(pod: Obj, daemonset: str, account: str, uid: str = DAEMONSET_UID) -> Obj:
    """The pod as the controller of a DaemonSet makes it."""
    owner = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": daemonset,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    own = deepcopy(pod)
    own["metadata"]["ownerReferences"] = [owner]
    own["spec"]["serviceAccountName"] = account
    return own


def _with_owner(**fields: Any) -> Callable[[Obj], None]:
    return lambda pod: pod["metadata"]["ownerReferences"][0].update(fields)


# By how a pod differs from the one that the DaemonSet made.
FORGED: dict[str, Callable[[Obj], None]] = {
    "in another namespace": lambda pod: pod["metadata"].update(namespace="theirs"),
    "made by hand": lambda pod: pod["metadata"].pop("ownerReferences"),
    "not controlled by its owner": _with_owner(controller=False),
    "of an owner of another kind": _with_owner(kind="Widget", uid="uid-of-a-widget"),
    "of another group's DaemonSet": _with_owner(apiVersion="example.com/v1", uid="uid-of-it"),
}


def forged(pod: Obj, how: str) -> Obj:
    """The pod as somebody else may make it."""
    found = deepcopy(pod)
    FORGED[how](found)
    return found
