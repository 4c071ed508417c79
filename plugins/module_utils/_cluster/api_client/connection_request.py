# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a task says which cluster it means, and as whom: the options of kubernetes.core, and the UID
that the cluster has to have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Optional, Union

from ..._json import Obj
from ..._schema.requests import ParameterGroup


@dataclass(frozen=True)
class ProxyHeaders:
    """What a proxy is told in each request."""

    basic_auth: Optional[str] = field(default=None, repr=False)
    proxy_basic_auth: Optional[str] = field(default=None, repr=False)
    user_agent: Optional[str] = None


@dataclass(frozen=True)
class ClusterLogin(ParameterGroup):
    """As whom a task speaks."""

    api_key: Optional[str] = field(default=None, repr=False)
    username: Optional[str] = None
    password: Optional[str] = field(default=None, repr=False)
    client_cert: Optional[str] = None
    client_key: Optional[str] = None
    impersonate_user: Optional[str] = None
    impersonate_groups: Optional[Sequence[str]] = None


@dataclass(frozen=True)
class ClusterTransport(ParameterGroup):
    """The way to the API server: whom it trusts, what it goes through, whether it is kept."""

    ca_cert: Optional[str] = None
    validate_certs: Optional[bool] = None
    proxy: Optional[str] = None
    no_proxy: Optional[str] = None
    proxy_headers: Optional[ProxyHeaders] = None
    persist_config: Optional[bool] = None


@dataclass(frozen=True)
class ConnectionRequest(ParameterGroup):
    """kubeconfig: a path, or what such a file holds. All that is None is left to the variables
    K8S_AUTH_* and to the kubernetes client."""

    kubeconfig: Union[str, Obj, None] = field(default=None, repr=False)
    context: Optional[str] = None
    host: Optional[str] = None
    login: ClusterLogin = ClusterLogin()
    transport: ClusterTransport = ClusterTransport()
    cluster_uid: Optional[str] = None

    @property
    def options(self) -> Obj:
        """Those of kubernetes.core that are given, by their names."""
        parts = (asdict(part) for part in (self, self.login, self.transport))
        return {
            name: value
            for part in parts
            for name, value in part.items()
            if value is not None and name not in ("login", "transport", "cluster_uid")
        }
