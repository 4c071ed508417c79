# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node with two NUMA nodes, the three parts that schedule by them, and a pod that fits into neither
NUMA node although the node has enough."""

from __future__ import annotations

from docs.pictures.svg import BLUE, GREEN, GREY, RED, WHITE, YELLOW, Box, Drawing

WIDTH, HEIGHT = 900, 430
NODE = Box(24, 60, 470, 340)
ZONES = (Box(44, 100, 205, 130), Box(269, 100, 205, 130))
KUBELET, EXPORTER = Box(44, 262, 205, 118), Box(269, 262, 205, 118)
TOPOLOGY, SCHEDULER, POD = (
    Box(590, 262, 286, 118),
    Box(590, 150, 286, 72),
    Box(590, 60, 286, 52),
)


def draw() -> Drawing:
    """The node on the left, what the cluster has on the right."""
    picture = Drawing(WIDTH, HEIGHT, "A node with two NUMA nodes, and who knows of them")
    picture.text(NODE.middle, 40, "a node", 14, bold=True, colour=GREY)
    picture.text(TOPOLOGY.middle, 40, "the cluster", 14, bold=True, colour=GREY)
    picture.box(NODE, WHITE)
    for number, zone in enumerate(ZONES):
        lines = ("16 CPUs, 12 in use: 4 free", "64 GiB, 40 in use", "2 NICs, 1 in use")
        picture.labelled(zone, f"NUMA node {number}", lines, GREEN)
    picture.text(
        NODE.middle, 250, "8 CPUs are free in all, 4 at most side by side", 13, colour=GREY
    )
    picture.labelled(
        KUBELET,
        "kubelet",
        ("gives away CPUs, memory", "and devices of one NUMA", "node, or refuses"),
        BLUE,
    )
    picture.labelled(
        EXPORTER, "exporter", ("asks what pods have", "(pod-resources socket)"), YELLOW
    )
    picture.arrow([(EXPORTER.x, EXPORTER.centre), (KUBELET.right + 1, KUBELET.centre)], dashed=True)
    picture.labelled(
        TOPOLOGY,
        "NodeResourceTopology",
        (
            "node-0: cpu 4, memory 24Gi, nic 1",
            "node-1: cpu 4, memory 24Gi, nic 1",
            "policy, scope, fingerprint",
        ),
        YELLOW,
    )
    picture.arrow([(EXPORTER.right, EXPORTER.centre), (TOPOLOGY.x - 1, TOPOLOGY.centre)])
    picture.labelled(
        SCHEDULER, "topo-aware-scheduler", ("no NUMA node has 6: cannot align pod",), RED
    )
    picture.arrow([(TOPOLOGY.middle, TOPOLOGY.y), (SCHEDULER.middle, SCHEDULER.bottom + 1)])
    picture.labelled(POD, "pod: 6 CPUs, Guaranteed", ("schedulerName: topo-aware-scheduler",), BLUE)
    picture.arrow([(POD.middle, POD.bottom), (SCHEDULER.middle, SCHEDULER.y - 1)])
    return picture
