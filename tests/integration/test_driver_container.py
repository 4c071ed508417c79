# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Driver images are found, or it is said why not; what is known outlives a registry that is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.faults import Fault
from tests.cluster.pki import Authority
from tests.cluster.registry import PUSHER
from tests.cluster.registry.token_server import Behaviour
from tests.cluster.simulation.faults import set_fault
from tests.integration.conftest import grant
from tests.integration.driver_bed import BUILDER, INPUTS_LABEL, KERNEL_LABEL, SECRETS, check_output
from tests.integration.kmod_bed import NAMESPACE, NEW, ODD, ODD_TAG, OLD, Kmod, make_kmod
from tests.integration.plays import Played, Runner
from tests.integration.registry_bed import Bed, make_bed
from tests.unit.plugins.module_utils.registry.test_image_signature import COSIGN_PUB

pytestmark = pytest.mark.builds

READY = {
    "gpu-old-1": "ready",
    "gpu-old-2": "ready",
    "gpu-new-1": "ready",
    "odd-1": "driver_container.failed",
}
NO_HEADERS = f"make: *** /lib/modules/{ODD}/build: No such file or directory.  Stop."


@pytest.fixture(scope="module")
def kmod(cluster: Cluster, runner: Runner, bed: Bed) -> Kmod:
    """Three kernels, of which none has an image yet; headers of ODD are not to be had."""
    set_fault(cluster.kubeconfig, BUILDER, "other", "fail", exit_code=2, message=NO_HEADERS)
    return make_kmod(cluster, runner, bed)


@pytest.fixture(scope="module")
def wrong_ca(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of somebody else."""
    return Authority(tmp_path_factory.mktemp("wrong"), "other").certificate_file.read_text()


def groups(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The rows of a result by kernel."""
    return {row["kernel"]: row for row in found["groups"]}


def set_prebuilt(kmod: Kmod) -> str:
    """Of the prebuilt images there is only that for OLD; returns its digest."""
    kmod.images.clear("drivers/prebuilt", {NEW, ODD_TAG})
    return kmod.images.push("drivers/prebuilt", OLD, labels={KERNEL_LABEL: OLD})


def first_run(kmod: Kmod, folder: Path) -> tuple[Played, dict[str, str]]:
    """A run that finds a prebuilt image for OLD and one for NEW that was built before, and none for
    ODD, which cannot be built; with the images by kernel."""
    prebuilt = set_prebuilt(kmod)
    would = groups(kmod.look_up(folder))[NEW]
    assert would["source"] == "would be built"
    tag = would["tried"][-1].removesuffix(" does not exist").rpartition(":")[2]
    labels = {KERNEL_LABEL: NEW, INPUTS_LABEL: would["inputs"]}
    before = kmod.images.push("drivers/simple-kmod", tag, labels=labels)
    host = kmod.registry.address
    return kmod.play(), {
        OLD: f"{host}/drivers/prebuilt@{prebuilt}",
        NEW: f"{host}/drivers/simple-kmod@{before}",
    }


@pytest.fixture
def absent(kmod: Kmod) -> Kmod:
    """The recipe is not enabled, and no image is there."""
    if kmod.record():
        kmod.runner.play("disable", hardware_enablement_recipe="simple-kmod").check()
    for repository in ("drivers/prebuilt", "drivers/simple-kmod"):
        kmod.images.clear(repository, kmod.images.tags(repository))
    return kmod


@pytest.fixture
def enabled(request: pytest.FixtureRequest, kmod: Kmod, tmp_path: Path) -> Kmod:
    """As first_run leaves it."""
    if kmod.summaries() == READY and f"build failed: {NO_HEADERS}" in kmod.record()[ODD]["problem"]:
        set_prebuilt(kmod)
    else:
        first_run(request.getfixturevalue("absent"), tmp_path)
    return kmod


@pytest.mark.usefixtures("absent")
def test_check_mode_says_what_would_be_built_and_writes_nothing(kmod: Kmod) -> None:
    before, mark, pushed = kmod.cluster.dump(), kmod.cluster.mark(), kmod.registry.mark()
    played = kmod.play("--check").check()
    assert (
        f"the image for kernel {ODD}: would be built as {kmod.registry.address}/drivers/simple-kmod:{ODD_TAG}-"
        in (check_output(played))
    )
    assert kmod.runner.writes(mark) == []
    assert kmod.cluster.dump() == before
    assert {request.method for request in kmod.registry.requests(pushed)} <= {"GET", "HEAD"}


class TestNothingEnabled:
    """A first run that finds nothing enables nothing, not even by half, and says why in one
    sentence."""

    @pytest.fixture(autouse=True)
    def nothing(self, absent: Kmod) -> Iterator[None]:
        """Neither record nor label nor DaemonSet nor build."""
        yield
        assert absent.record() == {}
        assert set(absent.summaries().values()) == {""}
        assert absent.drivers() == {}
        assert absent.builds() == []

    def test_the_registry_is_down(self, kmod: Kmod) -> None:
        with kmod.down():
            played = kmod.play()
        assert played.code != 0
        where = kmod.registry.address
        image = f"{where}/drivers/prebuilt:{OLD}"
        sentence = (
            f"Cannot look up {image} ({where}): no connection (Connection refused); check host"
        )
        assert sentence in check_output(played)
        assert "then run again (and 2 more kernels)" in played.output

    def test_the_key_has_signed_none_of_them(self, kmod: Kmod) -> None:
        digest = set_prebuilt(kmod)
        keys = ("configmap", "keys", "-n", NAMESPACE)
        kmod.cluster.kubectl("create", *keys, f"--from-literal=cosign.pub={COSIGN_PUB}")
        played = kmod.play(options=kmod.options(prebuilt_key="configmap/keys", build=False))
        kmod.cluster.kubectl("delete", *keys)
        assert played.code != 0
        image = f"{kmod.registry.address}/drivers/prebuilt@{digest}"
        sentence = (
            f"no image fits kernel {OLD}: {image} is not used, since the key with the fingerprint"
        )
        assert sentence in check_output(played)
        assert "has not signed it; sign it (cosign sign --key), or correct the key" in played.output

    def test_the_ca_is_another_one(self, kmod: Kmod, wrong_ca: str) -> None:
        played = kmod.play(registry_ca=wrong_ca)
        assert played.code != 0
        assert (
            "the registry's certificate cannot be verified: unable to get local issuer certificate; give the CA"
            in check_output(played)
        )

    def test_the_pull_secret_is_missing(self, kmod: Kmod) -> None:
        with kmod.without_secret():
            played = kmod.play()
        assert played.code != 0
        assert (
            f"Secret {NAMESPACE}/registry does not exist: images are looked up and pushed with it"
            in check_output(played)
        )

    def test_all_tokens_are_expired(self, kmod: Kmod) -> None:
        kmod.registry.behave(Behaviour(lifetime=-120))
        try:
            played = kmod.play()
        finally:
            kmod.registry.behave(Behaviour())
        assert played.code != 0
        assert "does not accept the token" in check_output(played)
        assert "expired" in played.output

    def test_each_kernel_has_a_trouble_of_its_own(self, kmod: Kmod) -> None:
        arm = kmod.images.push("drivers/prebuilt", "arm", arch="arm64")
        kmod.images.push_index("drivers/prebuilt", NEW, {"arm64": arm})
        kmod.images.push("drivers/prebuilt", ODD_TAG, labels={KERNEL_LABEL: OLD})
        with kmod.bed.proxy.faults.on(
            Fault(path=f"prebuilt/manifests/{OLD}", status=429, headers={"Retry-After": "60"})
        ):
            played = kmod.play(faulty=True, options=kmod.options(build=False))
        assert played.code != 0
        place = f"{kmod.registry.address}/drivers/prebuilt"
        for sentence in (
            f"Cannot look up {place}:{OLD} ({kmod.bed.proxy.address}): it answers 429 and asks to wait 60 s; run again",
            f"no image fits kernel {ODD}: {place}:{ODD_TAG} was built for kernel {OLD}",
            f"no image fits kernel {NEW}: Cannot look up {place}:{NEW}",
        ):
            assert sentence in check_output(played)
        assert "arm64" in played.output


@pytest.mark.usefixtures("absent")
def test_the_first_run_and_the_second(kmod: Kmod, tmp_path: Path) -> None:
    """One kernel has a prebuilt image, one an image that was built before, one has none and none can
    be built."""
    played, images = first_run(kmod, tmp_path)
    assert played.code != 0
    assert (
        "3 of 4 nodes are ready; node odd-1, state driver_container failed: no image fits kernel"
        in check_output(played)
    )
    assert kmod.summaries() == READY
    assert kmod.drivers() == images
    record = kmod.record()
    assert {kernel: record[kernel]["image"] for kernel in (OLD, NEW)} == kmod.drivers()
    assert (record[ODD]["image"], record[ODD]["failed"] != "") == ("", True)
    for part in (
        f"drivers/prebuilt:{ODD_TAG} does not exist; ",
        f"drivers/simple-kmod:{ODD_TAG}-",
        f"does not exist; the build failed: {NO_HEADERS}; mend its inputs, or set rebuild",
    ):
        assert part in record[ODD]["problem"]

    # The second run only reads.
    before, mark, pushed = kmod.cluster.dump(), kmod.cluster.mark(), kmod.registry.mark()
    played = kmod.play()
    assert (played.changed, kmod.runner.writes(mark)) == (0, []), played.output
    assert {request.method for request in kmod.registry.requests(pushed)} <= {"GET", "HEAD"}
    assert kmod.cluster.dump() == before

    # Both ways of running the module say the same.
    here = kmod.look_up(tmp_path, how="local")
    assert {kernel: row["source"] for kernel, row in groups(here).items()} == {
        OLD: "prebuilt",
        NEW: "built before",
        ODD: "none",
    }
    assert kmod.look_up(tmp_path, how="elsewhere") == here


class TestKept:
    """What is known and runs outlives whatever the registry says, or does not say."""

    @pytest.fixture(autouse=True)
    def everything(self, enabled: Kmod) -> Iterator[None]:
        """Record, labels and DaemonSets are as they were."""
        before = enabled.record(), enabled.summaries(), enabled.drivers(), enabled.builds()
        yield
        assert before == (
            enabled.record(),
            enabled.summaries(),
            enabled.drivers(),
            enabled.builds(),
        )

    def test_the_registry_is_down(self, kmod: Kmod) -> None:
        with kmod.down():
            played = kmod.play()
        assert "no connection (Connection refused)" in check_output(played)
        assert "3 of 4 nodes are ready" in played.output

    def test_a_prebuilt_image_needs_no_base_image(self, kmod: Kmod, tmp_path: Path) -> None:
        with kmod.bed.proxy.faults.on(
            Fault(path="base/kmod", status=429, headers={"Retry-After": "60"})
        ):
            found = groups(kmod.look_up(tmp_path, faulty=True))
        assert {kernel: row["source"] for kernel, row in found.items()} == {
            OLD: "prebuilt",
            NEW: "kept",
            ODD: "kept",
        }
        assert "it answers 429 and asks to wait 60 s" in found[NEW]["problem"]

    def test_the_ca_is_another_one_or_all_tokens_are_expired(
        self, kmod: Kmod, wrong_ca: str, tmp_path: Path
    ) -> None:
        found = groups(kmod.look_up(tmp_path, registry_ca=wrong_ca))
        assert {row["source"] for row in found.values()} == {"kept"}
        assert "the registry's certificate cannot be verified" in found[OLD]["problem"]
        kmod.registry.behave(Behaviour(lifetime=-120))
        try:
            found = groups(kmod.look_up(tmp_path))
        finally:
            kmod.registry.behave(Behaviour())
        assert {row["source"] for row in found.values()} == {"kept"}
        assert "expired" in found[OLD]["problem"]

    def test_the_pull_secret_is_missing(self, kmod: Kmod) -> None:
        with kmod.without_secret():
            played = kmod.play()
        assert f"Secret {NAMESPACE}/registry does not exist" in check_output(played)
        assert "3 of 4 nodes are ready" in played.output


@pytest.mark.usefixtures("enabled")
def test_tags_that_were_moved_take_nothing_away(kmod: Kmod) -> None:
    before = kmod.record(), kmod.summaries(), kmod.drivers()
    arm = kmod.images.push("drivers/prebuilt", "arm", arch="arm64")
    kmod.images.push_index("drivers/prebuilt", OLD, {"arm64": arm})
    kmod.images.push("drivers/prebuilt", NEW, labels={KERNEL_LABEL: OLD})
    played = kmod.play(options=kmod.options(build=False))
    assert (
        f"no image fits kernel {NEW}: {kmod.registry.address}/drivers/prebuilt:{NEW} was built for kernel {OLD}"
        in (check_output(played))
    )
    assert f"no image fits kernel {OLD}: Cannot look up" in played.output
    record = kmod.record()
    assert ({**record, ODD: before[0][ODD]}, kmod.summaries(), kmod.drivers()) == before
    assert "build failed" not in record[ODD]["problem"]


@pytest.mark.usefixtures("absent")
def test_a_mirror_with_what_was_listed_is_enough(
    kmod: Kmod, authority: Authority, tmp_path: Path
) -> None:
    """Listed and exported at the source, imported into a mirror, enabled with the source down; an image
    that the mirror lacks is named before the first write."""
    for kernel, tag in ((OLD, OLD), (NEW, NEW), (ODD, ODD_TAG)):
        kmod.images.push("drivers/prebuilt", tag, labels={KERNEL_LABEL: kernel})
    with make_bed("test_driver_container-mirror", "htpasswd", authority) as mirror:
        accounts = tmp_path / "config.json"
        auths = dict.fromkeys((kmod.registry.address, mirror.registry.address), PUSHER.entry)
        accounts.write_text(json.dumps({"auths": auths}))
        base = f"{kmod.registry.address}/base/kmod:1"
        asked = kmod.variables(registry_auth_file=str(accounts), builder_image=base)
        folder = {"hardware_enablement_image_layout": str(tmp_path / "layout")}
        listed = tmp_path / "images.txt"
        exported = {
            "hardware_enablement_images_state": "exported",
            "hardware_enablement_images_file": str(listed),
        }
        check_output(images(kmod, **asked, **folder, **exported).check())
        names = [line.partition("@")[0].partition("/")[2] for line in listed.read_text().split()]
        assert {"base/kmod:1", f"drivers/prebuilt:{OLD}", f"drivers/prebuilt:{NEW}"} < set(names)
        imported = {
            **folder,
            "hardware_enablement_images_state": "imported",
            "hardware_enablement_image_mirror": mirror.registry.address,
            "hardware_enablement_mirror_map_dir": str(tmp_path / "map"),
            "hardware_enablement_registry_auth_file": str(accounts),
            "hardware_enablement_registry_ca": kmod.registry.ca,
        }
        with kmod.down():
            images(kmod, **imported).check()
            places = json.loads((tmp_path / "map" / "registry_mirrors.json").read_text())
            closed = {**asked, **places, "hardware_enablement_preflight": True}
            lost = f"{kmod.registry.address.replace(':', '-')}/drivers/prebuilt"
            mirror.images.clear(lost, {NEW})
            mark, before = kmod.cluster.mark(), kmod.cluster.dump()
            options = {**closed["hardware_enablement_options"], "build": False}
            refused = kmod.runner.play(
                "enable", **{**closed, "hardware_enablement_options": options}
            )
            assert refused.code == 2
            assert f"no image fits kernel {NEW}: " in refused.output
            assert f"drivers/prebuilt:{NEW} does not exist" in refused.output
            assert (kmod.runner.writes(mark), kmod.cluster.dump()) == ([], before)
            images(kmod, **imported).check()
            kmod.runner.play("enable", **closed).check()
        assert set(kmod.summaries().values()) == {"ready"}


def images(kmod: Kmod, **variables: Any) -> Played:
    """What the playbook images says."""
    return kmod.runner.play("images", **variables)


@pytest.mark.usefixtures("enabled")
def test_no_secret_is_anywhere(kmod: Kmod, tmp_path: Path) -> None:
    played = kmod.play("-vvv", "--diff", rebuild=True)
    assert f"the build failed: {NO_HEADERS}" in check_output(played)
    kinds = "jobs,configmaps,pods,daemonsets,events"
    objects = kmod.cluster.kubectl("get", kinds, "-n", NAMESPACE, "-o", "json")
    objects += kmod.cluster.kubectl("get", "specialresources,nodes", "-o", "json")
    found = json.dumps([kmod.look_up(tmp_path, "-vvv", how=how) for how in ("local", "elsewhere")])
    assert [secret for secret in SECRETS if secret in objects or secret in found] == []
    assert '"kind": "Job"' in objects


@pytest.mark.usefixtures("enabled")
def test_disable_needs_no_options_and_leaves_no_build(kmod: Kmod) -> None:
    assert kmod.builds()
    kmod.runner.play("disable", hardware_enablement_recipe="simple-kmod").check()
    assert (kmod.record(), kmod.drivers(), kmod.builds()) == ({}, {}, [])
    assert set(kmod.summaries().values()) == {""}
    kmod.runner.play("disable", hardware_enablement_recipe="simple-kmod").unchanged()


def test_files_of_modules_are_of_the_nodes_that_are_chosen_and_gone_when_disabled(
    cluster: Cluster, tmp_path: Path
) -> None:
    grant(cluster, "modprobe", "cluster-admin")
    runner = Runner(cluster, "modprobe", tmp_path)
    options = {
        "blacklist": ["nouveau"],
        "node_selector": {"kubernetes.io/hostname": "gpu-old-1"},
    }
    wanted = {"hardware_enablement_recipe": "modprobe", "hardware_enablement_options": options}
    played = runner.play("enable", **wanted)
    assert "modprobe: ready, 1/1 nodes" in played.check().output
    pods = cluster.kubectl(
        "get", "pods", "-n", "modprobe", "-o", "jsonpath={.items[*].spec.nodeName}"
    )
    assert pods == "gpu-old-1"
    runner.play("enable", **wanted).unchanged()
    runner.play("disable", hardware_enablement_recipe="modprobe").check()
    assert (
        cluster.kubectl("get", "daemonsets", "-A", "-l", "app.kubernetes.io/component=module-files")
        == ""
    )


def test_gpus_of_chosen_nodes_are_for_virtual_machines(cluster: Cluster, tmp_path: Path) -> None:
    (node,) = cluster.add_nodes(1, profile="gpu-vm", prefix="vm")
    cluster.kubectl("label", "node", node, "nvidia.com/gpu.workload.config=vm-passthrough")
    grant(cluster, "passthrough", "cluster-admin")
    runner = Runner(cluster, "passthrough", tmp_path)
    wanted = {"hardware_enablement_recipe": "nvidia-gpu-passthrough"}
    played = runner.play("enable", **wanted)
    assert "nvidia-gpu-passthrough: ready, 1/1 nodes" in played.check().output
    offered = cluster.kubectl("get", "node", node, "-o", "json")
    assert json.loads(offered)["status"]["allocatable"]["nvidia.com/GH100_H100_PCIE"] == "2"
    runner.play("enable", **wanted).unchanged()
    # Who serves containers leaves such a node to whom it is.
    beside = runner.play("enable", hardware_enablement_recipe="nvidia-gpu")
    assert beside.code != 0
    assert "nvidia-gpu-passthrough" in beside.output
    runner.play("disable", **wanted).check()
    cluster.remove_nodes(node)
