# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The device plugin and the DRA driver of a Module of Kernel Module Management, as it runs them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._json import Obj, elements, part
from .kmm_fields import CONTAINER_FIELDS
from .kmm_text import verbatim

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

_HEALTH_PORT = 51515


@dataclass(frozen=True)
class KmmPod:
    """What KMM adds to the pod of a kind of plugin. key: in the Module; state: of the recipe; title:
    of objects and containers; folders: name of a volume -> path of the node, type; extra: of the pod."""

    key: str
    state: str
    title: str
    folders: Mapping[str, tuple[str, str]]
    env: Sequence[Obj] = ()
    container: Mapping[str, Any] = field(default_factory=dict)
    pod: Mapping[str, Any] = field(default_factory=dict)


_PLUGINS, _REGISTRY, _CDI = (
    "/var/lib/kubelet/plugins/", "/var/lib/kubelet/plugins_registry/", "/var/run/cdi"
)  # fmt: skip


def _from_pod(name: str, path: str) -> Obj:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


DEVICE_PLUGIN = KmmPod(
    "devicePlugin",
    "device_plugin",
    "device-plugin",
    {"kubelet-device-plugins": ("/var/lib/kubelet/device-plugins", "Directory")},
)
DRA_DRIVER = KmmPod(
    "dra",
    "dra_driver",
    "dra",
    {
        "kubelet-plugins": (_PLUGINS, "DirectoryOrCreate"),
        "kubelet-plugins-registry": (_REGISTRY, "Directory"),
        "cdi": (_CDI, "DirectoryOrCreate"),
    },
    env=(
        _from_pod("NODE_NAME", "spec.nodeName"),
        _from_pod("POD_UID", "metadata.uid"),
        {"name": "CDI_ROOT", "value": _CDI},
        {"name": "KUBELET_REGISTRAR_DIRECTORY_PATH", "value": _REGISTRY},
        {"name": "KUBELET_PLUGINS_DIRECTORY_PATH", "value": _PLUGINS},
        {"name": "HEALTHCHECK_PORT", "value": str(_HEALTH_PORT)},
    ),
    container={
        "livenessProbe": {
            "grpc": {"port": _HEALTH_PORT, "service": "liveness"},
            "initialDelaySeconds": 30,
            "periodSeconds": 10,
            "timeoutSeconds": 5,
            "failureThreshold": 3,
        }
    },
    pod={"hostNetwork": True},
)


def daemonset_text(plugin: Mapping[str, Any], kind: KmmPod, name: str, account: str) -> str:
    """The template of its DaemonSet. name: the recipe's; account: of its pods."""
    container = part(plugin, "container")
    mounts = [{"name": each, "mountPath": path} for each, (path, _type) in kind.folders.items()]
    main = {
        **_container(container, kind.title),
        **({"env": [*kind.env, *elements(container, "env")]} if kind.env else {}),
        **kind.container,
        "volumeMounts": [*mounts, *elements(container, "volumeMounts")],
    }
    spec: Obj = {
        "serviceAccountName": account,
        "automountServiceAccountToken": plugin.get("automountServiceAccountToken") is not False,
        **kind.pod,
        "containers": [main],
        "volumes": [
            *(
                {"name": each, "hostPath": {"path": path, "type": type_}}
                for each, (path, type_) in kind.folders.items()
            ),
            *elements(plugin, "volumes"),
        ],
    }
    if plugin.get("initContainer"):
        spec["initContainers"] = [_container(plugin["initContainer"], f"{kind.title}-init")]
    labels = {"app": f"{name}-{kind.title}"}
    template = {"metadata": {"labels": dict(labels)}, "spec": spec}
    body = {"selector": {"matchLabels": labels}, "template": template}
    return _text({"apiVersion": "apps/v1", "kind": "DaemonSet",
                  "metadata": {"name": f"{name}-{kind.title}"}, "spec": body})  # fmt: skip


def device_classes_text(classes: Sequence[Mapping[str, Any]]) -> str:
    """The template of the DeviceClasses of a DRA driver; "" for none."""
    return "---\n".join(
        _text(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "DeviceClass",
                "metadata": {"name": str(each["name"])},
                "spec": {key: each[key] for key in ("selectors", "config") if each.get(key)},
            }
        )
        for each in classes
    )


def _container(given: Mapping[str, Any], name: str) -> Obj:
    """A container with what KMM takes of it; its name is KMM's, and it may do everything."""
    return {
        "name": name,
        "securityContext": {"privileged": True},
        **{each: given[each] for each in CONTAINER_FIELDS if given.get(each)},
    }


def _text(manifest: Obj) -> str:
    return verbatim(yaml.safe_dump(manifest, sort_keys=False, width=120))
