# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that recipes/nvidia-gpu divides (MIG), beside what NVIDIA's mig-parted does (mig_parted.yml)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    Obj,
    all_containers,
    container,
    host_paths,
    pod_spec,
)

UPSTREAM = yaml.safe_load((Path(__file__).parent / "mig_parted.yml").read_text())
MARK = "/run/nvidia/validations/mig-ready"
SEVEN = {"mig_devices": {"1g.10gb": 7}, "mig_strategy": "mixed"}
# What we do not run, or otherwise.
OTHERWISE = {
    "--valid-config": "the next step says it, too",
    "--mode-only": "the whole layout has its mode, and is applied and looked at with it",
    "-d": "more lines in the log",
    "--input": "a file instead of a pipe, whose first program may fail unseen",
    "--output": "the same",
}
# mig-parted's variables, for the driver that we deploy.
OURS = {
    "file": "/tmp/layout.yaml",  # noqa: S108 - a path in its container
    "layout": "pool",
    "driver": "/dev-root",
    "dev": "",
    "hook": "",
    "driver_root": "",
    "dev_root": "",
    "specification": "",
}
USES_GPUS = ("nvidia-device-plugin", "gpu-feature-discovery", "nvidia-dcgm-exporter")


def script(rendering: Any) -> str:
    """What the container that divides GPUs runs, its lines joined where they go on."""
    text = container(pod_spec(rendering, "nvidia-mig"), "mig-parted")["args"][0]
    return re.sub(r" *(\\\n|\|\|\n) *", " ", text)


def steps(text: str) -> list[list[str]]:
    """The programs of a script that mig-parted runs as well, with their arguments in order."""
    found = re.findall(
        r"(?:nvidia-mig-parted|chroot|nvidia-ctk)\b[^|\n]*?(?= nvidia-mig|\|\||$)", text, re.M
    )
    return [words(each) for each in found]


def words(step: str) -> list[str]:
    """What of a step says what is done."""
    kept = [each for each in step.split() if each.partition("=")[0] not in OTHERWISE]
    return [each.partition("=")[0] if each.startswith("-") else each for each in kept]


def layout(rendering: Any) -> list[Obj]:
    """What GPUs are to be divided into."""
    found = re.search(r"echo '(.*)' > /tmp/layout", script(rendering))
    assert found
    entries: list[Obj] = json.loads(found[1])["mig-configs"]["pool"]
    return entries


def test_what_makes_devices_of_a_division_is_run_as_mig_parted_does(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(**SEVEN)
    text = script(rendering)
    theirs = [words(step.format(**OURS)) for step in UPSTREAM["steps"]]
    ours = steps(text)
    # The driver's root is that of its device nodes: one change of paths is enough.
    assert ours == [step for n, step in enumerate(theirs) if step not in theirs[:n]]
    paths = host_paths(pod_spec(rendering, "nvidia-mig"))
    assert paths["dev-root"] == "/run/nvidia/driver"
    assert "--from=/dev-root --to=/run/nvidia/driver" in text
    assert "--nvidia-cdi-hook-path=/usr/local/nvidia/toolkit/nvidia-cdi-hook" in text
    assert UPSTREAM["specification"] in text
    assert text.count("|| exit 1") == len(ours)


def test_the_hosts_own_driver_has_its_programs_elsewhere(nvidia_gpu: Any) -> None:
    own = nvidia_gpu(driver_enabled=False, **SEVEN)
    assert "chroot /dev-root nvidia-smi" in script(own)
    assert "--from=/dev-root --to=/ " in script(own)
    assert host_paths(pod_spec(own, "nvidia-mig"))["dev-root"] == "/"
    text = script(nvidia_gpu(driver_enabled=False, driver_install_dir="/opt/nvidia", **SEVEN))
    assert "LD_LIBRARY_PATH=/opt/nvidia/lib64 chroot /dev-root /opt/nvidia/bin/nvidia-smi" in text
    assert "--driver-root=/dev-root/opt/nvidia --dev-root=/dev-root " in text
    assert text.index("--from=/dev-root/opt/nvidia --to=/opt/nvidia") < text.index(
        "--from=/dev-root --to=/ "
    )


def test_who_uses_gpus_waits_until_they_are_divided(nvidia_gpu: Any) -> None:
    for options in (SEVEN, {"mig_disabled": True}, {"mig_layout": TWO_KINDS}):
        rendering = nvidia_gpu(**options)
        for daemonset in USES_GPUS:
            spec = pod_spec(rendering, daemonset)
            assert f"until [ -f {MARK} ]" in spec["initContainers"][0]["args"][0]
            assert host_paths(spec)["validations"] == MARK.rpartition("/")[0]
        # Who divides them waits for nobody but the driver and the toolkit.
        waits = container(pod_spec(rendering, "nvidia-mig"), "wait-for-toolkit", "initContainers")
        assert MARK not in waits["args"][0]
        assert "toolkit-ready" in waits["args"][0]
    alone = nvidia_gpu(driver_enabled=False, toolkit_enabled=False, **SEVEN)
    assert MARK in pod_spec(alone, "nvidia-device-plugin")["initContainers"][0]["args"][0]
    for _state, spec in nvidia_gpu().pod_specs():
        assert not any(MARK in str(item.get("args")) for item in all_containers(spec))


def test_the_mark_is_there_from_the_last_step_to_the_next_division(nvidia_gpu: Any) -> None:
    text = script(nvidia_gpu(**SEVEN))
    assert f"mark={MARK}" in text
    at = [
        text.index(part)
        for part in ('\nrm -f "$mark"', "mig-parted assert", 'date > "$mark"', "while sleep")
    ]
    assert at == sorted(at)
    assert text.rindex("|| exit 1") < at[2]
    assert """trap 'rm -f "$mark"; exit 0' TERM""" in text
    probe = container(pod_spec(nvidia_gpu(**SEVEN), "nvidia-mig"), "mig-parted")["readinessProbe"]
    assert f"test -f {MARK} && nvidia-mig-parted assert" in probe["exec"]["command"][-1]


TWO_KINDS = [
    {"devices": [0, 1], "mig-enabled": True, "mig-devices": {"3g.40gb": 2}},
    {"devices": [2, 3], "mig-enabled": False},
    {
        "devices": "all",
        "device-filter": ["0x233010DE"],
        "mig-enabled": True,
        "mig-devices": {"1g.10gb+me": 1},
    },
]


def test_gpus_of_a_node_are_divided_one_by_one(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(mig_layout=TWO_KINDS, mig_strategy="mixed", mig_devices={"7g.80gb": 1})
    assert layout(rendering) == TWO_KINDS
    assert {key for entry in TWO_KINDS for key in entry} == set(UPSTREAM["entry"])
    limits = rendering.pod("device_plugin_validation")["spec"]["containers"][0]["resources"][
        "limits"
    ]
    assert limits == {"nvidia.com/mig-1g.10gb.me": 1}
    rendered = str(rendering.states["device_plugin"].proofs)
    assert "nvidia.com/mig-*" in rendered
    off = nvidia_gpu(mig_layout=TWO_KINDS, mig_disabled=True)
    assert layout(off) == [{"devices": "all", "mig-enabled": False, "mig-devices": {}}]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mig_devices": {}}, "mig_layout has no mig_devices; give its entries"),
        ({"devices": None}, "does not say which devices it is for"),
        ({"mig-enabled": None}, "does not say which devices it is for"),
        ({"devices": "0"}, 'is "0"; give it all, or a list of GPUs'),
        ({"devices": ["0"]}, "give it all, or a list of GPUs"),
        ({"mig-devices": None}, "does not say into what"),
        ({"mig-enabled": False}, "for GPUs that are not divided"),
    ],
)
def test_an_entry_that_mig_parted_would_refuse_is_refused_before(
    nvidia_gpu: Any, change: Obj, said: str
) -> None:
    entry = {key: value for key, value in {**TWO_KINDS[0], **change}.items() if value is not None}
    with pytest.raises(InvalidInput, match="state mig of nvidia-gpu cannot be had") as why:
        nvidia_gpu(mig_layout=[entry])
    assert said in str(why.value)
