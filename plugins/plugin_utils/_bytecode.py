# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Python has compiled of this collection is kept for the next run. Ansible's own loader compiles
it at each start, which is a tenth of an unchanged run.

Not beside the sources, where `ansible-galaxy collection verify` takes it for a change of the
collection, but in a folder of the user's own: docs/decisions/0112."""

from __future__ import annotations

import os
import py_compile
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import cache_from_source, spec_from_file_location
from pathlib import Path
from types import CodeType

from ansible import constants as C  # noqa: N812 - as everywhere in Ansible
from ansible.utils.collection_loader import AnsibleCollectionConfig

PLUGINS = __name__.rpartition(".plugin_utils.")[0]
PACKAGES = (f"{PLUGINS}.module_utils.", f"{PLUGINS}.plugin_utils.")


def keep() -> None:
    """From now on, import the collection's modules by what is kept of them; once more changes
    nothing. Neither does it where the folder is not the user's alone."""
    if any(isinstance(each, _Finder) for each in sys.meta_path):
        return
    finder = AnsibleCollectionConfig.collection_finder
    if finder in sys.meta_path and (folder := own_folder("bytecode")):
        # Right before Ansible's own, and behind whatever else stands before that.
        sys.meta_path.insert(sys.meta_path.index(finder), _Finder(str(folder)))


def own_folder(name: str) -> Path | None:
    """A folder below ANSIBLE_HOME for what a run keeps for the next; None where it is not the user's
    alone."""
    home = Path(str(C.config.get_config_value("ANSIBLE_HOME"))).expanduser()
    folder = home / "hardware.enablement" / name
    return folder if is_private(folder) else None


def is_private(folder: Path) -> bool:
    """Whether only this process' user can write to a folder, which is made if it is missing."""
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        others_write = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not others_write
    return False


class _Finder:
    """Finds the collection's modules; its packages, which are folders, are left to Ansible."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: object = None
    ) -> ModuleSpec | None:
        """As importlib.abc.MetaPathFinder says."""
        if not path or not name.startswith(PACKAGES):
            return None
        source = Path(path[0], f"{name.rpartition('.')[2]}.py")
        if not source.is_file():
            return None
        loader = _Loader(name, str(source), self._folder)
        return spec_from_file_location(name, source, loader=loader)


class _Loader(SourceFileLoader):
    """Python's own, with another place for the bytecode, which is valid for the very content of the
    source: files of an image may all have one time."""

    def __init__(self, name: str, source: str, folder: str) -> None:
        super().__init__(name, source)
        self._folder = folder

    def get_code(self, fullname: str) -> CodeType | None:
        """The compiled module."""
        with _prefix(self._folder):
            kept = cache_from_source(self.path)
            if not sys.dont_write_bytecode and not Path(kept).exists():
                # A full disk, or a source that does not compile, of which the next line tells.
                with suppress(OSError, py_compile.PyCompileError):
                    py_compile.compile(
                        self.path,
                        kept,
                        doraise=True,
                        invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH,
                    )
            return super().get_code(fullname)


@contextmanager
def _prefix(folder: str) -> Iterator[None]:
    before, sys.pycache_prefix = sys.pycache_prefix, folder
    try:
        yield
    finally:
        sys.pycache_prefix = before
