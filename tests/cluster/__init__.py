# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A local Kubernetes cluster of real programs and simulated nodes. See README.md next to this file."""

from __future__ import annotations

from tests.cluster.cluster import Cluster
from tests.cluster.errors import ClusterError

__all__ = ["Cluster", "ClusterError"]
