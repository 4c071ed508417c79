# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each field of a Module's schema, set by itself, is in one list, and in the recipe if that says so."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._operators.kmm_fields import (
    fields_of,
    lost_labels,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.kmm_recipe import (
    recipe_files,
)
from tests.unit.plugins.module_utils.operators.kmm_modules import DOCKERFILES, Obj, module

KNOWN: dict[str, dict[str, str]] = yaml.safe_load(
    Path(__file__).with_name("kmm_fields.yml").read_text()
)
MAPPING = "moduleLoader.container.kernelMappings[0]"
# A value of each type, and of lists whose items are no texts; other than what holds without it.
SAMPLES: Obj = {
    "string": "sample",
    "boolean": False,
    "integer": 3,
    "object": {"a": "b"},
    "array": ["sample"],
}
LISTS: Obj = {
    "buildArgs": [{"name": "A", "value": "b"}],
    "secrets": [{"name": "s"}],
    "env": [{"name": "A", "value": "b"}],
    "volumeMounts": [{"name": "a", "mountPath": "/a"}],
    "volumes": [{"name": "a", "emptyDir": {}}],
    "tolerations": [{"operator": "Exists"}],
    "deviceClasses": [{"name": "cards"}],
    "kernelMappings": [{"literal": "6.8.0"}],
    "modulesLoadingOrder": ["card", "base"],
}  # fmt: skip
SIGN = {
    "keySecret": {"name": "k"},
    "certSecret": {"name": "c"},
    "filesToSign": ["/opt/a.ko"],
    "unsignedImage": "u:1",
}
BUILD = {"dockerfileConfigMap": {"name": "d"}}


def _set(target: Obj, path: str, value: Any) -> None:
    *above, last = path.split(".")
    for name in above:
        target = target.setdefault(name, {})
    target[last] = value


def _base(path: str) -> Obj:
    """A Module in which a field counts."""
    made = module()
    container = made["spec"]["moduleLoader"]["container"]
    if ".sign." in f".{path}":
        container["sign"] = deepcopy(SIGN)
    if ".build." in f".{path}":
        container["build"] = deepcopy(BUILD)
    if path.startswith("devicePlugin."):
        made["spec"]["devicePlugin"] = {"container": {"image": "p:1"}}
    if path.startswith("dra."):
        made["spec"]["dra"] = {"container": {"image": "p:1"}, "driverName": "d.example.com"}
    return made


def _cases() -> list[tuple[str, str, str]]:
    return [(kind, path, type_) for kind, fields in KNOWN.items() for path, type_ in fields.items()]


@pytest.mark.parametrize(("kind", "path", "type_"), _cases())
def test_a_field_is_in_one_list_and_taken_if_it_says_so(kind: str, path: str, type_: str) -> None:
    before, made = _base(path), _base(path)
    name = path.rpartition(".")[2]
    value = LISTS.get(name, SAMPLES[type_])
    if kind == "Module":
        _set(made["spec"], path, value)
    else:
        _set(made["spec"]["moduleLoader"]["container"]["kernelMappings"][0], path, value)
        path = f"{MAPPING}.{path}"

    found = fields_of(made)
    rows = {
        title: [row for row in rows if path == row or row.startswith(f"{path}[") or path.startswith(f"{row}.")]
        for title, rows in (("taken", found.taken), ("dropped", found.dropped), ("differs", found.differs))
    }  # fmt: skip
    (title,) = (title for title, named in rows.items() if named)
    assert ".modprobe." not in path or rows[title] == [path]
    files = [recipe_files(each, "card", "", DOCKERFILES) for each in (before, made)]
    assert (files[0] != files[1]) == (title == "taken"), path


def test_what_is_not_in_the_schema_is_said() -> None:
    plugin = {"container": {"image": "p", "securityContext": {"a": 1}}}
    made = module([{"literal": "x", "later": 1}], plugin, soon=1)
    assert fields_of(made).dropped.keys() == {
        "moduleLoader.container.soon",
        f"{MAPPING}.later",
        "devicePlugin.container.securityContext.a",
    }


def test_what_does_not_count_is_not_called_taken() -> None:
    raw = {
        "rawArgs": {"load": ["a"], "unload": ["-r", "a"]},
        "args": {"load": ["-f"]},
        "parameters": ["x=1"],
    }
    mapping = {
        "regexp": ".",
        "containerImage": "i:1",
        "inTreeModulesToRemove": ["a"],
        "build": BUILD,
        "sign": SIGN,
    }
    made = module([mapping], modprobe=raw, inTreeModulesToRemove=["b"], sign=SIGN)
    found = fields_of(made)
    assert found.dropped == {
        "moduleLoader.container.modprobe.args.load": "KMM does not look at it beside rawArgs",
        "moduleLoader.container.modprobe.parameters": "KMM does not look at it beside rawArgs",
        **{
            f"moduleLoader.container.{name}": "each entry of kernelMappings has its own"
            for name in ("containerImage", "inTreeModulesToRemove", "sign.keySecret", "sign.certSecret")
        },
        "moduleLoader.container.sign.unsignedImage": "each entry of kernelMappings has its own",
        f"{MAPPING}.sign.unsignedImage": "what is signed is the image that is built",
    }  # fmt: skip
    assert not found.taken.keys() & found.dropped.keys()


def test_a_label_of_another_module_is_no_selector() -> None:
    made = module()
    made["spec"]["selector"] = {"kmm.node.kubernetes.io/cards.base.ready": ""}
    found = fields_of(made)
    assert "selector" not in found.taken
    assert found.differs["selector"].startswith("the label kmm.node.kubernetes.io/cards.base.ready")


def test_labels_that_pods_may_select_are_named() -> None:
    made = module(plugin={"container": {"image": "p"}}, version="1")
    labels = lost_labels(made, "my-card")
    assert [each.removeprefix("label kmm.node.kubernetes.io/cards.card.") for each in labels] == [
        "ready",
        "device-plugin-ready",
        "version.ready",
    ]
    assert all("hardware-enablement.io/my-card=ready" in why for why in labels.values())
