# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the CRDs of other operators from their repositories, and write down which fields they have.

`make operator-fields` is to be run for another version of an operator, after its commit here was
changed; what the difference then shows that is new has to be put into the tables of _operators
and _numa. With --check nothing is written, and a difference ends it with 1."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from . import FOLDER, ITEM, LIST, MAP, OBJECT, FieldType

_BASES = "config/crd/bases"


class Source(NamedTuple):
    """Where an operator's CRDs are. of: for whoever reads the file."""

    repository: str
    commit: str
    of: str
    crds: Sequence[str]


SOURCES: Mapping[str, Source] = {
    "nvidia": Source(
        "https://github.com/NVIDIA/gpu-operator",
        "a22dbf671f2e26f9a1e342f8eea28e196235e110",
        "NVIDIA's GPU Operator, v26.7.0",
        ("nvidia.com_clusterpolicies.yaml", "nvidia.com_nvidiadrivers.yaml"),
    ),
    "amd": Source(
        "https://github.com/ROCm/gpu-operator",
        "6df13c1788c99dca734337287ebd317b15df9c71",
        "AMD's GPU operator, after v1.5.1",
        ("amd.com_deviceconfigs.yaml",),
    ),
    "numa": Source(
        "https://github.com/openshift-kni/numaresources-operator",
        "d7c439060293ae897642854b418d3c651c041f6e",
        "the NUMA Resources Operator, August 2026",
        (
            "nodetopology.openshift.io_numaresourcesoperators.yaml",
            "nodetopology.openshift.io_numaresourcesschedulers.yaml",
        ),
    ),
}


def crds(source: Source) -> Iterator[Mapping[str, Any]]:
    """The CRDs as they are at the commit."""
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "-C", folder]
        subprocess.run([*git, "init", "--quiet"], check=True)
        subprocess.run([*git, "remote", "add", "origin", source.repository], check=True)
        # Of the files no more than those that are shown.
        fetch = ["fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", source.commit]
        subprocess.run([*git, *fetch], check=True)
        for name in source.crds:
            path = f"{source.commit}:{_BASES}/{name}"
            shown = subprocess.run([*git, "show", path], check=True, capture_output=True)
            yield yaml.safe_load(shown.stdout)


def kinds(definition: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, FieldType]]]:
    """Each kind, with its API version, and the fields of its spec."""
    spec = definition["spec"]
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
        name = f"{spec['group']}/{version['name']}/{spec['names']['kind']}"
        yield name, dict(sorted(fields("", schema)))


def fields(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, FieldType]]:
    """The last fields below a path, those of a list's items as well."""
    properties = schema.get("properties")
    if properties:
        for name, each in properties.items():
            yield from fields(f"{path}.{name}" if path else name, each)
        return
    yield path, type_of(schema)
    items = schema.get("items") or {}
    if items.get("properties"):
        for name, each in items["properties"].items():
            yield from fields(f"{path}{ITEM}.{name}", each)


def type_of(schema: Mapping[str, Any]) -> FieldType:
    """What a field holds."""
    if schema.get("enum"):
        return [each for each in schema["enum"] if each != ""]
    if schema.get("x-kubernetes-int-or-string"):
        return "int-or-string"
    if schema.get("type") == "array":
        inner = type_of(schema["items"])
        return f"{LIST}{'string' if isinstance(inner, list) else inner}"
    if isinstance(schema.get("additionalProperties"), Mapping):
        inner = type_of(schema["additionalProperties"])
        return f"{MAP}{'string' if isinstance(inner, list) else inner}"
    return str(schema.get("type", OBJECT))


def text_of(source: Source) -> str:
    """The file of an operator."""
    found = dict(each for definition in crds(source) for each in kinds(definition))
    head = (
        "---\n"
        f"# The fields of the custom resources of {source.of}, and their types:\n"
        f"# {source.repository.removeprefix('https://')} {source.commit[:12]}, {_BASES}.\n"
        "# Facts alone, written by make operator-fields.\n"
    )
    return head + "".join(line for name, types in found.items() for line in in_lines(name, types))


def in_lines(name: str, types: Mapping[str, FieldType]) -> Iterator[str]:
    """A kind in YAML, each value of a field on a line of its own, so that a difference can be read."""
    yield f"{name}:\n"
    for path, type_ in types.items():
        if isinstance(type_, list):
            yield f"  {path}:\n"
            yield from (f"    - {json.dumps(each)}\n" for each in type_)
        else:
            yield f"  {path}: {type_}\n"


def main() -> int:
    """Write the files, or compare them; returns how many differ."""
    differing = 0
    for name, source in SOURCES.items():
        path, text = FOLDER / f"{name}.yml", text_of(source)
        if "--check" not in sys.argv:
            path.write_text(text)
        elif path.read_text() != text:
            differing += 1
            sys.stderr.write(f"{path.name} is not what the CRDs of {source.of} have\n")
    return differing


sys.exit(main())
