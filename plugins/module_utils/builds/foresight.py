# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of a build before anything is made for it: Secrets, ServiceAccount, and whether it may be pushed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Optional

from ansible_collections.hardware.enablement.plugins.module_utils.builds.environment import NamespaceSecrets
from ansible_collections.hardware.enablement.plugins.module_utils.builds.failures import (
    MISSING,
    NO_ACCOUNT,
    Failure,
    Phase,
    failure,
)
from ansible_collections.hardware.enablement.plugins.module_utils.builds.model import Order
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.errors import Forbidden
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.rights import Right
from ansible_collections.hardware.enablement.plugins.module_utils.errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils.registry.errors import RegistryError

# An order, the ServiceAccount of its pods, the Secrets that its builder needs beside the order's own.
Outlook = Callable[[Order, str, Sequence[str]], Optional[Failure]]
# Whether a target (repo:tag) may be pushed to with these Secrets; raises EnablementError where not.
MayPush = Callable[[str, Sequence[str]], None]

RIGHTS = (Right("", ("serviceaccounts",), ("get",), look=("get",)),)


class Foresight:
    """Looks at what a build needs, once for all orders of a run."""

    def __init__(self, client: Client, namespace: str, secrets: NamespaceSecrets, may_push: MayPush) -> None:
        self._client = client
        self._namespace = namespace
        self._secrets = secrets
        self._may_push = may_push
        self._answers: dict[str, Failure | None] = {}

    def outlook(self, order: Order, account: str, names: Sequence[str]) -> Failure | None:
        """Why the build of an order would fail, None where nothing is known to be wrong. See Outlook."""
        missing = [f"Secret {self._secrets.title(name)}" for name in (*names, *order.secrets.all) if self._lacks(name)]
        if missing:
            verb = "does" if len(missing) == 1 else "do"
            why = f"{' and '.join(missing)} {verb} not exist, where it would run"
            return replace(failure(Phase.START, MISSING, why), foreseen=True)
        if self._lacks_account(account):
            why = f"ServiceAccount {self._namespace}/{account} does not exist, where it would run"
            return replace(failure(Phase.START, NO_ACCOUNT, why), foreseen=True)
        repository = order.target.rpartition(":")[0]
        if repository not in self._answers:
            self._answers[repository] = self._refusal(order.target, names)
        return self._answers[repository]

    def _lacks(self, name: str) -> bool:
        try:
            return bool(name) and self._secrets.keys(name) is None
        except EnablementError:  # who may not see it does not know
            return False

    def _lacks_account(self, name: str) -> bool:
        try:
            return self._client.get(self._client.kind("v1", "ServiceAccount"), name, self._namespace) is None
        except Forbidden:
            return False

    def _refusal(self, target: str, names: Sequence[str]) -> Failure | None:
        try:
            self._may_push(target, names)
        except RegistryError as error:
            return replace(failure(Phase.PUSH, type(error).__name__, str(error).rstrip(".")), foreseen=True)
        except EnablementError as error:
            return replace(failure(Phase.PUSH, MISSING, str(error).rstrip(".")), foreseen=True)
        return None
