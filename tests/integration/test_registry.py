# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-ups in a real registry: logins, trust, faults on the way, platforms, mirrors, redirects,
proxies."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._http.proxies import Proxies
from ansible_collections.hardware.enablement.plugins.module_utils._interface import arguments
from ansible_collections.hardware.enablement.plugins.module_utils._interface.outcome import (
    outcome_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.expected_kernels import (
    ExpectedKernel,
)
from ansible_collections.hardware.enablement.plugins.module_utils._preflight import copy_core
from ansible_collections.hardware.enablement.plugins.module_utils._preflight.release_kernels import (
    release_kernels,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry import (
    persistence,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.credential_helpers import (
    CredentialHelpers,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_client import (
    Image,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_manifests import (
    digest_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import parse
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_signature import (
    PublicKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.keyring import Keyring
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryMirror,
    Trust,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.registry_errors import (
    ImageNotFound,
    NotTrusted,
    RegistryError,
    RegistryUnauthorized,
    RegistryUnreachable,
    ServerError,
    TooManyRequests,
    WrongArchitecture,
    WrongDigest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from tests.cluster import processes
from tests.cluster.faults import Fault, FaultProxy, ForwardProxy
from tests.cluster.paths import REPO, registry_folder
from tests.cluster.pki import Authority, write_secret
from tests.cluster.registry import PUSHER, Account, Behaviour, Registry
from tests.cluster.registry.images import INDEX, MANIFEST
from tests.cluster.tls import TlsServer
from tests.gates.place import Place
from tests.integration.plays import Played
from tests.integration.registry_bed import (
    KERNEL,
    LABELS,
    PASSWORD,
    Bed,
    check_sentence,
    keyring,
    make_bed,
    serving,
)
from tests.unit.plugins.module_utils.registry.test_image_signature import (
    COSIGN_PUB,
    OLDER,
    OLDER_SIGNATURE,
    PAYLOAD,
    SIGNED,
    bundle,
)

# Look-ups and logins


def test_an_image_is_found_with_all_that_it_says(any_bed: Bed) -> None:
    client = any_bed.client()
    reference = any_bed.reference()
    found = client.find(reference, "amd64")
    assert found == Image(
        reference, any_bed.digest, any_bed.digest, "amd64", LABELS, "2026-11-21T12:00:00Z"
    )
    assert client.digest(reference) == any_bed.digest
    by_digest = client.find(reference.pinned(any_bed.digest), "amd64")
    assert by_digest
    assert by_digest.labels == LABELS
    assert str(by_digest.reference).endswith(f"@{any_bed.digest}")


def test_what_does_not_exist_is_none(any_bed: Bed) -> None:
    client = any_bed.client()
    for name in ("gpu/driver:other", "no/such:repository", f"gpu/driver@sha256:{'0' * 64}"):
        assert client.find(any_bed.reference(name), "amd64") is None
        assert client.digest(any_bed.reference(name)) is None


def test_how_to_log_in_is_learned_once(any_bed: Bed) -> None:
    client = any_bed.client()
    mark = any_bed.registry.mark()
    for _attempt in range(2):
        assert client.find(any_bed.reference(), "amd64")
    asked = any_bed.registry.requests(mark)
    # Manifest and configuration, twice, and the first request once without a login.
    assert [request.status for request in asked] == [401, 200, 200, 200, 200]
    assert {request.method for request in asked} == {"GET"}
    assert client.requests["GET"] == 5
    assert client.requests["token"] == (1 if any_bed.registry.record.auth == "token" else 0)


def test_wrong_or_missing_credentials(any_bed: Bed) -> None:
    wrong = Account("pusher", "wr0ng", "", "wr0ng", may_push=False)
    any_bed.fails(RegistryUnauthorized, "the account pusher", account=wrong)
    client = any_bed.client(wrong)
    mark = any_bed.registry.mark()
    for _attempt in range(2):
        with pytest.raises(RegistryUnauthorized):
            client.find(any_bed.reference(), "amd64")
    # Once without a login, and then no more than once for each look-up: accounts may be locked for
    # more.
    assert len(any_bed.registry.requests(mark)) <= 3
    any_bed.fails(RegistryUnauthorized, "there are no credentials for it", account=None)


def test_a_refresh_token_instead_of_a_password(bed: Bed) -> None:
    assert bed.find(identity_token=True)
    assert bed.registry.token_requests()[-1] == {
        "method": "POST",
        "status": 200,
        "account": "pusher",
        "scopes": ["repository:gpu/driver:pull"],
    }


def test_anybody_may_pull_what_is_public(bed: Bed) -> None:
    bed.images.push("public/tools", "1")
    assert bed.client(None).find(bed.reference("public/tools:1"), "amd64")


def test_a_token_is_asked_for_once_for_each_scope(bed: Bed) -> None:
    bed.images.push("gpu/other", "1")
    client = bed.client()
    references = [bed.reference(), bed.reference("gpu/other:1")] * 4
    with ThreadPoolExecutor(8) as executor:
        assert all(executor.map(lambda reference: client.find(reference, "amd64"), references))
    assert client.requests["token"] == 2


def test_a_token_is_not_used_longer_than_it_is_good(bed: Bed) -> None:
    bed.registry.behave(Behaviour(told=0.001))
    try:
        client = bed.client()
        mark = bed.registry.mark()
        for _attempt in range(2):
            assert client.digest(bed.reference())
        # A new one was asked for in time, so that only the very first request was refused.
        assert client.requests["token"] == 2
        assert [request.status for request in bed.registry.requests(mark)] == [401, 200, 200]
    finally:
        bed.registry.behave(Behaviour())


def test_an_expired_token_is_asked_for_anew_once(bed: Bed) -> None:
    client = bed.client()
    assert client.digest(bed.reference(faulty=True))
    with bed.proxy.faults.on(Fault(spoil_token=True, times=1)):
        assert client.digest(bed.reference(faulty=True)) == bed.digest
    assert client.requests["token"] == 2
    assert bed.slept == []


def test_tokens_that_are_expired_from_the_beginning(bed: Bed) -> None:
    bed.registry.behave(Behaviour(lifetime=-120))
    try:
        mark = bed.registry.mark()
        bed.fails(RegistryUnauthorized, r"does not accept the token .*expired.*clocks")
        assert len(bed.registry.requests(mark)) == 2
    finally:
        bed.registry.behave(Behaviour())


def test_tokens_that_are_never_accepted_are_no_lack_of_rights(bed: Bed) -> None:
    why = r"does not accept the token .*the account pusher.*trusts that token server"
    with bed.proxy.faults.on(Fault(spoil_token=True)):
        bed.fails(RegistryUnauthorized, why, faulty=True)


def test_a_token_server_that_is_named_without_tls_gets_no_password(bed: Bed) -> None:
    header = {"WWW-Authenticate": 'Bearer realm="http://127.0.0.1:1/token",service="x"'}
    with bed.proxy.faults.on(Fault(status=401, headers=header)):
        bed.fails(RegistryUnauthorized, "does not use TLS", faulty=True)


# Trust


def test_a_certificate_of_an_unknown_authority(bed: Bed, tmp_path: Path) -> None:
    other = Authority(tmp_path, "other").certificate_file.read_text()
    bed.fails(NotTrusted, r"certificate cannot be verified: .*issuer.*give the CA", ca=other)
    bed.fails(NotTrusted, "give the CA", ca="")
    assert bed.slept == []
    assert bed.find(ca=f"{other}{bed.registry.ca}")


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_verification_can_be_turned_off(bed: Bed) -> None:
    assert bed.find(ca="", verify=False)


def test_a_ca_that_is_none(bed: Bed) -> None:
    bed.fails(InvalidInput, "no certificate in PEM format", ca="/etc/ssl/ca.crt")


def test_a_certificate_for_another_name(bed: Bed, authority: Authority) -> None:
    with (
        FaultProxy(bed.registry.address, authority, hosts=["other.test"]) as misnamed,
        pytest.raises(NotTrusted, match=r"127\.0\.0\.1") as caught,
    ):
        bed.client().find(parse(f"{misnamed.address}/a"), "amd64")
    check_sentence(caught.value)


def test_plain_http_only_where_it_is_named(bed: Bed, tmp_path: Path) -> None:
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        address = f"127.0.0.1:{server.server_address[1]}"
        with pytest.raises(RegistryUnreachable, match="TLS failed") as caught:
            bed.client().find(parse(f"{address}/a"), "amd64")
        check_sentence(caught.value)
        assert (
            bed.client(trusts=[Trust(address, plain_http=True)]).find(
                parse(f"{address}/a"), "amd64"
            )
            is None
        )


def test_what_holds_for_one_registry_holds_for_no_other(bed: Bed, any_bed: Bed) -> None:
    other, where = any_bed.reference(), any_bed.registry.address.replace(".", r"\.")
    for trust in (
        Trust(bed.registry.address, ca=bed.registry.ca),
        Trust(bed.registry.address, verify=False),
    ):
        client = bed.client(keyring=keyring(bed, any_bed), ca="", trusts=[trust])
        assert client.find(bed.reference(), "amd64")
        with pytest.raises(NotTrusted, match=where) as caught:
            client.find(other, "amd64")
        check_sentence(caught.value)


def test_a_credential_helper_logs_in(
    bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, answer = (
        tmp_path / "docker-credential-ours",
        {"Username": PUSHER.name, "Secret": PUSHER.password},
    )
    program.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    helpers = CredentialHelpers({"credHelpers": {bed.registry.address: "ours"}}, set())
    assert bed.find(keyring=Keyring((), helpers))
    bed.fails(RegistryUnauthorized, "there are no credentials for it", keyring=Keyring())


# Faults


def test_a_pause_that_the_registry_asks_for(bed: Bed) -> None:
    with bed.proxy.faults.on(
        Fault(path="manifests", status=429, headers={"Retry-After": "7"}, times=2)
    ):
        assert bed.find(faulty=True)
    assert bed.slept == [7.0, 7.0]


def test_too_many_requests_without_a_time(bed: Bed) -> None:
    with bed.proxy.faults.on(Fault(status=429, times=2)):
        assert bed.find(faulty=True)
    assert bed.slept == [0.25, 0.5]


def test_too_many_requests_for_too_long(bed: Bed) -> None:
    with bed.proxy.faults.on(
        Fault(status=429, body=b'{"errors":[{"code":"TOOMANYREQUESTS","message":"slow"}]}')
    ):
        bed.fails(TooManyRequests, r"it answers 429 \(slow\); run again later", faulty=True)
    assert bed.slept == [0.25, 0.5, 1.0, 2.0]


def test_a_pause_that_is_too_long(bed: Bed) -> None:
    with bed.proxy.faults.on(Fault(status=429, headers={"Retry-After": "3600"})):
        bed.fails(TooManyRequests, "asks to wait 3600 s", faulty=True)
    assert bed.slept == []


def test_errors_of_the_server(bed: Bed) -> None:
    with (
        bed.proxy.faults.on(Fault(status=500, times=1)),
        bed.proxy.faults.on(Fault(status=503, times=1)),
    ):
        assert bed.find(faulty=True)
    assert bed.slept == [0.25, 0.5]
    with bed.proxy.faults.on(Fault(status=502, body=b"<html>bad gateway</html>")):
        bed.fails(ServerError, "it answers 502; see whether the registry is healthy", faulty=True)
    assert len(bed.slept) == 4


@pytest.mark.parametrize(
    "fault",
    [Fault(lost="request"), Fault(lost="answer"), Fault(cut_after=1), Fault(cut_after=100)],
    ids=["request", "answer", "beginning", "middle"],
)
def test_connections_that_are_cut(bed: Bed, fault: Fault) -> None:
    with bed.proxy.faults.on(replace(fault, path="manifests|blobs", times=2)):
        assert bed.find(faulty=True)
    assert bed.slept == [0.25, 0.5]
    with bed.proxy.faults.on(replace(fault, path="blobs")):
        bed.fails(RegistryUnreachable, "lost|cut", faulty=True)


def test_a_slow_answer_is_waited_for(bed: Bed) -> None:
    with bed.proxy.faults.on(Fault(latency=0.3, times=1)):
        assert bed.find(faulty=True)
    assert bed.slept == []


def test_an_answer_that_does_not_come(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persistence, "READ_S", 0.1)
    with bed.proxy.faults.on(Fault(latency=0.3)):
        bed.fails(RegistryUnreachable, "no answer within", faulty=True)
    # Waiting is expensive: it is asked twice only.
    assert bed.slept == [0.25]


def test_a_registry_that_is_down(bed: Bed) -> None:
    client = bed.client()
    patient = [0.25, 0.5, 1.0, 2.0]
    # It is waited for once, not for each of many images; once it is back, again.
    for pauses in ([patient, []], [patient]):
        bed.registry.stop()
        try:
            for expected in pauses:
                bed.slept.clear()
                with pytest.raises(RegistryUnreachable, match="Connection refused") as caught:
                    client.find(bed.reference(), "amd64")
                check_sentence(caught.value)
                assert bed.slept == expected
        finally:
            bed.registry.resume()
        assert client.find(bed.reference(), "amd64")


def test_an_answer_without_an_end(bed: Bed) -> None:
    with bed.proxy.faults.on(Fault(path="manifests", status=200, body=b" " * (4 * 1024**2 + 1))):
        bed.fails(RegistryError, "larger than 4 MiB", faulty=True, account=PUSHER)


@pytest.mark.parametrize("body", [b"<html>log in here</html>", b'{"schemaVersion": 1}'])
def test_something_else_than_an_image(bed: Bed, body: bytes) -> None:
    with bed.proxy.faults.on(Fault(path="manifests", status=200, body=body)):
        bed.fails(RegistryError, "no image that can be read", faulty=True)


@pytest.mark.parametrize(
    "headers", [{}, {"Docker-Content-Digest": "latest"}], ids=["none", "nonsense"]
)
def test_a_registry_that_does_not_tell_digests(bed: Bed, headers: dict[str, str]) -> None:
    with bed.proxy.faults.on(Fault(method="HEAD", path="manifests", status=200, headers=headers)):
        assert bed.client().digest(bed.reference(faulty=True)) == bed.digest


def test_what_comes_is_compared_with_its_digest(bed: Bed) -> None:
    manifest = bed.images.get("gpu/driver", f"manifests/{KERNEL}")
    config = bed.images.contents("gpu/driver", KERNEL).config
    changed = json.dumps({**config, "config": {"Labels": {"kernel": "another"}}}).encode()
    with bed.proxy.faults.on(Fault(path="blobs", status=200, body=changed)):
        bed.fails(WrongDigest, "what came has the digest", faulty=True)
    header = {"Docker-Content-Digest": bed.digest}
    with bed.proxy.faults.on(
        Fault(path="manifests", status=200, body=manifest + b" ", headers=header)
    ):
        bed.fails(WrongDigest, "what came has the digest", faulty=True)


# Platforms


def test_an_index_with_several_platforms(bed: Bed) -> None:
    members = {
        arch: bed.images.push("multi", f"only-{arch}", arch=arch, labels={"for": arch})
        for arch in ("amd64", "arm64")
    }
    index = bed.images.push_index("multi", "all", members)
    for arch, digest in members.items():
        found = bed.client().find(bed.reference("multi:all"), arch)
        assert found
        assert (found.digest, found.manifest_digest, found.labels) == (index, digest, {"for": arch})
    with pytest.raises(
        WrongArchitecture, match="it is for amd64, arm64, not for ppc64le"
    ) as caught:
        bed.client().find(bed.reference("multi:all"), "ppc64le")
    check_sentence(caught.value)
    with pytest.raises(WrongArchitecture, match="it is for arm64, not for amd64"):
        bed.client().find(bed.reference("multi:only-arm64"), "amd64")


def test_an_index_that_lies(bed: Bed) -> None:
    digest = bed.images.push("liar", "arm", arch="arm64")
    bed.images.push_index("liar", "all", {"amd64": digest})
    with pytest.raises(WrongArchitecture, match="it is for arm64, not for amd64"):
        bed.client().find(bed.reference("liar:all"), "amd64")


def test_an_index_of_indexes(bed: Bed) -> None:
    inner = bed.images.push_index("nested", "inner", {"amd64": bed.images.push("nested", "amd64")})
    bed.images.push_index("nested", "outer", {"amd64": inner})
    with pytest.raises(RegistryError, match="its index lists another index") as caught:
        bed.client().find(bed.reference("nested:outer"), "amd64")
    check_sentence(caught.value)


def test_an_index_whose_member_is_gone(bed: Bed) -> None:
    digest = bed.images.push("gone", "amd64")
    bed.images.push_index("gone", "all", {"amd64": digest})
    bed.images.delete("gone", digest)
    with pytest.raises(
        ImageNotFound, match=f"does not have its manifest for amd64 .{digest}"
    ) as caught:
        bed.client().find(bed.reference("gone:all"), "amd64")
    check_sentence(caught.value)


# Mirrors


def test_mirrors_in_their_order(bed: Bed, any_bed: Bed) -> None:
    source = bed.images.push("mirrored", "1", labels={"from": "source"})
    down = "127.0.0.1:1"
    without, second = f"{any_bed.registry.address}/empty", f"{any_bed.registry.address}/second"

    def asked(*locations: str, contact_source: bool = True) -> Image | None:
        mirrors = [RegistryMirror(bed.registry.address, locations, source=contact_source)]
        client = bed.client(keyring=keyring(bed, any_bed), mirrors=mirrors)
        return client.find(bed.reference("mirrored:1"), "amd64")

    # No mirror has it: the source is asked, last.
    mark = any_bed.registry.mark()
    found = asked(without, second)
    assert found
    assert (found.digest, found.reference) == (source, bed.reference("mirrored:1"))
    paths = [request.path.split("/")[2] for request in any_bed.registry.requests(mark)]
    assert list(dict.fromkeys(paths)) == ["empty", "second"]
    # One that does not answer is passed over.
    assert asked(down, without)
    assert asked(without, contact_source=False) is None
    # The second mirror has it: the source is not asked.
    any_bed.images.push("second/mirrored", "1", labels={"from": "mirror"})
    mark = bed.registry.mark()
    found = asked(without, second)
    assert found
    assert found.labels == {"from": "mirror"}
    assert bed.registry.requests(mark) == []
    # A mirror for digests is asked for no tag, and where it is all there is nobody is.
    digests = RegistryMirror(bed.registry.address, [second], source=False, pulls="digest")
    client = bed.client(keyring=keyring(bed, any_bed), mirrors=[digests])
    with pytest.raises(
        RegistryError, match="is not to be asked, and its mirrors serve digests only"
    ) as caught:
        client.find(bed.reference("mirrored:1"), "amd64")
    check_sentence(caught.value)
    assert client.find(bed.reference("mirrored").pinned(found.digest), "amd64")
    # Nobody has it, and one could not be asked: that is not "it does not exist".
    with pytest.raises(RegistryUnreachable, match="Connection refused") as caught:
        asked(down, without, contact_source=False)
    check_sentence(caught.value)
    assert "Cannot look up" in caught.value.what
    assert str(bed.reference("mirrored:1")) in caught.value.what


def test_all_failures_of_mirrors_and_source_are_told(bed: Bed) -> None:
    mirrors = [RegistryMirror(bed.registry.address, ["127.0.0.1:1", "127.0.0.1:2"])]
    bed.fails(
        RegistryUnauthorized,
        r"no credentials.* and 127\.0\.0\.1:1 failed as well \(.* and 127\.0\.0\.1:2 ",
        mirrors=mirrors,
        account=None,
    )


# Redirects and proxies


class _Storage(SimpleHTTPRequestHandler):
    """Serves a folder, writes down who asks, and refuses where it is told to."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization")))  # type: ignore[attr-defined]
        if refusal := self.server.refusal:  # type: ignore[attr-defined]
            self.send_response(401)
            self.send_header("WWW-Authenticate", refusal)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_args: Any) -> None:
        """asked tells."""


def test_blobs_may_come_from_elsewhere_without_credentials(
    authority: Authority, tmp_path: Path
) -> None:
    pair = authority.server("storage", ["localhost"])
    (tmp_path / "s.crt").write_bytes(pair.certificate)
    write_secret(tmp_path / "s.key", pair.key)
    handler = functools.partial(
        _Storage, directory=str(registry_folder("test-registry-redirects") / "data")
    )
    storage = TlsServer(0, handler, certificate=tmp_path / "s.crt", key=tmp_path / "s.key")  # type: ignore[arg-type]
    storage.asked, storage.refusal = [], ""  # type: ignore[attr-defined]
    url = f"https://localhost:{storage.port}"
    with (
        serving(storage),
        make_bed("test-registry-redirects", "htpasswd", authority, redirects_to=url) as bed,
    ):
        found = bed.find()
        assert found
        assert found.labels == LABELS
        [(path, authorization)] = storage.asked  # type: ignore[attr-defined]
        assert "/blobs/sha256/" in path
        assert authorization is None
        # Who is only redirected to may ask for a password, but gets none.
        storage.refusal = 'Basic realm="give me"'  # type: ignore[attr-defined]
        bed.fails(RegistryUnauthorized, f"localhost:{storage.port}.*it answers 401")
        assert {authorization for _path, authorization in storage.asked} == {None}  # type: ignore[attr-defined]


def test_redirects_that_lead_nowhere_or_away_from_tls(bed: Bed) -> None:
    for location, why in (
        ("http://localhost:1/x", "it leads to localhost:1 without TLS"),
        ("", "it names no place"),
        ("manifests-again", "it redirects without an end"),
    ):
        headers = {"Location": location} if location else {}
        fault = Fault(path="manifests", status=307, headers=headers)
        before = len(bed.proxy.seen)
        with bed.proxy.faults.on(fault):
            bed.fails(RegistryError, why, faulty=True)
        assert len(bed.proxy.seen) - before <= 6


def test_proxies(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    with ForwardProxy(PASSWORD) as proxy:
        assert bed.find(proxies=Proxies(https=proxy.url))
        token_server = f"127.0.0.1:{bed.registry.record.token_port}"
        assert set(proxy.tunnels) == {bed.registry.address, token_server}
        proxy.tunnels.clear()
        assert bed.find(proxies=Proxies(https=proxy.url, exceptions="127.0.0.0/8"))
        assert proxy.tunnels == []
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert bed.find()
        assert proxy.tunnels
        bed.fails(
            RegistryUnreachable,
            "the proxy cannot be used",
            proxies=Proxies(https=proxy.url.replace(PASSWORD, "wr0ng")),
        )
    bed.fails(RegistryUnreachable, "the proxy cannot be used", proxies=Proxies(https=proxy.url))


# The test registry itself


def test_a_killed_starter_leaves_nothing_that_cannot_be_stopped(authority: Authority) -> None:
    folder = registry_folder("test-registry-killed")
    Registry.remove(folder)
    script = (
        "import os, sys; from pathlib import Path; from tests.cluster.pki import Authority;"
        "from tests.cluster.registry import Registry; pki, folder = map(Path, sys.argv[1:]);"
        "Registry.start(folder, auth='token', authority=Authority(pki, 'registries')); os.kill(os.getpid(), 9)"
    )
    place = str(authority.certificate_file.parent)
    killed = subprocess.run(
        [sys.executable, "-c", script, place, str(folder)], cwd=REPO, check=False
    )
    assert killed.returncode == -9
    assert Registry.attach(folder).requests() == []
    left = processes.noted(folder)
    assert [process.alive for process in left] == [True, True]
    # One of them was started in the last moment, and not written down any more.
    (folder / "run" / "token-server.json").unlink()
    Registry.remove(folder)
    assert [process.alive for process in left] == [False, False]
    assert not folder.exists()


def test_the_kernel_of_a_release_is_read_from_the_layers_of_its_images(bed: Bed) -> None:
    kernel, build = "5.14.0-570.12.1.el9_6.x86_64", "9.6.20250523-0"
    told = json.dumps({"KERNEL_VERSION": kernel}).encode()
    files = {"etc/motd": b"hello", "etc/driver-toolkit-release.json": told}
    digest = bed.images.push("ocp/toolkit", "1", files=files)
    toolkit = f"{bed.registry.address}/ocp/toolkit@{digest}"
    tags = [
        {
            "name": "rhel-coreos",
            "annotations": {"io.openshift.build.versions": f"machine-os={build}"},
        },
        {"name": "driver-toolkit", "from": {"kind": "DockerImage", "name": toolkit}},
    ]
    stream = json.dumps({"kind": "ImageStream", "spec": {"tags": tags}}).encode()
    bed.images.push("ocp/release", "4.19.1", files={"release-manifests/image-references": stream})
    client = bed.client()
    found = release_kernels(
        [f"{bed.registry.address}/ocp/release:4.19.1"],
        ["amd64"],
        lambda image, arch, path: client.file_of(parse(image), arch, path),
    )
    assert found == [ExpectedKernel(kernel, "rhel", "9.6", build, "amd64", toolkit)]


# Images on their way to a mirror


def copied(bed: Bed, *, check: bool = False, **params: Any) -> dict[str, Any]:
    """What image_copy returns, asking as who may push to the registry and through its proxy."""
    spec = {name: dict(argument) for name, argument in arguments.IMAGE_COPY.items()}
    given = ArgumentSpecValidator(spec).validate({"registry_ca": bed.registry.ca, **params})
    assert not given.error_messages, given.error_messages
    return outcome_of(
        lambda: copy_core.TASK.run(given.validated_parameters, RunContext(check_mode=check)),
        secrets=set(),
        verbosity=0,
    )


def auth_file(folder: Path, *beds: Bed) -> str:
    """A configuration of docker with the account of these registries."""
    auths = {
        place: PUSHER.entry for bed in beds for place in (bed.registry.address, bed.proxy.address)
    }
    path = folder / "config.json"
    path.write_text(json.dumps({"auths": auths}))
    return str(path)


def changes_of(bed: Bed, mark: int) -> list[str]:
    """The requests since then that write."""
    asked = bed.registry.requests(mark)
    return [str(each) for each in asked if each.method in ("PUT", "POST", "PATCH", "DELETE")]


def blobs_of(bed: Bed, mark: int) -> list[str]:
    """The blobs that were read since then."""
    asked = bed.registry.requests(mark)
    return [each.path for each in asked if each.method == "GET" and "/blobs/" in each.path]


def test_images_travel_to_a_mirror_through_a_folder(bed: Bed, any_bed: Bed, tmp_path: Path) -> None:
    members = {
        arch: bed.images.push("air", arch, arch=arch, files={"for": arch.encode()})
        for arch in ("amd64", "arm64")
    }
    index = bed.images.push_index("air", "all", members)
    images = [str(bed.reference()), str(bed.reference("air:all"))]
    layout = tmp_path / "layout"
    params = {
        "images": images,
        "layout": str(layout),
        "registry_auth_file": auth_file(tmp_path, bed, any_bed),
    }

    # Exported once; what is damaged or missing of it is fetched again, and nothing else.
    assert (copied(bed, state="exported", check=True, **params)["changed"], layout.exists()) == (
        True,
        False,
    )
    first = copied(bed, state="exported", **params)
    assert [each["digest"] for each in first["images"]] == [bed.digest, index]
    assert json.loads((layout / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
    mark = bed.registry.mark()
    assert not copied(bed, state="exported", **params)["changed"]
    assert blobs_of(bed, mark) == []
    _top, config, layer = blobs(layout, bed.digest)
    config.unlink()
    layer.write_bytes(b"x" + layer.read_bytes()[1:])
    (layer.parent / f".{layer.name}.part").write_bytes(b"left by a run that was killed")
    broken = copied(any_bed, state="imported", mirror=any_bed.registry.address, **params)
    assert (broken["failed"], "export again" in broken["msg"]) == (True, True)
    mark = bed.registry.mark()
    assert copied(bed, state="exported", **params)["changed"]
    assert len(blobs_of(bed, mark)) == 2
    assert list(layout.rglob(".*")) == []

    # Imported over a connection that is cut in the middle of a blob, and again.
    mirror = {
        "mirror": f"{any_bed.proxy.address}/{tmp_path.name}",
        "registry_ca": any_bed.registry.ca,
    }
    lacking = copied(any_bed, **params, **mirror)
    assert lacking["missing"] == images
    mark = any_bed.registry.mark()
    assert copied(any_bed, state="imported", check=True, **params, **mirror)["changed"]
    assert changes_of(any_bed, mark) == []
    lost = Fault(method="PUT", path="uploads", lost="answer", times=1)
    denied = Fault(method="PUT", path="manifests", status=403, times=1)
    with any_bed.proxy.faults.on(lost), any_bed.proxy.faults.on(denied):
        refused = copied(any_bed, state="imported", **params, **mirror)
    whys = [each["why"] for each in refused["images"]]
    assert ("answers 403" in whys[0], whys[1]) == (True, "")
    done = copied(any_bed, state="imported", **params, **mirror)
    assert [each["digest"] for each in done["images"]] == [bed.digest, index]
    mark = any_bed.registry.mark()
    assert not copied(any_bed, state="imported", **params, **mirror)["changed"]
    assert changes_of(any_bed, mark) == []
    assert copied(any_bed, **params, **mirror)["missing"] == []

    # The mirrors that are returned lead there, with the source down.
    places = tuple(RegistryMirror(**each) for each in done["registry_mirrors"])
    client = any_bed.client(mirrors=places)
    for arch, digest in members.items():
        found = client.find(bed.reference("air:all"), arch)
        assert found
        assert (found.digest, found.manifest_digest) == (index, digest)
    air = any_bed.reference(f"{tmp_path.name}/{bed.registry.address.replace(':', '-')}/air:all")
    any_bed.images.push(air.repository, air.tag)
    moved = copied(any_bed, **params, **mirror)
    assert (moved["missing"], moved["images"][1]["status"]) == ([images[1]], "other")


def test_an_image_is_exported_for_some_architectures(bed: Bed, tmp_path: Path) -> None:
    members = {arch: bed.images.push("few", arch, arch=arch) for arch in ("amd64", "arm64")}
    whole = bed.images.push_index("few", "all", members)
    by_tag, by_digest = str(bed.reference("few:all")), str(bed.reference(f"few@{whole}"))
    params = {
        "state": "exported",
        "registry_auth_file": auth_file(tmp_path, bed),
        "archs": ["arm64"],
    }
    few = copied(bed, images=[by_tag], layout=str(tmp_path / "few"), **params)
    digest = few["images"][0]["digest"]
    listed = json.loads(blobs_path(tmp_path / "few", digest).read_text())["manifests"]
    assert [each["platform"]["architecture"] for each in listed] == ["arm64"]
    assert not blobs_path(tmp_path / "few", members["amd64"]).exists()
    copied(bed, images=[by_digest], layout=str(tmp_path / "whole"), **params)
    assert all(blobs_path(tmp_path / "whole", each).exists() for each in (whole, *members.values()))
    none = copied(
        bed, images=[by_tag], layout=str(tmp_path / "few"), **{**params, "archs": ["s390x"]}
    )
    assert "it is for amd64, arm64, not for all of s390x" in none["msg"]


def blobs(layout: Path, digest: str) -> list[Path]:
    """The files of an image in a layout: its manifest, configuration and layers."""
    manifest = json.loads(blobs_path(layout, digest).read_text())
    parts = [manifest["config"], *manifest["layers"]]
    return [blobs_path(layout, each) for each in (digest, *(part["digest"] for part in parts))]


def blobs_path(layout: Path, digest: str) -> Path:
    """Where a layout has a blob."""
    return layout / "blobs" / digest.replace(":", "/")


# Signatures


def test_a_signature_of_cosign_is_found_in_both_of_its_forms_and_copied(
    bed: Bed, any_bed: Bed, tmp_path: Path
) -> None:
    """As cosign 3.1.3 has put them there: beside the image, and under a tag of old."""
    key, name = PublicKey(COSIGN_PUB), f"signed/{tmp_path.name}"
    new = bed.images.push(name, "new", labels={"a": "b"})
    old = bed.images.push(name, "old", labels={"a": "c"})
    assert (new, old) == (SIGNED, OLDER)

    def signed() -> list[bool]:
        pinned = [bed.reference(f"{name}@{digest}") for digest in (new, old)]
        return [bed.client().is_signed(each, [key]) for each in pinned]

    assert signed() == [False, False]
    empty, beside = b"{}", bundle()
    kind = "application/vnd.dev.sigstore.bundle.v0.3+json"
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": descriptor("application/vnd.oci.empty.v1+json", empty),
        "layers": [descriptor(kind, beside)],
        "artifactType": kind,
    }
    body = json.dumps(manifest).encode()
    digest = descriptor("", body)["digest"]
    bed.images.push_parts(name, digest, manifest, empty, beside)
    index = {
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": [{**descriptor(MANIFEST, body), "artifactType": kind}],
    }
    bed.images.push_parts(name, new.replace(":", "-"), index)
    assert signed() == [True, False]
    layer = {
        **descriptor("application/vnd.dev.cosign.simplesigning.v1+json", PAYLOAD),
        "annotations": {"dev.cosignproject.cosign/signature": OLDER_SIGNATURE},
    }
    config = descriptor("application/vnd.oci.image.config.v1+json", empty)
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer]}
    bed.images.push_parts(name, f"{old.replace(':', '-')}.sig", manifest, empty, PAYLOAD)
    assert signed() == [True, True]
    params = {
        "images": [str(bed.reference(f"{name}@{new}")), str(bed.reference(f"{name}:old"))],
        "layout": str(tmp_path / "layout"),
        "mirror": f"{any_bed.registry.address}/{tmp_path.name}",
        "registry_auth_file": auth_file(tmp_path, bed, any_bed),
    }
    copied(bed, state="exported", **params)
    assert not copied(bed, state="exported", **params)["changed"]
    done = copied(any_bed, state="imported", **params)
    assert not copied(any_bed, state="imported", **params)["changed"]
    places = tuple(RegistryMirror(**each) for each in done["registry_mirrors"])
    client = any_bed.client(mirrors=places)
    assert client.is_signed(bed.reference(f"{name}@{new}"), [key])
    assert client.is_signed(bed.reference(f"{name}@{old}"), [key])


def descriptor(media_type: str, body: bytes) -> dict[str, Any]:
    """What a manifest says of a blob."""
    return {"mediaType": media_type, "digest": digest_of(body), "size": len(body)}


def test_the_playbook_copies_images_and_writes_mirrors_without_a_cluster(
    bed: Bed, tmp_path: Path
) -> None:
    """Named in a file, exported and imported; nobody has to reach a cluster for that."""
    (tmp_path / "images.txt").write_text(f"{bed.reference()}\n")
    given = {
        "hardware_enablement_registry_ca": bed.registry.ca,
        "hardware_enablement_registry_auth_file": auth_file(tmp_path, bed),
        "hardware_enablement_image_layout": str(tmp_path / "layout"),
    }
    exported = {
        "hardware_enablement_images_file": str(tmp_path / "images.txt"),
        "hardware_enablement_images_state": "exported",
    }
    imported = {
        "hardware_enablement_images_state": "imported",
        "hardware_enablement_image_mirror": f"{bed.registry.address}/{tmp_path.name}",
        "hardware_enablement_mirror_map_dir": str(tmp_path / "map"),
    }
    for variables in (exported, imported):
        _play_images(tmp_path, **given, **variables).check()
    (tmp_path / "images.txt").write_text(f"{bed.reference()}\n{bed.registry.address}/no/image:1\n")
    refused = _play_images(tmp_path, **given, **exported)
    assert set(refused.error) == {"changed", "msg"}
    assert "no/image:1" in refused.error["msg"]
    files = {str(path.relative_to(tmp_path / "map")) for path in (tmp_path / "map").rglob("*.*")}
    assert {"registries.conf", "ImageDigestMirrorSet.json", "ImageTagMirrorSet.json"} < files
    places = json.loads((tmp_path / "map" / "registry_mirrors.json").read_text())
    (mirror,) = places["hardware_enablement_registry_mirrors"]
    found = bed.client(mirrors=[RegistryMirror(**mirror)]).digest(bed.reference())
    assert found == bed.digest


def _play_images(tmp_path: Path, **variables: Any) -> Played:
    """The playbook images, where no cluster is to be found."""
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("ansible-playbook")),
            "hardware.enablement.images",
            "-e",
            json.dumps(variables),
        ],
        cwd=REPO,
        env={
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": str(Place().tested),
            "K8S_AUTH_KUBECONFIG": str(tmp_path / "none"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return Played(done.returncode, done.stdout + done.stderr)
