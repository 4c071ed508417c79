# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled templates are kept for the next run, in a folder of the user's own, as compiled modules are.

An unchanged run compiles some eighty templates, which is half of what it renders for: docs/decisions/0154."""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any

try:
    import jinja2
except ImportError:
    jinja2 = None  # type: ignore[assignment]

# Of what was compiled of texts that are no more nobody knows: where there is this much, all goes.
MOST_KEPT = 4000


class TemplateCache:
    """What was compiled of texts, found by all that it depends on; kept nowhere until `keep_in` says
    where."""

    def __init__(self) -> None:
        self._folder: Path | None = None

    def keep_in(self, folder: Path) -> None:
        """A folder that only this process' user can write to: what it holds is executed."""
        self._folder = folder

    def get(self, name: str, text: str, compiled: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """What `compiled` gives for a text of this name: code, and what else marshal knows."""
        if self._folder is None:
            return compiled()
        key = hashlib.sha256(f"{self._surroundings}{name}\0{text}".encode(errors="surrogatepass"))
        file = self._folder / key.hexdigest()
        # There is none, or what it holds was not written to its end.
        with suppress(OSError, EOFError, ValueError, TypeError):
            kept = marshal.loads(file.read_bytes())  # noqa: S302 - of the user's own folder
            if isinstance(kept, tuple):
                return kept
        made = compiled()
        if not sys.dont_write_bytecode:
            self._write(file, made)
        return made

    @cached_property
    def _surroundings(self) -> str:
        """All but its text that a compiled template depends on: Python, Jinja2, and our environment and
        filters, which it has computed constants with."""
        own = hashlib.sha256()
        for file in sorted(Path(__file__).parent.glob("*.py")):
            own.update(file.read_bytes())
        return f"{MAGIC_NUMBER.hex()} {jinja2.__version__} {own.hexdigest()}\0"

    @staticmethod
    def _write(file: Path, made: tuple[Any, ...]) -> None:
        """Whole or not at all, since the workers of a run read what others write. A full disk is no
        reason to fail."""
        with suppress(OSError):
            file.parent.mkdir(mode=0o700, exist_ok=True)
            others = list(file.parent.iterdir())
            if len(others) >= MOST_KEPT:
                for other in others:
                    other.unlink(missing_ok=True)
            begun = file.with_name(f"{file.name}.{os.getpid()}")
            begun.write_bytes(marshal.dumps(made))
            begun.replace(file)
