# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster an API server belongs to, and a refusal where it is another one than was meant."""

from __future__ import annotations

from dataclasses import dataclass

from ..._errors import EnablementError
from ..._json import part
from .api_errors import Forbidden
from .reading import ObjectReader
from .rights import CLUSTER, Right

# It is made with the cluster, cannot be deleted, and so has one UID for the cluster's whole life.
_NAMESPACE = "kube-system"


# What telling clusters apart needs; without it the UID stays unknown.
RIGHTS = (Right("", ("namespaces",), ("get",), CLUSTER, (_NAMESPACE,), read_only=("get",)),)


@dataclass(frozen=True)
class Identity:
    """host: URL of the API server. context: of the kubeconfig, or "". uid: "" where it may not be
    read."""

    host: str
    context: str
    uid: str

    def __str__(self) -> str:
        parts = [f"cluster {self.host}"]
        if self.context:
            parts.append(f"context {self.context}")
        parts.append(f"UID {self.uid or 'unknown (namespace kube-system may not be read)'}")
        return ", ".join(parts)


def identify(client: ObjectReader) -> Identity:
    """Ask which cluster this is; raises ApiError where it does not answer."""
    try:
        namespace = client.get(client.kind("v1", "Namespace"), _NAMESPACE) or {}
    except Forbidden:
        namespace = {}
    uid = str(part(namespace, "metadata").get("uid") or "")
    return Identity(client.host, client.context, uid)


def refuse_other(client: ObjectReader, uid: str) -> None:
    """Raise EnablementError where the cluster is not the one with this UID, or does not say."""
    found = identify(client)
    if found.uid == uid:
        return
    raise EnablementError(
        "This is not the cluster that was meant"
        if found.uid
        else "This cluster cannot be told from others",
        where=str(found),
        why=f"cluster_uid is {uid}",
        todo="correct kubeconfig, context or host, or else cluster_uid (hardware_enablement_cluster_uid)"
        if found.uid
        else "allow this user to get the namespace kube-system, or leave cluster_uid out",
    )
