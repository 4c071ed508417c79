# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors as others are told of them: OpenShift's nodes, containerd, buildah and podman, and our own runs.
Pure.

Sources: openshift/api config/v1 (types_image_digest_mirror_set.go, types_image_tag_mirror_set.go);
containerd, docs/hosts.md, which knows hosts and no beginnings of paths."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from .._json import Obj
from .image_names import Reference
from .policy import RegistryMirror, RegistryPolicy
from .registries_conf import registries_conf

_NAME = "hardware-enablement"
_SETS = (
    ("ImageDigestMirrorSet", "imageDigestMirrors", "digest"),
    ("ImageTagMirrorSet", "imageTagMirrors", "tag"),
)


def mirrors_at(images: Iterable[Reference], place: str) -> list[RegistryMirror]:
    """A mirror for the repository of each image, below host[:port][/path]. No other repository of these
    registries is meant, so that the registries themselves need not be asked."""
    repositories = dict.fromkeys((image.registry, image.repository) for image in images)
    return [
        RegistryMirror(
            f"{registry}/{repository}",
            # A port's colon can be in no path.
            (f"{place.rstrip('/')}/{registry.lower().replace(':', '-')}/{repository}",),
            source=False,
        )
        for registry, repository in sorted(repositories)
    ]


def mirror_map(policy: RegistryPolicy) -> Obj:
    """The mirrors of a policy as files, by their path."""
    files = {
        "registry_mirrors.json": json.dumps(
            {"hardware_enablement_registry_mirrors": variable(policy.mirrors)}, indent=2
        )
        + "\n",
        "registries.conf": registries_conf(policy),
        **{f"{obj['kind']}.json": f"{json.dumps(obj, indent=2)}\n" for obj in mirror_sets(policy)},
    }
    for host in dict.fromkeys(_host(mirror.prefix) for mirror in policy.mirrors):
        text = hosts_toml(policy, host)
        if text:
            files[f"certs.d/{host}/hosts.toml"] = text
    return files


def variable(mirrors: Sequence[RegistryMirror]) -> list[Obj]:
    """As registry_mirrors takes them."""
    return [
        {"prefix": each.prefix, "locations": list(each.locations), "source": each.source}
        for each in mirrors
    ]


def mirror_sets(policy: RegistryPolicy) -> list[Obj]:
    """The objects that tell OpenShift's nodes and builds, for images by digest and by tag."""
    return [
        {
            "apiVersion": "config.openshift.io/v1",
            "kind": kind,
            "metadata": {"name": _NAME},
            "spec": {
                key: [
                    {
                        "source": mirror.prefix,
                        "mirrors": list(mirror.locations),
                        "mirrorSourcePolicy": (
                            "AllowContactingSource" if mirror.source else "NeverContactSource"
                        ),
                    }
                    for mirror in policy.mirrors
                    if mirror.pulls in ("all", pulls)
                ]
            },
        }
        for kind, key, pulls in _SETS
    ]


def hosts_toml(policy: RegistryPolicy, host: str) -> str:
    """What containerd is told of one registry; "" where its mirrors cannot be said there, since another
    repository would be looked for under another name."""
    roots = dict.fromkeys(_roots(policy.mirrors, host))
    if not roots:
        return ""
    server = f"https://{Reference(host, '').host}"
    blocks = [f"server = {json.dumps(server)}"]
    for root in roots:
        place, _slash, path = root.partition("/")
        trust = policy.trust(place)
        scheme = "http" if trust.plain_http else "https"
        url = f"{scheme}://{place}/v2/{path}".rstrip("/")
        lines = [
            f"[host.{json.dumps(url)}]",
            'capabilities = ["pull", "resolve"]',
            "override_path = true",
        ]
        if not trust.verify:
            lines.append("skip_verify = true")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _roots(mirrors: Sequence[RegistryMirror], host: str) -> Iterator[str]:
    """What stands for the host as a whole, by mirrors of it or of its repositories."""
    for mirror in mirrors:
        rest = mirror.prefix.removeprefix(host)
        if _host(mirror.prefix) == host:
            for location in mirror.locations:
                place = location.rstrip("/")
                if place.endswith(rest):
                    yield place[: len(place) - len(rest)]


def _host(prefix: str) -> str:
    return prefix.partition("/")[0]
