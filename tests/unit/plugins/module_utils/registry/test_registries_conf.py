# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy as buildah and podman read it."""

from __future__ import annotations

import json

from ansible_collections.hardware.enablement.plugins.module_utils._registry.account import (
    Credentials,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import parse
from ansible_collections.hardware.enablement.plugins.module_utils._registry.keyring import Keyring
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryMirror,
    RegistryPolicy,
    Trust,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.registries_conf import (
    authfile,
    authorities,
    certificates,
    registries_conf,
)

CONF = """\
unqualified-search-registries = ["docker.io"]
short-name-mode = "disabled"

[[registry]]
prefix = "quay.io/team"
location = "quay.io/team"
blocked = true
[[registry.mirror]]
location = "m.test:5000/q"
[[registry.mirror]]
location = "h.test"
insecure = true
pull-from-mirror = "digest-only"

[[registry]]
prefix = "*.example.com"
[[registry.mirror]]
location = "m.test:5000/e"

[[registry]]
prefix = "h.test"
location = "h.test"
insecure = true
"""


def test_the_configuration() -> None:
    mirrors = [
        RegistryMirror("quay.io/team", ["m.test:5000/q"]),
        RegistryMirror("quay.io/team", ["h.test/"], source=False, pulls="digest"),
        RegistryMirror("*.example.com", ["m.test:5000/e"]),
    ]
    assert (
        registries_conf(RegistryPolicy(mirrors=mirrors, trusts=[Trust("h.test", plain_http=True)]))
        == CONF
    )


def test_each_registry_has_its_own_authorities_where_they_can_be_told_apart() -> None:
    first, second = Trust("m.test:5000", ca="OWN"), Trust("m.test:5000", ca="of the cluster")
    policy = RegistryPolicy(ca="ALL", trusts=[first, second, Trust("h.test", verify=False)])
    assert certificates(policy) == {"m.test:5000/ca.crt": "OWN"}
    assert authorities(policy) == "ALL\nOWN"
    assert authorities(RegistryPolicy()) == ""


def test_a_build_gets_the_credentials_that_it_needs() -> None:
    account = {
        name: Credentials(name, f"secret-of-{name}") for name in ("named", "mirror", "stranger")
    }
    named = Keyring([("r.test", account["named"])])
    everything = named.before(
        Keyring([("m.test", account["mirror"]), ("s.test", account["stranger"])])
    )
    policy = RegistryPolicy(
        keyring=everything, for_builds=named, mirrors=[RegistryMirror("quay.io", ["m.test"])]
    )
    auths = json.loads(authfile(policy, [parse("quay.io/base:1")]))["auths"]
    assert auths == {"r.test": account["named"].entry, "m.test/base": account["mirror"].entry}
    assert authfile(RegistryPolicy(), [parse("quay.io/base:1")]) == ""
