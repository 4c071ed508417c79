# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What OpenShift's objects say of registries, as parts of the policy; and that a person's word goes
before it."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._builds.cluster_registries import (
    ClusterRegistries,
    mirrors_of,
    trusts_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.registry_policy import (
    MirrorRequest,
    RegistryAccessRequest,
    given_policy,
    whole_policy,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.keyring import Keyring
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryMirror,
    Trust,
)


def test_a_set_of_mirrors() -> None:
    never = {
        "source": "quay.io/a",
        "mirrors": ["m.test/a", "n.test"],
        "mirrorSourcePolicy": "NeverContactSource",
    }
    body = {
        "metadata": {"name": "x"},
        "spec": {"imageDigestMirrors": [never, {"source": "*.redhat.io"}]},
    }
    assert mirrors_of(body, "imageDigestMirrors", "digest") == [
        RegistryMirror(
            "quay.io/a", ("m.test/a", "n.test"), source=False, pulls="digest", of_cluster=True
        ),
        RegistryMirror("*.redhat.io", (), pulls="digest", of_cluster=True),
    ]
    assert mirrors_of({"metadata": {"name": "x"}}, "imageTagMirrors", "tag") == []


def test_the_configuration_of_images() -> None:
    spec = {"registrySources": {"insecureRegistries": ["h.test:5000", "*.lab.test", "p.test/path"]}}
    assert trusts_of(spec, {"m.test..5000": "PEM", "n.test": "PEM"}) == [
        Trust("h.test:5000", verify=False, of_cluster=True),
        Trust("*.lab.test", verify=False, of_cluster=True),
        Trust("p.test", verify=False, of_cluster=True),
        Trust("m.test:5000", ca="PEM", of_cluster=True),
        Trust("n.test", ca="PEM", of_cluster=True),
    ]


def test_mirrors_that_a_person_names_for_a_prefix_are_all_there_are() -> None:
    mirror = MirrorRequest("quay.io", ["own.test"])
    given = given_policy(RegistryAccessRequest(registry_mirrors=(mirror,)))
    cluster = ClusterRegistries(
        [
            RegistryMirror("quay.io", ["m.test"], of_cluster=True),
            RegistryMirror("a.test", [], of_cluster=True),
        ]
    )
    policy = whole_policy(given, cluster, Keyring(), Keyring(), {})
    assert [(mirror.prefix, mirror.of_cluster) for mirror in policy.mirrors] == [
        ("quay.io", False),
        ("a.test", True),
    ]
