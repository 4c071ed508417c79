# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A build that only compiles: a pod that Pod Security's level "restricted" allows, and what it
reads. Pure.

It compiles in the base image and writes what has come of it to its log, from where the controller
takes it: a log can be read with the right that a run has anyway, by any later run, too.
docs/decisions says what else was thought of.
"""

from __future__ import annotations

from ..._json import Obj
from ..._recipes.loading.recipe import Compile
from ..layer import MAX_BYTES
from ..orders import BuildOrder
from ..settings import BuildSettings
from . import job_objects
from .secret_mounts import add_secrets

# The container whose log is the layer, and nothing else.
OUTPUT = "output"
_COMMAND = "compile"
_ARCHIVE = "/work/layer.tar"

# /src is where the Containerfiles of our recipes compile, too: compilers note where they were.
_SCRIPT = f"""\
{job_objects.PREPARE}\
cp -R . /src
cd /src
/bin/sh -e /context/{_COMMAND}
if [ ! -d "$OUTPUT" ]; then
  echo "the compile command has left no folder $OUTPUT"
  exit 1
fi
tar -cf {_ARCHIVE} -C "$OUTPUT" .
gzip -n {_ARCHIVE}
size=$(wc -c < {_ARCHIVE}.gz)
if [ "$size" -gt {MAX_BYTES} ]; then
  echo "$OUTPUT has $size bytes, compressed; {MAX_BYTES} come through a log: leave less there, or build with buildah"
  exit 1
fi
"""
# See layer.received.
_PRINT = f"""\
echo "$(wc -c < {_ARCHIVE}.gz) $(sha256sum < {_ARCHIVE}.gz)"
base64 -w 4096 {_ARCHIVE}.gz
"""


def context_object(order: BuildOrder, settings: BuildSettings, compile_: Compile) -> Obj:
    """The ConfigMap with the compile command and the context."""
    return job_objects.context_object(order, settings, {_COMMAND: f"{compile_.command}\n"})


def job_object(order: BuildOrder, settings: BuildSettings, compile_: Compile) -> Obj:
    """The Job, whose pod knows no secret: the kubelet pulls the base image, the controller pushes."""
    context = {"name": "context", "mountPath": "/context", "readOnly": True}
    work = {"name": "work", "mountPath": "/work"}
    source = {"name": "source", "mountPath": "/src"}
    variables = {
        **order.inputs.all_args,
        **job_objects.environment(order, settings),
        "OUTPUT": compile_.output,
    }
    build = job_objects.container(job_objects.CONTAINER, order.inputs.base, _SCRIPT, [], variables)
    output = job_objects.container(OUTPUT, order.inputs.base, _PRINT, [], {})
    build["volumeMounts"], output["volumeMounts"] = [context, work, source], [work]
    for container in (build, output):
        container["securityContext"] = {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
    pod = {
        "securityContext": {
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
            **({} if settings.user is None else {"runAsUser": settings.user}),
        },
        "volumes": [
            job_objects.context_volume(order, {_COMMAND: _COMMAND}),
            {"name": "work", "emptyDir": {}},
            {"name": "source", "emptyDir": {}},
        ],
        "initContainers": [build],
        "containers": [output],
    }
    add_secrets(pod, build, order)
    return job_objects.job_object(order, settings, pod)
