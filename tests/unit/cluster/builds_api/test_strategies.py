# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.builds_api.kinds import BUILD_CONFIGS, BUILDS, IMAGE_STREAMS
from tests.cluster.builds_api.refusals import RefusalError
from tests.cluster.builds_api.schema import check
from tests.cluster.builds_api.strategies import prepare

Obj = dict[str, Any]
DIGEST = f"sha256:{'1' * 64}"


def config(**spec: Any) -> Obj:
    body = {"source": {"dockerfile": "FROM a"}, "strategy": {"dockerStrategy": {}}, **spec}
    return {"metadata": {"name": "a", "namespace": "n"}, "spec": body}


def test_a_build_config_gets_what_openshift_stores() -> None:
    triggers = [{"type": "Unknown"}]
    stored = prepare(
        BUILD_CONFIGS, None, config(triggers=triggers, output={"to": {"name": "stream"}})
    )
    spec = stored["spec"]
    assert spec["output"]["to"] == {"kind": "ImageStreamTag", "name": "stream:latest"}
    assert (spec["source"]["type"], spec["strategy"]["type"]) == ("Dockerfile", "Docker")
    assert (
        spec["runPolicy"],
        spec["successfulBuildsHistoryLimit"],
        spec["failedBuildsHistoryLimit"],
    ) == (
        "Serial",
        5,
        5,
    )
    assert spec["nodeSelector"] is None
    assert "triggers" not in spec
    assert stored["metadata"]["generation"] == 1
    # What is stored stays as it is, and a limit that was taken away later stays away.
    assert prepare(BUILD_CONFIGS, stored, stored) == stored
    del (less := {**stored, "spec": dict(spec)})["spec"]["failedBuildsHistoryLimit"]
    changed = prepare(BUILD_CONFIGS, stored, less)
    assert "failedBuildsHistoryLimit" not in changed["spec"]
    assert changed["metadata"]["generation"] == 2
    assert (
        prepare(BUILD_CONFIGS, {**stored, "status": {"lastVersion": 3}}, stored)["status"][
            "lastVersion"
        ]
        == 3
    )


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"runPolicy": "Never"}, "run policy must"),
        ({"strategy": {}}, "exactly one of"),
        ({"source": {}}, "at least one source input"),
        ({"source": {"git": {}}}, "spec.source.git.uri: Required value"),
        ({"source": {"dockerfile": "x" * 60_001}}, "must be smaller than 60000 bytes"),
        ({"failedBuildsHistoryLimit": -1}, "greater than or equal to 0"),
        ({"completionDeadlineSeconds": 0}, "positive integer"),
        (
            {"output": {"to": {"kind": "Pod", "name": "a"}}},
            "must be an 'ImageStreamTag' or 'DockerImage'",
        ),
        (
            {
                "source": {
                    "dockerfile": "",
                    "secrets": [{"secret": {"name": "a"}, "destinationDir": "/a"}],
                }
            },
            "relative path",
        ),
        (
            {"source": {"dockerfile": "", "configMaps": [{"destinationDir": "../a"}]}},
            "cannot start with '..'",
        ),
    ],
)
def test_what_openshift_refuses_is_refused(spec: Obj, said: str) -> None:
    with pytest.raises(RefusalError, match=said) as caught:
        prepare(BUILD_CONFIGS, None, config(**spec))
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")


def test_a_build_keeps_its_spec_its_end_and_a_condition_for_each_phase() -> None:
    new = prepare(BUILDS, None, config())
    assert [(item["type"], item["status"]) for item in new["status"]["conditions"]] == [
        ("New", "True")
    ]
    failed = prepare(
        BUILDS,
        new,
        {**new, "status": {**new["status"], "phase": "Failed", "reason": "A", "message": "b"}},
    )
    states = [
        (item["type"], item["status"], item.get("reason"))
        for item in failed["status"]["conditions"]
    ]
    assert states == [("New", "False", None), ("Failed", "True", "A")]
    for change, said in (
        ({"status": {**failed["status"], "phase": "Complete"}}, "terminal state"),
        ({"spec": {**failed["spec"], "serviceAccount": "x"}}, "spec is immutable"),
    ):
        with pytest.raises(RefusalError, match=said):
            prepare(BUILDS, failed, {**failed, **change})
    secret = {**failed["spec"], "output": {"pushSecret": {"name": "x"}}}
    assert prepare(BUILDS, failed, {**failed, "spec": secret})["spec"]["output"] == {
        "pushSecret": {"name": "x"}
    }


def test_an_image_stream_imports_what_is_named_by_digest() -> None:
    tags = [
        {"name": name, "from": {"kind": "DockerImage", "name": image}}
        for name, image in (("a", f"registry.test/a@{DIGEST}"), ("b", "registry.test/a:b"))
    ]
    stored = prepare(
        IMAGE_STREAMS, None, {"metadata": {"name": "s", "namespace": "n"}, "spec": {"tags": tags}}
    )
    assert [(tag["tag"], tag["items"][0]["image"]) for tag in stored["status"]["tags"]] == [
        ("a", DIGEST)
    ]
    assert stored["status"]["dockerImageRepository"].endswith("/n/s")
    # What a user says of its status does not count.
    assert (
        prepare(IMAGE_STREAMS, stored, {**stored, "status": {"tags": [{"tag": "c", "items": []}]}})
        == stored
    )


def test_fields_that_a_type_does_not_have_are_found_and_left_out() -> None:
    found = check("BuildConfig", config(runPolicy=3, foo=1, output={"to": None}, triggers=[]))
    assert (found.unknown, found.wrong) == (
        ("spec.foo",),
        (("spec.runPolicy", "must be of type string"),),
    )
    assert found.object["spec"]["output"] == {}
    assert {"foo", "triggers"} & set(found.object["spec"]) == set()
