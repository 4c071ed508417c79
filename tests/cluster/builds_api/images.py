# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Image streams: where their images are, what their tags point at, and how one tag reads. Pure.

Facts: openshift/api, image/v1/types.go; openshift-apiserver,
pkg/image/apiserver/registry/imagestreamtag/rest.go.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.cluster.builds_api.kinds import IMAGE_GROUP, IMAGE_STREAM_TAGS, Obj, Resource

REGISTRY = "image-registry.openshift-image-registry.svc:5000"
# What is known of images by digest; not served.
IMAGES = Resource(IMAGE_GROUP, "images", "Image", verbs=())
_DIGEST = re.compile(r"@(sha256:[0-9a-f]{64})$")


@dataclass(frozen=True)
class Target:
    """A tag of an image stream, as references name it: STREAM:TAG in a namespace."""

    namespace: str
    stream: str
    tag: str


def target_of(reference: Obj, namespace: str) -> Target:
    """The tag that an ObjectReference of kind ImageStreamTag names; without a tag it is
    `latest`."""
    stream, _colon, tag = reference["name"].partition(":")
    return Target(reference.get("namespace") or namespace, stream, tag or "latest")


def repository(namespace: str, stream: str) -> str:
    """Where the cluster's own registry has a stream's images."""
    return f"{REGISTRY}/{namespace}/{stream}"


def newest(stream: Obj, tag: str) -> Obj | None:
    """The newest TagEvent of a tag, or None."""
    tags = (stream.get("status") or {}).get("tags") or []
    items = next((item["items"] for item in tags if item["tag"] == tag), None)
    return items[0] if items else None


def tagged(stream: Obj, tag: str, reference: str, digest: str, now: str) -> Obj:
    """The stream after an image has come to a tag; the same stream if it is there already."""
    found = newest(stream, tag)
    if found is not None and (found["image"], found["dockerImageReference"]) == (digest, reference):
        return stream
    event = {"created": now, "dockerImageReference": reference, "image": digest, "generation": 1}
    status = stream.get("status") or {}
    tags = list(status.get("tags") or [])
    earlier = next((item for item in tags if item["tag"] == tag), {"tag": tag, "items": []})
    fresh = {"tag": tag, "items": [event, *earlier["items"]]}
    others = [item for item in tags if item["tag"] != tag]
    ordered = sorted([*others, fresh], key=lambda item: str(item["tag"]))
    return {**stream, "status": {**status, "tags": ordered}}


def imported(stream: Obj, now: str) -> Obj:
    """The stream after the import of its spec's tags that name an image by digest; others stay
    without an image."""
    for tag in (stream.get("spec") or {}).get("tags") or []:
        source = tag.get("from") or {}
        digest = _DIGEST.search(source.get("name", ""))
        if source.get("kind") == "DockerImage" and digest:
            stream = tagged(stream, tag["name"], source["name"], digest[1], now)
    return stream


def image(digest: str, reference: str, labels: Mapping[str, str], now: str) -> Obj:
    """An Image object."""
    return {
        "kind": "Image",
        "apiVersion": IMAGE_STREAM_TAGS.api_version,
        "metadata": {"name": digest, "creationTimestamp": now},
        "dockerImageReference": reference,
        "dockerImageMetadata": {
            "kind": "DockerImage",
            "apiVersion": "image.openshift.io/1.0",
            "Id": digest,
            "Architecture": "amd64",
            "Os": "linux",
            "Created": now,
            "Config": {"Labels": dict(labels)},
        },
        "dockerImageMetadataVersion": "1.0",
    }


def stream_tag(stream: Obj, tag: str, known: Callable[[str], Obj | None]) -> Obj | None:
    """The ImageStreamTag of a stream's tag, or None where no image has come to it. known: Images by
    digest."""
    event = newest(stream, tag)
    if event is None:
        return None
    meta = stream["metadata"]
    digest, reference = event["image"], event["dockerImageReference"]
    found = known(digest) or image(digest, reference, {}, event["created"])
    spec = stream.get("spec") or {}
    wanted = next((item for item in spec.get("tags") or [] if item["name"] == tag), None)
    return {
        "kind": "ImageStreamTag",
        "apiVersion": IMAGE_STREAM_TAGS.api_version,
        "metadata": {
            "name": f"{meta['name']}:{tag}",
            "namespace": meta["namespace"],
            "uid": meta["uid"],
            "resourceVersion": meta["resourceVersion"],
            "creationTimestamp": event["created"],
            "labels": meta.get("labels") or {},
        },
        "tag": wanted,
        "generation": event["generation"],
        "lookupPolicy": spec.get("lookupPolicy") or {"local": False},
        "image": {**found, "dockerImageReference": reference},
    }


def made_up_digest(content: Obj) -> str:
    """A digest for an image that exists nowhere, the same for the same content."""
    return f"sha256:{hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}"
