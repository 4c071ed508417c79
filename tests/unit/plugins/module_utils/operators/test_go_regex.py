# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Regular expressions of Go as Python's. What each matches is what Go's regexp.MatchString says."""

from __future__ import annotations

import re

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._operators.go_regex import (
    ExpressionError,
    python_expression,
)

KERNELS = ("5.14.0-427.el9_4.x86_64", "6.8.0-60-generic", "6.12.38+deb13-amd64", "5.10.123-GKE")
EL, GENERIC, DEBIAN, GKE = KERNELS


@pytest.mark.parametrize(
    ("expression", "matched"),
    [
        (r"^.+$", KERNELS),
        (r"^(4\.18|5\.14)\..*\.el[89](_\d+)?\.x86_64$", (EL,)),
        (r"(?i)gke$", (GKE,)),
        (r"5|(?i)GENERIC|deb", (EL, GENERIC, DEBIAN, GKE)),
        (r"6\.8.*(?i:GENERIC)\z", (GENERIC,)),
        (r"(?i)[^g-z0-9.-]$|[[:upper:]]c$", (GKE, GENERIC)),
        (r"(?i)[[:^upper:]][[:alpha:]]$", ()),
        (r"[[:digit:]]+[.][[:digit:]]+[.]0-[[:alpha:][:digit:]]+[.-][^[:digit:]]", (EL, GENERIC)),
        (r"\A(?P<major>\d+)\.(?<minor>\d{1,2})\.\d{3}\D", (GKE,)),
        (r"\Q6.12.38+\E.*", (DEBIAN,)),
        (r"\Q6.8", (GENERIC,)),
        (r"(?U)6.+?-\w*$", (GENERIC, DEBIAN)),
        (r"(?ms)^5.*64$", (EL,)),
        (r"x86_64\b|\bdeb13", (EL, DEBIAN)),
        (r"\x2bdeb|\053deb|\x{2B}deb", (DEBIAN,)),
        (r"el{,2}9|6.8{1}", (GENERIC,)),
        (r"[]0-9+-]+deb", (DEBIAN,)),
        (r"^*6(?i)*.8", (EL, GENERIC, DEBIAN)),
        (r"[\w&&]+-amd", (DEBIAN,)),
        (r"", KERNELS),
    ],
)
def test_the_same_texts_match(expression: str, matched: tuple[str, ...]) -> None:
    made = re.compile(python_expression(expression))
    assert [kernel for kernel in KERNELS if made.search(kernel)] == [
        kernel for kernel in KERNELS if kernel in matched
    ]


def test_a_dollar_is_the_end_and_nothing_before_it() -> None:
    assert not re.search(python_expression("generic$"), "generic\n")
    assert re.search(python_expression("(?m)generic$"), "generic\n")


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("(", "it has a ( that is not closed"),
        (")", "it has a ) that closes nothing"),
        ("[a", "it has a [ that is not closed"),
        ("a++", "'+' is repeated again, which Go does not take"),
        ("a{2}{3}", "'{2}' is repeated again, which Go does not take"),
        ("*a", "nothing stands before '*'"),
        ("a|?", "nothing stands before '?'"),
        ("(?=a)", "Go's have no group that begins with '(?=a'"),
        ("(?<!a)", "Go's have no group that begins with '(?<!'"),
        ("(?>a)", "Go's have no group that begins with '(?>a'"),
        (r"(a)\1", r"Go's have no \1"),
        (r"\Z", r"Go's have no \Z"),
        (r"^.+\el9", r"Go's have no \e"),
        ("a\\", "Go's have no \\"),
        (r"\pL", r"classes of Unicode (\p) are not to be had in Python"),
        (r"[\P{Lu}]", r"classes of Unicode (\P) are not to be had in Python"),
        ("[[:letter:]]", "there is no class [:letter:]"),
        ("[b-a]", "b-a is no range"),
        ("a{1001}", "'{1001}' repeats more than 1000 times, or less than it says"),
        ("a{2,1}", "'{2,1}' repeats more than 1000 times, or less than it says"),
        (r"\x{110000}", r"\x{110000} is no character"),
    ],
)
def test_what_cannot_be_had_is_said(expression: str, why: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        python_expression(expression)
    assert str(caught.value) == why
