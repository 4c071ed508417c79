# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""OpenShift's build API of the local cluster, as kubectl, a user without rights and our own client
meet it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.client import connect
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.executing import execute
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.labels import (
    FIELD_MANAGER,
    PART_OF_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.planning import plan
from tests.cluster import Cluster, ClusterError, processes
from tests.cluster.builds_api.pushing import use_registry
from tests.cluster.pki import Authority
from tests.cluster.programs import kubectl
from tests.cluster.registry import Images, Registry

pytestmark = pytest.mark.builds

Obj = dict[str, Any]

BASE = "/apis/build.openshift.io/v1/namespaces/default"
PLAY = "play.hardware-enablement.test/"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster with OpenShift's kinds and no nodes."""
    with Cluster.up("test-builds-api", openshift=True) as started:
        yield started


def config(name: str, *, to: Obj | None = None, spec: Obj | None = None, **plays: Any) -> Obj:
    """A BuildConfig with an inline Dockerfile; plays become annotations, exit_code is exit-code
    there."""
    annotations = {f"{PLAY}{key.replace('_', '-')}": str(value) for key, value in plays.items()}
    return {
        "apiVersion": "build.openshift.io/v1",
        "kind": "BuildConfig",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations},
        "spec": {
            "source": {"dockerfile": "FROM registry.test/base:1\nRUN make modules\n"},
            "strategy": {"dockerStrategy": {}},
            "output": {"to": to} if to else {},
            **(spec or {}),
        },
    }


def make(cluster: Cluster, obj: Obj) -> Obj:
    """Create an object in the namespace default."""
    plural = f"{obj['kind'].lower()}s"
    made: Obj = cluster.api.create(
        f"/apis/{obj['apiVersion']}/namespaces/default/{plural}", obj, missing_ok=False
    )
    return made


def start(cluster: Cluster, name: str, **request: Any) -> Obj:
    """Ask for the next build of a BuildConfig."""
    body = {
        "apiVersion": "build.openshift.io/v1",
        "kind": "BuildRequest",
        "metadata": {"name": name},
        **request,
    }
    build: Obj = cluster.api.request("POST", f"{BASE}/buildconfigs/{name}/instantiate", body)
    return build


def get(cluster: Cluster, name: str) -> Obj:
    """A build."""
    found: Obj = cluster.api.get(f"{BASE}/builds/{name}")
    return found


def phases(cluster: Cluster, *names: str) -> list[str]:
    """The builds' phases."""
    return [get(cluster, name)["status"]["phase"] for name in names]


def until(condition: Callable[[], bool], seconds: float = 15) -> None:
    """Wait for something."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def ended(cluster: Cluster, name: str, phase: str, seconds: float = 15) -> Obj:
    """The build when it has this phase."""
    until(lambda: phases(cluster, name) == [phase], seconds)
    return get(cluster, name)


def names(cluster: Cluster, plural: str = "builds", query: str = "") -> list[str]:
    """What is there of a kind."""
    return [
        item["metadata"]["name"] for item in cluster.api.get(f"{BASE}/{plural}{query}")["items"]
    ]


def test_kubectl_sees_api_kinds_columns_and_explanations(cluster: Cluster) -> None:
    listed = cluster.kubectl("api-resources", "--api-group=build.openshift.io")
    assert [line.split()[0] for line in listed.splitlines()[1:]] == ["buildconfigs", "builds"]
    make(cluster, config("seen", seconds=0))
    # This body comes in chunks.
    body = json.dumps(
        {
            "kind": "BuildRequest",
            "apiVersion": "build.openshift.io/v1",
            "metadata": {"name": "seen"},
        }
    )
    cluster.kubectl(
        "create", "--raw", f"{BASE}/buildconfigs/seen/instantiate", "-f", "-", stdin=body
    )
    ended(cluster, "seen-1", "Complete")
    head, row = cluster.kubectl("get", "builds", "seen-1").splitlines()
    assert head.split() == ["NAME", "TYPE", "FROM", "STATUS", "STARTED", "DURATION"]
    assert row.split()[:4] == ["seen-1", "Docker", "Dockerfile", "Complete"]
    head, row = cluster.kubectl("get", "bc", "seen").splitlines()
    assert (head.split(), row.split()) == (
        ["NAME", "TYPE", "FROM", "LATEST"],
        ["seen", "Docker", "Dockerfile", "1"],
    )
    # The API server takes over the types a second or two after the kinds.
    until(lambda: "Serial (the default)" in explained(cluster, "buildconfig.spec.runPolicy"))
    assert cluster.kubectl("get", "--raw", "/readyz") == "ok"
    conditions = cluster.api.get(
        "/apis/apiregistration.k8s.io/v1/apiservices/v1.build.openshift.io"
    )
    assert conditions["spec"]["caBundle"]
    assert "insecureSkipTLSVerify" not in conditions["spec"]


def test_apply_again_changes_nothing_and_managers_are_kept_apart(cluster: Cluster) -> None:
    manifest = json.dumps(config("applied", spec={"triggers": [], "runPolicy": "Parallel"}))

    def apply(*arguments: str) -> str:
        return cluster.kubectl("apply", "--server-side", "-f", "-", *arguments, stdin=manifest)

    apply("--dry-run=server")
    assert "applied" not in names(cluster, "buildconfigs")
    apply()
    first = cluster.api.get(f"{BASE}/buildconfigs/applied")
    assert first["spec"]["failedBuildsHistoryLimit"] == 5
    assert "triggers" not in first["spec"]
    apply()
    assert cluster.api.get(f"{BASE}/buildconfigs/applied") == first

    manifest = manifest.replace("Parallel", "Serial")
    with pytest.raises(ClusterError, match=r"conflict with \"kubectl\".*runPolicy"):
        apply("--field-manager=other")
    apply("--field-manager=other", "--force-conflicts")
    second = cluster.api.get(f"{BASE}/buildconfigs/applied")
    assert second["spec"]["runPolicy"] == "Serial"
    assert second["metadata"]["generation"] == first["metadata"]["generation"] + 1
    owners = {
        entry["manager"]: "f:runPolicy" in entry["fieldsV1"]["f:spec"]
        for entry in second["metadata"]["managedFields"]
    }
    assert owners == {"kubectl": False, "other": True}

    # Without it the field is nobody's, and gone.
    del (left := json.loads(manifest))["spec"]["runPolicy"]
    manifest = json.dumps(left)
    apply("--field-manager=other")
    assert cluster.api.get(f"{BASE}/buildconfigs/applied")["spec"]["runPolicy"] == "Serial"
    manifest = manifest.replace('"source"', '"sauce"')
    with pytest.raises(ClusterError, match=r'unknown field "spec.sauce"'):
        apply("--field-manager=other")


def test_create_update_patch_and_delete_keep_the_rules(cluster: Cluster) -> None:
    obj = config("ruled")
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(obj))
    with pytest.raises(
        ClusterError, match=r'buildconfigs.build.openshift.io "ruled" already exists'
    ):
        cluster.kubectl("create", "-f", "-", stdin=json.dumps(obj))
    with pytest.raises(ClusterError, match=r'namespaces "nowhere" not found'):
        cluster.api.request(
            "POST",
            BASE.replace("default", "nowhere") + "/buildconfigs",
            config("x") | {"metadata": {}},
        )
    cluster.kubectl("label", "bc", "ruled", "a=b")
    assert names(cluster, "buildconfigs", "?labelSelector=a%3Db") == ["ruled"]
    stored = cluster.api.get(f"{BASE}/buildconfigs/ruled")
    changed = {**stored, "spec": {**stored["spec"], "runPolicy": "Parallel"}}
    cluster.api.request("PUT", f"{BASE}/buildconfigs/ruled", changed)
    with pytest.raises(ClusterError, match="the object has been modified"):
        cluster.api.request("PUT", f"{BASE}/buildconfigs/ruled", changed)
    with pytest.raises(ClusterError, match="run policy must"):
        cluster.kubectl(
            "patch", "bc", "ruled", "--type=merge", "-p", '{"spec":{"runPolicy":"Never"}}'
        )
    with pytest.raises(ClusterError, match="at least one source input"):
        make(cluster, config("empty", spec={"source": {}}))
    assert cluster.kubectl("delete", "bc", "ruled", "--dry-run=server")
    assert "ruled" in names(cluster, "buildconfigs")
    cluster.kubectl("delete", "bc", "ruled")
    assert "ruled" not in names(cluster, "buildconfigs")
    make(
        cluster,
        config("many-1", spec={}) | {"metadata": {"name": "many-1", "labels": {"many": ""}}},
    )
    cluster.kubectl("delete", "bc", "-l", "many")
    cluster.api.delete(f"{BASE}/buildconfigs?labelSelector=many")
    assert names(cluster, "buildconfigs", "?labelSelector=many") == []


def test_a_watch_tells_every_change_in_order(cluster: Cluster) -> None:
    with subprocess.Popen(
        [
            kubectl(),
            "get",
            "builds",
            "-w",
            "--output-watch-events",
            "--no-headers",
            "-l",
            "watched",
        ],
        env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
        stdout=subprocess.PIPE,
        text=True,
    ) as watching:
        time.sleep(1)
        obj = config("watched", seconds=0.5)
        obj["metadata"]["labels"] = {"watched": ""}
        make(cluster, obj)
        start(cluster, "watched")
        ended(cluster, "watched-1", "Complete")
        cluster.kubectl("delete", "build", "watched-1")
        time.sleep(0.5)
        watching.terminate()
        assert watching.stdout is not None
        lines = [line.split() for line in watching.stdout.read().splitlines()]
    seen = [(line[0], line[4]) for line in lines]
    assert [state for _event, state in seen] == [
        "New",
        "Pending",
        "Running",
        "Complete",
        "Complete",
    ]
    assert [seen[0][0], seen[1][0], seen[-1][0]] == ["ADDED", "MODIFIED", "DELETED"]


def test_our_own_client_plans_and_applies(cluster: Cluster) -> None:
    client = connect({"kubeconfig": str(cluster.kubeconfig)})
    obj = config("ours", spec={"triggers": []})
    obj["metadata"]["labels"] = {PART_OF_LABEL: "ours"}

    def planned() -> list[Any]:
        return plan(client, [obj], live={}, adopt=False, owner="ours", recreate=False)

    changes = planned()
    assert [change.action for change in changes] == ["create"]
    assert "ours" not in names(cluster, "buildconfigs")
    execute(client, changes, guard=lambda: None)
    before = cluster.dump()
    assert [change.action for change in planned()] == ["unchanged"]
    assert cluster.dump() == before
    stored = cluster.api.get(f"{BASE}/buildconfigs/ours")
    assert [entry["manager"] for entry in stored["metadata"]["managedFields"]] == [FIELD_MANAGER]
    obj["spec"]["source"]["dockerfile"] = "FROM scratch\n"
    assert [change.action for change in planned()] == ["update"]


def test_a_build_completes_and_its_image_stream_points_at_it(cluster: Cluster) -> None:
    stream = {
        "apiVersion": "image.openshift.io/v1",
        "kind": "ImageStream",
        "metadata": {"name": "driver"},
    }
    to = {"kind": "ImageStreamTag", "name": "driver:6.8"}
    labels = [{"name": "kernel", "value": "6.8.0-60-generic"}]
    wanted = config("driver", to=to, seconds=1)
    wanted["spec"]["output"]["imageLabels"] = labels
    wanted["spec"]["strategy"]["dockerStrategy"]["buildArgs"] = [{"name": "A", "value": "1"}]
    make(cluster, wanted)
    made = start(
        cluster, "driver", dockerStrategyOptions={"buildArgs": [{"name": "B", "value": "2"}]}
    )
    assert made["metadata"]["name"] == "driver-1"
    assert made["metadata"]["ownerReferences"][0]["kind"] == "BuildConfig"
    assert made["metadata"]["labels"]["buildconfig"] == "driver"
    assert made["metadata"]["labels"]["openshift.io/build-config.name"] == "driver"
    assert made["metadata"]["annotations"]["openshift.io/build.number"] == "1"
    assert [item["name"] for item in made["spec"]["strategy"]["dockerStrategy"]["buildArgs"]] == [
        "A",
        "B",
    ]
    until(lambda: get(cluster, "driver-1")["status"].get("reason") == "InvalidOutputReference")
    make(cluster, stream)
    status = ended(cluster, "driver-1", "Complete")["status"]
    digest = status["output"]["to"]["imageDigest"]
    assert status["duration"] >= 1_000_000_000
    assert status["config"] == {"kind": "BuildConfig", "name": "driver", "namespace": "default"}
    assert "reason" not in status
    tags = "/apis/image.openshift.io/v1/namespaces/default/imagestreamtags"
    image = cluster.api.get(f"{tags}/driver:6.8")["image"]
    assert image["dockerImageReference"].endswith(f"/default/driver@{digest}")
    assert image["dockerImageMetadata"]["Config"]["Labels"] == {"kernel": "6.8.0-60-generic"}
    with pytest.raises(ClusterError, match="404"):
        cluster.api.request("GET", f"{tags}/driver:6.9")
    assert cluster.api.get(f"{BASE}/buildconfigs/driver")["status"]["lastVersion"] == 1


def test_a_base_image_in_a_stream_is_resolved_by_digest(cluster: Cluster) -> None:
    base = {"kind": "ImageStreamTag", "name": "driver-toolkit:latest", "namespace": "openshift"}
    make(cluster, config("based", spec={"strategy": {"dockerStrategy": {"from": base}}}))
    resolved = start(cluster, "based")["spec"]["strategy"]["dockerStrategy"]["from"]
    assert resolved["kind"] == "DockerImage"
    assert "@sha256:" in resolved["name"]
    gone = {**base, "name": "driver-toolkit:none"}
    make(cluster, config("baseless", spec={"strategy": {"dockerStrategy": {"from": gone}}}))
    with pytest.raises(ClusterError, match="Error resolving ImageStreamTag driver-toolkit:none"):
        start(cluster, "baseless")
    assert cluster.api.get(f"{BASE}/buildconfigs/baseless")["status"]["lastVersion"] == 0


def test_a_failing_build_says_why(cluster: Cluster) -> None:
    log = "\n".join(f"line {number}" for number in range(20))
    make(cluster, config("broken", play="fail", seconds=0.5, exit_code=2, message=log))
    start(cluster, "broken")
    status = ended(cluster, "broken-1", "Failed")["status"]
    assert (status["reason"], status["message"]) == (
        "DockerBuildFailed",
        "Dockerfile build strategy has failed.",
    )
    snippet = status["logSnippet"].splitlines()
    assert snippet[:4] == ["line 16", "line 17", "line 18", "line 19"]
    assert "exit status 2" in snippet[4]
    assert cluster.kubectl("get", "builds", "broken-1", "--no-headers").split()[3:5] == [
        "Failed",
        "(DockerBuildFailed)",
    ]
    with pytest.raises(ClusterError, match="phase cannot be updated from a terminal state"):
        cluster.api.patch(f"{BASE}/builds/broken-1", {"status": {"phase": "Running"}})
    with pytest.raises(ClusterError, match="spec is immutable"):
        cluster.api.patch(f"{BASE}/builds/broken-1", {"spec": {"serviceAccount": "other"}})


def test_cancelled_by_a_patch_and_by_somebody_else(cluster: Cluster) -> None:
    make(cluster, config("stopped", seconds=60))
    start(cluster, "stopped")
    ended(cluster, "stopped-1", "Running")
    cluster.api.patch(f"{BASE}/builds/stopped-1", {"status": {"cancelled": True}})
    status = ended(cluster, "stopped-1", "Cancelled")["status"]
    assert (status["reason"], status["message"]) == (
        "CancelledBuild",
        "The build was cancelled by the user.",
    )
    with pytest.raises(ClusterError, match=r"build stopped-1 was cancelled"):
        cluster.api.request("GET", f"{BASE}/builds/stopped-1/log")
    make(cluster, config("taken", play="cancelled", seconds=0.2))
    start(cluster, "taken")
    assert ended(cluster, "taken-1", "Cancelled")["status"]["cancelled"] is True


def test_pending_until_what_the_build_mounts_is_there(cluster: Cluster) -> None:
    wanted = config(
        "held", seconds=0.2, to={"kind": "DockerImage", "name": "registry.test/driver:1"}
    )
    wanted["spec"]["output"]["pushSecret"] = {"name": "push"}
    wanted["spec"]["source"]["secrets"] = [
        {"secret": {"name": "etc-pki-entitlement"}, "destinationDir": "entitlement"}
    ]
    make(cluster, wanted)
    start(cluster, "held")
    until(lambda: get(cluster, "held-1")["status"].get("reason") == "MissingPushSecret")
    assert phases(cluster, "held-1") == ["Pending"]
    cluster.kubectl("create", "secret", "generic", "push")
    until(lambda: "reason" not in get(cluster, "held-1")["status"])
    assert phases(cluster, "held-1") == ["Pending"]
    cluster.kubectl("create", "secret", "generic", "etc-pki-entitlement")
    build = ended(cluster, "held-1", "Complete")
    assert build["spec"]["source"]["secrets"][0]["secret"]["name"] == "etc-pki-entitlement"
    make(cluster, config("stuck", play="pending"))
    start(cluster, "stuck")
    time.sleep(1.5)
    assert phases(cluster, "stuck-1") == ["Pending"]
    cluster.api.patch(f"{BASE}/builds/stuck-1", {"status": {"cancelled": True}})
    ended(cluster, "stuck-1", "Cancelled")


def test_an_output_in_a_local_registry_is_really_pushed(cluster: Cluster, tmp_path: Path) -> None:
    authority = Authority(tmp_path, "registries")
    with Registry.start(tmp_path / "registry", auth="htpasswd", authority=authority) as registry:
        use_registry(cluster.folder, registry)
        wanted = config(
            "pushed",
            seconds=0,
            to={"kind": "DockerImage", "name": f"{registry.named_address}/gpu/driver:1"},
        )
        wanted["spec"]["output"]["imageLabels"] = [{"name": "kernel", "value": "6.8.0-60-generic"}]
        make(cluster, wanted)
        start(cluster, "pushed")
        failed = ended(cluster, "pushed-1", "Failed")["status"]
        assert failed["reason"] == "PushImageToRegistryFailed"
        assert "unauthorized" in failed["logSnippet"]
        content = {".dockerconfigjson": registry.dockerconfig()}
        secret = {
            "metadata": {"name": "pusher"},
            "type": "kubernetes.io/dockerconfigjson",
            "stringData": content,
        }
        cluster.api.create("/api/v1/namespaces/default/secrets", secret)
        cluster.api.patch(
            f"{BASE}/buildconfigs/pushed", {"spec": {"output": {"pushSecret": {"name": "pusher"}}}}
        )
        start(cluster, "pushed")
        digest = ended(cluster, "pushed-2", "Complete")["status"]["output"]["to"]["imageDigest"]
        image = Images(registry).contents("gpu/driver", "1")
        assert image.config["config"]["Labels"] == {"kernel": "6.8.0-60-generic"}
        assert Images(registry).contents("gpu/driver", digest) == image
        registry.stop()
        start(cluster, "pushed")
        assert (
            ended(cluster, "pushed-3", "Failed")["status"]["reason"] == "PushImageToRegistryFailed"
        )


def test_a_log_is_followed_to_the_builds_end(cluster: Cluster) -> None:
    make(
        cluster,
        config("told", seconds=2, to={"kind": "DockerImage", "name": "registry.test/driver:1"}),
    )
    start(cluster, "told")
    began = time.monotonic()
    followed = cluster.api.request("GET", f"{BASE}/builds/told-1/log?follow=true", accept="*/*")
    assert time.monotonic() - began > 1.5
    assert phases(cluster, "told-1") == ["Complete"]
    assert followed.endswith("Push successful\n")
    assert "STEP 2/2: RUN make modules" in followed
    path = f"{BASE}/builds/told-1/log"
    assert cluster.api.request("GET", path, accept="*/*") == followed
    tail = cluster.api.request("GET", f"{path}?tailLines=2", accept="*/*")
    assert tail.splitlines() == followed.splitlines()[-2:]


def test_run_policies_and_history_limits(cluster: Cluster) -> None:
    make(cluster, config("serial", seconds=1, spec={"successfulBuildsHistoryLimit": 1}))
    make(cluster, config("parallel", seconds=1, spec={"runPolicy": "Parallel"}))
    for name in ("serial", "parallel"):
        start(cluster, name)
        start(cluster, name)
    until(lambda: phases(cluster, "parallel-1", "parallel-2") == ["Running", "Running"])
    assert phases(cluster, "serial-1", "serial-2") == ["Running", "New"]
    ended(cluster, "serial-2", "Complete")
    until(lambda: [name for name in names(cluster) if name.startswith("serial")] == ["serial-2"])
    make(cluster, config("twice", spec={"triggers": [{"type": "ConfigChange"}]}))
    until(lambda: "twice-1" in names(cluster))
    assert get(cluster, "twice-1")["spec"]["triggeredBy"] == [
        {"message": "Build configuration change"}
    ]


def test_rights_are_asked_for_by_the_api_server_and_by_this_one(cluster: Cluster) -> None:
    make(cluster, config("guarded"))
    alice = str(cluster.kubeconfig_for("alice"))
    with pytest.raises(ClusterError, match='User "alice" cannot list resource "builds"'):
        cluster.kubectl("--kubeconfig", alice, "get", "builds")
    cluster.kubectl(
        "create", "role", "look", "--verb=get,list", "--resource=buildconfigs.build.openshift.io"
    )
    cluster.kubectl("create", "rolebinding", "look", "--role=look", "--user=alice")
    assert "guarded" in cluster.kubectl("--kubeconfig", alice, "get", "bc")
    body = json.dumps(
        {
            "kind": "BuildRequest",
            "apiVersion": "build.openshift.io/v1",
            "metadata": {"name": "guarded"},
        }
    )
    path = f"{BASE}/buildconfigs/guarded/instantiate"
    with pytest.raises(ClusterError, match='cannot create resource "buildconfigs/instantiate"'):
        cluster.kubectl("--kubeconfig", alice, "create", "--raw", path, "-f", "-", stdin=body)

    proxy = Authority(cluster.folder / "pki", "front-proxy")
    assert ask(cluster, proxy, "front-proxy-client", "alice", f"{BASE}/buildconfigs")[0] == 200
    status, answer = ask(cluster, proxy, "front-proxy-client", "alice", f"{BASE}/builds")
    assert (status, answer["reason"]) == (403, "Forbidden")
    assert 'User "alice" cannot list resource "builds"' in answer["message"]
    assert ask(cluster, proxy, "somebody", "admin", f"{BASE}/builds")[0] == 401
    assert ask(cluster, None, "", "admin", f"{BASE}/builds")[0] == 401
    with pytest.raises((ssl.SSLError, ConnectionError)):
        ask(
            cluster,
            Authority(cluster.folder / "pki", "kubernetes"),
            "front-proxy-client",
            "admin",
            f"{BASE}/builds",
        )


def test_a_kill_loses_nothing(cluster: Cluster) -> None:
    make(
        cluster, config("survivor", seconds=12)
    )  # longer than a server takes to come back, also on a busy machine
    start(cluster, "survivor")
    ended(cluster, "survivor-1", "Running")
    time.sleep(1)
    before = {name: get(cluster, name) for name in names(cluster)}
    version = cluster.api.get(f"{BASE}/builds")["metadata"]["resourceVersion"]
    process = next(item for item in processes.noted(cluster.folder) if item.program == "builds-api")
    process.send(signal.SIGKILL)
    until(lambda: not process.alive)
    with pytest.raises(ClusterError, match="503"):
        cluster.api.request("GET", f"{BASE}/builds")
    cluster.start_daemon("builds-api")
    until(lambda: is_served(cluster))
    assert {name: get(cluster, name) for name in before} == before
    ended(cluster, "survivor-1", "Complete", 30)
    watched = cluster.api.request(
        "GET", f"{BASE}/builds?watch=1&timeoutSeconds=1&resourceVersion={version}", accept="*/*"
    )
    assert "ERROR" not in str(watched)
    lines = cluster.api.request("GET", f"{BASE}/builds/survivor-1/log", accept="*/*").splitlines()
    assert len(lines) == len(set(lines)) == 5
    assert start(cluster, "survivor")["metadata"]["name"] == "survivor-2"


@pytest.mark.slow
def test_builds_go_with_their_config_and_all_with_the_namespace(cluster: Cluster) -> None:
    make(cluster, config("owner", seconds=0))
    start(cluster, "owner")
    ended(cluster, "owner-1", "Complete")
    cluster.kubectl("delete", "bc", "owner")
    # The garbage collector looks for new kinds every half minute.
    until(lambda: "owner-1" not in names(cluster), 60)
    cluster.kubectl("create", "namespace", "passing")
    obj = config("passing")
    obj["metadata"]["namespace"] = "passing"
    path = BASE.replace("default", "passing")
    cluster.api.request("POST", f"{path}/buildconfigs", obj)
    cluster.kubectl("delete", "namespace", "passing", "--timeout=60s")
    assert cluster.api.get(f"{path}/buildconfigs")["items"] == []


def explained(cluster: Cluster, field: str) -> str:
    """What kubectl says of a field, "" for nothing."""
    try:
        return cluster.kubectl("explain", field)
    except ClusterError:
        return ""


def is_served(cluster: Cluster) -> bool:
    """Whether the API server reaches the build API again."""
    try:
        cluster.api.request("GET", f"{BASE}/builds")
    except ClusterError:
        return False
    return True


def ask(
    cluster: Cluster, authority: Authority | None, client: str, user: str, path: str
) -> tuple[int, Obj]:
    """Ask the build API itself, as a client of that name, for a user: (status, answer)."""
    context = ssl.create_default_context(cafile=str(cluster.folder / "pki" / "kubernetes.crt"))
    if authority is not None:
        pair = authority.client(client)
        file = Path(cluster.folder) / "users" / "direct.pem"
        file.write_bytes(pair.certificate + pair.key)
        context.load_cert_chain(file)
    connection = http.client.HTTPSConnection(
        "localhost", cluster.record.ports.builds_api, context=context, timeout=10
    )
    connection.request("GET", path, headers={"X-Remote-User": user})
    answer = connection.getresponse()
    found: Obj = json.loads(answer.read())
    connection.close()
    return answer.status, found
