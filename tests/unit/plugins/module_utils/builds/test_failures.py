# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the last lines of builds tell, in the words of those that write them."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.failures import (
    FAILED,
    BuildPhase,
    classify,
    failure,
)

HOST = "registry.example:5000"
PING = f'pinging container registry {HOST}: Get "https://{HOST}/v2/"'
READ = f"reading manifest 1 in {HOST}/base"
RUN = 'Error: building at STEP "RUN make modules": while running runtime: exit status 2'
DNF = "Error: Failed to download metadata for repo 'baseos': Cannot download repomd.xml: All mirrors were tried"


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (
            f"{PING}: tls: failed to verify certificate: x509: certificate signed by unknown authority",
            "NotTrusted",
        ),
        (
            f"{PING}: tls: failed to verify certificate: x509: certificate is valid for a, not {HOST}",
            "OtherName",
        ),
        (
            f"{PING}: tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
            "Expired",
        ),
        (
            f"{PING}: dial tcp: lookup registry.example on 10.96.0.10:53: no such host",
            "NameNotResolved",
        ),
        (f"{PING}: dial tcp 192.0.2.1:5000: connect: connection refused", "Unreachable"),
        (f"{PING}: http: server gave HTTP response to HTTPS client", "NotTls"),
        (f"{READ}: toomanyrequests: You have reached your pull rate limit.", "RateLimited"),
        (f"{READ}: unauthorized: authentication required", "Unauthorized"),
        (f"{READ}: manifest unknown", "NotFound"),
        (f"{READ}: denied: requested access to the resource is denied", "Denied"),
        (
            'writing blob: storing blob to file "/var/tmp/1": write /var/tmp/1: no space left on device',
            "NoSpace",
        ),
    ],
)
def test_a_base_image_that_cannot_be_pulled(end: str, reason: str) -> None:
    line = f"Error: initializing source docker://{HOST}/base:1: {end}"
    found = classify(BuildPhase.BASE, ["Trying to pull the image...", line])
    assert (found.phase, found.reason, found.is_held) == (BuildPhase.BASE, reason, False)
    assert found.text == f"the base image cannot be pulled: {line}"
    assert found.advice


def test_an_image_of_the_containerfile_itself_is_a_base_too() -> None:
    line = (
        f"Error: creating build container: initializing source docker://{HOST}/other:1: pinging container registry "
        f'{HOST}: Get "https://{HOST}/v2/": net/http: TLS handshake timeout'
    )
    found = classify(BuildPhase.COMPILE, [f"STEP 1/5: FROM {HOST}/other:1", line])
    assert (found.phase, found.reason, found.is_held) == (BuildPhase.BASE, "Unreachable", False)
    line = "error: build error: failed to pull image: After retrying 2 times, Pull image still failed: x509: x"
    assert (
        classify(BuildPhase.COMPILE, ["Warning: Pull failed, retrying in 5s ...", line]).phase
        is BuildPhase.BASE
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "fatal: unable to access 'https://git.example/a/': Could not resolve host: git.example",
            "NameNotResolved",
        ),
        (
            "fatal: unable to access 'https://git.example/a/': server certificate verification failed.",
            "NotVerified",
        ),
        (
            "fatal: could not read Username for 'https://git.example': terminal prompts disabled",
            "Unauthorized",
        ),
        ("fatal: Authentication failed for 'https://git.example/a/'", "Unauthorized"),
        ("git@git.example: Permission denied (publickey).", "Unauthorized"),
        ("Host key verification failed.", "NotTrusted"),
        ("fatal: repository 'https://git.example/a/' not found", "NotFound"),
        ("fatal: reference is not a tree: 0123456789012345678901234567890123456789", "NotFound"),
        (
            "error: RPC failed; HTTP 429 curl 22 The requested URL returned error: 429",
            "RateLimited",
        ),
    ],
)
def test_sources_that_cannot_be_fetched(line: str, reason: str) -> None:
    found = classify(BuildPhase.SOURCES, [line, "fatal: Could not read from remote repository."])
    assert (found.phase, found.reason, found.is_held) == (BuildPhase.SOURCES, reason, False)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            [
                "  - Curl error (6): Couldn't resolve host name for https://mirror.example/repomd.xml",
                DNF,
            ],
            "NameNotResolved",
        ),
        (
            ["  - Status code: 503 for https://mirror.example/repomd.xml (IP: 192.0.2.1)", DNF],
            "Unreachable",
        ),
        (
            [
                "  - Curl error (60): SSL peer certificate or SSH remote key was not OK for https://m.example/",
                DNF,
            ],
            "NotTrusted",
        ),
        (
            [
                "W: Failed to fetch http://deb.example/InRelease  Temporary failure resolving 'deb.example'",
                "E: Unable to locate package linux-headers-6.8.0-60-generic",
            ],
            "NameNotResolved",
        ),
        (
            ["E: Failed to fetch http://deb.example/x.deb  404  Not Found [IP: 192.0.2.1 80]"],
            "NotFound",
        ),
        (
            [
                "curl: (7) Failed to connect to files.example port 443 after 1 ms: Could not connect to server"
            ],
            "Unreachable",
        ),
        *(
            (
                [
                    f"curl: (7) Failed to connect to files.example port 443 after {ms} ms: Couldn't connect to server"
                ],
                "Unreachable",
            )
            for ms in (401, 403, 404, 407)
        ),
        (["wget: unable to resolve host address 'files.example'"], "NameNotResolved"),
        (
            ["ERROR: cannot verify files.example's certificate, issued by 'CN=x':"],
            "NotTrusted",
        ),
    ],
)
def test_what_a_step_cannot_fetch_is_not_held_against_the_inputs(
    lines: list[str], reason: str
) -> None:
    found = classify(BuildPhase.COMPILE, ["STEP 4/9: RUN install", *lines, RUN])
    assert (found.phase, found.reason, found.is_held) == (BuildPhase.SOURCES, reason, False)


@pytest.mark.parametrize(
    "line",
    [
        "/src/simple_kmod.c:9:10: fatal error: linux/module.h: No such file or directory",
        "make[1]: *** [scripts/Makefile.build:243: /src/kmod.o] Error 1",
        "make: *** /lib/modules/5.4.0-1-amd64/build: No such file or directory.  Stop.",
        "Error: Unable to find a match: kernel-devel-uname-r = 5.14.0-999.el9.x86_64",
        "E: Unable to locate package linux-headers-5.4.0-1-amd64",
        "kmod.c:7: error: 'struct page' has no member named 'lru'",
        'ERROR: modpost: "connection refused" [kmod.ko] undefined!',
        "/bin/sh: 1: gcc: not found",
        "make[2]: *** [Makefile:404: modules] Error 127",
        "kmod.c:407: error: 'proxy' undeclared; did you mean 'proxy_407'?",
    ],
)
def test_what_does_not_compile_is_held_against_the_inputs(line: str) -> None:
    for lines in ([line, RUN], [line]):
        found = classify(BuildPhase.COMPILE, lines)
        assert (found.phase, found.reason, found.is_held) == (BuildPhase.COMPILE, FAILED, True)
        assert found.text == f"the build failed: {line}"


def test_the_first_that_a_compiler_finds_is_told() -> None:
    """As buildah prints it around make of the kernel."""
    line = "/usr/src/linux-headers-6.12/scripts/Makefile.lib:292: *** missing separator.  Stop."
    after = [
        "make[1]: *** [/usr/src/linux-headers-6.12/Makefile:236: __sub-make] Error 2",
        "make[1]: Leaving directory '/usr/src/linux-headers-6.12'",
        "make: *** [Makefile:6: modules] Error 2",
        "subprocess exited with status 2",
        "subprocess exited with status 2",
    ]
    assert classify(BuildPhase.COMPILE, [line, *after, RUN]).text == f"the build failed: {line}"
    errors = [f"/src/kmod.c:{number}: error: 'a{number}' undeclared" for number in (7, 9)]
    found = classify(BuildPhase.COMPILE, [*errors, *after, RUN])
    assert found.text == f"the build failed: {errors[0]}"


@pytest.mark.parametrize(
    ("line", "phase", "reason"),
    [
        (
            "kmod.c:1: fatal error: error writing to /tmp/x.s: No space left on device",
            BuildPhase.COMPILE,
            "NoSpace",
        ),
        (
            "gcc: fatal error: Killed signal terminated program cc1",
            BuildPhase.COMPILE,
            "OutOfMemory",
        ),
        (
            "Error: error unmounting: remounting /var/lib/containers: permission denied",
            BuildPhase.START,
            "NotPermitted",
        ),
        (
            "Error during unshare(CLONE_NEWUSER): Operation not permitted",
            BuildPhase.START,
            "NotPermitted",
        ),
    ],
)
def test_a_builder_that_could_not_work_says_nothing_of_its_inputs(
    line: str, phase: BuildPhase, reason: str
) -> None:
    found = classify(BuildPhase.COMPILE, [line])
    assert (found.phase, found.reason, found.is_held) == (phase, reason, False)
    assert found.advice


def test_a_push_that_is_refused() -> None:
    line = f"Error: writing blob: initiating layer upload to /v2/kmod/blobs/uploads/ in {HOST}: authentication required"
    for step in (BuildPhase.PUSH, BuildPhase.COMPILE):
        found = classify(step, ["Copying blob 1", line])
        assert (found.phase, found.reason, found.is_held) == (
            BuildPhase.PUSH,
            "Unauthorized",
            False,
        )
    line = (
        "error: build error: Failed to push image: trying to reuse blob sha256:1: denied: not yours"
    )
    assert (
        classify(BuildPhase.COMPILE, [line]).phase,
        classify(BuildPhase.PUSH, [line]).reason,
    ) == (BuildPhase.PUSH, "Denied")


def test_without_a_log_it_is_said_what_else_is_known() -> None:
    assert (
        classify(BuildPhase.PUSH, [], "exit code 73").text
        == "what was built cannot be pushed: exit code 73"
    )
    assert classify(BuildPhase.COMPILE, [" "]).text == "the build failed: it says no more"
    assert (
        failure(BuildPhase.START, "Refused", "exceeded quota.").text
        == "the build cannot start: exceeded quota."
    )
