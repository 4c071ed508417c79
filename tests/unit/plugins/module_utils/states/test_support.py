# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A support bundle: what is in it, what is not, what others do not see."""

from __future__ import annotations

import base64
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    STATE_APPLY,
    SUPPORT_BUNDLE,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states import apply
from ansible_collections.hardware.enablement.plugins.module_utils._states.support import (
    redaction,
    support_objects,
    support_run,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.support.support_advice import (
    with_files,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.support.support_files import (
    SupportFiles,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.support.support_readme import (
    readme,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import (
    runs,
    world,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
    refusal,
)

__all__ = ["fake"]

RESOURCE = {"name": "toy", "spec": {"recipe": "toy", "namespace": "toy", "options": {}}}


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """Enabled, and then somebody has changed an object."""
    found = ScriptedCluster(fake, runs.card_node(card="yes"))
    runs.run(apply.TASK, STATE_APPLY, fake)
    found.objects["configmaps"]["report"]["data"] = {"kept": "no"}
    found.put("secrets", secret("token", "hunter2-planted"))
    found.writes.clear()
    return found


def secret(name: str, value: str) -> Obj:
    stored = base64.b64encode(value.encode()).decode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "toy"},
        "data": {"value": stored},
    }


def make(
    fake: FakeServer, file: Path, clock: Callable[[], float] | None = None, **given: Any
) -> Obj:
    """What the module returns."""
    context = RunContext(clock=clock or (lambda: world.NOW), check_mode=given.pop("check", False))
    params = {"file": str(file), "resources": [RESOURCE], "bundles": {"toy": runs.FILES}, **given}
    return runs.run(support_run.TASK, SUPPORT_BUNDLE, fake, context, **params)


def unpacked(file: Path) -> dict[str, str]:
    with tarfile.open(file) as opened:
        return {
            entry.name.partition("/")[2]: (opened.extractfile(entry) or file.open("rb"))
            .read()
            .decode()
            for entry in opened
        }


def test_all_that_is_known_is_in_one_archive_with_what_is_wrong_first(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    result = make(fake, tmp_path / "bundle.tar.gz")
    texts = unpacked(tmp_path / "bundle.tar.gz")
    assert list(texts) == result["files"]
    assert next(iter(texts)) == "README.md"
    assert "### toy" in texts["README.md"]
    assert texts["toy/report.txt"] in texts["README.md"]
    assert "ConfigMap toy/report: data.kept: is 'no'" in texts["toy/differences.txt"]
    assert {"toy/record.yaml", "toy/rendered.yaml", "toy/live.yaml", "nodes.yaml"} <= texts.keys()
    assert (tmp_path / "bundle.tar.gz").stat().st_mode & 0o777 == 0o600
    assert not [path for path, text in texts.items() if "planted" in text]
    assert cluster.writes == []


def test_what_limits_the_pods_of_a_namespace_is_there_or_named_as_missing(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    for plural, kind in (("resourcequotas", "ResourceQuota"), ("limitranges", "LimitRange")):
        metadata = {"name": "team-limit", "namespace": "toy"}
        cluster.put(plural, {"apiVersion": "v1", "kind": kind, "metadata": metadata})
    make(fake, tmp_path / "bundle.tar.gz")
    texts = unpacked(tmp_path / "bundle.tar.gz")
    for path in ("toy/resource-quotas.yaml", "toy/limit-ranges.yaml"):
        assert "name: team-limit" in texts[path]
        assert f"`{path}`" in texts["README.md"]
    cluster.refuse = lambda asked: (
        refusal(403, "Forbidden") if "/resourcequotas" in asked.path else None
    )
    found = make(fake, tmp_path / "refused.tar.gz")
    assert any(each.startswith("toy/resource-quotas.yaml: ") for each in found["missing"])
    assert {"toy/limit-ranges.yaml", "toy/pods.yaml"} <= set(found["files"])


@pytest.mark.usefixtures("cluster")
def test_check_mode_reads_and_writes_no_file(fake: FakeServer, tmp_path: Path) -> None:
    assert make(fake, tmp_path / "bundle.tar.gz", check=True)["files"]
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_asked(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    asked = len(fake.asked)
    with pytest.raises(InvalidInput, match="its folder is not there"):
        make(fake, tmp_path / "none" / "bundle.tar.gz")
    assert len(fake.asked) == asked
    assert cluster.writes == []


@pytest.mark.usefixtures("cluster")
def test_what_there_is_no_time_or_room_for_is_named(fake: FakeServer, tmp_path: Path) -> None:
    late = make(fake, tmp_path / "late.tar.gz", seconds=0)
    assert "toy/: no time was left" in late["missing"]
    assert "toy/: no time was left" in unpacked(tmp_path / "late.tar.gz")["README.md"]
    full = make(fake, tmp_path / "full.tar.gz", most=0)
    assert full["files"] == ["README.md"]
    assert any("more than the bundle may have" in each for each in full["missing"])


def test_a_recipe_that_is_not_here_costs_what_it_wants_alone(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    cause = {"state": "driver", "phase": "failed", "message": "no luck", "todo": "try again"}
    status = {"phase": "failed", "message": "all is lost", "causes": [cause]}
    cluster.objects["specialresources"]["toy"]["status"] = status
    found = make(fake, tmp_path / "bundle.tar.gz", bundles={})
    assert "toy/record.yaml" in found["files"]
    assert any("recipe toy is not here" in each for each in found["missing"])
    text = unpacked(tmp_path / "bundle.tar.gz")["README.md"]
    assert "toy: failed, as the last run saw it at some time: all is lost" in text
    assert "! driver failed: no luck\n  -> try again" in text


@pytest.mark.usefixtures("cluster")
def test_where_nothing_is_enabled_that_is_said(fake: FakeServer, tmp_path: Path) -> None:
    found = make(fake, tmp_path / "bundle.tar.gz", resources=[])
    assert "Special resources: none is enabled on this cluster" in found["missing"]
    assert "nodes.yaml" in found["files"]


def test_only_the_end_of_what_is_long_is_kept() -> None:
    files = SupportFiles(lambda: 0.0, 1.0, most=3_000_000)
    files.add("log", "a" * 1_000_000 + "end")
    assert files.texts["log"].endswith("aend")
    assert len(files.texts["log"]) == 1_000_000
    assert files.missing == ["log: its first 3 characters"]
    with files.part_of("a part"):
        raise EnablementError("It is broken", why="as can be")
    assert files.missing[-1] == "a part: It is broken: as can be."


SAID = """\
value hunter2-planted, stored {stored}
https://me:planted-pass@db.example.com
Authorization: Bearer planted-token.abc
-----BEGIN RSA PRIVATE KEY-----
planted-key
-----END RSA PRIVATE KEY-----
short yes
"""


def test_no_secret_is_left_in_a_text() -> None:
    stored = secret("token", "hunter2-planted")["data"]["value"]
    known = redaction.secret_values([secret("token", "hunter2-planted"), secret("flag", "yes")])
    text = redaction.without_secrets(SAID.format(stored=stored), known)
    assert "planted" not in text
    assert stored not in text
    assert "db.example.com" in text
    assert "short yes" in text


def test_variables_whose_names_tell_are_hidden() -> None:
    env = [{"name": "DB_PASSWORD", "value": "planted"}, {"name": "LEVEL", "value": "info"}]
    pod = {"spec": {"containers": [{"name": "a", "env": env}]}}
    assert "planted" not in str(redaction.without_secret_variables(pod))
    assert "info" in str(redaction.without_secret_variables(pod))


def test_nodes_and_images_have_other_names_everywhere() -> None:
    addresses = [{"type": "InternalIP", "address": "10.0.0.1"}]
    nodes = [
        {"metadata": {"name": "gpu-1"}, "status": {"addresses": addresses}},
        {"metadata": {"name": "gpu-10"}},
    ]
    names = redaction.Aliases(
        redaction.aliases_of(nodes, ["reg.corp:5000/team/app:1", "tool@sha256:ab"])
    )
    text = names.put_into(
        "gpu-1 gpu-10 gpu-100 validate-gpu-1-x 10.0.0.1 10.0.0.10 reg.corp:5000/team/app:2 reg.corp:5000/x tool"
    )
    assert text == (
        "node-1 node-2 gpu-100 validate-node-1-x node-1 10.0.0.10 image-1:2 registry-1/x image-2"
    )


def test_pods_in_trouble_are_read_first_and_one_of_those_that_are_well() -> None:
    def pod(name: str, *, ready: bool, restarts: int = 0) -> Obj:
        return {
            "metadata": {"name": name, "ownerReferences": [{"name": "plugin"}]},
            "status": {
                "conditions": [{"type": "Ready", "status": str(ready)}],
                "containerStatuses": [{"name": "c", "restartCount": restarts}],
            },
        }

    pods = [
        pod("well-1", ready=True),
        pod("well-2", ready=True),
        pod("restarted", ready=True, restarts=2),
        pod("bad", ready=False),
    ]
    found = [each["metadata"]["name"] for each in support_objects.worth_reading(pods, 60)]
    assert found == ["restarted", "bad", "well-1"]
    assert len(support_objects.worth_reading(pods, 2)) == 2


def test_the_first_file_leads_through_what_is_there() -> None:
    paths = ["nodes.yaml", "toy/logs/a-b.log", "toy/logs/c-d.log", "toy/report.txt"]
    text = readme("2026-11-27T09:00:00Z", {"toy": ["toy: failed, 0/1 nodes", "! why"]}, paths, [])
    assert text.index("! why") < text.index("`toy/report.txt`") < text.index("`toy/logs/`")
    assert text.index("`toy/logs/`") < text.index("`nodes.yaml`")
    assert "pods.yaml" not in text
    assert "Nothing was left out." in text


LOGS = (
    *("toy/logs/a-1-main.log", "toy/logs/a-1-main-previous.log", "toy/logs/a-1-side.log"),
    *("toy/logs/b-2-main.log", "toy/events.txt"),
)


@pytest.mark.parametrize(
    ("cause", "advice", "points"),
    [
        (
            "pod toy/a-1 container main: CrashLoopBackOff (exit code 1)",
            "read the pod's log (kubectl logs --previous), run again",
            "read the pod's log (toy/logs/a-1-main-previous.log), run again",
        ),
        # It could not be read.
        (
            "pod toy/b-2 container main: CrashLoopBackOff",
            "read the pod's log (kubectl logs --previous), run again",
            "read the pod's log (toy/logs/b-2-main.log), run again",
        ),
        (
            "pod toy/a-1 container main has ended",
            "read the pod's log (kubectl logs), run again",
            "read the pod's log (toy/logs/a-1-main.log), run again",
        ),
        (
            "pod toy/b-2 is not ready yet",
            "read the pod's log, or allow more time",
            "read the pod's log (toy/logs/b-2-main.log), or allow more time",
        ),
        (
            "pod toy/a-1 container main: CreateContainerError",
            "look at the pod's events (kubectl describe), run again",
            "look at the pod's events (toy/events.txt), run again",
        ),
        # No log of it is here.
        (
            "pod toy/c-3 container main: CrashLoopBackOff",
            "read the pod's log (kubectl logs --previous), run again",
            "read the pod's log (kubectl logs --previous), run again",
        ),
        # What it is advised for is no pod's fault.
        ("no such label", "read the pod's log, or wait", "read the pod's log, or wait"),
    ],
)
def test_advice_points_at_the_files_that_are_here(cause: str, advice: str, points: str) -> None:
    lines = ["! b: pod toy/b-2 container main: Error", f"! a: {cause}", f"  -> {advice}"]
    assert with_files("toy", lines, LOGS)[-1] == f"  -> {points}"
    # A record has both in one line.
    assert with_files("toy", [f"toy: {cause}; {advice}"], LOGS) == [f"toy: {cause}; {points}"]


def test_the_advice_of_a_bundle_names_a_file_of_it(
    fake: FakeServer, cluster: ScriptedCluster, tmp_path: Path
) -> None:
    """Also where it tells nodes by other names: pods are called like nodes."""
    (node,) = cluster.objects["nodes"]
    crashed = {"name": "main", "restartCount": 1, "image": "main:1"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"of-{node}", "namespace": "toy"},
        "spec": {"nodeName": node},
        "status": {"containerStatuses": [crashed]},
    }
    cluster.put("pods", pod)
    why = f"pod toy/of-{node} container main: CrashLoopBackOff"
    todo = "read the pod's log (kubectl logs --previous), run again"
    cause = {"state": "driver", "phase": "failed", "message": why, "todo": todo}
    status = {"phase": "failed", "message": "all is lost", "causes": [cause]}
    cluster.objects["specialresources"]["toy"]["status"] = status
    for anonymous, called in ((False, node), (True, "node-1")):
        make(fake, tmp_path / "bundle.tar.gz", bundles={}, anonymous=anonymous)
        texts = unpacked(tmp_path / "bundle.tar.gz")
        log = f"toy/logs/of-{called}-main-previous.log"
        assert f"  -> read the pod's log ({log}), run again" in texts["README.md"]
        assert log in texts


def test_a_cluster_that_does_not_answer_has_a_bundle_that_says_why(
    fake: FakeServer, tmp_path: Path
) -> None:
    why = "the records could not be read"
    gone = "http://127.0.0.1:1"
    result = make(fake, tmp_path / "bundle.tar.gz", host=gone, unread=why)
    texts = unpacked(tmp_path / "bundle.tar.gz")
    assert list(texts) == ["README.md", "versions.yaml", "toy/recipe.yml"]
    (missing,) = result["missing"]
    assert missing.startswith("the cluster: ")
    assert texts["README.md"].splitlines()[4:6] == [
        "Nothing is known of any special resource.",
        missing,
    ]
    assert texts["toy/recipe.yml"] == runs.FILES["recipe.yml"]


@pytest.mark.usefixtures("cluster")
def test_records_that_cannot_be_read_are_not_none(fake: FakeServer, tmp_path: Path) -> None:
    result = make(fake, tmp_path / "bundle.tar.gz", resources=[], unread="you may not list them")
    assert "Special resources: you may not list them" in result["missing"]
    assert not [each for each in result["missing"] if "none is enabled" in each]
