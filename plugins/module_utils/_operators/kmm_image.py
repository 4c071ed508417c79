# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of a Module of Kernel Module Management in its recipe: which a kernel has, how one is built
and signed. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._errors import InvalidInput
from .._json import Obj, part
from .kmm_module import KernelCase, folder_of, kernel_cases
from .kmm_text import (  # fmt: skip
    argument_words,
    filled_in,
    kernel_words,
    name_words,
    path_words,
    verbatim,
    wrong,
)
from .recipe_options import chosen, required_option, text_option

_IMPORT = '{% from "hardware.enablement/macros.j2" import signing_stage with context %}\n'
_SIGNED = """
{% set files %}@FILES@{% endset %}
{{ signing_stage(@STAGE@, options.sign_image, @FOLDER@, files.split(), @KEY@) }}
FROM @PLAIN@
COPY --from=module-signer /signed@PATH@ @PATH@
"""
_FROM = re.compile(
    r"^[ \t]*FROM\s+(?:--\S+\s+)*\S+(?:\s+AS\s+(\S+))?[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_SECRETS = "/run/secrets/"
_SIGNING_SECRETS = {"sign-key": "keySecret", "sign-cert": "certSecret"}
_STAGE = "module-image"
# What is mounted into KMM's builds, and not into those of others.
_NODE_MODULES = "/host/lib/modules"


def images_state(module: Mapping[str, Any], cases: Sequence[KernelCase]) -> Obj:
    """The state with the image of each kernel."""
    found: Obj = {
        "role": "state_driver_container",
        "description": "The module's image for each kernel",
        "per": "kernel",
        "image": _chosen(cases, lambda case: case.image),
        "no_image": "the Module had none for this kernel either: add it to the image of driver_container",
        "assets": ["driver/namespace.yaml.j2"],
        "timeout": 60,
        "validate": [{"image": {}}],
    }
    if is_built(cases):
        found["lookup"] = '{{ "controller" if options.build else "never" }}'
        secrets = _build_secrets(cases)
        found["build"] = {
            "enabled": "build",
            "repository": "{{ options.build_repository }}",
            "base": "{{ driver_toolkit.image }}",
            "base_arg": "DTK_AUTO",
            "containerfile": "build/Containerfile.j2",
            "args": _build_arguments(module, cases),
            **({"secrets": secrets} if secrets else {}),
        }
    return found


def is_built(cases: Sequence[KernelCase]) -> bool:
    """Whether an image of it is built or signed in the cluster."""
    return any(case.build or case.sign for case in cases)


def building_options(cases: Sequence[KernelCase]) -> Obj:
    """What a user says of builds; {} where nothing is built."""
    found: Obj = {}
    if is_built(cases):
        repository = re.sub(r"(:[^/]*|@.*)$", "", cases[0].image)
        plain = "" if "{" in repository else repository
        about = "Registry and path, without tag, that built images are pushed to and pulled from."
        what = "Build an image for a kernel that has none."
        found["build"] = {"type": "bool", "default": True, "description": what}
        found["build_repository"] = text_option(plain, about) if plain else required_option(about)
    if any(case.sign for case in cases):
        about = "Image with sign-file of the kernel's headers, such as the Driver Toolkit."
        found["sign_image"] = required_option(about)
    return found


def containerfile_text(
    module: Mapping[str, Any], cases: Sequence[KernelCase], dockerfiles: Mapping[str, str]
) -> str:
    """The template of all its Dockerfiles. dockerfiles: name of a ConfigMap -> its key dockerfile.
    Raises InvalidInput for one that is not there."""
    text = _chosen(cases, lambda case: _containerfile(module, case, dockerfiles))
    signs = _IMPORT if any(case.sign for case in cases) else ""
    return f"{signs}{text}\n" if text else ""


def lost_mounts(module: Mapping[str, Any], dockerfiles: Mapping[str, str]) -> dict[str, str]:
    """What of KMM's builds a Dockerfile of the Module relies on, and has to do without: where that is
    -> what follows."""
    texts = {
        f"ConfigMap {name}": dockerfiles.get(name, "")
        for case in kernel_cases(module)
        if (name := str(part(case.build, "dockerfileConfigMap").get("name") or ""))
    }
    why = f"builds have no {_NODE_MODULES}: depmod finds none of the node's own modules there"
    return {where: why for where, text in texts.items() if _NODE_MODULES in text}


def _build_arguments(module: Mapping[str, Any], cases: Sequence[KernelCase]) -> dict[str, str]:
    """Those that KMM gives to every build, which go before the Module's own."""
    given = {
        (index, str(each["name"])): verbatim(str(each.get("value") or ""))
        for index, case in enumerate(cases)
        for each in case.build.get("buildArgs") or ()
    }
    own = {
        name: chosen([(case.condition, given.get((index, name), "")) for index, case in enumerate(cases)])
        for _index, name in given
    }  # fmt: skip
    fixed = {**argument_words(), **name_words(module)}
    return {**own, **fixed}


def _build_secrets(cases: Sequence[KernelCase]) -> dict[str, str]:
    """The Secrets that builds see: folder -> name, for the kernels that have them."""
    per_case = [_secrets_of(case) for case in cases]
    folders = dict.fromkeys(folder for secrets in per_case for folder in secrets)
    if all(secrets == per_case[0] for secrets in per_case):
        return per_case[0]
    return {
        folder: chosen(
            [
                (case.condition, secrets.get(folder, ""))
                for case, secrets in zip(cases, per_case, strict=True)
            ]
        )
        for folder in folders
    }


def _secrets_of(case: KernelCase) -> dict[str, str]:
    found = {str(each["name"]): str(each["name"]) for each in case.build.get("secrets") or ()}
    if case.sign:
        found |= {
            folder: str(part(case.sign, field).get("name") or "")
            for folder, field in _SIGNING_SECRETS.items()
        }
    return found


def _containerfile(
    module: Mapping[str, Any], case: KernelCase, dockerfiles: Mapping[str, str]
) -> str:
    """The Dockerfile of its ConfigMap, or the unsigned image, and what signs modules after it."""
    stage, built = _STAGE, ""
    if case.build:
        stage, built = _dockerfile(case.build, dockerfiles, named=bool(case.sign))
    elif case.sign:
        unsigned = filled_in(
            str(case.sign.get("unsignedImage") or ""), kernel_words(), "unsignedImage"
        )
        if not unsigned:
            raise wrong("sign", "it has neither an unsignedImage nor a build whose image is signed")
        built = f"FROM {unsigned} AS {stage}"
    return built + _signing(module, case, stage) if case.sign else built


def _signing(module: Mapping[str, Any], case: KernelCase, stage: str) -> str:
    """The stages that sign. Files may be globs of the shell, as in KMM."""
    given = case.sign.get("filesToSign") or ()
    if not given:
        raise wrong("sign", "it has no filesToSign")
    files = [filled_in(str(each), path_words(), "filesToSign") for each in given]
    texts = {"STAGE": stage, "FOLDER": folder_of(module), "KEY": _secrets_of(case)["sign-key"]}
    quoted = {name: json.dumps(text) for name, text in texts.items()}
    values = {
        **quoted,
        "FILES": " ".join(files),
        "PLAIN": stage,
        "PATH": verbatim(folder_of(module)),
    }
    return re.sub("@([A-Z]+)@", lambda found: values[found[1]], _SIGNED)


def _dockerfile(
    build: Mapping[str, Any], dockerfiles: Mapping[str, str], *, named: bool
) -> tuple[str, str]:
    """The name of a Dockerfile's last stage, and its text as a template. named: whether that stage is
    given a name where it has none."""
    name = str(part(build, "dockerfileConfigMap").get("name") or "")
    given = str(build.get("dockerfile") or "") or dockerfiles.get(name)
    if not given:
        raise InvalidInput(
            "the Module cannot be made a recipe",
            where=f"ConfigMap {name}",
            why="it is not there, or has no key dockerfile",
            todo="give it in the same file as the Module, or make it",
        )
    text = given.replace(_SECRETS, "/run/build-secrets/").rstrip()
    if not named:
        return "", verbatim(text)
    stages = [*_FROM.finditer(text)]
    if not stages:
        raise wrong(f"ConfigMap {name}", "its Dockerfile has no FROM")
    last = stages[-1]
    if last[1]:
        return last[1], verbatim(text)
    return _STAGE, verbatim(f"{text[: last.end()].rstrip()} AS {_STAGE}{text[last.end() :]}")


def _chosen(cases: Sequence[KernelCase], text_of: Callable[[KernelCase], str]) -> str:
    return chosen([(case.condition, text_of(case)) for case in cases])
