# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kinds of proof declare is what they read and say."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from types import ModuleType

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._proofs import (
    kinds,
    taint_reasons,
    watching,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.catalog import KINDS
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.declaration import (
    Scope,
    keys_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils._schema.shapes import Key, Record
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts import pod_status
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.reasons import Reason

NAMES = sorted(KINDS)
PASS = "Outcome.PASS"


def module_of(name: str) -> ModuleType:
    return importlib.import_module(KINDS[name].evaluate.__module__)


def read_in(module: ModuleType) -> set[str]:
    """The attributes that a module reads of something."""
    tree = ast.parse(inspect.getsource(module))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def raised_in(module: ModuleType) -> set[str]:
    """The reasons of the verdicts that a module makes itself: those that it says by text, and, of
    verdicts that have not passed, by the name of a constant too."""
    calls = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Call)
    ]
    verdicts = [
        call.args for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Verdict"
    ]
    reasons = [(ast.unparse(args[0]), args[1]) for args in verdicts if len(args) > 1]
    said = {reason.value for _outcome, reason in reasons if isinstance(reason, ast.Constant)}
    constants = {name: value for name, value in vars(module).items() if isinstance(value, str)}
    named = {getattr(reason, "id", "") for outcome, reason in reasons if outcome != PASS}
    return said | {constants[name] for name in named & constants.keys()}


def names_of(keys: Mapping[str, Key]) -> set[str]:
    """The names of all settings, those of records among them too."""
    inner = [key.shape.keys for key in keys.values() if isinstance(key.shape, Record)]
    return set(keys).union(*map(names_of, inner))


def test_every_file_of_a_kind_is_in_the_catalog() -> None:
    files = {each.name for each in pkgutil.iter_modules(kinds.__path__)}
    assert files - set(KINDS) == set(), (
        "add the constants of these files of _proofs/kinds to KINDS in _proofs/catalog.py"
    )
    assert set(KINDS) - files == set(), (
        "rename the file in _proofs/kinds, or the name= in it: each kind has a file of its name"
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_is_read(name: str) -> None:
    assert names_of(keys_of(KINDS[name].settings)) - read_in(module_of(name)) == set()


@pytest.mark.parametrize("name", NAMES)
def test_every_reason_is_declared_and_every_declared_one_is_raised(name: str) -> None:
    raised, declared = raised_in(module_of(name)), set(KINDS[name].reasons)
    shared = {**pod_status.POD_REASONS, **watching.FIND_REASONS, **taint_reasons.TAINT_REASONS}
    assert raised - declared == set()
    assert declared - raised - set(shared) == set()


def test_what_pods_and_look_ups_say_is_declared() -> None:
    said = raised_in(pod_status) | pod_status.TERMINAL_REASONS
    assert said <= pod_status.POD_REASONS.keys()
    assert raised_in(watching) == watching.FIND_REASONS.keys()


def test_a_reason_means_the_same_wherever_it_is_raised() -> None:
    found: dict[str, Reason] = {}
    for kind in KINDS.values():
        for name, reason in kind.reasons.items():
            assert found.setdefault(name, reason) == reason, name


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_has_a_text(name: str) -> None:
    assert all(key.text for key in KINDS[name].shape.keys.values())


@pytest.mark.parametrize(
    ("proof", "scope"),
    [
        (Proof("rollout"), Scope.STATE),
        (Proof("logs", {"match": "x"}), Scope.NODE),
        (
            Proof("logs", {"match": "x", "api_version": "v1", "kind": "Pod", "name": "p"}),
            Scope.CLUSTER,
        ),
        (Proof("resource", {"api_version": "v1", "kind": "ConfigMap", "name": "c"}), Scope.CLUSTER),
        (
            Proof(
                "resource", {"api_version": "v1", "kind": "ConfigMap", "name": "c", "scope": "node"}
            ),
            Scope.NODE,
        ),
        (
            Proof(
                "resource",
                {"api_version": "v1", "kind": "ConfigMap", "name": "{{ node }}"},
                render=lambda _g, _n: {},
            ),
            Scope.NODE,
        ),
    ],
)
def test_scope(proof: Proof, scope: Scope) -> None:
    assert KINDS[proof.kind].scope_of(proof) is scope
