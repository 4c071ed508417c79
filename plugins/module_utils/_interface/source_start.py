# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the arguments of the event source to what watches the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from .._cluster.api_client.client import connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._errors import InvalidInput
from .._events.cluster_watch import ClusterWatch
from .._events.event_types import MEANINGS
from .._schema.requests import make_request
from .arguments import CONNECTION, Spec

CLUSTER_EVENTS: Spec = {
    **CONNECTION,
    "recipes": {"type": "list", "elements": "str", "default": []},
    "events": {
        "type": "list",
        "elements": "str",
        "choices": list(MEANINGS),
        "default": list(MEANINGS),
    },
    "debounce": {"type": "float", "default": 10},
    "resync": {"type": "float", "default": 3600},
}


def start(args: Mapping[str, Any]) -> ClusterWatch:
    """args: as a rulebook has them. Raises EnablementError where they are wrong, or the cluster does
    not answer."""
    checked = ArgumentSpecValidator(CLUSTER_EVENTS).validate(dict(args))
    if checked.error_messages:
        why = "; ".join(checked.error_messages)
        raise InvalidInput(
            "The event source cannot start", why=why, todo="correct it in the rulebook"
        )
    params = checked.validated_parameters
    return ClusterWatch(
        connect(make_request(ConnectionRequest, params)),
        recipes=params["recipes"],
        events=params["events"],
        debounce_s=params["debounce"],
        resync_s=params["resync"],
    )
