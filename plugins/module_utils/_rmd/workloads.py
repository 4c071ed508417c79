# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What RMD is asked for, and what it says that runs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, Optional, TypeVar

from .._json import Obj, elements
from .._nodes.cpuset import to_ranges

T = TypeVar("T")
P = TypeVar("P", bound="RmdSettings")

GUARANTEED = "guaranteed"
BESTEFFORT = "besteffort"
SHARED = "shared"
# The status of what a node's agent is told to bring about; whether it does, its report says.
DECLARED = "Declared"


def _parameter(kind: str, title: str, choices: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a field of a part is. kind: its type as Ansible names it, int, float or str. title: its
    name in an RmdNodeState."""
    return {"kind": kind, "title": title, "choices": choices}


@dataclass(frozen=True)
class RmdSettings:
    """One part of a workload. Options, JSON, CRDs, annotations and RmdNodeStates are made of it.

    about: what it is. group: what it belongs to, in the words of RMD v0.3.
    """

    about: ClassVar[str]
    group: ClassVar[str]

    @classmethod
    def parameters(cls) -> Mapping[str, Mapping[str, Any]]:
        """The parameters by name: kind, title, choices."""
        return {each.name: each.metadata for each in fields(cls)}

    @classmethod
    def read(
        cls: type[P], found: Mapping[str, Any], readers: Mapping[str, Callable[[Any], Any]]
    ) -> Optional[P]:
        """The part, if found says something of it. readers: by kind, None for what says nothing."""
        said = {
            name: value
            for name, each in cls.parameters().items()
            if (value := readers[each["kind"]](found.get(name))) is not None
        }
        return cls(**said) if said and cls.required() <= set(said) else None

    @classmethod
    def required(cls) -> set[str]:
        """The parameters without which it says nothing."""
        return {each.name for each in fields(cls) if each.default is MISSING}

    def given(self) -> Obj:
        """What is said of it."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Cache(RmdSettings):
    """Ways of every L3 cache that one of the workload's CPUs belongs to."""

    about = "L3 ways; max equal to min is exclusive."
    group = "rdt"

    max: int = field(metadata=_parameter("int", "Cache Max"))
    min: int = field(metadata=_parameter("int", "Cache Min"))

    @property
    def pool(self) -> str:
        """The pool that RMD takes the ways from: guaranteed, besteffort or shared; "" where it
        would refuse."""
        if self.max == self.min:
            return GUARANTEED if self.max else SHARED
        return BESTEFFORT if self.max > self.min > 0 else ""


@dataclass(frozen=True)
class Mba(RmdSettings):
    """Memory bandwidth: in percent or in megabytes per second, by the mode that the daemon runs in."""

    about = "Memory bandwidth, in one of the two units."
    group = "rdt"

    percentage: Optional[int] = field(default=None, metadata=_parameter("int", "MBA Percentage"))
    mbps: Optional[int] = field(default=None, metadata=_parameter("int", "MBA Mbps"))


@dataclass(frozen=True)
class Pstate(RmdSettings):
    """What the P-state plugin is asked for. monitoring: "on" or "off"."""

    about = "Settings of RMD's P-state plugin."
    group = "plugins"

    ratio: Optional[float] = field(default=None, metadata=_parameter("float", "P-State Ratio"))
    monitoring: Optional[str] = field(
        default=None, metadata=_parameter("str", "P-State Monitoring", ("on", "off"))
    )


# Beside cores and TEXTS, all that a workload says, by its name.
PARTS: Mapping[str, type[RmdSettings]] = {"cache": Cache, "mba": Mba, "pstate": Pstate}


def in_groups(parts: Mapping[str, T]) -> dict[str, dict[str, T]]:
    """Parts by their names as RMD v0.3, and the operator's since v0.2, nest them."""
    found: dict[str, dict[str, T]] = {}
    for name, value in parts.items():
        found.setdefault(PARTS[name].group, {})[name] = value
    return found


@dataclass(frozen=True)
class Workload:
    """What is wanted, by uuid. cores are sorted and each is there once, in whatever order they are
    given. Fields that say what they are about are TEXTS, "" for nothing. pod: the uid of the pod
    that it is for, "" for none."""

    uuid: str
    cores: tuple[int, ...]
    policy: str = field(
        default="",
        metadata={"about": "A policy of RMD; wins over rdt, cache, plugins and pstate."},
    )
    cache: Optional[Cache] = None
    mba: Optional[Mba] = None
    pstate: Optional[Pstate] = None
    pod: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cores", tuple(sorted(set(self.cores))))

    def effective(self) -> Workload:
        """What RMD would make of it: a policy takes the place of everything else but the cores."""
        return replace(self, cache=None, mba=None, pstate=None) if self.policy else self

    def texts(self) -> dict[str, str]:
        """What it says of TEXTS."""
        return {name: value for name in TEXTS if (value := getattr(self, name))}

    def parts(self) -> dict[str, Obj]:
        """What it says beside cores and texts, by the names of PARTS."""
        found = {name: getattr(self, name) for name in PARTS}
        return {name: part.given() for name, part in found.items() if part and part.given()}

    def is_same_as(self, wanted: Workload) -> bool:
        """Whether what runs is what is wanted; the uuid does not count.

        What is wanted of P-states may leave a value open, which RMD v0.2 then fills in.
        """
        mine, other = self.effective(), wanted.effective()
        if mine.pstate and other.pstate:
            other = replace(other, pstate=replace(mine.pstate, **other.pstate.given()))
        return replace(mine, uuid="") == replace(other, uuid="")

    def describe(self) -> Obj:
        """As results and diffs show it: the options of rmd_workload, without those that are not
        set."""
        shown: Obj = {"uuid": self.uuid, "core_ids": [str(core) for core in self.cores]}
        return {**shown, **self.texts(), **self.effective().parts()}


# What a workload says in a word, by its name: what that is. Options, JSON, CRDs and annotations have
# it, as they have PARTS.
TEXTS: Mapping[str, str] = {
    each.name: each.metadata["about"] for each in fields(Workload) if each.metadata
}


@dataclass(frozen=True)
class RunningWorkload:
    """A workload as a node's writer lists it. body: all that this says, for putting it back.
    has_more: it has what a Workload cannot say, such as tasks, or parameters of other plugins."""

    id: str
    status: str
    cos_name: str
    origin: str
    workload: Workload
    body: Mapping[str, Any] = field(compare=False, repr=False)
    has_more: bool = False

    @classmethod
    def expected(cls, workload: Workload) -> RunningWorkload:
        """One that nothing has made yet."""
        return cls(id="", status="", cos_name="", origin="", workload=workload, body={})

    @property
    def uuid(self) -> str:
        """The uuid; "" for a workload that somebody made without one."""
        return self.workload.uuid

    @property
    def is_enforced(self) -> bool:
        """Whether RMD itself says that it has set what was asked for. Only the node's resctrl
        proves it."""
        wants_cos = bool(self.workload.policy or self.workload.cache)
        if self.status == DECLARED:
            return True
        return self.status == "Successful" and bool(self.cos_name or not wants_cos)

    @property
    def is_changeable(self) -> bool:
        """Whether REST may change it: RMD answers 200 for a workload of OpenStack, and does
        nothing."""
        return self.origin in ("", "REST")

    @property
    def has_range(self) -> bool:
        """Whether a core id is a range or a list: RMD v0.3 frees core 0 instead of these when it is
        deleted."""
        return any(not str(item).isdigit() for item in elements(self.body, "core_ids"))


def in_one_line(workload: Workload) -> str:
    """A workload as a person reads it, such as "workload w: core_ids=1-3 cache=max:2/min:2"."""
    shown = {**workload.describe(), "core_ids": to_ranges(workload.cores)}
    uuid = shown.pop("uuid")
    return " ".join([f"workload {uuid}:", *(f"{name}={_value(shown[name])}" for name in shown)])


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "/".join(f"{name}:{entry}" for name, entry in value.items())
    return str(value)
