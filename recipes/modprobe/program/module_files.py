# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps this node's files for kernel modules, and takes them away when its pod is deleted.

They count at the node's boot, so they have to outlive a pod that ends with its node: only one that
is deleted gives them back."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import ssl
import sys
import time
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

FOLDERS = ("modprobe.d", "modules-load.d")
# Connection and answer of the last request, too, are within the 30 s that the pod has to end.
_PATIENCE_S = 10.0
_ANSWER_S = 7.0
_AGAIN_S = 0.5
_ENDS = {signal.SIGTERM}
# What may come instead of the API server's answer.
NO_ANSWER = (OSError, http.client.HTTPException, ValueError, KeyError)


def write(texts: Path, node: Path, name: str) -> None:
    """Write a file into each folder of the node, in one step; one that is the same is left alone.

    texts: a folder with a file for each folder of the node. Raises OSError."""
    for folder in FOLDERS:
        text, file = (texts / folder).read_bytes(), node / folder / name
        if file.is_file() and file.read_bytes() == text:
            continue
        # No program reads what ends so.
        new = file.with_suffix(".new")
        new.write_bytes(text)
        new.chmod(0o644)
        new.replace(file)
        say(f"/etc/{folder}/{name} is written; it counts from the node's next boot on")


def remove(node: Path, name: str) -> None:
    """Take the files away. Raises OSError."""
    for folder in FOLDERS:
        (node / folder / name).unlink(missing_ok=True)
    say(f"{name} is taken away again; the node's next boot is without it")


def is_deleted(server: str, credentials: Path, pod: Mapping[str, str]) -> bool:
    """Whether this pod is being deleted, or has been. pod: POD_NAMESPACE, POD_NAME, POD_UID.

    Raises OSError, http.client.HTTPException and ValueError where the API server does not say."""
    token = (credentials / "token").read_text(encoding="utf-8").strip()
    trust = ssl.create_default_context(cafile=str(credentials / "ca.crt"))
    place = urllib.parse.urlsplit(server)
    connection = http.client.HTTPSConnection(
        place.hostname or "", place.port, timeout=_ANSWER_S, context=trust
    )
    path = f"/api/v1/namespaces/{pod['POD_NAMESPACE']}/pods/{pod['POD_NAME']}"
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        if answer.status == 404:
            return True
        if answer.status != 200:
            raise OSError(f"{answer.status} {answer.reason} for {path}")
        found = json.load(answer)
    finally:
        connection.close()
    if not isinstance(found, dict) or "uid" not in found.get("metadata", {}):
        raise ValueError("the answer is no pod")
    metadata = found["metadata"]
    return metadata["uid"] != pod["POD_UID"] or "deletionTimestamp" in metadata


def say(text: str) -> None:
    """A line of the log, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(argv: list[str]) -> int:
    """Write, wait until told to end, and give back what is to be given back."""
    arguments = _parser().parse_args(argv)
    # Waited for, it interrupts nothing: neither writing nor giving back is left half done.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        write(arguments.texts, arguments.node, arguments.name)
        arguments.ready.touch()
    except OSError as error:
        say(f"the node's files cannot be written: {error}")
        return 1
    if not _is_known_to_be_deleted(arguments):
        signal.sigwait(_ENDS)
    return _leave(arguments)


def _is_known_to_be_deleted(arguments: argparse.Namespace) -> bool:
    """As is_deleted; False where nobody says. A signal that came before this program takes it is lost, since the
    first process of a container gets none by default."""
    try:
        return is_deleted(arguments.server, arguments.credentials, os.environ)
    except NO_ANSWER:
        return False


def _leave(arguments: argparse.Namespace) -> int:
    try:
        if _is_deleted_at_last(arguments):
            remove(arguments.node, arguments.name)
        else:
            say(f"{arguments.name} stays: the pod ends, and nobody has deleted it")
    except NO_ANSWER as error:
        say(f"{arguments.name} stays: whether the pod is deleted cannot be known: {error}")
        return 1
    return 0


def _is_deleted_at_last(arguments: argparse.Namespace) -> bool:
    """As is_deleted, asked again where nobody says: what stays of a deleted pod stays for ever."""
    deadline = time.monotonic() + arguments.patience
    while True:
        try:
            return is_deleted(arguments.server, arguments.credentials, os.environ)
        except NO_ANSWER:
            if time.monotonic() > deadline:
                raise
        time.sleep(_AGAIN_S)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Keep a node's files for kernel modules.")
    parser.add_argument("name", help="of the file in each folder")
    parser.add_argument("--texts", type=Path, default=Path("/program"))
    parser.add_argument("--node", type=Path, default=Path("/host"), help="has the node's folders")
    parser.add_argument("--ready", type=Path, default=Path("/run/module-files/ready"))
    parser.add_argument("--patience", type=float, default=_PATIENCE_S, help="seconds to ask for")
    host, port = (os.environ.get(f"KUBERNETES_SERVICE_{each}", "") for each in ("HOST", "PORT"))
    host = f"[{host}]" if ":" in host else host
    parser.add_argument("--server", default=f"https://{host}:{port}")
    parser.add_argument(
        "--credentials",
        type=Path,
        default=Path("/var/run/secrets/kubernetes.io/serviceaccount"),
        help="has token and ca.crt",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
