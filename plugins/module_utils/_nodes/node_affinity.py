# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes a pod may run on by what it says itself: nodeSelector and required node affinity, as
Kubernetes reads them (component-helpers/scheduling/corev1/nodeaffinity). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .._json import elements, part
from .expressions import Expression, Term, is_number

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_NAME = "metadata.name"


@dataclass(frozen=True)
class NodeAffinity:
    """selector: what all nodes have to meet. terms: any of which has to hold besides; None where
    nothing more is asked for. A condition on metadata.name is one on the node's name."""

    selector: Term = ()
    terms: tuple[Term, ...] | None = None

    @classmethod
    def of(cls, pod_spec: Mapping[str, Any]) -> NodeAffinity:
        """What a pod that the API server has taken, or would take, asks of its node. A term without
        conditions selects nothing."""
        labels = part(pod_spec, "nodeSelector")
        selector = tuple(Expression(key, "In", (str(labels[key]),)) for key in sorted(labels))
        required = part(pod_spec, "affinity", "nodeAffinity").get(_REQUIRED)
        if not required:
            return cls(selector)
        terms = (
            tuple(
                _read(each)
                for key in ("matchExpressions", "matchFields")
                for each in term.get(key) or ()
            )
            for term in elements(required, "nodeSelectorTerms")
        )
        return cls(selector, tuple(term for term in terms if term))

    def without(self, is_other: Callable[[str], bool]) -> NodeAffinity:
        """The affinity without its conditions on labels that this says of; a term of nothing else
        holds anywhere."""

        def kept(term: Term) -> Term:
            return tuple(each for each in term if not is_other(each.key))

        terms = None if self.terms is None else tuple(map(kept, self.terms))
        return NodeAffinity(kept(self.selector), terms)

    def takes(self, labels: Mapping[str, str], name: str) -> bool:
        """Whether the pod may run on a node of this name with these labels."""
        facts = {**labels, _NAME: name}
        return _holds(self.selector, facts) and (
            self.terms is None or any(_holds(term, facts) for term in self.terms)
        )

    def why_not(self, labels: Mapping[str, str], name: str) -> str:
        """Which of its conditions a node does not meet, and what it has instead; of terms that are
        ORed, those of the one that is closest. "" where the pod may run there."""
        if self.takes(labels, name):
            return ""
        facts = {**labels, _NAME: name}
        unmet = _unmet(self.selector, facts)
        if self.terms is not None:
            closest = sorted((_unmet(term, facts) for term in self.terms), key=len)
            unmet += closest[0] if closest else []
        if not unmet:
            return "no term of its node affinity selects anything"
        wants = " and ".join(map(_in_words, unmet))
        has = ", ".join(dict.fromkeys(_value_in_words(each.key, facts) for each in unmet))
        others = "; no other term of its affinity is closer" if len(self.terms or ()) > 1 else ""
        return f"it wants {wants}, and the node has {has}{others}"


def _read(entry: Mapping[str, Any]) -> Expression:
    """One condition. What cannot be compared as a number holds nowhere."""
    key, operator = str(entry.get("key")), str(entry.get("operator"))
    values = tuple(str(value) for value in elements(entry, "values"))
    if operator in ("Gt", "Lt") and not (len(values) == 1 and is_number(values[0])):
        return Expression(key, "In")
    return Expression(key, operator, values)


def _holds(term: Term, facts: Mapping[str, str]) -> bool:
    return all(each.holds(facts) for each in term)


def _unmet(term: Term, facts: Mapping[str, str]) -> list[Expression]:
    return [each for each in term if not each.holds(facts)]


def _in_words(expression: Expression) -> str:
    key, values = expression.key, ", ".join(expression.values)
    return {
        "In": f"{key}={values}" if len(expression.values) == 1 else f"{key} in ({values})",
        "NotIn": f"{key} not in ({values})",
        "Exists": key,
        "DoesNotExist": f"no {key}",
        "Gt": f"{key} > {values}",
        "Lt": f"{key} < {values}",
    }[expression.operator]


def _value_in_words(key: str, facts: Mapping[str, str]) -> str:
    return f"{key}={facts[key]}" if key in facts else f"no {key}"
