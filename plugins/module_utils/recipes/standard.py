# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that every recipe has without declaring them: what every operand lets its user set."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Option

STANDARD_OPTIONS: Mapping[str, Option] = {
    option.name: option
    for option in (
        Option(
            name="image_pull_secrets",
            type="list",
            elements="str",
            default=[],
            description="Names of Secrets in the recipe's namespace that hold credentials for the registries.",
        ),
        Option(
            name="tolerations",
            type="list",
            elements="dict",
            default=[],
            description="Tolerations for the pods on the nodes, besides those for taints named like the resources.",
        ),
        Option(
            name="node_selector",
            type="dict",
            default={},
            description="Labels that a node must carry, besides those of the hardware, to be one of ours.",
        ),
        Option(
            name="hardware_labels",
            type="list",
            elements="dict",
            default=[],
            description="Label sets, any of which makes a node one of ours, instead of the recipe's selector.",
        ),
        Option(
            name="priority_class",
            type="str",
            default="system-node-critical",
            description="PriorityClass of the DaemonSets that name none; empty leaves it to the cluster.",
        ),
        Option(
            name="proxy",
            type="dict",
            default={},
            description="Proxy for all containers, keys http, https and no; becomes HTTP_PROXY and the like.",
        ),
        Option(
            name="log_level",
            type="str",
            default="info",
            description="How much the operands write into their logs.",
            choices=("debug", "info", "warning", "error"),
        ),
        Option(
            name="resources",
            type="dict",
            default={},
            description="State to resource requests and limits, for the first container of its workloads.",
        ),
        Option(
            name="env",
            type="dict",
            default={},
            description="State to environment variables (name to value), for the containers of its workloads.",
        ),
    )
}
