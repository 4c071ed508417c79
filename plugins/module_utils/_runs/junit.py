# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JUnit's XML of what was looked at; its form is docs/admin/junit.xsd. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as Xml

# Of the form: an element or attribute that goes, or means something else, makes it 2.
VERSION = 1
_COUNTED = (
    *(("tests", "testcase"), ("failures", "failure"), ("errors", "error")),
    ("skipped", "skipped"),
)


Outcome = Literal["", "failure", "error", "skipped", "system-out"]


@dataclass(frozen=True)
class JunitCase:
    """One thing that was looked at. outcome: "" where it holds, else the element that says how it does not;
    kind: its type; message: one sentence; text: all of it; part: of the suite, added to its class."""

    name: str
    outcome: Outcome = ""
    kind: str = ""
    message: str = ""
    text: str = ""
    part: str = ""


def to_xml(suites: Mapping[str, Sequence[JunitCase]]) -> str:
    """The text of a file. suites: name -> its cases; a case's class is its suite's name, and its part."""
    root = Xml.Element("testsuites")
    for name, cases in suites.items():
        suite = Xml.SubElement(root, "testsuite", name=_printable(name))
        properties = Xml.SubElement(suite, "properties")
        Xml.SubElement(properties, "property", name="version", value=str(VERSION))
        for case in cases:
            _add(suite, name, case)
        _count(suite)
    _count(root)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add(suite: Xml.Element, name: str, case: JunitCase) -> None:
    owner = ".".join(each for each in (name, case.part) if each)
    found = Xml.SubElement(
        suite, "testcase", classname=_printable(owner), name=_printable(case.name)
    )
    if not case.outcome:
        return
    said = {"message": case.message, "type": case.kind}
    attributes = {key: _printable(value) for key, value in said.items() if value}
    Xml.SubElement(found, case.outcome, attributes).text = _printable(case.text) or None


def _count(element: Xml.Element) -> None:
    for name, tag in _COUNTED:
        element.set(name, str(sum(1 for _found in element.iter(tag))))


def _printable(text: str) -> str:
    """Without characters that XML does not know, and that pods' messages may hold."""
    return "".join(each for each in text if each.isprintable() or each == "\n")
