# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A faithful RMD server for tests: both dialects, TLS, pools, classes of service, a resctrl tree,
known faults."""

from tests.rmd.access import Tls
from tests.rmd.answers import StartError
from tests.rmd.connection import Seen
from tests.rmd.faults import Dialect, Faults, Injection
from tests.rmd.machine import Machine, Pools
from tests.rmd.policies import Policies
from tests.rmd.server import RmdServer
from tests.rmd.workload import Workload

__all__ = [
    "Dialect",
    "Faults",
    "Injection",
    "Machine",
    "Policies",
    "Pools",
    "RmdServer",
    "Seen",
    "StartError",
    "Tls",
    "Workload",
]
