# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What makes a build another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.inputs import (
    GitSource,
    Inputs,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Compile,
)

INPUTS = Inputs(
    kernel="6.1.0-40-amd64",
    arch="amd64",
    containerfile="ARG BASE\nFROM $BASE\n",
    base="registry.example/base@sha256:aa",
    base_digest="sha256:aa",
    args={"A": "1"},
    files={"Makefile": "all:"},
)


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": "6.1.0-41-amd64"},
        {"arch": "arm64"},
        {"containerfile": "FROM scratch\n"},
        {"base_digest": "sha256:bb"},
        {"args": {"A": "2"}},
        {"files": {"Makefile": "all: x"}},
        {"compile": Compile("make", "out", "/opt")},
        {"files": {}, "git": GitSource("https://git.example/x", "a" * 40)},
        {"base_arg": "BASE_IMAGE"},
    ],
    ids="+".join,
)
def test_every_input_counts(change: dict[str, Any]) -> None:
    assert replace(INPUTS, **change).hash != INPUTS.hash


def test_why_something_cannot_be_compiled_does_not_count() -> None:
    compiles = replace(INPUTS, compile=Compile("make", "out", "/opt"))
    assert replace(INPUTS, compile=Compile("make", "out", "/opt", "no")).hash == compiles.hash
    assert replace(INPUTS, compile=Compile("make all", "out", "/opt")).hash != compiles.hash


def test_from_where_a_base_is_pulled_does_not_count() -> None:
    assert replace(INPUTS, base="mirror.example/base@sha256:aa").hash == INPUTS.hash


def test_the_order_of_arguments_and_files_does_not_count() -> None:
    one = replace(INPUTS, args={"A": "1", "B": "2"}, files={"a": "", "b": ""})
    other = replace(INPUTS, args={"B": "2", "A": "1"}, files={"b": "", "a": ""})
    assert one.hash == other.hash


def test_a_tag_is_legal_and_names_the_inputs() -> None:
    assert INPUTS.tag("6.1.0-40-amd64") == f"6.1.0-40-amd64-{INPUTS.hash[:12]}"
    longest = INPUTS.tag("k" * 200)
    assert len(longest) == 128
    assert longest.endswith(INPUTS.hash[:12])


def test_labels_and_arguments() -> None:
    assert INPUTS.labels == {
        "hardware-enablement.io/kernel": "6.1.0-40-amd64",
        "hardware-enablement.io/inputs": INPUTS.hash,
        "org.opencontainers.image.base.name": "registry.example/base@sha256:aa",
        "org.opencontainers.image.base.digest": "sha256:aa",
    }
    assert INPUTS.all_args == {"BASE": "registry.example/base@sha256:aa", "A": "1"}
    assert replace(INPUTS, base_arg="IMAGE").all_args == {
        "IMAGE": "registry.example/base@sha256:aa",
        "A": "1",
    }
    assert replace(INPUTS, base="", base_digest="").all_args == {"A": "1"}
