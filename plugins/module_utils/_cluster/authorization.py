# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rights the user of a connection lacks, as the API server itself says
(SelfSubjectAccessReview)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

from .api_client.api_errors import ApiError, Forbidden, NotFound
from .api_client.client import Client
from .api_client.decoding import read_review
from .api_client.transport import READING, ApiRequest, RequestBody, RequestName
from .api_objects.kinds import Kind

_API = "authorization.k8s.io/v1"
_KIND = Kind(
    "authorization.k8s.io",
    "v1",
    "SelfSubjectAccessReview",
    "selfsubjectaccessreviews",
    namespaced=False,
)
_WORKERS = 8


@dataclass(frozen=True, order=True)
class AccessReview:
    """To do verb to a resource. namespace "" is the whole cluster, or a resource that lives in
    none."""

    group: str
    resource: str
    namespace: str
    verb: str
    subresource: str = ""

    @property
    def on(self) -> str:
        """What it is about: "daemonsets.apps in gpu", "nodes"."""
        resource = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        name = f"{resource}.{self.group}" if self.group else resource
        return f"{name} in {self.namespace}" if self.namespace else name


def access(kind: Kind, namespace: str | None, verb: str, subresource: str = "") -> AccessReview:
    """The right to do verb to objects of a kind; a namespace counts only where the kind lives in
    one."""
    return AccessReview(
        kind.group, kind.plural, (namespace or "") if kind.namespaced else "", verb, subresource
    )


def missing(client: Client, wanted: Mapping[AccessReview, Set[str]]) -> list[AccessReview]:
    """The rights that are denied. wanted: each with the names of the objects that it is about.

    Asked is once for each right; only where that is denied, by name, since rules may be limited to
    names. What the API server does not answer counts as given. Raises Unreachable.
    """
    denied = [entry for entry, _name in _denied(client, [(entry, "") for entry in sorted(wanted)])]
    by_name = [(entry, name) for entry in denied for name in sorted(wanted[entry])]
    refused = {entry for entry, _name in _denied(client, by_name)}
    return [entry for entry in denied if entry in refused or not wanted[entry]]


def _denied(
    client: Client, questions: Sequence[tuple[AccessReview, str]]
) -> list[tuple[AccessReview, str]]:
    answers = client.parallel(
        [partial(_is_denied, client, entry, name) for entry, name in questions], _WORKERS
    )
    for answer in answers:
        if isinstance(answer, ApiError) and not isinstance(answer, (Forbidden, NotFound)):
            raise answer
    return [question for question, answer in zip(questions, answers, strict=True) if answer is True]


def _is_denied(client: Client, entry: AccessReview, name: str) -> bool:
    attributes: dict[str, Any] = {
        "group": entry.group,
        "resource": entry.resource,
        "subresource": entry.subresource,
        "namespace": entry.namespace,
        "verb": entry.verb,
        "name": name,
    }
    review = {"apiVersion": _API, "kind": _KIND.kind, "spec": {"resourceAttributes": attributes}}
    # Nothing is stored by this POST.
    call = ApiRequest(
        "POST",
        _KIND.path(),
        RequestName("review", entry.on, "review"),
        body=RequestBody(json.dumps(review).encode()),
        repetition=READING,
    )
    return not client.request(call, read_review)
