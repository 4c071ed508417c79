# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runtime values of the Special Resource Operator under their documented names. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._json import part
from .._recipes.templates.render_facts import RenderFacts
from .._schema.shapes import Record
from . import sro_types

GROUP_NAMES = {
    "driverBuild": "driver-build",
    "driverContainer": "driver-container",
    "runtimeEnablement": "runtime-enablement",
    "devicePlugin": "device-plugin",
    "deviceMonitoring": "device-monitoring",
    "deviceDashboard": "device-dashboard",
    "deviceGrafana": "device-grafana",
    "deviceFeatureDiscovery": "device-feature-discovery",
    "csiDriver": "csi-driver",
}
PLATFORMS = {"openshift": "OCP", "kubernetes": "K8S"}
# What differs between kernels; a file that asks for one of these is made for each.
OF_KERNEL = (
    "kernelFullVersion",
    "kernelPatchVersion",
    "rtKernelFullVersion",
    "driverToolkitImage",
    "operatingSystem",
    "operatingSystemMajor",
    "operatingSystemMajorMinor",
    "operatingSystemDecimal",
)

# What charts call the custom resources, and their types.
RESOURCES: Mapping[str, tuple[str, Record]] = {
    "specialresource": (sro_types.RESOURCE, sro_types.CHART_SPEC),
    "specialResourceModule": (sro_types.MODULE, sro_types.MODULE_SPEC),
}
# Of an embedded object, as the operator writes it itself where it is missing.
_OF_SET = {"kind": "Values", "apiVersion": f"{sro_types.GROUP}/v1beta1"}

# 410.84.202203290245-0, as RHCOS was numbered: OpenShift 4.10, RHEL 8.4; now RHEL's comes first.
_OLD_BUILD = re.compile(r"\d+\.(\d)(\d+)\.\d{12}-\d+")
_NEW_BUILD = re.compile(r"(\d+)\.(\d+)\.\d{8}-\d+")


# 4.18.0-305.rt7.72.el8.x86_64, and as RHEL 9 has it, 5.14.0-570.23.1.el9_6.x86_64+rt.
_REAL_TIME = re.compile(r"\.rt\d|\+rt\b")


def runtime_values(variables: Mapping[str, Any], facts: RenderFacts) -> dict[str, Any]:
    """What a chart finds in .Values before anything else, for one group of nodes. variables: those
    of our own templates."""
    cluster, options = variables["cluster"], variables["options"]
    version = str(cluster["openshift_version"])
    proxy = proxy_of_nodes(variables)
    values: dict[str, Any] = {
        "platform": PLATFORMS.get(str(cluster["platform"]), "K8S"),
        "clusterVersion": version,
        "openShiftVersion": version,
        "clusterVersionMajorMinor": ".".join(version.split(".")[:2]),
        "clusterUpgradeInfo": _upgrades(facts, version),
        "updateVendor": "",
        "pushSecretName": str(
            options.get("push_secret") or facts.runtime.get("pushSecretName", "")
        ),
        "osImageURL": str(options.get("os_image_url") or facts.runtime.get("osImageURL", "")),
        "proxy": {
            "httpProxy": proxy["http"],
            "httpsProxy": proxy["https"],
            "noProxy": proxy["no"],
            "trustedCA": str(cluster["trusted_ca"]),
        },
        "groupName": dict(GROUP_NAMES),
        **special_resources(variables),
        "driverToolkitImage": str(variables["driver_toolkit"]["image"]),
    }
    system = variables["os"]
    decimal = system_version(system["id"], system["version"], system["build"])
    return values | _of_kernel(str(variables["kernel"]["raw"]), str(system["id"]), decimal)


def system_version(os_id: str, version: str, build: str) -> str:
    """The version of the system as numbers: of RHCOS, that of the RHEL it is made of."""
    found = _OLD_BUILD.fullmatch(build) or _NEW_BUILD.fullmatch(build)
    return f"{found[1]}.{found[2]}" if found else ("" if os_id == "rhcos" else version)


def _of_kernel(kernel: str, os_id: str, decimal: str) -> dict[str, str]:
    # The operator calls RHCOS by the RHEL that it is made of.
    name = "rhel" if os_id in ("rhcos", "rhel") else os_id
    patch = re.match(r"\d+\.\d+\.\d+-\d+", kernel)
    return {
        "kernelFullVersion": kernel,
        "kernelPatchVersion": patch[0] if patch else kernel,
        "rtKernelFullVersion": kernel if _REAL_TIME.search(kernel) else "",
        "operatingSystem": decimal,
        "operatingSystemMajor": f"{name}{decimal.split('.', maxsplit=1)[0]}",
        "operatingSystemMajorMinor": f"{name}{decimal}",
        "operatingSystemDecimal": decimal,
    }


def _upgrades(facts: RenderFacts, version: str) -> dict[str, Any]:
    """kernel -> what is known of the release it belongs to, in the spellings of both generations."""
    found = {}
    for group in sorted(facts.groups, key=lambda each: each.id):
        if "kernel" not in group.per or not group.system.kernel:
            continue
        decimal = system_version(group.system.os_id, group.system.os_version, group.system.os_build)
        own = _of_kernel(group.system.kernel, group.system.os_id, decimal)
        found[group.system.kernel] = {
            "clusterVersion": version,
            **dict.fromkeys(("OSVersion", "oSVersion"), decimal),
            **dict.fromkeys(("OSMajor", "oSMajor"), own["operatingSystemMajor"]),
            **dict.fromkeys(("OSMajorMinor", "oSMajorMinor"), own["operatingSystemMajorMinor"]),
            "driverToolkit": {
                "imageURL": facts.driver_toolkits.get(group.system.os_build, ""),
                "kernelFullVersion": group.system.kernel,
                **dict.fromkeys(("RTKernelFullVersion", "rTKernelFullVersion"), ""),
                **dict.fromkeys(("OSVersion", "oSVersion"), decimal),
            },
        }
    return found


def proxy_of_nodes(variables: Mapping[str, Any]) -> dict[str, str]:
    """The user's proxy, else the cluster's."""
    given = variables["options"].get("proxy") or variables["cluster"]["proxy"]
    return {key: str(given.get(key) or "") for key in ("http", "https", "no")}


def special_resources(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The custom resource under the names by which charts read it, as the operator would have it for
    these options: all fields of its type, also those that nobody has set."""
    options = variables["options"]
    given = dict(part(options, "custom_resource"))
    metadata = {**part(given, "metadata"), "name": variables["instance"]}
    spec = {
        "chart": {"name": variables["recipe"]},
        **part(given, "spec"),
        "namespace": variables["namespace"],
        "nodeSelector": dict(part(options, "node_selector")),
        "set": {**_OF_SET, **dict(part(options, "set"))},
    }
    return {
        name: {
            "apiVersion": f"{sro_types.GROUP}/v1beta1",
            "kind": kind,
            "metadata": metadata,
            "spec": sro_types.filled(shape, spec),
        }
        for name, (kind, shape) in RESOURCES.items()
    }
