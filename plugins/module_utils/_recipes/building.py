# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recipe says of the images of a group of nodes: which one to look for, and how to build
one. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from .._errors import InvalidInput
from .._nodes.groups import NodeGroup
from .loading.recipe import Build, Compile, Git, Recipe, State
from .templates.filters import Rendered, string
from .templates.render_facts import RenderFacts
from .templates.templating import Facts, Templates
from .variables import cluster_variables, variables_of

_GIT_URL = re.compile(r"https?://[^\s@]+|ssh://\S+|[\w.-]+@[\w.-]+:\S+")
# A stage's image, and its own name.
_FROM = re.compile(
    r"^[ \t]*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class RenderedGit:
    """A folder of a repository at a branch, tag or commit.

    containerfile: in that folder, "" for none. secret: name of the Secret with credentials, "" for
    none.
    """

    url: str
    ref: str
    folder: str
    containerfile: str
    secret: str = ""


@dataclass(frozen=True)
class RenderedBuild:
    """A build of one group of nodes, its templates filled in.

    repository: where the image goes, without tag. base: reference of the base image, "" for none;
    base_arg: the build argument that gets it. containerfile: its text, "" for that of git. files:
    the context, path -> text. compile: the same without Containerfile, None where the recipe does
    not say how. secrets: name of a folder -> Secret in it.
    """

    repository: str
    base: str
    base_arg: str
    containerfile: str
    args: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    git: RenderedGit | None = None
    compile: Compile | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)


def stage_images(containerfile: str) -> set[str]:
    """The images that stages of a Containerfile are from, where they are named and neither arguments
    nor other stages."""
    found: set[str] = set()
    stages = {"scratch"}
    for image, stage in _FROM.findall(containerfile):
        if image not in stages and "$" not in image:
            found.add(image)
        stages.add(stage)
    return found


def render_build(
    recipe: Recipe, state: State, facts: RenderFacts, group: NodeGroup
) -> RenderedBuild | None:
    """How to build the state's image for a group of it; None where the recipe or an option says not
    to: a Containerfile that renders to nothing, with no git repository to have another one.

    Raises InvalidInput where the options leave out what a build cannot do without.
    """
    build = state.images.build
    if build is None or (build.enabled and not facts.options_of(group)[build.enabled]):
        return None
    templates = recipe.source.templates
    variables = variables_of(cluster_variables(recipe, state, facts), group, facts)
    where = f"recipe.yml, states.{state.name}.build"

    def text(value: str, key: str) -> str:
        return templates.render_text(value, f"{where}.{key}", variables).strip()

    def texts(values: Mapping[str, str], key: str) -> dict[str, str]:
        rendered = {name: text(value, f"{key}.{name}") for name, value in values.items()}
        return {name: value for name, value in rendered.items() if value}

    compile_ = _compile(build.compile, text) if build.compile else None
    if compile_:
        # So that the Containerfile need not say it again.
        variables["compile"] = Facts(
            "compile", {**asdict(compile_), "command": Rendered(compile_.command)}
        )
    containerfile = _containerfile(build, templates, variables)
    if not (containerfile or build.git):
        return None
    rendered = RenderedBuild(
        repository=text(build.repository, "repository"),
        base=text(build.base, "base"),
        base_arg=text(build.base_arg, "base_arg"),
        containerfile=containerfile,
        args={**texts(build.args, "args"), **_given_args(recipe, build, facts.options_of(group))},
        files=context_files(recipe.source.files, build),
        git=_git(build.git, text) if build.git else None,
        compile=compile_,
        secrets=texts(build.secrets, "secrets"),
    )
    why = _missing(build, rendered)
    if why:
        raise InvalidInput(
            f"state {state.name} cannot build its images",
            where=recipe.source.place_of(where),
            why=why,
            todo="set the recipe's options for it, or turn building off",
        )
    return rendered


def _containerfile(build: Build, templates: Templates, variables: Mapping[str, Any]) -> str:
    """Its text for a group of nodes, "" where it renders to nothing."""
    text = templates.render(build.containerfile, variables) if build.containerfile else ""
    return text if text.strip() else ""


def _given_args(recipe: Recipe, build: Build, options: Mapping[str, Any]) -> dict[str, str]:
    """Build arguments that the user says. Raises InvalidInput for what cannot be one."""
    option = build.args_from
    given = options[option] if option else {}
    for name, value in given.items():
        if not _ARGUMENT.fullmatch(name) or isinstance(value, (dict, list, float)) or value is None:
            raise InvalidInput(
                f"option {option} of recipe {recipe.name} cannot be used",
                why=f"{name[:80]!r} is not the name of a build argument with a text (in quotes)",
                todo="write NAME: text, NAME of letters, digits and _",
            )
    return {name: string(value) for name, value in given.items()}


def _missing(build: Build, rendered: RenderedBuild) -> str:
    """Why nothing can come of a build, "" where something can."""
    if not rendered.repository:
        return f"{build.repository} names no repository to push to"
    if not (rendered.containerfile or (rendered.git and rendered.git.containerfile)):
        return "it is given neither a Containerfile nor a git repository that has one"
    wanted = re.compile(rf"^ARG\s+{re.escape(rendered.base_arg)}\s*$", re.MULTILINE | re.IGNORECASE)
    if build.base and not rendered.base and wanted.search(rendered.containerfile):
        return f"it is given no base image, and its Containerfile has none of its own for {rendered.base_arg}"
    return ""


def _git(git: Git, text: Callable[[str, str], str]) -> RenderedGit | None:
    """None where the template of the address gives none. Raises InvalidInput."""
    url = text(git.url, "git.url")
    ref, folder = text(git.ref, "git.ref"), text(git.folder, "git.folder")
    containerfile, secret = (
        text(git.containerfile, "git.containerfile"),
        text(git.secret, "git.secret"),
    )
    if url and not _GIT_URL.fullmatch(url):
        raise InvalidInput(
            "a git repository cannot be used",
            where=url.rpartition("@")[2],
            why="it is no https or ssh address, or has a password in it",
            todo="name it without credentials; a Secret (build.git.secret) or git's own settings hold them",
        )
    return RenderedGit(url, ref, folder, containerfile, secret) if url else None


def _compile(given: Compile, text: Callable[[str, str], str]) -> Compile:
    command, unsupported = (
        text(given.command, "compile.command"),
        text(given.unsupported, "compile.unsupported"),
    )
    return replace(given, command=command, unsupported=unsupported)


def context_files(files: Mapping[str, str], build: Build) -> dict[str, str]:
    """Those of a recipe's files that are sent along, by their path in the build's context; as they
    are, no templates."""
    if not build.context:
        return {}
    folder = f"{build.context.strip('/')}/"
    return {
        path.removeprefix(folder): text
        for path, text in sorted(files.items())
        if path.startswith(folder)
    }
