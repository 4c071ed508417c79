# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that nodes will run and that none runs yet: what a person says of them, and the groups of
nodes that there will be. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from .._errors import InvalidInput
from .groups import NodeGroup, odd_fact
from .system import label_form


@dataclass(frozen=True, order=True)
class ExpectedKernel:
    """A kernel as its nodes' kubelets will name it. The others are "" where they stay as the nodes
    have them; os_build: of RHCOS; driver_toolkit: OpenShift's image with its headers."""

    kernel: str
    os_id: str = ""
    os_version: str = ""
    os_build: str = ""
    arch: str = ""
    driver_toolkit: str = ""

    def to_spec(self) -> dict[str, str]:
        """The kernel as parse_expected() takes it."""
        return {name: value for name, value in asdict(self).items() if value}


_FIELDS = tuple(asdict(ExpectedKernel("")))


def parse_expected(
    entries: Sequence[Mapping[str, Any] | str] | None,
) -> tuple[ExpectedKernel, ...]:
    """Kernels as a person names them: by their name alone, or with what else changes. Raises
    InvalidInput."""
    return tuple(sorted({_parse(entry) for entry in entries or ()}))


def _parse(entry: Mapping[str, Any] | str) -> ExpectedKernel:
    given = {"kernel": entry} if isinstance(entry, str) else entry
    if not isinstance(given, Mapping) or set(given) - set(_FIELDS):
        raise _wrong(entry, f"it is neither a name nor a mapping of {', '.join(_FIELDS)}")
    found = ExpectedKernel(**{name: str(given.get(name) or "") for name in _FIELDS})
    odd = odd_fact(found, ("os",)) or odd_fact(
        # Whoever names no architecture means that of the nodes.
        replace(found, arch=found.arch or "any"),
        ("kernel",),
    )
    if odd:
        raise _wrong(entry, f"its {odd}")
    return found


def _wrong(entry: object, why: str) -> InvalidInput:
    return InvalidInput(
        f"{entry!r} is no kernel to prepare for",
        why=why,
        todo="give what `uname -r` says there, such as 6.8.0-71-generic",
    )


def groups_to_come(
    expected: Iterable[ExpectedKernel], groups: Sequence[NodeGroup]
) -> Iterator[NodeGroup]:
    """The groups, without nodes, that those of today become with these kernels: each as it is in all
    other facts. groups: told apart by all facts of systems."""
    for kernel in expected:
        for group in groups:
            now = group.system
            if kernel.arch in ("", now.arch) and _becomes(now.os_id, kernel.os_id):
                later = replace(
                    now,
                    os_id=kernel.os_id or now.os_id,
                    kernel=kernel.kernel,
                    kernel_label=label_form(kernel.kernel),
                    os_version=kernel.os_version or now.os_version,
                    os_build=kernel.os_build,
                )
                yield replace(group, system=later, nodes=(), coming=(), by_name={})


def _becomes(now: str, later: str) -> bool:
    """Whether a system of one ID can be one of another after its update: RHCOS calls itself RHEL from
    OpenShift 4.19 on."""
    return later in ("", now) or (now, later) == ("rhcos", "rhel")
