# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A core with the request that it takes: what a module and its action plugin both run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic

from .._json import Obj
from .._schema.requests import Request, make_request
from .context import RunContext


@dataclass(frozen=True)
class Task(Generic[Request]):
    """request: the dataclass that holds the parameters."""

    request: type[Request]
    core: Callable[[Request, RunContext], Obj]

    def run(self, params: Mapping[str, Any], context: RunContext) -> Obj:
        """The result of the core. params: checked by the module's argument specification."""
        return self.core(make_request(self.request, params), context)
