# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Regular expressions of Go as such of Python that match the same texts. Pure.

Syntax: regexp/syntax of Go's standard library, with the flags of regexp.Compile. Only whether a text
matches counts, so groups capture nothing. Go's classes are of ASCII, and so is folding of case here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .regex_class import CLASSES, POSIX, Ranges, class_text, folded, inverted

_REPETITION = re.compile(r"[*+?]\??|\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}\??")
_MOST = 1000
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<(\w+)>", re.ASCII)
_CHARACTER = re.compile(r"x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2})")
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ANCHORS = {"A": r"\A", "z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)"}
_SPECIAL = frozenset("\\.^$*+?{}[]()|")
_LAST = 0x10FFFF
_ASCII = 128


class ExpressionError(ValueError):
    """An expression is none of Go's, or says what Python's cannot; the text is half a sentence."""


def python_expression(expression: str) -> str:
    """The expression of Python that matches the same texts, anywhere in them. Raises
    ExpressionError."""
    reader = _ExpressionReader(expression)
    made = reader.alternatives(frozenset())
    if reader.at < len(expression):
        raise ExpressionError("it has a ) that closes nothing")
    return made


class _ExpressionReader:
    """An expression, read up to a place. Flags are those of Go: i, m, s, U."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def alternatives(self, flags: frozenset[str]) -> str:
        """What is between here and the end of the group."""
        parts: list[str] = []
        while self.at < len(self.text) and self._next() != ")":
            if self._takes("|"):
                parts.append("|")
            elif self._takes(r"\Q"):
                parts += self._quoted(flags)
            elif (found := self._flags()) and found[3] == ")":
                self.at = found.end()
                flags = _changed(flags, found)
                if parts and parts[-1] != "|" and _REPETITION.match(self.text, self.at):
                    # It is of what stands before the flags.
                    parts[-1] = self._repeated(f"(?:{parts[-1]})")
            else:
                parts.append(self._repeated(self._atom(flags)))
        return "".join(parts)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _takes(self, start: str) -> bool:
        found = self.text.startswith(start, self.at)
        self.at += len(start) if found else 0
        return found

    def _flags(self) -> re.Match[str] | None:
        return _FLAGS.match(self.text, self.at)

    def _quoted(self, flags: frozenset[str]) -> Iterable[str]:
        r"""The characters between \Q and \E, of which a repetition takes the last."""
        end = self.text.find(r"\E", self.at)
        quoted = self.text[self.at : end] if end >= 0 else self.text[self.at :]
        self.at = end + 2 if end >= 0 else len(self.text)
        atoms = [_literal(ord(each), flags) for each in quoted]
        return [*atoms[:-1], *(self._repeated(each) for each in atoms[-1:])]

    def _repeated(self, atom: str) -> str:
        found = _REPETITION.match(self.text, self.at)
        if found is None:
            return atom
        self.at = found.end()
        least, most = int(found[1] or 0), int(found[3] or found[1] or 0)
        if not least <= most <= _MOST:
            raise ExpressionError(
                f"{found[0]!r} repeats more than {_MOST} times, or less than it says"
            )
        if _REPETITION.match(self.text, self.at):
            raise ExpressionError(f"{found[0]!r} is repeated again, which Go does not take")
        zero_width = atom in ("^", *_ANCHORS.values())
        return (f"(?:{atom})" if zero_width else atom) + found[0]

    def _atom(self, flags: frozenset[str]) -> str:
        character = self._next()
        if character == "[":
            return class_text(self._class(flags))
        if character == "(":
            return self._group(flags)
        if character == "\\":
            return self._escaped(flags)
        if _REPETITION.match(self.text, self.at):
            raise ExpressionError(f"nothing stands before {character!r}")
        self.at += 1
        plain = {
            ".": "(?s:.)" if "s" in flags else ".",
            "^": "(?m:^)" if "m" in flags else "^",
            "$": "(?m:$)" if "m" in flags else r"\Z",
        }
        return plain.get(character) or _literal(ord(character), flags)

    def _group(self, flags: frozenset[str]) -> str:
        if found := self._flags():
            self.at, inner = found.end(), _changed(flags, found)
        elif found := _NAMED.match(self.text, self.at):
            self.at, inner = found.end(), flags
        elif self.text.startswith("(?", self.at):
            start = self.text[self.at : self.at + 4]
            raise ExpressionError(f"Go's have no group that begins with {start!r}")
        else:
            self.at, inner = self.at + 1, flags
        made = self.alternatives(inner)
        if not self._takes(")"):
            raise ExpressionError("it has a ( that is not closed")
        return f"(?:{made})"

    def _escaped(self, flags: frozenset[str]) -> str:
        letter = self.text[self.at + 1 : self.at + 2]
        if letter in _ANCHORS:
            self.at += 2
            return _ANCHORS[letter]
        if (found := self._known_class(flags)) is not None:
            return class_text(found)
        return _literal(self._character(), flags)

    def _known_class(self, flags: frozenset[str]) -> Ranges | None:
        r"""\d, \S and so on; None where none begins here."""
        letter = self.text[self.at + 1 : self.at + 2]
        if not self.text.startswith("\\", self.at) or letter.lower() not in (*CLASSES, "p"):
            return None
        if letter in "pP":
            raise ExpressionError(rf"classes of Unicode (\{letter}) are not to be had in Python")
        self.at += 2
        ranges = folded(CLASSES[letter.lower()], ignore_case="i" in flags)
        return inverted(ranges) if letter.isupper() else ranges

    def _character(self) -> int:
        """One character, escaped or not."""
        if not self._takes("\\"):
            self.at += 1
            return ord(self.text[self.at - 1])
        if found := _CHARACTER.match(self.text, self.at):
            self.at = found.end()
            code = int(found[3], 8) if found[3] else int(found[1] or found[2], 16)
            if code > _LAST:
                raise ExpressionError(rf"\{found[0]} is no character")
            return code
        letter = self._next()
        self.at += 1
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if not letter or letter.isalnum() or ord(letter) >= _ASCII:
            raise ExpressionError(rf"Go's have no \{letter}")
        return ord(letter)

    def _class(self, flags: frozenset[str]) -> Ranges:
        self.at += 1
        inverts = self._takes("^")
        found: list[tuple[int, int]] = []
        while not found or self._next() != "]":
            if not self._next():
                raise ExpressionError("it has a [ that is not closed")
            found += self._part_of_class(flags)
        self.at += 1
        return inverted(found) if inverts else inverted(inverted(found))

    def _part_of_class(self, flags: frozenset[str]) -> Sequence[tuple[int, int]]:
        if (named := self._posix(flags)) is not None:
            return named
        if (known := self._known_class(flags)) is not None:
            return known
        first = last = self._character()
        after = self.text[self.at + 1 : self.at + 2]
        if self._next() == "-" and after not in ("", "]"):
            self.at += 1
            last = self._character()
        if last < first:
            raise ExpressionError(f"{chr(first)}-{chr(last)} is no range")
        return folded([(first, last)], ignore_case="i" in flags)

    def _posix(self, flags: frozenset[str]) -> Ranges | None:
        """[:alpha:] and so on, inside a class."""
        end = self.text.find(":]", self.at + 2)
        if not self.text.startswith("[:", self.at) or end < 0:
            return None
        name = self.text[self.at + 2 : end]
        if name.removeprefix("^") not in POSIX:
            raise ExpressionError(f"there is no class [:{name}:]")
        self.at = end + 2
        ranges = folded(POSIX[name.removeprefix("^")], ignore_case="i" in flags)
        return inverted(ranges) if name.startswith("^") else ranges


def _changed(flags: frozenset[str], found: re.Match[str]) -> frozenset[str]:
    return (flags | set(found[1])) - set(found[2] or "")


def _literal(code: int, flags: frozenset[str]) -> str:
    ranges = folded([(code, code)], ignore_case="i" in flags)
    if len(ranges) > 1 or not chr(code).isprintable():
        return class_text(ranges)
    return f"\\{chr(code)}" if chr(code) in _SPECIAL else chr(code)
