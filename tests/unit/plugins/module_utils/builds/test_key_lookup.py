# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Public keys by text and by objects of the cluster, against a scripted API server."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from ansible_collections.hardware.enablement.plugins.module_utils._builds.lookups.key_lookup import (
    KeyLookup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    serving,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.registry.test_image_signature import (
    COSIGN_PUB,
    pem,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
    refusal,
)

OLD, NEW = COSIGN_PUB, pem(ec.generate_private_key(ec.SECP256R1()))
PRIVATE = "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\neyJ\n"


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with serving() as server:
        yield server


def holder(kind: str, name: str, data: Mapping[str, str]) -> dict[str, Any]:
    """An object with texts."""
    if kind == "Secret":
        data = {key: base64.b64encode(text.encode()).decode() for key, text in data.items()}
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "toy"},
        "data": dict(data),
    }


def keys(fake: FakeServer) -> tuple[ScriptedCluster, KeyLookup]:
    """Objects with keys, and who reads them."""
    cluster = ScriptedCluster(fake)
    both = {"a.pub": OLD, "b.pub": NEW, "cosign.key": PRIVATE, "x": "\0"}
    for each in (
        holder("Secret", "both", both),
        holder("ConfigMap", "one", {"cosign.pub": NEW + OLD}),
        holder("ConfigMap", "none", {"readme": "no key"}),
        holder("ConfigMap", "cut", {"cosign.pub": NEW[:60]}),
    ):
        cluster.put(f"{each['kind'].lower()}s", each)
    return cluster, KeyLookup(fake.client(), "toy")


def test_a_key_that_is_replaced_counts_beside_the_new_one(fake: FakeServer) -> None:
    _cluster, found = keys(fake)
    prints = [[key.fingerprint for key in found.named(each)] for each in (OLD, NEW)]
    both = sorted(prints[0] + prints[1])
    for name in (f"{OLD}\n    {NEW}", "secret/both", "configmap/one"):
        assert sorted(key.fingerprint for key in found.named(name)) == both
    asked = len(fake.asked)
    found.named("secret/both")
    assert len(fake.asked) == asked


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("secret/gone", "Secret toy/gone does not exist: images have to be signed with the key"),
        ("configmap/none", "ConfigMap toy/none has no public key; put cosign.pub there"),
        ("configmap/cut", "ConfigMap toy/cut has a wrong key: the key is no public key in PEM"),
    ],
)
def test_an_object_without_a_key_is_named(fake: FakeServer, name: str, why: str) -> None:
    _cluster, found = keys(fake)
    with pytest.raises(EnablementError, match=why) as caught:
        found.named(name)
    assert not isinstance(caught.value, InvalidInput)


def test_what_may_not_be_read_says_so(fake: FakeServer) -> None:
    cluster, found = keys(fake)
    cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", "no secrets for you") if "/secrets/" in asked.path else None
    )
    with pytest.raises(
        EnablementError, match=r"Secret toy/both cannot be read.*no secrets for you"
    ):
        found.named("secret/both")


@pytest.mark.parametrize("name", [f"{OLD}and more", "secret/", "pod/both", f"{NEW[:60]}\n{OLD}"])
def test_text_that_is_no_key_is_refused(fake: FakeServer, name: str) -> None:
    _cluster, found = keys(fake)
    with pytest.raises(InvalidInput, match="or secret/NAME or configmap/NAME that has it"):
        found.named(name)
