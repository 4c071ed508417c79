# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster layer against a real API server: what only that can show (admission, field managers,
deletion)."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    ApiError,
    Forbidden,
    Gone,
    Invalid,
    LockHeld,
    NotFound,
    Unauthorized,
    UnknownKind,
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
    connect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ClusterLogin,
    ClusterTransport,
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.watch import (
    WatchHub,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.changes import (
    Change,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
    builtin,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    PART_OF_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
    key_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.applyset import owned
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.definitions import (
    ensure,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.executing import execute
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.lease import (
    RunLock,
    read,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.ownership_refusal import (
    OwnershipOptions,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.planning import (
    PlanRules,
    plan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.removal import (
    delete_and_wait,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.pod_status import (
    POD_REASONS,
    judge,
)
from tests.cluster import Cluster
from tests.cluster.faults import Fault, FaultProxy
from tests.cluster.pki import Authority
from tests.integration.conftest import documented
from tests.integration.waiting import wait_until

Obj = dict[str, Any]

TWO_STATES = {
    "hardware_enablement_recipe": "two-states",
    "hardware_enablement_recipe_dir": str(Path(__file__).parents[1] / "recipes"),
}
SELECTED = f"{PART_OF_LABEL}=ours"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster without nodes, and a user who may only read."""
    with Cluster.up("test-cluster-layer") as started:
        started.kubectl(
            "create", "clusterrole", "reader", "--verb=get,list,watch", "--resource=*.*"
        )
        started.kubectl(
            "create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=reader"
        )
        yield started


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return connect(ConnectionRequest(kubeconfig=str(cluster.kubeconfig)))


@pytest.fixture
def namespace(client: Client, request: pytest.FixtureRequest) -> str:
    """A namespace of the test's own."""
    name = f"t-{request.node.name.removeprefix('test_').replace('_', '-')[:50].rstrip('-')}"
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


def ours(api_version: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Obj:
    place = {"namespace": namespace} if namespace else {}
    metadata = {"name": name, **place, "labels": {PART_OF_LABEL: "ours"}}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def config(name: str, namespace: str, value: str = "1") -> Obj:
    return ours("v1", "ConfigMap", name, namespace, data={"x": value})


def daemonset(name: str, namespace: str, app: str = "a") -> Obj:
    labels = {"app": app}
    containers = [{"name": "c", "image": "localhost/x:1", "resources": {"limits": {"cpu": "100m"}}}]
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": containers, "hostNetwork": False},
    }
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return ours("apps/v1", "DaemonSet", name, namespace, spec=spec)


def definition(group: str) -> Obj:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    spec = {
        "group": group,
        "scope": "Namespaced",
        "names": {"kind": "Foo", "plural": "foos"},
        "versions": versions,
    }
    return ours("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"foos.{group}", spec=spec)


def planned(client: Client, desired: list[Obj], **options: Any) -> list[Change]:
    live = options.pop("live", {})
    return plan(client, desired, PlanRules(**{"owner": "ours", **options}), live=live)


def run(client: Client, desired: list[Obj], **options: Any) -> list[Change]:
    return execute(client, planned(client, desired, **options), guard=lambda: None)


def actions(changes: list[Change]) -> list[str]:
    return [change.action for change in changes]


def test_a_first_run_in_ranks_and_a_second_one_without_a_write(cluster: Cluster) -> None:
    client = connect(
        ConnectionRequest(kubeconfig=str(cluster.kubeconfig_for("first", ["system:masters"])))
    )
    desired = [
        ours("first.io/v1", "Foo", "f", "first", spec={"a": 1}),
        ours(
            "v1", "Service", "s", "first", spec={"selector": {"app": "a"}, "ports": [{"port": 80}]}
        ),
        daemonset("d", "first"),
        ours("v1", "Secret", "k", "first", stringData={"x": "1"}),
        config("c", "first"),
        definition("first.io"),
        ours("v1", "Namespace", "first"),
    ]
    first = planned(client, desired)
    assert actions(first) == ["create"] * 7
    assert client.get(builtin("v1", "Namespace"), "first") is None  # type: ignore[arg-type]
    done = execute(client, first, guard=lambda: None)
    assert [change.key for change in done] == [key_of(obj) for obj in desired]
    assert all(change.after and change.after["metadata"]["uid"] for change in done)

    mark = cluster.mark()
    kinds = [client.kind(obj["apiVersion"], obj["kind"]) for obj in desired]
    live = owned(client, kinds, SELECTED, ["first"])
    assert set(live) >= {key_of(obj) for obj in desired}
    second = planned(client, desired, live=live)
    assert actions(second) == ["unchanged"] * 7
    assert [change.note for change in second] == [""] * 7
    events = cluster.audit(user="first", since=mark)
    writes = [event for event in events if event["verb"] not in ("get", "list", "watch")]
    assert len(writes) == 7
    assert all("dryRun=All" in event["requestURI"] for event in writes)


def test_drift_is_repaired_and_foreign_fields_are_told_of(
    client: Client, cluster: Cluster, namespace: str
) -> None:
    desired = [config("c", namespace)]
    run(client, desired)
    cluster.kubectl("-n", namespace, "annotate", "configmap", "c", "their.io/note=x")
    (found,) = planned(client, desired)
    assert (found.action, found.note) == (
        "unchanged",
        "kubectl-annotate also sets metadata.annotations.their.io/note",
    )
    cluster.kubectl(
        "-n", namespace, "patch", "configmap", "c", "--type=merge", "-p", '{"data":{"x":"2"}}'
    )
    (found,) = run(client, desired)
    assert found.action == "update"
    assert found.after is not None
    assert found.after["data"] == {"x": "1"}
    assert found.after["metadata"]["annotations"] == {"their.io/note": "x"}


def test_fields_that_would_only_change_hands_are_no_change(client: Client, namespace: str) -> None:
    wanted = config("c", namespace)
    client.create(wanted)
    before = client.apply(wanted, dry_run=True)
    (found,) = planned(client, [wanted])
    assert found.before is not None
    assert found.before["metadata"]["managedFields"] != before["metadata"]["managedFields"]
    assert found.action == "unchanged"


def test_what_we_no_longer_set_goes(client: Client, namespace: str) -> None:
    run(client, [config("c", namespace)])
    wanted = config("c", namespace)
    del wanted["data"]
    (found,) = run(client, [wanted])
    assert found.action == "update"
    assert "data" not in (found.after or {})


def test_an_update_that_changed_nothing_is_unchanged(client: Client, namespace: str) -> None:
    (made,) = run(client, [config("c", namespace)])
    change = Change(made.key, "update", made.after, made.after, desired=config("c", namespace))
    assert actions(execute(client, [change], guard=lambda: None)) == ["unchanged"]


def test_what_is_not_ours_is_refused_unless_adopted(client: Client, namespace: str) -> None:
    for name in ("a", "b"):
        theirs = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": namespace},
        }
        client.create(theirs)
    desired = [config("a", namespace), config("b", namespace), config("c", namespace)]
    with pytest.raises(
        EnablementError, match=r"ConfigMap \S+/a, ConfigMap \S+/b exist already .*set adopt"
    ):
        planned(client, desired, offered=OwnershipOptions(adopt=True))
    found = run(client, desired, adopt=True)
    assert actions(found) == ["update", "update", "create"]
    assert found[0].note == "adopted"


def test_immutable_fields_are_named_or_the_object_is_replaced(
    client: Client, namespace: str
) -> None:
    (made,) = run(client, [daemonset("d", namespace)])
    wanted = daemonset("d", namespace, app="other")
    with pytest.raises(Invalid, match=r"DaemonSet \S+/d .*spec\.selector.*immutable.*set recreate"):
        planned(client, [wanted])
    (found,) = run(client, [wanted], recreate=True)
    assert found.action == "replace"
    assert made.after is not None
    assert found.after is not None
    assert found.after["metadata"]["uid"] != made.after["metadata"]["uid"]
    assert actions(planned(client, [wanted])) == ["unchanged"]


def test_a_wrong_object_is_no_matter_of_replacement(client: Client, namespace: str) -> None:
    wanted = daemonset("d", namespace)
    run(client, [wanted])
    wanted["spec"]["template"]["metadata"]["labels"] = {"app": "differs"}
    with pytest.raises(Invalid, match="selector"):
        planned(client, [wanted], recreate=True)


def test_an_unknown_kind_is_named(client: Client, namespace: str) -> None:
    with pytest.raises(
        UnknownKind, match=r"Cannot apply Thing \S+/t: .*does not serve Thing of no\.such\.io/v1"
    ):
        planned(client, [ours("no.such.io/v1", "Thing", "t", namespace)])


def test_a_kind_that_another_run_has_just_brought_is_known(
    cluster: Cluster, client: Client
) -> None:
    crd = definition("twice.example.com")
    kind = ("twice.example.com/v1", "Foo")
    assert not client.serves(*kind)
    assert ensure(connect(ConnectionRequest(kubeconfig=str(cluster.kubeconfig))), [crd])
    assert not ensure(client, [crd])
    assert client.serves(*kind)


def test_a_reader_gets_a_prediction(cluster: Cluster, client: Client, namespace: str) -> None:
    reader = connect(ConnectionRequest(kubeconfig=str(cluster.kubeconfig_for("reader"))))
    secret = ours("v1", "Secret", "k", namespace, stringData={"x": "1"})
    desired = [config("c", namespace), daemonset("d", namespace), secret, config("e", "nowhere")]
    found = planned(reader, desired)
    assert actions(found) == ["create"] * 4
    assert all("predicted locally" in change.note for change in found)
    run(client, desired[:3])
    assert actions(planned(reader, desired[:3])) == ["unchanged"] * 3
    changed = daemonset("d", namespace)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "localhost/x:2"
    (found_one,) = planned(reader, [changed])
    assert found_one.action == "update"
    assert found_one.after is not None
    container = found_one.after["spec"]["template"]["spec"]["containers"][0]
    assert (container["image"], container["imagePullPolicy"]) == ("localhost/x:2", "IfNotPresent")
    with pytest.raises(Forbidden, match='User "reader" cannot') as caught:
        reader.apply(desired[0])
    assert "give the run's user this right" in str(caught.value)


def test_a_missing_namespace_is_predicted_and_then_named(client: Client) -> None:
    found = planned(client, [config("c", "nowhere")])
    assert (found[0].action, found[0].note) == ("create", "namespace nowhere does not exist yet")
    with pytest.raises(
        EnablementError, match=r"1 of 1 changes failed .*namespaces \"nowhere\" not found"
    ):
        execute(client, found, guard=lambda: None)


def test_a_namespace_that_is_going_is_waited_for_by_the_user(
    client: Client, namespace: str
) -> None:
    held = config("held", namespace)
    held["metadata"]["finalizers"] = ["their.io/hold"]
    run(client, [held])
    client.delete(builtin("v1", "Namespace"), namespace)  # type: ignore[arg-type]
    kind = builtin("v1", "Namespace")
    wait_until(
        lambda: "their.io/hold" in str(client.get(kind, namespace)),  # type: ignore[arg-type]
        "the namespace says what holds it",
    )
    why = r"is being deleted: .*their\.io/hold.*; see that the controllers run which take these"
    with pytest.raises(ApiError, match=why):
        planned(client, [config("new", namespace)])
    with pytest.raises(ApiError, match=why):
        planned(client, [ours("v1", "Namespace", namespace)], adopt=True)
    client.patch(builtin("v1", "ConfigMap"), "held", namespace, {"metadata": {"finalizers": None}})  # type: ignore[arg-type]


def test_a_kind_that_is_switched_off_is_no_missing_namespace(
    client: Client, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = Kind("policy", "v9", "Off", "offs", namespaced=True)
    monkeypatch.setattr(client, "kind", lambda *_args: off)
    with pytest.raises(NotFound, match="could not find the requested resource"):
        planned(client, [ours("policy/v9", "Off", "o", namespace)])


def test_a_failure_accounts_for_every_object(client: Client, namespace: str) -> None:
    bad = daemonset("bad", namespace)
    bad["spec"]["template"]["metadata"]["labels"] = {}
    objects = [
        config("c", namespace),
        bad,
        daemonset("good", namespace),
        ours("v1", "Service", "s", namespace),
    ]
    objects[3]["spec"] = {"ports": [{"port": 80}]}
    changes = [Change(key_of(obj), "create", None, obj, desired=obj) for obj in objects]
    with pytest.raises(EnablementError, match="1 of 4 changes failed") as caught:
        execute(client, changes, guard=lambda: None)
    result = caught.value.result
    assert result["changed"] is True
    assert result["applied"] == [f"ConfigMap {namespace}/c", f"DaemonSet {namespace}/good"]
    assert [entry["object"] for entry in result["failed"]] == [f"DaemonSet {namespace}/bad"]
    assert result["not_tried"] == [f"Service {namespace}/s"]


def test_the_guard_stops_between_batches(client: Client, namespace: str) -> None:
    calls = []

    def guard() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise LockHeld("lost", holder="b", since="", until="")

    objects = [config("c", namespace), daemonset("d", namespace)]
    changes = [Change(key_of(obj), "create", None, obj, desired=obj) for obj in objects]
    with pytest.raises(LockHeld) as caught:
        execute(client, changes, guard=guard)
    assert caught.value.result["applied"] == [f"ConfigMap {namespace}/c"]
    assert caught.value.result["not_tried"] == [f"DaemonSet {namespace}/d"]


def test_deletions_come_last_and_only_hit_the_object_that_was_seen(
    client: Client, namespace: str
) -> None:
    (made,) = run(client, [config("old", namespace)])
    other = copy.deepcopy(made.after or {})
    other["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000"
    new = config("new", namespace)
    done = execute(
        client,
        [
            Change(made.key, "delete", other, None),
            Change(key_of(new), "create", None, new, desired=new),
        ],
        guard=lambda: None,
    )
    assert actions(done) == ["unchanged", "create"]
    assert client.get(builtin("v1", "ConfigMap"), "old", namespace)  # type: ignore[arg-type]
    execute(client, [Change(made.key, "delete", made.after, None)], guard=lambda: None)
    assert client.get(builtin("v1", "ConfigMap"), "old", namespace) is None  # type: ignore[arg-type]


def test_removal_waits_and_names_what_holds_it(client: Client, namespace: str) -> None:
    held = config("held", namespace)
    held["metadata"]["finalizers"] = ["their.io/hold"]
    run(client, [held, daemonset("d", namespace), config("free", namespace)])
    keys = [
        key_of(held),
        ObjectKey("apps/v1", "DaemonSet", namespace, "d"),
        key_of(config("free", namespace)),
    ]
    delete_and_wait(client, keys[1:], timeout=120)
    said: list[str] = []
    with pytest.raises(
        EnablementError,
        match=r"ConfigMap \S+/held did not go in time .*their\.io/hold holds it; see",
    ):
        delete_and_wait(client, keys, timeout=2, say=said.append)
    assert (
        said[0]
        == f"waits until ConfigMap {namespace}/held is gone: finalizer their.io/hold holds it"
    )
    assert list(owned(client, [builtin("apps/v1", "DaemonSet")], SELECTED, [namespace])) == []  # type: ignore[list-item]
    # What is being deleted counts as gone soon: planned as a replacement, made anew.
    (found,) = planned(client, [config("held", namespace)])
    assert (found.action, "being deleted" in found.note) == ("replace", True)
    client.patch(builtin("v1", "ConfigMap"), "held", namespace, {"metadata": {"finalizers": None}})  # type: ignore[arg-type]
    assert delete_and_wait(client, keys, timeout=10) == []


def test_a_limit_that_a_limit_range_gave_is_told_and_goes_by_the_advice(
    client: Client, cluster: Cluster, namespace: str
) -> None:
    """In the words that the API server's admission writes; a kubelet is played."""

    def limit(memory: str) -> None:
        """What the namespace gives to containers that say nothing."""
        item = {"type": "Container", "default": {"cpu": "1", "memory": memory}}
        obj = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}}
        text = json.dumps({**obj, "spec": {"limits": [item]}})
        cluster.kubectl("apply", "-n", namespace, "-f", "-", stdin=text)

    def made() -> Obj:
        """The pod of that name, anew."""
        cluster.kubectl("delete", "pod", "p", "-n", namespace, "--ignore-not-found", "--now")
        cluster.kubectl("run", "p", "-n", namespace, "--image=registry.test/a")
        return client.get(builtin("v1", "Pod"), "p", namespace) or {}  # type: ignore[arg-type]

    wait_until(
        lambda: "default" in cluster.kubectl("get", "serviceaccount", "-n", namespace),
        "pods may be made",
    )
    limit("16Mi")
    ended = {"exitCode": 137, "reason": "OOMKilled"}
    status = {"containerStatuses": [{"name": "p", "state": {"terminated": ended}}]}
    pod = made()
    assert judge({**pod, "status": status}).reason == "OOMKilledByLimitRange"
    assert "delete the pod" in POD_REASONS["OOMKilledByLimitRange"].todo
    limit("64Mi")
    (container,) = made()["spec"]["containers"]
    assert container["resources"]["limits"]["memory"] == "64Mi"


def test_the_lock_between_two_runs(client: Client, cluster: Cluster) -> None:
    other = connect(ConnectionRequest(kubeconfig=str(cluster.kubeconfig)))
    assert read(client, "gpu") is None
    mine = RunLock(client, "gpu", "a", duration_s=2, info="alice@host")
    mine.acquire()
    with pytest.raises(LockHeld, match="alice@host has the lock"):
        RunLock(other, "gpu", "b").acquire()
    mine.release()
    RunLock(other, "gpu", "b", duration_s=1).acquire()
    with pytest.raises(LockHeld):
        RunLock(client, "gpu", "a").acquire()
    time.sleep(1.2)
    RunLock(client, "gpu", "a").acquire()
    found = read(other, "gpu")
    assert found is not None
    assert (found.holder, found.transitions) == ("a", 2)


def test_wrong_credentials_are_said(cluster: Cluster) -> None:
    client = connect(
        ConnectionRequest(
            host=cluster.server,
            login=ClusterLogin(api_key="nonsense"),
            transport=ClusterTransport(validate_certs=False),
        )
    )
    with pytest.raises(Unauthorized, match="renew option api_key"):
        client.list(builtin("v1", "Pod"))  # type: ignore[arg-type]
    with pytest.raises(Unreachable, match="certificate cannot be verified"):
        connect(
            ConnectionRequest(host=cluster.server, login=ClusterLogin(api_key="nonsense"))
        ).version()


def test_a_hub_and_a_plan_through_an_outage(
    client: Client, cluster: Cluster, namespace: str
) -> None:
    hub = WatchHub(client, patience_s=60)
    hub.subscribe(builtin("v1", "ConfigMap"), namespace=namespace, labels=SELECTED)  # type: ignore[arg-type]
    while not hub.synced:
        assert hub.next(1) == []
    client.apply(config("a", namespace))
    assert [event.type for event in hub.next(5)] == ["ADDED"]
    cluster.stop_daemon("kube-apiserver")
    try:
        with pytest.raises(Unreachable):
            planned(client, [config(f"c{number}", namespace) for number in range(40)])
        assert hub.next(0.5) == []
    finally:
        cluster.start_daemon("kube-apiserver")

    def answers() -> bool:
        with suppress(Unreachable):
            client.apply(config("b", namespace))
            return True
        return False

    wait_until(answers, "the API server is back")
    seen: set[str] = set()

    def sees_it() -> bool:
        seen.update(event.object["metadata"]["name"] for event in hub.next(1))
        return "b" in seen

    wait_until(sees_it, "the hub sees what was applied")
    hub.close()
    # What its watch cache had before it was started again is refused as what was compacted is.
    with pytest.raises(Gone):
        list(client.watch(builtin("v1", "Namespace"), resource_version="1", timeout_s=5))  # type: ignore[arg-type]


# Each happens so often to a run of two states on three nodes.
FAULTS = (
    Fault(method="PATCH", path="/nodes/", status=500, times=2),
    Fault(method="PATCH", path="/nodes/", lost="answer", times=2),
    Fault(method="PATCH", path="/nodes/", status=429, headers={"Retry-After": "1"}, times=1),
    Fault(method="PATCH", path="/daemonsets/.*force=true$", lost="answer", times=1),
    Fault(method="PATCH", path="/daemonsets/.*dryRun", status=500, times=1),
    Fault(method="POST", path="/leases", lost="answer", times=1),
    Fault(method="GET", path="/leases/", lost="request", times=2),
    Fault(method="PATCH", path="/specialresources/.*/status", status=503, times=1),
    Fault(
        method="GET", path="/nodes[?](?!.*watch)", status=200, body=b"<html>log in</html>", times=2
    ),
    Fault(method="GET", path="watch=true", status=500, times=3),
    Fault(method="GET", path="watch=true", cut_after=3000, times=10),
)


def test_a_run_on_a_network_that_loses_things_ends_ready_and_wrote_everything(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.add_nodes(3, profile="gpu-t4", prefix="gpu")
    runner = documented(cluster, tmp_path)
    authority = Authority(cluster.folder / "pki", "kubernetes")
    upstream = cluster.server.removeprefix("https://")
    with (
        FaultProxy(upstream, authority, client=authority.client("runner")) as proxy,
        ExitStack() as bad,
    ):
        for fault in FAULTS:
            bad.enter_context(proxy.faults.on(fault))
        direct, runner.settings = (
            runner.settings,
            {**runner.settings, "K8S_AUTH_HOST": f"https://{proxy.address}"},
        )
        runner.play("enable", **TWO_STATES).check()
        happened = [seen.fault for seen in proxy.seen]
        assert [fault for fault in FAULTS if fault not in happened] == []
    runner.settings = direct
    runner.play("enable", **TWO_STATES).unchanged()
