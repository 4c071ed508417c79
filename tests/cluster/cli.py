# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: `python -m tests.cluster --help`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.cluster.cluster import DEFAULT_KERNEL, DEFAULT_OS, Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.node_objects import RUNTIMES
from tests.cluster.profiles import profile_names
from tests.cluster.programs import ensure_programs
from tests.cluster.simulation.cli import add_commands as add_fault_commands
from tests.cluster.status import status_table

DEFAULT_NAME = "local"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; exit code 1 with one sentence on stderr if it cannot be done."""
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options) or 0)
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    """The whole command line; every command sets `run`, which takes the parsed options."""
    root = argparse.ArgumentParser(
        prog="python -m tests.cluster", description="Local Kubernetes clusters for tests."
    )
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser(
        "build", help="download or build the programs into the cache, if they are not there"
    )
    build.set_defaults(run=lambda _options: ensure_programs(_say) and 0)

    up = commands.add_parser("up", help="start a cluster (nothing is done for one that runs)")
    _name(up)
    up.add_argument(
        "--openshift", action="store_true", help="serve OpenShift's kinds, with plausible objects"
    )
    up.add_argument(
        "--no-monitoring-crds", action="store_true", help="serve no ServiceMonitor, PodMonitor, ..."
    )
    labels = up.add_mutually_exclusive_group()
    labels.add_argument(
        "--no-nfd", action="store_true", help="no NFD master: the simulation labels simulated nodes"
    )
    labels.add_argument(
        "--kubelets",
        type=int,
        default=0,
        metavar="N",
        help="real nodes NAME-worker-1 to N (needs root)",
    )
    up.add_argument(
        "--vms",
        type=int,
        default=0,
        metavar="N",
        help="virtual machines NAME-vm-1 to N with kernels of their own (needs root)",
    )
    up.set_defaults(run=_up)

    down = commands.add_parser("down", help="stop a cluster and remove its folder")
    _name(down)
    down.set_defaults(run=lambda options: Cluster(options.name, _say).down())

    status = commands.add_parser("status", help="a table of all clusters and their programs")
    status.set_defaults(run=lambda _options: print(status_table()))

    kubeconfig = commands.add_parser(
        "kubeconfig", help="path of a kubeconfig: the admin's, or one made for a user"
    )
    _name(kubeconfig)
    kubeconfig.add_argument("--user", help="make one for this user")
    kubeconfig.add_argument(
        "--group", action="append", default=[], help="a group of that user (repeatable)"
    )
    kubeconfig.set_defaults(run=_kubeconfig)

    _add_nodes_commands(commands.add_parser("nodes", help="add, change and remove simulated nodes"))

    named = argparse.ArgumentParser(add_help=False)
    _name(named)
    add_fault_commands(commands, lambda options: Cluster.attach(options.name).kubeconfig, [named])
    return root


def _add_nodes_commands(nodes: argparse.ArgumentParser) -> None:
    _name(nodes)
    commands = nodes.add_subparsers(required=True, metavar="COMMAND")

    # `--name` is understood before and after the command; only the former has the default.
    named = argparse.ArgumentParser(add_help=False)
    named.add_argument("--name", default=argparse.SUPPRESS, help=argparse.SUPPRESS)

    add = commands.add_parser(
        "add", help="add nodes and wait until they are Ready and labelled", parents=[named]
    )
    add.add_argument("--count", type=_positive, default=1)
    add.add_argument("--profile", choices=profile_names(), default="gpu-h100")
    add.add_argument("--kernel", default=DEFAULT_KERNEL)
    add.add_argument("--os", default=DEFAULT_OS, help="ID:VERSION, like ubuntu:24.04 or rhel:9.6")
    add.add_argument(
        "--prefix", help="names are PREFIX-1, PREFIX-2, ... (default: the profile's name)"
    )
    add.add_argument("--runtime", choices=sorted(RUNTIMES), default="containerd")
    add.add_argument("--timeout", type=float, default=180, metavar="SECONDS")
    add.set_defaults(run=_nodes_add)

    upgrade = commands.add_parser(
        "upgrade-kernel", help="a node boots another kernel; NFD notices it later", parents=[named]
    )
    upgrade.add_argument("node")
    upgrade.add_argument("--kernel", required=True)
    upgrade.add_argument(
        "--label-delay",
        type=float,
        default=0,
        metavar="SECONDS",
        help="when NFD notices (default 0)",
    )
    upgrade.set_defaults(run=_nodes_upgrade)

    reboot = commands.add_parser(
        "reboot",
        help="a node boots again, if so another kernel; NFD does not notice",
        parents=[named],
    )
    reboot.add_argument("node")
    reboot.add_argument("--kernel", default="", help="default: the one that it runs")
    reboot.set_defaults(run=_nodes_reboot)

    console = commands.add_parser(
        "console", help="run a command on a virtual machine's serial console", parents=[named]
    )
    console.add_argument("node")
    console.add_argument("command", help="a script of sh, in one argument")
    console.set_defaults(run=_nodes_console)

    remove = commands.add_parser("remove", help="take nodes away", parents=[named])
    remove.add_argument("node", nargs="+")
    remove.set_defaults(
        run=lambda options: Cluster.attach(options.name).remove_nodes(*options.node)
    )

    for word, ready in (("ready", True), ("not-ready", False)):
        text = f"make nodes {'Ready again' if ready else 'NotReady'}"
        command = commands.add_parser(word, help=text, parents=[named])
        command.add_argument("node", nargs="+")
        command.set_defaults(run=_nodes_ready, ready=ready)


def _up(options: argparse.Namespace) -> None:
    Cluster.up(
        options.name,
        openshift=options.openshift,
        monitoring_crds=not options.no_monitoring_crds,
        kubelets=options.kubelets,
        vms=options.vms,
        nfd=not options.no_nfd,
        say=_say,
    )


def _kubeconfig(options: argparse.Namespace) -> None:
    cluster = Cluster.attach(options.name)
    print(
        cluster.kubeconfig_for(options.user, options.group) if options.user else cluster.kubeconfig
    )


def _nodes_add(options: argparse.Namespace) -> None:
    Cluster.attach(options.name, say=_say).add_nodes(
        options.count,
        profile=options.profile,
        kernel=options.kernel,
        os=options.os,
        prefix=options.prefix,
        runtime=options.runtime,
        timeout=options.timeout,
    )


def _nodes_upgrade(options: argparse.Namespace) -> None:
    cluster = Cluster.attach(options.name)
    cluster.reboot(options.node, options.kernel)
    _say(f"{options.node} runs {options.kernel}")
    time.sleep(options.label_delay)
    cluster.relabel(options.node)
    _say(f"{options.node} is labelled with it")


def _nodes_reboot(options: argparse.Namespace) -> None:
    cluster = Cluster.attach(options.name, say=_say)
    info = cluster.api.get(f"/api/v1/nodes/{options.node}")["status"]["nodeInfo"]
    kernel = options.kernel or info["kernelVersion"]
    cluster.reboot(options.node, kernel)
    _say(f"{options.node} runs {kernel}")


def _nodes_console(options: argparse.Namespace) -> None:
    print(Cluster.attach(options.name).vm(options.node).run(options.command), end="")


def _nodes_ready(options: argparse.Namespace) -> None:
    cluster = Cluster.attach(options.name)
    for node in options.node:
        cluster.set_ready(node, options.ready)


def _name(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--name", default=DEFAULT_NAME, help=f"the cluster's name (default: {DEFAULT_NAME})"
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _say(line: str) -> None:
    print(line, flush=True)
