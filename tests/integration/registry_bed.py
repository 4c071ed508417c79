# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Registries for tests of the registry layer: each with an image, a proxy for faults, and a client
that never waits."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any, TypeVar

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_client import (
    Image,
    Registries,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import (
    Reference,
    parse,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.keyring import Keyring
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryPolicy,
)
from tests.cluster.faults import FaultProxy
from tests.cluster.paths import registry_folder
from tests.cluster.pki import Authority
from tests.cluster.registry import PULLER, PUSHER, Account, Images, Registry

ServerT = TypeVar("ServerT", bound=ThreadingHTTPServer)

KERNEL = "6.8.0-60-generic"
LABELS = {"kernel": KERNEL}
PASSWORD = "0f-the-proxy"
SECRETS = [
    *(
        secret
        for account in (PUSHER, PULLER)
        for secret in (account.password, account.identity_token)
    ),
    *(account.entry["auth"] for account in (PUSHER, PULLER)),
    PASSWORD,
]


@dataclass
class Bed:
    """One registry with one image, gpu/driver:KERNEL, and a proxy for faults in front of it."""

    registry: Registry
    images: Images
    proxy: FaultProxy
    digest: str
    slept: list[float] = field(default_factory=list)

    def reference(self, name: str = f"gpu/driver:{KERNEL}", *, faulty: bool = False) -> Reference:
        """An image, asked for straight or through the proxy."""
        return parse(f"{self.proxy.address if faulty else self.registry.address}/{name}")

    def client(
        self, account: Account | None = PUSHER, *, identity_token: bool = False, **policy: Any
    ) -> Registries:
        """A client that waits for nothing. policy: more of Policy."""
        entry = account and (account.token_entry if identity_token else account.entry)
        auths = {address: entry for address in (self.registry.address, self.proxy.address) if entry}
        keyring = Keyring.from_configs([json.dumps({"auths": auths})])
        self.slept.clear()
        return Registries(
            RegistryPolicy(**{"keyring": keyring, "ca": self.registry.ca, **policy}),
            self.slept.append,
        )

    def find(self, *, faulty: bool = False, **settings: Any) -> Image | None:
        """Look the image up with a new client."""
        return self.client(**settings).find(self.reference(faulty=faulty), "amd64")

    def fails(
        self, kind: type[EnablementError], match: str, *, faulty: bool = False, **settings: Any
    ) -> None:
        """Look the image up and fail in one sentence."""
        with pytest.raises(kind, match=match) as caught:
            self.find(faulty=faulty, **settings)
        check_sentence(caught.value)


def check_sentence(error: EnablementError) -> None:
    """One line that names no secret and says what to do."""
    text = str(error)
    assert "\n" not in text
    assert error.todo
    assert not any(secret in text for secret in SECRETS)
    assert not any(word in text for word in ("Traceback", "HTTPSConnection", "Errno", "eyJ"))


@contextmanager
def make_bed(name: str, auth: Any, authority: Authority, **options: Any) -> Iterator[Bed]:
    """A running bed. name: of its registry's folder, which is removed before and after. options: of
    Registry.start."""
    folder = registry_folder(name)
    Registry.remove(folder)
    try:
        with (
            Registry.start(folder, auth=auth, authority=authority, **options) as registry,
            FaultProxy(registry.address, authority) as proxy,
        ):
            images = Images(registry)
            yield Bed(registry, images, proxy, images.push("gpu/driver", KERNEL, labels=LABELS))
    finally:
        Registry.remove(folder)


def keyring(*beds: Bed) -> Keyring:
    """The account that may push, for several registries and the proxies in front of them."""
    addresses = [address for bed in beds for address in (bed.registry.address, bed.proxy.address)]
    return Keyring.from_configs([json.dumps({"auths": dict.fromkeys(addresses, PUSHER.entry)})])


@contextmanager
def serving(server: ServerT) -> Iterator[ServerT]:
    """Let a server answer for a while."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
