# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which phase a build failed, and why: from where its builder was and the last lines of its log.
Pure.

The texts are those of containers/image (buildah, podman, OpenShift's builds), git, curl, dnf and
apt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class BuildPhase(str, Enum):
    """What a build is at: it begins to run, pulls its base image, fetches sources, runs its steps,
    pushes."""

    START = "start"
    BASE = "base"
    SOURCES = "sources"
    COMPILE = "compile"
    PUSH = "push"


# What ends a build whatever its inputs are: another log, node or time may bring it to another end.
FAILED = "Failed"
TIMED_OUT = "TimedOut"
INTERRUPTED = "Interrupted"
MISSING = "Missing"
NO_PROGRAM = "NoProgram"
NO_ACCOUNT = "NoServiceAccount"

_SAYS = {
    BuildPhase.START: "the build cannot start",
    BuildPhase.BASE: "the base image cannot be pulled",
    BuildPhase.SOURCES: "the sources cannot be fetched",
    BuildPhase.COMPILE: "the build failed",
    BuildPhase.PUSH: "what was built cannot be pushed",
}


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# Reason -> what tells it. The first that matches a line counts. curl says how many ms a connection
# took, which is no status.
_REASONS = {
    "Proxy": _any(
        r"CONNECT tunnel failed|proxy CONNECT|from proxy\b|proxy tunneling failed",
        r"could(?: not|n't) resolve proxy|proxyconnect",
        r"\b407\b(?! ms)|proxy authentication required",
    ),
    "OtherName": _any(
        r"x509: certificate is (?:valid for|not valid for any)|x509: cannot validate certificate for",
        r"no (?:alternative )?certificate subject (?:alternative )?name|certificate subject name .* does not match",
        r"name in the certificate does not match|certificate's owner does not match",
    ),
    "Expired": _any(
        r"certificate (?:of \S+ )?has expired|certificate is not yet valid|uses expired certificate"
    ),
    # All that git says whose TLS is GnuTLS, whatever is wrong with a certificate.
    "NotVerified": _any(r"server certificate verification failed"),
    "NotTrusted": _any(
        r"x509:|certificate verif|certificate is NOT trusted|SSL certificate problem|SSL peer certificate",
        r"curl(?: error)?:? \(60\)|Host key verification failed",
        r"certificate of .* is not trusted|have a known issuer|cannot verify .*certificate",
    ),
    "NotTls": _any(
        r"server gave HTTP response to HTTPS client|does not look like a TLS handshake|wrong version number",
        r"unexpected TLS packet|packet length too long",
    ),
    "RateLimited": _any(
        r"toomanyrequests|too many requests|rate ?limit|(?:status|error|code|HTTP):? ?429\b"
    ),
    "NameNotResolved": _any(
        r"no such host|could ?n[o']t resolve|could not resolve|unable to resolve host|bad address",
        r"temporary failure (?:in name resolution|resolving)|name or service not known|server misbehaving",
    ),
    "Unauthorized": _any(
        r"\b401\b(?! ms)|unauthorized|authentication required|authentication failed|no basic auth credentials",
        r"could not read (?:username|password)|invalid username/password|permission denied \((?:publickey|password)",
    ),
    "Denied": _any(
        r"\b403\b(?! ms)|forbidden|requested access to the resource is denied|insufficient_scope|\bdenied: ",
    ),
    "NotFound": _any(
        r"\b404\b(?! ms)|not found|does not exist|manifest unknown|name unknown|couldn't find remote ref|is not a tree",
    ),
    "NoSpace": _any(r"no space left on device|disk quota exceeded"),
    "Unreachable": _any(
        r"connection (?:refused|reset|timed out)|i/o timeout|no route to host|network is unreachable|\b50[0234]\b",
        r"failed to connect|could(?: not|n't) connect|TLS handshake timeout|timeout was reached|operation timed out",
        r"deadline exceeded|unexpected EOF|early EOF|hung up unexpectedly|could not read from remote repository",
        r"transfer closed|non-properly terminated|empty reply from server|recv failure|undetermined error",
    ),
}
# Where the builder is; who looks before it is elsewhere.
_WHERE = "where builds run"
# Reason -> what to do, with {where}.
_ADVICE = {
    "Proxy": "correct the proxy's address, name and password, or except the host from it",
    "NotVerified": "give the CA that signed its certificate, or have the certificate renewed if it has expired",
    "OtherName": "name it as its certificate does",
    "Expired": "have its certificate renewed, or set the clock {where}",
    "NotTrusted": "give the CA that signed its certificate, or the host's key",
    "NotTls": "name it as one without TLS, or correct its port",
    "RateLimited": "use a mirror, or log in to be granted more",
    "NameNotResolved": "correct the name, or the DNS {where}",
    "Unauthorized": "give credentials that it accepts",
    "Denied": "give the account the right",
    "NotFound": "correct the name, or put it there",
    "NoSpace": "give the node that builds, or the registry, more room",
    "Unreachable": "see whether it answers {where}",
    "OutOfMemory": "raise the memory limit that a LimitRange of the namespace gives, or build on nodes with more"
    " memory (build_node_selector)",
    "NotPermitted": "let its pod mount and change roots (seccomp, AppArmor, Pod Security), or choose another builder",
    TIMED_OUT: "give it more time (build_timeout)",
    MISSING: "make it",
    NO_PROGRAM: "install it {where}",
    NO_ACCOUNT: "make it",
}
# Git shows credentials only to a server that refuses it without them.
_RATE_LIMITED_SOURCES = "try again later, or use a mirror"
# What buildah says last where it was a FROM that failed, and OpenShift's builds of their pulls and
# pushes.
_BASE = _any(
    r"creating build container|initializing source docker://|pinging (?:docker|container) registry",
    r"Pull image still failed|failed to pull image|reading blob sha256:|reading manifest \S+ in ",
)
_PUSH = _any(
    r"Failed to push image|writing blob|trying to reuse blob|uploading manifest|pushing image"
)
# Who fetches something in a RUN, and says that it could not.
_FETCH = _any(
    r"curl(?: error)?:? ?\(\d+\)|curl#\d+|cannot download|failed to (?:download|fetch)|status code: \d+ for",
    r"could not (?:resolve|connect)|temporary failure|unable to (?:access|resolve host)|index files failed|wget: ",
    r"fatal: .*(?:remote|repository|authentication|not a tree)|RPC failed|Host key verification|denied \(publickey",
    # wget
    r"\bERROR \d{3}: |ERROR: (?:The certificate of|cannot verify|no certificate subject)|^GnuTLS: ",
    r"certificate's owner|The certificate has expired|Proxy tunneling|Password Authentication Failed",
    r"\bfailed: Connection ",
)
# A builder that its node or its pod does not let work.
_UNABLE = _any(
    r"unshare\(|cannot clone|newuidmap|remounting|kernel does not support overlay",
    r"(?:mount|chroot|pivot_root)\S*.*(?:operation not permitted|permission denied)",
)
_MEMORY = _any(
    r"out of memory|cannot allocate memory|memory exhausted|Killed signal terminated program|signal: killed"
)
# What tells only that something failed before it.
_SUMMARY = _any(r"building at STEP|exit(?:ed with)? status \d+$|^error: build error: ")
# What compilers and make find; the first of it is the cause of the others.
_FOUND = _any(r":\d+: (?:fatal )?error: |: \*\*\* (?!.*\bError \d+$)")
# The last line of a Containerfile's build that could not pull, push, or work at all.
_BY_LAST_LINE = ((BuildPhase.BASE, _BASE), (BuildPhase.PUSH, _PUSH), (BuildPhase.START, _UNABLE))
# As far back as a cause is looked for.
_LINES = 20


@dataclass(frozen=True)
class BuildFailure:
    """Why a build failed. reason: one word of CamelCase. text: half a sentence. foreseen: nothing
    was made for it."""

    phase: BuildPhase
    reason: str
    text: str
    foreseen: bool = False

    @property
    def is_held(self) -> bool:
        """Whether the same inputs would fail again, so nobody need try."""
        return self.phase is BuildPhase.COMPILE and self.reason == FAILED

    @property
    def advice(self) -> str:
        """What to do about it, half a sentence; "" where only the text tells."""
        return self.advice_where(_WHERE)

    def advice_where(self, where: str) -> str:
        """The same for what has failed elsewhere. where: "on this machine"."""
        if self.is_held:
            return "mend its inputs"
        if self.phase is BuildPhase.SOURCES and self.reason == "RateLimited":
            return _RATE_LIMITED_SOURCES
        return _ADVICE.get(self.reason, "").format(where=where)


def failure(phase: BuildPhase, reason: str, why: str) -> BuildFailure:
    """A failure whose phase and reason are known. why: the cause in a few words."""
    return BuildFailure(phase, reason, f"{_SAYS[phase]}: {why}")


def classify(step: BuildPhase, log: Sequence[str], otherwise: str = "") -> BuildFailure:
    """The failure that the last lines of a log tell. step: what the builder was at; otherwise: what
    is said without a log.

    Builders pull further base images and run what fetches packages within COMPILE; then the lines
    tell which it was.
    """
    lines = [line for line in log if line.strip()][-_LINES:]
    phase, line = _place(step, lines)
    return failure(phase, _reason(phase, line), line or otherwise or "it says no more")


def reason_of(text: str) -> str:
    """The reason that a text tells; FAILED where it tells none."""
    return next((reason for reason, pattern in _REASONS.items() if pattern.search(text)), FAILED)


def _place(step: BuildPhase, lines: Sequence[str]) -> tuple[BuildPhase, str]:
    """The phase, and the line that tells why."""
    last = lines[-1] if lines else ""
    if step is BuildPhase.COMPILE:
        return _place_of_compile(lines, last)
    causes = [line for line in lines if reason_of(line) != FAILED]
    # git ends with one line for whatever went wrong on the way.
    telling = [line for line in causes if reason_of(line) != "Unreachable"] or causes or [last]
    return step, telling[-1]


def _place_of_compile(lines: Sequence[str], last: str) -> tuple[BuildPhase, str]:
    """A Containerfile may pull, fetch and push, too."""
    for phase, pattern in _BY_LAST_LINE:
        if pattern.search(last):
            return phase, last
    telling = [line for line in lines if not _SUMMARY.search(line)]
    fetched = [line for line in telling if _tells_of_fetching(line)]
    if fetched:
        return BuildPhase.SOURCES, fetched[-1]
    return BuildPhase.COMPILE, _line_of_compiler(telling) or last


def _line_of_compiler(lines: Sequence[str]) -> str:
    """The line that tells why nothing was compiled, "" where there is none."""
    starved = [line for line in lines if _starvation(line)]
    if starved:
        return starved[-1]
    return next(filter(_FOUND.search, lines), lines[-1] if lines else "")


def _tells_of_fetching(line: str) -> bool:
    """Whether a line says that something could not be fetched, and why."""
    return bool(_FETCH.search(line)) and reason_of(line) != FAILED


def _starvation(line: str) -> str:
    """The reason where a line tells that memory or room was too little, "" elsewhere."""
    if _MEMORY.search(line):
        return "OutOfMemory"
    return "NoSpace" if reason_of(line) == "NoSpace" else ""


def _reason(phase: BuildPhase, line: str) -> str:
    if phase is BuildPhase.START and _UNABLE.search(line):
        return "NotPermitted"
    if phase is BuildPhase.COMPILE:
        # A compiler's words are no registry's.
        return _starvation(line) or FAILED
    return reason_of(line)
