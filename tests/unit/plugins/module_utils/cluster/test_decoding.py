# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that are none of an API server: one sentence on every path, and 500 more of them made by
chance."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    Unreadable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.decoding import (
    first_words,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.watch import (
    WatchHub,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
    builtin,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.managers import (
    foreign_fields,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.object_shapes import (
    mismatch_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.authorization import (
    access,
    missing,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.lease import (
    RunLock,
    read,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.planning import (
    PlanRules,
    plan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._json import TOO_DEEP
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import (
    NodeFacts,
    quantity,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.inventory.host_groups import (
    address_of,
    host_groups,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.inventory.host_variables import (
    host_variables,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.crd import RECORD
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts import pod_status

Obj = dict[str, Any]


def kind_of(api_version: str, kind: str) -> Kind:
    found = builtin(api_version, kind)
    assert found is not None
    return found


NODE, POD, SET = kind_of("v1", "Node"), kind_of("v1", "Pod"), kind_of("apps/v1", "DaemonSet")
MOMENT = "2026-11-22T10:00:00Z"
TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6IkFCQ0QifQ"


def metadata(name: str, namespace: str = "") -> Obj:
    entry = {
        "manager": "kubectl",
        "fieldsV1": {"f:spec": {"f:containers": {'k:{"name":"c"}': {"f:image": {}}}}},
    }
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "uid": f"uid-{name}",
        "resourceVersion": "7",
        "creationTimestamp": MOMENT,
        "labels": {"a": "b"},
        "annotations": {"c": "d"},
        "ownerReferences": [{"kind": "DaemonSet", "name": "o", "uid": "u"}],
        "managedFields": [entry],
    }


CONDITIONS = [{"type": "Ready", "status": "False", "message": "no", "lastTransitionTime": MOMENT}]
AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "values": ["a"]}]}]
        }
    }
}
POD_SPEC = {
    "affinity": AFFINITY,
    "containers": [{"name": "c", "resources": {"limits": {"x/gpu": "1"}}}],
}
CONTAINER = {
    "name": "c",
    "ready": False,
    "restartCount": 2,
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
    "lastState": {"terminated": {"exitCode": 3}},
}
OBJECTS: dict[str, Obj] = {
    "nodes": {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata("a"),
        "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]},
        "status": {
            "nodeInfo": {
                "kernelVersion": "6.8",
                "bootID": "b",
                "containerRuntimeVersion": "containerd://2.0",
            },
            "allocatable": {"x/gpu": "8", "memory": "2Gi"},
            "conditions": CONDITIONS,
            "addresses": [{"type": "InternalIP", "address": "192.0.2.1"}],
        },
    },
    "pods": {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata("a", "n"),
        "spec": POD_SPEC,
        "status": {"phase": "Running", "conditions": CONDITIONS, "containerStatuses": [CONTAINER]},
    },
    "daemonsets": {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata("a", "n"),
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"spec": POD_SPEC}},
        "status": {"desiredNumberScheduled": 3, "observedGeneration": 1},
    },
    "leases": {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": metadata("a", "hardware-enablement"),
        "spec": {
            "holderIdentity": "me",
            "leaseDurationSeconds": 60,
            "acquireTime": "2026-11-22T10:00:00.000000Z",
            "renewTime": "2026-11-22T10:00:00.000000Z",
            "leaseTransitions": 1,
        },
    },
}
STATUS = {
    "kind": "Status",
    "code": 404,
    "reason": "NotFound",
    "message": "no",
    "details": {"causes": [{"field": "f"}]},
}


def watch(client: Client) -> None:
    stream = client.watch(POD, resource_version="1", timeout_s=5)
    for event in stream:
        read_pod(event.object)
    hub = WatchHub(client, patience_s=0.0)
    try:
        hub.subscribe(POD)
        while not hub.synced:
            for event in hub.next(0.5):
                read_pod(event.object)
    finally:
        hub.close()


def read_pod(pod: Obj) -> None:
    if pod.get("kind") == "Pod":
        pod_status.judge(pod)
        pod_status.is_ready(pod)
        ClusterSnapshot().put_pod(pod)
        foreign_fields(pod)


def read_nodes(client: Client) -> None:
    for node in client.list(NODE).items:
        facts = NodeFacts.from_object(node)
        sum(quantity(amount) for amount in facts.allocatable.values())
        variables = host_variables(node, {}, {})
        host_groups(variables)
        address_of(variables, "InternalIP")


def apply_a_set(client: Client) -> None:
    rules = PlanRules(owner="x", adopt=True)
    for change in plan(client, [OBJECTS["daemonsets"]], rules, live={}):
        ClusterSnapshot().put_workload(change.before or OBJECTS["daemonsets"])


CALLS: dict[str, Callable[[Client], Any]] = {
    "get": lambda client: read_pod(client.get(POD, "a", "n") or {}),
    "list": read_nodes,
    "metadata": lambda client: client.list(NODE, metadata_only=True),
    "watch": watch,
    "plan": apply_a_set,
    "apply": lambda client: client.apply(OBJECTS["daemonsets"]),
    "create": lambda client: client.create(OBJECTS["pods"]),
    "patch": lambda client: client.patch(NODE, "a", None, {"metadata": {"labels": {"a": "b"}}}),
    "delete": lambda client: client.delete(POD, "a", "n", uid="u"),
    "collection": lambda client: client.delete_collection(POD, namespace="n", labels="a"),
    "kinds": lambda client: client.kind("example.com/v1", "Card"),
    "version": lambda client: client.version(),
    "rights": lambda client: missing(client, {access(NODE, None, "patch"): {"a"}}),
    "logs": lambda client: client.logs("n", "a"),
    "lock": lambda client: RunLock(client, "a", "me").check(),
    "lock of others": lambda client: read(client, "a"),
}


def right(asked: Any) -> Any:
    """The body that an API server would give."""
    path, _mark, query = asked.path.partition("?")
    parts = path.strip("/").split("/")
    if "watch=true" in query:
        return [
            {"type": "ADDED", "object": OBJECTS["pods"]},
            {"type": "BOOKMARK", "object": OBJECTS["pods"]},
        ]
    if path == "/version":
        return {"major": "1", "minor": "36", "gitVersion": "v1.36.2"}
    if path == "/apis/example.com/v1":
        return {"resources": [{"name": "cards", "kind": "Card", "namespaced": True}]}
    if "selfsubjectaccessreviews" in path:
        return {"status": {"allowed": True}}
    if asked.method == "DELETE":
        return {"kind": "Status", "status": "Success"}
    plural = next(part for part in parts if part in OBJECTS)
    if parts[-1] == plural and asked.method == "GET":
        return {"kind": "List", "metadata": {"resourceVersion": "9"}, "items": [OBJECTS[plural]]}
    return OBJECTS[plural]


PAGE = (
    b"<html><head><style>p {}</style></head><body><h1>Log in</h1> "
    + TOKEN.encode()
    + b"</body></html>"
)
WRONG: dict[str, tuple[int, dict[str, str], bytes, str]] = {
    "page": (
        200,
        {"Content-Type": "text/html; charset=utf-8"},
        PAGE,
        'HTTP status 200, text/html, "Log in …"',
    ),
    "type": (
        200,
        {"Content-Type": "text/html"},
        b'{"kind": "Status", "status": "Success"}',
        "JSON is due",
    ),
    "null": (200, {}, b"null", "it is null, where an object is due"),
    "list": (200, {}, b"[]", "it is a list, where an object is due"),
    "empty": (200, {}, b"", "HTTP status 200): it is empty"),
    "truncated": (200, {}, b'{"metadata": {"name": "a', "its JSON ends early"),
    "nothing": (200, {}, b"{}", "HTTP status 200): "),
    "text in items": (200, {}, b'{"kind": "NodeList", "items": "none"}', ""),
    "redirect": (
        302,
        {"Location": f"https://login.test/?t={TOKEN}"},
        b"",
        "HTTP status 302, it leads to login.test",
    ),
    "not found": (404, {}, b"<html>no such page</html>", 'HTTP status 404, "no such page"'),
}
READS = {"get", "list", "metadata", "watch", "plan", "version", "kinds", "logs", "lock of others"}
STRICT = [name for name in CALLS if name not in ("watch", "logs")]


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_answer_is_one_sentence_that_names_what_answered(fake: Any, name: str) -> None:
    code, headers, body, words = WRONG[name]
    fake.script((code, headers, body))
    for call in STRICT:
        with pytest.raises(EnablementError) as caught:
            CALLS[call](fake.client())
        text = str(caught.value)
        assert one_sentence(text)
        assert words in text, call
        assert TOKEN not in text
        assert isinstance(caught.value, Unreadable) or call == "lock"
        assert caught.value.todo


def test_pages_that_lead_in_a_circle_end(fake: Any) -> None:
    page = {"metadata": {"continue": "more"}, "items": []}
    fake.script((200, {}, page))
    with pytest.raises(Unreadable, match="leads back to a page"):
        fake.client().list(POD)


def test_a_page_in_the_place_of_a_log(fake: Any) -> None:
    fake.script((200, {"Content-Type": "text/html"}, PAGE))
    with pytest.raises(Unreadable, match="Log in"):
        fake.client().logs("n", "a")
    assert fake.client().pod_proxy("n", "a", 80, "/").startswith("<html>")


def test_first_words_show_no_secret_and_no_json() -> None:
    assert first_words(b'{"data": {"password": "cGFzc3dvcmQ="}}') == ""
    assert first_words(f"token {TOKEN}\x1b[31m\nno entry".encode()) == '"token … no entry"'.replace(
        "… no", "…[31m no"
    )


def pick(things: Sequence[Any]) -> Any:
    """One of them, by the seed."""
    return random.sample(things, 1)[0]


def mutated(value: Any) -> Any:
    """The value with one thing changed somewhere in it: another type, a missing field, a text that
    is another one."""
    value = copy.deepcopy(value)
    holder, key = pick(list(_places(value)))
    deed = pick(range(8))
    if deed == 0:
        del holder[key]
    elif deed == 1 and isinstance(holder, dict):
        holder[pick(["", "k:{", "\ud800", "x" * 5000])] = holder.pop(key)
    else:
        others = [
            None,
            [],
            {},
            "",
            "x",
            0,
            -1,
            1.5,
            True,
            [None],
            {"a": None},
            ["x"],
            "2026-02-31T00:00:00Z",
            10**30,
            "\x1b[2J\x00\u202e",
            "9" * 5000,
            "0000-01-01T00:00:00Z",
            json.loads("[" * 200 + "]" * 200),
        ]
        holder[key] = pick(others)
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    entries = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for key, below in entries:
        yield value, key
        if isinstance(below, (dict, list)):
            yield from _places(below)


def spoiled(body: Any) -> tuple[int, dict[str, str], Any]:
    """An answer like it that is not quite right."""
    deed = pick(range(10))
    if deed == 0:
        code = pick([201, 204, 206, 302, 400, 403, 404, 409, 410, 418, 422, 429, 500, 503, 599])
        return code, {"Retry-After": pick(["1", "x", "9" * 40])}, mutated(STATUS)
    if deed == 1:
        whole = json.dumps(body).encode()
        return 200, {}, whole[: pick(range(len(whole)))]
    if deed == 2:
        return 200, {"Content-Type": pick(["text/html", "x", ""])}, pick([PAGE, b"\xff\x00", b"{}"])
    if isinstance(body, list) and deed > 5:
        return 200, {}, [pick([None, [], 1, "x", {"type": "ERROR", "object": mutated(STATUS)}])]
    return 200, {}, mutated(body)


def one_sentence(text: str) -> bool:
    return text == "" or (text.endswith(".") and "\n" not in text and len(text) < 1500)


def ending(call: Callable[[], Any]) -> str:
    """The sentence that a call ends with, "" where it has a result; fails where it is no sentence
    of ours."""
    try:
        call()
    except EnablementError as error:
        return str(error)
    return ""


def test_500_spoiled_answers_end_in_results_or_sentences(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", fake.clock.sleep)
    fake.answer = lambda asked: spoiled(right(asked))
    names = list(CALLS)
    sentences = []
    for seed in range(500):
        random.seed(seed)
        name = names[seed % len(names)]
        fake.asked.clear()
        sentences.append(ending(partial(CALLS[name], fake.client())))
        assert one_sentence(sentences[-1]), (seed, name, sentences[-1])
        assert len(fake.asked) < 100, (seed, name)
        writes = [
            asked for asked in fake.asked if asked.method != "GET" and "dryRun" not in asked.path
        ]
        assert not writes or name not in READS, (seed, name)
    assert 100 < len(list(filter(None, sentences))) < 400


def test_one_object_that_is_nested_too_deep_costs_no_list(fake: Any) -> None:
    """A field that its CRD lets hold anything may be nested 10,000 levels deep."""
    deep = b'{"a":' * 9_000 + b"1" + b"}" * 9_000
    items = [{"metadata": {"name": name}, "spec": {"options": {}}} for name in ("a", "b")]
    page = json.dumps({"kind": "SpecialResourceList", "items": items, "metadata": {}}).encode()
    fake.script((200, {}, page.replace(b'"options": {}', b'"options": %s' % deep, 1)))
    one, other = fake.client().list(RECORD).items
    assert (one["metadata"]["name"], other["spec"]) == ("a", {"options": {}})
    assert TOO_DEEP in json.dumps(one)


def test_a_time_of_year_zero_costs_no_list(fake: Any) -> None:
    """Go has it, and so whoever may write a status may."""
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": "0000-02-29T00:00:00Z"}
    node = {"metadata": {"name": "n"}, "status": {"conditions": [condition]}}
    fake.script((200, {}, {"kind": "NodeList", "items": [node], "metadata": {}}))
    (found,) = fake.client().list(kind_of("v1", "Node")).items
    assert NodeFacts.from_object(found).readiness.since is None


def test_a_lean_object_has_what_is_read_of_it_and_no_more(fake: Any) -> None:
    pod: Obj = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "n",
            "namespace": "ns",
            "uid": "u",
            "resourceVersion": "5",
            "labels": {"any": "x"},
            "annotations": {"our": "y"},
        },
        "spec": {"nodeName": "node"},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }
    wanted = copy.deepcopy(pod)
    pod["metadata"]["managedFields"] = [{"manager": "kubelet"}]
    # What all pods of a workload have alike, as large as all the rest.
    pod["spec"]["containers"] = [{"name": "c", "env": [{"name": "E"}]}]
    pod["spec"]["volumes"] = [{"name": "v"}]
    pod["spec"]["tolerations"] = []
    pod["status"]["conditions"][0]["lastProbeTime"] = None
    fake.script((200, {}, {"kind": "PodList", "items": [pod], "metadata": {}}))
    assert fake.client().list(kind_of("v1", "Pod"), leanly=True).items == [wanted]
    (stays,) = fake.client().list(kind_of("v1", "Pod")).items
    assert stays == pod


def test_of_a_kind_without_a_shape_a_lean_object_keeps_spec_and_status(fake: Any) -> None:
    anything = an_object("n", {"own": 1})
    anything["metadata"]["uid"] = "u"
    fake.script((200, {}, {"metadata": {}, "items": [anything]}))
    found = fake.client().list(ODD, leanly=True).items
    assert found == [{"apiVersion": "ex.io/v1", "kind": "Foo", **anything}]


ODD = Kind("ex.io", "v1", "Foo", "foos", namespaced=True)


def an_object(name: str, spec: Any) -> Obj:
    return {"metadata": {"name": name, "namespace": "n", "resourceVersion": "8"}, "spec": spec}


def test_a_custom_resource_of_other_types_costs_itself_alone_where_that_is_looked_for(
    fake: Any,
) -> None:
    page = {
        "metadata": {"resourceVersion": "7"},
        "items": [an_object("a", "text"), an_object("b", {"x": 1})],
    }
    fake.script((200, {}, page))
    odd, sound = fake.client().list(ODD, each_alone=True).items
    assert mismatch_of(odd) == "spec is text, where a mapping is due"
    assert (odd["metadata"]["name"], odd["kind"], "spec" in odd) == ("a", "Foo", False)
    assert (mismatch_of(sound), sound["spec"]) == ("", {"x": 1})
    kept = fake.client().list(ODD, each_alone=True, leanly=True).items
    assert [mismatch_of(each) != "" for each in kept] == [True, False]
    with pytest.raises(Unreadable, match="spec is text, where a mapping is due"):
        fake.client().list(ODD)


def test_an_event_of_a_custom_resource_of_other_types_ends_no_watch(fake: Any) -> None:
    told = [
        {"type": "ADDED", "object": an_object("a", [])},
        {"type": "ADDED", "object": an_object("b", {})},
    ]
    fake.script((200, {}, told))
    stream = fake.client().watch(ODD, resource_version="1", timeout_s=5, each_alone=True)
    assert [mismatch_of(event.object) != "" for event in stream] == [True, False]


def test_what_is_no_object_at_all_ends_the_list_all_the_same(fake: Any) -> None:
    page = {"metadata": {}, "items": [{"metadata": {"name": 7}}]}
    fake.script((200, {}, page))
    with pytest.raises(Unreadable, match="name is a whole number"):
        fake.client().list(ODD, each_alone=True)
