# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The annotation driver-container-vendor, which pairs a BuildConfig with the DaemonSet of a driver:
the build is deployed for kernels for which the DaemonSet's image is not in its registry. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._json import Obj, elements, part
from .._recipes.templates.manifests import pod_template
from .._recipes.templates.render_facts import RenderFacts
from .sro_annotations import VENDOR, annotations_of, in_text

_KIND = re.compile(r"""^\s*(?:- )?kind:\s*["']?(?P<kind>BuildConfig|DaemonSet)\b""", re.MULTILINE)


def is_fallback(step: Sequence[str], others: Iterable[str]) -> bool:
    """Whether templates of one state build for drivers that others deploy, as they are written."""
    return _kinds(step) == {"BuildConfig"} and "DaemonSet" in _kinds(others)


def has_vendor(text: str) -> bool:
    """Whether a template gives an object a vendor."""
    return bool(in_text(text, VENDOR))


def is_wanted(manifest: Obj, variables: Mapping[str, Any], facts: RenderFacts) -> bool:
    """Whether an object of a fallback state is deployed for a group of nodes, whose variables these
    are. A BuildConfig is deployed once it is known that the image does not exist, and whenever a
    recipe is only checked; other objects always are."""
    if facts.resolved is None or not _vendor(manifest, "BuildConfig"):
        return True
    known = facts.resolved.get(str(variables["state"]), {})
    return known.get(str(variables["group"]["id"])) == ""


def images_of(builds: Iterable[Obj], drivers: Iterable[Obj]) -> list[str]:
    """The images of the drivers' first containers that these builds would make."""
    vendors = {_vendor(manifest, "BuildConfig") for manifest in builds} - {""}
    found = []
    for manifest in drivers:
        if _vendor(manifest, "DaemonSet") in vendors:
            spec = part(pod_template(manifest) or {}, "spec")
            found += [str(each.get("image") or "") for each in elements(spec, "containers")[:1]]
    return [image for image in dict.fromkeys(found) if image]


def starts_by_itself(manifest: Obj) -> bool:
    """Whether a build of a vendor begins as soon as its BuildConfig is there."""
    triggers = elements(manifest, "spec", "triggers")
    return bool(_vendor(manifest, "BuildConfig")) and any(
        each.get("type") == "ConfigChange" for each in triggers
    )


def _vendor(manifest: Obj, kind: str) -> str:
    return annotations_of(manifest).get(VENDOR, "") if manifest["kind"] == kind else ""


def _kinds(texts: Iterable[str]) -> set[str]:
    return {found["kind"] for text in texts if has_vendor(text) for found in _KIND.finditer(text)}
