# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of builds: what is asked of a builder, what comes back, and what a group of nodes ends up with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, Protocol

from ansible_collections.hardware.enablement.plugins.module_utils.builds.inputs import Inputs


class Source(str, Enum):
    """How a group of nodes came by its image."""

    PREBUILT = "prebuilt"
    BUILT_BEFORE = "built before"
    BUILT = "built"
    WOULD_BUILD = "would be built"
    KEPT = "kept"
    NONE = "none"


def order_name(owner: str, group: str, target: str, inputs: str) -> str:
    """The name of an order. owner: recipe and state, since others in the same namespace may build from the same inputs.

    inputs: their hash.
    """
    digest = hashlib.sha256(f"{owner} {target} {inputs}".encode()).hexdigest()
    return f"build-{group}-{digest[:10]}"


@dataclass(frozen=True)
class Order:
    """One image to build. name: fit for objects, the same for the same inputs. target: where to push it (repo:tag)."""

    name: str
    group: str
    target: str
    inputs: Inputs

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
            "containerfile": inputs.containerfile,
            "args": inputs.all_args,
            "labels": inputs.labels,
            "files": dict(inputs.files),
            "git": asdict(inputs.git) if inputs.git else None,
            "arch": inputs.arch,
        }


@dataclass(frozen=True)
class Built:
    """What a builder says of one order: done, or why not. log: the last lines where it failed.

    repeats: the same inputs would fail again, so nobody need try.
    """

    order: Order
    problem: str = ""
    log: Sequence[str] = ()
    repeats: bool = False


class Builder(Protocol):
    """Builds images and pushes them."""

    name: str

    def build(self, orders: Sequence[Order], say: Callable[[str], None]) -> list[Built]:
        """Build all orders, several at a time; comes back when each is done or has failed."""


@dataclass(frozen=True)
class Found:
    """An image that a look-up has found. reference: pinned by digest. labels None: they could not be read."""

    reference: str
    digest: str
    labels: Mapping[str, str] | None


@dataclass(frozen=True)
class Resolution:
    """What a group of nodes ends up with. image: pinned reference, "" where none fits. tried: one sentence each.

    problem: why there is no image; with source KEPT, why it is still the one of before. failed: hash of the inputs
    whose build failed, "" for none.
    """

    group: str
    kernel: str
    image: str = ""
    source: Source = Source.NONE
    inputs: str = ""
    tried: tuple[str, ...] = ()
    problem: str = ""
    failed: str = ""
