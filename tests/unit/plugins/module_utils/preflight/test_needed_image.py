# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All images that a recipe needs, as registries tell of them: pure functions, and a look-up that is scripted."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import Found
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import (
    GroupSystem,
    NodeGroup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._preflight.needed_image import (
    NeededImage,
    found_drivers,
    found_images,
    needed_images,
    pulled_images,
    to_mirror,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.registry_errors import (
    RegistryUnreachable,
    WrongArchitecture,
)

DIGEST = "sha256:" + "a" * 64
INTERNAL = "image-registry.openshift-image-registry.svc:5000/openshift/driver-toolkit:latest"


def find(reference: str, arch: str) -> Found | None:
    """A registry with one image, for amd64; one that is down."""
    if reference.startswith("down"):
        raise RegistryUnreachable("no connection")
    if reference.endswith("/none:1"):
        return None
    if arch != "amd64":
        raise WrongArchitecture(f"{reference} is for amd64, not for {arch}")
    return Found(f"{reference.rpartition(':')[0]}@{DIGEST}", DIGEST, {})


def test_each_image_has_its_digest_or_the_reason_why_not() -> None:
    names = ["q.io/a:1", "q.io/none:1", "down.io/b:1", INTERNAL]
    down, internal, there, none = needed_images(names, ["amd64"], find)
    assert internal.pinned == f"{INTERNAL}@{DIGEST}"
    assert there == NeededImage("q.io/a:1", f"q.io/a:1@{DIGEST}")
    assert there.finding is None
    assert none.finding
    assert (none.finding.message, none.finding.blocks) == (
        "q.io/none:1 does not exist; push it",
        True,
    )
    assert down.finding
    assert (down.finding.message, down.finding.blocks) == ("no connection", False)


def test_an_image_has_to_be_there_for_the_nodes_of_each_architecture() -> None:
    (image,) = needed_images(["q.io/a:1"], ["amd64", "arm64"], find)
    assert (image.blocks, image.why) == (True, "q.io/a:1 is for amd64, not for arm64")


def test_what_a_node_cannot_pull_is_in_the_way_whatever_the_reason() -> None:
    down, there = pulled_images([("q.io/a:1", "amd64"), ("down.io/b:1", "amd64")], find)
    assert (down.blocks, down.why) == (True, "no connection")
    assert there.finding is None


def test_a_driver_is_pulled_by_nodes_of_its_own_architecture() -> None:
    group = NodeGroup("6-8", ("kernel",), GroupSystem(kernel="6.8", arch="arm64"))
    rows = [{"group": group.id, "image": "q.io/driver@sha256:1"}, {"group": group.id, "image": ""}]
    assert found_drivers(rows, [group]) == {("q.io/driver@sha256:1", "arm64")}


def test_drivers_and_what_they_are_built_on_are_needed_under_their_names() -> None:
    rows = [
        {"name": "q.io/driver:k", "image": f"q.io/driver@{DIGEST}"},
        {"name": "", "image": ""},
    ]
    found = found_images(rows, {"q.io/base:1": f"q.io/base@{DIGEST}", INTERNAL: f"i@{DIGEST}"})
    assert to_mirror([*found, *found, NeededImage("No Image")]) == [
        {"image": "q.io/base:1", "pinned": f"q.io/base:1@{DIGEST}"},
        {"image": "q.io/driver:k", "pinned": f"q.io/driver:k@{DIGEST}"},
        {"image": "No Image", "pinned": ""},
    ]
