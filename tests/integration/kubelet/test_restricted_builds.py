# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""simple-kmod built by ordinary pods, in a namespace that Pod Security's level "restricted" is
enforced in."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.faults import Fault
from tests.integration.kubelet.kmod_site import BUILDS, Obj, Site, look_into, make_site
from tests.integration.plays import REPO, Played
from tests.integration.waiting import wait_until, wait_until_none

pytestmark = pytest.mark.kubelet

JOBS = f"/apis/batch/v1/namespaces/{BUILDS}/jobs"


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """See make_site; only the kernel that can be built for takes part."""
    with make_site(cluster, "test-restricted-builds", tmp_path_factory.mktemp("site")) as made:
        cluster.kubectl("label", "node", "none-1", "prebuilt-1", "kmod-")
        yield made


def changed(folder: Path, **texts: str) -> str:
    """A folder with a recipe simple-kmod that is another one. texts: see below."""
    recipe = folder / "simple-kmod"
    shutil.copytree(REPO / "recipes" / "simple-kmod", recipe)
    if "before_make" in texts:
        file = recipe / "recipe.yml"
        file.write_text(
            file.read_text().replace('make "KERNEL=', f'{texts["before_make"]}; make "KERNEL=')
        )
    if "source" in texts:
        file = recipe / "build" / "src" / "simple_kmod.c"
        file.write_text(file.read_text() + texts["source"])
    return str(folder)


def play(site: Site, repository: str, **others: Any) -> Played:
    """Enable, with builds by ordinary pods."""
    return site.play(repository, build_namespace=BUILDS, **others)


def begun(site: Site, mark: int) -> int:
    """How many Jobs the runs have made since a mark."""
    return sum(request.startswith(f"create {JOBS}") for request in site.runner.writes(mark))


def left(site: Site) -> list[str]:
    """The Jobs, pods and contexts that are there."""
    names = site.cluster.kubectl("get", "jobs,pods,configmaps", "-n", BUILDS, "-o", "name").split()
    return [name for name in names if not name.endswith("/kube-root-ca.crt")]


def pods(site: Site) -> list[Obj]:
    """The pods that build."""
    return list(
        json.loads(site.cluster.kubectl("get", "pods", "-n", BUILDS, "-o", "json"))["items"]
    )


def an_image_is_built_there_and_nothing_stays(site: Site) -> None:
    # Nobody says who builds: the namespace does.
    played = play(site, "drivers/first").check()
    made = look_into(site, "drivers/first")
    assert "building" in played.output
    assert made.labels["org.opencontainers.image.base.name"].startswith(
        f"{site.registry.named_address}/base/kmod@"
    )
    wait_until_none(lambda: left(site), "what was for the build")


def the_second_run_asks_and_writes_nothing(site: Site) -> None:
    pushed, mark = site.registry.mark(), site.cluster.mark()
    play(site, "drivers/first").unchanged()
    assert site.runner.writes(mark) == []
    assert {request.method for request in site.registry.requests(pushed)} <= {"GET", "HEAD"}


def the_same_inputs_are_the_same_image(site: Site) -> None:
    play(site, "drivers/second").check()
    first, second = (
        site.images.contents(name, tag(site, name)) for name in ("drivers/first", "drivers/second")
    )
    assert first.manifest == second.manifest


def tag(site: Site, repository: str) -> str:
    """The one tag of a repository."""
    (found,) = json.loads(site.images.get(repository, "tags/list"))["tags"]
    return str(found)


def a_build_that_fails_ends_at_once_with_its_last_lines(site: Site, tmp_path: Path) -> None:
    played = play(
        site, "drivers/broken", recipe_dir=changed(tmp_path, source="#error no such kernel\n")
    )
    assert "#error no such kernel" in played.output
    entry = site.record()[site.built]
    assert "the build failed: make: *** [Makefile:" in entry["problem"]
    assert entry["failed"]
    # What was there is there, and the failed one is there to be looked at.
    assert entry["image"].startswith(f"{site.registry.named_address}/drivers/second@")
    assert [name.partition("/")[0] for name in left(site)] == ["job.batch", "pod", "configmap"]


def the_pod_knows_no_secret(site: Site) -> None:
    (pod,) = pods(site)
    (job,) = json.loads(site.cluster.kubectl("get", "jobs", "-n", BUILDS, "-o", "json"))["items"]
    volumes = [key for volume in pod["spec"]["volumes"] for key in volume if key != "name"]
    assert sorted(volumes) == ["configMap", "emptyDir", "emptyDir"]
    account = site.registry.credentials
    text = json.dumps([pod, job]) + site.cluster.kubectl(
        "get", "configmaps,events", "-n", BUILDS, "-o", "json"
    )
    assert [secret for secret in (account.password, account.entry["auth"]) if secret in text] == []


def a_run_that_is_killed_leaves_its_build_to_the_next_one(site: Site, tmp_path: Path) -> None:
    mark = site.cluster.mark()
    others = {"recipe_dir": changed(tmp_path, before_make="sleep 15"), "build_namespace": BUILDS}
    process = site.runner.start("enable", **site.variables("drivers/third", **others))
    wait_until(lambda: any(map(compiling, pods(site))), "its pod compiles")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    site.cluster.kubectl("delete", "lease", "simple-kmod", "-n", "hardware-enablement")
    played = site.play("drivers/third", **others).check()
    assert "goes on with the build that an earlier run began" in played.output
    assert begun(site, mark) == 1
    look_into(site, "drivers/third")
    wait_until_none(lambda: left(site), "what was for the build")


def compiling(pod: Obj) -> bool:
    """Whether the container that builds runs."""
    return any(
        "running" in status["state"] for status in pod["status"].get("initContainerStatuses", [])
    )


def what_cannot_be_pushed_is_built_and_pushed_by_the_next_run(site: Site) -> None:
    mark, before = site.cluster.mark(), site.record()
    with site.proxy.faults.on(Fault(method="PUT", path="uploads", status=403)):
        played = play(site, "drivers/fourth", faulty=True)
    assert "what was built cannot be pushed: Cannot push" in played.output
    entry = site.record()[site.built]
    assert (entry["image"], entry["phase"], entry["reason"]) == (
        before[site.built]["image"],
        "push",
        "Denied",
    )
    played = play(site, "drivers/fourth", faulty=True, rebuild=True).check()
    assert "goes on with the build that an earlier run began" in played.output
    assert begun(site, mark) == 1
    look_into(site, "drivers/fourth")
    wait_until_none(lambda: left(site), "what was for the build")


def headers_from_packages_are_refused_before_anything_is_made(site: Site) -> None:
    mark = site.cluster.mark()
    variables = site.variables("drivers/fifth", build_namespace=BUILDS)
    variables["hardware_enablement_options"]["headers"] = "packages"
    played = site.runner.play("enable", **variables)
    assert (
        "cannot be built by an ordinary pod: with headers: packages the build installs packages"
        in played.output
    )
    assert begun(site, mark) == 0


def what_buildah_needs_is_refused_there_and_says_so(site: Site) -> None:
    played = play(site, "drivers/sixth", builder="kubernetes")
    assert "the build cannot start: FailedCreate: Error creating: pods" in played.output
    assert 'violates PodSecurity "restricted' in played.output
    wait_until_none(lambda: left(site), "what was for the build")


def disable_finds_what_is_left_wherever_it_is(site: Site, tmp_path: Path) -> None:
    play(site, "drivers/seventh", recipe_dir=changed(tmp_path, source="#error no\n"))
    assert left(site) != []
    site.runner.play("disable", hardware_enablement_recipe="simple-kmod").check()
    wait_until_none(lambda: left(site), "what was for the build")


def test_builds_in_an_ordinary_pod_from_the_first_to_what_is_left(
    site: Site, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One story: each step goes on from the one before."""
    an_image_is_built_there_and_nothing_stays(site)
    the_second_run_asks_and_writes_nothing(site)
    the_same_inputs_are_the_same_image(site)
    a_build_that_fails_ends_at_once_with_its_last_lines(site, tmp_path_factory.mktemp("step"))
    the_pod_knows_no_secret(site)
    a_run_that_is_killed_leaves_its_build_to_the_next_one(site, tmp_path_factory.mktemp("step"))
    what_cannot_be_pushed_is_built_and_pushed_by_the_next_run(site)
    headers_from_packages_are_refused_before_anything_is_made(site)
    what_buildah_needs_is_refused_there_and_says_so(site)
    disable_finds_what_is_left_wherever_it_is(site, tmp_path_factory.mktemp("step"))
