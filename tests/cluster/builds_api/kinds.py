# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources that this server has, and their paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Obj = dict[str, Any]

VERSION = "v1"
BUILD_GROUP = "build.openshift.io"
IMAGE_GROUP = "image.openshift.io"
_ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True)
class Subresource:
    """Part of a resource's path after an object's name; kind is that of what is sent or read
    there."""

    name: str
    kind: str
    verb: str


@dataclass(frozen=True)
class Resource:
    """One kind and what may be done with it. All are namespaced and of version v1."""

    group: str
    plural: str
    kind: str
    short_names: tuple[str, ...] = ()
    verbs: tuple[str, ...] = _ALL_VERBS
    subresources: tuple[Subresource, ...] = ()

    @property
    def singular(self) -> str:
        """The name in the singular."""
        return self.kind.lower()

    @property
    def api_version(self) -> str:
        """As in a manifest."""
        return f"{self.group}/{VERSION}"

    @property
    def qualified(self) -> str:
        """As messages name it: buildconfigs.build.openshift.io."""
        return f"{self.plural}.{self.group}"


BUILD_CONFIGS = Resource(
    BUILD_GROUP,
    "buildconfigs",
    "BuildConfig",
    short_names=("bc",),
    subresources=(Subresource("instantiate", "BuildRequest", "create"),),
)
BUILDS = Resource(
    BUILD_GROUP, "builds", "Build", subresources=(Subresource("log", "BuildLog", "get"),)
)
IMAGE_STREAMS = Resource(IMAGE_GROUP, "imagestreams", "ImageStream", short_names=("is",))
IMAGE_STREAM_TAGS = Resource(
    IMAGE_GROUP, "imagestreamtags", "ImageStreamTag", short_names=("istag",), verbs=("get", "list")
)
RESOURCES = (BUILD_CONFIGS, BUILDS, IMAGE_STREAMS, IMAGE_STREAM_TAGS)
GROUPS = (BUILD_GROUP, IMAGE_GROUP)


def find(group: str, plural: str) -> Resource | None:
    """The resource of that name, or None."""
    return next((item for item in RESOURCES if (item.group, item.plural) == (group, plural)), None)
