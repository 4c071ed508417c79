# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs as their projects released them, for which a SHA-256 sum in tools/SHA256SUMS vouches.

An address is a host and a path, without the scheme: what SHA256SUMS lists, and the layout of a
mirror below its base.
"""

from __future__ import annotations

import hashlib
import os
import platform
import queue
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import requests

from tests.cluster.errors import ClusterError
from tests.cluster.paths import replacing

# Beside the modules whose versions it is about.
SUMS = "SHA256SUMS"
MIRROR = "HE_MIRROR"
# The value of HE_MIRROR that downloads nothing.
NONE = "none"

# Seconds from the question to the headers: name look-up, all addresses, TLS and redirects included.
_ANSWER_WITHIN = 5.0
# Seconds without a byte until a transfer counts as broken.
_SILENCE = 30.0
_ATTEMPTS = 2
_CHUNK = 256 * 1024
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_MEGABYTE = 1_000_000


class NotDownloadedError(Exception):
    """The program has to be built instead; the message says why, in a few words."""


def this_platform() -> dict[str, str]:
    """{"system": "linux", "arch": "amd64"} as releases name this machine."""
    machine = platform.machine()
    return {"system": platform.system().lower(), "arch": _ARCHITECTURES.get(machine, machine)}


def read_sums(file: Path) -> dict[str, str]:
    """Address -> SHA-256 sum, of a file as `sha256sum --check` reads it."""
    lines = [
        line.split() for line in file.read_text().splitlines() if line and not line.startswith("#")
    ]
    return {address: digest for digest, address in lines}


class Releases:
    """Downloads for one call: a host that does not answer is asked once and not for each program."""

    def __init__(self, say: Callable[[str], None], sums: Mapping[str, str]) -> None:
        """ClusterError if HE_MIRROR is neither a base address nor `none`."""
        self._say = say
        self._sums = sums
        self._base = os.environ.get(MIRROR, "").rstrip("/")
        if self._base not in ("", NONE) and not self._base.startswith(("https://", "http://")):
            raise ClusterError(
                f"{MIRROR} is {self._base!r}: give the base address of a mirror (https://...), or {NONE} to build all."
            )
        self._session = requests.Session()
        self._silent: dict[str, str] = {}  # host -> why nothing more is asked of it

    def download(self, address: str, target: Path, title: str) -> None:
        """Write the program of that address to `target`, whole and verified or not at all.

        NotDownloadedError if it cannot be had. ClusterError if what came has another sum, or cannot
        be stored.
        """
        if self._base == NONE:
            raise NotDownloadedError(f"{MIRROR} is {NONE}")
        expected = self._sums.get(address)
        if expected is None:
            raise NotDownloadedError("no checksum of its release is known here")
        url = f"{self._base or 'https:/'}/{address}"
        try:
            with replacing(target) as partial:
                found = self._fetch(url, partial, title)
                if found != expected:
                    raise ClusterError(
                        f"REFUSED: what {_host(url)} sent for {address} has the SHA-256 sum {found} instead of "
                        f"{expected}: it is broken, or somebody tampers with it. Nothing of it was kept. "
                        f"Set {MIRROR} to a mirror that you trust, or to {NONE} to build all from source."
                    )
                partial.chmod(0o755)
        except OSError as error:
            raise ClusterError(
                f"{title} cannot be written to {target} ({error.strerror}): make room, or set HE_CACHE elsewhere."
            ) from None

    def _fetch(self, url: str, partial: Path, title: str) -> str:
        """Download to a file and return its SHA-256 sum; a transfer that breaks off is tried once
        more."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._ask(url) as answer, partial.open("wb") as file:
                    digest = hashlib.sha256()
                    progress = _Progress(self._say, title, url, answer.raw.length_remaining or 0)
                    for chunk in answer.iter_content(_CHUNK):
                        file.write(chunk)
                        digest.update(chunk)
                        progress.add(len(chunk))
                    return digest.hexdigest()
            except requests.RequestException:
                self._say(
                    f"{title}: the transfer broke off"
                    + (", once more" if attempt < _ATTEMPTS else "")
                )
        raise NotDownloadedError("its transfer broke off each time")

    def _ask(self, url: str) -> requests.Response:
        """The answer as far as its headers."""
        host = _host(url)
        if host not in self._silent:
            answer = self._answer(url)
            if isinstance(answer, requests.Response):
                if answer.status_code == requests.codes.ok:
                    return answer
                raise NotDownloadedError(f"{host} answers {answer.status_code} for it")
            self._silent[host] = f"{host} {answer}"
        raise NotDownloadedError(self._silent[host])

    def _answer(self, url: str) -> requests.Response | str:
        """An answer in time, else what is wrong with the host.

        In a thread, since no setting of a client covers name servers that are silent and hosts with
        many addresses.
        """
        answers: queue.Queue[requests.Response | str] = queue.Queue()

        def ask() -> None:
            headers = {"Accept-Encoding": "identity"}
            try:
                answers.put(
                    self._session.get(
                        url, stream=True, timeout=(_ANSWER_WITHIN, _SILENCE), headers=headers
                    )
                )
            except requests.exceptions.SSLError:
                answers.put("has a certificate that is not trusted")
            except requests.RequestException:
                answers.put("cannot be reached")

        threading.Thread(target=ask, daemon=True).start()
        try:
            return answers.get(timeout=_ANSWER_WITHIN)
        except queue.Empty:
            return f"does not answer within {_ANSWER_WITHIN:.0f} s"


class _Progress:
    """A line at the start of a transfer and at each quarter of it, where its size (bytes) is known."""

    def __init__(self, say: Callable[[str], None], title: str, url: str, size: int) -> None:
        self._say, self._title, self._size = say, title, size
        self._received, self._quarter = 0, 0
        length = f" ({size / _MEGABYTE:.0f} MB)" if size else ""
        say(f"downloading {title} from {_host(url)}{length} ...")

    def add(self, count: int) -> None:
        self._received += count
        quarter = self._received * 4 // self._size if self._size else 0
        if self._quarter < quarter < 4:
            self._say(f"  {self._title}: {quarter * 25} %")
        self._quarter = quarter


def _host(url: str) -> str:
    """The host and port of an address, without the name and password that may stand before them."""
    return urlsplit(url).netloc.rpartition("@")[2]
