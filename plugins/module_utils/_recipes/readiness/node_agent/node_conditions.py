# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node's object shows by itself. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from .configuration import Obj


def matches(node: Obj, terms: Sequence[Obj]) -> bool:
    """Whether a node is one that nodeSelectorTerms mean; without terms each is."""
    return not terms or any(_fits(node, term) for term in terms)


def _fits(node: Obj, term: Obj) -> bool:
    labels = node["metadata"].get("labels") or {}
    fields = {"metadata.name": node["metadata"]["name"]}
    wanted = [(labels, each) for each in term.get("matchExpressions") or ()]
    wanted += [(fields, each) for each in term.get("matchFields") or ()]
    return bool(wanted) and all(_holds(values, each) for values, each in wanted)


def _holds(values: Mapping[str, str], expression: Obj) -> bool:
    operator, value = str(expression["operator"]), values.get(expression["key"])
    listed: Sequence[str] = expression.get("values") or ()
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) == (operator == "Exists")
    if operator in ("In", "NotIn"):
        return (value is not None and value in listed) == (operator == "In")
    try:
        number, limit = int(value or ""), int(listed[0])
    except (ValueError, IndexError):
        return False
    return number > limit if operator == "Gt" else number < limit


def offers(node: Obj, settings: Obj) -> bool:
    """Whether the kubelet offers devices in the wanted number, and of those that the node has no more
    are missing than may be (the proof allocatable)."""
    offered = _devices(node, "allocatable", settings)
    number, exact, least = sum(offered.values()), settings["equals"], settings["at_least"]
    enough = number == exact if exact is not None else number >= (1 if least is None else least)
    # Of what is offered no more the plugin is gone, as after a change of partitions.
    known = sum(
        count for name, count in _devices(node, "capacity", settings).items() if offered.get(name)
    )
    label = (node["metadata"].get("labels") or {}).get(settings["counted_by"], "")
    there = max(known, int(label) if label.isdecimal() else 0)
    return enough and there - number <= settings["unhealthy_allowed"]


def _devices(node: Obj, field: str, settings: Obj) -> Mapping[str, int]:
    """How many of each resource that is meant."""
    listed: Mapping[str, str] = node["status"].get(field) or {}
    return {
        name: amount(text)
        for name, text in listed.items()
        if fnmatchcase(name, settings["resource"])
    }


def amount(text: str) -> int:
    """A number of devices as the API server writes it: 1000 of them are "1k"; 0 for anything else."""
    number, factor = (text[:-1], 1000) if text.endswith("k") else (text, 1)
    return int(number) * factor if number.isdigit() else 0


def is_labelled(node: Obj, settings: Obj) -> bool:
    """Whether the node has labels that others bring about (the proof node_labels)."""
    labels = node["metadata"].get("labels") or {}
    equal = settings["equal"] or {}
    return all(name in labels for name in settings["present"]) and all(
        labels.get(name) == str(value) for name, value in equal.items()
    )


# Kind of a proof -> whether it holds, by the node's object alone.
CONDITIONS: Mapping[str, Callable[[Obj, Obj], bool]] = {
    "allocatable": offers,
    "node_labels": is_labelled,
}
