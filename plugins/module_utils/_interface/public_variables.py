# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables hardware_enablement_*, which playbooks and roles take: their names, types and
choices.

They are checked before the first request of a task, so that a name that is misspelt is not just
ignored, and a wrong value of the last role is found by the first. docs/admin/variables.md and the
roles are tested against this list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from .._errors import InvalidInput
from .._schema.problems import suggest
from . import arguments

PREFIX = "hardware_enablement_"

# How to reach a cluster; each is a default for the option of the same name, in all modules.
CONNECTION = (
    "kubeconfig",
    "context",
    "host",
    "api_key",
    "ca_cert",
    "client_cert",
    "client_key",
    "validate_certs",
    "cluster_uid",
)
# A task that says one of these itself means another cluster than the variables do.
WHERE = ("kubeconfig", "context", "host")

_TEXT = {"type": "str"}
_FLAG = {"type": "bool"}

VARIABLES: Mapping[str, Mapping[str, Any]] = {
    **{name: arguments.CONNECTION[name] for name in CONNECTION},
    **{
        name: arguments.RECIPE[name]
        for name in ("recipe", "recipe_dir", "options", "pools", "namespace", "instance")
    },
    **{
        name: arguments.STATE_APPLY[name]
        for name in ("options_replace", "images", "adopt", "allow_empty", "recreate", "force")
    },
    **{
        name: arguments.STATE_VALIDATE[name]
        for name in (
            "failure_grace",
            "timeout",
            "wait",
            "on_regress",
            "controller_taints",
            "vanished_grace",
            "release_nodes",
        )
    },
    **{
        name: arguments.DRIVER_CONTAINER[name]
        for name in (
            "lookup_from",
            "registry_ca",
            "registry_verify",
            "registry_mirrors",
            "registries",
            "registry_auth_file",
            "push_secret",
            "builder",
            "builder_image",
            "build_namespace",
            "entitlement_secret",
            "build_node_selector",
            "build_host_network",
            "build_apparmor",
            "build_seccomp",
            "build_capabilities",
            "build_timeout",
            "rebuild",
        )
    },
    "build_parallel": arguments.DRIVER_CONTAINER["parallel"],
    "build_host": _TEXT,
    "build_auth_file": arguments.IMAGE_BUILD["auth_file"],
    "build_secrets_dir": arguments.IMAGE_BUILD["secrets_dir"],
    **{
        name: arguments.PREFLIGHT[name]
        for name in ("kernels", "releases", "build", "stage", "pull")
    },
    "nfd": _FLAG,
    "cr": arguments.SRO_CONFIG["from_cr"],
    "last_kernel_wins": arguments.SRO_CONFIG["last_kernel_wins"],
    "end_operator": arguments.SRO_RELEASE["end_operator"],
    "delete_crd": arguments.SPECIAL_RESOURCE["delete_crd"],
    "delete_definitions": arguments.SPECIAL_RESOURCE["delete_definitions"],
    "delete_others": arguments.SPECIAL_RESOURCE["delete_others"],
    "node": arguments.STATE_VALIDATE["node"],
    "status_file": _TEXT,
    "fleet_file": _TEXT,
    "report": arguments.FLEET_REPORT["page"],
    "metrics_file": arguments.FLEET_REPORT["metrics"],
    "junit_file": arguments.FLEET_REPORT["junit"],
    "strategy": _TEXT,
    # A number, a percentage, or a list of these, as Ansible's serial.
    "serial": {"type": "raw"},
    "new_label": arguments.RECIPE_NEW["label"],
    "new_resource": arguments.RECIPE_NEW["resource"],
    "new_chart": arguments.RECIPE_NEW["chart"],
    **{
        f"support_{name}": arguments.SUPPORT_BUNDLE[name]
        for name in ("file", "anonymous", "most", "seconds", "lines")
    },
    "rights_file": _TEXT,
    **{f"render_{name}": arguments.RECIPE_RENDER[name] for name in ("folder", "groups", "apis")},
    "images_file": _TEXT,
    "image_set_file": _TEXT,
    "images_state": arguments.IMAGE_COPY["state"],
    **{f"image_{name}": arguments.IMAGE_COPY[name] for name in ("layout", "mirror", "archs")},
    "mirror_map_dir": _TEXT,
    "preflight": _FLAG,
    **{
        f"rights_{name}": arguments.RECIPE_RIGHTS[name]
        for name in ("scope", "any_options", "role", "subjects")
    },
    **{
        f"numa_{name}": arguments.NUMA_VALIDATE[name]
        for name in (
            "exporter_labels",
            "scheduler_namespace",
            "scheduler_labels",
            "kubelets",
            "settle",
            "fail_on",
            "json",
            "junit",
        )
    },
    "rmd_image": _TEXT,
    "rmd_certificates": arguments.RMD_CERTIFICATES["source"],
    "rmd_renew": arguments.RMD_CERTIFICATES["renew"],
    **{
        f"rmd_{name}": arguments.RMD_RECONCILE[name]
        for name in (
            "endpoint",
            "tls_server_name",
            "on_partial_failure",
            "extended_resource",
            "pods",
            "pod_form",
            "failure_policy",
            "require_ready",
        )
    },
}


def refuse_unknown(names: Iterable[str]) -> None:
    """Raise InvalidInput for names that begin as our variables do and are none of them."""
    known = [f"{PREFIX}{name}" for name in VARIABLES]
    unknown = sorted({name for name in names if name.startswith(PREFIX)} - set(known))
    if not unknown:
        return
    raise InvalidInput(
        f"There is no variable {', '.join(f'{name}{suggest(name, known, listed=0)}' for name in unknown)}",
        why=f"names that begin with {PREFIX} belong to the collection hardware.enablement",
        todo="correct or remove it; docs/admin/variables.md lists all",
    )


def refuse_wrong(values: Mapping[str, Any]) -> None:
    """Raise InvalidInput for values (by full name) of a wrong type, or that are no choice; empty
    ones are not given."""
    given = {name: value for name, value in values.items() if value is not None and value != ""}
    spec = {name: _without_default(VARIABLES[name.removeprefix(PREFIX)]) for name in given}
    messages = ArgumentSpecValidator(spec).validate(given).error_messages
    if messages:
        raise InvalidInput(
            "A variable has a wrong value",
            why="; ".join(" ".join(message.split()) for message in messages),
            todo="correct it; docs/admin/variables.md says what it may be",
        )


def _without_default(argument: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in argument.items()
        if key not in ("default", "required", "aliases")
    }
