# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds in namespaces that allow ordinary pods only: a Job per image compiles, and here a layer is
made of it and pushed. So no pod knows a secret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from ..._cluster.api_client.api_errors import ApiError, NotFound
from ..._cluster.api_client.client import Client
from ..._errors import EnablementError, InvalidInput
from ..._json import Obj
from ..._recipes.loading.recipe import Compile
from ..._registry.image_names import parse
from ..._registry.registry_errors import RegistryError
from ..failures import FAILED, INTERRUPTED, BuildPhase, failure
from ..layer import MAX_LOG_BYTES, IncompleteError, make_layer, received
from ..orders import BuildOrder, Built
from ..settings import BuildSettings
from . import compile_objects
from .job import JobBuilder
from .means import Means
from .registration import Registration

# Of Pod Security admission: who may run in a namespace.
_ENFORCE = "pod-security.kubernetes.io/enforce"
_LEVELS = ("baseline", "restricted")


class RestrictedBuilder(JobBuilder):
    """Builds in pods that Pod Security's level "restricted" allows; here is pushed, with the pull
    secrets."""

    pulls = BuildPhase.BASE

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self._registries = means.registries
        self._executor = ThreadPoolExecutor(self.settings.parallel, thread_name_prefix="push")
        self._pushes: dict[str, Future[Built]] = {}
        self._spent: set[str] = set()

    def build(self, orders: Sequence[BuildOrder], say: Callable[[str], None]) -> list[Built]:
        """As all builders. The objects have names of their own: a Job with buildah is no Job of
        this kind."""
        with self._executor:
            return super().build(
                [replace(order, name=f"{order.name}-layer") for order in orders], say
            )

    def check(self, orders: Sequence[BuildOrder]) -> None:
        """Raise InvalidInput where compiling is not enough."""
        for order in orders:
            compilable(order)

    def context_object(self, order: BuildOrder) -> Obj:
        """The ConfigMap with the compile command and the context."""
        return compile_objects.context_object(order, self.settings, compilable(order))

    def secret_object(self, order: BuildOrder) -> None:
        """None: the pod knows no secret."""

    def job_object(self, order: BuildOrder) -> Obj:
        """The Job that compiles."""
        return compile_objects.job_object(order, self.settings, compilable(order))

    def completed(self, order: BuildOrder, job: Obj) -> Built | None:
        """Push what was compiled, while others are waited for. What could not be pushed is pushed
        by the next run."""
        push = self._pushes.get(order.name)
        if push is None:
            pod = self.newest_pod(order)
            name = pod["metadata"]["name"] if pod else ""
            self._pushes[order.name] = self._executor.submit(self._push, order, name)
            return None
        if not push.done():
            return None
        built = push.result()
        if built.failure is None or order.name in self._spent:
            self.remove(job)
        return built

    def _push(self, order: BuildOrder, pod: str) -> Built:
        """In a thread: it may take longer than the lock is good for."""
        try:
            archive = self._received(pod)
        except (NotFound, IncompleteError) as error:
            # It has to be compiled again.
            self._spent.add(order.name)
            why = f"{order.target} was compiled, but did not come here ({_text(error)})"
            return Built(order, failure(BuildPhase.PUSH, INTERRUPTED, why))
        except ApiError as error:
            return Built(order, failure(BuildPhase.PUSH, INTERRUPTED, _text(error)))
        try:
            layer = make_layer(archive, compilable(order).into)
        except EnablementError as error:
            self._spent.add(order.name)
            return Built(order, failure(BuildPhase.COMPILE, FAILED, _text(error)))
        inputs = order.inputs
        try:
            self._registries().append_layer(
                parse(inputs.base), parse(order.target), inputs.arch, layer, inputs.labels
            )
        except EnablementError as error:
            reason = error.reason if isinstance(error, RegistryError) else FAILED
            return Built(order, failure(BuildPhase.PUSH, reason, _text(error)))
        return Built(order)

    def _received(self, pod: str) -> bytes:
        if not pod:
            raise IncompleteError("its pod is gone, and its log with it")
        return received(
            self.client.whole_log(
                self.settings.namespace, pod, compile_objects.OUTPUT, limit_bytes=MAX_LOG_BYTES
            )
        )


def compilable(order: BuildOrder) -> Compile:
    """What to compile. Raises InvalidInput where an order cannot be built by compiling."""
    given = order.inputs.compile
    if given and order.inputs.base and not given.unsupported:
        return given
    why = "it has no base image to compile in"
    if given is None:
        why = "the recipe has no build.compile, which says what to compile and what comes of it"
    elif given.unsupported:
        why = given.unsupported
    todo = "set builder to kubernetes, openshift or controller"
    raise InvalidInput(f"{order.title} cannot be built by an ordinary pod", why=why, todo=todo)


def _text(error: Exception) -> str:
    return str(error).rstrip(".")


def _enforced(client: Client, settings: BuildSettings) -> bool:
    """Whether the namespace allows no more: buildah's pod needs more than these levels give."""
    namespace = client.get(client.kind("v1", "Namespace"), settings.namespace) or {"metadata": {}}
    return (namespace["metadata"].get("labels") or {}).get(_ENFORCE) in _LEVELS


BUILDER = Registration(
    name="restricted",
    how="a Job per kernel whose ordinary pod compiles in the base image; the machine that runs Ansible takes the "
    "result, adds it to the base image as one layer and pushes",
    needs="a recipe with `build.compile`; `hardware_enablement_push_secret`, which no pod sees",
    make=RestrictedBuilder,
    fits=_enforced,
)
