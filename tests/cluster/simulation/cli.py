# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`faults set | clear | list` for the command line of tests.cluster."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .faults import ALL, ALL_BEHAVIOURS, clear_faults, list_faults, set_fault

HELP = f"""behaviours: {", ".join(ALL_BEHAVIOURS)}.
slow, later-crash and dead take seconds as `slow=60`; fail, crash and later-crash an exit code as --exit-code."""


def add_commands(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
    kubeconfig_of: Callable[[argparse.Namespace], str | Path],
    parents: list[argparse.ArgumentParser] | None = None,
) -> None:
    """Add `faults` to a parser. Each command sets `args.run`, which takes the arguments and may
    raise a ClusterError.

    parents: parsers whose options (such as --name) each command shall have; kubeconfig_of finds the
    cluster by them.
    """
    shared = parents or []
    faults = subparsers.add_parser(
        "faults", help="make operands on simulated nodes misbehave", description=HELP
    )
    commands = faults.add_subparsers(required=True, metavar="set|clear|list")

    setter = commands.add_parser("set", help="set a fault", description=HELP, parents=shared)
    setter.add_argument(
        "--node", required=True, help="a node's name, or '*' for all simulated nodes"
    )
    setter.add_argument(
        "--operand", required=True, help="a role (driver, device-plugin, ...) or a name, or '*'"
    )
    setter.add_argument(
        "--behaviour", required=True, metavar="BEHAVIOUR[=SECONDS]", help=", ".join(ALL_BEHAVIOURS)
    )
    setter.add_argument("--exit-code", type=int, help="of fail, crash, later-crash; 1 by default")
    setter.add_argument("--devices", type=int, help="of unhealthy: how many")
    setter.add_argument("--message", help="the last log line, or the image-pull error")
    setter.set_defaults(run=lambda args: _set(args, kubeconfig_of(args)))

    clearer = commands.add_parser(
        "clear", help="take faults away; pods recover by themselves", parents=shared
    )
    clearer.add_argument("--node", default=ALL)
    clearer.add_argument("--operand")
    clearer.set_defaults(run=lambda args: _clear(args, kubeconfig_of(args)))

    lister = commands.add_parser("list", help="show the faults that are set", parents=shared)
    lister.set_defaults(run=lambda args: _list(args, kubeconfig_of(args)))


def _set(args: argparse.Namespace, kubeconfig: str | Path) -> None:
    behaviour, _sep, seconds = args.behaviour.partition("=")
    params: dict[str, Any] = {}
    if seconds:
        params["seconds"] = seconds
    if args.exit_code is not None:
        params["exit_code"] = args.exit_code
    if args.devices is not None:
        params["devices"] = args.devices
    if args.message is not None:
        params["message"] = args.message
    nodes = set_fault(kubeconfig, args.node, args.operand, behaviour, **params)
    print(f"{args.operand}: {args.behaviour} on {len(nodes)} node(s)")


def _clear(args: argparse.Namespace, kubeconfig: str | Path) -> None:
    nodes = clear_faults(kubeconfig, args.node, args.operand)
    print(f"faults cleared on {len(nodes)} node(s)")


def _list(_args: argparse.Namespace, kubeconfig: str | Path) -> None:
    for node, faults in sorted(list_faults(kubeconfig).items()):
        for operand, fault in sorted(faults.items()):
            rest = " ".join(f"{key}={value}" for key, value in fault.items() if key != "behaviour")
            print(f"{node}  {operand}  {fault['behaviour']}  {rest}".rstrip())
