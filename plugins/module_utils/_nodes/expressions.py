# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label expressions as Kubernetes' node affinity has them, as sums of products: terms that are
ORed, of expressions that are ANDed. What they match, how two sums are combined, and what is matched
by none of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from .._errors import InvalidInput
from .._json import elements, part
from .selectors import LabelSet

MAX_TERMS = 64
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
# Those that only a label meets that is there.
_PRESENT = frozenset(("In", "Exists", "Gt", "Lt"))

_KEY = re.compile(
    r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
)
_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
# As the scheduler reads it: a signed number of 64 bits (apimachinery/pkg/labels/selector.go,
# Requirement.Matches).
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True)
class Expression:
    """One condition on a label. values: sorted, none for Exists and DoesNotExist, one number for Gt
    and Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels meets the condition; a missing label is not In, and
        NotIn, any values."""
        value = labels.get(self.key)
        if self.operator == "In":
            return value in self.values
        if self.operator == "NotIn":
            return value not in self.values
        if self.operator == "Exists":
            return value is not None
        if self.operator == "DoesNotExist":
            return value is None
        if value is None or not _NUMBER.fullmatch(value):
            return False
        return (
            int(value) > int(self.values[0])
            if self.operator == "Gt"
            else int(value) < int(self.values[0])
        )

    def unreadable(self, labels: Mapping[str, str]) -> bool:
        """Whether the label is there, is to be compared with a number, and is none."""
        value = labels.get(self.key)
        return self.operator in ("Gt", "Lt") and value is not None and not _NUMBER.fullmatch(value)

    def to_dict(self) -> dict[str, Any]:
        """As an entry of matchExpressions."""
        found: dict[str, Any] = {"key": self.key, "operator": self.operator}
        return {**found, "values": list(self.values)} if self.values else found


def is_number(text: str) -> bool:
    """Whether a text is a number as Gt and Lt compare it."""
    return _NUMBER.fullmatch(text) is not None


Term = tuple[Expression, ...]
Terms = tuple[Term, ...]
EVERYWHERE: Terms = ((),)


def parse_expression(given: Any) -> Expression:
    """An entry of matchExpressions. Raises ValueError that says what is wrong with it, as half a
    sentence."""
    if not isinstance(given, Mapping) or not isinstance(given.get("key"), str):
        raise ValueError("an expression is a mapping with key, operator and values")
    unknown = sorted(set(map(str, given)) - {"key", "operator", "values"})
    if unknown:
        raise ValueError(
            f"an expression has key, operator and values, and not {', '.join(unknown)}"
        )
    key, operator = str(given["key"]), given.get("operator")
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key[:80]!r} is not the name of a label")
    if operator not in OPERATORS:
        raise ValueError(
            f"operator {str(operator)[:40]!r} of {key} is none of {', '.join(OPERATORS)}"
        )
    return Expression(key, str(operator), _values(key, str(operator), elements(given, "values")))


def _values(key: str, operator: str, given: Any) -> tuple[str, ...]:
    """As many as the operator takes. Raises ValueError."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ValueError(f"the values of {key} are not a list")
    texts = tuple(sorted({_text(value, key) for value in given}))
    if operator in ("Exists", "DoesNotExist") and texts:
        raise ValueError(f"operator {operator} of {key} takes no values")
    if operator in ("In", "NotIn") and not texts:
        raise ValueError(f"operator {operator} of {key} needs at least one value")
    if operator in ("Gt", "Lt") and not (len(texts) == 1 and _NUMBER.fullmatch(texts[0])):
        raise ValueError(f"operator {operator} of {key} needs one whole number")
    return texts


def _text(value: Any, key: str) -> str:
    if (
        isinstance(value, bool)
        or not isinstance(value, (str, int))
        or not _VALUE.fullmatch(str(value).lstrip("+-"))
    ):
        raise ValueError(f"{str(value)[:80]!r} is not a value of label {key} (text in quotes)")
    return str(value)


def parse_selector(given: Any) -> Term:
    """A LabelSelector (matchLabels, matchExpressions) as one term. Raises ValueError, as half a
    sentence."""
    if not isinstance(given, Mapping):
        raise ValueError("a selector is a mapping with matchLabels or matchExpressions")
    unknown = sorted(set(map(str, given)) - {"matchLabels", "matchExpressions"})
    if unknown:
        raise ValueError(
            f"a selector has matchLabels and matchExpressions, and not {', '.join(unknown)}"
        )
    labels, entries = part(given, "matchLabels"), elements(given, "matchExpressions")
    if (
        not isinstance(labels, Mapping)
        or not isinstance(entries, Sequence)
        or isinstance(entries, str)
    ):
        raise ValueError("matchLabels is a mapping and matchExpressions a list")
    expressions = [
        parse_expression({"key": key, "operator": "In", "values": [value]})
        for key, value in labels.items()
    ]
    expressions += [parse_expression(entry) for entry in entries]
    if not expressions:
        raise ValueError("its selector is empty, and would take every node")
    return tuple(expressions)


def of_label_sets(any_of: Iterable[LabelSet]) -> Terms:
    """Label sets as terms; None as a value: present is enough."""
    return tuple(
        tuple(
            Expression(name, "Exists") if value is None else Expression(name, "In", (value,))
            for name, value in sorted(labels.items())
        )
        for labels in any_of
    )


def any_holds(terms: Terms, labels: Mapping[str, str]) -> bool:
    """Whether a node with these labels is selected by any of the terms."""
    return any(all(expression.holds(labels) for expression in term) for term in terms)


def both(first: Terms, second: Terms) -> Terms:
    """What is selected by both. Raises InvalidInput where that takes more than MAX_TERMS terms."""
    joined = (_simplified((*one, *other)) for one in first for other in second)
    terms = _absorbed([term for term in joined if term is not None])
    if len(terms) > MAX_TERMS:
        raise InvalidInput(
            "some nodes cannot be told apart by labels",
            why=f"their node affinity would take {len(terms)} terms, and at most {MAX_TERMS} are sent",
            todo="give the pools simpler selectors, at best one label that all of them have with different values",
        )
    return terms


def outside(terms: Terms) -> Terms:
    """What is selected by none of the terms."""
    found = EVERYWHERE
    for term in terms:
        found = both(
            found, tuple((opposite,) for expression in term for opposite in _opposites(expression))
        )
    return found


def _opposites(expression: Expression) -> list[Expression]:
    """Expressions, any of which holds where this one does not. A label that is no number is left
    out (unreadable)."""
    swapped = {"In": "NotIn", "NotIn": "In", "Exists": "DoesNotExist", "DoesNotExist": "Exists"}
    key, operator = expression.key, expression.operator
    if operator in swapped:
        return [Expression(key, swapped[operator], expression.values)]
    step, other = (1, "Lt") if operator == "Gt" else (-1, "Gt")
    return [
        Expression(key, "DoesNotExist"),
        Expression(key, other, (str(int(expression.values[0]) + step),)),
    ]


def _simplified(term: Term) -> Term | None:
    """The same with one expression for each label where one can say it; None where no node can be
    selected."""
    simple: list[Expression] = []
    for key in sorted({expression.key for expression in term}):
        found = _simplified_label(key, [expression for expression in term if expression.key == key])
        if found is None:
            return None
        simple += found
    return tuple(simple)


def _simplified_label(key: str, expressions: Sequence[Expression]) -> list[Expression] | None:
    """The conditions on one label; None where no value meets them all."""
    of: dict[str, list[Expression]] = {operator: [] for operator in OPERATORS}
    for expression in expressions:
        of[expression.operator].append(expression)
    compared = sorted({*of["Gt"], *of["Lt"]}, key=lambda item: item.values)
    without = set[str]().union(*(expression.values for expression in of["NotIn"]))
    if of["DoesNotExist"]:
        present = _PRESENT.intersection(each.operator for each in expressions)
        return None if present else [Expression(key, "DoesNotExist")]
    if of["In"]:
        allowed = set.intersection(*(set(each.values) for each in of["In"])) - without
        return [_of_values(key, "In", allowed), *compared] if allowed else None
    excluded = [_of_values(key, "NotIn", without)] if without else []
    # A label that is compared has to be there anyway.
    return [*excluded, *(compared or of["Exists"][:1])]


def _of_values(key: str, operator: str, values: Set[str]) -> Expression:
    return Expression(key, operator, tuple(sorted(values)))


def _absorbed(terms: Sequence[Term]) -> Terms:
    """Without terms that select nothing that another one does not."""
    unique = list(dict.fromkeys(terms))
    return tuple(
        term
        for term in unique
        if not any(other != term and set(other) <= set(term) for other in unique)
    )
