# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds by Jobs: what they come to, when they are not repeated, and what a killed run leaves. The
pods that build are simulated, so it is the test that pushes. Only the image
for ODD has to be built."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.api import in_parallel
from tests.cluster.simulation.faults import clear_faults
from tests.integration.driver_bed import DOMAIN, KERNEL_LABEL, check_output
from tests.integration.kmod_bed import NAMESPACE, NEW, ODD, ODD_TAG, OLD, Kmod, make_kmod
from tests.integration.plays import REPO, Played, Runner
from tests.integration.registry_bed import Bed
from tests.integration.waiting import wait_until, wait_until_none

pytestmark = pytest.mark.builds

JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
# Kernels that nodes will run: with an image, to be built, and such as cannot be built.
SOON, LATER, NEVER = "6.8.0-80-generic", "6.8.0-90-generic", "6.8.0-91-generic"
# Of a fleet of its own: what its nodes run, boot next, and some day.
FLEET, NEXT, SOME_DAY = "6.8.0-100-generic", "6.8.0-110-generic", "6.8.0-120-generic"
LAST_LINE = "/src/simple_kmod.c:9:10: fatal error: linux/module.h: No such file or directory"


@pytest.fixture(scope="module")
def kmod(cluster: Cluster, runner: Runner, bed: Bed) -> Kmod:
    """Two kernels have a prebuilt image."""
    for kernel in (OLD, NEW):
        bed.images.push("drivers/prebuilt", kernel, labels={KERNEL_LABEL: kernel})
    return make_kmod(cluster, runner, bed)


def odd(found: dict[str, Any]) -> dict[str, Any]:
    """The row of the kernel whose image has to be built."""
    return next(dict(row) for row in found["groups"] if row["kernel"] == ODD)


def begun(kmod: Kmod, mark: int) -> int:
    """How many Jobs the runs have made since a mark."""
    return sum(request.startswith(f"create {JOBS}") for request in kmod.runner.writes(mark))


@contextmanager
def running(
    kmod: Kmod, sign: str, playbook: str = "enable", **settings: Any
) -> Iterator[subprocess.Popen[str]]:
    """A run whose build goes on: it has said the sign, and the build's pod runs."""
    run = kmod.runner.start(playbook, **kmod.variables(**settings))
    pods = (
        "get",
        "pods",
        "-n",
        NAMESPACE,
        "-l",
        f"{DOMAIN}/build",
        "-o",
        "jsonpath={.items[*].status.phase}",
    )
    try:
        wait_until(
            lambda: sign in said(kmod, playbook) and kmod.cluster.kubectl(*pods) == "Running",
            f"the run says {sign!r}, and the build's pod runs",
        )
        yield run
    finally:
        run.kill()
        run.wait()


def said(kmod: Kmod, playbook: str = "enable") -> str:
    """What a run that was started has said so far."""
    return (kmod.runner.folder / f"{playbook}.log").read_text()


def kill_in_the_middle(kmod: Kmod) -> None:
    """Kill a run with signal 9 while it builds. Its lock would end by itself, but nobody wants to
    wait here."""
    with running(kmod, "building") as run:
        run.kill()
    kmod.cluster.kubectl("delete", "lease", "simple-kmod", "-n", "hardware-enablement")


def finish(kmod: Kmod, run: subprocess.Popen[str]) -> str:
    """Let the build push and end, and the run with it; returns the image."""
    digest = kmod.push_built()
    clear_faults(kmod.cluster.kubeconfig)
    assert run.wait(60) == 0, said(kmod) + said(kmod, "preflight")
    return f"{kmod.registry.address}/drivers/simple-kmod@{digest}"


def a_job_that_completes_without_a_push_is_no_success(kmod: Kmod, tmp_path: Path) -> None:
    mark = kmod.cluster.mark()
    row = odd(kmod.build(tmp_path))
    target = row["problem"].partition(" ")[0]
    assert target.startswith(f"{kmod.registry.address}/drivers/simple-kmod:{ODD_TAG}-")
    assert row["problem"] == (
        f"{target} is built, but not in the registry ({target} does not exist); "
        "look at the builder's rights to push and run again; "
        f"it is tried again from {row['retry']} on, or at once with rebuild"
    )
    assert (row["image"], row["source"], kmod.record()[ODD]["image"]) == ("", "none", "")
    assert begun(kmod, mark) == 1
    wait_until_none(kmod.builds, "what was for the build")


def a_build_that_fails_is_not_repeated_until_somebody_says_so(kmod: Kmod, tmp_path: Path) -> None:
    mark = kmod.cluster.mark()
    row = odd(kmod.build(tmp_path, rebuild=True))
    assert (
        f"the build failed: {LAST_LINE}; mend its inputs, or set rebuild to try the same again"
        in row["problem"]
    )
    assert row["failed"]
    assert begun(kmod, mark) == 1
    # Kept for its log.
    assert len(kmod.jobs()) == 1

    mark = kmod.cluster.mark()
    again = kmod.build(tmp_path)
    assert (odd(again)["problem"], again["changed"], kmod.runner.writes(mark)) == (
        row["problem"],
        False,
        [],
    )

    odd(kmod.build(tmp_path, rebuild=True))
    assert begun(kmod, mark) == 1


def other_inputs_are_built_once(kmod: Kmod, tmp_path: Path) -> None:
    recipe = tmp_path / "simple-kmod"
    shutil.copytree(REPO / "recipes" / "simple-kmod", recipe)
    containerfile = recipe / "build" / "Containerfile.j2"
    containerfile.write_text(f"{containerfile.read_text()}LABEL changed=yes\n")
    old = [job["metadata"]["name"] for job in kmod.jobs()]
    hashes = [kmod.record()[ODD]["failed"]]
    mark = kmod.cluster.mark()
    for _run in range(2):
        hashes.append(odd(kmod.build(tmp_path, recipe_dir=str(tmp_path)))["failed"])
        assert begun(kmod, mark) == 1
    # What was left of the build before is gone.
    wait_until(lambda: len(kmod.jobs()) == 1, "one Job is there")
    assert [job["metadata"]["name"] for job in kmod.jobs()] != old

    kmod.images.push("base/kmod", "1", labels={"made": "second"})
    mark = kmod.cluster.mark()
    for _run in range(2):
        hashes.append(odd(kmod.build(tmp_path, recipe_dir=str(tmp_path)))["failed"])
        assert begun(kmod, mark) == 1
    assert "" not in hashes
    assert len(set(hashes)) == 3


def a_run_goes_on_with_the_build_of_one_that_was_killed(kmod: Kmod) -> None:
    mark = kmod.cluster.mark()
    kill_in_the_middle(kmod)
    with running(kmod, "goes on with the build that an earlier run began") as run:
        image = finish(kmod, run)
    assert begun(kmod, mark) == 1
    assert (kmod.drivers()[ODD], kmod.record()[ODD]["image"]) == (image, image)
    assert set(kmod.summaries().values()) == {"ready"}
    wait_until_none(kmod.builds, "what was for the build")
    kmod.play().unchanged()


def what_a_build_did_not_push_takes_nothing_away(kmod: Kmod) -> None:
    before = kmod.record(), kmod.drivers(), kmod.summaries()
    kmod.images.push("base/kmod", "1", labels={"made": "third"})
    played = kmod.play().check()
    assert "is built, but not in the registry" in played.output
    entry = kmod.record()[ODD]
    assert (entry["image"], entry["phase"], entry["attempts"]) == (
        before[0][ODD]["image"],
        "push",
        1,
    )
    assert ({**kmod.record(), ODD: before[0][ODD]}, kmod.drivers(), kmod.summaries()) == before
    wait_until_none(kmod.builds, "what was for the build")


def a_new_base_image_gives_a_new_image_and_restarts_nothing(kmod: Kmod) -> None:
    before, driver = kmod.drivers(), kmod.driver_pod("odd-1")
    # The build without a push is not yet to be tried again.
    with running(kmod, "building", rebuild=True) as run:
        image = finish(kmod, run)
    assert before[ODD] != image
    assert kmod.drivers() == {**before, ODD: image}
    assert kmod.driver_pod("odd-1") == driver
    assert "~ 1 node runs the driver version before, until the playbook upgrade" in said(kmod)


def the_build_of_a_killed_run_that_ended_meanwhile_is_found_and_cleared_away(
    kmod: Kmod,
) -> None:
    kmod.images.push("base/kmod", "1", labels={"made": "fourth"})
    mark = kmod.cluster.mark()
    kill_in_the_middle(kmod)
    digest = kmod.push_built()
    clear_faults(kmod.cluster.kubeconfig)
    wait_until(lambda: kmod.jobs()[0]["status"].get("succeeded") == 1, "the Job has succeeded")
    kmod.play().check()
    assert begun(kmod, mark) == 1
    assert kmod.drivers()[ODD].endswith(digest)
    wait_until_none(kmod.builds, "what was for the build")
    kmod.play().unchanged()


@contextmanager
def quota(kmod: Kmod, **hard: str) -> Iterator[None]:
    """A ResourceQuota of the namespace for a while; it counts as soon as its controller has seen
    it."""
    spec = {
        "hard": {name.replace("_", "/", 1).replace("_", "."): value for name, value in hard.items()}
    }
    obj = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "tight", "namespace": NAMESPACE},
    }
    kmod.cluster.kubectl("apply", "-f", "-", stdin=json.dumps({**obj, "spec": spec}))
    path = ("get", "resourcequota", "tight", "-n", NAMESPACE, "-o", "jsonpath={.status.hard}")
    wait_until(lambda: bool(kmod.cluster.kubectl(*path)), "the quota is in force")
    yield
    kmod.cluster.kubectl("delete", "resourcequota", "tight", "-n", NAMESPACE)


@contextmanager
def limit_range(kmod: Kmod, **limits: str) -> Iterator[None]:
    """Containers in the namespace that say nothing else have these limits, for a while."""
    obj = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "small", "namespace": NAMESPACE},
        "spec": {"limits": [{"type": "Container", "default": limits}]},
    }
    kmod.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(obj))
    try:
        yield
    finally:
        kmod.cluster.kubectl("delete", "limitrange", "small", "-n", NAMESPACE)


def a_build_that_may_not_be_made_holds_up_no_other(kmod: Kmod, tmp_path: Path) -> None:
    options = kmod.options(
        repository=f"{kmod.registry.address}/drivers/other", prebuilt_repository=""
    )
    with quota(kmod, count_jobs_batch="1"):
        found = kmod.build(tmp_path, recipe_options=options)
    problems = [row["problem"] for row in found["groups"]]
    assert len(problems) == 3
    refused = [text for text in problems if "the build cannot start: Cannot create Job" in text]
    assert "exceeded quota: tight" in refused[0]
    assert [text for text in problems if "is built, but not in the registry" in text]
    assert {row["phase"] for row in found["groups"]} == {"start", "push"}
    assert {row["source"] for row in found["groups"]} == {"kept"}


def a_build_whose_pod_may_not_be_made_says_so_and_ends(kmod: Kmod, tmp_path: Path) -> None:
    options = kmod.options(repository=f"{kmod.registry.address}/drivers/more")
    with quota(kmod, pods="0"):
        row = odd(kmod.build(tmp_path, recipe_options=options))
    assert "the build cannot start: FailedCreate: Error creating: pods" in row["problem"]
    assert "exceeded quota: tight" in row["problem"]
    wait_until_none(kmod.builds, "what was for the build")


@contextmanager
def policy(kmod: Kmod) -> Iterator[None]:
    """An admission policy that takes no pods in the namespace, for a while."""
    name = {"metadata": {"name": "no-pods"}}
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    where = {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}
    api = "admissionregistration.k8s.io/v1"
    objects = [
        {
            "apiVersion": api,
            "kind": "ValidatingAdmissionPolicy",
            **name,
            "spec": {
                "matchConstraints": {"resourceRules": [rule], "namespaceSelector": where},
                "validations": [{"expression": "false", "message": "only on Sundays"}],
            },
        },
        {
            "apiVersion": api,
            "kind": "ValidatingAdmissionPolicyBinding",
            **name,
            "spec": {"policyName": "no-pods", "validationActions": ["Deny"]},
        },
    ]
    everything = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    kmod.cluster.kubectl("apply", "-f", "-", stdin=everything)
    try:
        wait_until(
            lambda: "only on Sundays" in preflight(kmod).output,
            "the policy is in force",
        )
        yield
    finally:
        kmod.cluster.kubectl("delete", "-f", "-", stdin=everything)


def preflight(kmod: Kmod, **settings: Any) -> Played:
    """What preflight says of the recipe."""
    played = kmod.runner.play("preflight", **kmod.variables(**settings))
    check_output(played)
    return played


def what_is_coming_is_known_before_it_comes(kmod: Kmod) -> None:
    """Three kernels that no node runs: one has an image, one would be built, one cannot be. Nothing is
    written for the answer."""
    kmod.images.push("drivers/prebuilt", SOON, labels={KERNEL_LABEL: SOON})
    with kmod.builds_that("fail", exit_code=2, message=LAST_LINE):
        assert LAST_LINE in preflight(kmod, kernels=[NEVER], build=True).output
    mark, pushed = kmod.cluster.mark(), kmod.registry.mark()
    before = kmod.cluster.dump()
    played = preflight(kmod, kernels=[SOON, LATER, NEVER])
    assert played.code == 2
    rows = {row.split()[0]: row for row in map(one_line, played.output.splitlines()) if row}
    assert (
        f"none yet driver_container prebuilt {kmod.registry.address}/drivers/prebuilt@"
        in rows[SOON]
    )
    assert f"none yet driver_container would build {kmod.registry.address}" in rows[LATER]
    assert "none yet driver_container cannot" in rows[NEVER]
    assert f"! no image fits kernel {NEVER}" in played.output
    assert (kmod.runner.writes(mark), kmod.cluster.dump()) == ([], before)
    assert {request.method for request in kmod.registry.requests(pushed)} <= {"GET", "HEAD"}


def hardware_is_told_with_the_recipes_that_take_it(kmod: Kmod) -> None:
    mark = kmod.cluster.mark()
    played = kmod.runner.play("preflight").check()
    rows = [one_line(line) for line in played.output.splitlines()]
    assert (
        f"0302_10de NVIDIA 3D controller gpu-new-1, gpu-old-1, gpu-old-2 {OLD}, {NEW} nvidia-gpu, nvidia-gpu-dra"
        in rows
    )
    assert "enabled: simple-kmod" in rows
    assert kmod.runner.writes(mark) == []


def what_would_refuse_its_pods_says_so(kmod: Kmod) -> None:
    assert "nothing is in the way" in preflight(kmod).check().output
    with quota(kmod, pods="0"):
        refused = preflight(kmod)
    assert (refused.code, "exceeded quota: tight" in refused.output) == (2, True)
    with policy(kmod):
        refused = preflight(kmod, kernels=[SOON, LATER], stage=True)
    said = one_line(refused.output)
    assert (refused.code, "simple-kmod cannot be staged" in said) == (2, True)
    assert f"kernel {LATER}" in said
    assert "the build cannot start: its pod would be refused" in said


def a_staged_kernel_has_its_driver_without_a_run(kmod: Kmod) -> None:
    with (
        kmod.slow_builds(),
        running(kmod, "building", "preflight", kernels=[SOON, LATER], stage=True) as run,
    ):
        image = finish(kmod, run)
    assert kmod.drivers()[LATER] == image
    assert SOON in kmod.drivers()
    kmod.play().unchanged()
    mark = kmod.cluster.mark()
    kmod.cluster.reboot("gpu-new-1", LATER)
    kmod.cluster.relabel("gpu-new-1")
    wait_until(lambda: driver_on(kmod, "gpu-new-1") == image, "its driver runs")
    assert kmod.runner.writes(mark) == []
    preflight(kmod, kernels=[], stage=True).check()
    assert (SOON in kmod.drivers(), kmod.drivers()[LATER]) == (False, image)


def driver_on(kmod: Kmod, node: str) -> str:
    """The image of the driver that runs on a node, "" for none."""
    labels, place = f"{DOMAIN}/state=driver", f"spec.nodeName={node},status.phase=Running"
    path = "jsonpath={.items[*].spec.containers[0].image}"
    return kmod.cluster.kubectl(
        "get", "pods", "-n", NAMESPACE, "-l", labels, "--field-selector", place, "-o", path
    )


def one_line(text: str) -> str:
    """A line without the spaces that align it."""
    return " ".join(text.split())


def test_builds_by_jobs_from_a_missing_push_to_tight_quotas(
    kmod: Kmod, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One story: each step goes on from the one before."""
    a_job_that_completes_without_a_push_is_no_success(kmod, tmp_path_factory.mktemp("pushed"))
    with kmod.builds_that("fail", exit_code=2, message=LAST_LINE):
        a_build_that_fails_is_not_repeated_until_somebody_says_so(
            kmod, tmp_path_factory.mktemp("failed")
        )
    with kmod.builds_that("fail", exit_code=2, message=LAST_LINE):
        other_inputs_are_built_once(kmod, tmp_path_factory.mktemp("others"))
    with kmod.slow_builds():
        a_run_goes_on_with_the_build_of_one_that_was_killed(kmod)
    what_a_build_did_not_push_takes_nothing_away(kmod)
    with kmod.slow_builds():
        a_new_base_image_gives_a_new_image_and_restarts_nothing(kmod)
    with kmod.slow_builds():
        the_build_of_a_killed_run_that_ended_meanwhile_is_found_and_cleared_away(kmod)
    a_build_that_may_not_be_made_holds_up_no_other(kmod, tmp_path_factory.mktemp("jobs"))
    a_build_whose_pod_may_not_be_made_says_so_and_ends(kmod, tmp_path_factory.mktemp("pods"))
    what_is_coming_is_known_before_it_comes(kmod)
    hardware_is_told_with_the_recipes_that_take_it(kmod)
    what_would_refuse_its_pods_says_so(kmod)
    a_staged_kernel_has_its_driver_without_a_run(kmod)


@pytest.fixture
def fleet(kmod: Kmod) -> Iterator[list[str]]:
    """A hundred nodes of one kernel, and images for those that come."""
    if kmod.record():
        kmod.runner.play("disable", hardware_enablement_recipe="simple-kmod").check()
    for kernel in (FLEET, NEXT, SOME_DAY):
        kmod.images.push("drivers/prebuilt", kernel, labels={KERNEL_LABEL: kernel})
    nodes = kmod.cluster.add_nodes(100, profile="cpu-only", kernel=FLEET, prefix="fleet")
    kmod.cluster.kubectl("label", "node", *nodes, "kmod=fleet")
    try:
        yield nodes
    finally:
        kmod.runner.play("disable", hardware_enablement_recipe="simple-kmod").check()
        kmod.cluster.remove_nodes(*nodes)


def running_drivers(kmod: Kmod) -> dict[str, tuple[str, str, str]]:
    """Node -> kernel, uid and time of readiness of its driver's pod, where that is ready."""
    listed = kmod.cluster.api.get(f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
    drivers = {
        pod["spec"]["nodeName"]: (pod, condition)
        for pod in listed
        if pod["metadata"]["labels"].get(f"{DOMAIN}/state") == "driver"
        for condition in pod["status"].get("conditions", [])
        if (condition["type"], condition["status"]) == ("Ready", "True")
    }
    kernels = {image: kernel for kernel, image in kmod.drivers().items()}
    return {
        node: (
            kernels[pod["spec"]["containers"][0]["image"]],
            pod["metadata"]["uid"],
            condition["lastTransitionTime"],
        )
        for node, (pod, condition) in drivers.items()
    }


def all_nodes_are_too_many_for_the_namespace(kmod: Kmod, options: dict[str, Any]) -> None:
    """A pod of the driver would be taken, but not one for each node; and its memory has a limit that
    nobody gave it."""
    with limit_range(kmod, memory="64Mi"), quota(kmod, pods="50"):
        refused = preflight(kmod, options=options)
    said = one_line(refused.output)
    assert refused.code == 2
    assert "! pods: quota simple-kmod/tight has room for 50 of pods, and pods for all nodes" in said
    assert (
        "~ pods: a LimitRange of simple-kmod gives containers of pods of DaemonSet simple-kmod/"
        in said
    )
    assert "the limits memory 64Mi" in said


def test_a_fleet_reboots_into_a_staged_kernel_in_waves(kmod: Kmod, fleet: list[str]) -> None:
    """No run and no build is needed for a node's driver; nodes that do not reboot keep the pod that they
    have; what is of the kernel that nobody runs any more goes, but its image; what is staged stays."""
    options = kmod.options(build=False, node_selector={"kmod": "fleet"})
    all_nodes_are_too_many_for_the_namespace(kmod, options)
    kmod.play(options=options).check()
    preflight(kmod, options=options, kernels=[NEXT, SOME_DAY], stage=True).check()
    assert kmod.drivers().keys() == {FLEET, NEXT, SOME_DAY}
    left = fleet
    for count in (10, 40, 50):
        wave, left = left[:count], left[count:]
        before, mark = running_drivers(kmod), kmod.cluster.mark()
        assert before.keys() == set(fleet)
        in_parallel(lambda node: kmod.cluster.reboot(node, NEXT), wave)
        in_parallel(kmod.cluster.relabel, wave)
        wait_until(
            lambda of=wave: {running_drivers(kmod).get(node, ("",))[0] for node in of} == {NEXT},
            "the nodes that have rebooted have their driver",
        )
        after = running_drivers(kmod)
        assert {node: after[node] for node in left} == {node: before[node] for node in left}
        assert kmod.runner.writes(mark) == []
        if count != 40:
            kmod.play(options=options).check()
            assert kmod.drivers().keys() == {NEXT, SOME_DAY, *([FLEET] if left else [])}
    assert kmod.record().keys() == {NEXT, SOME_DAY}
    assert FLEET in kmod.images.tags("drivers/prebuilt")
