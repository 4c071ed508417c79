# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a recipe's own objects have to build an image, and that this is remembered."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.fallback_builds import (
    pulled_or_built,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import (
    Found,
    Resolution,
    Source,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import (
    GroupSystem,
    NodeGroup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record import (
    image_entries,
)

GROUP = NodeGroup("6-1-0-aaaaaa", ("kernel",), GroupSystem(kernel="6.1.0", arch="amd64"))
DRIVER, OTHER = "r.example/driver:6.1.0", "r.example/other:6.1.0"
FOUND = Found("r.example/driver@sha256:1", "sha256:1", {})


def there(_reference: str, _arch: str) -> Found | None:
    return FOUND


def nothing(_reference: str, _arch: str) -> Found | None:
    return None


def down(_reference: str, _arch: str) -> Found | None:
    raise EnablementError("the registry r.example does not answer")


def never(_reference: str, _arch: str) -> Found | None:
    pytest.fail("it is known already")


def remembered(resolution: Resolution, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries after a run, as driver_container writes them."""
    row = {
        **asdict(resolution),
        **asdict(resolution.remembered),
        "state": "builds",
        "source": resolution.source.value,
    }
    record = {"status": {"images": known}}
    return image_entries.merge(record, [row], {GROUP.id})


def test_what_is_in_the_registry_is_pulled() -> None:
    found = pulled_or_built(GROUP, [DRIVER], there, {})
    assert (found.source, found.image) == (Source.PREBUILT, FOUND.reference)
    assert image_entries.references(remembered(found, [])) == {
        "builds": {GROUP.id: FOUND.reference}
    }


def test_what_is_not_is_built_and_stays_so_until_it_is_called_otherwise() -> None:
    found = pulled_or_built(GROUP, [DRIVER], nothing, {})
    assert (found.source, found.image) == (Source.BY_RECIPE, "")
    assert found.tried == (f"{DRIVER} does not exist",)
    (entry,) = remembered(found, [])
    assert image_entries.references([entry]) == {"builds": {GROUP.id: ""}}
    # The build has pushed it; without its BuildConfig it would not be there.
    again = pulled_or_built(GROUP, [DRIVER], never, entry)
    assert remembered(again, [entry]) == [entry]
    assert pulled_or_built(GROUP, [OTHER], there, entry).source is Source.PREBUILT


def test_one_of_several_images_that_is_missing_is_enough() -> None:
    def one(reference: str, _arch: str) -> Found | None:
        return FOUND if reference == DRIVER else None

    assert pulled_or_built(GROUP, [DRIVER, OTHER], one, {}).source is Source.BY_RECIPE


def test_a_registry_that_does_not_answer_takes_nothing_away() -> None:
    (entry,) = remembered(pulled_or_built(GROUP, [DRIVER], there, {}), [])
    kept = pulled_or_built(GROUP, [DRIVER], down, entry)
    assert (kept.source, kept.image) == (Source.KEPT, FOUND.reference)
    assert remembered(kept, [entry]) == [entry]
    first = pulled_or_built(GROUP, [DRIVER], down, {})
    assert (first.source, first.tried) == (
        Source.BY_RECIPE,
        ("the registry r.example does not answer",),
    )
