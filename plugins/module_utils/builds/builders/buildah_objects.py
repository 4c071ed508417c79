# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A build by buildah: what its pod is, and what it reads. Pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.builds.builders import job_objects
from ansible_collections.hardware.enablement.plugins.module_utils.builds.model import Order
from ansible_collections.hardware.enablement.plugins.module_utils.builds.settings import BuildSettings

Obj = dict[str, Any]

CONTAINERFILE = "Containerfile"
_CA = "ca.crt"

_SCRIPT = f"""\
{job_objects.PREPARE}\
buildah build --file "${{GIT_CONTAINERFILE:-/context/{CONTAINERFILE}}}" --cert-dir /certs "$@" --tag "$TARGET" .
buildah push --cert-dir /certs --digestfile /dev/termination-log "$TARGET" || exit {job_objects.ELSEWHERE}
"""


def context_object(order: Order, settings: BuildSettings) -> Obj:
    """The ConfigMap with Containerfile, context and the registries' authority."""
    own = {CONTAINERFILE: order.inputs.containerfile, **({_CA: settings.ca} if settings.ca else {})}
    return job_objects.context_object(order, settings, own)


def job_object(order: Order, settings: BuildSettings) -> Obj:
    """The Job. No secret is in it: they are mounted."""
    volumes: list[Obj] = [
        job_objects.context_volume(order, CONTAINERFILE),
        {"name": "work", "emptyDir": {}},
    ]
    mounts: list[Obj] = [
        {"name": "context", "mountPath": "/context", "readOnly": True},
        {"name": "work", "mountPath": "/work"},
        {"name": "certs", "mountPath": "/certs", "readOnly": True},
    ]
    certs: Obj = {"emptyDir": {}}
    if settings.ca:
        certs = {"configMap": {"name": order.name, "items": [{"key": _CA, "path": _CA}]}}
    volumes.append({"name": "certs", **certs})
    if settings.push_secret:
        items = [{"key": ".dockerconfigjson", "path": "config.json"}]
        volumes.append({"name": "auth", "secret": {"secretName": settings.push_secret, "items": items}})
        mounts.append({"name": "auth", "mountPath": "/auth", "readOnly": True})
    build = job_objects.container(
        job_objects.CONTAINER, settings.image, _SCRIPT, _options(order), _environment(order, settings)
    )
    # buildah makes user ids and changes roots itself; the default filter of system calls forbids that.
    build |= {
        "volumeMounts": mounts,
        "securityContext": {"seccompProfile": {"type": "Unconfined"}, "runAsUser": 0},
    }
    pod = {"hostNetwork": settings.host_network, "volumes": volumes, "containers": [build]}
    return job_objects.job_object(order, settings, pod)


def _options(order: Order) -> list[str]:
    """buildah's options for arguments and labels, in a stable order."""
    options: list[str] = []
    for flag, values in (("--build-arg", order.inputs.all_args), ("--label", order.inputs.labels)):
        for name, value in sorted(values.items()):
            options += [flag, f"{name}={value}"]
    return options


def _environment(order: Order, settings: BuildSettings) -> dict[str, str]:
    return {
        "TARGET": order.target,
        # Needs neither a loop device nor user namespaces nor overlayfs on overlayfs.
        "BUILDAH_ISOLATION": "chroot",
        "STORAGE_DRIVER": "vfs",
        "STORAGE_OPTS": "",
        "REGISTRY_AUTH_FILE": "/auth/config.json" if settings.push_secret else "/work/no-auth.json",
        **job_objects.environment(order, settings),
    }
