# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Module of Kernel Module Management as the files of a recipe. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._errors import InvalidInput
from .._json import Obj, part
from .kmm_module import API_VERSION, KIND, KernelCase, filled_in, kernel_cases, words_of, wrong

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

_NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: {{ namespace }}
  labels: {pod-security.kubernetes.io/enforce: privileged}
"""

# Images for KMM have modules and their dependencies below a directory, as modprobe -d wants them, and a shell; modprobe
# is the node's.
_DRIVER = """\
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
      automountServiceAccountToken: false
      containers:
        - name: driver
          image: {{ image | to_json }}
          imagePullPolicy: IfNotPresent
          command: [/bin/sh, -c]
          args:
            - |
              exec 2>&1
              set -f
              files=@FILES@/@NAME@
              mark=/run/module/loaded
              nap() { sleep "$1" & wait $!; }
              on_node() { chroot /host "$@"; }
              is_loaded() { [ -d "/sys/module/$(echo "$1" | tr - _)" ]; }
              trap "exit 0" TERM INT
              while [ "$(uname -r)" != "$KERNEL" ]; do
                echo "waiting: this image is for kernel $KERNEL, and the node runs $(uname -r)"
                nap 10
              done
              unload() {
                rm -f "$mark"
                on_node modprobe $UNLOAD || echo "module $MODULE stays loaded: something uses it"
              }
              trap unload EXIT
              rm -rf "/host$files"
              mkdir -p "/host$files"
              cp -R "$FOLDER/lib" "/host$files/" || exit 1
              if [ -n "$FIRMWARE" ]; then
                cp -R "$FIRMWARE" "/host$files/firmware" || exit 1
                echo "$files/firmware" > /host/sys/module/firmware_class/parameters/path || exit 1
              fi
              # What is loaded already, by KMM say, stays as it is.
              if ! is_loaded "$MODULE"; then
                for module in $REMOVE; do
                  if is_loaded "$module"; then on_node modprobe -r "$module" || exit 1; fi
                done
                for module in $BEFORE; do
                  on_node modprobe -d "$files" "$module" || exit 1
                done
                on_node modprobe $LOAD || exit 1
              fi
              touch "$mark"
              echo "loaded: $MODULE"
              while true; do nap 3600; done
          env:
            - {name: KERNEL, value: {{ kernel.raw | to_json }}}
            - {name: MODULE, value: {{ options.module | to_json }}}
            - {name: FOLDER, value: {{ options.module_directory | to_json }}}
            - {name: LOAD, value: {{ options.load_arguments | join(" ") | to_json }}}
            - {name: UNLOAD, value: {{ options.unload_arguments | join(" ") | to_json }}}
            - {name: BEFORE, value: {{ options.load_before | join(" ") | to_json }}}
            - {name: FIRMWARE, value: {{ options.firmware_path | to_json }}}
            - {name: REMOVE, value: {{ remove | to_json }}}
          # Loads kernel modules with the node's own modprobe, below the node's root.
          securityContext: {privileged: true}
          readinessProbe:
            exec: {command: [test, -e, /run/module/loaded]}
            periodSeconds: 2
          volumeMounts:
            - {name: run, mountPath: /run/module}
            - {name: host, mountPath: /host}
      volumes:
        - {name: run, emptyDir: {medium: Memory}}
        - {name: host, hostPath: {path: /}}
"""

_SIGNED = """
FROM {{ options.sign_image }} AS module-signer
@COPIES@
RUN tool=$(ls /usr/src/*/scripts/sign-file /usr/src/kernels/*/scripts/sign-file 2>/dev/null | head -n 1) \\
 && for file in @FILES@; do \\
      "$tool" sha256 /run/build-secrets/sign-key/key /run/build-secrets/sign-cert/cert "/signed$file" || exit 1; \\
    done
FROM module-image
COPY --from=module-signer /signed /
"""
_FROM = re.compile(r"^FROM\s+(?:--\S+\s+)?\S+(\s+AS\s+\S+)?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_ARGUMENTS = ("KERNEL_VERSION", "KERNEL_FULL_VERSION", "MOD_NAME", "MOD_NAMESPACE")
_SECRETS = "/run/secrets/"
_SIGNING_SECRETS = {"sign-key": "keySecret", "sign-cert": "certSecret"}
_STAGE = "module-image"
_FILES = "/run/hardware-enablement"


def recipe_files(
    module: Mapping[str, Any], name: str, resource: str, dockerfiles: Mapping[str, str]
) -> dict[str, str]:
    """Path -> text of a recipe's files.

    resource: what its device plugin advertises, "" where that is not known. dockerfiles: name of a
    ConfigMap -> its key dockerfile. Raises InvalidInput for what cannot be had as a recipe.
    """
    cases, plugin = kernel_cases(module), part(module, "spec", "devicePlugin")
    builds = any(case.build or case.sign for case in cases)
    recipe = _recipe(module, name, resource, cases)
    files = {
        "driver/namespace.yaml.j2": _NAMESPACE,
        "driver/daemonset.yaml.j2": _DRIVER.replace("@NAME@", name)
        .replace("@FILES@", _FILES)
        .replace("@REMOVE@", _chosen(cases, lambda case: " ".join(case.remove))),
    }
    if builds:
        text = _chosen(cases, lambda case: _containerfile(module, case, dockerfiles))
        files["build/Containerfile.j2"] = f"{text}\n"
    if plugin:
        files["device_plugin/daemonset.yaml.j2"] = _device_plugin(plugin, name)
    return {"recipe.yml": f"---\n{yaml.safe_dump(recipe, sort_keys=False, width=120)}", **files}


def _recipe(
    module: Mapping[str, Any], name: str, resource: str, cases: Sequence[KernelCase]
) -> Obj:
    spec, metadata = part(module, "spec"), module["metadata"]
    place = f"{metadata.get('namespace') or 'default'}/{metadata['name']}"
    found: Obj = {
        "apiVersion": "hardware-enablement.io/v1",
        "name": name,
        "description": f"What Module {place} of Kernel Module Management was for",
        "namespace": str(metadata.get("namespace") or name),
        **({"resources": [resource]} if resource else {}),
        "selector": {"any_of": [dict(part(spec, "selector"))]},
        "rivals": [{"api_version": API_VERSION, "kind": KIND, "name": str(metadata["name"])}],
        "options": _options(module, name, cases),
        "states": {
            "driver_container": _images(module, cases),
            "driver": {
                "role": "state_driver",
                "description": "Loads the module, one DaemonSet per kernel",
                "requires": ["driver_container"],
                "per": "kernel",
                "assets": ["driver/daemonset.yaml.j2"],
                "validate": [{"rollout": {}}],
            },
        },
    }
    if spec.get("devicePlugin"):
        proofs: list[Obj] = [{"rollout": {}}]
        found["states"]["device_plugin"] = {
            "role": "state_device_plugin",
            "description": "Advertises the devices of each node to the kubelet",
            "requires": ["driver"],
            "assets": ["device_plugin/daemonset.yaml.j2"],
            "validate": [*proofs, {"allocatable": {"resource": resource}}] if resource else proofs,
        }
    return found


def _options(module: Mapping[str, Any], name: str, cases: Sequence[KernelCase]) -> Obj:
    spec = part(module, "spec")
    probe = part(spec, "moduleLoader", "container", "modprobe")
    found = {**_loading(probe, f"{_FILES}/{name}"), **_building(cases)}
    if spec.get("tolerations"):
        found["tolerations"] = {"default": [dict(each) for each in spec["tolerations"]]}
    if secret := part(spec, "imageRepoSecret").get("name"):
        found["image_pull_secrets"] = {"default": [str(secret)]}
    return found


def _loading(probe: Mapping[str, Any], files: str) -> Obj:
    """How modprobe is called. files: where the image's modules are on the node."""
    raw, given = part(probe, "rawArgs"), part(probe, "args")
    name, folder = str(probe.get("moduleName") or ""), str(probe.get("dirName") or "/opt")
    order = [str(each) for each in probe.get("modulesLoadingOrder") or ()]
    place = ["-d", files, name]
    load = raw.get("load") or [*given.get("load", ["-v"]), *place, *probe.get("parameters", ())]
    unload = raw.get("unload") or ["-r", *given.get("unload", ["-v"]), *place]

    def arguments(values: Sequence[Any]) -> list[str]:
        return [files if str(each) == folder else str(each) for each in values]

    firmware = str(probe.get("firmwarePath") or "")
    return {
        "module": _text(name, "Name of the kernel module."),
        "module_directory": _text(folder, "Directory of the image that has lib/modules/<kernel>."),
        "firmware_path": _text(firmware, "Firmware in the image; empty for none."),
        "load_arguments": _texts(arguments(load), "Arguments of modprobe that load the module."),
        "unload_arguments": _texts(arguments(unload), "Arguments of modprobe that unload it."),
        "load_before": _texts(order[:0:-1], "Modules of the image to load before, in this order."),
    }


def _building(cases: Sequence[KernelCase]) -> Obj:
    found: Obj = {}
    if any(case.build or case.sign for case in cases):
        repository = re.sub(r"(:[^/]*|@.*)$", "", cases[0].image)
        plain = "" if "{" in repository else repository
        about = "Registry and path, without tag, that built images are pushed to and pulled from."
        what = "Build an image for a kernel that has none."
        found["build"] = {"type": "bool", "default": True, "description": what}
        found["build_repository"] = _text(plain, about) if plain else _required(about)
    if any(case.sign for case in cases):
        about = "Image with sign-file of the kernel's headers, such as the Driver Toolkit."
        found["sign_image"] = _required(about)
    return found


def _images(module: Mapping[str, Any], cases: Sequence[KernelCase]) -> Obj:
    found: Obj = {
        "role": "state_driver_container",
        "description": "The module's image for each kernel",
        "per": "kernel",
        "image": _chosen(cases, lambda case: case.image),
        "no_image": "the Module had none for this kernel either: add it to the image of driver_container",
        "assets": ["driver/namespace.yaml.j2"],
        "timeout": 60,
        "validate": [{"image": {}}],
    }
    if any(case.build or case.sign for case in cases):
        found["lookup"] = '{{ "controller" if options.build else "never" }}'
        secrets = _build_secrets(cases)
        found["build"] = {
            "enabled": "build",
            "repository": "{{ options.build_repository }}",
            "base": "{{ driver_toolkit.image }}",
            "base_arg": "DTK_AUTO",
            "containerfile": "build/Containerfile.j2",
            "args": _build_arguments(module, cases),
            **({"secrets": secrets} if secrets else {}),
        }
    return found


def _build_arguments(module: Mapping[str, Any], cases: Sequence[KernelCase]) -> dict[str, str]:
    """Those that KMM gives to every build, and the Module's own."""
    words = words_of(module)
    own = {
        str(each["name"]): filled_in(str(each.get("value") or ""), words, "buildArgs")
        for case in cases
        for each in case.build.get("buildArgs") or ()
    }
    return {**{name: words[name] for name in _ARGUMENTS}, **own}


def _build_secrets(cases: Sequence[KernelCase]) -> dict[str, str]:
    """The Secrets that builds see: folder -> name."""
    secrets: dict[str, str] = {}
    for case in cases:
        names = (str(each["name"]) for each in case.build.get("secrets") or ())
        secrets |= {name: name for name in names}
        if case.sign:
            secrets |= {
                folder: str(part(case.sign, field).get("name") or "")
                for folder, field in _SIGNING_SECRETS.items()
            }
    return secrets


def _containerfile(
    module: Mapping[str, Any], case: KernelCase, dockerfiles: Mapping[str, str]
) -> str:
    """The Dockerfile of its ConfigMap, or the unsigned image, and what signs modules after it."""
    words = words_of(module)
    name = str(part(case.build, "dockerfileConfigMap").get("name") or "")
    if not (name or case.sign):
        return ""
    if name:
        built = _dockerfile(name, dockerfiles, named=bool(case.sign))
    else:
        unsigned = filled_in(str(case.sign.get("unsignedImage") or ""), words, "unsignedImage")
        built = f"FROM {unsigned} AS {_STAGE}"
    if not case.sign:
        return built
    given = case.sign.get("filesToSign") or ()
    files = [filled_in(str(each), words, "filesToSign") for each in given]
    copies = "\n".join(f"COPY --from={_STAGE} {each} /signed{each}" for each in files)
    return built + _SIGNED.replace("@COPIES@", copies).replace("@FILES@", " ".join(files))


def _dockerfile(name: str, dockerfiles: Mapping[str, str], *, named: bool) -> str:
    """A Dockerfile as a template. named: whether its last stage gets a name."""
    if name not in dockerfiles:
        raise InvalidInput(
            "the Module cannot be made a recipe",
            where=f"ConfigMap {name}",
            why="it is not there, or has no key dockerfile",
            todo="give it in the same file as the Module, or make it",
        )
    text = dockerfiles[name].replace(_SECRETS, "/run/build-secrets/").rstrip()
    if "endraw" in text:
        raise wrong(f"ConfigMap {name}", "its Dockerfile has the word endraw")
    if named:
        last = [*_FROM.finditer(text)][-1:]
        if not last or last[0][1]:
            why = "the last stage of its Dockerfile has a name, or there is none"
            raise wrong(f"ConfigMap {name}", why)
        end = last[0].end()
        text = f"{text[:end].rstrip()} AS {_STAGE}{text[end:]}"
    return f"{{% raw %}}{text}{{% endraw %}}"


def _device_plugin(plugin: Mapping[str, Any], name: str) -> str:
    """Its DaemonSet, with the containers as the Module has them."""
    plugins = {"name": "kubelet-device-plugins", "path": "/var/lib/kubelet/device-plugins"}
    main = {
        "name": "device-plugin",
        "securityContext": {"privileged": True},
        **part(plugin, "container"),
    }
    mounts = [
        {"name": plugins["name"], "mountPath": plugins["path"]},
        *(main.get("volumeMounts") or ()),
    ]
    spec: Obj = {
        "automountServiceAccountToken": bool(plugin.get("automountServiceAccountToken", True)),
        **({"serviceAccountName": plugin["serviceAccountName"]} if plugin.get("serviceAccountName") else {}),
        "containers": [{**main, "volumeMounts": mounts}],
        "volumes": [
            {"name": plugins["name"], "hostPath": {"path": plugins["path"]}},
            *(plugin.get("volumes") or ()),
        ],
    }  # fmt: skip
    if plugin.get("initContainer"):
        spec["initContainers"] = [{"name": "device-plugin-init", **plugin["initContainer"]}]
    labels = {"app": f"{name}-device-plugin"}
    body = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": f"{name}-device-plugin"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": dict(labels)}, "spec": spec},
        },
    }
    return f"{{% raw %}}{yaml.safe_dump(body, sort_keys=False, width=120)}{{% endraw %}}\n"


def _chosen(cases: Sequence[KernelCase], text_of: Any) -> str:
    """A template that gives the text of the first case whose condition holds."""
    texts = [(case.condition, text_of(case)) for case in cases]
    if not any(text for _condition, text in texts):
        return ""
    parts = [
        f"{{%- {'if' if index == 0 else 'elif'} {condition} -%}}\n{text}\n"
        for index, (condition, text) in enumerate(texts)
    ]
    return "".join(parts) + "{%- endif -%}"


def _text(default: str, about: str) -> Obj:
    return {"type": "str", "default": default, "description": about}


def _required(about: str) -> Obj:
    return {"type": "str", "required": True, "description": about}


def _texts(default: list[str], about: str) -> Obj:
    return {"type": "list", "elements": "str", "default": default, "description": about}
