# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CustomResourceDefinition of SpecialResource: the cluster's own record of an enabled recipe.

The same text is published as manifests/crd.yaml for clusters whose admin applies it beforehand (a
test compares)."""

from __future__ import annotations

from ..._cluster import definitions
from ..._cluster.api_objects.kinds import Kind
from ..._cluster.api_objects.labels import DOMAIN
from ..._cluster.definitions import (
    GENERATION,
    MOMENT,
    NUMBER,
    TEXT,
    conditions,
    described,
    list_of,
    object_of,
)
from ..._json import Obj
from ..._nodes.taints import EFFECTS

RECORD = Kind(DOMAIN, "v1", "SpecialResource", "specialresources", namespaced=False)
GROUP = RECORD.group
API_VERSION = RECORD.api_version
KIND = RECORD.kind
NAME = f"{RECORD.plural}.{RECORD.group}"
# "sr" is that of the Special Resource Operator's kind, too; it goes with the next major version.
SHORT_NAMES = ("hwe", "sr")


def _text(description: str) -> Obj:
    return described(TEXT, description)


def _name(description: str, pattern: str, longest: int) -> Obj:
    """A text that becomes part of names and paths."""
    return {**_text(description), "pattern": f"^{pattern}$", "maxLength": longest}


def _number(description: str) -> Obj:
    return described(NUMBER, description)


# A DNS label.
_LABEL = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_PHASE = _text(
    "ready, waiting, failed, degraded, blocked, vanished, starting, leaving, drifted, unknown, or empty where no node"
    " has the hardware."
)
_REASON = _text("Why it is not ready, in one word for programs.")
_MESSAGE = _text("Why it is not ready, in a sentence for people.")
_TODO = _text("What to do about it.")
_SINCE = _text("Since when it is so, as an API timestamp.")


def _states() -> Obj:
    group = object_of(
        "One group of nodes and its share of a state.",
        id=_text(
            "Name of the group, made of what its nodes have in common (kernel, pool, container runtime)."
        ),
        title=_text("The same for people."),
        kernel=_text(
            "The kernel as the kubelet reports it; empty where the group is not told apart by it."
        ),
        ready=_number("Nodes of the group on which the state is proven."),
        total=_number("Nodes of the group."),
    )
    state = object_of(
        "One state of the recipe.",
        name=_text("Name of the state."),
        phase=_PHASE,
        scope=_text("node where it is proven on each node, cluster where it is proven once."),
        ready=_number("Nodes on which the state is proven."),
        total=_number("Nodes on which it should be."),
        reason=_REASON,
        message=_MESSAGE,
        since=_SINCE,
        groups=described(list_of(group), "The same for each group of nodes."),
    )
    state["required"] = ["name", "phase"]
    return described(
        list_of(state, "name"), "The states of the recipe, in the order of their requirements."
    )


def _causes() -> Obj:
    blocked = object_of(
        "A state that stands on the cause.",
        state=_text("Name of the state."),
        nodes=_number("Nodes on which it is blocked."),
    )
    cause = object_of(
        "Why states are not ready: one entry for a state, phase and reason, whatever the number of nodes.",
        state=_text("The state in which the cause lies."),
        phase=_PHASE,
        reason=_REASON,
        message=_text("The same in a sentence, of the node that has waited longest."),
        todo=_TODO,
        since=_SINCE,
        nodes=_number("Nodes that have this cause; 0 for a state of the cluster."),
        examples=described(list_of(TEXT), "Names of some of these nodes."),
        blocked=described(list_of(blocked), "States that are not ready for its sake."),
    )
    return described(
        list_of(cause), "What keeps nodes from being ready, the ten worst causes first."
    )


def _problems() -> Obj:
    problem = object_of(
        "What keeps one node from being ready.",
        node=_text("Name of the node; empty for a state of the cluster."),
        state=_text("The state in which the cause lies."),
        phase=_PHASE,
        reason=_REASON,
        message=_MESSAGE,
        since=_SINCE,
        todo=_TODO,
    )
    return described(list_of(problem), "The ten worst nodes.")


def _images() -> Obj:
    image = object_of(
        "The image of one group of nodes, looked up or built.",
        state=_text("The state that the image belongs to."),
        group=_text("Name of the group."),
        kernel=_text("The kernel as the kubelet reports it."),
        image=_text("Reference with digest; empty for none."),
        name=_text("The reference by which it was looked up."),
        inputs=_text("Hash of what it was built from; empty for one that was found."),
        problem=_text("Why there is none, or no newer one."),
        failed=_text(
            "What failed to be built: hash of its inputs, where it is pushed, and how it is built."
        ),
        phase=_text("What that build was at: start, base, sources, compile or push."),
        reason=_text("Why it failed, in one word."),
        attempts=_number("How often it has failed in a row."),
        retry=_text("When it is tried again; without it, not by itself."),
    )
    image["required"] = ["state", "group"]
    return described(list_of(image, "state", "group"), "Driver images for each group of nodes.")


def _upgrades() -> Obj:
    upgrade = object_of(
        "A node whose driver is exchanged, or could not be, or that a remedy is tried on.",
        node=_text("Name of the node."),
        phase=_text("upgrading, remedy or quarantined."),
        since=_SINCE,
        message=_text("What it waits for, or why it failed."),
    )
    upgrade["required"] = ["node", "phase"]
    return described(list_of(upgrade, "node"), "Ten of the nodes that are on their way or failed.")


def _proven() -> Obj:
    return object_of(
        "What was asked for when all nodes were last proven with it: what an upgrade goes back to.",
        options=_anything("The options, as in spec."),
        pools=described(list_of(_anything("A pool, as in spec.")), "The pools, as in spec."),
        images=described(list_of(_anything("As in images.")), "The driver images of that time."),
        recipe=_text("Version of the recipe."),
        driver=_text("Version of the driver."),
        since=described(MOMENT, "Since when."),
    )


def _drift() -> Obj:
    drifted = object_of(
        "An object that was not as the run before had left it.",
        object=_text("Its kind, namespace and name."),
        drift=_text("missing, or changed where fields were."),
        fields=described(list_of(TEXT), "The fields of ours that somebody else had changed."),
        by=_text("The field manager that had done so, as far as can be told."),
        since=_text("Since when, as an API timestamp."),
    )
    drifted["required"] = ["object"]
    return object_of(
        "What others had done to what is deployed, when a run last found and put back any of it.",
        seen=described(MOMENT, "When that run was."),
        count=_number("How many objects these were."),
        objects=described(list_of(drifted), "Ten of them."),
    )


def _status() -> Obj:
    return object_of(
        "What was found.",
        phase=_PHASE,
        phaseSince=described(MOMENT, "When the phase became what it is."),
        message=_text("How it stands, and what to do where it is not ready."),
        observedGeneration=described(
            GENERATION, "The generation of the spec that this was found for."
        ),
        lastChecked=described(
            MOMENT,
            "When a run last looked. A run that finds everything as it was notes this once an hour, so it may have"
            " looked up to an hour later than this says.",
        ),
        lastRunSeconds=_number(
            "How long that run took until it noted this, from the start of ansible-playbook; not there where the"
            " modules ran on another machine than that."
        ),
        versions=object_of(
            "What did the work.",
            collection=_text("Version of the Ansible collection hardware.enablement."),
            recipe=_text("Version of the recipe, or a digest of its files where it names none."),
            driver=_text("Version of the driver, as the recipe names it."),
        ),
        nodes=object_of(
            "Nodes with the hardware.",
            total=_number("Nodes that the recipe's selector matches."),
            ready=_number("Nodes on which every state is proven."),
            restartsPending=_number(
                "Nodes on which pods still run the version before, until the playbook upgrade."
            ),
            summary=_text("ready/total."),
        ),
        kernels=described(list_of(TEXT), "The kernels that these nodes run."),
        kernelCount=_number("How many kernels these are."),
        conditions=conditions("Ready, Progressing and Degraded"),
        states=_states(),
        causes=_causes(),
        problems=_problems(),
        images=_images(),
        upgrades=_upgrades(),
        proven=_proven(),
        drift=_drift(),
    )


def _anything(description: str) -> Obj:
    return {
        "type": "object",
        "description": description,
        "x-kubernetes-preserve-unknown-fields": True,
    }


def _pool() -> Obj:
    pool = object_of(
        "Nodes with options of their own.",
        name=_name("Name of the pool.", r"[a-z]([a-z0-9-]*[a-z0-9])?", 20),
        selector=_anything(
            "Which nodes it has: a LabelSelector with all operators of node affinity."
        ),
        machine_config_pool=_text(
            "The MachineConfigPool whose nodes it has, instead of a selector."
        ),
        options=_anything("The options that differ there; secret ones are left out."),
        secretOptions=described(list_of(TEXT), "Names of the secret options that were given."),
    )
    pool["required"] = ["name"]
    return pool


def _taint() -> Obj:
    taint = object_of(
        "A taint as in a node's spec.",
        key=_text("Its key."),
        value=_text("Its value."),
        effect={**_text("What it does to pods that do not tolerate it."), "enum": list(EFFECTS)},
    )
    taint["required"] = ["key", "effect"]
    return taint


def _expected_kernel() -> Obj:
    kernel = object_of(
        "A kernel that nodes will run.",
        kernel=_text("Its name, as `uname -r` says it."),
        os_id=_text("The operating system's ID where nodes of several have the hardware."),
        os_version=_text("Its version, where it changes with the kernel."),
        os_build=_text("The build of RHCOS."),
        arch=_text("The architecture, where nodes of several have the hardware."),
        driver_toolkit=_text("OpenShift's image with its headers."),
    )
    kernel["required"] = ["kernel"]
    return kernel


def _schema() -> Obj:
    spec = object_of(
        "What was asked for.",
        recipe=_name("Name of the recipe.", _LABEL, 63),
        recipeDir=_text(
            "Where the recipe was for the run that applied it (a folder is one of the machine that ran"
            " it); without, it is one of the collection."
        ),
        foundAs=_name(
            "By what name the recipe's files are found, where that is not its own.",
            "[^/.][^/]*",
            255,
        ),
        namespace=_name("Where the recipe's objects are.", _LABEL, 63),
        options={
            "type": "object",
            "description": "The options that differ from the recipe's defaults; secret ones are left out.",
            "x-kubernetes-preserve-unknown-fields": True,
        },
        secretOptions=described(list_of(TEXT), "Names of the secret options that were given."),
        resources=described(
            list_of(TEXT), "The extended resources that this one serves; * may stand in them."
        ),
        selector=described(
            list_of(TEXT), "Label selectors, any of which makes a node one of ours."
        ),
        pools=described(list_of(_pool(), "name"), "Sets of nodes with options of their own."),
        depends=described(
            list_of(TEXT), "The recipes that are enabled and proven before this one."
        ),
        taints=described(list_of(_taint()), "Taints that keep other pods off these nodes."),
        expectedKernels=described(
            list_of(_expected_kernel()),
            "Kernels that nodes will run, whose drivers are deployed before.",
        ),
    )
    spec["required"] = ["recipe", "namespace"]
    # Whoever writes it last says all of it: what one manager adds to what another has asked for would
    # be asked for by nobody, and would stay.
    spec["x-kubernetes-map-type"] = "atomic"
    root = object_of(
        "An enabled special resource: hardware and what makes it usable.",
        spec=spec,
        status=_status(),
    )
    root["required"] = ["spec"]
    return root


def definition() -> Obj:
    """The CRD as an object to apply. By its ApplySet label, its instances may be parents of an
    ApplySet (KEP-3659)."""
    columns = [
        ("Phase", "string", ".status.phase"),
        ("Nodes", "string", ".status.nodes.summary"),
        ("Kernels", "integer", ".status.kernelCount"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ]
    wide = [
        ("Driver", "string", ".status.versions.driver"),
        ("Since", "date", ".status.phaseSince"),
        ("Checked", "date", ".status.lastChecked"),
        ("Message", "string", ".status.message"),
    ]
    labels = {"applyset.kubernetes.io/is-parent-type": "true"}
    return definitions.definition(
        RECORD, _schema(), columns, wide=wide, short_names=SHORT_NAMES, labels=labels
    )
