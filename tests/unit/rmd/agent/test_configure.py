# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""rmd.toml as it is made on a node, for caches of several sizes, and every reason why it is not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import configure
import pools
import pytest
from resctrl import Geometry

from tests.unit.rmd.agent import trees
from tests.unit.rmd.agent.conftest import PROGRAM

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    tomllib = None  # type: ignore[assignment]

WANTED = {"os": 1, "guaranteed": 0, "besteffort": 2, "shared": 1, "infra": 0}
SETTINGS: dict[str, Any] = {
    "version": "0.3",
    "debug": False,
    "resctrl": "/sys/fs/resctrl",
    "os_cpus": "0",
    "infra_cpus": "",
    "pools": WANTED,
    "pools_by_ways": {},
    "max_allowed_shared": 10,
    "shrink": False,
    "mba_mode": "percentage",
    "plugins": {},
    "policy": "",
    "microarchitecture": "",
    "database": "/var/lib/rmd/rmd.db",
    "log_level": "info",
}
KEY, CERTIFICATE = (
    "-----BEGIN PRIVATE KEY-----\nK\n-----END PRIVATE KEY-----",
    "-----BEGIN CERTIFICATE-----\nC",
)


def geometry(ways: int = 11, min_bits: int = 1, l3: int = 16, mb: int = 8) -> Geometry:
    return Geometry(ways, f"{(1 << ways) - 1:x}", min_bits, {"L3": l3, "MB": mb})


def node(root: Path, **settings: Any) -> list[str]:
    """What a pod has: settings, everybody's certificates, trust, resctrl of an 11-way cache."""
    trees.resctrl_tree(root / "resctrl")
    trees.write(
        root,
        {
            "settings.json": json.dumps({**SETTINGS, **settings}),
            "certificates/n1": f"{KEY}\n{CERTIFICATE} of n1",
            "certificates/n2": f"{KEY}\n{CERTIFICATE} of n2",
            "trust/ca.crt": "the authority",
            "trust/client.crt": "the client",
            "mounts": "1 2 0:1 / / rw - overlay overlay rw",
            "cpuinfo": "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 106\n\nprocessor\t: 1\n",
        },
    )
    options = {
        "settings": "settings.json",
        "certificates": "certificates",
        "trust": "trust",
        "out": "out",
    }
    options |= {"resctrl": "resctrl", "mounts": "mounts", "cpuinfo": "cpuinfo"}
    return [
        "--node",
        "n1",
        *(word for name, path in options.items() for word in (f"--{name}", str(root / path))),
    ]


def read(root: Path) -> dict[str, Any]:
    if tomllib is None:
        pytest.skip("this Python reads no TOML")
    return tomllib.loads((root / "out" / "rmd.toml").read_text())


@pytest.mark.parametrize(("ways", "guaranteed"), [(11, 7), (12, 8), (15, 11), (20, 16)])
def test_the_guaranteed_pool_gets_what_is_left(ways: int, guaranteed: int) -> None:
    assert pools.layout(WANTED, {}, geometry(ways)) == pools.Pools(1, guaranteed, 2, 1, 0)


def test_a_cache_may_have_pools_of_its_own() -> None:
    by_ways = {"20": {"guaranteed": 10, "besteffort": 6, "infra": 3}}
    assert pools.layout(WANTED, by_ways, geometry(20)) == pools.Pools(1, 10, 6, 1, 3)
    assert pools.layout(WANTED, by_ways, geometry(11)) == pools.Pools(1, 7, 2, 1, 0)


@pytest.mark.parametrize(
    ("wanted", "by_ways", "found", "says"),
    [
        # RMD's own defaults, with which it starts on such a cache, and refuses every workload.
        (
            {"os": 1, "guaranteed": 10, "besteffort": 7, "shared": 2},
            {},
            geometry(),
            "hold 20 ways, but .* has 11",
        ),
        (
            {"os": 9, "besteffort": 2, "shared": 1},
            {},
            geometry(),
            "hold 12 ways, but .* has 11.*pools_by_ways",
        ),
        ({"os": 0}, {}, geometry(), "os pool has 0 ways and needs 1"),
        ({"os": 1}, {}, geometry(min_bits=2), "os pool has 1 ways and needs 2"),
        ({"os": 2, "guaranteed": 1}, {}, geometry(min_bits=2), "guaranteed pool has 1 ways"),
        ({"infra": 12}, {}, geometry(), "infra pool has 12 ways"),
        ({"shared": -1}, {}, geometry(), "shared pool has -1 ways"),
        ({}, {"11": {"shared": "2"}}, geometry(), "shared pool has '2' ways"),
        ({}, {"11": {"gold": 2}}, geometry(), "no pool 'gold'.*name one of os, guaranteed"),
    ],
)
def test_pools_that_do_not_fit(wanted: Any, by_ways: Any, found: Geometry, says: str) -> None:
    with pytest.raises(pools.RefusedError, match=says):
        pools.layout({**WANTED, **wanted}, by_ways, found)


@pytest.mark.parametrize(
    ("found", "version", "mode", "mbps", "says"),
    [
        (geometry(ways=0, l3=0), "0.3", "none", None, "no L3 cache here"),
        (geometry(mb=0), "0.3", "none", None, "no memory bandwidth here.*RMD v0.3"),
        (
            geometry(l3=8, mb=8),
            "0.3",
            "none",
            None,
            "has 8 classes of service for memory bandwidth",
        ),
        (geometry(l3=2), "0.3", "none", None, "has 2 classes"),
        (geometry(mb=2), "0.3", "none", None, "has 2 classes"),
        (geometry(), "0.3", "percentage", True, "is mounted with mba_MBps"),
        (geometry(), "0.3", "mbps", False, "is mounted without mba_MBps"),
    ],
)
def test_kernels_that_do_not_fit(
    found: Geometry, version: str, mode: str, mbps: bool | None, says: str
) -> None:
    with pytest.raises(pools.RefusedError, match=says):
        pools.check(found, version, mode, mbps)


@pytest.mark.parametrize(
    ("found", "version", "mode", "mbps"),
    [
        (geometry(), "0.3", "percentage", None),
        (geometry(), "0.3", "percentage", False),
        (geometry(), "0.3", "mbps", True),
        (geometry(mb=0), "0.2", "percentage", False),
        (geometry(l3=4, mb=3), "0.3", "none", True),
        (geometry(l3=3, mb=3), "0.2", "none", True),
    ],
)
def test_kernels_that_fit(found: Geometry, version: str, mode: str, mbps: bool | None) -> None:
    pools.check(found, version, mode, mbps)


@pytest.mark.parametrize(
    ("mount", "mbps"),
    [
        ("5 4 0:3 / /sys/fs/resctrl rw,nosuid shared:9 - resctrl resctrl rw,mba_MBps", True),
        ("5 4 0:3 / /sys/fs/resctrl rw,nosuid - resctrl resctrl rw", False),
        ("5 4 0:3 / /sys/fs/resctrl rw - ext4 /dev/sda rw,mba_MBps", None),
        ("5 4 0:3 / /elsewhere rw - resctrl resctrl rw,mba_MBps", None),
        ("", None),
    ],
)
def test_how_resctrl_is_mounted(mount: str, mbps: bool | None) -> None:
    assert (
        configure.mounted_in_mbps(
            f"1 0 0:1 / / rw - overlay overlay rw\n{mount}", "/sys/fs/resctrl"
        )
        is mbps
    )


def test_the_configuration_of_an_11_way_cache(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert configure.main(node(tmp_path)) == 0, capsys.readouterr().out
    out = tmp_path / "out"
    found = read(tmp_path)
    assert found["CachePool"] == {
        "guarantee": 7,
        "besteffort": 2,
        "shared": 1,
        "max_allowed_shared": 10,
        "shrink": False,
    }
    assert found["OSGroup"] == {"cacheways": 1, "cpuset": "0"}
    assert "InfraGroup" not in found
    assert (found["default"]["clientauth"], found["debug"]["enabled"]) == ("challenge", False)
    assert found["acl"]["authorization"] == "signature"
    assert found["database"]["transport"] == "/var/lib/rmd/rmd.db"
    for directory in (
        found["acl"]["admincert"],
        found["acl"]["usercert"],
        found["default"]["certpath"],
    ):
        assert Path(directory).is_dir()
    assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == {
        "acl/admin/client.pem",
        "acl/url/model.conf",
        "acl/url/policy.csv",
        "client/ca.pem",
        "rmd.log",
        "rmd.toml",
        "server/ca.pem",
        "server/rmd-cert.pem",
        "server/rmd-key.pem",
    }


def test_a_node_takes_its_own_certificate_only(tmp_path: Path) -> None:
    configure.main(node(tmp_path))
    texts = {
        path.name: path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    assert texts["rmd-key.pem"].strip() == KEY
    assert texts["rmd-cert.pem"].strip() == f"{CERTIFICATE} of n1"
    assert [name for name, text in texts.items() if "of n2" in text] == []


def test_one_certificate_for_all_nodes(tmp_path: Path) -> None:
    words = node(tmp_path)
    trees.write(
        tmp_path / "certificates", {"tls.key": "common key", "tls.crt": "common certificate"}
    )
    assert configure.main(words) == 0
    assert (tmp_path / "out/server/rmd-cert.pem").read_text() == "common certificate\n"


def test_it_can_be_made_again_over_itself(tmp_path: Path) -> None:
    words = node(tmp_path)
    assert [configure.main(words), configure.main(words)] == [0, 0]


def test_debug_needs_no_certificates(tmp_path: Path) -> None:
    words = node(tmp_path, debug=True)
    (tmp_path / "certificates" / "n1").unlink()
    assert configure.main(words) == 0
    assert read(tmp_path)["debug"] == {"enabled": True, "debugport": 8081}
    assert not (tmp_path / "out" / "server").exists()


def test_everything_that_is_optional(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "plugins": {"pstate": {"path": "/usr/lib/rmd/pstate.so", "turbo": True}},
        "policy": "[skylake]\n",
        "microarchitecture": "skylake",
        "pools": {**WANTED, "infra": 2},
        "infra_cpus": "2-3",
    }
    assert configure.main(node(tmp_path, **settings)) == 0
    found = read(tmp_path)
    assert found["default"]["plugins"] == "pstate"
    assert found["pstate"] == {"path": "/usr/lib/rmd/pstate.so", "turbo": True}
    assert found["InfraGroup"] == {"cacheways": 2, "cpuset": "2-3", "tasks": []}
    assert Path(found["default"]["policypath"]).read_text() == "[skylake]\n"
    assert (tmp_path / "out/cpu_map.toml").read_text() == "[[skylake]]\nfamily = 6\nmodel = 106\n"


def test_the_plugin_of_the_older_rmd(tmp_path: Path) -> None:
    assert (
        configure.main(
            node(tmp_path, version="0.2", plugins={"pstate": {"path": "/usr/lib/pstate.so"}})
        )
        == 0
    )
    assert read(tmp_path)["pstate"] == {"enabled": True, "path": "/usr/lib/pstate.so"}


@pytest.mark.parametrize(
    ("settings", "gone", "says"),
    [
        (
            {},
            "resctrl/schemata",
            "resctrl is not mounted at .*/resctrl; mount it .mount -t resctrl",
        ),
        (
            {},
            "certificates/n1",
            "node n1 has no certificate yet; run hardware.enablement.rmd again",
        ),
        ({}, "trust/ca.crt", "ca.crt"),
        ({"os_cpus": "zero"}, "", "os_cpus is 'zero', which is no list of CPUs"),
        ({"microarchitecture": "skylake"}, "cpuinfo", "cpuinfo"),
        ({"pools": {**WANTED, "os": 9}}, "", "hold 12 ways"),
    ],
)
def test_a_refusal_is_one_line_in_the_log(
    tmp_path: Path, settings: dict[str, Any], gone: str, says: str
) -> None:
    words = node(tmp_path, **settings)
    if gone:
        (tmp_path / gone).unlink()
    program = [sys.executable, "-B", str(PROGRAM / "configure.py"), *words]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("RMD is not started on n1: ")
    assert len(done.stdout.splitlines()) == 1
    (line,) = done.stdout.splitlines()
    assert re.search(says, line)
    assert not (tmp_path / "out" / "rmd.toml").exists()
