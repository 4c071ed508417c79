# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters of recipes' templates: this list, and nothing else.

Rendered marks text that a filter has made fit to stand in YAML; other text is looked at before it
is put out."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from .text_dump import represent_text

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]


# JSON may hold these as they are, YAML breaks lines at them or does not take them.
_NO_YAML = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")


class RefusedError(Exception):
    """A template does something with a value that it must not; the text is the reason."""


class Rendered(str):
    """Text that may be put out as it is."""

    __slots__ = ()


# Of Jinja's own filters, those that only compute.
JINJA_FILTERS = (
    "abs",
    "default",
    "dictsort",
    "first",
    "float",
    "int",
    "items",
    "join",
    "last",
    "length",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "select",
    "selectattr",
    "sort",
    "sum",
    "title",
    "unique",
    "upper",
)


def to_json(value: Any) -> Rendered:
    """The value as JSON on one line, which is also YAML: the way to put in anything that is not a
    plain word."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return Rendered(_NO_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def to_yaml(value: Any, indent: int = 0) -> Rendered:
    """The value as block YAML, every line but the first indented by so many spaces."""
    text = yaml.dump(
        value,
        Dumper=_dumper_class(),
        sort_keys=True,
        allow_unicode=True,
        width=10_000,
        default_flow_style=False,
    )
    return Rendered(
        text.removesuffix("\n").removesuffix("\n...").replace("\n", "\n" + " " * indent)
    )


@cache
def _dumper_class() -> Any:
    """Made when it is first needed: without PyYAML there is nothing to inherit from."""

    class Dumper(yaml.SafeDumper):
        pass

    Dumper.add_representer(str, represent_text)
    return Dumper


def quote(value: Any) -> Rendered:
    """The value as text in double quotes; numbers and booleans become text."""
    return to_json(string(value))


def string(value: Any) -> str:
    """The value as text; booleans as true and false."""
    if value is None or isinstance(value, (dict, list, tuple)):
        raise RefusedError(f"{_kind(value)} has no form as text; write | to_json")
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def indent(value: Any, width: int = 4, first: bool = False) -> Rendered:  # noqa: FBT001, FBT002 - as in Jinja2
    """Lines of text for a block scalar ("key: |"), every line but the first indented by so many
    spaces.

    Blank lines are indented too: what cannot start a line cannot end the block either.
    """
    lines = re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", string(value).rstrip("\n"))
    pad = " " * width
    return Rendered((pad if first else "") + f"\n{pad}".join(lines))


def trim(value: Any) -> str:
    """Text without blanks at its ends."""
    text = string(value)
    return Rendered(text.strip()) if isinstance(value, Rendered) else text.strip()


def b64encode(value: Any) -> str:
    """Text as base64 of its UTF-8 bytes, as in the data of a Secret."""
    return base64.b64encode(string(value).encode()).decode("ascii")


def sha1(value: Any) -> str:
    """SHA-1 of the text in hex digits; for short names, not for safety."""
    return hashlib.sha1(string(value).encode(), usedforsecurity=False).hexdigest()


def sha256(value: Any) -> str:
    """SHA-256 of the text in hex digits."""
    return hashlib.sha256(string(value).encode()).hexdigest()


def regex_replace(value: Any, pattern: str, replacement: str = "") -> str:
    """Text with every match of a regular expression replaced."""
    try:
        return re.sub(pattern, replacement, string(value))
    except re.error as error:
        raise RefusedError(f"{pattern!r} is no regular expression ({error})") from None


OWN_FILTERS: dict[str, Callable[..., Any]] = {
    "b64encode": b64encode,
    "indent": indent,
    "quote": quote,
    "regex_replace": regex_replace,
    "sha1": sha1,
    "sha256": sha256,
    "string": string,
    "to_json": to_json,
    "to_yaml": to_yaml,
    "trim": trim,
}

# What could end the scalar that it stands in, or start something new: line breaks and other control
# characters, quotes and escapes, the start of a value or of a comment.
_RISKY = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\"'\\]|:(?:\s|$)|\s#|^\s|\s$|^- |^(?:---|\.\.\.)"
)


def put_out(value: Any) -> Any:
    """What {{ ... }} writes. Raises RefusedError for values that could change the structure of the
    YAML around them."""
    if isinstance(value, Rendered):
        return value
    if value is None:
        raise RefusedError("the value is null; give it one, or write | default(..., true)")
    if isinstance(value, (dict, list, tuple)):
        raise RefusedError(f"the value is {_kind(value)}; write | to_json, or pick a part of it")
    text = string(
        value
    )  # fails by itself where the value is undefined; empty for an "if" without an "else"
    if text and not isinstance(value, (str, int, float)):
        raise RefusedError(f"the value is no data but {type(value).__name__}")
    if _RISKY.search(text):
        raise RefusedError(
            "the value holds quotes, line breaks or other characters that could change the YAML around it; write"
            " | to_json (in place of the quotes around it), or | indent inside a block of text"
        )
    return text


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return "a mapping" if isinstance(value, dict) else "a list"
