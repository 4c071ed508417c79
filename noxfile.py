# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sessions of antsibull-nox.toml; run by `make antsibull-nox`, in .venv and without
environments of nox's own."""

from __future__ import annotations

import antsibull_nox

antsibull_nox.load_antsibull_nox_toml()
