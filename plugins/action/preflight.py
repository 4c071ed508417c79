# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""preflight inside the controller, where that is possible; documented with the module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..module_utils._interface import arguments
from ..module_utils._interface.bundle import find_bundle
from ..module_utils._preflight import preflight_core
from ..plugin_utils._in_process import InProcessAction


class ActionModule(InProcessAction):
    """preflight with the files of all recipes, where none is named."""

    MODULE, SPEC, TASK = "preflight", arguments.PREFLIGHT, preflight_core.TASK

    def _complete(self, args: dict[str, Any], task_vars: Mapping[str, Any]) -> None:
        super()._complete(args, task_vars)
        if not args.get("recipe"):
            stores = self._stores()
            names = sorted({name for store in stores for name in store.names()})
            args["bundles"] = {name: find_bundle(name, stores) for name in names}
