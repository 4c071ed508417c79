# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where this machine gets Debian packages from, and a minimal Debian from there."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.errors import ClusterError, last_words

_FORMAT = "$(ORIGIN)|$(LABEL)|$(CODENAME)|$(RELEASE)|$(REPO_URI)|$(COMPONENT)"
# Not needed in any container: documentation and translations.
_SMALL = (
    "\n".join(
        f"path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "info", "locale", "lintian")
    )
    + "\n"
)


@dataclass(frozen=True)
class Source:
    """One line of a sources.list."""

    uri: str
    suite: str
    component: str

    def __str__(self) -> str:
        return f"deb {self.uri} {self.suite} {self.component}"


@dataclass(frozen=True)
class Debian:
    """The machine's own Debian release: its code name, its main mirror and all its package sources."""

    codename: str
    mirror: str
    sources: tuple[Source, ...]

    @property
    def sources_list(self) -> str:
        """The text of /etc/apt/sources.list."""
        return "\n".join(map(str, self.sources)) + "\n"


def find_debian() -> Debian:
    """What apt on this machine uses; ClusterError on machines without apt or with packages of
    somebody else only."""
    release = platform.freedesktop_os_release()
    codename = release.get("VERSION_CODENAME", "")
    if release.get("ID") != "debian" or not shutil.which("apt-get"):
        raise ClusterError(
            "Images for real nodes are made from Debian packages of this machine's own sources, but this is "
            f"{release.get('PRETTY_NAME', 'no Debian')}: run it on Debian 12 or newer."
        )
    listed = _run(
        ["apt-get", "indextargets", "--format", _FORMAT, "Created-By: Packages"],
        "list the package sources",
    )
    return parse_sources(codename, listed)


def parse_sources(codename: str, listed: str) -> Debian:
    """The Debian of `apt-get indextargets` lines; ClusterError if its main archive is not among
    them."""
    sources: list[Source] = []
    mirror = ""
    for line in listed.splitlines():
        origin, label, name, release, uri, component = (line.split("|") + [""] * 6)[:6]
        # Code names are bookworm, bookworm-updates, bookworm-security, ...; only `main` is needed.
        if (
            origin != "Debian"
            or component != "main"
            or name.partition("-")[0] != codename
            or "backports" in name
        ):
            continue
        if label == "Debian" and name == codename:
            mirror = mirror or uri
        source = Source(uri, release, component)
        if source not in sources:
            sources.append(source)
    if not mirror:
        raise ClusterError(
            f"apt on this machine knows no packages of Debian {codename}, which images are made from: "
            "check /etc/apt/sources.list* and run `apt-get update`."
        )
    return Debian(codename, mirror, tuple(sources))


def debootstrap(debian: Debian, target: Path, tools: Path) -> None:
    """Unpack a minimal Debian into `target`. The program is the machine's, else one unpacked into
    `tools`."""
    program, environment = _find_debootstrap(tools)
    command = [
        program,
        "--variant=minbase",
        "--include=ca-certificates",
        debian.codename,
        str(target),
        debian.mirror,
    ]
    # It mounts /proc in there: in namespaces of its own that cannot outlive it.
    _run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--", *command],
        "make a Debian",
        environment,
    )
    for name in ("doc", "man", "info", "locale", "lintian"):
        shutil.rmtree(target / "usr/share" / name, ignore_errors=True)
    for name in ("var/lib/apt/lists", "var/cache/apt", "var/log"):
        shutil.rmtree(target / name)
        (target / name).mkdir()
    (target / "etc/dpkg/dpkg.cfg.d/small").write_text(_SMALL)
    # Whose they are is this machine's business; while packages are installed, its own are shown
    # there.
    for name in ("etc/resolv.conf", "etc/apt/sources.list", "etc/hostname", "etc/machine-id"):
        (target / name).unlink(missing_ok=True)
        (target / name).touch()


def _find_debootstrap(tools: Path) -> tuple[str, dict[str, str]]:
    if found := shutil.which("debootstrap"):
        return found, {}
    program = tools / "usr/sbin/debootstrap"
    if not program.exists():
        tools.mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "download", "-qq", "debootstrap"], "download debootstrap", directory=tools)
        package = next(tools.glob("debootstrap_*.deb"))
        _run(["dpkg", "-x", str(package), str(tools)], "unpack debootstrap")
        package.unlink()
    return str(program), {"DEBOOTSTRAP_DIR": str(tools / "usr/share/debootstrap")}


def _run(
    command: list[str],
    purpose: str,
    environment: dict[str, str] | None = None,
    directory: Path | None = None,
) -> str:
    result = subprocess.run(
        command,
        env={**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})},
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        last = last_words(result.stderr, result.stdout)
        raise ClusterError(
            f"Could not {purpose}: {last}; is the mirror reachable, and was `apt-get update` run?"
        )
    return result.stdout
