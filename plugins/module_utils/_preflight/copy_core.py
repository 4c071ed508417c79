# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of image_copy: which images a mirror has, and images on their way to it through a folder.

No cluster is asked: it may be out of reach from where images are fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, Optional

from .._builds.registry_policy import RegistryAccessRequest, given_policy, read_config
from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._registry.image_client import Registries
from .._registry.image_layout import ImageLayout
from .._registry.image_names import Reference, parse
from .._registry.image_set import image_set
from .._registry.image_transfer import Exporting, Importing, Transfer
from .._registry.mirror_map import mirror_map, mirrors_at, variable
from .._registry.policy import RegistryPolicy
from .._runs.context import RunContext
from .._runs.task import Task

THERE, MISSING, OTHER, UNKNOWN = "there", "missing", "other", "unknown"


@dataclass(frozen=True)
class ImageCopyRequest:
    """Which images, and what is done with them. layout: a folder. mirror: host[:port][/path] that
    stands for the registries of all of them. archs: of an index, what is exported; all without."""

    registry: RegistryAccessRequest
    images: Sequence[str] = ()
    state: Literal["checked", "exported", "imported"] = "checked"
    layout: Optional[str] = None
    mirror: Optional[str] = None
    archs: Sequence[str] = ()
    registry_auth_file: Optional[str] = None


@dataclass(frozen=True)
class ImageCopy:
    """How one image stands. digest: the one that is wanted, "" where that is not known. place: where
    it was looked for, or went. status: there, missing, other (another digest) or unknown. sent: what
    of it was missing, in blobs and manifests. changed: whether that, or its name, was."""

    image: str
    digest: str
    place: str
    status: str
    why: str = ""
    sent: int = 0
    changed: bool = False


def run(request: ImageCopyRequest, context: RunContext) -> Obj:
    """Look, export or import, and say of each image how it stands; what is done fails where an image is
    not where it should be after that."""
    layout = _layout(request)
    images = _named(request, layout)
    policy = replace(
        given_policy(request.registry),
        keyring=read_config(request.registry_auth_file or "", context.secrets),
    )
    context.secrets.update(policy.keyring.secrets)
    mirrored = policy
    if request.mirror:
        mirrored = replace(policy, mirrors=[*policy.mirrors, *mirrors_at(images, request.mirror)])
    copy = _copy(request, layout, policy, mirrored, dry=context.check_mode)
    found = []
    for image in images:
        found.append(_or_why(copy, image))
        context.progress(_line(found[-1]))
    result: Obj = {
        "changed": any(each.changed for each in found),
        "images": [asdict(each) for each in found],
        "missing": [each.image for each in found if each.status != THERE],
        "image_set": image_set(str(image) for image in images),
        "registry_mirrors": variable(mirrored.mirrors),
        "mirror_map": mirror_map(mirrored),
    }
    result |= _shown(found, context)
    return result if request.state == "checked" else result | _failure(found)


def _named(request: ImageCopyRequest, layout: ImageLayout | None) -> list[Reference]:
    """The images that are meant, each once."""
    names = request.images or (list(layout.entries()) if layout else [])
    if not names:
        raise InvalidInput(
            "No images are named", todo="name them (images), or a layout that has some (layout)"
        )
    return [parse(name) for name in dict.fromkeys(names)]


def _shown(found: Sequence[ImageCopy], context: RunContext) -> Obj:
    """What changed, as the task's diff; without one, each image had its line already."""
    changed = "\n".join(f"{each.image} {each.digest}" for each in found if each.changed)
    return context.tell(changed) if changed and context.diff else {}


def _failure(found: Sequence[ImageCopy]) -> Obj:
    """How a task fails that did not copy all of them."""
    whys = [each.why for each in found if each.why]
    if not whys:
        return {}
    more = f" (and {len(whys) - 1} more images)" if len(whys) > 1 else ""
    return {"failed": True, "msg": f"{whys[0]}{more}"}


def _copy(
    request: ImageCopyRequest,
    layout: ImageLayout | None,
    policy: RegistryPolicy,
    mirrored: RegistryPolicy,
    *,
    dry: bool,
) -> Callable[[Reference], ImageCopy]:
    """What is done with an image. What is exported is fetched from where it is (policy), not from where
    it will be (mirrored)."""
    if layout is None:
        return partial(_checked, mirrored, Registries(mirrored), {})
    if request.state == "exported":
        exporting = Exporting(Registries(policy), layout, dry=dry)
        return lambda image: _taken(image, exporting.export(image, request.archs))
    registries = Registries(mirrored)
    if request.state == "imported":
        importing = Importing(registries, layout, dry=dry)
        return lambda image: _taken(
            image, importing.send(image, _places(mirrored, image, named=True)[0])
        )
    digests = {name: str(entry["digest"]) for name, entry in layout.entries().items()}
    return partial(_checked, mirrored, registries, digests)


def _checked(
    policy: RegistryPolicy, registries: Registries, digests: Mapping[str, str], image: Reference
) -> ImageCopy:
    """Whether the first place that has an image has the right one. digests: of a layout's images."""
    wanted = image.digest or digests.get(str(image), "")
    found = ImageCopy(str(image), wanted, "", MISSING)
    for place in _places(policy, image):
        # A run looks for the tag, where there is one.
        digest = registries.digest_at(place, image.tag or image.digest)
        found = replace(found, place=str(place))
        if digest is not None:
            is_other = bool(wanted) and digest != wanted
            why = f"{place.name} has {digest}" if is_other else ""
            return replace(
                found, digest=wanted or digest, status=OTHER if is_other else THERE, why=why
            )
    return replace(found, why=f"{found.place} does not exist")


def _places(policy: RegistryPolicy, image: Reference, *, named: bool = False) -> list[Reference]:
    """Where an image is mirrored; without a mirror, where it is, unless a mirror has to be named."""
    mirrors = [place for place in policy.places(image) if place.name != image.name]
    if named and not mirrors:
        raise InvalidInput(
            f"Cannot import {image}",
            why="no mirror stands for its registry",
            todo="name one (mirror, or registry_mirrors)",
        )
    return mirrors or [image]


def _taken(image: Reference, transfer: Transfer) -> ImageCopy:
    return ImageCopy(
        str(image),
        transfer.digest,
        transfer.place,
        THERE,
        sent=transfer.sent,
        changed=transfer.changed,
    )


def _or_why(copy: Callable[[Reference], ImageCopy], image: Reference) -> ImageCopy:
    """What came of an image; one that fails holds up no other."""
    try:
        return copy(image)
    except EnablementError as error:
        return ImageCopy(str(image), image.digest, "", UNKNOWN, str(error).rstrip("."))


def _line(image: ImageCopy) -> str:
    """What a person sees of one."""
    sent = f", {image.sent} parts were missing" if image.sent else ""
    return f"{image.image}: {image.why or f'{image.status} ({image.digest}{sent})'}"


def _layout(request: ImageCopyRequest) -> ImageLayout | None:
    if request.layout:
        return ImageLayout(Path(request.layout).expanduser())
    if request.state != "checked":
        raise InvalidInput(
            f"Images cannot be {request.state}", why="no folder is named", todo="name it (layout)"
        )
    return None


TASK = Task(ImageCopyRequest, run)
