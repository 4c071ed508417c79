# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an OpenShift cluster says itself about registries: mirrors, authorities, insecure ones, its
global pull secret.

Sources: openshift/api, config/v1 (types_image.go, types_image_digest_mirror_set.go,
types_image_tag_mirror_set.go) and operator/v1alpha1 (types_image_content_source_policy.go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._cluster.api_client.api_errors import Forbidden
from .._cluster.api_client.client import Client
from .._cluster.api_client.rights import CLUSTER, Right
from .._json import Obj, elements, part
from .._registry.keyring import Keyring
from .._registry.policy import RegistryMirror, Trust
from .credentials import keyring_of

_CONFIG = "config.openshift.io/v1"
_NAMESPACE = "openshift-config"
_PULL_SECRET = "pull-secret"
_NEVER = "NeverContactSource"
# (API version, kind, list in its spec, which images).
_SETS = (
    (_CONFIG, "ImageDigestMirrorSet", "imageDigestMirrors", "digest"),
    (_CONFIG, "ImageTagMirrorSet", "imageTagMirrors", "tag"),
    (
        "operator.openshift.io/v1alpha1",
        "ImageContentSourcePolicy",
        "repositoryDigestMirrors",
        "digest",
    ),
)


# What is in openshift-config (authorities, the pull secret) is not among them:
# docs/admin/air-gap.md.
RIGHTS = (
    Right(
        "config.openshift.io",
        ("imagedigestmirrorsets", "imagetagmirrorsets"),
        ("list",),
        CLUSTER,
        read_only=("list",),
    ),
    Right("config.openshift.io", ("images",), ("get",), CLUSTER, ("cluster",), read_only=("get",)),
    Right(
        "operator.openshift.io",
        ("imagecontentsourcepolicies",),
        ("list",),
        CLUSTER,
        read_only=("list",),
    ),
)


@dataclass(frozen=True)
class ClusterRegistries:
    """What the cluster's nodes and its own builds keep to; nothing where it is no OpenShift."""

    mirrors: Sequence[RegistryMirror] = ()
    trusts: Sequence[Trust] = ()
    keyring: Keyring = field(default_factory=Keyring)


class RegistryReader:
    """Reads it. say: gets a sentence for each part that may not be read, without which the run goes
    on."""

    def __init__(self, client: Client, say: Callable[[str], None]) -> None:
        self._client = client
        self._say = say

    def read(self) -> ClusterRegistries:
        """Everything that is served and may be read."""
        if not self._client.serves(_CONFIG, "Image"):
            return ClusterRegistries(self._mirrors())
        spec = part(self._get(_CONFIG, "Image", "cluster") or {}, "spec")
        name = str(part(spec, "additionalTrustedCA").get("name") or "")
        bundles = self._get("v1", "ConfigMap", name, _NAMESPACE) if name else None
        secret = self._get("v1", "Secret", _PULL_SECRET, _NAMESPACE)
        keyring = keyring_of(secret, f"{_NAMESPACE}/{_PULL_SECRET}") if secret else Keyring()
        return ClusterRegistries(
            self._mirrors(), trusts_of(spec, part(bundles or {}, "data")), keyring
        )

    def _mirrors(self) -> list[RegistryMirror]:
        found = []
        for api_version, kind, key, pulls in _SETS:
            if self._client.serves(api_version, kind):
                try:
                    items = self._client.list(self._client.kind(api_version, kind)).items
                except Forbidden as error:
                    self._forbidden(f"the cluster's {kind} objects", error)
                    continue
                items = sorted(items, key=lambda item: str(item["metadata"]["name"]))
                found += [mirror for item in items for mirror in mirrors_of(item, key, pulls)]
        return found

    def _get(
        self, api_version: str, kind: str, name: str, namespace: str | None = None
    ) -> Obj | None:
        try:
            return self._client.get(self._client.kind(api_version, kind), name, namespace)
        except Forbidden as error:
            self._forbidden(f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}", error)
            return None

    def _forbidden(self, what: str, error: Forbidden) -> None:
        todo = "grant that right if registries are to be asked as the cluster asks them"
        self._say(
            f"{what} may not be read, so what it says about registries is not known: {error.why}; {todo}"
        )


def mirrors_of(mirror_set: Mapping[str, Any], key: str, pulls: str) -> list[RegistryMirror]:
    """The mirrors of one set. key: of its spec. pulls: which images they are for."""
    entries = part(mirror_set, "spec").get(key) or []
    return [
        RegistryMirror(
            str(entry["source"]),
            tuple(map(str, elements(entry, "mirrors"))),
            entry.get("mirrorSourcePolicy") != _NEVER,
            pulls,
            of_cluster=True,
        )
        for entry in entries
    ]


def trusts_of(spec: Mapping[str, Any], bundles: Mapping[str, str]) -> list[Trust]:
    """What the configuration of images says of single registries. bundles: host, or host..port ->
    PEM."""
    insecure = elements(spec, "registrySources", "insecureRegistries")
    found = [Trust(str(host).partition("/")[0], verify=False, of_cluster=True) for host in insecure]
    return found + [
        Trust(key.replace("..", ":"), pem, of_cluster=True) for key, pem in bundles.items()
    ]
