# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists as `kubectl get` shows them, and objects cut down to their metadata. Pure.

Columns: openshift-apiserver, pkg/build/printers/internalversion/printer.go,
pkg/image/printers/internalversion.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.cluster.builds_api.clock import NANOSECONDS, ago
from tests.cluster.builds_api.kinds import (
    BUILD_CONFIGS,
    BUILDS,
    IMAGE_STREAM_TAGS,
    IMAGE_STREAMS,
    Obj,
    Resource,
)

_META_VERSION = "meta.k8s.io/v1"
_TAGS_SHOWN = 5


def table(
    resource: Resource, objects: Sequence[Obj], *, version: str, include: str, head: bool = True
) -> Obj:
    """A meta.k8s.io/v1 Table. include: what of each object goes along, None, Metadata or Object;
    head: columns, too."""
    columns, cells = _TABLES[resource.plural]
    rows = []
    for obj in objects:
        row: Obj = {"cells": cells(obj)}
        if include == "Object":
            row["object"] = obj
        elif include != "None":
            row["object"] = metadata_only(obj)
        rows.append(row)
    definitions = [
        {
            "name": name,
            "type": "string",
            "format": "name" if name == "Name" else "",
            "description": "",
            "priority": 0,
        }
        for name in columns
    ]
    return {
        "kind": "Table",
        "apiVersion": _META_VERSION,
        "metadata": {"resourceVersion": version} if version else {},
        "columnDefinitions": definitions if head else None,
        "rows": rows,
    }


def metadata_only(obj: Obj) -> Obj:
    """The object as a PartialObjectMetadata."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": _META_VERSION,
        "metadata": obj["metadata"],
    }


def _build(obj: Obj) -> list[Any]:
    status = obj.get("status") or {}
    phase = status.get("phase", "")
    if status.get("reason"):
        phase = f"{phase} ({status['reason']})"
    started = (
        f"{ago(status['startTimestamp'], time.time())} ago" if status.get("startTimestamp") else ""
    )
    return [
        obj["metadata"]["name"],
        _strategy(obj),
        _source(obj),
        phase,
        started,
        duration(status.get("duration", 0) // NANOSECONDS),
    ]


def _build_config(obj: Obj) -> list[Any]:
    custom = obj["spec"]["strategy"].get("customStrategy")
    source = custom["from"]["name"] if custom else _source(obj)
    return [obj["metadata"]["name"], _strategy(obj), source, str(obj["status"]["lastVersion"])]


def _image_stream(obj: Obj) -> list[Any]:
    status = obj.get("status") or {}
    tags = status.get("tags") or []
    names = [tag["tag"] for tag in tags]
    more = f" + {len(names) - _TAGS_SHOWN} more..." if len(names) > _TAGS_SHOWN else ""
    newest = max((tag["items"][0]["created"] for tag in tags if tag.get("items")), default="")
    updated = f"{ago(newest, time.time())} ago" if newest else ""
    repository = obj["spec"].get("dockerImageRepository") or status.get("dockerImageRepository", "")
    return [obj["metadata"]["name"], repository, ",".join(names[:_TAGS_SHOWN]) + more, updated]


def _image_stream_tag(obj: Obj) -> list[Any]:
    meta = obj["metadata"]
    return [
        meta["name"],
        obj["image"]["dockerImageReference"],
        f"{ago(meta['creationTimestamp'], time.time())} ago",
    ]


def _strategy(obj: Obj) -> str:
    return str(obj["spec"]["strategy"].get("type", ""))


def _source(obj: Obj) -> str:
    """Dockerfile, Git@REVISION, Dockerfile,Git@REVISION or Binary."""
    source = obj["spec"].get("source") or {}
    names = [name for key, name in (("dockerfile", "Dockerfile"), ("git", "Git")) if key in source]
    text = "Binary" if "binary" in source else ",".join(names)
    git = source.get("git") or {}
    revision = ((obj["spec"].get("revision") or {}).get("git") or {}).get("commit") or git.get(
        "ref", ""
    )
    if len(revision) > 20 and re.fullmatch("[a-fA-F0-9]+", revision):
        revision = revision[:7]
    return f"{text}@{revision}" if git and revision else text


def duration(seconds: int) -> str:
    """As Go writes durations: 1h2m3s; "" for none."""
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    if not seconds:
        return ""
    if hours:
        return f"{hours}h{minutes}m{left}s"
    return f"{minutes}m{left}s" if minutes else f"{left}s"


_TABLES: dict[str, tuple[tuple[str, ...], Callable[[Obj], list[Any]]]] = {
    BUILDS.plural: (("Name", "Type", "From", "Status", "Started", "Duration"), _build),
    BUILD_CONFIGS.plural: (("Name", "Type", "From", "Latest"), _build_config),
    IMAGE_STREAMS.plural: (("Name", "Image Repository", "Tags", "Updated"), _image_stream),
    IMAGE_STREAM_TAGS.plural: (("Name", "Image Reference", "Updated"), _image_stream_tag),
}
