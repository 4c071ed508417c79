# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe in memory: what every reader of recipes produces and everything downstream works on, cut
by who reads what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..._proofs.proof import Proof
from ..templates.overlay import place_of
from ..templates.templating import Templates
from .foreign_format import ForeignFormat

CLUSTER = "cluster"
FIRST_NODE, ALL_NODES = "first_node", "all_nodes"
RESTART_DRIVER, REBOOT_NODE = "restart", "reboot"


@dataclass(frozen=True)
class Option:
    """A value that the user may set. An option that is no_log never shows its value in an error or
    a result.

    - type: one of str, int, bool, list, dict; elements is the type of a list's items
    - default: None where the recipe gives none
    - example: another value that a user could give, which checks try; None for none
    """

    name: str
    type: str = "str"
    default: Any = None
    description: str = ""
    choices: tuple[Any, ...] = ()
    required: bool = False
    elements: str = ""
    no_log: bool = False
    example: Any = None


@dataclass(frozen=True)
class Asset:
    """Templates of a state: a glob, and the files of the recipe that it matches, sorted.

    needs_api is "group/version/Kind" ("version/Kind" for the core group); the asset is left out
    where the cluster does not serve it. "" means always.
    """

    pattern: str
    files: tuple[str, ...]
    needs_api: str = ""


@dataclass(frozen=True)
class Git:
    """A folder of a git repository at a branch, tag or commit. All fields are templates.

    - url: where it renders to nothing, there is no repository
    - containerfile: the file in that folder that counts where the recipe gives none
    - secret: the name of the Secret with credentials, "" for none
    """

    url: str
    ref: str
    folder: str = ""
    containerfile: str = ""
    secret: str = ""


@dataclass(frozen=True)
class Compile:
    """What the Containerfile of a build compiles, and what comes of it.

    command: template of a shell command, run in the context; build arguments are its environment.
    output: the folder that it leaves there. into: the image's folder that it becomes. unsupported:
    template of why that is not enough, "" where it is.
    """

    command: str
    output: str
    into: str
    unsupported: str = ""


@dataclass(frozen=True)
class Build:
    """How a state's image is made for a group of nodes.

    - repository: a template of where the image is pushed, without a tag
    - containerfile: a file of the recipe, rendered as a template; where that gives nothing, the one
      in the git repository is used
    - base, base_arg: a template of the base image's reference, and of the name of the build
      argument that holds it
    - context: the folder of the recipe that is sent along as it is
    - git: a folder of a repository, used instead of context
    - args: build arguments, name -> template
    - args_from: the dict option with more build arguments, which win over args; "" for none
    - compile: what the build compiles, for a Containerfile that refers to it
    - secrets: name of a folder -> template of the name of the Secret that is in it while the image
      is built
    - enabled: the bool option that turns building on; "" for always
    """

    repository: str
    containerfile: str = ""
    base: str = ""
    base_arg: str = "BASE"
    context: str = ""
    git: Git | None = None
    args: Mapping[str, str] = field(default_factory=dict)
    args_from: str = ""
    compile: Compile | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)
    enabled: str = ""


@dataclass(frozen=True)
class ImageSource:
    """Where the images of a state come from, one for each group of nodes; a state may have none.

    templates: of image references, of which the first counts that gives something and, where images
    are looked up, is there. labels: templates of labels that such an image may have, but not with
    another value. key: template of the public key (PEM) that has to have signed them, "" for none.
    lookup: template of where it is looked up ("": not at all, unless it is built).
    build: how one is made where there is none yet. fallback: the state's objects build a driver's
    image in the cluster, for those kernels only whose image is not in its registry. todo: template
    of what a person can do for a kernel that has none.
    """

    templates: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    lookup: str = ""
    build: Build | None = None
    fallback: bool = False
    todo: str = ""

    @property
    def are_known(self) -> bool:
        """Whether the state says of its images what they are, or how they are built."""
        return bool(self.templates or self.build)


@dataclass(frozen=True)
class OrderRules:
    """When a state is deployed and removed, beside others.

    - requires: the states that have to be proven before it
    - begin: when objects that act at once (a Deployment, say) are applied: as soon as one node has
      proven what the state requires, or when no node is on its way to that any more
    - removed_first: its objects are removed, and gone, before those of other states
    - gates: whether the pods of states that require it wait for a label of the node
    """

    requires: tuple[str, ...] = ()
    begin: str = FIRST_NODE
    removed_first: bool = False
    gates: bool = True


@dataclass(frozen=True)
class StateProofs:
    """What proves a state, and for how long that is waited for.

    - validate: the proofs of the deployed state; disabled_validate: those that hold when it is
      disabled
    - timeout: seconds for each node
    """

    validate: tuple[Proof, ...] = ()
    disabled_validate: tuple[Proof, ...] = ()
    timeout: int = 600

    @property
    def all(self) -> tuple[Proof, ...]:
        """Those of both."""
        return (*self.validate, *self.disabled_validate)

    def counting(self, *, enabled: bool) -> tuple[Proof, ...]:
        """The proofs that count, given whether the state is enabled."""
        return self.validate if enabled else self.disabled_validate


@dataclass(frozen=True)
class State:
    """One step of a stack.

    - order: when it is deployed and removed
    - per: the facets (FACETS in _nodes/groups.py) that tell its groups of nodes apart; empty for a
      state of the whole cluster
    - enabled: the bool option that turns it on, or a template that says so; "" for always
    - unsupported: template of why a group of nodes cannot have it, with what to do; what renders to
      nothing is no reason
    - placement: where pods of Deployments and the like run, on nodes with the "hardware" or
      "anywhere"
    """

    name: str
    role: str
    order: OrderRules = field(default_factory=OrderRules)
    per: tuple[str, ...] = ()
    enabled: str = ""
    unsupported: str = ""
    assets: tuple[Asset, ...] = ()
    images: ImageSource = field(default_factory=ImageSource)
    placement: str = "hardware"
    proofs: StateProofs = field(default_factory=StateProofs)


@dataclass(frozen=True)
class Rival:
    """Something that runs in a cluster where somebody else does what a recipe does.

    It is found in any namespace: by its name, by labels (as a selector has them), or by both. With
    host_paths only those objects count whose pods mount one of these paths of the node for writing,
    and may run on nodes of the recipe. With none of these, any object of the kind is a rival. It
    counts only where the bool option named by enabled is on; "" for always.
    """

    api_version: str
    kind: str
    name: str = ""
    labels: Mapping[str, str | None] = field(default_factory=dict)
    enabled: str = ""
    host_paths: Sequence[str] = ()


@dataclass(frozen=True)
class NodeObjects:
    """Objects of a cluster-wide kind that pods make: one for each node, named as the node."""

    api_version: str
    kind: str


@dataclass(frozen=True)
class DeviceAccess:
    """How pods get at the devices beside asking for an extended resource: by a runtime class, by a
    path of the node that they mount (* may stand in it), or by a ResourceClaim for a device of a
    DRA driver. All are templates whose only variable is options."""

    runtime_classes: tuple[str, ...] = ()
    host_paths: tuple[str, ...] = ()
    dra_drivers: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.runtime_classes, *self.host_paths, *self.dra_drivers)


@dataclass(frozen=True)
class Remedies:
    """What is tried where a node's devices are at fault.

    - states: the states whose failure on a node means that its devices are at fault
    - steps: one for each try, of which the last is repeated: RESTART_DRIVER, REBOOT_NODE, or the
      template of a pod that runs on the node
    """

    states: tuple[str, ...] = ()
    steps: tuple[str, ...] = (RESTART_DRIVER,)

    @property
    def pods(self) -> tuple[str, ...]:
        """The templates among the steps."""
        return tuple(step for step in self.steps if step not in (RESTART_DRIVER, REBOOT_NODE))


@dataclass(frozen=True)
class Dependency:
    """A recipe that has to be enabled before another one. options: those that it is enabled with
    where it is not enabled yet. recipe_dir: where it is, "" for where the other one is."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    recipe_dir: str = ""


@dataclass(frozen=True)
class RecipeSource:
    """Where a recipe comes from, and what its author wrote.

    - name: its own name, whatever it is enabled as
    - folder: where it was read, for messages; "" for none
    - files: all files of the recipe, path inside its folder -> text
    - version: the author's own, "" for none
    - found_as: by what name its files are found, where that is not its own
    - format: what renders files that are in another format than ours; None for our templates
    """

    name: str
    folder: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    found_as: str = ""
    format: ForeignFormat | None = field(default=None, compare=False, repr=False)

    @cached_property
    def templates(self) -> Templates:
        """What renders its files, and texts of recipe.yml: each is made ready once."""
        return Templates(self.files, self.folder)

    def place_of(self, path: str) -> str:
        """Where one of its files is, or what is named of one, for messages."""
        return place_of(self.files, self.folder, path)


@dataclass(frozen=True)
class RecipeNodes:
    """Which nodes a recipe is for.

    - selector: sets of labels; a node with all labels of any set is one of ours. A label with the
      value None only has to be there
    - preinstalled_driver: sets of labels in the same way; such a node brings its driver
    """

    selector: tuple[Mapping[str, str | None], ...] = ()
    preinstalled_driver: tuple[Mapping[str, str | None], ...] = ()


@dataclass(frozen=True)
class RecipeDevices:
    """What a recipe gives to pods.

    - resources: the extended resources that it serves; * may stand in one
    - access: how pods get at devices, besides requesting them
    - allocation: the option by whose choices they may be served, "" where there is one way
    - rivals: what must not run where this recipe is enabled
    """

    resources: tuple[str, ...] = ()
    access: DeviceAccess = field(default_factory=DeviceAccess)
    allocation: str = ""
    rivals: tuple[Rival, ...] = ()


@dataclass(frozen=True)
class RecipeRemoval:
    """What else is removed with a recipe.

    - node_objects: what its pods make for each node
    - release_role: the role that gives back what is not in the recipe's objects before these are
      removed; "" for none
    """

    node_objects: tuple[NodeObjects, ...] = ()
    release_role: str = ""


@dataclass(frozen=True)
class Recipe:
    """A special resource's stack.

    - name: what it is enabled as; its own name (source.name), unless it is enabled more than once
    - driver_version: a template of the driver's version, which sees options only
    - remedies: what is tried on a node that fails
    - depends: the recipes that are enabled and proven before it
    - options: its own and the standard ones
    - states: each after those that it requires
    """

    name: str
    namespace: str
    source: RecipeSource
    nodes: RecipeNodes = field(default_factory=RecipeNodes)
    devices: RecipeDevices = field(default_factory=RecipeDevices)
    removal: RecipeRemoval = field(default_factory=RecipeRemoval)
    driver_version: str = ""
    remedies: Remedies = field(default_factory=Remedies)
    depends: tuple[Dependency, ...] = ()
    options: Mapping[str, Option] = field(default_factory=dict)
    states: Mapping[str, State] = field(default_factory=dict)

    @property
    def allocations(self) -> tuple[str, ...]:
        """By which its devices may be served; none where there is one."""
        allocation = self.devices.allocation
        return tuple(map(str, self.options[allocation].choices)) if allocation else ()

    @property
    def usual_allocation(self) -> str:
        """The one of who asks for nothing, "" where there is one."""
        allocation = self.devices.allocation
        return str(self.options[allocation].default) if allocation else ""
