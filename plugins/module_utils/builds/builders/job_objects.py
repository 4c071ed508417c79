# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a build by a Job: a ConfigMap with the context, and the Job that runs buildah. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.builds.model import Order
from ansible_collections.hardware.enablement.plugins.module_utils.builds.settings import BuildSettings
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import GROUP_LABEL
from ansible_collections.hardware.enablement.plugins.module_utils.errors import InvalidInput

Obj = dict[str, Any]

CONTAINER = "build"
_CA = "ca.crt"
CONTAINERFILE = "Containerfile"
# A ConfigMap holds 1 MiB (kubernetes/pkg/apis/core/validation: MaxSecretSize), names and bookkeeping included.
MAX_CONTEXT_BYTES = 1_000_000
# What is left behind by a run that nobody finishes goes away by itself.
KEEP_FINISHED_S = 86_400

# The files of a ConfigMap volume are links, which COPY would copy as such: hence the copy.
_SCRIPT = """\
mkdir -p /work/context
if [ -d /context/files ]; then cp -RL /context/files/. /work/context; fi
cd /work/context
if [ -n "$GIT_URL" ]; then
  git clone --quiet --no-checkout "$GIT_URL" /work/source
  git -C /work/source checkout --quiet "$GIT_COMMIT"
  cd "/work/source/$GIT_FOLDER"
fi
buildah build --file /context/Containerfile --cert-dir /certs "$@" --tag "$TARGET" .
buildah push --cert-dir /certs --digestfile /dev/termination-log "$TARGET"
"""


def context_object(order: Order, settings: BuildSettings) -> Obj:
    """The ConfigMap with Containerfile and context. Raises InvalidInput when they are too large for one."""
    files = {CONTAINERFILE: order.inputs.containerfile, **order.inputs.files}
    size = sum(len(text.encode()) for text in files.values())
    if size > MAX_CONTEXT_BYTES:
        raise InvalidInput(
            f"the build context of {order.title} is too large",
            why=f"it has {size} bytes, and a ConfigMap holds {MAX_CONTEXT_BYTES}",
            todo="put the sources into a git repository and name it under build.git",
        )
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(order, settings),
        "data": {
            **{_key(number): text for number, text in enumerate(files.values())},
            **({_CA: settings.ca} if settings.ca else {}),
        },
    }


def job_object(order: Order, settings: BuildSettings) -> Obj:
    """The Job. No secret is in it: they are mounted."""
    metadata = _metadata(order, settings)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "activeDeadlineSeconds": settings.timeout,
            "ttlSecondsAfterFinished": KEEP_FINISHED_S,
            # A pod that lost its node is worth another one; a build that failed fails again.
            "backoffLimit": 2,
            "podFailurePolicy": {
                "rules": [
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                    {
                        "action": "FailJob",
                        "onExitCodes": {"containerName": CONTAINER, "operator": "NotIn", "values": [0]},
                    },
                ]
            },
            "template": {"metadata": {"labels": metadata["labels"]}, "spec": _pod_spec(order, settings)},
        },
    }


def _metadata(order: Order, settings: BuildSettings) -> Obj:
    return {
        "name": order.name,
        "namespace": settings.namespace,
        "labels": {**settings.labels, GROUP_LABEL: order.group},
        "annotations": {"hardware-enablement.io/kernel": order.inputs.kernel},
    }


def _pod_spec(order: Order, settings: BuildSettings) -> Obj:
    paths = [CONTAINERFILE, *(f"files/{path}" for path in order.inputs.files)]
    items = [{"key": _key(number), "path": path} for number, path in enumerate(paths)]
    volumes: list[Obj] = [
        {"name": "context", "configMap": {"name": order.name, "items": items}},
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
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "hostNetwork": settings.host_network,
        "nodeSelector": {**settings.node_selector, "kubernetes.io/arch": order.inputs.arch},
        "tolerations": [dict(toleration) for toleration in settings.tolerations],
        "imagePullSecrets": [{"name": name} for name in settings.pull_secrets],
        "volumes": volumes,
        "containers": [
            {
                "name": CONTAINER,
                "image": settings.image,
                "command": ["/bin/sh", "-ec", _SCRIPT, "build", *_options(order)],
                "env": [{"name": name, "value": value} for name, value in _environment(order, settings).items()],
                "volumeMounts": mounts,
                # The last lines of a failed build, also where its log is gone.
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}},
                # buildah makes user ids and changes roots itself; the default filter of system calls forbids that.
                "securityContext": {"seccompProfile": {"type": "Unconfined"}, "runAsUser": 0},
            }
        ],
    }


def _options(order: Order) -> list[str]:
    """buildah's options for arguments and labels, in a stable order."""
    options: list[str] = []
    for flag, values in (("--build-arg", order.inputs.all_args), ("--label", order.inputs.labels)):
        for name, value in sorted(values.items()):
            options += [flag, f"{name}={value}"]
    return options


def _environment(order: Order, settings: BuildSettings) -> Mapping[str, str]:
    git = order.inputs.git
    return {
        "TARGET": order.target,
        "GIT_URL": git.url if git else "",
        "GIT_COMMIT": git.commit if git else "",
        "GIT_FOLDER": git.folder if git else "",
        "HOME": "/work",
        "TMPDIR": "/work",
        # Needs neither a loop device nor user namespaces nor overlayfs on overlayfs.
        "BUILDAH_ISOLATION": "chroot",
        "STORAGE_DRIVER": "vfs",
        "STORAGE_OPTS": "",
        "REGISTRY_AUTH_FILE": "/auth/config.json" if settings.push_secret else "/work/no-auth.json",
        **settings.proxy,
    }


def _key(number: int) -> str:
    """A ConfigMap's keys have no slash: the path of a file stands where the volume is mounted."""
    return f"file-{number}"
