# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""build: the newest build of a BuildConfig is complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ..._json import part
from ..._schema.shapes import Optional, Text
from ..._verdicts.reasons import UNDER_WAY, Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..declaration import ProofKind, Scope, Setting
from ..evaluation import Observation
from ..feeds import Watched
from ..watching import FIND_REASONS, find, find_all

API = "build.openshift.io/v1"
_FAILED = ("Failed", "Error", "Cancelled")


@dataclass(frozen=True)
class BuildProofSettings:
    """The BuildConfig."""

    name: Annotated[str, Setting(Text(), "the BuildConfig's name")]
    namespace: Annotated[
        str | None, Setting(Optional(Text()), "its namespace; the recipe's where nothing is said")
    ] = None


def watched(settings: BuildProofSettings, namespace: str) -> tuple[Watched, ...]:
    """The BuildConfig, and all builds beside it."""
    place = settings.namespace or namespace
    return Watched(API, "BuildConfig", place, settings.name), Watched(API, "Build", place)


def evaluate(observation: Observation[BuildProofSettings]) -> Verdict:
    """The verdict for the cluster. A build that has failed does not heal: another one has to be
    started."""
    config, builds = watched(observation.settings, observation.view.namespace)
    found = find(observation, config)
    if isinstance(found, Verdict):
        return found
    known = find_all(observation, builds, f"the builds in {builds.namespace}")
    if isinstance(known, Verdict):
        return known
    newest = f"{config.name}-{part(found, 'status').get('lastVersion') or 0}"
    build = known.get(newest)
    if build is None:
        return Verdict(
            Outcome.PENDING, "NotBuilt", f"BuildConfig {config.name} has not started a build yet"
        )
    status = part(build, "status")
    phase = str(status.get("phase") or "New")
    if phase == "Complete":
        return PASSED
    if phase in _FAILED:
        why = status.get("message") or status.get("reason") or "no reason given"
        return Verdict(
            Outcome.TROUBLE, "BuildFailed", f"build {newest} is {phase}: {why}", heals=False
        )
    return Verdict(Outcome.PENDING, "Building", f"build {newest} is {phase}")


KIND = ProofKind(
    name="build",
    holds_when="the newest build of an OpenShift BuildConfig is complete; it is watched",
    settings=BuildProofSettings,
    evaluate=evaluate,
    reasons={
        **FIND_REASONS,
        "NotBuilt": UNDER_WAY,
        "Building": UNDER_WAY,
        "BuildFailed": Reason(
            "the newest build of a BuildConfig has failed; its reason is in the message",
            "read its log (`oc logs build/NAME`), mend the cause, start another build, run again",
        ),
    },
    observed=True,
    by_node=False,
    scope=lambda _settings: Scope.CLUSTER,
    watches=watched,
)
