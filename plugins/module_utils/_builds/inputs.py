# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an image is built from, and the hash over it that says whether it has to be built again.
Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from .._recipes.loading.recipe import Compile

# Image labels. The kernel is compared after every look-up, since two kernels may share a tag.
KERNEL_LABEL = "hardware-enablement.io/kernel"
INPUTS_LABEL = "hardware-enablement.io/inputs"
# Of the OCI image specification, annotations.md.
BASE_NAME_LABEL = "org.opencontainers.image.base.name"
BASE_DIGEST_LABEL = "org.opencontainers.image.base.digest"

_TAG_LENGTH = 128  # of the OCI distribution specification
_SHOWN_HASH = 12


@dataclass(frozen=True)
class GitSource:
    """A folder of a repository at one commit (40 hex digits). containerfile: in it, where the
    inputs give none."""

    url: str
    commit: str
    folder: str = ""
    containerfile: str = ""


@dataclass(frozen=True)
class Inputs:
    """Everything that decides what comes out of a build, for one group of nodes.

    containerfile: its text, "" for that of git. base: the base image's reference as it is pulled;
    base_digest decides. base_arg: the build argument that gets it. files: the build context, path
    -> text. git: the context instead. compile: the same in short, for who has no Containerfile's
    builder.
    """

    kernel: str
    arch: str
    containerfile: str
    base: str = ""
    base_digest: str = ""
    base_arg: str = "BASE"
    args: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    git: GitSource | None = None
    compile: Compile | None = None

    @property
    def hash(self) -> str:
        """64 hex digits. Where the base image was pulled from does not count, nor who builds, or
        could."""
        counted = {key: value for key, value in asdict(self).items() if key != "base"}
        if self.compile:
            del counted["compile"]["unsupported"]
        return hashlib.sha256(
            json.dumps(counted, sort_keys=True, separators=(",", ":")).encode()
        ).hexdigest()

    def tag(self, kernel_tag: str) -> str:
        """The tag of what is built: another one for other inputs, so that nothing that runs is
        overwritten."""
        return f"{kernel_tag[: _TAG_LENGTH - _SHOWN_HASH - 1]}-{self.hash[:_SHOWN_HASH]}"

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the image."""
        labels = {KERNEL_LABEL: self.kernel, INPUTS_LABEL: self.hash}
        if self.base:
            labels |= {BASE_NAME_LABEL: self.base, BASE_DIGEST_LABEL: self.base_digest}
        return labels

    @property
    def all_args(self) -> dict[str, str]:
        """The build arguments: the recipe's, and the base image by its digest."""
        return {**({self.base_arg: self.base} if self.base else {}), **self.args}
