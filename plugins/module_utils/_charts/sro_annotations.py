# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the annotations of the Special Resource Operator mean, on objects as they were rendered. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from .._errors import InvalidInput
from .._json import Obj, part
from .._recipes.templates.manifests import title
from .._schema.problems import suggest

DOMAIN = "specialresource.openshift.io"
# As recipes in the wild have it, which the operator never heeded.
MISSPELT = ("specialresrouce.openshift.io", "specialResource.openshift.io")

STATE, WAIT, WAIT_FOR_LOGS = "state", "wait", "wait-for-logs"
VENDOR, KERNEL_AFFINE = "driver-container-vendor", "kernel-affine"
CALLBACK, PROXY, HASH = "callback", "proxy", "hash"
KNOWN = (STATE, WAIT, WAIT_FOR_LOGS, VENDOR, KERNEL_AFFINE, CALLBACK, PROXY, HASH)
FLAGS = (WAIT, KERNEL_AFFINE, PROXY)

_DOMAINS = "|".join(re.escape(domain) for domain in (DOMAIN, *MISSPELT))
_LINE = re.compile(rf"""["']?(?:{_DOMAINS})/(?P<name>[\w.-]+)["']?\s*:\s*(?P<value>.*)""")
_MISSPELT_LINE = re.compile("|".join(re.escape(domain) for domain in MISSPELT))


def annotations_of(manifest: Obj) -> dict[str, str]:
    """The operator's annotations of an object by their names without the domain, whichever of the
    known spellings it has; `callback` also stands alone, as in the first generation.

    Raises InvalidInput for one that the operator does not know, and for a value that it cannot have.
    """
    found: dict[str, str] = {}
    for key, value in part(manifest["metadata"], "annotations").items():
        domain, slash, name = key.rpartition("/")
        if key == CALLBACK or (slash and domain in (DOMAIN, *MISSPELT)):
            _check(manifest, key, name, value)
            found[name] = value
    return found


def _check(manifest: Obj, key: str, name: str, value: str) -> None:
    wrong = ""
    if name not in KNOWN:
        wrong = f"there is no such annotation{suggest(name, KNOWN)}"
    elif name in FLAGS and value not in ("true", "false"):
        wrong = f'expected "true" or "false", found {value!r}'
    elif name == WAIT_FOR_LOGS:
        try:
            re.compile(value)
        except re.error as error:
            wrong = f"{value!r} is no regular expression: {error}"
    if wrong:
        raise InvalidInput(
            f"{title(manifest)} has a wrong annotation {key}", why=wrong, todo="correct the file"
        )


def is_on(found: Mapping[str, str], flag: str) -> bool:
    """Whether an annotation that is true or false is true."""
    return found.get(flag) == "true"


def in_text(text: str, name: str) -> list[str]:
    """The values that a template's text gives to an annotation, as they are written there."""
    lines = (_LINE.search(line) for line in text.splitlines())
    return [
        found["value"].strip().strip("\"'") for found in lines if found and found["name"] == name
    ]


def misspelt_in(files: Mapping[str, str], paths: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """(file, line, a sentence) for each line with an annotation that the operator itself would not heed."""
    for path in paths:
        for number, line in enumerate(files[path].splitlines(), start=1):
            found = _MISSPELT_LINE.search(line)
            if found:
                text = f"{found[0]} is taken for {DOMAIN}, as the operator itself did not"
                yield path, number, text
