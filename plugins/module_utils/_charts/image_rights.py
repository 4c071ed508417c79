# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The right of builds to start from images in namespaces of what their recipe depends on. OpenShift's
registry asks for it; the Special Resource Operator gave it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._json import Obj

_ROLE = "system:image-puller"


def image_rights(variables: Mapping[str, Any]) -> list[Obj]:
    """A RoleBinding in each of the option's namespaces, for the account of the recipe's builds; none
    where there is no such registry."""
    if str(variables["cluster"]["platform"]) != "openshift":
        return []
    account = {"kind": "ServiceAccount", "name": "builder", "namespace": variables["namespace"]}
    return [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": f"{variables['instance']}-image-puller", "namespace": namespace},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": _ROLE,
            },
            "subjects": [account],
        }
        for namespace in variables["options"]["image_namespaces"]
        if namespace != variables["namespace"]
    ]
