# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which image a group of nodes gets: prebuilt, else built earlier from the same inputs, else to be
built, else none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._errors import EnablementError
from .._registry.registry_errors import WrongArchitecture
from .inputs import INPUTS_LABEL, KERNEL_LABEL, Inputs
from .orders import BuildOrder, Found, Resolution, SecretNames, Source

Find = Callable[[str, str], "Found | None"]
# Why an image, pinned by its digest, is not signed by a key (PEM); "" where it is.
Unsigned = Callable[[str, str], str]


def _unasked(reference: str, _key: str) -> str:
    """For images that no key is named for: one that has a key all the same is not used."""
    return f"{reference} is not used, since nobody looks for its signature"


@dataclass(frozen=True)
class ForeignImage:
    """An image that somebody else made. labels: those that it may have with these values only. key:
    the public key (PEM) that has to have signed it, "" where none has."""

    reference: str
    labels: Mapping[str, str] = field(default_factory=dict)
    key: str = ""


@dataclass(frozen=True)
class WantedBuild:
    """What to build, where it is pushed (target, repo:tag), and the Secrets that its build may see."""

    inputs: Inputs
    target: str
    secrets: SecretNames = field(default_factory=SecretNames)


@dataclass(frozen=True)
class WantedImage:
    """One group of nodes, and where its image may come from.

    prebuilt: of these the first that fits counts. build: None where nothing can be built, for the
    reason in no_build, which is an error where that could not be found out. todo: what a person can
    do if nothing fits.
    """

    group: str
    kernel: str
    arch: str
    prebuilt: Sequence[ForeignImage] = ()
    build: WantedBuild | None = None
    no_build: str | EnablementError = ""
    todo: str = ""

    @property
    def inputs(self) -> str:
        """The hash of what it would be built from, "" where nothing can be built."""
        return self.build.inputs.hash if self.build else ""


@dataclass
class Search:
    """Goes through the places for one group of nodes; find(reference, arch) looks one up and raises
    what it cannot.

    unsigned: why an image is not signed by a key. known: the entry of the record, which tells what runs
    there.
    """

    wanted: WantedImage
    find: Find
    unsigned: Unsigned = _unasked
    known: Mapping[str, Any] = field(default_factory=dict)
    tried: list[str] = field(default_factory=list)

    def result(self) -> Resolution:
        """What there is; source WOULD_BUILD where a build has to bring it."""
        wanted = self.wanted
        for prebuilt in wanted.prebuilt:
            found = self._find_prebuilt(prebuilt)
            if found:
                return self._done(found, prebuilt.reference, Source.PREBUILT)
        if isinstance(wanted.no_build, EnablementError):
            raise wanted.no_build
        if wanted.build is not None:
            found = self._find_built(wanted.build.target, wanted.inputs)
            if found:
                return self._done(self._settled(found), wanted.build.target, Source.BUILT_BEFORE)
            return self._resolution(image=wanted.build.target, source=Source.WOULD_BUILD)
        if wanted.no_build:
            self.tried.append(wanted.no_build)
        return self._resolution(problem=self.no_image())

    def _settled(self, found: Found) -> Found:
        """What the nodes run already, where it was made from the same inputs and is still there.

        Whoever shares the registry may have pushed the tag anew: that is the same driver under
        another digest. One that lies elsewhere is not: a person has named another repository since.
        """
        image = str(self.known.get("image") or "")
        elsewhere = image.partition("@")[0] != found.reference.partition("@")[0]
        other = self.known.get("inputs") != self.wanted.inputs
        if elsewhere or other or image == found.reference:
            return found
        try:
            return self.find(image, self.wanted.arch) or found
        except WrongArchitecture:
            return found

    def built(self, order: BuildOrder) -> Resolution:
        """The same group after its build: pushed is what can be looked up, not what a builder says."""
        self.tried.clear()
        found = self._find_built(order.target, order.inputs.hash)
        if found:
            return self._done(found, order.target, Source.BUILT)
        where = f"{order.target} is built, but not in the registry"
        why = f" ({self.tried[-1]})" if self.tried else ""
        return self._resolution(
            problem=f"{where}{why}; look at the builder's rights to push and run again"
        )

    def no_image(self, also: str = "") -> str:
        """The sentence for a kernel that has no image. also: what comes before the recipe's own
        advice."""
        tried = "; ".join(self.tried) or "the recipe names no image and builds none"
        todo = f"; {self.wanted.todo}" if self.wanted.todo else ""
        return f"no image fits kernel {self.wanted.kernel}: {tried}{also}{todo}"

    def _find_prebuilt(self, prebuilt: ForeignImage) -> Found | None:
        """An image of somebody else, if it is for this kernel and not another one by its labels. It
        need not have any."""
        found = self._find(prebuilt.reference)
        labels = (found.labels if found else None) or {}
        for name, value in prebuilt.labels.items():
            if labels.get(name, value) != value:
                self.tried.append(
                    f"{prebuilt.reference} is another one: its label {name} is {_shown(labels[name])}, not {value}"
                )
                return None
        why = self.unsigned(found.reference, prebuilt.key) if found and prebuilt.key else ""
        if why:
            self.tried.append(why)
            return None
        return found

    def _find_built(self, target: str, inputs: str) -> Found | None:
        """The image of a build, if it was made from the same inputs: it must have our labels, as far
        as they can be read."""
        found = self._find(target)
        if found is None or found.labels is None:
            return found
        if found.labels.get(INPUTS_LABEL) != inputs:
            self.tried.append(f"{target} was built from something else")
            return None
        return found

    def _find(self, reference: str) -> Found | None:
        """The image under a reference, if it is for this kernel."""
        try:
            found = self.find(reference, self.wanted.arch)
        except WrongArchitecture as error:  # it is not for these nodes: as good as none
            self.tried.append(str(error).rstrip("."))
            return None
        if found is None:
            self.tried.append(f"{reference} does not exist")
            return None
        kernel = (found.labels or {}).get(KERNEL_LABEL, self.wanted.kernel)
        if kernel != self.wanted.kernel:
            self.tried.append(f"{reference} was built for kernel {_shown(kernel)}")
            return None
        return found

    def _done(self, found: Found, name: str, source: Source) -> Resolution:
        return self._resolution(image=found.reference, name=name, source=source)

    def _resolution(
        self, image: str = "", name: str = "", source: Source = Source.NONE, problem: str = ""
    ) -> Resolution:
        wanted = self.wanted
        return Resolution(
            group=wanted.group,
            kernel=wanted.kernel,
            image=image,
            name=name,
            source=source,
            inputs="" if source is Source.PREBUILT else wanted.inputs,
            tried=tuple(self.tried),
            problem=problem,
        )


def _shown(text: str) -> str:
    """What somebody else has written, as a part of a sentence."""
    return " ".join(text.split())[:80]
