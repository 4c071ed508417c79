# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon as a program: `rmd` with its own flags, on a simulated machine that a JSON file
describes."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.rmd.answers import StartError
from tests.rmd.config import Config, flags, read_config
from tests.rmd.connection import Seen
from tests.rmd.faults import Dialect, Faults
from tests.rmd.machine import Machine
from tests.rmd.policies import load_policies
from tests.rmd.resctrl import machine_of
from tests.rmd.server import RmdServer

DEFAULT_FILE = Path("/etc/rmd-simulation.json")


@dataclass(frozen=True)
class Simulation:
    """What no flag of the daemon says. machine, faults: fields of Machine and Faults. accounts:
    user -> password.

    make_tree: make the resctrl tree if it is missing. Where there is one, it says sockets, CPUs,
    ways and classes.
    """

    dialect: Dialect = Dialect.V03
    machine: Mapping[str, Any] = field(default_factory=dict)
    faults: Mapping[str, Any] = field(default_factory=dict)
    accounts: Mapping[str, str] = field(default_factory=dict)
    make_tree: bool = False


def read_simulation(file: Path | None) -> Simulation:
    """The file's, that of $RMD_SIMULATION, that of the image, or a default one."""
    chosen = file or Path(os.environ.get("RMD_SIMULATION") or DEFAULT_FILE)
    content = json.loads(chosen.read_text()) if file or chosen.exists() else {}
    dialect = Dialect(content.pop("dialect", Dialect.V03.value))
    return Simulation(dialect=dialect, **content)


def rmd(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM; the exit code."""
    parser = flags()
    parser.add_argument("--simulation", type=Path, help="JSON, see Simulation in command.py")
    given = parser.parse_args(arguments)
    simulation = read_simulation(given.simulation)
    if given.version:
        print(f"RMD version: {simulation.dialect.value[1:]}.1 (simulated)")
        return 0
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        server = make_server(given, simulation).start()
    except StartError as error:
        print(f"level=fatal msg={json.dumps(str(error))}", file=sys.stderr, flush=True)
        return 1
    print(f"RMD server started, REST API server serving on {server.url}", flush=True)
    stop.wait()
    server.stop()
    return 0


def make_server(given: argparse.Namespace, simulation: Simulation) -> RmdServer:
    """The server that flags, rmd.toml and the simulation's file describe; StartError if the daemon
    would not start."""
    faults = replace(Faults.of(simulation.dialect), **simulation.faults)
    config = read_config(given, simulation.accounts, nested=simulation.dialect is Dialect.V03)
    if config.text:
        print(config.text, flush=True)
    machine = _machine(config, simulation)
    if not machine.platform:
        raise StartError("Unknow platform, please update the cpu_map.toml conf file.")
    return RmdServer(
        machine,
        simulation.dialect,
        pools=config.pools,
        policies=load_policies(config.policy, machine.platform),
        plugins=config.plugins,
        mba_mode=config.mba_mode,
        force=config.force,
        validator_interval=config.validator_interval,
        address=config.address,
        port=config.port,
        tls=None if config.debug else config.tls,
        faults=faults,
        resctrl=config.resctrl,
        database=config.database,
        log=_print,
    )


def _machine(config: Config, simulation: Simulation) -> Machine:
    machine = Machine(**simulation.machine)
    if simulation.make_tree and not (config.resctrl / "schemata").exists():
        return replace(machine, mba_mbps=machine.mba_mbps or config.mba_mode == "mbps")
    if not (config.resctrl / "schemata").exists() or not (config.resctrl / "info" / "L3").exists():
        nested = simulation.dialect is Dialect.V03
        raise StartError(
            "PQOS initialization failed: Failed to initialize PQOS driver"
            if nested
            else "can not enable cat"
        )
    return machine_of(config.resctrl, machine)


def _print(seen: Seen) -> None:
    print(f"{seen.method} {seen.path} {seen.status} {seen.client}".rstrip(), flush=True)
