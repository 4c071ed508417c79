# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first file of a support bundle: what is wrong, and what to read next. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

# In the order of reading: how a path ends, and what is there.
_READING = (
    (
        "report.txt",
        "how each state stands, causes first, with what to do; report.json has all of it, each node too",
    ),
    ("differences.txt", "what of the deployed objects is not as the recipe has it, field by field"),
    (
        "pods.yaml",
        "pods of the recipe, those that have trouble first: conditions, containers, restarts",
    ),
    ("logs/", "the last lines of their containers; previous is the one that has crashed"),
    ("events.txt", "what the cluster has complained of, the newest last"),
    ("resource-quotas.yaml", "how much the namespace may have, and what of it is used"),
    ("limit-ranges.yaml", "what pods of the namespace get where they name no limits"),
    ("record.yaml", "what was asked for, and what the last run has found"),
    ("rendered.yaml", "the objects as the recipe has them"),
    ("live.yaml", "the objects as they are"),
    ("rivals.yaml", "other device plugins and operators"),
    ("nodes.yaml", "labels, annotations, taints, conditions, kernel and resources of each node"),
    ("node-features.yaml", "what Node Feature Discovery has found"),
    ("recipe.yml", "the recipe, as it is where the bundle was made"),
    ("versions.yaml", "of the collection, Ansible, Python and the cluster"),
)


def readme(
    made: str, sights: Mapping[str, Sequence[str]], paths: Sequence[str], missing: Sequence[str]
) -> str:
    """The text, in Markdown. made: when, as an API timestamp. sights: recipe -> the lines that status would
    show."""
    return "\n".join([*_head(made, sights, missing), *_reading(paths), *_missing(missing), ""])


def _head(made: str, sights: Mapping[str, Sequence[str]], missing: Sequence[str]) -> Iterator[str]:
    yield f"# Support bundle, made at {made}\n"
    yield "## What is wrong\n"
    if not sights:
        yield "Nothing is known of any special resource."
        # The first is that on which all others hang.
        yield from (*missing[:1], "")
    for name, lines in sights.items():
        yield f"### {name}\n"
        yield from ("```text", *lines, "```", "")


def _reading(paths: Sequence[str]) -> Iterator[str]:
    yield "## In which order to read\n"
    for ending, what in _READING:
        found = sorted(
            {
                path.partition("/logs/")[0] + "/logs/" if ending == "logs/" else path
                for path in paths
                if (f"/{ending}" in f"/{path}")
            }
        )
        if found:
            yield f"1. {', '.join(f'`{path}`' for path in found)}: {what}"
    yield ""


def _missing(missing: Sequence[str]) -> Iterator[str]:
    yield "## What is not here\n"
    yield from (f"- {each}" for each in missing or ["Nothing was left out."])
