# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters as requests: by name, shared ones in groups, suboptions as dataclasses of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._schema.requests import (
    ParameterGroup,
    make_request,
)


@dataclass(frozen=True)
class Login(ParameterGroup):
    """A group, one field of which is secret."""

    user: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Fault:
    """Suboptions."""

    node: str
    fault: str


@dataclass(frozen=True)
class Request:
    """Whatever a request may hold."""

    login: Login
    name: str
    labels: Sequence[str]
    worst: Fault | None
    faults: tuple[Fault, ...]
    others: tuple[Fault, ...] | None = None


def params(**given: Any) -> dict[str, Any]:
    """Complete parameters."""
    return {"name": "x", "labels": ["a"], "worst": None, "faults": [], **given}


def test_a_field_takes_the_parameter_of_its_name() -> None:
    request = make_request(Request, params(unknown=1))
    assert (request.name, request.labels, request.worst, request.faults) == ("x", ["a"], None, ())


def test_a_group_takes_its_fields_from_the_same_parameters() -> None:
    login = make_request(Request, params(user="me", password="s3cret")).login
    assert login == Login("me", "s3cret")
    assert "s3cret" not in repr(login)


def test_suboptions_are_dataclasses_also_in_a_list() -> None:
    found = [{"node": "n1", "fault": "Xid"}, {"node": "n2", "fault": "ECC"}]
    request = make_request(Request, params(worst=found[0], faults=found, others=found))
    assert request.worst == Fault("n1", "Xid")
    assert request.faults == (Fault("n1", "Xid"), Fault("n2", "ECC"))
    assert request.others == request.faults


def test_a_missing_parameter_leaves_the_default_and_is_an_error_without_one() -> None:
    assert make_request(Request, params()).others is None
    assert make_request(Request, params()).login == Login()
    with pytest.raises(TypeError, match="name"):
        make_request(Request, {"labels": [], "worst": None, "faults": []})
