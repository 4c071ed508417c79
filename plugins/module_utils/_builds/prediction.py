# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of a build before anything is made for it: Secrets, ServiceAccount, and whether it
may be pushed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Optional

from .._cluster.api_client.api_errors import Forbidden
from .._cluster.api_client.client import Client
from .._cluster.api_client.rights import Right
from .._errors import EnablementError
from .._registry.registry_errors import RegistryError
from .environment import NamespaceSecrets
from .failures import MISSING, NO_ACCOUNT, BuildFailure, BuildPhase, failure
from .orders import BuildOrder

# An order, the ServiceAccount of its pods, the Secrets that its builder needs beside the order's
# own.
Prediction = Callable[[BuildOrder, str, Sequence[str]], Optional[BuildFailure]]
# Whether a target (repo:tag) may be pushed to with these Secrets; raises EnablementError where not.
MayPush = Callable[[str, Sequence[str]], None]

RIGHTS = (Right("", ("serviceaccounts",), ("get",), read_only=("get",)),)


class BuildPrediction:
    """Looks at what a build needs, once for all orders of a run."""

    def __init__(
        self, client: Client, namespace: str, secrets: NamespaceSecrets, may_push: MayPush
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._secrets = secrets
        self._may_push = may_push
        self._answers: dict[str, BuildFailure | None] = {}

    def predicted_failure(
        self, order: BuildOrder, account: str, names: Sequence[str]
    ) -> BuildFailure | None:
        """Why the build of an order would fail, None where nothing is known to be wrong. See
        Outlook."""
        missing = [
            f"Secret {self._secrets.title(name)}"
            for name in dict.fromkeys((*names, *order.secrets.all))
            if self._lacks(name)
        ]
        if missing:
            verb = "does" if len(missing) == 1 else "do"
            why = f"{' and '.join(missing)} {verb} not exist, where it would run"
            return replace(failure(BuildPhase.START, MISSING, why), foreseen=True)
        if self._lacks_account(account):
            why = f"ServiceAccount {self._namespace}/{account} does not exist, where it would run"
            return replace(failure(BuildPhase.START, NO_ACCOUNT, why), foreseen=True)
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
            return (
                self._client.get(self._client.kind("v1", "ServiceAccount"), name, self._namespace)
                is None
            )
        except Forbidden:
            return False

    def _refusal(self, target: str, names: Sequence[str]) -> BuildFailure | None:
        try:
            self._may_push(target, names)
        except RegistryError as error:
            return replace(
                failure(BuildPhase.PUSH, error.reason, str(error).rstrip(".")),
                foreseen=True,
            )
        except EnablementError as error:
            return replace(failure(BuildPhase.PUSH, MISSING, str(error).rstrip(".")), foreseen=True)
        return None
