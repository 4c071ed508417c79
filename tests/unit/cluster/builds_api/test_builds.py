# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from tests.cluster.builds_api import policy
from tests.cluster.builds_api.buildah import dockerfile_of
from tests.cluster.builds_api.executor import Hold, Run, StoppedError
from tests.cluster.builds_api.images import stream_tag, tagged
from tests.cluster.builds_api.instantiate import instantiate
from tests.cluster.builds_api.kinds import BUILD_CONFIGS
from tests.cluster.builds_api.plays import Simulated, parse_play
from tests.cluster.builds_api.refusals import RefusalError
from tests.cluster.builds_api.strategies import prepare

Obj = dict[str, Any]


def config(last: int = 0, annotations: Obj | None = None, **spec: Any) -> Obj:
    body = {
        "source": {"dockerfile": "FROM a\nRUN b \\\n  c\n"},
        "strategy": {"dockerStrategy": {}},
        **spec,
    }
    meta = {
        "name": "a",
        "namespace": "n",
        "uid": "u",
        "labels": {"l": "1"},
        "annotations": annotations or {},
    }
    return prepare(
        BUILD_CONFIGS, None, {"metadata": meta, "spec": body, "status": {"lastVersion": last}}
    )


def build(last: int = 0, phase: str = "New", request: Obj | None = None, **spec: Any) -> Obj:
    asked = {"metadata": {}, **(request or {})}
    made = instantiate(
        config(last, **spec), asked, lambda reference, _namespace: f"image-of-{reference['name']}"
    )[1]
    made["metadata"]["uid"] = f"uid-{last + 1}"
    made["status"]["phase"] = phase
    return made


def test_a_build_is_made_of_its_config_and_the_request() -> None:
    docker = {
        "from": {"kind": "ImageStreamTag", "name": "base:1"},
        "buildArgs": [{"name": "A", "value": "1"}],
    }
    request = {
        "metadata": {"labels": {"l": "2", "m": "3"}, "annotations": {"note": "x"}},
        "env": [{"name": "HTTP_PROXY", "value": "http://proxy.test"}],
        "dockerStrategyOptions": {"buildArgs": [{"name": "A", "value": "2"}], "noCache": True},
    }
    made = build(4, request=request, strategy={"dockerStrategy": docker})
    assert made["metadata"]["name"] == "a-5"
    assert made["metadata"]["labels"].items() >= {"l": "1", "m": "3", "buildconfig": "a"}.items()
    assert made["metadata"]["annotations"]["note"] == "x"
    strategy = made["spec"]["strategy"]["dockerStrategy"]
    assert strategy["from"] == {"kind": "DockerImage", "name": "image-of-base:1"}
    assert strategy["buildArgs"] == [{"name": "A", "value": "2"}]
    assert (strategy["noCache"], strategy["env"]) == (True, request["env"])
    assert (made["spec"]["serviceAccount"], made["spec"]["triggeredBy"]) == (
        "builder",
        [{"message": "Manually triggered"}],
    )


def test_what_cannot_be_instantiated_is_refused() -> None:
    paused = config(annotations={"openshift.io/build-config.paused": "true"})
    for given, request, said in (
        (paused, {}, "is paused"),
        (config(3), {"lastVersion": 2}, "does not match the build request"),
        (config(), {"sourceStrategyOptions": {"incremental": True}}, "not a Source build"),
    ):
        with pytest.raises(RefusalError, match=said):
            instantiate(
                given,
                {"metadata": {}, **request},
                lambda reference, _namespace: str(reference["name"]),
            )


def test_policies_order_builds() -> None:
    first, second, third = build(0), build(1), build(2)
    assert [policy.may_start(item, [third, second, first]) for item in (first, second)] == [
        True,
        False,
    ]
    running = build(0, "Running")
    assert not policy.may_start(second, [running, second])
    assert policy.may_start(second, [build(0, "Failed"), second])
    latest = [build(number, runPolicy="SerialLatestOnly") for number in range(3)]
    assert [policy.may_start(item, latest) for item in latest] == [False, False, True]
    assert policy.superseded(latest) == latest[:2]
    assert policy.may_start(build(1, runPolicy="Parallel"), [running])


def test_old_builds_beyond_the_limits_go() -> None:
    builds = [
        build(number, phase)
        for number, phase in enumerate(["Complete", "Failed", "Complete", "Error", "Running"])
    ]
    limits = config(successfulBuildsHistoryLimit=1, failedBuildsHistoryLimit=0)
    assert [item["metadata"]["name"] for item in policy.outdated(limits, builds)] == [
        "a-1",
        "a-2",
        "a-4",
    ]
    del limits["spec"]["successfulBuildsHistoryLimit"], limits["spec"]["failedBuildsHistoryLimit"]
    assert policy.outdated(limits, builds) == []


def test_a_snippet_is_five_lines_without_the_middle_of_long_ones() -> None:
    long = "a" * 100 + "b" * 100
    shown = policy.snippet([*map(str, range(10)), long]).splitlines()
    assert shown[:4] == ["6", "7", "8", "9"]
    assert shown[4] == f"{'a' * 58}...{'b' * 59}"


def test_a_build_waits_for_what_it_mounts() -> None:
    there: set[str] = set()
    simulated = Simulated(
        lambda _plural, _namespace, name: {} if name in there else None, push=no_push
    )
    source = {"dockerfile": "FROM a", "configMaps": [{"configMap": {"name": "context"}}]}
    made = build(source=source, output={"pushSecret": {"name": "push"}})
    missing = simulated.hold(made, {}, 0)
    assert missing is not None
    assert missing.reason == "MissingPushSecret"
    there.add("push")
    assert simulated.hold(made, {}, 0) == Hold()
    there.add("context")
    assert simulated.hold(made, {}, 0) is None
    assert simulated.hold(made, {"play": "pending", "seconds": "5"}, 4) is not None
    assert simulated.hold(made, {"play": "pending", "seconds": "5"}, 6) is None


def no_push(_build: Obj, _labels: Any) -> None:
    """No registry is reachable."""


def run(
    plays: dict[str, str], said: int = 0, started: float | None = None
) -> tuple[Run, list[str]]:
    lines: list[str] = []
    began = time.time() if started is None else started
    return Run(
        build(), {"seconds": "0", **plays}, began, said, lines.append, threading.Event()
    ), lines


def test_plays_end_as_they_say() -> None:
    simulated = Simulated(lambda *_: {}, push=no_push)
    endings = {}
    for name in ("normal", "fail", "error", "cancelled", "nonsense"):
        running, _lines = run({"play": name})
        endings[name] = simulated.run(running).phase
    assert endings == {
        "normal": "Complete",
        "fail": "Failed",
        "error": "Error",
        "cancelled": "Cancelled",
        "nonsense": "Failed",
    }
    with pytest.raises(ValueError, match="unknown parameters: colour"):
        parse_play({"colour": "red"})


def test_a_run_is_taken_up_where_it_was_left_and_ends_when_it_is_stopped() -> None:
    simulated = Simulated(lambda *_: {}, push=no_push)
    whole, lines = run({})
    simulated.run(whole)
    assert "STEP 2/2: RUN b c" in lines
    rest, later = run({"seconds": "1"}, said=2, started=time.time() - 1)
    simulated.run(rest)
    assert later == lines[2:]
    stopped, _lines = run({"seconds": "60"})
    stopped.ended.set()
    with pytest.raises(StoppedError):
        simulated.run(stopped)


def test_a_dockerfile_gets_variables_after_each_base_and_labels_at_its_end() -> None:
    output = {"imageLabels": [{"name": "cost", "value": '5 $ or "more"'}]}
    strategy = {"dockerStrategy": {"env": [{"name": "HTTP_PROXY", "value": "http://proxy.test"}]}}
    made = build(
        source={"dockerfile": "FROM a AS b\nRUN c\nfrom d\n"}, strategy=strategy, output=output
    )
    env = 'ENV "OPENSHIFT_BUILD_NAME"="a-1" "OPENSHIFT_BUILD_NAMESPACE"="n" "HTTP_PROXY"="http://proxy.test"'
    labels = '"io.openshift.build.name"="a-1" "io.openshift.build.namespace"="n" "cost"="5 \\$ or \\"more\\""'
    assert dockerfile_of(made).splitlines() == [
        "FROM a AS b",
        env,
        "RUN c",
        "from d",
        env,
        f"LABEL {labels}",
    ]


def test_the_newest_image_of_a_tag_is_the_tag() -> None:
    stream: Obj = {"metadata": {"name": "s", "namespace": "n", "uid": "u", "resourceVersion": "1"}}
    first = tagged(stream, "t", "r/s@sha256:1", "sha256:1", "2026-01-01T00:00:00Z")
    assert tagged(first, "t", "r/s@sha256:1", "sha256:1", "2026-01-02T00:00:00Z") is first
    second = tagged(first, "t", "r/s@sha256:2", "sha256:2", "2026-01-02T00:00:00Z")
    found = stream_tag(second, "t", lambda _digest: None)
    assert found is not None
    assert found["image"]["dockerImageReference"] == "r/s@sha256:2"
    assert stream_tag(second, "u", lambda _digest: None) is None
