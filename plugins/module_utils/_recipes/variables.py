# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of templates: options, and facts of the cluster, which are data and are looked at
before use."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from .._errors import InvalidInput
from .._nodes.groups import DEFAULT, FORMS, NodeGroup
from .loading.lookups import is_looked_up
from .loading.recipe import Recipe, RecipeSource, State
from .templates.render_facts import RenderFacts
from .templates.templating import Facts, Templates, absent

# Variables that differ between groups of nodes -> the facet that a state has to be made per to have
# them ("": any). A file that uses one of them is rendered once for each group.
GROUP_FACTS = {
    "kernel": "kernel",
    "os": "os",
    "arch": "arch",
    "driver_toolkit": "os",
    "runtime": "runtime",
    "preinstalled_driver": "driver",
    "allocation": "allocation",
    "pool": "",
    "group": "",
}
GROUP_NAMES = frozenset((*GROUP_FACTS, "image", "image_name"))

_POOL = re.compile(r"([a-z]([a-z0-9-]{0,18}[a-z0-9])?)?")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+~-]{0,511}")
_NO_IMAGE = re.compile(f"(?:{_IMAGE.pattern})?")
_VERSION = re.compile(r"([0-9]{1,5}(\.[0-9]{1,5}){1,2}[A-Za-z0-9.+-]{0,64})?")
_PROXY = re.compile(r"[A-Za-z0-9._:/\[\]*,%?=&+~-]{0,4096}")
_OBJECT = re.compile(r"([a-z0-9.-]{1,253}(/[a-z0-9.-]{1,253})?)?")
# Facts of the cluster besides its platform: how they are called, and what they look like; "" where
# there is none.
_CLUSTER = {
    "kubernetes_version": _VERSION,
    "openshift_version": _VERSION,
    "trusted_ca": _OBJECT,
    "pull_secret": _OBJECT,
}
_PROXIES = ("http", "https", "no")


def cluster_variables(recipe: Recipe, state: State, facts: RenderFacts) -> dict[str, Any]:
    """What every template of a state sees. Raises InvalidInput for facts of the cluster that cannot
    be true."""
    missing = {
        name: absent(
            f"there is no {name}, since state {state.name} is not made per {facet or 'group of nodes'}"
        )
        for name, facet in GROUP_FACTS.items()
    }
    return {
        **missing,
        "options": Facts("options", facts.options),
        "namespace": facts.namespace,
        "recipe": recipe.source.name,
        "instance": recipe.name,
        "state": state.name,
        "cluster": Facts("cluster", _cluster(facts.cluster)),
    }


def variables_of(shared: Mapping[str, Any], group: NodeGroup, facts: RenderFacts) -> dict[str, Any]:
    """What a template sees of one group of nodes, without images. shared: cluster_variables without
    a group. Raises InvalidInput for facts that cannot be true."""
    variables = {**shared, **group_variables(group, facts)}
    options = facts.options_of(group)
    if options is not facts.options:
        variables["options"] = Facts("options", options)
    return variables


def _cluster(found: Mapping[str, Any]) -> dict[str, Any]:
    proxy = {key: str((found.get("proxy") or {}).get(key) or "") for key in _PROXIES}
    texts = {name: str(found.get(name) or "") for name in _CLUSTER}
    for name, value in texts.items():
        _check_text(
            f"cluster.{name}",
            value,
            _CLUSTER[name],
            "the cluster",
            "look at the cluster's own configuration",
        )
    for key, value in proxy.items():
        _check_text(f"cluster.proxy.{key}", value, _PROXY, "the cluster", "look at Proxy cluster")
    return {
        "platform": str(found.get("platform", "kubernetes")),
        "distribution": str(found.get("distribution") or ""),
        **texts,
        "kubernetes_minor": int(
            texts["kubernetes_version"].partition(".")[2].partition(".")[0] or 0
        ),
        "proxy": Facts("cluster.proxy", proxy),
    }


def _check_text(what: str, value: str, pattern: re.Pattern[str], owner: str, todo: str) -> None:
    if not pattern.fullmatch(value):
        raise InvalidInput(
            f"{what} of {owner} is not used",
            why=f"{value[:80]!r} does not look like one",
            todo=todo,
        )


def group_variables(group: NodeGroup, facts: RenderFacts) -> dict[str, Any]:
    """What templates see of one group of nodes, without images. Raises InvalidInput for facts that
    cannot be true."""
    per = frozenset(group.per)
    variables: dict[str, Any] = {"pool": _checked_fact("pool", group.pool, _POOL, group)}
    if "kernel" in per:
        variables["kernel"] = _kernel(group)
    if per & {"kernel", "os"}:
        variables["os"] = _system(group)
        image = (
            facts.driver_toolkits.get(group.system.os_build, "") if group.system.os_build else ""
        )
        _checked_fact("driver_toolkit.image", image, _NO_IMAGE, group)
        variables["driver_toolkit"] = Facts("driver_toolkit", {"image": image})
    if per & {"kernel", "arch"}:
        variables["arch"] = _checked_fact("arch", group.system.arch, FORMS["arch"], group)
    if "runtime" in per:
        name = _checked_fact("runtime.name", group.system.runtime, FORMS["runtime"], group)
        major = int(
            _checked_fact(
                "runtime.major", group.system.runtime_major, FORMS["runtime_major"], group
            )
        )
        version = _checked_fact(
            "runtime.version", group.system.runtime_version, FORMS["runtime_version"], group
        )
        variables["runtime"] = Facts(
            "runtime", {"name": name, "major": major, "version": _numbers(version, major)}
        )
    if "driver" in per:
        variables["preinstalled_driver"] = group.preinstalled
    if "allocation" in per:
        way = group.allocation or facts.usual_allocation
        variables["allocation"] = _checked_fact("allocation", way, FORMS["allocation"], group)
    return {**variables, **group_names(group)}


def _numbers(version: str, major: int) -> list[int]:
    """Major, minor and patch of a version, to be compared; 0 for what it does not say."""
    found = re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", version)
    return [int(part or 0) for part in found.groups()] if found else [major, 0, 0]


def group_names(group: NodeGroup) -> dict[str, Any]:
    """group alone: the id of a group, and what makes names of objects differ by it."""
    suffix = "" if group.id == DEFAULT else f"-{group.id}"
    return {"group": Facts("group", {"id": group.id, "suffix": suffix})}


def _kernel(group: NodeGroup) -> Facts:
    _checked_fact("kernel", group.system.kernel, FORMS["kernel"], group)
    version = re.match(r"(\d+)\.(\d+)", group.system.kernel)
    kernel = {
        "raw": group.system.kernel,
        "label": group.system.kernel_label,
        "id": group.id,
        "tag": kernel_tag(group.system.kernel),
        "major": int(version[1]) if version else None,
        "minor": int(version[2]) if version else None,
        "signed_only": group.system.signed_only,
    }
    return Facts("kernel", kernel)


def _system(group: NodeGroup) -> Facts:
    for fact in ("os_id", "os_version", "os_build"):
        _checked_fact(fact.replace("_", "."), getattr(group.system, fact), FORMS[fact], group)
    major = group.system.os_version.split(".")[0]
    return Facts(
        "os",
        {
            "id": group.system.os_id,
            "version": group.system.os_version,
            "major": major,
            "build": group.system.os_build,
        },
    )


def _checked_fact(what: str, value: str, pattern: re.Pattern[str], group: NodeGroup) -> str:
    _check_text(
        what,
        value,
        pattern,
        f"group {group.id}",
        "look at nodeInfo and the NFD labels of its nodes",
    )
    return value


def kernel_tag(kernel: str) -> str:
    """A kernel as a part of an image's tag. Where characters had to go, a hash tells kernels apart
    that look alike."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", kernel)
    return (
        plain if plain == kernel else f"{plain}-{hashlib.sha256(kernel.encode()).hexdigest()[:6]}"
    )


def image_states(recipe: Recipe, state: State) -> list[State]:
    """The states whose image a state's templates see: itself, then those that it requires, nearest
    first."""
    found, left = [], [state.name]
    for name in left:
        current = recipe.states[name]
        if current.images.are_known:
            found.append(current)
        left += [required for required in current.order.requires if required not in left]
    return found


def refuse_finer_images(recipe: Recipe, state: State) -> None:
    """Raise InvalidInput where an image that a state's templates see need not be the same for all
    nodes of a group."""
    for source in image_states(recipe, state):
        finer = set(source.per) - {
            *state.per,
            *(("os", "arch") if "kernel" in state.per else ()),
            "pool",
        }
        if finer:
            raise InvalidInput(
                f"state {state.name} cannot use the image of state {source.name}",
                where=recipe.source.folder,
                why=f"that is made per {', '.join(source.per)}, and state {state.name} per {', '.join(state.per)}",
                todo=f"make state {state.name} per {', '.join(sorted(finer))} too",
            )


def image_variables(
    recipe: Recipe, state: State, find: Callable[[State], tuple[str, str]]
) -> dict[str, Any]:
    """image and image_name, and <state>.image and .image_name for every state whose image the
    templates see; empty where there is none.

    find: the image of a state, and its name, for the group of nodes that it is about.
    """
    images = {
        source.name: dict(zip(("image", "image_name"), find(source), strict=True))
        for source in image_states(recipe, state)
    }
    variables: dict[str, Any] = {name: Facts(name, image) for name, image in images.items()}
    if images:
        variables |= next(iter(images.values()))
    return variables


def image_of(
    recipe: Recipe, state: State, facts: RenderFacts, group: NodeGroup, templates: Templates
) -> str:
    """The image reference of a state for a group: the user's, else what was looked up or built,
    else as named.

    group: the state's own, or a finer one. "" where a look-up has found none: the state has nothing
    for this group. While nothing has been looked up (when a recipe is merely checked, on kernels
    that are made up), a state that builds, or says what to do for a kernel without an image, has an
    image of no registry.
    """
    group = facts.coarse(group, state.per)
    given = (facts.images or {}).get(group.id)
    if given is not None:
        return _checked(given, recipe, state, group)
    if facts.resolved is not None and is_looked_up(state):
        return facts.resolved.get(state.name, {}).get(group.id, "")
    named = named_images(recipe, state, facts, group, templates)
    if named:
        return named[0]
    if facts.resolved is None and (state.images.build or state.images.todo):
        return f"unresolved.invalid/{recipe.name}:{group.id}"
    return _refuse_none(recipe, state, facts, group, templates)


def image_name_of(state: State, image: str, facts: RenderFacts, group: NodeGroup) -> str:
    """How the recipe names an image that a state has for a group, which is pinned by its digest where
    it was looked up: of several candidates, the one that it is. The image itself where a person has
    given it."""
    group = facts.coarse(group, state.per)
    if group.id in (facts.images or {}):
        return image
    return facts.image_names.get(state.name, {}).get(group.id) or image


def named_images(
    recipe: Recipe, state: State, facts: RenderFacts, group: NodeGroup, templates: Templates
) -> list[str]:
    """What the recipe's image templates say for a group of the state, in order, without those that
    give nothing."""
    path = f"recipe.yml, states.{state.name}.image"
    variables = _variables(recipe, state, facts, group)
    rendered = [
        templates.render_text(image, path, variables).strip() for image in state.images.templates
    ]
    return [_checked(image, recipe, state, group) for image in dict.fromkeys(rendered) if image]


def _variables(
    recipe: Recipe, state: State, facts: RenderFacts, group: NodeGroup
) -> dict[str, Any]:
    return variables_of(cluster_variables(recipe, state, facts), group, facts)


def _refuse_none(
    recipe: Recipe, state: State, facts: RenderFacts, group: NodeGroup, templates: Templates
) -> NoReturn:
    """Say that nothing names an image, and what the recipe says can be done."""
    path = f"recipe.yml, states.{state.name}.no_image"
    todo = templates.render_text(state.images.todo, path, _variables(recipe, state, facts, group))
    raise InvalidInput(
        f"state {state.name} has no image for group {group.id}",
        where=_place(recipe.source, state),
        why="nothing names one",
        todo=todo.strip(),
    )


def _checked(image: str, recipe: Recipe, state: State, group: NodeGroup) -> str:
    if not _IMAGE.fullmatch(image):
        raise InvalidInput(
            f"state {state.name} has no image for group {group.id}",
            where=_place(recipe.source, state),
            why=f"{image[:80]!r} is no image reference",
        )
    return image


def _place(source: RecipeSource, state: State) -> str:
    return source.place_of(f"recipe.yml, states.{state.name}.image")
