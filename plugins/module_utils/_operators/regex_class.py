# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Classes of characters of regular expressions, as ranges of code points. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# First and last code point of each range.
Ranges = Sequence[tuple[int, int]]

_LAST = 0x10FFFF
_SPECIAL = frozenset("\\]^-[&~|")
_ASCII, _TWO_BYTES = 0x100, 0x10000


def _ranges(*texts: str) -> Ranges:
    return [(ord(text[0]), ord(text[-1])) for text in texts]


_WORD = _ranges("09", "AZ", "_", "az")
# As Go has them, in ASCII; \s is without the vertical tab there.
CLASSES: Mapping[str, Ranges] = {"d": _ranges("09"), "s": _ranges("\t\n", "\f\r", " "), "w": _WORD}
POSIX: Mapping[str, Ranges] = {
    "alnum": _ranges("09", "AZ", "az"),
    "alpha": _ranges("AZ", "az"),
    "ascii": _ranges("\0\x7f"),
    "blank": _ranges("\t", " "),
    "cntrl": _ranges("\0\x1f", "\x7f"),
    "digit": _ranges("09"),
    "graph": _ranges("!~"),
    "lower": _ranges("az"),
    "print": _ranges(" ~"),
    "punct": _ranges("!/", ":@", "[`", "{~"),
    "space": _ranges("\t\r", " "),
    "upper": _ranges("AZ"),
    "word": _WORD,
    "xdigit": _ranges("09", "AF", "af"),
}


def inverted(ranges: Ranges) -> Ranges:
    """All characters but these, in order."""
    found, start = [], 0
    for first, last in sorted(ranges):
        if first > start:
            found.append((start, first - 1))
        start = max(start, last + 1)
    return [*found, (start, _LAST)] if start <= _LAST else found


def folded(ranges: Ranges, *, ignore_case: bool) -> Ranges:
    """The same; where case is ignored, with the ASCII letters of the other case."""
    if not ignore_case:
        return ranges
    found = list(ranges)
    for first, last in ranges:
        for start, shift in ((ord("a"), -32), (ord("A"), 32)):
            low, high = max(first, start), min(last, start + 25)
            if low <= high:
                found.append((low + shift, high + shift))
    return found


def class_text(ranges: Ranges) -> str:
    """A class of Python. None at all, and all, have forms of their own."""
    others = inverted(ranges)
    if not others:
        return "(?s:.)"
    if not ranges:
        return "(?!)"
    sign, shown = ("^", others) if ranges[-1][1] == _LAST else ("", inverted(others))
    return f"[{sign}{''.join(_range(*each) for each in shown)}]"


def _range(first: int, last: int) -> str:
    if first == last:
        return _character(first)
    return _character(first) + ("" if last == first + 1 else "-") + _character(last)


def _character(code: int) -> str:
    if chr(code) in _SPECIAL:
        return f"\\{chr(code)}"
    if chr(code).isprintable():
        return chr(code)
    if code < _ASCII:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _TWO_BYTES else f"\\U{code:08x}"
