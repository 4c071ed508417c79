# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel counts of groups, as a scraper gets it."""

from __future__ import annotations

import shutil
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from class_metrics import server

from tests.cluster.pki import Authority
from tests.unit.rmd.agent import trees

Scrape = Callable[[str], str]
GOLD = "hardware-enablement.gold"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree of two sockets, a class and a group of somebody else."""
    root = trees.resctrl_tree(tmp_path / "resctrl")
    counts = {"llc_occupancy": "1024", "mbm_total_bytes": "700", "mbm_local_bytes": "500"}
    files = {f"{GOLD}/mon_data/mon_L3_01/{name}": text for name, text in counts.items()}
    files |= {f"{GOLD}/schemata": "L3:0=7ff;1=780", f"{GOLD}/cpus_list": ""}
    return trees.write(root, files)


@pytest.fixture
def scrape(root: Path) -> Iterator[Scrape]:
    """GET a path; what is said."""
    served = server(root, "127.0.0.1", 0, None)
    thread = threading.Thread(target=served.serve_forever, name="metrics")
    thread.start()

    def get(path: str) -> str:
        address = f"http://127.0.0.1:{served.server_address[1]}{path}"
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            return str(answer.read().decode())

    yield get
    served.shutdown()
    thread.join()
    served.server_close()


def samples(text: str) -> set[str]:
    return {line for line in text.splitlines() if not line.startswith("#")}


def test_each_group_of_each_cache(scrape: Scrape) -> None:
    text = scrape("/metrics")
    assert samples(text) == {
        'resctrl_llc_occupancy_bytes{group=".",cache="0"} 0',
        f'resctrl_llc_occupancy_bytes{{group="{GOLD}",cache="1"}} 1024',
        f'resctrl_memory_bytes_total{{group="{GOLD}",cache="1"}} 700',
        f'resctrl_memory_local_bytes_total{{group="{GOLD}",cache="1"}} 500',
        'resctrl_llc_ways{group=".",cache="0"} 11',
        'resctrl_llc_ways{group=".",cache="1"} 11',
        'resctrl_llc_ways{group="COS2",cache="0"} 2',
        'resctrl_llc_ways{group="COS2",cache="1"} 11',
        f'resctrl_llc_ways{{group="{GOLD}",cache="0"}} 11',
        f'resctrl_llc_ways{{group="{GOLD}",cache="1"}} 4',
    }
    assert "# TYPE resctrl_memory_bytes_total counter\n" in text


@pytest.mark.parametrize("said", ["Unavailable", "Error", "Unassigned"])
def test_what_the_kernel_cannot_count_now_is_no_number(
    root: Path, scrape: Scrape, said: str
) -> None:
    trees.write(root, {f"{GOLD}/mon_data/mon_L3_01/llc_occupancy": said})
    text = scrape("/metrics")
    assert said not in text
    assert f'resctrl_memory_bytes_total{{group="{GOLD}",cache="1"}} 700' in text


def test_without_resctrl_a_scrape_fails(root: Path, scrape: Scrape) -> None:
    shutil.rmtree(root)
    with pytest.raises(urllib.error.HTTPError, match="503"):
        scrape("/metrics")


def test_nothing_else_is_served(scrape: Scrape) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        scrape("/")


def test_a_certificate_that_is_renewed_is_served_at_the_next_connection(tmp_path: Path) -> None:
    root = trees.resctrl_tree(tmp_path / "resctrl", closids=3)
    first, second = (Authority(tmp_path, name) for name in ("first", "second"))
    folder = tmp_path / "certificate"
    folder.mkdir()
    served = server(root, "127.0.0.1", 0, folder)
    thread = threading.Thread(target=served.serve_forever, name="metrics")
    thread.start()

    def get(trusted: Authority) -> int:
        context = ssl.create_default_context(cafile=str(trusted.certificate_file))
        address = f"https://127.0.0.1:{served.server_address[1]}/metrics"
        with urllib.request.urlopen(address, timeout=10, context=context) as answer:
            return int(answer.status)

    try:
        for authority, other in ((first, second), (second, first)):
            pair = authority.server("exporter", ["127.0.0.1"])
            (folder / "tls.crt").write_bytes(pair.certificate)
            (folder / "tls.key").write_bytes(pair.key)
            assert get(authority) == 200
            with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
                get(other)
    finally:
        served.shutdown()
        thread.join()
        served.server_close()
