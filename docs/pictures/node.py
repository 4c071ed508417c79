# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of one node, from joining the cluster to users' pods: who does what, and what the node
then carries."""

from __future__ import annotations

from docs.pictures.svg import BLUE, GREEN, GREY, YELLOW, Box, Drawing

RUN, CLUSTER = 0, 1
LANES = ("the run (Ansible)", "the cluster", "what is new on the node")
FILLS = (BLUE, GREEN, YELLOW)
# Who acts, what happens in one or two more lines, and what the node carries afterwards. Gates
# without their prefix.
STEPS = (
    (
        CLUSTER,
        "NFD labels the new node",
        ("PCI devices, kernel, OS version",),
        ("…/pci-0302_10de.present=true",),
    ),
    (RUN, "applies all states at once", ("all but the driver's pods wait for gates",), ()),
    (CLUSTER, "driver pod of its kernel", ("starts and becomes ready",), ()),
    (RUN, "driver is proven", ("proof: rollout",), ("nvidia-gpu.driver=ready",)),
    (CLUSTER, "runtime hook's pod", ("starts and becomes ready",), ()),
    (
        RUN,
        "test pod without a device",
        ("proof of driver and hook",),
        ("nvidia-gpu.runtime_hook=ready", "nvidia-gpu.driver_validation=ready"),
    ),
    (
        CLUSTER,
        "device plugin's pod",
        ("starts, the kubelet offers devices",),
        ("allocatable nvidia.com/gpu: 8",),
    ),
    (
        RUN,
        "test pod with one device",
        ("proof that what is offered works",),
        ("nvidia-gpu.device_plugin=ready", "nvidia-gpu.device_plugin_validation=ready"),
    ),
    (
        CLUSTER,
        "exporter, feature discovery",
        ("start side by side",),
        ("nvidia.com/gpu.product=…",),
    ),
    (
        RUN,
        "everything is proven",
        ("the record SpecialResource says so",),
        ("hardware-enablement.io/nvidia-gpu=ready",),
    ),
    (CLUSTER, "users' pods", ("select the summary label",), ()),
)
LEFT, TOP, ROW, HEIGHT = 24, 60, 76, 52
WIDTHS = (262, 240, 300)
GAP = 34


def draw() -> Drawing:
    """Three lanes; time goes down."""
    width = LEFT * 2 + sum(WIDTHS) + 2 * GAP
    picture = Drawing(width, TOP + ROW * len(STEPS), "The life of one node")
    lefts = [LEFT + sum(WIDTHS[:lane]) + lane * GAP for lane in range(3)]
    for lane, words in enumerate(LANES):
        picture.text(lefts[lane] + WIDTHS[lane] / 2, 30, words, 14, bold=True, colour=GREY)
    picture.line(LEFT, 44, width - LEFT, 44)
    before: Box | None = None
    for number, (lane, name, lines, carries) in enumerate(STEPS):
        y = TOP + number * ROW
        box = Box(lefts[lane], y, WIDTHS[lane], HEIGHT)
        if before is not None:
            _next(picture, before, box)
        picture.labelled(box, name, lines, FILLS[lane])
        if carries:
            mark = Box(lefts[2], y, WIDTHS[2], HEIGHT)
            picture.arrow([(box.right, box.centre), (mark.x - 1, box.centre)], dashed=True)
            picture.box(mark, FILLS[2])
            for index, label in enumerate(carries):
                picture.text(
                    mark.middle, mark.centre + 5 + 18 * (index - (len(carries) - 1) / 2), label, 13
                )
        before = box
    return picture


def _next(picture: Drawing, above: Box, below: Box) -> None:
    if above.x == below.x:
        picture.arrow([(above.middle, above.bottom), (below.middle, below.y - 1)])
        return
    # Away from the inner edge, so that the dashed arrows to the third lane stay free.
    start, end = above.middle, below.middle
    bend = (above.bottom + below.y) / 2
    picture.arrow([(start, above.bottom), (start, bend), (end, bend), (end, below.y - 1)])
