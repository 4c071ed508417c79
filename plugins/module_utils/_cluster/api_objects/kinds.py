# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds and their paths. The built-in ones are a table, so that no run has to ask the API server
for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True)
class Kind:
    """One kind that an API server serves. group is "" for the core group."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        """As in a manifest: "v1", "apps/v1"."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> str:
        """As ApplySets write it: "DaemonSet.apps", "ConfigMap"."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str | None = None
    ) -> str:
        """The URL path of the collection, an object or a subresource; namespace is left out for
        cluster scope."""
        parts = [group_version_path(self.api_version)]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=""))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


def group_version_path(api_version: str) -> str:
    """The URL path of a group-version: "/api/v1", "/apis/apps/v1"."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def builtin(api_version: str, kind: str) -> Kind | None:
    """A built-in kind, or None."""
    return _BUILTIN.get((api_version, kind))


# group-version: kinds in a namespace | kinds of the cluster. Plurals are regular but for those in
# _PLURALS.
_TABLE = {
    "v1": "Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController "
    "ResourceQuota Secret Service ServiceAccount | Namespace Node PersistentVolume",
    "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet |",
    "batch/v1": "CronJob Job |",
    "autoscaling/v1": "HorizontalPodAutoscaler |",
    "autoscaling/v2": "HorizontalPodAutoscaler |",
    "policy/v1": "PodDisruptionBudget |",
    "networking.k8s.io/v1": "Ingress NetworkPolicy | IngressClass",
    "coordination.k8s.io/v1": "Lease |",
    "discovery.k8s.io/v1": "EndpointSlice |",
    "events.k8s.io/v1": "Event |",
    "rbac.authorization.k8s.io/v1": "Role RoleBinding | ClusterRole ClusterRoleBinding",
    "scheduling.k8s.io/v1": "| PriorityClass",
    "node.k8s.io/v1": "| RuntimeClass",
    "storage.k8s.io/v1": "CSIStorageCapacity | CSIDriver CSINode StorageClass VolumeAttachment",
    "apiextensions.k8s.io/v1": "| CustomResourceDefinition",
    "apiregistration.k8s.io/v1": "| APIService",
    "admissionregistration.k8s.io/v1": "| MutatingWebhookConfiguration ValidatingAdmissionPolicy "
    "ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
    "certificates.k8s.io/v1": "| CertificateSigningRequest",
    "flowcontrol.apiserver.k8s.io/v1": "| FlowSchema PriorityLevelConfiguration",
}
_PLURALS = {"Endpoints": "endpoints", "CSIStorageCapacity": "csistoragecapacities"}


def plural_of(kind: str) -> str:
    """The plural of a kind in paths and roles, by the rules that nearly all kinds follow."""
    if kind in _PLURALS:
        return _PLURALS[kind]
    lower = kind.lower()
    if lower.endswith("y"):
        return f"{lower[:-1]}ies"
    return f"{lower}es" if lower.endswith("s") else f"{lower}s"


def _kinds() -> Iterator[Kind]:
    for api_version, names in _TABLE.items():
        group, _slash, version = api_version.rpartition("/")
        in_namespace, _bar, of_cluster = names.partition("|")
        for scope, namespaced in ((in_namespace, True), (of_cluster, False)):
            for name in scope.split():
                yield Kind(group, version, name, plural_of(name), namespaced)


_BUILTIN = {(kind.api_version, kind.kind): kind for kind in _kinds()}
