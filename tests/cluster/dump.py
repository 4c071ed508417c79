# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that a cluster holds, to be compared with everything that it holds later."""

from __future__ import annotations

from typing import Any

from tests.cluster.api import Api, in_parallel

_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
# They change by themselves.
_RESTLESS = {("coordination.k8s.io", "leases"), ("", "events"), ("events.k8s.io", "events")}
# Computed at each request.
_VIRTUAL = {("", "componentstatuses"), ("image.openshift.io", "imagestreamtags")}


def dump(api: Api) -> dict[str, dict[str, Any]]:
    """All objects of all kinds but leases and events, by "GROUP/VERSION KIND NAMESPACE/NAME".

    They are as the server stores them, with resourceVersion and managedFields: also a write that
    changes nothing that anybody reads shows as a difference.
    """
    found: dict[str, dict[str, Any]] = {}
    for kind, items in in_parallel(
        lambda listed: (listed[0], list(api.pages(listed[1]))), list_paths(api)
    ):
        for item in items:
            meta = item["metadata"]
            found[f"{kind} {meta.get('namespace', '')}/{meta['name']}"] = item
    return found


def list_paths(api: Api) -> list[tuple[str, str]]:
    """("GROUP/VERSION KIND", path) of every kind that can be listed, each in the version that its
    group prefers."""
    paths = []
    for root in ("/api", "/apis"):
        for group in api.request("GET", root, accept=_DISCOVERY)["items"]:
            name = group["metadata"].get("name", "")
            seen: set[str] = set()
            for version in group["versions"]:  # the preferred one comes first
                base = (
                    f"{root}/{name}/{version['version']}"
                    if name
                    else f"{root}/{version['version']}"
                )
                for resource in version.get("resources", []):
                    plural = resource["resource"]
                    if (
                        plural in seen
                        or "list" not in resource["verbs"]
                        or (name, plural) in _RESTLESS | _VIRTUAL
                    ):
                        continue
                    seen.add(plural)
                    kind = f"{base.removeprefix(root + '/')} {resource['responseKind']['kind']}"
                    paths.append((kind, f"{base}/{plural}"))
    return paths
