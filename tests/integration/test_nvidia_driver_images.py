# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-gpu with driver_lookup and driver_build: two kernels have an image, the third one has none
until somebody publishes or builds it. For what a bad registry comes to see
test_driver_container.py."""

from __future__ import annotations

import json

import pytest

from tests.cluster import Cluster
from tests.cluster.simulation.faults import clear_faults
from tests.cluster.simulation.model import DEVICES_ANNOTATION
from tests.integration import sight
from tests.integration.driver_bed import KERNEL_LABEL, SECRETS, check_output
from tests.integration.gpu_bed import GpuBed
from tests.integration.kmod_bed import NEW, OLD
from tests.integration.namespaces import make_namespace
from tests.integration.plays import Runner
from tests.integration.registry_bed import Bed
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.builds

THIRD, FOURTH = "6.8.0-85-generic", "6.8.0-90-lowlatency"
# Of RHEL: one kernel with an image of its own, one without.
COMPILED, BARE = "5.14.0-570.el9_6.x86_64", "5.14.0-611.el9_7.x86_64"
ENTITLEMENT = "/run/secrets/etc-pki-entitlement"
NODES = {"gpu-old-1", "gpu-old-2", "gpu-new-1", "third-1"}


class Gpus(GpuBed):
    """nvidia-gpu on gpu-old-1 and gpu-old-2 (OLD), gpu-new-1 (NEW), third-1 (THIRD). plain-1
    builds."""

    def gpus(self) -> dict[str, dict[str, str]]:
        """Every GPU node's gates."""
        return {node: sight.gates(self.cluster, node) for node in NODES}


@pytest.fixture(scope="module")
def gpus(cluster: Cluster, runner: Runner, bed: Bed) -> Gpus:
    """Two of three kernels have an image."""
    cluster.add_nodes(1, profile="gpu-h100", kernel=THIRD, os="ubuntu:24.04", prefix="third")
    make_namespace(cluster, "nvidia-gpu", "nvidia-gpu")
    made = Gpus(cluster, runner, bed)
    made.give_secret()
    made.publish(OLD)
    made.publish(NEW)
    return made


def the_possible_kernels_go_all_the_way_and_the_impossible_one_is_explained(
    gpus: Gpus,
) -> None:
    played = gpus.play()

    assert played.code != 0
    assert gpus.summaries() == {
        **dict.fromkeys(NODES, "ready"),
        "third-1": "driver_container.failed",
    }
    # Pinned, so that what was looked at is what runs.
    host = gpus.registry.address
    images = {
        kernel: gpus.images.digest("nvidia/driver", f"595-{kernel}-ubuntu24.04")
        for kernel in (OLD, NEW)
    }
    assert gpus.drivers() == {
        kernel: f"{host}/nvidia/driver@{digest}" for kernel, digest in images.items()
    }
    assert {kernel: entry["image"] for kernel, entry in gpus.record().items()} == {
        **gpus.drivers(),
        THIRD: "",
    }
    assert gpus.record()[OLD]["name"] == f"{host}/nvidia/driver:595-{OLD}-ubuntu24.04"
    # No pod of any state is on the node without a driver.
    assert {node for node, _state in sight.pods(gpus.cluster)} == NODES - {"third-1"}
    assert gpus.gpus()["third-1"] == {"": "driver_container.failed"}

    # Which kernel, what was tried, what to do: in the record, and on the screen.
    problem = gpus.record()[THIRD]["problem"]
    assert problem.startswith(
        f"no image fits kernel {THIRD}: {host}/nvidia/driver:595-{THIRD}-ubuntu24.04 does not exist;"
        f" {host}/nvidia/driver:595.91.07-ubuntu24.04 does not exist; try another"
    )
    for option in ("driver_version", "driver_branch", "driver_images", "driver_build"):
        assert option in problem
    found = sight.problems(gpus.cluster)["third-1", "driver_container"]
    assert (found["reason"], found["message"]) == ("NoImage", problem)
    rows = [
        line.split()
        for line in check_output(played).splitlines()
        if line.startswith("  driver_container  ")
    ]
    assert [row[1:] for row in rows] == [
        [OLD, "2/2", "ready"],
        [NEW, "1/1", "ready"],
        [THIRD, "0/1", "failed", "NoImage"],
    ]


def the_status_says_the_same(gpus: Gpus) -> None:
    played = gpus.runner.play("status", hardware_enablement_recipe="nvidia-gpu")
    assert played.code != 0
    assert gpus.record()[THIRD]["problem"] in check_output(played)
    assert "third-1, driver_container failed" in played.output


def the_second_run_only_reads(gpus: Gpus) -> None:
    before, mark, pushed = gpus.cluster.dump(), gpus.cluster.mark(), gpus.registry.mark()
    played = gpus.play()
    assert (played.changed, gpus.runner.writes(mark)) == (0, []), played.output
    assert {request.method for request in gpus.registry.requests(pushed)} <= {"GET", "HEAD"}
    assert gpus.cluster.dump() == before


def another_kernels_image_is_refused_by_the_vendors_label_and_by_ours(
    gpus: Gpus, label: str
) -> None:
    before = gpus.gpus(), gpus.drivers()
    if label == "version":
        gpus.publish(THIRD, version=f"595-{NEW}")
        said = f"is another one: its label version is 595-{NEW}, not 595-{THIRD}"
    else:
        gpus.publish(THIRD, **{KERNEL_LABEL: NEW})
        said = f"was built for kernel {NEW}"
    played = gpus.play()
    assert f"nvidia/driver:595-{THIRD}-ubuntu24.04 {said}; " in check_output(played)
    assert (gpus.gpus(), gpus.drivers()) == before


def an_image_that_is_published_later_heals_it(gpus: Gpus) -> None:
    others = {kernel: image for kernel, image in gpus.drivers().items() if kernel != THIRD}
    uids = sight.uids(gpus.cluster)
    digest = gpus.publish(THIRD)
    gpus.play().check()
    assert set(gpus.summaries().values()) == {"ready"}
    assert gpus.drivers() == {**others, THIRD: f"{gpus.registry.address}/nvidia/driver@{digest}"}
    assert gpus.record()[THIRD]["problem"] == ""
    assert sight.problems(gpus.cluster) == {}
    # Nobody else's pod was touched.
    assert {
        place: uid for place, uid in sight.uids(gpus.cluster).items() if place[0] != "third-1"
    } == uids
    mark = gpus.cluster.mark()
    gpus.play().unchanged()
    assert gpus.runner.writes(mark) == []


def on_rhel_the_image_that_compiles_takes_the_place_and_the_subscription(gpus: Gpus) -> None:
    for kernel, prefix in ((COMPILED, "compiled"), (BARE, "bare")):
        gpus.cluster.add_nodes(1, profile="gpu-h100", kernel=kernel, os="rhel:9.6", prefix=prefix)
    host, before = gpus.registry.address, gpus.drivers()
    compiled, compiling = gpus.publish(COMPILED, os="rhel9"), gpus.publish_compiling("rhel9")
    gpus.play().check()

    assert gpus.drivers() == {
        **before,
        COMPILED: f"{host}/nvidia/driver@{compiled}",
        BARE: f"{host}/nvidia/driver@{compiling}",
    }
    assert gpus.record()[BARE]["name"] == f"{host}/nvidia/driver:595.91.07-rhel9"
    assert set(gpus.summaries().values()) == {"ready"}
    specs = gpus.driver_specs()
    mounts = {
        kernel: [each["mountPath"] for each in specs[kernel]["containers"][0]["volumeMounts"]]
        for kernel in (COMPILED, BARE)
    }
    assert {kernel: ENTITLEMENT in each for kernel, each in mounts.items()} == {
        COMPILED: False,
        BARE: True,
    }
    mark = gpus.cluster.mark()
    gpus.play().unchanged()
    assert gpus.runner.writes(mark) == []
    gpus.runner.play("status", hardware_enablement_recipe="nvidia-gpu").check()
    gpus.cluster.remove_nodes("compiled-1", "bare-1")


def what_nobody_publishes_is_built_from_the_vendors_sources(gpus: Gpus) -> None:
    gpus.cluster.add_nodes(1, profile="gpu-h100", kernel=FOURTH, os="ubuntu:24.04", prefix="fourth")
    repository = f"{gpus.registry.address}/own/driver"
    options = gpus.options(driver_build=True, driver_build_repository=repository)
    run = gpus.runner.start("enable", **gpus.variables(options=options))
    try:
        wait_until(
            lambda: any(job["status"].get("active") for job in gpus.jobs()),
            "a Job is active",
        )
        (job,) = gpus.jobs()
        digest = gpus.push_built()
        clear_faults(gpus.cluster.kubeconfig)
        assert run.wait(90) == 0, (gpus.runner.folder / "enable.log").read_text()
    finally:
        run.kill()
        run.wait()

    (build,) = job["spec"]["template"]["spec"]["containers"]
    environment = {entry["name"]: entry.get("value", "") for entry in build["env"]}
    assert {name: environment[f"GIT_{name}"] for name in ("URL", "FOLDER", "CONTAINERFILE")} == {
        "URL": "https://github.com/NVIDIA/gpu-driver-container",
        "FOLDER": "ubuntu24.04/precompiled",
        "CONTAINERFILE": "Dockerfile",
    }
    for argument in (
        "DRIVER_BRANCH=595",
        "DRIVER_VERSION=595.91.07",
        f"KERNEL_VERSION={FOURTH}",
        "TARGETARCH=amd64",
    ):
        assert argument in build["command"]
    assert [secret for secret in SECRETS if secret in json.dumps(job)] == []
    assert gpus.drivers()[FOURTH] == gpus.record()[FOURTH]["image"] == f"{repository}@{digest}"
    assert set(gpus.summaries().values()) == {"ready"}
    gpus.play(options=options).unchanged()


def without_look_ups_the_images_are_merely_named_and_nothing_old_is_shown(gpus: Gpus) -> None:
    gpus.cluster.remove_nodes("fourth-1")
    gpus.play(options=gpus.options(driver_lookup=False)).check()
    assert gpus.drivers()[OLD] == f"{gpus.registry.address}/nvidia/driver:595-{OLD}-ubuntu24.04"
    assert set(gpus.summaries().values()) == {"ready"}
    assert gpus.record() == {}
    mark = gpus.cluster.mark()
    gpus.play(options=gpus.options(driver_lookup=False)).unchanged()
    assert gpus.runner.writes(mark) == []


def a_gpu_that_no_plugin_lists_is_missed(gpus: Gpus) -> None:
    """It fell off the bus: the node has 8 by its PCI devices, and the plugin offers the 7 that it finds."""
    options = gpus.options(driver_lookup=False, count_gpus=True)
    gpus.play(options=options).check()
    for node in NODES:
        wait_until(lambda node=node: counted(gpus, node) == "8", "Node Feature Discovery counts")
    seven = f'{DEVICES_ANNOTATION}={{"nvidia.com/gpu": 7}}'
    gpus.cluster.kubectl("annotate", "--overwrite", "node", "gpu-new-1", seven)
    played = gpus.play(options=options)
    assert played.code != 0
    assert "offers 7 nvidia.com/gpu, and has 8 by its label" in check_output(played)
    assert gpus.summaries() == {
        **dict.fromkeys(NODES, "ready"),
        "gpu-new-1": "device_plugin.degraded",
    }
    gpus.play(options={**options, "unhealthy_devices_allowed": 1}).check()
    assert set(gpus.summaries().values()) == {"ready"}


def counted(gpus: Gpus, node: str) -> str:
    """How many GPUs Node Feature Discovery says a node has."""
    labels = sight.nodes(gpus.cluster)[node]["metadata"]["labels"]
    return str(labels.get("feature.node.kubernetes.io/nvidia-gpu-count", ""))


def test_images_from_one_that_nobody_published_to_none_that_is_looked_up(gpus: Gpus) -> None:
    """One story: each step goes on from the one before."""
    the_possible_kernels_go_all_the_way_and_the_impossible_one_is_explained(gpus)
    the_status_says_the_same(gpus)
    the_second_run_only_reads(gpus)
    for label in ("version", KERNEL_LABEL):
        another_kernels_image_is_refused_by_the_vendors_label_and_by_ours(gpus, label)
    an_image_that_is_published_later_heals_it(gpus)
    on_rhel_the_image_that_compiles_takes_the_place_and_the_subscription(gpus)
    with gpus.slow_builds():
        what_nobody_publishes_is_built_from_the_vendors_sources(gpus)
    without_look_ups_the_images_are_merely_named_and_nothing_old_is_shown(gpus)
    a_gpu_that_no_plugin_lists_is_missed(gpus)


def test_options_that_cannot_be_are_refused_before_anything_is_sent(gpus: Gpus) -> None:
    mark = gpus.cluster.mark()
    for options, said in (
        ({"driver_lookup": "perhaps"}, "driver_lookup"),
        ({"driver_build": True}, "names no repository to push to"),
        (
            {
                "driver_build": True,
                "driver_build_repository": "r.test/a",
                "driver_build_git": "https://me:pw@git.test",
            },
            "has a password in it",
        ),
    ):
        played = gpus.play(options=gpus.options(**options))
        assert played.code != 0
        assert said in check_output(played)
        assert "me:pw" not in played.output
    assert gpus.runner.writes(mark) == []
