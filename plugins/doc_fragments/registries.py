# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How registries are spoken to."""

from __future__ import annotations


class ModuleDocFragment:
    """What modules that ask registries have alike."""

    DOCUMENTATION = r"""
options:
  registry_ca:
    description: Certificates (PEM) of the authorities of private registries, trusted beside the system's.
    type: str
  registry_verify:
    description: Whether registries' certificates are verified.
    type: bool
    default: true
  registry_mirrors:
    description: Where to ask instead of a registry. On OpenShift the cluster's own mirrors count, too.
    type: list
    elements: dict
    default: []
    suboptions:
      prefix:
        description: Host of the registry, and maybe the beginning of a path.
        type: str
        required: true
      locations:
        description: What stands there instead, in the order in which they are asked.
        type: list
        elements: str
        required: true
      source:
        description: Whether the place itself is asked last. Else what is built is pushed to the first location.
        type: bool
        default: true
  registries:
    description: How single registries are spoken to, where that differs from the others.
    type: list
    elements: dict
    default: []
    suboptions:
      host:
        description: Host of the registry with its port, or V(*.example.com) for all hosts below that domain.
        type: str
        required: true
      ca:
        description: Certificates (PEM) of its authority, trusted for it alone.
        type: str
      verify:
        description: Whether its certificate is verified.
        type: bool
        default: true
      plain_http:
        description: It is asked without TLS. No other registry ever is.
        type: bool
        default: false
"""
