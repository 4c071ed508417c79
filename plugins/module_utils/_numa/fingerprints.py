# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fingerprint of the pods of a node, which exporters publish and the scheduler compares. Pure.

Algorithm: k8stopologyawareschedwg/podfingerprint v0.3.0, podfingerprint.go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from .._errors import PackageNotFound
from .pods_on_nodes import NumaPod

try:
    import xxhash

    AVAILABLE = True
except ImportError:
    AVAILABLE = False

_PREFIX = "pfp0v001"
WELL_FORMED = re.compile(rf"{_PREFIX}[0-9a-f]{{16}}", re.ASCII)

ALL = "all"
EXCLUSIVE = "with-exclusive-resources"


@dataclass(frozen=True)
class PodExclude:
    """Pods that an exporter does not look at: globs as Go's filepath.Match has them."""

    namespace: str
    name: str

    def holds(self, pod: NumaPod) -> bool:
        """Whether the pod is left out. A glob that is none holds for nothing, as in the exporter."""
        return glob_matches(self.namespace, pod.namespace) and glob_matches(self.name, pod.name)


def require_xxhash() -> None:
    """Raise PackageNotFound where the package is missing."""
    if not AVAILABLE:
        raise PackageNotFound("fingerprints of pods cannot be computed", "xxhash>=3.0")


def fingerprint(pods: Iterable[tuple[str, str]]) -> str:
    """Of a set of pods, each (namespace, name)."""
    hashes = sorted(
        xxhash.xxh64_intdigest(name.encode(), seed=xxhash.xxh64_intdigest(namespace.encode()))
        for namespace, name in pods
    )
    together = xxhash.xxh64()
    for each in hashes:
        together.update(each.to_bytes(8, "little"))
    return f"{_PREFIX}{together.hexdigest()}"


def counted(
    pods: Iterable[NumaPod],
    method: str,
    resources: frozenset[str],
    excludes: Sequence[PodExclude] = (),
) -> list[tuple[str, str]]:
    """The pods that are in a fingerprint by this method, less those that the exporter leaves out.

    resources: those that the NodeResourceTopology has, of which devices count.
    """
    return [
        (pod.namespace, pod.name)
        for pod in pods
        if (method != EXCLUSIVE or pod.resources.has_exclusive(resources))
        and not any(exclude.holds(pod) for exclude in excludes)
    ]


def glob_matches(glob: str, text: str) -> bool:
    """As Go's filepath.Match: * and ? match no /, [^a-z] is everything else, \\ quotes."""
    try:
        return bool(_compiled(glob).fullmatch(text))
    except re.error:
        return False


@cache
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(
        _TOKEN.sub(lambda found: _TRANSLATED.get(found[0]) or _literal(found[0]), glob),
        re.DOTALL,
    )


_TOKEN = re.compile(r"\[(?:\\.|[^\]\\])+\]|\\.|.", re.DOTALL)
_TRANSLATED = {"*": "[^/]*", "?": "[^/]"}


def _literal(token: str) -> str:
    """A class of characters as it is, anything else as itself; a [ without ] matches nothing."""
    if token[0] == "[":
        return token if len(token) > 1 else "(?!)"
    return re.escape(token[-1])
