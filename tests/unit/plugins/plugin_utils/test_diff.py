# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes as people read them: a line for each object, and the fields as Ansible's own callback
shows them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.plugins.callback import CallbackBase

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.change_report import (
    count_kinds,
    report_changes,
    report_labels,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.changes import (
    Action,
    Change,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.diff import (
    make_diff,
    render_diff,
    report_diffs,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    key_of,
)

# A script with what YAML writers rather quote: a tab, a space at the end of a line.
TEXT = "".join(f"line {number}\t# \n" for number in range(100))


def config(**fields: Any) -> dict[str, Any]:
    """A ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "gpu", "uid": "1"},
        **fields,
    }


def daemonset(image: str, args: list[str] | None = None) -> dict[str, Any]:
    """A DaemonSet of two containers."""
    containers = [{"name": "a", "image": "y"}, {"name": "b", "image": image, "args": args or []}]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "driver", "namespace": "gpu"},
        "spec": {"template": {"spec": {"containers": containers}}},
    }


def change(
    old: dict[str, Any] | None,
    new: dict[str, Any] | None,
    action: Action = "update",
    note: str = "",
) -> Change:
    """A change of an object."""
    return Change(key_of(new or old or {}), action, old, new, note)


def shown(*changes: Change, secrets: frozenset[str] = frozenset(), full: bool = False) -> list[str]:
    """What Ansible prints."""
    text = CallbackBase()._get_diff(render_diff(changes, secrets, full=full))
    return [line.rstrip() for line in text.splitlines() if line]


MIXED = (
    change(daemonset("x:1"), daemonset("x:1"), "unchanged"),
    change(None, config(data={"a": TEXT}), "create"),
    change(daemonset("x:1"), daemonset("x:2", ["--all"]), note="adopted"),
    change(config(), None, "delete"),
)
CONTAINER = "spec.template…containers[b]"
SUMMARY = [
    "created 1, updated 1, deleted 1 objects:",
    "  + create ConfigMap gpu/c",
    f"  ~ update DaemonSet gpu/driver (adopted): {CONTAINER}.image x:1 -> x:2, {CONTAINER}.args",
    "  - delete ConfigMap gpu/c",
]


def test_a_line_for_each_object_comes_first_then_the_fields_of_updated_ones() -> None:
    assert shown(*MIXED) == [
        *SUMMARY,
        "--- before: DaemonSet gpu/driver",
        "+++ after: DaemonSet gpu/driver",
        "@@ -1,2 +1,3 @@",
        "-spec.template.spec.containers[b].image: x:1",
        "-spec.template.spec.containers[b].args: []",
        "+spec.template.spec.containers[b].image: x:2",
        "+spec.template.spec.containers[b].args:",
        "+- --all",
    ]


def test_bodies_of_new_and_removed_objects_are_details() -> None:
    lines = shown(*MIXED, full=True)
    assert lines[:4] == SUMMARY
    body = lines.index("+  name: c")
    assert lines[body + 2 : body + 6] == ["+data:", "+  a: |", "+    line 0\t#", "+    line 1\t#"]
    assert "-  name: c" in lines
    assert not any("uid" in line for line in lines)


def test_a_long_text_is_shown_around_what_differs_under_its_name() -> None:
    new = TEXT.replace("line 70", "line seventy")
    assert shown(change(config(data={"a": TEXT}), config(data={"a": new})))[2:] == [
        "--- before: ConfigMap gpu/c",
        "+++ after: ConfigMap gpu/c",
        "@@ -1,6 +1,6 @@",
        " data.a: |  # from line 69",
        "   line 68\t#",
        "   line 69\t#",
        "-  line 70\t#",
        "+  line seventy\t#",
        "   line 71\t#",
        "   line 72\t#",
    ]


def test_values_are_bounded_and_what_differs_beyond_the_bound_differs_still() -> None:
    wide, many = "x" * 5000, list(range(500))
    found = shown(
        change(config(a=f"{wide}1", b=[]), config(a=f"{wide}2", b=many)),
    )
    before, after = (line for line in found if "a: xxx" in line)
    assert before[1:] != after[1:]
    assert max(map(len, found)) < 220
    assert len(found) < 55
    assert "+  # and 460 more lines; -v shows them" in found
    uncut = shown(change(config(a=wide), config(a="y")), full=True)
    assert f"-a: {wide}" in uncut


def test_characters_that_move_a_cursor_are_escaped() -> None:
    old, new = config(data={"a": "x"}), config(data={"a": "one\n\x1b[2Jtwo\x85three\n"})
    assert all(line.isprintable() for line in shown(change(old, new)))


def test_no_secret_is_shown() -> None:
    """Also none of several lines, which is indented in a block, and none that is cut in two."""
    key, token = "-----BEGIN\nabc\ndef", "t" * 400
    old = config(data={"key": "other", "url": "u:old@h", "b": "1"})
    new = config(data={"key": f"say {key}\nend\n", "url": f"u:{token}@h", "b": "2"})
    secrets = frozenset({key, token})
    for full in (False, True):
        text = "\n".join(
            shown(change(old, new), change(None, new, "create"), secrets=secrets, full=full)
        )
        assert not any(part in text for part in ("abc", "def", "ttt", "old", "other"))
        assert "-data.b: '1'" in text


def test_a_kubernetes_secret_shows_that_it_changes_and_not_what() -> None:
    old = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s"},
        "data": {"a": "cGFzcw=="},
    }
    new = {**old, "data": {"a": "b3RoZXI="}}
    lines = shown(change(old, new), change(None, old, "create"), full=True)
    assert not any(value in line for line in lines for value in ("cGFzcw", "b3RoZXI"))
    before, after = (line for line in lines if "data.a: REDACTED" in line)
    assert before[1:] != after[1:]


def test_nothing_is_shown_where_nothing_differs() -> None:
    assert render_diff([MIXED[0]]) == []
    assert report_changes([MIXED[0]]) == []


def test_a_report_says_would_and_names_so_many_objects() -> None:
    created = [change(None, config(), "create")] * 13
    lines = report_changes(created, would=True, most=10)
    assert lines[0] == "would create 13 objects:"
    assert lines[10:] == ["  + create ConfigMap gpu/c", "  and 3 more; --diff shows them"]


def test_objects_are_listed_in_the_order_in_which_they_are_applied() -> None:
    def of(kind: str, action: Action = "create") -> Change:
        obj = {"apiVersion": "v1", "kind": kind, "metadata": {"name": kind.lower()}}
        return Change(key_of(obj), action, None, obj)

    made = [of("DaemonSet"), of("ServiceAccount"), of("Namespace")]
    gone = [of("ConfigMap", "delete"), of("Deployment", "delete")]
    lines = report_changes([*gone, *made])
    assert [line.split()[2] for line in lines[1:]] == [
        *("Namespace", "ServiceAccount", "DaemonSet"),
        *("Deployment", "ConfigMap"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ({"a": True, "b": 1}, {"a": False}, "a true -> false, b 1 -> (none)"),
        ({"a": ""}, {"a": "x" * 41}, "a"),
        (
            {},
            {"a": 1, "b": 2, "c": 3, "d": 4},
            "a (none) -> 1, b (none) -> 2, c (none) -> 3, 1 more field",
        ),
    ],
)
def test_the_fields_of_an_update_have_their_values_where_these_are_short(
    old: dict[str, Any], new: dict[str, Any], text: str
) -> None:
    line = report_changes([change(config(**old), config(**new))])[1]
    assert line == f"  ~ update ConfigMap gpu/c: {text}"


def test_kinds_are_counted() -> None:
    objects = [config(), {**config(), "kind": "NetworkPolicy"}, daemonset("x")]
    keys = [key_of(obj) for obj in [*objects, *objects[:2], config()]]
    assert count_kinds(keys) == "3 ConfigMaps, 2 NetworkPolicies, 1 DaemonSet"


def test_labels_are_shown_once_for_all_nodes_that_get_the_same() -> None:
    ready = {"metadata": {"labels": {"b": "ready", "a": None}}}
    patches = {"n1": ready, "n3": {"metadata": {"annotations": {"p": "1"}}}, "n2": ready}
    assert report_labels(patches) == [
        "  node n3 (proofs)",
        "  2 nodes: n1, n2",
        "    - a",
        "    ~ b=ready",
    ]


def test_without_diff_what_changed_is_said_in_lines() -> None:
    changed = make_diff("node n1", ["a", "b"], ["b", "c"])
    same, other = make_diff("node n2", ["a"], ["a"]), make_diff("node n3", [], ["d"])
    assert report_diffs([changed, same, other], would=False, most=1) == [
        "changed node n1:",
        "  - a",
        "  + c",
        "and 1 more; --diff shows them",
    ]
    assert report_diffs([same, other], would=True, most=None) == [
        "would change node n3:",
        "  + d",
    ]
    assert report_diffs([same], would=False, most=1) == []
