# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of Kernel Module Management for tests."""

from __future__ import annotations

from typing import Any

Obj = dict[str, Any]

DOCKERFILE = """\
ARG DTK_AUTO
FROM ${DTK_AUTO} AS builder
RUN --mount=type=secret,id=x cat /run/secrets/token && make KVER={{not a template}}
FROM registry.example.com/ubi
COPY --from=builder /x /opt/lib/modules/
"""
DOCKERFILES = {"d": DOCKERFILE, "sample": "FROM other AS made\n"}


def module(mappings: list[Obj] | None = None, plugin: Obj | None = None, **container: Any) -> Obj:
    """A Module; without mappings, with one for all kernels."""
    loader = {
        "containerImage": "r/card:1",
        "modprobe": {"moduleName": "card"},
        "kernelMappings": mappings or [{"regexp": "^.+$"}],
        **container,
    }
    spec: Obj = {"selector": {"card": "yes"}, "moduleLoader": {"container": loader}}
    if plugin:
        spec["devicePlugin"] = plugin
    return {"metadata": {"name": "card", "namespace": "cards"}, "spec": spec}
