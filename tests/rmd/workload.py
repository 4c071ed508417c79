# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workload objects: what the daemon keeps of one, and both dialects of its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.rmd.faults import Dialect

Obj = dict[str, Any]
_UINT32 = 1 << 32


@dataclass
class Workload:
    """One workload; None where a value was not given. plugins: plugin -> parameters (0.3), pstate:
    ratio and monitoring (0.2).
    """

    id: str = ""
    core_ids: list[str] = field(default_factory=list)
    task_ids: list[str] = field(default_factory=list)
    policy: str = ""
    status: str = ""
    cos_name: str = ""
    max: int | None = None
    min: int | None = None
    percentage: int | None = None
    mbps: int | None = None
    plugins: dict[str, Obj] = field(default_factory=dict)
    pstate: Obj = field(default_factory=dict)
    uuid: str = ""
    origin: str = ""

    @property
    def mba(self) -> int | None:
        """The bandwidth that is asked for, in whatever unit."""
        return self.percentage if self.percentage is not None else self.mbps


class _Reader:
    """Takes fields out of an object as Go's decoder does: names in any case, null is nothing, wrong
    types are told."""

    def __init__(self, obj: object, place: str = "") -> None:
        self.wrong = ""
        self.place = place
        if not isinstance(obj, dict):
            self.wrong = _mismatch(obj, place or "value", "struct")
            obj = {}
        self.fields = {str(key).lower(): value for key, value in obj.items() if value is not None}

    def text(self, name: str) -> str:
        value = self.fields.get(name, "")
        if not isinstance(value, str):
            self._fail(value, name, "string")
            return ""
        return value

    def texts(self, name: str) -> list[str]:
        value = self.fields.get(name, [])
        if not isinstance(value, list):
            self._fail(value, name, "[]string")
            return []
        for item in value:
            if not isinstance(item, str):
                self._fail(item, name, "string")
                return []
        return list(value)

    def number(self, name: str) -> int | None:
        value = self.fields.get(name)
        if value is not None and not _is_uint32(value):
            self._fail(value, name, "uint32")
            return None
        return value

    def sub(self, name: str) -> _Reader:
        return _Reader(self.fields.get(name, {}), f"{self.place}.{name}".strip("."))

    def _fail(self, value: object, name: str, kind: str) -> None:
        self.wrong = self.wrong or _mismatch(value, f"{self.place}.{name}".strip("."), kind)


def decode(body: bytes, dialect: Dialect) -> tuple[Workload, str]:
    """The workload, and what is wrong with the body as Go's decoder would say it, "" for nothing.

    A body that is no JSON gives an empty workload; one with a value of a wrong type all the others.
    """
    if not body:
        return Workload(), "EOF"
    try:
        obj = json.loads(body)
    except ValueError:
        return Workload(), "invalid character in the request's body"
    if obj is None:
        return Workload(), ""
    top = _Reader(obj)
    workload = Workload(
        id=top.text("id"),
        core_ids=top.texts("core_ids"),
        task_ids=top.texts("task_ids"),
        policy=top.text("policy"),
        status=top.text("status"),
        cos_name=top.text("cos_name"),
        uuid=top.text("uuid"),
        origin=top.text("origin"),
    )
    readers = [top]
    if dialect is Dialect.V03:
        rdt = top.sub("rdt")
        cache, mba = rdt.sub("cache"), rdt.sub("mba")
        workload.percentage, workload.mbps = mba.number("percentage"), mba.number("mbps")
        plugins = top.fields.get("plugins", {})
        if isinstance(plugins, dict) and all(isinstance(value, dict) for value in plugins.values()):
            workload.plugins = plugins
        else:
            top.wrong = top.wrong or _mismatch(
                plugins, "plugins", "map[string]map[string]interface {}"
            )
        readers += [rdt, cache, mba]
    else:
        cache, pstate = top.sub("cache"), top.sub("pstate")
        workload.pstate = _pstate(pstate)
        readers += [cache, pstate]
    workload.max, workload.min = cache.number("max"), cache.number("min")
    return workload, next((reader.wrong for reader in readers if reader.wrong), "")


def encode(workload: Workload, dialect: Dialect) -> Obj:
    """As GET gives it: what is empty is left out, but id, status, cos_name, origin and the empty
    objects below."""
    found: Obj = {"id": workload.id} if workload.id else {}
    for name in ("core_ids", "task_ids", "policy"):
        if value := getattr(workload, name):
            found[name] = value
    found["status"], found["cos_name"] = workload.status, workload.cos_name
    cache = _given({"max": workload.max, "min": workload.min})
    if dialect is Dialect.V03:
        found["rdt"] = {
            "cache": cache,
            "mba": _given({"percentage": workload.percentage, "mbps": workload.mbps}),
        }
        if workload.plugins:
            found["plugins"] = workload.plugins
    else:
        found["cache"], found["pstate"] = cache, workload.pstate
    if workload.uuid:
        found["uuid"] = workload.uuid
    found["origin"] = workload.origin
    return found


def _pstate(reader: _Reader) -> Obj:
    """0.2's typed P-state: a float and a string."""
    found: Obj = {}
    ratio = reader.fields.get("ratio")
    if isinstance(ratio, (int, float)) and not isinstance(ratio, bool):
        found["ratio"] = ratio
    elif ratio is not None:
        reader.wrong = reader.wrong or _mismatch(ratio, "pstate.ratio", "float64")
    if "monitoring" in reader.fields:
        found["monitoring"] = reader.text("monitoring")
    return found


def _given(values: Mapping[str, int | None]) -> Obj:
    return {key: value for key, value in values.items() if value is not None}


def _is_uint32(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _UINT32


def _mismatch(value: object, name: str, kind: str) -> str:
    """As Go's encoding/json puts it."""
    told = {bool: "bool", str: "string", list: "array", dict: "object"}.get(type(value), "number")
    if told == "number" and kind == "uint32":
        told = f"number {json.dumps(value)}"
    return f"json: cannot unmarshal {told} into Go struct field RDTWorkLoad.{name} of type {kind}"
