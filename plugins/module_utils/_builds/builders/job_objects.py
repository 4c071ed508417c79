# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a build by a Job is made of: a ConfigMap with the context, and a Job around a pod that
builds. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ..._cluster.api_objects.labels import GROUP_LABEL
from ..._errors import InvalidInput
from ..._json import Obj
from ..failures import BuildPhase
from ..git_credentials import git_environment
from ..orders import BuildOrder
from ..settings import BuildSettings
from .secret_mounts import GIT_FOLDER

CONTAINER = "build"
# A ConfigMap holds 1 MiB (kubernetes/pkg/apis/core/validation: MaxSecretSize), names and
# bookkeeping included.
MAX_CONTEXT_BYTES = 1_000_000
# What is left behind by a run that nobody finishes goes away by itself.
KEEP_FINISHED_S = 86_400

# With these a build's script ends that failed outside of its steps, whose own codes it hides
# (buildah passes them on).
EXIT_CODES = {BuildPhase.SOURCES: 71, BuildPhase.BASE: 72, BuildPhase.PUSH: 73}
PHASES = {code: phase for phase, code in EXIT_CODES.items()}

# Ends in the folder that is built in. One stream: a log has the lines of two in any order, and its
# last one is to tell why a build failed. The files of a ConfigMap volume are links, which would be
# copied as such.
PREPARE = f"""\
exec 2>&1
mkdir -p /work/context
if [ -d /context/files ]; then cp -RL /context/files/. /work/context; fi
cd /work/context
if [ -n "$GIT_URL" ]; then
  git clone --quiet --no-checkout "$GIT_URL" /work/source || exit {EXIT_CODES[BuildPhase.SOURCES]}
  git -C /work/source checkout --quiet "$GIT_COMMIT" || exit {EXIT_CODES[BuildPhase.SOURCES]}
  cd "/work/source/$GIT_FOLDER"
fi
"""


def context_object(order: BuildOrder, settings: BuildSettings, own: Mapping[str, str]) -> Obj:
    """The ConfigMap with the builder's own files (name -> text) and the context.

    Raises InvalidInput when they are too large for one.
    """
    files = {**own, **order.inputs.files}
    size = sum(len(text.encode()) for text in files.values())
    if size > MAX_CONTEXT_BYTES:
        raise InvalidInput(
            f"the build context of {order.title} is too large",
            why=f"it has {size} bytes, and a ConfigMap holds {MAX_CONTEXT_BYTES}",
            todo="put the sources into a git repository and name it under build.git",
        )
    data = {
        **own,
        **{_key(number): text for number, text in enumerate(order.inputs.files.values())},
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(order, settings),
        "data": data,
    }


def context_volume(order: BuildOrder, own: Mapping[str, str]) -> Obj:
    """The volume: the builder's own files (name -> path), and the context below files/."""
    items = [{"key": name, "path": path} for name, path in own.items()]
    items += [
        {"key": _key(number), "path": f"files/{path}"}
        for number, path in enumerate(order.inputs.files)
    ]
    return {"name": "context", "configMap": {"name": order.name, "items": items}}


def job_object(
    order: BuildOrder,
    settings: BuildSettings,
    pod: Obj,
    annotations: Mapping[str, str] | None = None,
) -> Obj:
    """The Job around a pod, whose container that builds is called CONTAINER. pod: what is special
    about its spec.

    annotations: of the pod.
    """
    described = metadata(order, settings)
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "nodeSelector": {**settings.pods.node_selector, "kubernetes.io/arch": order.inputs.arch},
        "tolerations": [dict(toleration) for toleration in settings.pods.tolerations],
        "imagePullSecrets": [{"name": name} for name in settings.pods.pull_secrets],
        **pod,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": described,
        "spec": {
            "activeDeadlineSeconds": settings.pace.timeout,
            "ttlSecondsAfterFinished": KEEP_FINISHED_S,
            # A pod that lost its node is worth another one; a build that failed fails again.
            "backoffLimit": 2,
            "podFailurePolicy": {
                "rules": [
                    {
                        "action": "Ignore",
                        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                    },
                    {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}},
                ]
            },
            "template": {
                "metadata": {
                    "labels": described["labels"],
                    **({"annotations": annotations} if annotations else {}),
                },
                "spec": spec,
            },
        },
    }


def container(
    name: str, image: str, script: str, arguments: list[str], environment: Mapping[str, str]
) -> Obj:
    """A container that runs a script."""
    return {
        "name": name,
        "image": image,
        "command": ["/bin/sh", "-ec", script, name, *arguments],
        "env": [{"name": key, "value": value} for key, value in environment.items()],
        # The last lines of a failed build, also where its log is gone.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}},
    }


def environment(order: BuildOrder, settings: BuildSettings) -> dict[str, str]:
    """What PREPARE needs."""
    git = order.inputs.git
    return {
        "GIT_URL": git.url if git else "",
        "GIT_COMMIT": git.commit if git else "",
        "GIT_FOLDER": git.folder if git else "",
        "GIT_CONTAINERFILE": git.containerfile if git else "",
        **_credentials(order),
        "HOME": "/work",
        "TMPDIR": "/work",
        **settings.proxy,
    }


def _credentials(order: BuildOrder) -> dict[str, str]:
    """How git logs in, with what is mounted."""
    git, secrets = order.inputs.git, order.secrets
    return (
        git_environment(git.url, secrets.git, set(secrets.git_keys), GIT_FOLDER)
        if git and secrets.git
        else {}
    )


def metadata(order: BuildOrder, settings: BuildSettings) -> Obj:
    """The metadata of all objects of an order."""
    return {
        "name": order.name,
        "namespace": settings.scope.namespace,
        "labels": {**settings.scope.labels, GROUP_LABEL: order.group},
        "annotations": {"hardware-enablement.io/kernel": order.inputs.kernel},
    }


def _key(number: int) -> str:
    """A ConfigMap's keys have no slash: the path of a file stands where the volume is mounted."""
    return f"file-{number}"
