# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking up an object that a proof watches, and the pods that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

from .._cluster.api_objects.controller_references import is_made_by, is_made_for
from .._cluster.api_objects.object_shapes import mismatch_of
from .._json import Obj, elements, part
from .._verdicts.reasons import UNDER_WAY, Reason
from .._verdicts.verdict import Outcome, Verdict
from .evaluation import Observation
from .feeds import Feed, Watched

# How the pods of a kind are told, by who made them.
_MADE: Mapping[str, Callable[[Obj, Obj], bool]] = {
    **dict.fromkeys(("DaemonSet", "StatefulSet", "Job", "ReplicaSet"), is_made_by),
    "Deployment": is_made_for,
}
FIND_REASONS = {
    "NotFound": Reason(
        "an object that the recipe names is not there",
        "make the object that the message names, or run the playbook without limiting its tags",
    ),
    "Reading": UNDER_WAY,
    "Unreadable": Reason(
        "an object that the recipe names could not be read: its kind is not served, a right is missing, or a field has"
        " another type; `unknown`",
        "give the run's user the rights get, list and watch on this kind, look whether its CRD is there, or correct the"
        " field that the message names",
    ),
}


def find(observation: Observation[Any], what: Watched) -> Union[Obj, Verdict]:
    """A watched object, or the verdict where it cannot be looked at."""
    title = f"{what.kind} {what.name}"
    known = find_all(observation, what, title)
    if isinstance(known, Verdict):
        return known
    found = known.get(what.name)
    if found is None:
        return Verdict(Outcome.PENDING, "NotFound", f"{title} does not exist")
    wrong = mismatch_of(found)
    why = f"{title} cannot be read: {wrong}"
    return Verdict(Outcome.BLOCKED, "Unreadable", why) if wrong else found


def find_all(
    observation: Observation[Any], what: Watched, title: str
) -> Union[Mapping[str, Obj], Verdict]:
    """Watched objects by name, or the verdict where they cannot be looked at. title: how a message
    names them."""
    feed = observation.watched(what)
    return _unknown(feed, title, seen=what.name in feed.objects) or feed.objects


def find_on_node(
    observation: Observation[Any], what: Watched, title: str
) -> Union[Sequence[Obj], Verdict]:
    """Those of the watched objects that name the observed node as theirs, or the verdict where they
    cannot be looked at. Others' objects do not make it look again."""
    feed = observation.snapshot.feed(what)
    found = feed.on_node(observation.node.name)
    return _unknown(feed, title) or found


def _unknown(feed: Feed, title: str, *, seen: bool = False) -> Verdict | None:
    """The verdict where a feed tells nothing yet; seen: what is looked for was told."""
    if feed.error:
        return Verdict(Outcome.BLOCKED, "Unreadable", f"{title} cannot be read: {feed.error}")
    if not feed.complete and not seen:
        return Verdict(Outcome.PENDING, "Reading", f"{title} is being read")
    return None


def pods_of(owner: Obj, pods: Iterable[Obj]) -> list[Obj]:
    """The pods that belong to an object, sorted by name: those that a workload of Kubernetes has
    made; of other kinds by its selector (spec.selector, or the text in status.selector by which
    kinds with a scale tell theirs), else those that name it as their controller."""
    is_own = _MADE.get(str(owner.get("kind")))
    if is_own:
        own = [pod for pod in pods if is_own(pod, owner)]
        return sorted(own, key=lambda pod: str(pod["metadata"]["name"]))
    selector = part(owner, "spec").get("selector") or _parsed(part(owner, "status").get("selector"))
    found = [
        pod
        for pod in pods
        if (
            _selects(selector, part(pod["metadata"], "labels"))
            if selector
            else is_made_by(pod, owner)
        )
    ]
    return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))


def _parsed(selector: Any) -> dict[str, str]:
    """A selector in text, where it is made of name=value alone; else nothing."""
    pairs = [pair.partition("=") for pair in str(selector or "").split(",")]
    fits = all(name.strip() and equals and not name.endswith("!") for name, equals, _value in pairs)
    return (
        {name.strip(): value.lstrip("=").strip() for name, _equals, value in pairs} if fits else {}
    )


def _selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """A LabelSelector, or the plain labels of Services and ReplicationControllers."""
    if not selector.keys() & {"matchLabels", "matchExpressions"}:
        return all(labels.get(name) == value for name, value in selector.items())
    wanted = part(selector, "matchLabels")
    return all(labels.get(name) == value for name, value in wanted.items()) and all(
        _holds(expression, labels) for expression in elements(selector, "matchExpressions")
    )


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value, values = labels.get(str(expression["key"])), elements(expression, "values")
    return {
        "In": value is not None and value in values,
        "NotIn": value not in values,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }.get(str(expression.get("operator")), False)
