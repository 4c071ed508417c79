# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small client of the Kubernetes API for this tool.

The tool judges the collection, so it must not share code with it; and it makes thousands of nodes,
so it keeps a few connections alive and does nothing but HTTP and JSON on them.
"""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import urllib3
import yaml

from tests.cluster.errors import ClusterError

CONNECTIONS = 8
MERGE = "application/merge-patch+json"
_T = TypeVar("_T")
_R = TypeVar("_R")


class ApiError(ClusterError):
    """The API server said no. `status` is the HTTP code; 0 means that there was no answer at
    all."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Api:
    """Requests as the user of one kubeconfig. Safe to use from several threads."""

    def __init__(self, kubeconfig: Path) -> None:
        document = yaml.safe_load(kubeconfig.read_text())
        cluster = document["clusters"][0]["cluster"]
        user = document["users"][0]["user"]
        self.server: str = cluster["server"]
        self.user: str = document["users"][0]["name"]
        context = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
        with tempfile.NamedTemporaryFile(
            "w"
        ) as pair:  # load_cert_chain reads files only; this one is mode 0600
            pair.write(
                _decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"])
            )
            pair.flush()
            context.load_cert_chain(pair.name)
        self._pool = urllib3.PoolManager(
            ssl_context=context, maxsize=CONNECTIONS, block=True, retries=False
        )

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        timeout: float = 60,
    ) -> Any:
        """Send one request and return the decoded JSON (or text); ApiError for any status from 400
        on."""
        headers = {"Accept": accept, "User-Agent": "hardware-enablement-cluster-tool"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = content_type
        answer = self.send(method, path, data, headers, timeout=timeout)
        is_json = "json" in answer.headers.get("Content-Type", "")
        content = json.loads(answer.data) if is_json else answer.data.decode()
        if answer.status >= 400:
            reason = content.get("message", "") if isinstance(content, dict) else content
            raise ApiError(
                answer.status, f"{method} {path} as {self.user} gave {answer.status}: {reason}"
            )
        return content

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        timeout: float = 60,
        stream: bool = False,
    ) -> urllib3.BaseHTTPResponse:
        """The answer as it is, whatever its status. The body of a stream is not read yet, and may
        come at any time."""
        try:
            return self._pool.request(
                method,
                self.server + path,
                body=body,
                headers=headers,
                timeout=None if stream else timeout,
                preload_content=not stream,
            )
        except urllib3.exceptions.HTTPError as error:
            raise ApiError(
                0, f"No answer from {self.server} to {method} {path}: {error}"
            ) from error

    def get(self, path: str) -> Any:
        """The object or list at this path. Asks again if the server has no time, or has not caught
        up with itself."""
        for pause in (0.2, 0.5, 1, 2):
            try:
                return self.request("GET", path)
            except ApiError as error:
                if error.status not in (429, 500, 503, 504):
                    raise
                time.sleep(pause)
        return self.request("GET", path)

    def create(self, path: str, body: Any, *, missing_ok: bool = True) -> Any:
        """Create an object; one that is there already is left alone unless `missing_ok` is
        False."""
        try:
            return self.request("POST", path, body)
        except ApiError as error:
            if error.status != 409 or not missing_ok:
                raise
            return None

    def patch(self, path: str, body: Any, *, content_type: str = MERGE) -> Any:
        """Merge-patch an object (or, with another content type, patch it that way)."""
        return self.request("PATCH", path, body, content_type=content_type)

    def delete(self, path: str) -> bool:
        """Delete an object; False if it was not there."""
        try:
            self.request("DELETE", path)
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True

    def pages(self, path: str, *, limit: int = 500) -> Iterator[dict[str, Any]]:
        """All items of a list, read page by page."""
        after = ""
        while True:
            joint = "&" if "?" in path else "?"
            page = self.get(f"{path}{joint}limit={limit}" + (f"&continue={after}" if after else ""))
            yield from page.get("items") or []
            after = page["metadata"].get("continue", "")
            if not after:
                return

    def ready(self) -> bool:
        """True once the server says that it is ready."""
        try:
            self.request("GET", "/readyz", accept="*/*", timeout=5)
        except ApiError:
            return False
        return True

    def close(self) -> None:
        """Close the kept-alive connections."""
        self._pool.clear()


def in_parallel(
    call: Callable[[_T], _R], items: Iterable[_T], *, workers: int = CONNECTIONS
) -> list[_R]:
    """call(item) for each item on a few threads; results in order, the first error is raised."""
    listed: Sequence[_T] = list(items)
    with ThreadPoolExecutor(max_workers=max(1, min(workers, len(listed)))) as executor:
        return list(executor.map(call, listed))


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode()
