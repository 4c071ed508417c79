# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Image streams: what their tags point at, and how one tag reads.

Facts: openshift/api, image/v1/types.go; openshift-apiserver,
pkg/image/apiserver/registry/imagestreamtag/rest.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tests.cluster.api import Api, ApiError
from tests.cluster.builds_api.stored import IMAGE_GROUP, VERSION, Obj, path_of, stamp

REGISTRY = "image-registry.openshift-image-registry.svc:5000"
_DIGEST = re.compile(r"@(sha256:[0-9a-f]{64})$")


@dataclass(frozen=True)
class Target:
    """A tag of an image stream, as references name it: STREAM:TAG in a namespace."""

    namespace: str
    stream: str
    tag: str


def target_of(name: str, namespace: str) -> Target:
    """The tag that the name of an ImageStreamTag means; without a tag it is `latest`."""
    stream, _colon, tag = name.partition(":")
    return Target(namespace, stream, tag or "latest")


def repository(namespace: str, stream: str) -> str:
    """Where the cluster's own registry has a stream's images."""
    return f"{REGISTRY}/{namespace}/{stream}"


class ImageStreams:
    """The stored ImageStreams, and what is known of the labels of images by their digests."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._labels: dict[str, Mapping[str, str]] = {}

    def find(self, namespace: str, name: str) -> Obj | None:
        """A stream, or None."""
        try:
            found: Obj = self._api.get(path_of("ImageStream", namespace, name))
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        return found

    def import_all(self) -> None:
        """Take over the tags of all specs that name an image by digest; others stay without an
        image."""
        for stream in self._api.get(path_of("ImageStream"))["items"]:
            meta, status = stream["metadata"], stream.get("status") or {}
            tags = status.get("tags") or []
            for tag in stream["spec"].get("tags") or []:
                source = tag.get("from") or {}
                digest = _DIGEST.search(source.get("name", ""))
                if source.get("kind") == "DockerImage" and digest:
                    tags = tagged(tags, tag["name"], source["name"], digest[1])
            wanted = {
                "dockerImageRepository": repository(meta["namespace"], meta["name"]),
                "tags": tags,
            }
            if status != wanted:
                self._api.patch(
                    path_of("ImageStream", meta["namespace"], meta["name"]), {"status": wanted}
                )

    def take(self, target: Target, reference: str, digest: str, labels: Mapping[str, str]) -> None:
        """An image has been pushed to a tag. reference: the image by its digest."""
        self._labels[digest] = labels
        stream = self.find(target.namespace, target.stream)
        if stream is not None:
            tags = tagged(
                (stream.get("status") or {}).get("tags") or [], target.tag, reference, digest
            )
            self._api.patch(
                path_of("ImageStream", target.namespace, target.stream), {"status": {"tags": tags}}
            )

    def tag(self, namespace: str, name: str) -> Obj:
        """An ImageStreamTag; raises ApiError (404) where no image has come to it."""
        target = target_of(name, namespace)
        stream = self.find(namespace, target.stream)
        found = self._of_stream(stream) if stream else []
        for entry in found:
            if entry["metadata"]["name"] == name:
                return entry
        raise ApiError(404, f'imagestreamtags.{IMAGE_GROUP} "{name}" not found')

    def tags(self, namespace: str) -> Obj:
        """The list of a namespace's ImageStreamTags."""
        streams = self._api.get(path_of("ImageStream", namespace))["items"]
        items = [entry for stream in streams for entry in self._of_stream(stream)]
        return {
            "kind": "ImageStreamTagList",
            "apiVersion": f"{IMAGE_GROUP}/{VERSION}",
            "metadata": {},
            "items": items,
        }

    def _of_stream(self, stream: Obj) -> list[Obj]:
        meta = stream["metadata"]
        found = []
        for tag in (stream.get("status") or {}).get("tags") or []:
            event = tag["items"][0]
            metadata = {
                "Architecture": "amd64",
                "Os": "linux",
                "Config": {"Labels": dict(self._labels.get(event["image"], {}))},
            }
            image = {
                "metadata": {"name": event["image"]},
                "dockerImageReference": event["dockerImageReference"],
                "dockerImageMetadata": metadata,
            }
            about = {
                "name": f"{meta['name']}:{tag['tag']}",
                "namespace": meta["namespace"],
                "uid": meta["uid"],
            }
            api_version = f"{IMAGE_GROUP}/{VERSION}"
            found.append(
                {
                    "kind": "ImageStreamTag",
                    "apiVersion": api_version,
                    "metadata": about,
                    "image": image,
                }
            )
        return found


def tagged(tags: list[Obj], name: str, reference: str, digest: str) -> list[Obj]:
    """status.tags after an image has come to a tag, the newest first; the same if it is there
    already."""
    earlier: list[Obj] = next((item["items"] for item in tags if item["tag"] == name), [])
    if earlier and (earlier[0]["image"], earlier[0]["dockerImageReference"]) == (digest, reference):
        return tags
    event = {
        "created": stamp(),
        "dockerImageReference": reference,
        "image": digest,
        "generation": 1,
    }
    others = [item for item in tags if item["tag"] != name]
    return sorted(
        [*others, {"tag": name, "items": [event, *earlier]}], key=lambda item: str(item["tag"])
    )
