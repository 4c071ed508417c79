# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to say where objects that are to be made are there already, and somebody else has made them:
only what helps with these objects, and what the run offers. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from .._errors import EnablementError
from .api_objects.objects import ObjectKey

_SHOWN = 5
# What is in them would go with them, so nobody is told to remove them.
_HOLDING = frozenset(
    {"Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"}
)


@dataclass(frozen=True)
class OwnershipOptions:
    """What a run lets a person choose where such objects are there.

    namespace: where options put objects, "" where none does. adopt: whether the run has an option to
    take objects over. names: which option gives objects other names, "" for none.
    """

    namespace: str = ""
    adopt: bool = False
    names: str = ""


def refusal_of(
    refused: Mapping[ObjectKey, bool], host: str, options: OwnershipOptions
) -> EnablementError:
    """The error for objects of somebody else. refused: of each, whether it could be taken over: a
    Secret, and what would have to be made anew, could not be put back by disable."""
    keys = sorted(refused)
    stuck = [key for key in keys if not refused[key]]
    why = "not made by this special resource"
    if stuck:
        why += f", and disable could not put {_named(stuck)} back"
    return EnablementError(
        f"{_named(keys)} {'exists' if len(keys) == 1 else 'exist'} already",
        where=host,
        why=why,
        todo=_advice(keys, stuck, options),
    )


def _advice(
    keys: Collection[ObjectKey], stuck: Collection[ObjectKey], options: OwnershipOptions
) -> str:
    it = "it" if len(keys) == 1 else "them"
    ways = []
    if not any(key.kind in _HOLDING for key in keys):
        ways.append(f"remove {it}")
    if options.names:
        ways.append(f"give other names ({options.names})")
    if options.namespace and all(_is_in(key, options.namespace) for key in keys):
        ways.append("choose another namespace (hardware_enablement_namespace)")
    if options.adopt and len(stuck) < len(keys):
        ways.append(_adopting(it, stuck))
    return ", or ".join(ways) or f"remove {it} if nobody needs what is in {it}"


def _adopting(it: str, stuck: Collection[ObjectKey]) -> str:
    """How objects are taken over, but for those that cannot be."""
    option = "set adopt (hardware_enablement_adopt) to take {} over; disable gives back what was taken over"
    return (
        f"remove {_named(stuck)}, and {option.format('the others')}" if stuck else option.format(it)
    )


def _is_in(key: ObjectKey, namespace: str) -> bool:
    """Whether an object would be another one in another namespace, or is the namespace."""
    return key.namespace == namespace or key == ObjectKey("v1", "Namespace", "", namespace)


def _named(keys: Collection[ObjectKey]) -> str:
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return f"{', '.join(str(key) for key in list(keys)[:_SHOWN])}{more}"
