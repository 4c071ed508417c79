# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Debian a machine's apt offers."""

from __future__ import annotations

import pytest

from tests.cluster.errors import ClusterError
from tests.cluster.images.debian import parse_sources

LISTED = """\
Debian|Debian|bookworm|bookworm|http://mirror.example/debian/|main
Debian|Debian|bookworm|bookworm|http://mirror.example/debian/|contrib
Debian|Debian|bookworm-updates|bookworm-updates|http://mirror.example/debian/|main
Debian|Debian-Security|bookworm-security|bookworm-security|http://mirror.example/debian-security/|main
Debian|Debian Backports|bookworm-backports|bookworm-backports|http://mirror.example/debian/|main
Node Source|nodistro|nodistro|nodistro|https://other.example/node/|main
||||https://other.example/apt/|main
"""


def test_sources_are_those_of_the_release_without_backports_and_strangers() -> None:
    debian = parse_sources("bookworm", LISTED)
    assert (debian.codename, debian.mirror) == ("bookworm", "http://mirror.example/debian/")
    assert debian.sources_list == (
        "deb http://mirror.example/debian/ bookworm main\n"
        "deb http://mirror.example/debian/ bookworm-updates main\n"
        "deb http://mirror.example/debian-security/ bookworm-security main\n"
    )


@pytest.mark.parametrize(
    "listed", ["", LISTED.replace("bookworm", "trixie"), "Ubuntu|Ubuntu|noble|noble|u|main"]
)
def test_without_the_main_archive_it_is_refused_in_one_sentence(listed: str) -> None:
    with pytest.raises(ClusterError, match="knows no packages of Debian bookworm"):
        parse_sources("bookworm", listed)
