# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""simple-kmod on real nodes: images found, built by Jobs and refused, for kernels that simulated
and real nodes run.

No kernel here loads modules: what is shown is the build, and that the refusal of the load is
reported.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    BUILD_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.variables import (
    kernel_tag,
)
from tests.cluster import Cluster
from tests.cluster.builds_api.pushing import use_registry
from tests.cluster.images import ensure_image
from tests.cluster.images.build_host import make_build_host, make_host
from tests.cluster.pki import Authority
from tests.integration.kubelet.kmod_site import (
    NAMESPACE,
    NO_HEADERS,
    USER,
    Made,
    Site,
    allow,
    look_into,
    make_site,
)
from tests.integration.plays import Runner
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.kubelet

MIB = 1024 * 1024
SIGNER = "modules of a test"


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """See make_site."""
    with make_site(cluster, "test-driver-images", tmp_path_factory.mktemp("site")) as made:
        yield made


def one_is_prebuilt_one_is_built_and_one_is_impossible(site: Site) -> None:
    played = site.play()

    assert played.code != 0
    assert site.summaries() == {
        "prebuilt-1": "ready",
        "built-1": "ready",
        "none-1": "driver_container.failed",
    }, played.output
    found = site.record()
    assert found[site.prebuilt]["image"].startswith(
        f"{site.registry.named_address}/drivers/prebuilt@sha256:"
    )
    assert found[site.built]["image"].startswith(
        f"{site.registry.named_address}/drivers/simple-kmod@sha256:"
    )
    problem = found[NO_HEADERS]["problem"]
    assert f"drivers/prebuilt:{NO_HEADERS} does not exist" in problem
    assert "the build failed" in problem
    # The last lines of the build tell why, and are shown.
    shown = [line for line in played.output.splitlines() if " | " in line or NO_HEADERS in line]
    assert any(f"/lib/modules/{NO_HEADERS}/build: No such file" in line for line in shown), shown


def what_a_build_pulls_and_writes_lies_on_its_volume(site: Site) -> None:
    # The build that failed has pulled its base, half a gigabyte, and its pod is still there.
    pods = json.loads(
        site.cluster.kubectl("get", "pods", "-n", NAMESPACE, "-l", BUILD_LABEL, "-o", "json")
    )["items"]
    (pod,) = (pod for pod in pods if pod["status"]["phase"] == "Failed")
    container = pod["status"]["containerStatuses"][0]["containerID"].rpartition("/")[2]
    node = site.cluster.real_node(pod["spec"]["nodeName"])
    usage = (
        node.run("ctr", "--namespace=k8s.io", "snapshots", "usage", "-b", container)
        .splitlines()[-1]
        .split()
    )
    assert int(usage[1]) < MIB
    # Each layer once, and not the whole image again for each step.
    log = site.cluster.kubectl("logs", "-n", NAMESPACE, pod["metadata"]["name"])
    assert "images lie on the volume by overlay" in log.splitlines()


def what_was_built_is_for_that_kernel_and_says_so(site: Site) -> None:
    look_into(site, "drivers/simple-kmod")


def the_second_run_asks_and_writes_nothing(site: Site) -> None:
    pushed, mark = site.registry.mark(), site.cluster.mark()
    played = site.play()
    assert played.changed == 0, played.output
    assert site.runner.writes(mark) == []
    methods = {request.method for request in site.registry.requests(pushed)}
    assert methods <= {"GET", "HEAD"}


def no_secret_is_where_it_does_not_belong(site: Site) -> None:
    password = site.registry.credentials.password
    secrets = [password, site.registry.credentials.entry["auth"]]
    jobs = site.cluster.kubectl("get", "jobs,configmaps,pods,sr", "-n", NAMESPACE, "-o", "json")
    assert [secret for secret in secrets if secret in jobs] == []


def a_real_node_reports_that_its_kernel_takes_no_module(site: Site) -> None:
    node = site.cluster.workers[1]
    site.cluster.reboot(node, site.built)
    site.cluster.relabel(node)
    site.cluster.kubectl("label", "node", node, "kmod=wanted")
    played = site.play()
    assert "insmod: ERROR: could not insert module" in played.output
    assert site.summaries()[node] == "driver.failed"
    assert site.summaries()["built-1"] == "ready"


def after_a_reboot_into_another_kernel_the_driver_waits_and_says_so(site: Site) -> None:
    node = site.cluster.workers[1]
    site.cluster.reboot(node, site.prebuilt)
    text = f"waiting: this image is for kernel {site.built}, and the node runs {site.prebuilt}"
    wait_until(lambda: text in site.driver_log(node), "the driver's pod says what it waits for")


def a_base_image_that_changed_is_built_on_once_and_a_failure_takes_nothing_away(
    site: Site,
) -> None:
    before = site.record()[site.built]
    site.images.push("base/kmod", "1", files={"etc/motd": b"this base has no compiler\n"})
    played = site.play()
    assert "the build failed" in played.output
    after = site.record()[site.built]
    assert after["image"] == before["image"]
    assert "the build failed" in after["problem"]
    assert site.summaries()["built-1"] == "ready"
    again = site.play()
    assert again.changed == 0, again.output
    site.images.push_archive("base/kmod", "1", ensure_image("kmod-base").archive)
    site.play()
    assert site.record()[site.built] == before


def a_wrong_ca_is_trouble_of_the_base_image_and_the_right_one_builds_at_once(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_job, before = made_by_job(site), site.record()[site.built]
    wrong = Authority(tmp_path, "other").certificate_file.read_text()
    # The machine that runs Ansible trusts the registry by itself; builds trust whom they are told.
    trusted = tmp_path / "system.pem"
    trusted.write_text(site.registry.ca)
    monkeypatch.setitem(site.runner.settings, "SSL_CERT_FILE", str(trusted))
    played = site.play("drivers/by-right-ca", registry_ca=wrong)
    entry = site.record()[site.built]
    assert "the base image cannot be pulled: " in played.output
    assert "x509: certificate signed by unknown authority" in entry["problem"]
    assert (entry["phase"], entry["reason"], entry["attempts"]) == ("base", "NotTrusted", 1)
    assert entry["image"] == before["image"]
    site.play("drivers/by-right-ca")
    assert look_into(site, "drivers/by-right-ca") == by_job


def modules_are_signed_by_the_kernels_own_program_and_the_key_stays_where_it_is(
    site: Site, tmp_path: Path
) -> None:
    bare = made_by_job(site).module
    certificate = Authority(tmp_path, SIGNER).certificate_file
    key = certificate.with_suffix(".key")
    options = {
        **site.variables("drivers/signed")["hardware_enablement_options"],
        "sign_key_secret": "signing",
        "sign_cert_secret": "signing",
    }
    played = site.play("drivers/signed", options=options)
    assert f"Secret {NAMESPACE}/signing does not exist, where it would run" in played.output
    create = ("create", "secret", "generic", "signing", "-n", NAMESPACE)
    site.cluster.kubectl(*create, f"--from-file=key={key}", f"--from-file=cert={certificate}")
    played = site.play("drivers/signed", options=options)
    signed = Signed(site, "drivers/signed", tmp_path)
    assert signed.signers() == {"simple_kmod.ko": SIGNER}
    told = [played.output, signed.text]

    # What somebody else has built, and packed.
    (tmp_path / "bare").write_bytes(bare)
    packed = {"a.ko": "cat", "b.ko.gz": "gzip", "c.ko.xz": "xz", "d.ko.zst": "zstd --quiet"}
    files = {
        f"opt/modules/{site.built}/{file}": signed.run(f"{program} < {tmp_path}/bare")
        for file, program in packed.items()
    }
    site.images.push("drivers/bare", kernel_tag(site.built), files=files)
    host = site.registry.named_address
    options |= {
        "repository": f"{host}/drivers/signed-bare",
        "sign_unsigned_repository": f"{host}/drivers/bare",
        "sign_image": options["base_image"],
    }
    told.append(site.play("drivers/signed-bare", options=options).output)
    signed = Signed(site, "drivers/signed-bare", tmp_path)
    assert signed.signers() == dict.fromkeys(packed, SIGNER)
    objects = ("get", "jobs,configmaps,pods,sr", "-n", NAMESPACE, "-o", "json")
    told += [signed.text, site.cluster.kubectl(*objects)]
    lines = key.read_text().splitlines()[1:-1]
    assert [line for line in lines if any(line in text for text in told)] == []


class Signed:
    """A built image, and the programs that look at its modules: those of the image that compiles."""

    def __init__(self, site: Site, repository: str, folder: Path) -> None:
        """Compare it with the record. folder: below /tmp, for files."""
        entry = site.record()[site.built]
        name, _at, digest = entry["image"].partition("@")
        assert name == f"{site.registry.named_address}/{repository}", entry
        self._folder = folder / repository.replace("/", "-")
        self._shell = str(make_host(self._folder, "kmod-base", "sh") / "sh")
        self._modules = f"opt/modules/{site.built}/"
        self._contents = site.images.contents(repository, digest)

    @property
    def text(self) -> str:
        """All that the image holds."""
        layers = self._contents.layers
        bodies = [body.decode(errors="replace") for layer in layers for body in layer.values()]
        return "".join([*bodies, json.dumps(self._contents.config)])

    def files(self, name: str) -> list[bytes]:
        """What the layers have of a module, from the lowest on."""
        path = f"{self._modules}{name}"
        return [layer[path] for layer in self._contents.layers if path in layer]

    def signers(self) -> dict[str, str]:
        """File of a module -> who has signed it, as modinfo says."""
        paths = {path for layer in self._contents.layers for path in layer}
        names = [path.rpartition("/")[2] for path in paths if path.startswith(self._modules)]
        found = {}
        for name in (each for each in names if ".ko" in each):
            file = self._folder / name
            file.write_bytes(self.files(name)[-1])
            # Debian's modinfo does not read .gz.
            opened = f"gzip -d {file}; " if name.endswith(".gz") else ""
            plain = str(file).removesuffix(".gz")
            found[name] = self.run(f"{opened}modinfo -F signer {plain}").decode().strip()
        return found

    def run(self, script: str) -> bytes:
        """What a shell of that image writes; /tmp is the same inside."""
        return subprocess.run([self._shell, "-c", script], capture_output=True, check=True).stdout


def a_buildconfig_makes_the_same_image_as_a_job(site: Site, tmp_path: Path) -> None:
    by_job = made_by_job(site)
    with Cluster.up("test-driver-images-openshift", openshift=True) as openshift:
        use_registry(openshift.folder, site.registry)
        (node,) = openshift.add_nodes(1, profile="cpu-only", kernel=site.built, os="debian:12")
        openshift.kubectl("label", "node", node, "kmod=wanted")
        allow(openshift, site.config, NAMESPACE)
        # OpenShift itself makes it in every namespace.
        openshift.kubectl("create", "serviceaccount", "builder", "-n", NAMESPACE)
        # By buildah, too: nothing is simulated in the builds of this namespace.
        openshift.kubectl(
            "annotate",
            "namespace",
            NAMESPACE,
            "simulation.hardware-enablement.test/behaviour=buildah",
        )
        other = replace(
            site, cluster=openshift, runner=Runner(openshift, USER, tmp_path), builds_on={}
        )
        # Nobody says who builds: what the cluster serves does.
        played = other.play("drivers/by-buildconfig").check()
        assert "Build " in played.output
        assert look_into(other, "drivers/by-buildconfig") == by_job


def a_host_makes_the_same_image_as_a_job(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_job = made_by_job(site)
    programs = make_build_host(tmp_path / "host")
    monkeypatch.setitem(
        site.runner.settings, "PATH", f"{programs}:{site.runner.environment()['PATH']}"
    )
    played = site.play("drivers/by-host", builder="controller", build_auth_file=str(site.config))
    assert look_into(site, "drivers/by-host") == by_job, played.output


def an_air_gap(site: Site) -> None:
    """A mirror has everything; the source has a name and an address, and nobody may connect to it."""
    worker = site.cluster.workers[1]
    with nobody_asks() as source:
        mirror = site.registry.address
        site.cluster.real_node(worker).trust(source, site.registry.ca, mirror)
        options = site.variables()["hardware_enablement_options"] | {
            "repository": f"{source}/drivers/air-gap",
            "prebuilt_repository": f"{source}/drivers/prebuilt",
            "base_image": f"{source}/base/kmod:1",
        }
        mirrors = [{"prefix": source, "locations": [mirror], "source": False}]
        settings: dict[str, Any] = {
            "options": options,
            "registry_ca": "",
            "registry_mirrors": mirrors,
        }

        stranger = Authority(site.config.parent, "stranger").certificate_file.read_text()
        played = site.play(**settings, registries=[{"host": mirror, "ca": stranger}])
        assert f"{mirror}): the registry's certificate cannot be verified" in played.output
        assert source not in site.record()[site.built]["image"]

        site.play(**settings, registries=[{"host": mirror, "ca": site.registry.ca}])
        name, _at, digest = site.record()[site.built]["image"].partition("@")
        assert name == f"{source}/drivers/air-gap"
        assert site.images.contents("drivers/air-gap", digest)
        assert site.summaries()["built-1"] == "ready"

        # A node asks as its container runtime is told, with the credentials for the source's name.
        auths = json.dumps({"auths": {source: site.registry.credentials.entry}})
        secret = {"metadata": {"name": "source"}, "stringData": {".dockerconfigjson": auths}}
        body = {**secret, "type": "kubernetes.io/dockerconfigjson"}
        site.cluster.api.create(f"/api/v1/namespaces/{NAMESPACE}/secrets", body)
        own = {"node_selector": {"kubernetes.io/hostname": worker}}
        settings |= {"registries": [{"host": mirror, "ca": site.registry.ca}], "pull": True}
        driver = rf"{re.escape(source)}/drivers/\S+"
        for secrets, blocks in (([], True), (["source"], False)):
            settings["options"] = {**options, **own, "image_pull_secrets": secrets}
            played = site.runner.play("preflight", timeout=400, **site.variables(**settings))
            assert re.search(f"a node of amd64 pulls {driver}", played.output), played.explained
            refused = re.search(f"! .*{driver} cannot be pulled: ", played.output)
            assert bool(refused) is blocks, played.explained


def test_driver_images_from_the_first_run_to_an_air_gap(
    site: Site, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One story: each step goes on from the one before."""
    one_is_prebuilt_one_is_built_and_one_is_impossible(site)
    what_a_build_pulls_and_writes_lies_on_its_volume(site)
    what_was_built_is_for_that_kernel_and_says_so(site)
    the_second_run_asks_and_writes_nothing(site)
    no_secret_is_where_it_does_not_belong(site)
    # Each of the following runs would try once more to build what cannot be built.
    no_longer_wanted(site, "none-1")
    a_real_node_reports_that_its_kernel_takes_no_module(site)
    after_a_reboot_into_another_kernel_the_driver_waits_and_says_so(site)
    # ... and wait for a driver that never runs.
    no_longer_wanted(site, site.cluster.workers[1])
    a_base_image_that_changed_is_built_on_once_and_a_failure_takes_nothing_away(site)
    with pytest.MonkeyPatch.context() as monkeypatch:
        a_wrong_ca_is_trouble_of_the_base_image_and_the_right_one_builds_at_once(
            site, tmp_path_factory.mktemp("step"), monkeypatch
        )
    modules_are_signed_by_the_kernels_own_program_and_the_key_stays_where_it_is(
        site, tmp_path_factory.mktemp("step")
    )
    a_buildconfig_makes_the_same_image_as_a_job(site, tmp_path_factory.mktemp("step"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        a_host_makes_the_same_image_as_a_job(site, tmp_path_factory.mktemp("step"), monkeypatch)
    an_air_gap(site)


def no_longer_wanted(site: Site, node: str) -> None:
    """Take a node out of the following steps."""
    site.cluster.kubectl("label", "node", node, "kmod-")


def made_by_job(site: Site) -> Made:
    """What the Job has built, which is found again where a test before has recorded another image."""
    site.play()
    return look_into(site, "drivers/simple-kmod")


@contextmanager
def nobody_asks() -> Iterator[str]:
    """The address of a registry that nobody may ask: who connects is found at the end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
