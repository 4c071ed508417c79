# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of an object on its way in: the same shape that OpenShift stores, and what it
refuses. Pure.

Facts: openshift-apiserver, pkg/build/apis/build/v1/{defaults,conversion}.go,
pkg/build/apis/build/validation, pkg/build/apiserver/registry/{build,buildconfig}/strategy.go;
openshift/api for the fields without omitempty.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from copy import deepcopy

from tests.cluster.builds_api.clock import stamp
from tests.cluster.builds_api.images import imported, repository
from tests.cluster.builds_api.kinds import BUILD_CONFIGS, BUILDS, IMAGE_STREAMS, Obj, Resource
from tests.cluster.builds_api.refusals import invalid

TERMINAL = frozenset({"Complete", "Failed", "Error", "Cancelled"})
POLICIES = ("Parallel", "Serial", "SerialLatestOnly")
_HISTORY = 5
_TRIGGERS = frozenset({"ConfigChange", "ImageChange", "GitHub", "GitLab", "Bitbucket", "Generic"})
_STRATEGIES = {"dockerStrategy": "Docker", "sourceStrategy": "Source", "customStrategy": "Custom"}
# In this order, since a repository may come with a Dockerfile.
_SOURCES = {"git": "Git", "binary": "Binary", "dockerfile": "Dockerfile", "images": "Image"}
_DOCKERFILE_BYTES = 60_000
Problems = list[tuple[str, str]]


def prepare(resource: Resource, old: Obj | None, new: Obj) -> Obj:
    """The object as it is stored; old: what is stored now. Raises RefusalError (422) with all that
    is wrong."""
    prepared = _PREPARE[resource.plural](old, deepcopy(new))
    meta = prepared["metadata"]
    if old is None:
        meta["generation"] = 1
    elif _generates(resource, old, prepared):
        meta["generation"] = old["metadata"].get("generation", 1) + 1
    return prepared


def _generates(resource: Resource, old: Obj, new: Obj) -> bool:
    versions = [(obj.get("status") or {}).get("lastVersion") for obj in (old, new)]
    return old.get("spec") != new.get("spec") or (
        resource is BUILD_CONFIGS and versions[0] != versions[1]
    )


def _build_config(old: Obj | None, new: Obj) -> Obj:
    spec = new.setdefault("spec", {})
    _shape(spec)
    spec.setdefault("runPolicy", "Serial")
    if old is None:
        spec.setdefault("successfulBuildsHistoryLimit", _HISTORY)
        spec.setdefault("failedBuildsHistoryLimit", _HISTORY)
    triggers = [item for item in spec.pop("triggers", []) if item.get("type") in _TRIGGERS]
    if triggers:
        spec["triggers"] = triggers
    status = new.setdefault("status", {})
    last = (old or {}).get("status", {}).get("lastVersion", 0)
    status["lastVersion"] = max(status.get("lastVersion", 0), last)
    problems = _common_problems(spec)
    if spec["runPolicy"] not in POLICIES:
        problems.append(("spec.runPolicy", "run policy must Parallel, Serial, or SerialLatestOnly"))
    for limit in ("successfulBuildsHistoryLimit", "failedBuildsHistoryLimit"):
        if spec.get(limit, 0) < 0:
            problems.append((f"spec.{limit}", "must be greater than or equal to 0"))
    if problems:
        raise invalid(BUILD_CONFIGS, new["metadata"]["name"], problems)
    return new


def _build(old: Obj | None, new: Obj) -> Obj:
    spec = new.setdefault("spec", {})
    _shape(spec)
    status = new.setdefault("status", {})
    status.setdefault("phase", "New")
    status.setdefault("output", {})
    problems = _common_problems(spec)
    if old is not None:
        before = old["status"]
        if before["phase"] in TERMINAL and before["phase"] != status["phase"]:
            problems.append(("status.phase", "phase cannot be updated from a terminal state"))
        if _without_push_secret(old["spec"]) != _without_push_secret(spec):
            problems.append(("spec", "spec is immutable"))
        if before["phase"] == "Failed":
            status.update({key: before[key] for key in ("reason", "message") if key in before})
    if problems:
        raise invalid(BUILDS, new["metadata"]["name"], problems)
    status["conditions"] = _conditions(status)
    return new


def _image_stream(old: Obj | None, new: Obj) -> Obj:
    meta = new["metadata"]
    spec = new.setdefault("spec", {})
    spec.setdefault("lookupPolicy", {"local": False})
    # As with /status in OpenShift, what a user says of it does not count.
    status = deepcopy((old or {}).get("status") or {})
    status["dockerImageRepository"] = repository(meta["namespace"], meta["name"])
    return imported({**new, "status": status}, stamp())


def _shape(spec: Obj) -> None:
    """Fields that are always there, and types that follow from what is set."""
    spec.setdefault("nodeSelector", None)
    for key in ("source", "strategy", "output", "resources", "postCommit"):
        spec.setdefault(key, {})
    source, strategy = spec["source"], spec["strategy"]
    if strategy.get("type") == "Docker":
        strategy.setdefault("dockerStrategy", {})
    source["type"] = next(
        (kind for key, kind in _SOURCES.items() if source.get(key) is not None), "None"
    )
    for key, kind in _STRATEGIES.items():
        if key in strategy:
            strategy["type"] = kind
            if "from" in strategy[key]:
                _default_kind(strategy[key]["from"])
    if "to" in spec["output"]:
        _default_kind(spec["output"]["to"])
    if source.get("contextDir"):
        cleaned = posixpath.normpath(source["contextDir"])
        source["contextDir"] = "" if cleaned == "." else cleaned


def _default_kind(reference: Obj) -> None:
    if reference.get("kind", "") in ("", "ImageStream"):
        reference["kind"] = "ImageStreamTag"
        name = reference.get("name", "")
        reference["name"] = name if ":" in name or not name else f"{name}:latest"


def _common_problems(spec: Obj) -> Problems:
    problems: Problems = []
    source, strategy, output = spec["source"], spec["strategy"], spec["output"]
    if sum(key in strategy for key in _STRATEGIES) != 1:
        problems.append(
            (
                "spec.strategy",
                "must provide a value for exactly one of sourceStrategy, customStrategy, dockerStrategy",
            )
        )
    elif "dockerStrategy" in strategy and not any(key in source for key in _SOURCES):
        text = (
            "must provide a value for at least one source input(git, binary, dockerfile, images)."
        )
        problems.append(("spec.source", text))
    if len(source.get("dockerfile", "").encode()) > _DOCKERFILE_BYTES:
        problems.append(
            ("spec.source.dockerfile", f"must be smaller than {_DOCKERFILE_BYTES} bytes")
        )
    if "git" in source and not source["git"].get("uri"):
        problems.append(("spec.source.git.uri", "Required value"))
    if source.get("contextDir", "").startswith(".."):
        problems.append(("spec.source.contextDir", "context dir must not be a relative path"))
    problems += _mount_problems(source, relative="dockerStrategy" in strategy)
    problems += _reference_problems(output.get("to"))
    if spec.get("completionDeadlineSeconds", 1) <= 0:
        text = "completionDeadlineSeconds must be a positive integer greater than 0"
        problems.append(("spec.completionDeadlineSeconds", text))
    return problems


def _mount_problems(source: Obj, *, relative: bool) -> Problems:
    problems: Problems = []
    for plural, singular in (("secrets", "secret"), ("configMaps", "configMap")):
        for number, item in enumerate(source.get(plural) or []):
            path = f"spec.source.{plural}[{number}]"
            if not (item.get(singular) or {}).get("name"):
                problems.append((f"{path}.{singular}", "Required value"))
            folder = item.get("destinationDir", "")
            if posixpath.normpath(folder or ".").startswith(".."):
                problems.append(
                    (f"{path}.destinationDir", "destination dir cannot start with '..'")
                )
            if relative and folder.startswith("/"):
                text = "for the docker strategy the destinationDir has to be relative path"
                problems.append((f"{path}.destinationDir", text))
    return problems


def _reference_problems(reference: Obj | None) -> Problems:
    if reference is None:
        return []
    path = "spec.output.to"
    if not reference.get("name"):
        return [(f"{path}.name", "Required value")]
    if reference["kind"] not in ("ImageStreamTag", "DockerImage"):
        return [
            (
                f"{path}.kind",
                "the target of build output must be an 'ImageStreamTag' or 'DockerImage'",
            )
        ]
    if reference["kind"] == "DockerImage" and reference.get("namespace"):
        return [(f"{path}.namespace", "namespace is not valid when used with a 'DockerImage'")]
    if reference["kind"] == "ImageStreamTag" and reference["name"].count(":") != 1:
        return [
            (f"{path}.name", "ImageStreamTag object references must be in the form <name>:<tag>")
        ]
    return []


def _without_push_secret(spec: Obj) -> Obj:
    return {
        **spec,
        "output": {key: value for key, value in spec["output"].items() if key != "pushSecret"},
    }


def _conditions(status: Obj) -> list[Obj]:
    """One condition for each phase so far; the one of this phase is True and has its reason and
    message."""
    now = stamp()
    conditions = []
    wanted = {key: status[key] for key in ("reason", "message") if status.get(key)}
    for item in status.get("conditions") or []:
        mine = item["type"] == status["phase"]
        said = {key: item[key] for key in ("reason", "message") if item.get(key)}
        state = "True" if mine else "False"
        if item["status"] == state and (not mine or said == wanted):
            conditions.append(item)
            continue
        moved = now if item["status"] != state else item["lastTransitionTime"]
        times = {"lastUpdateTime": now, "lastTransitionTime": moved}
        conditions.append(
            {"type": item["type"], "status": state, **times, **(wanted if mine else {})}
        )
    if not any(item["type"] == status["phase"] for item in conditions):
        times = {"lastUpdateTime": now, "lastTransitionTime": now}
        conditions.append({"type": status["phase"], "status": "True", **times, **wanted})
    return conditions


_PREPARE: dict[str, Callable[[Obj | None, Obj], Obj]] = {
    BUILD_CONFIGS.plural: _build_config,
    BUILDS.plural: _build,
    IMAGE_STREAMS.plural: _image_stream,
}
