# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of DaemonSets that the cluster keeps: ControllerRevisions."""

from __future__ import annotations

from collections.abc import Iterable

from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.controller_references import controller_of
from ..._json import Obj, part

# On a DaemonSet's revisions and pods (kubernetes/staging/src/k8s.io/api/apps/v1/types.go).
REVISION_LABEL = "controller-revision-hash"


def revisions_of(client: Client, namespace: str) -> list[Obj]:
    """All ControllerRevisions of a namespace."""
    return client.list(client.kind("apps/v1", "ControllerRevision"), namespace=namespace).items


def newest_revision(revisions: Iterable[Obj], uid: str) -> Obj | None:
    """The one that the object with this uid is at; None where its controller has made none yet."""
    own = [revision for revision in revisions if controller_of(revision).get("uid") == uid]
    return max(own, key=lambda revision: int(revision.get("revision", 0)), default=None)


def revision_hash(revision: Obj) -> str:
    """What pods of this version carry as their label controller-revision-hash."""
    return str(part(revision["metadata"], "labels").get(REVISION_LABEL, ""))
