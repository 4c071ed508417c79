# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults on the way to a server: a proxy that delays, refuses, cuts and spoils what it is told to."""

from tests.cluster.faults.forward import ForwardProxy
from tests.cluster.faults.model import Fault, Faults, Seen
from tests.cluster.faults.proxy import FaultProxy

__all__ = ["Fault", "FaultProxy", "Faults", "ForwardProxy", "Seen"]
