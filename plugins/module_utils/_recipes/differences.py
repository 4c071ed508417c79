# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that are not the same in all pools, and states that cannot follow them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from .._errors import InvalidInput
from .._json import Obj
from .._nodes.groups import NodeGroup
from .loading.recipe import RecipeSource, State
from .templates.manifests import title
from .templates.render_facts import RenderFacts

# What is put into pods without the templates' help; of resources and env, the part of one state.
_INJECTED = ("image_pull_secrets", "tolerations", "priority_class", "proxy")
_OF_STATE = ("resources", "env")
# The option of recipes in other formats that lets them.
LAST_KERNEL_WINS = "last_kernel_wins"
_SUFFIX = "{{ group.suffix }}"


def differing(facts: RenderFacts, read: AbstractSet[str] | None) -> list[str]:
    """Which of the options that are read (None: any) differ between pools, sorted."""
    return sorted(facts.differing if read is None else facts.differing & read)


def differing_in_pods(state: State, facts: RenderFacts) -> list[str]:
    """The standard options in a state's pods that differ between pools."""
    found = [name for name in _INJECTED if name in facts.differing]
    for name in _OF_STATE:
        if any(
            (options.get(name) or {}).get(state.name)
            != (facts.options.get(name) or {}).get(state.name)
            for options in facts.pool_options.values()
        ):
            found.append(name)
    return found


def refuse_differing(
    source: RecipeSource,
    state: State,
    facts: RenderFacts,
    read: AbstractSet[str] | None,
    where: str,
) -> None:
    """Raise InvalidInput where something that is made once for all nodes reads an option that pools
    set differently."""
    refuse_names(source, state, facts, differing(facts, read), where)


def refuse_names(
    source: RecipeSource, state: State, facts: RenderFacts, names: Sequence[str], where: str
) -> None:
    """The same for options that are known to differ."""
    if not names:
        return
    name = names[0]
    pools = [
        pool
        for pool, options in facts.pool_options.items()
        if options.get(name) != facts.options.get(name)
    ]
    raise InvalidInput(
        f"option {name} cannot be another one in pool {', '.join(pools)}",
        where=source.place_of(where),
        why=f"state {state.name} makes one object of it for all nodes",
        todo=f"give all nodes the same, or let the recipe make state {state.name} per pool, with {_SUFFIX} in the names"
        " of what differs",
    )


def first_difference(one: Any, other: Any) -> tuple[str, ...]:
    """The path of keys to the first value in which two objects are not alike."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return ()
    found = next((key for key in {**one, **other} if one.get(key) != other.get(key)), None)
    return () if found is None else (found, *first_difference(one.get(found), other.get(found)))


def not_alike(manifest: Obj, one: NodeGroup, other: NodeGroup, where: str) -> InvalidInput:
    """The error for an object of one name that comes out differently for two groups of nodes."""
    return InvalidInput(
        f"{title(manifest)} is not the same for {one.system.kernel or one.id} and {other.system.kernel or other.id}",
        where=where,
        why="there can be only one object of that name",
        todo='annotate it with specialresource.openshift.io/kernel-affine: "true", or set the option'
        f" {LAST_KERNEL_WINS} (of a custom resource: hardware_enablement_{LAST_KERNEL_WINS}) to have"
        " that of the last kernel alone, as the operator did",
    )
