# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run is to make true: the options and the namespace that were given, else those of the
record. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._errors import InvalidInput
from ..._nodes.pools import NodePool, parse_pools
from ..._nodes.taints import Taint, parse_taints
from ..._recipes.loading.instances import default_namespace
from ..._recipes.loading.options import of_pool, resolve
from ..._recipes.loading.recipe import Recipe
from ..record import record_spec

_LOGIN = re.compile(r"://[^/@\s\"]+@")
_LONGEST = 60


@dataclass(frozen=True)
class Intent:
    """options: every option of the recipe with its value. differences: what differs from the
    record, in words.

    pools: nodes with options of their own; pool_options: pool -> every option of the recipe with
    its value there.
    """

    options: Mapping[str, Any]
    namespace: str
    differences: tuple[str, ...] = ()
    pools: tuple[NodePool, ...] = ()
    pool_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()


def make_intent(
    recipe: Recipe,
    given: Mapping[str, Any] | None,
    namespace: str | None,
    record: Mapping[str, Any] | None,
    *,
    complete: bool = True,
    pools: Sequence[Mapping[str, Any]] | None = None,
    taints: Sequence[Mapping[str, Any] | str] | None = None,
) -> Intent:
    """Given options (resolved), pools and taints hold as they are, never mixed with those of the record;
    None takes the record's.

    complete: whether the options will be rendered, so that none may be missing. Raises InvalidInput
    where the record's options are needed and cannot be used: the recipe has other ones by now, or
    some are secret and so not in it.
    """
    recorded: Mapping[str, Any] = (record or {}).get("spec") or {}
    _refuse_other_recipe(recipe, str(recorded.get("recipe") or ""))
    if given is None and complete:
        _refuse_lost_secrets(recipe, recorded)
    options = _from_record(recipe, recorded, complete) if given is None else given
    own = default_namespace(recipe)
    where = namespace or str(recorded.get("namespace") or own)
    parsed = (
        parse_pools(_recorded_pools(recipe, recorded) if pools is None else pools)
        if complete
        else ()
    )
    wanted = parse_taints(recorded.get("taints") if taints is None else taints)
    differences = (
        _differences(recipe, recorded, options, where, parsed, wanted)
        if recorded and complete
        else ()
    )
    pool_options = {pool.name: of_pool(recipe, pool.name, options, pool.options) for pool in parsed}
    return Intent(options, where, differences, parsed, pool_options, wanted)


def _recorded_pools(recipe: Recipe, recorded: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    pools = recorded.get("pools") or []
    for pool in pools:
        if pool.get("secretOptions"):
            raise InvalidInput(
                f"The pools of {recipe.name} are not given, and its record cannot hold all of pool {pool.get('name')}",
                why=f"secret values are never recorded, and {', '.join(pool['secretOptions'])} would be taken away",
                todo="give all pools again (hardware_enablement_pools)",
            )
    return list(pools)


def _refuse_other_recipe(recipe: Recipe, recorded: str) -> None:
    own = recipe.recipe or recipe.name
    if recorded and recorded != own:
        raise InvalidInput(
            f"recipe {own} cannot be enabled as {recipe.name}",
            why=f"recipe {recorded} is enabled by that name",
            todo="choose another instance (hardware_enablement_instance in the playbooks)",
        )


def _refuse_lost_secrets(recipe: Recipe, recorded: Mapping[str, Any]) -> None:
    names = set(recipe.options)
    secret = [name for name in recorded.get("secretOptions") or () if name in names]
    if not secret:
        return
    raise InvalidInput(
        f"The options of {recipe.name} are not given, and its record cannot hold {', '.join(secret)}",
        why="secret values are never recorded, and without them this run would take them away",
        todo=f"give all options again (hardware_enablement_options), which are"
        f" {', '.join(sorted({*secret, *(recorded.get('options') or {})}))}",
    )


def _from_record(recipe: Recipe, recorded: Mapping[str, Any], complete: bool) -> dict[str, Any]:
    options = recorded.get("options") or {}
    if not complete:
        options = {name: value for name, value in options.items() if name in recipe.options}
    try:
        return resolve(recipe, options, complete=complete)
    except InvalidInput as error:
        if not options:
            raise
        raise InvalidInput(
            f"The options in the record of {recipe.name} cannot be used",
            why=error.why,
            todo="give the options that are to hold from now on (hardware_enablement_options)",
        ) from error


def _differences(
    recipe: Recipe,
    recorded: Mapping[str, Any],
    options: Mapping[str, Any],
    namespace: str,
    pools: Sequence[NodePool],
    taints: Sequence[Taint],
) -> tuple[str, ...]:
    wanted = record_spec.make_spec(recipe, namespace, options, pools, taints=taints)
    before, after = recorded.get("options") or {}, wanted["options"]
    found = []
    if namespace != recorded.get("namespace", namespace):
        found.append(f"namespace: {recorded['namespace']} -> {namespace}")
    for name in sorted({*before, *after}):
        if name not in recipe.options:
            found.append(f"{name}: {_shown(before[name])} -> no option of this recipe any more")
            continue
        default = recipe.options[name].default
        old, new = before.get(name, default), after.get(name, default)
        if old != new:
            found.append(
                f"{name}: {_shown(old)} -> {_shown(new)}{'' if name in after else ', its default'}"
            )
    pooled = [
        {pool["name"]: pool for pool in spec.get("pools") or []} for spec in (recorded, wanted)
    ]
    for name in sorted({*pooled[0], *pooled[1]}):
        old_pool, new_pool = (pool.get(name) for pool in pooled)
        if old_pool != new_pool:
            found.append(f"pool {name}: {_shown(old_pool)} -> {_shown(new_pool)}")
    old_taints, new_taints = (spec.get("taints") or [] for spec in (recorded, wanted))
    if old_taints != new_taints:
        found.append(f"taints: {_shown(old_taints)} -> {_shown(new_taints)}")
    secret = set(recorded.get("secretOptions") or ()), set(wanted.get("secretOptions") or ())
    found += [f"{name}: secret, not given any more" for name in sorted(secret[0] - secret[1])]
    found += [f"{name}: secret, given now" for name in sorted(secret[1] - secret[0])]
    return tuple(found)


def _shown(value: Any) -> str:
    """A value as a sentence shows it, without the name and password of an address in it."""
    text = _LOGIN.sub(
        "://********@", json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    )
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
