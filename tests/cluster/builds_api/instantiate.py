# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a BuildConfig and a BuildRequest to a Build. Pure.

Facts: openshift-apiserver, pkg/build/apiserver/buildgenerator/generator.go.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from tests.cluster.builds_api.kinds import BUILD_CONFIGS, BUILDS, Obj
from tests.cluster.builds_api.refusals import bad_request

CONFIG_LABEL = "openshift.io/build-config.name"
OLD_CONFIG_LABEL = "buildconfig"
POLICY_LABEL = "openshift.io/build.start-policy"
NUMBER_ANNOTATION = "openshift.io/build.number"
PAUSED_ANNOTATION = "openshift.io/build-config.paused"
MANUAL = "Manually triggered"
_LABEL_LENGTH = 63
_COPIED = (
    "source",
    "strategy",
    "output",
    "resources",
    "postCommit",
    "completionDeadlineSeconds",
    "nodeSelector",
    "mountTrustedCA",
)
# (an ObjectReference, its namespace where it names none) -> the image's reference; raises
# RefusalError.
Resolve = Callable[[Obj, str], str]


def instantiate(config: Obj, request: Obj, resolve: Resolve) -> tuple[Obj, Obj]:
    """(the BuildConfig with its new lastVersion, the Build), neither stored yet; raises
    RefusalError."""
    meta = config["metadata"]
    where = f"{meta['namespace']}/{meta['name']}"
    if (meta.get("annotations") or {}).get(PAUSED_ANNOTATION) == "true":
        raise bad_request(f"can't instantiate from BuildConfig {where}: BuildConfig is paused")
    last = config["status"]["lastVersion"]
    if request.get("lastVersion", last) != last:
        raise bad_request(
            f"the LastVersion({last}) on build config {where} does not match the build request "
            f"LastVersion({request['lastVersion']})"
        )
    number = last + 1
    config = deepcopy(config)
    config["status"]["lastVersion"] = number
    spec = {key: deepcopy(config["spec"][key]) for key in _COPIED if key in config["spec"]}
    spec["serviceAccount"] = config["spec"].get("serviceAccount") or "builder"
    spec["triggeredBy"] = request.get("triggeredBy") or [{"message": MANUAL}]
    if request.get("revision"):
        spec["revision"] = request["revision"]
    _resolve_images(spec, resolve, meta["namespace"])
    _take_options(spec, request, where)
    name = meta["name"]
    label = name[:_LABEL_LENGTH].rstrip("-_.")
    labels = {
        OLD_CONFIG_LABEL: label,
        CONFIG_LABEL: label,
        POLICY_LABEL: config["spec"]["runPolicy"],
    }
    annotations = {NUMBER_ANNOTATION: str(number), CONFIG_LABEL: name}
    asked = request["metadata"]
    owner = {
        "apiVersion": BUILD_CONFIGS.api_version,
        "kind": "BuildConfig",
        "name": name,
        "uid": meta["uid"],
    }
    build = {
        "kind": "Build",
        "apiVersion": BUILDS.api_version,
        "metadata": {
            "name": f"{name}-{number}",
            "namespace": meta["namespace"],
            # What the system sets wins.
            "labels": {**(asked.get("labels") or {}), **(meta.get("labels") or {}), **labels},
            "annotations": {**(asked.get("annotations") or {}), **annotations},
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": spec,
        "status": {
            "phase": "New",
            "config": {"kind": "BuildConfig", "name": name, "namespace": meta["namespace"]},
            "output": {},
        },
    }
    return config, build


def _resolve_images(spec: Obj, resolve: Resolve, namespace: str) -> None:
    """Builds name images, not image streams."""
    strategy: Obj = next((value for key, value in spec["strategy"].items() if key != "type"), {})
    for holder in (strategy, *(spec["source"].get("images") or [])):
        if "from" in holder:
            holder["from"] = {"kind": "DockerImage", "name": resolve(holder["from"], namespace)}


def _take_options(spec: Obj, request: Obj, where: str) -> None:
    """Variables, build arguments and switches of this one build."""
    strategy = spec["strategy"]
    kind = next(key for key in strategy if key != "type")
    if request.get("env"):
        strategy[kind]["env"] = _named(strategy[kind].get("env"), request["env"])
    docker = request.get("dockerStrategyOptions") or {}
    if docker and "dockerStrategy" not in strategy:
        raise bad_request(
            f"Cannot specify Docker build specific options on {where}, not a Docker build."
        )
    if docker.get("buildArgs"):
        strategy[kind]["buildArgs"] = _named(strategy[kind].get("buildArgs"), docker["buildArgs"])
    if "noCache" in docker:
        strategy[kind]["noCache"] = docker["noCache"]
    source = request.get("sourceStrategyOptions") or {}
    if source and "sourceStrategy" not in strategy:
        raise bad_request(
            f"Cannot specify Source build specific options on {where}, not a Source build."
        )
    if "incremental" in source:
        strategy[kind]["incremental"] = source["incremental"]


def _named(old: list[Obj] | None, new: list[Obj]) -> list[Obj]:
    """Both lists, the second winning where names are the same."""
    both = {item["name"]: item for item in [*(old or []), *new]}
    return list(both.values())
