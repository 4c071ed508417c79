# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where OpenShift's build API says no, or not yet, to what a builder sends, that of the local
cluster does, too."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import Cluster, ClusterError
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.builds

Obj = dict[str, Any]
BUILDS = "/apis/build.openshift.io/v1/namespaces/default"
STREAMS = "/apis/image.openshift.io/v1/namespaces/default/imagestreams"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster with OpenShift's kinds and no nodes."""
    with Cluster.up("test-builds-api", openshift=True, nfd=False) as started:
        yield started


def config(name: str, **spec: Any) -> Obj:
    """A BuildConfig."""
    image = {"to": {"kind": "DockerImage", "name": "registry.test/driver:1"}}
    return {
        "apiVersion": "build.openshift.io/v1",
        "kind": "BuildConfig",
        "metadata": {
            "name": name,
            "annotations": {"simulation.hardware-enablement.test/seconds": "0"},
        },
        "spec": {
            "source": {"dockerfile": "FROM scratch\n"},
            "strategy": {"dockerStrategy": {}},
            "output": image,
            **spec,
        },
    }


def begin(cluster: Cluster, made: Obj) -> str:
    """Make a BuildConfig and the first build of it; the build's path."""
    name = made["metadata"]["name"]
    cluster.api.create(f"{BUILDS}/buildconfigs", made, missing_ok=False)
    build = cluster.api.request(
        "POST", f"{BUILDS}/buildconfigs/{name}/instantiate", {"metadata": {"name": name}}
    )
    assert build["metadata"]["name"] == f"{name}-1"
    return f"{BUILDS}/builds/{name}-1"


def has(cluster: Cluster, build: str, **status: Any) -> None:
    """Wait until a build's status has these."""
    wait_until(
        lambda: status.items() <= cluster.api.get(build)["status"].items(),
        f"{build} has {status}",
    )


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"source": {}}, "at least one source input"),
        ({"source": {"dockerfile": "#" * 60_001}}, "60000"),
        ({"source": {"git": {"ref": "main"}}}, "spec.source.git.uri: Required value"),
        (
            {"source": {"dockerfile": "FROM a", "contextDir": "../up"}},
            "context dir must not be a relative path",
        ),
        (
            {
                "source": {
                    "dockerfile": "FROM a",
                    "configMaps": [{"configMap": {"name": "c"}, "destinationDir": "/etc"}],
                }
            },
            "has to be relative path",
        ),
        (
            {"output": {"to": {"kind": "Image", "name": "a"}}},
            "must be an 'ImageStreamTag' or 'DockerImage'",
        ),
        (
            {"output": {"to": {"kind": "ImageStreamTag", "name": "driver"}}},
            "must be in the form <name>:<tag>",
        ),
        (
            {"output": {"to": {"kind": "DockerImage", "name": "a", "namespace": "b"}}},
            "namespace is not valid",
        ),
        ({"completionDeadlineSeconds": 0}, "completionDeadlineSeconds"),
        ({"runPolicy": "Never"}, "runPolicy"),
        (
            {"strategy": {"dockerStrategy": {"image": "a"}}},
            'unknown field "spec.strategy.dockerStrategy.image"',
        ),
    ],
)
def test_what_openshift_refuses_is_refused(cluster: Cluster, spec: Obj, said: str) -> None:
    path = f"{BUILDS}/buildconfigs?dryRun=All&fieldValidation=Strict"
    cluster.api.create(path, config("good"), missing_ok=False)
    with pytest.raises(ClusterError) as caught:
        cluster.api.create(path, config("bad", **spec), missing_ok=False)
    assert said in str(caught.value)


def test_a_build_that_is_done_stays_as_it_is_and_goes_with_its_config(cluster: Cluster) -> None:
    build = begin(cluster, config("done"))
    has(cluster, build, phase="Complete")
    assert "Push successful" in cluster.api.request("GET", f"{build}/log?tailLines=1", accept="*/*")
    for patch, said in (
        ({"spec": {"source": {"dockerfile": "FROM other"}}}, "spec is immutable"),
        ({"status": {"phase": "Running"}}, "phase cannot be updated from a terminal state"),
    ):
        with pytest.raises(ClusterError, match=said):
            cluster.api.patch(build, patch)
    with pytest.raises(ClusterError, match="must be that on the URL"):
        cluster.api.request(
            "POST", f"{BUILDS}/buildconfigs/done/instantiate", {"metadata": {"name": "other"}}
        )
    cluster.api.delete(f"{BUILDS}/buildconfigs/done")
    name = build.rpartition("/")[2]
    wait_until(
        lambda: all(
            item["metadata"]["name"] != name
            for item in cluster.api.get(f"{BUILDS}/builds")["items"]
        ),
        f"Build {name} goes with its BuildConfig",
    )


def test_a_build_waits_for_its_output_and_its_secret_and_can_be_cancelled(cluster: Cluster) -> None:
    output = {"to": {"kind": "ImageStreamTag", "name": "waits:1"}, "pushSecret": {"name": "push"}}
    build = begin(cluster, config("waits", output=output))
    has(cluster, build, phase="New", reason="InvalidOutputReference")
    stream = {
        "apiVersion": "image.openshift.io/v1",
        "kind": "ImageStream",
        "metadata": {"name": "waits"},
    }
    cluster.api.create(STREAMS, stream, missing_ok=False)
    has(cluster, build, phase="Pending", reason="MissingPushSecret")
    second = cluster.api.request(
        "POST", f"{BUILDS}/buildconfigs/waits/instantiate", {"metadata": {"name": "waits"}}
    )
    cluster.api.patch(build, {"status": {"cancelled": True}})
    has(cluster, build, phase="Cancelled", message="The build was cancelled by the user.")
    with pytest.raises(ClusterError, match="No logs are available"):
        cluster.api.request("GET", f"{build}/log")
    cluster.api.create(
        "/api/v1/namespaces/default/secrets", {"metadata": {"name": "push"}}, missing_ok=False
    )
    has(cluster, f"{BUILDS}/builds/{second['metadata']['name']}", phase="Complete")
    tag = cluster.api.get(f"{STREAMS.removesuffix('s')}tags/waits:1")
    (item,) = cluster.api.get(f"{STREAMS}/waits")["status"]["tags"][0]["items"]
    assert tag["image"]["dockerImageReference"] == item["dockerImageReference"]


def test_an_apply_that_creates_needs_both_rights(cluster: Cluster) -> None:
    apply = ("--as=applier", "apply", "--server-side", "-f", "-")
    for verbs in ("patch,get", "create,get"):
        name, verb = verbs.replace(",", "-"), verbs.partition(",")[0]
        cluster.kubectl(
            "create",
            "clusterrole",
            name,
            f"--verb={verbs}",
            "--resource=buildconfigs.build.openshift.io",
        )
        cluster.kubectl(
            "create", "clusterrolebinding", name, f"--clusterrole={name}", "--user=applier"
        )
        # Rights count as soon as the API server's authorizer has seen them.
        wait_until(
            lambda verb=verb: (
                "yes" in cluster.kubectl("--as=applier", "auth", "can-i", verb, "buildconfigs")
            ),
            f"the right to {verb} BuildConfigs",
        )
        if "create" not in verbs:
            with pytest.raises(ClusterError, match='cannot create resource "buildconfigs"'):
                cluster.kubectl(*apply, stdin=json.dumps(config("applied")))
    assert "serverside-applied" in cluster.kubectl(*apply, stdin=json.dumps(config("applied")))


def test_nobody_but_the_api_server_is_heard(cluster: Cluster) -> None:
    context = ssl.create_default_context(cafile=str(cluster.folder / "pki" / "kubernetes.crt"))
    connection = http.client.HTTPSConnection(
        "localhost", cluster.record.ports.builds_api, context=context, timeout=10
    )
    connection.request(
        "GET",
        f"{BUILDS}/builds",
        headers={"X-Remote-User": "admin", "X-Remote-Group": "system:masters"},
    )
    assert connection.getresponse().status == 401
