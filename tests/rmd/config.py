# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""rmd.toml and the daemon's flags (facts 4.8), read as the daemon does."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.rmd.access import Tls, read_rules
from tests.rmd.answers import StartError
from tests.rmd.machine import DAEMON_DEFAULTS, Pools
from tests.rmd.reading import read_toml

_ETC = Path("/etc/rmd")
_AUTHORIZATION = ("signature", "role", "username")


@dataclass(frozen=True)
class Config:
    """What the daemon goes by. text: what it says about its file, "" if it was read."""

    address: str
    port: int
    debug: bool
    force: bool
    tls: Tls
    policy: Path
    resctrl: Path
    database: Path
    plugins: tuple[str, ...]
    mba_mode: str
    validator_interval: float
    pools: Pools
    text: str = ""


def flags() -> argparse.ArgumentParser:
    """The daemon's own flags; None where one was not given, then the file's value holds."""
    parser = argparse.ArgumentParser(prog="rmd", allow_abbrev=False)
    parser.add_argument("--address")
    parser.add_argument("--tlsport", type=int)
    parser.add_argument("--debugport", type=int)
    parser.add_argument("-d", "--debug", action="store_const", const=True)
    parser.add_argument("--clientauth")
    parser.add_argument("--unixsock")
    parser.add_argument("--conf-dir", type=Path)
    parser.add_argument("--force-config", action="store_true")
    parser.add_argument("--version", action="store_true")
    return parser


def read_config(
    given: argparse.Namespace, accounts: Mapping[str, str], *, nested: bool = True
) -> Config:
    """The configuration by flags and file; StartError for what keeps the daemon from starting.

    accounts: what PAM would know. nested: 0.3, which names its plugins in [default], while 0.2 has
    [pstate] enabled.
    """
    file, text = _find([given.conf_dir] if given.conf_dir else [])
    default, debug, acl = (_table(file, name) for name in ("default", "debug", "acl"))
    database = _table(file, "database")
    if (given.unixsock if given.unixsock is not None else default.get("unixsock", "")) != "":
        raise StartError("Sorry, do not support Unix listener at present!")
    _check_database(database)
    in_debug = bool(given.debug if given.debug is not None else debug.get("enabled", False))
    port = (
        given.debugport or debug.get("debugport", 8081)
        if in_debug
        else given.tlsport or default.get("tlsport", 8443)
    )
    return Config(
        address=given.address or default.get("address", "localhost"),
        port=int(port),
        debug=in_debug,
        force=given.force_config,
        tls=_tls(default, acl, given.clientauth, accounts, in_debug),
        policy=Path(default.get("policypath", _ETC / "policy.toml")),
        resctrl=Path(default.get("sysresctrl", "/sys/fs/resctrl")),
        database=Path(database.get("transport", "/var/run/rmd/rmd.db")),
        plugins=_plugins(file, default) if nested else _pstate(file),
        mba_mode=str(_table(file, "rdt").get("mbamode", "percentage")),
        validator_interval=float(default.get("dbvalidatorinterval", 30)),
        pools=read_pools(file),
        text=text,
    )


def read_pools(file: Mapping[str, Any]) -> Pools:
    """The pools; what the file does not say is the daemon's default, which fits no cache with less
    than 20 ways."""
    system, infra, pool = (_table(file, name) for name in ("osgroup", "infragroup", "cachepool"))
    defaults = DAEMON_DEFAULTS
    return Pools(
        os=int(system.get("cacheways", defaults.os)),
        os_cpus=str(system.get("cpuset", defaults.os_cpus)),
        infra=int(infra.get("cacheways", 0)),
        infra_cpus=str(infra.get("cpuset", "")),
        guarantee=int(pool.get("guarantee", defaults.guarantee)),
        besteffort=int(pool.get("besteffort", defaults.besteffort)),
        shared=int(pool.get("shared", defaults.shared)),
        max_allowed_shared=int(pool.get("max_allowed_shared", defaults.max_allowed_shared)),
        shrink=bool(pool.get("shrink", defaults.shrink)),
    )


def _find(folders: Sequence[Path]) -> tuple[dict[str, Any], str]:
    for folder in (*folders, _ETC):
        if (folder / "rmd.toml").is_file():
            try:
                return read_toml(folder / "rmd.toml"), ""
            except ValueError as error:
                return {}, f"Error while reading config file: {error}"
    return {}, 'Error while reading config file: Config File "rmd" Not Found'


def _table(file: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = file.get(name, {})
    return found if isinstance(found, dict) else {}


def _check_database(database: Mapping[str, Any]) -> None:
    backend = database.get("backend", "bolt")
    if backend == "mgo":
        reason = "Mongo DB is not currently supported in RMD: Select bolt backend db"
        raise StartError(f"Check db error. Reason: {reason}")
    if backend != "bolt":
        raise StartError(f"Check db error. Reason: Unsupported DB backend {backend}")


def _tls(
    default: Mapping[str, Any],
    acl: Mapping[str, Any],
    clientauth: str | None,
    accounts: Mapping[str, str],
    debug: bool,
) -> Tls:
    """TLS and the access list; the list's files must be there even where nobody asks them."""
    lists = Path(acl.get("path", "/etc/rmd/acl/")) / "url"
    if not (lists / "model.conf").is_file():
        missing = f"open {lists / 'model.conf'}: no such file or directory"
        raise StartError(f"Error to generate an Enforcer! Reason: init Enforcer error: {missing}")
    rules, roles = read_rules(lists / "policy.csv")
    places = {key: Path(acl[key]) if acl.get(key) else None for key in ("admincert", "usercert")}
    for place in places.values():
        if place is not None and not place.is_dir() and not debug:
            raise StartError("no such file or directory")
    authorization = str(acl.get("authorization", "signature")).lower()
    return Tls(
        certificates=Path(default.get("certpath", "/etc/rmd/cert/server")),
        clients=Path(default.get("clientcapath", "/etc/rmd/cert/client")),
        clientauth=clientauth or default.get("clientauth", "challenge"),
        authorization=authorization if authorization in _AUTHORIZATION else "signature",
        admin=places["admincert"],
        user=places["usercert"],
        accounts=dict(accounts),
        rules=rules,
        roles=roles,
    )


def _plugins(file: Mapping[str, Any], default: Mapping[str, Any]) -> tuple[str, ...]:
    names = [name.strip() for name in str(default.get("plugins", "")).split(",")]
    wanted = tuple(name for name in names if name and name != "cache")
    for name in wanted:
        if not isinstance(_table(file, name.lower()).get("path"), str):
            raise StartError("RMD initialization error. Check logs for details")
    return wanted


def _pstate(file: Mapping[str, Any]) -> tuple[str, ...]:
    table = _table(file, "pstate")
    if table and not {"enabled", "path"} <= table.keys():
        raise StartError("Configuration for 'pstate' is not complete - exiting")
    return ("pstate",) if table.get("enabled") else ()
