# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of web servers: who is believed, who gets the account, and how much is read; real TLS servers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._registry.keyring import Keyring
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryPolicy,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.registry_errors import (
    NotTrusted,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.web_files import (
    read_file,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.http.wrong_servers import (
    AUTHORITY,
    Answer,
    certificate,
    serving,
)

FILE, BASIC = b"recipes", "Basic dTpw"
MOST = len(FILE)


class Asked:
    """Which accounts a server was shown, one for each request; None for none."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.accounts: list[str | None] = []

    def __call__(self, _path: str, headers: Mapping[str, str]) -> Answer:
        self.accounts.append(headers.get("Authorization"))
        return self.answer


Start = Callable[..., tuple[str, Asked]]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Start]:
    """made(answer): starts a server; the URL of its file, and what it was asked."""
    with ExitStack() as running:

        def start(answer: Answer, *, tls: bool = True) -> tuple[str, Asked]:
            asked = Asked(answer)
            pair = certificate() if tls else None
            server = running.enter_context(serving(tmp_path, asked, pair=pair))
            return f"{'https' if tls else 'http'}://localhost:{server.port}/file", asked

        yield start


def read(url: str, *more: str, ca: str = AUTHORITY.certificate, most: int = MOST) -> bytes:
    """The file, with an account for its host, and for those of more URLs."""
    auths = {urlsplit(each).netloc: {"auth": "dTpw"} for each in (url, *more)}
    policy = RegistryPolicy(Keyring.from_configs([json.dumps({"auths": auths})]), ca=ca)
    return read_file(policy, lambda _pause: None, url, most)


def redirect(url: str) -> Answer:
    return 302, {"Location": url}, b""


def test_a_server_that_nobody_vouches_for_is_not_believed_nor_shown_the_account(
    made: Start,
) -> None:
    url, asked = made((200, {}, FILE))
    assert read(url) == FILE
    with pytest.raises(NotTrusted):
        read(url, ca="")
    assert asked.accounts == [BASIC]


def test_nothing_is_read_without_tls_also_where_a_redirect_leads_there(made: Start) -> None:
    plain, asked = made((200, {}, FILE), tls=False)
    redirecting, _asked = made(redirect(plain))
    for url in (plain, redirecting):
        with pytest.raises(InvalidInput, match="without TLS"):
            read(url)
    assert asked.accounts == []


def test_the_account_of_a_host_goes_to_that_host_only(made: Start) -> None:
    url, elsewhere = made((200, {}, FILE))
    redirecting, own = made(redirect(url))
    # There is an account for the other one too: who redirects does not choose who gets it.
    assert read(redirecting, url) == FILE
    assert (own.accounts, elsewhere.accounts) == ([BASIC], [None])


def test_a_file_is_read_as_far_as_it_may_be_and_no_further(made: Start) -> None:
    url, _asked = made((200, {}, FILE))
    assert read(url, most=MOST) == FILE
    with pytest.raises(InvalidInput, match=f"too large: the limit is {MOST - 1} bytes"):
        read(url, most=MOST - 1)
