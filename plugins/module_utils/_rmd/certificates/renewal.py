# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_certificates: what the cluster has, what it should have, and the difference
written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal, Optional

from ..._cluster.api_client.api_errors import Forbidden
from ..._cluster.api_client.client import Client, connect
from ..._cluster.api_client.connection_request import ConnectionRequest
from ..._cluster.api_objects.diff import Diff, make_diff
from ..._errors import EnablementError, InvalidInput, PackageNotFound
from ..._http import pki
from ..._http.pki import Pair
from ..._json import Obj, part
from ..._runs.context import RunContext
from ..._runs.guard import Guard, given_back
from ..._runs.task import Task
from ..._schema.requests import ParameterGroup
from ..._times import timestamp
from ..rmd_product import RECIPE
from . import lifetimes, secret_objects
from .lifetimes import CertificateSettings, WantedCertificates

GENERATED, PROVIDED = "generated", "provided"
# In check mode, for certificates that are not there yet.
_NOT_KNOWN = "not-known-yet"
_SELECTOR = ",".join(
    f"{name}={value}" for name, value in secret_objects.LABELS.items() if name.startswith("app.")
)


@dataclass(frozen=True)
class CertificateSource(ParameterGroup):
    """Who makes the certificates. server_secret: of provided ones, the name of the Secret with the
    one that all daemons show; None where each has its own."""

    source: Literal["generated", "provided"]
    server_secret: Optional[str]


@dataclass(frozen=True)
class RmdCertificatesRequest:
    """What rmd_certificates is to do. nodes: those that get a certificate."""

    connection: ConnectionRequest
    settings: CertificateSettings
    made: CertificateSource
    run_id: Optional[str]
    state: Literal["present", "absent"]
    namespace: str
    nodes: Sequence[str]


def run(request: RmdCertificatesRequest, context: RunContext) -> Obj:
    """rmd_certificates: make, renew, take over or remove what daemons and clients prove themselves
    with."""
    client = connect(request.connection)
    guard = Guard(client, RECIPE, context)
    with given_back(client, RECIPE, context):
        if request.state == "absent":
            return _remove(client, request.namespace, guard, context)
        if request.made.source == PROVIDED:
            return _take_over(client, request, guard, context)
        return _generate(client, request, guard, context)


def _generate(
    client: Client, request: RmdCertificatesRequest, guard: Guard, context: RunContext
) -> Obj:
    if not pki.AVAILABLE:
        raise PackageNotFound(
            "Certificates cannot be made",
            "cryptography>=42",
            otherwise="bring certificates of your own (rmd_certificates: provided)",
        )
    settings, namespace = request.settings, request.namespace
    _refuse_contradiction(settings)
    trust = client.get(client.kind("v1", "ConfigMap"), secret_objects.TRUST, namespace)
    secrets = _secrets(client, namespace, context, "renewal")
    if secrets is None:
        # Somebody who may only look is told what daemons trust, not whether it would be renewed.
        known = part(trust or {}, "data")
        return _result(known, changed=not known, is_known=bool(known))
    stored = secret_objects.read(secrets.values(), trust)
    if secret_objects.CLIENT not in secrets:
        _refuse_foreign(client, namespace)
    now = datetime.fromtimestamp(context.clock(), timezone.utc)
    wanted = lifetimes.decide(stored, sorted(set(request.nodes)), settings, now)
    live = {**secrets, secret_objects.TRUST: trust}
    writes = [
        obj
        for obj in secret_objects.objects(wanted, namespace)
        if secret_objects.differs(obj, live.get(obj["metadata"]["name"]))
    ]
    _write(client, writes, guard, context)
    result = _result(
        wanted.trust,
        changed=bool(writes),
        is_known=not (wanted.why and context.check_mode),
        why=wanted.why,
        issued=wanted.issued,
        removed=wanted.removed,
    )
    return {**result, **context.show([_diff(stored.servers, wanted)])}


def _take_over(
    client: Client, request: RmdCertificatesRequest, guard: Guard, context: RunContext
) -> Obj:
    """Certificates of somebody else's making: only what daemons need to know of the client is
    written."""
    namespace = request.namespace
    texts = _provided(client, secret_objects.CLIENT, namespace)
    shared = ""
    if request.made.server_secret:
        shared = _provided(client, request.made.server_secret, namespace)["tls.crt"]
    trust = {"ca.crt": texts["ca.crt"], "client.crt": texts["tls.crt"]}
    live = client.get(client.kind("v1", "ConfigMap"), secret_objects.TRUST, namespace)
    wanted = secret_objects.trust_object(trust, namespace)
    writes = [wanted] if secret_objects.differs(wanted, live) else []
    _write(client, writes, guard, context)
    names = [f"ConfigMap {namespace}/{secret_objects.TRUST}"] if writes else []
    result = _result(trust, changed=bool(writes), shared=shared)
    return {**result, **context.show([make_diff("what daemons trust", (), names)])}


def _remove(client: Client, namespace: str, guard: Guard, context: RunContext) -> Obj:
    found = {
        "Secret": _secrets(client, namespace, context, "removal") or {},
        "ConfigMap": _ours(client, "ConfigMap", namespace),
    }
    names = [(kind, name) for kind, objects in found.items() for name in sorted(objects)]
    if names and not context.check_mode:
        guard.before_write()
        for kind, name in names:
            client.delete(client.kind("v1", kind), name, namespace)
    removed = [f"{kind} {namespace}/{name}" for kind, name in names]
    result = {**_result({}, changed=bool(names), removed=removed), "fingerprint": ""}
    return {**result, **context.show([make_diff("what daemons trust", removed, ())])}


def _refuse_contradiction(settings: CertificateSettings) -> None:
    """Raises InvalidInput for times that cannot all be kept."""
    if not 0 < settings.renew_before_days < settings.days < settings.authority_days:
        raise InvalidInput(
            "certificates cannot be made with these options",
            why="renew_before_days, days and authority_days have to grow in this order",
            todo="correct them",
        )


def _secrets(
    client: Client, namespace: str, context: RunContext, what: str
) -> Optional[dict[str, Obj]]:
    """Our Secrets; None where somebody who may only look may not read them, who is told that
    nothing is said of this."""
    try:
        return _ours(client, "Secret", namespace)
    except Forbidden:
        if not context.check_mode:
            raise
    context.progress(f"certificates: Secrets may not be read, so nothing is said of their {what}")
    return None


def _ours(client: Client, kind: str, namespace: str) -> dict[str, Obj]:
    found = client.list(client.kind("v1", kind), namespace=namespace, labels=_SELECTOR).items
    return {str(obj["metadata"]["name"]): obj for obj in found}


def _refuse_foreign(client: Client, namespace: str) -> None:
    if client.get(client.kind("v1", "Secret"), secret_objects.CLIENT, namespace) is not None:
        raise EnablementError(
            f"Secret {namespace}/{secret_objects.CLIENT} is somebody else's",
            why="certificates are to be made, but this one was not made here",
            todo="set rmd_certificates to provided, or remove the Secret",
        )


def _provided(client: Client, name: str, namespace: str) -> Mapping[str, str]:
    where = f"Secret {namespace}/{name}"
    secret = client.get(client.kind("v1", "Secret"), name, namespace)
    texts = secret_objects.texts_of(secret or {})
    missing = [key for key in ("ca.crt", "tls.crt", "tls.key") if not texts.get(key)]
    if missing:
        raise EnablementError(
            "The certificates that are to be used are not there",
            where=where,
            why=f"it holds no {', '.join(missing)}" if secret else "there is no such Secret",
            todo="make it (ca.crt, tls.crt, tls.key), or let certificates be made (rmd_certificates: generated)",
        )
    if pki.AVAILABLE and not pki.belong_together(Pair(texts["tls.crt"], texts["tls.key"])):
        raise EnablementError(
            "The key does not belong to the certificate", where=where, todo="correct the Secret"
        )
    return texts


def _write(client: Client, writes: Sequence[Obj], guard: Guard, context: RunContext) -> None:
    if not writes or context.check_mode:
        return
    guard.before_write()
    # One after the other: their order is what makes a run that ends half-way repeatable.
    for obj in writes:
        guard.keep()
        client.apply(obj)


def _result(
    trust: Mapping[str, str],
    *,
    changed: bool,
    is_known: bool = True,
    shared: str = "",
    why: str = "",
    issued: Sequence[str] = (),
    removed: Sequence[str] = (),
) -> Obj:
    """is_known: whether this is what daemons will trust. shared: as fingerprint takes it."""
    said: Obj = {"changed": changed, "why": why, "issued": list(issued), "removed": list(removed)}
    said["fingerprint"] = lifetimes.fingerprint(trust, shared) if is_known else _NOT_KNOWN
    if pki.AVAILABLE and is_known and trust:
        found = pki.observe(trust["client.crt"], trust["ca.crt"])
        if found is not None:
            said["expires"] = timestamp(found.not_after.timestamp())
    return said


def _diff(before: Mapping[str, Pair], wanted: WantedCertificates) -> Diff:
    """A line for each node whose certificate changes, with its end."""

    def lines(pairs: Mapping[str, Pair]) -> Iterator[str]:
        for node in sorted({*wanted.issued, *wanted.removed}.intersection(pairs)):
            found = pki.observe(pairs[node].certificate, wanted.authority.certificate)
            if found is not None:
                yield f"certificate of node {node}: until {timestamp(found.not_after.timestamp())}"

    return make_diff("the certificates of daemons", lines(before), lines(wanted.servers))


TASK = Task(RmdCertificatesRequest, run)
