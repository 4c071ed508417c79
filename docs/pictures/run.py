# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of enable_gpu: which task does what, in which file, what it asks of the API server, and
what the nodes see of it. A test compares the names of files and roles with what is there."""

from __future__ import annotations

from dataclasses import dataclass

from docs.pictures.svg import BLUE, GREEN, GREY, WHITE, YELLOW, Box, Drawing

LANES = (
    ("playbook, roles", "tasks/enable.yml"),
    ("action plugin and core", "plugin_utils/_in_process.py, then module_utils"),
    ("API server", "what is asked of it"),
    ("nodes", "what they see of it"),
)
WIDTHS = (236, 330, 246, 234)
LEFTS = (24, 344, 702, 976)
WIDTH = LEFTS[-1] + WIDTHS[-1] + LEFTS[0]
TOP, HEIGHT, SPACE, BETWEEN_TASKS = 78, 60, 12, 16
CORE, SERVER, NODES = 1, 2, 3


@dataclass(frozen=True)
class Step:
    """One thing that a core does: its name and files; what it asks of the API server, and what nodes
    see of it, each in a line or two."""

    name: str
    files: str
    server: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    # The cluster tells, and the core listens.
    watches: bool = False


@dataclass(frozen=True)
class Task:
    """A task of the playbook, with the steps of its core."""

    name: str
    lines: tuple[str, ...]
    steps: tuple[Step, ...]
    skipped_at_times: bool = False


PLAN, PROVE, PRUNE = "plan", "prove, node by node", "prune what has been replaced"
TASKS = (
    Task(
        "Say which cluster this is",
        ("parts/on_clusters.yml",),
        (Step("cluster_info", "_states/which_cluster.py", ("reads its version and its UID",)),),
    ),
    Task(
        "Find the nodes",
        ("roles/node_discovery",),
        (
            Step(
                "nfd_info: groups of nodes",
                "_states/preparation/discover.py, _nodes/",
                ("reads the record,", "nodes by NFD's labels"),
            ),
        ),
    ),
    Task(
        "Find the driver image",
        ("roles/state_driver_container;", "not where images are only named"),
        (
            Step(
                "driver_container: look up, or build",
                "_builds/container.py, _registry/",
                ("Jobs build what is", "in no registry"),
                ("pods that build",),
            ),
        ),
        skipped_at_times=True,
    ),
    Task(
        "Apply and prove the states",
        ("roles/enable:", "state_apply, one task", "for all states", "_states/apply.py"),
        (
            Step(
                "refuse rivals",
                "_states/preparation/foreign.py",
                ("reads what else may", "serve these devices"),
            ),
            Step(
                PLAN,
                "_states/apply_plan.py, _states/cleanup/prune.py",
                ("reads what is ours,", "tries each object by dry run"),
            ),
            Step(
                "refuse where rights are missing",
                "_states/preflight.py",
                ("asks for each right", "that the plan needs"),
            ),
            Step("lock", "_states/record_lock.py, _runs/guard.py", ("takes a Lease",)),
            Step(
                "plan again, and write that down",
                "_states/record_of_plan.py, _states/record/",
                ("SpecialResource: options,", "and what there will be"),
            ),
            Step(
                "write",
                "_cluster/executing.py, in ranks",
                ("applies what need not wait;", "deletes what nothing wants"),
                ("driver pods start, all", "others wait for gates"),
            ),
            Step(
                PROVE,
                "_states/validation/loop.py, walk.py; _proofs/",
                ("tells of nodes, pods and", "what else proofs watch"),
                ("pods become ready,", "validation pods end"),
                watches=True,
            ),
            Step(
                "open the gate",
                "_states/validation/label_writer.py",
                ("patches the node's labels",),
                ("pods of the next state start",),
            ),
            Step(
                "make what had to wait",
                "_states/later_changes.py",
                ("applies what stands on", "a state that is proven now"),
            ),
            Step(
                PRUNE,
                "_states/later_changes.py, _states/staging.py",
                ("deletes what was replaced,", "once proven on all nodes"),
            ),
            Step(
                "end the walk",
                "_states/walk_ending.py",
                ("deletes validation pods",),
                ("those that leave", "lose their marks"),
            ),
            Step(
                "record",
                "_states/record_writer.py, _states/record/",
                ("the SpecialResource's status,", "Events of what changed"),
            ),
            Step("table", "_states/validation/report.py, table.py"),
        ),
    ),
    Task("Conclude", ("roles/validation: fails", "where a node is not ready"), ()),
    Task(
        "Release the lock",
        ("parts/on_clusters.yml,", "whatever happened"),
        (Step("run_lock", "_states/run_lock.py", ("the Lease has no holder",)),),
    ),
)


def draw() -> Drawing:
    """Four lanes; time goes down."""
    rows = sum(max(1, len(task.steps)) for task in TASKS)
    height = TOP + rows * (HEIGHT + SPACE) + len(TASKS) * BETWEEN_TASKS - BETWEEN_TASKS
    picture = Drawing(WIDTH, height, "One run of enable_gpu")
    for lane, (name, below) in enumerate(LANES):
        middle = _box(lane, 0).middle
        picture.text(middle, 30, name, 14, bold=True, colour=GREY)
        picture.text(middle, 48, below, 12, colour=GREY)
    boxes: dict[str, Box] = {}
    y = float(TOP)
    for task in TASKS:
        line = y - (SPACE + BETWEEN_TASKS) / 2
        picture.line(LEFTS[0], line, WIDTH - LEFTS[0], line)
        y = _task(picture, task, y, boxes) + SPACE + BETWEEN_TASKS
    _jumps(picture, boxes)
    return picture


def _box(lane: int, y: float, height: float = HEIGHT) -> Box:
    return Box(LEFTS[lane], y, WIDTHS[lane], height)


def _task(picture: Drawing, task: Task, y: float, boxes: dict[str, Box]) -> float:
    """Draw a task beside its steps; returns where it ends."""
    count = max(1, len(task.steps))
    whole = _box(0, y, count * (HEIGHT + SPACE) - SPACE)
    picture.labelled(whole, task.name, task.lines, WHITE, dashed=task.skipped_at_times)
    for number, step in enumerate(task.steps):
        top = y + number * (HEIGHT + SPACE)
        boxes[step.name] = _step(picture, step, top)
        if number == 0:
            picture.arrow(
                [(whole.right, top + HEIGHT / 2), (_box(CORE, top).x - 1, top + HEIGHT / 2)]
            )
        else:
            middle = boxes[step.name].middle
            picture.arrow([(middle, top - SPACE), (middle, top - 1)])
    return whole.bottom


def _step(picture: Drawing, step: Step, y: float) -> Box:
    core, server, nodes = (_box(lane, y) for lane in (CORE, SERVER, NODES))
    picture.labelled(core, step.name, (step.files,), BLUE)
    if step.server:
        _facts(picture, server, step.server, GREEN)
        _between(picture, core, server, back=step.watches)
    if step.nodes:
        _facts(picture, nodes, step.nodes, YELLOW)
        _between(picture, server, nodes, back=step.watches)
    return core


def _facts(picture: Drawing, box: Box, lines: tuple[str, ...], fill: str) -> None:
    picture.box(box, fill)
    for number, line in enumerate(lines):
        picture.text(box.middle, box.centre + 5 + 17 * (number - (len(lines) - 1) / 2), line, 13)


def _between(picture: Drawing, left: Box, right: Box, *, back: bool) -> None:
    if back:
        picture.arrow([(right.x, right.centre), (left.right + 1, left.centre)], dashed=True)
    else:
        picture.arrow([(left.right, left.centre), (right.x - 1, right.centre)])


def _jumps(picture: Drawing, boxes: dict[str, Box]) -> None:
    """Where nothing differs a run goes on with the proofs; and what was proven or made lets it look
    at nodes again."""
    plan, prove, prune = boxes[PLAN], boxes[PROVE], boxes[PRUNE]
    line = plan.x - 20
    for start, end, dashed in ((plan, -6, True), (prune, 6, False)):
        at = prove.centre + end
        picture.arrow(
            [(start.x, start.centre), (line, start.centre), (line, at), (prove.x - 1, at)], dashed
        )
    middle = (LEFTS[0] + WIDTHS[0] + line) / 2
    for y, lines in (
        ((plan.centre + prove.centre) / 2, ("nothing", "differs")),
        ((prove.centre + prune.centre) / 2, ("nodes", "on their", "way")),
    ):
        for number, words in enumerate(lines):
            picture.text(middle, y + 16 * number, words, 12, colour=GREY)
