# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The DCGM exporter: /health, and /metrics with those series of its list that these GPUs have.

STAND_IN_LACKS names a series that they have not, as GPUs lack some in virtual machines.
"""

from __future__ import annotations

import http.server
import math
import os
import signal
import sys
import time
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from tests.cluster.images.gpu import gpus
from tests.cluster.images.gpu.gpus import Gpus
from tests.cluster.images.gpu.kernel_module import open_devices

_WATTS_IDLE, _USED_MIB = 27.0, 3.0


def main() -> int:
    """Serve for ever."""
    try:
        gpus.read(gpus.LIBRARY)
    except OSError:
        print(
            f"{gpus.LIBRARY.name} not found: no driver, or not started by the nvidia runtime",
            file=sys.stderr,
        )
        return 1
    open_devices()
    wanted = listed(Path(os.environ["DCGM_EXPORTER_COLLECTORS"]).read_text())
    wanted.pop(os.environ.get("STAND_IN_LACKS", ""), None)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer."""
            if self.path not in ("/health", "/metrics"):
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            text = "OK\n" if self.path == "/health" else exposition(gpus.read(gpus.LIBRARY), wanted)
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_arguments: object) -> None:
            """Probes are not worth a line."""

    # A container's first process gets no signal that it does not expect.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    port = int(os.environ["DCGM_EXPORTER_LISTEN"].rpartition(":")[2])
    print(f"Starting webserver on :{port}", flush=True)
    http.server.ThreadingHTTPServer(("", port), Handler).serve_forever()
    return 0


def listed(text: str) -> dict[str, tuple[str, str]]:
    """Series -> (type, help) of the list "FIELD, type, help"."""
    lines = [
        line.split(",", 2)
        for line in text.splitlines()
        if line.strip() and not line.startswith("#")
    ]
    return {name.strip(): (kind.strip(), about.strip()) for name, kind, about in lines}


def exposition(found: Gpus, wanted: Mapping[str, tuple[str, str]]) -> str:
    """The series that are wanted and known, in Prometheus' text format."""
    lines: list[str] = []
    for name, (kind, about) in wanted.items():
        values = [value(found, name, number) for number in range(found.count)]
        if kind == "label" or None in values:
            continue
        lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
        for number, measured in enumerate(values):
            known = {"gpu": str(number), "UUID": found.uuid(number), "device": f"nvidia{number}"}
            known |= {"modelName": found.product, "Hostname": os.environ.get("NODE_NAME", "")}
            marks = ",".join(f'{key}="{text}"' for key, text in known.items())
            lines.append(f"{name}{{{marks}}} {measured:g}")
    return "\n".join(lines) + "\n"


def value(found: Gpus, name: str, number: int) -> float | None:
    """What a GPU measures now; None for what these GPUs do not measure."""
    swing = math.sin(time.time() / 60 + number)
    return {
        "DCGM_FI_DEV_GPU_TEMP": float(round(found.temperature + 2 * swing)),
        "DCGM_FI_DEV_POWER_USAGE": round(_WATTS_IDLE + 3 * swing, 3),
        "DCGM_FI_DEV_GPU_UTIL": 0.0,
        "DCGM_FI_DEV_FB_USED": _USED_MIB,
        "DCGM_FI_DEV_FB_FREE": found.memory - _USED_MIB,
        "DCGM_FI_DEV_XID_ERRORS": 0.0,
    }.get(name)
