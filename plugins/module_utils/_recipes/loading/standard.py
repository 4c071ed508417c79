# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that every recipe has without declaring them: what every operand lets its user set.

One entry says everything of an option: its type, default and text, what is wrong with a value
beyond its type, and what it does to pods. Checks, injection and the table in docs come from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ..._json import Obj
from ..._schema.problems import Problems, describe, suggest
from ..templates import pod_options
from .recipe import Option

Check = Callable[[str, Any, Collection[str], Problems], None]
ForPods = Callable[[Obj, Any, str], None]

PROXY_KEYS = ("http", "https", "no")


@dataclass(frozen=True)
class StandardOption:
    """An option of every recipe.

    check: takes down what is wrong with a value of the right type, given its name and the names of
    the recipe's states. in_pods: puts a value into the spec of every pod that a state runs,
    validation pods too; in_daemonsets: of those of DaemonSets alone. Both get the state's name.
    Options with neither are read elsewhere: which nodes are ours (requirements.py), which pods
    tolerate what (inject.py), by templates.
    """

    option: Option
    check: Check | None = None
    in_pods: ForPods | None = None
    in_daemonsets: ForPods | None = None


def _texts(path: str, values: Mapping[str, Any], problems: Problems) -> None:
    for name, value in values.items():
        if isinstance(value, (dict, list)) or value is None or isinstance(value, float):
            problems.add(f"{path}.{name}", "text (in quotes)", describe(value))


def _check_texts(
    name: str, value: Mapping[str, Any], _states: Collection[str], problems: Problems
) -> None:
    _texts(name, value, problems)


def _check_by_state(
    name: str, value: Mapping[str, Any], states: Collection[str], problems: Problems
) -> None:
    for state, inner in value.items():
        if state not in states:
            problems.add(name, "names of states", f"{state}{suggest(state, states)}")
        elif not isinstance(inner, dict):
            problems.add(f"{name}.{state}", "a mapping", describe(inner))


def _check_env(
    name: str, value: Mapping[str, Any], states: Collection[str], problems: Problems
) -> None:
    _check_by_state(name, value, states, problems)
    for state, inner in value.items():
        if state in states and isinstance(inner, dict):
            _texts(f"{name}.{state}", inner, problems)


def _check_proxy(
    name: str, value: Mapping[str, Any], _states: Collection[str], problems: Problems
) -> None:
    for key, address in value.items():
        if key not in PROXY_KEYS:
            problems.add(
                name, "only the keys http, https and no", f"{key}{suggest(key, PROXY_KEYS)}"
            )
        elif key != "no" and "@" in str(address):
            problems.add(
                f"{name}.{key}",
                "no name and password, which pods and the record would show",
                "them",
            )
    _texts(name, value, problems)


def _set_priority(pod_spec: Obj, name: str, _state: str) -> None:
    if name:
        pod_spec.setdefault("priorityClassName", name)


STANDARD: Mapping[str, StandardOption] = {
    entry.option.name: entry
    for entry in (
        StandardOption(
            Option(
                name="image_pull_secrets",
                type="list",
                elements="str",
                default=[],
                description="Names of Secrets in the recipe's namespace that hold credentials for the registries.",
            ),
            in_pods=lambda spec, names, _state: pod_options.add_pull_secrets(spec, names),
        ),
        StandardOption(
            Option(
                name="tolerations",
                type="list",
                elements="dict",
                default=[],
                description="Tolerations for the pods on the nodes, besides those for our taints and the resources'.",
            ),
        ),
        StandardOption(
            Option(
                name="node_selector",
                type="dict",
                default={},
                description="Labels that a node must carry, besides those of the hardware, to be one of ours.",
            ),
            check=_check_texts,
        ),
        StandardOption(
            Option(
                name="hardware_labels",
                type="list",
                elements="dict",
                default=[],
                description="Label sets, any of which makes a node one of ours, instead of the recipe's selector; for"
                " nodes that NFD does not label.",
            ),
        ),
        StandardOption(
            Option(
                name="priority_class",
                type="str",
                default="system-node-critical",
                description="PriorityClass of the DaemonSets that name none; empty leaves it to the cluster.",
            ),
            in_daemonsets=_set_priority,
        ),
        StandardOption(
            Option(
                name="proxy",
                type="dict",
                default={},
                description="Proxy for all containers, keys http, https and no; becomes HTTP_PROXY and the like."
                " Without name and password, which everybody could read there.",
            ),
            check=_check_proxy,
            in_pods=lambda spec, proxy, _state: pod_options.add_proxy(spec, proxy),
        ),
        StandardOption(
            Option(
                name="readiness",
                type="str",
                default="run",
                description="Who says what is proven on a node: a run, or (nfd) the node itself, by labels of Node"
                " Feature Discovery, so that a node that joins ends ready without a run.",
                choices=("run", "nfd"),
            ),
        ),
        StandardOption(
            Option(
                name="node_agent_image",
                type="str",
                default="docker.io/library/python:3.13-slim",
                description="With readiness nfd: image (tag or digest) with Python 3.9 or newer, for the node agent.",
            ),
        ),
        StandardOption(
            Option(
                name="node_condition",
                type="bool",
                default=False,
                description="Whether each node has the condition hardware-enablement.io/<recipe> beside the label of"
                " that name, for what reads conditions alone. The run then needs the right to patch nodes/status.",
            ),
        ),
        StandardOption(
            Option(
                name="node_readiness_rule",
                type="str",
                default="none",
                description="With node_condition: a NodeReadinessRule, by which node-readiness-controller keeps other"
                " pods off a node until that condition is True, for the first time or whenever it is not.",
                choices=("none", "bootstrap-only", "continuous"),
            ),
        ),
        StandardOption(
            Option(
                name="log_level",
                type="str",
                default="info",
                description="How much the operands write into their logs.",
                choices=("debug", "info", "warning", "error"),
            ),
        ),
        StandardOption(
            Option(
                name="resources",
                type="dict",
                default={},
                description="State to resource requests and limits, for the first container of its workloads.",
            ),
            check=_check_by_state,
            in_pods=lambda spec, wanted, state: pod_options.set_resources(
                spec, wanted.get(state) or {}
            ),
        ),
        StandardOption(
            Option(
                name="env",
                type="dict",
                default={},
                description="State to environment variables (name to value), for the containers of its workloads.",
            ),
            check=_check_env,
            in_pods=lambda spec, values, state: pod_options.set_environment(
                spec, values.get(state) or {}
            ),
        ),
    )
}

STANDARD_OPTIONS: Mapping[str, Option] = {name: entry.option for name, entry in STANDARD.items()}
