# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run is to make true: the options and the namespace that were given, else those of the
record. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from ..._errors import InvalidInput
from ..._json import TOO_DEEP, elements, part
from ..._nodes.expected_kernels import ExpectedKernel, parse_expected
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
    its value there. expected: kernels whose drivers are deployed before a node runs them.
    """

    options: Mapping[str, Any]
    namespace: str
    differences: tuple[str, ...] = ()
    pools: tuple[NodePool, ...] = ()
    pool_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    expected: tuple[ExpectedKernel, ...] = ()


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
    recorded: Mapping[str, Any] = part(record or {}, "spec")
    _refuse_depths(recipe, recorded)
    _refuse_other_recipe(recipe, str(recorded.get("recipe") or ""))
    options = _from_record(recipe, recorded, complete=complete) if given is None else given
    found = Intent(
        options=options,
        namespace=namespace or str(recorded.get("namespace") or default_namespace(recipe)),
        taints=parse_taints(recorded.get("taints") if taints is None else taints),
        expected=parse_expected(recorded.get("expectedKernels")),
    )
    if not complete:
        return found
    found = _with_pools(
        found, recipe, _recorded_pools(recipe, recorded) if pools is None else pools
    )
    if not recorded:
        return found
    return replace(found, differences=tuple(_differences(recipe, recorded, found)))


def dropped(
    recipe: Recipe,
    record: Mapping[str, Any] | None,
    options: Mapping[str, Any] | None,
    pools: Sequence[Mapping[str, Any]] | None,
) -> list[str]:
    """What the record has and given options and pools do not name: names of options, and of pools.
    Nothing is dropped where None is given, or where the recipe has an option no more."""
    recorded: Mapping[str, Any] = part(record or {}, "spec")
    found = [] if options is None else _dropped_options(recipe, recorded, options)
    if pools is None:
        return found
    given = {str(pool.get("name")): pool.get("options") or {} for pool in pools}
    for pool in recorded.get("pools") or ():
        name = str(pool.get("name"))
        if name not in given:
            found.append(f"pool {name}")
            continue
        found += [
            f"{option} of pool {name}" for option in _dropped_options(recipe, pool, given[name])
        ]
    return found


def _dropped_options(
    recipe: Recipe, recorded: Mapping[str, Any], given: Mapping[str, Any]
) -> list[str]:
    names = {*part(recorded, "options"), *(recorded.get("secretOptions") or ())}
    # null counts as not given.
    named = {name for name, value in given.items() if value is not None}
    return sorted((names & recipe.options.keys()) - named)


def _with_pools(intent: Intent, recipe: Recipe, pools: Sequence[Mapping[str, Any]]) -> Intent:
    """With pools as a person gives them, and all options of each."""
    parsed = parse_pools(pools)
    options = {
        pool.name: of_pool(recipe, pool.name, intent.options, pool.options) for pool in parsed
    }
    return replace(intent, pools=parsed, pool_options=options)


def _recorded_pools(recipe: Recipe, recorded: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    pools = elements(recorded, "pools")
    for pool in pools:
        if pool.get("secretOptions"):
            raise InvalidInput(
                f"The pools of {recipe.name} are not given, and its record cannot hold all of pool {pool.get('name')}",
                why=f"secret values are never recorded, and {', '.join(pool['secretOptions'])} would be taken away",
                todo="give all pools again (hardware_enablement_pools)",
            )
    return list(pools)


def _refuse_depths(recipe: Recipe, recorded: Mapping[str, Any]) -> None:
    """Its CRD lets options and selectors hold anything, so that a part may have been cut off."""
    if TOO_DEEP in json.dumps(recorded, default=str):
        raise InvalidInput(
            f"The record of {recipe.name} cannot be used",
            why="something in its spec is nested too deep",
            todo=f"take that out (kubectl edit specialresource {recipe.name})",
        )


def _refuse_other_recipe(recipe: Recipe, recorded: str) -> None:
    own = recipe.source.name
    if recorded and recorded != own:
        raise InvalidInput(
            f"recipe {own} cannot be enabled as {recipe.name}",
            why=f"recipe {recorded} is enabled by that name",
            todo="choose another instance (hardware_enablement_instance in the playbooks)",
        )


def _refuse_lost_secrets(recipe: Recipe, recorded: Mapping[str, Any]) -> None:
    names = set(recipe.options)
    secret = [name for name in elements(recorded, "secretOptions") if name in names]
    if not secret:
        return
    raise InvalidInput(
        f"The options of {recipe.name} are not given, and its record cannot hold {', '.join(secret)}",
        why="secret values are never recorded, and without them this run would take them away",
        todo=f"give all options again (hardware_enablement_options), which are"
        f" {', '.join(sorted({*secret, *part(recorded, 'options')}))}",
    )


def _from_record(recipe: Recipe, recorded: Mapping[str, Any], *, complete: bool) -> dict[str, Any]:
    """The record's options, each of its type; those that are not there any more count only for what
    is rendered."""
    options = part(recorded, "options")
    if complete:
        _refuse_lost_secrets(recipe, recorded)
    else:
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


def _differences(recipe: Recipe, recorded: Mapping[str, Any], intent: Intent) -> Iterator[str]:
    """What the record will say else than it does (recorded: its spec), in words."""
    wanted = record_spec.make_spec(
        recipe, intent.namespace, intent.options, pools=intent.pools, taints=intent.taints
    )
    if intent.namespace != recorded.get("namespace", intent.namespace):
        yield f"namespace: {recorded['namespace']} -> {intent.namespace}"
    yield from _option_differences(recipe, part(recorded, "options"), wanted["options"])
    yield from _pool_differences(elements(recorded, "pools"), elements(wanted, "pools"))
    before, after = elements(recorded, "taints"), elements(wanted, "taints")
    if before != after:
        yield f"taints: {_shown(before)} -> {_shown(after)}"
    yield from _secret_differences(
        set(elements(recorded, "secretOptions")), set(elements(wanted, "secretOptions"))
    )


def _option_differences(
    recipe: Recipe, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[str]:
    """The options that change. before, after: those that are not at their defaults."""
    for name in sorted({*before, *after}):
        if name not in recipe.options:
            yield f"{name}: {_shown(before[name])} -> no option of this recipe any more"
            continue
        default = recipe.options[name].default
        old, new = before.get(name, default), after.get(name, default)
        if old != new:
            yield f"{name}: {_shown(old)} -> {_shown(new)}{'' if name in after else ', its default'}"


def _pool_differences(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """The pools that come, go or change."""
    old, new = ({pool["name"]: pool for pool in pools} for pools in (before, after))
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"pool {name}: {_shown(old.get(name))} -> {_shown(new.get(name))}"


def _secret_differences(before: Set[str], after: Set[str]) -> Iterator[str]:
    """Of secret options it is known only that they are given."""
    yield from (f"{name}: secret, not given any more" for name in sorted(before - after))
    yield from (f"{name}: secret, given now" for name in sorted(after - before))


def _shown(value: Any) -> str:
    """A value as a sentence shows it."""
    text = without_logins(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def without_logins(text: str) -> str:
    """A text without the names and passwords of the addresses in it."""
    return _LOGIN.sub("://********@", text)
