# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that a fresh cluster gets: read from data files, sent to the API server in a sensible
order."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.api import Api, ApiError, in_parallel
from tests.cluster.errors import ClusterError

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def read_objects(path: Path) -> list[dict[str, Any]]:
    """All objects of a YAML file, or of the *.yaml files right inside a folder in the order of
    their names.

    A `kind: List` stands for its items.
    """
    files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    documents = [
        document
        for file in files
        for document in yaml.load_all(file.read_text(), Loader=_LOADER)
        if document
    ]
    return [item for document in documents for item in document.get("items", [document])]


def create_crds(api: Api, crds: Sequence[dict[str, Any]], *, timeout: float = 30) -> None:
    """Create the definitions and wait until their kinds are served."""
    in_parallel(lambda crd: api.create(_CRDS, crd), crds)
    names = [crd["metadata"]["name"] for crd in crds]
    deadline = time.monotonic() + timeout
    while waiting := [name for name in names if not _served(api, name)]:
        if time.monotonic() > deadline:
            raise ClusterError(
                f"The API server did not serve {', '.join(waiting)} within {timeout:.0f} s: "
                f"see the conditions in `kubectl get crd {waiting[0]} -o yaml`."
            )
        time.sleep(0.05)


def create_objects(api: Api, objects: Iterable[dict[str, Any]]) -> None:
    """Create objects of kinds that the server knows; those that exist are left alone."""
    in_parallel(lambda pair: api.create(*pair), list(_with_paths(api, objects)))


def _served(api: Api, name: str) -> bool:
    conditions = api.get(f"{_CRDS}/{name}").get("status", {}).get("conditions") or []
    return any(item["type"] == "Established" and item["status"] == "True" for item in conditions)


def _with_paths(
    api: Api, objects: Iterable[dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    known: dict[str, dict[str, Any]] = {}
    for obj in objects:
        version = obj["apiVersion"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if obj["kind"] not in known.get(base, {}):
            known[base] = _discover(api, base, obj["kind"])
        resource = known[base][obj["kind"]]
        middle = (
            f"/namespaces/{obj['metadata'].get('namespace', 'default')}"
            if resource["namespaced"]
            else ""
        )
        yield f"{base}{middle}/{resource['name']}", obj


def _discover(api: Api, base: str, kind: str, timeout: float = 10) -> dict[str, dict[str, Any]]:
    """The kinds of one group and version; waits until `kind` is among them, since discovery lags
    behind a new CRD."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            kinds = {
                item["kind"]: item for item in api.get(base)["resources"] if "/" not in item["name"]
            }
        except ApiError as error:
            if error.status != 404:
                raise
            kinds = {}
        if kind in kinds:
            return kinds
        if time.monotonic() > deadline:
            raise ClusterError(
                f"The API server serves no {kind} at {base}: is its CRD among those applied before?"
            )
        time.sleep(0.05)
