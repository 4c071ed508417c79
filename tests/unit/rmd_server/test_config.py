# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts 4.8: rmd.toml, the flags, and the daemon as a program."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import REPO
from tests.rmd import Machine, Pools, RmdServer, StartError, Tls
from tests.rmd.certificates import Certificates
from tests.rmd.command import Simulation, make_server, read_simulation
from tests.rmd.config import Config, flags, read_config
from tests.rmd.faults import Dialect
from tests.rmd.packing import POLICY, pack, write_access_list
from tests.rmd.resctrl import Resctrl
from tests.unit.rmd_server.asking import Reply, ask

EVERYTHING = """
title = "RMD config"
[default]
address = "127.0.0.1"
tlsport = 9443
certpath = "/c/server"
clientcapath = "/c/client"
clientauth = "challenge_given"
policypath = "/c/policy.yaml"
sysresctrl = "/c/resctrl"
plugins = "cache, pstate"
dbValidatorInterval = 7
[rdt]
mbaMode = "mbps"
[debug]
debugport = 9081
[database]
backend = "bolt"
transport = "/c/rmd.db"
[OSGroup]
cacheways = 2
cpuset = "0-1"
[InfraGroup]
cacheways = 3
cpuset = "2-3"
[CachePool]
guarantee = 4
besteffort = 3
shared = 2
max_allowed_shared = 5
shrink = true
[acl]
path = "{acl}"
authorization = "Username"
[pstate]
path = "/c/pstate.so"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A configuration's folder with the access list."""
    write_access_list(tmp_path / "acl")
    return tmp_path


def configured(folder: Path, text: str, *arguments: str, nested: bool = True) -> Config:
    (folder / "rmd.toml").write_text(text.replace("{acl}", str(folder / "acl")))
    return read_config(
        flags().parse_args(["--conf-dir", str(folder), *arguments]), {}, nested=nested
    )


def test_every_key(folder: Path) -> None:
    found = configured(folder, EVERYTHING)
    assert found == Config(
        address="127.0.0.1",
        port=9443,
        debug=False,
        force=False,
        tls=Tls(Path("/c/server"), Path("/c/client"), "challenge_given", "username"),
        policy=Path("/c/policy.yaml"),
        resctrl=Path("/c/resctrl"),
        database=Path("/c/rmd.db"),
        plugins=("pstate",),
        mba_mode="mbps",
        validator_interval=7.0,
        pools=Pools(2, "0-1", 3, "2-3", 4, 3, 2, 5, True),
    )


def test_defaults(folder: Path) -> None:
    found = configured(folder, '[acl]\npath = "{acl}"')
    assert (found.address, found.port, found.debug) == ("localhost", 8443, False)
    assert (found.tls.certificates, found.tls.clients) == (
        Path("/etc/rmd/cert/server"),
        Path("/etc/rmd/cert/client"),
    )
    assert (found.tls.clientauth, found.tls.authorization) == ("challenge", "signature")
    assert (found.policy, found.resctrl) == (Path("/etc/rmd/policy.toml"), Path("/sys/fs/resctrl"))
    assert (found.database, found.plugins) == (Path("/var/run/rmd/rmd.db"), ())
    assert (found.mba_mode, found.validator_interval) == ("percentage", 30.0)
    assert found.pools == Pools(1, "0", 0, "", 10, 7, 2, 10, False)


@pytest.mark.parametrize(
    ("arguments", "address", "port"),
    [
        (("--address", "127.0.0.2", "--tlsport", "9999"), "127.0.0.2", 9999),
        (("-d",), "127.0.0.1", 9081),
        (("--debug", "--debugport", "9998"), "127.0.0.1", 9998),
    ],
)
def test_flags_win(folder: Path, arguments: tuple[str, ...], address: str, port: int) -> None:
    found = configured(folder, EVERYTHING, *arguments)
    assert (found.address, found.port) == (address, port)
    assert (
        configured(folder, EVERYTHING, "--clientauth", "no", "--force-config").tls.clientauth
        == "no"
    )


def test_0_2_names_its_plugin_in_a_table_of_its_own(folder: Path) -> None:
    text = '[acl]\npath = "{acl}"\n[pstate]\nenabled = true\npath = "/c/pstate.so"\n'
    assert configured(folder, text, nested=False).plugins == ("pstate",)
    with pytest.raises(StartError, match="Configuration for 'pstate' is not complete"):
        configured(folder, text.replace("enabled = true\n", ""), nested=False)


def test_a_file_that_cannot_be_read_is_passed_over(folder: Path) -> None:
    (folder / "rmd.toml").write_text("[")
    with pytest.raises(StartError, match=re.escape("/etc/rmd/acl/url/model.conf")):
        read_config(flags().parse_args(["--conf-dir", str(folder)]), {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[database]\nbackend = "mgo"',
            "Check db error. Reason: Mongo DB is not currently supported",
        ),
        (
            '[default]\nunixsock = "/run/rmd.sock"',
            "Sorry, do not support Unix listener at present!",
        ),
        ('[default]\nplugins = "pstate"', "RMD initialization error. Check logs for details"),
        ('[acl]\npath = "/nowhere"', "Error to generate an Enforcer!"),
        ('[acl]\npath = "{acl}"\nadmincert = "/nowhere"', "no such file or directory"),
    ],
)
def test_what_keeps_it_from_starting(folder: Path, text: str, said: str) -> None:
    acl = "" if "[acl]" in text else '\n[acl]\npath = "{acl}"'
    with pytest.raises(StartError, match=re.escape(said)):
        configured(folder, text + acl)


def served(
    folder: Path, machine: Machine, simulation: Simulation, *arguments: str, pools: str = ""
) -> Any:
    """A server made of a configuration's folder with a tree."""
    Resctrl(machine, folder / "resctrl").reset()
    (folder / "policy.toml").write_text(POLICY)
    lines = [
        "[default]",
        f'sysresctrl = "{folder}/resctrl"',
        f'policypath = "{folder}/policy.toml"',
    ]
    lines += [
        "[database]",
        f'transport = "{folder}/db/rmd.db"',
        "[acl]",
        f'path = "{folder}/acl"',
        pools,
    ]
    (folder / "rmd.toml").write_text("\n".join(lines))
    return make_server(
        flags().parse_args(["--conf-dir", str(folder), "-d", *arguments]), simulation
    )


def test_the_tree_says_which_machine_it_is(folder: Path) -> None:
    machine = Machine(sockets=4, cpus=32, ways=12, closids=15, mba_closids=8)
    assert served(folder, machine, Simulation()).machine == machine
    without = Machine(cpus=16, mba_closids=0)
    assert served(folder, without, Simulation(dialect=Dialect.V02)).machine == without
    assert served(folder, Machine(), Simulation(machine={"interleaved": True})).machine.interleaved


@pytest.mark.parametrize(
    ("machine", "simulation", "said"),
    [
        (Machine(mba_closids=0), Simulation(), "Requested and currently set MBA mode differ"),
        (Machine(closids=8), Simulation(), "not enough CLOS on host"),
        (Machine(), Simulation(machine={"platform": ""}), "Unknow platform"),
    ],
)
def test_machines_on_which_it_does_not_start(
    folder: Path, machine: Machine, simulation: Simulation, said: str
) -> None:
    with pytest.raises(StartError, match=said):
        served(folder, machine, simulation).start()


def test_no_tree_no_daemon(folder: Path) -> None:
    server = served(folder, Machine(), Simulation())
    (folder / "resctrl" / "schemata").unlink()
    given = flags().parse_args(["--conf-dir", str(folder), "-d"])
    for dialect, said in (
        (Dialect.V03, "PQOS initialization failed"),
        (Dialect.V02, "can not enable cat"),
    ):
        with pytest.raises(StartError, match=said):
            make_server(given, Simulation(dialect=dialect))
    made = make_server(given, Simulation(machine={"ways": 20}, make_tree=True))
    assert (server.machine.ways, made.machine.ways) == (11, 20)
    assert (folder / "resctrl/info/L3/cbm_mask").read_text() == "fffff\n"


@contextlib.contextmanager
def running(command: list[str], **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The program and its URL."""
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield line.rpartition(" ")[2].strip(), process
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def curl(url: str, body: object = None) -> Reply:
    server = RmdServer(address="127.0.0.1", port=int(url.rpartition(":")[2]))
    return ask(server, "GET" if body is None else "POST", "/workloads", body)


def test_the_program_as_one_file(folder: Path) -> None:
    """Packed, with nothing but Python; what it wrote is there when it starts again."""
    served(folder, Machine(), Simulation())
    with (folder / "rmd.toml").open("a") as file:
        file.write("[CachePool]\nguarantee = 6\nbesteffort = 3\nshared = 1\n")
    pack(folder / "bin" / "rmd")
    (folder / "simulation.json").write_text(
        json.dumps({"dialect": "v0.3", "faults": {"wrong_socket": True}})
    )
    command = [sys.executable, "-I", str(folder / "bin" / "rmd"), "--conf-dir", str(folder), "-d"]
    command += ["--address", "127.0.0.1", "--debugport", str(_free_port())]
    environment = {"RMD_SIMULATION": str(folder / "simulation.json")}
    with running(command, **environment) as (url, process):
        body = {"core_ids": ["1"], "uuid": "u", "rdt": {"cache": {"max": 2, "min": 2}}}
        assert curl(url, body).status == 201
        assert process.stdout is not None
        assert process.stdout.readline() == "POST /v1/workloads 201\n"
        assert (
            folder / "resctrl/COS2/schemata"
        ).read_text() == "    MB:0=100;1=100\n    L3:0=7ff;1=060\n"
        assert (folder / "resctrl/COS2/cpus_list").read_text() == "1\n"
    with running(command, **environment) as (url, _process):
        assert [workload["uuid"] for workload in curl(url).json] == ["u"]


def test_the_program_says_why_it_does_not_start(folder: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.rmd",
        "serve",
        "--conf-dir",
        str(folder),
        "--unixsock",
        "/run/rmd.sock",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPO)
    assert result.returncode == 1
    assert result.stderr.endswith(
        'level=fatal msg="Sorry, do not support Unix listener at present!"\n'
    )
    version = subprocess.run(
        [*command[:4], "--version"], capture_output=True, text=True, check=True, cwd=REPO
    )
    assert version.stdout.startswith("RMD version: 0.3.1")


def test_a_tree_by_hand(folder: Path) -> None:
    (folder / "simulation.json").write_text(
        json.dumps({"machine": {"sockets": 1, "cpus": 4, "ways": 20}})
    )
    command = [sys.executable, "-m", "tests.rmd", "tree", str(folder / "resctrl"), "--simulation"]
    subprocess.run([*command, str(folder / "simulation.json")], check=True, cwd=REPO)
    assert (folder / "resctrl/schemata").read_text() == "    MB:0=100\n    L3:0=fffff\n"
    assert read_simulation(folder / "simulation.json").machine["ways"] == 20


def test_tls_of_the_file_is_served(folder: Path) -> None:
    certificates = Certificates(folder / "pki")
    tls = certificates.tls("n1")
    served(folder, Machine(), Simulation())
    with (folder / "rmd.toml").open("r+") as file:
        text = file.read().replace(
            "[default]",
            f'[default]\ncertpath = "{tls.certificates}"\nclientcapath = "{tls.clients}"',
        )
        file.seek(0)
        file.write(text)
    given = flags().parse_args(
        ["--conf-dir", str(folder), "--address", "127.0.0.1", "--tlsport", str(_free_port())]
    )
    with make_server(given, Simulation()) as server:
        assert server.url.startswith("https://127.0.0.1:")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
