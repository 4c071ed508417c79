# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`gpu-feature-discovery`: writes labels about the GPUs into the file that NFD's source "local"
reads."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from pathlib import Path

from tests.cluster.images.gpu import gpus
from tests.cluster.images.gpu.gpus import Gpus


def main() -> int:
    """Write again and again; the labels go when this ends."""
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    target = Path(os.environ["GFD_OUTPUT_FILE"])
    interval = float(os.environ["GFD_SLEEP_INTERVAL"].removesuffix("s"))
    while True:
        try:
            text = labels(gpus.read(gpus.LIBRARY))
        except OSError:
            print(
                f"{gpus.LIBRARY.name} not found: no driver, or not started by the nvidia runtime",
                file=sys.stderr,
            )
            return 1
        # NFD reads no file whose name begins with a dot.
        partial = target.with_name(f".{target.name}")
        partial.write_text(text)
        partial.rename(target)
        print(f"wrote {target}", flush=True)
        if told.wait(interval):
            target.unlink()
            return 0


def labels(found: Gpus) -> str:
    """One "name=value" for each line."""
    product = re.sub(r"[^A-Za-z0-9_.-]", "-", found.product)
    values = {"count": found.count, "memory": found.memory, "product": product}
    return "".join(f"nvidia.com/gpu.{name}={value}\n" for name, value in values.items())
