# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an OpenShift cluster tells of itself to charts that ask for it, and to nobody else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, Right
from ..._json import elements, part
from ..._recipes.loading.foreign_format import ForeignFormat
from ..._recipes.templates.render_facts import RenderFacts

PUSH_SECRET, OS_IMAGE, TOOLKIT = "pushSecretName", "osImageURL", "driverToolkitImage"
_MACHINE_CONFIG = ("machine-config-osimageurl", "openshift-machine-config-operator")
# Where the nodes' image is, and where it was before OpenShift 4.12.
_IMAGE_KEYS = ("baseOSContainerImage", "osImageURL")
_BUILDER, _DOCKERCFG = "builder", "builder-dockercfg"
_NAMED = 3

# What a chart asks for -> the right to read it.
RIGHTS: Mapping[str, Right] = {
    PUSH_SECRET: Right("", ("serviceaccounts",), ("get",), read_only=("get",)),
    OS_IMAGE: Right(
        "", ("configmaps",), ("get",), CLUSTER, (_MACHINE_CONFIG[0],), read_only=("get",)
    ),
}


def runtime_facts(
    client: Client, asked: ForeignFormat | None, platform: str, namespace: str, made: Container[str]
) -> dict[str, str]:
    """The runtime values that a recipe's files ask for and that only the cluster knows.

    asked: the format of the files, None for templates of ours, which ask for none. made: the
    namespaces that exist only since the resource is enabled. The Secret of one of these is not
    used: while it is enabled first there is none, and the next run must change nothing.
    """
    if asked is None or platform != "openshift":
        return {}
    found = {}
    if asked.reads(PUSH_SECRET) and namespace not in made:
        found[PUSH_SECRET] = _push_secret(client, namespace)
    if asked.reads(OS_IMAGE):
        data = part(_get(client, "ConfigMap", *_MACHINE_CONFIG), "data")
        found[OS_IMAGE] = next((str(data[key]) for key in _IMAGE_KEYS if data.get(key)), "")
    return found


def missing_push_secret(asked: ForeignFormat | None, facts: RenderFacts) -> Iterator[str]:
    """A sentence where a recipe's files ask for the Secret to push with, and nothing tells of one."""
    if asked is None or not asked.reads(PUSH_SECRET) or facts.runtime.get(PUSH_SECRET):
        return
    if facts.cluster.get("platform") == "openshift" and not facts.options.get("push_secret"):
        yield (
            f"{PUSH_SECRET} is empty: namespace {facts.namespace} did not exist, so it had no Secret of"
            " the account builder yet; where the chart needs it, make the namespace beforehand, or set"
            " the option push_secret"
        )


def missing_toolkits(asked: ForeignFormat | None, facts: RenderFacts) -> Iterator[str]:
    """A sentence for each kernel that the cluster has no Driver Toolkit for, where a recipe's files
    ask for its image: what they get is an empty text."""
    if asked is None or facts.cluster.get("platform") != "openshift":
        return
    nodes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for group in facts.groups if asked.reads(TOOLKIT) else ():
        if not facts.driver_toolkits.get(group.system.os_build):
            nodes[group.system.kernel, group.system.os_build].update(group.nodes)
    for (kernel, build), found in sorted(nodes.items()):
        names = sorted(found)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        tag = f"no tag {build}" if build else "tags for RHCOS only"
        yield (
            f"There is no Driver Toolkit image for kernel {kernel} (on {', '.join(names[:_NAMED])}"
            f"{more}): {TOOLKIT} is empty there, since the ImageStream openshift/driver-toolkit has"
            f" {tag}; give it one, or leave these nodes out by node_selector"
        )


def _push_secret(client: Client, namespace: str) -> str:
    """The Secret with which builds push to OpenShift's own registry; "" where there is none."""
    secrets = elements(_get(client, "ServiceAccount", _BUILDER, namespace), "secrets")
    names = (str(secret.get("name") or "") for secret in secrets)
    return next((name for name in names if name.startswith(_DOCKERCFG)), "")


def _get(client: Client, kind: str, name: str, namespace: str) -> Mapping[str, Any]:
    return client.get(client.kind("v1", kind), name, namespace) or {}
