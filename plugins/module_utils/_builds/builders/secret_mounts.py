# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a build sees its Secrets: as files of the container that builds, which no layer holds. Pure."""

from __future__ import annotations

from ..._json import Obj
from ..orders import BuildOrder, SecretNames

# Beside /run/secrets, where builders of RHEL put subscriptions of their own.
FOLDER = "/run/build-secrets"
GIT_FOLDER = "/run/git-secret"


def mounted(secrets: SecretNames) -> dict[str, str]:
    """Folder -> Secret, for the steps of a build."""
    return {f"{FOLDER}/{name}": secret for name, secret in sorted(secrets.files.items())}


def add_secrets(pod: Obj, container: Obj, order: BuildOrder) -> None:
    """Mount the Secrets of an order into one container of its pod."""
    folders = {
        **mounted(order.secrets),
        **({GIT_FOLDER: order.secrets.git} if order.secrets.git else {}),
    }
    for number, (folder, secret) in enumerate(folders.items()):
        name = f"secret-{number}"
        # ssh takes no key that others of its own user may read.
        mode = 0o400 if folder == GIT_FOLDER else 0o444
        pod["volumes"].append({"name": name, "secret": {"secretName": secret, "defaultMode": mode}})
        container["volumeMounts"].append({"name": name, "mountPath": folder, "readOnly": True})
