# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes of what recipes name: parts of Kubernetes' API, and files of their own."""

from __future__ import annotations

from dataclasses import dataclass

from .shapes import Integer, Text


@dataclass(frozen=True)
class RecipeFile(Text):
    """The path of a file in the recipe's folder, which has to be there."""


SECONDS = Integer(1, 86_400, "a number of seconds from 1 to 86400")
GROUP_VERSION = Text("group/version, or v1", r"([a-z0-9.-]+/)?v[0-9][a-z0-9]*")
KIND_NAME = Text("a kind", r"[A-Z][A-Za-z0-9]*")
# May be, or hold, a template of options.
RESOURCE_NAME = Text(
    "the name of an extended resource (example.com/device)",
    r"[A-Za-z0-9_.*-]+/.+|[\s\S]*\{[{%][\s\S]+[%}]\}[\s\S]*",
)
LABEL = Text("the name of a label", r"\S+|.*\{\{.*\}\}.*")
