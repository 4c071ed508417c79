# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon as one file that any Python 3.11 runs, and as an image for real nodes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.rmd.access import ROLES, RULES

_HERE = Path(__file__).resolve().parent
# What needs more than the standard library is for the tests' side.
_LEFT_OUT = {"certificates.py", "image.py", "on_cluster.py"}
_MAIN = "import sys\nfrom tests.rmd.command import rmd\nsys.exit(rmd())\n"
# As the daemon's package brings it: /etc/rmd/acl/url.
MODEL = """[request_definition]
r = sub, obj, act

[policy_definition]
p = sub, obj, act

[role_definition]
g = _, _

[policy_effect]
e = some(where (p.eft == allow))

[matchers]
m = g(r.sub, p.sub) && keyMatch(r.obj, p.obj) && regexMatch(r.act, p.act)
"""
POLICY = """[skylake.gold.cache]
max = 4
min = 4
[skylake.silver.cache]
max = 3
min = 1
[skylake.bronze.cache]
max = 0
min = 0
"""


def pack(file: Path) -> None:
    """Write an executable file that is the program `rmd`."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__main__.py", _MAIN)
        archive.writestr("tests/__init__.py", "")
        for source in sorted(_HERE.glob("*.py")):
            if source.name not in _LEFT_OUT:
                archive.write(source, f"tests/rmd/{source.name}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"#!/usr/bin/env python3\n" + content.getvalue())
    file.chmod(0o755)


def write_access_list(folder: Path) -> None:
    """The files of the access list, FOLDER/url/model.conf and policy.csv, without which the daemon
    does not start."""
    place = folder / "url"
    place.mkdir(parents=True, exist_ok=True)
    (place / "model.conf").write_text(MODEL)
    lines = [", ".join(("p", *rule)) for rule in RULES] + [
        ", ".join(("g", *role)) for role in ROLES[:-1]
    ]
    (place / "policy.csv").write_text("\n".join(lines) + "\n")


def fill_root(root: Path, simulation: Mapping[str, Any]) -> None:
    """All files of an image: /usr/bin/rmd, /etc/rmd/acl, /etc/rmd/policy.toml,
    /etc/rmd-simulation.json."""
    pack(root / "usr/bin/rmd")
    write_access_list(root / "etc/rmd/acl")
    (root / "etc/rmd/policy.toml").write_text(POLICY)
    (root / "etc/rmd-simulation.json").write_text(json.dumps(simulation, indent=1))
    (root / "run/rmd").mkdir(parents=True, exist_ok=True)  # /var/run is a link there
