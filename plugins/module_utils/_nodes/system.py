# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel and operating system of a node: how NFD writes them into labels, and how to tell them
without NFD."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

# Where all labels of NFD begin.
FEATURES = "feature.node.kubernetes.io/"
OS_ID = f"{FEATURES}system-os_release.ID"
OS_VERSION = f"{FEATURES}system-os_release.VERSION_ID"
# Not made by NFD, but by files of its worker: docs/admin/driver-images.md.
SIGNED_ONLY = f"{FEATURES}kernel-modules.signed_only"

# The kubelet reports os-release's PRETTY_NAME. What stands before the version, the ID, and how much
# of the version os-release repeats in VERSION_ID.
_MAJOR, _MINOR, _ALL = r"(\d+)", r"(\d+(?:\.\d+)?)", r"([0-9][0-9A-Za-z.+~-]*)"
_COREOS = re.compile(rf"Red Hat Enterprise Linux CoreOS {_ALL}")
_PRETTY_NAMES = tuple(
    (re.compile(pattern), os_id)
    for pattern, os_id in (
        (rf"Ubuntu {_MINOR}", "ubuntu"),
        (rf"Debian GNU/Linux (?:{_MAJOR}\b)?", "debian"),
        (_COREOS.pattern, "rhcos"),
        (rf"Red Hat Enterprise Linux(?: Server)? {_MINOR}", "rhel"),
        (rf"CentOS Stream {_MAJOR}", "centos"),
        (rf"CentOS Linux {_MAJOR}", "centos"),
        (rf"Fedora CoreOS {_MAJOR}", "fedora"),
        (rf"Fedora Linux {_MAJOR}", "fedora"),
        (rf"Rocky Linux {_MINOR}", "rocky"),
        (rf"AlmaLinux {_MINOR}", "almalinux"),
        (rf"Oracle Linux Server {_MINOR}", "ol"),
        (rf"SUSE Linux Enterprise Server {_MAJOR}(?: SP(\d+))?", "sles"),
        (rf"SUSE Linux Micro {_MINOR}", "sl-micro"),
        (rf"openSUSE Leap {_MINOR}", "opensuse-leap"),
        (rf"Flatcar Container Linux by Kinvolk {_ALL}", "flatcar"),
        (rf"Amazon Linux {_MAJOR}", "amzn"),
        (rf"Bottlerocket OS {_ALL}", "bottlerocket"),
        (rf"Microsoft Azure Linux {_MINOR}", "azurelinux"),
        (rf"CBL-Mariner/Linux(?: {_MINOR})?", "mariner"),
        (rf"Talos \(v{_ALL}\)", "talos"),
        (r"Container-Optimized OS", "cos"),
    )
)


@lru_cache(maxsize=1024)
def label_form(value: str) -> str:
    """A value as NFD writes it into a label: other characters become "_", the ends are
    alphanumeric, at most 63."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", value).strip("_.-")[:63].strip("_.-")


def os_of(labels: Mapping[str, str], image: str, *, labels_stale: bool = False) -> tuple[str, str]:
    """(ID, VERSION_ID) of the node's os-release, from NFD's labels, else from the pretty name in
    nodeInfo.

    labels_stale: the node has rebooted since NFD wrote the labels, so the pretty name counts where
    it is understood. ("", "") where neither says anything; the version alone may be empty (rolling
    distributions have none).
    """
    from_labels = (labels.get(OS_ID, ""), labels.get(OS_VERSION, ""))
    if from_labels[0] and not labels_stale:
        return from_labels
    from_image = _parse(image)
    return from_image if from_image[0] else from_labels


@lru_cache(maxsize=256)
def coreos_build(image: str) -> str:
    """The build of RHCOS (416.94.202410211619-0, 9.6.20250523-0) that a pretty name tells, "" for
    other systems."""
    found = _COREOS.match(image)
    return found[1] if found else ""


def _parse(image: str) -> tuple[str, str]:
    for pattern, os_id in _PRETTY_NAMES:
        found = pattern.match(image)
        if found:
            version = ".".join(part for part in found.groups() if part)
            return coreos_release(version) if os_id == "rhcos" else (os_id, version)
    return "", ""


def coreos_release(build: str) -> tuple[str, str]:
    """(ID, VERSION_ID) of a build of RHCOS, which is called so, and names OpenShift's version: build
    416.94.202410211619-0 is rhcos 4.16.

    From OpenShift 4.19 on it says that it is RHEL, with whose version the build starts
    (9.6.20250523-0).
    """
    first, _dot, rest = build.partition(".")
    if len(first) == 3:
        return "rhcos", f"{first[0]}.{first[1:]}"
    return "rhel", f"{first}.{rest.split('.')[0]}"
