# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pod that a remedy runs on a node: made once for each try, and looked at until it has ended."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress

from .._cluster.api_client.api_errors import AlreadyExists, ApiError
from .._cluster.api_client.client import Client
from .._json import Obj
from .._verdicts.pod_status import last_line
from .remedies import Remedy
from .upgrade_survey import SurveyedNode


class RemedyPod:
    """The pod of one try of a remedy. masked: a text without secrets."""

    def __init__(
        self,
        client: Client,
        node: SurveyedNode,
        remedy: Remedy,
        before_write: Callable[[], None],
        masked: Callable[[str], str],
    ) -> None:
        self._client = client
        self._node = node
        self._remedy = remedy
        self._before_write = before_write
        self._masked = masked

    @property
    def name(self) -> str:
        """The same in every run for the same try."""
        return remedy_pod_name(self._node.name, self._remedy)

    def seen(self) -> Obj | None:
        """The pod as the cluster has it; None where none is seen."""
        return self._node.validator(self.name)

    def make(self) -> None:
        """Raises ApiError; that it is there already is none, since its event may be on its way."""
        body = self._node.remedy_pod(self._remedy.step)
        body["metadata"]["name"] = self.name
        body["metadata"].pop("generateName", None)
        self._before_write()
        with suppress(AlreadyExists):
            self._client.create(body)

    def why_failed(self, pod: Obj) -> str:
        """Which pod failed, with the last line that it wrote."""
        metadata = pod["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        said = ""
        with suppress(ApiError):
            said = self._masked(last_line(self._client.logs(namespace, name, tail=20)))
        return f"pod {namespace}/{name}, which is the remedy, failed{': ' if said else ''}{said}"


def remedy_pod_name(node: str, remedy: Remedy) -> str:
    """By the node, and by when the try began."""
    begun = remedy.tried[-1] if remedy.tried else ""
    return f"remedy-{hashlib.sha256(f'{node}|{begun}'.encode()).hexdigest()[:12]}"
