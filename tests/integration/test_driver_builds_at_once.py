# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds by Jobs of several kernels and several recipes at once, interrupted ones, and trouble that
lies elsewhere. The pods that build are simulated, so it is the test that pushes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.registry import PULLER
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration.driver_bed import BUILDER, INPUTS_LABEL, KERNEL_LABEL, SECRET, Obj
from tests.integration.kmod_bed import NAMESPACE, NEW, ODD, ODD_TAG, OLD, Kmod, make_kmod
from tests.integration.plays import REPO, Runner
from tests.integration.registry_bed import Bed
from tests.integration.waiting import wait_until, wait_until_none

pytestmark = pytest.mark.builds

UNTRUSTED = (
    "Error: pinging container registry a.test: x509: certificate signed by unknown authority"
)


class OtherKmod(Kmod):
    """A copy of the recipe under another name, in the same namespace."""

    recipe = "other-kmod"

    def options(self, **others: Any) -> Obj:
        """The same, but its images go elsewhere."""
        return {
            **super().options(),
            "repository": f"{self.registry.address}/drivers/other-kmod",
            **others,
        }


@pytest.fixture(scope="module")
def kmod(cluster: Cluster, runner: Runner, bed: Bed) -> Kmod:
    """Three kernels, of which none has an image."""
    return make_kmod(cluster, runner, bed)


def active(jobs: Sequence[Obj]) -> list[Obj]:
    """Those of which a pod runs or waits."""
    return [job for job in jobs if job["status"].get("active")]


def kernel_of(job: Obj) -> str:
    """The kernel that a Job builds for."""
    return str(job["metadata"]["annotations"]["hardware-enablement.io/kernel"])


def target_of(job: Obj) -> str:
    """Where a Job pushes to."""
    (container,) = job["spec"]["template"]["spec"]["containers"]
    return str(next(entry["value"] for entry in container["env"] if entry["name"] == "TARGET"))


@contextmanager
def begun(bed: Kmod, folder: Path, **settings: Any) -> Iterator[subprocess.Popen[str]]:
    """A run in the background; what it says is in the folder's enable.log."""
    runner = copy(bed.runner)
    runner.folder = folder
    run = runner.start("enable", **bed.variables(**settings))
    try:
        yield run
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()


def said(folder: Path) -> str:
    """What a run has said so far."""
    return (folder / "enable.log").read_text()


def a_run_that_is_interrupted_leaves_its_build_to_the_next(kmod: Kmod, tmp_path: Path) -> None:
    only = kmod.options(node_selector={"kubernetes.io/hostname": "odd-1"})
    mark = kmod.cluster.mark()
    with begun(kmod, tmp_path, options=only) as run:
        wait_until(lambda: active(kmod.jobs()), "a Job is active")
        os.killpg(run.pid, signal.SIGINT)
        assert run.wait(30) != 0
    assert "Traceback" not in said(tmp_path)
    # Ansible runs nothing more then, so the lock ends by itself within a minute; nobody wants to
    # wait here.
    kmod.cluster.kubectl("delete", "lease", "simple-kmod", "-n", "hardware-enablement")
    with begun(kmod, tmp_path, options=only) as run:
        wait_until(
            lambda: "goes on with the build that an earlier run began" in said(tmp_path),
            "the run goes on with the build",
        )
        kmod.push_built()
        clear_faults(kmod.cluster.kubeconfig)
        assert run.wait(60) == 0, said(tmp_path)
    made = [
        request
        for request in kmod.runner.writes(mark)
        if request.startswith("create") and "/jobs" in request
    ]
    assert len(made) == 1
    wait_until_none(kmod.builds, "what was for the build")


def kernels_are_built_at_once_but_no_more_of_them_than_allowed(kmod: Kmod, tmp_path: Path) -> None:
    cluster = kmod.cluster
    cluster.kubectl("label", "node", "plain-1", "kmod=wanted")
    cluster.add_nodes(
        1, profile="cpu-only", kernel="6.8.0-79-generic", os="ubuntu:24.04", prefix="more"
    )
    cluster.kubectl("label", "node", "more-1", "kmod=wanted")
    with begun(kmod, tmp_path, build_parallel=2) as run:
        wait_until(lambda: len(active(kmod.jobs())) == 2, "two Jobs are active")
        first = kmod.jobs()
        assert len({kernel_of(job) for job in first}) == len(first) == 2
        for job in first:
            kmod.push_built(job)
        clear_faults(cluster.kubeconfig)
        set_fault(cluster.kubeconfig, BUILDER, "other", "slow", seconds=60)
        last = [OLD, NEW, "6.8.0-79-generic"]
        wait_until(
            lambda: [
                job for job in active(kmod.jobs()) if kernel_of(job) not in map(kernel_of, first)
            ],
            "a third Job is active",
        )
        (third,) = [job for job in kmod.jobs() if kernel_of(job) not in map(kernel_of, first)]
        assert sorted([*map(kernel_of, first), kernel_of(third)]) == sorted(last)
        kmod.push_built(third)
        clear_faults(cluster.kubeconfig)
        assert run.wait(90) == 0, said(tmp_path)
    assert set(kmod.summaries().values()) == {"ready"}


def two_recipes_build_the_same_in_one_namespace(kmod: Kmod, tmp_path: Path) -> None:
    other = OtherKmod(kmod.cluster, kmod.runner, kmod.bed)
    folder = tmp_path / "other-kmod"
    shutil.copytree(REPO / "recipes" / "simple-kmod", folder)
    for file in (folder / "recipe.yml", *folder.glob("driver/*"), *folder.glob("validation/*")):
        # The namespace belongs to the first one.
        shared_namespace = "    assets:\n      - driver_container/namespace.yaml.j2\n"
        file.write_text(
            file.read_text().replace(shared_namespace, "").replace("simple-kmod", "other-kmod")
        )
    kmod.images.push("base/kmod", "1", labels={"made": "second"})
    only = {"node_selector": {"kubernetes.io/hostname": "odd-1"}, "image_pull_secrets": [SECRET]}
    folders = [tmp_path / "one", tmp_path / "two"]
    for each in folders:
        each.mkdir()
    shared = {"recipe_dir": str(tmp_path), "namespace": NAMESPACE}
    with (
        begun(kmod, folders[0], options=kmod.options(**only)) as one,
        begun(other, folders[1], options=other.options(**only), **shared) as two,
    ):
        wait_until(lambda: len(active(kmod.jobs())) == 2, "two Jobs are active")
        jobs = kmod.jobs()
        names = {target_of(job).rpartition(":")[0].rpartition("/")[2] for job in jobs}
        assert names == {"simple-kmod", "other-kmod"}
        # From the same inputs, as the tags say.
        assert len({target_of(job).rpartition(":")[2] for job in jobs}) == 1
        for job in jobs:
            kmod.push_built(job)
        clear_faults(kmod.cluster.kubeconfig)
        assert [one.wait(90), two.wait(90)] == [0, 0], said(folders[0]) + said(folders[1])
    images = [
        bed.record()[ODD]["image"].partition("@")[0].rpartition("/")[2] for bed in (kmod, other)
    ]
    assert images == ["simple-kmod", "other-kmod"]
    wait_until_none(kmod.builds, "what was for the build")


def build_odd(kmod: Kmod, folder: Path, **settings: Any) -> tuple[Obj, list[str]]:
    """A run for one kernel: its row, and what was made for builds."""
    mark = kmod.cluster.mark()
    options = kmod.options(node_selector={"kubernetes.io/hostname": "odd-1"})
    (row,) = kmod.build(folder, recipe_options=options, **settings)["groups"]
    objects = ("/jobs", "/configmaps")
    return row, [
        write
        for write in kmod.runner.writes(mark)
        if write.startswith("create") and any(map(write.count, objects))
    ]


def what_failed_elsewhere_is_tried_again_later_or_at_once_where_its_cause_is_gone(
    kmod: Kmod, tmp_path: Path
) -> None:
    kmod.images.push("base/kmod", "1", labels={"made": "third"})
    before = kmod.record()[ODD]["image"]
    # As a build's script ends that cannot pull its base image.
    set_fault(kmod.cluster.kubeconfig, BUILDER, "other", "fail", exit_code=72, message=UNTRUSTED)
    try:
        row, made = build_odd(kmod, tmp_path)
        advice = "give the CA that signed its certificate, or the host's key"
        said = f"the base image cannot be pulled: {UNTRUSTED}; {advice}; it is tried again from {row['retry']} on"
        assert f"{said}, or at once with rebuild" in row["problem"]
        assert (row["phase"], row["reason"], row["attempts"], bool(made)) == (
            "base",
            "NotTrusted",
            1,
            True,
        )
        assert (row["source"], kmod.record()[ODD]["image"]) == ("kept", before)
        # Before that time the message is repeated, and nothing is made.
        again, made = build_odd(kmod, tmp_path)
        assert ({**again, "tried": []}, made) == ({**row, "tried": []}, [])
        # What somebody wants to be tried is, and counts.
        later, made = build_odd(kmod, tmp_path, rebuild=True)
        assert (later["attempts"], later["failed"], bool(made)) == (2, row["failed"], True)
        # With another CA, or a password that was changed, it is another build.
        more, made = build_odd(
            kmod, tmp_path, registry_ca=f"{kmod.registry.ca}\n{kmod.registry.ca}"
        )
        assert (more["attempts"], more["failed"] != row["failed"], bool(made)) == (1, True, True)
        kmod.give_secret(PULLER)
        kmod.give_secret()
        last, made = build_odd(kmod, tmp_path)
        assert (
            last["attempts"],
            last["failed"] not in (row["failed"], more["failed"]),
            bool(made),
        ) == (1, True, True)
    finally:
        clear_faults(kmod.cluster.kubeconfig)


def what_is_known_before_is_said_before_anything_is_made(kmod: Kmod, tmp_path: Path) -> None:
    kmod.images.push("base/kmod", "1", labels={"made": "fourth"})
    pushed = kmod.registry.mark()
    kmod.give_secret(PULLER)
    try:
        row, made = build_odd(kmod, tmp_path)
    finally:
        kmod.give_secret()
    assert "what was built cannot be pushed: Cannot push" in row["problem"]
    assert (made, row["failed"]) == ([], "")
    assert "POST" in {request.method for request in kmod.registry.requests(pushed)}
    # Of whoever may, nothing is left either.
    pushed = kmod.registry.mark()
    _row, made = build_odd(kmod, tmp_path)
    ended = [request for request in kmod.registry.requests(pushed) if request.method == "DELETE"]
    assert (bool(made), ended[-1].status) == (True, 204)


def what_another_cluster_pushed_from_the_same_inputs_is_no_new_driver(
    kmod: Kmod, tmp_path: Path
) -> None:
    kmod.images.push("base/kmod", "1", labels={"made": "second"})
    before = kmod.record()[ODD]
    repository, tag = "drivers/simple-kmod", f"{ODD_TAG}-{before['inputs'][:12]}"
    labels = {KERNEL_LABEL: ODD, INPUTS_LABEL: before["inputs"]}
    other = kmod.images.push(repository, tag, labels=labels, files={"time": b"another"})
    row, made = build_odd(kmod, tmp_path)
    assert (row["source"], row["image"], made) == ("built before", before["image"], [])
    # What nobody has any more is not kept.
    kmod.images.delete(repository, before["image"].partition("@")[2])
    row, _made = build_odd(kmod, tmp_path)
    assert row["image"].endswith(other)


def test_builds_of_several_kernels_and_recipes_and_trouble_elsewhere(
    kmod: Kmod, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One story: each step goes on from the one before."""
    with kmod.slow_builds():
        a_run_that_is_interrupted_leaves_its_build_to_the_next(kmod, tmp_path_factory.mktemp("run"))
    with kmod.slow_builds():
        kernels_are_built_at_once_but_no_more_of_them_than_allowed(
            kmod, tmp_path_factory.mktemp("run")
        )
    with kmod.slow_builds():
        two_recipes_build_the_same_in_one_namespace(kmod, tmp_path_factory.mktemp("run"))
    what_failed_elsewhere_is_tried_again_later_or_at_once_where_its_cause_is_gone(
        kmod, tmp_path_factory.mktemp("run")
    )
    what_is_known_before_is_said_before_anything_is_made(kmod, tmp_path_factory.mktemp("run"))
    what_another_cluster_pushed_from_the_same_inputs_is_no_new_driver(
        kmod, tmp_path_factory.mktemp("run")
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"build_timeout": 0}, "build_timeout cannot be 0; set it to at least 1"),
        ({"build_parallel": -1}, "parallel cannot be -1; set it to at least 1"),
        (
            {"builder_image": ""},
            "nothing can be built: no image with buildah is named; set builder_image",
        ),
        ({"registry_mirrors": [{"prefix": "a.test"}]}, "locations"),
    ],
)
def test_check_mode_refuses_what_a_run_would(kmod: Kmod, settings: Obj, said: str) -> None:
    played = kmod.play("--check", **settings)
    assert played.code != 0
    assert said in played.output
    assert "This is a bug" not in played.output
