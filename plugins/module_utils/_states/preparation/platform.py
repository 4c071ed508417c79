# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of the cluster that templates may use; on plain Kubernetes there are none to be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..._cluster.api_client.api_errors import Forbidden, Unauthorized
from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, Right
from ..._json import Obj, elements, part

# Where OpenShift keeps the credentials of its own registries; a name, no secret.
_PULL_SECRET = "openshift-config/pull-secret"
_MACHINE_CONFIG = "machineconfiguration.openshift.io/v1"
_PROXY = {"http": "httpProxy", "https": "httpsProxy", "no": "noProxy"}


# Facts of OpenShift that templates may use, and pools of nodes.
RIGHTS = (
    Right(
        "config.openshift.io", ("clusterversions", "proxies"), ("get",), CLUSTER, read_only=("get",)
    ),
    Right(
        "image.openshift.io",
        ("imagestreams",),
        ("get",),
        CLUSTER,
        ("driver-toolkit",),
        read_only=("get",),
    ),
    Right(
        "machineconfiguration.openshift.io",
        ("machineconfigpools",),
        ("list",),
        CLUSTER,
        read_only=("list",),
    ),
)


def cluster_facts(client: Client) -> Obj:
    """platform ("kubernetes" or "openshift"), kubernetes_version, openshift_version, proxy {"http",
    "https", "no"}, trusted_ca (name of a ConfigMap in openshift-config), pull_secret (namespace/name),
    driver_toolkits {build of RHCOS: image}.
    """
    if not client.serves("config.openshift.io/v1", "ClusterVersion"):
        return {"platform": "kubernetes", "kubernetes_version": _kubernetes_version(client)}
    proxy = _read(client, "config.openshift.io/v1", "Proxy", "cluster")
    version = _read(client, "config.openshift.io/v1", "ClusterVersion", "version")
    desired = part(version, "status", "desired").get("version")
    return {
        "platform": "openshift",
        "kubernetes_version": _kubernetes_version(client),
        "openshift_version": str(desired or ""),
        "proxy": proxy_of(proxy),
        "trusted_ca": str(part(proxy, "spec", "trustedCA").get("name") or ""),
        "pull_secret": _PULL_SECRET,
        "driver_toolkits": toolkits_of(
            _read(client, "image.openshift.io/v1", "ImageStream", "driver-toolkit", "openshift")
        ),
    }


def _kubernetes_version(client: Client) -> str:
    """Of the API server, without the v; "" where nobody may ask."""
    try:
        return str(client.version().get("gitVersion") or "").removeprefix("v")
    except (Forbidden, Unauthorized):
        return ""


def machine_config_objects(client: Client, kind: str) -> list[Obj]:
    """The objects of a kind of the Machine Config Operator; none where the cluster has no such
    kind."""
    if not client.serves(_MACHINE_CONFIG, kind):
        return []
    return client.list(client.kind(_MACHINE_CONFIG, kind)).items


def node_selectors(pools: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """MachineConfigPool -> its nodeSelector."""
    return {pool["metadata"]["name"]: part(pool, "spec").get("nodeSelector") for pool in pools}


def proxy_of(proxy: Mapping[str, Any]) -> dict[str, str]:
    """The addresses of the Proxy object, by http, https and no; "" for none.

    One that is given with a password is left out: what templates see, others may read.
    """
    addresses = {key: str(part(proxy, "status").get(name) or "") for key, name in _PROXY.items()}
    return {key: "" if "@" in value else value for key, value in addresses.items()}


def toolkits_of(stream: Mapping[str, Any]) -> dict[str, str]:
    """Build of RHCOS -> the Driver Toolkit's image for its kernels, of ImageStream
    openshift/driver-toolkit.

    Its spec has a tag for the build of the release that the cluster runs (openshift/driver-toolkit,
    manifests/01-openshift-imagestream.yaml), its status also those of the releases before.
    """
    before = {
        str(tag.get("tag")): (tag.get("items") or [{}])[0].get("dockerImageReference")
        for tag in _tags(stream, "status")
    }
    sources = {str(tag.get("name")): part(tag, "from") for tag in _tags(stream, "spec")}
    now = {
        tag: source.get("name")
        for tag, source in sources.items()
        if source.get("kind") == "DockerImage"
    }
    return {
        tag: str(image) for tag, image in {**before, **now}.items() if image and tag != "latest"
    }


def _tags(stream: Mapping[str, Any], half: str) -> Sequence[Mapping[str, Any]]:
    """The tags of an ImageStream, as its spec or its status has them."""
    return elements(stream, half, "tags")


def _read(
    client: Client, api_version: str, kind: str, name: str, namespace: str | None = None
) -> Mapping[str, Any]:
    """An object, or an empty one where it, or its kind, is not there."""
    if not client.serves(api_version, kind):
        return {}
    return client.get(client.kind(api_version, kind), name, namespace) or {}
