# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which operand a pod is, from its images, commands and requests only (never from labels of the
product under test)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from .model import SIMULATION_PREFIX, Behaviour, Container, Obj, Operand, Pod, parse_behaviour

OPERANDS_FILE = Path(__file__).with_name("operands.yaml")


@dataclass(frozen=True)
class Stack:
    """What one vendor's operands share: texts of missing roles, and what its feature discovery
    reports."""

    name: str
    missing: dict[str, str] = field(default_factory=dict)
    features: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    default_version: str = ""
    devices: str = ""
    marks: dict[str, str] = field(default_factory=dict)
    runtime_classes: tuple[str, ...] = ()
    device_paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    operand: Operand
    image: re.Pattern[str]
    command: re.Pattern[str] | None
    extended: bool | None


class Operands:
    """The table of operands.yaml."""

    def __init__(self, rules: list[Rule], stacks: dict[str, Stack], other: Operand) -> None:
        self.rules = rules
        self.stacks = stacks
        self.other = other
        self.roles = {rule.operand.role for rule in rules} | {other.role}
        self.names = {rule.operand.name for rule in rules}

    def resources_of(self, stack: str) -> list[re.Pattern[str]]:
        """The extended resources that a stack's device plugin may advertise."""
        return [
            pattern
            for rule in self.rules
            if rule.operand.stack == stack
            for pattern in rule.operand.resources
        ]

    def classify(self, containers: tuple[Container, ...], extended: bool) -> tuple[Operand, str]:
        """(operand, image that decided) of a pod with these containers; (`other`, first image) when
        none fits."""
        for rule in self.rules:
            if rule.extended is not None and rule.extended != extended:
                continue
            for container in containers:
                if not rule.image.search(container.image):
                    continue
                if rule.command is None or rule.command.search(container.command):
                    return rule.operand, container.image
        return self.other, containers[0].image if containers else ""


def load(path: Path = OPERANDS_FILE, *, instant: bool = False) -> Operands:
    """Read operands.yaml; KeyError or re.error when the file is wrong. instant: they take no time."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    if instant:
        data["roles"] = {name: {**role, "seconds": 0} for name, role in data["roles"].items()}
    stacks = {
        name: Stack(
            name=name,
            missing=dict(values.get("missing", {})),
            features=dict(values.get("features", {})),
            defaults=dict(values.get("defaults", {})),
            default_version=values.get("default_version", ""),
            devices=values.get("devices", ""),
            marks=dict(values.get("marks", {})),
            runtime_classes=tuple(values.get("runtime_classes", ())),
            device_paths=tuple(values.get("device_paths", ())),
        )
        for name, values in data["stacks"].items()
    }
    simulated = {(entry["stack"], entry["role"]) for entry in data["operands"]}
    rules = [
        Rule(
            operand=_operand(entry, data["roles"][entry["role"]], simulated),
            image=re.compile(entry["image"]),
            command=re.compile(entry["command"]) if "command" in entry else None,
            extended=entry.get("extended"),
        )
        for entry in data["operands"]
    ]
    other = _operand(
        {"name": "other", "stack": "", "role": "other"}, data["roles"]["other"], simulated
    )
    return Operands(rules, stacks, other)


def _operand(
    entry: Mapping[str, Any], role: Mapping[str, Any], simulated: Collection[tuple[str, str]]
) -> Operand:
    """`simulated`: (stack, role) of all operands; a stack without a runtime hook, say, does not wait
    for one."""
    requires = (
        name
        for name in role["requires"]
        if name.startswith("host:") or (entry["stack"], name) in simulated
    )
    return Operand(
        name=entry["name"],
        stack=entry["stack"],
        role=entry["role"],
        requires=tuple(requires),
        seconds=float(role["seconds"]),
        kernel_in_image=bool(entry.get("kernel_in_image", False)),
        resources=tuple(re.compile(pattern) for pattern in entry.get("resources", ())),
        logs=tuple(entry.get("logs", ())),
        program=entry.get("program", ""),
        dra_driver=entry.get("dra_driver", ""),
    )


def fits_kernel(image: str, kernel: str) -> bool:
    """True unless the image's last path component (name and tag) names another kernel.

    Both sides are compared with everything but letters and digits turned into "-", since a tag
    cannot hold all that a kernel release can. `5.15.0-1` is not found in `...-5.15.0-10`. An image
    that names no kernel at all (its driver is compiled on the node, or it is referred to by digest)
    fits any.
    """
    component = re.sub(r":v(?=[0-9])", ":", image.rsplit("/", 1)[-1].partition("@")[0])
    name, _sep, tag = component.partition(":")
    beside_version = f"{name}-{re.sub(r'^v?[0-9.]+', '', tag)}"
    if not re.search(r"[0-9]+\.[0-9]+\.[0-9]+", beside_version):
        return True
    return f"-{_plain(kernel)}-" in f"-{_plain(component)}-"


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower())


def image_version(image: str) -> str:
    """The number that an image's tag starts with ("580.95.05" of
    "driver:580.95.05-5.15.0-ubuntu22.04"), or ""."""
    tag = image.rsplit("/", 1)[-1].partition("@")[0].partition(":")[2]
    found = re.match(r"\d+(\.\d+)*", tag)
    return found.group() if found else ""


def _with_marks(operand: Operand, inits: Collection[Container], operands: Operands) -> Operand:
    """The operand, which also needs those whose marks its init containers wait for."""
    stack = operands.stacks.get(operand.stack)
    marks = stack.marks if stack else {}
    waits = (
        role for mark, role in marks.items() if any(f"-f {mark} " in each.command for each in inits)
    )
    return replace(operand, requires=(*operand.requires, *waits))


def _staying(spec: Obj) -> list[Obj]:
    """The containers that run as long as the pod does; kubelets give sidecars what they ask for."""
    inits = spec.get("initContainers") or ()
    return [*spec["containers"], *(each for each in inits if each.get("restartPolicy") == "Always")]


def pod_view(pod: Obj, operands: Operands) -> Pod:
    """Compact view of a bound Pod object."""
    meta, spec = pod["metadata"], pod["spec"]
    containers = tuple(_container(item) for item in spec["containers"])
    extended: dict[str, int] = {}
    for item in spec["containers"]:
        for name, amount in ((item.get("resources") or {}).get("limits") or {}).items():
            if "/" in name and not name.startswith("kubernetes.io/"):
                extended[name] = extended.get(name, 0) + int(amount)
    inits = tuple(_container(item) for item in spec.get("initContainers") or ())
    operand, image = operands.classify(containers, bool(extended))
    return Pod(
        uid=meta["uid"],
        namespace=meta["namespace"],
        name=meta["name"],
        node=spec["nodeName"],
        version=int(meta["resourceVersion"]),
        deleting="deletionTimestamp" in meta,
        grace=meta.get("deletionGracePeriodSeconds", 0),
        metadata={key: value for key, value in meta.items() if key != "managedFields"},
        restart_policy=spec.get("restartPolicy", "Always"),
        host_network=bool(spec.get("hostNetwork")),
        containers=containers,
        inits=inits,
        extended=extended,
        behaviour=_own_behaviour(meta),
        status=pod.get("status") or {},
        operand=_with_marks(operand, inits, operands),
        image=image,
        requests=tuple(
            {**(each.get("limits") or {}), **(each.get("requests") or {})}
            for each in ((item.get("resources") or {}) for item in _staying(spec))
        ),
        gates=tuple(gate["conditionType"] for gate in spec.get("readinessGates") or ()),
        configuration=_configuration(spec) or image,
        runtime_class=spec.get("runtimeClassName", ""),
        host_paths=tuple(
            volume["hostPath"]["path"]
            for volume in spec.get("volumes") or ()
            if "hostPath" in volume
        ),
        config_maps=tuple(
            volume["configMap"]["name"]
            for volume in spec.get("volumes") or ()
            if "configMap" in volume
        ),
    )


def _configuration(spec: Obj) -> str:
    """What a driver says of its own configuration: one that starts with the same takes its modules
    over."""
    return next(
        (
            str(entry.get("value", ""))
            for item in spec["containers"]
            for entry in item.get("env") or ()
            if entry["name"] == "DRIVER_CONFIG_DIGEST"
        ),
        "",
    )


def _container(item: Obj) -> Container:
    return Container(
        name=item["name"],
        image=item.get("image", ""),
        command=" ".join([*(item.get("command") or ()), *(item.get("args") or ())]),
        restarts_with_pod=item.get("restartPolicy") == "Always",
        log_on_error=item.get("terminationMessagePolicy") == "FallbackToLogsOnError",
    )


def _own_behaviour(meta: Obj) -> Behaviour | None:
    """The behaviour that the pod's labels or annotations `simulation.hardware-enablement.test/<key>` ask for."""
    values = {
        key[len(SIMULATION_PREFIX) :].replace("-", "_"): value
        for source in (meta.get("labels") or {}, meta.get("annotations") or {})
        for key, value in source.items()
        if key.startswith(SIMULATION_PREFIX)
    }
    if not values:
        return None
    try:
        return parse_behaviour(values)
    except ValueError as error:
        return Behaviour(
            name="fail", exit_code=255, message=f"the simulation cannot simulate this pod: {error}"
        )
