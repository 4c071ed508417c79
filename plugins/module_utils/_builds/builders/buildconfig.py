# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds on OpenShift: one BuildConfig per image, instantiated once, its Build followed to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..._cluster.api_client.api_errors import ApiError
from ..._cluster.api_client.rights import READ, WRITE, Right
from ..._cluster.api_objects.controller_references import is_made_by
from ..._cluster.api_objects.kinds import Kind
from ..._json import Obj, part
from ..failures import INTERRUPTED, TIMED_OUT, BuildFailure, BuildPhase, classify, failure
from ..orders import BuildOrder, Built
from . import buildconfig_objects as objects
from .cluster import LOG_LINES, ClusterBuilder, RunningBuild, last_lines
from .means import Means
from .registration import Registration

# openshift/api, build/v1/types.go: BuildPhase; consts.go: StatusReason. What is not here did not
# run to its end.
_UNFINISHED = ("New", "Pending", "Running")
_PHASES = {
    "FetchSourceFailed": BuildPhase.SOURCES,
    "FetchImageContentFailed": BuildPhase.SOURCES,
    "PullBuilderImageFailed": BuildPhase.BASE,
    "DockerBuildFailed": BuildPhase.COMPILE,
    "InvalidContextDirectory": BuildPhase.COMPILE,
    "ManageDockerfileFailed": BuildPhase.COMPILE,
    "PushImageToRegistryFailed": BuildPhase.PUSH,
}
_BUILD_CONFIG = "openshift.io/build-config.name"


# What OpenShift's builds need.
RIGHTS = (
    Right(
        "build.openshift.io", ("buildconfigs", "builds"), (*READ, *WRITE), read_only=("get", "list")
    ),
    Right("build.openshift.io", ("buildconfigs/instantiate",), ("create",)),
    Right("build.openshift.io", ("builds/log",), ("get",), read_only=("get",)),
    Right("image.openshift.io", ("imagestreams",), (*READ, *WRITE), read_only=("get", "list")),
)


class BuildConfigBuilder(ClusterBuilder):
    """Builds with OpenShift's own builds."""

    # Which OpenShift makes in every namespace.
    account = "builder"

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self._policy = means.policy
        self._config = self.client.kind(objects.API_VERSION, "BuildConfig")
        self._build = self.client.kind(objects.API_VERSION, "Build")
        self._map = self.client.kind("v1", "ConfigMap")
        self._builds: dict[str, Obj] = {}
        self._own: dict[str, str] = {}

    def build(self, orders: Sequence[BuildOrder], say: Callable[[str], None]) -> list[Built]:
        """As all builders; first says what of the policy these builds do not keep to."""
        for sentence in objects.not_carried(self._policy(), orders):
            say(sentence)
        return super().build(orders, say)

    def owned(self) -> Sequence[Kind]:
        """BuildConfigs, whose Builds go with them, and contexts."""
        return (self._config, self._map)

    def own_secrets(self) -> Sequence[str]:
        """Those that a BuildConfig names."""
        return [
            name for name in (self.settings.push_secret, self.settings.entitlement_secret) if name
        ]

    def watched(self) -> Sequence[Kind]:
        """Builds: they have the labels of their BuildConfig."""
        return (self._build,)

    def prepare(self, orders: Sequence[BuildOrder]) -> None:
        """Nothing is shared."""

    def take(self, obj: Obj, *, gone: bool) -> None:
        """Keep Builds by name."""
        if gone:
            self._builds.pop(obj["metadata"]["name"], None)
        else:
            self._builds[obj["metadata"]["name"]] = obj

    def start(self, order: BuildOrder, say: Callable[[str], None]) -> bool:
        """Apply the BuildConfig and instantiate it; a Build of it that runs is of the same inputs."""
        own = {name: build for name, build in self._builds.items() if _label(build) == order.name}
        running = [name for name, build in own.items() if _goes_on(build)]
        if running:
            self._own[order.name] = running[0]
            say(f"{order.title}: goes on with Build {running[0]} that an earlier run began")
            return True
        for obj in (*objects.context_objects(order, self.settings), objects.image_stream(order)):
            if obj:
                self.client.apply(obj)
        config = self.client.apply(objects.build_config(order, self.settings, self._policy()))
        for name, build in own.items():
            # Of a BuildConfig of this name that is gone: the next Build would have the same name.
            if not is_made_by(build, config):
                self.client.delete(self._build, name, self.settings.scope.namespace)
        made = self.client.create_subresource(
            self._config,
            order.name,
            self.settings.scope.namespace,
            "instantiate",
            objects.build_request(order),
        )
        self._own[order.name] = made["metadata"]["name"]
        self._builds.setdefault(made["metadata"]["name"], made)
        say(f"{order.title}: building {order.target} in Build {made['metadata']['name']}")
        return True

    def poll(self, entry: RunningBuild) -> Built | None:
        """By the Build's phase."""
        order, name = entry.order, self._own[entry.order.name]
        build = self._builds.get(name)
        if build is None:
            why = f"Build {self.settings.scope.namespace}/{name} was removed by somebody else"
            return Built(order, failure(BuildPhase.START, INTERRUPTED, why))
        status = part(build, "status")
        phase = status.get("phase", "New")
        if phase in _UNFINISHED:
            return None if phase == "Running" else self._stuck(entry, name, status)
        if phase == "Complete":
            self._remove(order)
            return Built(order)
        log = self._log(name, status)
        why = status.get("message") or status.get("reason") or phase
        build_phase = _PHASES.get(str(status.get("reason")), BuildPhase.START)
        found = classify(build_phase, log, why)
        last = f": {log[-1]}" if log else ""
        return Built(
            order, replace(found, text=f"Build {name} ended as {phase} ({why}){last}"), log
        )

    def doing(self, entry: RunningBuild) -> str:
        """The Build's phase, and its last line once it runs."""
        name = self._own[entry.order.name]
        phase = part(self._builds.get(name, {}), "status").get("phase", "New")
        log = self._log(name, {}, 1) if phase == "Running" else []
        return log[-1] if log else f"Build {name} is {phase}"

    def _stuck(self, entry: RunningBuild, name: str, status: Obj) -> Built | None:
        """A Build that does not start ends when OpenShift has said why for a while, or, silent,
        when its time is over.

        Its own deadline counts only from its start.
        """
        now, said = self.clock(), status.get("message") or status.get("reason")
        entry.trouble_since = (entry.trouble_since or now) if said else None
        in_trouble = (
            entry.trouble_since is not None
            and now - entry.trouble_since >= self.settings.pace.grace
        )
        if not in_trouble and now - entry.began < self.settings.pace.timeout:
            return None
        self.client.patch(
            self._build, name, self.settings.scope.namespace, {"status": {"cancelled": True}}
        )
        why = said or f"it was {status.get('phase', 'New')} for {self.settings.pace.timeout} s"
        reason = str(status.get("reason") or TIMED_OUT)
        return Built(
            entry.order, BuildFailure(BuildPhase.START, reason, f"Build {name} cannot start: {why}")
        )

    def _remove(self, order: BuildOrder) -> None:
        """The BuildConfig of a build that is done, and its context; its Build goes with it."""
        namespace = self.settings.scope.namespace
        self.client.delete(self._config, order.name, namespace)
        for context in objects.context_objects(order, self.settings):
            self.client.delete(self._map, context["metadata"]["name"], namespace)

    def _log(self, name: str, status: Obj, lines: int = LOG_LINES) -> list[str]:
        try:
            text = self.client.build_log(
                self._build, name, self.settings.scope.namespace, tail=lines
            )
        except ApiError:
            text = ""
        return last_lines(text, str(status.get("logSnippet") or ""), lines)


def _label(build: Obj) -> str:
    """The name of a Build's BuildConfig."""
    return str(part(build["metadata"], "labels").get(_BUILD_CONFIG, ""))


def _goes_on(build: Obj) -> bool:
    status = part(build, "status")
    return status.get("phase", "New") in _UNFINISHED and not status.get("cancelled")


BUILDER = Registration(
    name="openshift",
    how="a BuildConfig per kernel without triggers, instantiated once; mirrors and certificates are the cluster's "
    "own. What goes to the internal registry goes to an ImageStream, which is made where it "
    "is missing",
    needs="`hardware_enablement_push_secret`, but for the internal registry; "
    "`hardware_enablement_entitlement_secret` for packages of RHEL",
    make=BuildConfigBuilder,
    fits=lambda client: client.serves(objects.API_VERSION, "BuildConfig"),
)
