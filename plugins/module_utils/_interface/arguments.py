# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argument specifications, shared by each module and its action
plugin."""

from __future__ import annotations

from typing import Any

from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC

Spec = dict[str, dict[str, Any]]

CONNECTION: Spec = {
    **{name: dict(argument) for name, argument in AUTH_ARG_SPEC.items()},
    "cluster_uid": {"type": "str"},
}

CLUSTER_INFO: Spec = dict(CONNECTION)

# bundle and run_id are filled in by the action plugin: the recipe's files are on the controller,
# and the run's name in the lock has to be the same in every task.
RECIPE: Spec = {
    "recipe": {"type": "str", "required": True},
    "recipe_dir": {"type": "path"},
    "bundle": {"type": "dict"},
    # Not given (None) is as in the record; {} is all of the recipe's defaults, [] no pools.
    "options": {"type": "dict"},
    "pools": {"type": "list", "elements": "dict"},
    "namespace": {"type": "str"},
    "instance": {"type": "str"},
}

OPTIONS_REPLACE: Spec = {"options_replace": {"type": "bool", "default": False}}

RUN: Spec = {"run_id": {"type": "str"}}

NFD_INFO: Spec = {
    **CONNECTION,
    **OPTIONS_REPLACE,
    **{name: dict(argument, required=False) for name, argument in RECIPE.items()},
    "selector": {"type": "list", "elements": "dict"},
    "nfd_age": {"type": "bool", "default": False},
    "settle": {"type": "int", "default": 0},
    "only_for_images": {"type": "bool", "default": False},
    "resources": {"type": "list", "elements": "str", "default": []},
}

KUBELET_CONFIG_INFO: Spec = {
    **CONNECTION,
    "selector": {"type": "list", "elements": "dict"},
    "pools": {"type": "list", "elements": "dict"},
    "at_a_time": {"type": "int", "default": 16},
}

OPERATOR_INFO: Spec = {
    **CONNECTION,
    **RECIPE,
    "recipe": {"type": "str", "default": ""},
    "operator": {
        "type": "str",
        "choices": ["gpu-operator", "amd-gpu-operator"],
        "default": "gpu-operator",
    },
    "file": {"type": "path"},
}

OPERATOR_TAKEOVER: Spec = {
    **CONNECTION,
    **RUN,
    **RECIPE,
    "stop_operator": {"type": "bool", "default": False},
    "at_a_time": {"type": "int", "default": 1},
    "failure_grace": {"type": "float", "default": 30},
    "timeout": {"type": "float"},
    "show": {"type": "bool", "default": False},
}

NUMA_CONFIG: Spec = {
    **CONNECTION,
    **RECIPE,
    "from_cr": {"type": "path"},
    "read_kubelets": {"type": "bool", "default": True},
    "at_a_time": {"type": "int", "default": 16},
}

NUMA_VALIDATE: Spec = {
    **KUBELET_CONFIG_INFO,
    "kubelets": {"type": "bool", "default": True},
    "namespace": {"type": "str", "default": "numa-resources"},
    "exporter_labels": {
        "type": "dict",
        "default": {
            "app.kubernetes.io/name": "numa",
            "app.kubernetes.io/component": "exporter",
        },
    },
    "scheduler_namespace": {"type": "str"},
    "scheduler_labels": {
        "type": "dict",
        "default": {
            "app.kubernetes.io/name": "numa",
            "app.kubernetes.io/component": "scheduler",
        },
    },
    "settle": {"type": "int", "default": 15},
    "fail_on": {"type": "str", "choices": ["error", "warning", "none"], "default": "error"},
    "json": {"type": "path"},
    "junit": {"type": "path"},
    "show": {"type": "bool", "default": False},
}

# How states are proven, and what is told of it.
PROVING: Spec = {
    "failure_grace": {"type": "int", "default": 30},
    "timeout": {"type": "int"},
    "controller_taints": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "key": {"type": "str", "required": True, "no_log": False},
            "node": {"type": "str", "choices": ["leaves", "starts", "stays"], "required": True},
            "by": {"type": "str", "default": ""},
        },
    },
    "vanished_grace": {"type": "int", "default": 3600},
    "release_nodes": {"type": "list", "elements": "str", "default": []},
    "on_regress": {"type": "str", "choices": ["keep", "withdraw"], "default": "keep"},
    "require_ready": {"type": "bool", "default": True},
    "report": {"type": "str", "choices": ["problems", "all"], "default": "problems"},
    "show": {"type": "bool", "default": False},
    "record": {"type": "bool", "default": False},
}

STATE_APPLY: Spec = {
    **CONNECTION,
    **RECIPE,
    **OPTIONS_REPLACE,
    **RUN,
    "states": {"type": "list", "elements": "str"},
    "role": {"type": "str"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "discovery": {"type": "dict"},
    "images": {"type": "dict"},
    "driver_images": {"type": "list", "elements": "dict"},
    "adopt": {"type": "bool", "default": False},
    "allow_empty": {"type": "bool", "default": False},
    "recreate": {"type": "bool", "default": False},
    "force": {"type": "bool", "default": False},
    "tags": {"type": "list", "elements": "str"},
    "skip_tags": {"type": "list", "elements": "str"},
    "with_requirements": {"type": "bool", "default": False},
    "wait": {"type": "bool", "default": False},
    **PROVING,
    "wait_timeout": {"type": "int", "default": 300},
}

STATE_VALIDATE: Spec = {
    **CONNECTION,
    **RECIPE,
    **RUN,
    "states": {"type": "list", "elements": "str"},
    "role": {"type": "str"},
    "images": {"type": "dict"},
    "driver_images": {"type": "list", "elements": "dict"},
    "wait": {"type": "bool", "default": True},
    "node": {"type": "str"},
    **PROVING,
    "allow_empty": {"type": "bool", "default": False},
}

# How nodes are led through an exchange of their driver, or a remedy.
EXCHANGE: Spec = {
    **{name: RECIPE[name] for name in ("recipe", "recipe_dir", "bundle", "instance", "options")},
    "drain": {
        "type": "dict",
        "options": {
            "whole_node": {"type": "bool", "default": False},
            "force": {"type": "bool", "default": False},
            "delete_emptydir_data": {"type": "bool", "default": False},
            "daemonsets": {"type": "bool", "default": True},
            "grace_period": {"type": "int"},
            "timeout": {"type": "int", "default": 600},
        },
    },
    "stop_timeout": {"type": "int", "default": 300},
    "reboot": {"type": "str", "choices": ["none", "annotation", "caller"], "default": "none"},
    "reboot_annotation": {"type": "str"},
    "reboot_timeout": {"type": "int", "default": 1800},
    "failure_grace": PROVING["failure_grace"],
    "timeout": PROVING["timeout"],
    "require_ready": PROVING["require_ready"],
    "report": PROVING["report"],
    "controller_taints": PROVING["controller_taints"],
}

DRIVER_UPGRADE: Spec = {
    **CONNECTION,
    **RUN,
    **EXCHANGE,
    "nodes": {"type": "list", "elements": "str"},
    "waves": {"type": "list", "elements": "str", "default": ["1", "10%", "50%", "100%"]},
    "max_unavailable": {"type": "str", "default": "10%"},
    "max_failures": {"type": "str", "default": "5%"},
    "soak": {"type": "int", "default": 0},
    "maintenance_window": {
        "type": "dict",
        "options": {
            "start": {"type": "str", "required": True},
            "end": {"type": "str", "required": True},
            "days": {"type": "list", "elements": "str"},
            "timezone": {"type": "str", "default": "UTC"},
        },
    },
    "rollback": {"type": "bool", "default": False},
}

NODE_REMEDY: Spec = {
    **CONNECTION,
    **RUN,
    **EXCHANGE,
    "faults": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "node": {"type": "str", "required": True},
            "fault": {"type": "str", "required": True},
        },
    },
    "release": {"type": "list", "elements": "str", "default": []},
    "attempts": {"type": "int", "default": 3},
    "cooldown": {"type": "int", "default": 600},
    "max_unavailable": {"type": "str", "default": "10%"},
    "max_failures": {"type": "str", "default": "10%"},
}

# How registries are asked, for who has no cluster to ask about it, too.
REGISTRIES: Spec = {
    "registry_ca": {"type": "str"},
    "registry_verify": {"type": "bool", "default": True},
    "registry_mirrors": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "prefix": {"type": "str", "required": True},
            "locations": {"type": "list", "elements": "str", "required": True},
            "source": {"type": "bool", "default": True},
        },
    },
    "registries": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "host": {"type": "str", "required": True},
            "ca": {"type": "str"},
            "verify": {"type": "bool", "default": True},
            "plain_http": {"type": "bool", "default": False},
        },
    },
}

BUILDERS = ["auto", "kubernetes", "openshift", "controller", "none"]

DRIVER_CONTAINER: Spec = {
    **CONNECTION,
    **RECIPE,
    **RUN,
    "states": {"type": "list", "elements": "str"},
    "role": {"type": "str"},
    "discovery": {"type": "dict"},
    "images": {"type": "dict"},
    "lookup_from": {"type": "str", "choices": ["controller", "imagestream", "node"]},
    **REGISTRIES,
    "registry_auth_file": {"type": "path"},
    # Names of Secrets, not secrets.
    "push_secret": {"type": "str", "no_log": False},
    "builder": {"type": "str", "choices": BUILDERS, "default": "auto"},
    "builder_image": {"type": "str"},
    "build_namespace": {"type": "str"},
    "entitlement_secret": {"type": "str", "no_log": False},
    "build_node_selector": {"type": "dict", "default": {}},
    "build_host_network": {"type": "bool", "default": False},
    "build_apparmor": {"type": "str", "default": "Unconfined"},
    "build_seccomp": {"type": "str", "default": "Unconfined"},
    "build_capabilities": {"type": "list", "elements": "str", "default": []},
    "build_timeout": {"type": "int", "default": 1800},
    "rebuild": {"type": "bool", "default": False},
    "parallel": {"type": "int", "default": 2},
    "failure_grace": {"type": "int", "default": 30},
    "outcomes": {"type": "list", "elements": "dict", "default": []},
    "wait": {"type": "bool", "default": False},
}

# What one task of a run hands to the next.
_OF_ONE_TASK = ("states", "role", "discovery", "outcomes", "wait")

PREFLIGHT: Spec = {
    **{name: argument for name, argument in DRIVER_CONTAINER.items() if name not in _OF_ONE_TASK},
    "recipe": {"type": "str"},
    "bundles": {"type": "dict"},
    "kernels": {"type": "list", "elements": "raw"},
    "releases": {"type": "list", "elements": "str", "default": []},
    "build": {"type": "bool", "default": False},
    "stage": {"type": "bool", "default": False},
    "pull": {"type": "bool", "default": False},
    "adopt": STATE_APPLY["adopt"],
    **OPTIONS_REPLACE,
    "show": PROVING["show"],
}

IMAGE_BUILD: Spec = {
    "order": {"type": "dict", "required": True},
    # A folder, no secret.
    "secrets_dir": {"type": "path", "no_log": False},
    "program": {"type": "str", "choices": ["auto", "buildah", "podman"], "default": "auto"},
    "auth_file": {"type": "path"},
    **REGISTRIES,
    "isolation": {"type": "str", "choices": ["chroot", "oci", "rootless"]},
    "timeout": {"type": "int", "default": 1800},
}

IMAGE_COPY: Spec = {
    "images": {"type": "list", "elements": "str", "default": []},
    "state": {
        "type": "str",
        "choices": ["checked", "exported", "imported"],
        "default": "checked",
    },
    "layout": {"type": "path"},
    "mirror": {"type": "str"},
    "archs": {"type": "list", "elements": "str", "default": []},
    **REGISTRIES,
    "registry_auth_file": {"type": "path"},
}

SPECIAL_RESOURCE: Spec = {
    **CONNECTION,
    **RECIPE,
    **RUN,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "report": {"type": "dict"},
    "delete_crd": {"type": "bool", "default": False},
    "delete_definitions": {"type": "bool", "default": False},
    "delete_others": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 300},
}

NODE_PARTITION: Spec = {
    **CONNECTION,
    **{name: RECIPE[name] for name in ("recipe", "recipe_dir", "bundle", "instance")},
    **RUN,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    # Not given (None) is as in the record, or as it is.
    "taints": {"type": "list", "elements": "raw"},
    "no_execute": {"type": "bool", "default": False},
    "soft": {"type": "bool"},
    "priority_classes": {
        "type": "list",
        "elements": "dict",
        "options": {
            "name": {"type": "str", "required": True},
            "value": {"type": "int", "required": True},
            "description": {"type": "str"},
            "preemption_policy": {
                "type": "str",
                "choices": ["PreemptLowerPriority", "Never"],
                "default": "PreemptLowerPriority",
            },
        },
    },
}

SPECIAL_RESOURCE_INFO: Spec = {**CONNECTION, "name": {"type": "str"}}

# What is about files of the controller, without a cluster.
RECIPE_CHECK: Spec = {name: RECIPE[name] for name in ("recipe", "recipe_dir", "bundle", "options")}

# graph is filled in by the action plugin, as a bundle is.
RECIPE_DEPENDENCIES: Spec = {
    **CONNECTION,
    "recipe": RECIPE["recipe"],
    "recipe_dir": RECIPE["recipe_dir"],
    "depends": {"type": "list", "elements": "dict", "default": []},
    "graph": {"type": "dict"},
}

SRO_CONFIG: Spec = {
    "from_cr": {"type": "path", "required": True},
    "recipe_dir": RECIPE["recipe_dir"],
    "last_kernel_wins": {"type": "bool", "default": False},
}

SRO_RELEASE: Spec = {
    **CONNECTION,
    **RUN,
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["ended", "released"], "required": True},
    "end_operator": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 120},
}

RECIPE_NEW: Spec = {
    "name": {"type": "str", "required": True},
    "recipe_dir": {"type": "path", "required": True},
    "label": {"type": "str", "required": True},
    "resource": {"type": "str", "required": True},
    "chart": {"type": "path"},
}

KMM_IMPORT: Spec = {
    **CONNECTION,
    "name": {"type": "str"},
    "recipe_dir": {"type": "path", "required": True},
    "file": {"type": "path"},
    "module": {"type": "str"},
    "namespace": {"type": "str", "default": "default"},
    "resource": {"type": "str", "default": ""},
}

RECIPE_RIGHTS: Spec = {
    "recipes": {"type": "list", "elements": "str", "required": True},
    "recipe_dir": {"type": "path"},
    "bundles": {"type": "dict"},
    "options": {"type": "dict", "default": {}},
    "any_options": {"type": "bool", "default": False},
    "namespace": {"type": "str"},
    "instance": {"type": "str"},
    "scope": {"type": "str", "choices": ["namespace", "cluster"], "default": "namespace"},
    "name": {"type": "str"},
    "role": {"type": "str", "choices": ["runner", "viewer"], "default": "runner"},
    "subjects": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "kind": {
                "type": "str",
                "choices": ["User", "Group", "ServiceAccount"],
                "required": True,
            },
            "name": {"type": "str", "required": True},
            "namespace": {"type": "str"},
        },
    },
}

RECIPE_RENDER: Spec = {
    **CONNECTION,
    **RECIPE,
    "folder": {"type": "path", "required": True},
    "groups": {
        "type": "list",
        "elements": "dict",
        "options": {
            "kernel": {"type": "str", "required": True},
            "os_id": {"type": "str", "required": True},
            "os_version": {"type": "str", "default": ""},
            "architecture": {"type": "str", "default": "amd64"},
            "runtime": {"type": "str", "default": "containerd://2.1.4"},
            "labels": {"type": "dict", "default": {}},
        },
    },
    "apis": {"type": "list", "elements": "str", "default": []},
    "images": {"type": "dict"},
    "allow_empty": {"type": "bool", "default": False},
    "vanished_grace": PROVING["vanished_grace"],
    "release_nodes": PROVING["release_nodes"],
}

SUPPORT_BUNDLE: Spec = {
    **CONNECTION,
    "file": {"type": "path", "required": True},
    "resources": {"type": "list", "elements": "dict", "default": []},
    "unread": {"type": "str", "default": ""},
    "recipe_dir": {"type": "path"},
    "bundles": {"type": "dict", "default": {}},
    "options": {"type": "dict"},
    "anonymous": {"type": "bool", "default": False},
    "most": {"type": "int", "default": 20},
    "seconds": {"type": "int", "default": 120},
    "lines": {"type": "int", "default": 200},
}

RUN_LOCK: Spec = {
    **CONNECTION,
    **RUN,
    "recipe": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "force": {"type": "bool", "default": False},
}

FLEET_REPORT: Spec = {
    "clusters": {"type": "dict", "required": True},
    "recipe": {"type": "str", "default": ""},
    "require_ready": {"type": "bool", "default": False},
    "page": {"type": "path"},
    "metrics": {"type": "path"},
    "junit": {"type": "path"},
    "show": {"type": "bool", "default": True},
}

RMD_CERTIFICATES: Spec = {
    **CONNECTION,
    **RUN,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "namespace": {"type": "str", "default": "intel-rmd"},
    "nodes": {"type": "list", "elements": "str", "default": []},
    "source": {"type": "str", "choices": ["generated", "provided"], "default": "generated"},
    # Name of a Secret, no secret.
    "server_secret": {"type": "str", "no_log": False},
    "days": {"type": "int", "default": 365},
    "renew_before_days": {"type": "int", "default": 30},
    "authority_days": {"type": "int", "default": 3650},
    "renew": {"type": "str", "choices": ["auto", "certificates", "authority"], "default": "auto"},
}

RMD_CONFIG: Spec = {
    **CONNECTION,
    "nodes": {"type": "list", "elements": "str"},
    "problem": {"type": "str", "default": ""},
}

# How the daemons of RMD are found and spoken to.
RMD: Spec = {
    **CONNECTION,
    "namespace": {"type": "str", "default": "intel-rmd"},
    "endpoint": {
        "type": "str",
        "choices": ["pod_ip", "host_port", "port_forward"],
        "default": "pod_ip",
    },
    "tls_server_name": {"type": "str"},
    # The name of a Secret, and paths: no secrets.
    "tls_secret": {"type": "str", "no_log": False, "default": "intel-rmd-client"},
    "rmd_ca": {"type": "path"},
    "rmd_cert": {"type": "path"},
    "rmd_key": {"type": "path", "no_log": False},
    "rmd_username": {"type": "str"},
    "rmd_password": {"type": "str", "no_log": True},
    "timeout": {"type": "int", "default": 30},
    "parallel": {"type": "int", "default": 16},
}

RMD_NODES: Spec = {"nodes": {"type": "list", "elements": "str"}, "node_selector": {"type": "dict"}}


RMD_INFO: Spec = {**RMD, **RMD_NODES, "failure_grace": {"type": "int", "default": 0}}

RMD_RECONCILE: Spec = {
    **RMD,
    **RUN,
    "on_partial_failure": {"type": "str", "choices": ["rollback", "keep"], "default": "keep"},
    "lock_wait": {"type": "int", "default": 75},
    "extended_resource": {"type": "bool", "default": True},
    "pods": {"type": "bool", "default": True},
    "pod_form": {"type": "str", "choices": ["v0.1", "v0.3"], "default": "v0.3"},
    "failure_policy": {"type": "str", "choices": ["keep", "annotate", "evict"], "default": "keep"},
    "require_ready": {"type": "bool", "default": True},
}

RMD_RELEASE: Spec = {**CONNECTION, **RUN, **RMD, "free": {"type": "bool", "default": True}}
