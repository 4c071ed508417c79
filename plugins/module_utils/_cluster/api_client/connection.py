# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Authentication: a configured connection pool and the headers of a request.

kubernetes.core reads the options and K8S_AUTH_* variables, the kubernetes client reads kubeconfigs,
service accounts and exec plugins. So everything works as users of kubernetes.core know it. What is
added here: errors are one sentence, one connection's settings never leak into the next one, and
files with decoded keys do not outlive the process."""

from __future__ import annotations

import ast
import contextlib
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from multiprocessing import util as process_util
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..._errors import InvalidInput, PackageNotFound
from .api_errors import ApiError, Unreachable
from .connection_request import ConnectionRequest
from .connection_source import ConnectionSettings, ConnectionSource, source_of
from .decoding import ApiResponse
from .refusals import error_from_answer

try:
    import kubernetes
    import urllib3
    from kubernetes.config import kube_config
    from kubernetes.stream import ws_client
    from yaml import YAMLError
except ImportError:
    kubernetes = None

try:
    from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_MAP
    from ansible_collections.kubernetes.core.plugins.module_utils.k8s import client as core
except ImportError:
    core = None

# What says which cluster is spoken to, and as whom, by the names of the kubernetes client.
_WHERE_AND_WHO = {
    *("kubeconfig", "context", "host", "api_key", "username", "password"),
    *("cert_file", "key_file", "ssl_ca_cert", "verify_ssl"),
}
# Of a kubeconfig; one with certificates for 500 clusters is smaller.
_MOST_BYTES = 5_000_000
# Worker threads, watches and the main thread each keep a connection.
POOL_SIZE = 24
_TODO = "check kubeconfig, context and host, or the variables K8S_AUTH_KUBECONFIG, K8S_AUTH_CONTEXT and K8S_AUTH_HOST"
# The kubernetes client keeps its default configuration in a class attribute.
_DEFAULTS_LOCK = threading.Lock()
_HANDSHAKE = re.compile(r"Handshake status (\d{3})")


class Connection:
    """host: the API server's URL without a slash at its end. pool: a urllib3 PoolManager that knows
    TLS and proxy. source: where the settings come from."""

    def __init__(
        self,
        configuration: Any,
        headers: Mapping[str, Any],
        context: Callable[[], str],
        source: ConnectionSource,
    ) -> None:
        configuration.connection_pool_maxsize = POOL_SIZE
        api_client = kubernetes.client.ApiClient(configuration)
        for name, value in headers.items():
            core._set_header(api_client, name, value)
        self._context = context
        self.host: str = configuration.host.rstrip("/")
        self.source = source
        self.pool: Any = api_client.rest_client.pool_manager
        self._configuration = configuration
        self._fixed = dict(api_client.default_headers)
        if configuration.username and configuration.password:
            self._fixed["authorization"] = configuration.get_basic_auth_token()
        self._refresh_lock = threading.Lock()

    @property
    def context(self) -> str:
        """The context of the kubeconfig that is used, "" where there is none; reads the file again."""
        return self._context()

    def headers(self) -> dict[str, str]:
        """The headers of a request: user agent, impersonation, and a token that is renewed when it
        has to be."""
        headers = dict(self._fixed)
        # Asking for the settings runs the hook that renews an expired token, which is not made for
        # threads.
        with self._refresh_lock:
            settings = self._configuration.auth_settings()
        for setting in settings.values():
            if setting["in"] == "header" and setting["value"]:
                headers[setting["key"]] = setting["value"]
        return headers

    def port_forward(self, path: str, port: int, target: str) -> Any:
        """A stream to a pod's port: kubernetes.stream's PortForward. Raises ApiError."""
        headers = {name.lower(): value for name, value in self.headers().items()}
        if any(name.startswith("impersonate-") for name in headers):
            # The client's websockets carry no other header than the token, and so another user's
            # rights.
            why = "a port-forward cannot be made as another user"
            raise InvalidInput(
                f"Cannot forward {target}", where=self.host, why=why, todo="leave impersonation out"
            )
        query = [("ports", str(port))]
        try:
            return ws_client.portforward_call(
                self._configuration, "GET", self.host + path, query_params=query, headers=headers
            )
        except kubernetes.client.ApiException as error:
            raise _refused_stream(str(error.reason), self.host, target) from error


def open_connection(request: ConnectionRequest) -> Connection:
    """Read the connection options of a task; sends nothing. Raises InvalidInput."""
    if kubernetes is None:
        raise PackageNotFound("Cannot connect to a cluster", "kubernetes>=29")
    if core is None:
        raise InvalidInput(
            "Cannot connect to a cluster",
            why="the collection kubernetes.core is missing",
            todo="install it where ansible-playbook runs (ansible-galaxy collection install kubernetes.core)",
        )
    given = request.options
    # Job runners tend to export variables that are empty; the client would take those for values.
    auth = {name: value for name, value in core._create_auth_spec(**given).items() if value != ""}
    _drop_ambient(auth, given)
    _complete(auth)
    source = _describe(auth)
    _check_files(auth, source)
    with _caught(source), _DEFAULTS_LOCK, _log_of_plugins() as log:
        kubernetes.client.Configuration.set_default(None)
        try:
            configuration = core._create_configuration(auth)
        finally:
            kubernetes.client.Configuration.set_default(None)
            _remove_files_at_exit()
        _check(configuration, auth, source, log)
        _log_in_to_proxy(configuration)
        settings = ConnectionSettings(
            auth,
            frozenset(given),
            os.environ,
            proxy=configuration.proxy or "",
            ca=configuration.ssl_ca_cert or "",
        )
        return Connection(
            configuration,
            core._create_headers(**given),
            partial(_context_of, auth),
            source_of(settings),
        )


def _refused_stream(reason: str, host: str, target: str) -> ApiError:
    """From the words of a websocket client: "Handshake status 403 Forbidden -+-+- {headers} -+-+-
    b'body'"."""
    status = _HANDSHAKE.match(reason)
    if status is None:
        why, todo = (
            f"the API server gives no stream: {reason}",
            "see whether it is healthy, then run again",
        )
        return Unreachable(
            f"Cannot forward {target}",
            where=host,
            why=why,
            todo=todo,
        )
    body = b""
    with contextlib.suppress(SyntaxError, ValueError):
        body = ast.literal_eval(reason.rpartition("-+-+-")[2].strip())
    answer = ApiResponse(int(status[1]), {}, body or b"")
    return error_from_answer(answer, where=host, verb="forward", target=target, relayed=True)


def _drop_ambient(auth: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Where the task says which cluster and as whom, variables of the environment about another one
    do not count.

    A job's own K8S_AUTH_HOST would otherwise win over the kubeconfig of each of a fleet's hosts.
    """
    explicit = {name for name in auth if AUTH_ARG_MAP[name] in given}
    alone = {"host", "api_key"}, {"host", "username", "password"}, {"host", "cert_file", "key_file"}
    if not explicit & {"kubeconfig", "context"} and not any(needed <= explicit for needed in alone):
        return
    # A context is looked for in the kubeconfig that the environment names.
    kept = {"kubeconfig"} if "context" in explicit else set()
    for name in _WHERE_AND_WHO - explicit - kept:
        auth.pop(name, None)


def _context_of(auth: Mapping[str, Any]) -> str:
    if auth.get("context"):
        return str(auth["context"])
    kubeconfig = auth.get("kubeconfig")
    if isinstance(kubeconfig, Mapping):
        return str(kubeconfig.get("current-context") or "")
    if not kubeconfig and (auth.get("host") or "KUBERNETES_SERVICE_HOST" in os.environ):
        return ""
    _contexts, current = kubernetes.config.list_kube_config_contexts(config_file=kubeconfig)
    return str(current["name"])


def _complete(auth: dict[str, Any]) -> None:
    """Name the kubeconfig of the environment: the client reads that variable only once, when it is
    imported."""
    path = os.environ.get("KUBECONFIG")
    in_pod = "KUBERNETES_SERVICE_HOST" in os.environ and not auth.get("context")
    complete = auth.get("host") and (
        auth.get("api_key") or auth.get("password") or auth.get("key_file")
    )
    if path and not auth.get("kubeconfig") and not in_pod and not complete:
        auth["kubeconfig"] = path


def _describe(auth: Mapping[str, Any]) -> str:
    """Where the settings come from, for messages; never shows a secret."""
    kubeconfig = auth.get("kubeconfig")
    parts = []
    if kubeconfig:
        parts.append(
            f"kubeconfig {kubeconfig}"
            if isinstance(kubeconfig, str)
            else "the kubeconfig given as data"
        )
    if auth.get("context"):
        parts.append(f"context {auth['context']}")
    if auth.get("host"):
        parts.append(f"host {auth['host']}")
    return ", ".join(parts)


def _check_files(auth: Mapping[str, Any], source: str) -> None:
    kubeconfig = auth.get("kubeconfig")
    if isinstance(kubeconfig, str):
        paths = [Path(path).expanduser() for path in kubeconfig.split(os.pathsep) if path]
        if not any(path.exists() for path in paths):
            raise InvalidInput(
                "Cannot connect to a cluster", where=source, why="there is no such file", todo=_TODO
            )
        if any(path.is_file() and path.stat().st_size > _MOST_BYTES for path in paths):
            why = f"the kubeconfig is larger than {_MOST_BYTES} bytes"
            raise InvalidInput(
                "Cannot connect to a cluster", where=source, why=why, todo="name a smaller one"
            )
    for key, option in (
        ("ssl_ca_cert", "ca_cert"),
        ("cert_file", "client_cert"),
        ("key_file", "client_key"),
    ):
        path = auth.get(key)
        if path and not os.access(path, os.R_OK):
            raise InvalidInput(
                "Cannot connect to a cluster",
                where=source,
                why=f"the file {path} does not exist or cannot be read",
                todo=f"correct {option}",
            )


def _check(configuration: Any, auth: Mapping[str, Any], source: str, log: list[str]) -> None:
    if not str(configuration.host).startswith(("https://", "http://")):
        raise InvalidInput(
            "Cannot connect to a cluster",
            where=source,
            why=f'"{configuration.host}" is no URL',
            todo="write the host as https://name:port",
        )
    if auth.get("api_key"):
        # Else the hook of a kubeconfig would put the kubeconfig's own token back.
        configuration.refresh_api_key_hook = None
    if log and not configuration.api_key and not configuration.cert_file:
        raise InvalidInput(
            "Cannot log in to the cluster",
            where=source,
            why=log[-1],
            todo="run the kubeconfig's login command by hand",
        )


def _log_in_to_proxy(configuration: Any) -> None:
    """Name and password in a proxy's URL are sent to it, as Go's clients and curl do; the kubernetes
    client does not."""
    account = urllib3.util.parse_url(configuration.proxy).auth if configuration.proxy else None
    if account and not configuration.proxy_headers:
        configuration.proxy_headers = urllib3.make_headers(proxy_basic_auth=unquote(account))


@contextlib.contextmanager
def _caught(source: str) -> Iterator[None]:
    """Turn the client's errors into one sentence."""
    try:
        yield
    except kubernetes.config.ConfigException as error:
        why = str(error).replace("Invalid kube-config file. ", "").strip()
        if not source and "No configuration found" in why:
            why = "neither host nor kubeconfig is given, there is no ~/.kube/config, and this is no pod"
        raise InvalidInput(
            "Cannot connect to a cluster", where=source, why=why, todo=_TODO
        ) from error
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = "the kubeconfig is not YAML" + (f" (line {mark.line + 1})" if mark else "")
        raise InvalidInput(
            "Cannot connect to a cluster", where=source, why=why, todo="repair the file"
        ) from error
    except OSError as error:
        why = f"{error.filename or 'a file'} cannot be read ({error.strerror or error})"
        todo = "check its permissions"
        raise InvalidInput(
            "Cannot connect to a cluster", where=source, why=why, todo=todo
        ) from error
    except RecursionError:
        why = "the kubeconfig is nested too deep, or contains itself"
        raise InvalidInput(
            "Cannot connect to a cluster", where=source, why=why, todo="repair the file"
        ) from None
    except (AttributeError, KeyError, TypeError, ValueError, urllib3.exceptions.HTTPError) as error:
        why = f"the settings cannot be used ({type(error).__name__}: {error})"
        raise InvalidInput(
            "Cannot connect to a cluster", where=source, why=why, todo=_TODO
        ) from error


class _Collector(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(" ".join(record.getMessage().split()))


@contextlib.contextmanager
def _log_of_plugins() -> Iterator[list[str]]:
    """The client logs why a login plugin failed, and goes on without credentials."""
    lines: list[str] = []
    handler = _Collector(lines)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield lines
    finally:
        root.removeHandler(handler)


def _remove_files_at_exit() -> None:
    """The client writes decoded keys to temporary files and removes them by atexit, which forked
    workers never run."""
    remove = getattr(kube_config, "_cleanup_temp_files", None)
    if remove is not None:
        process_util.Finalize(None, remove, exitpriority=1)
