# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Image references: registry, repository, tag and digest, read as container runtimes read them.
Pure.

The grammar is that of github.com/distribution/reference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .._errors import InvalidInput

DOCKER_HUB = "docker.io"
# Docker Hub's images are named after docker.io, and served by another host.
_HUB_HOST = "registry-1.docker.io"
_HUB_NAMES = frozenset({DOCKER_HUB, "index.docker.io", _HUB_HOST})
_LONGEST_REPOSITORY = 255

_LABEL = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_REGISTRY = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?")
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_PART}(?:/{_PART})*")
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")


@dataclass(frozen=True)
class Reference:
    """Where an image is. registry is host[:port]; a digest says more than a tag, which then only
    tells its origin."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        digest = f"@{self.digest}" if self.digest else ""
        return f"{self.name}{tag}{digest}"

    @property
    def name(self) -> str:
        """registry/repository."""
        return f"{self.registry}/{self.repository}"

    @property
    def host(self) -> str:
        """host[:port] that serves the registry."""
        return _HUB_HOST if self.registry == DOCKER_HUB else self.registry

    @property
    def version(self) -> str:
        """What is asked of the registry: the digest, else the tag."""
        return self.digest or self.tag

    def pinned(self, digest: str) -> Reference:
        """The same image by its digest alone."""
        return replace(self, tag="", digest=digest)

    def with_tag(self, tag: str) -> Reference:
        """Another tag of the same repository; InvalidInput for what is no tag."""
        if not _TAG.fullmatch(tag):
            raise _invalid(
                f"{self.name}:{tag}",
                f'"{tag}" is no tag',
                "use letters, digits, _ . and -, at most 128",
            )
        return replace(self, tag=tag, digest="")


def is_digest(text: str) -> bool:
    """Whether a text is a digest, of an algorithm that we can compute."""
    return _DIGEST.fullmatch(text) is not None


def parse(text: str) -> Reference:
    """Read a reference; what it leaves out is docker.io, library/ and latest. Raises InvalidInput."""
    rest, at, digest = text.partition("@")
    if at and not is_digest(digest):
        raise _invalid(
            text, f'"{digest}" is no digest', "write it as sha256: and 64 hexadecimal digits"
        )
    registry, repository = _split(rest)
    repository, colon, tag = repository.partition(":")
    if registry == DOCKER_HUB and "/" not in repository:
        repository = f"library/{repository}"
    if not _REGISTRY.fullmatch(registry):
        raise _invalid(
            text, f'"{registry}" is no host', "write host or host:port in front of the first slash"
        )
    if not _REPOSITORY.fullmatch(repository) or len(repository) > _LONGEST_REPOSITORY:
        why = f'"{repository}" is no repository'
        raise _invalid(
            text, why, "use lower-case letters, digits, . _ - and slashes between them, at most 255"
        )
    reference = Reference(registry, repository, digest=digest)
    if colon or not digest:
        reference = replace(reference.with_tag(tag if colon else "latest"), digest=digest)
    return reference


def _split(text: str) -> tuple[str, str]:
    """(registry, the rest). A first part is a registry if it has a dot, a port or a capital, or is
    localhost."""
    first, slash, rest = text.partition("/")
    if slash and (set(".:[") & set(first) or first == "localhost" or first != first.lower()):
        return (DOCKER_HUB if first in _HUB_NAMES else first), rest
    return DOCKER_HUB, text


def _invalid(text: str, why: str, todo: str) -> InvalidInput:
    return InvalidInput(f'Cannot read the image reference "{text}"', why=why, todo=todo)
