# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write what is made from the code, or with --check say what is out of date: tables of docs, the
recipes' JSON Schema, published CRDs, and the state roles.

Usage: make reference"""

import argparse
import json
import sys
from pathlib import Path

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.schema import (
    json_schema,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.state_roles import (
    STATE_ROLES,
)
from docs.reference import (
    blocks,
    manifests,
    record_recipe,
    state_roles,
    tables,
    variable_pages,
)

DOCS = Path(__file__).resolve().parents[1]
ROLES = DOCS.parent / "roles"
SCHEMA = DOCS / "recipes" / "recipe.schema.json"
MAKERS = {
    "alerts": tables.alerts,
    "builders": tables.builders,
    "controller-taints": tables.controller_taints,
    "events": tables.events,
    "no-counterparts": tables.no_counterparts,
    "numa-checks": tables.numa_checks,
    "numa-operator-tests": tables.numa_operator_tests,
    "promises": tables.promises,
    "proofs": tables.proofs,
    "proofs-by-node": tables.proofs_by_node,
    "proof-settings": tables.settings,
    "reasons": tables.reasons,
    "record-metrics": tables.record_metrics,
    "rmd-settings": tables.rmd_settings,
    "standard-options": tables.standard_options,
    "state-roles": tables.state_roles,
    "variables": variable_pages.index,
}


def wanted() -> dict[Path, str]:
    """Every file that holds something generated, as it should be."""
    files = {SCHEMA: json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"}
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if blocks.names_in(text):
            files[page] = blocks.filled(text, MAKERS)
    for name in manifests.MADE:
        manifest = DOCS.parent / "manifests" / name
        files[manifest] = manifests.filled(manifest.read_text(encoding="utf-8"), name)
    files |= record_recipe.files(files[DOCS.parent / "manifests" / "kube-state-metrics.yaml"])
    for name, role in STATE_ROLES.items():
        files |= {ROLES / name / path: text for path, text in state_roles.files(name, role).items()}
    return files


def main() -> int:
    """Exit code 1 if --check finds a difference."""
    parser = argparse.ArgumentParser(prog="python -m docs.reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    code = 0
    for file, text in wanted().items():
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        name = file.relative_to(DOCS.parent)
        if check:
            sys.stderr.write(f"{name} is out of date: run make reference\n")
            code = 1
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {name}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
