# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What whoever finds a folder of manifests has to know: how it is applied, and what is different from
a run. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..._recipes.loading.recipe import Recipe
from ..._recipes.templates.render_facts import RenderedState

_TITLE = """# {name}, as manifests

What a run of `hardware.enablement.enable` would apply, for these options and groups of nodes. It is written anew
by `hardware.enablement.render`, not by hand.

| file | what |
|---|---|
"""
_KEPT = """| `kept.yaml` | what no state makes any more, and what a run keeps as it is: {keys} |
"""
_RECORD = """| `special-resource.yaml` | the record: what is wanted; a run, and `status`, go by it |
| `rbac.yaml` | the rights of whoever runs `enable` or `status`; an admin applies it, no tool |
| `images.txt` | the images of all pods; validation pods, which runs make, may have others |

## Before it is applied

- `manifests/crd.yaml` of the collection, once for a cluster: the kind of the record.
"""
_APPLY = """
## How it is applied

- `kubectl apply -k .`, a second time where the first says that a kind is not known yet: its definition is in the
  folder, too.
- Argo CD: the annotations `argocd.argoproj.io/sync-wave` follow the graph of the states. Set `ServerSideApply=true`.
- Flux: a Kustomization with its `path` here and `wait: false`, since pods wait for gates. Waves are Argo CD's alone.

Namespaces, definitions and the record are not pruned, as no run prunes them. What takes all of it away is
`hardware.enablement.disable`, after the tool has let go of the folder.

## What a run does, and nobody does here

"""
_GATES = """- **Gates.** Pods of a state wait for node labels which say that what it requires is proven on the node.
  {who}
"""
_BY_RUNS = """Runs set these: without one, states that require another have no pods. Let the event source run `enable`,
  which the record starts, or run it by hand; or render with the option `readiness: nfd`, with which nodes set them."""
_BY_NODES = "With `readiness: nfd`, as here, the nodes set them by their own proofs."
_OTHERS = """- **Proofs.** Applied is not proven: a tool calls a DaemonSet without pods healthy.
  `hardware.enablement.status` says what holds; `enable` proves it, and writes no object that is here as it is.
- **Order.** A run makes a Deployment, a Job or a custom resource when what its state requires is proven. Argo CD goes
  by waves; Flux and kubectl make all at once.
- **New nodes and kernels.** The folder is for the groups of nodes that it was made for. A node with another kernel gets
  nothing that is made per kernel until the folder is written anew.
- **Refusals.** A run refuses before its first write: other operators and device plugins that serve the same devices,
  objects of others, missing rights, devices in use. A tool writes over.
- **Drivers.** They are exchanged by `hardware.enablement.upgrade`, node by node; a tool changes the template alone.
- **Pruning.** A run keeps what nodes still need, such as the driver of a node that has lost the hardware's labels. A
  folder that was written for a cluster has that in `kept.yaml`; of described nodes nobody knows it: look before a tool
  prunes.
- **Namespaces.** Those that the cluster had before stay with `disable`; those that the folder makes go. Where nodes
  were described, no cluster was asked, and all of them count as made by the folder.
"""
_PRODUCT = """- **More than states.** {name} has a playbook of its own, which reads settings off the nodes, or makes
  what no manifest has, such as certificates. The folder has what `enable` alone would apply.
"""


def readme(
    recipe: Recipe,
    states: Mapping[str, RenderedState],
    *,
    left_out: Sequence[str],
    by_nodes: bool,
    is_product: bool,
    taints: Sequence[str],
    kept: Sequence[str],
) -> str:
    """The text, in Markdown. left_out: Secrets that are not in the folder. by_nodes: whether nodes prove
    themselves. is_product: whether more than its states belongs to it. taints: what a run puts on nodes.
    kept: the objects that only a run would take away."""
    parts = [
        _TITLE.format(name=recipe.name),
        *_files(states),
        *([_KEPT.format(keys=", ".join(kept))] if kept else []),
        _RECORD,
        *(f"- The recipe {each.name}, which this one depends on.\n" for each in recipe.depends),
        *(
            f"- {key}: secrets belong in no repository; make it by what keeps yours.\n"
            for key in left_out
        ),
        _APPLY,
        _GATES.format(who=_BY_NODES if by_nodes else _BY_RUNS),
        _OTHERS,
        *([_PRODUCT.format(name=recipe.name)] if is_product else []),
        *(f"- **Taint {taint}** is put on nodes by a run.\n" for taint in taints),
    ]
    return "".join(parts)


def _files(states: Mapping[str, RenderedState]) -> Iterator[str]:
    for index, (name, state) in enumerate(states.items(), 1):
        count = len(state.objects)
        if count:
            objects = f"{count} object{'' if count == 1 else 's'}"
            yield f"| `{index:02d}-{name}.yaml` | state {name}: {objects} |\n"
