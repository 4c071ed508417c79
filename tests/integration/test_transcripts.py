# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each playbook says, from the tarball as it is installed and outside of a clone: the page of
transcripts, which HE_WRITE_EXAMPLES=1 writes anew."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.cluster import Cluster
from tests.integration.guides import shown_on_page
from tests.integration.plays import BIN, REPO, SIMULATED, known_dependency
from tests.integration.test_packaging import installed
from tests.scenes.four_nodes import set_scene

pytestmark = pytest.mark.recipes

# A fixture of theirs.
__all__ = ["installed"]

PAGE = "admin/transcripts.md"
PLAYBOOKS = REPO / "playbooks"
GPUS = "-e hardware_enablement_recipe=nvidia-gpu"
MODULE = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: kmod, namespace: kmod}
spec:
  moduleLoader:
    container:
      modprobe: {moduleName: kmod}
      kernelMappings:
        - {regexp: ".*", containerImage: "registry.example.org/kmod:${KERNEL_FULL_VERSION}"}
  selector: {hardware: "yes"}
"""
# Simulated nodes have no kubelet that could be asked.
NUMA = {
    "numa_read_kubelets": False,
    "hardware_enablement_options": {
        "topology_manager_policy": "single-numa-node",
        "topology_manager_scope": "pod",
    },
    "hardware_enablement_timeout": 10,
}
CUSTOM_RESOURCE = """\
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: gone}
spec:
  namespace: gone
  managementState: Unmanaged
  chart: {name: gone, version: 0.1.0, repository: {name: gone, url: "file:///charts"}}
"""


@dataclass(frozen=True)
class Step:
    """One playbook with what is given to it, and its exit code; None: that depends on registries."""

    playbook: str
    arguments: str = ""
    code: int | None = 0


# From an empty cluster to an empty cluster, each playbook once. What ends with 2 has found something
# wrong: an image that no registry has, exporters that the simulation lacks.
STORY = (
    Step("preflight", "-e hardware_enablement_recipe=nvidia-gpu -e @gpus.yml", None),
    Step("enable_gpu", "-e @gpus.yml"),
    Step("enable", GPUS),
    Step("status", "-e hardware_enablement_status_file=status.json"),
    Step("partition", f"{GPUS} -e partitioning_soft=true"),
    Step("upgrade", GPUS),
    Step("remedy", GPUS),
    Step("render", f"{GPUS} -e @gpus.yml -e hardware_enablement_render_folder=gitops"),
    Step("rights", f"{GPUS} -e hardware_enablement_rights_file=rights.yml"),
    Step("images", "-e hardware_enablement_images_file=images.txt", 2),
    Step("support_bundle"),
    Step("import_operator"),
    Step("import_kmm", "-e import_kmm_file=module.yml"),
    Step("special_resource", "-e hardware_enablement_cr=resource.yml"),
    Step(
        "recipe_new",
        "-e hardware_enablement_recipe=mine -e hardware_enablement_new_label=hardware=yes"
        " -e hardware_enablement_new_resource=example.com/mine",
    ),
    Step("recipe_check", "-e hardware_enablement_recipe=mine -e hardware_enablement_recipe_dir=."),
    Step("nfd"),
    Step("rmd", "-e rmd_image=registry.example.org/rmd:1"),
    Step("rmd_workloads"),
    Step("rmd_remove"),
    Step("numa", "-e @numa.yml", 2),
    Step("numa_validate", "-e hardware_enablement_numa_kubelets=false", 2),
    Step("numa_remove"),
    Step("disable", GPUS),
)
WRITTEN = {"status.json", "gitops", "rights.yml", "support-bundle.tar.gz", "kmod", "mine"}
# What is another one each time.
VARYING = (
    (r" \*{3,}$", ""),
    (r"127\.0\.0\.1:\d+", "10.0.0.1:6443"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "59346d86-90e7-4403-8872-c079f399b831"),
    (r"\b\d{4}-\d\d-\d\dT\d\d:?\d\d:?\d\d(\.\d+)?Z", "2026-11-27T12:00:00Z"),
    (r"admin@\S+,", "admin@lab,"),
)
RECIPES = ("nvidia-gpu", "nfd", "intel-rmd", "numa")
# An error is a sentence; where it is a whole result, nobody finds that.
RESULT = re.compile(r"^fatal: .{400}", re.MULTILINE)
HEADING = re.compile(r"^(?:PLAY|TASK) \[.*\]$", re.MULTILINE)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """That of the demo, whose nodes have GPUs and no cache to divide."""
    with Cluster.up("test-transcripts", nfd=False) as started:
        set_scene(started)
        yield started


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside of the clone, with what the plays are given."""
    folder = tmp_path_factory.mktemp("transcripts")
    (folder / "gpus.yml").write_text(yaml.safe_dump(SIMULATED))
    (folder / "numa.yml").write_text(yaml.safe_dump(NUMA))
    (folder / "images.txt").write_text("127.0.0.1:1/driver:1\n")
    (folder / "module.yml").write_text(MODULE)
    (folder / "resource.yml").write_text(CUSTOM_RESOURCE)
    return folder


def played(step: Step, site: Path, cluster: Cluster, installed: Path) -> str:
    """What the program says in this folder, with nothing of this repository but the tarball."""
    known_dependency(f"playbooks/{step.playbook}.yml")
    done = subprocess.run(
        [
            str(BIN / "ansible-playbook"),
            f"hardware.enablement.{step.playbook}",
            *step.arguments.split(),
        ],
        cwd=site,
        env={
            "PATH": f"{BIN}:/usr/bin:/bin",
            "HOME": str(site),
            "LC_ALL": "C.UTF-8",
            "K8S_AUTH_KUBECONFIG": str(cluster.kubeconfig),
            "ANSIBLE_COLLECTIONS_PATH": str(installed),
            "ANSIBLE_NOCOLOR": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = f"{done.stdout}{done.stderr}"
    assert step.code in (None, done.returncode), f"{step.playbook}: {said}"
    said = said.replace(str(installed), "/home/you/.ansible/collections")
    assert str(REPO) not in said
    for pattern, instead in VARYING:
        said = re.sub(pattern, instead, said, flags=re.MULTILINE)
    return said.replace(str(site), "/home/you").strip() + "\n"


def files_of(folder: Path) -> dict[str, bytes]:
    """All of a folder but for what Python has compiled."""
    found = (file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")
    return {str(file.relative_to(folder)): file.read_bytes() for file in found}


def test_each_playbook_says_outside_of_a_clone_what_the_page_shows(
    cluster: Cluster, installed: Path, site: Path
) -> None:
    assert {step.playbook for step in STORY} == {file.stem for file in PLAYBOOKS.glob("*.yml")}
    for name in RECIPES:
        known_dependency(f"recipes/{name}/recipe.yml")
    before = files_of(installed)
    for step in STORY:
        seen = played(step, site, cluster, installed)
        assert not RESULT.search(seen), step.playbook
        shown = shown_on_page(PAGE, step.playbook, seen)
        assert HEADING.findall(shown) == HEADING.findall(seen), step.playbook
    # What a person has named is in the person's folder, and nothing is in that of the collection.
    assert {file.name for file in site.iterdir()} >= WRITTEN
    assert files_of(installed) == before
