# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The type of what is read from JSON and YAML, a part of it, and a hash of it; and the door for JSON
that anybody may have written: annotations, logs, answers.

What comes in by it can be walked through and written out again: it is not nested too deep for that,
its numbers are finite, and its texts are Unicode. YAML has such a door in
_recipes/templates/documents.py."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Union

# An object with keys: of the Kubernetes API, of a module's result.
Obj = dict[str, Any]

# An object of Kubernetes has some 10 levels, a CRD with a pod's template in it some 60. Whoever walks
# through it takes two or three frames of Python's 1000 for each.
MOST_DEPTH = 100
# What stands where more levels were, in what was cut.
TOO_DEEP = f"(more than {MOST_DEPTH} levels deep)"
# Kubernetes has 64 bits; as a float, up to 308 digits are a number.
_MOST_DIGITS = 300
_MARKS = b'[]{}"'
_NO_MARKS = bytes(byte for byte in range(256) if byte not in _MARKS)
_STRINGS = re.compile(rb'"[^"]*"')
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# What json makes half a character of. A pair of them is one character, and \\ is no escape.
_HALVES = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class JsonError(ValueError):
    """A text is none that is read here; str() says why, without showing what it holds."""


def parse_json(text: Union[str, bytes], *, cut: bool = False) -> Any:
    """What a text of JSON says. Raises JsonError.

    cut: of what is nested more than MOST_DEPTH deep the rest is left out, with TOO_DEEP in its
    place, instead of refusing it.
    """
    try:
        whole = text if isinstance(text, str) else text.decode()
        if _is_deep(whole):
            if not cut:
                raise JsonError(f"it is nested more than {MOST_DEPTH} levels deep")
            whole = _without_depths(whole)
        if _SURROGATE.search(whole):
            whole = _HALVES.sub(lambda found: "\\ufffd" if found["half"] else found[0], whole)
        return _DECODER.decode(whole)
    except JsonError:
        raise
    except (ValueError, RecursionError):
        raise JsonError(
            "its JSON ends early or is none" if text.strip() else "it is empty"
        ) from None


def _is_deep(text: str) -> bool:
    """Whether a text is nested more than MOST_DEPTH deep, without a look at each character in
    Python: all but brackets goes, then the innermost pairs, again and again."""
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return False
    data = text.encode(errors="replace").replace(b"\\\\", b"").replace(b'\\"', b"")
    # Two quotes beside each other are an empty text, or the end of one and the begin of another.
    marks = _STRINGS.sub(b"", data.translate(None, _NO_MARKS).replace(b'""', b""))
    left = marks
    for _pass in range(MOST_DEPTH // 2):
        # A pass takes away one or two levels.
        before = len(left)
        left = left.replace(b"{}", b"").replace(b"[]", b"")
        if len(left) == before:
            # Nothing is left, or brackets without their other half: no JSON.
            return False
    return max(accumulate(1 if mark in b"[{" else -1 for mark in marks)) > MOST_DEPTH


def _without_depths(text: str) -> str:
    depth, kept, pieces = 0, 0, []
    for token in _TOKENS.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth == MOST_DEPTH + 1:
                pieces += [text[kept : token.start()], json.dumps(TOO_DEEP)]
        elif token[0] in "]}":
            depth -= 1
            kept = token.end() if depth == MOST_DEPTH else kept
    return "".join([*pieces, text[kept:]])


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise JsonError("it has a number that is too large")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonError("it has a number that is too large")
    return number


def _refuse(text: str) -> Any:
    raise JsonError(f"{text} is no number of JSON")


_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_finite, parse_constant=_refuse)


def part(obj: Mapping[str, Any], *keys: str) -> Obj:
    """The mapping below these keys, one in the other; {} where one is missing or null."""
    found: Any = obj
    for key in keys:
        found = found.get(key) or {}
    mapping: Obj = found
    return mapping


def elements(obj: Mapping[str, Any], *keys: str) -> list[Any]:
    """The list at the end of these keys; [] where it, or a mapping on the way, is missing or null."""
    found: list[Any] = part(obj, *keys[:-1]).get(keys[-1]) or []
    return found


def content_hash(content: Any) -> str:
    """16 hex digits that change with the content, whatever the order of keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
