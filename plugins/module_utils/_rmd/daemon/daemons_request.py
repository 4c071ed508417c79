# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the modules of RMD say where the daemons are, how they are spoken to, and which nodes are
meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Optional

from ..._schema.requests import ParameterGroup


@dataclass(frozen=True)
class TlsRequest(ParameterGroup):
    """Whom a client of the daemons trusts, and what it shows. tls_secret: the name of a Secret that
    holds it, where no paths are given."""

    tls_secret: str
    rmd_ca: Optional[str] = None
    rmd_cert: Optional[str] = None
    rmd_key: Optional[str] = None


@dataclass(frozen=True)
class DaemonsRequest(ParameterGroup):
    """How the daemons are found and spoken to. namespace: of their pods. endpoint: the way to one.
    timeout: seconds for each request."""

    tls: TlsRequest
    namespace: str
    endpoint: Literal["pod_ip", "host_port", "port_forward"] = "pod_ip"
    tls_server_name: Optional[str] = None
    rmd_username: Optional[str] = None
    rmd_password: Optional[str] = field(default=None, repr=False)
    timeout: int = 30


@dataclass(frozen=True)
class NodeChoice(ParameterGroup):
    """The nodes that a task names, or those with all labels of node_selector."""

    nodes: Optional[Sequence[str]] = None
    node_selector: Optional[Mapping[str, Any]] = None
