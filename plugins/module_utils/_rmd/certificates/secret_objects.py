# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Secrets and the ConfigMap that hold the certificates, and what is read from them. Pure.

A Secret may hold 1 MiB, and a DaemonSet mounts the same Secrets on every node: the nodes'
certificates lie in a fixed number of Secrets, one entry for each node. See
docs/decisions/0012-certificates-of-nodes.md."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Optional

from ..._cluster.api_objects.labels import FIELD_MANAGER, RECIPE_LABEL
from ..._errors import EnablementError
from ..._http.pki import Pair
from ..._json import Obj, part
from .lifetimes import Stored, WantedCertificates

# As many as recipes/intel-rmd/daemon/daemonset.yaml.j2 mounts.
SHARDS = 8
# kubernetes/pkg/apis/core/types.go, MaxSecretSize.
MAX_BYTES = 1024 * 1024
AUTHORITY, CLIENT, SERVER, TRUST = (
    "intel-rmd-ca",
    "intel-rmd-client",
    "intel-rmd-server",
    "intel-rmd-trust",
)
LABELS = {
    "app.kubernetes.io/name": "intel-rmd",
    "app.kubernetes.io/component": "certificates",
    "app.kubernetes.io/managed-by": FIELD_MANAGER,
    RECIPE_LABEL: "intel-rmd",
}
_BEGIN = "-----BEGIN CERTIFICATE-----"


def shard_of(node: str) -> str:
    """The name of the Secret that holds a node's certificate."""
    return f"{SERVER}-{int(hashlib.sha256(node.encode()).hexdigest(), 16) % SHARDS}"


def read(secrets: Iterable[Mapping[str, Any]], trust: Optional[Mapping[str, Any]]) -> Stored:
    """What our Secrets and our ConfigMap hold; entries that cannot be read count as missing."""
    texts = {str(secret["metadata"]["name"]): texts_of(secret) for secret in secrets}
    servers: dict[str, Pair] = {}
    for name, entries in texts.items():
        if name.startswith(f"{SERVER}-"):
            servers.update({node: split(text) for node, text in entries.items()})
    return Stored(
        authority=_pair(texts.get(AUTHORITY), "ca.crt", "ca.key"),
        client=_pair(texts.get(CLIENT), "tls.crt", "tls.key"),
        servers=servers,
        trust=dict(part(trust or {}, "data")),
    )


def objects(wanted: WantedCertificates, namespace: str) -> list[Obj]:
    """What should be there, in the order in which it is written. Raises EnablementError for Secrets
    of too many nodes.

    What daemons trust comes last and is what makes them start anew, so that a run that ends before
    is simply repeated.
    """
    shards: dict[str, dict[str, str]] = {f"{SERVER}-{number}": {} for number in range(SHARDS)}
    for node, pair in sorted(wanted.servers.items()):
        shards[shard_of(node)][node] = join(pair)
    largest = max(sum(len(text) for text in entries.values()) for entries in shards.values())
    if largest > MAX_BYTES:
        raise EnablementError(
            f"{len(wanted.servers)} nodes have more certificates than {SHARDS} Secrets hold",
            todo="let the daemons of all nodes share one certificate (server_secret), or select fewer nodes",
        )
    client = {
        "ca.crt": wanted.authority.certificate,
        "tls.crt": wanted.client.certificate,
        "tls.key": wanted.client.key,
    }
    return [
        _secret(
            AUTHORITY,
            namespace,
            {"ca.crt": wanted.authority.certificate, "ca.key": wanted.authority.key},
        ),
        *(_secret(name, namespace, entries) for name, entries in shards.items()),
        _secret(CLIENT, namespace, client),
        trust_object(wanted.trust, namespace),
    ]


def trust_object(trust: Mapping[str, str], namespace: str) -> Obj:
    """What every daemon needs to know; nothing of it is secret."""
    return {**_head("ConfigMap", TRUST, namespace), "data": dict(trust)}


def differs(wanted: Mapping[str, Any], live: Optional[Mapping[str, Any]]) -> bool:
    """Whether an object has to be written."""
    if live is None or part(wanted, "data") != part(live, "data"):
        return True
    return not wanted["metadata"]["labels"].items() <= part(live["metadata"], "labels").items()


def join(pair: Pair) -> str:
    """A pair as one text: a Secret's entry for a node."""
    return f"{pair.key.strip()}\n{pair.certificate.strip()}\n"


def split(text: str) -> Pair:
    """The pair in such a text."""
    key, begin, certificate = text.partition(_BEGIN)
    return Pair(begin + certificate, key)


def texts_of(secret: Mapping[str, Any]) -> dict[str, str]:
    """A Secret's entries as text."""
    entries = part(secret, "data")
    return {
        name: base64.b64decode(value).decode(errors="replace") for name, value in entries.items()
    }


def _pair(entries: Optional[Mapping[str, str]], certificate: str, key: str) -> Optional[Pair]:
    if not entries or certificate not in entries or key not in entries:
        return None
    return Pair(entries[certificate], entries[key])


def _secret(name: str, namespace: str, entries: Mapping[str, str]) -> Obj:
    data = {key: base64.b64encode(text.encode()).decode() for key, text in entries.items()}
    return {**_head("Secret", name, namespace), "type": "Opaque", "data": data}


def _head(kind: str, name: str, namespace: str) -> Obj:
    metadata = {"name": name, "namespace": namespace, "labels": dict(LABELS)}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}
