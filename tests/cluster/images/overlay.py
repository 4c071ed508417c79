# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of ours as a layer of an image: Python modules, how they are started, and Go programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.cluster.images.golang import build_program
from tests.cluster.images.recipes import Overlay
from tests.cluster.paths import REPO

# Where the modules are in the image, under the names that they have here.
_MODULES = "opt/stand-ins"
_SCRIPT = """\
#!/usr/bin/python3
import sys

sys.path.insert(0, "/{modules}")
from {module} import main

sys.exit(main())
"""


def sources(overlay: Overlay) -> dict[str, object]:
    """All that goes into the layer, for a hash."""
    return {
        "files": {file.name: file.read_text() for file in _files(overlay)},
        "started": [_SCRIPT, dict(overlay.scripts), dict(overlay.alone), dict(overlay.programs)],
        "images": {name: list(run) for name, run in overlay.names.items()},
    }


def write_programs(overlay: Overlay, root: Path, say: Callable[[str], None]) -> None:
    """Write the layer's root file system."""
    package = overlay.package.relative_to(REPO)
    for file in _files(overlay):
        if file.suffix == ".py":
            _write(root / _MODULES / package / file.name, file.read_text(), 0o644)
    for name, module in overlay.scripts.items():
        dotted = ".".join([*package.parts, module])
        _write(
            root / "usr/local/bin" / name, _SCRIPT.format(modules=_MODULES, module=dotted), 0o755
        )
    for path, module in overlay.alone.items():
        text = (overlay.package / f"{module}.py").read_text()
        _write(root / path.lstrip("/"), f"#!/usr/bin/python3\n{text}", 0o755)
    for name, source in overlay.programs.items():
        build_program(overlay.package / source, root / "usr/local/bin" / name, say)


def _files(overlay: Overlay) -> list[Path]:
    return sorted([*overlay.package.glob("*.py"), *overlay.package.glob("*.go")])


def _write(file: Path, text: str, mode: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
