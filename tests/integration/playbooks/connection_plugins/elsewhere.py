# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""This machine under another name: what Ansible does with a target that is not the controller,
without SSH."""

from __future__ import annotations

from ansible.plugins.connection.local import Connection as Local

DOCUMENTATION = """
name: elsewhere
short_description: this machine as if it were another one
description: This machine as if it were another one.
author: hardware.enablement contributors
version_added: 0.1.0
options: {}
extends_documentation_fragment: connection_pipelining
"""


class Connection(Local):  # type: ignore[misc]
    """Not `local`, so nothing may run in the controller's own process."""

    transport = "elsewhere"
