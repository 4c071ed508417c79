# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What preflight has found: an answer for each kernel, and what else is in the way. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .._json import Obj
from .._nodes.groups import NodeGroup
from .._states.record.image_entries import BY_RECIPE
from .._states.validation.table import aligned

CANNOT, WOULD_BUILD, NONE_NEEDED = "cannot", "would build", "none needed"
# By the source that driver_container names.
_ANSWERS = {
    "prebuilt": "prebuilt",
    "built before": "built",
    "built": "built",
    "would be built": WOULD_BUILD,
    BY_RECIPE: "built by the recipe",
    "kept": "kept",
    "not asked": "not known",
}
_HEAD = ("KERNEL", "SYSTEM", "NODES", "STATE", "IMAGE")


@dataclass(frozen=True)
class KernelImage:
    """What the nodes of a kernel get for a state ("" where no state has images by kernel). system:
    their operating system. nodes: how many run it. image: the one that is there, or is to be pushed.
    why: what a person should know of it."""

    kernel: str
    system: str
    group: str
    nodes: int
    state: str
    answer: str
    image: str = ""
    why: str = ""


@dataclass(frozen=True)
class PreflightFinding:
    """Something that an enable would meet. blocks: whether it would stop it; what is only not known
    does not."""

    check: str
    message: str
    blocks: bool = True


def kernel_answers(
    groups: Iterable[NodeGroup], rows: Sequence[Mapping[str, Any]]
) -> list[KernelImage]:
    """The answers, by kernel and state. groups: by kernel. rows: of driver_container."""
    found = []
    for group in groups:
        own = [row for row in rows if row["group"] == group.id]
        found += [_answer(group, row) for row in own] or [
            KernelImage(
                group.system.kernel, _system(group), group.id, len(group.nodes), "", NONE_NEEDED
            )
        ]
    return sorted(found, key=lambda each: (each.kernel, each.state, each.group))


def _answer(group: NodeGroup, row: Mapping[str, Any]) -> KernelImage:
    return KernelImage(
        kernel=group.system.kernel,
        system=_system(group),
        group=group.id,
        nodes=len(group.nodes),
        state=row["state"],
        answer=_ANSWERS.get(row["source"], CANNOT),
        image=str(row["image"] or row["target"]),
        why=str(row["problem"]),
    )


def _system(group: NodeGroup) -> str:
    return f"{group.system.os_id} {group.system.os_version}".strip()


@dataclass(frozen=True)
class PreflightResult:
    """All of it, for one recipe. needed: all images, by name (image) and with their digest (pinned, ""
    where that is not known). staged: kernels that the record has."""

    recipe: str
    enabled: bool
    images: Sequence[KernelImage]
    findings: Sequence[PreflightFinding]
    staged: Sequence[str] = ()
    needed: Sequence[Obj] = ()

    @property
    def ready(self) -> bool:
        """Whether an enable would go through, builds included."""
        return not any(finding.blocks for finding in self.findings) and not any(
            each.answer == CANNOT for each in self.images
        )

    @property
    def doubtful(self) -> bool:
        """Whether there is something of which nobody knows whether an enable finds it."""
        return any(not finding.blocks for finding in self.findings) or any(
            each.why and each.answer != CANNOT for each in self.images
        )

    @property
    def coming(self) -> list[str]:
        """The kernels that no node runs yet."""
        run = {each.kernel for each in self.images if each.nodes}
        return sorted({each.kernel for each in self.images} - run)

    def to_dict(self) -> Obj:
        """As the module returns it."""
        return {
            "recipe": self.recipe,
            "enabled": self.enabled,
            "ready": self.ready,
            "kernels": [asdict(each) for each in self.images],
            "findings": [asdict(finding) for finding in self.findings],
            "images": list(self.needed),
            "staged": list(self.staged),
            "next": self.todo,
        }

    @property
    def todo(self) -> str:
        """What a person does next, one sentence."""
        if not self.ready:
            return "mend what is marked with !, then run preflight again"
        if not self.enabled:
            return "run enable"
        if any(each.answer == WOULD_BUILD for each in self.images):
            return (
                "hardware_enablement_build=true builds what is missing now, enable would otherwise"
            )
        if not set(self.coming) <= set(self.staged):
            return "hardware_enablement_stage=true deploys these drivers before a node reboots"
        if self.coming:
            return "nodes may reboot: their driver is deployed"
        if self.doubtful:
            return "see whether what is marked with ~ is right; enable finds all else that it needs"
        return "nothing: enable finds all that it needs"


def table(result: PreflightResult) -> list[str]:
    """The lines that a person is shown."""
    kernels = len({each.kernel for each in result.images})
    head = (
        f"{result.recipe}: {'nothing is' if result.ready else 'something is'} in the way,"
        f" {kernels} kernel{'s' if kernels != 1 else ''}"
    )
    rows = [_HEAD, *map(_cells, result.images)] if result.images else []
    whys = {(each.why, each.answer == CANNOT): None for each in result.images if each.why}
    found = [(f"{each.check}: {each.message}", each.blocks) for each in result.findings]
    marked = [f"{'!' if blocks else '~'} {text}" for text, blocks in (*whys, *found)]
    return [head, *(aligned(rows) if rows else []), *marked, f"-> {result.todo}"]


def _cells(image: KernelImage) -> tuple[str, ...]:
    """A row of the table."""
    nodes = str(image.nodes) if image.nodes else "none yet"
    what = f"{image.answer} {image.image}".rstrip()
    return image.kernel, image.system, nodes, image.state or "-", what
