# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster`"""

from __future__ import annotations

import sys

from tests.cluster.cli import main

if __name__ == "__main__":
    sys.exit(main())
