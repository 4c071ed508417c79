# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the settings of a connection come from, so that advice names what a person can change. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

# As the kubernetes client and Python read them, in whatever case.
_IN_POD = "KUBERNETES_SERVICE_HOST"
_PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


@dataclass(frozen=True)
class ConnectionSource:
    """What says where the API server is, who one is, which CA is trusted and which proxy is asked: an
    option, a variable or a field of a kubeconfig, each with its name. ca and proxy: "" where there is
    none."""

    host: str = "host"
    ca: str = ""
    proxy: str = ""
    credentials: str = "the credentials"
    in_kubeconfig: bool = False


@dataclass(frozen=True)
class ConnectionSettings:
    """auth: what the kubernetes client is told, by its names. given: the names of the options that
    the task has given. environ: the process's variables. proxy, ca: what the client makes of all
    that, "" for none."""

    auth: Mapping[str, Any]
    given: Set[str]
    environ: Mapping[str, str]
    proxy: str = ""
    ca: str = ""


def source_of(settings: ConnectionSettings) -> ConnectionSource:
    """Where each setting comes from."""
    place = _kubeconfig(settings)
    host = _option(settings, "host", "host", _public("host"))
    ca = _option(settings, "ssl_ca_cert", "ca_cert", _public("ca_cert"))
    return ConnectionSource(
        host=host or f"server in {place}",
        ca=ca or (f"certificate-authority in {place}" if settings.ca else ""),
        proxy=_proxy(settings, place) if settings.proxy else "",
        credentials=_credentials(settings, place),
        in_kubeconfig=not host,
    )


def _kubeconfig(settings: ConnectionSettings) -> str:
    path = settings.auth.get("kubeconfig")
    if isinstance(path, str) and path:
        return f"kubeconfig {path}"
    if path:
        return "the kubeconfig given as data"
    return "this pod's ServiceAccount" if _IN_POD in settings.environ else "~/.kube/config"


def _option(settings: ConnectionSettings, name: str, option: str, public: str = "") -> str:
    """The option or the variable of kubernetes.core that gives a setting, "" where none does. public:
    the playbooks' variable for it."""
    if not settings.auth.get(name):
        return ""
    if option in settings.given:
        return f"option {option}{public}"
    names = [f"K8S_AUTH_{each.upper()}" for each in (option, name)]
    return f"variable {names[0] if names[0] in settings.environ else names[1]}"


def _credentials(settings: ConnectionSettings, place: str) -> str:
    """By what the API server is told who one is: a token first, as the client does."""
    options = (("api_key", "api_key"), ("password", "password"), ("cert_file", "client_cert"))
    found = (
        _option(settings, name, option, _public(option) if name != "password" else "")
        for name, option in options
    )
    return next(filter(None, found), f"the user's credentials in {place}")


def _public(option: str) -> str:
    return f" (hardware_enablement_{option})"


def _proxy(settings: ConnectionSettings, place: str) -> str:
    found = _option(settings, "proxy", "proxy")
    variables = (
        name
        for each in _PROXY_VARIABLES
        for name in (each.lower(), each)
        if settings.environ.get(name) == settings.proxy
    )
    return found or next((f"variable {name}" for name in variables), f"proxy-url in {place}")
