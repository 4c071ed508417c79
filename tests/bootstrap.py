# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a virtual environment: the one that everything here runs in, or one of its own for another
purpose.

Needs nothing but the standard library, so that any Python of a fresh machine can start it. The
environment is made from pinned packages and carries a stamp with the hash of all that went into it:
as long as the stamp fits, nothing is done and no network is touched. It also holds the collections
path, with kubernetes.core (taken out of a wheel, since that is reachable wherever Python packages
are) and with a link to this repository as hardware.enablement.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
REQUIREMENTS = REPO / "requirements"
COLLECTIONS_WHEEL = REQUIREMENTS / "collections.txt"
SLICE = "ansible_collections/kubernetes/"


@dataclass(frozen=True)
class Purpose:
    """What an environment has: oldest and newest Python (by the support matrix of its
    ansible-core), packages."""

    pythons: tuple[tuple[int, int], tuple[int, int]]
    files: tuple[str, ...]
    constraints: str = "constraints.txt"


DEFAULT = "development"
PURPOSES = {
    DEFAULT: Purpose(((3, 11), (3, 13)), ("ansible.txt", "run.txt", "test.txt", "lint.txt")),
    # It only runs the collection and its tests, so it gets no linters.
    "core-2.16": Purpose(((3, 10), (3, 12)), ("ansible-2.16.txt", "run.txt", "test.txt")),
    # galaxy-importer wants older versions of what others here need.
    "publish": Purpose(
        ((3, 11), (3, 13)), ("ansible.txt", "publish.txt"), "constraints-publish.txt"
    ),
    # drools_jpy wants an older xxhash than the tests.
    "rulebook": Purpose(
        ((3, 11), (3, 13)), ("ansible.txt", "run.txt", "rulebook.txt"), "constraints-rulebook.txt"
    ),
}


def main() -> int:
    """Make or check the environment; exit code 1 and one sentence if that cannot be done."""
    options = _options()
    purpose = PURPOSES[options.purpose]
    python = _fitting_python(options.purpose, purpose)
    venv = REPO / (".venv" if options.purpose == DEFAULT else f".venv-{options.purpose}")
    files = [REQUIREMENTS / name for name in purpose.files]
    constraints = REQUIREMENTS / purpose.constraints
    if options.renew_constraints:
        _renew_constraints(venv, python, files, constraints)
    # Gates that run at the same time share an environment: the first makes it. Held until this
    # process ends.
    fcntl.flock(os.open(REQUIREMENTS, os.O_RDONLY), fcntl.LOCK_EX)
    _bring_up_to_date(venv, python, files, constraints, options.cache)
    _link_repository(venv)
    return 0


def _bring_up_to_date(
    venv: Path, python: str, files: list[Path], constraints: Path, cache: Path
) -> None:
    """Make the environment if its stamp does not fit."""
    started = time.monotonic()
    stamp_file = venv / ".stamp"
    stamp = _stamp(venv, python, [*files, constraints, COLLECTIONS_WHEEL])
    if not (stamp_file.is_file() and stamp_file.read_text() == stamp):
        print(f"==> {venv.name}: installing the pinned packages (once, about a minute)", flush=True)
        _make(venv, python, files, constraints)
        _slice_kubernetes_core(venv, cache)
        stamp_file.write_text(stamp)
        print(f"    {venv.name} ready in {time.monotonic() - started:.0f} s", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    cache = os.environ.get("HE_CACHE") or "~/.cache/hardware-enablement"
    parser.add_argument("purpose", nargs="?", choices=sorted(PURPOSES), default=DEFAULT)
    parser.add_argument("--cache", type=Path, default=Path(cache).expanduser())
    parser.add_argument(
        "--renew-constraints",
        action="store_true",
        help="newest versions of what is not pinned itself",
    )
    return parser.parse_args()


def _fitting_python(name: str, purpose: Purpose) -> str:
    """Path of a Python that fits: the running one, else the newest that does on PATH."""
    oldest, newest = purpose.pythons
    candidates = [sys.executable]
    candidates += [f"python3.{minor}" for minor in range(newest[1], oldest[1] - 1, -1)]
    for candidate in candidates:
        found = _real_interpreter(candidate)
        if found and oldest <= found[1] <= newest:
            return found[0]
    raise SystemExit(
        f"The environment {name} needs Python 3.{oldest[1]} to 3.{newest[1]}, and none was found: "
        f"this is {sys.version.split()[0]}. Install one, or name it: make PYTHON=/path/to/python3 ..."
    )


def _real_interpreter(candidate: str) -> tuple[str, tuple[int, int]] | None:
    """Path and (major, minor) of an interpreter, or None if it does not start (a shim of a missing
    version does not).

    Asks for the base interpreter: an environment made from another environment would break with it.
    """
    code = (
        "import os, sys; base = os.path.realpath(getattr(sys, '_base_executable', sys.executable)); "
        "print(base, *sys.version_info[:2], sep='\\n')"
    )
    try:
        answer = subprocess.run(
            [candidate, "-I", "-c", code], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    path, major, minor = answer.split("\n")[:3]
    return path, (int(major), int(minor))


def _stamp(venv: Path, python: str, files: list[Path]) -> str:
    """Hash of all that the environment depends on; its place counts because scripts in it carry
    their path."""
    digest = hashlib.sha256(f"{venv}\n{python}\n".encode())
    for file in [*files, Path(__file__)]:
        digest.update(file.read_bytes())
    return digest.hexdigest() + "\n"


def _renew_constraints(venv: Path, python: str, files: list[Path], constraints: Path) -> None:
    """Write down what pip chooses without constraints, below the comment lines at the top of the
    file."""
    comments = [line for line in constraints.read_text().splitlines() if line.startswith("#")]
    constraints.write_text("\n".join(comments) + "\n")
    _make(venv, python, files, constraints)
    freeze = [str(venv / "bin" / "python"), "-m", "pip", "freeze"]
    frozen = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout.splitlines()
    # These differ between the supported versions of ansible-core, whose own requirement files name
    # them.
    frozen = [line for line in frozen if line.split("==")[0] not in ("ansible-core", "resolvelib")]
    constraints.write_text("\n".join([*comments, *frozen]) + "\n")


def _make(venv: Path, python: str, files: list[Path], constraints: Path) -> None:
    if venv.exists():
        shutil.rmtree(venv)
    try:
        subprocess.run([python, "-m", "venv", str(venv)], check=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(venv, ignore_errors=True)
        raise SystemExit(
            f"{python} cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv"
        ) from None
    requirements = [argument for file in files for argument in ("-r", str(file))]
    _pip(venv, "install", "--quiet", *requirements, "-c", str(constraints))


def _pip(venv: Path, *arguments: str) -> None:
    command = [str(venv / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", *arguments]
    try:
        subprocess.run(command, check=True)
    except subprocess.CalledProcessError as error:
        raise SystemExit(
            f"pip could not do its part (exit code {error.returncode}), see above: {arguments}"
        ) from None


def _slice_kubernetes_core(venv: Path, cache: Path) -> None:
    """Unpack kubernetes.core into the environment's collections path; the slice stays in the cache
    for other venvs."""
    key = hashlib.sha256(COLLECTIONS_WHEEL.read_bytes()).hexdigest()[:16]
    cached = cache / "collections" / f"kubernetes.core-{key}"
    if not cached.is_dir():
        work = cached.with_name(f"{cached.name}.{os.getpid()}")
        work.mkdir(parents=True)
        try:
            _pip(
                venv,
                "download",
                "--quiet",
                "--no-deps",
                "-r",
                str(COLLECTIONS_WHEEL),
                "-d",
                str(work),
            )
            _unpack(next(work.glob("*.whl")), work / "slice")
            if not cached.is_dir():  # another run of this script may have been quicker
                (work / "slice" / "ansible_collections" / "kubernetes").rename(cached)
        finally:
            shutil.rmtree(work)
    shutil.copytree(cached, venv / "collections" / "ansible_collections" / "kubernetes")


def _unpack(wheel: Path, target: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target, [name for name in archive.namelist() if name.startswith(SLICE)])


def _link_repository(venv: Path) -> None:
    link = venv / "collections" / "ansible_collections" / "hardware" / "enablement"
    if link.is_symlink() and link.resolve() == REPO:
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(REPO)


if __name__ == "__main__":
    sys.exit(main())
