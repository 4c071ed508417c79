# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images with one layer more, in a real registry: read back there, whatever happens on the way."""

from __future__ import annotations

import gzip
import os

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_client import (
    Image,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import parse
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryMirror,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.registry_errors import (
    Denied,
    ImageNotFound,
    ServerError,
    WrongDigest,
)
from tests.cluster.faults import Fault
from tests.cluster.registry import PULLER, PUSHER, Account
from tests.cluster.registry.images import archive
from tests.integration.registry_bed import KERNEL, LABELS, Bed, check_sentence, keyring

LAYER = gzip.compress(archive({"opt/lib/modules/simple.ko": b"a module"}), mtime=0)


def check_appended(bed: Bed, name: str, made: Image, base: Image) -> None:
    """What lies in the registry is the base with one layer more."""
    contents = bed.images.contents(name, made.digest)
    assert [dict(layer) for layer in contents.layers] == [
        {"etc/motd": b"hello\n"},
        {"opt/lib/modules/simple.ko": b"a module"},
    ]
    assert len(contents.config["rootfs"]["diff_ids"]) == 2
    assert contents.config["config"]["Labels"] == {**LABELS, "inputs": "abc"}
    assert made.digest != base.digest
    # And the client reads back what it has written.
    assert bed.client().find(made.reference, "amd64") == made


def append(
    bed: Bed, target: str, *, account: Account = PUSHER, faulty: bool = False, base: str = ""
) -> Image:
    client = bed.client(account)
    source = parse(base) if base else bed.reference(faulty=faulty)
    return client.append_layer(
        source, bed.reference(target, faulty=faulty), "amd64", LAYER, {"inputs": "abc"}
    )


def test_a_layer_is_appended(any_bed: Bed) -> None:
    base = any_bed.find()
    assert base
    mark = any_bed.registry.mark()
    made = append(any_bed, "gpu/made:1")
    check_appended(any_bed, "gpu/made", made, base)
    asked = any_bed.registry.requests(mark)
    # The base's layer was taken over, not sent: only the new layer, the configuration and the
    # manifest were.
    assert (
        len([request for request in asked if request.method == "PUT" and request.status == 201])
        == 3
    )
    assert (
        len([request for request in asked if "mount=" in request.path and request.status == 201])
        == 1
    )
    # Again, all of it is there.
    mark = any_bed.registry.mark()
    again = append(any_bed, "gpu/made:2")
    # And what was made now is what was made then: its time is the base image's.
    assert (again.digest, again.labels, again.created) == (
        made.digest,
        made.labels,
        "2026-11-21T12:00:00Z",
    )
    assert not any("mount=" in request.path for request in any_bed.registry.requests(mark))


def test_into_another_registry(bed: Bed, any_bed: Bed) -> None:
    target = any_bed.reference("copied/made:1")
    client = bed.client(keyring=keyring(bed, any_bed))
    mark = any_bed.registry.mark()
    made = client.append_layer(bed.reference(), target, "amd64", LAYER, {"inputs": "abc"})
    assert made.reference == target
    assert not any("mount=" in request.path for request in any_bed.registry.requests(mark))
    contents = any_bed.images.contents("copied/made", "1")
    assert [set(layer) for layer in contents.layers] == [
        {"etc/motd"},
        {"opt/lib/modules/simple.ko"},
    ]


def test_what_stands_for_a_registry_that_is_never_asked_is_pushed_to(bed: Bed) -> None:
    mirror = RegistryMirror("registry.test", [bed.registry.address], source=False)
    target = parse("registry.test/mirrored/made:1")
    made = bed.client(mirrors=[mirror]).append_layer(
        bed.reference(), target, "amd64", LAYER, {"inputs": "abc"}
    )
    assert (made.reference, made.digest) == (target, bed.images.digest("mirrored/made", "1"))


def test_faults_while_copying(bed: Bed, any_bed: Bed) -> None:
    base = bed.images.push("big", "1", files={"firmware": os.urandom(300_000)})
    client = bed.client(keyring=keyring(bed, any_bed))
    with (
        bed.proxy.faults.on(Fault(method="GET", path="blobs", cut_after=200_000, times=1)),
        any_bed.proxy.faults.on(Fault(method="PUT", path="uploads", status=429, times=1)),
    ):
        source, target = (
            bed.reference("big:1", faulty=True),
            any_bed.reference("big/copied:1", faulty=True),
        )
        client.append_layer(source, target, "amd64", LAYER, {})
    copied = any_bed.images.contents("big/copied", "1").layers[0]
    assert copied == bed.images.contents("big", base).layers[0]


def test_a_layer_that_is_not_what_its_digest_says(bed: Bed, any_bed: Bed) -> None:
    digest = bed.images.contents("gpu/driver", KERNEL).manifest["layers"][0]["digest"]
    client = bed.client(keyring=keyring(bed, any_bed))
    with (
        bed.proxy.faults.on(Fault(path=f"blobs/{digest}", status=200, body=b"not a layer")),
        pytest.raises(WrongDigest, match="what came has the digest") as caught,
    ):
        client.append_layer(
            bed.reference(faulty=True), any_bed.reference("wrong/layer:1"), "amd64", LAYER, {}
        )
    check_sentence(caught.value)
    assert any_bed.client().digest(any_bed.reference("wrong/layer:1")) is None


def test_one_platform_of_an_index_is_the_base(bed: Bed) -> None:
    members = {arch: bed.images.push("base", arch, arch=arch) for arch in ("amd64", "arm64")}
    bed.images.push_index("base", "all", members)
    bed.client().append_layer(
        bed.reference("base:all"), bed.reference("made/arm:1"), "arm64", LAYER, {}
    )
    assert bed.images.contents("made/arm", "1").config["architecture"] == "arm64"


def test_who_may_only_pull(bed: Bed) -> None:
    with pytest.raises(
        Denied, match="account puller does not allow it; give the account the right"
    ) as caught:
        append(bed, "gpu/forbidden:1", account=PULLER)
    check_sentence(caught.value)


def test_a_base_that_does_not_exist_and_a_target_without_a_tag(bed: Bed) -> None:
    with pytest.raises(ImageNotFound, match=r"base image .* does not exist") as caught:
        append(bed, "gpu/made:3", base=str(bed.reference("no/such:base")))
    check_sentence(caught.value)
    with pytest.raises(InvalidInput, match="not by a tag"):
        append(bed, f"gpu/made@{bed.digest}")


@pytest.mark.parametrize(
    "fault",
    [
        Fault(method="POST", path="uploads", lost="request", times=1),
        Fault(method="PUT", path="uploads", lost="request", times=1),
        Fault(method="PUT", path="uploads", status=500, times=1),
        Fault(method="PUT", path="uploads", status=404, times=1),
        Fault(method="PUT", path="uploads", status=429, headers={"Retry-After": "2"}, times=1),
        Fault(method="PUT", path="manifests", status=503, times=1),
        Fault(method="PUT", spoil_token=True, times=1),
        Fault(method="PUT", path="uploads", lost="answer", times=1),
        Fault(method="PUT", path="manifests", lost="answer", times=1),
    ],
    ids=[
        "begin cut",
        "upload cut",
        "upload 500",
        "upload forgotten",
        "upload 429",
        "tag 503",
        "token",
        "upload unanswered",
        "tag unanswered",
    ],
)
def test_faults_while_pushing(bed: Bed, fault: Fault, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.id.replace(" ", "-")
    before = len(bed.proxy.seen)
    with bed.proxy.faults.on(fault):
        made = append(bed, f"pushed/{name}:1", faulty=True)
    seen = bed.proxy.seen[before:]
    assert any(request.fault is fault for request in seen)
    if fault.lost == "answer":
        # What has arrived is not sent again: the layer, the configuration.
        assert (
            len(
                [
                    request
                    for request in seen
                    if request.method == "PUT" and "uploads" in request.path
                ]
            )
            == 2
        )
    assert bed.images.contents(f"pushed/{name}", "1").layers
    assert bed.images.contents(f"pushed/{name}", made.digest).layers


def test_half_an_image_is_never_seen(bed: Bed) -> None:
    with (
        bed.proxy.faults.on(Fault(method="PUT", path="manifests", status=500)),
        pytest.raises(ServerError) as caught,
    ):
        append(bed, "pushed/half:1", faulty=True)
    check_sentence(caught.value)
    assert bed.client().find(bed.reference("pushed/half:1"), "amd64") is None
