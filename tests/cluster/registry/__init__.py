# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real registry (the program `distribution`) with TLS, and a token server, on loopback."""

from tests.cluster.registry.accounts import PULLER, PUSHER, Account
from tests.cluster.registry.images import Images
from tests.cluster.registry.registry import Registry
from tests.cluster.registry.token_server import Behaviour

__all__ = ["PULLER", "PUSHER", "Account", "Behaviour", "Images", "Registry"]
