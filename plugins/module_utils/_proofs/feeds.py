# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of any kind that proofs declare to look at, kept true by a watch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from .._json import Obj, part


@dataclass(frozen=True)
class Watched:
    """Objects that a proof looks at: those of a kind in a namespace, or one of them. namespace does
    not count for a kind of the cluster. name: "" for all of them."""

    api_version: str
    kind: str
    namespace: str
    name: str = ""

    @property
    def collection(self) -> Watched:
        """All objects of the kind in the namespace."""
        return replace(self, name="")


@dataclass
class Feed:
    """The objects of one kind and namespace by name, as far as proofs look at them.

    complete: whether all have been seen once. error: one sentence why they cannot be read. readers:
    name of an object ("" for any) -> the nodes whose proofs looked at it ("" for the cluster).
    node_readers: nodes whose proofs looked at the objects of their own node.
    """

    objects: dict[str, Obj] = field(default_factory=dict)
    complete: bool = False
    error: str = ""
    readers: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    node_readers: set[str] = field(default_factory=set)
    _listed: set[str] = field(default_factory=set)
    _on_nodes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def read_by(self, name: str, node: str) -> Feed:
        """The feed itself; takes down who looks at which object, and so has to look again when that
        changes."""
        self.readers[name].add(node)
        return self

    def on_node(self, node: str) -> list[Obj]:
        """The objects that name this node as theirs (spec.nodeName), by name; takes down that it
        has to look again when one of them changes, and for no other."""
        self.node_readers.add(node)
        return [self.objects[name] for name in sorted(self._on_nodes.get(node, ()))]

    def put(self, obj: Obj, *, deleted: bool = False) -> set[str]:
        """Take in an object; returns who looks at it."""
        name = obj["metadata"]["name"]
        nodes = {_node(self._drop(name))}
        if not deleted:
            self._keep(obj)
            self._listed.add(name)
            nodes.add(_node(obj))
        return (
            self.readers.get(name, set()) | self.readers.get("", set()) | nodes & self.node_readers
        )

    def put_all(self, objects: Iterable[Obj]) -> None:
        """Take in everything that is there."""
        self.objects.clear()
        self._on_nodes.clear()
        for obj in objects:
            self._keep(obj)
        self.complete, self.error = True, ""

    def begin(self) -> None:
        """Everything is going to be told once more; what was known stays valid until then."""
        self._listed.clear()

    def end(self) -> set[str]:
        """Everything was told: what was not is gone. Returns all who look at any of it."""
        self.put_all([obj for name, obj in self.objects.items() if name in self._listed])
        return self.everyone()

    def fail(self, error: str) -> set[str]:
        """It cannot be read, for this reason; returns all who look at it."""
        self.complete, self.error = False, error
        return self.everyone()

    def everyone(self) -> set[str]:
        """All who look at any of it."""
        return self.node_readers.union(*self.readers.values())

    def _keep(self, obj: Obj) -> None:
        name = obj["metadata"]["name"]
        self.objects[name] = obj
        self._on_nodes[_node(obj)].add(name)

    def _drop(self, name: str) -> Obj:
        before = self.objects.pop(name, {})
        self._on_nodes[_node(before)].discard(name)
        return before


def _node(obj: Obj) -> str:
    """The node that an object names as its own, "" for none."""
    return str(part(obj, "spec").get("nodeName") or "")
