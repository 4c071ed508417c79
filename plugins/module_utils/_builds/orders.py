# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of builds: what is asked of a builder, what comes back, and what a group of nodes ends
up with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from .._errors import EnablementError
from .._states.record import image_entries
from .failures import BuildFailure
from .inputs import Inputs
from .memory import Remembered


class Source(str, Enum):
    """How a group of nodes came by its image."""

    PREBUILT = "prebuilt"
    BUILT_BEFORE = "built before"
    BUILT = "built"
    WOULD_BUILD = "would be built"
    BY_RECIPE = image_entries.BY_RECIPE
    KEPT = "kept"
    UNASKED = "not asked"
    NONE = "none"


class UnknownImageError(EnablementError):
    """A registry that could be asked, but not by a run that only looks."""


def build_key(target: str, inputs: str, environment: str) -> str:
    """What a build is known by (64 hex digits): hash of its inputs, where it is pushed, hash of how
    it is made."""
    return hashlib.sha256(f"{target} {inputs} {environment}".encode()).hexdigest()


def order_name(owner: str, group: str, key: str) -> str:
    """The name of an order. owner: recipe and state, since others in the same namespace may build
    the same.

    key: see build_key.
    """
    return f"build-{group}-{hashlib.sha256(f'{owner} {key}'.encode()).hexdigest()[:10]}"


@dataclass(frozen=True)
class SecretNames:
    """The Secrets that a build may see, all of them where it runs. git: for the sources, "" for
    none; git_keys: what is in it. files: name of a folder -> Secret, whose keys are files there
    while the image is built."""

    git: str = ""
    git_keys: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def all(self) -> list[str]:
        """Their names."""
        return [name for name in (self.git, *self.files.values()) if name]


@dataclass(frozen=True)
class BuildOrder:
    """One image to build. name: fit for objects, the same for the same build. target: where to push
    it (repo:tag).

    key: see build_key.
    """

    name: str
    group: str
    target: str
    inputs: Inputs
    key: str = ""
    secrets: SecretNames = field(default_factory=SecretNames)

    @property
    def title(self) -> str:
        """The order as a person names it."""
        return f"the image for kernel {self.inputs.kernel}"

    def to_dict(self) -> dict[str, Any]:
        """The order as data, for whoever builds it elsewhere (image_build)."""
        inputs = self.inputs
        return {
            "name": self.name,
            "target": self.target,
            "kernel": inputs.kernel,
            "base": inputs.base,
            "containerfile": inputs.containerfile,
            "args": inputs.all_args,
            "labels": inputs.labels,
            "files": dict(inputs.files),
            "git": asdict(inputs.git) if inputs.git else None,
            "secrets": asdict(self.secrets),
            "arch": inputs.arch,
        }


@dataclass(frozen=True)
class Built:
    """What a builder says of one order: done, or why not. log: the last lines where it failed."""

    order: BuildOrder
    failure: BuildFailure | None = None
    log: Sequence[str] = ()

    @property
    def said(self) -> str:
        """How it ended, half a sentence."""
        return self.failure.text if self.failure else "built"


@dataclass(frozen=True)
class Found:
    """An image that a look-up has found. reference: pinned by digest. labels None: they could not
    be read."""

    reference: str
    digest: str
    labels: Mapping[str, str] | None


@dataclass(frozen=True)
class Resolution:
    """What a group of nodes ends up with. image: pinned reference, "" where none fits. name: the
    reference by which it was looked up. tried: one sentence each.

    problem: why there is no image; with source KEPT, why it is still the one of before. remembered:
    the build that failed, where one did.
    """

    group: str
    kernel: str
    image: str = ""
    name: str = ""
    source: Source = Source.NONE
    inputs: str = ""
    tried: tuple[str, ...] = ()
    problem: str = ""
    remembered: Remembered = field(default_factory=Remembered)
