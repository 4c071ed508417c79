# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts of a Helm repository: a web server with an index."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from .._charts.chart_archive import chart_files, choose_version
from .._errors import InvalidInput
from .._recipes.loading.recipe_archive import MOST_BYTES
from .._recipes.templates.documents import parse

INDEX = "index.yaml"


@dataclass(frozen=True)
class ChartRepository:
    """source: its address. entries: chart -> version -> what the index says of it. version: the one
    that is wanted, "" for the newest."""

    source: str
    entries: Mapping[str, Mapping[str, Mapping[str, Any]]]
    version: str
    fetch: Callable[[str, int], bytes]

    @classmethod
    def at(cls, place: str, fetch: Callable[[str, int], bytes]) -> ChartRepository:
        """The repository at an address, which may end with #VERSION. fetch: reads a file, at most so
        many bytes. Raises EnablementError."""
        source, _hash, version = place.partition("#")
        url = urljoin(f"{source.rstrip('/')}/", INDEX)
        documents = parse(fetch(url, MOST_BYTES).decode(errors="replace"), url)
        index = documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else {}
        listed = index.get("entries")
        if not isinstance(listed, dict):
            raise InvalidInput(
                f"there are no charts at {source}",
                why=f"{INDEX} has no entries",
                todo="name the address of a Helm repository",
            )
        entries = {
            name: {
                str(each["version"]): each
                for each in versions or ()
                if isinstance(each, dict) and each.get("version") and each.get("urls")
            }
            for name, versions in listed.items()
        }
        return cls(source, entries, version, fetch)

    def __str__(self) -> str:
        return self.source

    def names(self) -> list[str]:
        """The charts that it has."""
        return sorted(name for name, versions in self.entries.items() if versions)

    def holds(self, name: str) -> bool:
        """Whether it has such a chart."""
        return bool(self.entries.get(name))

    def read(self, name: str) -> dict[str, str]:
        """The texts of a chart by their path inside it, compared with the digest of the index."""
        versions = self.entries[name]
        chosen = versions[choose_version(versions, self.version, f"{self.source}, {name}")]
        url = urljoin(f"{self.source.rstrip('/')}/", str(chosen["urls"][0]))
        data = self.fetch(url, MOST_BYTES)
        digest = str(chosen.get("digest") or "").removeprefix("sha256:")
        if digest and hashlib.sha256(data).hexdigest() != digest:
            raise InvalidInput(
                f"the chart {name} of {self.source} is refused",
                where=url,
                why="it is not what its digest in the index says",
                todo="see who has changed it",
            )
        return chart_files(data, url)
