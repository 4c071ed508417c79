# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a build on OpenShift: a BuildConfig, ConfigMaps with the context, an ImageStream.
Pure.

Source of the fields: openshift/api, build/v1/types.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import dirname
from typing import Any

from ..._cluster.api_objects.labels import GROUP_LABEL
from ..._json import Obj
from ..._registry.image_names import Reference, parse
from ..._registry.policy import RegistryPolicy, Trust
from ..orders import BuildOrder
from ..settings import BuildSettings
from ..streams import API_VERSION as IMAGE_API
from ..streams import is_internal, stream_tag
from .secret_mounts import mounted

API_VERSION = "build.openshift.io/v1"
_ENTITLEMENT = "etc-pki-entitlement"


def context_objects(order: BuildOrder, settings: BuildSettings) -> list[Obj]:
    """One ConfigMap for each folder of the context, since their keys have no slash and a source has
    one folder."""
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": _metadata(order, settings, f"{order.name}-{number}"),
            "data": {path.rpartition("/")[2]: order.inputs.files[path] for path in paths},
        }
        for number, paths in enumerate(_folders(order).values())
    ]


def image_stream(order: BuildOrder) -> Obj | None:
    """The ImageStream that an image of the internal registry goes to; it has to be there before.
    None for others."""
    if not is_internal(order.target):
        return None
    tag = stream_tag(order.target)
    metadata = {"name": tag.stream, "namespace": tag.namespace}
    return {"apiVersion": IMAGE_API, "kind": "ImageStream", "metadata": metadata}


def build_config(order: BuildOrder, settings: BuildSettings, policy: RegistryPolicy) -> Obj:
    """The BuildConfig, which pushes to where the policy says.

    Nothing triggers it: our hash and the base image's digest decide when something is built.
    """
    inputs = order.inputs
    return {
        "apiVersion": API_VERSION,
        "kind": "BuildConfig",
        "metadata": _metadata(order, settings, order.name),
        "spec": {
            "triggers": [],
            "runPolicy": "Serial",
            "source": _source(order, settings),
            "strategy": {"type": "Docker", "dockerStrategy": _strategy(order, settings)},
            "output": {**_output(order, settings, policy), "imageLabels": _pairs(inputs.labels)},
            "completionDeadlineSeconds": settings.pace.timeout,
            "nodeSelector": {**settings.pods.node_selector, "kubernetes.io/arch": inputs.arch},
            "successfulBuildsHistoryLimit": 1,
            "failedBuildsHistoryLimit": 1,
        },
    }


def _source(order: BuildOrder, settings: BuildSettings) -> Obj:
    """What is built: a Dockerfile, a commit, the ConfigMaps with the context."""
    inputs = order.inputs
    source: Obj = {"type": "Dockerfile"}
    if inputs.containerfile:
        source["dockerfile"] = inputs.containerfile
    if inputs.git:
        source |= {
            "type": "Git",
            "git": {"uri": inputs.git.url, "ref": inputs.git.commit, **_git_proxy(settings)},
            "contextDir": inputs.git.folder,
        }
    if order.secrets.git:
        source["sourceSecret"] = {"name": order.secrets.git}
    if inputs.files:
        source["configMaps"] = [
            {"configMap": {"name": f"{order.name}-{number}"}, "destinationDir": folder}
            for number, folder in enumerate(_folders(order))
        ]
    return source


def _strategy(order: BuildOrder, settings: BuildSettings) -> Obj:
    """How it is built: arguments, environment, who pulls, and the Secrets of its steps."""
    inputs = order.inputs
    strategy: Obj = {"buildArgs": _pairs(inputs.all_args), "env": _pairs(settings.proxy)}
    if inputs.git and inputs.git.containerfile:
        strategy["dockerfilePath"] = inputs.git.containerfile
    # One secret is all that a BuildConfig takes.
    pull_secret = settings.push_secret or next(iter(settings.pods.pull_secrets), "")
    if pull_secret:
        strategy["pullSecret"] = {"name": pull_secret}
    volumes = [
        _volume(f"secret-{number}", *given)
        for number, given in enumerate(mounted(order.secrets).items())
    ]
    if settings.entitlement_secret:
        volumes.append(_volume(_ENTITLEMENT, "/etc/pki/entitlement", settings.entitlement_secret))
    if volumes:
        strategy["volumes"] = volumes
    return strategy


def not_carried(policy: RegistryPolicy, orders: Sequence[BuildOrder]) -> list[str]:
    """What of the policy these builds do not keep to, since the cluster says it for them; a
    sentence each."""
    bases = [parse(order.inputs.base) for order in orders if order.inputs.base]
    targets = [parse(order.target) for order in orders]
    found = []
    if mirrored := _given_mirrors(policy, bases):
        where = "make an ImageDigestMirrorSet or an ImageTagMirrorSet of them"
        found.append(
            f"OpenShift's builds do not know the given mirrors of {', '.join(mirrored)}: {where}"
        )
    if hosts := _given_trust(policy, bases, targets):
        where = "name them in additionalTrustedCA or insecureRegistries of image.config.openshift.io cluster"
        found.append(
            f"OpenShift's builds do not know how the given registries are trusted ({', '.join(hosts)}): {where}"
        )
    return found


def _given_mirrors(policy: RegistryPolicy, bases: Sequence[Reference]) -> list[str]:
    """The prefixes of base images for which a person, not the cluster, names mirrors."""
    mirrors = (mirror for base in bases for mirror in policy.mirrors_of(base.name))
    return sorted({mirror.prefix for mirror in mirrors if not mirror.of_cluster})


def _given_trust(
    policy: RegistryPolicy, bases: Sequence[Reference], targets: Sequence[Reference]
) -> list[str]:
    """The registries of these images that a person, not the cluster, says how to trust."""
    asked = {place for base in bases for place in policy.places(base)}
    pushed = {policy.push_place(target) for target in targets}
    hosts = sorted({place.host for place in asked | pushed if not is_internal(str(place))})
    return [host for host in hosts if _is_given(policy.trust(host))]


def _is_given(trust: Trust) -> bool:
    """Whether a person says whom to trust, other than the world's authorities."""
    return not trust.of_cluster and bool(trust.ca or not trust.verify)


def build_request(order: BuildOrder) -> Obj:
    """What is posted to a BuildConfig's instantiate."""
    return {
        "apiVersion": API_VERSION,
        "kind": "BuildRequest",
        "metadata": {"name": order.name},
        "triggeredBy": [{"message": "hardware.enablement: these inputs have no image yet"}],
    }


def _output(order: BuildOrder, settings: BuildSettings, policy: RegistryPolicy) -> Obj:
    """Where the image goes. Into the internal registry, builds push with the secret of their own
    service account."""
    if is_internal(order.target):
        tag = stream_tag(order.target)
        return {"to": {"kind": "ImageStreamTag", "name": tag.name, "namespace": tag.namespace}}
    output: Obj = {
        "to": {"kind": "DockerImage", "name": str(policy.push_place(parse(order.target)))}
    }
    if settings.push_secret:
        output["pushSecret"] = {"name": settings.push_secret}
    return output


def _volume(name: str, folder: str, secret: str) -> Obj:
    """A Secret as files of the build's steps, which no layer holds."""
    source = {"type": "Secret", "secret": {"secretName": secret}}
    return {"name": name, "mounts": [{"destinationPath": folder}], "source": source}


def _folders(order: BuildOrder) -> dict[str, list[str]]:
    """Folder -> the paths in it."""
    folders: dict[str, list[str]] = {}
    for path in order.inputs.files:
        folders.setdefault(dirname(path), []).append(path)
    return folders


def _metadata(order: BuildOrder, settings: BuildSettings, name: str) -> Obj:
    return {
        "name": name,
        "namespace": settings.scope.namespace,
        "labels": {**settings.scope.labels, GROUP_LABEL: order.group},
    }


def _pairs(values: Any) -> list[Obj]:
    return [{"name": name, "value": value} for name, value in sorted(values.items())]


def _git_proxy(settings: BuildSettings) -> Obj:
    names = {"HTTP_PROXY": "httpProxy", "HTTPS_PROXY": "httpsProxy", "NO_PROXY": "noProxy"}
    return {names[name]: value for name, value in settings.proxy.items()}
