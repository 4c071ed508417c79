# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables that docs take from the code: kinds of proof, reasons, options of all recipes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._builds.choice import BUILDERS
from ansible_collections.hardware.enablement.plugins.module_utils._events.event_types import (
    MEANINGS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.taint_ownership import (
    CONTROLLER_TAINTS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.taint_ownership import (
    MEANINGS as TAINT_MEANINGS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._numa.numa_checks import CHECKS
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.advice import (
    OF_OTHER_STATES,
    REASONS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.catalog import KINDS
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.declaration import keys_of
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.standard import (
    STANDARD_OPTIONS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.state_roles import (
    ROLES,
    tag_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.pods.pod_requests import (
    SUFFIXES,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    PARTS,
    TEXTS,
    RmdSettings,
    in_groups,
)
from ansible_collections.hardware.enablement.plugins.module_utils._schema.shapes import Key, Record
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.reasons import WAIT
from docs.reference.metrics import METRICS
from tests.mutations.rules import load as load_rules
from tests.operator_fields import counterparts

REPO = Path(__file__).parents[2]
RULEBOOK = REPO / "extensions" / "eda" / "rulebooks" / "cluster_events.yml"
NUMA_OPERATOR_TESTS = REPO / "tests" / "integration" / "numa" / "operator_tests.yml"
ALERTS = REPO / "manifests" / "alerts.yaml"


def proofs() -> list[str]:
    """What each kind of proof holds for."""
    rows = [
        (f"`{kind.name}`", kind.holds_when, _repeated(kind.observed)) for kind in KINDS.values()
    ]
    return _table(("proof", "holds when", "looked at"), rows)


def proofs_by_node() -> list[str]:
    """Who decides a proof with readiness: nfd."""
    deciders = {True: "the node itself", False: "a run, in its table; it keeps back no gate"}
    rows = [(f"`{kind.name}`", deciders[kind.by_node]) for kind in KINDS.values()]
    return _table(("proof", "who decides it"), rows)


def settings() -> list[str]:
    """The settings of each kind of proof."""
    rows = []
    for kind in KINDS.values():
        keys = dict(_flat(keys_of(kind.settings)))
        rows += [
            (f"`{kind.name}`", f"`{name}`", _default(key), key.text) for name, key in keys.items()
        ]
        rows += [] if keys else [(f"`{kind.name}`", "none", "", "")]
    return _table(("proof", "setting", "default", "what it is"), rows)


def reasons() -> list[str]:
    """What each reason means and what to do; those that pass by themselves share a row."""
    own = {name: reason for name, reason in REASONS.items() if not reason.passing}
    passing = ", ".join(f"`{name}`" for name in sorted(REASONS.keys() - own.keys()))
    rows = [(f"`{name}`", own[name].meaning, own[name].todo) for name in sorted(own)]
    rows += [
        *(
            (f"`{name}.STATE`", reason.meaning, reason.todo)
            for name, reason in OF_OTHER_STATES.items()
        ),
        (passing, "something is under way", WAIT),
    ]
    return _table(("reason", "what it means", "what to do"), rows)


def events() -> list[str]:
    """When each type of event is told, and what the rulebook runs then."""
    (ruleset,) = yaml.safe_load(RULEBOOK.read_text(encoding="utf-8"))
    (source,) = ruleset["sources"]
    sent = source["hardware.enablement.cluster_events"]["events"]
    rows = []
    for name, meaning in MEANINGS.items():
        (rule,) = [rule for rule in ruleset["rules"] if f'"{name}"' in rule["condition"]]
        first, *_others = rule.get("actions") or [rule["action"]]
        playbook = first["run_playbook"]["name"]
        # That of upgrades is a variable with a default.
        ran = playbook.replace("'", ".").split("hardware.enablement.")[1].partition(".")[0]
        rows.append((f"`{name}`", meaning, f"`{ran}`" + ("" if name in sent else ", if asked for")))
    return _table(("event", "when", "the rulebook runs"), rows)


def numa_checks() -> list[str]:
    """What numa_validate looks at."""
    rows = [
        (
            f"`{each.id}`",
            each.severity,
            f"{each.text.component}, {each.text.setting}",
            each.text.meaning,
            each.text.remediation,
        )
        for each in CHECKS.values()
    ]
    return _table(("id", "severity", "what", "why it has to hold", "what to do"), rows)


def numa_operator_tests() -> list[str]:
    """What the NUMA Resources Operator tests itself, and what is tested of it here."""
    table = yaml.safe_load(NUMA_OPERATOR_TESTS.read_text(encoding="utf-8"))
    rows = [
        (
            file,
            row["id"],
            row["what"],
            _shown(row.get("shown") or ()),
            row.get("but") or row.get("none", ""),
        )
        for file, tests in table["tests"].items()
        for row in tests
    ]
    return _table(("file", "id", "what", "here", "what is not, and why"), rows)


def _shown(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def rmd_settings() -> list[str]:
    """What an RmdWorkload may ask for, and the annotations of a pod that say the same."""
    rows = [(f"`{name}`", "", _annotations(name), about) for name, about in TEXTS.items()]
    for group, parts in in_groups(PARTS).items():
        rows += [
            (f"`{group}.{name}`", _parameters(part), _annotations(f"{name}_"), part.about)
            for name, part in parts.items()
        ]
    return _table(("field", "what it has", "annotations of a pod", "what it is"), rows)


def _parameters(part: type[RmdSettings]) -> str:
    return ", ".join(
        f"`{name}`" + (f" ({' or '.join(each['choices'])})" if each["choices"] else "")
        for name, each in part.parameters().items()
    )


def _annotations(prefix: str) -> str:
    return ", ".join(f"`CONTAINER_{each}`" for each in SUFFIXES if each.startswith(prefix))


def controller_taints() -> list[str]:
    """Taints that controllers put on nodes and take off, and what a run makes of them."""
    rows = [
        (f"`{each}`", each.by, each.node.value, TAINT_MEANINGS[each.node])
        for each in CONTROLLER_TAINTS
    ]
    return _table(("taint", "put there and taken off by", "the node", "what a run does"), rows)


def builders() -> list[str]:
    """The builders that work in the cluster."""
    rows = [(f"`{each.name}`", each.how, each.needs) for each in BUILDERS.values()]
    return _table(("`hardware_enablement_builder`", "how", "needs"), rows)


def state_roles() -> list[str]:
    """The roles that a recipe gives its states to, and the tags that choose them."""
    rows = [(f"`{tag_of(name)}`", f"`{name}`", role.text) for name, role in ROLES.items()]
    return _table(("tag", "role", "what it does"), rows)


def standard_options() -> list[str]:
    """The options that every recipe has."""
    rows = []
    for option in STANDARD_OPTIONS.values():
        choices = ", ".join(f"`{choice}`" for choice in option.choices)
        text = f"{option.description} One of {choices}." if choices else option.description
        rows.append((f"`{option.name}`", f"`{option.default}`", text))
    return _table(("option", "default", "meaning"), rows)


def promises() -> list[str]:
    """What the unit tests are proven to hold, by what it is about."""
    return _table(("about", "promise"), [(rule.area, rule.promise) for rule in load_rules()])


def no_counterparts() -> list[str]:
    """Each field of NVIDIA's custom resources that is no option here, by the sentence why."""
    reasons: dict[str, list[str]] = {}
    counts = []
    for kind in (counterparts.POLICY, counterparts.DRIVER):
        parts: dict[str, list[str]] = {}
        unmapped = counterparts.without_counterpart(kind)
        counts.append(
            f"{len(unmapped)} of the {counterparts.count_of(kind)} of `{kind.rpartition('/')[2]}`"
        )
        for field, why in unmapped.items():
            named = _widest_part(counterparts.TABLES[kind][0], field, why)
            fields = parts.setdefault(why, [])
            fields += [named] if named not in fields else []
        for why, fields in parts.items():
            listed = ", ".join(f"`{field}`" for field in fields)
            reasons.setdefault(why, []).append(f"{kind.rpartition('/')[2]}: {listed}")
    rows = [("; ".join(fields), why) for why, fields in reasons.items()]
    return [f"They are {' and '.join(counts)}.", "", *_table(("fields", "why"), rows)]


def _widest_part(table: Mapping[str, object], field: str, why: str) -> str:
    """What the table has that reason for: the field, or a part that it is in."""
    parts = (path for path in table if f"{field}.".startswith(f"{path}."))
    return next((path for path in parts if getattr(table[path], "why", "") == why), field)


def record_metrics() -> list[str]:
    """What kube-state-metrics makes of the record."""
    rows = [
        (f"`{each.full_name}`", ", ".join(f"`{name}`" for name in each.label_names), each.text)
        for each in METRICS
    ]
    return _table(("metric", "labels", "what it is"), rows)


def alerts() -> list[str]:
    """The shipped alerts about the record: when each fires, and what to do then."""
    groups = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["spec"]["groups"]
    rows = [
        (f"`{rule['alert']}`", rule["labels"]["severity"], rule["annotations"]["description"])
        for group in groups
        for rule in group["rules"]
    ]
    return _table(("alert", "severity", "what it means, and what to do"), rows)


def _flat(keys: Mapping[str, Key], prefix: str = "") -> Iterable[tuple[str, Key]]:
    """Keys with those of records among them, as paths."""
    for name, key in keys.items():
        yield prefix + name, key
        if isinstance(key.shape, Record):
            yield from _flat(key.shape.keys, f"{prefix}{name}.")


def _default(key: Key) -> str:
    if key.required:
        return "required"
    return "" if key.default is None else f"`{_text(key.default)}`"


def _repeated(observed: bool) -> str:
    return "in every run" if observed else "once for each boot and change"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_line(head), "|" + "---|" * len(head), *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
