# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every variable that docs/admin documents is set by a test. Here are those that only carry a
value to a module: it arrives there, by the defaults of roles and the arguments of tasks."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.public_variables import (
    PREFIX,
    refuse_wrong,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.state_roles import (
    ROLES,
)
from docs.reference import variable_pages
from tests.unit.docs.task_arguments import Obj, arrivals

REPO = Path(__file__).resolve().parents[3]
# A variable that is set, in Python or YAML: NAME=, "NAME": or NAME:
SET = re.compile(r"(\w+)[\"']?\s*(?:=(?!=)|:)")
IMAGES = "state_driver_container/driver_container"
ELSEWHERE = "state_driver_container/image_build"

# A variable, a value that is not its default, and by playbook or role the arguments that it becomes.
PASSED_ON: dict[str, tuple[Any, dict[str, set[str]]]] = {
    "hardware_enablement_new_label": (
        "acme.example/card=true",
        {"playbooks/recipe_new.yml": {"recipe_new.label"}},
    ),
    "hardware_enablement_new_chart": (
        "/charts/acme",
        {"playbooks/recipe_new.yml": {"recipe_new.chart"}},
    ),
    "hardware_enablement_new_resource": (
        "acme.example/card",
        {"playbooks/recipe_new.yml": {"recipe_new.resource"}},
    ),
    "hardware_enablement_kernels": (
        ["6.8.0-71-generic"],
        {
            "playbooks/preflight.yml": {"preflight.kernels"},
            "playbooks/images.yml": {"preflight.kernels"},
        },
    ),
    "hardware_enablement_images_state": (
        "exported",
        {"playbooks/images.yml": {"image_copy.state"}},
    ),
    "hardware_enablement_image_layout": (
        "/media/disk/images",
        {"playbooks/images.yml": {"image_copy.layout"}},
    ),
    "hardware_enablement_image_mirror": (
        "mirror.example:5000/hw",
        {"playbooks/images.yml": {"image_copy.mirror"}},
    ),
    "hardware_enablement_image_archs": (
        ["arm64"],
        {"playbooks/images.yml": {"image_copy.archs"}},
    ),
    "hardware_enablement_releases": (
        ["registry.example/release:4.19.1"],
        {"playbooks/preflight.yml": {"preflight.releases"}},
    ),
    "hardware_enablement_build": (True, {"playbooks/preflight.yml": {"preflight.build"}}),
    "hardware_enablement_pull": (True, {"playbooks/preflight.yml": {"preflight.pull"}}),
    "hardware_enablement_stage": (True, {"playbooks/preflight.yml": {"preflight.stage"}}),
    "hardware_enablement_rights_role": (
        "viewer",
        {"playbooks/rights.yml": {"recipe_rights.role"}},
    ),
    "hardware_enablement_render_groups": (
        [
            {
                "kernel": "6.8.0-60-generic",
                "os_id": "ubuntu",
                "os_version": "24.04",
                "architecture": "arm64",
                "runtime": "cri-o://1.33.4",
                "labels": {"pool": "a100"},
            }
        ],
        {"playbooks/render.yml": {"recipe_render.groups"}},
    ),
    "hardware_enablement_render_apis": (
        ["monitoring.coreos.com/v1/ServiceMonitor"],
        {"playbooks/render.yml": {"recipe_render.apis"}},
    ),
    "hardware_enablement_support_most": (
        5,
        {"playbooks/support_bundle.yml": {"support_bundle.most"}},
    ),
    "hardware_enablement_support_seconds": (
        30,
        {"playbooks/support_bundle.yml": {"support_bundle.seconds"}},
    ),
    "hardware_enablement_support_lines": (
        20,
        {"playbooks/support_bundle.yml": {"support_bundle.lines"}},
    ),
    "hardware_enablement_wait": (
        False,
        {f"roles/{role}": {"state/state_apply.wait"} for role in ROLES}
        | {"roles/state_driver_container": {f"{IMAGES}.wait"}},
    ),
    "hardware_enablement_on_regress": (
        "withdraw",
        {
            "playbooks/enable.yml": {"enable/state_apply.on_regress"},
            "roles/validation": {"validation/state_validate.on_regress"},
        },
    ),
    "hardware_enablement_recreate": (
        True,
        {"playbooks/enable.yml": {"enable/state_apply.recreate", "state/state_apply.recreate"}},
    ),
    "hardware_enablement_registry_verify": (
        False,
        {
            "playbooks/enable.yml": {
                "preflight.registry_verify",
                f"{IMAGES}.registry_verify",
                f"{ELSEWHERE}.registry_verify",
            }
        },
    ),
    "hardware_enablement_registries": (
        [{"host": "registry.example", "ca": "PEM", "verify": True, "plain_http": False}],
        {
            "playbooks/enable.yml": {
                "preflight.registries",
                f"{IMAGES}.registries",
                f"{ELSEWHERE}.registries",
            }
        },
    ),
    "hardware_enablement_build_namespace": (
        "builds",
        {
            "playbooks/enable.yml": {"preflight.build_namespace", f"{IMAGES}.build_namespace"},
            "playbooks/preflight.yml": {
                f"{IMAGES}.build_namespace",
                "preflight.build_namespace",
            },
        },
    ),
    "hardware_enablement_build_apparmor": (
        "RuntimeDefault",
        {"playbooks/enable.yml": {"preflight.build_apparmor", f"{IMAGES}.build_apparmor"}},
    ),
    "hardware_enablement_build_seccomp": (
        "Localhost/buildah.json",
        {"playbooks/enable.yml": {"preflight.build_seccomp", f"{IMAGES}.build_seccomp"}},
    ),
    "hardware_enablement_build_capabilities": (
        ["SYS_ADMIN"],
        {"playbooks/enable.yml": {"preflight.build_capabilities", f"{IMAGES}.build_capabilities"}},
    ),
    "hardware_enablement_build_timeout": (
        60,
        {
            "playbooks/enable.yml": {
                "preflight.build_timeout",
                f"{IMAGES}.build_timeout",
                f"{ELSEWHERE}.timeout",
            }
        },
    ),
    "hardware_enablement_build_host": (
        "builder.example",
        {"playbooks/enable.yml": {f"{ELSEWHERE}.delegate_to"}},
    ),
    "hardware_enablement_build_auth_file": (
        "/etc/auth.json",
        {"playbooks/enable.yml": {f"{ELSEWHERE}.auth_file"}},
    ),
    "hardware_enablement_build_secrets_dir": (
        "/etc/secrets",
        {"playbooks/enable.yml": {f"{ELSEWHERE}.secrets_dir"}},
    ),
    "hardware_enablement_rmd_certificates": (
        "provided",
        {"playbooks/rmd.yml": {"rmd/rmd_certificates.source"}},
    ),
    "hardware_enablement_rmd_renew": (
        "authority",
        {"playbooks/rmd.yml": {"rmd/rmd_certificates.renew"}},
    ),
    "hardware_enablement_rmd_tls_server_name": (
        "rmd.example",
        {
            "playbooks/rmd.yml": {"rmd/rmd_info.tls_server_name"},
            "playbooks/rmd_remove.yml": {"rmd_release/rmd_release.tls_server_name"},
            "playbooks/rmd_workloads.yml": {"rmd_workloads/rmd_reconcile.tls_server_name"},
        },
    ),
    "hardware_enablement_rmd_extended_resource": (
        False,
        {"playbooks/rmd_workloads.yml": {"rmd_workloads/rmd_reconcile.extended_resource"}},
    ),
    "hardware_enablement_rmd_pods": (
        False,
        {"playbooks/rmd_workloads.yml": {"rmd_workloads/rmd_reconcile.pods"}},
    ),
    "hardware_enablement_rmd_require_ready": (
        False,
        {"playbooks/rmd_workloads.yml": {"rmd_workloads/rmd_reconcile.require_ready"}},
    ),
    "hardware_enablement_force": (
        True,
        {"playbooks/rmd_remove.yml": {"state_apply.force", "rmd_release/state_apply.force"}},
    ),
    "hardware_enablement_numa_exporter_labels": (
        {"app": "exporter"},
        {"playbooks/numa_validate.yml": {"numa_validate.exporter_labels"}},
    ),
    "hardware_enablement_numa_scheduler_namespace": (
        "schedulers",
        {"playbooks/numa_validate.yml": {"numa_validate.scheduler_namespace"}},
    ),
    "hardware_enablement_numa_scheduler_labels": (
        {"app": "scheduler"},
        {"playbooks/numa_validate.yml": {"numa_validate.scheduler_labels"}},
    ),
    "hardware_enablement_numa_kubelets": (
        False,
        {"playbooks/numa_validate.yml": {"numa_validate.kubelets"}},
    ),
    "hardware_enablement_numa_fail_on": (
        "warning",
        {"playbooks/numa_validate.yml": {"numa_validate.fail_on"}},
    ),
    "operator_import_file": (
        "/etc/policy.yml",
        {"playbooks/import_operator.yml": {"operator_import/operator_info.file"}},
    ),
    "operator_import_at_a_time": (
        3,
        {"playbooks/import_operator.yml": {"operator_import/operator_takeover.at_a_time"}},
    ),
    "import_kmm_file": (
        "/etc/module.yml",
        {"playbooks/import_kmm.yml": {"kmm_import.file"}},
    ),
    "import_kmm_resource": (
        "acme.example/card",
        {"playbooks/import_kmm.yml": {"kmm_import.resource"}},
    ),
}


@pytest.fixture(scope="module")
def arrived() -> dict[str, dict[str, Obj]]:
    """By variable and place, the arguments that it becomes, each with its value."""
    settings: dict[str, Obj] = defaultdict(dict)
    for variable, (value, places) in PASSED_ON.items():
        for place in places:
            settings[place][variable] = value
    found: dict[str, dict[str, Obj]] = defaultdict(dict)
    for place, variables in arrivals(settings).items():
        for variable, arguments in variables.items():
            found[variable][place] = arguments
    return found


@pytest.mark.parametrize("variable", PASSED_ON)
def test_a_variable_arrives_in_the_arguments_of_modules(
    arrived: dict[str, dict[str, Obj]], variable: str
) -> None:
    value, places = PASSED_ON[variable]
    if variable.startswith(PREFIX):
        refuse_wrong({variable: value})
    assert arrived[variable] == {
        place: dict.fromkeys(arguments, value) for place, arguments in places.items()
    }


def documented() -> set[str]:
    """The names in all tables of variables, but those of a rulebook and of roles that have tests of
    their own."""
    rows = (row for page in variable_pages.pages() for row in variable_pages.rows(page))
    names = {name for row in rows for name in row.names}
    return {name for name in names if not name.startswith(("eda_", "upgrade_", "remedy_"))}


def test_every_variable_is_set_by_its_name_in_a_test() -> None:
    folders = (REPO / "tests", REPO / "extensions" / "molecule")
    files = [file for folder in folders for file in folder.rglob("*.*")]
    texts = [file.read_text() for file in files if file.suffix in (".py", ".yml")]
    set_somewhere = {name for text in texts for name in SET.findall(text)}
    assert documented() >= {"hardware_enablement_recipe", "nfd_options", "import_kmm_namespace"}
    # A name that a test puts together is not found by who looks for it.
    assert documented() - set_somewhere == set()
