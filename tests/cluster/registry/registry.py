# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One registry as tests see it: start, stop, accounts, and what it was asked."""

from __future__ import annotations

import json
import shutil
import sys
import time
import uuid
from pathlib import Path
from types import TracebackType

import urllib3

from tests.cluster import processes
from tests.cluster.errors import ClusterError
from tests.cluster.locks import locked
from tests.cluster.paths import REPO, clusters_folder
from tests.cluster.pki import Authority
from tests.cluster.ports import chosen_ports, free_ports
from tests.cluster.programs import REGISTRY_MODULES, Say, ensure_programs
from tests.cluster.registry.access_log import Logged, parse
from tests.cluster.registry.accounts import PUSHER, Account
from tests.cluster.registry.configuration import HOSTS, NAME, Auth, Record, write_files
from tests.cluster.registry.token_server import Behaviour

_PROGRAM = "registry"
_TOKENS = "token-server"
_PATIENCE_S = 240.0
# In the query of the requests that we send, not the client that is tested.
_OURS = "of-the-test-itself"


def _quiet(_line: str) -> None:
    """Say nothing: what library callers want."""


class Registry:
    """A registry in a folder of its own: data/, logs/, run/, pki/, registry.json.

    Make one with `Registry.start(...)`, or `Registry.attach(folder)` for one that somebody has
    started. As a context manager it stops the registry at the end; the folder stays, whoever made
    it removes it.
    """

    def __init__(self, folder: Path, record: Record) -> None:
        self.folder = folder
        self.record = record
        ca = str(folder / "pki" / "ca.crt")
        self._pool = urllib3.PoolManager(ca_certs=ca, retries=False, timeout=5)

    @classmethod
    def start(
        cls,
        folder: Path,
        *,
        auth: Auth,
        authority: Authority,
        redirects_to: str = "",
        say: Say = _quiet,
    ) -> Registry:
        """Start a registry; what runs or lies in that folder already must be of the same kind, and
        is started again.

        auth: "token" starts a token server, too. redirects_to: URL under which `folder/data` is
        served; blobs are then not answered, but redirected there.
        """
        ensure_programs(say, REGISTRY_MODULES)
        with locked(clusters_folder() / ".ports.lock"):
            record = Record.read(folder)
            if record is None:
                port, token_port = free_ports(2, taken=chosen_ports())
                record = Record(auth, port, token_port, redirects_to)
                record.write(folder)
            elif (record.auth, record.redirects_to) != (auth, redirects_to):
                raise ClusterError(
                    f"The registry in {folder} was started with other options: use another folder."
                )
            # The last of the files.
            if not (folder / "tokens.json").exists():
                write_files(folder, record, authority)
            registry = cls(folder, record)
            try:
                registry.resume()
            except BaseException:
                registry.stop()
                raise
        return registry

    @classmethod
    def attach(cls, folder: Path) -> Registry:
        """A registry that somebody has started; ClusterError if there is none."""
        record = Record.read(folder)
        if record is None:
            raise ClusterError(f"There is no registry in {folder}: start one with Registry.start.")
        return cls(folder, record)

    @staticmethod
    def remove(folder: Path) -> None:
        """Stop all that runs for the registry in a folder, whatever state it is in, and remove the
        folder."""
        _stop(folder)
        shutil.rmtree(folder, ignore_errors=True)

    def resume(self) -> None:
        """Start what does not run, with the same port and data."""
        running = {process.program for process in processes.noted(self.folder) if process.alive}
        if self.record.auth == "token" and _TOKENS not in running:
            command = [sys.executable, "-m", "tests.cluster.registry.token_server"]
            processes.start(
                _TOKENS,
                [*command, str(self.folder), str(self.record.token_port)],
                folder=self.folder,
                port=self.record.token_port,
                directory=REPO,
            )
        if _PROGRAM not in running:
            program = ensure_programs(_quiet, REGISTRY_MODULES)[_PROGRAM]
            processes.start(
                _PROGRAM,
                [program, "serve", str(self.folder / "config.yml")],
                folder=self.folder,
                port=self.record.port,
                # Else it looks for a collector of traces and complains.
                environment={"OTEL_TRACES_EXPORTER": "none"},
            )
        self._wait()

    def stop(self) -> None:
        """Stop all that runs for it; its data stays."""
        _stop(self.folder)

    def __enter__(self) -> Registry:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def address(self) -> str:
        """127.0.0.1:PORT, for this machine."""
        return f"127.0.0.1:{self.record.port}"

    @property
    def named_address(self) -> str:
        """registry.test:PORT, for who has that name in a hosts file."""
        return f"{NAME}:{self.record.port}"

    @property
    def ca(self) -> str:
        """The authority of its certificate, PEM."""
        return (self.folder / "pki" / "ca.crt").read_text()

    @property
    def credentials(self) -> Account:
        """The account that may push."""
        return PUSHER

    def dockerconfig(self, account: Account = PUSHER, *, identity_token: bool = False) -> str:
        """The text of a .dockerconfigjson with an account, for all its names."""
        entry = account.token_entry if identity_token else account.entry
        return json.dumps({"auths": {f"{host}:{self.record.port}": entry for host in HOSTS}})

    def behave(self, behaviour: Behaviour) -> None:
        """Change what the token server's next tokens are like."""
        behaviour.write(self.folder)

    def mark(self) -> int:
        """Now, for requests(since=...)."""
        self._settle()
        return self._log().stat().st_size

    def requests(self, since: int = 0) -> list[Logged]:
        """All requests that the registry has answered since a mark, but for our own."""
        self._settle()
        with self._log().open("rb") as log:
            log.seek(since)
            return [request for request in parse(log.read().decode()) if _OURS not in request.path]

    def token_requests(self) -> list[dict[str, object]]:
        """What the token server was asked: method, status, account ("" for anybody), scopes."""
        lines = (self.folder / "logs" / f"{_TOKENS}.log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def _log(self) -> Path:
        return self.folder / "logs" / f"{_PROGRAM}.log"

    def _settle(self) -> None:
        """Wait until the log tells of all that was answered: a line may follow its answer by a
        moment."""
        if not any(
            process.alive for process in processes.noted(self.folder) if process.program == _PROGRAM
        ):
            return
        mark = f"{_OURS}={uuid.uuid4().hex}"
        self._pool.request("GET", f"https://{self.address}/v2/?{mark}")
        deadline = time.monotonic() + _PATIENCE_S
        while mark not in self._log().read_text():
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"The registry does not write its log {self._log()}: see whether the disk is full."
                )
            time.sleep(0.01)

    def _wait(self) -> None:
        ports = [self.record.port] + (
            [self.record.token_port] if self.record.auth == "token" else []
        )
        deadline = time.monotonic() + _PATIENCE_S
        for port in ports:
            while not self._answers(port):
                self._check()
                if time.monotonic() > deadline:
                    raise ClusterError(
                        f"The registry was not ready within {_PATIENCE_S:.0f} s: see {self._log()}."
                    )
                time.sleep(0.02)

    def _answers(self, port: int) -> bool:
        try:
            self._pool.request("GET", f"https://127.0.0.1:{port}/v2/?{_OURS}")
        except urllib3.exceptions.HTTPError:
            return False
        return True

    def _check(self) -> None:
        for process in processes.noted(self.folder):
            if not process.alive:
                log = self.folder / "logs" / f"{process.program}.log"
                last = (
                    log.read_text(errors="replace").strip().splitlines() or ["(its log is empty)"]
                )[-1]
                raise ClusterError(
                    f"{process.program} ended while it started: {last} (all of it in {log})"
                )


def _stop(folder: Path) -> None:
    found = {process.pid: process for process in processes.marked(folder)}
    found.update({process.pid: process for process in processes.noted(folder) if process.alive})
    processes.stop(found.values(), patience=5)
