# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the daemons say, word for word, and what it means; the status code decides nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon import (
    classify as module,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.classify import (
    classify,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_machine import (
    Dialect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.rmd_errors import ADVICE

BEFORE = "Failed to validate workload. Reason: "
IN_DATABASE = f"{BEFORE}Workload validation in database failed. Details: "
TEXTS = [
    (500, "Failed to read request correctly. Please check request syntax and data", "bad_request"),
    (400, f"{BEFORE}No task or core id specified", "no_cores"),
    (400, f"{BEFORE}The task: 77 does not exist", "task_missing"),
    (400, f"{BEFORE}Need to provide both cache.* or none of them", "bad_range"),
    (400, f"{BEFORE}No RDT/Plugins params in workload", "no_parameters"),
    (400, f"{BEFORE}No Cache neither PState params in workload", "no_parameters"),
    (400, f"{IN_DATABASE}UUID u already exists in workload 1", "conflict_uuid"),
    (400, f"{IN_DATABASE}CPU list [2] has been assigned", "conflict_core"),
    (400, f"{IN_DATABASE}Workload with id 1 already exists", "conflict_id"),
    (500, "Workload with id 1 already exists", "conflict_id"),
    (400, f"{IN_DATABASE}TaskID 7 already exists in workload 1", "conflict_id"),
    (400, f"{BEFORE}Could not find the Policy. Can not find specified policy p", "policy_unknown"),
    (400, f"{BEFORE}Trying to use module that is not loaded", "plugin_missing"),
    (400, f"{BEFORE}P-State configuration given while plugin not enabled", "plugin_missing"),
    (400, f"{BEFORE}Invalid params received", "plugin_refused"),
    (400, f"{BEFORE}Invalid params (core ids) received", "unknown_core"),
    (400, f"{BEFORE}Need to provide both cache and mba for better performance", "mba_unsupported"),
    (
        400,
        f"{BEFORE}MBA only supported for Guaranteed Request and not for BestEffort and Shared",
        "mba_unsupported",
    ),
    (400, f"{BEFORE}This machine supports only cache and not MBA", "mba_unsupported"),
    (500, "MBA forbidden for shared group", "mba_unsupported"),
    (400, f"{BEFORE}MBA values in should range from 1 to 100", "mba_range"),
    (400, f"{BEFORE}Please provide MBA in Percentage", "mba_mode"),
    (400, f"{BEFORE}Please provide MBA in Mbps", "mba_mode"),
    (500, "Min cache value cannot be greater than max cache value", "bad_range"),
    (
        500,
        "Bad cache ways request. Details: max_cache=2, min_cache=0, doesn't support",
        "bad_range",
    ),
    (500, "Not enough cache left on cache_id 0", "no_cache"),
    (500, "No free CLOS available", "no_clos"),
    (
        500,
        "Details: write /sys/fs/resctrl/8-guarantee/cpus: invalid argument",
        "kernel_refused",
    ),
    (400, "Client sent an HTTP request to an HTTPS server.", "needs_tls"),
    (500, "Plugin 'pstate' is not loaded", "plugin_missing"),
    (404, "404: Could not found workload", "not_found"),
    (404, "", "not_found"),
    (400, "Malformed credentials", "auth"),
    (401, "Authentication failure", "auth"),
    (403, "", "auth"),
    (415, "", "bad_request"),
    (405, "405: Method Not Allowed", "bad_request"),
    (200, "200: You only have permission to delete REST origin workloads", "foreign_origin"),
    (400, f"{IN_DATABASE}CPU list 4 has been assigned", "conflict_core"),
    (200, "200: You only have permission to modify REST origin workloads", "foreign_origin"),
    (400, f"{BEFORE}Need to provide both *_cache or none of them", "bad_range"),
    (400, f"{BEFORE}Invalid P-State Branch Ratio given", "plugin_refused"),
    (400, f"{BEFORE}Error while getting Ratio from P-State policy. <nil>", "policy_incomplete"),
    (500, "No free CLOS left to create shared group", "no_clos"),
    (
        500,
        "Error to commit resource group for workload.. Details: mkdir COS9: no space left on device",
        "no_clos",
    ),
    (500, "Unknown AppError type!", "broken_setup"),
    (500, "something new", "unknown"),
    (502, "<html>a proxy</html>", "unknown"),
]


@pytest.mark.parametrize(("status", "text", "kind"), TEXTS)
def test_what_it_means(status: int, text: str, kind: str) -> None:
    found = classify(status, f"{text}\n")
    assert found.kind == kind
    assert text in found.why
    assert found.todo == ADVICE[kind]


def test_every_pattern_has_a_text() -> None:
    reached = {
        pattern
        for _status, text, _kind in TEXTS
        for pattern in [
            next((words for _kind, words in module._WORDS if module.re.search(words, text)), "")
        ]
    }
    assert {words for _kind, words in module._WORDS} - reached == {
        r"Errors while try to shrink cache ways"
    }


def test_the_status_decides_nothing_where_there_is_a_text() -> None:
    assert classify(404, "No free CLOS available").kind == "no_clos"


def test_the_mask_of_the_older_dialect_is_told_as_cores() -> None:
    text = f"{IN_DATABASE}CPU list [4] has been assigned"
    assert classify(400, text, Dialect.V02).why.endswith(", which is core 2")
    assert classify(400, "CPU list 4 has been assigned", Dialect.V02).why.endswith(
        ", which is core 2"
    )
    assert "which is" not in classify(400, text, Dialect.V03).why
    assert classify(400, "CPU list [1,00000003] has been assigned", Dialect.V02).why.endswith(
        "core 0-1,32"
    )


def test_a_long_text_is_cut() -> None:
    assert len(classify(500, "x" * 5000).why) < 400


def test_without_a_text() -> None:
    assert classify(500, "").why == "RMD answers 500 without a word"


# Kinds that no refusal has: of our own rules and of connections, each with a test of its own.
OTHERS = {
    "no_effect": "tests/integration/rmd/test_workload_faults.py",
    "not_enforced": "tests/integration/rmd/test_workload_faults.py",
    "not_restored": "tests/integration/rmd/test_workload_rollback.py",
    "no_daemon": "tests/integration/rmd/test_workload_access.py",
    "no_such_node": "tests/integration/rmd/test_workload_access.py",
    "locked": "tests/integration/rmd/test_workload_killed.py",
    "rmd_alone": "tests/unit/rmd/test_rules.py",
    "os_core": "tests/unit/rmd/test_checks.py",
    "not_in_force": "tests/unit/rmd/test_execute.py",
    "unverified": "tests/integration/rmd/test_workload_verified.py",
    "api": "tests/integration/rmd/test_workload_access.py",
    "no_client_certificate": "tests/unit/rmd/test_client.py",
    "not_trusted": "tests/unit/rmd/test_client.py",
    "expired": "tests/unit/rmd/test_client.py",
    "no_tls": "tests/unit/rmd/test_client.py",
    "transport": "tests/unit/rmd/test_client.py",
    "server_panic": "tests/unit/rmd/test_client.py",
}


def test_every_kind_has_a_test() -> None:
    told = {kind for _status, _text, kind in TEXTS}
    assert told & OTHERS.keys() == set()
    assert told | OTHERS.keys() == ADVICE.keys()
    repository = Path(__file__).parents[3]
    for kind, file in OTHERS.items():
        assert f'"{kind}"' in (repository / file).read_text()
