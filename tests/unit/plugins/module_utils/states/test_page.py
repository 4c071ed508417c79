# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page about clusters, its data and its metrics: what a run's results say, and nothing that a cluster
says is more than text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import (
    GroupSystem,
    NodeGroup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states import fleet
from ansible_collections.hardware.enablement.plugins.module_utils._states.page import (
    graph_layout,
    page,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record import openmetrics
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_status import (
    make_status,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.report import (
    summarize,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import timestamp
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import NOW

ADMIN = Path(__file__).parents[5] / "docs" / "admin"
SCHEMA = json.loads((ADMIN / "report.schema.json").read_text("utf-8"))
HOSTILE = "</style><script>alert(1)</script>\"'><img src=x onerror=alert(2)> {{ 7 * 7 }} \\ \n# EOF"
STATES = ("driver", "plugin", "monitoring")
KINDS = {"html", "head", "meta", "title", "style", "body", "a", "header", "h1", "p", "main", "div"}
KINDS |= {"table", "thead", "tbody", "tr", "th", "td", "section", "h2", "h3", "span", "time", "ul"}
KINDS |= {"li", "i", "svg", "path", "g", "text", "rect", "article", "strong", "details", "summary"}
KINDS |= {"dl", "dt", "dd", "code", "footer"}


def report(count: int = 3, text: str = "no such device", node: str = "n") -> dict[str, Any]:
    """What state_validate says of so many nodes, the first of which has no driver."""
    names = [f"{node}{number}" for number in range(count)]
    groups = (NodeGroup("old", ("kernel",), GroupSystem(text), nodes=tuple(names)),)
    plans = [
        replace(world.plan(state, requires=STATES[:index]), rows=groups)
        for index, state in enumerate(STATES)
    ]
    results = {
        (name, state): Result(state, Phase.READY, "Proven", since=NOW - 20 * number, final=True)
        for number, name in enumerate(names)
        for state in STATES
    }
    results[names[0], "driver"] = Result("driver", Phase.FAILED, "Error", text, since=NOW - 240)
    for state in STATES[1:]:
        blocked = Result(state, Phase.BLOCKED, "BlockedBy.driver", text, "driver", NOW)
        results[names[0], state] = blocked
    found = summarize(plans, results, groups, dict.fromkeys(names, "old"), all_nodes=True)
    found["drift"] = [
        {
            "object": text,
            "state": "driver",
            "drift": "changed",
            "fields": [text],
            "by": text,
            "since": timestamp(NOW - 60),
            "put_back": False,
            "todo": text,
        }
    ]
    found["upgrades"] = [
        {"node": names[0], "phase": "quarantined", "since": timestamp(NOW), "message": text}
    ]
    found["rivals"] = [text]
    found["outdated"] = {"nodes": names[:2], "record": text, "seen": timestamp(NOW - 7200)}
    found["record"] = {
        "metadata": {"name": "toy", "creationTimestamp": timestamp(NOW - 3600)},
        "spec": {"recipe": "toy", "namespace": text, "options": {"version": text}},
        "status": make_status(found, {}, 1, timestamp(NOW), {"driver": text})
        | {"lastChecked": timestamp(NOW - 120)},
    }
    return found


def written(folder: Path, clusters: dict[str, Any]) -> tuple[str, dict[str, Any], str]:
    """The page, its data and the metrics of these results."""
    page_file, metrics_file = folder / "report.html", folder / "report.prom"
    request = fleet.FleetReportRequest(
        clusters, page=str(page_file), metrics=str(metrics_file), show=False
    )
    fleet.run(request, RunContext(clock=lambda: NOW))
    data = json.loads((folder / "report.json").read_text("utf-8"))
    return page_file.read_text("utf-8"), data, metrics_file.read_text("utf-8")


def junit(
    folder: Path, clusters: dict[str, Any], *, status: bool = True
) -> dict[str, list[tuple[str, str, str]]]:
    """The suites of these results as (case, how it ended, type), of a file that has the published form."""
    file = folder / "results.xml"
    request = fleet.FleetReportRequest(clusters, require_ready=status, junit=str(file), show=False)
    fleet.run(request, RunContext(clock=lambda: NOW))
    xmlschema.validate(str(file), str(ADMIN / "junit.xsd"))
    root = ElementTree.parse(file).getroot()  # noqa: S314 - it is our own
    assert all(
        suite.find("properties/property").attrib == {"name": "version", "value": "1"}  # type: ignore[union-attr]
        for suite in root
    )
    assert int(root.get("failures", "")) == len(list(root.iter("failure")))
    return {
        suite.get("name", ""): [
            (
                case.get("name", ""),
                *next(((each.tag, each.get("type", "")) for each in case), ("", "")),
            )
            for case in suite.iter("testcase")
        ]
        for suite in root
    }


def results(found: dict[str, Any]) -> list[dict[str, Any]]:
    """What the playbook status has registered."""
    return [
        {"host": "https://east", "context": "", "uid": "u"},
        {"results": [{"item": {"name": "toy"}, **found}]},
    ]


class Tags(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """As HTMLParser calls it."""
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """As HTMLParser calls it."""
        self.text += data


def test_the_page_says_what_is_wrong_why_and_what_to_do(tmp_path: Path) -> None:
    text, data, _metrics = written(tmp_path, {"east": results(report())})
    said = " ".join(Tags(text).text.split())
    (found,) = data["clusters"][0]["resources"]
    assert found["nodes"]["n0"]["states"] == {
        "driver": "failed",
        "plugin": "blocked",
        "monitoring": "blocked",
    }
    for part in (
        "node n0: driver ✕ failed for 4 min",
        "Behind it: plugin, monitoring",
        "no such device: 2 of 3 ready",
        "last run 2 min ago",
        "The labels of 2 nodes (n0, n1) and the record, which says no such device, are older",
        "than this look, of a run 2 h ago.",
        "To do: run the playbook that enables it, which writes what is seen now",
        "n1 (20 s ago), n2 (40 s ago)",
        found["causes"][0]["todo"],
    ):
        assert part in said


def test_a_cause_that_no_run_has_recorded_has_no_duration(tmp_path: Path) -> None:
    found = report()
    for row in (*found["causes"], *found["problems"]):
        row["since"] = timestamp(NOW)
    text, _data, _metrics = written(tmp_path, {"east": results(found)})
    said = " ".join(Tags(text).text.split())
    assert "driver ✕ failed no such device" in said
    assert "failed for" not in said
    assert "driver ✕ failed 0 s" not in said


def test_the_page_says_when_it_was_made(tmp_path: Path) -> None:
    text, data, _metrics = written(tmp_path, {"east": results(report())})
    made = data["made"].replace("T", " ").replace("Z", " UTC")
    said = " ".join(Tags(text).text.split())
    assert f"This is what was seen at {made}; ages and durations are counted up to then." in said


def test_data_has_the_published_form(tmp_path: Path) -> None:
    numa = {"findings": [], "summary": {"errors": 0}, "nodes": ["a"], "table": ["NUMA"]}
    upgrade = {
        "report": report(),
        "plan": [],
        "done": [],
        "postponed": {},
        "quarantined": {},
        "stopped": "",
    }
    down = {"failed": True, "msg": "https://down cannot be reached."}
    clusters = {"east": results(report()), "west": [numa], "south": [down], "north": [upgrade]}
    _page, data, _metrics = written(tmp_path, clusters)
    jsonschema.validate(data, SCHEMA)
    assert [each["error"] for each in data["clusters"]] == ["", "", down["msg"], ""]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**data, "version": 2}, SCHEMA)


def test_junit_has_a_failure_for_each_cause_and_passes_over_what_stands_on_it(
    tmp_path: Path,
) -> None:
    down = {"failed": True, "msg": "https://down cannot be reached."}
    well = report(2)
    well |= {"phase": "ready", "ready": True, "acceptable": True, "problems": [], "drift": []}
    well["states"] = [{**row, "phase": "ready"} for row in well["states"]]
    clusters = {"east": results(report()), "south": [down], "west": results(well), "north": [{}]}
    found = junit(tmp_path, clusters)
    assert found["east.toy"] == [
        ("driver [n0]", "failure", "failed"),
        ("plugin", "skipped", ""),
        ("monitoring", "skipped", ""),
        ("drift [no such device]", "failure", "drifted"),
    ]
    assert found["west.toy"] == [(state, "", "") for state in STATES]
    assert found["south.-"] == [("-", "error", "error")]
    assert found["north.-"] == [("-", "failure", "-")]
    text = (tmp_path / "results.xml").read_text("utf-8")
    assert report()["problems"][0]["todo"] in text


def test_junit_has_no_failure_where_the_run_has_none(tmp_path: Path) -> None:
    found = report()
    found["acceptable"] = True
    (cases,) = junit(tmp_path, {"east": results(found)}, status=False).values()
    assert {how for _case, how, _type in cases} == {"skipped"}


def test_junit_is_xml_whatever_a_cluster_says(tmp_path: Path) -> None:
    hostile = HOSTILE + "\x00\x1b[31m ]]>"
    down = {"failed": True, "msg": hostile}
    found = junit(tmp_path, {hostile: results(report(text=hostile, node=hostile)), "south": [down]})
    assert len(found) == 2


def test_nothing_that_a_cluster_says_is_more_than_text(tmp_path: Path) -> None:
    hostile = report(text=HOSTILE, node=HOSTILE)
    down = {"failed": True, "msg": HOSTILE}
    finding = dict.fromkeys(
        ("id", "severity", "node", "pool", "object", "detected", "expected", "remediation"), HOSTILE
    )
    summary = {"errors": 1, "warnings": 0, "nodes": 1, "checks": 1, "not_run": [HOSTILE]}
    upgrade = {
        "plan": [
            dict.fromkeys(("node", "why", "blocked", "held_by"), HOSTILE)
            | {"wave": 1, "users": [HOSTILE]}
        ],
        "done": [],
        "postponed": {HOSTILE: HOSTILE},
        "quarantined": {},
        "stopped": HOSTILE,
        "rollback": HOSTILE,
        "report": hostile,
    }
    text, _data, metrics = written(
        tmp_path,
        {
            HOSTILE: results(hostile),
            "south": [down],
            "north": [upgrade, {"findings": [finding], "summary": summary, "failed": True}],
        },
    )
    tags = Tags(text)
    assert {tag for tag, _attributes in tags.found} <= KINDS
    names = {name for _tag, attributes in tags.found for name in attributes}
    assert not [name for name in names if name.startswith("on")]
    links = {attributes["href"] for tag, attributes in tags.found if tag == "a"}
    assert all(re.fullmatch(r"#[\w-]+", link or "") for link in links)
    assert "49" not in tags.text.replace("2049", "")
    assert HOSTILE.splitlines()[0] in tags.text
    # Neither does a text end a file of metrics, nor a label.
    assert [line for line in metrics.splitlines() if line == "# EOF"] == ["# EOF"]
    assert metrics.endswith("\n# EOF\n")


def test_the_page_loads_and_runs_nothing(tmp_path: Path) -> None:
    text, _data, _metrics = written(tmp_path, {"east": results(report())})
    assert "default-src 'none';style-src 'unsafe-inline'" in text
    assert not re.search(r"<script|<link|<iframe|url\(|@import|https?://(?!east)", text)


def test_every_link_leads_somewhere_and_each_id_is_one(tmp_path: Path) -> None:
    clusters = {name: results(report(100)) for name in ("east", "west")}
    tags = Tags(written(tmp_path, clusters)[0])
    ids = [attributes["id"] for _tag, attributes in tags.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"] for tag, attributes in tags.found if tag == "a"}
    assert {f"#{name}" for name in ids} >= links


def test_five_thousand_nodes_are_a_small_page(tmp_path: Path) -> None:
    text, _data, _metrics = written(tmp_path, {"east": results(report(5000, node="worker-"))})
    assert len(text) < 250_000
    assert text.count("<i title=") == 4999
    assert 'class="map s"' in text


def test_a_report_without_nodes_or_record_is_a_page_all_the_same(tmp_path: Path) -> None:
    found = report()
    for name in ("nodes", "graph", "record"):
        del found[name]
    text, data, metrics = written(tmp_path, {"east": results(found)})
    jsonschema.validate(data, SCHEMA)
    assert "node n0" in Tags(text).text
    assert metrics == "# EOF\n"


def test_where_the_file_cannot_be_one_sentence_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be written .*: No such file"):
        written(tmp_path / "nowhere", {"east": results(report())})
    request = fleet.FleetReportRequest({}, page=str(tmp_path / "report.json"))
    with pytest.raises(InvalidInput, match="its data would overwrite it"):
        fleet.run(request, RunContext())


def test_states_stand_right_of_all_that_they_require() -> None:
    states = [
        {"name": "driver", "requires": []},
        {"name": "plugin", "requires": ["driver"]},
        {"name": "monitoring", "requires": ["driver", "plugin"]},
        {"name": "feature", "requires": ["driver", "gone"]},
    ]
    layout = graph_layout.lay_out(states)
    columns = {name: x for name, (x, _y) in layout.boxes.items()}
    assert columns["driver"] < columns["plugin"] == columns["feature"] < columns["monitoring"]
    assert len(set(layout.boxes.values())) == len(states)
    # What the plugin requires, monitoring requires anyway.
    assert len(layout.edges) == 3


def test_the_metrics_of_a_file_are_those_of_the_record() -> None:
    record = report(text='a "b"\nc')["record"]
    text = openmetrics.to_text([("east", record)])
    for line in (
        'nodes{cluster="east",name="toy"} 3',
        'nodes_ready{cluster="east",name="toy"} 2',
        'phase{cluster="east",name="toy",phase="failed"} 1',
        'phase{cluster="east",name="toy",phase="ready"} 0',
        f'last_run_timestamp_seconds{{cluster="east",name="toy"}} {int(NOW - 120)}',
        'cause_nodes{cluster="east",name="toy",state="driver",phase="failed",reason="Error"} 1',
        'info{cluster="east",name="toy",recipe="toy",driver="a \\"b\\"\\nc"} 1',
    ):
        assert f"hardware_enablement_special_resource_{line}\n" in text


def test_a_title_says_the_worst_first() -> None:
    resources = [{"phase": phase} for phase in ("ready", "failed", "ready")]
    title = page._title([{"resources": resources, "error": ""}, {"resources": [], "error": "x"}])
    assert title == "Special resources: 1 error, 1 failed, 2 ready"
