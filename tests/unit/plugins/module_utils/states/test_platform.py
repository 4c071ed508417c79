# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What OpenShift's objects say of the cluster."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.platform import (
    proxy_of,
    toolkits_of,
)


def test_a_proxy_with_a_password_is_left_out() -> None:
    status = {
        "httpProxy": "http://proxy.test:3128",
        "httpsProxy": "http://me:secret@proxy.test:3128",
        "noProxy": ".svc",
    }

    assert proxy_of({"status": status}) == {
        "http": "http://proxy.test:3128",
        "https": "",
        "no": ".svc",
    }
    assert proxy_of({}) == {"http": "", "https": "", "no": ""}


def test_the_driver_toolkit_of_this_release_and_of_those_before() -> None:
    spec = [
        {"name": "latest", "from": {"kind": "DockerImage", "name": "r.io/new"}},
        {"name": "416.94.2-0", "from": {"kind": "DockerImage", "name": "r.io/new"}},
        {"name": "alias", "from": {"kind": "ImageStreamTag", "name": "latest"}},
    ]
    status = [
        {"tag": "latest", "items": [{"dockerImageReference": "r.io/new"}]},
        {
            "tag": "416.94.1-0",
            "items": [{"dockerImageReference": "r.io/old"}, {"dockerImageReference": "r.io/older"}],
        },
        {"tag": "416.94.0-0", "items": None},
    ]

    found = toolkits_of({"spec": {"tags": spec}, "status": {"tags": status}})
    assert found == {"416.94.1-0": "r.io/old", "416.94.2-0": "r.io/new"}
    assert toolkits_of({}) == {}
