# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Module of Kernel Module Management as the files of a recipe. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._json import Obj, elements, part
from .kmm_driver import driver_text, loading_options
from .kmm_image import building_options, containerfile_text, images_state
from .kmm_module import API_VERSIONS, KIND, KernelCase, has_loader, kernel_cases
from .kmm_pods import DEVICE_PLUGIN, DRA_DRIVER, KmmPod, daemonset_text, device_classes_text
from .kmm_text import wrong

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

_NAMESPACE = """\
{% from "hardware.enablement/macros.j2" import privileged_namespace with context %}
{{ privileged_namespace() }}
"""
_ACCOUNT = """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: @ACCOUNT@
"""
# On OpenShift nothing of all this may be done by an account that is not allowed to.
_CONSTRAINTS = """\
{% from "hardware.enablement/macros.j2" import scc with context %}
{{ scc(instance ~ "-@TITLE@", @ACCOUNT@, "Lets @TITLE@ of @NAME@ do what it was allowed to by KMM.",
  privileged=true, host_network=@NETWORK@, volumes=["*"]) }}
"""
_NEEDS_CONSTRAINTS = "security.openshift.io/v1/SecurityContextConstraints"
_LONGEST_NAME = 30
# All nodes, for a Module that selects them so.
_EVERY_NODE = {"kubernetes.io/os": "linux"}


def recipe_name(module: Mapping[str, Any]) -> str:
    """The name of a Module's recipe: its own, as far as a recipe can have it."""
    name = str(module["metadata"]["name"])
    plain = name.replace(".", "-")
    if plain == name and len(name) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:4]
    return plain if len(plain) <= _LONGEST_NAME else f"{plain[:25].rstrip('-')}-{digest}"


def recipe_files(
    module: Mapping[str, Any], name: str, resource: str, dockerfiles: Mapping[str, str]
) -> dict[str, str]:
    """Path -> text of a recipe's files.

    resource: what its device plugin advertises, "" where that is not known. dockerfiles: name of a
    ConfigMap -> its key dockerfile. Raises InvalidInput for what cannot be had as a recipe.
    """
    cases, plugins = kernel_cases(module), _plugins(module)
    if not (cases or plugins):
        raise wrong("spec", "it has neither moduleLoader nor devicePlugin nor dra")
    recipe = _recipe(module, name, resource, cases)
    files = {"driver/namespace.yaml.j2": _NAMESPACE}
    if cases:
        account, made = _account(name, "driver", part(module, "spec", "moduleLoader"))
        files |= made
        files["driver/daemonset.yaml.j2"] = driver_text(module, name, account, cases)
        if text := containerfile_text(module, cases, dockerfiles):
            files["build/Containerfile.j2"] = text
    for kind, plugin in plugins:
        account, made = _account(name, kind.state, plugin, network=bool(kind.pod))
        files |= made
        files[f"{kind.state}/daemonset.yaml.j2"] = daemonset_text(plugin, kind, name, account)
        if classes := device_classes_text(elements(plugin, "deviceClasses")):
            files[f"{kind.state}/deviceclasses.yaml.j2"] = classes
    return {"recipe.yml": f"---\n{yaml.safe_dump(recipe, sort_keys=False, width=120)}", **files}


def _plugins(module: Mapping[str, Any]) -> list[tuple[KmmPod, Obj]]:
    spec = part(module, "spec")
    return [(kind, plugin) for kind in (DEVICE_PLUGIN, DRA_DRIVER) if (plugin := part(spec, kind.key))]  # fmt: skip


def _account(
    name: str, state: str, given: Mapping[str, Any], *, network: bool = False
) -> tuple[str, dict[str, str]]:  # fmt: skip
    """The account of a state's pods, which the Module names or the recipe makes, and its files."""
    title = state.replace("_", "-")
    named = str(given.get("serviceAccountName") or "")
    account = named or f"{name}-{title}"
    values = {"ACCOUNT": json.dumps(account), "TITLE": title, "NAME": name,
              "NETWORK": str(network).lower()}  # fmt: skip
    texts = {"scc.yaml.j2": _CONSTRAINTS, **({} if named else {"serviceaccount.yaml.j2": _ACCOUNT})}
    return account, {
        f"{state}/{file}": re.sub("@([A-Z]+)@", lambda found: values[found[1]], text)
        for file, text in texts.items()
    }


def _recipe(
    module: Mapping[str, Any], name: str, resource: str, cases: Sequence[KernelCase]
) -> Obj:
    spec, metadata = part(module, "spec"), module["metadata"]
    place = f"{metadata.get('namespace') or 'default'}/{metadata['name']}"
    driver = str(part(spec, "dra").get("driverName") or "")
    return {
        "apiVersion": "hardware-enablement.io/v1",
        "name": name,
        "description": f"What Module {place} of Kernel Module Management was for",
        "namespace": str(metadata.get("namespace") or name),
        **({"resources": [resource]} if resource else {}),
        "selector": {"any_of": [dict(part(spec, "selector")) or _EVERY_NODE]},
        "rivals": [
            {
                "api_version": str(module.get("apiVersion") or API_VERSIONS[0]),
                "kind": KIND,
                "name": str(metadata["name"]),
            }
        ],
        **({"device_access": {"dra_drivers": [driver]}} if driver else {}),
        "options": _options(module, name, cases),
        "states": _states(module, resource, cases),
    }


def _states(module: Mapping[str, Any], resource: str, cases: Sequence[KernelCase]) -> Obj:
    found: Obj = {}
    if cases:
        found["driver_container"] = images_state(module, cases)
        found["driver"] = {
            "role": "state_driver",
            "description": "Loads the module, one DaemonSet per kernel",
            "requires": ["driver_container"],
            "per": "kernel",
            "assets": _assets("driver", part(module, "spec", "moduleLoader")),
            "validate": [{"rollout": {}}],
        }
    for kind, plugin in _plugins(module):
        found[kind.state] = _plugin_state(module, kind, plugin, resource)
    return found


def _plugin_state(
    module: Mapping[str, Any], kind: KmmPod, plugin: Mapping[str, Any], resource: str
) -> Obj:
    proofs: list[Obj] = [{"rollout": {}}]
    if kind is DRA_DRIVER:
        proofs.append({"resource_slices": {"driver": str(plugin.get("driverName") or "")}})
    elif resource:
        proofs.append({"allocatable": {"resource": resource}})
    loads = has_loader(module)
    assets = _assets(kind.state, plugin)
    return {
        "role": "state_device_plugin",
        "description": "Advertises the devices of each node to the kubelet",
        **({"requires": ["driver"]} if loads else {}),
        "assets": assets if loads else ["driver/namespace.yaml.j2", *assets],
        "validate": proofs,
    }


def _assets(state: str, given: Mapping[str, Any]) -> list[Any]:
    files = ["daemonset.yaml.j2"]
    files += [] if given.get("serviceAccountName") else ["serviceaccount.yaml.j2"]
    files += ["deviceclasses.yaml.j2"] if given.get("deviceClasses") else []
    constraints = {"path": f"{state}/scc.yaml.j2", "needs_api": _NEEDS_CONSTRAINTS}
    return [*(f"{state}/{file}" for file in files), constraints]


def _options(module: Mapping[str, Any], name: str, cases: Sequence[KernelCase]) -> Obj:
    spec = part(module, "spec")
    found = {**loading_options(module, name), **building_options(cases)} if cases else {}
    if spec.get("tolerations"):
        found["tolerations"] = {"default": [dict(each) for each in spec["tolerations"]]}
    if secret := part(spec, "imageRepoSecret").get("name"):
        found["image_pull_secrets"] = {"default": [str(secret)]}
    return found
