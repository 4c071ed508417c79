# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a build that failed is done, and what it was at succeeds: the programs that builds
run, with servers on loopback that are really so. What they write is what is read."""

from __future__ import annotations

import base64
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds import failures
from ansible_collections.hardware.enablement.plugins.module_utils._builds.failures import BuildPhase
from ansible_collections.hardware.enablement.plugins.module_utils._builds.git import pin
from ansible_collections.hardware.enablement.plugins.module_utils._builds.git_credentials import (
    git_environment,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.host import _ProgramRun
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.http import (
    wrong_servers as servers,
)

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

CREDENTIALS = {"username": servers.USER, "password": servers.PASSWORD}
CA = servers.AUTHORITY.certificate
# What Containerfiles fetch with, and how each is given an authority.
_APT = ["/usr/lib/apt/apt-helper", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=0"]
FETCHERS = {
    "curl": (["curl", "-fsS"], "--cacert {ca}"),
    "wget": (["wget", "-nv", "--tries=1", "-O", "/dev/null"], "--ca-certificate={ca}"),
    "apt": ([*_APT, "download-file"], "-o Acquire::https::CaInfo={ca}"),
}


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a proxy and settings of whoever tests."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")


@pytest.fixture(scope="session")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with r.git, as any web server can serve it."""
    folder = tmp_path_factory.mktemp("repositories")
    author = ["-c", "user.name=u", "-c", "user.email=u@example.com"]
    work, bare = str(folder / "work"), str(folder / "r.git")
    for command in (
        ["init", "-q", "-b", "main", work],
        ["-C", work, *author, "commit", "-q", "--allow-empty", "-m", "first"],
        ["clone", "-q", "--bare", work, bare],
        ["-C", bare, "update-server-info"],
    ):
        subprocess.run(["git", *command], check=True, capture_output=True)
    return folder


class Bed:
    """A git server on loopback, and what a build is given of it."""

    def __init__(self, folder: Path, repositories: Path, server: servers.WrongServer) -> None:
        self.folder, self.repositories, self.server = folder, repositories, server
        self.url = f"https://localhost:{server.port}/r.git"
        self.commit, self.timeout = "", 20.0
        self.secret: dict[str, str] = {**CREDENTIALS, "ca.crt": CA}
        self.variables: dict[str, str] = {}

    def files(self, path: str, _headers: Mapping[str, str]) -> servers.Answer:
        file = self.repositories / path.partition("?")[0].lstrip("/")
        return (200, {}, file.read_bytes()) if file.is_file() else (404, {}, b"")

    def run(self, command: Sequence[str], step: BuildPhase) -> None:
        _ProgramRun(self.url, self.timeout, {**self._login(), **self.variables}).run(command, step)

    def clone(self) -> None:
        """As image_build and Jobs do. Raises EnablementError."""
        target = self.folder / "clone"
        shutil.rmtree(target, ignore_errors=True)
        clone = ["git", "clone", "--quiet", "--no-checkout", "--", self.url, str(target)]
        self.run(clone, BuildPhase.SOURCES)
        if self.commit:
            checkout = ["git", "-C", str(target), "checkout", "--quiet", self.commit]
            self.run(checkout, BuildPhase.SOURCES)

    def pin(self) -> str:
        """The commit, as a run looks for it before it builds."""
        return pin(self.url, "main", {**self._login(), **self.variables})

    def fetch(self, program: str) -> None:
        """What a RUN fetches."""
        ca = self._login().get("GIT_SSL_CAINFO")
        options = FETCHERS[program][1].format(ca=ca).split() if ca else []
        command = [*FETCHERS[program][0], *options, f"{self.url}/info/refs"]
        if program == "apt":
            command.append(str(self.folder / "fetched"))
        _ProgramRun(self.url, self.timeout, self.variables).run(command, BuildPhase.COMPILE)

    def _login(self) -> dict[str, str]:
        for key, value in self.secret.items():
            (self.folder / key).write_text(value)
        keys = set(self.secret)
        return git_environment(self.url, "git", keys, str(self.folder)) if keys else {}


Ends = Callable[[], object]
Situation = Callable[[Bed], Iterator[Ends]]


@dataclass(frozen=True)
class Play:
    """reasons: what this situation is called, by whatever TLS the program has. said: the part of
    the advice that is done."""

    reasons: frozenset[str]
    said: str
    situation: Situation


PLAYS: list[Play] = []


def play(said: str, *reasons: str) -> Callable[[Situation], Situation]:
    def add(situation: Situation) -> Situation:
        PLAYS.append(Play(frozenset(reasons), said, situation))
        return situation

    return add


@play("give the CA that signed its certificate", "NotTrusted", "NotVerified")
def another_ca(bed: Bed) -> Iterator[Ends]:
    bed.secret = dict(CREDENTIALS)
    yield lambda: bed.secret.update({"ca.crt": CA})


@play("renewed", "Expired", "NotVerified")
def expired(bed: Bed) -> Iterator[Ends]:
    bed.server.renew(servers.certificate(is_expired=True))
    yield lambda: bed.server.renew(servers.certificate())


@play("name it as its certificate does", "OtherName")
def other_name(bed: Bed) -> Iterator[Ends]:
    own, bed.url = bed.url, bed.url.replace("localhost", "127.0.0.1")
    yield lambda: setattr(bed, "url", own)


@play("name and password", "Proxy")
def proxy_of_accounts(bed: Bed) -> Iterator[Ends]:
    with servers.proxy() as port:
        bed.variables = {"https_proxy": f"http://localhost:{port}"}
        account = f"http://{servers.USER}:{servers.PASSWORD}@localhost:{port}"
        yield lambda: bed.variables.update(https_proxy=account)


@play("except the host from it", "Proxy")
def proxied(bed: Bed) -> Iterator[Ends]:
    with servers.proxy() as port:
        bed.variables = {"https_proxy": f"http://localhost:{port}"}
        yield lambda: bed.variables.update(no_proxy="localhost")


@play("correct the proxy's address", "Proxy")
def no_proxy(bed: Bed) -> Iterator[Ends]:
    with servers.proxy() as port:
        account = f"{servers.USER}:{servers.PASSWORD}"
        bed.variables = {"https_proxy": f"http://{account}@proxy.invalid:{port}"}
        own = f"http://{account}@localhost:{port}"
        yield lambda: bed.variables.update(https_proxy=own)


@play("name it as one without TLS", "NotTls")
def no_tls(bed: Bed) -> Iterator[Ends]:
    with servers.serving(bed.folder, bed.files, pair=None) as other:
        bed.secret = {}
        bed.url = f"https://localhost:{other.port}/r.git"
        yield lambda: setattr(bed, "url", f"http://localhost:{other.port}/r.git")


@play("correct the name", "NameNotResolved")
def no_name(bed: Bed) -> Iterator[Ends]:
    own, bed.url = bed.url, bed.url.replace("localhost", "git.invalid")
    yield lambda: setattr(bed, "url", own)


@play("correct the name", "NotFound")
def no_repository(bed: Bed) -> Iterator[Ends]:
    own, bed.url = bed.url, bed.url.replace("r.git", "s.git")
    yield lambda: setattr(bed, "url", own)


@play("give credentials", "Unauthorized")
def no_account(bed: Bed) -> Iterator[Ends]:
    bed.server.answer = _wants(bed, 401)
    bed.secret, bed.variables = {}, {"GIT_SSL_CAINFO": _ca(bed)}
    yield lambda: bed.secret.update(CREDENTIALS)


@play("give credentials that it accepts", "Unauthorized")
def wrong_password(bed: Bed) -> Iterator[Ends]:
    bed.server.answer = _wants(bed, 401)
    bed.secret["password"] = "another"
    yield lambda: bed.secret.update(CREDENTIALS)


@play("give the account the right", "Denied")
def no_right(bed: Bed) -> Iterator[Ends]:
    bed.server.answer = _wants(bed, 403, user="another")
    yield lambda: setattr(bed.server, "answer", _wants(bed, 403))


@play("try again later", "RateLimited")
def too_early(bed: Bed) -> Iterator[Ends]:
    bed.server.answer = lambda _path, _headers: (429, {"Retry-After": "3600"}, b"")
    yield lambda: setattr(bed.server, "answer", bed.files)


@play("use a mirror", "RateLimited")
def too_many(bed: Bed) -> Iterator[Ends]:
    bed.server.answer = lambda _path, _headers: (429, {}, b"")
    with servers.serving(bed.folder, bed.files, pair=servers.certificate()) as mirror:
        yield lambda: setattr(bed, "url", f"https://localhost:{mirror.port}/r.git")


@play("see whether it answers", "Unreachable")
def no_server(bed: Bed) -> Iterator[Ends]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    own, bed.url = bed.url, f"https://localhost:{port}/r.git"
    yield lambda: setattr(bed, "url", own)


@play("see whether it answers", "Unreachable")
def ill(bed: Bed) -> Iterator[Ends]:
    bed.server.answer = lambda _path, _headers: (503, {}, b"")
    yield lambda: setattr(bed.server, "answer", bed.files)


@play("see whether it answers", "Unreachable")
def cut(bed: Bed) -> Iterator[Ends]:
    bed.server.answer = lambda _path, _headers: (200, {"Content-Length": "99"}, b"half")
    yield lambda: setattr(bed.server, "answer", bed.files)


# Not of whatever fetches.
OF_GIT = (no_account, wrong_password, no_right)
NOT_TOLD = {
    ("wget", cut): "it says nothing",
    ("wget", no_proxy): "it names the proxy as it names any host",
    ("apt", proxied): "it takes a host that no_proxy names for the proxy",
    ("apt", no_proxy): "it names the proxy as it names any host",
}
FETCHED = [
    (program, each)
    for program in FETCHERS
    for each in PLAYS
    if each.situation not in OF_GIT and (program, each.situation) not in NOT_TOLD
]


def _wants(
    bed: Bed, status: int, user: str = servers.USER
) -> Callable[[str, Mapping[str, str]], servers.Answer]:
    account = base64.b64encode(f"{user}:{servers.PASSWORD}".encode()).decode()

    def answer(path: str, headers: Mapping[str, str]) -> servers.Answer:
        said = headers.get("Authorization", "")
        if said == f"Basic {account}":
            return bed.files(path, headers)
        challenge = {"WWW-Authenticate": 'Basic realm="r"'}
        return status if said else 401, challenge, b""

    return answer


def _ca(bed: Bed) -> str:
    path = bed.folder / "authority.pem"
    path.write_text(CA)
    return str(path)


# What is played below, each in a test of its own.
PLAYED_ALONE = {"NoSpace", "OutOfMemory", failures.TIMED_OUT, failures.NO_PROGRAM}
NOT_PLAYED = {
    "NotPermitted": "a pod's rights, which only a node grants",
    failures.MISSING: "a Secret or a namespace, which only a cluster has",
    failures.NO_ACCOUNT: "a ServiceAccount, which only a cluster has",
}


def test_each_advice_of_builds_is_played_or_named() -> None:
    played = frozenset[str]().union(*(each.reasons for each in PLAYS))
    assert {*failures._ADVICE} == played | PLAYED_ALONE | {*NOT_PLAYED}
    assert {*failures._REASONS} <= {*failures._ADVICE}


@pytest.fixture
def bed(tmp_path: Path, repositories: Path) -> Iterator[Bed]:
    with servers.serving(
        tmp_path, lambda _path, _headers: (500, {}, b""), pair=servers.certificate()
    ) as server:
        made = Bed(tmp_path, repositories, server)
        server.answer = made.files
        yield made


@pytest.mark.parametrize("each", PLAYS, ids=lambda each: each.situation.__name__)
def test_what_git_lacks_is_given(bed: Bed, each: Play) -> None:
    with contextmanager(each.situation)(bed) as mend:
        for ask in (bed.clone, bed.pin):
            with pytest.raises(EnablementError) as caught:
                ask()
            assert each.said in caught.value.todo, caught.value
            assert {caught.value.result.get("reason", "")} <= {*each.reasons, ""}
        # The pin is looked for before any build.
        assert "builds run" not in caught.value.todo
        mend()
        bed.clone()
        assert len(bed.pin()) == 40


@pytest.mark.parametrize(
    ("program", "each"),
    FETCHED,
    ids=lambda one: one if isinstance(one, str) else one.situation.__name__,
)
def test_what_a_step_cannot_fetch_is_not_held_against_the_inputs(
    bed: Bed, program: str, each: Play
) -> None:
    if not shutil.which(FETCHERS[program][0][0]):
        pytest.skip(f"{program} is not installed")
    with contextmanager(each.situation)(bed) as mend:
        with pytest.raises(EnablementError) as caught:
            bed.fetch(program)
        assert caught.value.result["phase"] == BuildPhase.SOURCES, caught.value
        assert caught.value.result["reason"] in each.reasons, caught.value
        assert each.said in caught.value.todo
        mend()
        bed.fetch(program)


def test_a_commit_that_is_not_there_is_corrected(bed: Bed) -> None:
    bed.commit = "0123456789" * 4
    with pytest.raises(EnablementError) as caught:
        bed.clone()
    assert caught.value.result["reason"] == "NotFound"
    assert "correct the name" in caught.value.todo
    bed.commit = bed.pin()
    bed.clone()


def test_who_takes_longer_is_given_more_time(bed: Bed) -> None:
    ready = threading.Event()

    def late(path: str, headers: Mapping[str, str]) -> servers.Answer:
        ready.wait(1)
        return bed.files(path, headers)

    bed.server.answer, bed.timeout = late, 0.3
    with pytest.raises(EnablementError) as caught:
        bed.clone()
    assert caught.value.result["reason"] == failures.TIMED_OUT
    assert caught.value.todo == "give it more time (build_timeout)"
    bed.timeout = 20
    threading.Timer(0.5, ready.set).start()
    bed.clone()


def test_a_program_that_is_missing_is_installed(bed: Bed) -> None:
    programs = bed.folder / "bin"
    programs.mkdir()
    program = programs / "builder"
    with pytest.raises(EnablementError) as caught:
        bed.run([str(program)], BuildPhase.COMPILE)
    assert caught.value.result["reason"] == failures.NO_PROGRAM
    assert caught.value.todo == "install it where builds run"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    bed.run([str(program)], BuildPhase.COMPILE)


@pytest.mark.parametrize(
    ("poor", "rich", "reason", "todo"),
    [
        (
            "dd if=/dev/zero of=/dev/full count=1",
            "dd if=/dev/zero of=/dev/null count=1",
            "NoSpace",
            "more room",
        ),
        (
            "ulimit -v 50000; dd if=/dev/zero of=/dev/null bs=200M count=1",
            "ulimit -v 500000; dd if=/dev/zero of=/dev/null bs=200M count=1",
            "OutOfMemory",
            "raise the memory limit",
        ),
    ],
)
def test_what_a_node_lacks_is_given(bed: Bed, poor: str, rich: str, reason: str, todo: str) -> None:
    with pytest.raises(EnablementError) as caught:
        bed.run(["sh", "-c", poor], BuildPhase.COMPILE)
    assert caught.value.result["reason"] == reason, caught.value
    assert todo in caught.value.todo
    bed.run(["sh", "-c", rich], BuildPhase.COMPILE)
