# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes RMD's configuration on the node: rmd.toml for this node's cache, and this node's own
certificate.

It ends with one line and exit code 1 where RMD would not work here."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import resctrl
from cpusets import line
from pools import Pools, RefusedError, check, check_cpus, layout

Settings = Mapping[str, object]

# RMD's API process gives up being root, for a user whose number only its image knows. Nobody else
# sees these files: they are in the memory of this pod.
_READABLE = 0o444
_PORT_TLS, _PORT_DEBUG = 8443, 8081
# What RMD has names for (utils/cpu/microarch.go): Broadwell, Skylake to Cascade Lake; not Ice Lake and later.
_KNOWN = {(6, model) for model in (61, 79, 78, 85, 94, 142, 158)}


def configuration(settings: Settings, pools: Pools, folder: Path) -> dict[str, dict[str, object]]:
    """The tables of rmd.toml. folder: where the other files are."""
    plugins = _tables(settings.get("plugins"))
    tables: dict[str, dict[str, object]] = {
        "default": {
            "address": "0.0.0.0",  # noqa: S104 - a pod's own network
            "tlsport": _PORT_TLS,
            "certpath": str(folder / "server"),
            "clientcapath": str(folder / "client"),
            "clientauth": "challenge",
            "sysresctrl": str(settings["resctrl"]),
            "plugins": ",".join(plugins),
        },
        "debug": {"enabled": bool(settings["debug"]), "debugport": _PORT_DEBUG},
        "log": {
            "path": str(folder / "rmd.log"),
            "env": "production",
            "level": settings["log_level"],
            "stdout": True,
        },
        "database": {"backend": "bolt", "transport": str(settings["database"]), "dbname": "rmd"},
        "OSGroup": {"cacheways": pools.os, "cpuset": settings["os_cpus"]},
        "CachePool": {
            "guarantee": pools.guaranteed,
            "besteffort": pools.besteffort,
            "shared": pools.shared,
            "max_allowed_shared": settings["max_allowed_shared"],
            "shrink": bool(settings["shrink"]),
        },
        # Certificates, not names: the one that is here may do everything, every other one nothing.
        "acl": {
            "path": str(folder / "acl"),
            "filter": "url",
            "authorization": "signature",
            "admincert": str(folder / "acl" / "admin"),
            "usercert": str(folder / "acl" / "user"),
        },
        "rdt": {"mbaMode": settings["mba_mode"]},
    }
    if pools.infra:
        tables["InfraGroup"] = {
            "cacheways": pools.infra,
            "cpuset": settings["infra_cpus"],
            "tasks": [],
        }
    if settings["policy"]:
        tables["default"]["policypath"] = str(folder / "policy.toml")
    # v0.2 has one plugin, which is turned on in its own table.
    older = {"enabled": True} if settings["version"] == "0.2" else {}
    return {**tables, **{name: {**older, **table} for name, table in plugins.items()}}


# Who may call what, where RMD tells users apart; the only user there is, an admin by certificate,
# is not asked.
_ACL = {
    "acl/url/model.conf": """[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.sub, p.sub) && keyMatch(r.obj, p.obj) && regexMatch(r.act, p.act)
""",
    "acl/url/policy.csv": "p, user, /*, GET\n",
}


def decide(settings: Settings, arguments: argparse.Namespace) -> tuple[Pools, dict[str, str]]:
    """Check the node; the pools, and all files by their paths below the folder. Raises RefusedError,
    OSError and ValueError."""
    pools = _pools(settings, arguments)
    files = dict(_ACL)
    if not settings["debug"]:
        files |= _certificates(arguments)
    if settings["policy"]:
        files["policy.toml"] = str(settings["policy"])
    if settings["microarchitecture"]:
        files["cpu_map.toml"] = _cpu_map(str(settings["microarchitecture"]), arguments.cpuinfo)
    files["rmd.log"] = ""
    files["rmd.toml"] = toml(configuration(settings, pools, arguments.out))
    return pools, files


def write(files: Mapping[str, str], out: Path) -> None:
    """Write all files. Raises OSError."""
    for folder in ("acl/admin", "acl/user"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(_READABLE)


def _pools(settings: Settings, arguments: argparse.Namespace) -> Pools:
    try:
        found = resctrl.geometry(arguments.resctrl)
    except resctrl.NotMountedError as error:
        todo = f"mount it (mount -t resctrl resctrl {arguments.resctrl}), now and at every boot"
        raise RefusedError(f"{error}; {todo}") from None
    mbps = mounted_in_mbps(line(arguments.mounts), str(arguments.resctrl))
    check(found, str(settings["version"]), str(settings["mba_mode"]), mbps)
    for name in ("os_cpus", "infra_cpus"):
        check_cpus(name, str(settings[name]))
    return layout(settings["pools"], settings["pools_by_ways"], found)  # type: ignore[arg-type]


def mounted_in_mbps(mounts: str, point: str) -> bool | None:
    """Whether resctrl takes memory bandwidth in MBps; None where it is no mount of its own. mounts:
    a mountinfo.

    Source: https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html (5: mount point; after "
    - ": type, source, options)."""
    for entry in mounts.splitlines():
        mount, _dash, file_system = entry.partition(" - ")
        kind, _source, options = (file_system.split() + ["", "", ""])[:3]
        if mount.split()[4:5] == [point] and kind == "resctrl":
            return "mba_MBps" in options.split(",")
    return None


def _certificates(arguments: argparse.Namespace) -> dict[str, str]:
    """What goes where RMD looks for it. The certificates of all nodes are at hand; only this node's
    is taken."""
    own = arguments.certificates / arguments.node
    if (arguments.certificates / "tls.key").exists():
        key, certificate = (line(arguments.certificates / name) for name in ("tls.key", "tls.crt"))
    elif own.exists():
        key, _end, certificate = line(own).partition("-----BEGIN CERTIFICATE-----")
        certificate = _end + certificate
    else:
        raise RefusedError(
            f"node {arguments.node} has no certificate yet; run hardware.enablement.rmd again"
        )
    authority, client = (line(arguments.trust / name) for name in ("ca.crt", "client.crt"))
    files = {
        "server/ca.pem": authority,
        "server/rmd-cert.pem": certificate,
        "server/rmd-key.pem": key,
        "client/ca.pem": authority,
        "acl/admin/client.pem": client,
    }
    return {name: f"{text.strip()}\n" for name, text in files.items()}


def _cpu_map(name: str, cpuinfo: Path) -> str:
    """This node's processor under a name for which RMD has policies: it does not start on one that
    it does not know."""
    family, model = processor(cpuinfo)
    if not model:
        raise RefusedError(f"{cpuinfo} names no family and model, which microarchitecture needs")
    return f"[[{name}]]\nfamily = {family}\nmodel = {model}\n"


def processor(cpuinfo: Path) -> tuple[int, int]:
    """Family and model; (0, 0) where the kernel names none."""
    fields: dict[str, str] = {}
    try:
        for entry in line(cpuinfo).split("\n\n")[0].splitlines():
            key, _colon, value = entry.partition(":")
            fields[key.strip()] = value.strip()
        return int(fields["cpu family"]), int(fields["model"])
    except (OSError, KeyError, ValueError):
        return 0, 0


def toml(tables: Mapping[str, Mapping[str, object]]) -> str:
    """The text of a TOML file; values are text, numbers, booleans and lists of them, written as
    JSON writes them."""
    blocks = [
        "\n".join([f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())])
        for name, table in tables.items()
    ]
    return "\n\n".join(blocks) + "\n"


def _tables(value: object) -> dict[str, dict[str, object]]:
    return (
        {str(name): dict(table) for name, table in value.items()}
        if isinstance(value, Mapping)
        else {}
    )


def main(argv: list[str]) -> int:
    """Write the files, or say why not."""
    arguments = _parser().parse_args(argv)
    try:
        settings = json.loads(arguments.settings.read_text(encoding="utf-8"))
        pools, files = decide(settings, arguments)
        write(files, arguments.out)
    except (RefusedError, OSError, ValueError) as error:
        sys.stdout.write(f"RMD is not started on {arguments.node}: {error}\n")
        return 1
    sys.stdout.write(f"RMD is configured for {arguments.node}: {pools}\n")
    if not settings["microarchitecture"] and processor(arguments.cpuinfo) not in _KNOWN:
        family, model = processor(arguments.cpuinfo)
        sys.stdout.write(
            f"RMD itself does not know this processor (family {family}, model {model}); if it ends with an unknown"
            " platform, set the option microarchitecture\n"
        )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Write RMD's configuration for this node.")
    parser.add_argument("--node", default=os.environ.get("NODE_NAME", ""))
    parser.add_argument("--settings", type=Path, default=Path("/settings/settings.json"))
    parser.add_argument(
        "--certificates",
        type=Path,
        default=Path("/certificates"),
        help="of all nodes, or of all alike",
    )
    parser.add_argument("--trust", type=Path, default=Path("/trust"), help="ca.crt and client.crt")
    parser.add_argument("--out", type=Path, default=Path("/etc/rmd-node"))
    parser.add_argument("--resctrl", type=Path, default=Path("/sys/fs/resctrl"))
    parser.add_argument("--mounts", type=Path, default=Path("/proc/self/mountinfo"))
    parser.add_argument("--cpuinfo", type=Path, default=Path("/proc/cpuinfo"))
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
