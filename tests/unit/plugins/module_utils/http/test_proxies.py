# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One setting of proxies means the same here as on the nodes."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._http.proxies import Proxies

PROXY = "http://proxy.test:3128"


@pytest.mark.parametrize(
    ("exceptions", "url", "direct"),
    [
        ("", "https://quay.io/v2/", False),
        ("*", "https://quay.io/v2/", True),
        ("quay.io", "https://quay.io/v2/", True),
        ("quay.io", "https://cdn.quay.io/v2/", True),
        ("quay.io", "https://notquay.io/v2/", False),
        (".quay.io", "https://quay.io/v2/", False),
        (".quay.io", "https://cdn.quay.io/v2/", True),
        ("*.quay.io", "https://cdn.quay.io/v2/", True),
        ("QUAY.io", "https://Quay.io/v2/", True),
        (" a.test , quay.io ,", "https://quay.io/v2/", True),
        ("quay.io:443", "https://quay.io/v2/", True),
        ("quay.io:5000", "https://quay.io/v2/", False),
        ("quay.io:5000", "https://quay.io:5000/v2/", True),
        ("10.0.0.0/8", "https://10.1.2.3:5000/v2/", True),
        ("10.0.0.0/8", "https://11.1.2.3:5000/v2/", False),
        ("10.0.0.0/8", "https://quay.io/v2/", False),
        ("10.1.2.3", "https://10.1.2.3:5000/v2/", True),
        ("1.2.3", "https://10.1.2.3/v2/", False),
        ("10.1.2.3:5000", "https://10.1.2.3:5000/v2/", True),
        ("10.1.2.3:5000", "https://10.1.2.3:5001/v2/", False),
        ("fd00::/8", "https://[fd00::1]:5000/v2/", True),
        ("fd00::1", "https://[fd00::1]/v2/", True),
        ("not/a/range", "https://10.1.2.3/v2/", False),
        ("localhost", "https://127.0.0.1/v2/", False),
    ],
)
def test_exceptions(exceptions: str, url: str, direct: bool) -> None:
    assert Proxies(https=PROXY, exceptions=exceptions).for_url(url) == ("" if direct else PROXY)


def test_each_scheme_has_its_own() -> None:
    proxies = Proxies(http="http://plain.test:1", https=PROXY)
    assert proxies.for_url("http://quay.io/") == "http://plain.test:1"
    assert proxies.for_url("https://quay.io/") == PROXY
    assert Proxies(https=PROXY).for_url("http://quay.io/") == ""


def test_a_proxy_without_a_scheme() -> None:
    assert Proxies(https="proxy.test:3128").for_url("https://quay.io/") == PROXY


def test_the_environment_counts_only_where_nothing_is_given() -> None:
    environment = {
        "https_proxy": "http://lower",
        "HTTPS_PROXY": "http://upper",
        "HTTP_PROXY": "http://plain",
    }
    proxies = Proxies().completed(environment)
    assert (proxies.http, proxies.https, proxies.exceptions) == ("http://plain", "http://lower", "")
    assert Proxies(https="", exceptions="x").completed(environment).https == ""


def test_a_password_is_not_shown() -> None:
    assert "hush" not in repr(Proxies(https="http://me:hush@proxy.test"))
