# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver of a recipe that was a Module of Kernel Module Management: what loads its kernel module,
and the options that say how. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._json import Obj, elements, part
from .kmm_module import KernelCase, container_of, folder_of
from .recipe_options import chosen, text_option, texts_option

# Where an image's modules are on the node.
_FILES = "/run/hardware-enablement"

# Images for KMM have modules and their dependencies below a directory, as modprobe -d wants them, and a shell; modprobe
# is the node's.
_DRIVER = """\
{% from "hardware.enablement/macros.j2" import ready_while with context %}
{% set remove %}@REMOVE@{% endset %}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: @NAME@-{{ kernel.id }}
  annotations:
    hardware-enablement.io/kernel: {{ kernel.raw | to_json }}
spec:
  selector:
    matchLabels: {app: @NAME@-{{ kernel.id }}}
  # A changed module must not be exchanged under what uses it by itself.
  updateStrategy: {type: OnDelete}
  template:
    metadata:
      labels: {app: @NAME@-{{ kernel.id }}}
    spec:
      serviceAccountName: @ACCOUNT@
      automountServiceAccountToken: false
      containers:
        - name: driver
          image: {{ image | to_json }}
          imagePullPolicy: @PULL@
          command: [/bin/sh, -c]
          args:
            - |
              exec 2>&1
              set -f
              # One name or argument a line: an argument may have blanks.
              IFS='
              '
              files=@FILES@
              mark=/run/module/loaded
              nap() { sleep "$1" & wait $!; }
              on_node() { chroot /host "$@"; }
              in_kernel() { echo "/sys/module/$(echo "$1" | tr - _)"; }
              is_loaded() { [ -n "$1" ] && [ -d "$(in_kernel "$1")" ]; }
              # What is no part of the kernel is marked so. One that goes may be called as the module itself is.
              is_ours() {
                is_loaded "$1" || return 1
                for module in $REMOVE; do
                  if [ "$(in_kernel "$module")" = "$(in_kernel "$1")" ]; then
                    case "$(cat "$(in_kernel "$1")/taint")" in *O*) ;; *) return 1 ;; esac
                  fi
                done
              }
              trap "exit 0" TERM INT
              while [ "$(uname -r)" != "$KERNEL" ]; do
                echo "waiting: this image is for kernel $KERNEL, and the node runs $(uname -r)"
                nap 10
              done
              unload() {
                rm -f "$mark"
                on_node modprobe $UNLOAD || echo "module $TITLE stays loaded: something uses it"
              }
              trap unload EXIT
              # KMM builds for kernels with a plus at the end under their name without it.
              from="$FOLDER/lib/modules/$KERNEL"
              [ -d "$from" ] || from="${from%+}"
              rm -rf "/host$files"
              mkdir -p "/host$files/lib/modules"
              cp -R "$from" "/host$files/lib/modules/$KERNEL" || exit 1
              # Images have links to the node's own modules, which KMM shows them below /host.
              set +f
              for link in "/host$files/lib/modules/$KERNEL"/*; do
                [ -h "$link" ] || continue
                target=$(readlink "$link")
                case "$target" in /host/*) ln -sfn "${target#/host}" "$link" || exit 1 ;; esac
              done
              set -f
              if [ -n "$FIRMWARE" ]; then
                cp -R "$FIRMWARE" "/host$files/firmware" || exit 1
                echo "$files/firmware" > /host/sys/module/firmware_class/parameters/path || exit 1
              fi
              # What is loaded already, by KMM say, stays as it is.
              if ! is_ours "$MODULE"; then
                for module in $REMOVE; do
                  if is_loaded "$module"; then on_node modprobe -rv "$module" || exit 1; fi
                done
                for module in $BEFORE; do
                  on_node modprobe -d "$files" "$module" || exit 1
                done
                on_node modprobe $LOAD || exit 1
              fi
              touch "$mark"
              echo "loaded: $TITLE"
              while true; do nap 3600; done
          env:
            - {name: KERNEL, value: {{ kernel.raw | to_json }}}
            - {name: MODULE, value: {{ options.module | to_json }}}
            - {name: TITLE, value: {{ (options.module or recipe) | to_json }}}
            - {name: FOLDER, value: {{ options.module_directory | to_json }}}
            - {name: LOAD, value: {{ options.load_arguments | join("\\n") | to_json }}}
            - {name: UNLOAD, value: {{ options.unload_arguments | join("\\n") | to_json }}}
            - {name: BEFORE, value: {{ options.load_before | join("\\n") | to_json }}}
            - {name: FIRMWARE, value: {{ options.firmware_path | to_json }}}
            - {name: REMOVE, value: {{ remove | to_json }}}
          # Loads kernel modules with the node's own modprobe, below the node's root.
          securityContext: {privileged: true}
          {{ ready_while(["test", "-e", "/run/module/loaded"]) | indent(10) | trim }}
          volumeMounts:
            - {name: run, mountPath: /run/module}
            - {name: host, mountPath: /host}
      volumes:
        - {name: run, emptyDir: {medium: Memory}}
        - {name: host, hostPath: {path: /}}
"""


def driver_text(
    module: Mapping[str, Any], name: str, account: str, cases: Sequence[KernelCase]
) -> str:
    """The template of its DaemonSets. name: the recipe's; account: of its pods."""
    values = {
        "REMOVE": chosen([(case.condition, "\n".join(case.remove)) for case in cases]),
        "PULL": str(container_of(module).get("imagePullPolicy") or "IfNotPresent"),
        "FILES": f"{_FILES}/{name}",
        "ACCOUNT": account,
        "NAME": name,
    }
    return re.sub("@([A-Z]+)@", lambda found: values[found[1]], _DRIVER)


def loading_options(module: Mapping[str, Any], name: str) -> Obj:
    """How modprobe is called: as KMM calls it, with the node's folder for its own."""
    probe, folder = part(container_of(module), "modprobe"), folder_of(module)
    files = f"{_FILES}/{name}"
    raw, given = part(probe, "rawArgs"), part(probe, "args")
    loaded = str(probe.get("moduleName") or "")
    order = [str(each) for each in elements(probe, "modulesLoadingOrder")]
    parameters = elements(probe, "parameters")
    load = ["-vd", files, *elements(given, "load"), loaded, *parameters]
    unload = ["-rvd", files, *elements(given, "unload"), *(order or [loaded])]
    if raw:
        # Written for the worker's pod, where the image's folder is below /tmp, or for its image.
        place = re.compile(rf"(-\w*d|--dirname=)?(?:/tmp)?{re.escape(folder)}/?")
        load, unload = (_placed(raw.get(each) or (), place, files) for each in ("load", "unload"))
        order = []
    firmware = str(probe.get("firmwarePath") or "")
    return {
        "module": text_option(loaded, "Name of the kernel module; empty for what arguments say."),
        "module_directory": text_option(
            folder, "Directory of the image that has lib/modules/<kernel>."
        ),
        "firmware_path": text_option(firmware, "Firmware in the image; empty for none."),
        "load_arguments": texts_option(load, "Arguments of modprobe that load the module."),
        "unload_arguments": texts_option(unload, "Arguments of modprobe that unload it."),
        "load_before": texts_option(
            order[:0:-1], "Modules of the image to load before, in this order."
        ),
    }


def _placed(arguments: Sequence[Any], place: re.Pattern[str], files: str) -> list[str]:
    """Arguments with the node's folder where they name the image's."""
    return [
        f"{found[1] or ''}{files}" if (found := place.fullmatch(str(each))) else str(each)
        for each in arguments
    ]
