# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send patches to nodes, in parallel; a node that left meanwhile needs none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..._cluster.api_client.api_errors import ApiError, NotFound, Unreachable
from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, Right
from ..._json import Obj

WORKERS = 8


# Gates, summary label and proofs. RBAC cannot limit a patch to labels.
RIGHTS = (Right("", ("nodes",), ("patch",), CLUSTER),)


def patch_nodes(client: Client, patches: Mapping[str, Obj]) -> None:
    """One merge patch per node; raises the first error after all have been sent."""
    _raise_first(try_patches(client, patches))


def patch_status(client: Client, patches: Mapping[str, Obj]) -> None:
    """The same of nodes' status, by strategic merge."""
    _raise_first(try_patches(client, patches, subresource="status"))


def _raise_first(refused: Mapping[str, ApiError]) -> None:
    for error in refused.values():
        if not isinstance(error, NotFound):
            raise error


def try_patches(
    client: Client,
    patches: Mapping[str, Obj | Sequence[Obj]],
    *,
    subresource: str | None = None,
    answered: Callable[[str, Obj], None] | None = None,
) -> dict[str, ApiError]:
    """One patch per node (a JSON patch where it is a list, a strategic one of a subresource); returns
    what the API server refused, by node: NotFound for one that has left.

    answered: is given the name of each node and what it is with its patch, in any thread.

    Raises Unreachable where there is no API server any more.
    """
    kind = client.kind("v1", "Node")

    def call(name: str) -> Callable[[], None]:
        def send() -> None:
            # The whole node comes back; a thousand of them would be more than all else in memory.
            node = client.patch(
                kind,
                name,
                None,
                patches[name],
                subresource=subresource,
                strategic=subresource is not None,
            )
            if answered is not None:
                answered(name, node)

        return send

    answers = zip(
        patches, client.parallel([call(name) for name in patches], workers=WORKERS), strict=True
    )
    refused = {name: answer for name, answer in answers if isinstance(answer, ApiError)}
    unheard = [
        name
        for name, error in refused.items()
        if isinstance(error, Unreachable) and not error.status
    ]
    if unheard:
        # Whether the way to this node is cut or that to everything: who asks for less may get an
        # answer.
        client.get(kind, unheard[0])
    return refused
